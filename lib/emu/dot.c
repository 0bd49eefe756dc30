/* See dot.h. Loops over columns have no dependences, so that compilers vectorise them. */
#include "dot.h"
#include "fp.h"
#include <float.h>
#include <math.h>

#define ZERO_EXPONENT (-16384) /* of operands that are zero: never the largest */
#define MODERATE      50       /* exponents of operands that the fast path takes */
#define MODERATE_ACC  90
#define MAX_N         256u

/* The same loops for wider registers, chosen when the library is loaded. Contraction is off, so
 * all give the same bits. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__)
#define FOR_MACHINE __attribute__((target_clones("avx2", "default")))
#else
#define FOR_MACHINE
#endif

/* ---- operands ----------------------------------------------------------------------------- */

typedef struct Small {
    int exponent_bits, mantissa_bits, shift;
} Small;

static Small format_of(PtxType type) {
    switch ((int)type) {
    case TY_F16:
        return (Small){5, 10, 0};
    case TY_E4M3:
        return (Small){4, 3, 0};
    case TY_E5M2:
        return (Small){5, 2, 0};
    case TY_TF32:
        return (Small){8, 10, 13};
    default:
        return (Small){8, 7, 0};
    }
}

/* NaN and infinity, which the main loop takes for numbers. */
static void fix_specials(PtxType type, Small f, const uint32_t *bits, uint32_t n, float *value,
                         DotRange *range) {
    uint32_t top = (1u << f.exponent_bits) - 1, full = top << f.mantissa_bits;
    uint32_t mask = (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t mag = bits[i] >> f.shift & mask;
        if (type == TY_E4M3 ? mag != mask : mag < full)
            continue;
        range->special = true;
        if (mag > full || type == TY_E4M3)
            value[i] = NAN;
        else
            value[i] = copysignf(INFINITY, value[i]);
    }
}

static inline void widen_range(const int16_t *exponent, uint32_t n, DotRange *range) {
    int16_t low = range->low, high = range->high;
    for (uint32_t i = 0; i < n; i++) {
        int16_t e = exponent[i], at_low = e == ZERO_EXPONENT ? INT16_MAX : e;
        low = at_low < low ? at_low : low;
        high = e > high ? e : high;
    }
    range->low = low;
    range->high = high;
}

/* Inlined for each format, which makes all of it constant but the data. */
static inline void decode_as(Small f, const uint32_t *restrict bits, uint32_t n, uint32_t flip,
                             float *restrict value, int16_t *restrict exponent, DotRange *range) {
    int bias = (1 << (f.exponent_bits - 1)) - 1, mantissa = f.mantissa_bits;
    int sign_shift = 31 - f.exponent_bits - mantissa;
    uint32_t mask = (1u << (f.exponent_bits + mantissa)) - 1, hidden = 1u << mantissa;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t raw = bits[i] >> f.shift, mag = raw & mask, field = mag >> mantissa;
        uint32_t sign = ((raw << sign_shift) ^ flip) & 0x80000000u;
        int e = (field ? (int)field : 1) - bias;
        uint32_t sig = (mag & (hidden - 1)) | (field ? hidden : 0);
        uint32_t power = (uint32_t)(e - mantissa + 127) << 23;
        float v = f.exponent_bits == 8 ? fp_f32(mag << (23 - mantissa))
                                       : (float)(int32_t)sig * fp_f32(power);
        value[i] = fp_f32(fp_u32(v) | sign);
        exponent[i] = (int16_t)(mag ? e : ZERO_EXPONENT);
    }
    widen_range(exponent, n, range);
}

FOR_MACHINE void dot_decode(PtxType type, const uint32_t *bits, uint32_t n, bool negate,
                            float *value, int16_t *exponent, DotRange *range) {
    uint32_t flip = negate ? 0x80000000u : 0;
    Small f = format_of(type);
    switch ((int)type) {
    case TY_F16:
        decode_as((Small){5, 10, 0}, bits, n, flip, value, exponent, range);
        break;
    case TY_E4M3:
        decode_as((Small){4, 3, 0}, bits, n, flip, value, exponent, range);
        break;
    case TY_E5M2:
        decode_as((Small){5, 2, 0}, bits, n, flip, value, exponent, range);
        break;
    case TY_TF32:
        decode_as((Small){8, 10, 13}, bits, n, flip, value, exponent, range);
        break;
    default:
        decode_as((Small){8, 7, 0}, bits, n, flip, value, exponent, range);
    }
    /* only the largest exponent can be that of a special value */
    if (range->high >= (1 << (f.exponent_bits - 1)))
        fix_specials(type, f, bits, n, value, range);
}

