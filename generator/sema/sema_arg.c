/* Checked compile-time arguments of builtins. */
#include "sema/sema_builtin.h"
#include "sema/sema_const.h"
#include <string.h>

bool arg_int(Sema *s, SVal x, const char *name, Span at, int64_t *out) {
    if (x.kind != SV_INT && x.kind != SV_BOOL) {
        sema_error(s, DIAG_SEMA_CONST, at, "'%s' must be a compile-time integer, found %s", name,
                   sv_describe(s, x));
        return false;
    }
    *out = x.num.i;
    return true;
}

bool arg_bool(Sema *s, SVal x, const char *name, Span at, bool *out) {
    if (!sv_is_const(x)) {
        sema_error(s, DIAG_SEMA_CONST, at, "'%s' must be a compile-time bool, found %s", name,
                   sv_describe(s, x));
        return false;
    }
    *out = const_truth(s, x);
    return true;
}

bool arg_dtype(Sema *s, SVal x, const char *name, Span at, DType *out) {
    if (x.kind != SV_DTYPE || x.rank) {
        sema_error(s, DIAG_SEMA_TYPE, at, "'%s' must be a dtype, found %s", name,
                   sv_describe(s, x));
        return false;
    }
    *out = x.dtype;
    return true;
}

bool arg_shape(Sema *s, SVal x, const char *name, Span at, uint32_t *rank_out, int64_t *shape_out) {
    if (x.kind == SV_TUPLE && x.len == 1 && x.items[0].kind == SV_TUPLE)
        x = x.items[0]; /* f(x, (a, b)) and f(x, a, b) mean the same */
    if (x.kind == SV_INT)
        x = sv_tuple(s, &x, 1);
    if (x.kind != SV_TUPLE || x.len > IR_MAX_RANK) {
        sema_error(s, DIAG_SEMA_SHAPE, at,
                   "'%s' must be a tuple of at most %d compile-time integers, found %s", name,
                   IR_MAX_RANK, sv_describe(s, x));
        return false;
    }
    int64_t elems = 1;
    for (uint32_t i = 0; i < x.len; i++) {
        if (!arg_int(s, x.items[i], name, at, &shape_out[i]))
            return false;
        if (shape_out[i] < 1 || shape_out[i] > IR_MAX_TILE ||
            (elems *= shape_out[i]) > IR_MAX_TILE) {
            sema_error(s, DIAG_SEMA_RANGE, at,
                       "dimension %u of '%s' is %lld; a tile has 1 to %d elements", i, name,
                       (long long)shape_out[i], IR_MAX_TILE);
            return false;
        }
    }
    *rank_out = x.len;
    return true;
}

bool arg_tensor(Sema *s, SVal *x, const char *name, Span at) {
    if (x->kind != SV_TENSOR && !sv_is_number(*x)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "'%s' must be a tensor, found %s", name,
                   sv_describe(s, *x));
        return false;
    }
    *x = sema_tensor(s, *x, dt(D_NONE), at);
    return x->kind == SV_TENSOR;
}

bool arg_axis(Sema *s, SVal x, SVal tensor, Span at, uint32_t *out) {
    int64_t axis;
    if (!arg_int(s, x, "axis", at, &axis))
        return false;
    if (axis < -(int64_t)tensor.rank || axis >= tensor.rank) {
        sema_error(s, DIAG_SEMA_RANGE, at, "axis %lld is outside %s", (long long)axis,
                   sv_describe(s, tensor));
        return false;
    }
    *out = (uint32_t)(axis < 0 ? axis + tensor.rank : axis);
    return true;
}

bool arg_choice(Sema *s, SVal x, const char *name, const char *const *choices, int missing, Span at,
                int *out) {
    StrBuf all;
    strbuf_init(&all, s->arena);
    *out = missing;
    if (x.kind == SV_NONE || (x.kind == SV_STR && !str_len(s->strings, x.str)))
        return true;
    for (int i = 0; choices[i]; i++) {
        if (x.kind == SV_STR && choices[i][0] && !strcmp(choices[i], str_text(s->strings, x.str))) {
            *out = i;
            return true;
        }
        if (choices[i][0])
            strbuf_addf(&all, "%s'%s'", all.len ? ", " : "", choices[i]);
    }
    sema_error(s, DIAG_SEMA_RANGE, at, "'%s' must be one of %s, found %s", name, all.text,
               sv_describe(s, x));
    return false;
}

SVal sema_unsupported_argument(Sema *s, const char *function, const char *parameter, Span at) {
    return sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "%s: the argument '%s' is not supported",
                      function, parameter);
}
