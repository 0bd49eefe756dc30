/* Joins: the values that two paths of a runtime `if` agree on.
 *
 * Values that are the same on both sides (or that dominate the `if`) stay as they are. Tensors and
 * numbers of one type become results of the IF operation, tuples item by item. What cannot meet
 * becomes a hole: legal as long as nobody uses it. A side that returned contributes poison. */
#include "sema/sema_core.h"

#include <string.h>

bool sema_same_type(SVal a, SVal b) {
    return a.kind == b.kind && dt_equal(a.dtype, b.dtype) && a.rank == b.rank &&
           (!a.rank || !memcmp(a.shape, b.shape, a.rank * sizeof *a.shape));
}

static bool same_items(SVal a, SVal b, uint32_t len) {
    if (!a.items || !b.items)
        return a.items == b.items;
    for (uint32_t i = 0; i < len; i++)
        if (!sema_same(a.items[i], b.items[i]))
            return false;
    return true;
}

bool sema_same(SVal a, SVal b) {
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case SV_ERROR:
    case SV_NONE:
    case SV_ELLIPSIS:
        return true;
    case SV_BOOL:
    case SV_INT:
        return a.num.i == b.num.i;
    case SV_FLOAT:
        return !memcmp(&a.num.f, &b.num.f, sizeof a.num.f);
    case SV_STR:
    case SV_NAMESPACE:
        return a.str == b.str;
    case SV_DTYPE:
        return sema_same_type(a, b);
    case SV_TENSOR:
        return a.v == b.v && sema_same_type(a, b);
    case SV_BUFFER:
        return a.v == b.v && sema_same_type(a, b) && same_items(a, b, 1);
    case SV_MESH:
        return a.mesh == b.mesh;
    case SV_DICT:
        return a.len == b.len && same_items(a, b, 2 * a.len);
    case SV_FUNCTION:
        return a.ast == b.ast;
    case SV_BUILTIN:
        return a.builtin == b.builtin;
    case SV_TUPLE:
        return a.len == b.len && same_items(a, b, a.len);
    case SV_SLICE:
        return same_items(a, b, 3);
    case SV_METHOD:
        return a.builtin == b.builtin && same_items(a, b, 1);
    case SV_RANGE:
        return a.num.i == b.num.i && same_items(a, b, S_RANGE_ITEMS);
    }
    return false;
}

bool sema_is_static(SVal x) {
    switch (x.kind) {
    case SV_TUPLE:
        for (uint32_t i = 0; i < x.len; i++)
            if (!sema_is_static(x.items[i]))
                return false;
        return true;
    case SV_FUNCTION:
    case SV_BUILTIN:
    case SV_NAMESPACE:
    case SV_ELLIPSIS:
    case SV_MESH:
    case SV_DICT:
        return true;
    default:
        return sv_is_const(x);
    }
}

SVal sema_with_literal(Sema *s, SVal x, bool literal) {
    if (sv_is_number(x))
        x.literal = literal;
    if (x.kind != SV_TUPLE || !x.len)
        return x;
    SVal t = sv_tuple(s, x.items, x.len);
    for (uint32_t i = 0; i < x.len; i++)
        t.items[i] = sema_with_literal(s, x.items[i], literal);
    return t;
}

void sema_name_value(Sema *s, SVal x, Str name) {
    if ((x.kind == SV_TENSOR || x.kind == SV_BUFFER) && x.v && !ir_value_name(s->m, x.v))
        ir_set_value_name(s->m, x.v, name);
}

/* Whether the value is made inside one of the regions of `op`. */
static bool made_inside(const Sema *s, IrOp op, IrValue v) {
    IrOp def = ir_value_op(s->m, v);
    IrOp at = def ? ir_parent_op(s->m, def) : ir_block_op(s->m, ir_value_block(s->m, v));
    for (; at; at = ir_parent_op(s->m, at))
        if (at == op)
            return true;
    return false;
}

static IrValue poison_in(Join *j, int side, IrType type) {
    IrBuilder b = j->s->b;
    ir_at_end(&b, j->block[side]);
    b.span = j->at;
    return ir_result(b.m, ir_build(&b, IR_OP_POISON, NULL, 0, &type, 1), 0);
}

