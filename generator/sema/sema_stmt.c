/* The statement machine and the simple statements. An erroneous statement leaves erroneous values
 * in the names it would have assigned, and the next one goes on. */
#include "sema/sema_core.h"

#include <string.h>

/* --- the chain --- */

static Cont *push_list(Sema *s, AstList list, Cont *next) {
    Cont *k = arena_new_of(s->arena, Cont);
    k->list = list;
    k->next = next;
    return k;
}

static Cont *push_loop(Sema *s, const StaticLoop *loop, Cont *next) {
    Cont *k = arena_new_of(s->arena, Cont);
    k->loop = loop;
    k->next = next;
    return k;
}

bool sema_cont_done(const Cont *k) {
    for (; k; k = k->next)
        if (k->at < k->list.len || (k->loop && k->trip < k->loop->trips))
            return false;
    return true;
}

bool sema_cont_is_body(const Cont *k) {
    while (k && k->next)
        k = k->next;
    return k && k->body;
}

static Cont *start_trip(Sema *s, Cont *k) {
    const StaticLoop *loop = k->loop;
    AstNode stmt = *ast_node(s->ast, loop->stmt);
    SVal item =
        loop->counted ? sv_int(loop->start + (int64_t)k->trip * loop->step) : loop->items[k->trip];
    sema_assign(s, stmt.a, item);
    k->trip++;
    return push_list(s, stmt.list, k);
}

/* Pops what is done: the chain whose head has a statement to run, or NULL. */
static Cont *settle(Sema *s, Cont *k) {
    while (k && k->at == k->list.len) {
        if (k->loop && k->trip < k->loop->trips && !sema_core(s)->stopped)
            k = start_trip(s, k);
        else
            k = k->next;
        if (k && k->loop && !sema_enter(s, ast_node(s->ast, k->loop->stmt)->span))
            return NULL;
        if (k && k->loop)
            sema_leave(s);
    }
    return k;
}

/* --- assignment --- */

static void assign_items(Sema *s, const AstNode *target, SVal value) {
    if (value.kind != SV_ERROR && (value.kind != SV_TUPLE || value.len != target->list.len)) {
        sema_error(s, DIAG_SEMA_TYPE, target->span, "cannot unpack %s into %u names",
                   sv_describe(s, value), target->list.len);
        value = sv_error();
    }
    for (uint32_t i = 0; i < target->list.len; i++)
        sema_assign(s, ast_item(s->ast, target->list, i),
                    value.kind == SV_ERROR ? value : value.items[i]);
}

void sema_assign(Sema *s, AstId target, SVal value) {
    AstNode n = *ast_node(s->ast, target);
    switch ((int)n.kind) {
    case AST_NAME:
        sema_bind(s, n.name, value);
        sema_name_value(s, value, n.name);
        return;
    case AST_TUPLE:
    case AST_LIST:
        assign_items(s, &n, value);
        return;
    case AST_SUBSCRIPT:
        sema_error(s, DIAG_SEMA_UNSUPPORTED, n.span,
                   "tensors are values: an element cannot be assigned");
        return;
    case AST_ATTRIBUTE:
        sema_error(s, DIAG_SEMA_UNSUPPORTED, n.span, "attributes cannot be assigned in a kernel");
        return;
    default:
        sema_error(s, DIAG_SEMA_UNSUPPORTED, n.span, "this assignment target is not supported");
        return;
    }
}

/* A plain assignment gives numbers Triton's default type: `x = 1.0` meets a tensor as float32. */
static void run_assign(Sema *s, const AstNode *n) {
    SVal value = sema_with_literal(s, sema_eval(s, n->a), false);
    for (uint32_t i = 0; i < n->list.len; i++)
        sema_assign(s, ast_item(s->ast, n->list, i), value);
}

static void run_ann_assign(Sema *s, const AstNode *n) {
    if (!n->c)
        return;
    SVal value = sema_eval(s, n->c);
    bool constant = sema_is_constexpr(s, n->b);
    if (constant && value.kind != SV_ERROR && !sema_is_static(value))
        value = sema_error(s, DIAG_SEMA_CONST, ast_node(s->ast, n->c)->span,
                           "a tl.constexpr variable needs a compile-time constant, found %s",
                           sv_describe(s, value));
    sema_assign(s, n->a, sema_with_literal(s, value, constant));
}

