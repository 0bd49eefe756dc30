/* Clusters ahead of their turn; see ahead.h. */
#include "ahead.h"
#include "view.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MAX_THREADS   64u
#define MAX_PER_ROUND 8u                  /* clusters for each thread */
#define RESULTS_MAX   ((size_t)128 << 20) /* bytes of a thread's results that end its round */

/* What a cluster has done ahead of its turn. */
typedef struct Unit {
    enum { UNIT_NONE, UNIT_DONE, UNIT_FAILED } state;
    uint64_t instructions, changed;
    Cost *cost;
    GlobalRace *race;
    ViewLog log;
} Unit;

typedef struct Worker {
    Launch launch; /* a copy of the launch, in which one cluster is resident */
    Ahead *ahead;
    Arena *results; /* of the round */
    Unit *unit;     /* that runs */
    pthread_t thread;
    bool started;
    uint64_t round;
} Worker;

struct Ahead {
    Launch *launch;
    SpanTable *spans;
    Worker workers[MAX_THREADS];
    uint32_t count;
    Unit units[MAX_THREADS * MAX_PER_ROUND];
    uint32_t unit_count;
    atomic_uint next, failed; /* units: to take next, first that failed */
    Map written;              /* of the round: page -> index into written_pages + 1 */
    VEC(const uint64_t *) written_pages;
    pthread_mutex_t lock;
    pthread_cond_t go, done;
    uint64_t round;
    uint32_t running;
    bool quit;
};

/* ---- one cluster -------------------------------------------------------------------------- */

bool ahead_is_cancelled(const Launch *l) {
    const Ahead *a = l->ahead;
    const Worker *k = (const Worker *)(const void *)l;
    uint64_t limit = a->launch->limit;
    return (limit && l->instructions > limit) ||
           atomic_load_explicit(&a->failed, memory_order_relaxed) < (uint32_t)(k->unit - a->units);
}

uint64_t ahead_time(const Warp *w) {
    if (w->launch->view)
        w->launch->stop = true;
    return w->launch->instructions + w->steps;
}

/* Running out of memory comes back here. */
static bool run_unit(Worker *k, uint64_t number) {
    Launch *l = &k->launch;
    Unit *u = k->unit;
    if (setjmp(l->escape))
        return false;
    l->stop = false;
    if (!l->view) {
        l->resident = arena_array(l->arena, Cluster *, 2);
        l->view = view_new(k->ahead->spans, l->arena);
    }
    l->instructions = l->changed = 0;
    l->next_cluster = number;
    l->cost = l->cost ? cost_new(l, k->results) : NULL;
    l->global_race = l->global_race ? race_global_new(l, k->results) : NULL;
    if (!sched_run_alone(l))
        return false;
    u->instructions = l->instructions;
    u->changed = l->changed;
    u->cost = l->cost;
    u->race = l->global_race;
    view_take(l->view, k->results, &u->log);
    return true;
}

static void fail_from(Ahead *a, uint32_t unit) {
    uint32_t least = atomic_load(&a->failed);
    while (unit < least && !atomic_compare_exchange_weak(&a->failed, &least, unit)) {
    }
}

static void run_units(Worker *k) {
    Ahead *a = k->ahead;
    while (arena_bytes(k->results) < RESULTS_MAX) {
        uint32_t i = atomic_fetch_add(&a->next, 1);
        if (i >= a->unit_count || i > atomic_load(&a->failed))
            return;
        k->unit = &a->units[i];
        k->unit->state = run_unit(k, a->launch->next_cluster + i) ? UNIT_DONE : UNIT_FAILED;
        if (k->unit->state == UNIT_FAILED) {
            fail_from(a, i);
            return;
        }
    }
}

/* ---- threads ------------------------------------------------------------------------------ */

