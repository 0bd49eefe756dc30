/* Layout: gives every tile of a function a layout.
 *
 * Assumes: accesses carry coalesce's choice (without it they have no preference). Guarantees: every
 * tile type has a layout; operands of one elementwise operation agree; operands of expand_dims,
 * broadcast and trans are what layout_operand_for gives, results of reduce what layout_result_for
 * gives; a reshape is a renaming of registers or has two unrelated layouts; scans are scannable. A
 * function that works on one-dimensional tiles of one size has no conversion.
 *
 *   %o = arange {0 .. 64};  %e = expand_dims %o {axis = 1};  %p = broadcast %e : tile<64x32xi32>
 * becomes, with L the layout of the accesses through %p,
 *   %o : slice(L, 1);  %e : L with extent 1 in dimension 1;  %p : L
 *
 * layout_classes.c decides; this file rewrites types, copies free producers for each layout that
 * wants them, and inserts conversions where classes meet. Cost: linear, but for the unions. */
#include "pass/layout_assign.h"

typedef struct Rewrite {
    LayoutAssign s;
    Map copies;    /* value << 32 | layout -> the free producer in that layout */
    Map overrides; /* access -> its own layout, where the class's would cost more */
    VEC(IrOp) ops; /* all operations before the rewrite */
} Rewrite;

static LayoutId intern(const Rewrite *w, const Layout *l) {
    return layout_intern(ir_layouts(w->s.m), l);
}

static const Layout *get(const Rewrite *w, LayoutId id) {
    return layout_get(ir_layouts(w->s.m), id);
}

/* --- types --- */

static void set_type(Rewrite *w, IrValue v, LayoutId layout) {
    IrType t = ir_value_type(w->s.m, v);
    if (ir_is_tile(w->s.m, t) && layout)
        ir_set_value_type(w->s.m, v, ir_type_with_layout(w->s.m, t, layout));
}

static void list_op(IrModule *m, IrOp op, void *user) {
    Rewrite *w = user;
    IrOp parent = ir_parent_op(m, op);
    bool combine =
        parent && (ir_kind(m, parent) == IR_OP_REDUCE || ir_kind(m, parent) == IR_OP_SCAN);
    if (!combine)
        (void)vec_push(w->s.c->scratch, &w->ops, op);
}

static void set_types(Rewrite *w) {
    IrModule *m = w->s.m;
    for (uint32_t k = 0; k < w->ops.len; k++) {
        IrOp op = w->ops.data[k];
        for (uint32_t i = 0; i < ir_result_count(m, op); i++)
            set_type(w, ir_result(m, op, i), layout_of_value(&w->s, ir_result(m, op, i)));
        for (uint32_t r = 0; r < ir_region_count(m, op); r++)
            for (uint32_t i = 0; i < ir_arg_count(m, ir_region_block(m, op, r)); i++) {
                IrValue v = ir_arg(m, ir_region_block(m, op, r), i);
                set_type(w, v, layout_of_value(&w->s, v));
            }
    }
}

/* --- operands --- */

/* A copy of a free producer, right behind it. */
static IrValue copy_of(Rewrite *w, IrValue v, LayoutId layout) {
    IrModule *m = w->s.m;
    uint64_t key = (uint64_t)v << 32 | layout;
    uint32_t known = map_find(&w->copies, key, 0);
    if (known)
        return known;
    IrOp op = ir_value_op(m, v);
    IrBuilder b = {.m = m, .span = ir_span(m, op), .group = ir_group(m, op)};
    Map none;
    map_init(&none, w->s.c->scratch);
    ir_after_op(&b, op);
    IrValue copy = ir_result(m, ir_clone(&b, op, &none), 0);
    ir_set_value_name(m, copy, ir_value_name(m, v));
    set_type(w, copy, layout);
    map_put(&w->copies, key, copy);
    return copy;
}

