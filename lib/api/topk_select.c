/* tle_topk_select: the indices of the k largest scores of each row, and what is made of them.
 *
 * The contract is in tle.h. This file validates the arguments, states the facts that dispatch may
 * look at, and binds the kernels' parameters by name: a kernel may take any subset of `args` in any
 * order. */
#include "core/handle.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
enum { WORKSPACE_ALIGN = 16, MAX_ALIGN = 256 };

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

/* The memory of a call but for the workspace: X(name, whether it is written). */
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
        RANGE_workspace,
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

extern const TleiOpDef tlei_op_topk_select;
const TleiOpDef tlei_op_topk_select = {
    .name = "topk_select",
    .facts = {facts, FACT_COUNT},
    .args = {args, ARG_COUNT},
};

/* ---- validation ---- */

static tle_status check_number(const char *name, int64_t value, int64_t least, int64_t most,
                               TleiError *e) {
    if (value < least)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is %lld; the least is %lld", name,
                         (long long)value, (long long)least);
    if (value > most)
        return tlei_fail(e, TLE_STATUS_UNSUPPORTED_SHAPE, "%s is %lld; the most is %lld", name,
                         (long long)value, (long long)most);
    return TLE_STATUS_OK;
}

static tle_status check_dtype(const tle_topk_select_params *p, TleiError *e) {
    switch (p->dtype) {
    case TLE_DTYPE_FLOAT32:
        return TLE_STATUS_OK;
    case TLE_DTYPE_FLOAT16:
    case TLE_DTYPE_BFLOAT16:
    case TLE_DTYPE_INT32:
    case TLE_DTYPE_INT64:
        return tlei_fail(e, TLE_STATUS_UNSUPPORTED_DTYPE,
                         "dtype is 0x%x; scores are TLE_DTYPE_FLOAT32 (0x%x)", (unsigned)p->dtype,
                         (unsigned)TLE_DTYPE_FLOAT32);
    default:
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "dtype is 0x%x, which is no tle_dtype",
                         (unsigned)p->dtype);
    }
}

static tle_status check_numbers(const tle_topk_select_params *p, TleiError *e) {
    tle_status status = check_dtype(p, e);
    if (!status && p->flags)
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                           "flags is 0x%x; no flags are defined, so it must be 0", p->flags);
    if (!status)
        status = check_number("rows", p->rows, 0, TLE_TOPK_SELECT_MAX_ROWS, e);
    if (!status)
        status = check_number("columns", p->columns, 0, TLE_TOPK_SELECT_MAX_COLUMNS, e);
    if (!status)
        status = check_number("k", p->k, 1, TLE_TOPK_SELECT_MAX_K, e);
    if (!status)
        status = check_number("row_stride", p->row_stride, 0, INT64_MAX, e);
    return status;
}

/* From row to row of an output; of one that is absent it means nothing. */
static tle_status check_stride(const char *name, bool present, int64_t stride, int64_t k,
                               TleiError *e) {
    if (present && stride < k)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is %lld; the least is k, %lld", name,
                         (long long)stride, (long long)k);
    return TLE_STATUS_OK;
}

static tle_status check_strides(const tle_topk_select_params *p, TleiError *e) {
    tle_status status =
        check_stride("index_row_stride", p->indices || !p->values, p->index_row_stride, p->k, e);
    if (!status)
        status = check_stride("value_row_stride", p->values != NULL, p->value_row_stride, p->k, e);
    if (!status)
        status = check_stride("raw_index_row_stride", p->raw_indices != NULL,
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
    tle_status status = check_number("page_table_stride", p->page_table_stride, 0, INT64_MAX, e);
    return status ? status
                  : check_number("page_tables", p->page_tables, p->row_to_table ? 0 : requests(p),
                                 INT32_MAX, e);
}

static tle_status check_form(const tle_topk_select_params *p, TleiError *e) {
    if (p->sorted != 0 && p->sorted != 1)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "sorted is %d; it must be 0 or 1",
                         p->sorted);
    if (p->index_base != TLE_INDEX_RELATIVE && p->index_base != TLE_INDEX_ABSOLUTE)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "index_base is %d, which is no tle_index_base", p->index_base);
    tle_status status = check_number("next_n", p->next_n, 0, TLE_TOPK_SELECT_MAX_ROWS, e);
    return status ? status : check_pages(p, e);
}

