/* See fp.h. Directed roundings switch the floating-point environment around one operation on
 * volatile operands, which no compiler moves out. */
#include "fp.h"
#include <fenv.h>
#include <math.h>

static int c_rounding(Rounding r) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    return modes[r];
}

#define ROUNDED(T, expr)                                                                           \
    if (r == ROUND_RN)                                                                             \
        return (expr);                                                                             \
    fesetround(c_rounding(r));                                                                     \
    volatile T result = (expr);                                                                    \
    fesetround(FE_TONEAREST);                                                                      \
    return result;

float fp_add32(float a, float b, Rounding r) {
    volatile float x = a, y = b;
    ROUNDED(float, x + y)
}

float fp_mul32(float a, float b, Rounding r) {
    volatile float x = a, y = b;
    ROUNDED(float, x *y)
}

float fp_fma32(float a, float b, float c, Rounding r) {
    volatile float x = a, y = b, z = c;
    ROUNDED(float, fmaf(x, y, z))
}

float fp_div32(float a, float b, Rounding r) {
    volatile float x = a, y = b;
    ROUNDED(float, x / y)
}

float fp_sqrt32(float a, Rounding r) {
    volatile float x = a;
    ROUNDED(float, sqrtf(x))
}

double fp_add64(double a, double b, Rounding r) {
    volatile double x = a, y = b;
    ROUNDED(double, x + y)
}

double fp_mul64(double a, double b, Rounding r) {
    volatile double x = a, y = b;
    ROUNDED(double, x *y)
}

double fp_fma64(double a, double b, double c, Rounding r) {
    volatile double x = a, y = b, z = c;
    ROUNDED(double, fma(x, y, z))
}

double fp_div64(double a, double b, Rounding r) {
    volatile double x = a, y = b;
    ROUNDED(double, x / y)
}

double fp_sqrt64(double a, Rounding r) {
    volatile double x = a;
    ROUNDED(double, sqrt(x))
}

float fp_narrow(double a, Rounding r) {
    volatile double x = a;
    ROUNDED(float, (float)x)
}

float fp_from_s64(int64_t v, Rounding r) {
    volatile int64_t x = v;
    ROUNDED(float, (float)x)
}

float fp_from_u64(uint64_t v, Rounding r) {
    volatile uint64_t x = v;
    ROUNDED(float, (float)x)
}

double fp_from_s64d(int64_t v, Rounding r) {
    volatile int64_t x = v;
    ROUNDED(double, (double)x)
}

/* By halves, both exact: what compilers emit for the cast makes -0 of 0 where it rounds down. */
double fp_from_u64d(uint64_t v, Rounding r) {
    return fp_add64((double)(v >> 32) * 0x1p32, (double)(uint32_t)v, r);
}

double fp_integral(double a, Rounding r) {
    switch (r) {
    case ROUND_RZ:
        return trunc(a);
    case ROUND_RM:
        return floor(a);
    case ROUND_RP:
        return ceil(a);
    case ROUND_RNA:
        return round(a);
    case ROUND_RN:
        break;
    }
    return nearbyint(a);
}

/* Makes the last bit odd when `rest` of the exact result is beyond `s`. */
static double to_odd(double s, double rest) {
    uint64_t bits = fp_u64(s);
    if (rest == 0 || !isfinite(s) || (bits & 1))
        return s;
    return fp_f64((rest > 0) == (s > 0) ? bits + 1 : bits - 1);
}

double fp_add_odd(double a, double b) {
    double s = a + b, t = s - a;
    return to_odd(s, (a - (s - t)) + (b - t));
}

double fp_fma_odd(double a, double b, double c) {
    /* Operands have at most 24 bits: the product is exact. */
    return fp_add_odd(a * b, c);
}

/* ---- small formats ------------------------------------------------------------------------ */

typedef struct Format {
    int exponent_bits, mantissa_bits;
    int shift;    /* tf32 keeps its value in the top bits of 32 */
    uint32_t nan; /* the canonical one */
    bool has_inf;
} Format;

static Format format_of(PtxType type) {
    switch ((int)type) {
    case TY_F16:
        return (Format){5, 10, 0, NAN_16, true};
    case TY_BF16:
        return (Format){8, 7, 0, NAN_16, true};
    case TY_E4M3:
        return (Format){4, 3, 0, 0x7f, false};
    case TY_E5M2:
        return (Format){5, 2, 0, 0x7f, true};
    case TY_TF32:
        return (Format){8, 10, 13, NAN32, true};
    default:
        return (Format){8, 23, 0, NAN32, true};
    }
}

