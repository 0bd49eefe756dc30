/* Text into a caller's buffer, cut where it ends, counted in full: snprintf in pieces. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stddef.h>

typedef struct TleiText {
    char *data; /* NUL-terminated whenever size > 0 */
    size_t size;
    size_t len; /* of the whole text, without its NUL */
} TleiText;

void tlei_text_init(TleiText *t, char *data, size_t size);
__attribute__((format(printf, 2, 3))) void tlei_text_add(TleiText *t, const char *format, ...);

#endif
