/* Axis analysis: fixed point over structured control flow.
 *
 * Values start unknown-yet (top) and only go down: the facts of a loop-carried value are the join
 * of its initial value with what the body yields, and the walk repeats until nothing changes. All
 * facts are powers of two, so the chain is short. */
#include "analysis/axis.h"

#include "analysis/axis_impl.h"

#include <string.h>

static const AxisInfo unknown = {.rank = IR_MAX_RANK,
                                 .contiguity = {1, 1, 1, 1, 1},
                                 .divisibility = {1, 1, 1, 1, 1},
                                 .constancy = {1, 1, 1, 1, 1}};

const AxisInfo *axis_reached(const Axis *x, IrValue v) {
    return v < x->info.len ? x->info.data[v] : NULL;
}

const AxisInfo *axis_info(const Axis *x, IrValue v) {
    const AxisInfo *a = axis_reached(x, v);
    return a ? a : &unknown;
}

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static AxisInfo join(const Axis *x, IrValue v, const AxisInfo *a, const AxisInfo *b) {
    AxisInfo out = *a;
    int64_t unit = axis_unit(x->m, ir_value_type(x->m, v));
    for (unsigned d = 0; d < a->rank; d++) {
        int64_t run = lesser(a->contiguity[d], b->contiguity[d]);
        out.contiguity[d] = run;
        out.divisibility[d] =
            lesser(axis_divisible_at(a, d, run, unit), axis_divisible_at(b, d, run, unit));
        out.constancy[d] = lesser(a->constancy[d], b->constancy[d]);
    }
    if (a->is_const && (!b->is_const || a->value != b->value)) {
        out.is_const = false;
        out.value = 0;
    }
    return out;
}

static bool same_info(const AxisInfo *a, const AxisInfo *b) {
    if (a->is_const != b->is_const || a->value != b->value)
        return false;
    for (unsigned d = 0; d < a->rank; d++)
        if (a->contiguity[d] != b->contiguity[d] || a->divisibility[d] != b->divisibility[d] ||
            a->constancy[d] != b->constancy[d])
            return false;
    return true;
}

/* Joins new facts of `v` with those it has. */
static void add_info(Axis *x, IrValue v, AxisInfo a) {
    int64_t assumed = (int64_t)map_find(&x->assumed, v, 1);
    for (unsigned d = 0; d < a.rank; d++)
        if (a.divisibility[d] < assumed)
            a.divisibility[d] = assumed;
    while (x->info.len <= v)
        (void)vec_push(x->arena, &x->info, NULL);
    AxisInfo *old = x->info.data[v];
    if (!old) {
        x->info.data[v] = arena_new_of(x->arena, AxisInfo);
        *x->info.data[v] = a;
        x->changed = true;
        return;
    }
    AxisInfo joined = join(x, v, old, &a);
    if (same_info(old, &joined))
        return;
    *old = joined;
    x->changed = true;
}

static void flow(Axis *x, IrValue from, IrValue to) {
    const AxisInfo *a = axis_reached(x, from);
    if (a)
        add_info(x, to, *a);
}

/* --- control flow --- */

static void walk_block(Axis *x, IrBlock b);

static void walk_if(Axis *x, IrOp op) {
    for (uint32_t r = 0; r < 2; r++) {
        IrBlock b = ir_region_block(x->m, op, r);
        walk_block(x, b);
        IrOp yield = ir_last(x->m, b);
        if (!yield || ir_kind(x->m, yield) != IR_OP_YIELD)
            continue; /* this side returns */
        for (uint32_t i = 0; i < ir_result_count(x->m, op); i++)
            flow(x, ir_operand(x->m, yield, i), ir_result(x->m, op, i));
    }
}

