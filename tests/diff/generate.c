/* Builds one program: registers from the input, then blocks of instructions, branches, loops,
 * memory, exchanges between lanes and threads, calls; at the end every register to the output. */
#include "gen.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOT = 16,        /* bytes of shared memory that a thread exchanges through */
    LOCAL = 64,       /* bytes of local memory */
    SHARED_SLOTS = 32 /* words of 8 bytes for atomics in shared memory */
};

#define ADD(...) text_add(&g->f->body, __VA_ARGS__)

static void block(Gen *g, Where w, int count);

/* ---- memory ------------------------------------------------------------------------------- */

/* %t1: byte offset of a word of the kind's area that depends on a register. */
static void input_offset(Gen *g, DiffKind kind, uint32_t mask) {
    ADD("and.b32 %%t1, %%r%u, %u;\n", gen_read(g, KIND_INT32), mask);
    ADD("mad.lo.u32 %%t1, %%t1, 8, %u;\n", (uint32_t)kind * DIFF_AREA * 8);
    ADD("cvt.u64.u32 %%a1, %%t1;\nadd.u64 %%a1, %%a1, %%in;\n");
}

static void load_vector(Gen *g, const char *space, const char *at, DiffKind kind, uint32_t n) {
    uint32_t first = gen_write(g, kind, false), second = first;
    char c = gen_letter(kind);
    if (n == 1) {
        ADD("ld.%s.b%u %%%c%u, [%s];\n", space, 8 * gen_bytes(kind), c, first, at);
        return;
    }
    while (second == first)
        second = gen_write(g, kind, false);
    if (n == 2)
        ADD("ld.%s.v2.b%u {%%%c%u, %%%c%u}, [%s];\n", space, 8 * gen_bytes(kind), c, first, c,
            second, at);
    else
        ADD("ld.%s.v4.b%u {%%%c%u, _, _, %%%c%u}, [%s];\n", space, 8 * gen_bytes(kind), c, first, c,
            second, at);
}

static void store_vector(Gen *g, const char *space, const char *at, DiffKind kind, uint32_t n) {
    uint32_t bits = 8 * gen_bytes(kind);
    char c = gen_letter(kind);
    if (n == 1) {
        ADD("st.%s.b%u [%s], %%%c%u;\n", space, bits, at, c, gen_read(g, kind));
        return;
    }
    uint32_t a = gen_read(g, kind), b = gen_read(g, kind);
    if (n == 2)
        ADD("st.%s.v2.b%u [%s], {%%%c%u, %%%c%u};\n", space, bits, at, c, a, c, b);
    else
        ADD("st.%s.v4.b%u [%s], {%%%c%u, %%%c%u, %%%c%u, %%%c%u};\n", space, bits, at, c, a, c, b,
            c, b, c, a);
}

static uint32_t vector_length(Gen *g, DiffKind kind) {
    static const uint8_t lengths[] = {1, 2, 4};
    uint32_t n = lengths[gen_below(g, 3)];
    return n * gen_bytes(kind) > 16 ? 2 : n;
}

static void narrow_load(Gen *g, const char *space, const char *at) {
    static const char *const types[] = {"u8", "s8", "u16", "s16"};
    const char *type = types[gen_below(g, 4)];
    if (gen_chance(g, 50))
        ADD("ld.%s.%s %%r%u, [%s];\n", space, type, gen_write(g, KIND_INT32, false), at);
    else if (gen_chance(g, 50))
        ADD("ld.%s.%s %%d%u, [%s];\n", space, type, gen_write(g, KIND_INT64, false), at);
    else
        ADD("ld.%s.%s %%h%u, [%s];\n", space, type, gen_write(g, KIND_INT16, false), at);
}

static void input_load(Gen *g, Where w) {
    DiffKind kind = gen_kind(g);
    const char *space = gen_chance(g, 50)   ? "global"
                        : gen_chance(g, 50) ? "global.nc"
                                            : "global.ca";
    (void)w;
    input_offset(g, kind, DIFF_AREA - 2);
    if (gen_chance(g, 30))
        narrow_load(g, space, "%a1+4");
    else
        load_vector(g, space, "%a1", kind, vector_length(g, kind));
}

