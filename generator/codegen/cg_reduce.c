/* Reductions: registers, then lanes by shuffles (or one redux or vote), then warps through scratch;
 * analysis/scratch.h fixes the steps. */
#include "codegen/cg_impl.h"

#include "analysis/axis_range.h"
#include "analysis/scratch.h"

typedef struct Reduce {
    IrOp op;
    uint32_t n; /* operands */
    CgLines lines;
    CgRegs in[CG_MAX_TUPLE], out[CG_MAX_TUPLE];
    IrKind kind[CG_MAX_TUPLE]; /* of operands that combine by one operation of their own */
    bool flags;                /* a sum of values that are 0 or 1, one of each lane */
} Reduce;

/* acc <- combine(acc, other). */
static void fold(Cg *c, const Reduce *r, V *acc, const V *other) {
    V sum[CG_MAX_TUPLE] = {0};

    cg_combine(c, r->op, acc, other, sum);
    for (uint32_t i = 0; i < r->n && !c->failed; i++)
        acc[i] = sum[i];
}

/* --- within a thread --- */

/* A balanced tree over registers[lo .. hi) in their order. */
static void fold_range(Cg *c, const Reduce *r, const uint32_t *regs, uint32_t lo, uint32_t hi,
                       V *out) {
    V right[CG_MAX_TUPLE];

    if (hi - lo == 1) {
        for (uint32_t i = 0; i < r->n; i++)
            out[i] = r->in[i].at[regs[lo]];
        return;
    }
    uint32_t mid = lo + (hi - lo) / 2;
    fold_range(c, r, regs, lo, mid, out);
    fold_range(c, r, regs, mid, hi, right);
    fold(c, r, out, right);
}

/* --- within a warp --- */

static const char *redux_name(IrKind kind) {
    switch ((int)kind) {
    case IR_OP_ADD:
        return "llvm.nvvm.redux.sync.add";
    case IR_OP_AND:
        return "llvm.nvvm.redux.sync.and";
    case IR_OP_OR:
        return "llvm.nvvm.redux.sync.or";
    case IR_OP_XOR:
        return "llvm.nvvm.redux.sync.xor";
    case IR_OP_SMIN:
        return "llvm.nvvm.redux.sync.min";
    case IR_OP_SMAX:
        return "llvm.nvvm.redux.sync.max";
    case IR_OP_UMIN:
        return "llvm.nvvm.redux.sync.umin";
    case IR_OP_UMAX:
        return "llvm.nvvm.redux.sync.umax";
    default:
        return NULL;
    }
}

static V vote(Cg *c, IrKind kind, V x) {
    V args[2] = {cg_i32(c, CG_FULL_MASK), x};

    return cg_intrinsic(c, kind == IR_OP_OR ? "llvm.nvvm.vote.any.sync" : "llvm.nvvm.vote.all.sync",
                        NULL, 0, args, 2);
}

static bool has_redux(const Cg *c, LLVMTypeRef t, IrKind kind) {
    return t == c->i32 && redux_name(kind) && c->target->sm >= 80 && cg_uses(c, CG_REDUX);
}

static bool has_vote(const Cg *c, LLVMTypeRef t, IrKind kind) {
    return t == c->i1 && (kind == IR_OP_OR || kind == IR_OP_AND) && cg_uses(c, CG_REDUX);
}

static V count_lanes(Cg *c, V x) {
    V ballot = cg_ballot(c, LLVMBuildICmp(c->b, LLVMIntNE, x, cg_i32(c, 0), ""));

    return cg_intrinsic(c, "llvm.ctpop", &c->i32, 1, &ballot, 1);
}

/* The whole warp in one instruction an operand, where there is one for each. */
static bool fold_warp_at_once(Cg *c, const Reduce *r, V *acc) {
    for (uint32_t i = 0; i < r->n; i++)
        if (!has_redux(c, LLVMTypeOf(acc[i]), r->kind[i]) &&
            !has_vote(c, LLVMTypeOf(acc[i]), r->kind[i]))
            return false;
    for (uint32_t i = 0; i < r->n; i++) {
        V args[2] = {acc[i], cg_i32(c, CG_FULL_MASK)};

        acc[i] = LLVMTypeOf(acc[i]) == c->i1
                     ? vote(c, r->kind[i], acc[i])
                     : cg_intrinsic(c, redux_name(r->kind[i]), NULL, 0, args, 2);
    }
    return true;
}

