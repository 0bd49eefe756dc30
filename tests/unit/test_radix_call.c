/* tle_radix_select's arguments: every refusal with its sentence, and what reaches the device. */
#include "core/handle.h"
#include "lib_fixture.h"

#define OP     "radix_select"
#define PLAIN  OP "__f32__v1__w4"
#define SORTED OP "__f32__sorted__v1__w4"
#define WIDE   OP "__i64__v1__w4"
#define WORK   OP "__u32__v1__w4"
#define ALIEN  OP "__f16__v1__w4"

/* Every parameter, in the order of the kernels. */
/* clang-format off */
#define EVERY_PARAM \
    PARAM("keys", "*fp32") "," \
    PARAM("payload", "*i32") "," \
    PARAM("lengths", "*i32") "," \
    PARAM("indices", "*i32") "," \
    PARAM("values", "*fp32") "," \
    PARAM("payload_out", "*i32") "," \
    PARAM("key_stride", "i64") "," \
    PARAM("payload_stride", "i64") "," \
    PARAM("index_stride", "i64") "," \
    PARAM("value_stride", "i64") "," \
    PARAM("payload_out_stride", "i64") "," \
    PARAM("columns", "i32") "," \
    PARAM("k", "i32") "," \
    PARAM("flags", "i32")
/* clang-format on */

enum { EVERY_PARAM_COUNT = 14 };

#define META(name, params, legal, extra) FAKE_OF(OP, name, "1", params, legal, extra)

static const FakeVariant variants[] = {
    {ALIEN, META(ALIEN, PARAM("moon", "i32"), "{\"dtype\": \"fp16\"}", ""), "ALIEN", NULL, NULL},
    {SORTED,
     META(SORTED, EVERY_PARAM, "{\"dtype\": \"fp32\", \"sorted\": [1, 1], \"k\": [1, 8192]}", ""),
     "SORTED", NULL, NULL},
    {PLAIN, META(PLAIN, EVERY_PARAM, "{\"dtype\": \"fp32\", \"sorted\": [0, 0]}", ""), "PLAIN",
     NULL, NULL},
    {WIDE, META(WIDE, EVERY_PARAM, "{\"dtype\": \"i64\", \"align\": 16}", ""), "WIDE", NULL, NULL},
    {WORK,
     META(WORK, PARAM("workspace", "*i32") "," PARAM("rows", "i32"), "{\"dtype\": \"u32\"}",
          ", \"workspace\": {\"per_call\": 64, \"per_row\": 8}"),
     "WORK", NULL, NULL},
};

static FakeFiles files;
static tle_handle h;
/* Real memory, so that addresses are honest. */
static _Alignas(256) uint64_t keys[4096], payload[4096], values[4096], payload_out[4096];
static int32_t lengths[64], indices[8192];

static int setup(void **state) {
    (void)state;
    TleiError e;
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    o.device_kind = TLE_DEVICE_CUDA;
    files_init(&files);
    files_add(&files, OP ".sm_90a.tlepack",
              make_pack(OP, "sm_90a", variants, sizeof variants / sizeof *variants));
    return tlei_create(&h, &o, &files.sources, &e) ? -1 : 0;
}

static int teardown(void **state) {
    (void)state;
    tle_destroy(h);
    files_free(&files);
    return 0;
}

/* A call that asks for everything: 3 rows. */
static tle_radix_select_params good(void) {
    tle_radix_select_params p = TLE_RADIX_SELECT_PARAMS_INIT;
    p.rows = 3;
    p.columns = 100;
    p.k = 9;
    p.keys = keys;
    p.key_row_stride = 101;
    p.lengths = lengths;
    p.payload_bytes = 8;
    p.payload = payload;
    p.payload_row_stride = 102;
    p.indices = indices;
    p.index_row_stride = 10;
    p.values = values;
    p.value_row_stride = 11;
    p.payload_out = payload_out;
    p.payload_out_row_stride = 12;
    return p;
}

static void refused(const tle_radix_select_params *p, tle_status status, const char *part) {
    char reason[1024];
    tle_status got = tle_radix_select(h, p, NULL, 0, NULL);
    if (got != status)
        fail_msg("%s instead of %s: %s", tle_status_name(got), tle_status_name(status), part);
    if (!strstr(tle_last_error(), part))
        fail_msg("'%s' does not say '%s'", tle_last_error(), part);
    assert_int_equal(fake.launches, 0);
    assert_int_equal(tle_radix_select_supported(h, p, reason, sizeof reason), status);
    assert_string_equal(reason, tle_last_error());
}

