/* The pack writer. Blobs are kept by the hash of their contents, in order of first use by the
 * sorted entries; each is compressed alone, at one fixed level, and stored raw where that is not
 * shorter. */
#include "emit/pack.h"

#include "base/map.h"
#include "base/sha256.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { LEVEL = 19, BLOB_ALIGN = 16 };

typedef struct Blob {
    PackBlob head;
    const void *stored;
} Blob;

typedef struct Writer {
    Arena *arena;
    StrBuf strings;
    Map by_hash; /* first 8 bytes of the digest -> blob number */
    VEC(Blob) blobs;
    VEC(PackEntry) entries;
    Sha256 build;
    const char *why;
} Writer;

static uint32_t add_string(Writer *w, const char *text) {
    uint32_t at = (uint32_t)w->strings.len;

    strbuf_add(&w->strings, text, strlen(text) + 1);
    return at;
}

/* --- blobs --- */

static void compress_blob(Writer *w, Blob *b, PackItem item) {
    size_t bound = ZSTD_compressBound(item.len);
    void *out = arena_alloc(w->arena, bound);
    size_t n = ZSTD_compress(out, bound, item.data, item.len, LEVEL);
    bool shorter = !ZSTD_isError(n) && n < item.len;

    b->head.raw_bytes = item.len;
    b->head.stored_bytes = shorter ? n : item.len;
    b->stored = shorter ? out : item.data;
}

static uint32_t add_blob(Writer *w, PackItem item) {
    Blob b = {0};
    Sha256 hash;
    uint64_t key;

    if (!item.data)
        return PACK_NO_BLOB;
    sha256_init(&hash);
    sha256_add(&hash, item.data, item.len);
    sha256_end(&hash, b.head.sha256);
    sha256_add(&w->build, b.head.sha256, sizeof b.head.sha256);
    memcpy(&key, b.head.sha256, sizeof key);
    uint32_t known = map_find(&w->by_hash, key, PACK_NO_BLOB);
    if (known != PACK_NO_BLOB &&
        !memcmp(w->blobs.data[known].head.sha256, b.head.sha256, sizeof b.head.sha256))
        return known;
    compress_blob(w, &b, item);
    vec_push(w->arena, &w->blobs, b);
    map_put(&w->by_hash, key, w->blobs.len - 1);
    return w->blobs.len - 1;
}

/* --- entries --- */

static int by_name(const void *x, const void *y) {
    const PackVariant *a = x, *b = y;

    return strcmp(a->name, b->name);
}

static const PackVariant *sorted(Arena *a, const PackVariant *variants, uint32_t n) {
    PackVariant *copy = arena_array(a, PackVariant, n + 1);

    if (n)
        memcpy(copy, variants, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_name);
    return copy;
}

static bool add_entry(Writer *w, const PackVariant *v, const PackVariant *before) {
    StrBuf why;

    strbuf_init(&why, w->arena);
    if (!v->meta.data)
        strbuf_addf(&why, "variant '%s' has no metadata", v->name);
    else if (before && !strcmp(before->name, v->name))
        strbuf_addf(&why, "two variants are named '%s'", v->name);
    w->why = why.text;
    if (why.len)
        return false;
    sha256_add(&w->build, v->name, strlen(v->name) + 1);
    PackEntry e = {.name = add_string(w, v->name)};
    e.meta = add_blob(w, v->meta);
    e.cubin = add_blob(w, v->cubin);
    e.ptx = add_blob(w, v->ptx);
    e.tir = add_blob(w, v->tir);
    vec_push(w->arena, &w->entries, e);
    return true;
}

/* --- the file --- */

static uint64_t aligned(uint64_t at) {
    return (at + BLOB_ALIGN - 1) / BLOB_ALIGN * BLOB_ALIGN;
}

static uint64_t place_blobs(Writer *w, uint64_t at) {
    for (uint32_t i = 0; i < w->blobs.len; i++) {
        PackBlob *b = &w->blobs.data[i].head;

        b->offset = aligned(at);
        at = b->offset + b->stored_bytes;
    }
    return at;
}

static void *write_file(Writer *w, PackHeader *h, size_t *len_out) {
    size_t entries = w->entries.len * sizeof(PackEntry);
    size_t heads = w->blobs.len * sizeof(PackBlob);

    h->entry_count = w->entries.len;
    h->blob_count = w->blobs.len;
    h->string_bytes = (uint32_t)w->strings.len;
    h->file_bytes = place_blobs(w, sizeof *h + entries + heads + w->strings.len);
    char *file = arena_alloc(w->arena, h->file_bytes), *p = file;
    memcpy(p, h, sizeof *h);
    p += sizeof *h;
    if (entries)
        memcpy(p, w->entries.data, entries);
    p += entries;
    for (uint32_t i = 0; i < w->blobs.len; i++, p += sizeof(PackBlob))
        memcpy(p, &w->blobs.data[i].head, sizeof(PackBlob));
    memcpy(p, w->strings.text, w->strings.len);
    for (uint32_t i = 0; i < w->blobs.len; i++) {
        const Blob *b = &w->blobs.data[i];

        if (b->head.stored_bytes)
            memcpy(file + b->head.offset, b->stored, b->head.stored_bytes);
    }
    *len_out = h->file_bytes;
    return file;
}

void *pack_build(Arena *a, const char *op, const char *arch, const PackVariant *variants,
                 uint32_t n, size_t *len_out, const char **why_out) {
    Writer w = {.arena = a};
    PackHeader h = {.magic = PACK_MAGIC, .version = PACK_VERSION};
    const PackVariant *v = sorted(a, variants, n);

    strbuf_init(&w.strings, a);
    map_init(&w.by_hash, a);
    sha256_init(&w.build);
    add_string(&w, "");
    h.op_name = add_string(&w, op);
    h.arch_name = add_string(&w, arch);
    for (uint32_t i = 0; i < n; i++)
        if (!add_entry(&w, &v[i], i ? &v[i - 1] : NULL)) {
            *why_out = w.why;
            return NULL;
        }
    sha256_end(&w.build, h.build_id);
    return write_file(&w, &h, len_out);
}