static SVal add_result(Join *j, SVal like, IrValue a, IrValue b, Str name) {
    Sema *s = j->s;
    vec_push(s->arena, &j->yields[0], a);
    vec_push(s->arena, &j->yields[1], b);
    ir_add_result(s->m, j->op, ir_value_type(s->m, like.v));
    like.v = ir_result(s->m, j->op, ir_result_count(s->m, j->op) - 1);
    if (!j->anonymous)
        sema_name_value(s, like, name);
    return like;
}

static SVal join_items(Join *j, SVal a, SVal b, Str name, const Hole **hole) {
    SVal t = sv_tuple(j->s, a.items, a.len);
    for (uint32_t i = 0; i < a.len; i++)
        t.items[i] = sema_join_value(j, a.items[i], b.items[i], name, hole);
    return t;
}

/* Only side `live` reaches the join. */
static SVal import(Join *j, SVal x, int live, Str name, const Hole **hole) {
    Sema *s = j->s;
    if (x.kind == SV_TUPLE)
        return join_items(j, x, x, name, hole);
    if (x.kind == SV_TENSOR && made_inside(s, j->op, x.v)) {
        IrValue p = poison_in(j, !live, ir_value_type(s->m, x.v));
        return add_result(j, x, live ? p : x.v, live ? x.v : p, name);
    }
    if (x.kind == SV_METHOD || x.kind == SV_RANGE || x.kind == SV_BUFFER) {
        bool inside = x.kind != SV_BUFFER || made_inside(s, j->op, x.v) ||
                      (x.items && made_inside(s, j->op, x.items[0].v));
        if (inside)
            *hole = sema_hole(s, DIAG_SEMA_FLOW, j->at,
                              "is made in one branch of a runtime `if` "
                              "and cannot leave it");
    }
    return x;
}

static const Hole *differ(Join *j, SVal a, SVal b) {
    Sema *s = j->s;
    const char *text_a = sv_describe(s, a), *text_b = sv_describe(s, b);
    const char *why =
        str_format(s->arena, "is not the same on both sides of the condition: each has %s", text_a);
    if (strcmp(text_a, text_b) != 0)
        why = str_format(s->arena, "is %s %s, but %s %s", text_a, j->live_text[0], text_b,
                         j->live_text[1]);
    return sema_hole(s, DIAG_SEMA_TYPE, j->at, why);
}

static bool is_scalar(SVal x) {
    return sv_is_number(x) || (x.kind == SV_TENSOR && !x.rank);
}

/* 1.5 and an int32 have no type in common: taking the tensor's would cut the number. */
static bool would_cut(SVal number, SVal tensor) {
    return number.kind == SV_FLOAT && tensor.kind == SV_TENSOR && dt_is_int(tensor.dtype);
}

static bool can_meet(SVal a, SVal b) {
    if (a.kind == SV_TENSOR && b.kind == SV_TENSOR)
        return sema_same_type(a, b);
    return is_scalar(a) && is_scalar(b) && !would_cut(a, b) && !would_cut(b, a);
}

SVal sema_join_value(Join *j, SVal a, SVal b, Str name, const Hole **hole) {
    Sema *s = j->s;
    if (!j->live[0] || !j->live[1])
        return import(j, j->live[0] ? a : b, j->live[0] ? 0 : 1, name, hole);
    if (a.kind == SV_ERROR || b.kind == SV_ERROR)
        return sv_error();
    if (sema_same(a, b)) {
        a.literal = a.literal && b.literal;
        return a;
    }
    if (a.kind == SV_TUPLE && b.kind == SV_TUPLE && a.len == b.len)
        return join_items(j, a, b, name, hole);
    if (!can_meet(a, b)) {
        *hole = differ(j, a, b);
        return sv_error();
    }
    /* Numbers become constants above the IF, where they are visible to both sides. */
    IrBuilder saved = s->b;
    ir_at_op(&s->b, j->op);
    bool ok = sema_unify(s, &a, &b, name, j->at);
    s->b = saved;
    return ok ? add_result(j, a, a.v, b.v, name) : sv_error();
}

