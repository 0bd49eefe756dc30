/* f32 and f64 arithmetic. The plain case (round to nearest, no flush, no saturation) is a loop
 * that vectorises; all else goes lane by lane through fp.h. NaN results are canonical. */
#include "exec.h"
#include "fp.h"
#include <math.h>

static inline bool is_plain(const Insn *in) {
    return !(in->flags & (F_FTZ | F_SAT)) && in->rounding == ROUND_RN;
}

static inline float source(const Insn *in, uint32_t bits) {
    return fp_f32(in->flags & F_FTZ ? fp_flush(bits) : bits);
}

/* Flush, saturate (NaN to zero), canonical NaN. */
static inline uint32_t finish(const Insn *in, float r) {
    uint32_t bits = fp_canon(r);
    if (in->flags & F_SAT)
        bits = r > 0 ? (r > 1 ? 0x3f800000u : bits) : 0;
    return in->flags & F_FTZ ? fp_flush(bits) : bits;
}

#define FLOAT2(name, fast, slow)                                                                   \
    void x_##name##_f32(Warp *w, const Insn *in, uint32_t mask) {                                  \
        uint32_t *d = plane32(w, in->d);                                                           \
        const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);                           \
        if (is_plain(in)) {                                                                        \
            FOR_LANES(mask, {                                                                      \
                float a = fp_f32(pa[i]);                                                           \
                float b = fp_f32(pb[i]);                                                           \
                d[i] = fp_canon(fast);                                                             \
            });                                                                                    \
            return;                                                                                \
        }                                                                                          \
        Rounding r = (Rounding)in->rounding;                                                       \
        FOR_LANES(mask, {                                                                          \
            float a = source(in, pa[i]);                                                           \
            float b = source(in, pb[i]);                                                           \
            d[i] = finish(in, slow);                                                               \
        });                                                                                        \
    }
FLOAT2(add, a + b, fp_add32(a, b, r))
FLOAT2(sub, a - b, fp_add32(a, -b, r))
FLOAT2(mul, a *b, fp_mul32(a, b, r))

/* Of two NaN operands the result is `wins`, else the other. */
#define DOUBLE2(name, wins, other, slow)                                                           \
    void x_##name##_f64(Warp *w, const Insn *in, uint32_t mask) {                                  \
        uint64_t *d = plane64(w, in->d);                                                           \
        const uint64_t *pa = plane64(w, in->a), *pb = plane64(w, in->b);                           \
        Rounding r = (Rounding)in->rounding;                                                       \
        FOR_LANES(mask, {                                                                          \
            double a = fp_f64(pa[i]);                                                              \
            double b = fp_f64(pb[i]);                                                              \
            d[i] = fp_result64(slow, other, wins, 0);                                              \
        });                                                                                        \
    }
DOUBLE2(add, b, a, r == ROUND_RN ? a + b : fp_add64(a, b, r))
DOUBLE2(sub, b, a, r == ROUND_RN ? a - b : fp_add64(a, -b, r))
DOUBLE2(mul, b, a, r == ROUND_RN ? a * b : fp_mul64(a, b, r))
DOUBLE2(div, a, b, r == ROUND_RN ? a / b : fp_div64(a, b, r))

#if defined(__x86_64__)
/* With the fused instruction the loop vectorises; elsewhere each lane calls fmaf. */
__attribute__((target("avx2,fma"))) static void
fma_lanes(uint32_t *d, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc, uint32_t mask) {
    FOR_LANES(mask, {
        float r = __builtin_fmaf(fp_f32(pa[i]), fp_f32(pb[i]), fp_f32(pc[i]));
        d[i] = fp_canon(r);
    });
}
#define HAS_FMA_LANES (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
#else
static void fma_lanes(uint32_t *d, const uint32_t *pa, const uint32_t *pb, const uint32_t *pc,
                      uint32_t mask) {
    FOR_LANES(mask, { d[i] = fp_canon(fmaf(fp_f32(pa[i]), fp_f32(pb[i]), fp_f32(pc[i]))); });
}
#define HAS_FMA_LANES 1
#endif

void x_fma_f32(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b), *pc = plane32(w, in->c);
    Rounding r = (Rounding)in->rounding;
    if (is_plain(in) && HAS_FMA_LANES) {
        fma_lanes(d, pa, pb, pc, mask);
        return;
    }
    FOR_LANES(mask, {
        d[i] = finish(in, fp_fma32(source(in, pa[i]), source(in, pb[i]), source(in, pc[i]), r));
    });
}

