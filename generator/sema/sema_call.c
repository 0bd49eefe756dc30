/* Calls: arguments, binding to parameters, inlining of jit functions; f-strings. */
#include "sema/sema_core.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- arguments --- */

typedef struct ArgList {
    VEC(SVal) pos;
    VEC(Span) pos_span;
    VEC(Str) key;
    VEC(SVal) val;
    bool failed;
} ArgList;

static void push_positional(Sema *s, ArgList *out, SVal x, Span at) {
    if (out->pos.len == SEMA_MAX_ARGUMENTS) {
        sema_error(s, DIAG_SEMA_CALL, at, "a call takes at most %d arguments", SEMA_MAX_ARGUMENTS);
        out->failed = true;
    }
    if (x.kind == SV_ERROR)
        out->failed = true;
    if (out->failed)
        return;
    vec_push(s->arena, &out->pos, x);
    vec_push(s->arena, &out->pos_span, at);
}

static void eval_positional(Sema *s, AstId id, ArgList *out) {
    AstNode n = *ast_node(s->ast, id);
    if (n.kind != AST_STARRED) {
        push_positional(s, out, sema_eval(s, id), n.span);
        return;
    }
    SVal x = sema_eval(s, n.a);
    if (x.kind != SV_TUPLE) {
        if (x.kind != SV_ERROR)
            sema_error(s, DIAG_SEMA_TYPE, n.span, "* needs a tuple, found %s", sv_describe(s, x));
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < x.len; i++)
        push_positional(s, out, x.items[i], n.span);
}

static void eval_keyword(Sema *s, AstId id, ArgList *out) {
    AstNode n = *ast_node(s->ast, id);
    if (!n.name) {
        sema_error(s, DIAG_SEMA_UNSUPPORTED, n.span, "** in a call is not supported in a kernel");
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < out->key.len; i++) {
        if (out->key.data[i] == n.name) {
            sema_error(s, DIAG_SEMA_CALL, n.span, "argument '%s' is given twice",
                       sema_text(s, n.name));
            out->failed = true;
            return;
        }
    }
    SVal x = sema_eval(s, n.a);
    if (x.kind == SV_ERROR)
        out->failed = true;
    vec_push(s->arena, &out->key, n.name);
    vec_push(s->arena, &out->val, x);
}

/* `tl.float32(x)` casts, as in Triton. */
static SVal call_dtype(Sema *s, SVal dtype, const SArgs *a, Span at) {
    if (dtype.rank || a->n_pos != 1 || a->n_key)
        return sema_error(s, DIAG_SEMA_CALL, at,
                          dtype.rank ? "%s cannot be called" : "a cast by %s takes one argument",
                          dtype.rank ? sv_describe(s, dtype) : dt_name(s, dtype.dtype));
    return sema_cast(s, a->pos[0], dtype.dtype, false, at);
}

SVal sema_eval_call(Sema *s, AstId expr) {
    AstNode n = *ast_node(s->ast, expr);
    SVal callee = sema_eval(s, n.a);
    ArgList list = {0};
    for (uint32_t i = 0; i < n.list.len; i++)
        eval_positional(s, ast_item(s->ast, n.list, i), &list);
    for (uint32_t i = 0; i < n.list2.len; i++)
        eval_keyword(s, ast_item(s->ast, n.list2, i), &list);
    if (list.failed || callee.kind == SV_ERROR)
        return sv_error();
    SArgs args = {list.pos.data, list.pos.len, list.key.data,
                  list.val.data, list.key.len, list.pos_span.data};
    s->b.span = n.span;
    switch ((int)callee.kind) {
    case SV_FUNCTION:
        return sema_call_function(s, callee.ast, &args, n.span);
    case SV_BUILTIN:
        return sema_call_builtin(s, callee.builtin, NULL, &args, n.span);
    case SV_METHOD:
        return sema_call_builtin(s, callee.builtin, &callee.items[0], &args, n.span);
    case SV_DTYPE:
        return call_dtype(s, callee, &args, n.span);
    default:
        return sema_error(s, DIAG_SEMA_TYPE, ast_node(s->ast, n.a)->span, "%s cannot be called",
                          sv_describe(s, callee));
    }
}

/* --- binding --- */

