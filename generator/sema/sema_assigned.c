/* The names that a block of statements assigns: what a runtime loop must carry, and what becomes
 * erroneous with an erroneous statement.
 *
 * Branches that are dead in every iteration are left out, so that a constexpr parameter which only
 * a dead branch reassigns stays constant in the loop. */
#include "sema/sema_core.h"

typedef struct Walk {
    Sema *s;
    AssignedNames *out;
    const AssignedNames *unstable; /* NULL: take every branch */
} Walk;

static void note(Walk *w, Str name, bool varies) {
    uint32_t at = map_find(&w->out->index, name, 0);
    if (at) {
        w->out->names.data[at - 1].varies |= varies;
        return;
    }
    vec_push(w->s->arena, &w->out->names, ((Assigned){name, varies}));
    map_put(&w->out->index, name, w->out->names.len);
}

static void walk_target(Walk *w, AstId target, bool varies) {
    AstNode n = *ast_node(w->s->ast, target);
    if (n.kind == AST_NAME)
        note(w, n.name, varies);
    else if (n.kind == AST_TUPLE || n.kind == AST_LIST)
        for (uint32_t i = 0; i < n.list.len; i++)
            walk_target(w, ast_item(w->s->ast, n.list, i), varies);
    else if (n.kind == AST_STARRED)
        walk_target(w, n.a, varies);
}

/* --- conditions that fold --- */

static bool fold(Walk *w, AstId id, SVal *out);

static bool fold_name(Walk *w, const AstNode *n, SVal *out) {
    Sema *s = w->s;
    if (map_find(&w->unstable->index, n->name, 0))
        return false;
    const SemaVar *var = sema_local(s, n->name);
    if (var) {
        *out = var->value;
        return !var->hole && sema_is_static(*out);
    }
    uint32_t i;
    SemaModule *module = sema_module(s);
    if (!map_get(&module->by_name, n->name, &i) || module->bindings.data[i].kind == BIND_HOST)
        return false;
    return sema_module_get(s, n->name, n->span, out) && sema_is_static(*out);
}

/* x.dtype of a local, and members of namespaces. */
static bool fold_attribute(Walk *w, const AstNode *n, SVal *out) {
    Sema *s = w->s;
    SVal object;
    AstNode of = *ast_node(s->ast, n->a);
    if (of.kind == AST_NAME &&
        sema_text(s, n->name) == sema_text(s, str_internz(s->strings, "dtype"))) {
        const SemaVar *var = sema_local(s, of.name);
        if (!var || var->hole || var->value.kind != SV_TENSOR ||
            map_find(&w->unstable->index, of.name, 0))
            return false;
        *out = sv_dtype(var->value.dtype);
        return true;
    }
    if (!fold(w, n->a, &object) || object.kind != SV_NAMESPACE)
        return false;
    *out = sema_namespace_get(s, object.str, n->name, n->span);
    return sema_is_static(*out);
}

static bool fold_boolean(Walk *w, const AstNode *n, SVal *out) {
    bool known, value;
    IrValue unused;
    if (!fold(w, n->a, out) || !sema_condition(w->s, *out, n->span, &known, &value, &unused) ||
        !known)
        return false;
    return value == (n->op == AST_OP_AND) ? fold(w, n->b, out) : true;
}

static bool fold_pair(Walk *w, const AstNode *n, SVal *out) {
    SVal a, b;
    if (!fold(w, n->a, &a) || !fold(w, n->b, &b))
        return false;
    *out = n->kind == AST_COMPARE ? sema_compare(w->s, n->op, a, b, n->span)
                                  : sema_binary(w->s, n->op, a, b, n->span);
    return sema_is_static(*out);
}

static bool fold(Walk *w, AstId id, SVal *out) {
    AstNode n = *ast_node(w->s->ast, id);
    switch ((int)n.kind) {
    case AST_NAME:
        return fold_name(w, &n, out);
    case AST_INT:
    case AST_FLOAT:
    case AST_BOOL:
    case AST_STRING:
    case AST_NONE_LITERAL:
        *out = sema_eval(w->s, id);
        return true;
    case AST_ATTRIBUTE:
        return fold_attribute(w, &n, out);
    case AST_UNARY:
        if (!fold(w, n.a, out))
            return false;
        *out = sema_unary(w->s, n.op, *out, n.span);
        return sema_is_static(*out);
    case AST_BOOLEAN:
        return fold_boolean(w, &n, out);
    case AST_COMPARE:
    case AST_BINARY:
        return fold_pair(w, &n, out);
    default:
        return false;
    }
}

/* --- statements --- */

static void walk_list(Walk *w, AstList list);

static void walk_if(Walk *w, const AstNode *n) {
    SVal test;
    bool known = false, value = false;
    IrValue unused;
    if (w->unstable && fold(w, n->a, &test))
        sema_condition(w->s, test, n->span, &known, &value, &unused);
    if (!known || value)
        walk_list(w, n->list);
    if (!known || !value)
        walk_list(w, n->list2);
}

static void walk_statement(Walk *w, AstId stmt) {
    AstNode n = *ast_node(w->s->ast, stmt);
    switch ((int)n.kind) {
    case AST_ASSIGN:
        for (uint32_t i = 0; i < n.list.len; i++)
            walk_target(w, ast_item(w->s->ast, n.list, i), true);
        break;
    case AST_ANN_ASSIGN:
        if (n.c)
            walk_target(w, n.a, !sema_is_constexpr(w->s, n.b));
        break;
    case AST_AUG_ASSIGN:
        walk_target(w, n.a, true);
        break;
    case AST_FOR: /* every run of the loop binds its target anew */
        walk_target(w, n.a, false);
        walk_list(w, n.list);
        break;
    case AST_WHILE:
        walk_list(w, n.list);
        break;
    case AST_IF:
        walk_if(w, &n);
        break;
    default:
        break;
    }
}

static void walk_list(Walk *w, AstList list) {
    for (uint32_t i = 0; i < list.len; i++)
        walk_statement(w, ast_item(w->s->ast, list, i));
}

static void names_init(Sema *s, AssignedNames *names) {
    *names = (AssignedNames){0};
    map_init(&names->index, s->arena);
}

/* The least set that is consistent with itself: starting from "nothing changes", conditions fold
 * with every name outside the set found so far. */
void sema_assigned(Sema *s, AstList body, AssignedNames *out) {
    uint32_t len;
    names_init(s, out);
    do {
        AssignedNames unstable = *out;
        len = out->names.len;
        names_init(s, out);
        Walk w = {s, out, &unstable};
        walk_list(&w, body);
    } while (out->names.len > len);
}

void sema_poison_list(Sema *s, AstList list) {
    AssignedNames all;
    names_init(s, &all);
    Walk w = {s, &all, NULL};
    walk_list(&w, list);
    for (uint32_t i = 0; i < all.names.len; i++)
        sema_bind(s, all.names.data[i].name, sv_error());
}
