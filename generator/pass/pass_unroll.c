/* Loop unrolling, of loops with the attribute `unroll`: -1 asks for all iterations, n > 1 for n.
 *
 * A loop of a constant number of iterations, at most n (or any with -1), becomes straight code.
 * Otherwise the body is repeated n times in a loop of n times the step, and a copy of the loop does
 * the rest:
 *
 *   for %lo, %hi, %st [unroll = 2]  =>  for %lo, %mid, 2 * %st { body(i); body(i + st) }
 *                                       for %mid, %hi, %st { body(i) }
 *
 * The second loop is left out when the iterations are known to divide. Like the loop itself this
 * takes it that the induction variable does not overflow past the upper bound. The attribute is
 * removed, so a second run changes nothing. Loops that would grow past MAX_OPS stay, with a
 * warning. */
#include "pass/loops.h"
#include "pass/pass.h"

enum { MAX_OPS = 1 << 16 };

typedef struct Unroll {
    IrModule *m;
    Arena *scratch;
    Diag *diag;
    bool changed;
} Unroll;

/* --- counting --- */

bool pass_trip_count(const IrModule *m, IrOp loop, uint64_t *out) {
    int64_t lower, upper, step;
    if (!ir_const_int(m, ir_operand(m, loop, 0), &lower) ||
        !ir_const_int(m, ir_operand(m, loop, 1), &upper) ||
        !ir_const_int(m, ir_operand(m, loop, 2), &step) || step <= 0)
        return false;
    *out = lower < upper ? ((uint64_t)upper - (uint64_t)lower - 1) / (uint64_t)step + 1 : 0;
    return true;
}

static void count_op(IrModule *m, IrOp op, void *user) {
    (void)m;
    (void)op;
    ++*(uint64_t *)user;
}

static bool fits(Unroll *u, IrOp loop, uint64_t copies) {
    uint64_t ops = 0;
    ir_walk(u->m, loop, count_op, &ops);
    if (copies <= MAX_OPS / ops)
        return true;
    diag_warning(u->diag, DIAG_PASS_UNSUPPORTED, ir_span(u->m, loop),
                 "loop is not unrolled: %llu copies of %llu operations, at most %d in all",
                 (unsigned long long)copies, (unsigned long long)ops, MAX_OPS);
    return false;
}

/* --- copying --- */

/* One copy of the body at the builder's point. `carried` holds the values going in, and coming out.
 */
static void copy_body(Unroll *u, IrBuilder *b, IrOp loop, IrValue index, IrValue *carried) {
    IrModule *m = u->m;
    IrBlock body = ir_region_block(m, loop, 0);
    IrOp end = ir_last(m, body);
    uint32_t n = ir_result_count(m, loop);
    Map map;
    map_init(&map, u->scratch);
    map_put(&map, ir_arg(m, body, 0), index);
    for (uint32_t i = 0; i < n; i++)
        map_put(&map, ir_arg(m, body, 1 + i), carried[i]);
    for (IrOp op = ir_first(m, body); op != end; op = ir_next(m, op))
        ir_clone(b, op, &map);
    for (uint32_t i = 0; i < n; i++)
        carried[i] = map_find(&map, ir_operand(m, end, i), ir_operand(m, end, i));
}

static IrValue *initial_values(Unroll *u, IrOp loop) {
    uint32_t n = ir_result_count(u->m, loop);
    IrValue *carried = arena_array(u->scratch, IrValue, n + 1);
    for (uint32_t i = 0; i < n; i++)
        carried[i] = ir_operand(u->m, loop, 3 + i);
    return carried;
}

static IrBuilder builder_at(IrModule *m, IrOp op) {
    IrBuilder b = {.m = m, .span = ir_span(m, op), .group = ir_group(m, op)};
    ir_at_op(&b, op);
    return b;
}

static void unroll_fully(Unroll *u, IrOp loop, uint64_t trips) {
    IrModule *m = u->m;
    IrBuilder b = builder_at(m, loop);
    IrType index = ir_value_type(m, ir_operand(m, loop, 0));
    IrValue *carried = initial_values(u, loop);
    int64_t lower = 0, step = 0;
    ir_const_int(m, ir_operand(m, loop, 0), &lower);
    ir_const_int(m, ir_operand(m, loop, 2), &step);
    for (uint64_t i = 0; i < trips; i++)
        copy_body(u, &b, loop,
                  ir_build_int(&b, index, (int64_t)((uint64_t)lower + i * (uint64_t)step)),
                  carried);
    for (uint32_t i = 0; i < ir_result_count(m, loop); i++)
        ir_replace(m, ir_result(m, loop, i), carried[i]);
    ir_erase(m, loop);
}

