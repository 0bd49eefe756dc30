/* Scans: runs of registers, then lanes by shuffles, then warps and outer blocks through scratch;
 * analysis/scratch.h fixes the steps.
 *
 * "Before" and "after" are in scan order: along the coordinate, or against it with `reverse`. A
 * prefix is what lies before something; it may not exist yet, so it carries a condition. Across
 * lanes the scan doubles groups: a group's total goes to its neighbour by one shuffle, which adds
 * it to its prefix where it comes after. */
#include "codegen/cg_impl.h"
#include "codegen/cg_scan_sum.h"

#include "analysis/axis_range.h"
#include "analysis/layout_rule.h"
#include "analysis/scratch.h"

typedef struct Scan {
    IrOp op;
    uint32_t n; /* tiles */
    bool reverse, exclusive;
    bool packed; /* two blocks' sums fit one word: see pack() */
    bool flags;  /* a sum of values that are 0 or 1, one of each lane */
    CgLines lines;
    uint32_t blocks, run; /* outer blocks of a line; registers in one */
    V init[CG_MAX_TUPLE]; /* exclusive */
    CgRegs in[CG_MAX_TUPLE], out[CG_MAX_TUPLE], total[CG_MAX_TUPLE];
} Scan;

typedef struct Tuple {
    V at[CG_MAX_TUPLE];
} Tuple;

/* A tuple that exists where `there` holds. */
typedef struct Prefix {
    Tuple x;
    V there; /* NULL = nowhere */
} Prefix;

static Tuple combine(Cg *c, const Scan *s, const Tuple *a, const Tuple *b) {
    Tuple out = *a;

    cg_combine(c, s->op, a->at, b->at, out.at);
    return out;
}

static Tuple choose(Cg *c, const Scan *s, V cond, const Tuple *a, const Tuple *b) {
    Tuple out = {{0}};

    for (uint32_t i = 0; i < s->n; i++)
        out.at[i] = LLVMBuildSelect(c->b, cond, a->at[i], b->at[i], "");
    return out;
}

static V always(Cg *c) {
    return LLVMConstInt(c->i1, 1, 0);
}

/* prefix, then x. */
static Tuple after_prefix(Cg *c, const Scan *s, const Prefix *p, const Tuple *x) {
    if (!p->there)
        return *x;
    Tuple sum = combine(c, s, &p->x, x);
    return cg_is_true(p->there) ? sum : choose(c, s, p->there, &sum, x);
}

/* The prefix of what comes after both p and x. */
static Prefix extend(Cg *c, const Scan *s, const Prefix *p, const Tuple *x) {
    Prefix out = {after_prefix(c, s, p, x), always(c)};

    return out;
}

/* p, then q (q comes later and is the nearer one). */
static Prefix join_prefixes(Cg *c, const Scan *s, const Prefix *p, const Prefix *q) {
    if (!q->there)
        return *p;
    if (!p->there)
        return *q;
    Prefix out = {after_prefix(c, s, p, &q->x), LLVMBuildOr(c->b, p->there, q->there, "")};
    if (!cg_is_true(q->there))
        out.x = choose(c, s, q->there, &out.x, &p->x);
    return out;
}

/* --- runs of registers --- */

/* Register number `i` in scan order of block `block` in scan order of a line. */
static uint32_t register_at(const Scan *s, uint32_t line, uint32_t block, uint32_t i) {
    uint32_t at = block * s->run + i;

    return s->lines.regs[line][s->reverse ? s->lines.regs_len - 1 - at : at];
}

static Tuple load_regs(const Scan *s, const CgRegs *from, uint32_t reg) {
    Tuple t = {{0}};

    for (uint32_t i = 0; i < s->n; i++)
        t.at[i] = from[i].at[reg];
    return t;
}

static void store_regs(const Scan *s, const CgRegs *to, uint32_t reg, const Tuple *t) {
    for (uint32_t i = 0; i < s->n; i++)
        to[i].at[reg] = t->at[i];
}

/* Leaves the inclusive scan of the run in `out`; returns its total. */
static Tuple scan_run(Cg *c, const Scan *s, uint32_t line, uint32_t block) {
    Tuple sum = load_regs(s, s->in, register_at(s, line, block, 0));

    store_regs(s, s->out, register_at(s, line, block, 0), &sum);
    for (uint32_t i = 1; i < s->run; i++) {
        uint32_t reg = register_at(s, line, block, i);
        Tuple x = load_regs(s, s->in, reg);

        sum = combine(c, s, &sum, &x);
        store_regs(s, s->out, reg, &sum);
    }
    return sum;
}