/* %t1: an address inside the thread's local bytes, aligned to 16. */
static void local_access(Gen *g, Where w) {
    (void)w;
    ADD("and.b32 %%t1, %%r%u, %u;\n", gen_read(g, KIND_INT32), LOCAL - 16);
    ADD("mov.u32 %%t2, loc;\nadd.u32 %%t1, %%t1, %%t2;\n");
    DiffKind kind = gen_kind(g);
    if (gen_chance(g, 40))
        store_vector(g, "local", "%t1", kind, vector_length(g, kind));
    else if (gen_chance(g, 30))
        narrow_load(g, "local", "%t1+2");
    else
        load_vector(g, "local", "%t1", kind, vector_length(g, kind));
}

/* The first 64 bytes of the thread's own record. */
static void scratch_access(Gen *g, Where w) {
    DiffKind kind = gen_kind(g);
    (void)w;
    ADD("and.b32 %%t1, %%r%u, 48;\ncvt.u64.u32 %%a1, %%t1;\nadd.u64 %%a1, %%a1, %%own;\n",
        gen_read(g, KIND_INT32));
    bool generic = gen_chance(g, 30);
    if (gen_chance(g, 60))
        store_vector(g, generic ? "relaxed.gpu" : "global", "%a1", kind, 1);
    else if (gen_chance(g, 30))
        narrow_load(g, "global", "%a1+6");
    else
        load_vector(g, "global", "%a1", kind, vector_length(g, kind));
}

/* ---- atomics ------------------------------------------------------------------------------ */

/* Only the last contents count, so every operation has slots of its own and commutes with itself:
 * any order of threads gives the same. Sums of floats are of small integers, hence exact. */
static void reduction(Gen *g, Where w) {
    static const char *const ops[] = {"add.u32", "add.u64", "min.u32", "max.u32", "min.s32",
                                      "max.s32", "min.s64", "max.u64", "and.b32", "or.b32",
                                      "xor.b32", "xor.b64", "inc.u32"};
    if (g->accumulators + 4 > DIFF_CLEAR)
        return;
    (void)w;
    const char *op = ops[gen_below(g, sizeof ops / sizeof *ops)];
    bool is_wide = strstr(op, "64");
    ADD("and.b32 %%t1, %%r%u, 24;\ncvt.u64.u32 %%a1, %%t1;\nadd.u64 %%a1, %%a1, %%out;\n",
        gen_read(g, KIND_INT32));
    ADD("red%s.global.%s [%%a1+%u], ", gen_chance(g, 50) ? ".relaxed.gpu" : "", op,
        8 * g->accumulators);
    if (!strcmp(op, "inc.u32"))
        ADD("1000003;\n");
    else
        ADD("%%%c%u;\n", is_wide ? 'd' : 'r', gen_read(g, is_wide ? KIND_INT64 : KIND_INT32));
    g->accumulators += 4;
}

static void float_reduction(Gen *g, Where w) {
    if (g->clear + 4 > DIFF_ACCUMULATORS || w.in_loop)
        return;
    ADD("and.b32 %%t1, %%r%u, 24;\ncvt.u64.u32 %%a1, %%t1;\nadd.u64 %%a1, %%a1, %%out;\n",
        gen_read(g, KIND_INT32));
    ADD("and.b32 %%t2, %%r%u, 3;\n", gen_read(g, KIND_INT32));
    switch (gen_below(g, 3)) {
    case 0:
        ADD("cvt.rn.f32.u32 %%t2, %%t2;\nred.global.add.f32 [%%a1+%u], %%t2;\n", 8 * g->clear);
        break;
    case 1:
        ADD("cvt.rn.f64.u32 %%a2, %%t2;\nred.global.add.f64 [%%a1+%u], %%a2;\n", 8 * g->clear);
        break;
    default:
        ADD("cvt.rn.f16.u32 %%s1, %%t2;\nmov.b32 %%t2, {%%s1, %%s1};\n"
            "red.global.add.noftz.f16x2 [%%a1+%u], %%t2;\n",
            8 * g->clear);
    }
    g->clear += 4;
}

