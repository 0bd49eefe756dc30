/* Bounded text. */
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>

void tlei_text_init(TleiText *t, char *data, size_t size) {
    *t = (TleiText){data, data ? size : 0, 0};
    if (t->size)
        data[0] = '\0';
}

void tlei_text_add(TleiText *t, const char *format, ...) {
    size_t room = t->len < t->size ? t->size - t->len : 0;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(room ? t->data + t->len : NULL, room, format, args);
    va_end(args);
    if (n > 0)
        t->len += (size_t)n;
}
