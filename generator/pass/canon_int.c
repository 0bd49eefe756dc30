/* Canonicalisation of integer arithmetic, comparison and selection. Constants are right operands by
 * the time these run, where the operation commutes. */
#include "pass/canon.h"

enum { NONNEGATIVE_DEPTH = 6 };

static IrValue lhs(const Canon *c, IrOp op) {
    return ir_operand(c->m, op, 0);
}

static IrValue rhs(const Canon *c, IrOp op) {
    return ir_operand(c->m, op, 1);
}

static IrElem elem(const Canon *c, IrOp op) {
    return ir_elem(c->m, ir_value_type(c->m, lhs(c, op)));
}

static int64_t all_ones(const Canon *c, IrOp op) {
    return ir_wrap_int(elem(c, op), -1);
}

/* (x K c1) K c2 -> x K (c1 K c2), for associative K. */
static bool reassociate(Canon *c, IrOp op) {
    IrKind kind = ir_kind(c->m, op);
    IrValue x = canon_through(c->m, lhs(c, op), kind, 0);
    int64_t in[2], out;
    if (!x || !ir_const_int(c->m, canon_through(c->m, lhs(c, op), kind, 1), &in[0]) ||
        !ir_const_int(c->m, rhs(c, op), &in[1]) || !fold_int(kind, elem(c, op), in, &out))
        return false;
    IrBuilder b = canon_at(c, op);
    IrValue folded = ir_build_int(&b, ir_value_type(c->m, x), out);
    canon_set_operand(c, op, 0, x);
    canon_set_operand(c, op, 1, folded);
    return true;
}

/* --- arithmetic --- */

bool canon_add(Canon *c, IrOp op) {
    if (canon_is_int(c->m, rhs(c, op), 0))
        return canon_replace(c, op, lhs(c, op));
    /* (a - b) + b -> a */
    if (canon_through(c->m, lhs(c, op), IR_OP_SUB, 1) == rhs(c, op))
        return canon_replace(c, op, canon_through(c->m, lhs(c, op), IR_OP_SUB, 0));
    return reassociate(c, op);
}

bool canon_sub(Canon *c, IrOp op) {
    IrValue x = lhs(c, op), y = rhs(c, op);
    int64_t k;
    if (x == y)
        return canon_to_int(c, op, 0);
    if (ir_const_int(c->m, y, &k)) { /* x - k -> x + -k; also covers k = 0 */
        IrBuilder b = canon_at(c, op);
        IrValue minus = ir_build_int(&b, ir_value_type(c->m, y), (int64_t)(0 - (uint64_t)k));
        return canon_to2(c, op, IR_OP_ADD, x, minus);
    }
    /* (a + b) - b -> a, (a + b) - a -> b */
    for (uint32_t i = 0; i < 2; i++)
        if (canon_through(c->m, x, IR_OP_ADD, 1 - i) == y)
            return canon_replace(c, op, canon_through(c->m, x, IR_OP_ADD, i));
    return false;
}

bool canon_mul(Canon *c, IrOp op) {
    if (canon_is_int(c->m, rhs(c, op), 0))
        return canon_replace(c, op, rhs(c, op));
    if (canon_is_int(c->m, rhs(c, op), 1))
        return canon_replace(c, op, lhs(c, op));
    return reassociate(c, op);
}

static int log2_of(int64_t k) {
    int n = 0;
    if (k <= 0 || k & (k - 1))
        return -1;
    while (k >> n != 1)
        n++;
    return n;
}

/* A divisor that is a power of two, for operands that signed and unsigned division treat alike. */
static int shift_for(const Canon *c, IrOp op) {
    int64_t k;
    bool is_unsigned = ir_kind(c->m, op) == IR_OP_UDIV || ir_kind(c->m, op) == IR_OP_UREM;
    if (!ir_const_int(c->m, rhs(c, op), &k) || elem(c, op) == IR_I1 ||
        (!is_unsigned && !canon_nonnegative(c->m, lhs(c, op))))
        return -1;
    return log2_of(k);
}

bool canon_div(Canon *c, IrOp op) {
    if (canon_is_int(c->m, rhs(c, op), 1) && elem(c, op) != IR_I1)
        return canon_replace(c, op, lhs(c, op));
    int n = shift_for(c, op);
    if (n < 0)
        return false;
    IrBuilder b = canon_at(c, op);
    IrValue amount = ir_build_int(&b, ir_value_type(c->m, lhs(c, op)), n);
    return canon_to2(c, op, IR_OP_LSHR, lhs(c, op), amount);
}

