/* Who has read a word since its last write, where it is more than one: the epoch of each member's
 * last read. Most words are read by few members, neighbours of each other, so epochs are kept in
 * blocks of neighbours, and only those blocks that have one. */
#ifndef EMU_RACE_READERS_H
#define EMU_RACE_READERS_H

#include "base/vec.h"

enum { READERS_BLOCK = 16 };

typedef struct ReadersBlock {
    uint64_t epoch[READERS_BLOCK];
} ReadersBlock;

typedef struct Readers {
    Arena *arena;
    uint32_t span;           /* blocks that all members make */
    VEC(uint32_t) places;    /* [set][span]: which block, plus 1; 0: none */
    VEC(uint32_t) free_sets; /* for use again */
    VEC(ReadersBlock) blocks;
    VEC(uint32_t) free_blocks;
} Readers;

void readers_init(Readers *r, Arena *arena, uint32_t members);
void readers_clear(Readers *r);
/* An empty set, and one like another. */
uint32_t readers_new(Readers *r);
uint32_t readers_copy(Readers *r, uint32_t set);
void readers_drop(Readers *r, uint32_t set);
/* A member's epoch, 0 if it has none yet; good until the next call. */
uint64_t *readers_epoch(Readers *r, uint32_t set, uint32_t member);

/* The block of members from at * READERS_BLOCK on; NULL if none of them has read. */
static inline const ReadersBlock *readers_block(const Readers *r, uint32_t set, uint32_t at) {
    uint32_t place = r->places.data[set * r->span + at];
    return place ? &r->blocks.data[place - 1] : NULL;
}

#endif
