/* Layout assignment, first half: classes of values and a layout for each.
 *
 * Greedy with improvement: classes in order of rank and weight take the cheapest of a few
 * candidates (what their accesses and scans wish for, what decided neighbours imply, the default of
 * the shape); two more rounds reconsider with all neighbours known. Cost counts memory accesses and
 * conversions on edges, times 8 per loop level. Deterministic: all orders are those of the IR. */
#include "analysis/axis_range.h"
#include "pass/layout_assign.h"

#include <stdlib.h>

enum { LANES = 32, ROUNDS = 3, MAX_CANDIDATES = 32, MAX_DEPTH = 4, SCAN_REGISTERS = 8 };
enum { COST_SCAN_BLOCK = 20, COST_SCAN_BALLOT = 4, COST_SCAN_REG = 2, COST_NEVER = 1 << 24 };

static const uint64_t NODE_OF_OP = UINT64_C(1) << 32;

/* --- nodes --- */

static uint32_t node_of(LayoutAssign *s, uint64_t key) {
    uint32_t n;
    if (map_get(&s->nodes, key, &n))
        return n;
    n = s->parent.len;
    (void)vec_push(s->c->scratch, &s->parent, n);
    map_put(&s->nodes, key, n);
    return n;
}

static uint32_t root_of(LayoutAssign *s, uint32_t n) {
    while (s->parent.data[n] != n)
        n = s->parent.data[n] = s->parent.data[s->parent.data[n]];
    return n;
}

/* The older root stays: class order follows the order of first appearance. */
static void unite(LayoutAssign *s, uint32_t a, uint32_t b) {
    uint32_t x = root_of(s, a), y = root_of(s, b);
    if (x < y)
        s->parent.data[y] = x;
    else
        s->parent.data[x] = y;
}

bool layout_is_free(const IrModule *m, IrValue v) {
    IrOp op = ir_value_op(m, v);
    return op && layout_rule(m, op) == LAYOUT_RULE_FREE;
}

static bool is_tile(const LayoutAssign *s, IrValue v) {
    return ir_is_tile(s->m, ir_value_type(s->m, v));
}

static IrType shape_of(const LayoutAssign *s, IrType t) {
    IrType bits = ir_type_with_elem(s->m, t, ir_scalar(s->m, IR_I1));
    return ir_type_with_layout(s->m, bits, 0);
}

static void join_op(LayoutAssign *s, IrOp op, IrValue v, IrType shape) {
    if (is_tile(s, v) && shape_of(s, ir_value_type(s->m, v)) == shape)
        unite(s, node_of(s, NODE_OF_OP | op), node_of(s, v));
}

/* --- collecting --- */

static uint32_t weight_of(const LayoutAssign *s, IrOp op) {
    uint32_t depth = layout_loop_depth(s->m, op);
    return 1u << (3 * (depth < MAX_DEPTH ? depth : MAX_DEPTH));
}

void layout_flow(LayoutAssign *s, IrOp op, LayoutTie *tie) {
    IrModule *m = s->m;
    IrKind kind = ir_kind(m, op);
    IrBlock first = ir_region_block(m, op, 0);
    IrOp end = ir_last(m, first);
    if (kind == IR_OP_WHILE) {
        IrBlock body = ir_region_block(m, op, 1);
        for (uint32_t i = 0; i < ir_operand_count(m, op); i++) {
            tie(s, ir_arg(m, first, i), ir_operand(m, op, i));
            tie(s, ir_arg(m, first, i), ir_operand(m, ir_last(m, body), i));
        }
        for (uint32_t i = 0; i < ir_result_count(m, op); i++) {
            tie(s, ir_result(m, op, i), ir_arg(m, body, i));
            tie(s, ir_result(m, op, i), ir_operand(m, end, i + 1));
        }
        return;
    }
    for (uint32_t i = 0; i < ir_result_count(m, op); i++) {
        IrValue head = ir_result(m, op, i);
        tie(s, head, ir_operand(m, end, i));
        if (kind == IR_OP_IF) {
            tie(s, head, ir_operand(m, ir_last(m, ir_region_block(m, op, 1)), i));
        } else {
            tie(s, head, ir_arg(m, first, i + 1));
            tie(s, head, ir_operand(m, op, i + 3));
        }
    }
}

