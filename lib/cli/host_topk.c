/* One call of topk on arrays in host memory. */
#include "cli/cli.h"
#include "cli/host_call.h"

typedef struct DeviceArrays {
    void *scores, *lengths, *row_starts, *indices, *values, *raw_indices, *offsets, *row_to_table,
        *page_table;
} DeviceArrays;

int64_t host_topk_requests(const HostTopk *c) {
    return c->next_n > 1 ? (c->rows + c->next_n - 1) / c->next_n : c->rows;
}

static size_t scores_bytes(const HostTopk *c) {
    return c->rows && c->columns
               ? (size_t)((c->rows - 1) * c->row_stride + c->columns) * element_bytes(c->type)
               : 0;
}

static bool make_arrays(tle_handle h, const HostTopk *c, DeviceArrays *d) {
    size_t element = element_bytes(c->type), shift = c->misalign * element, bytes = scores_bytes(c);
    int64_t selected = c->rows * c->k;
    d->scores = to_device(h, NULL, bytes + shift);
    d->indices = to_device(h, NULL, (size_t)selected * 4);
    if (!d->scores || !d->indices ||
        !array_to_device(h, c->lengths, host_topk_requests(c), 4, &d->lengths) ||
        !array_to_device(h, c->row_starts, c->rows, 4, &d->row_starts) ||
        !array_to_device(h, c->values, selected, element, &d->values) ||
        !array_to_device(h, c->raw_indices, selected, 4, &d->raw_indices) ||
        !array_to_device(h, c->offsets, c->rows, 4, &d->offsets) ||
        !array_to_device(h, c->row_to_table, c->rows, 4, &d->row_to_table) ||
        !array_to_device(h, c->page_table, c->tables * c->pages, 4, &d->page_table))
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
}

static tle_topk_select_params params_of(const HostTopk *c, const DeviceArrays *d) {
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.dtype = element_dtype(c->type);
    p.rows = c->rows;
    p.columns = c->columns;
    p.k = c->k;
    p.scores = (const char *)d->scores + c->misalign * element_bytes(c->type);
    p.row_stride = c->row_stride;
    p.lengths = (const int32_t *)d->lengths;
    p.row_starts = (const int32_t *)d->row_starts;
    p.indices = (int32_t *)d->indices;
    p.index_row_stride = p.value_row_stride = p.raw_index_row_stride = c->k;
    p.sorted = c->sorted;
    p.index_base = c->absolute ? TLE_INDEX_ABSOLUTE : TLE_INDEX_RELATIVE;
    p.next_n = c->next_n;
    p.values = d->values;
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
    size_t selected = (size_t)(c->rows * c->k);
    tle_status status = tle_copy(h, c->indices, d->indices, selected * 4);
    if (!status && c->values)
        status = tle_copy(h, c->values, d->values, selected * element_bytes(c->type));
    if (!status && c->raw_indices)
        status = tle_copy(h, c->raw_indices, d->raw_indices, selected * 4);
    return status;
}

static tle_status workspace_size(tle_handle h, const void *params, size_t *size) {
    return tle_topk_select_workspace_size(h, (const tle_topk_select_params *)params, size);
}

static tle_status call(tle_handle h, const void *params, void *workspace, size_t size) {
    return tle_topk_select(h, (const tle_topk_select_params *)params, workspace, size, NULL);
}

int run_host_topk(tle_handle h, const HostTopk *c, int calls, CallReport *report) {
    DeviceArrays d = {0};
    int failed = make_arrays(h, c, &d) ? 0 : EXIT_FAILED;
    if (!failed) {
        tle_topk_select_params p = params_of(c, &d);
        const HostCall host = {"topk", &p, workspace_size, call};
        failed = call_repeatedly(h, &host, calls, report);
    }
    tle_status status = failed ? TLE_STATUS_OK : fetch_results(h, c, &d);
    free_arrays(h, &d);
    return status ? complain_status("copy", status) : failed;
}
