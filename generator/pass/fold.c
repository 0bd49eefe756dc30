/* Constant evaluation of integers and comparisons, and the choice of evaluator. */
#include "pass/fold.h"

#include <math.h>

__extension__ typedef unsigned __int128 Wide;

static uint64_t as_unsigned(IrElem e, int64_t x) {
    uint32_t bits = ir_elem_bits(e);
    return bits >= 64 ? (uint64_t)x : (uint64_t)x & ((UINT64_C(1) << bits) - 1);
}

/* Of type i1, true is -1 to signed operations. */
static int64_t as_signed(IrElem e, int64_t x) {
    return e == IR_I1 ? -x : x;
}

static int64_t shift(IrKind kind, IrElem e, uint64_t x, int64_t sx, uint64_t amount) {
    uint32_t bits = ir_elem_bits(e);
    bool out = amount >= bits;
    if (kind == IR_OP_ASHR)
        return sx >> (out ? bits - 1 : (uint32_t)amount);
    if (out)
        return 0;
    return (int64_t)(kind == IR_OP_SHL ? x << amount : x >> amount);
}

static int64_t leading_zeros(IrElem e, uint64_t x) {
    int64_t n = ir_elem_bits(e);
    for (; x; x >>= 1)
        n--;
    return n;
}

static int64_t set_bits(uint64_t x) {
    int64_t n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

static bool divide(IrKind kind, IrElem e, int64_t a, int64_t b, int64_t *out) {
    uint64_t x = as_unsigned(e, a), y = as_unsigned(e, b);
    int64_t sa = as_signed(e, a), sb = as_signed(e, b);
    bool is_signed = kind == IR_OP_SDIV || kind == IR_OP_SREM;
    if (!y)
        return false;
    if (is_signed && sb == -1) { /* the only quotient that can overflow */
        bool least = ir_wrap_int(e, (int64_t)(0 - (uint64_t)sa)) == ir_wrap_int(e, sa) && sa;
        *out = kind == IR_OP_SDIV ? (int64_t)(0 - (uint64_t)sa) : 0;
        return !least;
    }
    switch (kind) {
    case IR_OP_SDIV:
        *out = sa / sb;
        return true;
    case IR_OP_SREM:
        *out = sa % sb;
        return true;
    case IR_OP_UDIV:
        *out = (int64_t)(x / y);
        return true;
    default:
        *out = (int64_t)(x % y);
        return true;
    }
}

static bool evaluate(IrKind kind, IrElem e, const int64_t *in, int64_t *out) {
    uint64_t x = as_unsigned(e, in[0]), y = as_unsigned(e, in[1]);
    int64_t sx = as_signed(e, in[0]), sy = as_signed(e, in[1]);
    switch (kind) {
    case IR_OP_ADD:
        *out = (int64_t)(x + y);
        return true;
    case IR_OP_SUB:
        *out = (int64_t)(x - y);
        return true;
    case IR_OP_MUL:
        *out = (int64_t)(x * y);
        return true;
    case IR_OP_SDIV:
    case IR_OP_UDIV:
    case IR_OP_SREM:
    case IR_OP_UREM:
        return divide(kind, e, in[0], in[1], out);
    case IR_OP_UMULHI:
        *out = (int64_t)(uint64_t)((Wide)x * y >> ir_elem_bits(e));
        return true;
    case IR_OP_AND:
        *out = (int64_t)(x & y);
        return true;
    case IR_OP_OR:
        *out = (int64_t)(x | y);
        return true;
    case IR_OP_XOR:
        *out = (int64_t)(x ^ y);
        return true;
    case IR_OP_SHL:
    case IR_OP_LSHR:
    case IR_OP_ASHR:
        *out = shift(kind, e, x, sx, y);
        return true;
    case IR_OP_SMIN:
        *out = sx < sy ? sx : sy;
        return true;
    case IR_OP_SMAX:
        *out = sx > sy ? sx : sy;
        return true;
    case IR_OP_UMIN:
        *out = (int64_t)(x < y ? x : y);
        return true;
    case IR_OP_UMAX:
        *out = (int64_t)(x > y ? x : y);
        return true;
    case IR_OP_POPC:
        *out = set_bits(x);
        return true;
    case IR_OP_CLZ:
        *out = leading_zeros(e, x);
        return true;
    default:
        return false;
    }
}

bool fold_int(IrKind kind, IrElem e, const int64_t *in, int64_t *out) {
    if (!evaluate(kind, e, in, out))
        return false;
    *out = ir_wrap_int(e, *out);
    return true;
}

bool fold_icmp(int64_t cmp, IrElem e, int64_t a, int64_t b) {
    uint64_t x = as_unsigned(e, a), y = as_unsigned(e, b);
    int64_t sx = as_signed(e, a), sy = as_signed(e, b);
    switch (cmp) {
    case IR_CMP_EQ:
        return x == y;
    case IR_CMP_NE:
        return x != y;
    case IR_CMP_SLT:
        return sx < sy;
    case IR_CMP_SLE:
        return sx <= sy;
    case IR_CMP_SGT:
        return sx > sy;
    case IR_CMP_SGE:
        return sx >= sy;
    case IR_CMP_ULT:
        return x < y;
    case IR_CMP_ULE:
        return x <= y;
    case IR_CMP_UGT:
        return x > y;
    default:
        return x >= y;
    }
}

bool fold_const_of(const IrModule *m, IrValue v, FoldValue *out) {
    *out = (FoldValue){0};
    return ir_const_int(m, v, &out->i) || ir_const_float(m, v, &out->f);
}

bool fold_op(const IrModule *m, IrOp op, FoldValue *out) {
    FoldValue in[3] = {{0}};
    uint32_t n = ir_operand_count(m, op);
    IrKind kind = ir_kind(m, op);
    if (!n || n > 3 || ir_result_count(m, op) != 1 || !ir_trait(m, op, IR_TRAIT_ELEMENTWISE))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!fold_const_of(m, ir_operand(m, op, i), &in[i]))
            return false;
    IrElem from = ir_elem(m, ir_value_type(m, ir_operand(m, op, 0)));
    IrElem to = ir_elem(m, ir_value_type(m, ir_result(m, op, 0)));
    int64_t ints[3] = {in[0].i, in[1].i, in[2].i};
    double floats[3] = {in[0].f, in[1].f, in[2].f};
    *out = (FoldValue){0};
    switch (kind) {
    case IR_OP_ICMP:
        out->i = fold_icmp(ir_int(m, op, IR_KEY_CMP, 0), from, ints[0], ints[1]);
        return true;
    case IR_OP_FCMP:
        out->i = fold_fcmp(ir_int(m, op, IR_KEY_CMP, 0), floats[0], floats[1]);
        return true;
    case IR_OP_SELECT:
        *out = in[0].i ? in[1] : in[2];
        return true;
    case IR_OP_TRUNC:
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
    case IR_OP_FPTRUNC:
    case IR_OP_FPEXT:
    case IR_OP_FPTOSI:
    case IR_OP_FPTOUI:
    case IR_OP_SITOFP:
    case IR_OP_UITOFP:
    case IR_OP_BITCAST:
        return to != IR_ELEM_NONE &&
               fold_cast(kind, ir_int(m, op, IR_KEY_ROUND, 0), from, to, in[0], out);
    default:
        return ir_elem_is_float(to) ? fold_float(kind, to, floats, &out->f)
                                    : fold_int(kind, to, ints, &out->i);
    }
}
