/* Verifiers of constants, shapes, arithmetic, comparison, conversion and launch facts. Shapes and
 * layouts of elementwise tiles were compared before; these look at kinds and elements. */
#include "ir/ir_verify.h"

#include <string.h>

static const IrTypeData *type_of_operand(const IrVerifier *v, IrOp op, uint32_t i) {
    return ir_type(v->m, ir_operand_type(v, op, i));
}

static const IrTypeData *type_of_result(const IrVerifier *v, IrOp op) {
    return ir_type(v->m, ir_result_type(v, op, 0));
}

static IrElem elem_of_operand(const IrVerifier *v, IrOp op, uint32_t i) {
    return ir_elem(v->m, ir_operand_type(v, op, i));
}

static bool is_int(IrElem e) {
    return e != IR_ELEM_NONE && !ir_elem_is_float(e);
}

static bool bad_operand(IrVerifier *v, IrOp op, uint32_t i, const char *expected) {
    ir_bad(v, op, "operand %u is %s, expected %s", i, ir_type_text(v, ir_operand_type(v, op, i)),
           expected);
    return false;
}

static void bad_result(IrVerifier *v, IrOp op, const char *expected) {
    ir_bad(v, op, "result is %s, expected %s", ir_type_text(v, ir_result_type(v, op, 0)), expected);
}

void ir_verify_any(IrVerifier *v, IrOp op) {
    (void)v;
    (void)op;
}

void ir_verify_none(IrVerifier *v, IrOp op) {
    (void)v;
    (void)op;
}

void ir_verify_same(IrVerifier *v, IrOp op) {
    static const IrKey keys[] = {IR_KEY_DIVISIBLE, IR_KEY_CONTIGUOUS, IR_KEY_CONSTANCY};
    uint32_t rank = type_of_operand(v, op, 0)->rank ? type_of_operand(v, op, 0)->rank : 1;
    ir_want_result(v, op, 0, ir_operand_type(v, op, 0));
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const IrAttrData *a = ir_attr(v->m, op, keys[k]);
        if (a && a->len != rank)
            ir_bad(v, op, "'%s' has %u numbers, expected one per dimension, %u",
                   ir_key_name(keys[k]), a->len, rank);
        for (uint32_t i = 0; a && i < a->len; i++)
            if (a->ints[i] < 1)
                ir_bad(v, op, "'%s' has %lld, expected at least 1", ir_key_name(keys[k]),
                       (long long)a->ints[i]);
    }
}

/* --- arithmetic --- */

/* All operands and the result have one type of the wanted class. */
static void verify_uniform(IrVerifier *v, IrOp op, bool floats) {
    IrElem e = elem_of_operand(v, op, 0);
    if (e == IR_ELEM_NONE || ir_elem_is_float(e) != floats) {
        bad_operand(v, op, 0, floats ? "floats" : "integers");
        return;
    }
    for (uint32_t i = 1; i < ir_operand_count(v->m, op); i++)
        if (!ir_want_operand(v, op, i, ir_operand_type(v, op, 0)))
            return;
    ir_want_result(v, op, 0, ir_operand_type(v, op, 0));
}

void ir_verify_int1(IrVerifier *v, IrOp op) {
    verify_uniform(v, op, false);
}

void ir_verify_int2(IrVerifier *v, IrOp op) {
    verify_uniform(v, op, false);
}

void ir_verify_float1(IrVerifier *v, IrOp op) {
    verify_uniform(v, op, true);
}

void ir_verify_float2(IrVerifier *v, IrOp op) {
    verify_uniform(v, op, true);
}

void ir_verify_float3(IrVerifier *v, IrOp op) {
    verify_uniform(v, op, true);
}

static void verify_compare(IrVerifier *v, IrOp op, int64_t low, int64_t high) {
    int64_t cmp = ir_int(v->m, op, IR_KEY_CMP, -1);
    if (cmp < low || cmp > high) {
        ir_bad(v, op, "comparison '%s' is not for these operands", ir_enum_text(IR_KEY_CMP, cmp));
        return;
    }
    if (ir_want_operand(v, op, 1, ir_operand_type(v, op, 0)))
        ir_want_result(v, op, 0, ir_i1_like(v, ir_operand_type(v, op, 0)));
}

void ir_verify_icmp(IrVerifier *v, IrOp op) {
    if (!is_int(elem_of_operand(v, op, 0)) && !ir_is_ptr(v->m, ir_operand_type(v, op, 0)))
        bad_operand(v, op, 0, "integers or pointers");
    else
        verify_compare(v, op, IR_CMP_EQ, IR_CMP_UGE);
}

void ir_verify_fcmp(IrVerifier *v, IrOp op) {
    if (!ir_elem_is_float(elem_of_operand(v, op, 0)))
        bad_operand(v, op, 0, "floats");
    else
        verify_compare(v, op, IR_CMP_OEQ, IR_CMP_FUGE);
}

