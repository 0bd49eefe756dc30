/* Convert-elim: removes layout conversions.
 *
 *   cancel          a conversion to the layout that a value already has, or had before another
 *                   conversion, disappears
 *   rematerialise   a cheap pure chain is computed again in the wanted layout, when that costs less
 * than the conversion; the chain ends at values that exist in that layout and at producers that are
 * free in any (arange, splat, const) sink            an elementwise operation on converted values
 * of one layout is computed in that layout, and one conversion follows it instead of several before
 * it hoist           a conversion of a value from outside a loop moves in front of the loop
 *
 *   %o = add %r, %s : L1                                %r2 = arange : L2; %s2 = splat : L2
 *   %c = convert_layout %o : L2              ->         %c = add %r2, %s2 : L2
 *
 * Assumes and keeps what the layout pass guarantees. Originals that nobody uses any more are
 * erased. Cost figures are those of layout_cost.c. Known miss: values carried around a loop keep
 * the layout that the layout pass chose for them. */
#include "analysis/layout_rule.h"
#include "pass/convert_elim.h"
#include "pass/pass.h"

enum { MAX_CHAIN = 24, MAX_ROUNDS = 8 };

typedef struct Elim {
    PassContext *c;
    IrModule *m;
    Map done;        /* rematerialisation under way: value << 32 | layout -> new value */
    VEC(IrOp) ops;   /* of the function, before the round */
    uint32_t budget; /* operations that a chain may still have */
    bool changed;
} Elim;

static LayoutId layout_id(const Elim *e, IrValue v) {
    return ir_type(e->m, ir_value_type(e->m, v))->layout;
}

static const Layout *get(const Elim *e, LayoutId id) {
    return layout_get(ir_layouts(e->m), id);
}

/* One between layouts: without the layout pass a side may have none yet. */
static bool is_convert(const Elim *e, IrOp op) {
    return op && ir_kind(e->m, op) == IR_OP_CONVERT_LAYOUT &&
           layout_id(e, ir_operand(e->m, op, 0)) && layout_id(e, ir_result(e->m, op, 0));
}

static bool is_tile(const Elim *e, IrValue v) {
    return ir_is_tile(e->m, ir_value_type(e->m, v));
}

/* Erases a pure operation that nobody uses, then what only it used. */
static void erase_unused(Elim *e, IrOp op) {
    IrModule *m = e->m;
    if (!op || ir_kind(m, op) == IR_OP_NONE || !ir_trait(m, op, IR_TRAIT_PURE) ||
        ir_region_count(m, op))
        return;
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        if (!ir_unused(m, ir_result(m, op, i)))
            return;
    uint32_t n = ir_operand_count(m, op);
    IrOp *above = arena_array(e->c->scratch, IrOp, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        above[i] = ir_value_op(m, ir_operand(m, op, i));
    ir_erase(m, op);
    for (uint32_t i = 0; i < n; i++)
        erase_unused(e, above[i]);
}

static void replace(Elim *e, IrOp convert, IrValue by) {
    ir_replace(e->m, ir_result(e->m, convert, 0), by);
    erase_unused(e, convert);
    e->changed = true;
}

/* --- cancel --- */

static bool cancel(Elim *e, IrOp op) {
    IrValue x = ir_operand(e->m, op, 0);
    LayoutId wanted = layout_id(e, ir_result(e->m, op, 0));
    if (layout_id(e, x) == wanted) {
        replace(e, op, x);
        return true;
    }
    IrOp before = ir_value_op(e->m, x);
    if (!is_convert(e, before))
        return false;
    ir_set_operand(e->m, op, 0, ir_operand(e->m, before, 0));
    erase_unused(e, before);
    e->changed = true;
    cancel(e, op);
    return true;
}

/* --- rematerialise --- */

static uint32_t op_cost(const IrModule *m, IrOp op) {
    switch ((int)ir_kind(m, op)) {
    case IR_OP_SDIV:
    case IR_OP_UDIV:
    case IR_OP_SREM:
    case IR_OP_UREM:
    case IR_OP_FDIV_RN:
    case IR_OP_FREM:
        return 12;
    case IR_OP_FDIV:
    case IR_OP_EXP:
    case IR_OP_EXP2:
    case IR_OP_LOG:
    case IR_OP_LOG2:
    case IR_OP_SIN:
    case IR_OP_COS:
    case IR_OP_SQRT:
    case IR_OP_SQRT_RN:
    case IR_OP_RSQRT:
    case IR_OP_ASM:
        return 8;
    case IR_OP_SPLAT:
    case IR_OP_CONST:
    case IR_OP_POISON:
    case IR_OP_EXPAND_DIMS:
    case IR_OP_BROADCAST:
    case IR_OP_FACT:
        return 0;
    default:
        return 1;
    }
}

/* The layout in which operand i is needed for a result in `wanted`; false when the operation cannot
 * be computed again. */
static bool operand_layout(const Elim *e, IrOp op, LayoutId wanted, LayoutId *out) {
    Layout l;
    switch (layout_rule(e->m, op)) {
    case LAYOUT_RULE_SAME:
        *out = wanted;
        return ir_trait(e->m, op, IR_TRAIT_PURE) && ir_kind(e->m, op) != IR_OP_SCAN &&
               ir_result_count(e->m, op) == 1;
    case LAYOUT_RULE_DERIVED:
        if (!layout_operand_for(e->m, op, get(e, wanted), &l))
            return false;
        *out = layout_intern(ir_layouts(e->m), &l);
        return true;
    case LAYOUT_RULE_FREE:
        *out = wanted;
        return true;
    case LAYOUT_RULE_REDUCE:
    case LAYOUT_RULE_FLOW:
    case LAYOUT_RULE_NONE:
        return false;
    }
    return false;
}

/* Adds the cost of having `v` in a layout; false when it cannot be had without a conversion. */
static bool remat_cost(Elim *e, IrValue v, LayoutId wanted, uint64_t *cost) {
    IrModule *m = e->m;
    uint64_t key = (uint64_t)v << 32 | wanted;
    IrOp op = ir_value_op(m, v);
    LayoutId inner;
    if (!is_tile(e, v) || layout_id(e, v) == wanted || map_find(&e->done, key, 0))
        return true;
    if (is_convert(e, op))
        return remat_cost(e, ir_operand(m, op, 0), wanted, cost);
    if (!op || !e->budget || !operand_layout(e, op, wanted, &inner))
        return false;
    e->budget--;
    map_put(&e->done, key, 1);
    *cost += (uint64_t)op_cost(m, op) * layout_registers(get(e, wanted));
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++)
        if (!remat_cost(e, ir_operand(m, op, i), inner, cost))
            return false;
    return true;
}

