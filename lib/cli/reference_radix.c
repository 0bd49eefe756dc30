/* Selection by sorting numbers. Every key of every type is a long double exactly, which has 64 bits
 * of mantissa on the machines that the library is built for, so keys compare as the numbers that
 * they are and never by their bits. */
#include "cli/reference_radix.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(LDBL_MANT_DIG >= 64, "a long double holds any 64-bit integer");

typedef struct Ranked {
    long double number; /* NaN where the key is one */
    int32_t index;
} Ranked;

/* ---- numbers ---- */

/* IEEE 754 of 16 bits with so many of mantissa. */
static long double small_float(uint16_t bits, int mantissa_bits) {
    int mantissa = bits & ((1 << mantissa_bits) - 1), exponent_bits = 15 - mantissa_bits;
    int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    int bias = (1 << (exponent_bits - 1)) - 1;
    long double magnitude;
    if (exponent == (1 << exponent_bits) - 1)
        magnitude = mantissa ? (long double)NAN : (long double)INFINITY;
    else if (exponent)
        magnitude =
            ldexpl((long double)(mantissa + (1 << mantissa_bits)), exponent - bias - mantissa_bits);
    else
        magnitude = ldexpl((long double)mantissa, 1 - bias - mantissa_bits);
    return bits >> 15 ? -magnitude : magnitude;
}

static long double small_number(int32_t dtype, const void *key) {
    uint16_t half = 0;
    float single = 0;
    if (dtype == TLE_DTYPE_FLOAT32) {
        memcpy(&single, key, sizeof single);
        return (long double)single;
    }
    memcpy(&half, key, sizeof half);
    return small_float(half, dtype == TLE_DTYPE_FLOAT16 ? 10 : 7);
}

static long double number_of(int32_t dtype, const void *key) {
    int32_t i32 = 0;
    uint32_t u32 = 0;
    int64_t i64 = 0;
    uint64_t u64 = 0;
    double f64 = 0;
    switch (dtype) {
    case TLE_DTYPE_INT32:
        return (long double)*(int32_t *)memcpy(&i32, key, 4);
    case TLE_DTYPE_UINT32:
        return (long double)*(uint32_t *)memcpy(&u32, key, 4);
    case TLE_DTYPE_INT64:
        return (long double)*(int64_t *)memcpy(&i64, key, 8);
    case TLE_DTYPE_UINT64:
        return (long double)*(uint64_t *)memcpy(&u64, key, 8);
    case TLE_DTYPE_FLOAT64:
        return (long double)*(double *)memcpy(&f64, key, 8);
    default:
        return small_number(dtype, key);
    }
}

size_t reference_key_bytes(int32_t dtype) {
    switch (dtype) {
    case TLE_DTYPE_INT64:
    case TLE_DTYPE_UINT64:
    case TLE_DTYPE_FLOAT64:
        return 8;
    case TLE_DTYPE_FLOAT16:
    case TLE_DTYPE_BFLOAT16:
        return 2;
    case TLE_DTYPE_FLOAT32:
    case TLE_DTYPE_INT32:
    case TLE_DTYPE_UINT32:
        return 4;
    default:
        return 0;
    }
}

/* ---- order ---- */

/* -1 where x is the smaller number, NaN being the greatest. */
static int compare(const Ranked *x, const Ranked *y) {
    bool x_nan = isnan(x->number), y_nan = isnan(y->number);
    if (x_nan || y_nan)
        return x_nan - y_nan;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_place(const Ranked *x, const Ranked *y) {
    return (x->index > y->index) - (x->index < y->index);
}

static int largest_first(const void *a, const void *b) {
    const Ranked *x = (const Ranked *)a, *y = (const Ranked *)b;
    int order = compare(y, x);
    return order ? order : by_place(x, y);
}

static int smallest_first(const void *a, const void *b) {
    const Ranked *x = (const Ranked *)a, *y = (const Ranked *)b;
    int order = compare(x, y);
    return order ? order : by_place(x, y);
}

static int by_index(const void *a, const void *b) {
    return by_place((const Ranked *)a, (const Ranked *)b);
}

/* ---- a whole call ---- */

/* The value of a place without an element. */
static void write_worst(const ReferenceRadix *c, void *out) {
    static const struct {
        int32_t dtype;
        uint64_t least, most;
    } worst[] = {
        {TLE_DTYPE_FLOAT32, 0xff800000, 0x7f800000},
        {TLE_DTYPE_FLOAT16, 0xfc00, 0x7c00},
        {TLE_DTYPE_BFLOAT16, 0xff80, 0x7f80},
        {TLE_DTYPE_FLOAT64, UINT64_C(0xfff) << 52, UINT64_C(0x7ff) << 52},
        {TLE_DTYPE_INT32, 0x80000000, 0x7fffffff},
        {TLE_DTYPE_UINT32, 0, 0xffffffff},
        {TLE_DTYPE_INT64, UINT64_C(1) << 63, INT64_MAX},
        {TLE_DTYPE_UINT64, 0, UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof worst / sizeof *worst; i++)
        if (worst[i].dtype == c->dtype)
            memcpy(out, c->smallest ? &worst[i].most : &worst[i].least,
                   reference_key_bytes(c->dtype));
}

static int64_t row_length(const ReferenceRadix *c, int64_t r) {
    int64_t length = c->lengths ? c->lengths[r] : c->columns;
    if (length > c->columns)
        length = c->columns;
    return length > 0 ? length : 0;
}

/* Place j of row r, which holds element `index`, or nothing where that is -1. */
static void write_place(const ReferenceRadix *c, int64_t r, int64_t j, int32_t index) {
    size_t size = reference_key_bytes(c->dtype), payload = c->payload_bytes;
    char *value =
        c->values ? (char *)c->values + (size_t)(r * c->value_row_stride + j) * size : NULL;
    char *out = c->payload_out
                    ? (char *)c->payload_out + (size_t)(r * c->payload_out_row_stride + j) * payload
                    : NULL;
    if (c->indices)
        c->indices[r * c->index_row_stride + j] = index;
    if (c->values && index < 0)
        write_worst(c, value);
    else if (c->values)
        memcpy(value, (const char *)c->keys + (size_t)(r * c->key_row_stride + index) * size, size);
    if (c->payload_out && index < 0)
        memset(out, 0, payload);
    else if (c->payload_out)
        memcpy(out,
               (const char *)c->payload + (size_t)(r * c->payload_row_stride + index) * payload,
               payload);
}

static void select_row(const ReferenceRadix *c, int64_t r, Ranked *all) {
    int64_t length = row_length(c, r), found = length < c->k ? length : c->k;
    size_t size = reference_key_bytes(c->dtype);
    for (int64_t i = 0; i < length; i++) {
        const char *key = (const char *)c->keys + (size_t)(r * c->key_row_stride + i) * size;
        all[i] = (Ranked){number_of(c->dtype, key), (int32_t)i};
    }
    if (length)
        qsort(all, (size_t)length, sizeof *all, c->smallest ? smallest_first : largest_first);
    if (found && !c->sorted)
        qsort(all, (size_t)found, sizeof *all, by_index);
    for (int64_t j = 0; j < c->k; j++)
        write_place(c, r, j, j < found ? all[j].index : -1);
}

bool reference_radix(const ReferenceRadix *c) {
    Ranked *all = (Ranked *)malloc(((size_t)c->columns + 1) * sizeof *all);
    if (!all)
        return false;
    for (int64_t r = 0; r < c->rows; r++)
        select_row(c, r, all);
    free(all);
    return true;
}
