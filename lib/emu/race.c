/* Races in shared memory by happens-before. Each warp has a vector clock over the warps of its
 * cluster; barriers join clocks. Each word remembers the epoch of its last write and of the reads
 * since (one epoch, or one for each warp). Words touched by narrower accesses keep four byte cells.
 *
 * Lanes of a warp are ordered among themselves only by bar.warp.sync and stronger, as PTX says;
 * one instruction's lanes do not race with each other except by storing different values.
 * Strong accesses (atomics, volatile, relaxed and up) never race with each other; through fences,
 * release and acquire they order what went before. */
#include "exec.h"
#include <string.h>

typedef struct RaceCell {
    uint64_t wr, rd;
} RaceCell;

/* Epoch: clock 24, lane 6 (63: several), warp 10, serial 22 bits, strong, extended. */
#define CLOCK_MASK   0xffffffu
#define LANE_SHIFT   24
#define WARP_SHIFT   30
#define SERIAL_SHIFT 40
#define SERIAL_MASK  0x3fffffu
#define STRONG_BIT   ((uint64_t)1 << 62)
#define EXTENDED     ((uint64_t)1 << 63)
#define SEVERAL      63u

struct Race {
    uint32_t warps;    /* of the cluster */
    uint32_t *clocks;  /* [warp][warp] */
    uint32_t *release; /* [warp][warp]: clock at the last fence */
    uint32_t *acquire; /* [warp][warp]: seen by strong reads, not yet ordered by a fence */
    bool *has_release, *has_acquire;
    uint32_t serial;
    VEC(uint64_t *) readers; /* epochs of each warp */
    VEC(uint32_t) free_readers;
    VEC(RaceCell) bytes; /* four of each split word */
    Map sync;            /* address -> index into sync_clocks + 1 */
    VEC(uint32_t *) sync_clocks;
    Arena *arena;
};

Race *race_new(Launch *l, Cluster *c) {
    Race *r = arena_new_of(l->arena, Race);
    r->arena = l->arena;
    r->warps = c->count * l->warps;
    size_t n = (size_t)r->warps * r->warps;
    r->clocks = arena_array(l->arena, uint32_t, n);
    r->release = arena_array(l->arena, uint32_t, n);
    r->acquire = arena_array(l->arena, uint32_t, n);
    r->has_release = arena_array(l->arena, bool, r->warps);
    r->has_acquire = arena_array(l->arena, bool, r->warps);
    map_init(&r->sync, l->arena);
    for (uint32_t i = 0; i < c->count; i++)
        c->ctas[i]->cells = arena_array(l->arena, RaceCell, l->shared_bytes / 4 + 1);
    return r;
}

void race_reset(Launch *l, Cluster *c) {
    Race *r = c->race;
    size_t n = (size_t)r->warps * r->warps;
    memset(r->clocks, 0, n * sizeof *r->clocks);
    memset(r->has_release, 0, r->warps);
    memset(r->has_acquire, 0, r->warps);
    for (uint32_t i = 0; i < r->warps; i++)
        r->clocks[i * r->warps + i] = 1;
    r->bytes.len = 0;
    r->free_readers.len = 0;
    for (uint32_t i = 0; i < r->readers.len; i++)
        vec_push(r->arena, &r->free_readers, i);
    r->sync_clocks.len = 0;
    map_clear(&r->sync);
    for (uint32_t i = 0; i < c->count; i++)
        memset(c->ctas[i]->cells, 0, (l->shared_bytes / 4 + 1) * sizeof(RaceCell));
}

static uint32_t warp_index(const Warp *w) {
    return w->cta->rank * w->launch->warps + w->id;
}

static uint32_t *clock_of(const Warp *w) {
    Race *r = w->cta->cluster->race;
    return r->clocks + (size_t)warp_index(w) * r->warps;
}

static void tick(Warp *w) {
    uint32_t *own = &clock_of(w)[warp_index(w)];
    if (*own < CLOCK_MASK)
        ++*own;
}

static void join(uint32_t *into, const uint32_t *from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (from[i] > into[i])
            into[i] = from[i];
}

void race_begin(Warp *w) {
    w->cta->cluster->race->serial++;
}

/* ---- one access --------------------------------------------------------------------------- */

typedef struct Access {
    Warp *w;
    const Insn *in;
    Race *race;
    uint32_t *clock;
    uint32_t warp, lane, serial, address;
    uint64_t epoch;
    bool strong, reported;
} Access;

static uint32_t epoch_warp(uint64_t e) {
    return (uint32_t)(e >> WARP_SHIFT) & 1023;
}

static uint32_t epoch_lane(uint64_t e) {
    return (uint32_t)(e >> LANE_SHIFT) & 63;
}

static bool same_instruction(const Access *a, uint64_t e) {
    return epoch_warp(e) == a->warp && ((e >> SERIAL_SHIFT) & SERIAL_MASK) == a->serial;
}

static bool ordered(const Access *a, uint64_t e) {
    uint32_t clock = (uint32_t)e & CLOCK_MASK;
    if (epoch_warp(e) == a->warp)
        return epoch_lane(e) == a->lane || same_instruction(a, e) || clock < a->clock[a->warp];
    return clock <= a->clock[epoch_warp(e)];
}

