/* The engines behind asynchronous instructions. Operations wait in the order of their issue; how
 * long is the schedule's choice: round-robin runs them as soon as a turn is over, the random
 * schedule after a few turns in any order, the adversarial one when nothing else can run (or, so
 * that whoever spins gets on, seldom), oldest or newest first by the seed. */
#include "async.h"
#include "view.h"
#include <string.h>

#define MAX_DELAY 4u  /* turns, of the random schedule */
#define PATIENCE  16u /* turns between operations, of the adversarial one */

/* ---- operations --------------------------------------------------------------------------- */

void async_reset(Launch *l, Cluster *c) {
    if (!l->module->uses_async)
        return;
    if (!c->async) {
        c->async = arena_new_of(l->arena, Async);
        map_init(&c->async->barrier_ids, l->arena);
    }
    Async *a = c->async;
    a->first = NULL;
    a->newest = NULL;
    map_clear(&a->barrier_ids);
    for (uint32_t i = 0; i < a->barriers.len; i++)
        a->barriers.data[i]->live = false;
    a->barriers.len = 0;
    a->events = 0;
}

AsyncOp *async_issue(Warp *w, const Insn *in, uint32_t lanes, AsyncRun *run) {
    Async *a = w->cta->cluster->async;
    AsyncOp *op = a->free_ops;
    if (op)
        a->free_ops = op->next;
    else
        op = arena_new_of(w->launch->arena, AsyncOp);
    *op = (AsyncOp){.buffer = op->buffer, .room = op->room, .released = op->released};
    op->w = w;
    op->in = in;
    op->lanes = lanes;
    op->run = run;
    op->kind = GROUP_KINDS;
    if (w->launch->device->schedule == TLE_EMU_SCHEDULE_RANDOM)
        op->delay = (uint32_t)(sched_random(&w->cta->cluster->rng) % MAX_DELAY);
    op->previous = a->newest;
    *(a->newest ? &a->newest->next : &a->first) = op;
    a->newest = op;
    return op;
}

/* A thread's cp.async.mbarrier.arrive comes after its copies. */
static bool may_run(const Async *a, const AsyncOp *op) {
    if (!op->arrivals)
        return true;
    for (const AsyncOp *o = a->first; o != op; o = o->next)
        if (o->w == op->w && (o->lanes & op->lanes) && o->kind == GROUP_COPY)
            return false;
    return true;
}

static void wake(Warp *w);

/* A bulk store has read its source before it has written: what waits for .read goes on. True if
 * that much was done now. */
static bool read_source(AsyncOp *op) {
    Launch *l = op->w->launch;
    uint32_t bytes = op->tile_cta ? op->tile_bytes : op->bytes[0];
    if (op->kind != GROUP_BULK || !op->run || op->has_read)
        return false;
    if (op->room < bytes) {
        op->buffer = arena_alloc(l->arena, bytes);
        op->room = bytes;
    }
    memcpy(op->buffer, op->tile_cta ? op->tile_cta->shared + op->tile_at : op->from[0], bytes);
    op->from[0] = op->buffer;
    op->has_read = true;
    note_change(l);
    wake(op->w);
    return true;
}

static void finish(Cluster *c, AsyncOp **at) {
    Async *a = c->async;
    AsyncOp *op = *at;
    if (read_source(op))
        return;
    *at = op->next;
    *(op->next ? &op->next->previous : &a->newest) = op->previous;
    if (op->run)
        op->run(op);
    if (op->barrier_cta)
        mbarrier_complete(op);
    a->events++;
    note_change(op->w->launch);
    op->next = a->free_ops;
    a->free_ops = op;
    wake(op->w);
}

static bool finish_first(Cluster *c) {
    for (AsyncOp **at = &c->async->first; *at; at = &(*at)->next)
        if (may_run(c->async, *at)) {
            finish(c, at);
            return true;
        }
    return false;
}

static bool finish_last(Cluster *c) {
    Async *a = c->async;
    for (AsyncOp *op = a->newest; op; op = op->previous)
        if (may_run(a, op)) {
            finish(c, op->previous ? &op->previous->next : &a->first);
            return true;
        }
    return false;
}

