/* `tle check`: radix on the device that is really there, against the reference in C. */
#include "cli/cli.h"
#include "cli/host_call.h"
#include "cli/reference_radix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Kind { BITS, SPECIALS, FEW_VALUES, CONSTANT, ASCENDING } Kind;
typedef enum Shape { WHOLE, RAGGED } Shape;

typedef struct Case {
    const char *label;
    int32_t dtype;
    Kind kind;
    int64_t rows, columns, extra, shift, k;
    int32_t order;
    bool sorted;
    int32_t payload_bytes;
    Shape shape;
    bool big; /* left out of the quick check */
} Case;

static const Case cases[] = {
#define X(label, dtype, kind, rows, columns, extra, shift, k, order, sorted, payload, shape, size) \
    {label, TLE_DTYPE_##dtype,  kind,   rows,    columns, extra, shift,                            \
     k,     TLE_SELECT_##order, sorted, payload, shape,   size},
#define QUICK false
#define BIG   true
#include "cli/check_radix.def"
#undef BIG
#undef QUICK
#undef X
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

/* ---- data ---- */

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state;
    return (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
}

/* The bits of an infinity; 0 for integers. */
static uint64_t infinity_of(int32_t dtype) {
    return dtype == TLE_DTYPE_FLOAT32    ? 0x7f800000
           : dtype == TLE_DTYPE_FLOAT16  ? 0x7c00
           : dtype == TLE_DTYPE_BFLOAT16 ? 0x7f80
           : dtype == TLE_DTYPE_FLOAT64  ? UINT64_C(0x7ff) << 52
                                         : 0;
}

/* NaNs, infinities and zeros of both signs, or the least and greatest integers and those about 0.
 */
static uint64_t special(const Case *c, int bits, uint64_t *state) {
    uint64_t top = UINT64_C(1) << (bits - 1), infinity = infinity_of(c->dtype);
    const uint64_t floats[] = {infinity | 1, top | infinity | 1, infinity, top | infinity, 0, top};
    const uint64_t integers[] = {top, top - 1, 0, 1, UINT64_MAX, 5};
    uint64_t r = next_random(state) >> 32;
    if (r % 8 >= 6)
        return next_random(state);
    return infinity ? floats[r % 8] : integers[r % 8];
}

static uint64_t key_bits(const Case *c, int bits, int64_t i, uint64_t *state) {
    switch (c->kind) {
    case BITS:
        return next_random(state);
    case SPECIALS:
        return special(c, bits, state);
    case FEW_VALUES:
        return (next_random(state) >> 32) % 5 << (bits - 4);
    case CONSTANT:
        return 3;
    case ASCENDING:
        return (uint64_t)i;
    }
    return 0;
}

typedef struct Data {
    char *keys, *payload;
    int32_t *lengths;
    void *got[3], *expected[3]; /* indices, values, payload */
} Data;

static void free_data(Data *d) {
    free(d->keys);
    free(d->payload);
    free(d->lengths);
    for (int i = 0; i < 3; i++) {
        free(d->got[i]);
        free(d->expected[i]);
    }
}

static bool allocate(const Case *c, Data *d) {
    int64_t elements = c->rows * (c->columns + c->extra);
    d->keys = (char *)malloc((size_t)elements * 8 + 1);
    d->payload = (char *)malloc((size_t)elements * 8 + 1);
    d->lengths = (int32_t *)malloc((size_t)c->rows * 4);
    bool ok = d->keys && d->payload && d->lengths;
    for (int i = 0; i < 3; i++) {
        d->got[i] = malloc((size_t)(c->rows * c->k) * 8);
        d->expected[i] = malloc((size_t)(c->rows * c->k) * 8);
        ok = ok && d->got[i] && d->expected[i];
    }
    return ok;
}

/* Lengths from negative to beyond the row. */
static bool make_data(const Case *c, size_t key_bytes, Data *d) {
    int64_t elements = c->rows * (c->columns + c->extra);
    uint64_t state = (uint64_t)(c->rows * 31 + c->columns * 7 + c->k) + (uint64_t)c->kind;
    if (!allocate(c, d))
        return false;
    for (int64_t i = 0; i < elements; i++) {
        uint64_t key = key_bits(c, (int)key_bytes * 8, i, &state), payload = next_random(&state);
        memcpy(d->keys + (size_t)i * key_bytes, &key, key_bytes);
        memcpy(d->payload + (size_t)(i * c->payload_bytes), &payload, (size_t)c->payload_bytes);
    }
    for (int64_t r = 0; r < c->rows; r++)
        d->lengths[r] = (int32_t)(next_random(&state) % (uint64_t)(c->columns + 20)) - 5;
    return true;
}

/* ---- cases ---- */

static bool expect(const Case *c, const Data *d) {
    ReferenceRadix reference = {
        .dtype = c->dtype,
        .keys = d->keys,
        .rows = c->rows,
        .columns = c->columns,
        .key_row_stride = c->columns + c->extra,
        .k = c->k,
        .lengths = c->shape == RAGGED ? d->lengths : NULL,
        .smallest = c->order == TLE_SELECT_SMALLEST,
        .sorted = c->sorted,
        .payload_bytes = (size_t)c->payload_bytes,
        .payload = d->payload,
        .payload_row_stride = c->columns + c->extra,
        .indices = (int32_t *)d->expected[0],
        .index_row_stride = c->k,
        .values = d->expected[1],
        .value_row_stride = c->k,
        .payload_out = c->payload_bytes ? d->expected[2] : NULL,
        .payload_out_row_stride = c->k,
    };
    return reference_radix(&reference);
}

static int call(tle_handle handle, const Case *c, const Data *d, size_t key_bytes,
                CallReport *report) {
    HostRadix host = {
        .dtype = c->dtype,
        .key_bytes = (uint32_t)key_bytes,
        .keys = d->keys,
        .rows = c->rows,
        .columns = c->columns,
        .row_stride = c->columns + c->extra,
        .k = c->k,
        .lengths = c->shape == RAGGED ? d->lengths : NULL,
        .smallest = c->order == TLE_SELECT_SMALLEST,
        .sorted = c->sorted,
        .payload_bytes = c->payload_bytes,
        .payload = c->payload_bytes ? d->payload : NULL,
        .indices = (int32_t *)d->got[0],
        .values = d->got[1],
        .payload_out = c->payload_bytes ? d->got[2] : NULL,
        .misalign = (size_t)c->shift,
    };
    return run_host_radix(handle, &host, 1, report);
}

static int compare(const Case *c, const Data *d, size_t key_bytes, const char *variant) {
    static const char *const names[] = {"index", "key", "payload"};
    const size_t sizes[] = {4, key_bytes, (size_t)c->payload_bytes};
    for (int out = 0; out < 3; out++)
        for (int64_t i = 0; i < c->rows * c->k; i++) {
            size_t at = (size_t)i * sizes[out];
            if (memcmp((char *)d->got[out] + at, (char *)d->expected[out] + at, sizes[out]) != 0)
                return complain("%s, %s: row %lld, place %lld: the %s is not the reference's",
                                c->label, variant, (long long)(i / c->k), (long long)(i % c->k),
                                names[out]);
        }
    return 0;
}

static int run_case(tle_handle handle, const Case *c) {
    Data d = {0};
    CallReport report = {0};
    size_t key_bytes = reference_key_bytes(c->dtype);
    int failed = 0;
    if (!make_data(c, key_bytes, &d) || !expect(c, &d))
        failed = complain("%s: no memory", c->label);
    if (!failed)
        failed = call(handle, c, &d, key_bytes, &report);
    if (!failed)
        failed = compare(c, &d, key_bytes, report.variant);
    printf("%-6s radix %-30s %lld x %lld, k %lld: %s\n", failed ? "FAILED" : "ok", c->label,
           (long long)c->rows, (long long)c->columns, (long long)c->k, report.variant);
    free_data(&d);
    return failed;
}

void check_radix(tle_handle handle, bool quick, int *count, int *bad) {
    for (int i = 0; i < CASE_COUNT; i++) {
        if (cases[i].big && quick)
            continue;
        *bad += run_case(handle, &cases[i]) != 0;
        ++*count;
    }
}
