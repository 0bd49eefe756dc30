/* tle_radix_select: the k largest or smallest keys of each row, of many element types and with a
 * payload.
 *
 * The contract is in tle.h. This file validates the arguments, states the facts that dispatch may
 * look at, and binds the kernels' parameters by name: a kernel may take any subset of `args` in any
 * order. */
#include "core/arguments.h"
#include "core/handle.h"
#include "core/plan.h"

#include <stdio.h>

/* Bits of the kernels' `flags`. */
enum {
    FLAG_LENGTHS = 1,
    FLAG_SMALLEST = 2,
    FLAG_INDICES = 4,
    FLAG_VALUES = 8,
    FLAG_PAYLOAD = 16,
    FLAG_PAYLOAD_8 = 32 /* of 8 bytes rather than 4 */
};

#define FACTS(X)                                                                                   \
    X(rows, TLEI_FACT_NUMBER)                                                                      \
    X(columns, TLEI_FACT_NUMBER)                                                                   \
    X(k, TLEI_FACT_NUMBER)                                                                         \
    X(align, TLEI_FACT_ALIGN)                                                                      \
    X(dtype, TLEI_FACT_TEXT)                                                                       \
    X(lengths, TLEI_FACT_NUMBER)                                                                   \
    X(smallest, TLEI_FACT_NUMBER)                                                                  \
    X(sorted, TLEI_FACT_NUMBER)                                                                    \
    X(payload_bytes, TLEI_FACT_NUMBER)                                                             \
    X(sm_count, TLEI_FACT_NUMBER)

#define ARGS(X)                                                                                    \
    X(keys, 64)                                                                                    \
    X(payload, 64)                                                                                 \
    X(lengths, 64)                                                                                 \
    X(indices, 64)                                                                                 \
    X(values, 64)                                                                                  \
    X(payload_out, 64)                                                                             \
    X(key_stride, 64)                                                                              \
    X(payload_stride, 64)                                                                          \
    X(index_stride, 64)                                                                            \
    X(value_stride, 64)                                                                            \
    X(payload_out_stride, 64)                                                                      \
    X(columns, 32)                                                                                 \
    X(k, 32)                                                                                       \
    X(flags, 32)                                                                                   \
    X(rows, 32)                                                                                    \
    X(workspace, 64)

/* The memory of a call but for the workspace: X(name, whether it is written). */
#define RANGES(X)                                                                                  \
    X(keys, false)                                                                                 \
    X(lengths, false)                                                                              \
    X(payload, false)                                                                              \
    X(indices, true)                                                                               \
    X(values, true)                                                                                \
    X(payload_out, true)

enum {
#define X(name, kind) FACT_##name,
    FACTS(X)
#undef X
        FACT_COUNT
};

enum {
#define X(name, bits) ARG_##name,
    ARGS(X)
#undef X
        ARG_COUNT
};

enum {
#define X(name, writable) RANGE_##name,
    RANGES(X)
#undef X
        RANGE_COUNT
};

static const TleiFactDef facts[] = {
#define X(name, kind) {#name, kind},
    FACTS(X)
#undef X
};

static const TleiArgDef args[] = {
#define X(name, bits) {#name, bits},
    ARGS(X)
#undef X
};

TLEI_PLAN_HOLDS(FACT_COUNT, ARG_COUNT, RANGE_COUNT);

/* ---- validation ---- */

static tle_status check_dtype(const tle_radix_select_params *p, const TleiDtype **dtype,
                              TleiError *e) {
    static const int32_t taken[] = {TLE_DTYPE_FLOAT32, TLE_DTYPE_FLOAT16, TLE_DTYPE_BFLOAT16,
                                    TLE_DTYPE_INT32,   TLE_DTYPE_UINT32,  TLE_DTYPE_INT64,
                                    TLE_DTYPE_UINT64,  TLE_DTYPE_FLOAT64};
    return tlei_check_dtype(p->dtype, taken, sizeof taken / sizeof *taken, "keys", dtype, e);
}

static tle_status check_k(const tle_radix_select_params *p, TleiError *e) {
    tle_status status = tlei_check_number("k", p->k, 1, TLE_RADIX_SELECT_MAX_K, e);
    if (!status && p->sorted && p->k > TLE_RADIX_SELECT_MAX_SORTED_K)
        status = tlei_fail(e, TLE_STATUS_UNSUPPORTED_SHAPE, "k is %lld; the most with sorted is %d",
                           (long long)p->k, TLE_RADIX_SELECT_MAX_SORTED_K);
    return status;
}