bool canon_rem(Canon *c, IrOp op) {
    int64_t k = 0;
    if (canon_is_int(c->m, rhs(c, op), 1))
        return canon_to_int(c, op, 0);
    if (shift_for(c, op) < 0)
        return false;
    ir_const_int(c->m, rhs(c, op), &k);
    IrBuilder b = canon_at(c, op);
    IrValue mask = ir_build_int(&b, ir_value_type(c->m, lhs(c, op)), k - 1);
    return canon_to2(c, op, IR_OP_AND, lhs(c, op), mask);
}

/* --- bits --- */

bool canon_and(Canon *c, IrOp op) {
    if (lhs(c, op) == rhs(c, op) || canon_is_int(c->m, rhs(c, op), all_ones(c, op)))
        return canon_replace(c, op, lhs(c, op));
    if (canon_is_int(c->m, rhs(c, op), 0))
        return canon_replace(c, op, rhs(c, op));
    return reassociate(c, op);
}

bool canon_or(Canon *c, IrOp op) {
    if (lhs(c, op) == rhs(c, op) || canon_is_int(c->m, rhs(c, op), 0))
        return canon_replace(c, op, lhs(c, op));
    if (canon_is_int(c->m, rhs(c, op), all_ones(c, op)))
        return canon_replace(c, op, rhs(c, op));
    return reassociate(c, op);
}

/* The comparison that holds exactly when `cmp` does not. */
static int inverse_of(int64_t cmp) {
    static const uint8_t pairs[][2] = {
        {IR_CMP_EQ, IR_CMP_NE},    {IR_CMP_SLT, IR_CMP_SGE},  {IR_CMP_SLE, IR_CMP_SGT},
        {IR_CMP_ULT, IR_CMP_UGE},  {IR_CMP_ULE, IR_CMP_UGT},  {IR_CMP_OEQ, IR_CMP_UNE},
        {IR_CMP_ONE, IR_CMP_UEQ},  {IR_CMP_OLT, IR_CMP_FUGE}, {IR_CMP_OLE, IR_CMP_FUGT},
        {IR_CMP_OGT, IR_CMP_FULE}, {IR_CMP_OGE, IR_CMP_FULT}, {IR_CMP_ORD, IR_CMP_UNO},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < 2; k++)
            if (pairs[i][k] == cmp)
                return pairs[i][1 - k];
    return -1;
}

/* not (a < b) -> a >= b */
static bool invert_comparison(Canon *c, IrOp op) {
    IrOp x = ir_value_op(c->m, lhs(c, op));
    if (!x || (ir_kind(c->m, x) != IR_OP_ICMP && ir_kind(c->m, x) != IR_OP_FCMP))
        return false;
    IrBuilder b = canon_at(c, op);
    int cmp = inverse_of(ir_int(c->m, x, IR_KEY_CMP, 0));
    return cmp >= 0 &&
           canon_replace(c, op, ir_build_cmp(&b, ir_kind(c->m, x), cmp, lhs(c, x), rhs(c, x)));
}

bool canon_xor(Canon *c, IrOp op) {
    if (lhs(c, op) == rhs(c, op))
        return canon_to_int(c, op, 0);
    if (canon_is_int(c->m, rhs(c, op), 0))
        return canon_replace(c, op, lhs(c, op));
    if (elem(c, op) == IR_I1 && canon_is_int(c->m, rhs(c, op), 1) && invert_comparison(c, op))
        return true;
    return reassociate(c, op);
}

bool canon_shift(Canon *c, IrOp op) {
    int64_t amount, width = ir_elem_bits(elem(c, op));
    IrKind kind = ir_kind(c->m, op);
    if (!ir_const_int(c->m, rhs(c, op), &amount))
        return false;
    if (!amount)
        return canon_replace(c, op, lhs(c, op));
    bool out = amount < 0 || amount >= width; /* negative: large and unsigned */
    if (out && kind != IR_OP_ASHR)
        return canon_to_int(c, op, 0);
    if (out || kind != IR_OP_ASHR || !canon_nonnegative(c->m, lhs(c, op)))
        return false;
    return canon_to2(c, op, IR_OP_LSHR, lhs(c, op), rhs(c, op));
}