/* A step of every operation whose delay is over. */
static bool finish_due(Cluster *c) {
    bool any = false;
    for (AsyncOp **at = &c->async->first; *at;) {
        AsyncOp *op = *at;
        op->delay -= op->delay > 0;
        if (op->delay == 0 && may_run(c->async, op)) {
            finish(c, at);
            any = true;
        }
        if (*at == op)
            at = &op->next;
    }
    return any;
}

bool async_step(Launch *l, Cluster *c, bool ran) {
    if (!c->async || !c->async->first)
        return ran;
    switch ((tle_emu_schedule)l->device->schedule) {
    case TLE_EMU_SCHEDULE_RANDOM:
        return finish_due(c) || ran || finish_first(c);
    case TLE_EMU_SCHEDULE_ADVERSARIAL:
        if (ran && c->turns % PATIENCE != PATIENCE - 1)
            return true;
        return l->device->seed & 1 ? finish_last(c) : finish_first(c);
    case TLE_EMU_SCHEDULE_ROUND_ROBIN:
        break;
    }
    return finish_due(c) || ran;
}

bool async_is_idle(const Cluster *c) {
    return !c->async || !c->async->first;
}

void async_end(Cluster *c) {
    if (c->async)
        mbarrier_check_end(c);
}

/* Nothing runs. True if some try_wait gave up, which may be of use. */
bool async_give_up(Cluster *c) {
    return c->async && mbarrier_give_up(c);
}

uint64_t async_events(const Cluster *c) {
    return c->async ? c->async->events : 0;
}

/* ---- shared memory of operations ---------------------------------------------------------- */

uint8_t *async_shared(Warp *w, const Insn *in, uint32_t lane, uint64_t address, uint32_t bytes,
                      AccessKind kind, const AsyncOp *op, Cta **owner, uint32_t *offset) {
    Cta *c = access_shared(w, address, bytes, offset);
    const char *verb = kind == ACCESS_READ ? "read" : "write";
    *owner = c;
    if (!c || (c != w->cta && !(in->flags & F_CLUSTER))) {
        report_add(w, in, lane, TLE_EMU_REPORT_BOUNDS, address, bytes,
                   "asynchronous %s of %u bytes at byte %lld of %u bytes of shared memory%s", verb,
                   bytes, (long long)(int32_t)*offset, w->launch->shared_bytes,
                   c ? " (of a CTA that this access cannot reach)" : "");
        return NULL;
    }
    if (c != w->cta && !cluster_use_peer(w, in, lane, c, address, bytes))
        return NULL;
    if (kind == ACCESS_READ && (w->launch->checks & TLE_EMU_CHECK_UNINIT) &&
        !bits_all_set(c->shared_init, *offset, bytes)) {
        report_add(w, in, lane, TLE_EMU_REPORT_UNINIT, address, bytes,
                   "asynchronous read of %u bytes at byte %u of shared memory, of which something "
                   "was not written",
                   bytes, *offset);
        bits_set(c->shared_init, *offset, bytes);
    }
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_async_access_at(w, in, lane, op->channel, op->epoch, in->fn == x_bulk, c, *offset,
                             bytes, kind);
    return c->shared + *offset;
}

static void mark(const AsyncOp *op, const uint8_t *to, uint32_t bytes, bool there) {
    Launch *l = op->w->launch;
    uint64_t at = (uint64_t)(uintptr_t)to;
    uint64_t *bits = NULL;
    if (!(l->checks & TLE_EMU_CHECK_UNINIT))
        return;
    if (op->to_cta) {
        bits = op->to_cta->shared_init;
        at -= (uint64_t)(uintptr_t)op->to_cta->shared;
    } else {
        at = l->view ? view_address(l->view, to) : at;
        Region *r = memory_find(&l->device->regions, at, bytes, true);
        at -= r ? r->base : 0;
        bits = r && r->init ? access_init(l, r, at, bytes) : NULL;
    }
    if (bits && there)
        bits_set(bits, at, bytes);
    else if (bits)
        bits_clear(bits, at, bytes);
}

