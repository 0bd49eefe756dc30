/* Expressions. Constants fold on the way; runtime values become TIR at the builder's point. */
#include "sema/sema_core.h"

/* Numbers computed from strongly typed ones are strongly typed. */
static SVal fold_literal(SVal r, SVal a, SVal b) {
    if (sv_is_number(r))
        r.literal = (!sv_is_number(a) || a.literal) && (!sv_is_number(b) || b.literal);
    return r;
}

SVal sema_apply_binary(Sema *s, AstOp op, SVal a, SVal b, Span at) {
    s->b.span = at;
    return fold_literal(sema_binary(s, op, a, b, at), a, b);
}

static SVal eval_binary(Sema *s, const AstNode *n) {
    SVal a = sema_eval(s, n->a), b = sema_eval(s, n->b);
    return sema_apply_binary(s, n->op, a, b, n->span);
}

static SVal eval_unary(Sema *s, const AstNode *n) {
    SVal a = sema_eval(s, n->a);
    return fold_literal(sema_unary(s, n->op, a, n->span), a, a);
}

/* In a chain a < b < c the parser shares b; it must be evaluated once. */
static SVal eval_left(Sema *s, AstId left) {
    SemaCore *core = sema_core(s);
    if (core->shared && core->shared == left) {
        core->shared = 0;
        return core->shared_value;
    }
    return sema_eval(s, left);
}

static SVal eval_compare(Sema *s, const AstNode *n) {
    SemaCore *core = sema_core(s);
    SVal a = eval_left(s, n->a), b = sema_eval(s, n->b);
    core->shared = n->b;
    core->shared_value = b;
    return sema_compare(s, n->op, a, b, n->span);
}

static SVal to_bool(Sema *s, SVal x, Span at) {
    if (x.kind == SV_TENSOR || sv_is_number(x))
        return sema_cast(s, x, dt(D_INT1), false, at);
    return sema_error(s, DIAG_SEMA_TYPE, at, "expected a truth value, found %s", sv_describe(s, x));
}

/* A constant left side decides alone or vanishes, as in Python. At run time both sides are
 * evaluated and combined as i1, element by element. */
static SVal eval_boolean(Sema *s, const AstNode *n) {
    Span left = ast_node(s->ast, n->a)->span, right = ast_node(s->ast, n->b)->span;
    SVal a = sema_eval(s, n->a);
    if (a.kind == SV_ERROR)
        return a;
    if (a.kind != SV_TENSOR) {
        bool known, value;
        IrValue cond;
        if (!sema_condition(s, a, left, &known, &value, &cond))
            return sv_error();
        return value == (n->op == AST_OP_AND) ? sema_eval(s, n->b) : a;
    }
    SVal b = sema_eval(s, n->b);
    if (b.kind == SV_ERROR)
        return b;
    a = to_bool(s, a, left);
    b = to_bool(s, b, right);
    return sema_binary(s, n->op == AST_OP_AND ? AST_OP_BITAND : AST_OP_BITOR, a, b, n->span);
}

static SVal eval_items(Sema *s, const AstNode *n) {
    VEC(SVal) items = {0};
    for (uint32_t i = 0; i < n->list.len; i++) {
        const AstNode *item = ast_node(s->ast, ast_item(s->ast, n->list, i));
        bool starred = item->kind == AST_STARRED;
        Span at = item->span;
        SVal x = sema_eval(s, starred ? item->a : ast_item(s->ast, n->list, i));
        if (!starred || x.kind == SV_ERROR) {
            vec_push(s->arena, &items, x);
            continue;
        }
        if (x.kind != SV_TUPLE)
            return sema_error(s, DIAG_SEMA_TYPE, at, "cannot unpack %s", sv_describe(s, x));
        for (uint32_t k = 0; k < x.len; k++)
            vec_push(s->arena, &items, x.items[k]);
    }
    return sv_tuple(s, items.data, items.len);
}

