/* Fragments of a warp: running, splitting at branches, meeting again, waiting for each other. */
#include "exec.h"
#include <string.h>

#define MAX_STALLS 2u /* turns of a warp until those parked go on alone */

/* ---- frames ------------------------------------------------------------------------------- */

Frame *warp_frame(Warp *w, const Function *fn) {
    Frame **link = &w->free_frames, *f;
    while (*link && (*link)->fn != fn)
        link = &(*link)->next_free;
    f = *link;
    if (f) {
        *link = f->next_free;
        memset(f->regs, 0, fn->frame_bytes);
    } else {
        f = arena_new_of(w->launch->arena, Frame);
        uint8_t *room = arena_alloc(w->launch->arena, fn->frame_bytes + 64);
        f->regs = room + (64 - ((uintptr_t)room & 63));
        f->fn = fn;
    }
    f->parent = f->next_free = NULL;
    f->return_to = NULL;
    f->site = NULL;
    f->lanes = f->local_base = 0;
    if (f->dynamic)
        memset(f->dynamic, 0, LANES * sizeof *f->dynamic);
    return f;
}

void warp_drop_frame(Warp *w, Frame *f) {
    f->next_free = w->free_frames;
    w->free_frames = f;
}

void warp_select(Warp *w, Fragment *f) {
    w->f = f;
    w->base[0] = f->frame->regs;
    w->base[1] = f->frame->fn->consts;
}

/* ---- meets -------------------------------------------------------------------------------- */

static Meet *new_meet(Warp *w) {
    Meet *m = w->free_meets;
    if (m)
        w->free_meets = m->next_free;
    else
        m = arena_new_of(w->launch->arena, Meet);
    return m;
}

static void free_meet(Warp *w, Meet *m) {
    m->next_free = w->free_meets;
    w->free_meets = m;
}

/* Lanes leave one meet for good. Those already there go on if they were the last awaited. */
static void leave_meet(Warp *w, Meet *m, uint32_t mask) {
    m->expected &= ~mask;
    m->arrived &= ~mask;
    if (m->expected == 0) {
        free_meet(w, m);
        return;
    }
    if (m->arrived != m->expected)
        return;
    for (uint32_t i = 0; i < LANES; i++)
        if (w->frags[i].state == FRAG_PARKED && w->frags[i].meet == m) {
            w->frags[i].state = FRAG_RUN;
            return;
        }
}

static void leave_meets(Warp *w, uint32_t mask, Meet *from, const Meet *until) {
    while (from != until) {
        Meet *parent = from->parent;
        leave_meet(w, from, mask);
        from = parent;
    }
}

/* At a join: true if the fragment goes on, with all that had parked here. */
bool meet_absorb(Warp *w, const Insn *at) {
    Fragment *f = w->f;
    while (f->meet && f->meet->at == at && f->meet->frame == f->frame) {
        Meet *m = f->meet;
        m->arrived |= f->mask;
        if (m->arrived != m->expected)
            return false;
        for (uint32_t i = 0; i < LANES; i++)
            if (&w->frags[i] != f && w->frags[i].meet == m)
                w->frags[i].state = FRAG_FREE;
        f->mask = m->expected;
        f->meet = m->parent;
        free_meet(w, m);
        w->stalls = 0;
    }
    return true;
}

/* Parked fragments go on alone: whoever they wait for may be waiting for them. */
static bool release_parked(Warp *w) {
    bool any = false;
    for (uint32_t i = 0; i < LANES; i++) {
        Fragment *f = &w->frags[i];
        if (f->state != FRAG_PARKED)
            continue;
        Meet *m = f->meet;
        f->state = FRAG_RUN;
        f->meet = m->parent;
        leave_meet(w, m, f->mask);
        any = true;
    }
    return any;
}

/* ---- fragments ---------------------------------------------------------------------------- */

Fragment *warp_split(Warp *w, uint32_t mask, const Insn *pc) {
    for (uint32_t i = 0; i < LANES; i++) {
        Fragment *f = &w->frags[i];
        if (f->state != FRAG_FREE)
            continue;
        *f = *w->f;
        f->mask = mask;
        f->pc = pc;
        f->state = FRAG_RUN;
        w->f->mask &= ~mask;
        return f;
    }
    return NULL; /* 32 fragments of at least one lane leave none to split */
}

