/* One call of radix on arrays in host memory. */
#include "cli/cli.h"
#include "cli/host_call.h"

typedef struct DeviceArrays {
    void *keys, *lengths, *payload, *indices, *values, *payload_out;
} DeviceArrays;

/* Elements from the first row's begin to the last one's end. */
static int64_t row_elements(const HostRadix *c) {
    return c->rows && c->columns ? (c->rows - 1) * c->row_stride + c->columns : 0;
}

static bool make_arrays(tle_handle h, const HostRadix *c, DeviceArrays *d) {
    size_t payload = (size_t)c->payload_bytes, shift = c->misalign * c->key_bytes;
    size_t bytes = (size_t)row_elements(c) * c->key_bytes;
    int64_t selected = c->rows * c->k;
    d->keys = to_device(h, NULL, bytes + shift);
    if (!d->keys || !array_to_device(h, c->lengths, c->rows, 4, &d->lengths) ||
        !array_to_device(h, c->payload, row_elements(c), payload, &d->payload) ||
        !array_to_device(h, c->indices, selected, 4, &d->indices) ||
        !array_to_device(h, c->values, selected, c->key_bytes, &d->values) ||
        !array_to_device(h, c->payload_out, selected, payload, &d->payload_out))
        return false;
    tle_status status = tle_copy(h, (char *)d->keys + shift, c->keys, bytes);
    return !status || !complain_status("copy", status);
}

static void free_arrays(tle_handle h, DeviceArrays *d) {
    tle_free(h, d->keys);
    tle_free(h, d->lengths);
    tle_free(h, d->payload);
    tle_free(h, d->indices);
    tle_free(h, d->values);
    tle_free(h, d->payload_out);
}

static tle_radix_select_params params_of(const HostRadix *c, const DeviceArrays *d) {
    tle_radix_select_params p = TLE_RADIX_SELECT_PARAMS_INIT;
    p.dtype = c->dtype;
    p.rows = c->rows;
    p.columns = c->columns;
    p.k = c->k;
    p.keys = (const char *)d->keys + c->misalign * c->key_bytes;
    p.key_row_stride = p.payload_row_stride = c->row_stride;
    p.lengths = (const int32_t *)d->lengths;
    p.order = c->smallest ? TLE_SELECT_SMALLEST : TLE_SELECT_LARGEST;
    p.sorted = c->sorted;
    p.payload_bytes = c->payload_bytes;
    p.payload = d->payload;
    p.indices = (int32_t *)d->indices;
    p.values = d->values;
    p.payload_out = d->payload_out;
    p.index_row_stride = p.value_row_stride = p.payload_out_row_stride = c->k;
    return p;
}

static tle_status fetch(tle_handle h, void *to, const void *from, size_t bytes) {
    return to ? tle_copy(h, to, from, bytes) : TLE_STATUS_OK;
}

static tle_status fetch_results(tle_handle h, const HostRadix *c, const DeviceArrays *d) {
    size_t selected = (size_t)(c->rows * c->k);
    tle_status status = fetch(h, c->indices, d->indices, selected * 4);
    if (!status)
        status = fetch(h, c->values, d->values, selected * c->key_bytes);
    if (!status)
        status = fetch(h, c->payload_out, d->payload_out, selected * (size_t)c->payload_bytes);
    return status;
}

static tle_status workspace_size(tle_handle h, const void *params, size_t *size) {
    return tle_radix_select_workspace_size(h, (const tle_radix_select_params *)params, size);
}

static tle_status call(tle_handle h, const void *params, void *workspace, size_t size) {
    return tle_radix_select(h, (const tle_radix_select_params *)params, workspace, size, NULL);
}

int run_host_radix(tle_handle h, const HostRadix *c, int calls, CallReport *report) {
    DeviceArrays d = {0};
    int failed = make_arrays(h, c, &d) ? 0 : EXIT_FAILED;
    if (!failed) {
        tle_radix_select_params p = params_of(c, &d);
        const HostCall host = {"radix", &p, workspace_size, call};
        failed = call_repeatedly(h, &host, calls, report);
    }
    tle_status status = failed ? TLE_STATUS_OK : fetch_results(h, c, &d);
    free_arrays(h, &d);
    return status ? complain_status("copy", status) : failed;
}
