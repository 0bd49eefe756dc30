#include "kernels/support/keys.h"

#include "cli/reference_radix.h"
#include "tle/tle.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bits_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint64_t to_fp64(float f) {
    double wide = (double)f;
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return bits;
}

/* The upper half, rounded to even; a NaN stays one. */
static uint16_t to_bf16(float f) {
    uint32_t bits = bits_of(f);
    if (isnan(f))
        return (uint16_t)(bits >> 16 | 1);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t to_fp16(float f) {
    uint32_t sign = bits_of(f) >> 16 & 0x8000;
    float magnitude = fabsf(f);
    if (isnan(f))
        return (uint16_t)(sign | 0x7e00 | (bits_of(f) & 0xff));
    if (magnitude >= 65520.0f)
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x1p-14f)
        return (uint16_t)(sign | (uint32_t)lrintf(magnitude * 0x1p24f));
    int exponent = 0;
    float mantissa = frexpf(magnitude, &exponent);
    /* The implicit bit carries into the exponent, as does rounding up to it. */
    return (uint16_t)(sign |
                      (((uint32_t)(exponent + 13) << 10) + (uint32_t)lrintf(mantissa * 0x1p11f)));
}

/* Bits of an integer: the float times 2^scale beyond the middle of the type's range. */
static uint64_t to_integer(float f, int bits, bool is_signed) {
    double half = ldexp(1, bits - 1);
    double scaled = isnan(f) ? half : ldexp((double)f, bits - 12);
    uint64_t middle = is_signed ? 0 : UINT64_C(1) << (bits - 1);
    if (scaled >= half)
        return middle + ((UINT64_C(1) << (bits - 1)) - 1);
    if (scaled < -half)
        return middle - (UINT64_C(1) << (bits - 1));
    return middle + (uint64_t)(int64_t)scaled;
}

static uint64_t key_of(int32_t dtype, float f) {
    switch (dtype) {
    case TLE_DTYPE_FLOAT32:
        return bits_of(f);
    case TLE_DTYPE_FLOAT64:
        return to_fp64(f);
    case TLE_DTYPE_FLOAT16:
        return to_fp16(f);
    case TLE_DTYPE_BFLOAT16:
        return to_bf16(f);
    default:
        return to_integer(f, dtype & 255, !(dtype >> 8));
    }
}

bool fill_keys(void *row, int32_t dtype, int64_t n, ValueKind kind, Random *r) {
    size_t size = reference_key_bytes(dtype);
    float *values = malloc((size_t)n * sizeof *values + 1);
    if (!values)
        return false;
    fill_values(values, n, kind, r);
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = kind == VALUES_BITS ? random_bits(r) : key_of(dtype, values[i]);
        memcpy((char *)row + (size_t)i * size, &key, size);
    }
    free(values);
    return true;
}