static void shared_reduction(Gen *g, Where w) {
    static const char *const ops[] = {"add.u32", "max.s32", "or.b32",  "xor.b32",
                                      "min.u32", "add.u64", "max.u64", "add.s32"};
    uint32_t k = gen_below(g, SHARED_SLOTS / 4);
    bool is_wide = strstr(ops[k % 8], "64");
    (void)w;
    ADD("and.b32 %%t1, %%r%u, 24;\nmov.u32 %%t2, acc;\nadd.u32 %%t1, %%t1, %%t2;\n",
        gen_read(g, KIND_INT32));
    ADD("red.shared.%s [%%t1+%u], %%%c%u;\n", ops[k % 8], 32 * k, is_wide ? 'd' : 'r',
        gen_read(g, is_wide ? KIND_INT64 : KIND_INT32));
}

/* On a word of the thread's own record, where the old value is known. */
static void own_atomic(Gen *g, Where w) {
    static const char *const ops[] = {"add.u32", "exch.b32", "min.s32", "max.u32", "and.b32",
                                      "or.b32",  "xor.b32",  "inc.u32", "dec.u32", "add.s32"};
    static const char *const wide_ops[] = {"add.u64", "exch.b64", "min.s64", "max.u64",
                                           "and.b64", "or.b64",   "xor.b64"};
    uint32_t at = 8 * gen_below(g, 8), op = gen_below(g, 70), from = gen_below(g, 3);
    (void)w;
    switch (gen_below(g, 4)) {
    case 0:
        ADD("atom.global.%s %%r%u, [%%own+%u], %%r%u;\n", ops[op % 10],
            gen_write(g, KIND_INT32, false), at, from);
        break;
    case 1:
        ADD("atom.acq_rel.gpu.global.%s %%d%u, [%%own+%u], %%d%u;\n", wide_ops[op % 7],
            gen_write(g, KIND_INT64, false), at, from);
        break;
    case 2:
        ADD("ld.global.b32 %%t1, [%%own+%u];\nselp.b32 %%t1, %%t1, %%r%u, %%p%u;\n", at, from,
            op % 2);
        ADD("atom.global.cas.b32 %%r%u, [%%own+%u], %%t1, %%r%u;\n",
            gen_write(g, KIND_INT32, false), at, from + 1);
        break;
    default:
        ADD("atom.global.add.f32 %%f%u, [%%own+%u], %%f%u;\n", gen_write(g, KIND_F32, false), at,
            from);
    }
}

/* ---- threads of a CTA --------------------------------------------------------------------- */

static void exchange(Gen *g, Where w) {
    DiffKind kind = gen_kind(g);
    uint32_t n = vector_length(g, kind);
    if (!w.all_threads)
        return;
    store_vector(g, "shared", "%slot", kind, n);
    ADD("bar.sync 0;\n");
    if (gen_chance(g, 50))
        ADD("add.u32 %%t1, %%tid0, %u;\nrem.u32 %%t1, %%t1, %%ntid0;\n", 1 + gen_below(g, 100));
    else
        ADD("rem.u32 %%t1, %%r%u, %%ntid0;\n", gen_read(g, KIND_INT32));
    ADD("mov.u32 %%t2, slots;\nmad.lo.u32 %%t1, %%t1, %u, %%t2;\n", SLOT);
    load_vector(g, "shared", "%t1", kind, n);
    ADD("bar.sync 0;\n");
}