static void tie_nodes(LayoutAssign *s, IrValue head, IrValue other) {
    if (!is_tile(s, head))
        return;
    uint32_t n = node_of(s, head);
    if (!layout_is_free(s->m, other))
        unite(s, n, node_of(s, other));
}

static void add_edge(LayoutAssign *s, IrOp op, uint32_t operand, IrValue result) {
    if (!is_tile(s, result))
        return;
    LayoutEdge e = {op, operand, node_of(s, result), weight_of(s, op)};
    (void)vec_push(s->c->scratch, &s->edges, e);
}

static void add_wish(LayoutAssign *s, IrOp op, LayoutId ideal) {
    LayoutWish w = {op, ideal, weight_of(s, op), node_of(s, NODE_OF_OP | op)};
    (void)vec_push(s->c->scratch, &s->wishes, w);
}

static bool is_access(IrKind kind) {
    return kind == IR_OP_LOAD || kind == IR_OP_STORE || kind == IR_OP_ATOMIC_RMW ||
           kind == IR_OP_ATOMIC_CAS || kind == IR_OP_STORE_ASYNC;
}

/* Takes coalesce's layouts off an access again, so that the class may decide. */
static LayoutId take_anchor(LayoutAssign *s, IrOp op) {
    IrModule *m = s->m;
    LayoutId ideal = ir_type(m, ir_value_type(m, ir_operand(m, op, 0)))->layout;
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++) {
        IrOp convert = ir_value_op(m, ir_operand(m, op, i));
        if (!convert || ir_kind(m, convert) != IR_OP_CONVERT_LAYOUT)
            return 0;
        IrType from = ir_value_type(m, ir_operand(m, convert, 0));
        if (ir_type(m, from)->layout)
            return 0;
    }
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++) {
        IrOp convert = ir_value_op(m, ir_operand(m, op, i));
        ir_set_operand(m, op, i, ir_operand(m, convert, 0));
        if (ir_unused(m, ir_result(m, convert, 0)))
            ir_erase(m, convert);
    }
    if (!ir_result_count(m, op))
        return ideal;
    IrValue result = ir_result(m, op, 0);
    ir_set_value_type(m, result, ir_type_with_layout(m, ir_value_type(m, result), 0));
    for (IrUse u = ir_first_use(m, result), next; u; u = next) {
        next = ir_next_use(m, u);
        IrOp convert = ir_use_op(m, u);
        if (ir_kind(m, convert) != IR_OP_CONVERT_LAYOUT ||
            ir_type(m, ir_value_type(m, ir_result(m, convert, 0)))->layout)
            continue;
        ir_replace(m, ir_result(m, convert, 0), result);
        ir_erase(m, convert);
        next = ir_first_use(m, result); /* the list has changed */
    }
    return ideal;
}

/* A scan likes many neighbours in one thread: fewer rounds of shuffles. */
static LayoutId scan_ideal(LayoutAssign *s, IrOp op, IrType t) {
    const IrTypeData *d = ir_type(s->m, t);
    unsigned axis = (unsigned)ir_int(s->m, op, IR_KEY_AXIS, 0);
    uint32_t warps = layout_warps(s->m, op), per_thread[IR_MAX_RANK] = {1, 1, 1, 1, 1};
    int64_t share = ir_tile_elems(s->m, t) / ((int64_t)LANES * warps);
    uint8_t order[IR_MAX_RANK] = {(uint8_t)axis};
    for (unsigned k = d->rank, i = 1; k-- > 0;)
        if (k != axis)
            order[i++] = (uint8_t)k;
    per_thread[axis] = share < 1 ? 1 : share < SCAN_REGISTERS ? (uint32_t)share : SCAN_REGISTERS;
    Layout l = layout_blocked(d->rank, d->shape, per_thread, order, LANES, warps);
    return layout_intern(ir_layouts(s->m), &l);
}

