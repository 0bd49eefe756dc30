/* tle_topk_select: the indices of the k largest scores of each row, and what is made of them.
 *
 * The contract is in tle.h. This file validates the arguments, states the facts that dispatch may
 * look at, and binds the kernels' parameters by name: a kernel may take any subset of `args` in any
 * order. */
#include "core/arguments.h"
#include "core/handle.h"
#include "core/plan.h"

#include <stddef.h>
#include <stdio.h>

/* Bits of the kernels' `flags`. */
enum {
    FLAG_LENGTHS = 1,
    FLAG_ROW_STARTS = 2,
    FLAG_INDICES = 4,
    FLAG_VALUES = 8,
    FLAG_RAW_INDICES = 16,
    FLAG_SORTED = 32,
    FLAG_ABSOLUTE = 64,
    FLAG_PAGE_TABLE = 128,
    FLAG_ROW_TO_TABLE = 256,
    FLAG_OFFSETS = 512
};

/* The parameters before they had forms. */
enum { FIRST_SIZE = offsetof(tle_topk_select_params, sorted) };

#define FACTS(X)                                                                                   \
    X(rows, TLEI_FACT_NUMBER)                                                                      \
    X(columns, TLEI_FACT_NUMBER)                                                                   \
    X(k, TLEI_FACT_NUMBER)                                                                         \
    X(align, TLEI_FACT_ALIGN)                                                                      \
    X(dtype, TLEI_FACT_TEXT)                                                                       \
    X(lengths, TLEI_FACT_NUMBER)                                                                   \
    X(row_starts, TLEI_FACT_NUMBER)                                                                \
    X(form, TLEI_FACT_NUMBER)                                                                      \
    X(sorted, TLEI_FACT_NUMBER)                                                                    \
    X(sm_count, TLEI_FACT_NUMBER)

#define ARGS(X)                                                                                    \
    X(scores, 64)                                                                                  \
    X(lengths, 64)                                                                                 \
    X(row_starts, 64)                                                                              \
    X(indices, 64)                                                                                 \
    X(row_stride, 64)                                                                              \
    X(index_stride, 64)                                                                            \
    X(columns, 32)                                                                                 \
    X(k, 32)                                                                                       \
    X(flags, 32)                                                                                   \
    X(rows, 32)                                                                                    \
    X(workspace, 64)                                                                               \
    X(next_n, 32)                                                                                  \
    X(values, 64)                                                                                  \
    X(value_stride, 64)                                                                            \
    X(raw_indices, 64)                                                                             \
    X(raw_stride, 64)                                                                              \
    X(offsets, 64)                                                                                 \
    X(page_table, 64)                                                                              \
    X(table_stride, 64)                                                                            \
    X(page_tables, 32)                                                                             \
    X(page_shift, 32)                                                                              \
    X(row_to_table, 64)

/* The memory of a call but for the workspace: X(name, whether it is written). Elements have 4
 * bytes, those of scores and values the bytes of their type. */
#define RANGES(X)                                                                                  \
    X(scores, false)                                                                               \
    X(indices, true)                                                                               \
    X(lengths, false)                                                                              \
    X(row_starts, false)                                                                           \
    X(values, true)                                                                                \
    X(raw_indices, true)                                                                           \
    X(offsets, false)                                                                              \
    X(page_table, false)                                                                           \
    X(row_to_table, false)

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

static tle_status check_numbers(const tle_topk_select_params *p, const TleiDtype **dtype,
                                TleiError *e) {
    static const int32_t taken[] = {TLE_DTYPE_FLOAT32, TLE_DTYPE_FLOAT16, TLE_DTYPE_BFLOAT16};
    tle_status status =
        tlei_check_dtype(p->dtype, taken, sizeof taken / sizeof *taken, "scores", dtype, e);
    if (!status)
        status = tlei_check_flags(p->flags, e);
    if (!status)
        status = tlei_check_number("rows", p->rows, 0, TLE_TOPK_SELECT_MAX_ROWS, e);
    if (!status)
        status = tlei_check_number("columns", p->columns, 0, TLE_TOPK_SELECT_MAX_COLUMNS, e);
    if (!status)
        status = tlei_check_number("k", p->k, 1, TLE_TOPK_SELECT_MAX_K, e);
    if (!status)
        status = tlei_check_number("row_stride", p->row_stride, 0, INT64_MAX, e);
    return status;
}

static tle_status check_strides(const tle_topk_select_params *p, TleiError *e) {
    tle_status status = tlei_check_stride("index_row_stride", p->indices || !p->values,
                                          p->index_row_stride, p->k, e);
    if (!status)
        status =
            tlei_check_stride("value_row_stride", p->values != NULL, p->value_row_stride, p->k, e);
    if (!status)
        status = tlei_check_stride("raw_index_row_stride", p->raw_indices != NULL,
                                   p->raw_index_row_stride, p->k, e);
    return status;
}