static IrValue remat_build(Elim *e, IrBuilder *b, IrValue v, LayoutId wanted) {
    IrModule *m = e->m;
    uint64_t key = (uint64_t)v << 32 | wanted;
    IrOp op = ir_value_op(m, v);
    LayoutId inner = 0;
    uint32_t known;
    if (!is_tile(e, v) || layout_id(e, v) == wanted)
        return v;
    if (is_convert(e, op))
        return remat_build(e, b, ir_operand(m, op, 0), wanted);
    if (map_get(&e->done, key, &known))
        return known;
    operand_layout(e, op, wanted, &inner);
    uint32_t n = ir_operand_count(m, op);
    IrValue *operands = arena_array(e->c->scratch, IrValue, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        operands[i] = remat_build(e, b, ir_operand(m, op, i), inner);
    IrType t = ir_type_with_layout(m, ir_value_type(m, v), wanted);
    IrBuilder at = *b;
    at.span = ir_span(m, op);
    IrOp copy = ir_build(&at, ir_kind(m, op), operands, n, &t, 1);
    ir_copy_attrs(m, op, copy);
    ir_set_value_name(m, ir_result(m, copy, 0), ir_value_name(m, v));
    map_put(&e->done, key, ir_result(m, copy, 0));
    return ir_result(m, copy, 0);
}

static bool rematerialise(Elim *e, IrOp op) {
    IrModule *m = e->m;
    IrValue x = ir_operand(m, op, 0);
    LayoutId wanted = layout_id(e, ir_result(m, op, 0));
    uint64_t cost = 0, limit = layout_convert_cost(get(e, layout_id(e, x)), get(e, wanted));
    map_clear(&e->done);
    e->budget = MAX_CHAIN;
    if (!remat_cost(e, x, wanted, &cost) || cost > limit)
        return false;
    map_clear(&e->done);
    IrBuilder b = {.m = m, .span = ir_span(m, op), .group = ir_group(m, op)};
    ir_at_op(&b, op);
    replace(e, op, remat_build(e, &b, x, wanted));
    return true;
}

/* --- sink --- */

/* The layout from which at least two operands of an elementwise operation were converted, each for
 * this operation only, when all other operands are free or scalars. */
static LayoutId common_source(const Elim *e, IrOp op) {
    IrModule *m = e->m;
    LayoutId from = 0;
    uint32_t converts = 0;
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++) {
        IrValue v = ir_operand(m, op, i);
        IrOp def = ir_value_op(m, v);
        if (!is_tile(e, v) || (def && layout_rule(m, def) == LAYOUT_RULE_FREE))
            continue;
        if (!is_convert(e, def) || ir_next_use(m, ir_first_use(m, v)))
            return 0;
        LayoutId source = layout_id(e, ir_operand(m, def, 0));
        if (from && source != from)
            return 0;
        from = source;
        converts++;
    }
    return converts >= 2 ? from : 0;
}