/* --- lanes --- */

static Tuple shuffle(Cg *c, const Scan *s, const char *mode, const Tuple *x, V lane) {
    Tuple out = {{0}};

    for (uint32_t i = 0; i < s->n; i++)
        out.at[i] = cg_shuffle(c, mode, x->at[i], lane);
    return out;
}

/* This lane comes after its neighbour across `bit`. */
static V comes_after(Cg *c, const Scan *s, uint8_t bit) {
    V lane = cg_thread(c, s->op)->lane;
    V set = LLVMBuildAnd(c->b, lane, cg_i32(c, 1u << bit), "");

    return LLVMBuildICmp(c->b, s->reverse ? LLVMIntEQ : LLVMIntNE, set, cg_i32(c, 0), "");
}

static bool is_sum(Cg *c, const Scan *s) {
    return s->n == 1 && cg_scan_is_sum(c, s->op, LLVMTypeOf(s->in[0].at[0]));
}

static bool scans_as_sum(Cg *c, const Scan *s) {
    return cg_uses(c, CG_SUM_SCAN) && is_sum(c, s);
}

static bool bits_are_low(const uint8_t *bits, uint8_t n_bits) {
    for (uint8_t b = 0; b < n_bits; b++)
        if (bits[b] != b)
            return false;
    return true;
}

/* Over the lanes that differ in `bits`: *total becomes the total of all, the result is the prefix
 * of this one. */
static Prefix scan_lanes(Cg *c, const Scan *s, const uint8_t *bits, uint8_t n_bits, Tuple *total) {
    Prefix prefix = {{{0}}, NULL};

    if (s->flags) {
        prefix.x.at[0] = cg_count_before_lane(c, s->reverse, &total->at[0]);
        prefix.there = always(c);
        return prefix;
    }
    if (n_bits && bits_are_low(bits, n_bits) && scans_as_sum(c, s)) {
        prefix.x.at[0] = cg_sum_before_lane(c, s->op, n_bits, s->reverse, &total->at[0]);
        prefix.there = always(c);
        return prefix;
    }
    for (uint8_t b = 0; b < n_bits && !c->failed; b++) {
        Tuple other = shuffle(c, s, "bfly", total, cg_i32(c, 1u << bits[b]));
        V later = comes_after(c, s, bits[b]);
        Tuple nearer = prefix.there ? combine(c, s, &other, &prefix.x) : other;
        V had = prefix.there;

        /* where later: other before prefix; else prefix as it was */
        if (had) {
            Tuple moved = choose(c, s, had, &nearer, &other);
            prefix.x = choose(c, s, later, &moved, &prefix.x);
            prefix.there = LLVMBuildOr(c->b, had, later, "");
        } else {
            prefix.x = other;
            prefix.there = later;
        }
        Tuple low = combine(c, s, &other, total), high = combine(c, s, total, &other);
        *total = choose(c, s, later, &low, &high);
    }
    return prefix;
}

/* --- two blocks in one word ---
 *
 * A scan that counts (a sum of small values that are not negative) needs few bits: the sums of two
 * outer blocks then share one word on their way through lanes and warps, and no carry can cross. */

enum { HALF = 16 };

static Tuple pack(Cg *c, const Tuple *low, const Tuple *high) {
    Tuple out = {{0}};
    V up = LLVMBuildShl(c->b, high->at[0], cg_i32(c, HALF), "");

    out.at[0] = LLVMBuildOr(c->b, up, low->at[0], "");
    return out;
}

static void unpack(Cg *c, V word, Tuple *low, Tuple *high) {
    low->at[0] = LLVMBuildAnd(c->b, word, cg_i32(c, (1u << HALF) - 1), "");
    high->at[0] = LLVMBuildLShr(c->b, word, cg_i32(c, HALF), "");
}

static bool is_flags(Cg *c, const Scan *s) {
    if (!cg_uses(c, CG_BALLOT_SCAN) || !is_sum(c, s))
        return false;
    Range r = range_of(c->m, ir_operand(c->m, s->op, 0));
    return r.lo >= 0 && r.hi <= 1;
}

