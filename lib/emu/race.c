/* Races in shared memory by happens-before. Each warp has a vector clock over the warps of its
 * cluster and its asynchronous channels; barriers join clocks (race_order.c). Each word remembers
 * the epoch of its last write and of the reads since (one epoch, or one for each member). Words
 * touched by narrower accesses keep four byte cells.
 *
 * Lanes of a warp are ordered among themselves only by bar.warp.sync and stronger, as PTX says;
 * one instruction's lanes do not race with each other except by storing different values.
 * Strong accesses (atomics, volatile, relaxed and up) never race with each other; through fences,
 * release and acquire they order what went before. */
#include "race.h"
#include <stdio.h>
#include <string.h>

Race *race_new(Launch *l, Cluster *c) {
    Race *r = arena_new_of(l->arena, Race);
    bool async = l->module->uses_async;
    r->arena = l->arena;
    r->warps = c->count * l->warps;
    r->stride = r->warps;
    if (async)
        r->stride += MAX_MEMBERS - r->warps < MAX_CHANNELS ? MAX_MEMBERS - r->warps : MAX_CHANNELS;
    r->halves = async ? 2 : 1;
    r->row = r->halves * r->stride + 1;
    size_t n = (size_t)r->warps * r->row;
    r->clocks = arena_array(l->arena, uint32_t, n);
    r->release = arena_array(l->arena, uint32_t, n);
    r->acquire = arena_array(l->arena, uint32_t, n);
    r->touched = arena_array(l->arena, uint32_t, (size_t)c->count * r->stride);
    r->release_set = arena_array(l->arena, uint32_t, r->warps);
    r->wide_release = arena_array(l->arena, bool, r->warps);
    r->has_release = arena_array(l->arena, bool, r->warps);
    r->has_acquire = arena_array(l->arena, bool, r->warps);
    map_init(&r->sync, l->arena);
    map_init(&r->channels, l->arena);
    readers_init(&r->readers, l->arena, r->stride);
    for (uint32_t i = 0; i < c->count; i++)
        c->ctas[i]->cells = arena_array(l->arena, RaceCell, l->shared_bytes / 4 + 1);
    return r;
}

void race_reset(Launch *l, Cluster *c) {
    Race *r = c->race;
    memset(r->clocks, 0, (size_t)r->warps * r->row * sizeof *r->clocks);
    memset(r->touched, 0, (size_t)c->count * r->stride * sizeof *r->touched);
    memset(r->release_set, 0, r->warps * sizeof *r->release_set);
    memset(r->has_release, 0, r->warps);
    memset(r->has_acquire, 0, r->warps);
    for (uint32_t i = 0; i < r->warps; i++)
        r->clocks[i * r->row + i] = 1;
    r->members = r->warps;
    r->serial = 0;
    r->global = l->global_race;
    r->bytes.len = 0;
    readers_clear(&r->readers);
    r->sync_clocks.len = 0;
    map_clear(&r->sync);
    map_clear(&r->channels);
    for (uint32_t i = 0; i < 2; i++)
        if (c->barrier.clock[i])
            memset(c->barrier.clock[i], 0, r->row * sizeof(uint32_t));
    for (uint32_t i = 0; i < c->count; i++)
        memset(c->ctas[i]->cells, 0, (l->shared_bytes / 4 + 1) * sizeof(RaceCell));
}

/* ---- one access --------------------------------------------------------------------------- */

static uint32_t epoch_warp(uint64_t e) {
    return (uint32_t)(e >> WARP_SHIFT) & 1023;
}

static uint32_t epoch_lane(uint64_t e) {
    return (uint32_t)(e >> LANE_SHIFT) & 63;
}

static bool same_instruction(const Access *a, uint64_t e) {
    return epoch_warp(e) == a->member && ((e >> SERIAL_SHIFT) & SERIAL_MASK) == a->serial;
}

/* Whether what `e` stands for happened before the access. Of its own channel an asynchronous
 * operation knows what its issuer has waited for. */