static void collect_scan(LayoutAssign *s, IrOp op, IrType shape) {
    uint32_t totals = ir_int(s->m, op, IR_KEY_TOTAL, 0) ? ir_result_count(s->m, op) / 2 : 0;
    add_wish(s, op, scan_ideal(s, op, shape));
    for (uint32_t i = 0; i < totals; i++)
        add_edge(s, op, node_of(s, NODE_OF_OP | op), ir_result(s->m, op, totals + i));
}

static IrType first_tile(const LayoutAssign *s, IrOp op) {
    for (uint32_t i = 0; i < ir_operand_count(s->m, op); i++)
        if (is_tile(s, ir_operand(s->m, op, i)))
            return ir_value_type(s->m, ir_operand(s->m, op, i));
    for (uint32_t i = 0; i < ir_result_count(s->m, op); i++)
        if (is_tile(s, ir_result(s->m, op, i)))
            return ir_value_type(s->m, ir_result(s->m, op, i));
    return 0;
}

static void join_operands(LayoutAssign *s, IrOp op, IrType shape) {
    node_of(s, NODE_OF_OP | op);
    for (uint32_t i = 0; i < ir_operand_count(s->m, op); i++)
        if (!layout_is_free(s->m, ir_operand(s->m, op, i)))
            join_op(s, op, ir_operand(s->m, op, i), shape);
}

static void collect_same(LayoutAssign *s, IrOp op, IrType shape) {
    bool scan = ir_kind(s->m, op) == IR_OP_SCAN;
    uint32_t results = ir_result_count(s->m, op);
    if (scan && ir_int(s->m, op, IR_KEY_TOTAL, 0))
        results /= 2;
    join_operands(s, op, shape);
    for (uint32_t i = 0; i < results; i++)
        join_op(s, op, ir_result(s->m, op, i), shape);
    if (scan)
        collect_scan(s, op, shape);
}

static void collect_op(LayoutAssign *s, IrOp op) {
    IrModule *m = s->m;
    LayoutRule rule = layout_rule(m, op);
    IrType tile = first_tile(s, op);
    IrValue x = ir_operand_count(m, op) ? ir_operand(m, op, 0) : 0;
    switch (rule) {
    case LAYOUT_RULE_FREE:
        return;
    case LAYOUT_RULE_SAME: {
        LayoutId ideal = is_access(ir_kind(m, op)) && is_tile(s, x) ? take_anchor(s, op) : 0;
        collect_same(s, op, shape_of(s, tile));
        if (ideal)
            add_wish(s, op, ideal);
        return;
    }
    case LAYOUT_RULE_DERIVED:
        if (layout_is_free(m, x))
            node_of(s, ir_result(m, op, 0));
        else
            add_edge(s, op, node_of(s, x), ir_result(m, op, 0));
        return;
    case LAYOUT_RULE_REDUCE:
        join_operands(s, op, shape_of(s, tile));
        for (uint32_t i = 0; i < ir_result_count(m, op); i++)
            add_edge(s, op, node_of(s, NODE_OF_OP | op), ir_result(m, op, i));
        return;
    case LAYOUT_RULE_FLOW:
        if (ir_region_count(m, op))
            layout_flow(s, op, tie_nodes);
        return;
    case LAYOUT_RULE_NONE:
        if (tile)
            join_operands(s, op, shape_of(s, tile));
        for (uint32_t i = 0; i < ir_result_count(m, op); i++)
            if (is_tile(s, ir_result(m, op, i)))
                node_of(s, ir_result(m, op, i));
        return;
    }
}

