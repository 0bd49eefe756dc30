/* The table of functions, how names resolve to it, and how arguments bind to parameters. */
#include "sema/sema_builtin.h"
#include "sema/sema_mesh.h"
#include "sema/sema_promote.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Builtin {
    const char *ns, *name;
    BuiltinFn *fn;
    const char *params;
} Builtin;

static const Builtin builtins[] = {
#define X(ns, name, fn, params, doc) {ns, name, fn, params},
#include "sema/builtin.def"
#undef X
};

enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins, MAX_PARAMS = 12 };

typedef enum MemberKind { MEMBER_NAMESPACE, MEMBER_STRING, MEMBER_BUILTIN } MemberKind;
static const struct {
    const char *ns, *name;
    MemberKind kind;
    const char *value;
} members[] = {
#define X(ns, name, kind, value) {ns, name, MEMBER_##kind, value},
#include "sema/member.def"
#undef X
};

static const char *const methods[] = {
#define X(name) name,
#include "sema/method.def"
#undef X
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool find_builtin(const char *ns, const char *name, uint32_t *out) {
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++) {
        if (!strcmp(builtins[i].ns, ns) && !strcmp(builtins[i].name, name)) {
            *out = i;
            return true;
        }
    }
    return false;
}

static SVal builtin_value(uint32_t index) {
    SVal x = sv_none();
    x.kind = SV_BUILTIN;
    x.builtin = index;
    return x;
}

static SVal namespace_value(Sema *s, const char *ns) {
    SVal x = sv_none();
    x.kind = SV_NAMESPACE;
    x.str = str_internz(s->strings, ns);
    return x;
}

static SVal member_value(Sema *s, MemberKind kind, const char *value) {
    if (kind == MEMBER_NAMESPACE)
        return namespace_value(s, value);
    if (kind == MEMBER_STRING)
        return sv_str(str_internz(s->strings, value));
    const char *dot = strrchr(value, '.');
    uint32_t index = 0;
    char *ns = arena_strndup(s->arena, value, (size_t)(dot - value));
    return find_builtin(ns, dot + 1, &index) ? builtin_value(index) : sv_error();
}

SVal sema_import(Sema *s, Str module) {
    static const struct {
        const char *module, *ns;
    } modules[] = {
#define X(module, ns) {module, ns},
#include "sema/namespace.def"
#undef X
    };
    for (size_t i = 0; i < COUNT(modules); i++)
        if (!strcmp(str_text(s->strings, module), modules[i].module))
            return namespace_value(s, modules[i].ns);
    return sv_error();
}

/* Every name of a namespace, for "did you mean". */
static const char **names_of(Sema *s, const char *ns) {
    const char **names =
        arena_array(s->arena, const char *, BUILTIN_COUNT + COUNT(members) + D_COUNT + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < BUILTIN_COUNT; i++)
        if (!strcmp(builtins[i].ns, ns))
            names[n++] = builtins[i].name;
    for (size_t i = 0; i < COUNT(members); i++)
        if (!strcmp(members[i].ns, ns))
            names[n++] = members[i].name;
    for (unsigned i = 1; !strcmp(ns, "tl") && i < D_COUNT; i++)
        names[n++] = dt_name(s, dt((DBase)i));
    return names;
}

static SVal unknown_name(Sema *s, const char *owner, const char *name, const char *const *known,
                         Span at) {
    const char *near = diag_nearest(name, known);
    if (near)
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                          "%s has no supported '%s'; did you mean '%s'?", owner, name, near);
    return sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "%s has no supported '%s'", owner, name);
}

/* Of torch, kernels may use dtypes, finfo and iinfo. */
static SVal torch_name(Sema *s, const char *name, Span at) {
    for (unsigned i = 1; i < D_COUNT; i++)
        if (!strcmp(dt_name(s, dt((DBase)i)), name))
            return sv_dtype(dt((DBase)i));
    return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                      "'torch.%s' is host code and cannot be used in a kernel", name);
}

SVal sema_namespace_get(Sema *s, Str ns_str, Str name_str, Span at) {
    const char *ns = str_text(s->strings, ns_str), *name = str_text(s->strings, name_str);
    uint32_t index;
    DType t;
    SVal imported;
    if (sema_imported_get(s, ns_str, name_str, at, &imported))
        return imported;
    if (find_builtin(ns, name, &index))
        return builtin_value(index);
    for (size_t i = 0; i < COUNT(members); i++)
        if (!strcmp(members[i].ns, ns) && !strcmp(members[i].name, name))
            return member_value(s, members[i].kind, members[i].value);
    if (!strcmp(ns, "tl")) {
        for (unsigned i = 1; i < D_COUNT; i++)
            if (!strcmp(dt_name(s, t = dt((DBase)i)), name))
                return sv_dtype(t);
        if (!strcmp(name, "void"))
            return sv_dtype(dt(D_NONE));
    }
    SVal limit;
    if (sema_type_limit(s, ns, name, &limit))
        return limit;
    if (!strcmp(ns, "torch"))
        return torch_name(s, name, at);
    return unknown_name(s, ns, name, names_of(s, ns), at);
}