uint8_t *async_global(const AsyncOp *op, uint64_t address) {
    View *v = op->w->launch->view;
    return v ? view_use(v, address, 1, ACCESS_WRITE, true) : (uint8_t *)(uintptr_t)address;
}

void async_begin_write(const AsyncOp *op, const uint8_t *to, uint32_t bytes) {
    mark(op, to, bytes, false);
}

void async_end_write(const AsyncOp *op, const uint8_t *to, uint32_t bytes) {
    mark(op, to, bytes, true);
}

/* ---- groups ------------------------------------------------------------------------------- */

size_t async_groups_bytes(void) {
    return sizeof(AsyncGroups);
}

AsyncGroups *async_groups(Warp *w) {
    if (!w->groups)
        w->groups = arena_new_of(w->launch->arena, AsyncGroups);
    return w->groups;
}

uint32_t async_group_channel(Warp *w, GroupKind kind) {
    Race *r = w->cta->cluster->race;
    uint64_t key = (uint64_t)1 << 60 | (uint64_t)kind << 32 | w->cta->rank << 8 | w->id;
    return r ? race_channel(r, key) : 0;
}

void async_use_channel(AsyncOp *op, uint32_t channel) {
    Race *r = op->w->cta->cluster->race;
    op->channel = channel;
    if (!r)
        return;
    op->epoch = race_channel_epoch(r, channel);
    race_channel_next(r, channel);
}

void async_join_group(AsyncOp *op, GroupKind kind) {
    op->kind = kind;
    op->group = async_groups(op->w)->committed[kind][first_lane(op->lanes)];
    async_use_channel(op, async_group_channel(op->w, kind));
}

void x_async_commit(Warp *w, const Insn *in, uint32_t mask) {
    AsyncGroups *g = async_groups(w);
    GroupKind kind = (GroupKind)in->sub;
    Race *r = w->cta->cluster->race;
    uint32_t number = g->committed[kind][first_lane(mask)];
    if (r)
        g->epoch[kind][number % GROUP_MEMORY] =
            race_channel_epoch(r, async_group_channel(w, kind)) - 1;
    for (uint32_t i = 0; i < LANES; i++)
        g->committed[kind][i] += mask >> i & 1;
}

/* Operations that the wait is for: F_ABS says all, else all but the newest `imm` groups. */
static bool is_done(const Warp *w, const Insn *in, uint32_t lanes) {
    const AsyncGroups *g = w->groups;
    for (const AsyncOp *op = w->cta->cluster->async->first; op; op = op->next) {
        uint32_t both = op->lanes & lanes;
        if (op->w != w || op->kind != (GroupKind)in->sub || !both ||
            (op->has_read && in->sub2 == MOD_READ))
            continue;
        if ((in->flags & F_ABS) ||
            op->group + (uint64_t)in->imm < g->committed[in->sub][first_lane(both)])
            return false;
    }
    return true;
}

static void learn(Warp *w, const Insn *in, uint32_t lanes) {
    const AsyncGroups *g = async_groups(w);
    Race *r = w->cta->cluster->race;
    GroupKind kind = (GroupKind)in->sub;
    uint32_t committed = g->committed[kind][first_lane(lanes)], channel, epoch;
    if (!r)
        return;
    channel = async_group_channel(w, kind);
    if (in->flags & F_ABS)
        epoch = race_channel_epoch(r, channel) - 1;
    else if (in->imm < GROUP_MEMORY && committed > in->imm)
        epoch = g->epoch[kind][(committed - in->imm - 1) % GROUP_MEMORY];
    else
        return;
    race_learn(w, channel, epoch);
}

void x_async_wait(Warp *w, const Insn *in, uint32_t mask) {
    if (is_done(w, in, mask))
        learn(w, in, mask);
    else
        warp_wait(w, FRAG_ASYNC, in, mask);
}

static void wake(Warp *w) {
    for (uint32_t i = 0; i < LANES; i++) {
        Fragment *f = &w->frags[i];
        if (f->state != FRAG_ASYNC || !is_done(w, f->wait_insn, f->wait_exec))
            continue;
        f->state = FRAG_RUN;
        learn(w, f->wait_insn, f->wait_exec);
    }
}
