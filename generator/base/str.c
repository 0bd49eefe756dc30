/* Interned strings: a vector of entries (the id is the index) and a hash index of ids over it; and
 * the growable text buffer.
 *
 * Invariant: entry 0 is the empty string, so id 0 in the index can mean "free slot": the empty
 * string is answered before the index is asked. */
#include "base/str.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdio.h>
#include <string.h>

enum { INDEX_MIN = 256, STRBUF_MIN = 64 };

typedef struct Entry {
    const char *text;
    size_t len;
    uint64_t hash;
} Entry;

struct Interner {
    Arena *arena;
    VEC(Entry) entries;
    Str *index;
    uint32_t index_cap; /* a power of two, at least twice the number of entries */
};

Interner *interner_new(Arena *a) {
    Interner *in = arena_new_of(a, Interner);
    in->arena = a;
    in->index_cap = INDEX_MIN;
    in->index = arena_array(a, Str, INDEX_MIN);
    vec_push(a, &in->entries, ((Entry){.text = ""}));
    return in;
}

static uint32_t find_index(const Interner *in, const char *text, size_t len, uint64_t hash) {
    uint32_t at = (uint32_t)(hash ^ (hash >> 32)) & (in->index_cap - 1);
    for (;; at = (at + 1) & (in->index_cap - 1)) {
        Str s = in->index[at];
        if (!s)
            return at;
        const Entry *e = &in->entries.data[s];
        if (e->hash == hash && e->len == len && !memcmp(e->text, text, len))
            return at;
    }
}

static void grow_index(Interner *in) {
    in->index_cap *= 2;
    in->index = arena_array(in->arena, Str, in->index_cap);
    for (Str s = 1; s < in->entries.len; s++) {
        const Entry *e = &in->entries.data[s];
        in->index[find_index(in, e->text, e->len, e->hash)] = s;
    }
}

Str str_intern(Interner *in, const char *text, size_t len) {
    if (!len)
        return 0;
    uint64_t hash = hash_bytes(text, len, 0);
    uint32_t at = find_index(in, text, len, hash);
    if (in->index[at])
        return in->index[at];
    Str s = in->entries.len;
    Entry e = {.text = arena_strndup(in->arena, text, len), .len = len, .hash = hash};
    vec_push(in->arena, &in->entries, e);
    in->index[at] = s;
    if (in->entries.len > in->index_cap / 2)
        grow_index(in);
    return s;
}

Str str_internz(Interner *in, const char *text) {
    return str_intern(in, text, strlen(text));
}

const char *str_text(const Interner *in, Str s) {
    return in->entries.data[s].text;
}

size_t str_len(const Interner *in, Str s) {
    return in->entries.data[s].len;
}

void strbuf_init(StrBuf *b, Arena *a) {
    *b = (StrBuf){.arena = a};
}

/* Makes room for `more` bytes and the NUL after them. */
static void reserve(StrBuf *b, size_t more) {
    size_t want = b->len + more + 1;
    if (want <= b->cap)
        return;
    size_t cap = b->cap ? b->cap * 2 : STRBUF_MIN;
    if (cap < want)
        cap = want;
    char *text = arena_alloc(b->arena, cap);
    if (b->len)
        memcpy(text, b->text, b->len);
    b->text = text;
    b->cap = cap;
}

void strbuf_add(StrBuf *b, const char *text, size_t len) {
    reserve(b, len);
    if (len)
        memcpy(b->text + b->len, text, len);
    b->len += len;
    b->text[b->len] = '\0';
}

void strbuf_addz(StrBuf *b, const char *text) {
    strbuf_add(b, text, strlen(text));
}

void strbuf_addc(StrBuf *b, char c) {
    strbuf_add(b, &c, 1);
}

void strbuf_vaddf(StrBuf *b, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    if (len >= 0) {
        reserve(b, (size_t)len);
        vsnprintf(b->text + b->len, (size_t)len + 1, format, again);
        b->len += (size_t)len;
    }
    va_end(again);
}

void strbuf_addf(StrBuf *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    strbuf_vaddf(b, format, args);
    va_end(args);
}

const char *str_format(Arena *a, const char *format, ...) {
    StrBuf b;
    va_list args;

    strbuf_init(&b, a);
    strbuf_add(&b, "", 0); /* an empty text is a text, too */
    va_start(args, format);
    strbuf_vaddf(&b, format, args);
    va_end(args);
    return b.text;
}