void warp_branch(Warp *w, const Insn *in, uint32_t taken) {
    Fragment *f = w->f;
    if (taken == f->mask) {
        f->pc = in->target;
        return;
    }
    if (in->join && !(f->meet && f->meet->at == in->join && f->meet->frame == f->frame)) {
        Meet *m = new_meet(w);
        *m = (Meet){.parent = f->meet, .at = in->join, .frame = f->frame, .expected = f->mask};
        f->meet = m;
    }
    warp_split(w, taken, in->target);
    if (!w->launch->cost)
        return;
    w->launch->cost->divergent_branches++;
    if (w->launch->cost->sites)
        cost_site(w, in)->divergent++;
}

void warp_exit_lanes(Warp *w, uint32_t mask) {
    Fragment *f = w->f;
    Frame *frame = f->frame;
    cluster_before_exit(w, mask);
    note_change(w->launch);
    w->live &= ~mask;
    w->cta->live_threads -= popcount32(mask);
    f->mask &= ~mask;
    leave_meets(w, mask, f->meet, NULL);
    while (frame) {
        Frame *parent = frame->parent;
        frame->lanes &= ~mask;
        if (frame->lanes == 0)
            warp_drop_frame(w, frame);
        frame = parent;
    }
    if (f->mask == 0) {
        f->state = FRAG_FREE;
        w->stop = true;
    }
    for (uint32_t i = 0; i < LANES; i++) {
        Fragment *g = &w->frags[i];
        if (g->state == FRAG_WARP || g->state == FRAG_ALIGNED) {
            g->state = FRAG_RUN; /* asks again, with fewer to wait for */
            g->pc = g->wait_insn;
        }
    }
    barrier_check_all(w);
}

void warp_wait(Warp *w, FragmentState why, const Insn *in, uint32_t mask) {
    Fragment *f = w->f;
    f->state = why;
    f->wait_insn = in;
    f->wait_exec = mask;
    w->stop = true;
    if (why != FRAG_PARKED && why != FRAG_WARP && why != FRAG_ALIGNED)
        cost_wait(w, in);
}

/* Makes `g`, which waits at the same place in the same frame, a part of the current fragment. */
static void unite(Warp *w, Fragment *g) {
    Fragment *f = w->f;
    Meet *common = f->meet, *m;
    for (; common; common = common->parent) {
        for (m = g->meet; m && m != common; m = m->parent) {
        }
        if (m == common)
            break;
    }
    uint32_t other = g->mask;
    Meet *theirs = g->meet, *ours = f->meet;
    g->state = FRAG_FREE;
    g->meet = NULL;
    uint32_t mine = f->mask;
    f->meet = common;
    f->mask |= other;
    leave_meets(w, mine, ours, common);
    leave_meets(w, other, theirs, common);
}

static bool waits_with(const Warp *w, const Fragment *g, const Insn *in, uint32_t members) {
    return g != w->f && (g->state == FRAG_WARP || g->state == FRAG_ALIGNED) && g->wait_insn == in &&
           g->frame == w->f->frame && g->wait_members == members;
}

bool warp_gather(Warp *w, const Insn *in, uint32_t mask, uint32_t members, bool aligned,
                 uint32_t *all) {
    uint32_t need = members & w->live, got = mask;
    if ((need & ~got) == 0) {
        *all = mask;
        return true;
    }
    /* An aligned wait is for whoever lives: lanes that exited meanwhile make no difference. */
    if (aligned)
        members = 0;
    for (uint32_t i = 0; i < LANES; i++)
        if (waits_with(w, &w->frags[i], in, members))
            got |= w->frags[i].wait_exec;
    if ((need & ~got) == 0) {
        for (uint32_t i = 0; i < LANES; i++)
            if (waits_with(w, &w->frags[i], in, members))
                unite(w, &w->frags[i]);
        *all = got;
        return true;
    }
    w->f->wait_members = members;
    warp_wait(w, aligned ? FRAG_ALIGNED : FRAG_WARP, in, mask);
    return false;
}