static bool can_pack(Cg *c, const Scan *s) {
    IrValue x = ir_operand(c->m, s->op, 0);
    int64_t limit = (1 << HALF) - 1, n = ir_tile_elems(c->m, ir_value_type(c->m, x));

    if (!cg_uses(c, CG_PACKED_SCAN) || !is_sum(c, s) || s->reverse || s->blocks % 2)
        return false;
    Range r = range_of(c->m, x);
    return r.lo >= 0 && r.hi <= limit && n <= limit / (r.hi ? r.hi : 1);
}

/* The lanes of every block of a line. */
static void scan_blocks(Cg *c, const Scan *s, Tuple *totals, Prefix *prefixes) {
    const uint8_t *bits = s->lines.lane_bits, n_bits = s->lines.n_lane_bits;

    for (uint32_t b = 0; b < s->blocks && !c->failed; b += s->packed ? 2 : 1) {
        if (!s->packed) {
            prefixes[b] = scan_lanes(c, s, bits, n_bits, &totals[b]);
            continue;
        }
        Tuple both = pack(c, &totals[b], &totals[b + 1]);
        Prefix p = scan_lanes(c, s, bits, n_bits, &both);

        prefixes[b].there = prefixes[b + 1].there = p.there;
        if (p.there)
            unpack(c, p.x.at[0], &prefixes[b].x, &prefixes[b + 1].x);
        unpack(c, both.at[0], &totals[b], &totals[b + 1]);
    }
}

/* --- warps --- */

static uint32_t warps_along(const Scan *s) {
    return 1u << s->lines.n_warp_bits;
}

/* Address of the total of warp k (in coordinate order) in one block of a line, operand i. */
static V partial(Cg *c, const Scan *s, uint32_t i, V number, uint32_t block, V k) {
    uint32_t bytes = cg_scratch_bytes(c, LLVMTypeOf(s->in[i].at[0]));
    V at = LLVMBuildNUWMul(c->b, number, cg_i32(c, s->blocks), "");

    at = LLVMBuildNUWAdd(c->b, at, cg_i32(c, block), "");
    at = LLVMBuildNUWMul(c->b, at, cg_i32(c, warps_along(s)), "");
    at = LLVMBuildNUWAdd(c->b, at, k, "");
    at = LLVMBuildNUWMul(c->b, at, cg_i32(c, bytes), "");
    at = LLVMBuildNUWAdd(c->b, at, cg_i32(c, scratch_part(c->m, s->op, i)), "");
    return cg_scratch(c, s->op, at);
}

/* totals[line * blocks + block]. */
static void write_totals(Cg *c, const Scan *s, const Tuple *totals) {
    LLVMBasicBlockRef join = cg_guard_begin(c, cg_lines_writer(c, s->op, &s->lines));
    V k = cg_lines_warp(c, s->op, &s->lines);

    for (uint32_t line = 0; line < s->lines.len; line++) {
        V number = cg_lines_number(c, s->op, &s->lines, line);

        for (uint32_t b = 0; b < s->blocks; b += s->packed ? 2 : 1) {
            const Tuple *t = &totals[line * s->blocks + b];
            Tuple x = s->packed ? pack(c, &t[0], &t[1]) : t[0];

            for (uint32_t i = 0; i < s->n; i++)
                cg_store_scratch(c, x.at[i], partial(c, s, i, number, b, k));
        }
    }
    cg_guard_end(c, join);
}

static Tuple read_total(Cg *c, const Scan *s, V number, uint32_t block, V k) {
    Tuple t = {{0}};

    for (uint32_t i = 0; i < s->n; i++)
        t.at[i] =
            cg_load_scratch(c, LLVMTypeOf(s->in[i].at[0]), partial(c, s, i, number, block, k));
    return t;
}

/* The prefix of this thread's warp in one block, by going through all warps; *total is the
 * block's. */
