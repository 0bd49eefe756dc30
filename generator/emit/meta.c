/* Metadata JSON, see meta.h and docs/metadata.md: the order of the keys is part of the format. */
#include "emit/meta.h"

#include "emit/json_out.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void meta_place_params(MetaParam *params, uint32_t n) {
    uint32_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t align = params[i].align;

        at = (at + align - 1) / align * align;
        params[i].offset = at;
        at += params[i].size;
    }
}

/* --- constants --- */

static bool is_number(const char *text) {
    char *end;

    errno = 0;
    (void)strtoll(text, &end, 10);
    if (end != text && !*end && !errno)
        return true;
    double x = strtod(text, &end);
    return end != text && !*end && isfinite(x) && strspn(text, "0123456789+-.eE") == strlen(text) &&
           strchr("0123456789-", text[0]) && text[strlen(text) - 1] != '.';
}

static const char *json_string(Arena *a, const char *text, size_t len) {
    StrBuf b;
    JsonOut j;

    strbuf_init(&b, a);
    json_begin(&j, &b);
    json_text(&j, arena_strndup(a, text, len));
    return b.text;
}

const char *meta_const_json(Arena *a, const char *literal) {
    size_t n = strlen(literal);

    if (!strcmp(literal, "True"))
        return "true";
    if (!strcmp(literal, "False"))
        return "false";
    if (!strcmp(literal, "None"))
        return "null";
    if (is_number(literal))
        return literal;
    if (n >= 2 && (literal[0] == '\'' || literal[0] == '"') && literal[n - 1] == literal[0])
        return json_string(a, literal + 1, n - 2);
    return json_string(a, literal, n);
}

/* --- the object --- */

enum { PORTABLE_CLUSTER = 8 }; /* CTAs that every device of the architecture can run together */

static void key_text(JsonOut *j, const char *key, const char *text) {
    json_key(j, key);
    json_text(j, text);
}

static void key_uint(JsonOut *j, const char *key, uint64_t x) {
    json_key(j, key);
    json_uint(j, x);
}

static void print_cluster(JsonOut *j, const Meta *m) {
    json_key(j, "cluster");
    json_open(j, '[');
    for (int i = 0; i < 3; i++)
        json_uint(j, m->cluster[i]);
    json_close(j, ']');
}

static void print_workspace(JsonOut *j, const Meta *m) {
    if (!m->zeroed)
        return;
    json_key(j, "workspace");
    json_open(j, '{');
    key_uint(j, "per_call", m->zeroed);
    key_uint(j, "per_row", 0);
    key_uint(j, "zeroed", m->zeroed);
    json_close(j, '}');
}

static void print_params(JsonOut *j, const Meta *m) {
    json_key(j, "params");
    json_open(j, '[');
    for (uint32_t i = 0; i < m->n_params; i++) {
        const MetaParam *p = &m->params[i];

        json_open(j, '{');
        key_text(j, "name", p->name);
        key_text(j, "type", p->type);
        key_uint(j, "offset", p->offset);
        key_uint(j, "size", p->size);
        key_uint(j, "align", p->align);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void print_consts(JsonOut *j, const Meta *m) {
    json_key(j, "const");
    json_open(j, '{');
    for (uint32_t i = 0; i < m->n_consts; i++) {
        json_key(j, m->consts[i].name);
        json_raw(j, m->consts[i].json);
    }
    json_close(j, '}');
}

void meta_print(const Meta *m, StrBuf *out) {
    JsonOut j;

    json_begin(&j, out);
    json_open(&j, '{');
    key_uint(&j, "schema", 1);
    key_text(&j, "name", m->name);
    key_text(&j, "op", m->op);
    key_text(&j, "kernel", m->kernel);
    key_text(&j, "source", m->source);
    key_text(&j, "source_sha256", m->source_sha256);
    key_text(&j, "arch", m->arch);
    key_uint(&j, "num_warps", m->num_warps);
    key_uint(&j, "threads", m->threads);
    print_cluster(&j, m);
    json_key(&j, "cooperative");
    json_bool(&j, m->cooperative);
    json_key(&j, "non_portable_cluster");
    json_bool(&j, m->cluster[0] * m->cluster[1] * m->cluster[2] > PORTABLE_CLUSTER);
    json_key(&j, "dependent_launch");
    json_bool(&j, m->dependent_launch);
    key_uint(&j, "shared_bytes", m->shared_bytes);
    print_workspace(&j, m);
    print_params(&j, m);
    print_consts(&j, m);
    json_key(&j, "legal");
    json_raw(&j, m->legal);
    if (m->meant) {
        json_key(&j, "meant");
        json_raw(&j, m->meant);
    }
    key_uint(&j, "ptx_instructions", m->ptx_instructions);
    if (m->assembled) {
        key_uint(&j, "registers", m->registers);
        key_uint(&j, "spill_bytes", m->spill_bytes);
        key_uint(&j, "cubin_bytes", m->cubin_bytes);
    }
    json_close(&j, '}');
}
