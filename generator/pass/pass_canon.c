/* Canonicalisation: folds constants, simplifies algebra and control flow, on a work list.
 *
 *   %1 = const 4 : i32                          %1 = const 12 : i32
 *   %2 = add %1, %x : i32                 =>    %2 = add %x, %1 : i32
 *   %3 = add %2, %8 : i32   (8 = const 8)       use %2
 *
 * Guarantees: constants are right operands; an elementwise operation on splats is a splat of a
 * scalar operation; no unused pure operation; no `if` on a constant; no mask that is all true.
 * Never changes NaN, infinities or the sign of zero. The rules are in canon_*.c, listed in
 * canon.def. Near linear: an operation is looked at again only when something around it changed. */
#include "pass/canon.h"

#include <string.h>

/* A builder's fresh constant tile or scalar. */
static IrValue build_const(IrBuilder *b, IrType t, FoldValue v) {
    return ir_elem_is_float(ir_elem(b->m, t)) ? ir_build_float(b, t, v.f) : ir_build_int(b, t, v.i);
}

/* --- helpers of the rules --- */

void canon_push(Canon *c, IrOp op) {
    if (!op)
        return;
    if (op >= c->queued.len) {
        vec_reserve(c->scratch, &c->queued, ir_op_limit(c->m));
        while (c->queued.len < ir_op_limit(c->m))
            c->queued.data[c->queued.len++] = false;
    }
    if (c->queued.data[op])
        return;
    c->queued.data[op] = true;
    vec_push(c->scratch, &c->work, op);
}

void canon_push_users(Canon *c, IrValue v) {
    for (IrUse u = ir_first_use(c->m, v); u; u = ir_next_use(c->m, u)) {
        canon_push(c, ir_use_op(c->m, u));
        if (ir_trait(c->m, ir_use_op(c->m, u), IR_TRAIT_TERMINATOR))
            canon_push(c, ir_parent_op(c->m, ir_use_op(c->m, u)));
    }
}

IrBuilder canon_at(Canon *c, IrOp op) {
    IrBuilder b = {.m = c->m, .span = ir_span(c->m, op), .group = ir_group(c->m, op)};
    ir_at_op(&b, op);
    return b;
}

void canon_use(Canon *c, IrValue old, IrValue by) {
    canon_push_users(c, old);
    IrOp op = ir_value_op(c->m, by);
    canon_push(c, op);
    bool is_const = op && ir_kind(c->m, op) == IR_OP_CONST;
    if (!is_const && !ir_value_name(c->m, by))
        ir_set_value_name(c->m, by, ir_value_name(c->m, old));
    ir_replace(c->m, old, by);
}

/* Every definition that an operation uses may die with it. */
static void push_operands(IrModule *m, IrOp op, void *user) {
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++)
        canon_push(user, ir_value_op(m, ir_operand(m, op, i)));
}

bool canon_erase(Canon *c, IrOp op) {
    ir_walk(c->m, op, push_operands, c);
    canon_push(c, ir_parent_op(c->m, op));
    ir_erase(c->m, op);
    return true;
}

bool canon_replace(Canon *c, IrOp op, IrValue by) {
    canon_use(c, ir_result(c->m, op, 0), by);
    return canon_erase(c, op);
}

void canon_set_operand(Canon *c, IrOp op, uint32_t i, IrValue v) {
    canon_push(c, ir_value_op(c->m, ir_operand(c->m, op, i)));
    ir_set_operand(c->m, op, i, v);
}

bool canon_to_const(Canon *c, IrOp op, FoldValue value) {
    IrBuilder b = canon_at(c, op);
    return canon_replace(c, op,
                         build_const(&b, ir_value_type(c->m, ir_result(c->m, op, 0)), value));
}

bool canon_to_int(Canon *c, IrOp op, int64_t value) {
    return canon_to_const(c, op, (FoldValue){.i = value});
}

bool canon_to1(Canon *c, IrOp op, IrKind kind, IrValue x) {
    IrBuilder b = canon_at(c, op);
    return canon_replace(c, op,
                         ir_build1(&b, kind, ir_value_type(c->m, ir_result(c->m, op, 0)), x));
}

bool canon_to2(Canon *c, IrOp op, IrKind kind, IrValue x, IrValue y) {
    IrBuilder b = canon_at(c, op);
    return canon_replace(c, op, ir_build2(&b, kind, x, y));
}

IrValue canon_through(const IrModule *m, IrValue v, IrKind kind, uint32_t i) {
    IrOp op = ir_value_op(m, v);
    return op && ir_kind(m, op) == kind ? ir_operand(m, op, i) : 0;
}

bool canon_is_int(const IrModule *m, IrValue v, int64_t value) {
    int64_t found;
    return ir_const_int(m, v, &found) && found == value;
}

bool canon_is_float(const IrModule *m, IrValue v, double value) {
    double found;
    return ir_const_float(m, v, &found) && !memcmp(&found, &value, sizeof value);
}

bool canon_is_uniform(const IrModule *m, IrValue v) {
    IrOp op = ir_value_op(m, v);
    return !ir_is_tile(m, ir_value_type(m, v)) ||
           (op && (ir_kind(m, op) == IR_OP_SPLAT || ir_kind(m, op) == IR_OP_CONST));
}

IrValue canon_scalar_of(IrBuilder *b, IrValue v) {
    IrType t = ir_value_type(b->m, v);
    FoldValue value;
    if (!ir_is_tile(b->m, t))
        return v;
    if (ir_kind(b->m, ir_value_op(b->m, v)) == IR_OP_SPLAT)
        return ir_operand(b->m, ir_value_op(b->m, v), 0);
    fold_const_of(b->m, v, &value);
    return build_const(b, ir_elem_type(b->m, t), value);
}