static void fold_lanes(Cg *c, const Reduce *r, const uint8_t *bits, uint8_t n_bits, V *acc) {
    if (n_bits == CG_WARP_BITS && fold_warp_at_once(c, r, acc))
        return;
    for (uint8_t b = 0; b < n_bits && !c->failed; b++) {
        V other[CG_MAX_TUPLE];

        for (uint32_t i = 0; i < r->n; i++)
            other[i] = cg_shuffle(c, "bfly", acc[i], cg_i32(c, 1u << bits[b]));
        fold(c, r, acc, other);
    }
}

/* --- across warps --- */

/* Address of partial k of line `number`, operand i. */
static V partial(Cg *c, const Reduce *r, uint32_t i, V number, V k) {
    uint32_t warps = 1u << r->lines.n_warp_bits;
    uint32_t bytes = cg_scratch_bytes(c, LLVMTypeOf(r->in[i].at[0]));
    V at = LLVMBuildNUWMul(c->b, number, cg_i32(c, warps), "");

    at = LLVMBuildNUWAdd(c->b, at, k, "");
    at = LLVMBuildNUWMul(c->b, at, cg_i32(c, bytes), "");
    at = LLVMBuildNUWAdd(c->b, at, cg_i32(c, scratch_part(c->m, r->op, i)), "");
    return cg_scratch(c, r->op, at);
}

static void write_partials(Cg *c, const Reduce *r) {
    LLVMBasicBlockRef join = cg_guard_begin(c, cg_lines_writer(c, r->op, &r->lines));
    V k = cg_lines_warp(c, r->op, &r->lines);

    for (uint32_t s = 0; s < r->lines.len; s++) {
        if (r->lines.slice && !cg_owns_reg(layout_get(ir_layouts(c->m), r->lines.slice), s))
            continue;
        V number = cg_lines_number(c, r->op, &r->lines, s);
        for (uint32_t i = 0; i < r->n; i++)
            cg_store_scratch(c, r->out[i].at[s], partial(c, r, i, number, k));
    }
    cg_guard_end(c, join);
}

/* `count` neighbours at ptr, in accesses of up to 16 bytes. */
static void load_row(Cg *c, LLVMTypeRef t, V ptr, uint32_t count, V *out) {
    LLVMTypeRef word = t == c->i1 ? c->i8 : t;
    uint32_t bytes = cg_scratch_bytes(c, t), chunk = 16 / bytes < count ? 16 / bytes : count;

    for (uint32_t k = 0; k < count; k += chunk) {
        V offset = cg_i32(c, k * bytes), at = LLVMBuildGEP2(c->b, c->i8, ptr, &offset, 1, "");
        V row = cg_load_at(c, LLVMVectorType(word, chunk), at, chunk * bytes);

        for (uint32_t e = 0; e < chunk; e++) {
            V x = LLVMBuildExtractElement(c->b, row, cg_i32(c, e), "");

            out[k + e] =
                t == c->i1 ? LLVMBuildICmp(c->b, LLVMIntNE, x, LLVMConstNull(c->i8), "") : x;
        }
    }
}

/* Every thread combines all partials of one line, in order. */
static void read_line(Cg *c, const Reduce *r, uint32_t s, V *acc) {
    uint32_t warps = 1u << r->lines.n_warp_bits;
    V number = cg_lines_number(c, r->op, &r->lines, s);
    V *row[CG_MAX_TUPLE];

    for (uint32_t i = 0; i < r->n; i++) {
        row[i] = arena_array(c->arena, V, warps);
        load_row(c, LLVMTypeOf(r->in[i].at[0]), partial(c, r, i, number, cg_i32(c, 0)), warps,
                 row[i]);
        acc[i] = row[i][0];
    }
    for (uint32_t k = 1; k < warps && !c->failed; k++) {
        V other[CG_MAX_TUPLE];

        for (uint32_t i = 0; i < r->n; i++)
            other[i] = row[i][k];
        fold(c, r, acc, other);
    }
}

/* Combining a partial twice changes nothing, so a whole warp may combine fewer than 32. */
static bool repeats_harmlessly(const Reduce *r) {
    for (uint32_t i = 0; i < r->n; i++)
        if (!redux_name(r->kind[i]) || r->kind[i] == IR_OP_ADD || r->kind[i] == IR_OP_XOR)
            return false;
    return true;
}

