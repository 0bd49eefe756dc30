/* Loop-invariant code motion: pure operations directly in a loop whose operands come from outside
 * move in front of it, inner loops first.
 *
 *   for %lo, %hi, %st (%i: i32) {        %1 = mul %x, %y : i32
 *     %1 = mul %x, %y : i32        =>    for %lo, %hi, %st (%i: i32) {
 *     store %p, %1                         store %p, %1
 *     yield                                yield
 *   }                                    }
 *
 * A loop may run zero times, so this speculates; pure operations never trap. Loads stay. A for with
 * `no_licm` is left alone. Operations inside an if of the loop stay. Linear times depth. */
#include "pass/pass.h"

typedef struct Licm {
    IrModule *m;
    IrOp loop; /* the loop at hand */
    bool changed;
} Licm;

static bool is_within(const IrModule *m, IrBlock b, IrOp op) {
    while (b && ir_block_op(m, b) != op)
        b = ir_parent(m, ir_block_op(m, b));
    return b;
}

static IrBlock home_of(const IrModule *m, IrValue v) {
    IrOp op = ir_value_op(m, v);
    return op ? ir_parent(m, op) : ir_value_block(m, v);
}

/* Is an operand of `user`, which is `op` or lies in a region of it, from inside the loop but from
 * outside `op`? */
static bool needs_loop(const Licm *l, IrOp op, IrOp user) {
    for (uint32_t i = 0; i < ir_operand_count(l->m, user); i++) {
        IrBlock home = home_of(l->m, ir_operand(l->m, user, i));
        if (is_within(l->m, home, l->loop) && !is_within(l->m, home, op))
            return true;
    }
    return false;
}

static bool is_invariant(const Licm *l, IrOp op) {
    if (needs_loop(l, op, op))
        return false;
    for (uint32_t r = 0; r < ir_region_count(l->m, op); r++)
        for (IrOp x = ir_first(l->m, ir_region_block(l->m, op, r)); x; x = ir_next(l->m, x))
            if (needs_loop(l, op, x))
                return false;
    return true;
}

/* Regions of pure operations hold no regions themselves. */
static void hoist_from(Licm *l, IrBlock b) {
    for (IrOp op = ir_first(l->m, b), next; op; op = next) {
        next = ir_next(l->m, op);
        if (!ir_trait(l->m, op, IR_TRAIT_PURE) || !is_invariant(l, op))
            continue;
        ir_move_before(l->m, op, l->loop);
        l->changed = true;
    }
}

static void visit_block(Licm *l, IrBlock b) {
    IrModule *m = l->m;
    for (IrOp op = ir_first(m, b); op; op = ir_next(m, op)) {
        IrKind kind = ir_kind(m, op);
        for (uint32_t i = 0; i < ir_region_count(m, op); i++)
            visit_block(l, ir_region_block(m, op, i));
        if ((kind != IR_OP_FOR && kind != IR_OP_WHILE) || ir_int(m, op, IR_KEY_NO_LICM, 0))
            continue;
        l->loop = op;
        for (uint32_t i = 0; i < ir_region_count(m, op); i++)
            hoist_from(l, ir_region_block(m, op, i));
    }
}

bool pass_licm(PassContext *c) {
    Licm l = {.m = c->m};
    for (uint32_t i = 0; i < ir_func_count(c->m); i++)
        visit_block(&l, ir_region_block(c->m, ir_func(c->m, i), 0));
    c->changed = l.changed;
    return true;
}
