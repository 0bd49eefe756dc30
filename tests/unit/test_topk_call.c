/* tle_topk_select's arguments: every refusal with its sentence, and what reaches the device. */
#include "core/handle.h"
#include "lib_fixture.h"

#define CLUSTER "topk_select__f32__cluster16__v1__w4"
#define FORM    "topk_select__f32__form__v1__w4"
#define GRID    "topk_select__f32__grid__v1__w4"
#define PLAIN   "topk_select__f32__plain__v1__w4"
#define WORK    "topk_select__f32__work__v1__w4"
#define ALIEN   "topk_select__f32__alien__v1__w4"

/* What the FORM variant takes. */
/* clang-format off */
#define FORM_PARAMS \
    PARAM("next_n", "i32") "," \
    PARAM("values", "*fp32") "," \
    PARAM("value_stride", "i64") "," \
    PARAM("raw_indices", "*i32") "," \
    PARAM("raw_stride", "i64") "," \
    PARAM("offsets", "*i32") "," \
    PARAM("page_table", "*i32") "," \
    PARAM("table_stride", "i64") "," \
    PARAM("page_tables", "i32") "," \
    PARAM("page_shift", "i32") "," \
    PARAM("row_to_table", "*i32") "," \
    PARAM("flags", "i32")
/* clang-format on */

static const FakeVariant variants[] = {
    {ALIEN,
     FAKE_META(ALIEN, PARAM("scores", "*fp32") "," PARAM("moon", "i32"), "{\"k\": [78, 78]}", ""),
     "ALIEN", NULL, NULL},
    {CLUSTER, FAKE_CLUSTER(CLUSTER, "16", ALL_PARAMS, "{\"k\": [76, 76]}", ""), "CLUSTER", NULL,
     NULL},
    {FORM, FAKE_META(FORM, FORM_PARAMS, "{\"form\": [1, 1], \"k\": [75, 75]}", ""), "FORM", NULL,
     NULL},
    {GRID,
     FAKE_META(GRID, PARAM("k", "i32") "," PARAM("grid_barrier", "*i32"), "{\"k\": [79, 79]}",
               ", \"workspace\": {\"per_call\": 32, \"per_row\": 0, \"zeroed\": 16}"),
     "GRID", NULL, NULL},
    {PLAIN, FAKE_META(PLAIN, ALL_PARAMS, "{\"k\": [1, 76]}", ""), "PLAIN", NULL, NULL},
    {WORK,
     FAKE_META(WORK, PARAM("workspace", "*i32") "," PARAM("rows", "i32"), "{\"k\": [77, 77]}",
               ", \"workspace\": {\"per_call\": 64, \"per_row\": 8}"),
     "WORK", NULL, NULL},
};

static FakeFiles files;
static tle_handle h;
/* Real memory, so that addresses are honest. */
static float scores[4096];
static int32_t lengths[64], starts[64], indices[8192];

static int setup(void **state) {
    (void)state;
    TleiError e;
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    o.device_kind = TLE_DEVICE_CUDA;
    files_init(&files);
    files_add(&files, "topk_select.sm_90a.tlepack",
              one_pack("sm_90a", variants, sizeof variants / sizeof *variants));
    return tlei_create(&h, &o, &files.sources, &e) ? -1 : 0;
}

static int teardown(void **state) {
    (void)state;
    tle_destroy(h);
    files_free(&files);
    return 0;
}

static tle_topk_select_params good(void) {
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = 3;
    p.columns = 100;
    p.row_stride = 101;
    p.k = 9;
    p.scores = scores;
    p.lengths = lengths;
    p.row_starts = starts;
    p.indices = indices;
    p.index_row_stride = 10;
    return p;
}

static void refused(const tle_topk_select_params *p, tle_status status, const char *part) {
    char reason[1024];
    tle_status got = tle_topk_select(h, p, NULL, 0, NULL);
    if (got != status)
        fail_msg("%s instead of %s: %s", tle_status_name(got), tle_status_name(status), part);
    if (!strstr(tle_last_error(), part))
        fail_msg("'%s' does not say '%s'", tle_last_error(), part);
    assert_int_equal(fake.launches, 0);
    assert_int_equal(tle_topk_select_supported(h, p, reason, sizeof reason), status);
    assert_string_equal(reason, tle_last_error());
}

#define REFUSED(change, status, part)                                                              \
    do {                                                                                           \
        tle_topk_select_params p = good();                                                         \
        change;                                                                                    \
        refused(&p, status, part);                                                                 \
    } while (0)

