/* Reports: what, where, found, expected, in a sentence. One report of each kind for each
 * instruction is kept; the launch goes on. */
#include "exec.h"
#include <stdio.h>
#include <string.h>

static const char *kind_name(tle_emu_report_kind kind) {
    switch (kind) {
    case TLE_EMU_REPORT_BOUNDS:
        return "out of bounds";
    case TLE_EMU_REPORT_FREED:
        return "use of freed memory";
    case TLE_EMU_REPORT_READ_ONLY:
        return "write to read-only memory";
    case TLE_EMU_REPORT_ALIGN:
        return "misaligned access";
    case TLE_EMU_REPORT_UNINIT:
        return "uninitialised read";
    case TLE_EMU_REPORT_RACE:
        return "race";
    case TLE_EMU_REPORT_BARRIER:
        return "barrier misuse";
    case TLE_EMU_REPORT_DEADLOCK:
        return "deadlock";
    case TLE_EMU_REPORT_LIMIT:
        return "instruction limit";
    case TLE_EMU_REPORT_TRAP:
        return "trap";
    case TLE_EMU_REPORT_BAD_OPERAND:
        return "bad operand";
    case TLE_EMU_REPORT_MATRIX:
        return "wgmma misuse";
    case TLE_EMU_REPORT_CLUSTER:
        return "life of a cluster's shared memory";
    case TLE_EMU_REPORT_MBARRIER:
        return "mbarrier misuse";
    case TLE_EMU_REPORT_PROXY:
        return "missing proxy fence";
    case TLE_EMU_REPORT_DEPENDENT:
        return "access before griddepcontrol.wait";
    }
    return "report";
}

const char *report_file(const Launch *l, const Insn *in) {
    const PtxModule *m = l->module->ptx;
    if (!in || in->loc.file == 0 || in->loc.file >= m->files.len)
        return "";
    return ptx_name(m->context, m->files.data[in->loc.file]);
}

const char *report_where(const Launch *l, const Insn *in, char *room, size_t size) {
    const char *file = report_file(l, in);
    if (*file)
        snprintf(room, size, "%s:%u, PTX line %u (%s)", file, in->loc.line, in->line, in->spelling);
    else
        snprintf(room, size, "PTX line %u (%s)", in->line, in->spelling);
    return room;
}

static void place(Report *r, const Warp *w, uint32_t lane) {
    const uint32_t *n = w->launch->block;
    uint32_t t = w->id * LANES + lane;
    memcpy(r->cta, w->cta->id, sizeof r->cta);
    r->thread[0] = t % n[0];
    r->thread[1] = t / n[0] % n[1];
    r->thread[2] = t / n[0] / n[1];
    r->warp = w->id;
    r->lane = lane;
}

static bool is_known(const Device *d, const Insn *in, tle_emu_report_kind kind) {
    for (uint32_t i = 0; i < d->reports.len; i++)
        if (d->reports.data[i].insn == in && d->reports.data[i].kind == kind)
            return true;
    return d->reports.len >= d->max_reports;
}

static const Insn *in_function(const Warp *w, const Insn *in) {
    const Function *fn = w->f ? w->f->frame->fn : NULL;
    bool known = fn && in->index < fn->count && fn->code[in->index].line == in->line;
    return known ? &fn->code[in->index] : in;
}

void report_add(Warp *w, const Insn *in, uint32_t lane, tle_emu_report_kind kind, uint64_t address,
                uint32_t bytes, const char *format, ...) {
    Launch *l = w->launch;
    Device *d = l->device;
    Report r = {.kind = kind, .insn = in, .address = address, .access_bytes = bytes};
    char where[256];
    StrBuf text;
    va_list args;
    if (l->view) { /* it will be run again in its turn, and report then */
        l->stop = w->stop = true;
        return;
    }
    if (l->status == TLE_EMU_OK)
        l->status = TLE_EMU_FAULT;
    /* `in` may be a copy on a handler's stack */
    in = in_function(w, in);
    r.insn = in;
    if (is_known(d, in, kind))
        return;
    place(&r, w, lane);
    r.kernel = l->fn->name;
    r.ptx_line = in->line;
    r.source_file = report_file(l, in);
    r.source_line = in->loc.line;
    strbuf_init(&text, d->report_arena);
    strbuf_addf(&text, "%s in %s at %s, CTA (%u,%u,%u), thread (%u,%u,%u), warp %u lane %u: ",
                kind_name(kind), r.kernel, report_where(l, in, where, sizeof where), r.cta[0],
                r.cta[1], r.cta[2], r.thread[0], r.thread[1], r.thread[2], r.warp, lane);
    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    if (address)
        strbuf_addf(&text, " (address 0x%llx)", (unsigned long long)address);
    r.text = text.text;
    vec_push(d->report_arena, &d->reports, r);
}

/* ---- deadlock, limit ---------------------------------------------------------------------- */