double fp_unpack(PtxType type, uint32_t bits) {
    Format f = format_of(type);
    if (type == TY_F32)
        return (double)fp_f32(bits);
    if (type == TY_BF16)
        return (double)fp_f32(bits << 16);
    bits >>= f.shift;
    int bias = (1 << (f.exponent_bits - 1)) - 1, top = (1 << f.exponent_bits) - 1;
    uint32_t m = bits & ((1u << f.mantissa_bits) - 1);
    int e = (int)(bits >> f.mantissa_bits) & top;
    double sign = bits >> (f.mantissa_bits + f.exponent_bits) & 1 ? -1.0 : 1.0;
    if (e == top && f.has_inf)
        return m ? (double)NAN : sign * (double)INFINITY;
    if (!f.has_inf && e == top && m == (1u << f.mantissa_bits) - 1)
        return (double)NAN;
    if (e == 0)
        return sign * ldexp((double)m, 1 - bias - f.mantissa_bits);
    return sign * ldexp((double)(m | 1u << f.mantissa_bits), e - bias - f.mantissa_bits);
}

/* Adds one where the rounding of `rest` (below `half` = one half) says so. */
static uint64_t round_up(uint64_t kept, uint64_t rest, uint64_t half, bool negative, Rounding r) {
    switch (r) {
    case ROUND_RZ:
        return 0;
    case ROUND_RM:
        return negative && rest;
    case ROUND_RP:
        return !negative && rest;
    case ROUND_RNA:
        return rest >= half;
    case ROUND_RN:
        break;
    }
    return rest > half || (rest == half && (kept & 1));
}

static uint32_t overflow(const Format *f, bool negative, Rounding r, bool satfinite) {
    uint32_t largest = ((1u << (f->exponent_bits + f->mantissa_bits)) - 1);
    uint32_t infinite = ((1u << f->exponent_bits) - 1) << f->mantissa_bits;
    bool away = r == ROUND_RN || r == ROUND_RNA || (r == ROUND_RM && negative) ||
                (r == ROUND_RP && !negative);
    if (!f->has_inf)
        return satfinite ? largest - 1 : largest;
    return satfinite || !away ? infinite - 1 : infinite;
}

uint32_t fp_pack(PtxType type, double v, Rounding r, bool satfinite) {
    Format f = format_of(type);
    uint64_t bits = fp_u64(v);
    bool negative = bits >> 63;
    uint32_t sign = (uint32_t)negative << (f.exponent_bits + f.mantissa_bits), out;
    int bias = (1 << (f.exponent_bits - 1)) - 1;
    if (v != v)
        return f.nan;
    if (isinf(v)) {
        out = satfinite || !f.has_inf ? overflow(&f, negative, r, satfinite)
                                      : ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
        return (out | sign) << f.shift;
    }
    if (v == 0)
        return sign << f.shift;
    int e = (int)(bits >> 52 & 2047) - 1023;
    uint64_t m = (bits & (((uint64_t)1 << 52) - 1)) | (e > -1023 ? (uint64_t)1 << 52 : 0);
    int drop = 52 - f.mantissa_bits, biased = e + bias;
    if (biased < 1) { /* subnormal: more bits fall off */
        drop += 1 - biased;
        biased = 0;
    }
    if (drop > 62) {
        m = 1; /* only a trace is left: below half of the smallest subnormal */
        drop = 62;
    }
    uint64_t kept = m >> drop, rest = m & (((uint64_t)1 << drop) - 1);
    kept += round_up(kept, rest, (uint64_t)1 << (drop - 1), negative, r);
    /* the hidden bit, if set, adds itself to the exponent field */
    uint64_t field = biased ? ((uint64_t)(biased - 1) << f.mantissa_bits) + kept : kept;
    uint64_t limit = f.has_inf ? ((uint64_t)((1 << f.exponent_bits) - 1)) << f.mantissa_bits
                               : ((uint64_t)1 << (f.exponent_bits + f.mantissa_bits)) - 1;
    out = field >= limit ? overflow(&f, negative, r, satfinite) : (uint32_t)field;
    return (out | sign) << f.shift;
}
