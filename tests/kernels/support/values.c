#include "kernels/support/values.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {
#define X(name, text, doc) text,
#include "kernels/support/values.def"
#undef X
};

const char *value_kind_name(ValueKind kind) {
    return names[kind];
}

/* splitmix64 (Steele, Lea, Flood 2014) */
uint64_t random_bits(Random *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t random_below(Random *r, uint64_t n) {
    return random_bits(r) % n;
}

double random_unit(Random *r) {
    return (double)(random_bits(r) >> 11) * 0x1p-53;
}

static double normal(Random *r) {
    double u = 1.0 - random_unit(r), v = random_unit(r);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

static float from_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float one_value(ValueKind kind, int64_t i, int64_t n, Random *r) {
    double x = normal(r);
    uint64_t dice = random_bits(r);
    switch (kind) {
    case VALUES_NORMAL:
    case VALUES_CORRELATED:
        return (float)x;
    case VALUES_NARROW:
        return (float)(7.0 + 0.01 * random_unit(r));
    case VALUES_CONSTANT:
        return 3.25f;
    case VALUES_MINUS_INF:
        return -INFINITY;
    case VALUES_NAN_ALL:
        return from_bits((dice & 1 ? 0xff800001u : 0x7f800001u) |
                         (uint32_t)(dice >> 40 & 0x7fffffu));
    case VALUES_NAN_SOME:
        return dice % 97 == 0 ? from_bits(dice & 256 ? 0xffc00000u : 0x7fc00000u) : (float)x;
    case VALUES_ZEROS:
        return dice & 1 ? 0.0f : -0.0f;
    case VALUES_DENORMAL:
        return from_bits((uint32_t)(dice >> 32 & 0x807fffffu));
    case VALUES_LARGE:
        return (float)(x * 1e6);
    case VALUES_INFINITIES:
        return dice % 3 == 0 ? INFINITY : dice % 3 == 1 ? -INFINITY : (float)x;
    case VALUES_ASCENDING:
        return (float)i - (float)n / 2;
    case VALUES_DESCENDING:
        return (float)n / 2 - (float)i;
    case VALUES_BITS:
        return from_bits((uint32_t)(dice >> 32));
    case VALUES_RELU:
        return x > 1.0 ? (float)(x - 1.0) : 0.0f;
    case VALUES_TWO:
        return dice & 1 ? 1.0f : 2.0f;
    case VALUES_GRID:
        return (float)(floor(x * 8.0) / 8.0);
    case VALUES_LOGNORMAL:
        return (float)exp(2.0 * x);
    case VALUES_BLOCK:
        return (float)(i >= n - n / 16 ? 100.0 + random_unit(r) : x);
    case VALUES_COUNT:
        break;
    }
    return 0.0f;
}

void fill_values(float *row, int64_t n, ValueKind kind, Random *r) {
    for (int64_t i = 0; i < n; i++) {
        row[i] = one_value(kind, i, n, r);
        if (kind == VALUES_CORRELATED && i > 0)
            row[i] = row[i - 1] * 0.95f + row[i] * 0.3f;
    }
}

/* Kinds that rounding a float would not give: patterns of the type itself. False for other kinds.
 */
static bool own_pattern(ElementType type, ValueKind kind, Random *r, uint16_t *out) {
    uint16_t dice = (uint16_t)(random_bits(r) >> 20);
    uint16_t infinity = type == ELEMENT_FP16 ? 0x7c00 : 0x7f80;
    uint16_t fraction = (uint16_t)(infinity ^ 0x7fff);
    switch (kind) {
    case VALUES_NAN_ALL:
        *out = dice | infinity | 1;
        return true;
    case VALUES_DENORMAL:
        *out = dice & (0x8000 | fraction);
        return true;
    case VALUES_BITS:
        *out = dice;
        return true;
    default:
        return false;
    }
}

void fill_elements(ElementType type, void *row, int64_t n, ValueKind kind, Random *r) {
    float last = 0;
    if (type == ELEMENT_FP32) {
        fill_values(row, n, kind, r);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        uint16_t *out = (uint16_t *)row + i;
        float x = one_value(kind, i, n, r);
        if (kind == VALUES_CORRELATED && i > 0)
            x = last * 0.95f + x * 0.3f;
        last = x;
        if (!own_pattern(type, kind, r, out))
            element_put(type, row, i, x);
    }
}