/* Where a fragment waits; one that runs in vain waits where its warp looked last. */
static const Insn *waits_at(const Launch *l, const Warp *w, const Fragment *f) {
    if (f->state == FRAG_RUN)
        return w->look.when > l->changed ? w->look.insn : f->pc;
    return f->wait_insn ? f->wait_insn : f->pc;
}

static void add_wait(StrBuf *b, const Launch *l, Warp *w, const Fragment *f) {
    char where[256];
    const Barrier *bar;
    strbuf_addf(b, "\n  CTA (%u,%u,%u) warp %u lanes 0x%08x at %s ", w->cta->id[0], w->cta->id[1],
                w->cta->id[2], w->id, f->mask,
                report_where(l, waits_at(l, w, f), where, sizeof where));
    switch (f->state) {
    case FRAG_BARRIER:
        bar = &w->cta->barriers[f->barrier];
        if (bar->counted)
            strbuf_addf(b, "wait at barrier %u: %u of %u threads came", f->barrier, bar->arrived,
                        bar->expected);
        else
            strbuf_addf(b, "wait at barrier %u for all threads that live", f->barrier);
        break;
    case FRAG_WARP:
        strbuf_addf(b, "wait for lanes 0x%08x of the warp",
                    f->wait_members & w->live & ~f->wait_exec);
        break;
    case FRAG_ALIGNED:
        strbuf_addz(b, "wait for the rest of the warp");
        break;
    case FRAG_CLUSTER:
        strbuf_addf(b, "wait at the cluster barrier for %u threads",
                    cluster_missing(w->cta->cluster));
        break;
    case FRAG_MBARRIER:
        async_describe_wait(b, w, f);
        break;
    case FRAG_ASYNC:
        strbuf_addz(b, "wait for asynchronous copies");
        break;
    case FRAG_REGISTERS:
        strbuf_addf(b, "wait for registers, of which %u are free", w->cta->free_registers);
        break;
    case FRAG_PARKED:
        strbuf_addz(b, "wait for lanes that went another way");
        break;
    case FRAG_RUN:
        if (w->look.when > l->changed)
            strbuf_addf(b, "wait for memory at 0x%llx to change",
                        (unsigned long long)w->look.address);
        else
            strbuf_addz(b, "run");
        break;
    case FRAG_FREE:
        break;
    }
}

static void add_all(StrBuf *b, const Launch *l) {
    uint32_t shown = 0;
    for (uint32_t c = 0; c < l->resident_count; c++)
        for (uint32_t r = 0; r < l->resident[c]->count; r++)
            for (uint32_t k = 0; k < l->resident[c]->ctas[r]->warp_count; k++)
                for (uint32_t i = 0; i < LANES; i++) {
                    Warp *w = &l->resident[c]->ctas[r]->warps[k];
                    if (w->frags[i].state != FRAG_FREE && shown++ < 64)
                        add_wait(b, l, w, &w->frags[i]);
                }
    if (shown > 64)
        strbuf_addf(b, "\n  and %u more", shown - 64);
}

static Warp *first_live(const Launch *l, Fragment **f) {
    for (uint32_t c = 0; c < l->resident_count; c++)
        for (uint32_t r = 0; r < l->resident[c]->count; r++)
            for (uint32_t k = 0; k < l->resident[c]->ctas[r]->warp_count; k++)
                for (uint32_t i = 0; i < LANES; i++) {
                    Warp *w = &l->resident[c]->ctas[r]->warps[k];
                    if (w->frags[i].state != FRAG_FREE) {
                        *f = &w->frags[i];
                        return w;
                    }
                }
    return NULL;
}

static void add_overall(Launch *l, tle_emu_report_kind kind, const char *what) {
    Device *d = l->device;
    Report r = {.kind = kind, .kernel = l->fn->name, .source_file = ""};
    StrBuf text;
    Fragment *f = NULL;
    Warp *w = first_live(l, &f);
    strbuf_init(&text, d->report_arena);
    strbuf_addf(&text, "%s in %s: %s", kind_name(kind), r.kernel, what);
    add_all(&text, l);
    r.text = text.text;
    if (w) {
        const Insn *in = waits_at(l, w, f);
        place(&r, w, first_lane(f->mask));
        r.ptx_line = in->line;
        r.source_file = report_file(l, in);
        r.source_line = in->loc.line;
    }
    vec_push(d->report_arena, &d->reports, r);
}

void report_deadlock(Launch *l) {
    l->status = TLE_EMU_DEADLOCK;
    add_overall(l, TLE_EMU_REPORT_DEADLOCK, "no warp can go on");
}

void report_livelock(Launch *l) {
    l->status = TLE_EMU_DEADLOCK;
    add_overall(
        l, TLE_EMU_REPORT_DEADLOCK,
        "every warp that can go on keeps looking at memory that nobody changes (a livelock)");
}

void report_limit(Launch *l) {
    l->status = TLE_EMU_LIMIT;
    add_overall(l, TLE_EMU_REPORT_LIMIT, "the launch used up its instructions");
}
