/* Changing: operands, results, replacement, erasure, movement, cloning, walking. */
#include "ir/ir_impl.h"

#include <assert.h>
#include <string.h>

void ir_add_operand(IrModule *m, IrOp op, IrValue v) {
    ir_reserve_operands(m, op, ir_operand_count(m, op) + 1);
    IrOpData *o = ir_op_data(m, op);
    ir_link_use(m, o->operands + o->operand_len++, v);
}

void ir_set_operand(IrModule *m, IrOp op, uint32_t i, IrValue v) {
    IrOpData *o = ir_op_data(m, op);
    assert(i < o->operand_len);
    ir_unlink_use(m, o->operands + i);
    ir_link_use(m, o->operands + i, v);
}

void ir_remove_operand(IrModule *m, IrOp op, uint32_t i) {
    IrOpData *o = ir_op_data(m, op);
    assert(i < o->operand_len);
    ir_unlink_use(m, o->operands + i);
    for (; i + 1 < o->operand_len; i++) {
        IrValue v = m->uses.data[o->operands + i + 1].value;
        ir_unlink_use(m, o->operands + i + 1);
        ir_link_use(m, o->operands + i, v);
    }
    o->operand_len--;
}

/* Drops entry i of a list of values and renumbers those behind it. */
static void drop_value(IrModule *m, IrValue *list, uint32_t *len, uint32_t i) {
    assert(i < *len && ir_unused(m, list[i]));
    for (*len -= 1; i < *len; i++) {
        list[i] = list[i + 1];
        ir_value_data(m, list[i])->index = i;
    }
}

void ir_remove_arg(IrModule *m, IrBlock b, uint32_t i) {
    IrBlockData *d = ir_block_data(m, b);
    drop_value(m, d->args, &d->arg_len, i);
}

void ir_remove_result(IrModule *m, IrOp op, uint32_t i) {
    IrOpData *o = ir_op_data(m, op);
    drop_value(m, o->results, &o->result_len, i);
}

void ir_replace(IrModule *m, IrValue old, IrValue by) {
    if (old == by)
        return;
    for (IrUse u; (u = ir_first_use(m, old));) {
        ir_unlink_use(m, u);
        ir_link_use(m, u, by);
    }
}

static void forget_func(IrModule *m, IrOp op) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < m->funcs.len; i++)
        if (m->funcs.data[i] != op)
            m->funcs.data[kept++] = m->funcs.data[i];
    m->funcs.len = kept;
}

void ir_erase(IrModule *m, IrOp op) {
    IrOpData *o = ir_op_data(m, op);
    /* Backwards, so that users go before what they use. */
    for (uint32_t i = 0; i < o->region_len; i++)
        for (IrOp inner; (inner = ir_last(m, o->regions[i]));)
            ir_erase(m, inner);
    for (uint32_t i = 0; i < o->operand_len; i++)
        ir_unlink_use(m, o->operands + i);
    for (uint32_t i = 0; i < o->result_len; i++)
        assert(ir_unused(m, o->results[i]));
    if (o->parent)
        ir_unlink_op(m, op);
    else
        forget_func(m, op);
    *o = (IrOpData){.kind = IR_OP_NONE};
}

void ir_move_before(IrModule *m, IrOp op, IrOp before) {
    if (op == before)
        return;
    ir_unlink_op(m, op);
    ir_link_op(m, op, ir_parent(m, before), before);
}

void ir_inline_block(IrModule *m, IrBlock from, IrOp at) {
    IrOp end = ir_last(m, from);
    for (IrOp op; (op = ir_first(m, from)) != end;)
        ir_move_before(m, op, at);
}

static IrValue mapped(const Map *map, IrValue v) {
    return map_find(map, v, v);
}

static void clone_block(IrBuilder *b, IrBlock from, IrBlock to, Map *map) {
    IrModule *m = b->m;
    for (uint32_t i = 0; i < ir_arg_count(m, from); i++) {
        IrValue v = ir_arg(m, from, i);
        IrValue copy = ir_add_arg(m, to, ir_value_type(m, v));
        ir_set_value_name(m, copy, ir_value_name(m, v));
        map_put(map, v, copy);
    }
    IrBuilder inner = *b;
    ir_at_end(&inner, to);
    for (IrOp op = ir_first(m, from); op; op = ir_next(m, op))
        ir_clone(&inner, op, map);
}

IrOp ir_clone(IrBuilder *b, IrOp op, Map *map) {
    IrModule *m = b->m;
    IrBuilder at = *b;
    at.span = ir_span(m, op);
    at.group = ir_group(m, op);
    IrOp copy = ir_build(&at, ir_kind(m, op), NULL, 0, NULL, 0);
    ir_reserve_operands(m, copy, ir_operand_count(m, op));
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++)
        ir_add_operand(m, copy, mapped(map, ir_operand(m, op, i)));
    for (uint32_t i = 0; i < ir_result_count(m, op); i++) {
        IrValue v = ir_result(m, op, i);
        ir_add_result(m, copy, ir_value_type(m, v));
        ir_set_value_name(m, ir_result(m, copy, i), ir_value_name(m, v));
        map_put(map, v, ir_result(m, copy, i));
    }
    ir_copy_attrs(m, op, copy);
    for (uint32_t i = 0; i < ir_region_count(m, op); i++)
        clone_block(&at, ir_region_block(m, op, i), ir_region_block(m, copy, i), map);
    return copy;
}

static void walk_block(IrModule *m, IrBlock b, IrVisit *visit, void *user) {
    for (IrOp op = ir_first(m, b), next; op; op = next) {
        next = ir_next(m, op);
        ir_walk(m, op, visit, user);
    }
}

void ir_walk(IrModule *m, IrOp root, IrVisit *visit, void *user) {
    visit(m, root, user);
    for (uint32_t i = 0; i < ir_region_count(m, root); i++)
        walk_block(m, ir_region_block(m, root, i), visit, user);
}
