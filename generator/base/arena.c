/* Arena: a list of chunks, allocation by bumping an offset in the current one.
 *
 * Idea: chunks grow geometrically up to CHUNK_MAX, so small jobs stay small and big ones make few
 * calls to calloc. What nobody had yet is zero as the system gave it, so that pages of a chunk that
 * are never written cost nothing. A reset rewinds to the first chunk and keeps all of them; what
 * was handed out before is zeroed when it is handed out again.
 *
 * Invariant: chunks before `current` are full or too small for what was asked, chunks after it are
 * empty. Every object starts at a multiple of ARENA_ALIGN. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_ALIGN = 16, CHUNK_MIN = 16 * 1024, CHUNK_MAX = 4 * 1024 * 1024, EXIT_NO_MEMORY = 70 };

typedef struct Chunk {
    struct Chunk *next;
    size_t size, used; /* of the bytes after the header */
    size_t written;    /* no less than used; from there on they are zero */
} Chunk;

struct Arena {
    Chunk *first, *current;
    size_t next_size, bytes;
    ArenaOom *oom;
    void *user;
};

static size_t align_up(size_t n) {
    return (n + (ARENA_ALIGN - 1)) & ~(size_t)(ARENA_ALIGN - 1);
}

static unsigned char *chunk_base(Chunk *c) {
    return (unsigned char *)c + align_up(sizeof(Chunk));
}

static void default_oom(void *user, size_t wanted) {
    (void)user;
    fprintf(stderr, "out of memory: %zu more bytes were wanted\n", wanted);
    exit(EXIT_NO_MEMORY);
}

static _Noreturn void out_of_memory(const Arena *a, size_t wanted) {
    a->oom(a->user, wanted);
    abort(); /* the handler broke its promise not to return */
}

Arena *arena_new(ArenaOom *oom, void *user) {
    Arena *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->oom = oom ? oom : default_oom;
    a->user = user;
    a->next_size = CHUNK_MIN;
    return a;
}

void arena_free(Arena *a) {
    if (!a)
        return;
    for (Chunk *c = a->first; c;) {
        Chunk *next = c->next;
        free(c);
        c = next;
    }
    free(a);
}

void arena_reset(Arena *a) {
    for (Chunk *c = a->first; c; c = c->next)
        c->used = 0;
    a->current = a->first;
    a->bytes = 0;
}

size_t arena_bytes(const Arena *a) {
    return a->bytes;
}

/* Puts a new chunk with room for `need` bytes right after the current one. */
static Chunk *add_chunk(Arena *a, size_t need) {
    size_t size = a->next_size > need ? a->next_size : need;
    if (size > SIZE_MAX - align_up(sizeof(Chunk)))
        out_of_memory(a, need);
    Chunk *c = calloc(1, align_up(sizeof(Chunk)) + size);
    if (!c)
        out_of_memory(a, need);
    c->size = size;
    c->next = a->current ? a->current->next : NULL;
    if (a->current)
        a->current->next = c;
    else
        a->first = c;
    if (a->next_size < CHUNK_MAX)
        a->next_size *= 2;
    return c;
}

static Chunk *chunk_with_room(Arena *a, size_t need) {
    Chunk *c = a->current;
    while (c && c->size - c->used < need && c->next) {
        c = c->next;
        a->current = c;
    }
    if (!c || c->size - c->used < need)
        c = add_chunk(a, need);
    a->current = c;
    return c;
}

void *arena_alloc(Arena *a, size_t size) {
    if (size > SIZE_MAX - ARENA_ALIGN)
        out_of_memory(a, size);
    size_t need = align_up(size ? size : 1);
    Chunk *c = chunk_with_room(a, need);
    void *p = chunk_base(c) + c->used;
    size_t stale = c->written - c->used;
    memset(p, 0, stale < need ? stale : need);
    c->used += need;
    if (c->written < c->used)
        c->written = c->used;
    a->bytes += need;
    return p;
}

void *arena_calloc(Arena *a, size_t count, size_t size) {
    if (size && count > SIZE_MAX / size)
        out_of_memory(a, SIZE_MAX);
    return arena_alloc(a, count * size);
}

char *arena_strndup(Arena *a, const char *text, size_t len) {
    if (len == SIZE_MAX)
        out_of_memory(a, len);
    char *copy = arena_alloc(a, len + 1);
    if (len)
        memcpy(copy, text, len);
    return copy;
}
