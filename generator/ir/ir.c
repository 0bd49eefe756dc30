/* The module: storage, reading, use lists, functions and groups. */
#include "ir/ir_impl.h"

#include <assert.h>

IrModule *ir_module_new(Arena *a, Interner *strings, Sources *sources) {
    IrModule *m = arena_new_of(a, IrModule);
    m->arena = a;
    m->strings = strings;
    m->sources = sources;
    m->layouts = layout_table_new(a);
    map_init(&m->type_map, a);
    map_init(&m->attr_map, a);
    vec_push(a, &m->types, (IrTypeData){0});
    vec_push(a, &m->attrs, (IrAttrData){0});
    vec_push(a, &m->ops, (IrOpData){0});
    vec_push(a, &m->values, (IrValueData){0});
    vec_push(a, &m->uses, (IrUseData){0});
    vec_push(a, &m->blocks, (IrBlockData){0});
    return m;
}

Arena *ir_arena(const IrModule *m) {
    return m->arena;
}

Interner *ir_strings(const IrModule *m) {
    return m->strings;
}

Sources *ir_sources(const IrModule *m) {
    return m->sources;
}

LayoutTable *ir_layouts(const IrModule *m) {
    return m->layouts;
}

uint32_t ir_op_limit(const IrModule *m) {
    return m->ops.len;
}

uint32_t ir_value_limit(const IrModule *m) {
    return m->values.len;
}

IrOpData *ir_op_data(const IrModule *m, IrOp op) {
    assert(op < m->ops.len);
    return &m->ops.data[op];
}

IrValueData *ir_value_data(const IrModule *m, IrValue v) {
    assert(v < m->values.len);
    return &m->values.data[v];
}

IrBlockData *ir_block_data(const IrModule *m, IrBlock b) {
    assert(b < m->blocks.len);
    return &m->blocks.data[b];
}

/* --- operations --- */

IrKind ir_kind(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->kind;
}

Span ir_span(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->span;
}

uint32_t ir_group(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->group;
}

void ir_set_group(IrModule *m, IrOp op, uint32_t group) {
    ir_op_data(m, op)->group = group;
}

uint32_t ir_operand_count(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->operand_len;
}

IrValue ir_operand(const IrModule *m, IrOp op, uint32_t i) {
    const IrOpData *o = ir_op_data(m, op);
    assert(i < o->operand_len);
    return m->uses.data[o->operands + i].value;
}

uint32_t ir_result_count(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->result_len;
}

IrValue ir_result(const IrModule *m, IrOp op, uint32_t i) {
    const IrOpData *o = ir_op_data(m, op);
    assert(i < o->result_len);
    return o->results[i];
}

uint32_t ir_region_count(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->region_len;
}

IrBlock ir_region_block(const IrModule *m, IrOp op, uint32_t i) {
    const IrOpData *o = ir_op_data(m, op);
    assert(i < o->region_len);
    return o->regions[i];
}

IrBlock ir_parent(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->parent;
}

IrOp ir_parent_op(const IrModule *m, IrOp op) {
    return ir_block_op(m, ir_parent(m, op));
}

IrOp ir_block_op(const IrModule *m, IrBlock b) {
    return ir_block_data(m, b)->owner;
}

IrOp ir_first(const IrModule *m, IrBlock b) {
    return ir_block_data(m, b)->first;
}

IrOp ir_last(const IrModule *m, IrBlock b) {
    return ir_block_data(m, b)->last;
}

IrOp ir_next(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->next;
}

IrOp ir_prev(const IrModule *m, IrOp op) {
    return ir_op_data(m, op)->prev;
}

uint32_t ir_arg_count(const IrModule *m, IrBlock b) {
    return ir_block_data(m, b)->arg_len;
}

IrValue ir_arg(const IrModule *m, IrBlock b, uint32_t i) {
    const IrBlockData *d = ir_block_data(m, b);
    assert(i < d->arg_len);
    return d->args[i];
}

bool ir_trait(const IrModule *m, IrOp op, uint32_t traits) {
    return ir_op_info(ir_kind(m, op))->traits & traits;
}

void ir_link_op(IrModule *m, IrOp op, IrBlock block, IrOp before) {
    IrOpData *o = ir_op_data(m, op);
    IrBlockData *b = ir_block_data(m, block);
    o->parent = block;
    o->next = before;
    o->prev = before ? ir_op_data(m, before)->prev : b->last;
    *(o->prev ? &ir_op_data(m, o->prev)->next : &b->first) = op;
    *(before ? &ir_op_data(m, before)->prev : &b->last) = op;
}

void ir_unlink_op(IrModule *m, IrOp op) {
    IrOpData *o = ir_op_data(m, op);
    IrBlockData *b = ir_block_data(m, o->parent);
    *(o->prev ? &ir_op_data(m, o->prev)->next : &b->first) = o->next;
    *(o->next ? &ir_op_data(m, o->next)->prev : &b->last) = o->prev;
    o->parent = o->prev = o->next = 0;
}

IrBlock ir_new_block(IrModule *m, IrOp owner) {
    vec_push(m->arena, &m->blocks, (IrBlockData){.owner = owner});
    return m->blocks.len - 1;
}

/* --- values --- */

IrValue ir_new_value(IrModule *m, IrType t) {
    vec_push(m->arena, &m->values, (IrValueData){.type = t});
    return m->values.len - 1;
}

IrType ir_value_type(const IrModule *m, IrValue v) {
    return ir_value_data(m, v)->type;
}

void ir_set_value_type(IrModule *m, IrValue v, IrType t) {
    ir_value_data(m, v)->type = t;
}