/* Bytes from the first to the last of 4-byte elements; 0 for none. False on overflow. */
static bool extent(int64_t rows, int64_t stride, int64_t columns, uint64_t *bytes) {
    int64_t elements = 0;
    *bytes = 0;
    if (!rows || !columns)
        return true;
    if (__builtin_mul_overflow(rows - 1, stride, &elements) ||
        __builtin_add_overflow(elements, columns, &elements) || elements > INT64_MAX / 4)
        return false;
    *bytes = (uint64_t)elements * 4;
    return true;
}

static tle_status check_pointer(const TleiRange *r, bool required, TleiError *e) {
    uintptr_t address = (uintptr_t)r->address;
    if (!address && required)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is NULL", r->name);
    if (address % 4)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is %p; it must be a multiple of 4, the size of its element", r->name,
                         r->address);
    if (address + r->bytes < address)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is %p; its %llu bytes reach past the end of the address space",
                         r->name, r->address, (unsigned long long)r->bytes);
    return TLE_STATUS_OK;
}

static bool overlap(const TleiRange *a, const TleiRange *b) {
    uintptr_t x = (uintptr_t)a->address, y = (uintptr_t)b->address;
    return a->bytes && b->bytes && x < y + b->bytes && y < x + a->bytes;
}

/* Sets what a call may touch of [rows, columns]; nothing of what is absent. */
static tle_status set_range(TleiRange *r, bool present, const char *stride_name, int64_t rows,
                            int64_t stride, int64_t columns, TleiError *e) {
    if (present && !extent(rows, stride, columns, &r->bytes))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is %lld; %lld such rows exceed the address space", stride_name,
                         (long long)stride, (long long)rows);
    return TLE_STATUS_OK;
}

static void set_per_row(TleiRange *r, int64_t rows) {
    r->bytes = r->address ? (uint64_t)rows * 4 : 0;
}

/* The memory that a call may touch; the workspace's comes when its size is known. */
static tle_status make_ranges(const tle_topk_select_params *p, TleiRange r[RANGE_COUNT],
                              TleiError *e) {
#define X(name, writable) r[RANGE_##name] = (TleiRange){#name, p->name, 0, writable};
    RANGES(X)
#undef X
    r[RANGE_workspace] = (TleiRange){"workspace", NULL, 0, true};
    set_per_row(&r[RANGE_lengths], requests(p));
    set_per_row(&r[RANGE_row_starts], p->rows);
    set_per_row(&r[RANGE_offsets], p->rows);
    set_per_row(&r[RANGE_row_to_table], p->rows);
    tle_status status =
        set_range(&r[RANGE_scores], true, "row_stride", p->rows, p->row_stride, p->columns, e);
    if (!status)
        status = set_range(&r[RANGE_indices], p->indices || !p->values, "index_row_stride", p->rows,
                           p->index_row_stride, p->k, e);
    if (!status)
        status = set_range(&r[RANGE_values], p->values != NULL, "value_row_stride", p->rows,
                           p->value_row_stride, p->k, e);
    if (!status)
        status = set_range(&r[RANGE_raw_indices], p->raw_indices != NULL, "raw_index_row_stride",
                           p->rows, p->raw_index_row_stride, p->k, e);
    if (!status && p->page_table)
        status = set_range(&r[RANGE_page_table], true, "page_table_stride", p->page_tables,
                           p->page_table_stride, (p->columns + p->page_size - 1) / p->page_size, e);
    return status;
}

static tle_status check_overlaps(const TleiRange r[RANGE_COUNT], TleiError *e) {
    for (int i = 0; i < RANGE_COUNT; i++)
        for (int j = 0; j < RANGE_COUNT && r[i].writable; j++)
            if (i != j && overlap(&r[i], &r[j]))
                return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                                 "%s overlaps %s; an output may overlap nothing else", r[i].name,
                                 r[j].name);
    return TLE_STATUS_OK;
}

static tle_status check_ranges(const tle_topk_select_params *p, const TleiRange r[RANGE_COUNT],
                               TleiError *e) {
    for (int i = 0; i < RANGE_COUNT; i++) {
        tle_status status = check_pointer(&r[i], r[i].bytes != 0, e);
        if (status)
            return status;
    }
    if (p->rows && !p->indices && (p->page_table || p->offsets))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is given, but indices, which it is for, is NULL",
                         p->page_table ? "page_table" : "offsets");
    return check_overlaps(r, e);
}

/* ---- dispatch ---- */

