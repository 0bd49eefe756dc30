/* `tle check`: topk on the device that is really there, against the reference in C. */
#include "cli/cli.h"
#include "cli/host_call.h"
#include "cli/reference_topk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS(X)                                                                                   \
    X(NORMAL)                                                                                      \
    X(CONSTANT)                                                                                    \
    X(MINUS_INF)                                                                                   \
    X(SPECIALS)                                                                                    \
    X(ZEROS)                                                                                       \
    X(DENORMALS)                                                                                   \
    X(NEAR_SEVEN)                                                                                  \
    X(HUGE_VALUES)                                                                                 \
    X(ASCENDING)                                                                                   \
    X(DESCENDING)                                                                                  \
    X(BITS)                                                                                        \
    X(FEW_VALUES)

typedef enum Kind {
#define X(name) name,
    KINDS(X)
#undef X
} Kind;

typedef enum Shape { WHOLE, RAGGED, RAGGED_STARTS } Shape;

typedef struct Case {
    const char *label;
    Kind kind;
    int64_t rows, columns, extra, shift, k;
    Shape shape;
    bool big; /* left out of the quick check */
} Case;

static const Case cases[] = {
#define X(label, kind, rows, columns, extra, shift, k, shape, size)                                \
    {label, kind, rows, columns, extra, shift, k, shape, size},
#define QUICK false
#define BIG   true
#include "cli/check_topk.def"
#undef BIG
#undef QUICK
#undef X
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

/* ---- data ---- */

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint32_t x = (uint32_t)(*state >> 32);
    return x ^ x >> 15;
}

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* About normal: the sum of four uniform numbers. */
static float normal(uint64_t *state) {
    float sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (float)(int32_t)next_random(state) * 0x1p-31f;
    return sum;
}

static float special(uint64_t *state) {
    static const uint32_t bits[] = {0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000, 0, 0x80000000};
    uint32_t r = next_random(state);
    return r % 8 < 6 ? float_of(bits[r % 8]) : normal(state);
}

static float score(Kind kind, int64_t i, uint64_t *state) {
    switch (kind) {
    case NORMAL:
        return normal(state);
    case CONSTANT:
        return 1.5f;
    case MINUS_INF:
        return -INFINITY;
    case SPECIALS:
        return special(state);
    case ZEROS:
        return float_of(next_random(state) & 0x80000000u);
    case DENORMALS:
        return float_of(next_random(state) & 0x800007ffu);
    case NEAR_SEVEN:
        return 7.0f + normal(state) * 1e-2f;
    case HUGE_VALUES:
        return normal(state) * 1e30f;
    case ASCENDING:
        return (float)i;
    case DESCENDING:
        return -(float)i;
    case BITS:
        return float_of(next_random(state));
    case FEW_VALUES:
        return (float)(next_random(state) % 5);
    }
    return 0;
}

typedef struct Data {
    void *scores;
    int32_t *lengths, *row_starts, *indices, *expected;
} Data;

static void free_data(Data *d) {
    free(d->scores);
    free(d->lengths);
    free(d->row_starts);
    free(d->indices);
    free(d->expected);
}

/* Lengths from negative to beyond the row, starts from before it to behind it. */
static void fill_rows(const Case *c, Data *d, uint64_t *state) {
    for (int64_t r = 0; r < c->rows; r++) {
        d->lengths[r] = (int32_t)(next_random(state) % (uint32_t)(c->columns + 20)) - 5;
        d->row_starts[r] = (int32_t)(next_random(state) % (uint32_t)(c->columns + 10)) - 5;
    }
    if (c->rows > 3) {
        d->lengths[0] = 0;
        d->lengths[1] = (int32_t)c->k;
        d->lengths[2] = -7;
    }
}

static bool make_data(const Case *c, ElementType type, Data *d) {
    int64_t stride = c->columns + c->extra, elements = c->rows * stride;
    uint64_t state = (uint64_t)(c->rows * 31 + c->columns * 7 + c->k + (int64_t)c->kind);
    d->scores = malloc((size_t)elements * element_bytes(type) + 1);
    d->lengths = (int32_t *)malloc((size_t)c->rows * 4);
    d->row_starts = (int32_t *)malloc((size_t)c->rows * 4);
    d->indices = (int32_t *)malloc((size_t)(c->rows * c->k) * 4);
    d->expected = (int32_t *)malloc((size_t)(c->rows * c->k) * 4);
    if (!d->scores || !d->lengths || !d->row_starts || !d->indices || !d->expected)
        return false;
    for (int64_t i = 0; i < elements; i++)
        element_put(type, d->scores, i, score(c->kind, i, &state));
    fill_rows(c, d, &state);
    return true;
}

/* ---- cases ---- */

static int compare(const Case *c, const Data *d, const char *variant) {
    for (int64_t i = 0; i < c->rows * c->k; i++)
        if (d->indices[i] != d->expected[i])
            return complain("%s, %s: row %lld, place %lld: the index is %d, the reference has %d",
                            c->label, variant, (long long)(i / c->k), (long long)(i % c->k),
                            d->indices[i], d->expected[i]);
    return 0;
}

static int run_case(tle_handle handle, const Case *c, ElementType type) {
    Data d = {0};
    CallReport report = {0};
    if (!make_data(c, type, &d)) {
        free_data(&d);
        return complain("%s: no memory", c->label);
    }
    HostTopk call = {
        .type = type,
        .scores = d.scores,
        .rows = c->rows,
        .columns = c->columns,
        .row_stride = c->columns + c->extra,
        .k = c->k,
        .lengths = c->shape != WHOLE ? d.lengths : NULL,
        .row_starts = c->shape == RAGGED_STARTS ? d.row_starts : NULL,
        .indices = d.indices,
        .misalign = (size_t)c->shift,
    };
    ReferenceTopk reference = {
        .type = type,
        .scores = call.scores,
        .rows = call.rows,
        .columns = call.columns,
        .row_stride = call.row_stride,
        .k = call.k,
        .lengths = call.lengths,
        .row_starts = call.row_starts,
        .indices = d.expected,
        .index_row_stride = call.k,
    };
    int failed = run_host_topk(handle, &call, 1, &report);
    if (!failed && !reference_topk(&reference))
        failed = complain("%s: no memory", c->label);
    if (!failed)
        failed = compare(c, &d, report.variant);
    printf("%-6s topk %s %-30s %lld x %lld, k %lld: %s\n", failed ? "FAILED" : "ok",
           element_name(type), c->label, (long long)c->rows, (long long)c->columns, (long long)c->k,
           report.variant);
    free_data(&d);
    return failed;
}

void check_topk(tle_handle handle, bool quick, int *count, int *bad) {
    for (int i = 0; i < CASE_COUNT; i++) {
        if (cases[i].big && quick)
            continue;
        for (int type = 0; type < ELEMENT_COUNT; type++) {
            *bad += run_case(handle, &cases[i], (ElementType)type) != 0;
            ++*count;
        }
    }
}