static void want_operand(Rewrite *w, IrOp op, uint32_t i, LayoutId layout) {
    IrModule *m = w->s.m;
    IrValue v = ir_operand(m, op, i);
    IrType t = ir_value_type(m, v);
    if (!layout || !ir_is_tile(m, t) || ir_type(m, t)->layout == layout)
        return;
    w->s.c->changed = true;
    if (layout_is_free(m, v)) {
        ir_set_operand(m, op, i, copy_of(w, v, layout));
        return;
    }
    IrBuilder b = {.m = m, .span = ir_span(m, op), .group = ir_group(m, op)};
    ir_at_op(&b, op);
    ir_set_operand(m, op, i,
                   ir_build1(&b, IR_OP_CONVERT_LAYOUT, ir_type_with_layout(m, t, layout), v));
}

static void want_operands(Rewrite *w, IrOp op, LayoutId layout) {
    for (uint32_t i = 0; i < ir_operand_count(w->s.m, op); i++)
        want_operand(w, op, i, layout);
}

static LayoutId default_for(Rewrite *w, IrOp op, IrValue v) {
    return layout_default(&w->s, ir_value_type(w->s.m, v), layout_warps(w->s.m, op));
}

/* --- results --- */

/* The operation gives `layout`; those who use the result expect the class's. */
static void give_result(Rewrite *w, IrOp op, uint32_t i, LayoutId layout) {
    IrModule *m = w->s.m;
    IrValue v = ir_result(m, op, i);
    IrType expected = ir_value_type(m, v);
    if (!ir_is_tile(m, expected) || ir_type(m, expected)->layout == layout)
        return;
    w->s.c->changed = true;
    set_type(w, v, layout);
    if (ir_unused(m, v))
        return;
    IrBuilder b = {.m = m, .span = ir_span(m, op), .group = ir_group(m, op)};
    ir_after_op(&b, op);
    IrOp convert = ir_build(&b, IR_OP_CONVERT_LAYOUT, &v, 1, &expected, 1);
    ir_replace(m, v, ir_result(m, convert, 0));
    ir_set_operand(m, convert, 0, v);
}

/* Results that are slices of the operands. */
static void give_slices(Rewrite *w, IrOp op, uint32_t first) {
    Layout l;
    const Layout *operand = layout_of(w->s.m, ir_operand(w->s.m, op, 0));
    if (!operand || !layout_result_for(w->s.m, op, operand, &l))
        return;
    for (uint32_t i = first; i < ir_result_count(w->s.m, op); i++)
        give_result(w, op, i, intern(w, &l));
}

/* --- operations --- */

/* Before the operands change: the analysis knows the values as they were. */
static void set_vector(Rewrite *w, IrOp op, LayoutId layout) {
    IrModule *m = w->s.m;
    IrType p = ir_value_type(m, ir_operand(m, op, 0));
    if (!ir_is_tile(m, p))
        return;
    uint32_t widest = w->s.c->target->max_vector;
    if (ir_type(m, ir_elem_type(m, p))->space != IR_SPACE_GLOBAL && widest > 16)
        widest = 16;
    ir_set_int(m, op, IR_KEY_VECTOR, layout_vector(w->s.axis, m, op, get(w, layout), widest));
}

static void rewrite_same(Rewrite *w, IrOp op) {
    IrModule *m = w->s.m;
    LayoutId own = map_find(&w->overrides, op, 0), layout = own ? own : layout_of_op(&w->s, op);
    IrKind kind = ir_kind(m, op);
    if (kind == IR_OP_LOAD || kind == IR_OP_STORE || kind == IR_OP_STORE_ASYNC)
        set_vector(w, op, layout);
    want_operands(w, op, layout);
    if (own)
        for (uint32_t i = 0; i < ir_result_count(m, op); i++)
            if (kind != IR_OP_SCAN || !ir_int(m, op, IR_KEY_TOTAL, 0) ||
                i < ir_result_count(m, op) / 2)
                give_result(w, op, i, own);
    if (kind == IR_OP_SCAN && ir_int(m, op, IR_KEY_TOTAL, 0))
        give_slices(w, op, ir_result_count(m, op) / 2);
}

