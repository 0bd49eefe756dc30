/* Canonicalisation of shapes, pointers, memory and facts. */
#include "pass/canon.h"

static IrValue lhs(const Canon *c, IrOp op) {
    return ir_operand(c->m, op, 0);
}

static IrType result_type(const Canon *c, IrOp op) {
    return ir_value_type(c->m, ir_result(c->m, op, 0));
}

/* --- shapes --- */

bool canon_splat(Canon *c, IrOp op) {
    FoldValue value;
    return fold_const_of(c->m, lhs(c, op), &value) && canon_to_const(c, op, value);
}

/* Whatever moves elements about leaves a tile of one value as it is, but for its type. */
bool canon_reshaped(Canon *c, IrOp op) {
    FoldValue value;
    IrValue x = lhs(c, op), scalar = canon_through(c->m, x, IR_OP_SPLAT, 0);
    if (ir_value_type(c->m, x) == result_type(c, op) && ir_kind(c->m, op) != IR_OP_TRANS)
        return canon_replace(c, op, x);
    if (scalar)
        return canon_to1(c, op, IR_OP_SPLAT, scalar);
    return fold_const_of(c->m, x, &value) && canon_to_const(c, op, value);
}

/* Operand of an operation of the same kind: only the outer one counts. */
static bool skip_inner(Canon *c, IrOp op) {
    IrValue x = canon_through(c->m, lhs(c, op), ir_kind(c->m, op), 0);
    if (!x)
        return false;
    canon_set_operand(c, op, 0, x);
    return true;
}

bool canon_reshape(Canon *c, IrOp op) {
    return skip_inner(c, op);
}

bool canon_convert_layout(Canon *c, IrOp op) {
    return skip_inner(c, op);
}

bool canon_trans(Canon *c, IrOp op) {
    const IrAttrData *order = ir_attr(c->m, op, IR_KEY_ORDER);
    for (uint32_t i = 0; i < order->len; i++)
        if (order->ints[i] != i)
            return false;
    return ir_value_type(c->m, lhs(c, op)) == result_type(c, op) &&
           canon_replace(c, op, lhs(c, op));
}

/* Equal elements change places unseen; exchanging twice is doing nothing. */
bool canon_exchange(Canon *c, IrOp op) {
    IrOp inner = ir_value_op(c->m, lhs(c, op));
    if (canon_is_uniform(c->m, lhs(c, op)))
        return canon_replace(c, op, lhs(c, op));
    if (!inner || ir_kind(c->m, inner) != IR_OP_EXCHANGE ||
        ir_int(c->m, inner, IR_KEY_AXIS, 0) != ir_int(c->m, op, IR_KEY_AXIS, 0))
        return false;
    int64_t mask = ir_int(c->m, inner, IR_KEY_MASK, 0) ^ ir_int(c->m, op, IR_KEY_MASK, 0);
    if (!mask)
        return canon_replace(c, op, lhs(c, inner));
    ir_set_int(c->m, op, IR_KEY_MASK, mask);
    canon_set_operand(c, op, 0, lhs(c, inner));
    return true;
}

/* --- pointers --- */

/* (splat p + x) + splat s -> splat (p + s) + x: uniform work once. Constants stay outside, where
 * they become immediate offsets. */
static bool uniform_offset_first(Canon *c, IrOp op) {
    IrModule *m = c->m;
    IrOp inner = ir_value_op(m, lhs(c, op));
    IrValue step = ir_operand(m, op, 1);
    if (!inner || ir_kind(m, inner) != IR_OP_ADDPTR || !canon_through(m, step, IR_OP_SPLAT, 0) ||
        !canon_through(m, lhs(c, inner), IR_OP_SPLAT, 0) ||
        canon_is_uniform(m, ir_operand(m, inner, 1)) ||
        ir_next_use(m, ir_first_use(m, ir_result(m, inner, 0))))
        return false;
    IrBuilder b = canon_at(c, op);
    IrValue base = ir_build2(&b, IR_OP_ADDPTR, canon_through(m, lhs(c, inner), IR_OP_SPLAT, 0),
                             canon_through(m, step, IR_OP_SPLAT, 0));
    IrValue splat = ir_build_splat(&b, ir_value_type(m, lhs(c, inner)), base);
    IrValue offsets = ir_operand(m, inner, 1);
    canon_set_operand(c, op, 0, splat);
    canon_set_operand(c, op, 1, offsets);
    return true;
}

