/* Hash map with linear probing, grown at three quarters full. Keys are never removed one by one,
 * so there are no tombstones. */
#include "base/map.h"

#include <stddef.h>
#include <string.h>

enum { MAP_MIN = 16 };

typedef struct MapSlot {
    uint64_t key;
    uint32_t value, used;
} MapSlot;

/* Final mixing step of SplitMix64: keys are often small consecutive ids. */
static uint64_t mix(uint64_t x) {
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The slot of `key`, or the free slot where it belongs. The table has a free slot. */
static MapSlot *find_slot(MapSlot *slots, uint32_t cap, uint64_t key) {
    uint32_t at = (uint32_t)mix(key) & (cap - 1);
    while (slots[at].used && slots[at].key != key)
        at = (at + 1) & (cap - 1);
    return &slots[at];
}

void map_init(Map *m, Arena *a) {
    *m = (Map){.arena = a};
}

static void grow(Map *m) {
    uint32_t cap = m->cap ? m->cap * 2 : MAP_MIN;
    MapSlot *slots = arena_array(m->arena, MapSlot, cap);
    for (uint32_t i = 0; i < m->cap; i++)
        if (m->slots[i].used)
            *find_slot(slots, cap, m->slots[i].key) = m->slots[i];
    m->slots = slots;
    m->cap = cap;
}

void map_put(Map *m, uint64_t key, uint32_t value) {
    if (m->len >= m->cap - m->cap / 4)
        grow(m);
    MapSlot *s = find_slot(m->slots, m->cap, key);
    m->len += !s->used;
    *s = (MapSlot){.key = key, .value = value, .used = 1};
}

bool map_get(const Map *m, uint64_t key, uint32_t *value_out) {
    if (!m->len)
        return false;
    const MapSlot *s = find_slot(m->slots, m->cap, key);
    if (!s->used)
        return false;
    if (value_out)
        *value_out = s->value;
    return true;
}

uint32_t map_find(const Map *m, uint64_t key, uint32_t missing) {
    uint32_t value = missing;
    map_get(m, key, &value);
    return value;
}

void map_clear(Map *m) {
    if (m->cap)
        memset(m->slots, 0, m->cap * sizeof *m->slots);
    m->len = 0;
}

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed) {
    const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);
    const unsigned char *p = data;
    uint64_t h = (seed * prime + len + 1) * prime, word = 0;
    for (; len >= sizeof word; p += sizeof word, len -= sizeof word) {
        memcpy(&word, p, sizeof word);
        h = (h ^ word) * prime;
        h ^= h >> 29;
    }
    word = 0;
    if (len)
        memcpy(&word, p, len);
    h = (h ^ word) * prime;
    return h ^ h >> 32;
}