static void barrier_reduction(Gen *g, Where w) {
    if (!w.all_threads)
        return;
    uint32_t p = gen_read(g, KIND_PRED);
    bool flip = gen_chance(g, 50);
    if (gen_chance(g, 50))
        ADD("bar.red.popc.u32 %%r%u, 0, %s%%p%u;\n", gen_write(g, KIND_INT32, false),
            flip ? "!" : "", p);
    else
        ADD("bar.red.%s.pred %%p%u, 0, %%p%u;\n", flip ? "and" : "or",
            gen_write(g, KIND_PRED, false), p);
}

/* ---- lanes of a warp ---------------------------------------------------------------------- */

static const char *mask_text(const Where *w, char *room) {
    if (w->mask == MASK_ALL)
        return "0xffffffff";
    sprintf(room, "%%m%u", w->mask_reg);
    return room;
}

static void shuffle(Gen *g, const Where *w, const char *mask) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const uint32_t clamps[] = {0x1f, 0x0f1f, 0x181f, 0x1c1f, 0x1007, 0x0000, 0x1c03, 0x1e1f};
    uint32_t from = gen_read(g, KIND_INT32);
    if (w->mask != MASK_ALL) { /* only from a lane that takes part */
        ADD("bfind.u32 %%t1, %s;\nshfl.sync.idx.b32 %%r%u, %%r%u, %%t1, 0x1f, %s;\n", mask,
            gen_write(g, KIND_INT32, false), from, mask);
        return;
    }
    const char *mode = modes[gen_below(g, 4)];
    uint32_t clamp = clamps[gen_below(g, 8)];
    if (!strcmp(mode, "up"))
        clamp &= ~0x1fu;
    uint32_t by = gen_read(g, KIND_INT32), to = gen_write(g, KIND_INT32, false);
    ADD("and.b32 %%t1, %%r%u, %u;\n", by, gen_chance(g, 50) ? 31 : 7);
    if (gen_chance(g, 50))
        ADD("shfl.sync.%s.b32 %%r%u|%%p%u, %%r%u, %%t1, %u, %s;\n", mode, to,
            gen_write(g, KIND_PRED, false), from, clamp, mask);
    else
        ADD("shfl.sync.%s.b32 %%r%u, %%r%u, %%t1, %u, %s;\n", mode, to, from, clamp, mask);
}

static void vote(Gen *g, const char *mask) {
    static const char *const modes[] = {"all", "any", "uni"};
    uint32_t p = gen_read(g, KIND_PRED), mode = gen_below(g, 3);
    if (gen_chance(g, 50))
        ADD("vote.sync.ballot.b32 %%r%u, %s%%p%u, %s;\n", gen_write(g, KIND_INT32, false),
            mode == 0 ? "!" : "", p, mask);
    else
        ADD("vote.sync.%s.pred %%p%u, %%p%u, %s;\n", modes[mode], gen_write(g, KIND_PRED, false), p,
            mask);
}

static void match(Gen *g, const char *mask) {
    bool is_wide = gen_chance(g, 40);
    uint32_t from = gen_read(g, is_wide ? KIND_INT64 : KIND_INT32);
    char c = is_wide ? 'd' : 'r';
    uint32_t to = gen_write(g, KIND_INT32, false);
    if (gen_chance(g, 50))
        ADD("match.any.sync.b%d %%r%u, %%%c%u, %s;\n", is_wide ? 64 : 32, to, c, from, mask);
    else
        ADD("match.all.sync.b%d %%r%u|%%p%u, %%%c%u, %s;\n", is_wide ? 64 : 32, to,
            gen_write(g, KIND_PRED, false), c, from, mask);
}