void ir_verify_select(IrVerifier *v, IrOp op) {
    IrType t = ir_result_type(v, op, 0), cond = ir_operand_type(v, op, 0);
    if (elem_of_operand(v, op, 0) != IR_I1 || (ir_is_tile(v->m, cond) && cond != ir_i1_like(v, t)))
        bad_operand(v, op, 0, "i1, or i1 in the shape of the result");
    else if (ir_want_operand(v, op, 1, t))
        ir_want_operand(v, op, 2, t);
}

static bool cast_fits(const IrModule *m, IrKind kind, IrType from, IrType to) {
    IrElem a = ir_elem(m, from), b = ir_elem(m, to);
    const IrTypeData *p = ir_type(m, ir_elem_type(m, from)), *q = ir_type(m, ir_elem_type(m, to));
    uint32_t x = ir_elem_bits(a), y = ir_elem_bits(b);
    bool fa = ir_elem_is_float(a), fb = ir_elem_is_float(b), ia = is_int(a), ib = is_int(b);
    switch (kind) {
    case IR_OP_TRUNC:
        return ia && ib && x > y;
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
        return ia && ib && x < y;
    case IR_OP_FPTRUNC:
        return fa && fb && x >= y && a != b;
    case IR_OP_FPEXT:
        return fa && fb && x < y;
    case IR_OP_FPTOSI:
    case IR_OP_FPTOUI:
        return fa && ib;
    case IR_OP_SITOFP:
    case IR_OP_UITOFP:
        return ia && fb;
    case IR_OP_BITCAST:
        return p->kind == IR_PTR ? q->kind == IR_PTR && p->space == q->space : x && x == y;
    case IR_OP_PTRTOINT:
        return p->kind == IR_PTR && b == IR_I64;
    case IR_OP_INTTOPTR:
        return a == IR_I64 && q->kind == IR_PTR;
    default:
        return false;
    }
}

void ir_verify_cast(IrVerifier *v, IrOp op) {
    IrType from = ir_operand_type(v, op, 0), to = ir_result_type(v, op, 0);
    if (ir_is_tile(v->m, from) != ir_is_tile(v->m, to) ||
        !cast_fits(v->m, ir_kind(v->m, op), from, to))
        ir_bad(v, op, "does not convert %s to %s", ir_type_text(v, from), ir_type_text(v, to));
}

/* --- constants --- */

void ir_verify_const(IrVerifier *v, IrOp op) {
    IrElem e = ir_elem(v->m, ir_result_type(v, op, 0));
    if (e == IR_ELEM_NONE || type_of_result(v, op)->kind == IR_BUF) {
        bad_result(v, op, "a number or a tile of numbers");
        return;
    }
    bool floats = ir_elem_is_float(e);
    if (ir_has(v->m, op, IR_KEY_INT_VALUE) == floats ||
        ir_has(v->m, op, IR_KEY_FLOAT_VALUE) != floats) {
        ir_bad(v, op, "expected one %s value", floats ? "float" : "integer");
        return;
    }
    int64_t i = ir_int(v->m, op, IR_KEY_INT_VALUE, 0);
    double f = ir_float(v->m, op, IR_KEY_FLOAT_VALUE, 0), rounded = ir_round_float(e, f);
    if (!floats && ir_wrap_int(e, i) != i)
        ir_bad(v, op, "value %lld is no sign-extended %s", (long long)i, ir_elem_name(e));
    if (floats && memcmp(&f, &rounded, sizeof f) != 0)
        ir_bad(v, op, "value %.17g cannot be held by %s", f, ir_elem_name(e));
}

void ir_verify_pid(IrVerifier *v, IrOp op) {
    int64_t axis = ir_int(v->m, op, IR_KEY_AXIS, 0);
    if (axis < 0 || axis > 2)
        ir_bad(v, op, "axis %lld, expected 0 .. 2", (long long)axis);
    const IrTypeData *t = type_of_result(v, op);
    if (t->kind != IR_SCALAR || t->elem != IR_I32)
        bad_result(v, op, "i32");
}

void ir_verify_assume(IrVerifier *v, IrOp op) {
    if (elem_of_operand(v, op, 0) != IR_I1 || type_of_operand(v, op, 0)->kind == IR_BUF)
        bad_operand(v, op, 0, "i1 or a tile of i1");
}

/* --- shapes --- */

void ir_verify_arange(IrVerifier *v, IrOp op) {
    int64_t start = ir_int(v->m, op, IR_KEY_START, 0), end = ir_int(v->m, op, IR_KEY_END, 0);
    const IrTypeData *t = type_of_result(v, op);
    if (start < INT32_MIN || end > INT32_MAX || start >= end)
        ir_bad(v, op, "range %lld .. %lld is empty or not of i32", (long long)start,
               (long long)end);
    else if (t->kind != IR_TILE || t->rank != 1 || t->shape[0] != end - start ||
             ir_elem(v->m, ir_result_type(v, op, 0)) != IR_I32)
        ir_bad(v, op, "result is %s, expected tile<%lldxi32>",
               ir_type_text(v, ir_result_type(v, op, 0)), (long long)(end - start));
}