static Prefix prefix_by_walk(Cg *c, const Scan *s, V number, uint32_t block, Tuple *total) {
    uint32_t n = warps_along(s);
    V own = cg_lines_warp(c, s->op, &s->lines);
    Prefix prefix = {{{0}}, NULL};

    for (uint32_t i = 0; i < n && !c->failed; i++) {
        uint32_t k = s->reverse ? n - 1 - i : i;
        Tuple x = read_total(c, s, number, block, cg_i32(c, k));

        *total = i ? combine(c, s, total, &x) : x;
        if (i + 1 == n)
            break;
        V before = LLVMBuildICmp(c->b, s->reverse ? LLVMIntULT : LLVMIntUGT, own, cg_i32(c, k), "");
        prefix.x = i ? choose(c, s, before, total, &prefix.x) : *total;
        prefix.there = i ? prefix.there : before;
    }
    return prefix;
}

/* The same, with one warp's total in each lane. */
static Prefix prefix_by_lanes(Cg *c, const Scan *s, uint32_t block, Tuple *total) {
    static const uint8_t bits[CG_WARP_BITS] = {0, 1, 2, 3, 4};
    V lane = cg_thread(c, s->op)->lane, own = cg_lines_warp(c, s->op, &s->lines);
    V k = LLVMBuildAnd(c->b, lane, cg_i32(c, warps_along(s) - 1), "");

    *total = read_total(c, s, cg_i32(c, 0), block, k);
    if (scans_as_sum(c, s)) {
        Prefix sum = {{{0}}, always(c)};
        sum.x.at[0] = cg_sum_before_warp(c, s->op, warps_along(s), s->reverse, own, total->at[0],
                                         &total->at[0]);
        return sum;
    }
    Prefix prefix = scan_lanes(c, s, bits, s->lines.n_warp_bits, total);
    prefix.x = shuffle(c, s, "idx", &prefix.x, own);
    V first = cg_i32(c, s->reverse ? warps_along(s) - 1 : 0);
    prefix.there = LLVMBuildICmp(c->b, LLVMIntNE, own, first, "");
    return prefix;
}

static Prefix warp_prefix(Cg *c, const Scan *s, uint32_t line, uint32_t block, Tuple *total) {
    enum { FEW = 4 };

    if (s->lines.n_warp_bits == 0) {
        Prefix none = {{{0}}, NULL};
        return none;
    }
    if (!s->lines.slice && warps_along(s) > FEW)
        return prefix_by_lanes(c, s, block, total);
    return prefix_by_walk(c, s, cg_lines_number(c, s->op, &s->lines, line), block, total);
}

/* Of every block of a line, in scan order. */
static void warp_prefixes(Cg *c, const Scan *s, uint32_t line, Tuple *totals, Prefix *prefixes) {
    bool pairs = s->packed && s->lines.n_warp_bits;

    for (uint32_t b = 0; b < s->blocks && !c->failed; b += pairs ? 2 : 1) {
        /* blocks are numbered in scan order here, and by coordinate in scratch */
        uint32_t number = s->reverse ? s->blocks - 1 - b : b;
        Prefix p = warp_prefix(c, s, line, number, &totals[b]);

        prefixes[b] = p;
        if (!pairs)
            continue;
        prefixes[b + 1].there = p.there;
        unpack(c, p.x.at[0], &prefixes[b].x, &prefixes[b + 1].x);
        unpack(c, totals[b].at[0], &totals[b], &totals[b + 1]);
    }
}

/* --- results --- */

/* Turns the inclusive scan of a run in `out` into the result, given what lies before the run. */
static void finish_run(Cg *c, const Scan *s, uint32_t line, uint32_t block, const Prefix *p) {
    for (uint32_t i = s->run; i-- > 0 && !c->failed;) {
        uint32_t reg = register_at(s, line, block, i);
        Tuple x;

        if (!s->exclusive) {
            x = load_regs(s, s->out, reg);
            x = after_prefix(c, s, p, &x);
        } else if (i) {
            x = load_regs(s, s->out, register_at(s, line, block, i - 1));
            x = after_prefix(c, s, p, &x);
        } else {
            x = p->x;
        }
        store_regs(s, s->out, reg, &x);
    }
}

/* An exclusive scan starts with its initial values. */
static Prefix first_prefix(Cg *c, const Scan *s) {
    Prefix p = {{{0}}, NULL};

    if (!s->exclusive)
        return p;
    for (uint32_t i = 0; i < s->n; i++)
        p.x.at[i] = s->init[i];
    p.there = always(c);
    return p;
}

