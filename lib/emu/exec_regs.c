/* setmaxnreg: warps give registers back to their CTA and take them again. A kernel starts with what
 * .maxnreg says, or with what its greatest block leaves of 65,536; one that says neither has no
 * budget to keep, as setmaxnreg is then without effect. */
#include "exec.h"

#define SM_REGISTERS 65536u
#define MOST         255u

uint32_t registers_at_start(const Launch *l) {
    const PtxFunction *f = l->fn->source;
    uint32_t ctas = f->min_ctas ? f->min_ctas : 1, warps, n;
    if (f->max_registers)
        return f->max_registers;
    if (!f->has_max_threads || f->max_threads == 0)
        return 0;
    warps = (f->max_threads + LANES - 1) / LANES;
    n = SM_REGISTERS / (ctas * warps * LANES) / 8 * 8;
    return n < MOST ? n : MOST;
}

static bool take(Warp *w, uint32_t wanted) {
    uint32_t more = (wanted - w->registers) * LANES;
    if (w->cta->free_registers < more)
        return false;
    w->cta->free_registers -= more;
    w->registers = wanted;
    return true;
}

/* Whoever waits takes what there is now, in the order of warps. */
static void hand_out(Cta *c) {
    for (uint32_t k = 0; k < c->warp_count; k++)
        for (uint32_t i = 0; i < LANES; i++) {
            Fragment *f = &c->warps[k].frags[i];
            if (f->state == FRAG_REGISTERS && take(&c->warps[k], (uint32_t)f->wait_insn->imm))
                f->state = FRAG_RUN;
        }
}

static void check_direction(Warp *w, const Insn *in, uint32_t lane, bool wrong) {
    if (wrong && (w->launch->checks & TLE_EMU_CHECK_BARRIER))
        report_add(w, in, lane, TLE_EMU_REPORT_BARRIER, 0, 0,
                   "%u registers asked for by a warp that has %u", (uint32_t)in->imm, w->registers);
}

void x_setmaxnreg(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all, wanted = (uint32_t)in->imm;
    if (!w->f->forced && !warp_gather(w, in, mask, w->live, true, &all))
        return;
    w->f->forced = false;
    if (!w->registers)
        return;
    if (in->sub == MOD_DEC) {
        check_direction(w, in, first_lane(mask), wanted > w->registers);
        if (wanted < w->registers)
            w->cta->free_registers += (w->registers - wanted) * LANES;
        w->registers = wanted < w->registers ? wanted : w->registers;
        hand_out(w->cta);
        return;
    }
    check_direction(w, in, first_lane(mask), wanted < w->registers);
    if (wanted > w->registers && !take(w, wanted))
        warp_wait(w, FRAG_REGISTERS, in, mask);
}