static inline float half_to_float(uint32_t bits) {
    uint32_t mag = (bits & 0x7fff) << 13, top = mag >= 0x7c00u << 13 ? 0x7f800000u : 0;
    return fp_f32(fp_u32(fp_f32(mag) * 0x1p112f) | top | (bits & 0x8000) << 16);
}

FOR_MACHINE void dot_from_halves(const uint32_t *restrict words, uint32_t n, float *restrict low,
                                 float *restrict high) {
    for (uint32_t i = 0; i < n; i++) {
        low[i] = half_to_float(words[i] & 0xffff);
        high[i] = half_to_float(words[i] >> 16);
    }
}

/* Beside 0.5 the last place of f32 is f16's least unit. */
static inline uint32_t float_to_half(float v) {
    uint32_t mag = fp_u32(v) & 0x7fffffffu, sign = fp_u32(v) >> 16 & 0x8000;
    uint32_t small = fp_u32(fp_f32(mag) + 0.5f) - fp_u32(0.5f);
    uint32_t normal = ((mag + 0xfff + (mag >> 13 & 1)) >> 13) - (112 << 10);
    uint32_t r = mag < (127 - 14) << 23 ? small : normal < 0x7c00 ? normal : 0x7c00;
    return mag > 0x7f800000u ? NAN_16 : sign | r;
}

FOR_MACHINE void dot_to_halves(const float *restrict low, const float *restrict high, uint32_t n,
                               uint32_t *restrict words) {
    for (uint32_t i = 0; i < n; i++)
        words[i] = float_to_half(low[i]) | float_to_half(high[i]) << 16;
}

/* ---- any values: doubles ------------------------------------------------------------------ */

static int nominal(const DotTile *t, float v) {
    int e = (int)(fp_u32(v) >> 23 & 255), least = t->half ? 127 - 14 : 1;
    return v == 0 ? 2 * ZERO_EXPONENT : (e > least ? e : least) - 127;
}

/* Truncated to `keep` bits, or fewer where f32's least exponent says so; beyond f32: infinity. */
static float narrow(double v, int keep) {
    int e;
    frexp(v, &e);
    int unit = (e - 1 < -126 ? -126 : e - 1) - keep + 1;
    v = ldexp(trunc(ldexp(v, -unit)), unit);
    if (fabs(v) > (double)FLT_MAX)
        return copysignf(INFINITY, (float)v);
    return v == 0 ? 0.0f : (float)v;
}

static float to_half(double v) {
    double r = fp_unpack(TY_F16, fp_pack(TY_F16, v, ROUND_RN, false));
    return r == 0 ? 0.0f : (float)r;
}

static double align(double v, int exponent, int fraction) {
    return trunc(ldexp(v, fraction - exponent));
}

/* One group of products with the accumulator. */
static float group_slow(const DotTile *t, const DotModel *model, uint32_t i, uint32_t j, uint32_t k,
                        float acc) {
    int top = nominal(t, acc);
    double sum = 0, plain = (double)acc;
    for (uint32_t q = k; q < k + model->group; q++) {
        double p = (double)t->a[i * t->k + q] * (double)t->b[q * t->n + j];
        int e = t->ea[i * t->k + q] + t->eb[q * t->n + j];
        top = e > top ? e : top;
        plain += p;
    }
    if (!isfinite(plain))
        return isnan(plain) ? fp_f32(NAN32) : (float)plain;
    if (top < ZERO_EXPONENT / 2)
        return 0;
    for (uint32_t q = k; q < k + model->group; q++)
        sum += align((double)t->a[i * t->k + q] * (double)t->b[q * t->n + j], top, model->fraction);
    sum += align((double)acc, top, model->fraction);
    sum = ldexp(sum, top - model->fraction);
    return t->half ? to_half(sum) : narrow(sum, model->keep);
}

static void row_slow(const DotTile *t, const DotModel *model, uint32_t i, uint32_t k, float *acc) {
    for (uint32_t j = 0; j < t->n; j++)
        acc[j] = group_slow(t, model, i, j, k, acc[j]);
}

/* ---- moderate values: 32-bit lanes -------------------------------------------------------- */

static bool is_moderate(const DotRange *r) {
    return !r->special && r->low >= -MODERATE && r->high <= MODERATE;
}

FOR_MACHINE static bool acc_moderate(const float *acc, uint32_t n) {
    uint32_t bad = 0;
    for (uint32_t j = 0; j < n; j++) {
        uint32_t mag = fp_u32(acc[j]) & 0x7fffffffu;
        bad |=
            mag - ((uint32_t)(127 - MODERATE_ACC) << 23) > ((uint32_t)(2 * MODERATE_ACC) << 23) &&
            mag != 0;
    }
    return bad == 0;
}

