/* Thread-block clusters: their barrier, and the life of a CTA whose shared memory its peers use. */
#include "exec.h"

/* ---- barrier ------------------------------------------------------------------------------ */

static Warp *warp_number(const Cluster *c, uint32_t k) {
    uint32_t per_cta = c->ctas[0]->warp_count;
    return &c->ctas[k / per_cta]->warps[k % per_cta];
}

static uint32_t warp_total(const Cluster *c) {
    return c->count * c->ctas[0]->warp_count;
}

/* Lanes that live and have not arrived, in all of the cluster. */
uint32_t cluster_missing(const Cluster *c) {
    uint32_t missing = 0;
    for (uint32_t k = 0; k < warp_total(c); k++)
        missing += popcount32(warp_number(c, k)->live & ~warp_number(c, k)->cluster_arrived);
    return missing;
}

static void leave(Warp *w, uint32_t lanes, uint32_t phase) {
    w->cluster_pending &= ~lanes;
    w->peers_started = true;
    race_barrier_leave(w, w->cta->cluster->barrier.clock[phase & 1]);
}

static void wake(Warp *w, uint32_t phase) {
    for (uint32_t i = 0; i < LANES; i++)
        if (w->frags[i].state == FRAG_CLUSTER) {
            w->frags[i].state = FRAG_RUN;
            leave(w, w->frags[i].wait_exec, phase);
        }
}

/* Complete when every thread of the cluster that lives has arrived. */
void cluster_check(Warp *w) {
    Cluster *c = w->cta->cluster;
    ClusterBarrier *b = &c->barrier;
    if (!b->active || cluster_missing(c))
        return;
    for (uint32_t k = 0; k < warp_total(c); k++)
        warp_number(c, k)->cluster_arrived = 0;
    for (uint32_t k = 0; k < warp_total(c); k++)
        wake(warp_number(c, k), b->phase);
    note_change(w->launch);
    b->active = false;
    b->phase++;
    race_barrier_reset(w, b->clock[b->phase & 1]);
    if (w->launch->cost)
        w->launch->cost->cluster_barriers++;
}

static bool gather(Warp *w, const Insn *in, uint32_t mask, uint32_t *all) {
    *all = mask;
    if ((in->flags & F_ALIGNED) && !w->f->forced && !warp_gather(w, in, mask, w->live, true, all))
        return false;
    w->f->forced = false;
    return true;
}

static void misuse(Warp *w, const Insn *in, uint32_t lanes, const char *what) {
    if (lanes && (w->launch->checks & TLE_EMU_CHECK_BARRIER))
        report_add(w, in, first_lane(lanes), TLE_EMU_REPORT_BARRIER, 0, 0, "%s", what);
}

void x_cluster_arrive(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all;
    ClusterBarrier *b = &w->cta->cluster->barrier;
    if (!gather(w, in, mask, &all))
        return;
    misuse(w, in, w->cluster_pending & all,
           "arrival at the cluster barrier without a wait since the last one");
    if ((w->launch->checks & TLE_EMU_CHECK_RACE) && in->sem != SEM_RELAXED)
        race_barrier_arrive(w, &b->clock[b->phase & 1]);
    else if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_relaxed_arrive(w, &b->clock[b->phase & 1]);
    w->cluster_phase = b->phase;
    w->cluster_arrived |= all;
    w->cluster_pending |= all;
    b->active = true;
    cluster_check(w);
}

void x_cluster_wait(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all;
    if (!gather(w, in, mask, &all))
        return;
    misuse(w, in, all & ~w->cluster_pending, "wait at the cluster barrier without an arrival");
    if (w->cluster_arrived & all)
        warp_wait(w, FRAG_CLUSTER, in, all);
    else
        leave(w, all, w->cluster_phase);
}

/* ---- shared memory of a peer -------------------------------------------------------------- */

/* False if the access cannot be: the peer has gone. */
bool cluster_use_peer(Warp *w, const Insn *in, uint32_t lane, const Cta *peer, uint64_t address,
                      uint32_t bytes) {
    if (!(w->launch->checks & TLE_EMU_CHECK_CLUSTER))
        return true;
    if (peer->live_threads == 0) {
        report_add(w, in, lane, TLE_EMU_REPORT_CLUSTER, address, bytes,
                   "shared memory of CTA %u of the cluster, which has exited", peer->rank);
        return false;
    }
    if (w->cta->cluster->race && !race_has_started(w, peer))
        report_add(w, in, lane, TLE_EMU_REPORT_CLUSTER, address, bytes,
                   "shared memory of CTA %u of the cluster, which nothing shows to have started",
                   peer->rank);
    return true;
}

/* `lanes` of the warp are about to exit, at the instruction before the program counter. */
void cluster_before_exit(Warp *w, uint32_t lanes) {
    Cta *c = w->cta;
    uint32_t member;
    if (c->live_threads > popcount32(lanes) || !c->cluster->race ||
        !(w->launch->checks & TLE_EMU_CHECK_CLUSTER))
        return;
    member = race_exit_conflict(c);
    if (!member)
        return;
    if (race_is_channel(c->cluster->race, member - 1))
        report_add(w, w->f->pc - 1, first_lane(lanes), TLE_EMU_REPORT_CLUSTER, 0, 0,
                   "CTA %u of the cluster exits without waiting for asynchronous operations on its "
                   "shared memory",
                   c->rank);
    else
        report_add(w, w->f->pc - 1, first_lane(lanes), TLE_EMU_REPORT_CLUSTER, 0, 0,
                   "CTA %u of the cluster exits while warp %u of CTA %u may still use its shared "
                   "memory",
                   c->rank, (member - 1) % c->warp_count, (member - 1) / c->warp_count);
}