static void check(Access *a, uint64_t e, const char *now, const char *before) {
    uint32_t v = epoch_warp(e), lane = epoch_lane(e), warps = a->w->launch->warps;
    if (e == 0 || a->reported || ordered(a, e) || (a->strong && (e & STRONG_BIT)))
        return;
    a->reported = true;
    report_add(a->w, a->in, a->lane, TLE_EMU_REPORT_RACE, a->address, 0,
               "%s of byte %u of shared memory races with a %s by warp %u%s%s lane %s%u%s", now,
               a->address - SHARED_BASE, before, v % warps,
               a->w->cta->cluster->count > 1 ? " of another CTA or its own," : "",
               v == a->warp ? " (the same warp, without bar.warp.sync)" : "",
               lane == SEVERAL ? "several, e.g. not " : "", lane == SEVERAL ? a->lane : lane, "");
}

static uint32_t new_readers(Race *r) {
    if (r->free_readers.len) {
        uint32_t at = vec_pop(&r->free_readers);
        memset(r->readers.data[at], 0, r->warps * sizeof(uint64_t));
        return at;
    }
    uint64_t *v = arena_array(r->arena, uint64_t, r->warps);
    vec_push(r->arena, &r->readers, v);
    return r->readers.len - 1;
}

static void promote(Access *a, RaceCell *c) {
    uint32_t at = new_readers(a->race);
    a->race->readers.data[at][epoch_warp(c->rd)] = c->rd;
    c->rd = EXTENDED | at;
}

/* The reads of one warp: several lanes at one clock become "several". */
static uint64_t merge_read(const Access *a, uint64_t old) {
    bool same_clock = ((uint32_t)old & CLOCK_MASK) == a->clock[a->warp];
    uint64_t e = a->epoch;
    if (old == 0 || !same_clock || epoch_lane(old) == a->lane)
        return e;
    if (!(old & STRONG_BIT))
        e &= ~STRONG_BIT;
    return e | (uint64_t)SEVERAL << LANE_SHIFT;
}

static void cell_read(Access *a, RaceCell *c) {
    check(a, c->wr, "read", "write");
    if (c->rd & EXTENDED) {
        uint64_t *v = a->race->readers.data[(uint32_t)c->rd];
        v[a->warp] = merge_read(a, v[a->warp]);
    } else if (c->rd == 0 || epoch_warp(c->rd) == a->warp) {
        c->rd = merge_read(a, c->rd);
    } else if (ordered(a, c->rd)) {
        c->rd = a->epoch;
    } else {
        promote(a, c);
        a->race->readers.data[(uint32_t)c->rd][a->warp] = a->epoch;
    }
}

static void cell_write(Access *a, RaceCell *c) {
    check(a, c->wr, "write", "write");
    if (c->rd & EXTENDED) {
        const uint64_t *v = a->race->readers.data[(uint32_t)c->rd];
        for (uint32_t i = 0; i < a->race->warps; i++)
            check(a, v[i], "write", "read");
        vec_push(a->race->arena, &a->race->free_readers, (uint32_t)c->rd);
    } else {
        check(a, c->rd, "write", "read");
    }
    c->wr = a->epoch;
    c->rd = 0;
}

static void split_word(Access *a, RaceCell *c) {
    Race *r = a->race;
    uint32_t at = r->bytes.len;
    for (uint32_t k = 0; k < 4; k++) {
        RaceCell part = *c;
        if (part.rd & EXTENDED) { /* each byte has its own readers from here on */
            uint32_t copy = new_readers(r);
            memcpy(r->readers.data[copy], r->readers.data[(uint32_t)c->rd],
                   r->warps * sizeof(uint64_t));
            part.rd = EXTENDED | copy;
        }
        vec_push(r->arena, &r->bytes, part);
    }
    c->wr = EXTENDED | at;
}

static void touch(Access *a, RaceCell *c, AccessKind kind) {
    if (kind == ACCESS_READ)
        cell_read(a, c);
    else
        cell_write(a, c);
}

void race_access(Warp *w, const Insn *in, uint32_t lane, Cta *owner, uint32_t offset,
                 uint32_t bytes, AccessKind kind) {
    Race *r = w->cta->cluster->race;
    Access a = {.w = w, .in = in, .race = r, .warp = warp_index(w), .lane = lane};
    a.clock = r->clocks + (size_t)a.warp * r->warps;
    a.serial = r->serial & SERIAL_MASK;
    a.strong = kind == ACCESS_ATOMIC || (in->flags & F_STRONG);
    a.epoch = a.clock[a.warp] | (uint64_t)lane << LANE_SHIFT | (uint64_t)a.warp << WARP_SHIFT |
              (uint64_t)a.serial << SERIAL_SHIFT | (a.strong ? STRONG_BIT : 0);
    while (bytes) {
        RaceCell *c = &owner->cells[offset / 4];
        uint32_t first = offset % 4, n = 4 - first < bytes ? 4 - first : bytes;
        a.address = offset + SHARED_BASE;
        if (n < 4 && !(c->wr & EXTENDED))
            split_word(&a, c);
        if (c->wr & EXTENDED)
            for (uint32_t k = first; k < first + n; k++)
                touch(&a, &r->bytes.data[(uint32_t)c->wr + k], kind);
        else
            touch(&a, c, kind);
        offset += n;
        bytes -= n;
    }
}

