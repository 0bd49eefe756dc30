/* What orders accesses: barriers, fences, release and acquire, completed asynchronous work, and the
 * life of a CTA within its cluster. */
#include "race.h"
#include <string.h>

static void tick(Warp *w) {
    uint32_t *own = &race_clock(w)[race_index(w)];
    if (*own < CLOCK_MASK)
        ++*own;
}

uint32_t *race_new_clock(Race *r) {
    return arena_array(r->arena, uint32_t, r->row);
}

void race_join(const Race *r, uint32_t *into, const uint32_t *from) {
    for (uint32_t half = 0; half < r->halves * r->stride; half += r->stride)
        for (uint32_t i = half; i < half + r->members; i++)
            if (from[i] > into[i])
                into[i] = from[i];
    if (from[r->row - 1])
        into[r->row - 1] = race_global_join(r->global, into[r->row - 1], from[r->row - 1]);
}

void race_begin(Warp *w) {
    w->cta->cluster->race->serial++;
}

size_t race_clock_bytes(const Race *r) {
    return r->row * sizeof(uint32_t);
}

/* ---- barriers ----------------------------------------------------------------------------- */

void race_barrier_arrive(Warp *w, uint32_t **clock) {
    Race *r = w->cta->cluster->race;
    if (!*clock)
        *clock = race_new_clock(r);
    race_join(r, *clock, race_clock(w));
    tick(w);
}

/* A relaxed arrival publishes what a fence before it has released. */
void race_relaxed_arrive(Warp *w, uint32_t **clock) {
    Race *r = w->cta->cluster->race;
    if (!*clock)
        *clock = race_new_clock(r);
    if (r->has_release[race_index(w)])
        race_join(r, *clock, r->release + (size_t)race_index(w) * r->row);
}

void race_barrier_leave(Warp *w, const uint32_t *clock) {
    Race *r = w->cta->cluster->race;
    if (r && clock)
        race_join(r, race_clock(w), clock);
}

void race_barrier_reset(Warp *w, uint32_t *clock) {
    Race *r = w->cta->cluster->race;
    if (r && clock)
        memset(clock, 0, r->row * sizeof *clock);
}

/* A copy of what the warp knows. */
void race_remember(Warp *w, uint32_t **clock) {
    Race *r = w->cta->cluster->race;
    if (!*clock)
        *clock = race_new_clock(r);
    memcpy(*clock, race_clock(w), race_clock_bytes(r));
}

void race_warp_sync(Warp *w) {
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        tick(w);
}

/* ---- fences, acquire and release ---------------------------------------------------------- */

/* Of the scope of a CTA or cluster: what other clusters must not learn of. */
void race_fence(Warp *w, Scope scope) {
    Race *r = w->cta->cluster->race;
    uint32_t k = race_index(w);
    size_t row = (size_t)k * r->row;
    uint32_t *set = &r->clocks[row + r->row - 1], known = *set;
    if (r->has_acquire[k])
        race_join(r, r->clocks + row, r->acquire + row);
    if (scope != SCOPE_GPU)
        *set = known;
    memcpy(r->release + row, r->clocks + row, r->row * sizeof *r->release);
    r->has_release[k] = true;
    r->wide_release[k] = scope == SCOPE_GPU;
    r->release_set[k] = 0;
    tick(w);
}