bool canon_minmax(Canon *c, IrOp op) {
    IrElem e = elem(c, op);
    IrKind kind = ir_kind(c->m, op);
    int64_t k, in[2], kept;
    uint32_t width = ir_elem_bits(e);
    if (lhs(c, op) == rhs(c, op))
        return canon_replace(c, op, lhs(c, op));
    if (!ir_const_int(c->m, rhs(c, op), &k))
        return false;
    /* k is an extreme when it absorbs, or never beats, every other extreme */
    bool is_signed = kind == IR_OP_SMIN || kind == IR_OP_SMAX;
    int64_t low = is_signed ? (int64_t)(UINT64_C(1) << (width - 1)) : 0;
    int64_t ends[2] = {ir_wrap_int(e, low), ir_wrap_int(e, ~low)};
    for (int i = 0; i < 2; i++) {
        in[0] = ends[i];
        in[1] = ends[1 - i];
        if (k != ends[i] || !fold_int(kind, e, in, &kept))
            continue;
        return canon_replace(c, op, kept == k ? rhs(c, op) : lhs(c, op));
    }
    return reassociate(c, op);
}

/* --- what is known of a value --- */

static bool nonnegative(const IrModule *m, IrValue v, int depth);

static bool nonnegative_op(const IrModule *m, IrOp op, int depth) {
    int64_t k = 0;
    IrValue x = ir_operand_count(m, op) ? ir_operand(m, op, 0) : 0;
    IrValue y = ir_operand_count(m, op) > 1 ? ir_operand(m, op, 1) : 0;
    switch (ir_kind(m, op)) {
    case IR_OP_PROGRAM_ID:
    case IR_OP_NUM_PROGRAMS:
    case IR_OP_POPC:
    case IR_OP_CLZ:
    case IR_OP_ZEXT:
    case IR_OP_HISTOGRAM:
        return true;
    case IR_OP_ARANGE:
        return ir_int(m, op, IR_KEY_START, -1) >= 0;
    case IR_OP_LSHR:
        return (ir_const_int(m, y, &k) && k > 0) || nonnegative(m, x, depth);
    case IR_OP_AND:
    case IR_OP_SMAX:
        return nonnegative(m, x, depth) || nonnegative(m, y, depth);
    case IR_OP_OR:
    case IR_OP_XOR:
    case IR_OP_SMIN:
    case IR_OP_SDIV:
    case IR_OP_UDIV:
        return nonnegative(m, x, depth) && nonnegative(m, y, depth);
    case IR_OP_UREM:
        return nonnegative(m, y, depth); /* less than y, unless y is 0 */
    case IR_OP_SREM:
    case IR_OP_ASHR:
    case IR_OP_SEXT:
    case IR_OP_SPLAT:
    case IR_OP_BROADCAST:
    case IR_OP_EXPAND_DIMS:
    case IR_OP_RESHAPE:
    case IR_OP_TRANS:
    case IR_OP_CONVERT_LAYOUT:
    case IR_OP_FACT:
        return nonnegative(m, x, depth);
    case IR_OP_SELECT:
        return nonnegative(m, y, depth) && nonnegative(m, ir_operand(m, op, 2), depth);
    default:
        return false;
    }
}

static bool nonnegative(const IrModule *m, IrValue v, int depth) {
    int64_t k;
    IrOp op = ir_value_op(m, v);
    IrElem e = ir_elem(m, ir_value_type(m, v));
    if (e == IR_I1 || !depth)
        return false;
    if (ir_const_int(m, v, &k))
        return k >= 0;
    if (op)
        return nonnegative_op(m, op, depth - 1);
    /* an induction variable counts up from its lower bound */
    IrOp loop = ir_block_op(m, ir_value_block(m, v));
    return ir_kind(m, loop) == IR_OP_FOR && !ir_value_index(m, v) &&
           nonnegative(m, ir_operand(m, loop, 0), depth - 1);
}

bool canon_nonnegative(const IrModule *m, IrValue v) {
    return nonnegative(m, v, NONNEGATIVE_DEPTH);
}

/* --- comparison and selection --- */

static int mirror_of(int64_t cmp) {
    static const uint8_t mirrors[] = {
        [IR_CMP_EQ] = IR_CMP_EQ,   [IR_CMP_NE] = IR_CMP_NE,   [IR_CMP_SLT] = IR_CMP_SGT,
        [IR_CMP_SLE] = IR_CMP_SGE, [IR_CMP_SGT] = IR_CMP_SLT, [IR_CMP_SGE] = IR_CMP_SLE,
        [IR_CMP_ULT] = IR_CMP_UGT, [IR_CMP_ULE] = IR_CMP_UGE, [IR_CMP_UGT] = IR_CMP_ULT,
        [IR_CMP_UGE] = IR_CMP_ULE,
    };
    return mirrors[cmp];
}