/* lower + k * step is a multiple of what divides both. */
static void walk_induction(Axis *x, IrOp op, IrBlock body) {
    const AxisInfo *lower = axis_reached(x, ir_operand(x->m, op, 0));
    const AxisInfo *step = axis_reached(x, ir_operand(x->m, op, 2));
    IrValue iv = ir_arg(x->m, body, 0);
    AxisInfo a = axis_nothing(x->m, ir_value_type(x->m, iv));
    if (lower && step)
        a.divisibility[0] = lesser(lower->divisibility[0], step->divisibility[0]);
    add_info(x, iv, a);
}

static void walk_for(Axis *x, IrOp op) {
    IrBlock body = ir_region_block(x->m, op, 0);
    walk_induction(x, op, body);
    for (uint32_t i = 0; i < ir_result_count(x->m, op); i++)
        flow(x, ir_operand(x->m, op, i + 3), ir_arg(x->m, body, i + 1));
    walk_block(x, body);
    IrOp yield = ir_last(x->m, body);
    for (uint32_t i = 0; i < ir_result_count(x->m, op); i++) {
        flow(x, ir_operand(x->m, yield, i), ir_arg(x->m, body, i + 1));
        flow(x, ir_arg(x->m, body, i + 1), ir_result(x->m, op, i));
    }
}

static void walk_while(Axis *x, IrOp op) {
    IrBlock test = ir_region_block(x->m, op, 0), body = ir_region_block(x->m, op, 1);
    for (uint32_t i = 0; i < ir_operand_count(x->m, op); i++)
        flow(x, ir_operand(x->m, op, i), ir_arg(x->m, test, i));
    walk_block(x, test);
    IrOp condition = ir_last(x->m, test);
    for (uint32_t i = 1; i < ir_operand_count(x->m, condition); i++) {
        flow(x, ir_operand(x->m, condition, i), ir_arg(x->m, body, i - 1));
        flow(x, ir_operand(x->m, condition, i), ir_result(x->m, op, i - 1));
    }
    walk_block(x, body);
    IrOp yield = ir_last(x->m, body);
    for (uint32_t i = 0; i < ir_operand_count(x->m, yield); i++)
        flow(x, ir_operand(x->m, yield, i), ir_arg(x->m, test, i));
}

static void walk_op(Axis *x, IrOp op) {
    switch ((int)ir_kind(x->m, op)) {
    case IR_OP_IF:
        walk_if(x, op);
        return;
    case IR_OP_FOR:
        walk_for(x, op);
        return;
    case IR_OP_WHILE:
        walk_while(x, op);
        return;
    default:
        break;
    }
    for (uint32_t i = 0; i < ir_result_count(x->m, op); i++) {
        AxisInfo a;
        if (ir_type(x->m, ir_value_type(x->m, ir_result(x->m, op, i)))->kind == IR_BUF)
            continue;
        if (axis_transfer(x, op, i, &a))
            add_info(x, ir_result(x->m, op, i), a);
    }
}

static void walk_block(Axis *x, IrBlock b) {
    for (IrOp op = ir_first(x->m, b); op; op = ir_next(x->m, op))
        walk_op(x, op);
}

/* --- facts --- */

static bool is_const(const IrModule *m, IrValue v, int64_t wanted) {
    int64_t value;
    return ir_const_int(m, v, &value) && value == wanted;
}

/* x % c == 0 and x & (c - 1) == 0: the power of two that must divide x. */
static int64_t divisor_tested(const IrModule *m, IrOp test) {
    int64_t c;
    if (!test || ir_operand_count(m, test) != 2 || !ir_const_int(m, ir_operand(m, test, 1), &c))
        return 1;
    IrKind kind = ir_kind(m, test);
    if (kind == IR_OP_SREM || kind == IR_OP_UREM)
        return c > 0 ? axis_pow2_of(c) : 1;
    return kind == IR_OP_AND ? axis_pow2_of(~c) : 1;
}

/* The fact reaches back to the definition only when both are in one block: then whoever computes x
 * also reaches the assumption. */