#define REFUSED_AS(change, status, part)                                                           \
    do {                                                                                           \
        tle_radix_select_params p = good();                                                        \
        change;                                                                                    \
        refused(&p, status, part);                                                                 \
    } while (0)
#define REFUSED(change, part)   REFUSED_AS(change, TLE_STATUS_INVALID_ARGUMENT, part)
#define TOO_LARGE(change, part) REFUSED_AS(change, TLE_STATUS_UNSUPPORTED_SHAPE, part)

static void refuses_numbers(void **state) {
    (void)state;
    REFUSED(p.rows = -1, "rows is -1; the least is 0");
    TOO_LARGE(p.rows = INT64_C(1) << 31, "rows is 2147483648; the most is 2147483647");
    REFUSED(p.columns = -5, "columns is -5; the least is 0");
    TOO_LARGE(p.columns = INT64_C(1) << 31, "columns is 2147483648; the most is 2147483647");
    REFUSED(p.k = 0, "k is 0; the least is 1");
    REFUSED((p.k = -2, p.sorted = 1), "k is -2; the least is 1");
    TOO_LARGE(p.k = INT64_C(1) << 31, "k is 2147483648; the most is 2147483647");
    TOO_LARGE((p.k = TLE_RADIX_SELECT_MAX_SORTED_K + 1, p.sorted = 1),
              "k is 8193; the most with sorted is 8192");
    REFUSED(p.flags = 4, "flags is 0x4; only TLE_LAUNCH_DEPENDENT (0x1)");
    REFUSED(p.order = 2, "order is 2, which is no tle_select_order");
    REFUSED(p.order = -1, "order is -1, which is no tle_select_order");
    REFUSED(p.sorted = 2, "sorted is 2; it must be 0 or 1");
    REFUSED(p.payload_bytes = 2, "payload_bytes is 2; it is 0, 4 or 8");
    REFUSED(p.payload_bytes = 16, "payload_bytes is 16; it is 0, 4 or 8");
    REFUSED(p.payload_bytes = -4, "payload_bytes is -4; it is 0, 4 or 8");
}

static void refuses_strides(void **state) {
    (void)state;
    REFUSED(p.key_row_stride = -1, "key_row_stride is -1; the least is 0");
    REFUSED(p.payload_row_stride = -1, "payload_row_stride is -1; the least is 0");
    REFUSED(p.index_row_stride = 8, "index_row_stride is 8; the least is k, 9");
    REFUSED(p.value_row_stride = 0, "value_row_stride is 0; the least is k, 9");
    REFUSED(p.payload_out_row_stride = -3, "payload_out_row_stride is -3; the least is k, 9");
    REFUSED(p.key_row_stride = INT64_MAX / 2,
            "key_row_stride is 4611686018427387903; 3 such rows exceed the address space");
    REFUSED(p.payload_row_stride = INT64_MAX / 8, "payload_row_stride is 1152921504606846975; 3");
    REFUSED(p.index_row_stride = INT64_MAX, "index_row_stride is 9223372036854775807; 3 such");
    REFUSED(p.value_row_stride = INT64_MAX, "value_row_stride is 9223372036854775807; 3 such");
    REFUSED(p.payload_out_row_stride = INT64_MAX, "payload_out_row_stride is 9223372036854775807");
}

static void refuses_dtypes(void **state) {
    (void)state;
    REFUSED(p.dtype = 12345, "dtype is 0x3039, which is no tle_dtype");
    REFUSED(p.dtype = 0, "dtype is 0x0, which is no tle_dtype");
    REFUSED(p.dtype = TLE_DTYPE(2, 8), "dtype is 0x208, which is no tle_dtype");
}

static void *shifted(const void *p, int bytes) {
    return (void *)(uintptr_t)((const char *)p + bytes);
}

static void refuses_null(void **state) {
    (void)state;
    REFUSED(p.keys = NULL, "keys is NULL");
    REFUSED(p.payload = NULL, "payload is NULL");
    REFUSED(p.payload_out = NULL, "payload_out is NULL");
    REFUSED(p.payload_bytes = 0, "payload is given, but payload_bytes is 0");
    REFUSED((p.payload_bytes = 0, p.payload = NULL),
            "payload_out is given, but payload_bytes is 0");
    REFUSED((p.payload_bytes = 0, p.payload = NULL, p.payload_out = NULL, p.indices = NULL,
             p.values = NULL),
            "indices, values and payload_out are NULL; a call has an output");
}

