/* Coalesce: the ideal layout and vector width of every access to a tile of pointers.
 *
 * The layout is blocked: the dimension along which addresses run longest comes first, each thread
 * takes as many neighbours as axis analysis proves to be one aligned access of at most 16 bytes
 * (the target's widest), and no more than keeps all threads busy. The choice is written into the IR
 * as layouts of the access, between conversions from and to tiles that have no layout yet; the
 * layout pass reads it there and decides whether the surrounding code follows.
 *
 *   %v = load %p : tile<1024 x ptr<f32>> -> tile<1024 x f32>
 * becomes
 *   %q = convert_layout %p : ... -> tile<1024 x ptr<f32>, L>
 *   %w = load %q {vector = 4}
 *   %v = convert_layout %w : tile<1024 x f32, L> -> tile<1024 x f32>
 *
 * Accesses that already have a layout are left alone. Cost: one axis analysis per function. */
#include "analysis/layout_rule.h"
#include "pass/pass.h"

enum { LANES = 32 };

typedef struct Coalesce {
    PassContext *c;
    Axis *axis;
} Coalesce;

static bool is_access(IrKind kind) {
    return kind == IR_OP_LOAD || kind == IR_OP_STORE || kind == IR_OP_ATOMIC_RMW ||
           kind == IR_OP_ATOMIC_CAS || kind == IR_OP_STORE_ASYNC;
}

/* Longest runs first; among equals the last dimension, as in row-major memory. */
static void order_by_runs(const AxisInfo *p, unsigned rank, uint8_t *order) {
    for (unsigned i = 0; i < rank; i++)
        order[i] = (uint8_t)(rank - 1 - i);
    for (unsigned i = 1; i < rank; i++)
        for (unsigned k = i; k > 0; k--)
            if (p->contiguity[order[k]] > p->contiguity[order[k - 1]]) {
                uint8_t other = order[k];
                order[k] = order[k - 1];
                order[k - 1] = other;
            }
}

/* Shared memory has 16-byte accesses on every target. */
static uint32_t widest(const Coalesce *k, IrOp op) {
    IrType ptr = ir_elem_type(k->c->m, ir_value_type(k->c->m, ir_operand(k->c->m, op, 0)));
    uint32_t bytes = k->c->target->max_vector;
    return ir_type(k->c->m, ptr)->space == IR_SPACE_GLOBAL || bytes < 16 ? bytes : 16;
}

static Layout ideal_layout(const Coalesce *k, IrOp op) {
    IrModule *m = k->c->m;
    IrValue ptr = ir_operand(m, op, 0);
    const IrTypeData *t = ir_type(m, ir_value_type(m, ptr));
    uint32_t warps = layout_warps(m, op), per_thread[IR_MAX_RANK] = {1, 1, 1, 1, 1};
    uint8_t order[IR_MAX_RANK];
    order_by_runs(axis_info(k->axis, ptr), t->rank, order);
    int64_t share = ir_tile_elems(m, ir_value_type(m, ptr)) / ((int64_t)LANES * warps);
    uint32_t vector = axis_vector(k->axis, m, op, order[0], widest(k, op));
    while (vector > 1 && vector > share)
        vector /= 2;
    per_thread[order[0]] = vector;
    return layout_blocked(t->rank, t->shape, per_thread, order, LANES, warps);
}

static IrValue converted(IrBuilder *b, IrValue v, LayoutId layout) {
    IrType t = ir_type_with_layout(b->m, ir_value_type(b->m, v), layout);
    return ir_build1(b, IR_OP_CONVERT_LAYOUT, t, v);
}

static void anchor(Coalesce *k, IrOp op) {
    IrModule *m = k->c->m;
    Layout l = ideal_layout(k, op);
    LayoutId id = layout_intern(ir_layouts(m), &l);
    IrBuilder b = {.m = m, .span = ir_span(m, op), .group = ir_group(m, op)};
    ir_at_op(&b, op);
    if (ir_kind(m, op) == IR_OP_LOAD || ir_kind(m, op) == IR_OP_STORE ||
        ir_kind(m, op) == IR_OP_STORE_ASYNC)
        ir_set_int(m, op, IR_KEY_VECTOR, layout_vector(k->axis, m, op, &l, widest(k, op)));
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++)
        ir_set_operand(m, op, i, converted(&b, ir_operand(m, op, i), id));
    if (ir_result_count(m, op)) {
        IrValue result = ir_result(m, op, 0);
        IrType plain = ir_value_type(m, result);
        ir_after_op(&b, op);
        IrValue back = ir_build1(&b, IR_OP_CONVERT_LAYOUT, plain, result);
        ir_set_value_type(m, result, ir_type_with_layout(m, plain, id));
        ir_replace(m, result, back);
        ir_set_operand(m, ir_value_op(m, back), 0, result);
    }
    k->c->changed = true;
}

static void visit(Coalesce *k, IrBlock block) {
    IrModule *m = k->c->m;
    for (IrOp op = ir_first(m, block), next; op; op = next) {
        next = ir_next(m, op);
        for (uint32_t r = 0; r < ir_region_count(m, op); r++)
            visit(k, ir_region_block(m, op, r));
        if (!is_access(ir_kind(m, op)))
            continue;
        IrType ptr = ir_value_type(m, ir_operand(m, op, 0));
        if (ir_is_tile(m, ptr) && !ir_type(m, ptr)->layout)
            anchor(k, op);
    }
}

bool pass_coalesce(PassContext *c) {
    for (uint32_t i = 0; i < ir_func_count(c->m); i++) {
        IrOp func = ir_func(c->m, i);
        Coalesce k = {c, axis_analyse(c->scratch, c->m, func)};
        visit(&k, ir_region_block(c->m, func, 0));
    }
    return true;
}