FOR_MACHINE static void top_exponents(const DotTile *t, uint32_t i, uint32_t k, uint32_t group,
                                      const float *acc, int16_t *restrict top) {
    uint32_t n = t->n;
    int least = t->half ? -14 : -127;
    for (uint32_t j = 0; j < n; j++) {
        int field = (int)(fp_u32(acc[j]) >> 23 & 255), e = field - 127;
        top[j] = (int16_t)(field == 0 ? 2 * ZERO_EXPONENT : e > least ? e : least);
    }
    for (uint32_t q = k; q < k + group; q += 4) {
        const int16_t *ea = t->ea + i * t->k + q, *b0 = t->eb + q * n, *b1 = b0 + n, *b2 = b1 + n,
                      *b3 = b2 + n;
        int16_t e0 = ea[0], e1 = ea[1], e2 = ea[2], e3 = ea[3];
        for (size_t j = 0; j < n; j++) {
            int16_t x = (int16_t)(e0 + b0[j]), y = (int16_t)(e1 + b1[j]);
            int16_t z = (int16_t)(e2 + b2[j]), u = (int16_t)(e3 + b3[j]);
            x = x > y ? x : y;
            z = z > u ? z : u;
            x = x > z ? x : z;
            top[j] = x > top[j] ? x : top[j];
        }
    }
}

FOR_MACHINE static void add_products(const DotTile *t, uint32_t i, uint32_t k, uint32_t group,
                                     const float *restrict scale, int32_t *restrict sum) {
    uint32_t n = t->n;
    for (uint32_t q = k; q < k + group; q += 4) {
        const float *a = t->a + i * t->k + q, *b0 = t->b + q * n, *b1 = b0 + n, *b2 = b1 + n,
                    *b3 = b2 + n;
        float a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
        for (size_t j = 0; j < n; j++) {
            float s = scale[j];
            sum[j] += (int32_t)(a0 * b0[j] * s) + (int32_t)(a1 * b1[j] * s) +
                      (int32_t)(a2 * b2[j] * s) + (int32_t)(a3 * b3[j] * s);
        }
    }
}

/* The exponents' powers of two, in the unit of `fraction` bits below; sums start at 0. */
FOR_MACHINE static void set_scales(int16_t *restrict top, float *restrict scale,
                                   int32_t *restrict sum, uint32_t n, int fraction) {
    for (uint32_t j = 0; j < n; j++) {
        int e = top[j] < ZERO_EXPONENT / 2 ? 0 : top[j];
        top[j] = (int16_t)e;
        scale[j] = fp_f32((uint32_t)(fraction - e + 127) << 23);
        sum[j] = 0;
    }
}

/* The aligned accumulator and sum of products, whose unit is 2^(top - fraction), as a float. */
static inline double total(float acc, int32_t sum, float scale, int top, int fraction,
                           uint64_t keep) {
    double v = (double)sum + (double)(int32_t)(acc * scale);
    return fp_f64(fp_u64(v) & keep) * fp_f64((uint64_t)(top - fraction + 1023) << 52);
}

/* Whether that fits 31 bits with some room, in all columns. */
FOR_MACHINE static bool is_small(const float *acc, const int32_t *sum, const float *scale,
                                 uint32_t n) {
    uint32_t large = 0;
    for (uint32_t j = 0; j < n; j++) {
        int32_t half = sum[j] / 2 + (int32_t)(acc[j] * scale[j]) / 2;
        large |= (uint32_t)(half + (1 << 29)) & 0xc0000000u;
    }
    return large == 0;
}

/* Bits of the magnitude as f32, towards zero; the last is set if `sticky` and any was lost. */
static inline uint32_t cut(int32_t mag, bool sticky) {
    float near = (float)mag;
    int32_t r = (int32_t)near;
    return (fp_u32(near) - (r > mag)) | (sticky & (r != mag));
}

FOR_MACHINE static void finish_small(float *restrict acc, const int32_t *restrict sum,
                                     const float *restrict scale, const int16_t *restrict top,
                                     uint32_t n, int fraction, uint32_t bits) {
    uint32_t keep = ~(uint32_t)0 << (24 - bits);
    for (uint32_t j = 0; j < n; j++) {
        int32_t v = sum[j] + (int32_t)(acc[j] * scale[j]), mag = v < 0 ? -v : v;
        float unit = fp_f32((uint32_t)(top[j] - fraction + 127) << 23);
        float r = fp_f32(cut(mag, false) & keep) * unit;
        acc[j] = fp_f32(fp_u32(r) | ((uint32_t)v & 0x80000000u));
    }
}

FOR_MACHINE static void finish(float *restrict acc, const int32_t *restrict sum,
                               const float *restrict scale, const int16_t *restrict top, uint32_t n,
                               int fraction, uint32_t bits) {
    uint64_t keep = ~(uint64_t)0 << (53 - bits);
    for (uint32_t j = 0; j < n; j++)
        acc[j] = (float)total(acc[j], sum[j], scale[j], top[j], fraction, keep);
}

