/* Aggregate: marks atomics whose lanes share an address, so that a warp issues one.
 *
 * A read-modify-write on a tile is marked when axis analysis proves that the elements that a
 * register of a warp's lanes holds, more than one, share one address, and combining the lanes first
 * gives the same memory:
 *
 *   add      lane i gets old + the sum over lower lanes (a prefix sum), or the result is unused
 *   and, or, xor, smin, smax, umin, umax      only when the result is unused
 *
 * Integers of 32 or 64 bits. Floating-point sums would be rounded in another order and stay.
 *
 *   %p = splat %counter;  %old = atomic_rmw %p, %one, %mask [rmw = add]
 * becomes
 *   %old = atomic_rmw %p, %one, %mask [rmw = add, aggregate = true]
 *
 * Assumes layouts. Order among the elements of one atomic operation is not part of the language, so
 * the order of lanes is as good as any, for every memory order and scope. */
#include "analysis/layout_rule.h"
#include "pass/pass.h"

/* Lanes differ in dimension d only inside aligned groups of this size. */
static int64_t lane_group(const Layout *l, unsigned d) {
    unsigned first = l->bits[LAYOUT_REG];
    int64_t group = 1;
    for (unsigned i = 0; i < l->bits[LAYOUT_LANE]; i++)
        while (l->basis[first + i][d] >= group)
            group *= 2;
    return group;
}

static bool lanes_share_address(const Axis *axis, const IrModule *m, IrOp op) {
    IrValue ptr = ir_operand(m, op, 0);
    const Layout *l = layout_of(m, ptr);
    const AxisInfo *p = axis_info(axis, ptr);
    int64_t lanes = 1;
    if (!l)
        return false;
    for (unsigned d = 0; d < l->rank; d++) {
        if (p->constancy[d] < lane_group(l, d))
            return false;
        lanes *= lane_group(l, d);
    }
    return lanes > 1; /* one element a warp is one atomic as it is */
}

static bool can_combine(const IrModule *m, IrOp op) {
    bool unused = ir_unused(m, ir_result(m, op, 0));
    uint32_t bits = ir_elem_bits(ir_elem(m, ir_value_type(m, ir_operand(m, op, 1))));
    if (bits != 32 && bits != 64)
        return false;
    switch (ir_int(m, op, IR_KEY_RMW, IR_RMW_XCHG)) {
    case IR_RMW_ADD:
        return true;
    case IR_RMW_AND:
    case IR_RMW_OR:
    case IR_RMW_XOR:
    case IR_RMW_SMAX:
    case IR_RMW_SMIN:
    case IR_RMW_UMAX:
    case IR_RMW_UMIN:
        return unused;
    default:
        return false;
    }
}

static void visit(PassContext *c, const Axis *axis, IrBlock b) {
    for (IrOp op = ir_first(c->m, b); op; op = ir_next(c->m, op)) {
        for (uint32_t r = 0; r < ir_region_count(c->m, op); r++)
            visit(c, axis, ir_region_block(c->m, op, r));
        if (ir_kind(c->m, op) != IR_OP_ATOMIC_RMW || ir_has(c->m, op, IR_KEY_AGGREGATE) ||
            !can_combine(c->m, op) || !lanes_share_address(axis, c->m, op))
            continue;
        ir_set_int(c->m, op, IR_KEY_AGGREGATE, true);
        c->changed = true;
    }
}

bool pass_aggregate(PassContext *c) {
    for (uint32_t i = 0; i < ir_func_count(c->m); i++) {
        IrOp func = ir_func(c->m, i);
        visit(c, axis_analyse(c->scratch, c->m, func), ir_region_block(c->m, func, 0));
    }
    return true;
}