static bool sink(Elim *e, IrOp op) {
    IrModule *m = e->m;
    if (!ir_trait(m, op, IR_TRAIT_ELEMENTWISE) || !ir_trait(m, op, IR_TRAIT_PURE) ||
        ir_result_count(m, op) != 1)
        return false;
    LayoutId from = common_source(e, op);
    if (!from)
        return false;
    IrType t = ir_value_type(m, ir_result(m, op, 0));
    if (ir_type(m, t)->layout == from)
        return false;
    map_clear(&e->done);
    IrBuilder b = {.m = m, .span = ir_span(m, op), .group = ir_group(m, op)};
    ir_at_op(&b, op);
    IrValue moved = remat_build(e, &b, ir_result(m, op, 0), from);
    ir_replace(m, ir_result(m, op, 0), ir_build1(&b, IR_OP_CONVERT_LAYOUT, t, moved));
    erase_unused(e, op);
    e->changed = true;
    return true;
}

/* --- hoist --- */

static bool defined_inside(const IrModule *m, IrValue v, IrOp loop) {
    IrOp def = ir_value_op(m, v);
    IrOp at = def ? ir_parent_op(m, def) : ir_block_op(m, ir_value_block(m, v));
    for (; at; at = ir_parent_op(m, at))
        if (at == loop)
            return true;
    return false;
}

static bool hoist(Elim *e, IrOp op) {
    IrModule *m = e->m;
    IrOp target = 0;
    for (IrOp p = ir_parent_op(m, op); p; p = ir_parent_op(m, p)) {
        IrKind kind = ir_kind(m, p);
        if (kind != IR_OP_FOR && kind != IR_OP_WHILE && kind != IR_OP_IF)
            break;
        if (defined_inside(m, ir_operand(m, op, 0), p))
            break;
        if (kind != IR_OP_IF) /* out of a branch it might run where it did not before */
            target = p;
    }
    if (!target)
        return false;
    ir_move_before(m, op, target);
    e->changed = true;
    return true;
}

/* --- the pass --- */

static void list_op(IrModule *m, IrOp op, void *user) {
    Elim *e = user;
    (void)m;
    (void)vec_push(e->c->scratch, &e->ops, op);
}

static void visit(Elim *e, IrOp op) {
    if (ir_kind(e->m, op) == IR_OP_NONE) /* erased on the way */
        return;
    if (!is_convert(e, op))
        sink(e, op);
    else if (!cancel(e, op) && !rematerialise(e, op))
        hoist(e, op);
}

static bool run_round(Elim *e, IrOp func) {
    e->changed = false;
    e->ops.len = 0;
    ir_walk(e->m, func, list_op, e);
    for (uint32_t i = 0; i < e->ops.len; i++)
        visit(e, e->ops.data[i]);
    e->c->changed |= e->changed;
    return e->changed;
}

static void count_op(IrModule *m, IrOp op, void *user) {
    ConvertCount *n = user;
    if (ir_kind(m, op) != IR_OP_CONVERT_LAYOUT)
        return;
    const Layout *from = layout_of(m, ir_operand(m, op, 0));
    const Layout *to = layout_of(m, ir_result(m, op, 0));
    n->all++;
    n->shared += from && to && layout_move(from, to) == LAYOUT_MOVE_SHARED;
    n->in_loops += layout_loop_depth(m, op) != 0;
}

ConvertCount convert_count(IrModule *m, IrOp func) {
    ConvertCount n = {0};
    ir_walk(m, func, count_op, &n);
    return n;
}

bool pass_convert_elim(PassContext *c) {
    Elim e = {.c = c, .m = c->m};
    map_init(&e.done, c->scratch);
    for (uint32_t i = 0; i < ir_func_count(c->m); i++)
        for (int round = 0; round < MAX_ROUNDS && run_round(&e, ir_func(c->m, i)); round++)
            continue;
    return true;
}