typedef struct Binder {
    Sema *s;
    const AstNode *function;
    AstId ast; /* its id */
    const SArgs *args;
    Span at;
    bool *used;    /* keyword arguments */
    uint32_t next; /* positional argument */
    bool keyword_only, failed;
} Binder;

static const char *function_name(const Binder *b) {
    return sema_text(b->s, b->function->name);
}

static void fail(Binder *b, const AstNode *param, const char *message) {
    sema_error(b->s, DIAG_SEMA_CALL, b->at, "%s", message);
    if (param)
        diag_note(b->s->diag, param->span, "the parameter");
    else
        diag_note(b->s->diag, b->function->span, "'%s' is defined here", function_name(b));
    b->failed = true;
}

static bool find_keyword(Binder *b, Str name, SVal *out) {
    for (uint32_t i = 0; i < b->args->n_key; i++) {
        if (b->args->key[i] == name) {
            *out = b->args->val[i];
            b->used[i] = true;
            return true;
        }
    }
    return false;
}

/* Defaults belong to the place of the definition: the module. */
static SVal eval_default(Binder *b, const AstNode *param) {
    Sema *s = b->s;
    SemaFrame *frame = s->frame;
    SemaScope *scope = s->scope;
    SemaModule *module = sema_module_of(s, b->ast);
    s->frame = module->frame;
    s->scope = module->scope;
    SVal v = sema_eval(s, param->b);
    s->frame = frame;
    s->scope = scope;
    return v;
}

static SVal argument_of(Binder *b, const AstNode *param) {
    Sema *s = b->s;
    SVal keyword, none = sv_error();
    bool named = find_keyword(b, param->name, &keyword);
    if (!b->keyword_only && b->next < b->args->n_pos) {
        if (named) {
            fail(b, param,
                 str_format(s->arena, "'%s' got '%s' both by position and by name",
                            function_name(b), sema_text(s, param->name)));
            return none;
        }
        return b->args->pos[b->next++];
    }
    if (named)
        return keyword;
    if (param->b)
        return eval_default(b, param);
    fail(b, param,
         str_format(s->arena, "'%s' needs an argument for '%s'", function_name(b),
                    sema_text(s, param->name)));
    return none;
}

static SVal check_constexpr(Binder *b, const AstNode *param, SVal x) {
    Sema *s = b->s;
    if (!sema_is_constexpr(s, param->a) || x.kind == SV_ERROR)
        return x;
    if (sema_is_static(x))
        return sema_with_literal(s, x, true);
    b->failed = true;
    sema_error(s, DIAG_SEMA_CONST, b->at,
               "parameter '%s' of '%s' must be a compile-time constant, found %s",
               sema_text(s, param->name), function_name(b), sv_describe(s, x));
    diag_note(s->diag, param->span, "declared constexpr here");
    return sv_error();
}

static SVal rest_of_positional(Binder *b) {
    SVal t = sv_tuple(b->s, b->args->pos + b->next, b->args->n_pos - b->next);
    b->next = b->args->n_pos;
    return t;
}

static SVal bind_param(Binder *b, const AstNode *param) {
    if (param->value.i == 0)
        return check_constexpr(b, param, argument_of(b, param));
    if (param->value.i == 1) { /* *args, or the bare * that ends the positional ones */
        b->keyword_only = true;
        return param->name ? rest_of_positional(b) : sv_none();
    }
    if (param->value.i == 2)
        fail(b, param,
             str_format(b->s->arena, "'%s' takes **%s, which is not supported in a kernel",
                        function_name(b), sema_text(b->s, param->name)));
    return sv_none(); /* the `/` marker */
}

static void check_leftovers(Binder *b) {
    Sema *s = b->s;
    if (b->failed)
        return;
    if (b->next < b->args->n_pos)
        fail(b, NULL,
             str_format(s->arena, "'%s' got %u positional arguments, it takes %u", function_name(b),
                        b->args->n_pos, b->next));
    for (uint32_t i = 0; i < b->args->n_key && !b->failed; i++)
        if (!b->used[i])
            fail(b, NULL,
                 str_format(s->arena, "'%s' has no parameter '%s'", function_name(b),
                            sema_text(s, b->args->key[i])));
}

