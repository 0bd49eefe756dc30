/* Typed vectors on an arena: VEC(int) v = {0}; vec_push(arena, &v, 3); v.data[0]. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/arena.h"
#include <stdint.h>

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *data;                                                                                   \
        uint32_t len, cap;                                                                         \
    }

/* Returns storage for at least `want` elements, old contents copied; updates *cap. */
void *vec_grow(Arena *a, void *data, uint32_t len, uint32_t *cap, uint32_t want, size_t size);

#define vec_reserve(a, v, n)                                                                       \
    ((n) > (v)->cap                                                                                \
         ? ((v)->data = vec_grow((a), (v)->data, (v)->len, &(v)->cap, (n), sizeof *(v)->data))     \
         : (v)->data)
#define vec_push(a, v, x) (vec_reserve((a), (v), (v)->len + 1), (v)->data[(v)->len++] = (x))
#define vec_pop(v)        ((v)->data[--(v)->len])

#endif