bool sema_python_builtin(Sema *s, Str name, SVal *out) {
    uint32_t index;
    if (!find_builtin("python", str_text(s->strings, name), &index))
        return false;
    *out = builtin_value(index);
    return true;
}

/* --- attributes --- */

static SVal bound(Sema *s, uint32_t index, SVal object) {
    SVal x = sv_tuple(s, &object, 1);
    x.kind = SV_METHOD;
    x.builtin = index;
    return x;
}

static bool find_method(SVal object, const char *name, uint32_t *out) {
    if (object.kind == SV_DTYPE)
        return !object.rank && find_builtin("dtype", name, out);
    if (object.kind == SV_BUFFER)
        return find_builtin("buffer", name, out);
    if (object.kind == SV_MESH)
        return find_builtin("mesh", name, out);
    if (object.kind != SV_TENSOR && !sv_is_number(object))
        return false;
    if (find_builtin("tensor", name, out))
        return true;
    for (size_t i = 0; i < COUNT(methods); i++)
        if (!strcmp(methods[i], name))
            return find_builtin("tl", name, out);
    return false;
}

static SVal shape_tuple(Sema *s, SVal x) {
    SVal t = sv_tuple(s, NULL, 0);
    t.len = x.rank;
    t.items = arena_array(s->arena, SVal, x.rank + 1u);
    for (unsigned i = 0; i < x.rank; i++)
        t.items[i] = sv_int(x.shape[i]);
    return t;
}

static int64_t element_count(SVal x) {
    int64_t n = 1;
    for (unsigned i = 0; i < x.rank; i++)
        n *= x.shape[i];
    return n;
}

/* The type of a scalar is its dtype; that of a tile has a shape too. */
static SVal type_of(SVal x) {
    SVal t = sv_dtype(x.dtype);
    t.rank = x.rank;
    t.shape = x.shape;
    return t;
}

static bool shaped_attribute(Sema *s, SVal x, const char *name, Span at, SVal *out) {
    if (!strcmp(name, "shape"))
        *out = shape_tuple(s, x);
    else if (!strcmp(name, "dtype"))
        *out = sv_dtype(x.dtype);
    else if (!strcmp(name, "numel"))
        *out = sv_int(element_count(x));
    else if (!strcmp(name, "type"))
        *out = type_of(x);
    else if (!strcmp(name, "T") && x.kind == SV_TENSOR)
        *out = sema_transpose(s, x, NULL, at);
    else
        return false;
    return true;
}

static bool tile_type_attribute(Sema *s, SVal type, const char *name, SVal *out) {
    if (!strcmp(name, "scalar") || !strcmp(name, "element_ty"))
        *out = sv_dtype(type.dtype);
    else if (!strcmp(name, "shape"))
        *out = shape_tuple(s, type);
    else if (!strcmp(name, "numel"))
        *out = sv_int(element_count(type));
    else
        return false;
    return true;
}

static bool dtype_attribute(Sema *s, SVal type, const char *name, SVal *out) {
    DType t = type.dtype;
    if (type.rank)
        return tile_type_attribute(s, type, name, out);
    if (!strcmp(name, "primitive_bitwidth") || !strcmp(name, "int_bitwidth") ||
        !strcmp(name, "fp_bitwidth"))
        *out = sv_int(dt_bits(t));
    else if (!strcmp(name, "itemsize"))
        *out = sv_int((dt_bits(t) + 7) / 8);
    else if (!strcmp(name, "element_ty") && t.depth)
        *out = sv_dtype(dt_pointee(t));
    else if (!strcmp(name, "scalar"))
        *out = sv_dtype(t);
    else if (!strcmp(name, "name"))
        *out = sv_str(str_internz(s->strings, dt_name(s, t)));
    else
        return false;
    return true;
}

SVal sema_attribute(Sema *s, SVal object, Str name_str, Span at) {
    const char *name = str_text(s->strings, name_str);
    uint32_t index;
    SVal out;
    if (object.kind == SV_ERROR)
        return object;
    if (object.kind == SV_NAMESPACE)
        return sema_namespace_get(s, object.str, name_str, at);
    if (find_method(object, name, &index))
        return bound(s, index, object);
    if ((object.kind == SV_TENSOR || object.kind == SV_BUFFER) &&
        shaped_attribute(s, object, name, at, &out))
        return out;
    if (object.kind == SV_MESH && mesh_attribute(s, object, name, &out))
        return out;
    if (object.kind == SV_DTYPE && dtype_attribute(s, object, name, &out))
        return out;
    if (sv_is_const(object) && !strcmp(name, "value")) /* constexpr.value */
        return object;
    return unknown_name(s, sv_describe(s, object), name, methods_named(s), at);
}

