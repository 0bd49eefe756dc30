/* Python's own functions that jit code calls. */
#include "sema/sema_builtin.h"
#include "sema/sema_const.h"
#include "sema/sema_promote.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static SVal fold_extremum(Sema *s, bool max, SVal values, Span at) {
    if (values.len == 1 && values.items[0].kind == SV_TUPLE)
        values = values.items[0];
    if (!values.len)
        return sema_error(s, DIAG_SEMA_CALL, at, "%s needs at least one value",
                          max ? "max" : "min");
    SVal r = values.items[0];
    for (uint32_t i = 1; i < values.len && r.kind != SV_ERROR; i++)
        r = sema_extremum(s, max, r, values.items[i], false, at);
    return r;
}

SVal b_py_min(Sema *s, const SVal *a, Span at) {
    return fold_extremum(s, false, a[0], at);
}

SVal b_py_max(Sema *s, const SVal *a, Span at) {
    return fold_extremum(s, true, a[0], at);
}

SVal b_py_float(Sema *s, const SVal *a, Span at) {
    if (sv_is_number(a[0]))
        return sv_float(const_as_double(a[0]));
    if (a[0].kind == SV_STR) {
        const char *text = str_text(s->strings, a[0].str);
        char *end;
        double f = strtod(text, &end);
        if (end != text && !*end)
            return sv_float(f);
    }
    if (a[0].kind == SV_TENSOR)
        return sema_cast(s, a[0], dt(D_FP32), false, at);
    return sema_error(s, DIAG_SEMA_TYPE, at, "float() of %s", sv_describe(s, a[0]));
}

SVal b_py_int(Sema *s, const SVal *a, Span at) {
    if (a[0].kind == SV_TENSOR)
        return sema_cast(s, a[0], dt(D_INT32), false, at);
    if (a[0].kind == SV_FLOAT) {
        if (!(fabs(a[0].num.f) < 9.2e18))
            return sema_error(s, DIAG_SEMA_RANGE, at, "int() of %s does not fit 64 bits",
                              sv_describe(s, a[0]));
        return sv_int((int64_t)a[0].num.f);
    }
    if (a[0].kind == SV_INT || a[0].kind == SV_BOOL)
        return sv_int(a[0].num.i);
    return sema_error(s, DIAG_SEMA_TYPE, at, "int() of %s", sv_describe(s, a[0]));
}

SVal b_py_bool(Sema *s, const SVal *a, Span at) {
    if (a[0].kind == SV_TENSOR)
        return sema_cast(s, a[0], dt(D_INT1), false, at);
    return sv_bool(const_truth(s, a[0]));
}

SVal b_py_len(Sema *s, const SVal *a, Span at) {
    if (a[0].kind == SV_TUPLE)
        return sv_int(a[0].len);
    if (a[0].kind == SV_STR)
        return sv_int((int64_t)str_len(s->strings, a[0].str));
    return sema_error(s, DIAG_SEMA_TYPE, at, "len() of %s", sv_describe(s, a[0]));
}

SVal b_py_tuple(Sema *s, const SVal *a, Span at) {
    if (a[0].kind != SV_TUPLE)
        return sema_error(s, DIAG_SEMA_TYPE, at, "a tuple cannot be made of %s",
                          sv_describe(s, a[0]));
    return a[0];
}
