/* Scopes, frames and the resolution of names: local, then module, then Python's builtins. */
#include "sema/sema_core.h"

#include <string.h>

const char *sema_text(const Sema *s, Str name) {
    return str_text(s->strings, name);
}

SemaFrame *sema_frame_new(Sema *s, SemaModule *module, AstId function, Span call) {
    SemaFrame *f = arena_new_of(s->arena, SemaFrame);
    f->caller = s->frame;
    f->core = module->core;
    f->module = module;
    f->function = function;
    f->call = call;
    map_init(&f->slots, s->arena);
    return f;
}

SemaScope *sema_scope_new(Sema *s) {
    return arena_new_of(s->arena, SemaScope);
}

SemaScope *sema_scope_copy(Sema *s, const SemaScope *from) {
    SemaScope *to = arena_new_of(s->arena, SemaScope);
    if (from->len) {
        to->vars = arena_array(s->arena, const SemaVar *, from->len);
        memcpy(to->vars, from->vars, from->len * sizeof *from->vars);
        to->len = to->cap = from->len;
    }
    return to;
}

const SemaVar *sema_scope_get(const SemaScope *scope, uint32_t slot) {
    return slot < scope->len ? scope->vars[slot] : NULL;
}

void sema_scope_set(Sema *s, SemaScope *scope, uint32_t slot, const SemaVar *var) {
    if (slot >= scope->cap)
        scope->vars =
            vec_grow(s->arena, scope->vars, scope->len, &scope->cap, slot + 1, sizeof *scope->vars);
    for (; scope->len <= slot; scope->len++)
        scope->vars[scope->len] = NULL;
    scope->vars[slot] = var;
}

uint32_t sema_slot(Sema *s, Str name) {
    SemaFrame *f = s->frame;
    uint32_t slot;
    if (map_get(&f->slots, name, &slot))
        return slot;
    slot = f->names.len;
    map_put(&f->slots, name, slot);
    vec_push(s->arena, &f->names, name);
    return slot;
}

const SemaVar *sema_local(Sema *s, Str name) {
    uint32_t slot;
    return map_get(&s->frame->slots, name, &slot) ? sema_scope_get(s->scope, slot) : NULL;
}

static void bind(Sema *s, Str name, SVal value, const Hole *hole) {
    SemaVar *var = arena_new_of(s->arena, SemaVar);
    var->value = value;
    var->hole = hole;
    sema_scope_set(s, s->scope, sema_slot(s, name), var);
}

void sema_bind(Sema *s, Str name, SVal value) {
    bind(s, name, value, NULL);
}

const Hole *sema_hole(Sema *s, DiagCode code, Span at, const char *why) {
    Hole *h = arena_new_of(s->arena, Hole);
    h->code = code;
    h->at = at;
    h->why = why;
    return h;
}

void sema_bind_hole(Sema *s, Str name, DiagCode code, Span at, const char *why) {
    bind(s, name, sv_error(), sema_hole(s, code, at, why));
}

SVal sema_use_var(Sema *s, Str name, const SemaVar *var, Span at) {
    const Hole *h = var->hole;
    if (var->read)
        *var->read = true;
    if (!h)
        return var->value;
    sema_error(s, h->code, at, "'%s' %s", sema_text(s, name), h->why);
    diag_note(s->diag, h->at, "this statement decides it");
    return sv_error();
}

/* Names that are in reach here, NULL-terminated, for "did you mean". */
static const char *nearest(Sema *s, Str name) {
    static const char *const builtins[] = {"range", "min", "max", "float", "int",
                                           "bool",  "len", "abs", "tuple", "str"};
    const SemaModule *module = sema_module(s);
    const SemaFrame *f = s->frame;
    uint32_t n = (uint32_t)(sizeof builtins / sizeof *builtins), at = 0;
    const char **names =
        arena_array(s->arena, const char *, f->names.len + module->bindings.len + n + 1);
    for (uint32_t i = 0; i < f->names.len; i++)
        if (sema_scope_get(s->scope, i))
            names[at++] = sema_text(s, f->names.data[i]);
    for (uint32_t i = 0; i < module->bindings.len; i++)
        names[at++] = sema_text(s, module->bindings.data[i].name);
    for (uint32_t i = 0; i < n; i++)
        names[at++] = builtins[i];
    return diag_nearest(sema_text(s, name), names);
}

SVal sema_lookup(Sema *s, Str name, Span at) {
    const SemaVar *var = sema_local(s, name);
    if (var)
        return sema_use_var(s, name, var, at);
    SVal value;
    if (sema_module_get(s, name, at, &value))
        return value;
    if (sema_python_builtin(s, name, &value))
        return value;
    const char *near_name = nearest(s, name);
    if (near_name)
        return sema_error(s, DIAG_SEMA_NAME, at, "'%s' is not defined, did you mean '%s'?",
                          sema_text(s, name), near_name);
    return sema_error(s, DIAG_SEMA_NAME, at, "'%s' is not defined", sema_text(s, name));
}

bool sema_enter(Sema *s, Span at) {
    SemaCore *core = sema_core(s);
    if (core->stopped)
        return false;
    if (core->depth >= SEMA_MAX_DEPTH) {
        sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                   "expressions, blocks and calls are nested more than %d levels deep",
                   SEMA_MAX_DEPTH);
        core->stopped = true;
        return false;
    }
    if (core->steps >= SEMA_MAX_STEPS) {
        sema_error(s, DIAG_SEMA_RANGE, at,
                   "this specialisation takes more than %d steps of inlining and unrolling",
                   SEMA_MAX_STEPS);
        core->stopped = true;
        return false;
    }
    core->depth++;
    core->steps++;
    return true;
}

void sema_leave(Sema *s) {
    sema_core(s)->depth--;
}

void sema_context_notes(Sema *s) {
    uint32_t n = 0;
    for (const SemaFrame *f = s->frame; f && f->caller; f = f->caller)
        if (f->call.file && n++ < SEMA_MAX_CALL_NOTES)
            diag_note(s->diag, f->call, "in the call of '%s' here",
                      sema_text(s, ast_node(s->ast, f->function)->name));
    if (n > SEMA_MAX_CALL_NOTES)
        diag_note(s->diag, (Span){0}, "and %u more calls around it", n - SEMA_MAX_CALL_NOTES);
    if (!s->frame || !sema_core(s)->specialisation)
        return;
    diag_note(s->diag, (Span){0}, "%s", sema_core(s)->specialisation);
    sema_core(s)->specialisation = NULL; /* said once */
}
