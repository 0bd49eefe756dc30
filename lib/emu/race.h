/* Shared by the files of the race check; see race.c.
 *
 * A vector clock has one entry for each warp of the cluster and, in kernels with asynchronous
 * operations, entries for channels: everything that completes together on one mbarrier, or in the
 * groups of one warp. The second half of a clock says what is known to the async proxy, that is,
 * what a fence.proxy.async has passed since. */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include "exec.h"
#include "race_readers.h"

typedef struct RaceCell {
    uint64_t wr, rd;
} RaceCell;

/* Epoch: clock 24, lane 6 (63: several), member 10, serial 22 bits, strong, extended. */
#define CLOCK_MASK   0xffffffu
#define LANE_SHIFT   24
#define WARP_SHIFT   30
#define SERIAL_SHIFT 40
#define SERIAL_MASK  0x3fffffu
#define STRONG_BIT   ((uint64_t)1 << 62)
#define EXTENDED     ((uint64_t)1 << 63)
#define SEVERAL      63u
#define MAX_MEMBERS  1023u
#define MAX_CHANNELS 512u

struct Race {
    uint32_t warps;    /* of the cluster */
    uint32_t members;  /* warps and channels in use */
    uint32_t stride;   /* room for members */
    uint32_t halves;   /* 2 where there are channels */
    uint32_t row;      /* entries of a clock: stride for each half, then a set of race_global.c */
    uint32_t *clocks;  /* [warp][row] */
    uint32_t *release; /* [warp][row]: clock at the last fence */
    uint32_t *acquire; /* [warp][row]: seen by strong reads, not yet ordered by a fence */
    uint32_t *touched; /* [rank][member]: last use of that CTA's shared memory from outside */
    uint32_t *release_set; /* [warp]: what `release` is to other clusters; 0: not known yet */
    bool *has_release, *has_acquire;
    bool *wide_release; /* [warp]: the last fence was of the whole GPU */
    uint32_t serial;
    GlobalRace *global;
    Readers readers;
    VEC(RaceCell) bytes; /* four of each split word */
    Map sync;            /* address -> index into sync_clocks + 1 */
    VEC(uint32_t *) sync_clocks;
    Map channels; /* key -> member */
    uint32_t channel_epoch[MAX_CHANNELS];
    Arena *arena;
};

/* One access to shared memory, by a warp or by a channel on behalf of it. */
typedef struct Access {
    Warp *w;
    const Insn *in;
    Race *race;
    const uint32_t *clock;
    uint32_t member, issuer, lane, serial, address;
    uint64_t epoch;
    bool strong, reported, async, proxy;
} Access;

static inline uint32_t race_index(const Warp *w) {
    return w->cta->rank * w->launch->warps + w->id;
}

static inline uint32_t *race_clock(const Warp *w) {
    Race *r = w->cta->cluster->race;
    return r->clocks + (size_t)race_index(w) * r->row;
}

/* Accesses of all bytes of [offset, offset + bytes). */
void race_touch(Access *a, Cta *owner, uint32_t offset, uint32_t bytes, AccessKind kind);
/* Whether two lanes of one store write the same value. */
bool race_stores_same(const Warp *w, const Insn *in, uint32_t i, uint32_t j);
/* race_global.c */
uint32_t race_global_join(GlobalRace *g, uint32_t x, uint32_t y);
void race_global_publish(Warp *w, uint64_t address, const uint32_t *clock, uint32_t *cached);
void race_global_learn(Warp *w, uint64_t address, uint32_t *set);

#endif
