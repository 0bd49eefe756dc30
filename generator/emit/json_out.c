/* JSON text, see json_out.h. */
#include "emit/json_out.h"

#include <inttypes.h>

void json_begin(JsonOut *j, StrBuf *out) {
    j->out = out;
    j->separate = false;
}

static void before_value(JsonOut *j) {
    if (j->separate)
        strbuf_addc(j->out, ',');
    j->separate = true;
}

void json_open(JsonOut *j, char bracket) {
    before_value(j);
    strbuf_addc(j->out, bracket);
    j->separate = false;
}

void json_close(JsonOut *j, char bracket) {
    strbuf_addc(j->out, bracket);
    j->separate = true;
}

static void quoted(StrBuf *out, const char *text) {
    strbuf_addc(out, '"');
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            strbuf_addf(out, "\\%c", *p);
        else if (*p < 0x20)
            strbuf_addf(out, "\\u%04x", *p);
        else
            strbuf_addc(out, (char)*p);
    }
    strbuf_addc(out, '"');
}

void json_key(JsonOut *j, const char *key) {
    before_value(j);
    quoted(j->out, key);
    strbuf_addc(j->out, ':');
    j->separate = false;
}

void json_text(JsonOut *j, const char *text) {
    before_value(j);
    quoted(j->out, text);
}

void json_uint(JsonOut *j, uint64_t x) {
    before_value(j);
    strbuf_addf(j->out, "%" PRIu64, x);
}

void json_bool(JsonOut *j, bool x) {
    json_raw(j, x ? "true" : "false");
}

void json_raw(JsonOut *j, const char *json) {
    before_value(j);
    strbuf_addz(j->out, json);
}
