/* Arena: memory of one job, freed as a whole. Zeroed, 16-byte aligned, never NULL.
 *
 * There is no free of single objects. When the system has no memory the arena calls its
 * out-of-memory handler, which must not return (it exits or longjmps to the API boundary).
 * Not thread safe: one arena belongs to one thread at a time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

typedef struct Arena Arena;
typedef void ArenaOom(void *user, size_t wanted);

/* Returns NULL only when not even the arena itself can be had. A NULL handler means: print one
 * sentence to stderr and exit(70). */
Arena *arena_new(ArenaOom *oom, void *user);
void arena_free(Arena *a);
/* Forgets every object, keeps the memory for reuse. */
void arena_reset(Arena *a);
size_t arena_bytes(const Arena *a);

void *arena_alloc(Arena *a, size_t size);
/* count * size, checked for overflow. */
void *arena_calloc(Arena *a, size_t count, size_t size);
char *arena_strndup(Arena *a, const char *text, size_t len);

#define arena_new_of(a, T)   ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_calloc((a), (n), sizeof(T)))

#endif