static void refuses_numbers(void **state) {
    (void)state;
    REFUSED(p.rows = -1, TLE_STATUS_INVALID_ARGUMENT, "rows is -1; the least is 0");
    REFUSED(p.rows = INT64_C(1) << 31, TLE_STATUS_UNSUPPORTED_SHAPE,
            "rows is 2147483648; the most is 2147483647");
    REFUSED(p.columns = -5, TLE_STATUS_INVALID_ARGUMENT, "columns is -5; the least is 0");
    REFUSED(p.columns = INT64_C(1) << 31, TLE_STATUS_UNSUPPORTED_SHAPE,
            "columns is 2147483648; the most is 2147483647");
    REFUSED(p.k = 0, TLE_STATUS_INVALID_ARGUMENT, "k is 0; the least is 1");
    REFUSED(p.k = -3, TLE_STATUS_INVALID_ARGUMENT, "k is -3; the least is 1");
    REFUSED(p.k = 8193, TLE_STATUS_UNSUPPORTED_SHAPE, "k is 8193; the most is 8192");
    REFUSED(p.row_stride = -1, TLE_STATUS_INVALID_ARGUMENT, "row_stride is -1; the least is 0");
    REFUSED(p.index_row_stride = 8, TLE_STATUS_INVALID_ARGUMENT,
            "index_row_stride is 8; the least is k, 9");
    REFUSED(p.index_row_stride = -1, TLE_STATUS_INVALID_ARGUMENT, "index_row_stride is -1");
    REFUSED(p.flags = 4, TLE_STATUS_INVALID_ARGUMENT,
            "flags is 0x4; only TLE_LAUNCH_DEPENDENT (0x1) is defined");
    REFUSED(p.row_stride = INT64_MAX / 2, TLE_STATUS_INVALID_ARGUMENT, "exceed the address space");
    REFUSED(p.index_row_stride = INT64_MAX, TLE_STATUS_INVALID_ARGUMENT,
            "index_row_stride is 9223372036854775807; 3 such rows exceed");
}

static void refuses_dtypes(void **state) {
    (void)state;
    REFUSED(p.dtype = TLE_DTYPE_FLOAT64, TLE_STATUS_UNSUPPORTED_DTYPE, "dtype is 0x240");
    REFUSED(p.dtype = TLE_DTYPE_UINT64, TLE_STATUS_UNSUPPORTED_DTYPE, "dtype is 0x140");
    REFUSED(p.dtype = TLE_DTYPE_INT64, TLE_STATUS_UNSUPPORTED_DTYPE,
            "scores are TLE_DTYPE_FLOAT32 (0x220), TLE_DTYPE_FLOAT16 (0x210) or "
            "TLE_DTYPE_BFLOAT16 (0x410)");
    REFUSED(p.dtype = 12345, TLE_STATUS_INVALID_ARGUMENT, "dtype is 0x3039, which is no tle_dtype");
}

static const void *shifted(const void *p, int bytes) {
    return (const char *)p + bytes;
}

static void refuses_pointers(void **state) {
    (void)state;
    REFUSED(p.scores = NULL, TLE_STATUS_INVALID_ARGUMENT, "scores is NULL");
    REFUSED(p.indices = NULL, TLE_STATUS_INVALID_ARGUMENT, "indices is NULL");
    REFUSED(p.scores = shifted(scores, 2), TLE_STATUS_INVALID_ARGUMENT,
            "it must be a multiple of 4, the size of its element");
    REFUSED(p.lengths = (const int32_t *)shifted(lengths, 1), TLE_STATUS_INVALID_ARGUMENT,
            "lengths is 0x");
    REFUSED(p.row_starts = (const int32_t *)shifted(starts, 3), TLE_STATUS_INVALID_ARGUMENT,
            "row_starts is 0x");
    REFUSED(p.indices = (int32_t *)(uintptr_t)shifted(indices, 2), TLE_STATUS_INVALID_ARGUMENT,
            "indices is 0x");
    REFUSED(p.scores = (const void *)(UINTPTR_MAX - 15), TLE_STATUS_INVALID_ARGUMENT,
            "past the end of the address space");
    REFUSED(p.indices = (int32_t *)scores + 50, TLE_STATUS_INVALID_ARGUMENT,
            "indices overlaps scores");
    REFUSED(p.indices = lengths, TLE_STATUS_INVALID_ARGUMENT, "indices overlaps lengths");
    REFUSED(p.row_starts = indices + 3, TLE_STATUS_INVALID_ARGUMENT, "indices overlaps row_starts");
}

