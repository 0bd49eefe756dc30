/* Which warp runs next. Clusters become resident in order; a cluster that cannot finish alone (it
 * spins or waits for another) brings in the next, so grid-wide barriers work. The order is a
 * function of the launch and the seed alone. */
#include "ahead.h"
#include <string.h>

#define TURN          4096u      /* warp instructions of one turn */
#define PATIENCE      64u        /* turns of the newest cluster before others come in */
#define LONG_RUN      (1u << 18) /* likewise of one that never looked: instructions for each warp */
#define POLL_PATIENCE 4u         /* likewise where it keeps looking at memory that others write */
#define POLLS         32u        /* such looks in a turn */
#define SPIN_TURN     256u /* adversarial: turns of the others, how many, and then the victim's */
#define SPIN_PATIENCE 16u
#define VICTIM_TURN   8u
#define GIVE_UPS      8u         /* rounds of fruitless try_waits that are a deadlock */
#define LIVELOCK      (1u << 20) /* instructions without a change: in all, and for each warp */
#define LIVELOCK_WARP (1u << 13)
#define JUNK 0xcd /* in shared and local memory at first: a kernel must not rely on zeros */

uint64_t sched_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- clusters come and go ----------------------------------------------------------------- */

static void new_cta(Launch *l, Cluster *c, uint32_t rank) {
    Cta *cta = arena_new_of(l->arena, Cta);
    c->ctas[rank] = cta;
    cta->cluster = c;
    cta->rank = rank;
    cta->shared = arena_alloc(l->arena, (size_t)l->shared_bytes + 1024);
    cta->shared += 1024 - ((uintptr_t)cta->shared & 1023);
    cta->shared_init = arena_array(l->arena, uint64_t, l->shared_bytes / 64 + 1);
    cta->warps = arena_array(l->arena, Warp, l->warps);
    cta->warp_count = l->warps;
    for (uint32_t k = 0; k < l->warps; k++) {
        Warp *w = &cta->warps[k];
        uint32_t left = l->threads - k * LANES;
        w->cta = cta;
        w->launch = l;
        w->id = k;
        w->initial = left >= LANES ? ALL_LANES : (1u << left) - 1;
        w->local = arena_alloc(l->arena, (size_t)l->local_bytes * LANES + 16);
        w->local_init = arena_array(l->arena, uint64_t, (size_t)l->local_bytes / 2 + 2);
    }
}

static Cluster *new_cluster(Launch *l) {
    Cluster *c = arena_new_of(l->arena, Cluster);
    c->count = l->cluster_size;
    c->ctas = arena_array(l->arena, Cta *, c->count);
    for (uint32_t r = 0; r < c->count; r++)
        new_cta(l, c, r);
    if (l->checks & TLE_EMU_CHECK_RACE)
        c->race = race_new(l, c);
    return c;
}

static void place_cta(const Launch *l, Cta *cta, uint64_t number) {
    uint32_t rank = cta->rank;
    for (int k = 0; k < 3; k++) {
        uint64_t across = l->grid[k] / l->cluster[k];
        uint32_t inside = rank % l->cluster[k];
        rank /= l->cluster[k];
        cta->id[k] = (uint32_t)(number % across) * l->cluster[k] + inside;
        number /= across;
    }
}

static void start_cta(Launch *l, Cta *cta) {
    memset(cta->shared, JUNK, l->shared_bytes);
    memset(cta->shared_init, 0, (l->shared_bytes / 64 + 1) * sizeof(uint64_t));
    for (uint32_t id = 0; id < BARRIER_COUNT; id++) {
        cta->barriers[id].active = false;
        cta->barriers[id].clock = NULL;
    }
    cta->live_threads = l->threads;
    cta->free_registers = 0;
    for (uint32_t k = 0; k < cta->warp_count; k++) {
        Warp *w = &cta->warps[k];
        memset(w->local, JUNK, (size_t)l->local_bytes * LANES);
        if (l->checks & TLE_EMU_CHECK_UNINIT)
            memset(w->local_init, 0, ((size_t)l->local_bytes / 2 + 2) * sizeof(uint64_t));
        warp_start(w, l->fn);
        w->registers = registers_at_start(l);
    }
}

