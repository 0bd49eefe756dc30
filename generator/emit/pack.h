/* Writes pack files (base/pack_format.h). */
#ifndef EMIT_PACK_H
#define EMIT_PACK_H

#include "base/arena.h"
#include "base/pack_format.h"
#include "base/str.h"

typedef struct PackItem { /* contents of one entry; data NULL = the entry has none of that kind */
    const void *data;
    size_t len;
} PackItem;

typedef struct PackVariant {
    const char *name;
    PackItem meta, cubin, ptx, tir;
} PackVariant;

/* The bytes of the file, on `a`. Entries come out sorted by name whatever their order here. Two
 * variants of one name, or a variant without metadata: NULL, and *why_out says so. */
void *pack_build(Arena *a, const char *op, const char *arch, const PackVariant *variants,
                 uint32_t n, size_t *len_out, const char **why_out);

#endif
