/* Signatures and constants, see signature.h. */
#include "driver/signature.h"

#include "base/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* --- types --- */

/* The spellings of a signature. */
static const struct {
    const char *name, *also;
    uint32_t bytes;
} types[] = {
    {"i1", "i1", 1},    {"i8", "i8", 1},        {"i16", "i16", 2},    {"i32", "i32", 4},
    {"i64", "i64", 8},  {"u8", "u8", 1},        {"u16", "u16", 2},    {"u32", "u32", 4},
    {"u64", "u64", 8},  {"fp16", "f16", 2},     {"bf16", "bf16", 2},  {"fp32", "f32", 4},
    {"fp64", "f64", 8}, {"fp8e4nv", "e4m3", 1}, {"fp8e5", "e5m2", 1},
};

enum { TYPE_COUNT = sizeof types / sizeof *types };

TypeSize signature_size(const char *type) {
    TypeSize s = {8, type[0] == '*'};

    for (size_t i = 0; i < TYPE_COUNT && !s.is_pointer; i++)
        if (!strcmp(types[i].name, type))
            s.bytes = types[i].bytes;
    return s;
}

/* "*f32" -> "*fp32"; NULL when unknown. */
static const char *canonical_type(Arena *a, const char *text, size_t len) {
    size_t star = len && text[0] == '*';

    for (size_t i = 0; i < TYPE_COUNT; i++) {
        const char *name = types[i].name, *also = types[i].also;
        const char *rest = text + star;
        size_t n = len - star;

        if ((strlen(name) == n && !memcmp(name, rest, n)) ||
            (strlen(also) == n && !memcmp(also, rest, n)))
            return str_format(a, "%s%s", star ? "*" : "", name);
    }
    return NULL;
}

const char *signature_type(Arena *a, const char *text, SemaParam *out) {
    const char *colon = strchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : strlen(text);
    char *end;

    out->divisible = 1;
    out->type = canonical_type(a, text, n);
    if (!out->type)
        return str_format(a, "unknown type '%.*s', expected one like i32, fp32 or *bf16", (int)n,
                          text);
    if (!colon)
        return NULL;
    unsigned long fact = strtoul(colon + 1, &end, 10);
    if (end == colon + 1 || *end || !isdigit((unsigned char)colon[1]) || !fact || fact > 1u << 30)
        return str_format(a, "'%s' is no fact, expected what the value is a multiple of",
                          colon + 1);
    out->divisible = (uint32_t)fact;
    return NULL;
}

/* --- lists --- */

typedef struct Item {
    const char *text;
    size_t len;
} Item;

static Item trimmed(const char *text, size_t len) {
    while (len && isspace((unsigned char)*text))
        text++, len--;
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    return (Item){text, len};
}

/* The next item of a comma list; commas in quotes and brackets belong to it. */
static bool next_item(const char **at, Item *out) {
    const char *p = *at;
    int depth = 0;
    char quote = 0;

    if (!*p)
        return false;
    for (; *p && (*p != ',' || depth > 0 || quote); p++) {
        if (quote)
            quote = *p == quote ? 0 : quote;
        else if (*p == '\'' || *p == '"')
            quote = *p;
        else
            depth += (strchr("([{", *p) != NULL) - (strchr(")]}", *p) != NULL);
    }
    *out = trimmed(*at, (size_t)(p - *at));
    *at = *p ? p + 1 : p;
    return true;
}

static bool is_name(Item x) {
    bool ok = x.len && !isdigit((unsigned char)x.text[0]);

    for (size_t i = 0; i < x.len; i++)
        ok = ok && (isalnum((unsigned char)x.text[i]) || x.text[i] == '_');
    return ok;
}

/* Splits "name<separator>rest". */
static const char *split_item(Arena *a, Item item, char separator, const char **name,
                              const char **rest) {
    const char *at = memchr(item.text, separator, item.len);
    Item left = at ? trimmed(item.text, (size_t)(at - item.text)) : item;

    if (!at || !is_name(left))
        return str_format(a, "'%.*s' is not of the form name%c%s", (int)item.len, item.text,
                          separator, separator == ':' ? "type" : "value");
    Item right = trimmed(at + 1, item.len - (size_t)(at + 1 - item.text));
    *name = arena_strndup(a, left.text, left.len);
    *rest = arena_strndup(a, right.text, right.len);
    return right.len ? NULL : str_format(a, "'%s' has nothing after '%c'", *name, separator);
}

const char *signature_params(Arena *a, const char *text, ParamList *out) {
    VEC(SemaParam) list = {0};
    Item item;

    while (next_item(&text, &item)) {
        SemaParam p = {0};
        const char *rest, *why = split_item(a, item, ':', &p.name, &rest);

        why = why ? why : signature_type(a, rest, &p);
        if (why)
            return why;
        vec_push(a, &list, p);
    }
    *out = (ParamList){list.data, list.len};
    return NULL;
}

const char *signature_consts(Arena *a, const char *text, ConstList *out) {
    VEC(SemaConst) list = {0};
    Item item;

    for (uint32_t i = 0; i < out->len; i++)
        vec_push(a, &list, out->at[i]);
    while (next_item(&text, &item)) {
        SemaConst k = {0};
        const char *why = split_item(a, item, '=', &k.name, &k.value);

        if (why)
            return why;
        vec_push(a, &list, k);
    }
    *out = (ConstList){list.data, list.len};
    return NULL;
}