static void collect_block(LayoutAssign *s, IrBlock b) {
    for (IrOp op = ir_first(s->m, b), next; op; op = next) {
        IrKind kind = ir_kind(s->m, op);
        collect_op(s, op);
        if (kind != IR_OP_REDUCE && kind != IR_OP_SCAN)
            for (uint32_t r = 0; r < ir_region_count(s->m, op); r++)
                collect_block(s, ir_region_block(s->m, op, r));
        next = ir_next(s->m, op); /* conversions behind an access are gone by now */
    }
}

/* --- classes --- */

static LayoutClass *class_at(LayoutAssign *s, uint32_t node) {
    return &s->classes.data[s->class_of.data[root_of(s, node)]];
}

static void see_value(LayoutAssign *s, IrValue v, uint32_t warps) {
    uint32_t n;
    if (!is_tile(s, v) || !map_get(&s->nodes, v, &n))
        return;
    IrType t = ir_value_type(s->m, v);
    LayoutClass *k = class_at(s, n);
    k->shape = shape_of(s, t);
    k->warps = warps;
    if (ir_type(s->m, t)->layout && !k->pinned) {
        k->pinned = true;
        k->layout = ir_type(s->m, t)->layout;
    }
}

static void see_op(IrModule *m, IrOp op, void *user) {
    LayoutAssign *s = user;
    uint32_t warps = layout_warps(m, op), n;
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        see_value(s, ir_result(m, op, i), warps);
    for (uint32_t r = 0; r < ir_region_count(m, op); r++)
        for (uint32_t i = 0; i < ir_arg_count(m, ir_region_block(m, op, r)); i++)
            see_value(s, ir_arg(m, ir_region_block(m, op, r), i), warps);
    if (!map_get(&s->nodes, NODE_OF_OP | op, &n))
        return;
    LayoutClass *k = class_at(s, n);
    k->weight += weight_of(s, op);
    if (!k->shape) { /* all operands are free */
        k->shape = shape_of(s, first_tile(s, op));
        k->warps = warps;
    }
}

static void make_classes(LayoutAssign *s) {
    Arena *a = s->c->scratch;
    for (uint32_t n = 0; n < s->parent.len; n++) {
        (void)vec_push(a, &s->class_of, s->classes.len);
        if (root_of(s, n) == n)
            (void)vec_push(a, &s->classes, (LayoutClass){0});
    }
    ir_walk(s->m, s->func, see_op, s);
    for (uint32_t i = 0; i < s->wishes.len; i++)
        (void)vec_push(a, &class_at(s, s->wishes.data[i].node)->wishes, i);
    for (uint32_t i = 0; i < s->edges.len; i++) {
        (void)vec_push(a, &class_at(s, s->edges.data[i].operand)->edges, i);
        (void)vec_push(a, &class_at(s, s->edges.data[i].result)->edges, i);
    }
}

void layout_collect(LayoutAssign *s) {
    map_init(&s->nodes, s->c->scratch);
    s->axis = axis_analyse(s->c->scratch, s->m, s->func);
    collect_block(s, ir_region_block(s->m, s->func, 0));
    make_classes(s);
}

LayoutId layout_of_value(LayoutAssign *s, IrValue v) {
    uint32_t n;
    return map_get(&s->nodes, v, &n) ? class_at(s, n)->layout : 0;
}

LayoutId layout_of_op(LayoutAssign *s, IrOp op) {
    uint32_t n;
    return map_get(&s->nodes, NODE_OF_OP | op, &n) ? class_at(s, n)->layout : 0;
}

/* --- deciding --- */

static LayoutId plain_default(LayoutAssign *s, IrType tile, uint32_t warps) {
    const IrTypeData *d = ir_type(s->m, tile);
    uint32_t per_thread[IR_MAX_RANK] = {1, 1, 1, 1, 1};
    uint8_t order[IR_MAX_RANK];
    for (unsigned i = 0; i < d->rank; i++)
        order[i] = (uint8_t)(d->rank - 1 - i);
    Layout l = layout_blocked(d->rank, d->shape, per_thread, order, LANES, warps);
    return layout_intern(ir_layouts(s->m), &l);
}

/* The wish with the greatest weight among accesses to memory of this shape: what leaves one such
 * tile then fits the others. */