const char *const *methods_named(Sema *s) {
    const char **names = arena_array(s->arena, const char *, COUNT(methods) + 4);
    memcpy(names, methods, sizeof methods);
    names[COUNT(methods)] = "to";
    names[COUNT(methods) + 1] = "shape";
    names[COUNT(methods) + 2] = "dtype";
    return names;
}

/* --- binding arguments to parameters --- */

typedef struct Param {
    const char *name, *def; /* text ranges in the row's parameter string */
    uint32_t name_len, def_len;
    bool rest;
} Param;

static uint32_t parse_params(const char *p, Param *out) {
    uint32_t n = 0;
    while (*p) {
        Param q = {0};
        while (*p == ' ' || *p == ',')
            p++;
        q.rest = *p == '*';
        p += q.rest;
        q.name = p;
        q.name_len = (uint32_t)strcspn(p, "=, ");
        p += q.name_len;
        if (*p == '=') {
            q.def = ++p;
            q.def_len = (uint32_t)(*p == '('    ? 2
                                   : *p == '\'' ? strcspn(p + 1, "'") + 2
                                                : strcspn(p, ","));
            p += q.def_len;
        }
        out[n++] = q;
    }
    return n;
}

static SVal default_value(Sema *s, const Param *p) {
    const char *d = p->def;
    if (p->rest || *d == '(')
        return sv_tuple(s, NULL, 0);
    if (*d == '\'')
        return sv_str(str_intern(s->strings, d + 1, p->def_len - 2));
    if (*d == 'N')
        return sv_none();
    if (*d == 'T' || *d == 'F')
        return sv_bool(*d == 'T');
    return sv_int(strtoll(d, NULL, 10));
}

static bool name_is(Sema *s, const Param *p, Str key) {
    const char *text = str_text(s->strings, key);
    return strlen(text) == p->name_len && !memcmp(text, p->name, p->name_len);
}

typedef struct Binding {
    const Builtin *f;
    Param param[MAX_PARAMS];
    SVal value[MAX_PARAMS];
    bool given[MAX_PARAMS];
    uint32_t n;
} Binding;

static bool bind_positional(Sema *s, Binding *k, const SVal *self, const SArgs *args, Span at) {
    uint32_t total = args->n_pos + (self != NULL), p = 0;
    for (uint32_t i = 0; i < total; i++, p++) {
        const SVal *x = self && i == 0 ? self : &args->pos[i - (self != NULL)];
        if (p < k->n && k->param[p].rest) {
            k->value[p] = sv_tuple(s, x, total - i);
            for (uint32_t j = i; j < total; j++)
                k->value[p].items[j - i] = args->pos[j - (self != NULL)];
            k->given[p] = true;
            return true;
        }
        if (p >= k->n) {
            sema_error(s, DIAG_SEMA_CALL, at, "%s.%s takes %u positional arguments, found %u",
                       k->f->ns, k->f->name, k->n, total);
            return false;
        }
        k->value[p] = *x;
        k->given[p] = true;
    }
    return true;
}

static bool bind_keywords(Sema *s, Binding *k, const SArgs *args, Span at) {
    for (uint32_t i = 0; i < args->n_key; i++) {
        uint32_t p = 0;
        while (p < k->n && !name_is(s, &k->param[p], args->key[i]))
            p++;
        if (p == k->n || k->given[p]) {
            sema_error(s, DIAG_SEMA_CALL, at,
                       p == k->n ? "%s.%s has no parameter '%s'" : "%s.%s got '%s' twice", k->f->ns,
                       k->f->name, str_text(s->strings, args->key[i]));
            return false;
        }
        k->value[p] = args->val[i];
        k->given[p] = true;
    }
    return true;
}

static bool bind_defaults(Sema *s, Binding *k, Span at) {
    for (uint32_t p = 0; p < k->n; p++) {
        if (k->given[p])
            continue;
        if (!k->param[p].def && !k->param[p].rest) {
            sema_error(s, DIAG_SEMA_CALL, at, "%s.%s needs an argument for '%.*s'", k->f->ns,
                       k->f->name, (int)k->param[p].name_len, k->param[p].name);
            return false;
        }
        k->value[p] = default_value(s, &k->param[p]);
    }
    return true;
}

SVal sema_call_builtin(Sema *s, uint32_t builtin, const SVal *self, const SArgs *args, Span at) {
    Binding *k = arena_new_of(s->arena, Binding);
    k->f = &builtins[builtin];
    k->n = parse_params(k->f->params, k->param);
    if (!bind_positional(s, k, self, args, at) || !bind_keywords(s, k, args, at) ||
        !bind_defaults(s, k, at))
        return sv_error();
    for (uint32_t p = 0; p < k->n; p++)
        if (k->value[p].kind == SV_ERROR)
            return sv_error();
    s->b.span = at;
    return k->f->fn(s, k->value, at);
}