/* (p + c1) + c2 -> p + (c1 + c2), while the sum fits the type. */
static bool combine_offsets(Canon *c, IrOp op) {
    IrModule *m = c->m;
    IrValue inner = canon_through(m, lhs(c, op), IR_OP_ADDPTR, 1);
    IrValue step = ir_operand(m, op, 1);
    IrElem e = ir_elem(m, ir_value_type(m, step));
    int64_t x, y;
    if (!inner || ir_value_type(m, inner) != ir_value_type(m, step) ||
        !ir_const_int(m, inner, &x) || !ir_const_int(m, step, &y) ||
        (y > 0 ? x > INT64_MAX - y : x < INT64_MIN - y) || ir_wrap_int(e, x + y) != x + y)
        return false;
    IrBuilder b = canon_at(c, op);
    IrValue sum = ir_build_int(&b, ir_value_type(m, step), x + y);
    canon_set_operand(c, op, 0, canon_through(m, lhs(c, op), IR_OP_ADDPTR, 0));
    canon_set_operand(c, op, 1, sum);
    return true;
}

bool canon_addptr(Canon *c, IrOp op) {
    if (canon_is_int(c->m, ir_operand(c->m, op, 1), 0))
        return canon_replace(c, op, lhs(c, op));
    return combine_offsets(c, op) || uniform_offset_first(c, op);
}

/* --- memory --- */

/* The mask's constant value; false when there is no mask or it is not known. */
static bool known_mask(const Canon *c, IrOp op, uint32_t at, int64_t *value) {
    return ir_operand_count(c->m, op) > at && ir_const_int(c->m, ir_operand(c->m, op, at), value);
}

static bool drop_operands(Canon *c, IrOp op, uint32_t from) {
    for (uint32_t i = ir_operand_count(c->m, op); i-- > from;) {
        canon_push(c, ir_value_op(c->m, ir_operand(c->m, op, i)));
        ir_remove_operand(c->m, op, i);
    }
    return true;
}

static IrValue undefined(Canon *c, IrOp op) {
    IrBuilder b = canon_at(c, op);
    IrType t = result_type(c, op);
    return ir_result(c->m, ir_build(&b, IR_OP_POISON, NULL, 0, &t, 1), 0);
}

bool canon_load(Canon *c, IrOp op) {
    int64_t mask;
    if (!known_mask(c, op, 1, &mask))
        return false;
    if (mask)
        return drop_operands(c, op, 1);
    bool has_other = ir_operand_count(c->m, op) == 3;
    return canon_replace(c, op, has_other ? ir_operand(c->m, op, 2) : undefined(c, op));
}

/* One value to one address from every element: one thread stores it. */
static bool store_once(Canon *c, IrOp op) {
    IrValue p = canon_through(c->m, lhs(c, op), IR_OP_SPLAT, 0), x = ir_operand(c->m, op, 1);
    if (ir_operand_count(c->m, op) != 2 || !p || !canon_is_uniform(c->m, x))
        return false;
    IrBuilder b = canon_at(c, op);
    canon_set_operand(c, op, 0, p);
    canon_set_operand(c, op, 1, canon_scalar_of(&b, x));
    ir_unset(c->m, op, IR_KEY_VECTOR);
    return true;
}

bool canon_store(Canon *c, IrOp op) {
    int64_t mask;
    if (!known_mask(c, op, 2, &mask))
        return store_once(c, op);
    return mask ? drop_operands(c, op, 2) : canon_erase(c, op);
}

bool canon_atomic_rmw(Canon *c, IrOp op) {
    int64_t mask;
    if (!known_mask(c, op, 2, &mask))
        return false;
    return mask ? drop_operands(c, op, 2) : canon_replace(c, op, undefined(c, op));
}

/* --- facts --- */

bool canon_holds(Canon *c, IrOp op) {
    return canon_is_int(c->m, lhs(c, op), 1) && canon_erase(c, op);
}

bool canon_fact(Canon *c, IrOp op) {
    FoldValue ignored;
    bool empty = !ir_has(c->m, op, IR_KEY_DIVISIBLE) && !ir_has(c->m, op, IR_KEY_CONTIGUOUS) &&
                 !ir_has(c->m, op, IR_KEY_CONSTANCY);
    return (empty || fold_const_of(c->m, lhs(c, op), &ignored)) && canon_replace(c, op, lhs(c, op));
}
