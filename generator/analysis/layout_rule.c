/* Rules that tie layouts of operands and results together. Costs are in layout_cost.c. */
#include "analysis/layout_rule.h"

static LayoutRule structure_rule(IrKind kind) {
    switch ((int)kind) {
    case IR_OP_IF:
    case IR_OP_FOR:
    case IR_OP_WHILE:
    case IR_OP_CONDITION:
    case IR_OP_YIELD:
        return LAYOUT_RULE_FLOW;
    case IR_OP_CONST:
    case IR_OP_POISON:
    case IR_OP_ARANGE:
    case IR_OP_SPLAT:
        return LAYOUT_RULE_FREE;
    case IR_OP_EXPAND_DIMS:
    case IR_OP_BROADCAST:
    case IR_OP_TRANS:
    case IR_OP_RESHAPE:
        return LAYOUT_RULE_DERIVED;
    case IR_OP_REDUCE:
        return LAYOUT_RULE_REDUCE;
    case IR_OP_LOAD:
    case IR_OP_STORE:
    case IR_OP_STORE_ASYNC:
    case IR_OP_ATOMIC_RMW:
    case IR_OP_ATOMIC_CAS:
    case IR_OP_LOCAL_PTR:
    case IR_OP_FACT:
    case IR_OP_SCAN:
    case IR_OP_EXCHANGE:
        return LAYOUT_RULE_SAME;
    default:
        return LAYOUT_RULE_NONE;
    }
}

static bool has_tiles(const IrModule *m, IrOp op) {
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++)
        if (ir_is_tile(m, ir_value_type(m, ir_operand(m, op, i))))
            return true;
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        if (ir_is_tile(m, ir_value_type(m, ir_result(m, op, i))))
            return true;
    return false;
}

LayoutRule layout_rule(const IrModule *m, IrOp op) {
    LayoutRule rule = structure_rule(ir_kind(m, op));
    if (rule == LAYOUT_RULE_NONE && ir_trait(m, op, IR_TRAIT_ELEMENTWISE))
        rule = LAYOUT_RULE_SAME;
    if (rule == LAYOUT_RULE_FLOW || has_tiles(m, op))
        return rule;
    return LAYOUT_RULE_NONE;
}

const Layout *layout_of_type(const IrModule *m, IrType t) {
    const IrTypeData *d = ir_type(m, t);
    return d->kind == IR_TILE ? layout_get(ir_layouts(m), d->layout) : NULL;
}

const Layout *layout_of(const IrModule *m, IrValue v) {
    return layout_of_type(m, ir_value_type(m, v));
}

static bool operand_for_broadcast(const IrModule *m, IrOp op, const Layout *result, Layout *out) {
    const IrTypeData *from = ir_type(m, ir_value_type(m, ir_operand(m, op, 0)));
    *out = *result;
    for (unsigned d = 0; d < from->rank; d++)
        if (from->shape[d] != layout_extent(result, d))
            *out = layout_unbroadcast(out, d);
    return true;
}

/* order of a trans as bytes, or its inverse */
static void read_order(const IrModule *m, IrOp op, bool inverse, uint8_t order[IR_MAX_RANK]) {
    const IrAttrData *a = ir_attr(m, op, IR_KEY_ORDER);
    for (uint32_t d = 0; a && d < a->len && d < IR_MAX_RANK; d++)
        if (inverse)
            order[a->ints[d]] = (uint8_t)d;
        else
            order[d] = (uint8_t)a->ints[d];
}

static bool reshaped(const IrModule *m, const Layout *l, IrType to, Layout *out) {
    const IrTypeData *t = ir_type(m, to);
    return layout_reshape(l, t->rank, t->shape, out);
}

bool layout_operand_for(const IrModule *m, IrOp op, const Layout *result, Layout *out) {
    uint8_t order[IR_MAX_RANK] = {0};
    switch ((int)ir_kind(m, op)) {
    case IR_OP_EXPAND_DIMS:
        *out = layout_slice(result, (unsigned)ir_int(m, op, IR_KEY_AXIS, 0));
        return true;
    case IR_OP_BROADCAST:
        return operand_for_broadcast(m, op, result, out);
    case IR_OP_TRANS:
        read_order(m, op, true, order);
        *out = layout_permute(result, order);
        return true;
    case IR_OP_RESHAPE:
        return reshaped(m, result, ir_value_type(m, ir_operand(m, op, 0)), out);
    default:
        return false;
    }
}

bool layout_result_for(const IrModule *m, IrOp op, const Layout *operand, Layout *out) {
    uint8_t order[IR_MAX_RANK] = {0};
    unsigned axis = (unsigned)ir_int(m, op, IR_KEY_AXIS, 0);
    switch ((int)ir_kind(m, op)) {
    case IR_OP_EXPAND_DIMS:
        *out = layout_expand(operand, axis);
        return true;
    case IR_OP_REDUCE:
    case IR_OP_SCAN:
        if (operand->rank < 2)
            return false;
        *out = layout_slice(operand, axis);
        return true;
    case IR_OP_TRANS:
        read_order(m, op, false, order);
        *out = layout_permute(operand, order);
        return true;
    case IR_OP_RESHAPE:
        return reshaped(m, operand, ir_value_type(m, ir_result(m, op, 0)), out);
    default:
        return false;
    }
}

uint32_t layout_warps(const IrModule *m, IrOp op) {
    return ir_group_at(m, ir_func_of(m, op), ir_group(m, op))->num_warps;
}

uint32_t layout_loop_depth(const IrModule *m, IrOp op) {
    uint32_t depth = 0;
    for (IrOp p = ir_parent_op(m, op); p; p = ir_parent_op(m, p))
        depth += ir_kind(m, p) == IR_OP_FOR || ir_kind(m, p) == IR_OP_WHILE;
    return depth;
}

/* The input bits that move along the axis, by the coordinate bit they move, in the order of a scan.
 */
bool layout_scannable(const Layout *l, unsigned axis) {
    LayoutIn mover[LAYOUT_MAX_BITS];
    bool moved[LAYOUT_MAX_BITS] = {false};
    if (!layout_separable(l, axis))
        return false;
    unsigned bit = 0;
    for (LayoutIn in = LAYOUT_REG; in <= LAYOUT_WARP; in++)
        for (unsigned i = 0; i < l->bits[in]; i++, bit++)
            for (unsigned c = 0; c < l->block_log2[axis]; c++) {
                uint32_t basis = l->basis[bit][axis];
                if (!(basis >> c & 1))
                    continue;
                if (basis != 1u << c || moved[c])
                    return false;
                moved[c] = true;
                mover[c] = in;
            }
    unsigned stage = 0; /* registers, lanes, warps, registers */
    static const LayoutIn stages[] = {LAYOUT_REG, LAYOUT_LANE, LAYOUT_WARP, LAYOUT_REG};
    for (unsigned c = 0; c < l->block_log2[axis]; c++) {
        while (stage < 4 && (!moved[c] || mover[c] != stages[stage]))
            stage++;
        if (stage == 4)
            return false;
    }
    return true;
}