/* A reshape that neither direction makes linear keeps both layouts and goes through shared memory.
 */
static void rewrite_reshape(Rewrite *w, IrOp op) {
    IrModule *m = w->s.m;
    IrValue x = ir_operand(m, op, 0);
    const Layout *result = layout_of(m, ir_result(m, op, 0));
    Layout l;
    if (layout_operand_for(m, op, result, &l)) {
        want_operand(w, op, 0, intern(w, &l));
        return;
    }
    if (layout_is_free(m, x))
        want_operand(w, op, 0, default_for(w, op, x));
    const Layout *operand = layout_of(m, ir_operand(m, op, 0));
    if (layout_result_for(m, op, operand, &l))
        give_result(w, op, 0, intern(w, &l));
}

static void rewrite_derived(Rewrite *w, IrOp op) {
    Layout l;
    if (ir_kind(w->s.m, op) == IR_OP_RESHAPE)
        rewrite_reshape(w, op);
    else if (layout_operand_for(w->s.m, op, layout_of(w->s.m, ir_result(w->s.m, op, 0)), &l))
        want_operand(w, op, 0, intern(w, &l));
}

/* Free values that enter control flow take the layout of what they become. */
static void rewrite_flow(Rewrite *w, IrOp op) {
    IrModule *m = w->s.m;
    IrOp parent = ir_parent_op(m, op);
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++) {
        IrValue head = 0;
        switch ((int)ir_kind(m, op)) {
        case IR_OP_FOR:
            head = i >= 3 ? ir_result(m, op, i - 3) : 0;
            break;
        case IR_OP_WHILE:
            head = ir_arg(m, ir_region_block(m, op, 0), i);
            break;
        case IR_OP_CONDITION:
            head = i ? ir_result(m, parent, i - 1) : 0;
            break;
        case IR_OP_YIELD:
            head = ir_kind(m, parent) == IR_OP_WHILE ? ir_arg(m, ir_region_block(m, parent, 0), i)
                                                     : ir_result(m, parent, i);
            break;
        default:
            break;
        }
        if (head && ir_is_tile(m, ir_value_type(m, head)))
            want_operand(w, op, i, ir_type(m, ir_value_type(m, head))->layout);
    }
}

static void rewrite_none(Rewrite *w, IrOp op) {
    IrModule *m = w->s.m;
    bool convert = ir_kind(m, op) == IR_OP_CONVERT_LAYOUT;
    if (convert && layout_is_free(m, ir_operand(m, op, 0)))
        want_operand(w, op, 0, ir_type(m, ir_value_type(m, ir_result(m, op, 0)))->layout);
    else if (!convert)
        want_operands(w, op, layout_of_op(&w->s, op));
}

static void rewrite_op(Rewrite *w, IrOp op) {
    switch (layout_rule(w->s.m, op)) {
    case LAYOUT_RULE_FREE: /* copied by its users */
        break;
    case LAYOUT_RULE_SAME:
        rewrite_same(w, op);
        break;
    case LAYOUT_RULE_DERIVED:
        rewrite_derived(w, op);
        break;
    case LAYOUT_RULE_REDUCE:
        want_operands(w, op, layout_of_op(&w->s, op));
        give_slices(w, op, 0);
        break;
    case LAYOUT_RULE_FLOW:
        rewrite_flow(w, op);
        break;
    case LAYOUT_RULE_NONE:
        rewrite_none(w, op);
        break;
    }
}

/* Originals of free producers: gone when every user took a copy. */
static void finish_free(Rewrite *w, IrOp op) {
    IrModule *m = w->s.m;
    if (layout_rule(m, op) != LAYOUT_RULE_FREE)
        return;
    IrValue v = ir_result(m, op, 0);
    if (ir_type(m, ir_value_type(m, v))->layout)
        return;
    if (ir_unused(m, v))
        ir_erase(m, op);
    else
        set_type(w, v, default_for(w, op, v));
}

