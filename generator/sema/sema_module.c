/* The module level: what each name of the file stands for.
 *
 * Imports of our namespaces, jit functions and expressions that fold to constants may be used in
 * kernels. Constants are evaluated on first use, since most module-level code is host code that
 * could not be. Everything else is a host object: named in the diagnostic when a kernel uses it. */
#include "sema/sema_core.h"

#include <string.h>

/* `x = None` in a branch stands for what is missing there: it hides nothing. */
static bool is_placeholder(const Sema *s, const SemaModule *module, const Binding *b) {
    return module->branches && b->kind == BIND_EXPR && b->ast &&
           ast_node(s->ast, b->ast)->kind == AST_NONE_LITERAL &&
           map_find(&module->by_name, b->name, UINT32_MAX) != UINT32_MAX;
}

static void add(Sema *s, SemaModule *module, Binding b) {
    if (is_placeholder(s, module, &b))
        return;
    map_put(&module->by_name, b.name, module->bindings.len);
    vec_push(s->arena, &module->bindings, b);
}

static void add_host(Sema *s, SemaModule *module, Str name, Span at, const char *what) {
    add(s, module, (Binding){.kind = BIND_HOST, .name = name, .at = at, .host = what});
}

/* --- imports --- */

static Str first_part(Sema *s, Str dotted) {
    const char *text = sema_text(s, dotted), *dot = strchr(text, '.');
    return dot ? str_intern(s->strings, text, (size_t)(dot - text)) : dotted;
}

static void bind_module(Sema *s, SemaModule *module, Str name, Str dotted, Span at) {
    SVal v = sema_import(s, dotted);
    if (v.kind == SV_ERROR && !sema_find_import(s, dotted, &v))
        add_host(s, module, name, at, "a host module");
    else
        add(s, module, (Binding){.kind = BIND_VALUE, .name = name, .at = at, .value = v});
}

static void walk_import(Sema *s, SemaModule *module, const AstNode *n) {
    for (uint32_t i = 0; i < n->list.len; i++) {
        const AstNode *alias = ast_node(s->ast, ast_item(s->ast, n->list, i));
        sema_note_import(s, alias->name);
        if (alias->a) /* import a.b as c */
            bind_module(s, module, ast_node(s->ast, alias->a)->name, alias->name, alias->span);
        else
            bind_module(s, module, first_part(s, alias->name), first_part(s, alias->name),
                        alias->span);
    }
}