/* `totals` and `prefixes` are of the blocks within the warp. */
static void finish_line(Cg *c, const Scan *s, uint32_t line, Tuple *totals, Prefix *prefixes) {
    Prefix before = first_prefix(c, s), all = {{{0}}, NULL};
    Prefix *warps = arena_array(c->arena, Prefix, s->blocks);

    warp_prefixes(c, s, line, totals, warps);
    for (uint32_t b = 0; b < s->blocks && !c->failed; b++) {
        Prefix run = join_prefixes(c, s, &before, &warps[b]);

        run = join_prefixes(c, s, &run, &prefixes[b]);
        finish_run(c, s, line, b, &run);
        before = extend(c, s, &before, &totals[b]);
        all = extend(c, s, &all, &totals[b]);
    }
    for (uint32_t i = 0; i < s->n; i++)
        s->total[i].at[line] = all.x.at[i];
}

static void copy_duplicates(const Scan *s) {
    uint32_t copies = layout_reg_copies(s->lines.layout);

    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t r = 0; r < s->out[i].len; r++)
            s->out[i].at[r] = s->out[i].at[r & ~copies];
}

static void scan(Cg *c, const Scan *s) {
    uint32_t n = s->lines.len * s->blocks;
    Tuple *totals = arena_array(c->arena, Tuple, n), *by_number = arena_array(c->arena, Tuple, n);
    Prefix *prefixes = arena_array(c->arena, Prefix, n);

    for (uint32_t line = 0; line < s->lines.len && !c->failed; line++) {
        Tuple *t = &totals[line * s->blocks];

        for (uint32_t b = 0; b < s->blocks && !c->failed; b++)
            t[b] = scan_run(c, s, line, b);
        scan_blocks(c, s, t, &prefixes[line * s->blocks]);
        for (uint32_t b = 0; b < s->blocks; b++)
            by_number[line * s->blocks + (s->reverse ? s->blocks - 1 - b : b)] = t[b];
    }
    if (s->lines.n_warp_bits && !c->failed) {
        write_totals(c, s, by_number);
        cg_barrier(c, s->op);
    }
    for (uint32_t line = 0; line < s->lines.len && !c->failed; line++)
        finish_line(c, s, line, &totals[line * s->blocks], &prefixes[line * s->blocks]);
    if (!c->failed)
        copy_duplicates(s);
}

/* --- the operation --- */

static bool open_scan(Cg *c, IrOp op, Scan *s) {
    *s = (Scan){.op = op,
                .reverse = ir_int(c->m, op, IR_KEY_REVERSE, 0) != 0,
                .exclusive = ir_int(c->m, op, IR_KEY_EXCLUSIVE, 0) != 0};
    s->n = ir_operand_count(c->m, op) / (s->exclusive ? 2 : 1);
    if (s->n > CG_MAX_TUPLE) {
        cg_unsupported(c, op, "%u tiles at once, at most %d", s->n, CG_MAX_TUPLE);
        return false;
    }
    if (!cg_lines(c, op, &s->lines))
        return false;
    if (!layout_scannable(s->lines.layout, s->lines.axis)) {
        cg_unsupported(c, op,
                       "a layout whose elements along the axis are not in the order of "
                       "registers, lanes and warps");
        return false;
    }
    s->blocks = scratch_scan_blocks(s->lines.layout, s->lines.axis);
    s->run = s->lines.regs_len / s->blocks;
    for (uint32_t i = 0; i < s->n; i++) {
        s->in[i] = cg_operand(c, op, i);
        s->out[i] = cg_new_regs(c, s->in[i].len);
        s->total[i] = cg_new_regs(c, s->lines.len);
        if (s->exclusive)
            s->init[i] = cg_operand(c, op, s->n + i).at[0];
    }
    s->flags = s->run == 1 && s->lines.n_lane_bits == CG_WARP_BITS && is_flags(c, s);
    s->packed = !s->flags && can_pack(c, s);
    return true;
}

void cg_scan(Cg *c, IrOp op) {
    Scan s;

    if (!open_scan(c, op, &s))
        return;
    scan(c, &s);
    for (uint32_t i = 0; i < s.n; i++) {
        cg_set(c, ir_result(c->m, op, i), s.out[i]);
        if (ir_int(c->m, op, IR_KEY_TOTAL, 0))
            cg_set(c, ir_result(c->m, op, s.n + i), s.total[i]);
    }
}
