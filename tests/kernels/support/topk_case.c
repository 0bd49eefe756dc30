#include "kernels/support/topk_case.h"

#include "cli/reference_topk.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = ARENA_GUARD * 0x01010101 }; /* what every output holds before the call */

void describe_topk_case(const void *of, char *text, size_t size) {
    const TopkCase *c = of;
    snprintf(
        text, size,
        "%s rows %lld columns %lld k %lld stride %lld index_stride %lld misalign %lld values %s "
        "length %d start %d seed %llu sorted %d absolute %d with_values %d with_raw %d "
        "offsets %d no_indices %d next_n %lld page_size %lld mapped %d dependent %d",
        element_name(c->type), (long long)c->rows, (long long)c->columns, (long long)c->k,
        (long long)c->row_stride, (long long)c->index_stride, (long long)c->misalign,
        value_kind_name(c->values), c->lengths ? c->length : -999, c->row_starts ? c->start : -999,
        (unsigned long long)c->seed, c->sorted, c->absolute, c->with_values, c->with_raw,
        c->offsets, c->no_indices, (long long)c->next_n, (long long)c->page_size, c->mapped,
        c->dependent);
}

ElementType topk_variant_type(const char *variant) {
    return strstr(variant, "__bf16__")  ? ELEMENT_BF16
           : strstr(variant, "__f16__") ? ELEMENT_FP16
                                        : ELEMENT_FP32;
}

bool topk_variant_takes(const char *variant, const TopkCase *c) {
    const char *vector = strstr(variant, "__v"), *k = strstr(variant, "__k");
    int64_t group = vector ? strtoll(vector + 3, NULL, 10) : 1,
            only = k ? strtoll(k + 3, NULL, 10) : 0;
    if (c->columns % group || c->row_stride % group || c->misalign % group)
        return false;
    if (only && c->k != only)
        return false;
    if (strstr(variant, "tile8k"))
        return c->columns <= 8192;
    const char *mark = strstr(variant, "__mark"), *width = mark ? strchr(mark + 2, '_') : NULL;
    if (width && strtoll(width + 1, NULL, 10))
        return c->k <= 2048 && c->columns <= 1024 * strtoll(width + 1, NULL, 10);
    if (strstr(variant, "short") || strstr(variant, "tile4k"))
        return c->columns <= 4096 && (c->k <= 4096 || !strstr(variant, "__form__"));
    if (strstr(variant, "streamsmall"))
        return c->k <= 1024;
    return c->k <= 2048 || (!strstr(variant, "stream") && !strstr(variant, "__trt") &&
                            !strstr(variant, "__long") && !strstr(variant, "__mark"));
}

/* The outputs come first. */
enum {
    INDICES,
    VALUES,
    RAW,
    OUTPUTS,
    SCORES = OUTPUTS,
    LENGTHS,
    STARTS,
    OFFSETS,
    PAGES,
    ROW_TO_TABLE,
    BUFFERS
};

typedef struct Run {
    tle_handle h;
    Arena *arena; /* NULL: every buffer is allocated */
    TopkCase c;
    CaseBuffer buffers[BUFFERS], workspace;
    int32_t *expected[OUTPUTS];
    int64_t tables, pages;
} Run;

/* Outputs have different strides, so that none can stand in for another's. */
static int64_t stride_of(const Run *r, int output) {
    return r->c.index_stride + output;
}

static bool present(const TopkCase *c, int buffer) {
    const bool given[BUFFERS] = {!c->no_indices, c->with_values, c->with_raw,  true,     c->lengths,
                                 c->row_starts,  c->offsets,     c->page_size, c->mapped};
    return given[buffer];
}

static void *device_of(const Run *r, int buffer) {
    return present(&r->c, buffer) ? r->buffers[buffer].device : NULL;
}

static const int32_t *host_of(const Run *r, int buffer) {
    return present(&r->c, buffer) ? (const int32_t *)(const void *)r->buffers[buffer].host : NULL;
}

static size_t bytes_of(const Run *r, int buffer) {
    return buffer == SCORES || buffer == VALUES ? element_bytes(r->c.type) : 4;
}

static bool make_buffer(Run *r, int buffer, int64_t elements) {
    return buffer_open(&r->buffers[buffer], r->h, r->arena, (size_t)elements * bytes_of(r, buffer));
}

static int32_t *numbers_of(const Run *r, int buffer) {
    return (int32_t *)(void *)r->buffers[buffer].host;
}