void x_fma_f64(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d);
    const uint64_t *pa = plane64(w, in->a), *pb = plane64(w, in->b), *pc = plane64(w, in->c);
    Rounding r = (Rounding)in->rounding;
    FOR_LANES(mask, {
        double a = fp_f64(pa[i]);
        double b = fp_f64(pb[i]);
        double c = fp_f64(pc[i]);
        d[i] = fp_result64(fp_fma64(a, b, c, r), a, b, c);
    });
}

/* Pairs of f32 in a 64-bit register. */
static uint64_t pair(const Insn *in, uint64_t x, uint64_t y, uint64_t z) {
    uint64_t out = 0;
    Rounding r = (Rounding)in->rounding;
    for (int h = 0; h < 64; h += 32) {
        float a = source(in, (uint32_t)(x >> h)), b = source(in, (uint32_t)(y >> h));
        float c = source(in, (uint32_t)(z >> h)), v;
        v = in->sub == 0   ? fp_add32(a, b, r)
            : in->sub == 1 ? fp_add32(a, -b, r)
            : in->sub == 2 ? fp_mul32(a, b, r)
                           : fp_fma32(a, b, c, r);
        out |= (uint64_t)finish(in, v) << h;
    }
    return out;
}

void x_f32x2(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d);
    const uint64_t *pa = plane64(w, in->a), *pb = plane64(w, in->b), *pc = plane64(w, in->c);
    FOR_LANES(mask, { d[i] = pair(in, pa[i], pb[i], pc[i]); });
}

/* ---- division, roots ---------------------------------------------------------------------- */

/* div.approx is x * (1 / y): a divisor over 2^126 has a zero reciprocal. */
static inline float div_f32(const Insn *in, float a, float b) {
    if (in->sub == DIV_APPROX && fabsf(b) > 0x1p126f && !isinf(b) && b == b)
        return a * copysignf(0.0f, b);
    return fp_div32(a, b, (Rounding)in->rounding);
}

void x_div_f32(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);
    FOR_LANES(mask, { d[i] = finish(in, div_f32(in, source(in, pa[i]), source(in, pb[i]))); });
}

#define FLOAT1(name, expr)                                                                         \
    void x_##name##_f32(Warp *w, const Insn *in, uint32_t mask) {                                  \
        uint32_t *d = plane32(w, in->d);                                                           \
        const uint32_t *pa = plane32(w, in->a);                                                    \
        Rounding r = (Rounding)in->rounding;                                                       \
        (void)r;                                                                                   \
        FOR_LANES(mask, {                                                                          \
            float a = source(in, pa[i]);                                                           \
            d[i] = finish(in, expr);                                                               \
        });                                                                                        \
    }
FLOAT1(rcp, fp_div32(1.0f, a, r))
FLOAT1(sqrt, fp_sqrt32(a, r))
FLOAT1(rsqrt, (float)(1.0 / sqrt((double)a)))
FLOAT1(ex2, (float)exp2((double)a))
FLOAT1(lg2, (float)log2((double)a))
FLOAT1(sin, (float)sin((double)a))
FLOAT1(cos, (float)cos((double)a))
FLOAT1(tanh, (float)tanh((double)a))

#define DOUBLE1(name, expr)                                                                        \
    void x_##name##_f64(Warp *w, const Insn *in, uint32_t mask) {                                  \
        uint64_t *d = plane64(w, in->d);                                                           \
        const uint64_t *pa = plane64(w, in->a);                                                    \
        Rounding r = (Rounding)in->rounding;                                                       \
        (void)r;                                                                                   \
        FOR_LANES(mask, {                                                                          \
            double a = fp_f64(pa[i]);                                                              \
            d[i] = fp_result64(expr, a, 0, 0);                                                     \
        });                                                                                        \
    }

/* rcp.approx.ftz.f64 and its root keep 20 mantissa bits and flush denormals. */
static inline double coarse(double v) {
    uint64_t bits = fp_u64(v);
    if (v != v)
        return v;
    if (!(bits & 0x7ff0000000000000u))
        return fp_f64(bits & 0x8000000000000000u);
    return fp_f64(bits & 0xffffffff00000000u);
}

DOUBLE1(rcp, in->flags &F_APPROX ? coarse(1.0 / coarse(a)) : fp_div64(1.0, a, r))
DOUBLE1(sqrt, fp_sqrt64(a, r))
DOUBLE1(rsqrt, in->flags &F_FTZ ? coarse(1.0 / sqrt(coarse(a))) : 1.0 / sqrt(a))

#define SIGN64 ((uint64_t)1 << 63)

/* ---- sign, abs, min, max ------------------------------------------------------------------ */

#define SIGN1(name, S, expr)                                                                       \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        S *d = (S *)(void *)plane(w, in->d);                                                       \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        FOR_LANES(mask, {                                                                          \
            S a = pa[i];                                                                           \
            d[i] = (expr);                                                                         \
        });                                                                                        \
    }

