#include "race_readers.h"

#include <string.h>

void readers_init(Readers *r, Arena *arena, uint32_t members) {
    *r = (Readers){.arena = arena, .span = (members + READERS_BLOCK - 1) / READERS_BLOCK};
}

void readers_clear(Readers *r) {
    r->places.len = 0;
    r->free_sets.len = 0;
    r->blocks.len = 0;
    r->free_blocks.len = 0;
}

static uint32_t new_block(Readers *r) {
    static const ReadersBlock empty;
    if (r->free_blocks.len) {
        uint32_t at = vec_pop(&r->free_blocks);
        r->blocks.data[at] = empty;
        return at;
    }
    vec_push(r->arena, &r->blocks, empty);
    return r->blocks.len - 1;
}

uint32_t readers_new(Readers *r) {
    if (r->free_sets.len)
        return vec_pop(&r->free_sets); /* dropped sets have no blocks */
    uint32_t set = r->places.len / r->span;
    vec_reserve(r->arena, &r->places, r->places.len + r->span);
    memset(r->places.data + r->places.len, 0, r->span * sizeof *r->places.data);
    r->places.len += r->span;
    return set;
}

uint32_t readers_copy(Readers *r, uint32_t set) {
    uint32_t copy = readers_new(r);
    for (uint32_t i = 0; i < r->span; i++) {
        uint32_t from = r->places.data[set * r->span + i];
        if (!from)
            continue;
        uint32_t to = new_block(r);
        r->blocks.data[to] = r->blocks.data[from - 1];
        r->places.data[copy * r->span + i] = to + 1;
    }
    return copy;
}

void readers_drop(Readers *r, uint32_t set) {
    uint32_t *place = r->places.data + set * r->span;
    for (uint32_t i = 0; i < r->span; i++) {
        if (place[i])
            vec_push(r->arena, &r->free_blocks, place[i] - 1);
        place[i] = 0;
    }
    vec_push(r->arena, &r->free_sets, set);
}

uint64_t *readers_epoch(Readers *r, uint32_t set, uint32_t member) {
    uint32_t at = set * r->span + member / READERS_BLOCK;
    if (!r->places.data[at]) {
        uint32_t block = new_block(r);
        r->places.data[at] = block + 1;
    }
    return &r->blocks.data[r->places.data[at] - 1].epoch[member % READERS_BLOCK];
}