static void warp_operation(Gen *g, Where w) {
    static const char *const reductions[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                             "max.s32", "and.b32", "or.b32",  "xor.b32"};
    char room[16];
    if (w.mask == MASK_UNKNOWN)
        return;
    const char *mask = mask_text(&w, room);
    switch (gen_below(g, 6)) {
    case 0:
    case 1:
        shuffle(g, &w, mask);
        break;
    case 2:
        vote(g, mask);
        break;
    case 3:
        match(g, mask);
        break;
    case 4: {
        uint32_t from = gen_read(g, KIND_INT32), op = gen_below(g, 9);
        ADD("redux.sync.%s %%r%u, %%r%u, %s;\n", reductions[op], gen_write(g, KIND_INT32, false),
            from, mask);
        break;
    }
    default: {
        uint32_t to = gen_write(g, KIND_INT32, false);
        ADD("elect.sync %%r%u|%%p%u, %s;\n", to, gen_write(g, KIND_PRED, false), mask);
    }
    }
}

/* ---- branches and loops ------------------------------------------------------------------- */

/* In the branch taken by `predicate`, the mask of those who are there. */
static Where narrowed(Gen *g, Where w, uint32_t predicate, bool negated, uint32_t mask_reg) {
    char room[16];
    Where inner = w;
    inner.depth++;
    inner.all_threads = false;
    if (w.mask == MASK_UNKNOWN)
        return inner;
    ADD("vote.sync.ballot.b32 %%m%u, %s%%p%u, %s;\n", mask_reg, negated ? "!" : "", predicate,
        mask_text(&w, room));
    inner.mask = MASK_REG;
    inner.mask_reg = mask_reg;
    return inner;
}

static void branch(Gen *g, Where w, int count) {
    uint32_t label = g->labels++, p = gen_read(g, KIND_PRED), mask = 2 * label + 2;
    bool other = gen_chance(g, 60);
    Where yes = narrowed(g, w, p, false, mask), no = narrowed(g, w, p, true, mask + 1);
    ADD("@!%%p%u bra E%u;\n", p, label);
    g->f->nesting++;
    block(g, yes, count);
    if (other)
        ADD("bra J%u;\n", label);
    ADD("E%u:\n", label);
    if (other) {
        block(g, no, count / 2 + 1);
        ADD("J%u:\n", label);
    }
    g->f->nesting--;
}

/* Four ways by a table of branches. */
static void many_ways(Gen *g, Where w, int count) {
    uint32_t label = g->labels++;
    Where inner = w;
    inner.mask = MASK_UNKNOWN;
    inner.all_threads = false;
    inner.depth++;
    ADD("and.b32 %%t1, %%r%u, 3;\n", gen_read(g, KIND_INT32));
    ADD("T%u: .branchtargets W%ua, W%ub, W%uc, J%u;\nbrx.idx %%t1, T%u;\n", label, label, label,
        label, label, label);
    g->f->nesting++;
    for (char way = 'a'; way <= 'c'; way++) {
        ADD("W%u%c:\n", label, way);
        block(g, inner, count / 3 + 1);
        if (way != 'b') /* b falls into c */
            ADD("bra J%u;\n", label);
    }
    ADD("J%u:\n", label);
    g->f->nesting--;
}

static void loop(Gen *g, Where w, int count) {
    uint32_t label = g->labels++;
    bool uniform = gen_chance(g, 50), leave = gen_chance(g, 40);
    Where inner = w;
    inner.depth++;
    inner.in_loop = true;
    if (!uniform || leave) {
        inner.mask = MASK_UNKNOWN;
        inner.all_threads = false;
    }
    if (uniform)
        ADD("mov.u32 %%n%u, %%trips;\n", label);
    else
        ADD("and.b32 %%n%u, %%r%u, 3;\nadd.u32 %%n%u, %%n%u, 1;\n", label, gen_read(g, KIND_INT32),
            label, label);
    ADD("L%u:\n", label);
    g->f->nesting++;
    block(g, inner, count);
    if (leave) {
        ADD("@%%p%u bra J%u;\n", gen_read(g, KIND_PRED), label);
        block(g, inner, count / 2 + 1);
    }
    ADD("sub.u32 %%n%u, %%n%u, 1;\nsetp.ne.u32 %%q0, %%n%u, 0;\n@%%q0 bra L%u;\nJ%u:\n", label,
        label, label, label, label);
    g->f->nesting--;
}