static void refuses_structs(void **state) {
    (void)state;
    struct {
        tle_topk_select_params p;
        uint64_t future;
    } longer = {good(), 0};
    refused(NULL, TLE_STATUS_INVALID_ARGUMENT, "params is NULL");
    REFUSED(p.struct_size = 0, TLE_STATUS_INVALID_ARGUMENT, "params->struct_size is 0, less than");
    REFUSED(p.struct_size = (size_t)1 << 40, TLE_STATUS_INVALID_ARGUMENT,
            "more than any version's");
    longer.p.struct_size = sizeof longer;
    assert_int_equal(tle_topk_select(h, &longer.p, NULL, 0, NULL), TLE_STATUS_OK);
    longer.future = 1;
    fake.launches = 0;
    refused(&longer.p, TLE_STATUS_INVALID_ARGUMENT, "params sets a field at offset");
    tle_topk_select_params p = good();
    assert_int_equal(tle_topk_select(NULL, &p, NULL, 0, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_string_equal(tle_last_error(), "handle is NULL");
    assert_int_equal(tle_topk_select_workspace_size(h, &p, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_string_equal(tle_last_error(), "size is NULL");
    assert_int_equal(tle_topk_select_explain(NULL, &p, NULL, 0, NULL), TLE_STATUS_INVALID_ARGUMENT);
}

static const TleiRange *range_named(const char *name) {
    for (size_t i = 0; i < sizeof fake.ranges / sizeof *fake.ranges; i++)
        if (fake.ranges[i].name && !strcmp(fake.ranges[i].name, name))
            return &fake.ranges[i];
    fail_msg("the call has no range '%s'", name);
    return NULL;
}

static void asks_for_workspace(void **state) {
    (void)state;
    static _Alignas(16) char memory[128];
    tle_topk_select_params p = good();
    size_t size = 1;
    assert_int_equal(tle_topk_select_workspace_size(h, &p, &size), TLE_STATUS_OK);
    assert_int_equal(size, 0);
    p.k = p.index_row_stride = 77;
    assert_int_equal(tle_topk_select_workspace_size(h, &p, &size), TLE_STATUS_OK);
    assert_int_equal(size, 64 + 3 * 8);
    assert_int_equal(tle_topk_select(h, &p, memory, size - 1, NULL),
                     TLE_STATUS_WORKSPACE_TOO_SMALL);
    assert_non_null(
        strstr(tle_last_error(), "workspace_size is 87; " WORK " needs 88 bytes for 3"));
    assert_int_equal(tle_topk_select(h, &p, NULL, size, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_non_null(strstr(tle_last_error(), "workspace is (nil)"));
    p.indices = (int32_t *)(void *)memory;
    assert_int_equal(tle_topk_select(h, &p, memory, size, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_non_null(strstr(tle_last_error(), "indices overlaps workspace"));
    p.indices = indices;
    assert_int_equal(tle_topk_select(h, &p, memory + 4, size, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_topk_select(h, &p, (void *)(UINTPTR_MAX - 63), size, NULL),
                     TLE_STATUS_INVALID_ARGUMENT);
    assert_non_null(strstr(tle_last_error(), "its 88 bytes reach past the end"));
    fake.arg_count = 2;
    assert_int_equal(tle_topk_select(h, &p, memory, size, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.args[0], (uintptr_t)memory);
    assert_int_equal(fake.args[1], 3);
    assert_int_equal(range_named("workspace")->bytes, 88);
}

/* ---- forms ---- */

static float chosen[8192];
static int32_t raw[8192], offsets[64], pages[4096], tables[64];

/* A call that wants everything: 3 rows, two of them of one request. */
static tle_topk_select_params full(void) {
    tle_topk_select_params p = good();
    p.k = 75;
    p.index_row_stride = 80;
    p.sorted = 1;
    p.index_base = TLE_INDEX_ABSOLUTE;
    p.next_n = 2;
    p.values = chosen;
    p.value_row_stride = 81;
    p.raw_indices = raw;
    p.raw_index_row_stride = 82;
    p.page_table = pages;
    p.page_table_stride = 9;
    p.page_tables = 2;
    p.page_size = 16;
    return p;
}

#define FORM_REFUSED(change, part)                                                                 \
    do {                                                                                           \
        tle_topk_select_params p = full();                                                         \
        change;                                                                                    \
        refused(&p, TLE_STATUS_INVALID_ARGUMENT, part);                                            \
    } while (0)

static void refuses_forms(void **state) {
    (void)state;
    FORM_REFUSED(p.sorted = 2, "sorted is 2; it must be 0 or 1");
    FORM_REFUSED(p.index_base = -1, "index_base is -1, which is no tle_index_base");
    FORM_REFUSED(p.next_n = -2, "next_n is -2; the least is 0");
    FORM_REFUSED(p.value_row_stride = 74, "value_row_stride is 74; the least is k, 75");
    FORM_REFUSED(p.raw_index_row_stride = 0, "raw_index_row_stride is 0; the least is k, 75");
    FORM_REFUSED(p.value_row_stride = INT64_MAX, "value_row_stride is 9223372036854775807; 3 such");
    FORM_REFUSED(p.raw_index_row_stride = INT64_MAX, "raw_index_row_stride is 9223372036854775807");
    FORM_REFUSED(p.page_table_stride = INT64_MAX, "page_table_stride is 9223372036854775807; 2");
    FORM_REFUSED((p.page_table = NULL, p.row_to_table = tables),
                 "row_to_table is given without page_table");
    FORM_REFUSED(p.offsets = offsets, "page_table and offsets are given; one of them may be");
    FORM_REFUSED(p.page_size = 0, "page_size is 0; it is a power of two from 1 to 1073741824");
    FORM_REFUSED(p.page_size = 48, "page_size is 48; it is a power of two");
    FORM_REFUSED(p.page_size = INT64_C(1) << 31, "page_size is 2147483648; it is a power of two");
    FORM_REFUSED(p.page_table_stride = -1, "page_table_stride is -1; the least is 0");
    FORM_REFUSED(p.page_tables = 1, "page_tables is 1; the least is 2");
    FORM_REFUSED((p.row_to_table = tables, p.page_tables = -1),
                 "page_tables is -1; the least is 0");
    FORM_REFUSED((p.indices = NULL, p.values = NULL), "indices is NULL");
    FORM_REFUSED(p.indices = NULL, "page_table is given, but indices, which it is for, is NULL");
    FORM_REFUSED((p.indices = NULL, p.page_table = NULL, p.offsets = offsets),
                 "offsets is given, but indices");
    REFUSED(p.next_n = INT64_C(1) << 31, TLE_STATUS_UNSUPPORTED_SHAPE, "next_n is 2147483648");
}

static void refuses_memory_of_forms(void **state) {
    (void)state;
    FORM_REFUSED(p.values = (float *)(uintptr_t)shifted(chosen, 2), "values is 0x");
    FORM_REFUSED(p.raw_indices = (int32_t *)(uintptr_t)shifted(raw, 1), "raw_indices is 0x");
    FORM_REFUSED(p.page_table = (const int32_t *)shifted(pages, 1), "page_table is 0x");
    FORM_REFUSED(p.row_to_table = (const int32_t *)shifted(tables, 3), "row_to_table is 0x");
    FORM_REFUSED((p.page_table = NULL, p.offsets = (const int32_t *)shifted(offsets, 3)),
                 "offsets is 0x");
    FORM_REFUSED(p.raw_indices = indices + 10, "indices overlaps raw_indices");
    FORM_REFUSED(p.values = scores, "values overlaps scores");
    FORM_REFUSED(p.page_table = raw, "raw_indices overlaps page_table");
    FORM_REFUSED(p.row_to_table = indices, "indices overlaps row_to_table");
}

/* The FORM variant lists these parameters. */
static void binds_forms(void **state) {
    (void)state;
    tle_topk_select_params p = full();
    const uint64_t expected[] = {2,
                                 (uintptr_t)chosen,
                                 81,
                                 (uintptr_t)raw,
                                 82,
                                 0,
                                 (uintptr_t)pages,
                                 9,
                                 2,
                                 4,
                                 (uintptr_t)tables,
                                 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256};
    p.row_to_table = tables;
    fake.arg_count = sizeof expected / sizeof *expected;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_string_equal(fake.launch.variant, FORM);
    for (size_t i = 0; i < fake.arg_count; i++)
        assert_int_equal(fake.args[i], expected[i]);
    assert_int_equal(range_named("lengths")->bytes, 2 * 4);
    assert_int_equal(range_named("values")->bytes, (2 * 81 + 75) * 4);
    assert_true(range_named("values")->writable);
    assert_int_equal(range_named("raw_indices")->bytes, (2 * 82 + 75) * 4);
    assert_true(range_named("raw_indices")->writable);
    assert_int_equal(range_named("page_table")->bytes, (9 + 7) * 4);
    assert_int_equal(range_named("row_to_table")->bytes, 3 * 4);
    assert_false(range_named("row_to_table")->writable);
    p.page_table = p.row_to_table = NULL;
    p.offsets = offsets;
    p.sorted = p.index_base = 0;
    p.next_n = 0;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.args[0], 1);
    assert_int_equal(fake.args[5], (uintptr_t)offsets);
    assert_int_equal(fake.args[11], 1 | 2 | 4 | 8 | 16 | 512);
    assert_int_equal(range_named("lengths")->bytes, 3 * 4);
}

/* Rules see whether a call has a form; values alone need no indices. */
static void forms_are_facts(void **state) {
    (void)state;
    tle_topk_select_params p = good();
    char text[4096];
    p.k = p.index_row_stride = 75;
    fake.arg_count = ALL_PARAM_COUNT;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_string_equal(fake.launch.variant, PLAIN);
    p.values = chosen;
    p.value_row_stride = 75;
    p.indices = NULL;
    p.index_row_stride = 0;
    fake.arg_count = 12;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_string_equal(fake.launch.variant, FORM);
    assert_int_equal(fake.args[11], 1 | 2 | 8);
    assert_int_equal(tle_topk_select_explain(h, &p, text, sizeof text, NULL), TLE_STATUS_OK);
    assert_non_null(strstr(text, " form=1 sorted=0 "));
}

/* A caller that was built before there were forms. */
static void older_structs(void **state) {
    (void)state;
    tle_topk_select_params p = full();
    p.struct_size = offsetof(tle_topk_select_params, sorted);
    fake.arg_count = ALL_PARAM_COUNT;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_string_equal(fake.launch.variant, PLAIN);
    p.struct_size--;
    fake.launches = 0;
    refused(&p, TLE_STATUS_INVALID_ARGUMENT, "params->struct_size is 87, less than the 88");
}

static void words_of_grid_barriers_are_zeroed(void **state) {
    (void)state;
    static _Alignas(16) char memory[32];
    tle_topk_select_params p = good();
    p.k = p.index_row_stride = 79;
    fake.arg_count = 2;
    assert_int_equal(tle_topk_select(h, &p, memory, sizeof memory, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.args[1], (uintptr_t)memory);
    assert_ptr_equal(fake.launch.zeroed, memory);
    assert_int_equal(fake.launch.zeroed_bytes, 16);
}

/* A device that cannot run the cluster gets the next legal kernel, from the first call on. */
static void clusters_that_do_not_fit_fall_back(void **state) {
    (void)state;
    tle_topk_select_params p = good();
    char text[4096];
    p.k = p.index_row_stride = 76;
    fake.largest_cluster = 8;
    fake.arg_count = ALL_PARAM_COUNT;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
        assert_string_equal(fake.launch.variant, PLAIN);
        assert_int_equal(fake.launch.grid[0], 3);
    }
    assert_int_equal(tle_topk_select_explain(h, &p, text, sizeof text, NULL), TLE_STATUS_OK);
    assert_non_null(strstr(text, CLUSTER ": the device cannot run a cluster of 16 CTAs of it"));
    assert_int_equal(tle_preload(h, NULL), TLE_STATUS_OK);
    fake.largest_cluster = 0;
}

static void clusters_multiply_the_grid(void **state) {
    (void)state;
    tle_topk_select_params p = good();
    p.k = p.index_row_stride = 76;
    fake.arg_count = ALL_PARAM_COUNT;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_string_equal(fake.launch.variant, CLUSTER);
    assert_int_equal(fake.launch.grid[0], 48);
    assert_int_equal(fake.launch.cluster[0], 16);
    assert_int_equal(fake.launch.zeroed_bytes, 0);
}

static void unknown_parameters_are_internal(void **state) {
    (void)state;
    REFUSED((p.k = 78, p.index_row_stride = 78), TLE_STATUS_INTERNAL,
            ALIEN ": kernel parameter 'moon' of type i32 is none that the operator passes");
}

/* Parameters are bound by name, in the order that the metadata gives. */
static void binds_by_name(void **state) {
    (void)state;
    tle_topk_select_params p = good();
    fake.arg_count = ALL_PARAM_COUNT;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, (tle_stream)0x5000), TLE_STATUS_OK);
    const uint64_t expected[ALL_PARAM_COUNT] = {
        9,   (uintptr_t)scores, (uintptr_t)indices, (uintptr_t)lengths, (uintptr_t)starts, 101, 10,
        100, 1 | 2 | 4};
    for (int i = 0; i < ALL_PARAM_COUNT; i++)
        assert_int_equal(fake.args[i], expected[i]);
    assert_int_equal(fake.launch.grid[0], 3);
    assert_int_equal(fake.launch.grid[1] * fake.launch.grid[2], 1);
    assert_int_equal(fake.launch.threads, 128);
    assert_int_equal(fake.launch.shared_bytes, 49152);
    assert_ptr_equal(fake.launch.stream, (void *)0x5000);
    assert_int_equal(fake.ranges[0].bytes, (2 * 101 + 100) * 4);
    assert_false(fake.ranges[0].writable);
    assert_int_equal(fake.ranges[1].bytes, (2 * 10 + 9) * 4);
    assert_true(fake.ranges[1].writable);
    assert_int_equal(fake.ranges[2].bytes, 12);
    p.lengths = NULL;
    p.row_starts = NULL;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.args[3], 0);
    assert_int_equal(fake.args[8], 4);
    assert_int_equal(fake.ranges[2].bytes, 0);
}

static void large_offsets_survive(void **state) {
    (void)state;
    tle_topk_select_params p = good();
    p.rows = 3000000;
    p.row_stride = INT64_C(5000000011);
    p.scores = (const void *)0x10000;
    p.indices = (int32_t *)(UINT64_C(1) << 62);
    p.lengths = p.row_starts = NULL;
    fake.arg_count = ALL_PARAM_COUNT;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.args[5], INT64_C(5000000011));
    assert_int_equal(fake.launch.grid[0], 3000000);
}

static void empty_calls(void **state) {
    (void)state;
    tle_topk_select_params p = good();
    p.rows = 0;
    p.scores = NULL;
    p.indices = NULL;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.launches, 0);
    assert_int_equal(tle_topk_select_supported(h, &p, NULL, 0), TLE_STATUS_OK);
    p = good();
    p.columns = 0;
    p.scores = NULL;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.launches, 1);
    p = good();
    p.row_stride = 0;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
}

static void questions_leave_the_last_error(void **state) {
    (void)state;
    tle_topk_select_params p = good();
    char small[6];
    p.k = 0;
    tle_topk_select(h, &p, NULL, 0, NULL);
    p.rows = -1;
    assert_int_equal(tle_topk_select_supported(h, &p, small, sizeof small),
                     TLE_STATUS_INVALID_ARGUMENT);
    assert_string_equal(small, "rows ");
    assert_non_null(strstr(tle_last_error(), "k is 0"));
    assert_int_equal(tle_topk_select_supported(h, &p, NULL, 0), TLE_STATUS_INVALID_ARGUMENT);
    p = good();
    assert_int_equal(tle_topk_select_supported(h, &p, small, sizeof small), TLE_STATUS_OK);
    assert_string_equal(small, "");
}

static void device_errors_pass_through(void **state) {
    (void)state;
    tle_topk_select_params p = good();
    fake.fail_load = TLE_STATUS_DRIVER_TOO_OLD;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_DRIVER_TOO_OLD);
    assert_int_equal(tle_last_native_error(), 209);
    fake.fail_load = TLE_STATUS_OK;
    fake.fail_launch = TLE_STATUS_DRIVER_ERROR;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_DRIVER_ERROR);
    assert_int_equal(tle_last_native_error(), 719);
    fake.fail_launch = TLE_STATUS_OK;
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.loads, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(refuses_numbers),
        TEST(refuses_dtypes),
        TEST(refuses_pointers),
        TEST(refuses_structs),
        TEST(asks_for_workspace),
        TEST(refuses_forms),
        TEST(refuses_memory_of_forms),
        TEST(binds_forms),
        TEST(forms_are_facts),
        TEST(older_structs),
        TEST(words_of_grid_barriers_are_zeroed),
        TEST(clusters_that_do_not_fit_fall_back),
        TEST(clusters_multiply_the_grid),
        TEST(unknown_parameters_are_internal),
        TEST(binds_by_name),
        TEST(large_offsets_survive),
        TEST(empty_calls),
        TEST(questions_leave_the_last_error),
        TEST(device_errors_pass_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