/* Entries of lengths, and tables unless rows choose theirs. */
static int64_t requests(const tle_topk_select_params *p) {
    return p->next_n > 1 ? (p->rows + p->next_n - 1) / p->next_n : p->rows;
}

static tle_status check_pages(const tle_topk_select_params *p, TleiError *e) {
    if (p->row_to_table && !p->page_table)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "row_to_table is given without page_table");
    if (!p->page_table)
        return TLE_STATUS_OK;
    if (p->offsets)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "page_table and offsets are given; one of them may be");
    if (p->page_size < 1 || p->page_size > TLE_TOPK_SELECT_MAX_PAGE ||
        (p->page_size & (p->page_size - 1)))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "page_size is %lld; it is a power of two from 1 to %d",
                         (long long)p->page_size, TLE_TOPK_SELECT_MAX_PAGE);
    tle_status status =
        tlei_check_number("page_table_stride", p->page_table_stride, 0, INT64_MAX, e);
    return status ? status
                  : tlei_check_number("page_tables", p->page_tables,
                                      p->row_to_table ? 0 : requests(p), INT32_MAX, e);
}

static tle_status check_form(const tle_topk_select_params *p, TleiError *e) {
    tle_status status = tlei_check_switch("sorted", p->sorted, e);
    if (status)
        return status;
    if (p->index_base != TLE_INDEX_RELATIVE && p->index_base != TLE_INDEX_ABSOLUTE)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "index_base is %d, which is no tle_index_base", p->index_base);
    status = tlei_check_number("next_n", p->next_n, 0, TLE_TOPK_SELECT_MAX_ROWS, e);
    return status ? status : check_pages(p, e);
}

/* The memory that a call may touch; the workspace's comes when its size is known. */
static tle_status make_ranges(const tle_topk_select_params *p, const TleiDtype *dtype,
                              TleiRange r[RANGE_COUNT], TleiError *e) {
#define X(name, writable) r[RANGE_##name] = (TleiRange){#name, p->name, 0, writable, 4};
    RANGES(X)
#undef X
    r[RANGE_scores].element = r[RANGE_values].element = dtype->bytes;
    tlei_set_per_row(&r[RANGE_lengths], requests(p));
    tlei_set_per_row(&r[RANGE_row_starts], p->rows);
    tlei_set_per_row(&r[RANGE_offsets], p->rows);
    tlei_set_per_row(&r[RANGE_row_to_table], p->rows);
    tle_status status =
        tlei_set_range(&r[RANGE_scores], true, "row_stride", p->rows, p->row_stride, p->columns, e);
    if (!status)
        status = tlei_set_range(&r[RANGE_indices], p->indices || !p->values, "index_row_stride",
                                p->rows, p->index_row_stride, p->k, e);
    if (!status)
        status = tlei_set_range(&r[RANGE_values], p->values != NULL, "value_row_stride", p->rows,
                                p->value_row_stride, p->k, e);
    if (!status)
        status = tlei_set_range(&r[RANGE_raw_indices], p->raw_indices != NULL,
                                "raw_index_row_stride", p->rows, p->raw_index_row_stride, p->k, e);
    if (!status && p->page_table)
        status =
            tlei_set_range(&r[RANGE_page_table], true, "page_table_stride", p->page_tables,
                           p->page_table_stride, (p->columns + p->page_size - 1) / p->page_size, e);
    return status;
}

static tle_status check_ranges(const tle_topk_select_params *p, const TleiRange r[RANGE_COUNT],
                               TleiError *e) {
    tle_status status = tlei_check_pointers(r, RANGE_COUNT, e);
    if (status)
        return status;
    if (p->rows && !p->indices && (p->page_table || p->offsets))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is given, but indices, which it is for, is NULL",
                         p->page_table ? "page_table" : "offsets");
    return tlei_check_overlaps(r, RANGE_COUNT, e);
}

/* ---- dispatch ---- */

/* Whether the call wants anything but ascending indices of rows with lengths of their own. */
static bool has_form(const tle_topk_select_params *p) {
    return p->sorted || p->index_base || p->next_n > 1 || p->values || p->raw_indices ||
           p->offsets || p->page_table;
}

static void state_facts(const tle_topk_select_params *p, const TleiDtype *dtype, TleiPlan *plan) {
    TleiFact *f = plan->facts;
    f[FACT_rows].number = p->rows;
    f[FACT_columns].number = p->columns;
    f[FACT_k].number = p->k;
    f[FACT_align].number =
        tlei_row_alignment(&plan->ranges[RANGE_scores], p->rows, p->row_stride, p->columns);
    f[FACT_dtype].text = dtype->name;
    f[FACT_lengths].number = p->lengths != NULL;
    f[FACT_row_starts].number = p->row_starts != NULL;
    f[FACT_form].number = has_form(p);
    f[FACT_sorted].number = p->sorted;
    f[FACT_sm_count].number = plan->handle->device->info.sm_count;
}

