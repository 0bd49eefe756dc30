/* Dead code elimination, by marking what is needed and sweeping the rest.
 *
 * Roots are operations with effects. A carried value of a loop is one unit: its initial value,
 * block argument, next value and result live and die together, so a value that only feeds itself
 * goes.
 *
 *   %1 = for %lo, %hi, %st, %c : i32 (%i: i32, %n: i32) {      for %lo, %hi, %st (%i: i32) {
 *     %2 = add %n, %c : i32                                      store %p, %i
 *     store %p, %i                                         =>    yield
 *     yield %2                                                 }
 *   }
 *
 * Loops without effects are taken to end. Loads that are not volatile may go. Linear. */
#include "pass/pass.h"

typedef struct Dce {
    IrModule *m;
    Arena *scratch;
    bool *live_value, *live_op;
    VEC(IrValue) work;
    VEC(IrOp) control; /* live if, for and while */
    bool changed;
} Dce;

/* --- marking --- */

static void need_value(Dce *d, IrValue v) {
    if (d->live_value[v])
        return;
    d->live_value[v] = true;
    vec_push(d->scratch, &d->work, v);
}

static IrOp terminator(const IrModule *m, IrOp op, uint32_t region) {
    return ir_last(m, ir_region_block(m, op, region));
}

/* Operands that an operation needs whatever becomes of its results. */
static uint32_t fixed_operands(const IrModule *m, IrOp op) {
    switch (ir_kind(m, op)) {
    case IR_OP_IF:
    case IR_OP_CONDITION:
        return 1;
    case IR_OP_FOR:
        return 3;
    case IR_OP_WHILE:
        return 0;
    case IR_OP_YIELD: {
        IrKind parent = ir_kind(m, ir_parent_op(m, op));
        bool by_need = parent == IR_OP_IF || parent == IR_OP_FOR || parent == IR_OP_WHILE;
        return by_need ? 0 : ir_operand_count(m, op);
    }
    default:
        return ir_operand_count(m, op);
    }
}

static void need_op(Dce *d, IrOp op) {
    while (op && !d->live_op[op]) {
        IrKind kind = ir_kind(d->m, op);
        d->live_op[op] = true;
        if (kind == IR_OP_IF || kind == IR_OP_FOR || kind == IR_OP_WHILE)
            vec_push(d->scratch, &d->control, op);
        for (uint32_t i = 0; i < fixed_operands(d->m, op); i++)
            need_value(d, ir_operand(d->m, op, i));
        for (uint32_t i = 0; i < ir_region_count(d->m, op); i++)
            need_op(d, terminator(d->m, op, i));
        op = ir_parent_op(d->m, op);
    }
}

/* Carried value i of a for loop. */
static void need_for(Dce *d, IrOp op, uint32_t i) {
    need_value(d, ir_operand(d->m, op, 3 + i));
    need_value(d, ir_arg(d->m, ir_region_block(d->m, op, 0), 1 + i));
    need_value(d, ir_operand(d->m, terminator(d->m, op, 0), i));
    need_value(d, ir_result(d->m, op, i));
}

/* Carried value i of a while loop, up to its test. */
static void need_while_head(Dce *d, IrOp op, uint32_t i) {
    need_value(d, ir_operand(d->m, op, i));
    need_value(d, ir_arg(d->m, ir_region_block(d->m, op, 0), i));
    need_value(d, ir_operand(d->m, terminator(d->m, op, 1), i));
}

/* Value i that the test of a while loop passes on. */
static void need_while_tail(Dce *d, IrOp op, uint32_t i) {
    need_value(d, ir_arg(d->m, ir_region_block(d->m, op, 1), i));
    need_value(d, ir_operand(d->m, terminator(d->m, op, 0), 1 + i));
    need_value(d, ir_result(d->m, op, i));
}

static void need_result(Dce *d, IrOp op, uint32_t i) {
    need_op(d, op);
    switch (ir_kind(d->m, op)) {
    case IR_OP_IF:
        need_value(d, ir_operand(d->m, terminator(d->m, op, 0), i));
        need_value(d, ir_operand(d->m, terminator(d->m, op, 1), i));
        return;
    case IR_OP_FOR:
        need_for(d, op, i);
        return;
    case IR_OP_WHILE:
        need_while_tail(d, op, i);
        return;
    default:
        return;
    }
}

static void need_arg(Dce *d, IrBlock b, uint32_t i) {
    IrOp op = ir_block_op(d->m, b);
    need_op(d, op);
    if (ir_kind(d->m, op) == IR_OP_FOR && i)
        need_for(d, op, i - 1);
    else if (ir_kind(d->m, op) == IR_OP_WHILE && b == ir_region_block(d->m, op, 0))
        need_while_head(d, op, i);
    else if (ir_kind(d->m, op) == IR_OP_WHILE)
        need_while_tail(d, op, i);
}