static void run_aug_assign(Sema *s, const AstNode *n) {
    AstNode target = *ast_node(s->ast, n->a);
    if (target.kind != AST_NAME) {
        sema_assign(s, n->a, sv_error());
        return;
    }
    SVal old = sema_eval(s, n->a), x = sema_eval(s, n->b);
    SVal value = sema_apply_binary(s, n->op, old, x, n->span);
    sema_assign(s, n->a, sema_with_literal(s, value, false));
}

/* --- assertions --- */

static Str message_of(Sema *s, AstId expr, const char *otherwise) {
    if (expr) {
        SVal m = sema_eval(s, expr);
        if (m.kind == SV_STR)
            return m.str;
    }
    return str_internz(s->strings, otherwise);
}

static void trap_unless(Sema *s, const AstNode *n, SVal cond, Span at) {
    SVal c = sema_cast(s, cond, dt(D_INT1), false, at);
    if (c.kind != SV_TENSOR)
        return;
    Str message = message_of(s, n->b, "assertion failed");
    s->b.span = n->span;
    IrOp op = ir_build(&s->b, IR_OP_TRAP, &c.v, 1, NULL, 0);
    ir_set_str(s->m, op, IR_KEY_MESSAGE, message);
}

static void run_assert(Sema *s, const AstNode *n) {
    Span at = ast_node(s->ast, n->a)->span;
    SVal cond = sema_eval(s, n->a);
    if (cond.kind == SV_TENSOR) {
        trap_unless(s, n, cond, at);
        return;
    }
    bool known, value;
    IrValue unused;
    if (sema_condition(s, cond, at, &known, &value, &unused) && !value)
        sema_error(s, DIAG_SEMA_ASSERT, at, "%s",
                   sema_text(s, message_of(s, n->b, "this assertion does not hold")));
}

/* `raise E("text")` that is reached: host classes need not be known. */
static void run_raise(Sema *s, const AstNode *n) {
    const AstNode *e = ast_node(s->ast, n->a);
    AstId text = n->a && e->kind == AST_CALL && e->list.len ? ast_item(s->ast, e->list, 0) : 0;
    Str message = message_of(s, text, "this raise is reached at compile time");
    sema_error(s, DIAG_SEMA_ASSERT, n->span, "%s", sema_text(s, message));
}

/* --- statements that steer --- */

/* Break and continue edit the chain; only unrolled loops have a place in it. */
static Cont *leave_loop(Sema *s, const AstNode *n, Cont *k) {
    bool leave = n->kind == AST_BREAK;
    for (Cont *c = k; c; c = c->next)
        if (c->loop)
            return leave ? c->next : c;
    sema_error(s, DIAG_SEMA_FLOW, n->span,
               "%s is supported in unrolled loops (tl.static_range), under compile-time conditions",
               leave ? "break" : "continue");
    return NULL;
}

static Cont *run_for(Sema *s, AstId stmt, const AstNode *n, Cont *k) {
    if (n->list2.len)
        sema_error(s, DIAG_SEMA_FLOW, n->span, "the else branch of a loop is not supported");
    SVal iterable = sema_eval(s, n->b);
    if (iterable.kind == SV_RANGE && iterable.num.i == S_RANGE_RUNTIME) {
        sema_runtime_for(s, stmt, iterable);
        return k;
    }
    StaticLoop *loop = arena_new_of(s->arena, StaticLoop);
    if (sema_static_loop(s, stmt, iterable, loop))
        return push_loop(s, loop, k);
    sema_assign(s, n->a, sv_error());
    sema_poison_list(s, n->list);
    return k;
}

static Outcome run_if(Sema *s, AstId stmt, const AstNode *n, Cont **k) {
    Outcome falls = {.flow = FLOW_FALLS, .value = sv_none()};
    bool known, value;
    IrValue cond;
    SVal test = sema_eval(s, n->a);
    if (!sema_condition(s, test, ast_node(s->ast, n->a)->span, &known, &value, &cond)) {
        sema_poison_list(s, n->list);
        sema_poison_list(s, n->list2);
        return falls;
    }
    if (known) {
        *k = push_list(s, value ? n->list : n->list2, *k);
        return falls;
    }
    return sema_runtime_if(s, stmt, cond, k);
}

