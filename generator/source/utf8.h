/* UTF-8: decoding, encoding, and the width of characters on a terminal. */
#ifndef SOURCE_UTF8_H
#define SOURCE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID 0xffffffffu

/* Decodes the character at text[0]; len >= 1. Stores its length in bytes. A byte that starts no
 * valid character gives UTF8_INVALID and length 1. */
uint32_t utf8_decode(const char *text, size_t len, uint32_t *bytes_out);
/* Writes 1-4 bytes, returns how many. */
uint32_t utf8_encode(uint32_t c, char out[4]);
/* Columns that a character takes: 0 (combining), 1 or 2 (East Asian wide, emoji). */
uint32_t utf8_width(uint32_t c);

#endif