static bool ordered(const Access *a, uint64_t e) {
    uint32_t clock = (uint32_t)e & CLOCK_MASK, v = epoch_warp(e);
    if (v == a->member && same_instruction(a, e))
        return true;
    if (v == a->issuer)
        return epoch_lane(e) == a->lane || clock < a->clock[v];
    return clock <= a->clock[v];
}

static bool is_proxied(const Access *a, uint64_t e) {
    return epoch_warp(e) >= a->race->warps ||
           ((uint32_t)e & CLOCK_MASK) <= a->clock[a->race->stride + epoch_warp(e)];
}

static void report_proxy(Access *a, uint64_t e, const char *now) {
    a->reported = true;
    report_add(a->w, a->in, a->lane, TLE_EMU_REPORT_PROXY, a->address, 0,
               "asynchronous %s of byte %u of shared memory after a write by warp %u of CTA %u in "
               "the cluster without fence.proxy.async between them",
               now, a->address - SHARED_BASE, epoch_warp(e) % a->w->launch->warps,
               epoch_warp(e) / a->w->launch->warps);
}

static void report_race(Access *a, uint64_t e, const char *now, const char *before) {
    uint32_t v = epoch_warp(e), lane = epoch_lane(e), warps = a->w->launch->warps;
    char who[192];
    a->reported = true;
    if (v >= a->race->warps)
        snprintf(who, sizeof who, "an asynchronous copy that nothing waited for");
    else
        snprintf(who, sizeof who, "warp %u%s%s lane %s%u", v % warps,
                 v / warps != a->w->cta->rank ? " of another CTA of the cluster," : "",
                 v == a->member ? " (the same warp, without bar.warp.sync)" : "",
                 lane == SEVERAL ? "several, e.g. not " : "", lane == SEVERAL ? a->lane : lane);
    report_add(a->w, a->in, a->lane, TLE_EMU_REPORT_RACE, a->address, 0,
               "%s%s of byte %u of shared memory races with a %s by %s",
               a->async ? "asynchronous " : "", now, a->address - SHARED_BASE, before, who);
}

static void check(Access *a, uint64_t e, const char *now, const char *before) {
    if (e == 0 || a->reported)
        return;
    if (!ordered(a, e) && !(a->strong && (e & STRONG_BIT)))
        report_race(a, e, now, before);
    else if (a->proxy && before[0] == 'w' && !is_proxied(a, e))
        report_proxy(a, e, now);
}

static void promote(Access *a, RaceCell *c) {
    uint32_t set = readers_new(&a->race->readers);
    *readers_epoch(&a->race->readers, set, epoch_warp(c->rd)) = c->rd;
    c->rd = EXTENDED | set;
}

/* The reads of one warp: several lanes at one clock become "several". */
static uint64_t merge_read(const Access *a, uint64_t old) {
    uint64_t e = a->epoch;
    bool same_clock = !((old ^ e) & CLOCK_MASK);
    if (old == 0 || !same_clock || epoch_lane(old) == a->lane)
        return e;
    if (!(old & STRONG_BIT))
        e &= ~STRONG_BIT;
    return e | (uint64_t)SEVERAL << LANE_SHIFT;
}

static void cell_read(Access *a, RaceCell *c) {
    check(a, c->wr, "read", "write");
    if (c->rd & EXTENDED) {
        uint64_t *e = readers_epoch(&a->race->readers, (uint32_t)c->rd, a->member);
        *e = merge_read(a, *e);
    } else if (c->rd == 0 || epoch_warp(c->rd) == a->member) {
        c->rd = merge_read(a, c->rd);
    } else if (ordered(a, c->rd)) {
        c->rd = a->epoch;
    } else {
        promote(a, c);
        *readers_epoch(&a->race->readers, (uint32_t)c->rd, a->member) = a->epoch;
    }
}

static void check_readers(Access *a, uint32_t set) {
    const Readers *r = &a->race->readers;
    for (uint32_t i = 0; i * READERS_BLOCK < a->race->members; i++) {
        const ReadersBlock *b = readers_block(r, set, i);
        for (uint32_t k = 0; b && k < READERS_BLOCK; k++)
            check(a, b->epoch[k], "write", "read");
    }
}

