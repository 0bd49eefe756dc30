/* Floating-point formats as bits and the roundings that C arithmetic does not give.
 *
 * Every f16, bf16, fp8 and f32 value is exact in a double, so narrow results are made by one
 * rounding of a double (fp_pack); sums that a double cannot hold are rounded to odd first, which
 * makes the second rounding exact. */
#ifndef EMU_FP_H
#define EMU_FP_H

#include "vm.h"
#include <string.h>

#define NAN32  0x7fffffffu
#define NAN64  0xfff8000000000000u
#define NAN_16 0x7fffu

static inline float fp_f32(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t fp_u32(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline double fp_f64(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static inline uint64_t fp_u64(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* Denormals become zeros of their sign. */
static inline uint32_t fp_flush(uint32_t bits) {
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static inline uint32_t fp_canon(float f) {
    return f != f ? NAN32 : fp_u32(f);
}

/* A double result: a NaN operand passes through, quiet; an invalid operation gives the default NaN.
 * Of several NaNs, that of b, then of c. PTX leaves it open, and so does a GPU whose compiler
 * swaps operands. */
static inline uint64_t fp_result64(double r, double a, double b, double c) {
    uint64_t quiet = (uint64_t)1 << 51;
    if (r == r)
        return fp_u64(r);
    return b != b   ? fp_u64(b) | quiet
           : c != c ? fp_u64(c) | quiet
           : a != a ? fp_u64(a) | quiet
                    : NAN64;
}

/* Arithmetic in a given rounding; ROUND_RN too. */
float fp_add32(float a, float b, Rounding r);
float fp_mul32(float a, float b, Rounding r);
float fp_fma32(float a, float b, float c, Rounding r);
float fp_div32(float a, float b, Rounding r);
float fp_sqrt32(float a, Rounding r);
double fp_add64(double a, double b, Rounding r);
double fp_mul64(double a, double b, Rounding r);
double fp_fma64(double a, double b, double c, Rounding r);
double fp_div64(double a, double b, Rounding r);
double fp_sqrt64(double a, Rounding r);
float fp_narrow(double a, Rounding r);
float fp_from_s64(int64_t v, Rounding r);
float fp_from_u64(uint64_t v, Rounding r);
double fp_from_s64d(int64_t v, Rounding r);
double fp_from_u64d(uint64_t v, Rounding r);
/* To an integral value. */
double fp_integral(double a, Rounding r);

/* a + b, or a * b + c, rounded to odd: exact enough for any narrower rounding that follows. */
double fp_add_odd(double a, double b);
double fp_fma_odd(double a, double b, double c);

/* Small formats: type is TY_F16, TY_BF16, TY_E4M3, TY_E5M2, TY_TF32 (19 bits in 32) or TY_F32. */
double fp_unpack(PtxType type, uint32_t bits);
/* satfinite: beyond the largest finite value gives that value, NaN the format's NaN. */
uint32_t fp_pack(PtxType type, double v, Rounding r, bool satfinite);

#endif
