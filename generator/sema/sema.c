/* Specialisation: a kernel, a signature and constants become one function of TIR. */
#include "parse/parse.h"
#include "sema/sema_core.h"

#include <string.h>

/* --- the kernel --- */

static void collect_kernels(const Sema *s, AstList list, SemaModule *module) {
    Ast *t = s->ast;
    for (uint32_t i = 0; i < list.len; i++) {
        AstId id = ast_item(t, list, i);
        const AstNode *n = ast_node(t, id);
        if (n->kind == AST_FUNCTION && sema_is_jit(s, id))
            vec_push(t->arena, &module->bindings, ((Binding){.name = n->name, .ast = id}));
        if (n->kind == AST_IF || n->kind == AST_OPAQUE_STMT)
            collect_kernels(s, n->list, module);
        if (n->kind == AST_IF || n->kind == AST_WITH)
            collect_kernels(s, n->list2, module);
    }
}

const char *const *sema_kernels(Ast *t) {
    Sema s = {.arena = t->arena, .ast = t, .strings = t->strings};
    SemaModule module = {0};
    if (t->root)
        collect_kernels(&s, ast_node(t, t->root)->list, &module);
    const char **names = arena_array(t->arena, const char *, module.bindings.len + 1);
    for (uint32_t i = 0; i < module.bindings.len; i++)
        names[i] = str_text(t->strings, module.bindings.data[i].name);
    return names;
}

static AstId find_kernel(Sema *s) {
    const SemaModule *module = sema_module(s);
    const char *name = s->request->kernel;
    uint32_t i;
    if (map_get(&module->by_name, str_internz(s->strings, name), &i) &&
        module->bindings.data[i].kind == BIND_FUNCTION)
        return module->bindings.data[i].ast;
    const char *const *kernels = sema_kernels(s->ast);
    const char *near_name = diag_nearest(name, kernels);
    Span file = {.file = ast_node(s->ast, s->ast->root)->span.file};
    if (near_name)
        sema_error(s, DIAG_SEMA_SIGNATURE, file,
                   "there is no @triton.jit function '%s' here, did you mean '%s'?", name,
                   near_name);
    else
        sema_error(s, DIAG_SEMA_SIGNATURE, file, "there is no @triton.jit function '%s' here",
                   name);
    return 0;
}

/* --- constants of the request --- */

/* A bare word is a dtype by its signature name (fp32) or its tl name, with or without `tl.`. */
static SVal dtype_constant(const char *text) {
    DType t;
    if (!strncmp(text, "tl.", 3))
        text += 3;
    return dt_from_signature(text, &t) ? sv_dtype(t) : sv_error();
}

static SVal parsed_constant(Sema *s, const SemaConst *c) {
    AstId root = s->ast->root;
    const char *name = str_format(s->arena, "<const %s>", c->name);
    uint32_t file = sources_add(s->ast->sources, name, c->value, strlen(c->value));
    SVal value = sv_error();
    if (parse_file(s->ast, file, s->diag)) {
        AstNode module = *ast_node(s->ast, s->ast->root);
        AstNode first = module.list.len == 1 ? *ast_node(s->ast, ast_item(s->ast, module.list, 0))
                                             : (AstNode){0};
        if (first.kind == AST_EXPR_STMT)
            value = sema_eval(s, first.a);
        else
            sema_error(s, DIAG_SEMA_SIGNATURE, module.span,
                       "the value of constant '%s' must be one Python literal or a dtype", c->name);
    }
    s->ast->root = root;
    return value;
}

/* '@name' is what the module calls so: a mesh, a jit function, a constant. */
static SVal module_constant(Sema *s, const char *name) {
    SVal value;
    if (sema_module_get(s, str_internz(s->strings, name), (Span){0}, &value))
        return value;
    return sema_error(s, DIAG_SEMA_SIGNATURE, (Span){0}, "the module defines no '%s'", name);
}

static SVal request_constant(Sema *s, const SemaConst *c) {
    if (c->value[0] == '@')
        return module_constant(s, c->value + 1);
    SVal value = dtype_constant(c->value);
    if (value.kind != SV_ERROR)
        return value;
    value = parsed_constant(s, c);
    if (value.kind == SV_ERROR || value.kind == SV_MESH || sv_is_const(value))
        return value;
    return sema_error(s, DIAG_SEMA_SIGNATURE, (Span){0}, "constant '%s' is %s, not a literal",
                      c->name, sv_describe(s, value));
}