/* ---- functions ---------------------------------------------------------------------------- */

static void declare(Text *t, const Func *f, uint32_t labels) {
    for (uint32_t k = 0; k < KIND_PRED; k++)
        text_add(t, ".reg .b%u %%%c<%u>;\n", 8 * gen_bytes((DiffKind)k), gen_letter((DiffKind)k),
                 f->count[k] + 1);
    text_add(t,
             ".reg .pred %%p<%u>, %%q<1>;\n.reg .b32 %%t<4>;\n.reg .b64 %%a<4>;\n"
             ".reg .b16 %%s<4>;\n",
             f->count[KIND_PRED] + 1);
    text_add(t, ".reg .b32 %%n<%u>, %%m<%u>;\n", labels + 1, 2 * labels + 4);
}

static void call(Gen *g, Where w) {
    (void)w;
    if (!g->functions_made)
        return;
    uint32_t i = gen_below(g, g->functions_made);
    const uint32_t *s = g->signatures[i];
    ADD("{\n.param .b%u o;\n", 8 * gen_bytes((DiffKind)s[0]));
    for (uint32_t k = 1; k < 4; k++) {
        DiffKind kind = (DiffKind)s[k];
        uint32_t bits = 8 * gen_bytes(kind), reg = gen_read(g, kind);
        ADD(".param .b%u i%u;\nst.param.b%u [i%u], %%%c%u;\n", bits, k, bits, k, gen_letter(kind),
            reg);
    }
    ADD("call (o), fn%u, (i1, i2, i3);\nld.param.b%u %%%c%u, [o];\n}\n", i,
        8 * gen_bytes((DiffKind)s[0]), gen_letter((DiffKind)s[0]),
        gen_write(g, (DiffKind)s[0], false));
}

/* Every kind has a register or two before the first instruction, made from the parameters. */
static void seed_from(Gen *g, const uint32_t *signature) {
    for (uint32_t k = 1; k < 4; k++) {
        DiffKind kind = (DiffKind)signature[k];
        ADD("ld.param.b%u %%%c%u, [i%u];\n", 8 * gen_bytes(kind), gen_letter(kind),
            g->f->count[kind]++, k);
    }
    for (uint32_t k = 0; k < KIND_PRED; k++)
        if (!g->f->count[k])
            ADD("mov.b%u %%%c%u, %u;\n", 8 * gen_bytes((DiffKind)k), gen_letter((DiffKind)k),
                g->f->count[k]++, gen_below(g, 30000));
    ADD("setp.ne.b32 %%p%u, %%r0, 0;\n", g->f->count[KIND_PRED]++);
}

static void function(Gen *g) {
    Func *outer = g->f, inner = {0};
    uint32_t i = g->functions_made, *s = g->signatures[i];
    for (uint32_t k = 0; k < 4; k++)
        s[k] = gen_kind(g);
    g->f = &inner;
    seed_from(g, s);
    for (uint32_t n = 4 + gen_below(g, 8); n; n--)
        gen_any_form(g);
    if (gen_chance(g, 50)) {
        ADD("@%%p%u bra J;\n", gen_read(g, KIND_PRED));
        inner.nesting++;
        for (uint32_t n = 1 + gen_below(g, 4); n; n--)
            gen_any_form(g);
        inner.nesting--;
        ADD("J:\n");
    }
    DiffKind result = (DiffKind)s[0];
    ADD("st.param.b%u [o], %%%c%u;\nret;\n}\n", 8 * gen_bytes(result), gen_letter(result),
        inner.count[result] - 1);
    text_add(&g->functions,
             ".func (.param .b%u o) fn%u(.param .b%u i1, .param .b%u i2, "
             ".param .b%u i3)\n{\n",
             8 * gen_bytes(result), i, 8 * gen_bytes((DiffKind)s[1]), 8 * gen_bytes((DiffKind)s[2]),
             8 * gen_bytes((DiffKind)s[3]));
    declare(&g->functions, &inner, 0);
    text_append(&g->functions, &inner.zeros);
    text_append(&g->functions, &inner.body);
    free(inner.body.at);
    free(inner.zeros.at);
    g->f = outer;
    g->functions_made++;
}