static void finish_half(float *acc, const int32_t *sum, const float *scale, const int16_t *top,
                        uint32_t n, int fraction) {
    for (uint32_t j = 0; j < n; j++)
        acc[j] = to_half(total(acc[j], sum[j], scale[j], top[j], fraction, ~(uint64_t)0));
}

/* A choice by masks, where compilers would make a branch to leave an addition of floats out. */
static inline uint32_t choose(bool yes, uint32_t a, uint32_t b) {
    uint32_t mask = 0u - (uint32_t)yes;
    return (a & mask) | (b & ~mask);
}

/* Bits of the nearest f16, ties to even, as f32. Beside 0.5 the last place is f16's least unit. */
static inline uint32_t near_half(float magnitude) {
    uint32_t mag = fp_u32(magnitude), small = fp_u32((magnitude + 0.5f) - 0.5f);
    uint32_t normal = (mag + 0xfff + (mag >> 13 & 1)) & ~(uint32_t)0x1fff;
    normal = choose(normal < (127 + 16) << 23, normal, 0x7f800000u);
    return choose(mag < (127 - 14) << 23, small, normal);
}

FOR_MACHINE static void finish_small_half(float *restrict acc, const int32_t *restrict sum,
                                          const float *restrict scale, const int16_t *restrict top,
                                          uint32_t n, int fraction) {
    for (uint32_t j = 0; j < n; j++) {
        int32_t v = sum[j] + (int32_t)(acc[j] * scale[j]), mag = v < 0 ? -v : v;
        float unit = fp_f32((uint32_t)(top[j] - fraction + 127) << 23);
        uint32_t r = near_half(fp_f32(cut(mag, true)) * unit);
        acc[j] = fp_f32(choose(r == 0, 0, r | ((uint32_t)v & 0x80000000u)));
    }
}

static void row_fast(const DotTile *t, const DotModel *model, uint32_t i, uint32_t k, float *acc) {
    int16_t top[MAX_N];
    float scale[MAX_N];
    int32_t sum[MAX_N];
    uint32_t n = t->n;
    int fraction = model->fraction;
    top_exponents(t, i, k, model->group, acc, top);
    set_scales(top, scale, sum, n, fraction);
    add_products(t, i, k, model->group, scale, sum);
    bool small = is_small(acc, sum, scale, n);
    if (t->half && small)
        finish_small_half(acc, sum, scale, top, n, fraction);
    else if (t->half)
        finish_half(acc, sum, scale, top, n, fraction);
    else if (small)
        finish_small(acc, sum, scale, top, n, fraction, model->keep);
    else
        finish(acc, sum, scale, top, n, fraction, model->keep);
}

/* ---- tiles -------------------------------------------------------------------------------- */

static void add_last(float *sum, const float *acc, uint32_t n) {
    for (uint32_t j = 0; j < n; j++) {
        float r = sum[j] + acc[j];
        sum[j] = r != r ? fp_f32(NAN32) : r;
    }
}

void dot_float(DotTile *t, const DotModel *model) {
    bool fast = is_moderate(&t->range_a) && is_moderate(&t->range_b) && model->group % 4 == 0;
    float before[MAX_N];
    for (uint32_t i = 0; i < t->m; i++) {
        float *acc = t->c.f + i * t->n;
        if (model->add_after) {
            memcpy(before, acc, t->n * sizeof *acc);
            memset(acc, 0, t->n * sizeof *acc);
        }
        for (uint32_t k = 0; k < t->k; k += model->group) {
            if (fast && acc_moderate(acc, t->n))
                row_fast(t, model, i, k, acc);
            else
                row_slow(t, model, i, k, acc);
        }
        if (model->add_after)
            add_last(acc, before, t->n);
    }
}

FOR_MACHINE static void row_int(const DotTile *t, uint32_t i, int32_t *restrict sum) {
    uint32_t n = t->n;
    for (uint32_t j = 0; j < n; j++)
        sum[j] = 0;
    for (uint32_t q = 0; q < t->k; q += 2) {
        const int16_t *b0 = t->eb + q * n, *b1 = b0 + n;
        int16_t a0 = t->ea[i * t->k + q], a1 = t->ea[i * t->k + q + 1];
        for (size_t j = 0; j < n; j++)
            sum[j] += a0 * b0[j] + a1 * b1[j];
    }
}

void dot_int(DotTile *t) {
    int32_t sum[MAX_N];
    for (uint32_t i = 0; i < t->m; i++) {
        int32_t *c = t->c.i + i * t->n;
        row_int(t, i, sum);
        for (uint32_t j = 0; j < t->n; j++) {
            int64_t v = (int64_t)c[j] + sum[j];
            if (t->saturate)
                v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
            c[j] = (int32_t)(uint32_t)v;
        }
    }
}