static bool make_buffers(Run *r) {
    const TopkCase *c = &r->c;
    int64_t last = c->rows - 1;
    bool ok = make_buffer(r, SCORES, c->misalign + last * c->row_stride + c->columns) &&
              make_buffer(r, PAGES, (r->tables - 1) * (r->pages + 1) + r->pages);
    for (int i = 0; i < OUTPUTS && ok; i++)
        ok = make_buffer(r, i, last * stride_of(r, i) + c->k) &&
             (r->expected[i] = calloc((size_t)(c->rows * stride_of(r, i)), 4)) != NULL;
    static const int per_row[] = {LENGTHS, STARTS, OFFSETS, ROW_TO_TABLE};
    for (size_t i = 0; i < sizeof per_row / sizeof *per_row && ok; i++)
        ok = make_buffer(r, per_row[i], c->rows);
    return ok;
}

static void fill_facts(int32_t *out, int64_t rows, int32_t fixed, int64_t columns, Random *rng) {
    for (int64_t i = 0; i < rows; i++)
        out[i] =
            fixed != TOPK_RAGGED ? fixed : (int32_t)random_below(rng, (uint64_t)columns + 7) - 3;
}

/* Numbers of pages and offsets of both signs; -1 and the first number that is no table among those
 * of tables. */
static void fill_forms(Run *r, Random *rng) {
    int32_t *offsets = numbers_of(r, OFFSETS), *pages = numbers_of(r, PAGES),
            *tables = numbers_of(r, ROW_TO_TABLE);
    for (int64_t i = 0; i < r->c.rows; i++) {
        offsets[i] = (int32_t)random_bits(rng) >> 8;
        tables[i] = (int32_t)random_below(rng, (uint64_t)r->tables + 2) - 1;
    }
    for (size_t i = 0; i < r->buffers[PAGES].bytes / 4; i++)
        pages[i] = (int32_t)random_below(rng, 100000) - 5;
}

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

/* Whatever lies outside of a row's range would be selected before everything in it. */
static void fill_outside(Run *r, int64_t row, Random *rng) {
    const TopkCase *c = &r->c;
    const int32_t *lengths = host_of(r, LENGTHS), *starts = host_of(r, STARTS);
    int64_t each = c->next_n ? c->next_n : 1;
    int64_t given = lengths ? lengths[row / each] - each + row % each + 1 : c->columns;
    int64_t start = clamp(starts ? starts[row] : 0, 0, c->columns);
    int64_t end = start + clamp(given, 0, c->columns - start);
    int64_t limit = row == c->rows - 1 ? c->columns : c->row_stride;
    char *scores =
        r->buffers[SCORES].host + (size_t)(c->misalign + row * c->row_stride) * bytes_of(r, SCORES);
    fill_elements(c->type, scores, start, VALUES_NAN_ALL, rng);
    fill_elements(c->type, scores + (size_t)end * bytes_of(r, SCORES), limit - end, VALUES_NAN_ALL,
                  rng);
}

static bool make_inputs(void *run) {
    Run *r = run;
    const TopkCase *c = &r->c;
    Random rng = {c->seed};
    if (!make_buffers(r))
        return false;
    char *scores = r->buffers[SCORES].host;
    for (int64_t i = 0; i < c->rows; i++)
        fill_elements(c->type,
                      scores + (size_t)(c->misalign + i * c->row_stride) * bytes_of(r, SCORES),
                      c->columns, c->values, &rng);
    fill_facts(numbers_of(r, LENGTHS), c->rows, c->length, c->columns, &rng);
    fill_facts(numbers_of(r, STARTS), c->rows, c->start, c->columns, &rng);
    fill_forms(r, &rng);
    for (int64_t i = 0; i < c->rows && c->row_stride >= c->columns; i++)
        fill_outside(r, i, &rng);
    for (int i = 0; i < OUTPUTS; i++)
        memset(r->buffers[i].host, ARENA_GUARD, r->buffers[i].bytes);
    return true;
}

static bool expect(void *run) {
    Run *r = run;
    const TopkCase *c = &r->c;
    ReferenceTopk ref = {
        .type = c->type,
        .scores = r->buffers[SCORES].host + (size_t)c->misalign * bytes_of(r, SCORES),
        .rows = c->rows,
        .columns = c->columns,
        .row_stride = c->row_stride,
        .k = c->k,
        .lengths = host_of(r, LENGTHS),
        .row_starts = host_of(r, STARTS),
        .indices = r->expected[INDICES],
        .index_row_stride = stride_of(r, INDICES),
        .sorted = c->sorted,
        .absolute = c->absolute,
        .next_n = c->next_n,
        .values = r->expected[VALUES],
        .value_row_stride = stride_of(r, VALUES),
        .raw_indices = r->expected[RAW],
        .raw_index_row_stride = stride_of(r, RAW),
        .offsets = host_of(r, OFFSETS),
        .page_table = host_of(r, PAGES),
        .row_to_table = host_of(r, ROW_TO_TABLE),
        .page_table_stride = r->pages + 1,
        .page_tables = r->tables,
        .page_size = c->page_size,
    };
    return reference_topk(&ref);
}