static bool has_effect(const IrModule *m, IrOp op) {
    return ir_kind(m, op) == IR_OP_FUNC || ir_trait(m, op, IR_TRAIT_WRITES) ||
           (ir_kind(m, op) == IR_OP_LOAD && ir_int(m, op, IR_KEY_VOLATILE, 0));
}

static void mark_root(IrModule *m, IrOp op, void *user) {
    if (has_effect(m, op))
        need_op(user, op);
}

static void mark(Dce *d) {
    for (uint32_t i = 0; i < ir_func_count(d->m); i++)
        ir_walk(d->m, ir_func(d->m, i), mark_root, d);
    while (d->work.len) {
        IrValue v = vec_pop(&d->work);
        if (ir_value_op(d->m, v))
            need_result(d, ir_value_op(d->m, v), ir_value_index(d->m, v));
        else
            need_arg(d, ir_value_block(d->m, v), ir_value_index(d->m, v));
    }
}

/* --- sweeping --- */

/* Drops operands `first`+i of op where positions[i] is dead. */
static void drop_operands(Dce *d, IrOp op, uint32_t first, const IrValue *positions, uint32_t len) {
    for (uint32_t i = len; i-- > 0;)
        if (!d->live_value[positions[i]])
            ir_remove_operand(d->m, op, first + i);
}

static IrValue *results_of(Dce *d, IrOp op, uint32_t *len) {
    *len = ir_result_count(d->m, op);
    IrValue *list = arena_array(d->scratch, IrValue, *len + 1);
    for (uint32_t i = 0; i < *len; i++)
        list[i] = ir_result(d->m, op, i);
    return list;
}

static IrValue *args_of(Dce *d, IrBlock b, uint32_t from, uint32_t *len) {
    *len = ir_arg_count(d->m, b) - from;
    IrValue *list = arena_array(d->scratch, IrValue, *len + 1);
    for (uint32_t i = 0; i < *len; i++)
        list[i] = ir_arg(d->m, b, from + i);
    return list;
}

/* Takes dead values out of the operand lists of a live control operation and its terminators. */
static void drop_inputs(Dce *d, IrOp op) {
    uint32_t len, heads;
    const IrValue *results = results_of(d, op, &len), *head;
    switch (ir_kind(d->m, op)) {
    case IR_OP_IF:
        drop_operands(d, terminator(d->m, op, 0), 0, results, len);
        drop_operands(d, terminator(d->m, op, 1), 0, results, len);
        return;
    case IR_OP_FOR:
        drop_operands(d, op, 3, results, len);
        drop_operands(d, terminator(d->m, op, 0), 0, results, len);
        return;
    case IR_OP_WHILE:
        head = args_of(d, ir_region_block(d->m, op, 0), 0, &heads);
        drop_operands(d, op, 0, head, heads);
        drop_operands(d, terminator(d->m, op, 1), 0, head, heads);
        drop_operands(d, terminator(d->m, op, 0), 1, results, len);
        return;
    default:
        return;
    }
}

static void drop_args(Dce *d, IrBlock b, uint32_t from) {
    for (uint32_t i = ir_arg_count(d->m, b); i-- > from;) {
        if (d->live_value[ir_arg(d->m, b, i)])
            continue;
        ir_remove_arg(d->m, b, i);
        d->changed = true;
    }
}

/* Then, with every use gone, the block arguments and results. */
static void drop_outputs(Dce *d, IrOp op) {
    for (uint32_t i = 0; i < ir_region_count(d->m, op); i++)
        drop_args(d, ir_region_block(d->m, op, i), ir_kind(d->m, op) == IR_OP_FOR);
    for (uint32_t i = ir_result_count(d->m, op); i-- > 0;) {
        if (d->live_value[ir_result(d->m, op, i)])
            continue;
        ir_remove_result(d->m, op, i);
        d->changed = true;
    }
}

static void sweep_block(Dce *d, IrBlock b) {
    for (IrOp op = ir_last(d->m, b), prev; op; op = prev) {
        prev = ir_prev(d->m, op);
        if (!d->live_op[op]) {
            ir_erase(d->m, op);
            d->changed = true;
            continue;
        }
        for (uint32_t i = 0; i < ir_region_count(d->m, op); i++)
            sweep_block(d, ir_region_block(d->m, op, i));
    }
}

bool pass_dce(PassContext *c) {
    Dce d = {.m = c->m, .scratch = c->scratch};
    d.live_value = arena_array(c->scratch, bool, ir_value_limit(c->m));
    d.live_op = arena_array(c->scratch, bool, ir_op_limit(c->m));
    mark(&d);
    for (uint32_t i = 0; i < d.control.len; i++)
        drop_inputs(&d, d.control.data[i]);
    for (uint32_t i = 0; i < ir_func_count(c->m); i++)
        sweep_block(&d, ir_region_block(c->m, ir_func(c->m, i), 0));
    for (uint32_t i = 0; i < d.control.len; i++)
        drop_outputs(&d, d.control.data[i]);
    c->changed = d.changed;
    return true;
}
