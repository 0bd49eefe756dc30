/* CTA barriers, fences, and what has no effect here. */
#include "exec.h"
#include <string.h>

/* ---- CTA barriers ------------------------------------------------------------------------- */

static bool is_complete(const Cta *c, const Barrier *b) {
    if (b->counted)
        return b->arrived >= b->expected;
    for (uint32_t k = 0; k < c->warp_count; k++)
        if (c->warps[k].live & ~b->lanes[k])
            return false;
    return true;
}

static void check_complete(Warp *w, const Barrier *b) {
    Cta *c = w->cta;
    if (!(w->launch->checks & TLE_EMU_CHECK_BARRIER) || !b->first)
        return;
    if (b->counted && b->arrived > b->expected)
        report_add(w, b->first, 0, TLE_EMU_REPORT_BARRIER, 0, 0,
                   "%u threads arrived at a barrier of %u", b->arrived, b->expected);
    if (!b->counted && c->live_threads < w->launch->threads)
        report_add(w, b->first, 0, TLE_EMU_REPORT_BARRIER, 0, 0,
                   "barrier of all threads after %u of %u threads exited",
                   w->launch->threads - c->live_threads, w->launch->threads);
}

static void reduction_result(const Fragment *f, const Barrier *b) {
    const Insn *in = f->wait_insn;
    uint8_t *at = f->frame->regs + (in->d & ~1);
    uint32_t *d = (uint32_t *)(void *)at;
    bool yes = in->sub2 == MOD_AND ? b->all : b->any;
    if (in->sub != MOD_RED)
        return;
    if (in->sub2 != MOD_POPC) {
        *d = yes ? *d | f->wait_exec : *d & ~f->wait_exec;
        return;
    }
    for (uint32_t i = 0; i < LANES; i++)
        if (f->wait_exec >> i & 1)
            d[i] = b->popc;
}

static void release(Warp *w, uint32_t id) {
    Cta *c = w->cta;
    Barrier *b = &c->barriers[id];
    check_complete(w, b);
    note_change(w->launch);
    for (uint32_t k = 0; k < c->warp_count; k++) {
        bool woken = false;
        for (uint32_t i = 0; i < LANES; i++) {
            Fragment *f = &c->warps[k].frags[i];
            if (f->state != FRAG_BARRIER || f->barrier != id)
                continue;
            reduction_result(f, b);
            f->state = FRAG_RUN;
            woken = true;
        }
        if (woken)
            race_barrier_leave(&c->warps[k], b->clock);
    }
    race_barrier_reset(w, b->clock);
    b->active = false;
    if (w->launch->cost)
        w->launch->cost->barriers++;
}

void barrier_check_all(Warp *w) {
    Cta *c = w->cta;
    for (uint32_t id = 0; id < BARRIER_COUNT; id++)
        if (c->barriers[id].active && !c->barriers[id].counted && is_complete(c, &c->barriers[id]))
            release(w, id);
    cluster_check(w);
}

static uint32_t uniform(Warp *w, const Insn *in, int32_t code, uint32_t mask, const char *what) {
    const uint32_t *v = plane32(w, code);
    uint32_t lead = v[first_lane(mask)];
    for (uint32_t i = 0; i < LANES; i++)
        if ((mask >> i & 1) && v[i] != lead) {
            report_add(w, in, i, TLE_EMU_REPORT_BARRIER, 0, 0,
                       "%s %u of lane %u differs from %u of lane %u", what, v[i], i, lead,
                       first_lane(mask));
            break;
        }
    return lead;
}

static void begin(Barrier *b, const Insn *in, bool counted, uint32_t expected) {
    b->active = true;
    b->counted = counted;
    b->expected = expected;
    b->arrived = b->popc = b->any = 0;
    b->all = 1;
    b->first = in;
    memset(b->lanes, 0, sizeof b->lanes);
}

static void check_count(Warp *w, const Insn *in, const Barrier *b, bool counted, uint32_t n) {
    if (!(w->launch->checks & TLE_EMU_CHECK_BARRIER))
        return;
    if (counted && (n == 0 || n % LANES))
        report_add(w, in, 0, TLE_EMU_REPORT_BARRIER, 0, 0,
                   "thread count %u is not a positive multiple of 32", n);
    if (b->active && (b->counted != counted || b->expected != n))
        report_add(w, in, 0, TLE_EMU_REPORT_BARRIER, 0, 0,
                   "thread count %u, where line %u waits at the same barrier with %u (0: all)", n,
                   b->first->line, b->expected);
}

static void reduce(Warp *w, const Insn *in, Barrier *b, uint32_t lanes) {
    uint32_t p;
    if (in->sub != MOD_RED)
        return;
    p = (*pred_of(w, in->c) ^ (in->flags & F_NEGATED ? ALL_LANES : 0)) & lanes;
    b->popc += popcount32(p);
    b->any |= p != 0;
    b->all &= p == lanes;
}

void x_barrier(Warp *w, const Insn *in, uint32_t mask) {
    Fragment *f = w->f;
    uint32_t all = mask, id, count = 0;
    bool counted = in->flags & F_HAS_COUNT;
    if ((in->flags & F_ALIGNED) && !f->forced && !warp_gather(w, in, mask, w->live, true, &all))
        return;
    f->forced = false;
    id = uniform(w, in, in->a, all, "barrier");
    if (counted)
        count = uniform(w, in, in->b, all, "thread count");
    if (id >= BARRIER_COUNT) {
        report_add(w, in, first_lane(all), TLE_EMU_REPORT_BAD_OPERAND, 0, 0, "barrier %u of 16",
                   id);
        return;
    }
    Barrier *b = &w->cta->barriers[id];
    check_count(w, in, b, counted, count);
    if (!b->active)
        begin(b, in, counted, count);
    b->lanes[w->id] |= all;
    b->arrived += (w->live & ~all) == 0 ? LANES : popcount32(all);
    reduce(w, in, b, all);
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_barrier_arrive(w, &b->clock);
    if (in->sub != MOD_ARRIVE) {
        f->barrier = id;
        warp_wait(w, FRAG_BARRIER, in, all);
    }
    if (is_complete(w->cta, b))
        release(w, id);
}

/* ---- fences and no-ops -------------------------------------------------------------------- */

void x_fence(Warp *w, const Insn *in, uint32_t mask) {
    (void)mask;
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_fence(w, (Scope)in->scope);
}

/* `sub`: of global memory alone, which no check follows. */
void x_proxy_fence(Warp *w, const Insn *in, uint32_t mask) {
    (void)mask;
    if ((w->launch->checks & TLE_EMU_CHECK_RACE) && !in->sub)
        race_proxy_fence(w);
}

void x_nop(Warp *w, const Insn *in, uint32_t mask) {
    (void)w;
    (void)in;
    (void)mask;
}

void x_grid_wait(Warp *w, const Insn *in, uint32_t mask) {
    (void)in;
    w->grid_waited |= mask;
}

/* No effect, but the whole warp must execute it together. */
void x_aligned_nop(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all;
    if (w->f->forced)
        w->f->forced = false;
    else
        warp_gather(w, in, mask, w->live, true, &all);
}

/* Gives the turn away. */
void x_nanosleep(Warp *w, const Insn *in, uint32_t mask) {
    (void)in;
    (void)mask;
    w->budget = 0;
}