static tle_topk_select_params params_of(const Run *r) {
    const TopkCase *c = &r->c;
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.flags = c->dependent ? TLE_LAUNCH_DEPENDENT : 0;
    p.dtype = element_dtype(c->type);
    p.rows = c->rows;
    p.columns = c->columns;
    p.k = c->k;
    p.scores = (const char *)device_of(r, SCORES) + (size_t)c->misalign * bytes_of(r, SCORES);
    p.row_stride = c->row_stride;
    p.lengths = device_of(r, LENGTHS);
    p.row_starts = device_of(r, STARTS);
    p.indices = device_of(r, INDICES);
    p.index_row_stride = stride_of(r, INDICES);
    p.sorted = c->sorted;
    p.index_base = c->absolute ? TLE_INDEX_ABSOLUTE : TLE_INDEX_RELATIVE;
    p.next_n = c->next_n;
    p.values = device_of(r, VALUES);
    p.value_row_stride = stride_of(r, VALUES);
    p.raw_indices = device_of(r, RAW);
    p.raw_index_row_stride = stride_of(r, RAW);
    p.offsets = device_of(r, OFFSETS);
    p.page_table = device_of(r, PAGES);
    p.page_table_stride = r->pages + 1;
    p.page_tables = r->tables;
    p.page_size = c->page_size;
    p.row_to_table = device_of(r, ROW_TO_TABLE);
    return p;
}

static tle_status reserve(void *run) {
    Run *r = run;
    tle_topk_select_params p = params_of(r);
    size_t size = 0;
    tle_status status = tle_topk_select_workspace_size(r->h, &p, &size);
    return status                                                      ? status
           : !size || buffer_open(&r->workspace, r->h, r->arena, size) ? TLE_STATUS_OK
                                                                       : TLE_STATUS_OUT_OF_MEMORY;
}

static tle_status enqueue(const void *run, tle_stream stream) {
    const Run *r = run;
    tle_topk_select_params p = params_of(r);
    return tle_topk_select(r->h, &p, r->workspace.device, r->workspace.bytes, stream);
}

static bool compare(Run *r, int output, char *why, size_t size) {
    static const char *const names[OUTPUTS] = {"index", "value", "raw index"};
    size_t bytes = bytes_of(r, output);
    bool written = present(&r->c, output);
    for (int64_t i = 0; i < (int64_t)(r->buffers[output].bytes / bytes); i++) {
        int64_t row = i / stride_of(r, output), j = i % stride_of(r, output);
        int32_t guard = GUARD, got = 0, want = 0;
        memcpy(&got, r->buffers[output].got + (size_t)i * bytes, bytes);
        memcpy(&want,
               j < r->c.k && written ? (const char *)r->expected[output] + (size_t)i * bytes
                                     : (const char *)&guard,
               bytes);
        if (got != want) {
            snprintf(why, size, "row %lld place %lld: %s is %d (0x%x), expected %d (0x%x)",
                     (long long)row, (long long)j, names[output], got, (unsigned)got, want,
                     (unsigned)want);
            return false;
        }
    }
    return true;
}

static bool same(void *run, char *why, size_t size) {
    bool ok = true;
    for (int i = 0; i < OUTPUTS && ok; i++)
        ok = compare(run, i, why, size);
    return ok;
}

static void open_run(void *run, tle_handle h, Arena *arena, const void *of) {
    Run *r = run;
    const TopkCase *c = of;
    int64_t next_n = c->next_n ? c->next_n : 1;
    *r = (Run){.h = h, .arena = arena, .c = *c, .pages = 1};
    if (!r->c.row_stride)
        r->c.row_stride = c->columns;
    if (!r->c.index_stride)
        r->c.index_stride = c->k;
    r->tables = (c->rows + next_n - 1) / next_n;
    if (c->page_size)
        r->pages = (c->columns + c->page_size - 1) / c->page_size;
}

static CaseBuffer *buffer_of(void *run, int i) {
    Run *r = run;
    return i < BUFFERS ? &r->buffers[i] : i == BUFFERS ? &r->workspace : NULL;
}

static void close_run(void *run) {
    Run *r = run;
    for (int i = 0; i <= BUFFERS; i++)
        buffer_close(buffer_of(r, i), r->h, r->arena);
    for (int i = 0; i < OUTPUTS; i++)
        free(r->expected[i]);
}

const CaseKind topk_cases = {
    .case_bytes = sizeof(TopkCase),
    .run_bytes = sizeof(Run),
    .outputs = OUTPUTS,
    .open = open_run,
    .make = make_inputs,
    .reserve = reserve,
    .expect = expect,
    .enqueue = enqueue,
    .same = same,
    .buffer = buffer_of,
    .close = close_run,
    .describe = describe_topk_case,
};

bool run_topk_case(tle_handle h, const TopkCase *c, char *why, size_t why_size) {
    return run_case(&topk_cases, h, c, c->stream, why, why_size);
}
