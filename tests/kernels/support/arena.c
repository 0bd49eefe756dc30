#include "kernels/support/arena.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256, GAP = 256 };

bool arena_open(Arena *a, tle_handle h, size_t size) {
    void *device = NULL;
    *a = (Arena){.h = h, .host = malloc(size), .back = malloc(size), .size = size};
    bool ok = a->host && a->back && !tle_alloc(h, size, &device);
    a->device = device;
    return ok;
}

void arena_close(Arena *a) {
    free(a->host);
    free(a->back);
    tle_free(a->h, a->device);
    *a = (Arena){0};
}

bool arena_send(Arena *a) {
    return !tle_copy(a->h, a->device, a->host, a->used) && !tle_synchronize(a->h, NULL);
}

bool arena_fetch(Arena *a) {
    return !tle_copy(a->h, a->back, a->device, a->used);
}

static bool take(Arena *a, CaseBuffer *b) {
    size_t bytes = (b->bytes + GAP + ALIGN - 1) / ALIGN * ALIGN;
    if (bytes > a->size - a->used)
        return false;
    b->host = a->host + a->used;
    b->got = a->back + a->used;
    b->device = a->device + a->used;
    a->used += bytes;
    memset(b->host, 0, b->bytes);
    memset(b->host + b->bytes, ARENA_GUARD, bytes - b->bytes);
    return true;
}

bool buffer_open(CaseBuffer *b, tle_handle h, Arena *a, size_t bytes) {
    *b = (CaseBuffer){.bytes = bytes};
    if (a)
        return take(a, b);
    b->host = b->got = calloc(1, bytes ? bytes : 1);
    return b->host && !tle_alloc(h, bytes ? bytes : 1, &b->device);
}

void buffer_close(CaseBuffer *b, tle_handle h, const Arena *a) {
    if (!a) {
        free(b->host);
        tle_free(h, b->device);
    }
    *b = (CaseBuffer){0};
}

bool buffer_send(const CaseBuffer *b, tle_handle h) {
    return !b->bytes || !tle_copy(h, b->device, b->host, b->bytes);
}

bool buffer_fetch(const CaseBuffer *b, tle_handle h) {
    return !b->bytes || !tle_copy(h, b->got, b->device, b->bytes);
}

void buffer_accept(const CaseBuffer *output) {
    if (output->bytes)
        memcpy(output->host, output->got, output->bytes);
}

bool arena_untouched(const Arena *a) {
    return !memcmp(a->host, a->back, a->used);
}