/* f32 makes NaNs canonical; f64 only makes them quiet. */
static inline uint32_t with_sign(const Insn *in, uint32_t a, uint32_t keep, uint32_t flip) {
    if ((a & 0x7fffffffu) > 0x7f800000u)
        return NAN32;
    return ((in->flags & F_FTZ ? fp_flush(a) : a) & keep) ^ flip;
}

static inline uint64_t with_sign64(uint64_t a, uint64_t keep, uint64_t flip) {
    return (a & ~SIGN64) > 0x7ff0000000000000u ? a | (uint64_t)1 << 51 : (a & keep) ^ flip;
}

SIGN1(abs_f32, uint32_t, with_sign(in, a, 0x7fffffffu, 0))
SIGN1(neg_f32, uint32_t, with_sign(in, a, ~0u, 0x80000000u))
SIGN1(abs_f64, uint64_t, with_sign64(a, ~SIGN64, 0))
SIGN1(neg_f64, uint64_t, with_sign64(a, ~(uint64_t)0, SIGN64))

/* -0 is below +0; one NaN gives the other operand, with .NaN it wins. */
static inline uint32_t min_max(const Insn *in, uint32_t a, uint32_t b, bool max) {
    uint32_t sign = 0;
    if (in->flags & F_FTZ) {
        a = fp_flush(a);
        b = fp_flush(b);
    }
    if (in->flags & F_XORSIGN) {
        sign = (a ^ b) & 0x80000000u;
        a &= 0x7fffffffu;
        b &= 0x7fffffffu;
    }
    float x = fp_f32(a), y = fp_f32(b);
    bool nan_a = x != x, nan_b = y != y;
    if ((nan_a && nan_b) || ((nan_a || nan_b) && (in->flags & F_NAN)))
        return NAN32;
    if (nan_a || nan_b)
        return (nan_a ? b : a) | sign;
    bool a_less = x < y || (x == y && (a >> 31) > (b >> 31));
    return (a_less != max ? a : b) | sign;
}

void x_min_f32(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);
    FOR_LANES(mask, { d[i] = min_max(in, pa[i], pb[i], false); });
}

void x_max_f32(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);
    FOR_LANES(mask, { d[i] = min_max(in, pa[i], pb[i], true); });
}

static inline uint64_t min_max64(uint64_t a, uint64_t b, bool max) {
    double x = fp_f64(a), y = fp_f64(b);
    if (x != x)
        return y != y ? a : b;
    if (y != y)
        return a;
    bool a_less = x < y || (x == y && (a >> 63) > (b >> 63));
    return a_less != max ? a : b;
}

void x_min_f64(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d);
    const uint64_t *pa = plane64(w, in->a), *pb = plane64(w, in->b);
    FOR_LANES(mask, { d[i] = min_max64(pa[i], pb[i], false); });
}

void x_max_f64(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d);
    const uint64_t *pa = plane64(w, in->a), *pb = plane64(w, in->b);
    FOR_LANES(mask, { d[i] = min_max64(pa[i], pb[i], true); });
}

/* copysign d, a, b: the sign of a, the magnitude of b */
void x_copysign_f32(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);
    FOR_LANES(mask, { d[i] = (pa[i] & 0x80000000u) | (pb[i] & 0x7fffffffu); });
}

void x_copysign_f64(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t *d = plane64(w, in->d), top = (uint64_t)1 << 63;
    const uint64_t *pa = plane64(w, in->a), *pb = plane64(w, in->b);
    FOR_LANES(mask, { d[i] = (pa[i] & top) | (pb[i] & ~top); });
}

static bool test_class(PtxMod what, bool denormal, bool infinite, bool nan) {
    switch ((int)what) {
    case MOD_FINITE:
        return !infinite && !nan;
    case MOD_INFINITE:
        return infinite;
    case MOD_NUMBER:
        return !nan;
    case MOD_NOTANUMBER:
        return nan;
    case MOD_NORMAL:
        return !denormal && !infinite && !nan; /* zeros count as normal */
    default:
        return denormal;
    }
}

void x_testp(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        double v = in->type == TY_F64 ? fp_f64(plane64(w, in->a)[i])
                                      : (double)fp_f32(plane32(w, in->a)[i]);
        double least = in->type == TY_F64 ? 0x1p-1022 : 0x1p-126;
        bool denormal = v != 0 && fabs(v) < least;
        bits |= (uint32_t)test_class((PtxMod)in->sub, denormal, isinf(v), isnan(v)) << i;
    }
    set_pred(w, in->d, bits, mask);
}
