/* The module level: what each name of the file stands for.
 *
 * Imports of our namespaces, jit functions and expressions that fold to constants may be used in
 * kernels. Constants are evaluated on first use, since most module-level code is host code that
 * could not be. Everything else is a host object: named in the diagnostic when a kernel uses it. */
#include "sema/sema_core.h"

#include <string.h>

static void add(Sema *s, SemaCore *core, Binding b) {
    map_put(&core->by_name, b.name, core->bindings.len);
    vec_push(s->arena, &core->bindings, b);
}

static void add_host(Sema *s, SemaCore *core, Str name, Span at, const char *what) {
    add(s, core, (Binding){.kind = BIND_HOST, .name = name, .at = at, .host = what});
}

/* --- imports --- */

static Str first_part(Sema *s, Str dotted) {
    const char *text = sema_text(s, dotted), *dot = strchr(text, '.');
    return dot ? str_intern(s->strings, text, (size_t)(dot - text)) : dotted;
}

static void bind_module(Sema *s, SemaCore *core, Str name, Str module, Span at) {
    SVal v = sema_import(s, module);
    if (v.kind == SV_ERROR)
        add_host(s, core, name, at, "a host module");
    else
        add(s, core, (Binding){.kind = BIND_VALUE, .name = name, .at = at, .value = v});
}

static void walk_import(Sema *s, SemaCore *core, const AstNode *n) {
    for (uint32_t i = 0; i < n->list.len; i++) {
        const AstNode *alias = ast_node(s->ast, ast_item(s->ast, n->list, i));
        if (alias->a) /* import a.b as c */
            bind_module(s, core, ast_node(s->ast, alias->a)->name, alias->name, alias->span);
        else
            bind_module(s, core, first_part(s, alias->name), first_part(s, alias->name),
                        alias->span);
    }
}

/* `from m import x`: a submodule, else an attribute of m, resolved when it is used. */
static void walk_from(Sema *s, SemaCore *core, const AstNode *n) {
    SVal module = sema_import(s, n->name);
    for (uint32_t i = 0; i < n->list.len; i++) {
        const AstNode *alias = ast_node(s->ast, ast_item(s->ast, n->list, i));
        Str name = alias->a ? ast_node(s->ast, alias->a)->name : alias->name;
        const char *dotted =
            sema_format(s, "%s.%s", sema_text(s, n->name), sema_text(s, alias->name));
        SVal v = sema_import(s, str_internz(s->strings, dotted));
        if (v.kind != SV_ERROR)
            add(s, core,
                (Binding){.kind = BIND_VALUE, .name = name, .at = alias->span, .value = v});
        else if (module.kind == SV_NAMESPACE)
            add(s, core,
                (Binding){.kind = BIND_EXPR,
                          .name = name,
                          .at = alias->span,
                          .value = module,
                          .attribute = alias->name});
        else
            add_host(s, core, name, alias->span,
                     sema_format(s, "imported from the host module '%s'", sema_text(s, n->name)));
    }
}

/* --- definitions --- */

/* The last part of a dotted name, looking through calls: triton.jit(...) -> jit. */
static Str last_part(const Sema *s, AstId id) {
    const AstNode *n = ast_node(s->ast, id);
    if (n->kind == AST_CALL)
        n = ast_node(s->ast, n->a);
    return n->kind == AST_NAME || n->kind == AST_ATTRIBUTE ? n->name : 0;
}

bool sema_is_jit(const Sema *s, AstId function) {
    AstId decorators = ast_node(s->ast, function)->b;
    if (!decorators)
        return false;
    AstList list = ast_node(s->ast, decorators)->list;
    for (uint32_t i = 0; i < list.len; i++) {
        Str name = last_part(s, ast_item(s->ast, list, i));
        if (name && !strcmp(sema_text(s, name), "jit"))
            return true;
    }
    return false;
}

bool sema_is_constexpr(const Sema *s, AstId annotation) {
    if (!annotation)
        return false;
    const AstNode *n = ast_node(s->ast, annotation);
    if (n->kind != AST_NAME && n->kind != AST_ATTRIBUTE && n->kind != AST_STRING)
        return false;
    const char *text = sema_text(s, n->name), *dot = strrchr(text, '.');
    return !strcmp(dot ? dot + 1 : text, "constexpr");
}

static void walk_target(Sema *s, SemaCore *core, AstId target, Binding value) {
    const AstNode *t = ast_node(s->ast, target);
    value.at = t->span;
    if (t->kind == AST_NAME) {
        value.name = t->name;
        add(s, core, value);
        return;
    }
    if (t->kind != AST_TUPLE && t->kind != AST_LIST)
        return;
    for (uint32_t i = 0; i < t->list.len; i++) {
        const AstNode *item = ast_node(s->ast, ast_item(s->ast, t->list, i));
        if (item->kind != AST_NAME)
            continue;
        Binding element = value;
        element.kind = BIND_ELEMENT;
        element.name = item->name;
        element.at = item->span;
        element.element = i;
        add(s, core, element);
    }
}