static void refuses_misalignment(void **state) {
    (void)state;
    REFUSED(p.keys = shifted(keys, 2), "it must be a multiple of 4, the size of its element");
    REFUSED((p.dtype = TLE_DTYPE_INT64, p.keys = shifted(keys, 4)),
            "it must be a multiple of 8, the size of its element");
    REFUSED((p.dtype = TLE_DTYPE_BFLOAT16, p.keys = shifted(keys, 3)),
            "it must be a multiple of 2, the size of its element");
    REFUSED(p.lengths = shifted(lengths, 1), "lengths is 0x");
    REFUSED(p.payload = shifted(payload, 4), "payload is 0x");
    REFUSED((p.payload_bytes = 4, p.payload_out = shifted(payload_out, 2)),
            "it must be a multiple of 4, the size of its element");
    REFUSED(p.indices = shifted(indices, 2), "indices is 0x");
    REFUSED(p.values = shifted(values, 1), "values is 0x");
    REFUSED((p.dtype = TLE_DTYPE_UINT64, p.values = shifted(values, 4)), "values is 0x");
    REFUSED(p.keys = (const void *)(UINTPTR_MAX - 15), "past the end of the address space");
}

static void refuses_overlaps(void **state) {
    (void)state;
    REFUSED(p.indices = shifted(keys, 400), "indices overlaps keys");
    REFUSED(p.indices = lengths, "indices overlaps lengths");
    REFUSED(p.values = keys, "values overlaps keys");
    REFUSED(p.payload_out = shifted(payload, 8), "payload_out overlaps payload");
    REFUSED(p.payload_out = values, "values overlaps payload_out");
    REFUSED(p.values = indices, "indices overlaps values");
    REFUSED((p.payload_bytes = 4, p.payload = shifted(indices, 4)), "indices overlaps payload");
}

