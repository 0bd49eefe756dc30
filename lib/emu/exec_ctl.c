/* Control flow: branches, joins, calls, returns, exits. */
#include "exec.h"
#include <string.h>

void x_bra(Warp *w, const Insn *in, uint32_t mask) {
    if (w->launch->cost)
        w->launch->cost->branches++;
    warp_branch(w, in, mask);
}

/* First instruction of a block where some branch meets again. */
void x_join(Warp *w, const Insn *in, uint32_t mask) {
    (void)mask;
    if (meet_absorb(w, in))
        return;
    w->f->pc = in;
    warp_wait(w, FRAG_PARKED, in, w->f->mask);
}

/* brx.idx: lanes of one index go, the others come here again. */
void x_brx(Warp *w, const Insn *in, uint32_t mask) {
    const uint32_t *index = plane32(w, in->a);
    uint32_t lead = index[first_lane(mask)], same = 0;
    Insn one = *in;
    for (uint32_t i = 0; i < LANES; i++)
        same |= (uint32_t)((mask >> i & 1) && index[i] == lead) << i;
    if (lead >= in->table_count) {
        report_add(w, in, first_lane(mask), TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                   "branch index %u of a table of %u", lead, in->table_count);
        warp_exit_lanes(w, same);
        w->f->pc = in;
        return;
    }
    one.target = in->table[lead];
    if (same != mask)
        w->f->pc = in;
    warp_branch(w, &one, same);
}

/* ---- calls -------------------------------------------------------------------------------- */

static void copy_local(Warp *w, uint32_t mask, uint32_t from, uint32_t to, uint32_t bytes) {
    uint64_t stride = w->launch->local_bytes;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        memcpy(w->local + i * stride + to, w->local + i * stride + from, bytes);
        if (w->launch->checks & TLE_EMU_CHECK_UNINIT)
            bits_set(w->local_init, i * stride + to, bytes);
    }
}

static const Function *callee_by_address(Warp *w, const Insn *in, uint32_t mask, uint32_t *same) {
    const uint64_t *a = plane64(w, in->a);
    const struct tle_emu_module *m = w->launch->module;
    uint64_t lead = a[first_lane(mask)];
    *same = 0;
    for (uint32_t i = 0; i < LANES; i++)
        *same |= (uint32_t)((mask >> i & 1) && a[i] == lead) << i;
    if (lead - FUNC_WINDOW >= m->ptx->functions.len ||
        !m->functions[lead - FUNC_WINDOW].source->has_body)
        return NULL;
    return &m->functions[lead - FUNC_WINDOW];
}

static void enter(Warp *w, const Insn *in, const Function *fn) {
    Fragment *f = w->f;
    const CallSite *site = in->call;
    Frame *caller = f->frame, *frame;
    uint32_t base = caller->local_base + caller->fn->local_bytes;
    for (uint32_t i = 0, most = base; caller->dynamic && i < LANES; i++)
        if (f->mask >> i & 1 && (most + caller->dynamic[i] + 15) / 16 * 16 > base)
            base = (most + caller->dynamic[i] + 15) / 16 * 16;
    if (base + fn->local_bytes > w->launch->local_bytes) {
        report_add(w, in, first_lane(f->mask), TLE_EMU_REPORT_BOUNDS, base, 0,
                   "call of %s overflows the stack of %u bytes", fn->name, w->launch->local_bytes);
        warp_exit_lanes(w, f->mask);
        return;
    }
    frame = warp_frame(w, fn);
    frame->parent = caller;
    frame->lanes = f->mask;
    frame->return_to = in + 1;
    frame->site = site;
    frame->local_base = base;
    for (uint32_t k = 0; k < site->arg_count && k < fn->source->params.len; k++) {
        const PtxVar *p = &w->launch->module->ptx->vars.data[fn->source->params.data[k]];
        copy_local(w, f->mask, caller->local_base + site->args[k].from, base + (uint32_t)p->address,
                   site->args[k].bytes);
    }
    f->frame = frame;
    f->pc = fn->code;
    warp_select(w, f);
}

void x_call(Warp *w, const Insn *in, uint32_t mask) {
    const Function *fn = in->call->callee;
    uint32_t same = mask;
    if (!fn) {
        fn = callee_by_address(w, in, mask, &same);
        if (!fn) {
            report_add(w, in, first_lane(same), TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                       "call of an address that is no function");
            warp_exit_lanes(w, same);
            w->f->pc = in;
            return;
        }
    }
    if (same != mask)
        warp_split(w, mask & ~same, in);
    enter(w, in, fn);
}

void x_ret(Warp *w, const Insn *in, uint32_t mask) {
    Fragment *f = w->f;
    Frame *frame = f->frame, *caller = frame->parent;
    if (!caller) {
        x_exit(w, in, mask);
        return;
    }
    for (uint32_t k = 0; k < frame->site->result_count && k < frame->fn->source->results.len; k++) {
        const PtxVar *r = &w->launch->module->ptx->vars.data[frame->fn->source->results.data[k]];
        copy_local(w, mask, frame->local_base + (uint32_t)r->address,
                   caller->local_base + frame->site->results[k].from,
                   frame->site->results[k].bytes);
    }
    f->frame = caller;
    f->pc = frame->return_to;
    frame->lanes &= ~mask;
    if (frame->lanes == 0)
        warp_drop_frame(w, frame);
    warp_select(w, f);
}

void x_exit(Warp *w, const Insn *in, uint32_t mask) {
    (void)in;
    warp_exit_lanes(w, mask);
}

void x_trap(Warp *w, const Insn *in, uint32_t mask) {
    report_add(w, in, first_lane(mask), TLE_EMU_REPORT_TRAP, 0, 0, "the kernel stopped itself");
    w->launch->status = TLE_EMU_TRAP;
    w->launch->stop = w->stop = true;
}