static void assume_condition(Axis *x, IrOp assume, IrValue condition) {
    const IrModule *m = x->m;
    IrOp op = ir_value_op(m, condition);
    if (!op)
        return;
    if (ir_kind(m, op) == IR_OP_AND) {
        assume_condition(x, assume, ir_operand(m, op, 0));
        assume_condition(x, assume, ir_operand(m, op, 1));
        return;
    }
    if (ir_kind(m, op) != IR_OP_ICMP || ir_int(m, op, IR_KEY_CMP, -1) != IR_CMP_EQ ||
        !is_const(m, ir_operand(m, op, 1), 0))
        return;
    IrOp test = ir_value_op(m, ir_operand(m, op, 0));
    int64_t div = divisor_tested(m, test);
    if (div <= 1 || ir_is_tile(m, ir_value_type(m, condition)))
        return;
    IrValue v = ir_operand(m, test, 0);
    IrOp def = ir_value_op(m, v);
    IrBlock home = def ? ir_parent(m, def) : ir_value_block(m, v);
    if (home == ir_parent(m, assume))
        map_put(&x->assumed, v, (uint32_t)div);
}

static void collect_assumptions(Axis *x, IrBlock b) {
    for (IrOp op = ir_first(x->m, b); op; op = ir_next(x->m, op)) {
        if (ir_kind(x->m, op) == IR_OP_ASSUME)
            assume_condition(x, op, ir_operand(x->m, op, 0));
        for (uint32_t r = 0; r < ir_region_count(x->m, op); r++)
            collect_assumptions(x, ir_region_block(x->m, op, r));
    }
}

static void add_parameters(Axis *x, IrOp func) {
    IrBlock body = ir_region_block(x->m, func, 0);
    for (uint32_t i = 0; i < ir_arg_count(x->m, body); i++) {
        IrValue v = ir_arg(x->m, body, i);
        AxisInfo a = axis_nothing(x->m, ir_value_type(x->m, v));
        a.divisibility[0] = axis_pow2_of(ir_param_fact(x->m, func, i));
        add_info(x, v, a);
    }
}

Axis *axis_analyse(Arena *a, const IrModule *m, IrOp func) {
    Axis *x = arena_new_of(a, Axis);
    x->arena = a;
    x->m = m;
    map_init(&x->assumed, a);
    collect_assumptions(x, ir_region_block(m, func, 0));
    do {
        x->changed = false;
        add_parameters(x, func);
        walk_block(x, ir_region_block(m, func, 0));
    } while (x->changed);
    return x;
}

/* --- vector width --- */

static uint32_t mask_operand(const IrModule *m, IrOp access) {
    IrKind kind = ir_kind(m, access);
    uint32_t i = kind == IR_OP_LOAD ? 1 : kind == IR_OP_STORE ? 2 : 3;
    return ir_operand_count(m, access) > i ? i : 0;
}

uint32_t axis_vector(const Axis *x, const IrModule *m, IrOp access, unsigned dim,
                     uint32_t max_bytes) {
    IrValue ptr = ir_operand(m, access, 0);
    IrKind kind = ir_kind(m, access);
    if (!ir_is_tile(m, ir_value_type(m, ptr)) ||
        (kind != IR_OP_LOAD && kind != IR_OP_STORE && kind != IR_OP_STORE_ASYNC))
        return 1;
    const IrTypeData *pointer = ir_type(m, ir_elem_type(m, ir_value_type(m, ptr)));
    int64_t bytes = (int64_t)ir_elem_bytes(m, pointer->of);
    const AxisInfo *p = axis_info(x, ptr);
    int64_t n = lesser(p->contiguity[dim],
                       lesser(p->divisibility[dim] / bytes, (int64_t)max_bytes / bytes));
    uint32_t mask = mask_operand(m, access);
    if (mask)
        n = lesser(n, axis_info(x, ir_operand(m, access, mask))->constancy[dim]);
    return n < 1 ? 1u : (uint32_t)n;
}