LayoutId layout_default(LayoutAssign *s, IrType tile, uint32_t warps) {
    IrType shape = shape_of(s, tile);
    const LayoutWish *best = NULL;
    for (uint32_t i = 0; i < s->wishes.len; i++) {
        const LayoutWish *w = &s->wishes.data[i];
        const LayoutClass *k = class_at(s, w->node);
        if (k->shape == shape && k->warps == warps && (!best || w->weight > best->weight))
            best = w;
    }
    return best ? best->ideal : plain_default(s, tile, warps);
}

static const Layout *get(const LayoutAssign *s, LayoutId id) {
    return layout_get(ir_layouts(s->m), id);
}

/* Bits of the lane, and of the warp, that move along the axis. */
static void bits_along(const Layout *l, unsigned axis, uint32_t *lanes, uint32_t *warps) {
    unsigned first = l->bits[LAYOUT_REG], end = first + l->bits[LAYOUT_LANE];
    *lanes = *warps = 0;
    for (unsigned i = first; i < end; i++)
        *lanes += l->basis[i][axis] != 0;
    for (unsigned i = end; i < end + l->bits[LAYOUT_WARP]; i++)
        *warps += l->basis[i][axis] != 0;
}

/* What a run of registers costs on its way through lanes and warps: nothing when the axis lies in
 * registers alone, a ballot where each lane has 0 or 1. */
static uint32_t scan_block_cost(LayoutAssign *s, IrOp op, const Layout *l, uint32_t run) {
    uint32_t lanes, warps;
    bits_along(l, (unsigned)ir_int(s->m, op, IR_KEY_AXIS, 0), &lanes, &warps);
    if (!lanes && !warps)
        return 0;
    if (ir_elem(s->m, ir_value_type(s->m, ir_operand(s->m, op, 0))) != IR_I32 || warps || run > 1 ||
        1u << lanes != LANES)
        return COST_SCAN_BLOCK;
    Range r = range_of(s->m, ir_operand(s->m, op, 0));
    return r.lo >= 0 && r.hi <= 1 ? COST_SCAN_BALLOT : COST_SCAN_BLOCK;
}

static uint32_t scan_cost(LayoutAssign *s, IrOp op, const Layout *l) {
    unsigned axis = (unsigned)ir_int(s->m, op, IR_KEY_AXIS, 0);
    if (!layout_scannable(l, axis))
        return COST_NEVER;
    uint32_t run = 1; /* registers that follow each other along the axis */
    for (unsigned i = 0; i < l->bits[LAYOUT_REG]; i++)
        run *= l->basis[i][axis] == run ? 2 : 1;
    return COST_SCAN_REG * layout_registers(l) +
           scan_block_cost(s, op, l, run) * (layout_registers(l) / run);
}

uint32_t layout_wish_cost(LayoutAssign *s, const LayoutWish *w, const Layout *l) {
    if (ir_kind(s->m, w->op) == IR_OP_SCAN)
        return scan_cost(s, w->op, l);
    return layout_access_cost(s->axis, s->m, w->op, l, s->c->target->max_vector);
}

/* Conversion on an edge when the two ends have these layouts. */
static uint32_t edge_cost(const LayoutAssign *s, IrOp op, const Layout *operand,
                          const Layout *result) {
    Layout needed;
    if (layout_operand_for(s->m, op, result, &needed))
        return layout_convert_cost(operand, &needed);
    if (layout_result_for(s->m, op, operand, &needed))
        return layout_convert_cost(&needed, result);
    return COST_NEVER >> 8; /* reshape through shared memory */
}

static bool tied_to(LayoutAssign *s, const LayoutEdge *e, const LayoutClass *k,
                    const LayoutClass **other_out) {
    LayoutClass *operand = class_at(s, e->operand), *result = class_at(s, e->result);
    *other_out = operand == k ? result : operand;
    return operand != result && (*other_out)->layout;
}

