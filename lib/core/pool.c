/* Pool: blocks of at least 4 KiB in a list, objects bumped off the newest. */
#include "core/pool.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 4096, ALIGN = 16 };

typedef struct TleiPoolBlock {
    struct TleiPoolBlock *next;
    size_t used, size;
    alignas(16) unsigned char data[];
} TleiPoolBlock;

static TleiPoolBlock *block_for(TleiPool *p, size_t bytes) {
    TleiPoolBlock *b = p->blocks;
    if (b && b->size - b->used >= bytes)
        return b;
    size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
    b = calloc(1, sizeof *b + size);
    if (!b)
        return NULL;
    b->size = size;
    b->next = p->blocks;
    p->blocks = b;
    return b;
}

void *tlei_pool_alloc(TleiPool *p, size_t count, size_t size) {
    if (size && count > (SIZE_MAX / 2 - ALIGN) / size)
        return NULL;
    size_t bytes = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    if (!bytes)
        bytes = ALIGN;
    TleiPoolBlock *b = block_for(p, bytes);
    if (!b)
        return NULL;
    void *object = b->data + b->used;
    b->used += bytes;
    p->bytes += bytes;
    return object;
}

char *tlei_pool_strdup(TleiPool *p, const char *text) {
    size_t len = strlen(text);
    char *copy = tlei_pool_alloc(p, len + 1, 1);
    if (copy)
        memcpy(copy, text, len + 1);
    return copy;
}

void tlei_pool_free(TleiPool *p) {
    while (p->blocks) {
        TleiPoolBlock *next = p->blocks->next;
        free(p->blocks);
        p->blocks = next;
    }
    p->bytes = 0;
}