/* Nothing of the clusters before it has a part in how a cluster runs. */
static void admit(Launch *l) {
    Cluster *c = l->free_clusters;
    if (c)
        l->free_clusters = c->next_free;
    else
        c = new_cluster(l);
    c->number = l->next_cluster++;
    c->turns = c->polls = c->steps = 0;
    c->rng = l->device->seed;
    c->rng = sched_random(&c->rng) + c->number;
    l->last_region = NULL;
    c->done = false;
    c->barrier.active = false;
    c->barrier.phase = 0;
    for (uint32_t r = 0; r < c->count; r++) {
        place_cta(l, c->ctas[r], c->number);
        start_cta(l, c->ctas[r]);
    }
    if (c->race)
        race_reset(l, c);
    async_reset(l, c);
    l->resident[l->resident_count++] = c;
}

static void retire(Launch *l, uint32_t at) {
    Cluster *c = l->resident[at];
    async_end(c);
    for (uint32_t i = at; i + 1 < l->resident_count; i++)
        l->resident[i] = l->resident[i + 1];
    l->resident_count--;
    for (uint32_t r = 0; r < c->count; r++)
        for (uint32_t k = 0; k < c->ctas[r]->warp_count; k++) {
            Warp *w = &c->ctas[r]->warps[k];
            w->f = NULL;
        }
    c->next_free = l->free_clusters;
    l->free_clusters = c;
}

static bool is_done(const Cluster *c) {
    if (!async_is_idle(c))
        return false;
    for (uint32_t r = 0; r < c->count; r++)
        if (c->ctas[r]->live_threads)
            return false;
    return true;
}

/* ---- turns -------------------------------------------------------------------------------- */

static Warp *warp_at(const Launch *l, const Cluster *c, uint32_t i) {
    return &c->ctas[i / l->warps]->warps[i % l->warps];
}

static bool run_all(Launch *l, Cluster *c, uint32_t from, uint32_t skip, uint32_t budget) {
    uint32_t n = c->count * l->warps;
    bool ran = false;
    for (uint32_t k = 0; k < n && !l->stop; k++) {
        uint32_t i = (from + k) % n;
        if (l->device->schedule == TLE_EMU_SCHEDULE_RANDOM)
            budget = 1 + (uint32_t)(sched_random(&c->rng) % 200);
        if (i != skip)
            ran |= warp_run(warp_at(l, c, i), budget);
    }
    return ran;
}

/* The victim moves when nobody else can, and a little once the others have spun for long. */
static bool turn_against(Launch *l, Cluster *c, uint32_t victim) {
    bool ran = run_all(l, c, victim + 1, victim, SPIN_TURN);
    if (ran && c->turns % SPIN_PATIENCE != SPIN_PATIENCE - 1)
        return true;
    return warp_run(warp_at(l, c, victim), ran ? VICTIM_TURN : 1) || ran;
}

/* One turn of every warp of the cluster; false if none could run. */
static bool turn(Launch *l, Cluster *c) {
    uint32_t n = c->count * l->warps;
    switch ((tle_emu_schedule)l->device->schedule) {
    case TLE_EMU_SCHEDULE_RANDOM:
        return run_all(l, c, (uint32_t)(sched_random(&c->rng) % n), n, 0);
    case TLE_EMU_SCHEDULE_ADVERSARIAL:
        return turn_against(l, c, (uint32_t)(l->device->seed % n));
    case TLE_EMU_SCHEDULE_ROUND_ROBIN:
        break;
    }
    return run_all(l, c, 0, n, TURN);
}

static bool wants_company(const Launch *l) {
    return l->next_cluster < l->cluster_total && l->resident_count < l->resident_limit;
}