static void replay(const TleiPlan *plan, char *text, size_t size) {
    const TleiFact *f = plan->facts;
    snprintf(text, size,
             "tle explain topk --rows %lld --columns %lld --k %lld --align %lld --dtype %s%s%s%s%s",
             (long long)f[FACT_rows].number, (long long)f[FACT_columns].number,
             (long long)f[FACT_k].number, (long long)f[FACT_align].number, f[FACT_dtype].text,
             f[FACT_lengths].number ? " --lengths" : "",
             f[FACT_row_starts].number ? " --row-starts" : "", f[FACT_form].number ? " --form" : "",
             f[FACT_sorted].number ? " --sorted" : "");
}

static int64_t flags_of(const tle_topk_select_params *p) {
    return (p->lengths ? FLAG_LENGTHS : 0) | (p->row_starts ? FLAG_ROW_STARTS : 0) |
           (p->indices ? FLAG_INDICES : 0) | (p->values ? FLAG_VALUES : 0) |
           (p->raw_indices ? FLAG_RAW_INDICES : 0) | (p->sorted ? FLAG_SORTED : 0) |
           (p->index_base ? FLAG_ABSOLUTE : 0) | (p->page_table ? FLAG_PAGE_TABLE : 0) |
           (p->row_to_table ? FLAG_ROW_TO_TABLE : 0) | (p->offsets ? FLAG_OFFSETS : 0);
}

static void bind(const tle_topk_select_params *p, int64_t v[ARG_COUNT]) {
    v[ARG_scores] = (int64_t)(uintptr_t)p->scores;
    v[ARG_lengths] = (int64_t)(uintptr_t)p->lengths;
    v[ARG_row_starts] = (int64_t)(uintptr_t)p->row_starts;
    v[ARG_indices] = (int64_t)(uintptr_t)p->indices;
    v[ARG_row_stride] = p->row_stride;
    v[ARG_index_stride] = p->index_row_stride;
    v[ARG_columns] = p->columns;
    v[ARG_k] = p->k;
    v[ARG_flags] = flags_of(p);
    v[ARG_rows] = p->rows;
    v[ARG_workspace] = 0;
    v[ARG_next_n] = p->next_n ? p->next_n : 1;
    v[ARG_values] = (int64_t)(uintptr_t)p->values;
    v[ARG_value_stride] = p->value_row_stride;
    v[ARG_raw_indices] = (int64_t)(uintptr_t)p->raw_indices;
    v[ARG_raw_stride] = p->raw_index_row_stride;
    v[ARG_offsets] = (int64_t)(uintptr_t)p->offsets;
    v[ARG_page_table] = (int64_t)(uintptr_t)p->page_table;
    v[ARG_table_stride] = p->page_table_stride;
    v[ARG_page_tables] = p->page_table ? p->page_tables : 0;
    v[ARG_page_shift] = p->page_table ? __builtin_ctzll((unsigned long long)p->page_size) : 0;
    v[ARG_row_to_table] = (int64_t)(uintptr_t)p->row_to_table;
}

static tle_status plan(const void *params, bool pointers, TleiPlan *out, TleiError *e) {
    tle_topk_select_params p;
    const TleiDtype *dtype = NULL;
    tle_status status = tlei_struct_since(&p, params, FIRST_SIZE, sizeof p, "params", e);
    if (!status)
        status = check_numbers(&p, &dtype, e);
    if (!status)
        status = check_strides(&p, e);
    if (!status)
        status = check_form(&p, e);
    if (!status)
        status = make_ranges(&p, dtype, out->ranges, e);
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

extern const TleiOpDef tlei_op_topk_select;
const TleiOpDef tlei_op_topk_select = {
    .name = "topk_select",
    .facts = {facts, FACT_COUNT},
    .args = {args, ARG_COUNT},
    .workspace_arg = ARG_workspace,
    .plan = plan,
    .replay = replay,
};

/* ---- the public functions ---- */

tle_status tle_topk_select(tle_handle h, const tle_topk_select_params *params, void *workspace,
                           size_t workspace_size, tle_stream stream) {
    return tlei_plan_call(h, TLEI_OP_topk_select, params, workspace, workspace_size, stream);
}

tle_status tle_topk_select_workspace_size(tle_handle h, const tle_topk_select_params *params,
                                          size_t *size) {
    return tlei_plan_workspace_size(h, TLEI_OP_topk_select, params, size);
}

tle_status tle_topk_select_supported(tle_handle h, const tle_topk_select_params *params,
                                     char *reason, size_t reason_size) {
    return tlei_plan_supported(h, TLEI_OP_topk_select, params, reason, reason_size);
}

tle_status tle_topk_select_explain(tle_handle h, const tle_topk_select_params *params, char *text,
                                   size_t text_size, size_t *needed) {
    return tlei_plan_explain(h, TLEI_OP_topk_select, params, text, text_size, needed);
}

tle_status tle_topk_select_variants(tle_handle h, tle_variant_fn fn, void *user) {
    return tle_variants(h, tlei_op_topk_select.name, fn, user);
}