static void refuses_structs(void **state) {
    (void)state;
    struct {
        tle_radix_select_params p;
        uint64_t future;
    } longer = {good(), 0};
    refused(NULL, TLE_STATUS_INVALID_ARGUMENT, "params is NULL");
    REFUSED(p.struct_size = 0, "params->struct_size is 0, less than");
    REFUSED(p.struct_size -= 8, "less than the");
    REFUSED(p.struct_size = (size_t)1 << 40, "more than any version's");
    longer.p.struct_size = sizeof longer;
    assert_int_equal(tle_radix_select(h, &longer.p, NULL, 0, NULL), TLE_STATUS_OK);
    longer.future = 1;
    fake.launches = 0;
    refused(&longer.p, TLE_STATUS_INVALID_ARGUMENT, "params sets a field at offset");
    tle_radix_select_params p = good();
    assert_int_equal(tle_radix_select(NULL, &p, NULL, 0, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_string_equal(tle_last_error(), "handle is NULL");
    assert_int_equal(tle_radix_select_workspace_size(h, &p, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_string_equal(tle_last_error(), "size is NULL");
    assert_int_equal(tle_radix_select_explain(NULL, &p, NULL, 0, NULL),
                     TLE_STATUS_INVALID_ARGUMENT);
}

static void no_variant(void **state) {
    (void)state;
    REFUSED_AS((p.dtype = TLE_DTYPE_INT64, p.key_row_stride = 101), TLE_STATUS_NO_VARIANT,
               "align = 8 is not a multiple of 16");
    REFUSED_AS((p.dtype = TLE_DTYPE_FLOAT16), TLE_STATUS_INTERNAL,
               ALIEN ": kernel parameter 'moon' of type i32 is none that the operator passes");
}

static const TleiRange *range_named(const char *name) {
    for (size_t i = 0; i < sizeof fake.ranges / sizeof *fake.ranges; i++)
        if (fake.ranges[i].name && !strcmp(fake.ranges[i].name, name))
            return &fake.ranges[i];
    fail_msg("the call has no range '%s'", name);
    return NULL;
}

static void binds_everything(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    const uint64_t expected[EVERY_PARAM_COUNT] = {(uintptr_t)keys,
                                                  (uintptr_t)payload,
                                                  (uintptr_t)lengths,
                                                  (uintptr_t)indices,
                                                  (uintptr_t)values,
                                                  (uintptr_t)payload_out,
                                                  101,
                                                  102,
                                                  10,
                                                  11,
                                                  12,
                                                  100,
                                                  9,
                                                  1 | 4 | 8 | 16 | 32};
    fake.arg_count = EVERY_PARAM_COUNT;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, (tle_stream)0x5000), TLE_STATUS_OK);
    assert_string_equal(fake.launch.variant, PLAIN);
    for (int i = 0; i < EVERY_PARAM_COUNT; i++)
        assert_int_equal(fake.args[i], expected[i]);
    assert_int_equal(fake.launch.grid[0], 3);
    assert_ptr_equal(fake.launch.stream, (void *)0x5000);
    assert_int_equal(range_named("keys")->bytes, (2 * 101 + 100) * 4);
    assert_false(range_named("keys")->writable);
    assert_int_equal(range_named("payload")->bytes, (2 * 102 + 100) * 8);
    assert_false(range_named("payload")->writable);
    assert_int_equal(range_named("lengths")->bytes, 12);
    assert_int_equal(range_named("indices")->bytes, (2 * 10 + 9) * 4);
    assert_true(range_named("indices")->writable);
    assert_int_equal(range_named("values")->bytes, (2 * 11 + 9) * 4);
    assert_true(range_named("values")->writable);
    assert_int_equal(range_named("payload_out")->bytes, (2 * 12 + 9) * 8);
    assert_true(range_named("payload_out")->writable);
}

static void binds_least(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    p.flags = TLE_LAUNCH_DEPENDENT;
    p.lengths = NULL;
    p.payload_bytes = 0;
    p.payload = p.payload_out = NULL;
    p.indices = NULL;
    p.index_row_stride = 0;
    p.order = TLE_SELECT_SMALLEST;
    p.sorted = 1;
    fake.arg_count = EVERY_PARAM_COUNT;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_string_equal(fake.launch.variant, SORTED);
    for (int i = 1; i < 6; i++)
        assert_int_equal(fake.args[i], i == 4 ? (uintptr_t)values : 0);
    assert_int_equal(fake.args[13], 2 | 8);
    assert_int_equal(range_named("payload")->bytes, 0);
    assert_int_equal(range_named("payload_out")->bytes, 0);
    assert_int_equal(range_named("lengths")->bytes, 0);
}

/* Bytes follow from the types. */
static void wide_keys(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    p.dtype = TLE_DTYPE_INT64;
    p.key_row_stride = 104;
    p.payload_bytes = 4;
    fake.arg_count = EVERY_PARAM_COUNT;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_string_equal(fake.launch.variant, WIDE);
    assert_int_equal(fake.args[13], 1 | 4 | 8 | 16);
    assert_int_equal(range_named("keys")->bytes, (2 * 104 + 100) * 8);
    assert_int_equal(range_named("values")->bytes, (2 * 11 + 9) * 8);
    assert_int_equal(range_named("payload")->bytes, (2 * 102 + 100) * 4);
}

static void large_offsets_survive(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    p.rows = 3000000;
    p.key_row_stride = INT64_C(5000000011);
    p.keys = (const void *)0x10000;
    p.lengths = NULL;
    p.payload_bytes = 0;
    p.payload = p.payload_out = NULL;
    p.values = NULL;
    p.indices = (int32_t *)(UINT64_C(1) << 62);
    fake.arg_count = EVERY_PARAM_COUNT;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.args[6], INT64_C(5000000011));
    assert_int_equal(fake.launch.grid[0], 3000000);
}

/* Unsorted, k may be as large as a row can be. */
static void largest_k(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    p.k = p.index_row_stride = p.value_row_stride = p.payload_out_row_stride = INT32_MAX;
    p.rows = 1;
    p.payload_bytes = 0;
    p.payload = p.payload_out = p.values = NULL;
    p.indices = (int32_t *)(UINT64_C(1) << 62);
    fake.arg_count = EVERY_PARAM_COUNT;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.args[12], INT32_MAX);
}

static void empty_calls(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    p.rows = 0;
    p.keys = p.payload = NULL;
    p.payload_out = p.values = NULL;
    p.indices = NULL;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.launches, 0);
    assert_int_equal(tle_radix_select_supported(h, &p, NULL, 0), TLE_STATUS_OK);
    p = good();
    p.columns = 0;
    p.keys = p.payload = NULL;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.launches, 1);
}

/* Inputs may share memory, even keys and payload. */
static void inputs_may_overlap(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    p.payload = keys;
    p.key_row_stride = p.payload_row_stride = 0;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
}

