/* Cost figures of each instruction, and what limits the number of CTAs on an SM. */
#include "exec.h"
#include <string.h>

/* Of an SM of Hopper. */
enum { SM_THREADS = 2048, SM_WARPS = 64, SM_CTAS = 32, SM_SHARED = 233472, CTA_RESERVED = 1024 };

CostSite *cost_site(const Warp *w, const Insn *in) {
    Cost *c = w->launch->cost;
    const Function *fn = w->f ? w->f->frame->fn : w->launch->fn;
    CostSite **row = &c->sites[fn->index];
    if (!*row)
        *row = arena_array(c->arena, CostSite, fn->count);
    return &(*row)[in->index < fn->count ? in->index : 0];
}

Cost *cost_new(const Launch *l, Arena *a) {
    Cost *c = arena_new_of(a, Cost);
    c->arena = a;
    if (l->device->cost > 1)
        c->sites = arena_array(a, CostSite *, l->module->ptx->functions.len);
    return c;
}

/* Both structures are counts from `at` to their end. */
static void add_counts(void *into, const void *from, size_t at, size_t size) {
    uint64_t *a = (void *)((char *)into + at);
    const uint64_t *b = (const void *)((const char *)from + at);
    for (size_t i = 0; i < (size - at) / sizeof *a; i++)
        a[i] += b[i];
}

void cost_add(Cost *into, const Cost *from, const Launch *l) {
    add_counts(into, from, offsetof(Cost, warp_insns), sizeof *into);
    for (uint32_t f = 0; into->sites && f < l->module->ptx->functions.len; f++) {
        uint32_t n = l->module->functions[f].count;
        if (!from->sites[f])
            continue;
        if (!into->sites[f])
            into->sites[f] = arena_array(into->arena, CostSite, n);
        add_counts(into->sites[f], from->sites[f], 0, n * sizeof(CostSite));
    }
}

/* A warp that must wait at this instruction. */
void cost_wait(const Warp *w, const Insn *in) {
    if (w->launch->cost && w->launch->cost->sites)
        cost_site(w, in)->waits++;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void add_text(StrBuf *b, const char *text) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            strbuf_addf(b, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            strbuf_addf(b, "\\u%04x", (unsigned)*text);
        else
            strbuf_addf(b, "%c", *text);
    }
}

static const char *space_name(const Insn *in) {
    if (in->cls != CLASS_LOAD && in->cls != CLASS_STORE && in->cls != CLASS_ATOMIC)
        return "";
    switch ((int)in->space) {
    case SPACE_SHARED:
        return "shared";
    case SPACE_LOCAL:
        return "local";
    case SPACE_CONST:
        return "const";
    case SPACE_PARAM:
        return "param";
    case SPACE_GENERIC:
        return "generic";
    default:
        return "global";
    }
}

static void add_site(StrBuf *b, const Launch *l, const Function *fn, const Insn *in,
                     const CostSite *s) {
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
#define X(field, name) {name, s->field},
#include "cost_sites.def"
#undef X
    };
    strbuf_addf(b, "{\"function\":\"%s\",\"ptx_line\":%u,\"file\":\"", fn->name, in->line);
    add_text(b, report_file(l, in));
    strbuf_addf(b, "\",\"line\":%u,\"instruction\":\"%s\",\"class\":\"%s\",\"space\":\"%s\"",
                in->loc.line, in->spelling, cost_class_name((InsnClass)in->cls), space_name(in));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].value)
            strbuf_addf(b, ",\"%s\":%llu", fields[i].name, (unsigned long long)fields[i].value);
    strbuf_addz(b, "}");
}

/* In the order of the text; instructions that never ran are left out. */
void cost_add_sites(StrBuf *b, const Launch *l) {
    const char *comma = "";
    strbuf_addz(b, ",\"sites\":[");
    for (uint32_t f = 0; f < l->module->ptx->functions.len; f++) {
        const Function *fn = &l->module->functions[f];
        for (uint32_t i = 0; l->cost->sites[f] && i < fn->count; i++) {
            if (!l->cost->sites[f][i].warps)
                continue;
            strbuf_addz(b, comma);
            add_site(b, l, fn, &fn->code[i], &l->cost->sites[f][i]);
            comma = ",";
        }
    }
    strbuf_addz(b, "]");
}

/* Registers are the assembler's, so they are not among the limits. */
void cost_add_occupancy(StrBuf *b, const Launch *l) {
    uint32_t by_threads = SM_THREADS / (l->warps * LANES), by_warps = SM_WARPS / l->warps;
    uint32_t by_shared = SM_SHARED / ((l->shared_bytes + CTA_RESERVED + 127) / 128 * 128);
    uint32_t most = SM_CTAS;
    most = by_threads < most ? by_threads : most;
    most = by_warps < most ? by_warps : most;
    most = by_shared < most ? by_shared : most;
    strbuf_addf(b,
                ",\"shared_bytes\":%u,\"occupancy\":{\"ctas_per_sm\":%u,\"by_threads\":%u,"
                "\"by_shared\":%u,\"by_ctas\":%u}",
                l->shared_bytes, most, by_threads, by_shared, SM_CTAS);
}
