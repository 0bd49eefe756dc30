/* Building: functions, operations at an insertion point, and short forms of the common ones. */
#include "ir/ir_impl.h"

#include <assert.h>
#include <string.h>

/* An unlinked operation with fresh regions. */
static IrOp new_op(IrModule *m, IrKind kind, Span span, uint32_t group) {
    uint32_t regions = ir_op_info(kind)->regions;
    IrOp op = m->ops.len;
    vec_push(m->arena, &m->ops, ((IrOpData){.kind = kind, .span = span, .group = group}));
    if (regions) {
        IrBlock *blocks = arena_array(m->arena, IrBlock, regions);
        for (uint32_t i = 0; i < regions; i++)
            blocks[i] = ir_new_block(m, op);
        ir_op_data(m, op)->regions = blocks;
        ir_op_data(m, op)->region_len = regions;
    }
    return op;
}

IrOp ir_new_func(IrModule *m, Str name, Span span, const IrType *params, uint32_t len,
                 uint32_t num_warps) {
    IrOp op = new_op(m, IR_OP_FUNC, span, 0);
    ir_op_data(m, op)->func = m->func_data.len;
    vec_push(m->arena, &m->func_data, (IrFuncData){.groups = {0}});
    vec_push(m->arena, &m->funcs, op);
    ir_add_group(m, op, (IrGroup){.num_warps = num_warps});
    ir_set_str(m, op, IR_KEY_NAME, name);
    ir_set_int(m, op, IR_KEY_NUM_WARPS, num_warps);
    for (uint32_t i = 0; i < len; i++)
        ir_add_arg(m, ir_region_block(m, op, 0), params[i]);
    return op;
}

IrOp ir_build(IrBuilder *b, IrKind kind, const IrValue *operands, uint32_t n_operands,
              const IrType *results, uint32_t n_results) {
    assert(kind != IR_OP_FUNC && kind != IR_OP_NONE);
    IrModule *m = b->m;
    IrOp op = new_op(m, kind, b->span, b->group);
    ir_reserve_operands(m, op, n_operands);
    for (uint32_t i = 0; i < n_operands; i++)
        ir_link_use(m, ir_op_data(m, op)->operands + i, operands[i]);
    ir_op_data(m, op)->operand_len = n_operands;
    for (uint32_t i = 0; i < n_results; i++)
        ir_add_result(m, op, results[i]);
    ir_link_op(m, op, b->block, b->before);
    return op;
}

IrValue ir_add_arg(IrModule *m, IrBlock b, IrType t) {
    IrValue v = ir_new_value(m, t);
    IrBlockData *d = ir_block_data(m, b);
    ir_value_data(m, v)->block = b;
    ir_value_data(m, v)->index = d->arg_len;
    if (d->arg_len == d->arg_cap)
        d->args = vec_grow(m->arena, d->args, d->arg_len, &d->arg_cap, 1, sizeof *d->args);
    d->args[d->arg_len++] = v;
    return v;
}

void ir_add_result(IrModule *m, IrOp op, IrType t) {
    IrValue v = ir_new_value(m, t);
    IrOpData *o = ir_op_data(m, op);
    ir_value_data(m, v)->op = op;
    ir_value_data(m, v)->index = o->result_len;
    if (!o->result_cap) { /* nearly all operations have one result */
        o->results = arena_array(m->arena, IrValue, 1);
        o->result_cap = 1;
    } else if (o->result_len == o->result_cap) {
        o->results =
            vec_grow(m->arena, o->results, o->result_len, &o->result_cap, 1, sizeof *o->results);
    }
    o->results[o->result_len++] = v;
}

void ir_at_end(IrBuilder *b, IrBlock block) {
    b->block = block;
    b->before = 0;
}

void ir_at_op(IrBuilder *b, IrOp before) {
    b->block = ir_parent(b->m, before);
    b->before = before;
}

void ir_after_op(IrBuilder *b, IrOp op) {
    b->block = ir_parent(b->m, op);
    b->before = ir_next(b->m, op);
}

/* --- constants --- */

int64_t ir_wrap_int(IrElem elem, int64_t value) {
    uint32_t bits = ir_elem_bits(elem);
    if (bits == 1)
        return value & 1;
    if (bits == 0 || bits >= 64)
        return value;
    uint64_t sign = UINT64_C(1) << (bits - 1), mask = (sign << 1) - 1;
    return (int64_t)((((uint64_t)value & mask) ^ sign) - sign);
}

IrValue ir_build_int(IrBuilder *b, IrType type, int64_t value) {
    IrElem elem = ir_elem(b->m, type);
    assert(elem != IR_ELEM_NONE && !ir_elem_is_float(elem));
    IrOp op = ir_build(b, IR_OP_CONST, NULL, 0, &type, 1);
    ir_set_int(b->m, op, IR_KEY_INT_VALUE, ir_wrap_int(elem, value));
    return ir_result(b->m, op, 0);
}

IrValue ir_build_float(IrBuilder *b, IrType type, double value) {
    IrElem elem = ir_elem(b->m, type);
    assert(ir_elem_is_float(elem));
    IrOp op = ir_build(b, IR_OP_CONST, NULL, 0, &type, 1);
    ir_set_float(b->m, op, IR_KEY_FLOAT_VALUE, ir_round_float(elem, value));
    return ir_result(b->m, op, 0);
}

/* --- short forms --- */

IrValue ir_build1(IrBuilder *b, IrKind kind, IrType result, IrValue x) {
    return ir_result(b->m, ir_build(b, kind, &x, 1, &result, 1), 0);
}

IrValue ir_build2(IrBuilder *b, IrKind kind, IrValue x, IrValue y) {
    IrType t = ir_value_type(b->m, x);
    IrValue xy[2] = {x, y};
    return ir_result(b->m, ir_build(b, kind, xy, 2, &t, 1), 0);
}

IrValue ir_build_cmp(IrBuilder *b, IrKind kind, int cmp, IrValue x, IrValue y) {
    IrType t = ir_type_with_elem(b->m, ir_value_type(b->m, x), ir_scalar(b->m, IR_I1));
    IrValue xy[2] = {x, y};
    IrOp op = ir_build(b, kind, xy, 2, &t, 1);
    ir_set_int(b->m, op, IR_KEY_CMP, cmp);
    return ir_result(b->m, op, 0);
}

IrValue ir_build_select(IrBuilder *b, IrValue cond, IrValue x, IrValue y) {
    IrType t = ir_value_type(b->m, x);
    IrValue operands[3] = {cond, x, y};
    return ir_result(b->m, ir_build(b, IR_OP_SELECT, operands, 3, &t, 1), 0);
}

IrValue ir_build_splat(IrBuilder *b, IrType tile, IrValue scalar) {
    return ir_build1(b, IR_OP_SPLAT, tile, scalar);
}