/* lower + iterations in whole groups of `factor` * step; unsigned, so no intermediate overflows. */
static IrValue middle_bound(IrBuilder *b, IrOp loop, int64_t factor) {
    IrModule *m = b->m;
    IrValue lower = ir_operand(m, loop, 0), upper = ir_operand(m, loop, 1);
    IrValue step = ir_operand(m, loop, 2);
    IrType t = ir_value_type(m, lower);
    IrValue one = ir_build_int(b, t, 1), zero = ir_build_int(b, t, 0);
    IrValue runs = ir_build_cmp(b, IR_OP_ICMP, IR_CMP_SLT, lower, upper);
    IrValue last = ir_build2(b, IR_OP_SUB, ir_build2(b, IR_OP_SUB, upper, lower), one);
    IrValue some = ir_build2(b, IR_OP_ADD, ir_build2(b, IR_OP_UDIV, last, step), one);
    IrValue trips = ir_build_select(b, runs, some, zero);
    IrValue rest = ir_build2(b, IR_OP_UREM, trips, ir_build_int(b, t, factor));
    IrValue whole = ir_build2(b, IR_OP_SUB, trips, rest);
    return ir_build2(b, IR_OP_ADD, lower, ir_build2(b, IR_OP_MUL, whole, step));
}

/* The loop of whole groups, in front of `loop`; returns it. */
static IrOp build_groups(Unroll *u, IrOp loop, IrValue upper, int64_t factor) {
    IrModule *m = u->m;
    IrBuilder b = builder_at(m, loop);
    uint32_t n = ir_result_count(m, loop);
    IrValue step = ir_operand(m, loop, 2);
    IrType index = ir_value_type(m, step);
    IrValue stride = ir_build2(&b, IR_OP_MUL, step, ir_build_int(&b, index, factor));
    IrValue bounds[3] = {ir_operand(m, loop, 0), upper, stride};
    IrOp groups = ir_build(&b, IR_OP_FOR, bounds, 3, NULL, 0);
    IrBlock body = ir_region_block(m, groups, 0);
    IrValue *carried = arena_array(u->scratch, IrValue, n + 1);
    IrValue i = ir_add_arg(m, body, index);
    ir_copy_attrs(m, loop, groups);
    for (uint32_t k = 0; k < n; k++) {
        IrType t = ir_value_type(m, ir_result(m, loop, k));
        ir_add_operand(m, groups, ir_operand(m, loop, 3 + k));
        ir_add_result(m, groups, t);
        carried[k] = ir_add_arg(m, body, t);
    }
    ir_at_end(&b, body);
    for (int64_t k = 0; k < factor; k++) {
        copy_body(u, &b, loop, i, carried);
        if (k + 1 < factor)
            i = ir_build2(&b, IR_OP_ADD, i, step);
    }
    ir_build(&b, IR_OP_YIELD, carried, n, NULL, 0);
    return groups;
}

static void unroll_by(Unroll *u, IrOp loop, int64_t factor, bool divides) {
    IrModule *m = u->m;
    IrBuilder b = builder_at(m, loop);
    IrValue upper = divides ? ir_operand(m, loop, 1) : middle_bound(&b, loop, factor);
    IrOp groups = build_groups(u, loop, upper, factor);
    for (uint32_t i = 0; i < ir_result_count(m, loop); i++) {
        if (divides)
            ir_replace(m, ir_result(m, loop, i), ir_result(m, groups, i));
        else
            ir_set_operand(m, loop, 3 + i, ir_result(m, groups, i));
    }
    if (divides)
        ir_erase(m, loop);
    else
        ir_set_operand(m, loop, 0, upper);
}

/* --- the walk --- */

static void unroll_loop(Unroll *u, IrOp loop) {
    int64_t factor = ir_int(u->m, loop, IR_KEY_UNROLL, 0);
    uint64_t trips = 0;
    bool known = pass_trip_count(u->m, loop, &trips);
    ir_unset(u->m, loop, IR_KEY_UNROLL);
    u->changed = true;
    if (known && (factor == -1 || (factor > 1 && trips <= (uint64_t)factor))) {
        if (fits(u, loop, trips))
            unroll_fully(u, loop, trips);
    } else if (factor > 1 && fits(u, loop, (uint64_t)factor)) {
        unroll_by(u, loop, factor, known && trips % (uint64_t)factor == 0);
    }
}

/* Inner loops first; `op` may be replaced, so its neighbour is taken before. */
static void visit_block(Unroll *u, IrBlock b) {
    for (IrOp op = ir_first(u->m, b), next; op; op = next) {
        next = ir_next(u->m, op);
        for (uint32_t i = 0; i < ir_region_count(u->m, op); i++)
            visit_block(u, ir_region_block(u->m, op, i));
        if (ir_kind(u->m, op) == IR_OP_FOR && ir_has(u->m, op, IR_KEY_UNROLL))
            unroll_loop(u, op);
    }
}

bool pass_unroll(PassContext *c) {
    Unroll u = {.m = c->m, .scratch = c->scratch, .diag = c->diag};
    for (uint32_t i = 0; i < ir_func_count(c->m); i++)
        visit_block(&u, ir_region_block(c->m, ir_func(c->m, i), 0));
    c->changed = u.changed;
    return true;
}