/* The largest power of two that divides the addresses where rows begin and where they end at the
 * latest: a kernel that reads whole vectors of that size stays within the scores. */
static int64_t alignment(const tle_topk_select_params *p) {
    uint64_t bits = (uint64_t)(uintptr_t)p->scores | (uint64_t)p->columns * 4 | MAX_ALIGN;
    if (p->rows > 1)
        bits |= (uint64_t)p->row_stride * 4;
    return (int64_t)(bits & (~bits + 1));
}

/* Whether the call wants anything but ascending indices of rows with lengths of their own. */
static bool has_form(const tle_topk_select_params *p) {
    return p->sorted || p->index_base || p->next_n > 1 || p->values || p->raw_indices ||
           p->offsets || p->page_table;
}

static void state_facts(tle_handle h, const tle_topk_select_params *p, TleiFact f[FACT_COUNT]) {
    f[FACT_rows].number = p->rows;
    f[FACT_columns].number = p->columns;
    f[FACT_k].number = p->k;
    f[FACT_align].number = alignment(p);
    f[FACT_dtype].text = "fp32";
    f[FACT_lengths].number = p->lengths != NULL;
    f[FACT_row_starts].number = p->row_starts != NULL;
    f[FACT_form].number = has_form(p);
    f[FACT_sorted].number = p->sorted;
    f[FACT_sm_count].number = h->device->info.sm_count;
}

static void log_choice(tle_handle h, const tle_topk_select_params *p, const TleiFact *f,
                       const char *variant) {
    char replay[256];
    snprintf(replay, sizeof replay,
             "tle explain topk --rows %lld --columns %lld --k %lld --align %lld%s%s%s%s",
             (long long)p->rows, (long long)p->columns, (long long)p->k,
             (long long)f[FACT_align].number, p->lengths ? " --lengths" : "",
             p->row_starts ? " --row-starts" : "", f[FACT_form].number ? " --form" : "",
             p->sorted ? " --sorted" : "");
    tlei_log(&h->log, TLE_LOG_DISPATCH, "topk_select", "dispatch", replay, "%s", variant);
}

/* A validated call. */
typedef struct Call {
    tle_topk_select_params p;
    TleiFact facts[FACT_COUNT];
    TleiRange ranges[RANGE_COUNT];
    const TleiOp *op;
    uint32_t variant;
    uint64_t workspace; /* bytes needed */
} Call;

/* Everything before the launch. A call of no rows needs no variant. */
static tle_status prepare(tle_handle h, const tle_topk_select_params *params, bool pointers,
                          Call *c, TleiError *e) {
    tle_status status = tlei_check_handle(h, e);
    if (!status)
        status = tlei_struct_since(&c->p, params, FIRST_SIZE, sizeof c->p, "params", e);
    if (!status)
        status = check_numbers(&c->p, e);
    if (!status)
        status = check_strides(&c->p, e);
    if (!status)
        status = check_form(&c->p, e);
    if (!status)
        status = make_ranges(&c->p, c->ranges, e);
    if (!status && pointers)
        status = check_ranges(&c->p, c->ranges, e);
    if (status)
        return status;
    state_facts(h, &c->p, c->facts);
    c->op = &h->ops[TLEI_OP_topk_select];
    c->workspace = 0;
    if (!c->p.rows)
        return TLE_STATUS_OK;
    status = tlei_choose(c->op, c->facts, &c->variant, e);
    if (!status)
        c->workspace = tlei_workspace(&c->op->variants[c->variant], (uint64_t)c->p.rows);
    return status;
}

static tle_status check_workspace(Call *c, void *workspace, size_t size, TleiError *e) {
    if (size < c->workspace)
        return tlei_fail(e, TLE_STATUS_WORKSPACE_TOO_SMALL,
                         "workspace_size is %zu; %s needs %llu bytes for %lld rows", size,
                         c->op->variants[c->variant].name, (unsigned long long)c->workspace,
                         (long long)c->p.rows);
    if (!c->workspace)
        return TLE_STATUS_OK;
    if (!workspace || (uintptr_t)workspace % WORKSPACE_ALIGN)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "workspace is %p; it must be a non-null multiple of %d", workspace,
                         WORKSPACE_ALIGN);
    c->ranges[RANGE_workspace].address = workspace;
    c->ranges[RANGE_workspace].bytes = c->workspace;
    return TLE_STATUS_OK;
}

