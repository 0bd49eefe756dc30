/* Growth of the typed vectors of vec.h: doubling, so pushing is amortised constant time. The old
 * storage stays in the arena until the arena is reset. */
#include "base/vec.h"

#include <string.h>

enum { VEC_MIN = 8 };

void *vec_grow(Arena *a, void *data, uint32_t len, uint32_t *cap, uint32_t want, size_t size) {
    uint32_t grown = *cap > UINT32_MAX / 2 ? UINT32_MAX : *cap * 2;
    if (grown < VEC_MIN)
        grown = VEC_MIN;
    if (grown < want)
        grown = want;
    void *moved = arena_calloc(a, grown, size);
    if (len)
        memcpy(moved, data, len * size);
    *cap = grown;
    return moved;
}
