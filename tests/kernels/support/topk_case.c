#include "kernels/support/topk_case.h"

#include "cli/reference_topk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 0x5a5a5a5a }; /* what every index holds before the call */

void describe_topk_case(const TopkCase *c, char *text, size_t size) {
    snprintf(text, size,
             "rows %lld columns %lld k %lld stride %lld index_stride %lld misalign %lld values %s "
             "length %d start %d "
             "seed %llu",
             (long long)c->rows, (long long)c->columns, (long long)c->k, (long long)c->row_stride,
             (long long)c->index_stride, (long long)c->misalign, value_kind_name(c->values),
             c->lengths ? c->length : -999, c->row_starts ? c->start : -999,
             (unsigned long long)c->seed);
}

/* Host and device copies of one buffer. */
typedef struct Buffer {
    void *host, *device;
    size_t bytes;
} Buffer;

typedef struct Run {
    tle_handle h;
    TopkCase c;
    Buffer scores, lengths, starts, indices;
    int32_t *expected;
} Run;

static bool make_buffer(Run *r, Buffer *b, size_t bytes) {
    b->bytes = bytes;
    b->host = calloc(1, bytes ? bytes : 1);
    return b->host && tle_alloc(r->h, bytes ? bytes : 1, &b->device) == TLE_STATUS_OK;
}

static bool upload(Run *r, Buffer *b) {
    return !b->bytes || tle_copy(r->h, b->device, b->host, b->bytes) == TLE_STATUS_OK;
}

static void free_buffer(Run *r, Buffer *b) {
    free(b->host);
    if (b->device)
        tle_free(r->h, b->device);
}

static void fill_facts(int32_t *out, int64_t rows, int32_t fixed, int64_t columns, Random *rng) {
    for (int64_t i = 0; i < rows; i++)
        out[i] =
            fixed != TOPK_RAGGED ? fixed : (int32_t)random_below(rng, (uint64_t)columns + 7) - 3;
}

static bool make_inputs(Run *r) {
    const TopkCase *c = &r->c;
    Random rng = {c->seed};
    size_t elements = (size_t)(c->misalign + (c->rows - 1) * c->row_stride + c->columns);
    if (!make_buffer(r, &r->scores, elements * sizeof(float)) ||
        !make_buffer(r, &r->lengths, (size_t)c->rows * sizeof(int32_t)) ||
        !make_buffer(r, &r->starts, (size_t)c->rows * sizeof(int32_t)) ||
        !make_buffer(r, &r->indices,
                     (size_t)((c->rows - 1) * c->index_stride + c->k) * sizeof(int32_t)))
        return false;
    float *scores = (float *)r->scores.host + c->misalign;
    for (int64_t i = 0; i < c->rows; i++)
        fill_values(scores + i * c->row_stride, c->columns, c->values, &rng);
    fill_facts(r->lengths.host, c->rows, c->length, c->columns, &rng);
    fill_facts(r->starts.host, c->rows, c->start, c->columns, &rng);
    for (size_t i = 0; i < r->indices.bytes / sizeof(int32_t); i++)
        ((int32_t *)r->indices.host)[i] = GUARD;
    return upload(r, &r->scores) && upload(r, &r->lengths) && upload(r, &r->starts) &&
           upload(r, &r->indices);
}

static bool expect(Run *r) {
    const TopkCase *c = &r->c;
    ReferenceTopk ref = {(const float *)r->scores.host + c->misalign,
                         c->rows,
                         c->columns,
                         c->row_stride,
                         c->k,
                         c->lengths ? r->lengths.host : NULL,
                         c->row_starts ? r->starts.host : NULL,
                         r->expected,
                         c->index_stride};
    return reference_topk(&ref);
}

static tle_status call(Run *r) {
    const TopkCase *c = &r->c;
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    void *workspace = NULL;
    size_t size = 0;
    p.rows = c->rows;
    p.columns = c->columns;
    p.k = c->k;
    p.scores = (const float *)r->scores.device + c->misalign;
    p.row_stride = c->row_stride;
    p.lengths = c->lengths ? r->lengths.device : NULL;
    p.row_starts = c->row_starts ? r->starts.device : NULL;
    p.indices = r->indices.device;
    p.index_row_stride = c->index_stride;
    tle_status status = tle_topk_select_workspace_size(r->h, &p, &size);
    if (!status && size)
        status = tle_alloc(r->h, size, &workspace);
    if (!status)
        status = tle_topk_select(r->h, &p, workspace, size, c->stream);
    if (!status)
        status = tle_synchronize(r->h, c->stream);
    if (workspace)
        tle_free(r->h, workspace);
    return status;
}

static bool compare(const Run *r, char *why, size_t size) {
    const TopkCase *c = &r->c;
    const int32_t *got = r->indices.host;
    for (int64_t i = 0; i < (int64_t)(r->indices.bytes / sizeof(int32_t)); i++) {
        int64_t row = i / c->index_stride, j = i % c->index_stride;
        int32_t want = j < c->k ? r->expected[row * c->index_stride + j] : GUARD;
        if (got[i] != want) {
            snprintf(why, size, "row %lld place %lld is %d, expected %d", (long long)row,
                     (long long)j, got[i], want);
            return false;
        }
    }
    return true;
}

static bool run(Run *r, char *why, size_t size) {
    r->expected = calloc((size_t)(r->c.rows * r->c.index_stride), sizeof(int32_t));
    if (!r->expected || !make_inputs(r) || !expect(r)) {
        snprintf(why, size, "no memory: %s", tle_last_error());
        return false;
    }
    tle_status status = call(r);
    if (!status)
        status = tle_copy(r->h, r->indices.host, r->indices.device, r->indices.bytes);
    if (status) {
        snprintf(why, size, "%s: %s", tle_status_name(status), tle_last_error());
        return false;
    }
    return compare(r, why, size);
}

bool run_topk_case(tle_handle h, const TopkCase *c, char *why, size_t why_size) {
    Run r = {.h = h, .c = *c};
    if (!r.c.row_stride)
        r.c.row_stride = c->columns;
    if (!r.c.index_stride)
        r.c.index_stride = c->k;
    char what[400] = "", text[400];
    bool ok = run(&r, what, sizeof what);
    free_buffer(&r, &r.scores);
    free_buffer(&r, &r.lengths);
    free_buffer(&r, &r.starts);
    free_buffer(&r, &r.indices);
    free(r.expected);
    describe_topk_case(c, text, sizeof text);
    if (!ok)
        snprintf(why, why_size, "%s [%s]", what, text);
    return ok;
}