static int64_t flags_of(const tle_topk_select_params *p) {
    return (p->lengths ? FLAG_LENGTHS : 0) | (p->row_starts ? FLAG_ROW_STARTS : 0) |
           (p->indices ? FLAG_INDICES : 0) | (p->values ? FLAG_VALUES : 0) |
           (p->raw_indices ? FLAG_RAW_INDICES : 0) | (p->sorted ? FLAG_SORTED : 0) |
           (p->index_base ? FLAG_ABSOLUTE : 0) | (p->page_table ? FLAG_PAGE_TABLE : 0) |
           (p->row_to_table ? FLAG_ROW_TO_TABLE : 0) | (p->offsets ? FLAG_OFFSETS : 0);
}

static void bind(const Call *c, int64_t v[ARG_COUNT]) {
    const tle_topk_select_params *p = &c->p;
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
    v[ARG_workspace] = (int64_t)(uintptr_t)c->ranges[RANGE_workspace].address;
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

static tle_status select_rows(tle_handle h, const tle_topk_select_params *params, void *workspace,
                              size_t size, tle_stream stream, TleiError *e) {
    Call c;
    int64_t values[ARG_COUNT];
    tle_status status = prepare(h, params, true, &c, e);
    if (!status)
        status = check_workspace(&c, workspace, size, e);
    if (status || !c.p.rows)
        return status;
    if (tlei_log_on(&h->log, TLE_LOG_DISPATCH))
        log_choice(h, &c.p, c.facts, c.op->variants[c.variant].name);
    bind(&c, values);
    TleiCall call = {values, (uint64_t)c.p.rows, stream, c.ranges, RANGE_COUNT};
    status = tlei_run(h, c.op, c.variant, &call, e);
    /* The device turned out not to run this kernel, which is refused from now on: choose again. */
    return status == TLE_STATUS_NO_VARIANT ? select_rows(h, params, workspace, size, stream, e)
                                           : status;
}

/* ---- the public functions ---- */

tle_status tle_topk_select(tle_handle h, const tle_topk_select_params *params, void *workspace,
                           size_t workspace_size, tle_stream stream) {
    TleiError *e = tlei_thread_error();
    tle_status status = select_rows(h, params, workspace, workspace_size, stream, e);
    return tlei_finish(h, "topk_select", status, e);
}

tle_status tle_topk_select_workspace_size(tle_handle h, const tle_topk_select_params *params,
                                          size_t *size) {
    TleiError *e = tlei_thread_error();
    Call c;
    tle_status status = prepare(h, params, false, &c, e);
    if (!status && !size)
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "size is NULL");
    if (!status)
        *size = (size_t)c.workspace;
    return status;
}

tle_status tle_topk_select_supported(tle_handle h, const tle_topk_select_params *params,
                                     char *reason, size_t reason_size) {
    Call c;
    TleiError e = {TLE_STATUS_OK, 0, ""};
    TleiText out;
    tle_status status = prepare(h, params, true, &c, &e);
    if (!status && c.p.rows && c.op->variants[c.variant].problem)
        status = tlei_fail(&e, TLE_STATUS_INTERNAL, "%s: %s", c.op->variants[c.variant].name,
                           c.op->variants[c.variant].problem);
    tlei_text_init(&out, reason, reason_size);
    tlei_text_add(&out, "%s", status ? e.text : "");
    return status;
}

tle_status tle_topk_select_explain(tle_handle h, const tle_topk_select_params *params, char *text,
                                   size_t text_size, size_t *needed) {
    TleiError *e = tlei_thread_error();
    TleiError refused = {TLE_STATUS_OK, 0, ""};
    TleiText out;
    Call c;
    tle_status status = tlei_check_handle(h, e);
    if (status)
        return status;
    tlei_text_init(&out, text, text_size);
    status = prepare(h, params, false, &c, &refused);
    /* These two come from the tables, which explain themselves; the rest from the arguments. */
    if (status && status != TLE_STATUS_NO_VARIANT && !h->ops[TLEI_OP_topk_select].absent)
        tlei_text_add(&out, "refused: %s\n", refused.text);
    else
        tlei_explain(&h->ops[TLEI_OP_topk_select], c.facts, &out);
    if (needed)
        *needed = out.len + 1;
    return TLE_STATUS_OK;
}

tle_status tle_topk_select_variants(tle_handle h, tle_variant_fn fn, void *user) {
    return tle_variants(h, tlei_op_topk_select.name, fn, user);
}
