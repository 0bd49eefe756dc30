/* Canonicalisation of floats and conversions. Only identities that hold for every value, the signs
 * of zero and infinities included. */
#include "pass/canon.h"

static IrValue lhs(const Canon *c, IrOp op) {
    return ir_operand(c->m, op, 0);
}

static IrValue rhs(const Canon *c, IrOp op) {
    return ir_operand(c->m, op, 1);
}

/* x + -0; +0 would turn -0 into +0 */
bool canon_fadd(Canon *c, IrOp op) {
    return canon_is_float(c->m, rhs(c, op), -0.0) && canon_replace(c, op, lhs(c, op));
}

bool canon_fsub(Canon *c, IrOp op) {
    return canon_is_float(c->m, rhs(c, op), 0.0) && canon_replace(c, op, lhs(c, op));
}

bool canon_fmul(Canon *c, IrOp op) {
    return canon_is_float(c->m, rhs(c, op), 1.0) && canon_replace(c, op, lhs(c, op));
}

bool canon_fdiv(Canon *c, IrOp op) {
    return canon_is_float(c->m, rhs(c, op), 1.0) && canon_replace(c, op, lhs(c, op));
}

bool canon_fminmax(Canon *c, IrOp op) {
    return lhs(c, op) == rhs(c, op) && canon_replace(c, op, lhs(c, op));
}

bool canon_fneg(Canon *c, IrOp op) {
    IrValue x = canon_through(c->m, lhs(c, op), IR_OP_FNEG, 0);
    return x && canon_replace(c, op, x);
}

bool canon_fabs(Canon *c, IrOp op) {
    IrValue x = canon_through(c->m, lhs(c, op), IR_OP_FNEG, 0);
    if (canon_through(c->m, lhs(c, op), IR_OP_FABS, 0))
        return canon_replace(c, op, lhs(c, op));
    if (!x)
        return false;
    canon_set_operand(c, op, 0, x);
    return true;
}

/* --- conversions --- */

static IrType result_type(const Canon *c, IrOp op) {
    return ir_value_type(c->m, ir_result(c->m, op, 0));
}

static uint32_t bits_of(const Canon *c, IrValue v) {
    return ir_elem_bits(ir_elem(c->m, ir_value_type(c->m, v)));
}

/* Replaces op by the conversion from x, or by x itself where the types agree. */
static bool convert_from(Canon *c, IrOp op, IrKind kind, IrValue x) {
    if (ir_value_type(c->m, x) == result_type(c, op))
        return canon_replace(c, op, x);
    return canon_to1(c, op, kind, x);
}

/* trunc of an extension is a shorter conversion either way. */
static bool trunc_of_extension(Canon *c, IrOp op, IrKind extension) {
    IrValue x = canon_through(c->m, lhs(c, op), extension, 0);
    if (!x)
        return false;
    bool narrower = ir_elem_bits(ir_elem(c->m, result_type(c, op))) < bits_of(c, x);
    return convert_from(c, op, narrower ? IR_OP_TRUNC : extension, x);
}

bool canon_int_cast(Canon *c, IrOp op) {
    IrKind kind = ir_kind(c->m, op);
    IrValue same = canon_through(c->m, lhs(c, op), kind, 0);
    if (same)
        return convert_from(c, op, kind, same);
    if (kind == IR_OP_TRUNC)
        return trunc_of_extension(c, op, IR_OP_ZEXT) || trunc_of_extension(c, op, IR_OP_SEXT);
    IrValue zext = canon_through(c->m, lhs(c, op), IR_OP_ZEXT, 0);
    return kind == IR_OP_SEXT && zext && convert_from(c, op, IR_OP_ZEXT, zext);
}

/* fpext is exact, so going back gives the same value, and two of them are one. */
bool canon_float_cast(Canon *c, IrOp op) {
    IrValue x = canon_through(c->m, lhs(c, op), IR_OP_FPEXT, 0);
    if (!x)
        return false;
    if (ir_kind(c->m, op) == IR_OP_FPEXT)
        return canon_to1(c, op, IR_OP_FPEXT, x);
    return ir_value_type(c->m, x) == result_type(c, op) && canon_replace(c, op, x);
}

bool canon_bitcast(Canon *c, IrOp op) {
    IrValue x = canon_through(c->m, lhs(c, op), IR_OP_BITCAST, 0);
    if (ir_value_type(c->m, lhs(c, op)) == result_type(c, op))
        return canon_replace(c, op, lhs(c, op));
    return x && convert_from(c, op, IR_OP_BITCAST, x);
}

bool canon_inverse_cast(Canon *c, IrOp op) {
    IrKind inverse = ir_kind(c->m, op) == IR_OP_PTRTOINT ? IR_OP_INTTOPTR : IR_OP_PTRTOINT;
    IrValue x = canon_through(c->m, lhs(c, op), inverse, 0);
    return x && ir_value_type(c->m, x) == result_type(c, op) && canon_replace(c, op, x);
}