static tle_status check_numbers(const tle_radix_select_params *p, TleiError *e) {
    tle_status status = tlei_check_flags(p->flags, e);
    if (!status)
        status = tlei_check_number("rows", p->rows, 0, TLE_RADIX_SELECT_MAX_ROWS, e);
    if (!status)
        status = tlei_check_number("columns", p->columns, 0, TLE_RADIX_SELECT_MAX_COLUMNS, e);
    if (!status && p->order != TLE_SELECT_LARGEST && p->order != TLE_SELECT_SMALLEST)
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                           "order is %d, which is no tle_select_order", p->order);
    if (!status)
        status = tlei_check_switch("sorted", p->sorted, e);
    if (!status)
        status = check_k(p, e);
    if (!status)
        status = tlei_check_number("key_row_stride", p->key_row_stride, 0, INT64_MAX, e);
    return status;
}

static tle_status check_payload(const tle_radix_select_params *p, TleiError *e) {
    if (p->payload_bytes != 0 && p->payload_bytes != 4 && p->payload_bytes != 8)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "payload_bytes is %d; it is 0, 4 or 8",
                         p->payload_bytes);
    if (!p->payload_bytes && (p->payload || p->payload_out))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is given, but payload_bytes is 0",
                         p->payload ? "payload" : "payload_out");
    if (!p->payload_bytes)
        return TLE_STATUS_OK;
    return tlei_check_number("payload_row_stride", p->payload_row_stride, 0, INT64_MAX, e);
}

static tle_status check_strides(const tle_radix_select_params *p, TleiError *e) {
    tle_status status =
        tlei_check_stride("index_row_stride", p->indices != NULL, p->index_row_stride, p->k, e);
    if (!status)
        status =
            tlei_check_stride("value_row_stride", p->values != NULL, p->value_row_stride, p->k, e);
    if (!status)
        status = tlei_check_stride("payload_out_row_stride", p->payload_bytes != 0,
                                   p->payload_out_row_stride, p->k, e);
    return status;
}

/* The memory that a call may touch. */
static tle_status make_ranges(const tle_radix_select_params *p, uint32_t key_bytes,
                              TleiRange r[RANGE_COUNT], TleiError *e) {
#define X(name, writable) r[RANGE_##name] = (TleiRange){#name, p->name, 0, writable, 4};
    RANGES(X)
#undef X
    bool payload = p->payload_bytes != 0;
    r[RANGE_keys].element = r[RANGE_values].element = key_bytes;
    if (payload)
        r[RANGE_payload].element = r[RANGE_payload_out].element = (uint32_t)p->payload_bytes;
    tlei_set_per_row(&r[RANGE_lengths], p->rows);
    tle_status status = tlei_set_range(&r[RANGE_keys], true, "key_row_stride", p->rows,
                                       p->key_row_stride, p->columns, e);
    if (!status)
        status = tlei_set_range(&r[RANGE_payload], payload, "payload_row_stride", p->rows,
                                p->payload_row_stride, p->columns, e);
    if (!status)
        status = tlei_set_range(&r[RANGE_indices], p->indices != NULL, "index_row_stride", p->rows,
                                p->index_row_stride, p->k, e);
    if (!status)
        status = tlei_set_range(&r[RANGE_values], p->values != NULL, "value_row_stride", p->rows,
                                p->value_row_stride, p->k, e);
    if (!status)
        status = tlei_set_range(&r[RANGE_payload_out], payload, "payload_out_row_stride", p->rows,
                                p->payload_out_row_stride, p->k, e);
    return status;
}

static tle_status check_ranges(const tle_radix_select_params *p, const TleiRange r[RANGE_COUNT],
                               TleiError *e) {
    if (p->rows && !p->indices && !p->values && !p->payload_bytes)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "indices, values and payload_out are NULL; a call has an output");
    tle_status status = tlei_check_pointers(r, RANGE_COUNT, e);
    return status ? status : tlei_check_overlaps(r, RANGE_COUNT, e);
}

/* ---- dispatch ---- */

static void state_facts(const tle_radix_select_params *p, const TleiDtype *dtype, TleiPlan *plan) {
    TleiFact *f = plan->facts;
    f[FACT_rows].number = p->rows;
    f[FACT_columns].number = p->columns;
    f[FACT_k].number = p->k;
    f[FACT_align].number =
        tlei_row_alignment(&plan->ranges[RANGE_keys], p->rows, p->key_row_stride, p->columns);
    f[FACT_dtype].text = dtype->name;
    f[FACT_lengths].number = p->lengths != NULL;
    f[FACT_smallest].number = p->order == TLE_SELECT_SMALLEST;
    f[FACT_sorted].number = p->sorted;
    f[FACT_payload_bytes].number = p->payload_bytes;
    f[FACT_sm_count].number = plan->handle->device->info.sm_count;
}