static void *work(void *user) {
    Worker *k = user;
    Ahead *a = k->ahead;
    pthread_mutex_lock(&a->lock);
    for (;;) {
        while (!a->quit && k->round == a->round)
            pthread_cond_wait(&a->go, &a->lock);
        if (a->quit)
            break;
        k->round = a->round;
        pthread_mutex_unlock(&a->lock);
        run_units(k);
        pthread_mutex_lock(&a->lock);
        if (--a->running == 0)
            pthread_cond_signal(&a->done);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

static void run_out_of_memory(void *user, size_t wanted) {
    Worker *k = user;
    (void)wanted;
    longjmp(k->launch.escape, 1);
}

static bool start_worker(Ahead *a, Worker *k) {
    k->ahead = a;
    k->launch = *a->launch;
    k->launch.limit = 0; /* counted from the launch's start: ahead_is_cancelled and may_follow */
    k->launch.free_clusters = NULL;
    k->launch.arena = arena_new(run_out_of_memory, k);
    k->results = arena_new(run_out_of_memory, k);
    a->count++;
    if (!k->launch.arena || !k->results)
        return false;
    k->started = k != a->workers && pthread_create(&k->thread, NULL, work, k) == 0;
    return k->started || k == a->workers;
}

/* At least two, of which the first is the caller's own thread. */
static bool start(Ahead *a, uint32_t threads) {
    Launch *l = a->launch;
    a->spans = view_spans(&l->device->regions, l->arena);
    map_init(&a->written, l->arena);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->go, NULL);
    pthread_cond_init(&a->done, NULL);
    while (a->count < threads)
        if (!start_worker(a, &a->workers[a->count]))
            return false;
    return true;
}

void ahead_end(Launch *l) {
    Ahead *a = l->ahead;
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->quit = true;
    pthread_cond_broadcast(&a->go);
    pthread_mutex_unlock(&a->lock);
    for (uint32_t i = 0; i < a->count; i++) {
        Worker *k = &a->workers[i];
        if (k->started)
            pthread_join(k->thread, NULL);
        if (k->launch.view)
            view_free(k->launch.view);
        if (k->results)
            arena_free(k->results);
        if (k->launch.arena)
            arena_free(k->launch.arena);
    }
    pthread_cond_destroy(&a->done);
    pthread_cond_destroy(&a->go);
    pthread_mutex_destroy(&a->lock);
    free(a);
    l->ahead = NULL;
}

static void run_round(Ahead *a, uint32_t units) {
    for (uint32_t i = 0; i < units; i++)
        a->units[i] = (Unit){0};
    a->unit_count = units;
    atomic_store(&a->next, 0);
    atomic_store(&a->failed, units);
    pthread_mutex_lock(&a->lock);
    a->running = a->count - 1;
    a->round++;
    pthread_cond_broadcast(&a->go);
    pthread_mutex_unlock(&a->lock);
    run_units(&a->workers[0]);
    pthread_mutex_lock(&a->lock);
    while (a->running)
        pthread_cond_wait(&a->done, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

/* ---- in order ----------------------------------------------------------------------------- */

/* Whether a cluster before it in the round wrote what the cluster has read. */
static bool read_too_early(const Ahead *a, const Unit *u) {
    for (uint32_t i = 0; i < u->log.pages.len; i++) {
        const ViewPage *p = u->log.pages.data[i];
        uint32_t at = map_find(&a->written, p->address, 0);
        for (uint32_t k = 0; at && k < VIEW_WORDS; k++)
            if (a->written_pages.data[at - 1][k] & p->read[k])
                return true;
    }
    return false;
}

static bool may_follow(const Ahead *a, const Unit *u) {
    const Launch *l = a->launch;
    return u->state == UNIT_DONE && !(l->limit && l->instructions + u->instructions > l->limit) &&
           !read_too_early(a, u) && !(u->race && race_global_conflicts(l->global_race, u->race));
}

static void note_written(Ahead *a, const ViewPage *p) {
    Arena *arena = a->launch->arena;
    uint32_t at = map_find(&a->written, p->address, 0);
    if (!p->bytes)
        return;
    if (!at) {
        vec_push(arena, &a->written_pages, p->written);
        map_put(&a->written, p->address, a->written_pages.len);
        return;
    }
    uint64_t *both = arena_array(arena, uint64_t, VIEW_WORDS);
    for (uint32_t k = 0; k < VIEW_WORDS; k++)
        both[k] = a->written_pages.data[at - 1][k] | p->written[k];
    a->written_pages.data[at - 1] = both;
}

static void follow(Ahead *a, const Unit *u) {
    Launch *l = a->launch;
    view_apply(&u->log);
    for (uint32_t i = 0; i < u->log.pages.len; i++)
        note_written(a, u->log.pages.data[i]);
    if (u->race)
        race_global_append(l->global_race, u->race);
    if (u->cost)
        cost_add(l->cost, u->cost, l);
    l->changed = l->instructions + u->changed;
    l->instructions += u->instructions;
    l->next_cluster++;
}

/* False if one could not: those after it do without. */
static bool take_round(Ahead *a) {
    bool good = true;
    map_clear(&a->written);
    a->written_pages.len = 0;
    for (uint32_t i = 0; i < a->unit_count && a->units[i].state && good; i++) {
        good = may_follow(a, &a->units[i]);
        if (good)
            follow(a, &a->units[i]);
    }
    for (uint32_t i = 0; i < a->count; i++)
        arena_reset(a->workers[i].results);
    return good;
}

/* ---- a launch ----------------------------------------------------------------------------- */

/* Code that clusters of a grid talk by: they would not get far. */
static bool talks(const struct tle_emu_module *m, const Function *fn) {
    for (uint32_t i = 0; i < fn->count; i++) {
        const Insn *in = &fn->code[i];
        if (in->space == SPACE_GLOBAL && (in->fn == x_atom || (in->flags & F_STRONG)))
            return true;
    }
    for (uint32_t i = 0; i < fn->callees.len && !fn->recursive; i++)
        if (talks(m, &m->functions[fn->callees.data[i]]))
            return true;
    return false;
}

void ahead_run(Launch *l) {
    uint32_t threads = l->device->host_threads;
    threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    if (threads > l->cluster_total)
        threads = (uint32_t)l->cluster_total;
    if (threads < 2 || talks(l->module, l->fn))
        return;
    Ahead *a = l->ahead = calloc(1, sizeof *a);
    if (!a)
        return;
    a->launch = l;
    bool more = start(a, threads);
    for (uint32_t units = threads; more && l->next_cluster < l->cluster_total; units *= 2) {
        uint64_t left = l->cluster_total - l->next_cluster;
        if (units > threads * MAX_PER_ROUND)
            units = threads * MAX_PER_ROUND;
        run_round(a, left < units ? (uint32_t)left : units);
        more = take_round(a);
    }
    ahead_end(l);
}
