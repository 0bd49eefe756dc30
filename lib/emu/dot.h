/* Matrix products as Hopper's tensor cores round them.
 *
 * Floats: the products of a group of k and the accumulator are aligned to the largest nominal
 * exponent among those that are not zero (of a product: the sum of its operands' exponents, that
 * of a subnormal being the format's least), truncated to `fraction` bits below it, added exactly,
 * and the sum is truncated to `keep` significant bits. f16 accumulators are rounded to nearest
 * instead. fp8 inputs of wgmma keep 13 fraction bits, all others 25. The order of the products in
 * a group makes no difference, so results do not depend on how this file loops.
 *
 * A tile that has no NaN, no infinity and only moderate exponents takes a path on 32-bit lanes;
 * any other takes one on doubles. Both give the same bits. */
#ifndef EMU_DOT_H
#define EMU_DOT_H

#include "ptx.h"

#define DOT_A 1024u
#define DOT_B 8192u
#define DOT_C 4096u
#define DOT_K 64u

typedef struct DotModel {
    uint8_t fraction, group, keep;
    bool add_after; /* the accumulator is added to the product of all k, rounded to nearest */
} DotModel;

typedef struct DotRange {
    int16_t low, high; /* exponents of what is not zero */
    bool special;      /* has NaN or infinity */
} DotRange;

/* A is m by k, B is k by n, C is m by n; rows one after the other. Integers stand in ea and eb. */
typedef struct DotTile {
    uint32_t m, n, k;
    bool half;     /* C is rounded to f16 */
    bool saturate; /* integers */
    DotRange range_a, range_b;
    float a[DOT_A], b[DOT_B];
    int16_t ea[DOT_A], eb[DOT_B];
    union {
        float f[DOT_C];
        int32_t i[DOT_C];
    } c;
} DotTile;

/* Values and exponents of `n` elements of a small float format. */
void dot_decode(PtxType type, const uint32_t *bits, uint32_t n, bool negate, float *value,
                int16_t *exponent, DotRange *range);
/* The f16 in the lower and in the upper halves of words; rounded to the nearest, ties to even. */
void dot_from_halves(const uint32_t *words, uint32_t n, float *low, float *high);
void dot_to_halves(const float *low, const float *high, uint32_t n, uint32_t *words);
void dot_float(DotTile *t, const DotModel *model);
void dot_int(DotTile *t);

#endif