/* ---- blocks ------------------------------------------------------------------------------- */

static const struct {
    uint32_t weight;
    void (*make)(Gen *g, Where w);
} pieces[] = {{4, input_load},
              {4, local_access},
              {4, scratch_access},
              {3, reduction},
              {1, float_reduction},
              {2, shared_reduction},
              {2, own_atomic},
              {5, exchange},
              {2, barrier_reduction},
              {8, warp_operation},
              {3, call}};

static void piece(Gen *g, Where w) {
    uint32_t at = gen_below(g, 150);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        if (at < pieces[i].weight) {
            pieces[i].make(g, w);
            return;
        }
        at -= pieces[i].weight;
    }
    gen_any_form(g);
}

static void block(Gen *g, Where w, int count) {
    while (count > 0) {
        int inner = 2 + (int)gen_below(g, 8);
        uint32_t what = gen_below(g, 100);
        if (what < 5 && w.depth < 3 && count > 4) {
            branch(g, w, inner);
            count -= inner;
        } else if (what < 8 && w.depth < 2 && count > 4) {
            loop(g, w, inner);
            count -= inner;
        } else if (what < 9 && w.depth < 2 && count > 6) {
            many_ways(g, w, inner);
            count -= inner;
        } else {
            piece(g, w);
            count--;
        }
    }
}

/* ---- the kernel --------------------------------------------------------------------------- */

static void kernel_head(Text *t, const DiffProgram *p) {
    text_add(t,
             ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 trips)\n{\n"
             ".local .align 16 .b8 loc[%u];\n.shared .align 16 .b8 slots[%u];\n"
             ".shared .align 8 .b8 acc[%u];\n",
             LOCAL, SLOT * p->block, 8 * SHARED_SLOTS);
    text_add(t, ".reg .b64 %%in, %%out, %%own;\n"
                ".reg .b32 %%trips, %%tid0, %%ntid0, %%slot, %%gtid;\n");
}

static void kernel_begin(Text *t, const DiffProgram *p) {
    text_add(t, "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\nld.param.u32 %%trips, "
                "[trips];\nmov.u32 %%tid0, %%tid.x;\nmov.u32 %%ntid0, %%ntid.x;\n"
                "mov.u32 %%t1, %%ctaid.x;\nmad.lo.u32 %%gtid, %%t1, %%ntid0, %%tid0;\n");
    text_add(t,
             "mul.wide.u32 %%own, %%gtid, %u;\nadd.u64 %%own, %%own, %%out;\n"
             "add.u64 %%own, %%own, %u;\n",
             p->record_bytes, 8 * DIFF_ACCUMULATORS);
    text_add(t,
             "mov.u32 %%slot, slots;\nmad.lo.u32 %%slot, %%tid0, %u, %%slot;\n"
             "mov.b64 %%a1, 0;\nmul.wide.u32 %%a2, %%gtid, 0x9e3779b1;\nst.shared.v2.b64 [%%slot], "
             "{%%a1, %%a1};\n",
             SLOT);
    for (int i = 0; i < LOCAL; i += 16)
        text_add(t, "st.local.v2.b64 [loc+%d], {%%a2, %%a1};\n", i);
    text_add(t,
             "mov.u32 %%t2, acc;\nmad.lo.u32 %%t2, %%tid0, 8, %%t2;\n"
             "setp.lt.u32 %%q0, %%tid0, %u;\n@%%q0 st.shared.b64 [%%t2], %%a1;\nbar.sync 0;\n",
             SHARED_SLOTS);
}