static void replay(const TleiPlan *plan, char *text, size_t size) {
    const TleiFact *f = plan->facts;
    snprintf(text, size,
             "tle explain radix --dtype %s --rows %lld --columns %lld --k %lld --align %lld"
             " --payload-bytes %lld%s%s%s",
             f[FACT_dtype].text, (long long)f[FACT_rows].number, (long long)f[FACT_columns].number,
             (long long)f[FACT_k].number, (long long)f[FACT_align].number,
             (long long)f[FACT_payload_bytes].number, f[FACT_lengths].number ? " --lengths" : "",
             f[FACT_smallest].number ? " --smallest" : "",
             f[FACT_sorted].number ? " --sorted" : "");
}

static int64_t flags_of(const tle_radix_select_params *p) {
    return (p->lengths ? FLAG_LENGTHS : 0) | (p->order == TLE_SELECT_SMALLEST ? FLAG_SMALLEST : 0) |
           (p->indices ? FLAG_INDICES : 0) | (p->values ? FLAG_VALUES : 0) |
           (p->payload_bytes ? FLAG_PAYLOAD : 0) | (p->payload_bytes == 8 ? FLAG_PAYLOAD_8 : 0);
}

static void bind(const tle_radix_select_params *p, int64_t v[ARG_COUNT]) {
    v[ARG_keys] = (int64_t)(uintptr_t)p->keys;
    v[ARG_payload] = (int64_t)(uintptr_t)p->payload;
    v[ARG_lengths] = (int64_t)(uintptr_t)p->lengths;
    v[ARG_indices] = (int64_t)(uintptr_t)p->indices;
    v[ARG_values] = (int64_t)(uintptr_t)p->values;
    v[ARG_payload_out] = (int64_t)(uintptr_t)p->payload_out;
    v[ARG_key_stride] = p->key_row_stride;
    v[ARG_payload_stride] = p->payload_row_stride;
    v[ARG_index_stride] = p->index_row_stride;
    v[ARG_value_stride] = p->value_row_stride;
    v[ARG_payload_out_stride] = p->payload_out_row_stride;
    v[ARG_columns] = p->columns;
    v[ARG_k] = p->k;
    v[ARG_flags] = flags_of(p);
    v[ARG_rows] = p->rows;
    v[ARG_workspace] = 0;
}

static tle_status plan(const void *params, bool pointers, TleiPlan *out, TleiError *e) {
    tle_radix_select_params p;
    const TleiDtype *dtype = NULL;
    tle_status status = tlei_struct_in(&p, params, sizeof p, "params", e);
    if (!status)
        status = check_dtype(&p, &dtype, e);
    if (!status)
        status = check_numbers(&p, e);
    if (!status)
        status = check_payload(&p, e);
    if (!status)
        status = check_strides(&p, e);
    if (!status)
        status = make_ranges(&p, dtype->bytes, out->ranges, e);
    if (!status && pointers)
        status = check_ranges(&p, out->ranges, e);
    if (status)
        return status;
    out->rows = p.rows;
    out->range_count = RANGE_COUNT;
    out->dependent = p.flags & TLE_LAUNCH_DEPENDENT;
    state_facts(&p, dtype, out);
    bind(&p, out->values);
    return TLE_STATUS_OK;
}

extern const TleiOpDef tlei_op_radix_select;
const TleiOpDef tlei_op_radix_select = {
    .name = "radix_select",
    .facts = {facts, FACT_COUNT},
    .args = {args, ARG_COUNT},
    .workspace_arg = ARG_workspace,
    .plan = plan,
    .replay = replay,
};

/* ---- the public functions ---- */

tle_status tle_radix_select(tle_handle h, const tle_radix_select_params *params, void *workspace,
                            size_t workspace_size, tle_stream stream) {
    return tlei_plan_call(h, TLEI_OP_radix_select, params, workspace, workspace_size, stream);
}

tle_status tle_radix_select_workspace_size(tle_handle h, const tle_radix_select_params *params,
                                           size_t *size) {
    return tlei_plan_workspace_size(h, TLEI_OP_radix_select, params, size);
}

tle_status tle_radix_select_supported(tle_handle h, const tle_radix_select_params *params,
                                      char *reason, size_t reason_size) {
    return tlei_plan_supported(h, TLEI_OP_radix_select, params, reason, reason_size);
}

tle_status tle_radix_select_explain(tle_handle h, const tle_radix_select_params *params, char *text,
                                    size_t text_size, size_t *needed) {
    return tlei_plan_explain(h, TLEI_OP_radix_select, params, text, text_size, needed);
}

tle_status tle_radix_select_variants(tle_handle h, tle_variant_fn fn, void *user) {
    return tle_variants(h, tlei_op_radix_select.name, fn, user);
}
