/* Canonicalisation of if, for and while. */
#include "pass/canon.h"
#include "pass/loops.h"

static IrOp terminator(const IrModule *m, IrOp op, uint32_t region) {
    return ir_last(m, ir_region_block(m, op, region));
}

static bool is_empty(const IrModule *m, IrOp op, uint32_t region) {
    IrBlock b = ir_region_block(m, op, region);
    return ir_first(m, b) == ir_last(m, b);
}

/* Puts a region, whose arguments are replaced already, in op's place. The operands of its
 * terminator from `skip` on become the results. */
static bool inline_region(Canon *c, IrOp op, uint32_t region, uint32_t skip) {
    IrModule *m = c->m;
    IrOp end = terminator(m, op, region);
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        canon_use(c, ir_result(m, op, i), ir_operand(m, end, skip + i));
    ir_inline_block(m, ir_region_block(m, op, region), op);
    return canon_erase(c, op);
}

static void drop_operand(Canon *c, IrOp op, uint32_t i) {
    canon_push(c, ir_value_op(c->m, ir_operand(c->m, op, i)));
    ir_remove_operand(c->m, op, i);
}

/* --- if --- */

static bool drop_unused_result(Canon *c, IrOp op) {
    for (uint32_t i = ir_result_count(c->m, op); i-- > 0;) {
        if (!ir_unused(c->m, ir_result(c->m, op, i)))
            continue;
        ir_remove_result(c->m, op, i);
        drop_operand(c, terminator(c->m, op, 0), i);
        drop_operand(c, terminator(c->m, op, 1), i);
        return true;
    }
    return false;
}

/* A value that both regions yield comes from outside of both. */
static bool forward_common(Canon *c, IrOp op) {
    for (uint32_t i = 0; i < ir_result_count(c->m, op); i++) {
        IrValue x = ir_operand(c->m, terminator(c->m, op, 0), i);
        if (x != ir_operand(c->m, terminator(c->m, op, 1), i))
            continue;
        canon_use(c, ir_result(c->m, op, i), x);
        return true;
    }
    return false;
}

/* Regions that only choose: selects. */
static bool if_to_selects(Canon *c, IrOp op) {
    IrModule *m = c->m;
    if (!is_empty(m, op, 0) || !is_empty(m, op, 1))
        return false;
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        if (ir_type(m, ir_value_type(m, ir_result(m, op, i)))->kind == IR_BUF)
            return false;
    IrBuilder b = canon_at(c, op);
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        canon_use(c, ir_result(m, op, i),
                  ir_build_select(&b, ir_operand(m, op, 0), ir_operand(m, terminator(m, op, 0), i),
                                  ir_operand(m, terminator(m, op, 1), i)));
    return canon_erase(c, op);
}

bool canon_if(Canon *c, IrOp op) {
    int64_t cond;
    if (ir_const_int(c->m, ir_operand(c->m, op, 0), &cond))
        return inline_region(c, op, cond ? 0 : 1, 0);
    return drop_unused_result(c, op) || forward_common(c, op) || if_to_selects(c, op);
}

/* --- for --- */

/* A carried value that is never changed is its initial value. */
static bool unchanged_in_for(Canon *c, IrOp op, uint32_t i) {
    IrModule *m = c->m;
    IrValue next = ir_operand(m, terminator(m, op, 0), i);
    IrValue arg = ir_arg(m, ir_region_block(m, op, 0), 1 + i), first = ir_operand(m, op, 3 + i);
    if (next != arg && next != first)
        return false;
    if (ir_unused(m, arg) && ir_unused(m, ir_result(m, op, i)))
        return false; /* for unused_in_for to drop */
    canon_use(c, arg, first);
    canon_use(c, ir_result(m, op, i), first);
    return true;
}

/* Neither read in the loop nor after it. */
static bool unused_in_for(Canon *c, IrOp op, uint32_t i) {
    IrModule *m = c->m;
    IrOp end = terminator(m, op, 0);
    IrBlock body = ir_region_block(m, op, 0);
    IrValue arg = ir_arg(m, body, 1 + i);
    if (!ir_unused(m, ir_result(m, op, i)))
        return false;
    for (IrUse u = ir_first_use(m, arg); u; u = ir_next_use(m, u))
        if (ir_use_op(m, u) != end || ir_use_index(m, u) != i)
            return false;
    drop_operand(c, end, i);
    drop_operand(c, op, 3 + i);
    ir_remove_arg(m, body, 1 + i);
    ir_remove_result(m, op, i);
    return true;
}