/* The first registers of each kind come from the kind's area of the input. */
static void kernel_values(Gen *g) {
    static const uint8_t first[KIND_COUNT] = {3, 5, 3, 2, 2, 2, 2, 4, 3, 2};
    for (uint32_t k = 0; k < KIND_PRED; k++)
        for (uint32_t i = 0; i < first[k]; i++) {
            uint32_t bits = 8 * gen_bytes((DiffKind)k), stride = 1 + 2 * gen_below(g, 60);
            ADD("mad.lo.u32 %%t1, %%gtid, %u, %u;\nand.b32 %%t1, %%t1, %u;\n"
                "mul.wide.u32 %%a1, %%t1, 8;\nadd.u64 %%a1, %%a1, %%in;\n",
                stride, gen_below(g, DIFF_AREA), DIFF_AREA - 1);
            ADD("ld.global.b%u %%%c%u, [%%a1+%u];\n", bits, gen_letter((DiffKind)k),
                g->f->count[k]++, k * DIFF_AREA * 8);
        }
    for (uint32_t i = 0; i < first[KIND_PRED]; i++)
        ADD("setp.lt.s32 %%p%u, %%r%u, %u;\n", g->f->count[KIND_PRED]++, i, gen_below(g, 1000));
}

/* Records: 64 bytes of scratch, a word of shared atomics, then registers, widest first. */
static uint32_t record(Gen *g) {
    static const DiffKind order[] = {KIND_INT64,  KIND_F64,   KIND_INT32, KIND_F32, KIND_F16X2,
                                     KIND_BF16X2, KIND_INT16, KIND_F16,   KIND_BF16};
    uint32_t at = 72;
    ADD("bar.sync 0;\nand.b32 %%t1, %%tid0, %u;\nmov.u32 %%t2, acc;\n"
        "mad.lo.u32 %%t1, %%t1, 8, %%t2;\nld.shared.b64 %%a1, [%%t1];\n"
        "st.global.b64 [%%own+64], %%a1;\n",
        SHARED_SLOTS - 1);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (uint32_t i = 0; i < g->f->count[order[k]]; i++) {
            uint32_t bytes = gen_bytes(order[k]);
            ADD("st.global.b%u [%%own+%u], %%%c%u;\n", 8 * bytes, at, gen_letter(order[k]), i);
            at += bytes;
        }
    for (uint32_t i = 0; i < g->f->count[KIND_PRED]; i++)
        ADD("selp.u32 %%t1, 1, 0, %%p%u;\nst.global.u8 [%%own+%u], %%t1;\n", i, at++);
    ADD("ret;\n}\n");
    return (at + 15) & ~15u;
}

bool diff_generate(uint64_t seed, DiffProgram *p) {
    Func f = {0};
    Gen g = {.random = seed * 0x2545f4914f6cdd1du + DIFF_VERSION, .f = &f, .clear = DIFF_CLEAR};
    Where w = {.mask = MASK_ALL, .all_threads = true};
    Text t = {0};
    if (seed >= DIFF_APPROX)
        return diff_approx_generate(seed, p);
    *p = (DiffProgram){.seed = seed, .approx = diff_approx_count()};
    p->grid = 1 + gen_below(&g, 3);
    p->block = 32 * (1 + gen_below(&g, 4));
    for (uint32_t n = gen_below(&g, 3); n; n--)
        function(&g);
    kernel_values(&g);
    block(&g, w, 15 + (int)gen_below(&g, 60));
    p->record_bytes = record(&g);
    p->out_bytes = 8 * DIFF_ACCUMULATORS + (size_t)p->record_bytes * p->grid * p->block;
    text_add(&t, ".version 8.6\n.target sm_90a\n.address_size 64\n");
    text_append(&t, &g.functions);
    kernel_head(&t, p);
    declare(&t, &f, g.labels);
    kernel_begin(&t, p);
    text_append(&t, &f.zeros);
    text_append(&t, &f.body);
    free(g.functions.at);
    free(f.zeros.at);
    free(f.body.at);
    p->text = t.at;
    p->length = t.length;
    return !t.failed;
}
