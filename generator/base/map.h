/* Open-addressing hash map from 64-bit keys to 32-bit values, on an arena. Iteration order is
 * never exposed: nothing that is printed may depend on it. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Map {
    Arena *arena;
    struct MapSlot *slots;
    uint32_t len, cap;
} Map;

void map_init(Map *m, Arena *a);
void map_put(Map *m, uint64_t key, uint32_t value);
bool map_get(const Map *m, uint64_t key, uint32_t *value_out);
/* Returns `missing` when the key is absent. */
uint32_t map_find(const Map *m, uint64_t key, uint32_t missing);
void map_clear(Map *m);

/* For keys made of bytes; the same on machines of one byte order. */
uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);

#endif