void ir_verify_splat(IrVerifier *v, IrOp op) {
    const IrTypeData *t = type_of_result(v, op);
    if (t->kind != IR_TILE)
        bad_result(v, op, "a tile");
    else
        ir_want_operand(v, op, 0, t->of);
}

/* Operand and result are tiles with one element type. */
static bool same_elem(IrVerifier *v, IrOp op) {
    const IrTypeData *s = type_of_operand(v, op, 0), *t = type_of_result(v, op);
    if (s->kind != IR_TILE)
        return bad_operand(v, op, 0, "a tile");
    if (t->kind == IR_TILE && t->of == s->of)
        return true;
    bad_result(v, op, "a tile with the operand's element");
    return false;
}

static void bad_shape(IrVerifier *v, IrOp op) {
    ir_bad(v, op, "shape of %s does not follow from %s", ir_type_text(v, ir_result_type(v, op, 0)),
           ir_type_text(v, ir_operand_type(v, op, 0)));
}

void ir_verify_broadcast(IrVerifier *v, IrOp op) {
    if (!same_elem(v, op))
        return;
    const IrTypeData *s = type_of_operand(v, op, 0), *t = type_of_result(v, op);
    bool ok = s->rank == t->rank;
    for (unsigned d = 0; ok && d < s->rank; d++)
        ok = s->shape[d] == t->shape[d] || s->shape[d] == 1;
    if (!ok)
        bad_shape(v, op);
}

void ir_verify_expand_dims(IrVerifier *v, IrOp op) {
    if (!same_elem(v, op))
        return;
    const IrTypeData *s = type_of_operand(v, op, 0), *t = type_of_result(v, op);
    int64_t axis = ir_int(v->m, op, IR_KEY_AXIS, 0);
    bool ok = t->rank == s->rank + 1 && axis >= 0 && axis <= s->rank;
    for (unsigned d = 0; ok && d < t->rank; d++)
        ok = t->shape[d] == (d == axis ? 1 : s->shape[d > axis ? d - 1 : d]);
    if (!ok)
        bad_shape(v, op);
}

void ir_verify_reshape(IrVerifier *v, IrOp op) {
    if (same_elem(v, op) && ir_tile_elems(v->m, ir_operand_type(v, op, 0)) !=
                                ir_tile_elems(v->m, ir_result_type(v, op, 0)))
        bad_shape(v, op);
}

void ir_verify_exchange(IrVerifier *v, IrOp op) {
    const IrTypeData *t = type_of_operand(v, op, 0);
    int64_t axis = ir_int(v->m, op, IR_KEY_AXIS, 0), mask = ir_int(v->m, op, IR_KEY_MASK, 0);
    ir_want_result(v, op, 0, ir_operand_type(v, op, 0));
    if (t->kind != IR_TILE || axis < 0 || axis >= t->rank) {
        ir_bad(v, op, "'axis' is %lld, expected a dimension of %s", (long long)axis,
               ir_type_text(v, ir_operand_type(v, op, 0)));
        return;
    }
    int64_t block = t->shape[axis] & -t->shape[axis];
    if (mask < 1 || mask >= block)
        ir_bad(v, op, "'mask' is %lld, expected 1 to %lld in an extent of %lld", (long long)mask,
               (long long)block - 1, (long long)t->shape[axis]);
}

void ir_verify_trans(IrVerifier *v, IrOp op) {
    if (!same_elem(v, op))
        return;
    const IrTypeData *s = type_of_operand(v, op, 0), *t = type_of_result(v, op);
    const IrAttrData *order = ir_attr(v->m, op, IR_KEY_ORDER);
    unsigned seen = 0;
    bool ok = s->rank == t->rank && order->len == s->rank;
    for (unsigned d = 0; ok && d < s->rank; d++) {
        int64_t from = order->ints[d];
        ok = from >= 0 && from < s->rank && !(seen >> from & 1) && t->shape[d] == s->shape[from];
        if (ok)
            seen |= 1u << from;
    }
    if (!ok)
        bad_shape(v, op);
}

void ir_verify_convert_layout(IrVerifier *v, IrOp op) {
    if (!same_elem(v, op))
        return;
    const IrTypeData *s = type_of_operand(v, op, 0), *t = type_of_result(v, op);
    bool ok = s->rank == t->rank;
    for (unsigned d = 0; ok && d < s->rank; d++)
        ok = s->shape[d] == t->shape[d];
    if (!ok)
        bad_shape(v, op);
}