/* --- the signature --- */

typedef struct Signature {
    Sema *s;
    AstNode kernel;
    SVal *consts; /* by parameter; SV_ERROR where the parameter is passed at run time */
    bool *is_const;
    const SemaParam **passed; /* by parameter; NULL where it is a constant */
    IrType *types;            /* of the passed ones, in order */
    DType *dtypes;
    uint32_t n_passed;
    bool failed;
} Signature;

static AstNode param_at(const Signature *g, uint32_t i) {
    return *ast_node(g->s->ast, ast_item(g->s->ast, g->kernel.list, i));
}

static void bad(Signature *g, Span at, const char *message) {
    sema_error(g->s, DIAG_SEMA_SIGNATURE, at, "%s", message);
    g->failed = true;
}

/* The parameter's index, or its count after a diagnostic. */
static uint32_t find_param(Signature *g, const char *name) {
    Sema *s = g->s;
    const char **names = arena_array(s->arena, const char *, g->kernel.list.len + 1);
    for (uint32_t i = 0; i < g->kernel.list.len; i++) {
        names[i] = sema_text(s, param_at(g, i).name);
        if (!strcmp(names[i], name))
            return i;
    }
    const char *near_name = diag_nearest(name, names);
    bad(g, g->kernel.span,
        str_format(s->arena, "'%s' has no parameter '%s'%s%s%s", s->request->kernel, name,
                   near_name ? ", did you mean '" : "", near_name ? near_name : "",
                   near_name ? "'?" : ""));
    return g->kernel.list.len;
}

static bool given_twice(Signature *g, uint32_t i) {
    if (!g->passed[i] && !g->is_const[i])
        return false;
    bad(g, param_at(g, i).span,
        str_format(g->s->arena, "parameter '%s' is given twice",
                   sema_text(g->s, param_at(g, i).name)));
    return true;
}

static void place_params(Signature *g) {
    const SemaRequest *r = g->s->request;
    for (uint32_t i = 0; i < r->n_params; i++) {
        uint32_t at = find_param(g, r->params[i].name);
        if (at == g->kernel.list.len || given_twice(g, at))
            continue;
        g->passed[at] = &r->params[i];
        if (sema_is_constexpr(g->s, param_at(g, at).a))
            bad(g, param_at(g, at).span,
                str_format(g->s->arena,
                           "parameter '%s' is tl.constexpr: give its value as a constant",
                           r->params[i].name));
    }
}

static void place_consts(Signature *g) {
    const SemaRequest *r = g->s->request;
    for (uint32_t i = 0; i < r->n_consts; i++) {
        uint32_t at = find_param(g, r->consts[i].name);
        if (at == g->kernel.list.len || given_twice(g, at))
            continue;
        g->is_const[at] = true;
        g->consts[at] = request_constant(g->s, &r->consts[i]);
        g->failed |= g->consts[at].kind == SV_ERROR;
    }
}

static void place_default(Signature *g, uint32_t i) {
    Sema *s = g->s;
    AstNode param = param_at(g, i);
    if (!param.name) /* the bare `*` and the `/` marker */
        return;
    if (param.value.i != 0) {
        bad(g, param.span, "a kernel takes plain parameters only");
        return;
    }
    if (g->passed[i] || g->is_const[i])
        return;
    if (!param.b) {
        bad(g, param.span,
            str_format(s->arena, "parameter '%s' is in neither the signature nor the constants",
                       sema_text(s, param.name)));
        return;
    }
    g->is_const[i] = true;
    g->consts[i] = sema_eval(s, param.b);
    g->failed |= g->consts[i].kind == SV_ERROR;
}

static bool power_of_two(uint32_t x) {
    return x && !(x & (x - 1));
}

static void place_types(Signature *g) {
    for (uint32_t i = 0; i < g->kernel.list.len; i++) {
        const SemaParam *p = g->passed[i];
        DType t;
        if (!p)
            continue;
        if (!dt_from_signature(p->type, &t)) {
            bad(g, param_at(g, i).span,
                str_format(g->s->arena, "parameter '%s' has the unknown type '%s'", p->name,
                           p->type));
            continue;
        }
        if (p->divisible && !power_of_two(p->divisible))
            bad(g, param_at(g, i).span,
                str_format(g->s->arena, "parameter '%s': divisibility %u is not a power of two",
                           p->name, p->divisible));
        g->dtypes[g->n_passed] = t;
        g->types[g->n_passed++] = dt_ir(g->s, t);
    }
}