static void unsupported(Sema *s, const AstNode *n) {
    static const struct {
        AstKind kind;
        const char *what;
    } names[] = {{AST_IMPORT, "an import"},
                 {AST_IMPORT_FROM, "an import"},
                 {AST_FUNCTION, "a nested def"},
                 {AST_CLASS, "a class"},
                 {AST_WITH, "with"},
                 {AST_GLOBAL, "global"}};
    const char *what = n->kind == AST_OPAQUE_STMT ? sema_text(s, n->name) : "this statement";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].kind == n->kind)
            what = names[i].what;
    sema_error(s, DIAG_SEMA_UNSUPPORTED, n->span, "%s is not supported inside a kernel", what);
    sema_poison_list(s, n->kind == AST_WITH ? n->list2 : n->list);
}

static void run_simple(Sema *s, const AstNode *n) {
    switch ((int)n->kind) {
    case AST_ASSIGN:
        run_assign(s, n);
        break;
    case AST_ANN_ASSIGN:
        run_ann_assign(s, n);
        break;
    case AST_AUG_ASSIGN:
        run_aug_assign(s, n);
        break;
    case AST_EXPR_STMT:
        sema_eval(s, n->a);
        break;
    case AST_PASS:
        break;
    case AST_ASSERT:
        run_assert(s, n);
        break;
    case AST_RAISE:
        run_raise(s, n);
        break;
    default:
        unsupported(s, n);
        break;
    }
}

/* --- the machine --- */

static Outcome run_return(Sema *s, const AstNode *n) {
    Outcome o = {.flow = FLOW_RETURNS, .value = sv_none(), .at = n->span};
    if (n->a)
        o.value = sema_eval(s, n->a);
    if (!s->frame->runtime_loops)
        return o;
    sema_error(s, DIAG_SEMA_FLOW, n->span, "return inside a runtime loop is not supported");
    o.flow = FLOW_FALLS;
    return o;
}

/* Runs one statement; *k is the chain behind it, which the statement may change. */
static Outcome run_statement(Sema *s, AstId stmt, Cont **k) {
    AstNode n = *ast_node(s->ast, stmt);
    Outcome falls = {.flow = FLOW_FALLS, .value = sv_none()};
    s->b.span = n.span;
    switch ((int)n.kind) {
    case AST_RETURN:
        return run_return(s, &n);
    case AST_IF:
        return run_if(s, stmt, &n, k);
    case AST_FOR:
        *k = run_for(s, stmt, &n, *k);
        return falls;
    case AST_WHILE:
        sema_while(s, stmt);
        return falls;
    case AST_BREAK:
    case AST_CONTINUE:
        *k = leave_loop(s, &n, *k);
        return falls;
    default:
        run_simple(s, &n);
        return falls;
    }
}

static Outcome run_chain(Sema *s, Cont *k) {
    Outcome o = {.flow = FLOW_FALLS, .value = sv_none()};
    bool body = sema_cont_is_body(k);
    while (o.flow == FLOW_FALLS && (k = settle(s, k))) {
        AstId stmt = ast_item(s->ast, k->list, k->at++);
        if (!sema_enter(s, ast_node(s->ast, stmt)->span))
            break;
        o = run_statement(s, stmt, &k);
        sema_leave(s);
    }
    if (o.flow == FLOW_FALLS && body)
        o.flow = FLOW_RETURNS;
    return o;
}

Outcome sema_run(Sema *s, Cont *k) {
    Span at = {0};
    if (k && k->at < k->list.len)
        at = ast_node(s->ast, ast_item(s->ast, k->list, k->at))->span;
    if (!sema_enter(s, at))
        return (Outcome){.flow = FLOW_FALLS, .value = sv_none()};
    Outcome o = run_chain(s, k);
    sema_leave(s);
    return o;
}

Outcome sema_run_list(Sema *s, AstList list) {
    return sema_run(s, push_list(s, list, NULL));
}

SVal sema_run_body(Sema *s, AstId function) {
    Cont *k = push_list(s, ast_node(s->ast, function)->list2, NULL);
    k->body = true;
    return sema_run(s, k).value;
}