static void asks_for_workspace(void **state) {
    (void)state;
    static _Alignas(16) char memory[128];
    tle_radix_select_params p = good();
    size_t size = 1;
    assert_int_equal(tle_radix_select_workspace_size(h, &p, &size), TLE_STATUS_OK);
    assert_int_equal(size, 0);
    p.dtype = TLE_DTYPE_UINT32;
    p.keys = p.payload = NULL;
    assert_int_equal(tle_radix_select_workspace_size(h, &p, &size), TLE_STATUS_OK);
    assert_int_equal(size, 64 + 3 * 8);
    p.keys = keys;
    p.payload = payload;
    assert_int_equal(tle_radix_select(h, &p, memory, size - 1, NULL),
                     TLE_STATUS_WORKSPACE_TOO_SMALL);
    assert_non_null(strstr(tle_last_error(), "workspace_size is 87; " WORK " needs 88 bytes"));
    assert_int_equal(tle_radix_select(h, &p, NULL, size, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_radix_select(h, &p, memory + 4, size, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_radix_select(h, &p, keys, size, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_non_null(strstr(tle_last_error(), "workspace overlaps keys"));
    fake.arg_count = 2;
    assert_int_equal(tle_radix_select(h, &p, memory, size, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.args[0], (uintptr_t)memory);
    assert_int_equal(fake.args[1], 3);
}

static void explains(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    char text[4096];
    size_t needed = 0;
    p.order = TLE_SELECT_SMALLEST;
    p.sorted = 1;
    assert_int_equal(tle_radix_select_explain(h, &p, text, sizeof text, &needed), TLE_STATUS_OK);
    assert_int_equal(needed, strlen(text) + 1);
    assert_non_null(strstr(text, OP " for sm_90a: rows=3 columns=100 k=9 align=4 dtype=fp32 "
                                    "lengths=1 smallest=1 sorted=1 payload_bytes=8 sm_count=132"));
    assert_non_null(strstr(text, "chosen: " SORTED "\n"));
    p.k = 0;
    assert_int_equal(tle_radix_select_explain(h, &p, text, sizeof text, NULL), TLE_STATUS_OK);
    assert_string_equal(text, "refused: k is 0; the least is 1\n");
}

static void keep_line(uint32_t flag, const char *line, void *user) {
    if (flag == TLE_LOG_DISPATCH)
        snprintf((char *)user, 512, "%s", line);
}

static void logs_a_replay(void **state) {
    (void)state;
    char line[512] = "";
    tle_radix_select_params p = good();
    fake.arg_count = EVERY_PARAM_COUNT;
    p.order = TLE_SELECT_SMALLEST;
    assert_int_equal(tle_set_log(h, TLE_LOG_DISPATCH, keep_line, line), TLE_STATUS_OK);
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_non_null(strstr(line, ",dispatch," PLAIN
                                 ",tle explain radix --dtype fp32 --rows 3 --columns 100 --k 9 "
                                 "--align 4 --payload-bytes 8 --lengths --smallest"));
}

static int see(const tle_variant_info *info, void *user) {
    assert_string_equal(info->op, OP);
    (*(int *)user)++;
    return 0;
}

static void lists_variants(void **state) {
    (void)state;
    int count = 0;
    assert_int_equal(tle_radix_select_variants(h, see, &count), TLE_STATUS_OK);
    assert_int_equal(count, sizeof variants / sizeof *variants);
}

static void device_errors_pass_through(void **state) {
    (void)state;
    tle_radix_select_params p = good();
    fake.fail_launch = TLE_STATUS_DRIVER_ERROR;
    assert_int_equal(tle_radix_select(h, &p, NULL, 0, NULL), TLE_STATUS_DRIVER_ERROR);
    assert_int_equal(tle_last_native_error(), 719);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(refuses_numbers),
        TEST(refuses_strides),
        TEST(refuses_dtypes),
        TEST(refuses_null),
        TEST(refuses_misalignment),
        TEST(refuses_overlaps),
        TEST(refuses_structs),
        TEST(no_variant),
        TEST(binds_everything),
        TEST(binds_least),
        TEST(wide_keys),
        TEST(large_offsets_survive),
        TEST(largest_k),
        TEST(empty_calls),
        TEST(inputs_may_overlap),
        TEST(asks_for_workspace),
        TEST(explains),
        TEST(logs_a_replay),
        TEST(lists_variants),
        TEST(device_errors_pass_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