/* Where the whole warp sums in one instruction, lanes without a partial of their own add 0. */
static bool clear_repeats(Cg *c, const Reduce *r, uint32_t warps, V *acc) {
    for (uint32_t i = 0; i < r->n; i++)
        if (!has_redux(c, LLVMTypeOf(acc[i]), r->kind[i]) ||
            (r->kind[i] != IR_OP_ADD && r->kind[i] != IR_OP_XOR))
            return false;
    V first = LLVMBuildICmp(c->b, LLVMIntULT, cg_thread(c, r->op)->lane, cg_i32(c, warps), "");
    for (uint32_t i = 0; i < r->n; i++)
        acc[i] = LLVMBuildSelect(c->b, first, acc[i], cg_i32(c, 0), "");
    return true;
}

/* A single line with many partials: each lane loads one, and lanes combine. */
static void read_by_lanes(Cg *c, const Reduce *r, V *acc) {
    static const uint8_t bits[CG_WARP_BITS] = {0, 1, 2, 3, 4};
    uint32_t warps = 1u << r->lines.n_warp_bits;
    V k = LLVMBuildAnd(c->b, cg_thread(c, r->op)->lane, cg_i32(c, warps - 1), "");

    for (uint32_t i = 0; i < r->n; i++)
        acc[i] = cg_load_scratch(c, LLVMTypeOf(r->in[i].at[0]), partial(c, r, i, cg_i32(c, 0), k));
    bool whole = warps == CG_WARP || repeats_harmlessly(r) || clear_repeats(c, r, warps, acc);
    fold_lanes(c, r, bits, whole ? CG_WARP_BITS : r->lines.n_warp_bits, acc);
}

static void combine_warps(Cg *c, const Reduce *r) {
    enum { FEW = 4 }; /* partials that are loaded in one access */

    write_partials(c, r);
    cg_barrier(c, r->op);
    for (uint32_t s = 0; s < r->lines.len && !c->failed; s++) {
        V acc[CG_MAX_TUPLE] = {0};

        if (!r->lines.slice && 1u << r->lines.n_warp_bits > FEW)
            read_by_lanes(c, r, acc);
        else
            read_line(c, r, s, acc);
        for (uint32_t i = 0; i < r->n; i++)
            r->out[i].at[s] = acc[i];
    }
}

/* --- the operation --- */

static bool open_reduce(Cg *c, IrOp op, Reduce *r) {
    *r = (Reduce){.op = op, .n = ir_operand_count(c->m, op)};
    if (r->n > CG_MAX_TUPLE) {
        cg_unsupported(c, op, "%u tiles at once, at most %d", r->n, CG_MAX_TUPLE);
        return false;
    }
    if (!cg_lines(c, op, &r->lines))
        return false;
    for (uint32_t i = 0; i < r->n; i++) {
        IrType t = ir_value_type(c->m, ir_result(c->m, op, i));

        r->kind[i] = cg_combine_kind(c, op, i);
        r->in[i] = cg_operand(c, op, i);
        r->out[i] = cg_new_regs(c, r->lines.len);
        if (r->lines.slice && ir_type(c->m, t)->layout != r->lines.slice) {
            cg_unsupported(c, op, "a result whose layout is not the operand's without the axis");
            return false;
        }
    }
    if (r->n == 1 && r->kind[0] == IR_OP_ADD && LLVMTypeOf(r->in[0].at[0]) == c->i32 &&
        r->lines.regs_len == 1 && r->lines.n_lane_bits == CG_WARP_BITS) {
        Range range = range_of(c->m, ir_operand(c->m, op, 0));
        r->flags = range.lo >= 0 && range.hi <= 1;
    }
    return true;
}

void cg_reduce(Cg *c, IrOp op) {
    Reduce r;

    if (!open_reduce(c, op, &r))
        return;
    for (uint32_t s = 0; s < r.lines.len && !c->failed; s++) {
        V acc[CG_MAX_TUPLE] = {0};

        fold_range(c, &r, r.lines.regs[s], 0, r.lines.regs_len, acc);
        if (r.flags)
            acc[0] = count_lanes(c, acc[0]);
        else
            fold_lanes(c, &r, r.lines.lane_bits, r.lines.n_lane_bits, acc);
        for (uint32_t i = 0; i < r.n; i++)
            r.out[i].at[s] = acc[i];
    }
    if (r.lines.n_warp_bits && !c->failed)
        combine_warps(c, &r);
    for (uint32_t i = 0; i < r.n; i++)
        cg_set(c, ir_result(c->m, op, i), r.out[i]);
}