static bool in_shared(const Warp *w, const uint8_t *host) {
    const Cluster *c = w->cta->cluster;
    for (uint32_t i = 0; i < c->count; i++)
        if (host >= c->ctas[i]->shared && host < c->ctas[i]->shared + w->launch->shared_bytes)
            return true;
    return false;
}

static bool same_value(const Warp *w, const Insn *in, uint32_t i, uint32_t j) {
    for (uint32_t k = 0; k < in->ext_count; k++) {
        uint64_t x = in->flags & F_WIDE64 ? plane64(w, in->ext[k])[i] : plane32(w, in->ext[k])[i];
        uint64_t y = in->flags & F_WIDE64 ? plane64(w, in->ext[k])[j] : plane32(w, in->ext[k])[j];
        if (in->size < 8 && ((x ^ y) & (((uint64_t)1 << (8 * in->size)) - 1)))
            return false;
        if (in->size == 8 && x != y)
            return false;
    }
    return true;
}

void race_store_conflict(Warp *w, const Insn *in, uint32_t mask, uint8_t *const *host) {
    if (in->space != SPACE_SHARED && in->space != SPACE_GENERIC)
        return;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1) || !in_shared(w, host[i]))
            continue;
        for (uint32_t j = i + 1; j < LANES; j++)
            if ((mask >> j & 1) && host[i] == host[j] && !same_value(w, in, i, j)) {
                report_add(w, in, j, TLE_EMU_REPORT_RACE, 0, 0,
                           "lanes %u and %u store different values in one place", i, j);
                return;
            }
    }
}

/* ---- order -------------------------------------------------------------------------------- */

void race_barrier_arrive(Warp *w, uint32_t **clock) {
    Race *r = w->cta->cluster->race;
    if (!*clock)
        *clock = arena_array(r->arena, uint32_t, r->warps);
    join(*clock, clock_of(w), r->warps);
    tick(w);
}

void race_barrier_leave(Warp *w, const uint32_t *clock) {
    Race *r = w->cta->cluster->race;
    if (r && clock)
        join(clock_of(w), clock, r->warps);
}

void race_barrier_reset(Warp *w, uint32_t *clock) {
    Race *r = w->cta->cluster->race;
    if (r && clock)
        memset(clock, 0, r->warps * sizeof *clock);
}

void race_warp_sync(Warp *w) {
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        tick(w);
}

void race_fence(Warp *w) {
    Race *r = w->cta->cluster->race;
    uint32_t k = warp_index(w);
    size_t row = (size_t)k * r->warps;
    if (r->has_acquire[k])
        join(r->clocks + row, r->acquire + row, r->warps);
    memcpy(r->release + row, r->clocks + row, r->warps * sizeof *r->release);
    r->has_release[k] = true;
    tick(w);
}

static uint64_t sync_key(const Warp *w, const Insn *in, uint64_t address) {
    if (in->space == SPACE_SHARED || (address & WINDOW_MASK) == SHARED_WINDOW) {
        uint32_t a = (uint32_t)address;
        if (a >> CLUSTER_SHIFT == 0)
            a |= (w->cta->rank + 1) << CLUSTER_SHIFT;
        return SHARED_WINDOW | a;
    }
    return address;
}

void race_sync_read(Warp *w, const Insn *in, uint64_t address) {
    Race *r = w->cta->cluster->race;
    uint32_t k = warp_index(w),
             at = r->sync.len ? map_find(&r->sync, sync_key(w, in, address), 0) : 0;
    size_t row = (size_t)k * r->warps;
    if (!at)
        return;
    if (in->sem == SEM_ACQUIRE || in->sem == SEM_ACQ_REL) {
        join(r->clocks + row, r->sync_clocks.data[at - 1], r->warps);
        return;
    }
    if (!r->has_acquire[k])
        memset(r->acquire + row, 0, r->warps * sizeof *r->acquire);
    r->has_acquire[k] = true;
    join(r->acquire + row, r->sync_clocks.data[at - 1], r->warps);
}

void race_sync_write(Warp *w, const Insn *in, uint64_t address) {
    Race *r = w->cta->cluster->race;
    uint32_t k = warp_index(w), at;
    bool release = in->sem == SEM_RELEASE || in->sem == SEM_ACQ_REL;
    size_t row = (size_t)k * r->warps;
    if (!release && !r->has_release[k])
        return;
    uint64_t key = sync_key(w, in, address);
    at = map_find(&r->sync, key, 0);
    if (!at) {
        uint32_t *fresh = arena_array(r->arena, uint32_t, r->warps);
        vec_push(r->arena, &r->sync_clocks, fresh);
        at = r->sync_clocks.len;
        map_put(&r->sync, key, at);
    }
    join(r->sync_clocks.data[at - 1], (release ? r->clocks : r->release) + row, r->warps);
    if (release)
        tick(w);
}
