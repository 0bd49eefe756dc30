#include "cli/element.h"

#include <math.h>
#include <string.h>
#include <tle/tle.h>

static const struct {
    const char *name;
    size_t bytes;
    int32_t dtype;
} elements[ELEMENT_COUNT] = {
    [ELEMENT_FP32] = {"fp32", 4, TLE_DTYPE_FLOAT32},
    [ELEMENT_FP16] = {"fp16", 2, TLE_DTYPE_FLOAT16},
    [ELEMENT_BF16] = {"bf16", 2, TLE_DTYPE_BFLOAT16},
};

size_t element_bytes(ElementType type) {
    return elements[type].bytes;
}

const char *element_name(ElementType type) {
    return elements[type].name;
}

int32_t element_dtype(ElementType type) {
    return elements[type].dtype;
}

bool element_of_dtype(int32_t dtype, ElementType *out) {
    for (int i = 0; i < ELEMENT_COUNT; i++)
        if (elements[i].dtype == dtype) {
            *out = (ElementType)i;
            return true;
        }
    return false;
}

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float from_half(uint16_t h) {
    int exponent = h >> 10 & 31, fraction = h & 1023;
    if (exponent == 31)
        return from_bits((uint32_t)(h & 0x8000) << 16 | 0x7f800000u | (uint32_t)fraction << 13);
    double x = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return (float)(h & 0x8000 ? -x : x);
}

float element_get(ElementType type, const void *array, int64_t i) {
    if (type == ELEMENT_FP32)
        return ((const float *)array)[i];
    uint16_t bits = ((const uint16_t *)array)[i];
    return type == ELEMENT_FP16 ? from_half(bits) : from_bits((uint32_t)bits << 16);
}

/* Of the magnitude, which is finite and in range. */
static uint16_t to_half(double x) {
    int exponent;
    frexp(x, &exponent);
    int unit = exponent > -14 ? exponent - 11 : -24; /* weight of the last place */
    double places = nearbyint(ldexp(x, -unit));
    return (uint16_t)(places + (unit + 24) * 1024.0); /* a carry runs into the exponent */
}

static uint16_t to_bfloat(uint32_t bits) {
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

void element_put(ElementType type, void *array, int64_t i, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (type == ELEMENT_FP32) {
        ((float *)array)[i] = x;
        return;
    }
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000), magnitude;
    if (isnan(x))
        magnitude = type == ELEMENT_FP16 ? 0x7e00 : 0x7fc0;
    else if (type == ELEMENT_BF16)
        magnitude = to_bfloat(bits & 0x7fffffffu);
    else
        magnitude = fabsf(x) >= 65520.0f ? 0x7c00 : to_half(fabsf(x));
    ((uint16_t *)array)[i] = sign | magnitude;
}
