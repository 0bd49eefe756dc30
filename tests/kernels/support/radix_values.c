#include "kernels/support/radix_values.h"

#include <math.h>
#include <string.h>

static const RadixType types[] = {
#define X(name, bytes, kind, exponent_bits) {name, bytes, kind, exponent_bits},
#include "kernels/support/radix_types.def"
#undef X
};

const RadixType *radix_type(const char *name, size_t n) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && memcmp(types[i].name, name, n) == 0)
            return &types[i];
    return NULL;
}

static int bits_of(const RadixType *t) {
    return (int)t->bytes * 8;
}

static int mantissa_bits(const RadixType *t) {
    return bits_of(t) - 1 - t->exponent_bits;
}

static uint64_t low_bits(int n) {
    return n == 64 ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

static uint64_t sign_bit(const RadixType *t) {
    return (uint64_t)1 << (bits_of(t) - 1);
}

static uint64_t infinity_of(const RadixType *t) {
    return low_bits(t->exponent_bits) << mantissa_bits(t);
}

/* Every type's values are doubles; NaN is NaN. */
static double float_value(const RadixType *t, uint64_t bits) {
    uint64_t magnitude = bits & low_bits(bits_of(t) - 1);
    uint64_t mantissa = bits & low_bits(mantissa_bits(t));
    int exponent = (int)(magnitude >> mantissa_bits(t)), bias = (1 << (t->exponent_bits - 1)) - 1;
    double x;
    if (magnitude > infinity_of(t))
        return NAN;
    if (magnitude == infinity_of(t))
        x = INFINITY;
    else if (exponent == 0)
        x = ldexp((double)mantissa, 1 - bias - mantissa_bits(t));
    else
        x = ldexp((double)(mantissa + low_bits(mantissa_bits(t)) + 1),
                  exponent - bias - mantissa_bits(t));
    return bits & sign_bit(t) ? -x : x;
}

static int64_t signed_value(const RadixType *t, uint64_t bits) {
    uint64_t extended = bits & sign_bit(t) ? bits | ~low_bits(bits_of(t)) : bits;
    int64_t x;
    memcpy(&x, &extended, sizeof x);
    return x;
}

static int compare_floats(double a, double b) {
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

int radix_compare(const RadixType *t, uint64_t a, uint64_t b) {
    int64_t x = signed_value(t, a), y = signed_value(t, b);
    switch (t->kind) {
    case FLOAT:
        return compare_floats(float_value(t, a), float_value(t, b));
    case SIGNED:
        return (x > y) - (x < y);
    case UNSIGNED:
        return (a > b) - (a < b);
    }
    return 0;
}

uint64_t radix_worst(const RadixType *t, bool smallest) {
    switch (t->kind) {
    case FLOAT:
        return smallest ? infinity_of(t) : infinity_of(t) | sign_bit(t);
    case SIGNED:
        return smallest ? sign_bit(t) - 1 : sign_bit(t);
    case UNSIGNED:
        return smallest ? low_bits(bits_of(t)) : 0;
    }
    return 0;
}

uint64_t radix_bits_at(const RadixType *t, const void *keys, int64_t i) {
    uint64_t bits = 0; /* this machine is little-endian, as the device is */
    memcpy(&bits, (const char *)keys + (size_t)i * t->bytes, t->bytes);
    return bits;
}

void radix_set_bits(const RadixType *t, void *keys, int64_t i, uint64_t bits) {
    memcpy((char *)keys + (size_t)i * t->bytes, &bits, t->bytes);
}

/* ---- rows --------------------------------------------------------------------------------- */

static const char *const names[] = {
#define X(name, text, doc) text,
#include "kernels/support/radix_values.def"
#undef X
};

const char *radix_values_name(RadixValues values) {
    return names[values];
}

/* The bits of x, cut to the type: -1 .. 1 covers most of an integer's range. */
static uint64_t encode(const RadixType *t, double x) {
    int exponent, bias = (1 << (t->exponent_bits ? t->exponent_bits - 1 : 0)) - 1;
    if (t->kind != FLOAT) {
        int64_t y = (int64_t)ldexp(fmax(fmin(x, 0.99), -0.99), bits_of(t) - 1);
        uint64_t bits;
        memcpy(&bits, &y, sizeof bits);
        return (t->kind == UNSIGNED ? bits ^ sign_bit(t) : bits) & low_bits(bits_of(t));
    }
    double m = frexp(fabs(x), &exponent);
    uint64_t sign = signbit(x) ? sign_bit(t) : 0;
    if (m == 0 || exponent - 1 + bias <= 0)
        return sign;
    return sign | (uint64_t)(exponent - 1 + bias) << mantissa_bits(t) |
           (uint64_t)ldexp(2 * m - 1, mantissa_bits(t));
}

static uint64_t special(const RadixType *t, uint64_t dice) {
    uint64_t infinity = t->kind == FLOAT ? infinity_of(t) : sign_bit(t);
    const uint64_t list[] = {0,
                             1,
                             infinity,
                             infinity - 1,
                             infinity + 1,
                             t->kind == FLOAT ? infinity | sign_bit(t) : infinity,
                             sign_bit(t),
                             sign_bit(t) | 1,
                             low_bits(bits_of(t)),
                             low_bits(bits_of(t)) - 1,
                             low_bits(bits_of(t) - 1)};
    return list[dice % (sizeof list / sizeof *list)];
}

static uint64_t one_key(const RadixType *t, RadixValues values, int64_t i, int64_t n, Random *r) {
    uint64_t dice = random_bits(r), base = encode(t, 0.3);
    double unit = random_unit(r) + random_unit(r) + random_unit(r) - 1.5;
    switch (values) {
    case RADIX_NORMAL:
        return encode(t, unit);
    case RADIX_BITS:
        return dice >> (64 - bits_of(t));
    case RADIX_FEW:
        return (dice % 8 * 0x9e3779b97f4a7c15u) >> (64 - bits_of(t));
    case RADIX_CONSTANT:
        return base;
    case RADIX_SPECIAL:
        return special(t, dice >> 8);
    case RADIX_EXTREME:
        return radix_worst(t, dice & 1);
    case RADIX_LOW:
        return base ^ (dice & 0x1f);
    case RADIX_ASCENDING:
        return encode(t, (double)(2 * i - n) / (double)(n + 1));
    case RADIX_DESCENDING:
        return encode(t, (double)(n - 2 * i) / (double)(n + 1));
    case RADIX_VALUES_COUNT:
        break;
    }
    return 0;
}

void radix_fill(const RadixType *t, void *keys, int64_t first, int64_t n, RadixValues values,
                Random *r) {
    for (int64_t i = 0; i < n; i++)
        radix_set_bits(t, keys, first + i, one_key(t, values, i, n, r));
}