static void walk_list(Sema *s, SemaCore *core, AstList list);

static void walk_statement(Sema *s, SemaCore *core, AstId id) {
    const AstNode *n = ast_node(s->ast, id);
    switch ((int)n->kind) {
    case AST_IMPORT:
        walk_import(s, core, n);
        break;
    case AST_IMPORT_FROM:
        walk_from(s, core, n);
        break;
    case AST_FUNCTION:
        if (sema_is_jit(s, id))
            add(s, core,
                (Binding){.kind = BIND_FUNCTION, .name = n->name, .at = n->span, .ast = id});
        else
            add_host(s, core, n->name, n->span, "a host function (no @triton.jit)");
        break;
    case AST_CLASS:
        add_host(s, core, n->name, n->span, "a host class");
        break;
    case AST_ASSIGN:
        for (uint32_t i = 0; i < n->list.len; i++)
            walk_target(s, core, ast_item(s->ast, n->list, i),
                        (Binding){.kind = BIND_EXPR, .ast = n->a});
        break;
    case AST_ANN_ASSIGN:
        if (n->c)
            walk_target(s, core, n->a, (Binding){.kind = BIND_EXPR, .ast = n->c});
        break;
    case AST_AUG_ASSIGN:
        if (ast_node(s->ast, n->a)->kind == AST_NAME)
            add_host(s, core, ast_node(s->ast, n->a)->name, n->span,
                     "changed after its definition by host code");
        break;
    case AST_IF:
        walk_list(s, core, n->list);
        walk_list(s, core, n->list2);
        break;
    case AST_WITH:
        walk_list(s, core, n->list2);
        break;
    case AST_OPAQUE_STMT:
        walk_list(s, core, n->list);
        break;
    default:
        break;
    }
}

static void walk_list(Sema *s, SemaCore *core, AstList list) {
    for (uint32_t i = 0; i < list.len; i++)
        walk_statement(s, core, ast_item(s->ast, list, i));
}

void sema_module_walk(Sema *s, SemaCore *core) {
    walk_list(s, core, ast_node(s->ast, s->ast->root)->list);
}

/* --- use --- */

static SVal eval_at_module(Sema *s, AstId expr) {
    SemaCore *core = sema_core(s);
    SemaFrame *frame = s->frame;
    SemaScope *scope = s->scope;
    s->frame = core->module_frame;
    s->scope = core->module_scope;
    SVal v = sema_eval(s, expr);
    s->frame = frame;
    s->scope = scope;
    return v;
}

static SVal evaluate(Sema *s, const Binding *b, Span use) {
    if (!b->ast) /* from m import x */
        return sema_namespace_get(s, b->value.str, b->attribute, b->at);
    uint32_t errors = diag_errors(s->diag);
    SVal v = eval_at_module(s, b->ast);
    if (v.kind == SV_ERROR) {
        if (diag_errors(s->diag) > errors)
            diag_note(s->diag, use, "needed because '%s' is used here", sema_text(s, b->name));
        return v;
    }
    if (b->kind == BIND_ELEMENT) {
        if (v.kind != SV_TUPLE || b->element >= v.len)
            return sema_error(s, DIAG_SEMA_TYPE, b->at, "cannot unpack %s", sv_describe(s, v));
        v = v.items[b->element];
    }
    if (!sema_is_static(v)) {
        sema_error(s, DIAG_SEMA_CONST, use, "'%s' is not a compile-time constant: it is %s",
                   sema_text(s, b->name), sv_describe(s, v));
        diag_note(s->diag, b->at, "defined here");
        return sv_error();
    }
    return sema_with_literal(s, v, true);
}

static SVal host_error(Sema *s, const Binding *b, Span at) {
    sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "'%s' is %s and cannot be used in a kernel",
               sema_text(s, b->name), b->host);
    diag_note(s->diag, b->at, "defined here");
    return sv_error();
}

bool sema_module_get(Sema *s, Str name, Span at, SVal *out) {
    SemaCore *core = sema_core(s);
    uint32_t i;
    if (!map_get(&core->by_name, name, &i))
        return false;
    Binding b = core->bindings.data[i];
    *out = b.value;
    if (b.kind == BIND_HOST) {
        *out = host_error(s, &b, at);
    } else if (b.kind == BIND_FUNCTION) {
        *out = (SVal){.kind = SV_FUNCTION, .ast = b.ast};
    } else if (b.kind != BIND_VALUE && b.state == BIND_BUSY) {
        *out = sema_error(s, DIAG_SEMA_CONST, at, "'%s' is defined in terms of itself",
                          sema_text(s, name));
    } else if (b.kind != BIND_VALUE && b.state == BIND_FRESH) {
        core->bindings.data[i].state = BIND_BUSY;
        *out = evaluate(s, &b, at);
        core->bindings.data[i].state = BIND_DONE;
        core->bindings.data[i].value = *out;
    }
    return true;
}