/* Comparisons of i1, or of an extended i1, with a constant: x, or not x. */
static bool compare_truth(Canon *c, IrOp op, int64_t cmp, int64_t k) {
    IrValue x = lhs(c, op), inner = canon_through(c->m, x, IR_OP_ZEXT, 0);
    inner = inner ? inner : canon_through(c->m, x, IR_OP_SEXT, 0);
    inner = elem(c, op) == IR_I1 ? x : inner;
    if ((cmp != IR_CMP_EQ && cmp != IR_CMP_NE) || !inner ||
        ir_elem(c->m, ir_value_type(c->m, inner)) != IR_I1)
        return false;
    bool sign = canon_through(c->m, x, IR_OP_SEXT, 0) != 0;
    if (k != 0 && k != (sign ? -1 : 1))
        return canon_to_int(c, op, cmp == IR_CMP_NE);
    if ((cmp == IR_CMP_NE) == (k == 0))
        return canon_replace(c, op, inner);
    IrBuilder b = canon_at(c, op);
    IrValue yes = ir_build_int(&b, ir_value_type(c->m, inner), 1);
    return canon_to2(c, op, IR_OP_XOR, inner, yes);
}

/* Comparisons that the range of the left side decides. */
static bool compare_range(Canon *c, IrOp op, int64_t cmp, int64_t k) {
    bool known = false, truth = false;
    if (k == 0 && (cmp == IR_CMP_ULT || cmp == IR_CMP_UGE)) {
        known = true;
        truth = cmp == IR_CMP_UGE;
    } else if (((k <= 0 && (cmp == IR_CMP_SLT || cmp == IR_CMP_SGE)) ||
                (k < 0 && (cmp == IR_CMP_SLE || cmp == IR_CMP_SGT))) &&
               canon_nonnegative(c->m, lhs(c, op))) {
        known = true;
        truth = cmp == IR_CMP_SGE || cmp == IR_CMP_SGT;
    }
    return known && canon_to_int(c, op, truth);
}

bool canon_icmp(Canon *c, IrOp op) {
    int64_t cmp = ir_int(c->m, op, IR_KEY_CMP, 0), k;
    IrValue x = lhs(c, op), y = rhs(c, op);
    if (x == y)
        return canon_to_int(c, op, fold_icmp(cmp, IR_I32, 0, 0));
    if (ir_const_int(c->m, x, &k) && !ir_const_int(c->m, y, &k)) {
        ir_set_operand(c->m, op, 0, y);
        ir_set_operand(c->m, op, 1, x);
        ir_set_int(c->m, op, IR_KEY_CMP, mirror_of(cmp));
        return true;
    }
    return ir_const_int(c->m, y, &k) &&
           (compare_truth(c, op, cmp, k) || compare_range(c, op, cmp, k));
}

static bool select_of_truths(Canon *c, IrOp op) {
    IrModule *m = c->m;
    IrValue cond = ir_operand(m, op, 0), x = ir_operand(m, op, 1), y = ir_operand(m, op, 2);
    if (ir_value_type(m, cond) != ir_value_type(m, x))
        return false;
    if (canon_is_int(m, x, 1) && canon_is_int(m, y, 0))
        return canon_replace(c, op, cond);
    return canon_is_int(m, x, 0) && canon_is_int(m, y, 1) && canon_to2(c, op, IR_OP_XOR, cond, y);
}

/* An arm that is a select on the same condition is one of that select's arms. */
static bool select_again(Canon *c, IrOp op, uint32_t arm) {
    IrValue inner = ir_operand(c->m, op, arm);
    if (canon_through(c->m, inner, IR_OP_SELECT, 0) != ir_operand(c->m, op, 0))
        return false;
    canon_set_operand(c, op, arm, canon_through(c->m, inner, IR_OP_SELECT, arm));
    return true;
}

bool canon_select(Canon *c, IrOp op) {
    IrModule *m = c->m;
    IrValue cond = ir_operand(m, op, 0), x = ir_operand(m, op, 1), y = ir_operand(m, op, 2);
    int64_t k;
    if (x == y)
        return canon_replace(c, op, x);
    if (ir_const_int(m, cond, &k))
        return canon_replace(c, op, k ? x : y);
    IrValue flip = canon_through(m, cond, IR_OP_XOR, 1);
    if (flip && canon_is_int(m, flip, 1)) { /* not c */
        canon_set_operand(c, op, 0, canon_through(m, cond, IR_OP_XOR, 0));
        ir_set_operand(m, op, 1, y);
        ir_set_operand(m, op, 2, x);
        return true;
    }
    return select_of_truths(c, op) || select_again(c, op, 1) || select_again(c, op, 2);
}