static bool read_signature(Sema *s, AstId kernel, Signature *g) {
    *g = (Signature){.s = s, .kernel = *ast_node(s->ast, kernel)};
    uint32_t n = g->kernel.list.len + 1;
    g->consts = arena_array(s->arena, SVal, n);
    g->is_const = arena_array(s->arena, bool, n);
    g->passed = arena_array(s->arena, const SemaParam *, n);
    g->types = arena_array(s->arena, IrType, n);
    g->dtypes = arena_array(s->arena, DType, n);
    place_params(g);
    place_consts(g);
    for (uint32_t i = 0; i < g->kernel.list.len; i++)
        place_default(g, i);
    place_types(g);
    return !g->failed;
}

/* --- the function --- */

static void bind_params(Signature *g, IrOp func) {
    Sema *s = g->s;
    IrBlock entry = ir_region_block(s->m, func, 0);
    uint32_t at = 0;
    for (uint32_t i = 0; i < g->kernel.list.len; i++) {
        Str name = param_at(g, i).name;
        SVal value = g->consts[i];
        if (!name)
            continue;
        if (g->passed[i]) {
            value = sv_tensor(s, ir_arg(s->m, entry, at), g->dtypes[at]);
            ir_set_param_fact(s->m, func, at,
                              g->passed[i]->divisible ? g->passed[i]->divisible : 1);
            at++;
        }
        sema_bind(s, name, value);
        sema_name_value(s, value, name);
    }
}

static void build_kernel(Sema *s, AstId kernel, Signature *g) {
    IrOp func = ir_new_func(s->m, g->kernel.name, g->kernel.span, g->types, g->n_passed,
                            s->request->num_warps);
    s->frame = sema_frame_new(s, sema_module(s), kernel, (Span){0});
    s->scope = sema_scope_new(s);
    ir_at_end(&s->b, ir_region_block(s->m, func, 0));
    bind_params(g, func);
    SVal value = sema_run_body(s, kernel);
    if (value.kind != SV_NONE && value.kind != SV_ERROR)
        sema_error(s, DIAG_SEMA_TYPE, g->kernel.span,
                   "a kernel returns nothing, but this one returns %s", sv_describe(s, value));
    s->b.span = g->kernel.span;
    ir_build(&s->b, IR_OP_RETURN, NULL, 0, NULL, 0);
}

static const char *describe_request(Sema *s) {
    const SemaRequest *r = s->request;
    StrBuf b;
    strbuf_init(&b, s->arena);
    strbuf_addf(&b, "in specialisation of '%s' with", r->kernel);
    for (uint32_t i = 0; i < r->n_params; i++)
        strbuf_addf(&b, " %s: %s", r->params[i].name, r->params[i].type);
    for (uint32_t i = 0; i < r->n_consts; i++)
        strbuf_addf(&b, " %s=%s", r->consts[i].name, r->consts[i].value);
    return r->n_params + r->n_consts ? b.text : NULL;
}

static SemaCore *core_new(Sema *s) {
    SemaCore *core = arena_new_of(s->arena, SemaCore);
    SemaModule *module = sema_module_new(s, core, ast_node(s->ast, s->ast->root)->span.file);
    s->frame = module->frame;
    s->scope = module->scope;
    return core;
}

bool sema_specialise(Ast *t, const SemaRequest *r, IrModule *m, Diag *d) {
    Sema s = {
        .arena = ir_arena(m), .ast = t, .strings = t->strings, .diag = d, .m = m, .request = r};
    uint32_t errors = diag_errors(d);
    s.b.m = m;
    SemaCore *core = core_new(&s);
    sema_module_walk(&s, sema_module(&s), t->root);
    AstId kernel = find_kernel(&s);
    Signature g;
    if (!kernel || !read_signature(&s, kernel, &g))
        return false;
    core->specialisation = describe_request(&s);
    build_kernel(&s, kernel, &g);
    return diag_errors(d) == errors;
}