/* `from m import x`: a submodule, else an attribute of m, resolved when it is used. */
static void walk_from(Sema *s, SemaModule *module, const AstNode *n) {
    SVal from = sema_import(s, n->name), v;
    bool ours = from.kind != SV_NAMESPACE && sema_find_import(s, n->name, &from);
    bool known = ours || from.kind == SV_NAMESPACE;
    for (uint32_t i = 0; i < n->list.len; i++) {
        const AstNode *alias = ast_node(s->ast, ast_item(s->ast, n->list, i));
        if (ours && !strcmp(sema_text(s, alias->name), "*"))
            sema_error(s, DIAG_SEMA_UNSUPPORTED, alias->span,
                       "names of '%s' cannot be imported by '*': import them one by one",
                       sema_text(s, n->name));
        Binding b = {.name = alias->a ? ast_node(s->ast, alias->a)->name : alias->name,
                     .at = alias->span};
        Str dotted = str_internz(s->strings, str_format(s->arena, "%s.%s", sema_text(s, n->name),
                                                        sema_text(s, alias->name)));
        v = sema_import(s, dotted);
        if (v.kind != SV_ERROR || sema_find_import(s, dotted, &v)) {
            b.kind = BIND_VALUE;
            b.value = v;
        } else if (known) {
            b.kind = BIND_EXPR;
            b.value = from;
            b.attribute = alias->name;
        } else {
            b.kind = BIND_HOST;
            b.host =
                str_format(s->arena, "imported from the host module '%s'", sema_text(s, n->name));
        }
        add(s, module, b);
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

static void walk_target(Sema *s, SemaModule *module, AstId target, Binding value) {
    const AstNode *t = ast_node(s->ast, target);
    value.at = t->span;
    if (t->kind == AST_NAME) {
        value.name = t->name;
        add(s, module, value);
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
        add(s, module, element);
    }
}

static void walk_list(Sema *s, SemaModule *module, AstList list);

static void walk_statement(Sema *s, SemaModule *module, AstId id) {
    const AstNode *n = ast_node(s->ast, id);
    switch ((int)n->kind) {
    case AST_IMPORT:
        walk_import(s, module, n);
        break;
    case AST_IMPORT_FROM:
        walk_from(s, module, n);
        break;
    case AST_FUNCTION:
        if (sema_is_jit(s, id))
            add(s, module,
                (Binding){.kind = BIND_FUNCTION, .name = n->name, .at = n->span, .ast = id});
        else
            add_host(s, module, n->name, n->span, "a host function (no @triton.jit)");
        break;
    case AST_CLASS:
        add_host(s, module, n->name, n->span, "a host class");
        break;
    case AST_ASSIGN:
        for (uint32_t i = 0; i < n->list.len; i++)
            walk_target(s, module, ast_item(s->ast, n->list, i),
                        (Binding){.kind = BIND_EXPR, .ast = n->a});
        break;
    case AST_ANN_ASSIGN:
        if (n->c)
            walk_target(s, module, n->a, (Binding){.kind = BIND_EXPR, .ast = n->c});
        break;
    case AST_AUG_ASSIGN:
        if (ast_node(s->ast, n->a)->kind == AST_NAME)
            add_host(s, module, ast_node(s->ast, n->a)->name, n->span,
                     "changed after its definition by host code");
        break;
    case AST_IF:
        module->branches++;
        walk_list(s, module, n->list);
        walk_list(s, module, n->list2);
        module->branches--;
        break;
    case AST_WITH:
        walk_list(s, module, n->list2);
        break;
    case AST_OPAQUE_STMT: /* try, among others */
        module->branches++;
        walk_list(s, module, n->list);
        module->branches--;
        break;
    default:
        break;
    }
}

static void walk_list(Sema *s, SemaModule *module, AstList list) {
    for (uint32_t i = 0; i < list.len; i++)
        walk_statement(s, module, ast_item(s->ast, list, i));
}

SemaModule *sema_module_new(Sema *s, SemaCore *core, uint32_t file) {
    SemaModule *module = arena_new_of(s->arena, SemaModule);
    SemaFrame *frame = s->frame;
    module->core = core;
    module->file = file;
    map_init(&module->by_name, s->arena);
    s->frame = NULL;
    module->frame = sema_frame_new(s, module, 0, (Span){0});
    module->scope = sema_scope_new(s);
    s->frame = frame;
    vec_push(s->arena, &core->modules, module);
    return module;
}

void sema_module_walk(Sema *s, SemaModule *module, AstId root) {
    walk_list(s, module, ast_node(s->ast, root)->list);
}

SemaModule *sema_module_of(const Sema *s, AstId function) {
    const SemaCore *core = sema_core(s);
    uint32_t file = ast_node(s->ast, function)->span.file, i = 0;
    while (i + 1 < core->modules.len && core->modules.data[i]->file != file)
        i++;
    return core->modules.data[i];
}

/* --- use --- */

static SVal eval_at_module(Sema *s, SemaModule *module, AstId expr) {
    SemaFrame *frame = s->frame;
    SemaScope *scope = s->scope;
    s->frame = module->frame;
    s->scope = module->scope;
    SVal v = sema_eval(s, expr);
    s->frame = frame;
    s->scope = scope;
    return v;
}

static SVal evaluate(Sema *s, SemaModule *module, const Binding *b, Span use) {
    if (!b->ast) /* from m import x */
        return sema_namespace_get(s, b->value.str, b->attribute, b->at);
    uint32_t errors = diag_errors(s->diag);
    SVal v = eval_at_module(s, module, b->ast);
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
    return sema_module_lookup(s, sema_module(s), name, at, out);
}

bool sema_module_lookup(Sema *s, SemaModule *module, Str name, Span at, SVal *out) {
    uint32_t i;
    if (!map_get(&module->by_name, name, &i))
        return false;
    Binding b = module->bindings.data[i];
    *out = b.value;
    if (b.kind == BIND_HOST) {
        *out = host_error(s, &b, at);
    } else if (b.kind == BIND_FUNCTION) {
        *out = (SVal){.kind = SV_FUNCTION, .ast = b.ast};
    } else if (b.kind != BIND_VALUE && b.state == BIND_BUSY) {
        *out = sema_error(s, DIAG_SEMA_CONST, at, "'%s' is defined in terms of itself",
                          sema_text(s, name));
    } else if (b.kind != BIND_VALUE && b.state == BIND_FRESH) {
        module->bindings.data[i].state = BIND_BUSY;
        *out = evaluate(s, module, &b, at);
        module->bindings.data[i].state = BIND_DONE;
        module->bindings.data[i].value = *out;
    }
    return true;
}