/* All that happened before this is visible to the async proxy. */
void race_proxy_fence(Warp *w) {
    Race *r = w->cta->cluster->race;
    uint32_t *clock = race_clock(w);
    if (r->halves > 1)
        memcpy(clock + r->stride, clock, r->stride * sizeof *clock);
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

/* Atomics without a scope, and volatile accesses, are of the GPU. */
static bool is_of_gpu(const Insn *in, uint64_t key) {
    return !(key & SHARED_WINDOW) && (in->scope == SCOPE_NONE || in->scope == SCOPE_GPU);
}

void race_sync_read(Warp *w, const Insn *in, uint64_t address) {
    Race *r = w->cta->cluster->race;
    uint64_t key = sync_key(w, in, address);
    uint32_t k = race_index(w), at = r->sync.len ? map_find(&r->sync, key, 0) : 0;
    bool acquires = in->sem == SEM_ACQUIRE || in->sem == SEM_ACQ_REL;
    uint32_t *clock = (acquires ? r->clocks : r->acquire) + (size_t)k * r->row;
    if (!at && !r->global)
        return;
    if (!acquires && !r->has_acquire[k])
        memset(clock, 0, r->row * sizeof *clock);
    if (!acquires)
        r->has_acquire[k] = true;
    if (at)
        race_join(r, clock, r->sync_clocks.data[at - 1]);
    if (r->global && is_of_gpu(in, key))
        race_global_learn(w, key, &clock[r->row - 1]);
}

void race_sync_write(Warp *w, const Insn *in, uint64_t address) {
    Race *r = w->cta->cluster->race;
    uint32_t k = race_index(w), at;
    bool release = in->sem == SEM_RELEASE || in->sem == SEM_ACQ_REL;
    size_t row = (size_t)k * r->row;
    if (!release && !r->has_release[k])
        return;
    uint64_t key = sync_key(w, in, address);
    at = map_find(&r->sync, key, 0);
    if (!at) {
        uint32_t *fresh = race_new_clock(r);
        vec_push(r->arena, &r->sync_clocks, fresh);
        at = r->sync_clocks.len;
        map_put(&r->sync, key, at);
    }
    race_join(r, r->sync_clocks.data[at - 1], (release ? r->clocks : r->release) + row);
    if (r->global && is_of_gpu(in, key) && (release || r->wide_release[k]))
        race_global_publish(w, key, (release ? r->clocks : r->release) + row,
                            release ? NULL : &r->release_set[k]);
    if (release)
        tick(w);
}

/* ---- asynchronous channels ---------------------------------------------------------------- */

/* The channel of a key, which outlives its uses; 0 when there is no more room: not tracked. */
uint32_t race_channel(Race *r, uint64_t key) {
    uint32_t at = map_find(&r->channels, key, 0);
    if (at)
        return at;
    if (r->members == r->stride)
        return 0;
    at = r->members++;
    r->channel_epoch[at - r->warps] = 1;
    map_put(&r->channels, key, at);
    return at;
}

uint32_t race_channel_epoch(const Race *r, uint32_t channel) {
    return channel ? r->channel_epoch[channel - r->warps] : 0;
}

/* Later operations of the channel are distinct from those so far. */
void race_channel_next(Race *r, uint32_t channel) {
    if (channel && r->channel_epoch[channel - r->warps] < CLOCK_MASK)
        r->channel_epoch[channel - r->warps]++;
}

/* Whoever holds `clock` knows the channel's operations up to `epoch` complete. */
void race_channel_done(uint32_t *clock, uint32_t channel, uint32_t epoch) {
    if (channel && clock[channel] < epoch)
        clock[channel] = epoch;
}

void race_learn(Warp *w, uint32_t channel, uint32_t epoch) {
    race_channel_done(race_clock(w), channel, epoch);
}

void race_async_access_at(Warp *w, const Insn *in, uint32_t lane, uint32_t channel, uint32_t epoch,
                          bool proxy, Cta *owner, uint32_t offset, uint32_t bytes,
                          AccessKind kind) {
    Race *r = w->cta->cluster->race;
    Access a = {.w = w, .in = in, .race = r, .clock = race_clock(w), .lane = lane};
    if (!channel)
        return;
    a.member = channel;
    a.issuer = race_index(w);
    a.async = true;
    a.proxy = proxy && (w->launch->checks & TLE_EMU_CHECK_PROXY);
    a.serial = r->serial & SERIAL_MASK;
    a.epoch = epoch | (uint64_t)lane << LANE_SHIFT | (uint64_t)channel << WARP_SHIFT |
              (uint64_t)a.serial << SERIAL_SHIFT;
    race_touch(&a, owner, offset, bytes, kind);
}

void race_async_access(Warp *w, const Insn *in, uint32_t lane, uint32_t channel, bool proxy,
                       Cta *owner, uint32_t offset, uint32_t bytes, AccessKind kind) {
    race_async_access_at(w, in, lane, channel, race_channel_epoch(w->cta->cluster->race, channel),
                         proxy, owner, offset, bytes, kind);
}

/* ---- CTAs of a cluster -------------------------------------------------------------------- */

/* Whether something tells the warp that the peer runs already. */
bool race_has_started(const Warp *w, const Cta *peer) {
    const uint32_t *clock = race_clock(w) + (size_t)peer->rank * w->launch->warps;
    for (uint32_t k = 0; k < w->launch->warps; k++)
        if (clock[k])
            return true;
    return w->peers_started;
}

/* The last threads of a CTA exit: all uses of its shared memory must have happened before. Returns
 * the member whose use has not, plus 1. */
uint32_t race_exit_conflict(Cta *c) {
    Race *r = c->cluster->race;
    const uint32_t *touched = r->touched + (size_t)c->rank * r->stride;
    for (uint32_t v = 0; v < r->members; v++) {
        bool known = touched[v] == 0;
        for (uint32_t k = 0; k < c->warp_count && !known; k++)
            known = race_clock(&c->warps[k])[v] >= touched[v];
        if (!known)
            return v + 1;
    }
    return 0;
}

bool race_is_channel(const Race *r, uint32_t member) {
    return member >= r->warps;
}