static void end_block(Join *j, int side) {
    IrBuilder *b = &j->s->b;
    ir_at_end(b, j->block[side]);
    b->span = j->at;
    ir_build(b, IR_OP_YIELD, j->yields[side].data, j->yields[side].len, NULL, 0);
}

void sema_join_finish(Join *j) {
    end_block(j, 0);
    end_block(j, 1);
    ir_after_op(&j->s->b, j->op);
}

/* --- variables --- */

static const SemaVar *var_with(Sema *s, SVal value, const Hole *hole) {
    SemaVar *v = arena_new_of(s->arena, SemaVar);
    v->value = value;
    v->hole = hole;
    return v;
}

static const SemaVar *join_var(Join *j, const SemaVar *a, const SemaVar *b, Str name) {
    Sema *s = j->s;
    if (!j->live[0] || !j->live[1]) {
        a = b = j->live[0] ? a : b;
        if (!a || a->hole)
            return a;
    }
    if (!a || !b) {
        const char *why = str_format(s->arena, "is not assigned %s", j->live_text[a ? 1 : 0]);
        return var_with(s, sv_error(), sema_hole(s, DIAG_SEMA_FLOW, j->at, why));
    }
    if (a->hole || b->hole)
        return a->hole ? a : b;
    const Hole *hole = NULL;
    SVal value = sema_join_value(j, a->value, b->value, name, &hole);
    return var_with(s, value, hole);
}

static SemaScope *join_scopes(Join *j, const SemaScope *a, const SemaScope *b) {
    Sema *s = j->s;
    SemaScope *out = sema_scope_new(s);
    uint32_t len = a->len > b->len ? a->len : b->len;
    for (uint32_t i = 0; i < len; i++) {
        const SemaVar *va = sema_scope_get(a, i), *vb = sema_scope_get(b, i);
        if (va != vb)
            va = join_var(j, va, vb, s->frame->names.data[i]);
        if (va)
            sema_scope_set(s, out, i, va);
    }
    return out;
}

/* --- the outcome --- */

static IrValue returned_flag(Join *j, int side, Outcome o) {
    if (o.flow == FLOW_MIXED)
        return o.returned;
    IrBuilder b = j->s->b;
    ir_at_end(&b, j->block[side]);
    b.span = j->at;
    return ir_build_int(&b, ir_scalar(b.m, IR_I1), o.flow == FLOW_RETURNS);
}

static SVal join_returned(Join *j, const Side sides[2], Span at) {
    Sema *s = j->s;
    Str what = str_internz(s->strings, "the returned value");
    const Hole *hole = NULL;
    j->anonymous = true;
    j->live[0] = sides[0].out.flow != FLOW_FALLS;
    j->live[1] = sides[1].out.flow != FLOW_FALLS;
    SVal v = sema_join_value(j, sides[0].out.value, sides[1].out.value, what, &hole);
    if (!hole)
        return v;
    return sema_error(s, hole->code, at, "the returned value %s", hole->why);
}

Outcome sema_join_sides(Sema *s, IrOp op, const Side sides[2], Span at) {
    Flow a = sides[0].out.flow, b = sides[1].out.flow;
    Join j = {.s = s,
              .op = op,
              .at = at,
              .live_text = {"where the condition holds", "where the condition does not hold"},
              .block = {sides[0].block, sides[1].block},
              .live = {a != FLOW_RETURNS, b != FLOW_RETURNS}};
    Outcome out = {.flow = a == b && a != FLOW_MIXED ? a : FLOW_MIXED};
    if (out.flow != FLOW_RETURNS)
        s->scope = join_scopes(&j, sides[0].scope, sides[1].scope);
    if (out.flow == FLOW_MIXED) {
        IrValue fa = returned_flag(&j, 0, sides[0].out), fb = returned_flag(&j, 1, sides[1].out);
        SVal flag = add_result(&j, sv_tensor(s, fa, dt(D_INT1)), fa, fb,
                               str_internz(s->strings, "returned"));
        out.returned = flag.v;
    }
    if (out.flow != FLOW_FALLS) {
        out.at = a != FLOW_FALLS ? sides[0].out.at : sides[1].out.at;
        out.value = join_returned(&j, sides, out.at);
    }
    sema_join_finish(&j);
    return out;
}