/* The parameters' values in order; NULL after a diagnostic. */
static SVal *bind_all(Sema *s, AstId ast, const AstNode *function, const SArgs *args, Span at) {
    Binder b = {.s = s, .function = function, .ast = ast, .args = args, .at = at};
    b.used = arena_array(s->arena, bool, args->n_key + 1);
    SVal *values = arena_array(s->arena, SVal, function->list.len + 1);
    for (uint32_t i = 0; i < function->list.len && !b.failed; i++) {
        AstNode param = *ast_node(s->ast, ast_item(s->ast, function->list, i));
        values[i] = bind_param(&b, &param);
    }
    check_leftovers(&b);
    return b.failed ? NULL : values;
}

/* --- inlining --- */

static bool may_inline(Sema *s, AstId function, Span at) {
    const char *name = sema_text(s, ast_node(s->ast, function)->name);
    for (const SemaFrame *f = s->frame; f; f = f->caller) {
        if (f->function == function) {
            sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                       "'%s' calls itself: jit functions are inlined and cannot recurse", name);
            return false;
        }
    }
    if (s->call_depth < SEMA_MAX_CALLS)
        return true;
    sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "calls are nested more than %d deep", SEMA_MAX_CALLS);
    return false;
}

SVal sema_call_function(Sema *s, AstId function, const SArgs *args, Span at) {
    AstNode f = *ast_node(s->ast, function);
    if (!may_inline(s, function, at))
        return sv_error();
    SVal *values = bind_all(s, function, &f, args, at);
    if (!values)
        return sv_error();
    SemaFrame *caller = s->frame;
    SemaScope *scope = s->scope;
    s->frame = sema_frame_new(s, sema_module_of(s, function), function, at);
    s->scope = sema_scope_new(s);
    s->call_depth++;
    for (uint32_t i = 0; i < f.list.len; i++) {
        const AstNode *param = ast_node(s->ast, ast_item(s->ast, f.list, i));
        if (param->name && param->value.i <= 1)
            sema_bind(s, param->name, values[i]);
    }
    SVal result = sema_run_body(s, function);
    s->call_depth--;
    s->frame = caller;
    s->scope = scope;
    return result;
}

/* --- f-strings --- */

/* The shortest text that reads back as the same number, as Python prints it. */
static void add_float(StrBuf *b, double f) {
    char text[40];
    if (isnan(f) || isinf(f)) {
        strbuf_addz(b, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, f);
        if (strtod(text, NULL) == f)
            break;
    }
    strbuf_addz(b, text);
    if (!strpbrk(text, ".e"))
        strbuf_addz(b, ".0");
}

static bool add_value(Sema *s, StrBuf *b, SVal x) {
    switch ((int)x.kind) {
    case SV_NONE:
        strbuf_addz(b, "None");
        return true;
    case SV_BOOL:
        strbuf_addz(b, x.num.i ? "True" : "False");
        return true;
    case SV_INT:
        strbuf_addf(b, "%lld", (long long)x.num.i);
        return true;
    case SV_FLOAT:
        add_float(b, x.num.f);
        return true;
    case SV_STR:
        strbuf_add(b, sema_text(s, x.str), str_len(s->strings, x.str));
        return true;
    case SV_DTYPE:
        strbuf_addz(b, dt_name(s, x.dtype));
        return true;
    default:
        return false;
    }
}

SVal sema_eval_fstring(Sema *s, AstId expr) {
    AstNode n = *ast_node(s->ast, expr);
    StrBuf b;
    strbuf_init(&b, s->arena);
    strbuf_add(&b, "", 0);
    for (uint32_t i = 0; i < n.list.len; i++) {
        AstNode part = *ast_node(s->ast, ast_item(s->ast, n.list, i));
        if (part.kind == AST_STRING) {
            strbuf_add(&b, sema_text(s, part.name), str_len(s->strings, part.name));
            continue;
        }
        if (part.name)
            return sema_error(
                s, DIAG_SEMA_UNSUPPORTED, part.span,
                "conversions and format specifications in f-strings are not supported");
        SVal x = sema_eval(s, part.a);
        if (x.kind == SV_ERROR)
            return x;
        if (!add_value(s, &b, x))
            return sema_error(s, DIAG_SEMA_CONST, part.span,
                              "an f-string needs compile-time constants, found %s",
                              sv_describe(s, x));
    }
    return sv_str(str_intern(s->strings, b.text, b.len));
}