IrOp ir_value_op(const IrModule *m, IrValue v) {
    return ir_value_data(m, v)->op;
}

IrBlock ir_value_block(const IrModule *m, IrValue v) {
    return ir_value_data(m, v)->block;
}

uint32_t ir_value_index(const IrModule *m, IrValue v) {
    return ir_value_data(m, v)->index;
}

Str ir_value_name(const IrModule *m, IrValue v) {
    return ir_value_data(m, v)->name;
}

void ir_set_value_name(IrModule *m, IrValue v, Str name) {
    ir_value_data(m, v)->name = name;
}

/* The CONST operation behind a scalar or splat constant, or 0. */
static IrOp constant_of(const IrModule *m, IrValue v) {
    IrOp op = ir_value_op(m, v);
    if (op && ir_kind(m, op) == IR_OP_SPLAT)
        op = ir_value_op(m, ir_operand(m, op, 0));
    return op && ir_kind(m, op) == IR_OP_CONST ? op : 0;
}

bool ir_const_int(const IrModule *m, IrValue v, int64_t *out) {
    IrOp op = constant_of(m, v);
    if (!op || !ir_has(m, op, IR_KEY_INT_VALUE))
        return false;
    *out = ir_int(m, op, IR_KEY_INT_VALUE, 0);
    return true;
}

bool ir_const_float(const IrModule *m, IrValue v, double *out) {
    IrOp op = constant_of(m, v);
    if (!op || !ir_has(m, op, IR_KEY_FLOAT_VALUE))
        return false;
    *out = ir_float(m, op, IR_KEY_FLOAT_VALUE, 0);
    return true;
}

/* --- uses --- */

IrUse ir_first_use(const IrModule *m, IrValue v) {
    return ir_value_data(m, v)->first_use;
}

IrUse ir_next_use(const IrModule *m, IrUse u) {
    return m->uses.data[u].next;
}

IrOp ir_use_op(const IrModule *m, IrUse u) {
    return m->uses.data[u].op;
}

uint32_t ir_use_index(const IrModule *m, IrUse u) {
    return m->uses.data[u].index;
}

bool ir_unused(const IrModule *m, IrValue v) {
    return !ir_first_use(m, v);
}

void ir_link_use(IrModule *m, IrUse u, IrValue v) {
    assert(v);
    IrUse head = ir_value_data(m, v)->first_use;
    m->uses.data[u].value = v;
    m->uses.data[u].prev = 0;
    m->uses.data[u].next = head;
    if (head)
        m->uses.data[head].prev = u;
    ir_value_data(m, v)->first_use = u;
}

void ir_unlink_use(IrModule *m, IrUse u) {
    IrUseData *d = &m->uses.data[u];
    if (!d->value)
        return;
    *(d->prev ? &m->uses.data[d->prev].next : &ir_value_data(m, d->value)->first_use) = d->next;
    if (d->next)
        m->uses.data[d->next].prev = d->prev;
    d->value = d->prev = d->next = 0;
}

void ir_reserve_operands(IrModule *m, IrOp op, uint32_t want) {
    IrOpData *o = ir_op_data(m, op);
    if (want <= o->operand_cap)
        return;
    uint32_t cap = o->operand_cap ? 2 * o->operand_cap : want;
    if (cap < want)
        cap = want;
    uint32_t at = m->uses.len;
    vec_reserve(m->arena, &m->uses, at + cap);
    m->uses.len = at + cap;
    for (uint32_t i = 0; i < cap; i++)
        m->uses.data[at + i] = (IrUseData){.op = op, .index = i};
    for (uint32_t i = 0; i < o->operand_len; i++) {
        IrValue v = m->uses.data[o->operands + i].value;
        ir_unlink_use(m, o->operands + i);
        ir_link_use(m, at + i, v);
    }
    o->operands = at;
    o->operand_cap = cap;
}

/* --- functions and groups --- */

uint32_t ir_func_count(const IrModule *m) {
    return m->funcs.len;
}

IrOp ir_func(const IrModule *m, uint32_t i) {
    assert(i < m->funcs.len);
    return m->funcs.data[i];
}

IrOp ir_func_of(const IrModule *m, IrOp op) {
    while (op && ir_kind(m, op) != IR_OP_FUNC)
        op = ir_parent_op(m, op);
    return op;
}

IrFuncData *ir_func_data(const IrModule *m, IrOp func) {
    assert(ir_kind(m, func) == IR_OP_FUNC);
    return &m->func_data.data[ir_op_data(m, func)->func];
}

uint32_t ir_group_count(const IrModule *m, IrOp func) {
    return ir_func_data(m, func)->groups.len;
}

IrGroup *ir_group_at(const IrModule *m, IrOp func, uint32_t group) {
    IrFuncData *f = ir_func_data(m, func);
    assert(group < f->groups.len);
    return &f->groups.data[group];
}

uint32_t ir_add_group(IrModule *m, IrOp func, IrGroup group) {
    IrFuncData *f = ir_func_data(m, func);
    vec_push(m->arena, &f->groups, group);
    return f->groups.len - 1;
}

void ir_set_param_fact(IrModule *m, IrOp func, uint32_t i, uint32_t divisible) {
    IrFuncData *f = ir_func_data(m, func);
    while (f->facts.len <= i)
        vec_push(m->arena, &f->facts, 1);
    f->facts.data[i] = divisible;
}

uint32_t ir_param_fact(const IrModule *m, IrOp func, uint32_t i) {
    const IrFuncData *f = ir_func_data(m, func);
    return i < f->facts.len ? f->facts.data[i] : 1;
}