/* Whether the newest cluster seems unable to finish without those to come. */
static bool is_impatient(const Launch *l) {
    const Cluster *c = l->resident_count ? l->resident[l->resident_count - 1] : NULL;
    if (!c)
        return false;
    if (c->polls == 0)
        return c->steps > (uint64_t)LONG_RUN * c->count * l->warps;
    return c->turns > (c->polls >= c->turns * POLLS ? POLL_PATIENCE : PATIENCE);
}

/* Twice as many each time: what waits for all must not wait long. */
static void admit_wave(Launch *l) {
    for (uint32_t n = l->resident_count ? l->resident_count : 1; n > 0 && wants_company(l); n--)
        admit(l);
}

/* A turn of a cluster and its engines; false if nothing could run even so. */
static bool turn_of(Launch *l, Cluster *c) {
    bool ran = async_step(l, c, turn(l, c));
    if (ran || l->stop)
        return true;
    c->stuck = true;
    ran = turn(l, c);
    c->stuck = false;
    return ran;
}

/* A turn of each resident cluster; false if nothing could run. */
static bool turn_of_all(Launch *l) {
    bool ran = false;
    for (uint32_t i = 0; i < l->resident_count && !l->stop; i++) {
        Cluster *c = l->resident[i];
        uint64_t before = l->instructions;
        ran |= turn_of(l, c);
        c->turns++;
        c->steps += l->instructions - before;
        if (is_done(c))
            retire(l, i--);
        if (l->limit && l->instructions > l->limit) {
            report_limit(l);
            l->stop = true;
        }
    }
    return ran;
}

/* Nothing runs: the try_waits return false, unless that has helped nobody of late. */
static bool give_up(Launch *l) {
    uint64_t events = 0;
    bool any = false;
    for (uint32_t i = 0; i < l->resident_count; i++)
        events += async_events(l->resident[i]);
    l->give_ups = events == l->events_seen ? l->give_ups + 1 : 0;
    l->events_seen = events;
    for (uint32_t i = 0; i < l->resident_count && l->give_ups < GIVE_UPS; i++)
        any |= async_give_up(l->resident[i]);
    return any;
}

/* Nothing has changed for long, nobody is to come, and whoever runs has looked at memory since.
 * `part`: 1, or more to judge sooner. */
static bool is_livelock(const Launch *l, uint32_t part) {
    uint64_t idle = l->instructions - l->changed, running = 0;
    if (idle < LIVELOCK / part || wants_company(l))
        return false;
    for (uint32_t c = 0; c < l->resident_count; c++)
        for (uint32_t i = 0; i < l->resident[c]->count * l->warps; i++) {
            const Warp *w = warp_at(l, l->resident[c], i);
            if (!warp_runnable(w))
                continue;
            if (w->look.when <= l->changed)
                return false;
            running++;
        }
    return running && idle / running >= LIVELOCK_WARP / part;
}

bool sched_run_alone(Launch *l) {
    admit(l);
    while (l->resident_count) {
        bool stuck = !turn_of_all(l) && l->resident_count;
        if (stuck || l->stop || (is_impatient(l) && wants_company(l)) || is_livelock(l, 2) ||
            ahead_is_cancelled(l))
            return false;
    }
    return !l->stop;
}

tle_emu_status sched_run(Launch *l) {
    ahead_run(l);
    while (!l->stop && (l->next_cluster < l->cluster_total || l->resident_count)) {
        if (l->resident_count == 0)
            admit(l);
        bool stuck = !turn_of_all(l) && l->resident_count;
        if (l->stop)
            break;
        if (!stuck && is_livelock(l, 1)) {
            report_livelock(l);
            break;
        }
        if ((stuck || is_impatient(l)) && wants_company(l)) {
            admit_wave(l);
        } else if (stuck && !give_up(l)) {
            report_deadlock(l);
            break;
        }
    }
    return l->status;
}