/* --- accesses whose own layout pays for the conversions around it --- */

/* Pointers and masks are cheap to compute again; the data is not. */
static uint64_t override_cost(Rewrite *w, const LayoutWish *wish, const Layout *from) {
    IrModule *m = w->s.m;
    const Layout *to = get(w, wish->ideal);
    uint64_t cost = layout_wish_cost(&w->s, wish, to) + layout_registers(to);
    bool store = ir_kind(m, wish->op) == IR_OP_STORE;
    bool read = ir_result_count(m, wish->op) && !ir_unused(m, ir_result(m, wish->op, 0));
    if (store || ir_kind(m, wish->op) != IR_OP_LOAD)
        cost += layout_convert_cost(from, to);
    return read ? cost + layout_convert_cost(to, from) : cost;
}

static void choose_overrides(Rewrite *w) {
    for (uint32_t i = 0; i < w->s.wishes.len; i++) {
        const LayoutWish *wish = &w->s.wishes.data[i];
        LayoutId here = layout_of_op(&w->s, wish->op);
        const Layout *l = get(w, here);
        bool scan = ir_kind(w->s.m, wish->op) == IR_OP_SCAN;
        if (here == wish->ideal || (l->rank < 2 && !scan))
            continue;
        if (scan ? !layout_scannable(l, (unsigned)ir_int(w->s.m, wish->op, IR_KEY_AXIS, 0))
                 : override_cost(w, wish, l) < layout_wish_cost(&w->s, wish, l))
            map_put(&w->overrides, wish->op, wish->ideal);
    }
}

/* --- the pass --- */

static bool check_value(PassContext *c, IrOp op, IrValue v) {
    IrType t = ir_value_type(c->m, v);
    if (!ir_is_tile(c->m, t) || ir_type(c->m, t)->layout)
        return true;
    diag_error(c->diag, DIAG_PASS_UNSUPPORTED, ir_span(c->m, op),
               "'%s' is left without a layout for one of its tiles",
               ir_mnemonic(ir_kind(c->m, op)));
    return false;
}

static bool check_block(PassContext *c, IrBlock b) {
    bool ok = true;
    for (uint32_t i = 0; i < ir_arg_count(c->m, b); i++)
        ok &= check_value(c, ir_block_op(c->m, b), ir_arg(c->m, b, i));
    for (IrOp op = ir_first(c->m, b); op; op = ir_next(c->m, op)) {
        for (uint32_t i = 0; i < ir_result_count(c->m, op); i++)
            ok &= check_value(c, op, ir_result(c->m, op, i));
        for (uint32_t r = 0; r < ir_region_count(c->m, op); r++)
            ok &= check_block(c, ir_region_block(c->m, op, r));
    }
    return ok;
}

static bool assign(PassContext *c, IrOp func) {
    Rewrite w = {.s = {.c = c, .m = c->m, .func = func}};
    map_init(&w.copies, c->scratch);
    map_init(&w.overrides, c->scratch);
    layout_collect(&w.s);
    layout_decide(&w.s);
    choose_overrides(&w);
    ir_walk(c->m, func, list_op, &w);
    set_types(&w);
    for (uint32_t i = 0; i < w.ops.len; i++)
        rewrite_op(&w, w.ops.data[i]);
    for (uint32_t i = 0; i < w.ops.len; i++)
        finish_free(&w, w.ops.data[i]);
    return check_block(c, ir_region_block(c->m, func, 0));
}

bool pass_layout(PassContext *c) {
    bool ok = true;
    for (uint32_t i = 0; i < ir_func_count(c->m); i++)
        ok &= assign(c, ir_func(c->m, i));
    return ok;
}
