/* What kernels use of the host's own libraries, at compile time: limits of types, and arithmetic on
 * numbers. */
#include "sema/sema_builtin.h"
#include <float.h>
#include <math.h>
#include <string.h>

SVal b_next_power_of_2(Sema *s, const SVal *a, Span at) {
    int64_t n, p = 1;
    if (!arg_int(s, a[0], "n", at, &n))
        return sv_error();
    if (n > INT64_C(1) << 62)
        return sema_error(s, DIAG_SEMA_RANGE, at, "no power of two above %lld is an int64",
                          (long long)n);
    while (p < n)
        p *= 2;
    return sv_int(n < 1 ? 0 : p);
}

SVal b_log2_of(Sema *s, const SVal *a, Span at) {
    int64_t n, log = 0;
    if (!arg_int(s, a[0], "i", at, &n))
        return sv_error();
    if (n < 1 || (n & (n - 1)))
        return sema_error(s, DIAG_SEMA_RANGE, at, "%lld is not a power of two", (long long)n);
    for (; n > 1; n /= 2)
        log++;
    return sv_int(log);
}

/* --- torch.finfo(t), torch.iinfo(t): namespaces "torch.finfo.float32", whose names are below ---
 */

static SVal limits_of(Sema *s, SVal type, const char *kind, bool floats, Span at) {
    DType t;
    if (!arg_dtype(s, type, "type", at, &t))
        return sv_error();
    if (dt_is_ptr(t) || dt_bits(t) == 1 || dt_is_float(t) != floats)
        return sema_error(s, DIAG_SEMA_TYPE, at, "torch.%s takes %s, found %s", kind,
                          floats ? "a float type" : "an integer type", dt_name(s, t));
    SVal x = sv_str(str_internz(s->strings, dt_name(s, t)));
    StrBuf name;
    strbuf_init(&name, s->arena);
    strbuf_addf(&name, "torch.%s.%s", kind, dt_name(s, t));
    x.kind = SV_NAMESPACE;
    x.str = str_internz(s->strings, name.text);
    return x;
}

SVal b_finfo(Sema *s, const SVal *a, Span at) {
    return limits_of(s, a[0], "finfo", true, at);
}

SVal b_iinfo(Sema *s, const SVal *a, Span at) {
    return limits_of(s, a[0], "iinfo", false, at);
}

typedef struct FloatLimits {
    double max, tiny, eps;
} FloatLimits;

static bool float_limits(DBase t, FloatLimits *out) {
    switch ((int)t) {
    case D_FP16:
        *out = (FloatLimits){65504.0, ldexp(1, -14), ldexp(1, -10)};
        return true;
    case D_BF16:
        *out = (FloatLimits){ldexp(255, 120), ldexp(1, -126), ldexp(1, -7)};
        return true;
    case D_FP32:
        *out = (FloatLimits){(double)FLT_MAX, (double)FLT_MIN, (double)FLT_EPSILON};
        return true;
    case D_FP64:
        *out = (FloatLimits){DBL_MAX, DBL_MIN, DBL_EPSILON};
        return true;
    case D_FP8E4NV:
        *out = (FloatLimits){448.0, ldexp(1, -6), ldexp(1, -3)};
        return true;
    case D_FP8E5:
        *out = (FloatLimits){57344.0, ldexp(1, -14), ldexp(1, -2)};
        return true;
    default:
        return false;
    }
}

static bool float_name(DType t, const char *name, SVal *out) {
    FloatLimits l;
    if (!float_limits((DBase)t.base, &l))
        return false;
    if (!strcmp(name, "max"))
        *out = sv_float(l.max);
    else if (!strcmp(name, "min"))
        *out = sv_float(-l.max);
    else if (!strcmp(name, "tiny") || !strcmp(name, "smallest_normal"))
        *out = sv_float(l.tiny);
    else if (!strcmp(name, "eps"))
        *out = sv_float(l.eps);
    else
        return false;
    return true;
}

static bool int_name(DType t, const char *name, SVal *out) {
    uint32_t bits = dt_bits(t);
    bool is_signed = dt_is_signed(t);
    if (!strcmp(name, "max") && bits == 64 && !is_signed)
        return false; /* no int64 */
    if (!strcmp(name, "max"))
        *out = sv_int((int64_t)(UINT64_MAX >> (64 - bits + is_signed)));
    else if (!strcmp(name, "min"))
        *out = sv_int(is_signed ? -(int64_t)(UINT64_MAX >> (65 - bits)) - 1 : 0);
    else
        return false;
    return true;
}

bool sema_type_limit(Sema *s, const char *ns, const char *name, SVal *out) {
    static const char finfo[] = "torch.finfo.", iinfo[] = "torch.iinfo.";
    bool floats = !strncmp(ns, finfo, sizeof finfo - 1);
    if (!floats && strncmp(ns, iinfo, sizeof iinfo - 1) != 0)
        return false;
    for (unsigned i = 1; i < D_COUNT; i++) {
        DType t = dt((DBase)i);
        if (strcmp(dt_name(s, t), ns + sizeof finfo - 1) != 0)
            continue;
        if (!strcmp(name, "bits")) {
            *out = sv_int(dt_bits(t));
            return true;
        }
        return floats ? float_name(t, name, out) : int_name(t, name, out);
    }
    return false;
}