static bool allowed(LayoutAssign *s, const LayoutClass *k, const Layout *l) {
    for (uint32_t i = 0; i < k->edges.len; i++) {
        const LayoutEdge *e = &s->edges.data[k->edges.data[i]];
        IrKind kind = ir_kind(s->m, e->op);
        if (kind == IR_OP_REDUCE && class_at(s, e->operand) == k &&
            !layout_separable(l, (unsigned)ir_int(s->m, e->op, IR_KEY_AXIS, 0)))
            return false;
    }
    return true;
}

static uint64_t class_cost(LayoutAssign *s, const LayoutClass *k, LayoutId id) {
    const Layout *l = get(s, id);
    const LayoutClass *other;
    uint64_t cost = allowed(s, k, l) ? 0 : (uint64_t)COST_NEVER << 16;
    for (uint32_t i = 0; i < k->wishes.len; i++) {
        const LayoutWish *w = &s->wishes.data[k->wishes.data[i]];
        cost += (uint64_t)w->weight * layout_wish_cost(s, w, l);
    }
    for (uint32_t i = 0; i < k->edges.len; i++) {
        const LayoutEdge *e = &s->edges.data[k->edges.data[i]];
        if (!tied_to(s, e, k, &other))
            continue;
        const Layout *o = get(s, other->layout);
        bool operand = class_at(s, e->operand) == k;
        cost += (uint64_t)e->weight * edge_cost(s, e->op, operand ? l : o, operand ? o : l);
    }
    return cost;
}

typedef struct Candidates {
    LayoutId id[MAX_CANDIDATES];
    uint32_t len;
} Candidates;

static void add_candidate(Candidates *c, LayoutId id) {
    for (uint32_t i = 0; i < c->len; i++)
        if (c->id[i] == id)
            return;
    if (id && c->len < MAX_CANDIDATES)
        c->id[c->len++] = id;
}

static void add_implied(LayoutAssign *s, const LayoutClass *k, const LayoutEdge *e, Candidates *c) {
    const LayoutClass *other;
    Layout l;
    if (!tied_to(s, e, k, &other))
        return;
    const Layout *o = get(s, other->layout);
    bool ok = class_at(s, e->operand) == k ? layout_operand_for(s->m, e->op, o, &l)
                                           : layout_result_for(s->m, e->op, o, &l);
    if (ok)
        add_candidate(c, layout_intern(ir_layouts(s->m), &l));
}

/* The default comes last, except where nobody has a wish: ties go to the earlier one. */
static void decide_class(LayoutAssign *s, LayoutClass *k) {
    Candidates c = {.len = 0};
    if (k->pinned)
        return;
    for (uint32_t i = 0; i < k->edges.len; i++)
        add_implied(s, k, &s->edges.data[k->edges.data[i]], &c);
    add_candidate(&c, layout_default(s, k->shape, k->warps));
    for (uint32_t i = 0; i < k->wishes.len; i++)
        add_candidate(&c, s->wishes.data[k->wishes.data[i]].ideal);
    add_candidate(&c, plain_default(s, k->shape, k->warps));
    uint64_t best = UINT64_MAX;
    for (uint32_t i = 0; i < c.len; i++) {
        uint64_t cost = class_cost(s, k, c.id[i]);
        if (cost < best) {
            best = cost;
            k->layout = c.id[i];
        }
    }
}

typedef struct Rank {
    uint32_t index, rank;
    uint64_t weight;
} Rank;

static int by_rank(const void *x, const void *y) {
    const Rank *a = x, *b = y;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

void layout_decide(LayoutAssign *s) {
    uint32_t n = s->classes.len;
    Rank *ranks = arena_array(s->c->scratch, Rank, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const LayoutClass *k = &s->classes.data[i];
        ranks[i] = (Rank){i, ir_type(s->m, k->shape)->rank, k->weight * (k->wishes.len ? 1024 : 1)};
    }
    qsort(ranks, n, sizeof *ranks, by_rank);
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < n; i++)
            decide_class(s, &s->classes.data[ranks[i].index]);
}