static bool run_once(Canon *c, IrOp op) {
    IrModule *m = c->m;
    IrBlock body = ir_region_block(m, op, 0);
    canon_use(c, ir_arg(m, body, 0), ir_operand(m, op, 0));
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        canon_use(c, ir_arg(m, body, 1 + i), ir_operand(m, op, 3 + i));
    return inline_region(c, op, 0, 0);
}

static bool run_never(Canon *c, IrOp op) {
    for (uint32_t i = 0; i < ir_result_count(c->m, op); i++)
        canon_use(c, ir_result(c->m, op, i), ir_operand(c->m, op, 3 + i));
    return canon_erase(c, op);
}

bool canon_for(Canon *c, IrOp op) {
    IrModule *m = c->m;
    uint64_t trips = 2;
    bool known = pass_trip_count(m, op, &trips);
    if ((known && !trips) || ir_operand(m, op, 0) == ir_operand(m, op, 1))
        return run_never(c, op);
    if (known && trips == 1)
        return run_once(c, op);
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        if (unchanged_in_for(c, op, i) || unused_in_for(c, op, i))
            return true;
    return !ir_result_count(m, op) && is_empty(m, op, 0) && canon_erase(c, op);
}

/* --- while --- */

/* What the body hands back for head argument i, seen through the test: a value from outside, or the
 * head argument itself. */
static IrValue next_in_while(const IrModule *m, IrOp op, uint32_t i) {
    IrValue next = ir_operand(m, terminator(m, op, 1), i);
    if (ir_value_block(m, next) != ir_region_block(m, op, 1))
        return next;
    return ir_operand(m, terminator(m, op, 0), 1 + ir_value_index(m, next));
}

static bool unchanged_in_while(Canon *c, IrOp op, uint32_t i) {
    IrModule *m = c->m;
    IrValue arg = ir_arg(m, ir_region_block(m, op, 0), i), first = ir_operand(m, op, i);
    IrValue next = next_in_while(m, op, i);
    if (ir_unused(m, arg) || (next != arg && next != first))
        return false;
    canon_use(c, arg, first);
    return true;
}

/* Is v defined outside of op? */
static bool is_outside(const IrModule *m, IrValue v, IrOp op) {
    IrOp at = ir_value_op(m, v);
    IrBlock b = at ? ir_parent(m, at) : ir_value_block(m, v);
    while (b && ir_block_op(m, b) != op)
        b = ir_parent(m, ir_block_op(m, b));
    return !b;
}

/* The test passes on a value from outside: its users need not take it from there. */
static bool invariant_in_while(Canon *c, IrOp op, uint32_t i) {
    IrModule *m = c->m;
    IrValue passed = ir_operand(m, terminator(m, op, 0), 1 + i);
    IrValue arg = ir_arg(m, ir_region_block(m, op, 1), i), result = ir_result(m, op, i);
    if (!is_outside(m, passed, op) || (ir_unused(m, arg) && ir_unused(m, result)))
        return false;
    canon_use(c, arg, passed);
    canon_use(c, result, passed);
    return true;
}

static bool unused_in_while(Canon *c, IrOp op, uint32_t i) {
    IrModule *m = c->m;
    IrBlock body = ir_region_block(m, op, 1);
    if (!ir_unused(m, ir_arg(m, body, i)) || !ir_unused(m, ir_result(m, op, i)))
        return false;
    drop_operand(c, terminator(m, op, 0), 1 + i);
    ir_remove_arg(m, body, i);
    ir_remove_result(m, op, i);
    return true;
}

static bool unread_in_while(Canon *c, IrOp op, uint32_t i) {
    IrModule *m = c->m;
    IrBlock head = ir_region_block(m, op, 0);
    if (!ir_unused(m, ir_arg(m, head, i)))
        return false;
    drop_operand(c, op, i);
    drop_operand(c, terminator(m, op, 1), i);
    ir_remove_arg(m, head, i);
    return true;
}

bool canon_while(Canon *c, IrOp op) {
    IrModule *m = c->m;
    IrBlock head = ir_region_block(m, op, 0);
    if (canon_is_int(m, ir_operand(m, terminator(m, op, 0), 0), 0)) {
        for (uint32_t i = 0; i < ir_operand_count(m, op); i++)
            canon_use(c, ir_arg(m, head, i), ir_operand(m, op, i));
        return inline_region(c, op, 0, 1);
    }
    for (uint32_t i = 0; i < ir_arg_count(m, head); i++)
        if (unchanged_in_while(c, op, i) || unread_in_while(c, op, i))
            return true;
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        if (invariant_in_while(c, op, i) || unused_in_while(c, op, i))
            return true;
    return false;
}
