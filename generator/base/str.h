/* Interned strings as 32-bit ids (0 = the empty string), and a growable text buffer. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include "base/arena.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

typedef uint32_t Str;
typedef struct Interner Interner;

Interner *interner_new(Arena *a);
Str str_intern(Interner *in, const char *text, size_t len);
Str str_internz(Interner *in, const char *text);
/* NUL-terminated, lives as long as the interner's arena. */
const char *str_text(const Interner *in, Str s);
size_t str_len(const Interner *in, Str s);

typedef struct StrBuf {
    Arena *arena;
    char *text; /* always NUL-terminated once anything was added */
    size_t len, cap;
} StrBuf;

void strbuf_init(StrBuf *b, Arena *a);
void strbuf_add(StrBuf *b, const char *text, size_t len);
void strbuf_addz(StrBuf *b, const char *text);
void strbuf_addc(StrBuf *b, char c);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void strbuf_addf(StrBuf *b, const char *format, ...);
void strbuf_vaddf(StrBuf *b, const char *format, va_list args);

/* A text of its own, printed on the arena. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
const char *str_format(Arena *a, const char *format, ...);

#endif