/* --- rules for all operations --- */

static bool erase_unused(Canon *c, IrOp op) {
    if (!ir_trait(c->m, op, IR_TRAIT_PURE))
        return false;
    for (uint32_t i = 0; i < ir_result_count(c->m, op); i++)
        if (!ir_unused(c->m, ir_result(c->m, op, i)))
            return false;
    return canon_erase(c, op);
}

static bool fold_constants(Canon *c, IrOp op) {
    FoldValue value;
    return fold_op(c->m, op, &value) && canon_to_const(c, op, value);
}

static bool constant_right(Canon *c, IrOp op) {
    FoldValue ignored;
    if (!ir_trait(c->m, op, IR_TRAIT_COMMUTES))
        return false;
    IrValue x = ir_operand(c->m, op, 0), y = ir_operand(c->m, op, 1);
    if (!fold_const_of(c->m, x, &ignored) || fold_const_of(c->m, y, &ignored))
        return false;
    ir_set_operand(c->m, op, 0, y);
    ir_set_operand(c->m, op, 1, x);
    return true;
}

/* An elementwise operation on tiles of one value each: once for all elements. */
static bool uniform_to_scalar(Canon *c, IrOp op) {
    IrModule *m = c->m;
    uint32_t traits = IR_TRAIT_ELEMENTWISE | IR_TRAIT_PURE, n = ir_operand_count(m, op);
    if ((ir_op_info(ir_kind(m, op))->traits & traits) != traits || ir_kind(m, op) == IR_OP_ASM ||
        !n || !ir_is_tile(m, ir_value_type(m, ir_result(m, op, 0))))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!canon_is_uniform(m, ir_operand(m, op, i)))
            return false;
    IrBuilder b = canon_at(c, op);
    IrType tile = ir_value_type(m, ir_result(m, op, 0)), scalar = ir_elem_type(m, tile);
    IrValue operands[3];
    for (uint32_t i = 0; i < n; i++)
        operands[i] = canon_scalar_of(&b, ir_operand(m, op, i));
    IrOp once = ir_build(&b, ir_kind(m, op), operands, n, &scalar, 1);
    ir_copy_attrs(m, op, once);
    return canon_replace(c, op, ir_build_splat(&b, tile, ir_result(m, once, 0)));
}

/* --- the work list --- */

static CanonRule *const common[] = {erase_unused, fold_constants, constant_right,
                                    uniform_to_scalar};

static const struct {
    IrKind kind;
    CanonRule *run;
} rules[] = {
#define R(kind, rule) {IR_OP_##kind, canon_##rule},
#include "pass/canon.def"
#undef R
};

enum { RULE_COUNT = sizeof rules / sizeof *rules };

/* First row of canon.def per kind, and how many follow. */
typedef struct RuleIndex {
    uint16_t first[IR_OP_COUNT], len[IR_OP_COUNT];
} RuleIndex;

static void index_rules(RuleIndex *x) {
    *x = (RuleIndex){.first = {0}};
    for (uint16_t i = 0; i < RULE_COUNT; i++) {
        if (!x->len[rules[i].kind])
            x->first[rules[i].kind] = i;
        x->len[rules[i].kind]++;
    }
}

static bool apply(Canon *c, const RuleIndex *x, IrOp op) {
    IrKind kind = ir_kind(c->m, op);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (common[i](c, op))
            return true;
    for (uint32_t i = 0; i < x->len[kind]; i++)
        if (rules[x->first[kind] + i].run(c, op))
            return true;
    return false;
}

static void visit(Canon *c, const RuleIndex *x, IrOp op) {
    uint32_t limit = ir_op_limit(c->m);
    if (ir_kind(c->m, op) == IR_OP_NONE || !apply(c, x, op))
        return;
    c->changed = true;
    if (ir_kind(c->m, op) != IR_OP_NONE) {
        canon_push(c, op);
        for (uint32_t i = 0; i < ir_result_count(c->m, op); i++)
            canon_push_users(c, ir_result(c->m, op, i));
    }
    for (IrOp made = limit; made < ir_op_limit(c->m); made++)
        canon_push(c, made);
}

static void collect(IrModule *m, IrOp op, void *user) {
    Canon *c = user;
    (void)m;
    vec_push(c->scratch, &c->work, op);
}

bool pass_canon(PassContext *p) {
    Canon c = {.m = p->m, .scratch = p->scratch};
    RuleIndex index;
    index_rules(&index);
    for (uint32_t i = 0; i < ir_func_count(p->m); i++)
        ir_walk(p->m, ir_func(p->m, i), collect, &c);
    for (uint32_t i = 0; i < c.work.len / 2; i++) { /* so that work starts at the top */
        IrOp op = c.work.data[i];
        c.work.data[i] = c.work.data[c.work.len - 1 - i];
        c.work.data[c.work.len - 1 - i] = op;
    }
    vec_reserve(c.scratch, &c.queued, ir_op_limit(p->m));
    for (c.queued.len = 0; c.queued.len < ir_op_limit(p->m); c.queued.len++)
        c.queued.data[c.queued.len] = true;
    while (c.work.len) {
        IrOp op = vec_pop(&c.work);
        c.queued.data[op] = false;
        visit(&c, &index, op);
    }
    p->changed = c.changed;
    return true;
}