static void cell_write(Access *a, RaceCell *c) {
    check(a, c->wr, "write", "write");
    if (c->rd & EXTENDED) {
        check_readers(a, (uint32_t)c->rd);
        readers_drop(&a->race->readers, (uint32_t)c->rd);
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
        if (part.rd & EXTENDED) /* each byte has its own readers from here on */
            part.rd = EXTENDED | readers_copy(&r->readers, (uint32_t)c->rd);
        vec_push(r->arena, &r->bytes, part);
    }
    if (c->rd & EXTENDED)
        readers_drop(&r->readers, (uint32_t)c->rd);
    c->wr = EXTENDED | at;
}

static void touch(Access *a, RaceCell *c, AccessKind kind) {
    if (kind == ACCESS_READ)
        cell_read(a, c);
    else
        cell_write(a, c);
}

void race_touch(Access *a, Cta *owner, uint32_t offset, uint32_t bytes, AccessKind kind) {
    Race *r = a->race;
    if (owner != a->w->cta || (a->async && a->in->fn != x_cp_async))
        r->touched[owner->rank * r->stride + a->member] = (uint32_t)a->epoch & CLOCK_MASK;
    while (bytes) {
        RaceCell *c = &owner->cells[offset / 4];
        uint32_t first = offset % 4, n = 4 - first < bytes ? 4 - first : bytes;
        a->address = offset + SHARED_BASE;
        if (n < 4 && !(c->wr & EXTENDED))
            split_word(a, c);
        if (c->wr & EXTENDED)
            for (uint32_t k = first; k < first + n; k++)
                touch(a, &r->bytes.data[(uint32_t)c->wr + k], kind);
        else
            touch(a, c, kind);
        offset += n;
        bytes -= n;
    }
}

void race_access(Warp *w, const Insn *in, uint32_t lane, Cta *owner, uint32_t offset,
                 uint32_t bytes, AccessKind kind) {
    Race *r = w->cta->cluster->race;
    Access a = {.w = w, .in = in, .race = r, .clock = race_clock(w), .lane = lane};
    a.member = a.issuer = race_index(w);
    a.serial = r->serial & SERIAL_MASK;
    a.strong = kind == ACCESS_ATOMIC || (in->flags & F_STRONG);
    a.epoch = a.clock[a.member] | (uint64_t)lane << LANE_SHIFT | (uint64_t)a.member << WARP_SHIFT |
              (uint64_t)a.serial << SERIAL_SHIFT | (a.strong ? STRONG_BIT : 0);
    race_touch(&a, owner, offset, bytes, kind);
}

static bool in_shared(const Warp *w, const uint8_t *host) {
    const Cluster *c = w->cta->cluster;
    for (uint32_t i = 0; i < c->count; i++)
        if (host >= c->ctas[i]->shared && host < c->ctas[i]->shared + w->launch->shared_bytes)
            return true;
    return false;
}

bool race_stores_same(const Warp *w, const Insn *in, uint32_t i, uint32_t j) {
    if (in->fn != x_st)
        return true;
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

/* As most stores are: then no two lanes have one place. */
static bool is_ascending(uint32_t mask, uint8_t *const *host) {
    uintptr_t last = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        if ((uintptr_t)host[i] <= last)
            return false;
        last = (uintptr_t)host[i];
    }
    return true;
}

void race_store_conflict(Warp *w, const Insn *in, uint32_t mask, uint8_t *const *host) {
    if ((in->space != SPACE_SHARED && in->space != SPACE_GENERIC) || is_ascending(mask, host))
        return;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1) || !in_shared(w, host[i]))
            continue;
        for (uint32_t j = i + 1; j < LANES; j++)
            if ((mask >> j & 1) && host[i] == host[j] && !race_stores_same(w, in, i, j)) {
                report_add(w, in, j, TLE_EMU_REPORT_RACE, 0, 0,
                           "lanes %u and %u store different values in one place", i, j);
                return;
            }
    }
}