/* Dicts are for host objects: their keys and values are compile-time values. */
static SVal eval_dict(Sema *s, const AstNode *n) {
    SVal d = {.kind = SV_DICT, .len = n->list.len};
    d.items = arena_array(s->arena, SVal, 2 * (size_t)d.len + 1);
    for (uint32_t i = 0; i < d.len; i++) {
        AstId parts[2] = {ast_item(s->ast, n->list, i), ast_item(s->ast, n->list2, i)};
        for (uint32_t k = 0; k < 2; k++) {
            SVal x = parts[k] ? sema_eval(s, parts[k]) : sv_none();
            if (x.kind == SV_ERROR)
                return x;
            if (!parts[k] || !sema_is_static(x))
                return sema_error(s, DIAG_SEMA_UNSUPPORTED, n->span,
                                  "a dict of other than compile-time values is not supported");
            d.items[2 * i + k] = x;
        }
    }
    return d;
}

static SVal eval_slice(Sema *s, const AstNode *n) {
    SVal slice = {.kind = SV_SLICE};
    if (!n->a && !n->b && !n->c)
        return slice;
    slice.items = arena_array(s->arena, SVal, 3);
    AstId parts[3] = {n->a, n->b, n->c};
    for (uint32_t i = 0; i < 3; i++) {
        slice.items[i] = parts[i] ? sema_eval(s, parts[i]) : sv_none();
        if (slice.items[i].kind == SV_ERROR)
            return sv_error();
        if (!sv_is_const(slice.items[i]))
            return sema_error(s, DIAG_SEMA_CONST, ast_node(s->ast, parts[i])->span,
                              "slice bounds must be compile-time constants, found %s",
                              sv_describe(s, slice.items[i]));
    }
    return slice;
}

static SVal eval_attribute(Sema *s, const AstNode *n) {
    SVal object = sema_eval(s, n->a);
    if (object.kind == SV_ERROR)
        return object;
    s->b.span = n->span;
    if (object.kind == SV_NAMESPACE)
        return sema_namespace_get(s, object.str, n->name, n->span);
    return sema_attribute(s, object, n->name, n->span);
}

static SVal eval_subscript(Sema *s, const AstNode *n) {
    SVal object = sema_eval(s, n->a), index = sema_eval(s, n->b);
    if (object.kind == SV_ERROR || index.kind == SV_ERROR)
        return sv_error();
    s->b.span = n->span;
    return sema_subscript(s, object, index, n->span);
}

static SVal unsupported(Sema *s, const AstNode *n) {
    static const struct {
        AstKind kind;
        const char *what;
    } names[] = {{AST_SET, "a set"},
                 {AST_LAMBDA, "a lambda"},
                 {AST_COMPREHENSION, "a comprehension"},
                 {AST_STARRED, "unpacking with *"}};
    const char *what = "this expression";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].kind == n->kind)
            what = names[i].what;
    return sema_error(s, DIAG_SEMA_UNSUPPORTED, n->span, "%s is not supported in a kernel here",
                      what);
}

static SVal eval_node(Sema *s, AstId id, const AstNode *n) {
    switch ((int)n->kind) {
    case AST_NAME:
        return sema_lookup(s, n->name, n->span);
    case AST_INT:
        return sv_int(n->value.i);
    case AST_FLOAT:
        return sv_float(n->value.f);
    case AST_STRING:
        return sv_str(n->name);
    case AST_FSTRING:
        return sema_eval_fstring(s, id);
    case AST_BOOL:
        return sv_bool(n->value.i != 0);
    case AST_NONE_LITERAL:
        return sv_none();
    case AST_ELLIPSIS:
        return (SVal){.kind = SV_ELLIPSIS};
    case AST_TUPLE:
    case AST_LIST:
        return eval_items(s, n);
    case AST_BINARY:
        return eval_binary(s, n);
    case AST_UNARY:
        return eval_unary(s, n);
    case AST_BOOLEAN:
        return eval_boolean(s, n);
    case AST_COMPARE:
        return eval_compare(s, n);
    case AST_TERNARY:
        return sema_ternary(s, id);
    case AST_CALL:
        return sema_eval_call(s, id);
    case AST_ATTRIBUTE:
        return eval_attribute(s, n);
    case AST_SUBSCRIPT:
        return eval_subscript(s, n);
    case AST_SLICE:
        return eval_slice(s, n);
    case AST_DICT:
        return eval_dict(s, n);
    default:
        return unsupported(s, n);
    }
}

SVal sema_eval(Sema *s, AstId expr) {
    AstNode n = *ast_node(s->ast, expr);
    if (!sema_enter(s, n.span))
        return sv_error();
    s->b.span = n.span;
    SVal v = eval_node(s, expr, &n);
    sema_leave(s);
    return v;
}
