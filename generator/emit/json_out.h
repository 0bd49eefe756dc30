/* A small JSON text writer: objects and arrays in the order they are written, no white space. */
#ifndef EMIT_JSON_OUT_H
#define EMIT_JSON_OUT_H

#include "base/str.h"

typedef struct JsonOut {
    StrBuf *out;
    bool separate; /* a comma comes before the next value */
} JsonOut;

void json_begin(JsonOut *j, StrBuf *out);
/* `bracket` is { or [, and } or ]. */
void json_open(JsonOut *j, char bracket);
void json_close(JsonOut *j, char bracket);
void json_key(JsonOut *j, const char *key);
void json_text(JsonOut *j, const char *text);
void json_uint(JsonOut *j, uint64_t x);
void json_bool(JsonOut *j, bool x);
/* JSON that is already text. */
void json_raw(JsonOut *j, const char *json);

#endif
