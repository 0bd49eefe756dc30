/* One call of topk on arrays in host memory, for `tle run` and `tle check`. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* ---- one call on host arrays ---- */

/* Keeps the variant's name, the eighth field of a dispatch line. */
static void keep_variant(uint32_t flag, const char *line, void *user) {
    TopkReport *report = (TopkReport *)user;
    for (int field = 1; flag == TLE_LOG_DISPATCH && field < 8 && line; field++)
        line = (line = strchr(line, ',')) ? line + 1 : NULL;
    if (flag == TLE_LOG_DISPATCH && line)
        snprintf(report->variant, sizeof report->variant, "%.*s", (int)strcspn(line, ","), line);
}

typedef struct DeviceArrays {
    void *scores, *lengths, *row_starts, *indices, *values, *raw_indices, *offsets, *row_to_table,
        *page_table, *workspace;
} DeviceArrays;

int64_t host_topk_requests(const HostTopk *c) {
    return c->next_n > 1 ? (c->rows + c->next_n - 1) / c->next_n : c->rows;
}

static size_t scores_bytes(const HostTopk *c) {
    return c->rows && c->columns ? (size_t)((c->rows - 1) * c->row_stride + c->columns) * 4 : 0;
}

/* Copies an array to the device; an absent one stays absent. */
static bool array_to_device(tle_handle h, const void *from, int64_t elements, void **out) {
    if (from)
        *out = to_device(h, from, (size_t)elements * 4);
    return !from || *out;
}

static bool make_arrays(tle_handle h, const HostTopk *c, DeviceArrays *d) {
    size_t shift = c->misalign * 4, bytes = scores_bytes(c);
    int64_t selected = c->rows * c->k;
    d->scores = to_device(h, NULL, bytes + shift);
    d->indices = to_device(h, NULL, (size_t)selected * 4);
    if (!d->scores || !d->indices ||
        !array_to_device(h, c->lengths, host_topk_requests(c), &d->lengths) ||
        !array_to_device(h, c->row_starts, c->rows, &d->row_starts) ||
        !array_to_device(h, c->values, selected, &d->values) ||
        !array_to_device(h, c->raw_indices, selected, &d->raw_indices) ||
        !array_to_device(h, c->offsets, c->rows, &d->offsets) ||
        !array_to_device(h, c->row_to_table, c->rows, &d->row_to_table) ||
        !array_to_device(h, c->page_table, c->tables * c->pages, &d->page_table))
        return false;
    tle_status status = tle_copy(h, (char *)d->scores + shift, c->scores, bytes);
    return !status || !complain_status("copy", status);
}

static void free_arrays(tle_handle h, DeviceArrays *d) {
    tle_free(h, d->scores);
    tle_free(h, d->lengths);
    tle_free(h, d->row_starts);
    tle_free(h, d->indices);
    tle_free(h, d->values);
    tle_free(h, d->raw_indices);
    tle_free(h, d->offsets);
    tle_free(h, d->row_to_table);
    tle_free(h, d->page_table);
    tle_free(h, d->workspace);
}

static tle_topk_select_params params_of(const HostTopk *c, const DeviceArrays *d) {
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = c->rows;
    p.columns = c->columns;
    p.k = c->k;
    p.scores = (const char *)d->scores + c->misalign * 4;
    p.row_stride = c->row_stride;
    p.lengths = (const int32_t *)d->lengths;
    p.row_starts = (const int32_t *)d->row_starts;
    p.indices = (int32_t *)d->indices;
    p.index_row_stride = p.value_row_stride = p.raw_index_row_stride = c->k;
    p.sorted = c->sorted;
    p.index_base = c->absolute ? TLE_INDEX_ABSOLUTE : TLE_INDEX_RELATIVE;
    p.next_n = c->next_n;
    p.values = (float *)d->values;
    p.raw_indices = (int32_t *)d->raw_indices;
    p.offsets = (const int32_t *)d->offsets;
    p.row_to_table = (const int32_t *)d->row_to_table;
    p.page_table = (const int32_t *)d->page_table;
    p.page_table_stride = c->pages;
    p.page_tables = c->tables;
    p.page_size = c->page_size;
    return p;
}

static tle_status fetch_results(tle_handle h, const HostTopk *c, const DeviceArrays *d) {
    size_t bytes = (size_t)(c->rows * c->k) * 4;
    tle_status status = tle_copy(h, c->indices, d->indices, bytes);
    if (!status && c->values)
        status = tle_copy(h, c->values, d->values, bytes);
    if (!status && c->raw_indices)
        status = tle_copy(h, c->raw_indices, d->raw_indices, bytes);
    return status;
}

static int call_repeatedly(tle_handle h, const HostTopk *c, DeviceArrays *d, int calls,
                           TopkReport *report) {
    tle_topk_select_params p = params_of(c, d);
    size_t bytes = 0;
    tle_status status = tle_topk_select_workspace_size(h, &p, &bytes);
    if (!status && bytes && !(d->workspace = to_device(h, NULL, bytes)))
        return EXIT_FAILED;
    for (int i = 0; i < calls && !status; i++) {
        double begin = now_us();
        status = tle_topk_select(h, &p, d->workspace, bytes, NULL);
        if (!status)
            status = tle_synchronize(h, NULL);
        report->microseconds = now_us() - begin;
    }
    if (!status)
        status = fetch_results(h, c, d);
    return status ? complain_status("topk", status) : 0;
}

int run_host_topk(tle_handle h, const HostTopk *c, int calls, TopkReport *report) {
    DeviceArrays d = {0};
    *report = (TopkReport){0};
    tle_set_log(h, TLE_LOG_DISPATCH, keep_variant, report);
    int failed = make_arrays(h, c, &d) ? call_repeatedly(h, c, &d, calls, report) : EXIT_FAILED;
    tle_set_log(h, 0, NULL, NULL);
    free_arrays(h, &d);
    return failed;
}