void warp_start(Warp *w, const Function *fn) {
    Fragment *f = &w->frags[0];
    memset(w->frags, 0, sizeof w->frags);
    f->frame = warp_frame(w, fn);
    f->frame->lanes = f->mask = w->live = w->initial;
    f->pc = fn->code;
    f->state = FRAG_RUN;
    w->f = NULL;
    w->cc = w->stalls = w->turn = w->cluster_phase = 0;
    w->cluster_arrived = w->cluster_pending = w->grid_waited = 0;
    w->peers_started = w->watch = false;
    if (w->groups)
        memset(w->groups, 0, async_groups_bytes());
    w->steps = 0;
    w->look = (Look){0};
}

/* ---- running ------------------------------------------------------------------------------ */

static Fragment *next_runnable(Warp *w) {
    for (uint32_t k = 0; k < LANES; k++) {
        Fragment *f = &w->frags[(w->turn + k) % LANES];
        if (f->state == FRAG_RUN)
            return f;
    }
    return NULL;
}

bool warp_runnable(const Warp *w) {
    for (uint32_t i = 0; i < LANES; i++)
        if (w->frags[i].state == FRAG_RUN)
            return true;
    return false;
}

/* Fragments stand at aligned instructions and nothing can bring the rest of the warp there. */
static bool force_aligned(Warp *w) {
    for (uint32_t i = 0; i < LANES; i++) {
        Fragment *f = &w->frags[i];
        if (f->state != FRAG_ALIGNED)
            continue;
        if (w->launch->checks & TLE_EMU_CHECK_BARRIER)
            report_add(w, f->wait_insn, first_lane(f->wait_exec), TLE_EMU_REPORT_BARRIER, 0, 0,
                       "aligned instruction executed by lanes 0x%08x of a warp with live lanes "
                       "0x%08x",
                       f->wait_exec, w->live);
        f->state = FRAG_RUN;
        f->forced = true;
        f->pc = f->wait_insn;
        return true;
    }
    return false;
}

/* Whether some lanes wait for what others of the cluster or an engine will do. */
static bool awaits_others(const Warp *w) {
    for (uint32_t i = 0; i < LANES; i++)
        if (w->frags[i].state >= FRAG_BARRIER)
            return true;
    return false;
}

/* Lanes that have come are kept waiting for those that will come by themselves, unless nothing in
 * the cluster runs any more. */
static Fragment *pick(Warp *w) {
    Fragment *f = next_runnable(w);
    if (!f && !w->cta->cluster->stuck && awaits_others(w))
        return NULL;
    if (!f && release_parked(w))
        f = next_runnable(w);
    if (!f && force_aligned(w))
        f = next_runnable(w);
    return f;
}

static void count_insn(const Warp *w, const Insn *in, uint32_t mask) {
    Cost *c = w->launch->cost;
    c->warp_insns[in->cls]++;
    c->lane_insns[in->cls] += popcount32(mask);
    if (c->sites) {
        CostSite *s = cost_site(w, in);
        s->warps++;
        s->lanes += popcount32(mask);
    }
}

static void run_fragment(Warp *w) {
    Fragment *f = w->f;
    bool count = w->launch->cost != NULL;
    while (!w->stop && w->budget) {
        const Insn *in = f->pc;
        uint32_t mask = f->mask;
        w->budget--;
        f->pc = in + 1;
        if (in->guarded) {
            uint32_t p = *(const uint32_t *)(const void *)(w->base[0] + in->guard);
            mask &= in->guard_negated ? ~p : p;
        }
        if (count)
            count_insn(w, in, mask);
        if (mask && w->watch)
            matrix_watch(w, in);
        if (mask)
            in->fn(w, in, mask);
    }
}

bool warp_run(Warp *w, uint32_t budget) {
    Fragment *f;
    bool ran = false;
    w->budget = budget;
    while (w->budget && !w->launch->stop && (f = pick(w))) {
        uint32_t before = w->budget;
        ran = true;
        w->stop = false;
        warp_select(w, f);
        run_fragment(w);
        w->steps += before - w->budget;
    }
    if (w->budget == 0) {
        w->turn = w->f ? (uint32_t)(w->f - w->frags) + 1 : 0;
        if (++w->stalls >= MAX_STALLS) {
            release_parked(w);
            w->stalls = 0;
        }
    }
    w->launch->instructions += budget - w->budget;
    return ran;
}
