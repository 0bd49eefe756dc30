/* Handles: options, environment, missing kernels, loading, variants and their parts, the log. */
#include "core/handle.h"
#include "lib_fixture.h"

#include <pthread.h>
#include <unistd.h>

#define ONE "topk_select__f32__one__v1__w4"
#define TWO "topk_select__f32__two__v1__w4"

#define META(name) FAKE_META(name, ALL_PARAMS, "{}", ", \"registers\": 40, \"spill_bytes\": 0")

static const FakeVariant cubins[] = {
    {ONE, META(ONE), "CUBIN-ONE", NULL, "tir one"},
    {TWO, FAKE_META(TWO, ALL_PARAMS, "{}", ""), "CUBIN-TWO", NULL, NULL},
};
static const FakeVariant texts[] = {
    {ONE, META(ONE), NULL, "PTX-ONE", NULL},
    {TWO, FAKE_META(TWO, ALL_PARAMS, "{}", ""), NULL, "PTX-TWO", NULL},
};

static FakeFiles files;
static TleiError e;

static int setup(void **state) {
    (void)state;
    files_init(&files);
    files_add(&files, "topk_select.sm_90a.tlepack", one_pack("sm_90a", cubins, 2));
    files_add(&files, "topk_select.sm_90a.emu.tlepack", one_pack("sm_90a", texts, 2));
    return 0;
}

static int setup_empty(void **state) {
    (void)state;
    files_init(&files);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    files_free(&files);
    return 0;
}

static tle_handle_options options_for(int32_t kind) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    o.device_kind = kind;
    return o;
}

static tle_handle make(tle_handle_options o) {
    tle_handle h = NULL;
    if (tlei_create(&h, &o, &files.sources, &e))
        fail_msg("%s", e.text);
    return h;
}

static void no_handle(tle_handle_options o, tle_status status, const char *part) {
    tle_handle h = NULL;
    assert_int_equal(tlei_create(&h, &o, &files.sources, &e), status);
    assert_null(h);
    if (!strstr(e.text, part))
        fail_msg("'%s' does not say '%s'", e.text, part);
}

static tle_topk_select_params call(void) {
    static float scores[64];
    static int32_t indices[64];
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = 1;
    p.columns = p.row_stride = 64;
    p.k = p.index_row_stride = 4;
    p.scores = scores;
    p.indices = indices;
    return p;
}

/* ---- options and environment ---- */

static void refuses_options(void **state) {
    (void)state;
    tle_handle_options o = options_for(7);
    no_handle(o, TLE_STATUS_INVALID_ARGUMENT, "options->device_kind is 7");
    o = options_for(TLE_DEVICE_CUDA);
    o.device_ordinal = -2;
    no_handle(o, TLE_STATUS_INVALID_ARGUMENT, "options->device_ordinal is -2");
    o = options_for(TLE_DEVICE_CUDA);
    o.strict = 9;
    no_handle(o, TLE_STATUS_INVALID_ARGUMENT, "options->strict is 9");
    o = options_for(TLE_DEVICE_CUDA);
    o.log_flags = 1u << 20;
    no_handle(o, TLE_STATUS_INVALID_ARGUMENT, "options->log_flags is 0x100000");
    o = options_for(TLE_DEVICE_CUDA);
    o.arch = "gfx942";
    no_handle(o, TLE_STATUS_INVALID_ARGUMENT, "arch is 'gfx942'");
    o.arch = "sm_100a";
    no_handle(o, TLE_STATUS_UNSUPPORTED_ARCH, "kernels for sm_100a do not run on sm_90 (Fake GPU)");
    o = options_for(TLE_DEVICE_CUDA);
    o.struct_size = 8;
    no_handle(o, TLE_STATUS_INVALID_ARGUMENT, "options->struct_size is 8");
    fake.fail_open = TLE_STATUS_DRIVER_NOT_FOUND;
    no_handle(options_for(TLE_DEVICE_CUDA), TLE_STATUS_DRIVER_NOT_FOUND, "fake: no device");
    assert_int_equal(e.native, 35);
    assert_int_equal(tle_create(NULL, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_string_equal(tle_last_error(), "handle is NULL");
}

static void environment_chooses(void **state) {
    (void)state;
    tle_device_info info = {.struct_size = sizeof info};
    setenv("TLE_DEVICE", "emu", 1);
    tle_handle h = make(options_for(TLE_DEVICE_DEFAULT));
    assert_int_equal(tle_handle_device(h, &info), TLE_STATUS_OK);
    assert_int_equal(info.kind, TLE_DEVICE_EMU);
    tle_destroy(h);
    setenv("TLE_DEVICE", "none", 1);
    h = make(options_for(TLE_DEVICE_DEFAULT));
    tle_handle_device(h, &info);
    assert_int_equal(info.kind, TLE_DEVICE_NONE);
    tle_destroy(h);
    setenv("TLE_DEVICE", "tpu", 1);
    no_handle(options_for(TLE_DEVICE_DEFAULT), TLE_STATUS_INVALID_ARGUMENT, "TLE_DEVICE is 'tpu'");
    unsetenv("TLE_DEVICE");
    h = make(options_for(TLE_DEVICE_DEFAULT));
    tle_handle_device(h, &info);
    assert_int_equal(info.kind, TLE_DEVICE_CUDA);
    assert_string_equal(info.name, "Fake GPU");
    tle_destroy(h);
    setenv("TLE_LOG", "dispatch,noise", 1);
    no_handle(options_for(TLE_DEVICE_CUDA), TLE_STATUS_INVALID_ARGUMENT, "TLE_LOG names 'noise'");
    unsetenv("TLE_LOG");
}

/* ---- kernels that are not there ---- */

static void absent(tle_status status, const char *part) {
    tle_handle h = make(options_for(TLE_DEVICE_CUDA));
    tle_topk_select_params p = call();
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), status);
    if (!strstr(tle_last_error(), part))
        fail_msg("'%s' does not say '%s'", tle_last_error(), part);
    assert_int_equal(tle_preload(h, NULL), status);
    assert_int_equal(tle_topk_select_supported(h, &p, NULL, 0), status);
    char text[512];
    assert_int_equal(tle_topk_select_explain(h, &p, text, sizeof text, NULL), TLE_STATUS_OK);
    assert_non_null(strstr(text, part));
    tle_destroy(h);
}

static void no_pack_at_all(void **state) {
    (void)state;
    absent(TLE_STATUS_PACK_NOT_FOUND, "no pack of this operator is");
}

static void other_architectures_only(void **state) {
    (void)state;
    files_add(&files, "topk_select.sm_100a.tlepack", one_pack("sm_100a", cubins, 2));
    files_add(&files, "topk_select.sm_80.tlepack", one_pack("sm_80", cubins, 2));
    absent(TLE_STATUS_UNSUPPORTED_ARCH,
           "no kernels for sm_90 (Fake GPU); built were sm_100a, sm_80");
}

static void no_cubins(void **state) {
    (void)state;
    files_add(&files, "topk_select.sm_90a.tlepack", one_pack("sm_90a", texts, 2));
    absent(TLE_STATUS_UNSUPPORTED_ARCH, "holds no cubins for sm_90a (Fake GPU): the library was "
                                        "built without ptxas");
}

static void best_architecture_wins(void **state) {
    (void)state;
    files_add(&files, "topk_select.sm_90.tlepack", one_pack("sm_90", cubins, 1));
    files_add(&files, "topk_select.sm_90a.tlepack", one_pack("sm_90a", cubins, 2));
    tle_handle h = make(options_for(TLE_DEVICE_CUDA));
    assert_string_equal(h->ops[TLEI_OP_topk_select].arch, "sm_90a");
    tle_destroy(h);
    tle_handle_options o = options_for(TLE_DEVICE_CUDA);
    o.arch = "sm_90";
    h = make(o);
    assert_string_equal(h->ops[TLEI_OP_topk_select].arch, "sm_90");
    tle_destroy(h);
}

static void bad_packs_are_refused(void **state) {
    (void)state;
    files_add(&files, "topk_select.sm_90a.tlepack", one_pack("sm_80", cubins, 2));
    no_handle(options_for(TLE_DEVICE_CUDA), TLE_STATUS_PACK_CORRUPT,
              "says that it is topk_select for sm_80");
    files_free(&files);
    static const struct {
        const char *meta, *says;
        tle_status status;
    } cases[] = {
        {"nonsense", "is not JSON", TLE_STATUS_PACK_CORRUPT},
        {"{}", "'schema' is not", TLE_STATUS_PACK_CORRUPT},
        {"{\"schema\": 2}", "has schema 2", TLE_STATUS_PACK_VERSION},
        {META("other"), "'name' is not", TLE_STATUS_PACK_CORRUPT},
        {"{\"schema\": 1, \"name\": \"" ONE "\", \"op\": \"sort\"}", "'op' is not",
         TLE_STATUS_PACK_CORRUPT},
        {"{\"schema\": 1, \"name\": \"" ONE "\", \"op\": \"topk_select\", \"kernel\": 5}",
         "'kernel' is not a string", TLE_STATUS_PACK_CORRUPT},
        {"{\"schema\": 1, \"name\": \"" ONE "\", \"op\": \"topk_select\", \"kernel\": \"k\","
         "\"source_sha256\": \"\", \"threads\": 5000}",
         "'threads' is not", TLE_STATUS_PACK_CORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FakeVariant v = {ONE, cases[i].meta, "CUBIN", NULL, NULL};
        files_init(&files);
        files_add(&files, "topk_select.sm_90a.tlepack", one_pack("sm_90a", &v, 1));
        no_handle(options_for(TLE_DEVICE_CUDA), cases[i].status, cases[i].says);
        files_free(&files);
    }
    files_init(&files);
}

/* ---- loading ---- */

static void preload_and_unload(void **state) {
    (void)state;
    tle_handle h = make(options_for(TLE_DEVICE_CUDA));
    tle_memory_usage usage = {.struct_size = sizeof usage};
    tle_topk_select_params p = call();
    assert_int_equal(tle_memory_info(h, &usage), TLE_STATUS_OK);
    assert_int_equal(usage.loaded_variants, 0);
    assert_true(usage.pack_bytes > 1000 && usage.host_bytes > sizeof *h);
    assert_int_equal(tle_preload(h, "sort"), TLE_STATUS_NOT_FOUND);
    assert_int_equal(tle_preload(h, "topk_select"), TLE_STATUS_OK);
    assert_int_equal(tle_preload(h, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.loads, 2);
    tle_memory_info(h, &usage);
    assert_int_equal(usage.loaded_variants, 2);
    assert_int_equal(usage.image_bytes, 18);
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.loads, 2);
    assert_int_equal(tle_unload(h), TLE_STATUS_OK);
    assert_int_equal(fake.unloads, 2);
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(fake.loads, 3);
    tle_destroy(h);
    assert_int_equal(fake.unloads, 3);
}

static void strict_handles_do_not_load(void **state) {
    (void)state;
    tle_topk_select_params p = call();
    tle_handle_options o = options_for(TLE_DEVICE_CUDA);
    o.strict = TLE_SWITCH_ON;
    tle_handle h = make(o);
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_NOT_PRELOADED);
    assert_non_null(strstr(tle_last_error(), ONE " is not loaded"));
    assert_int_equal(tle_preload(h, NULL), TLE_STATUS_OK);
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    tle_destroy(h);
    setenv("TLE_STRICT", "1", 1);
    h = make(options_for(TLE_DEVICE_CUDA));
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_NOT_PRELOADED);
    tle_destroy(h);
    o.strict = TLE_SWITCH_OFF;
    h = make(o);
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    tle_destroy(h);
    setenv("TLE_STRICT", "false", 1);
    no_handle(options_for(TLE_DEVICE_CUDA), TLE_STATUS_INVALID_ARGUMENT, "it is 0 or 1");
    unsetenv("TLE_STRICT");
}

static void the_emulator_gets_ptx(void **state) {
    (void)state;
    tle_topk_select_params p = call();
    tle_handle h = make(options_for(TLE_DEVICE_EMU));
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_string_equal(fake.image, "PTX-ONE");
    tle_destroy(h);
}

static void *call_many(void *h) {
    tle_topk_select_params p = call();
    for (int i = 0; i < 2000; i++)
        if (tle_topk_select((tle_handle)h, &p, NULL, 0, NULL))
            return h;
    return NULL;
}

static void threads_share_one_load(void **state) {
    (void)state;
    tle_handle h = make(options_for(TLE_DEVICE_CUDA));
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, call_many, h);
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_null(result);
    }
    assert_int_equal(fake.loads, 1);
    tle_destroy(h);
}

/* ---- looking ---- */

typedef struct Seen {
    int count, stop_after;
    tle_variant_info last;
} Seen;

static int see(const tle_variant_info *info, void *user) {
    Seen *seen = (Seen *)user;
    seen->last = *info;
    return ++seen->count == seen->stop_after;
}

static void variants_are_listed(void **state) {
    (void)state;
    tle_handle h = make(options_for(TLE_DEVICE_CUDA));
    Seen seen = {.stop_after = 1};
    assert_int_equal(tle_topk_select_variants(h, see, &seen), TLE_STATUS_OK);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.last.name, ONE);
    assert_string_equal(seen.last.arch, "sm_90a");
    assert_int_equal(seen.last.registers, 40);
    assert_int_equal(seen.last.spill_bytes, 0);
    assert_int_equal(seen.last.threads, 128);
    seen = (Seen){0};
    assert_int_equal(tle_variants(h, NULL, see, &seen), TLE_STATUS_OK);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.last.registers, -1);
    assert_int_equal(tle_variants(h, "sort", see, &seen), TLE_STATUS_NOT_FOUND);
    assert_int_equal(tle_variants(h, NULL, NULL, &seen), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_variants(NULL, NULL, see, &seen), TLE_STATUS_INVALID_ARGUMENT);
    tle_destroy(h);
}

static void parts_are_copied(void **state) {
    (void)state;
    tle_handle h = make(options_for(TLE_DEVICE_NONE));
    char text[64] = "";
    size_t size = 0;
    assert_int_equal(tle_variant_data(h, ONE, TLE_PART_PTX, NULL, &size), TLE_STATUS_OK);
    assert_int_equal(size, 7);
    assert_int_equal(tle_variant_data(h, ONE, TLE_PART_PTX, text, &size), TLE_STATUS_OK);
    assert_string_equal(text, "PTX-ONE");
    size = 6;
    assert_int_equal(tle_variant_data(h, ONE, TLE_PART_PTX, text, &size),
                     TLE_STATUS_INVALID_ARGUMENT);
    size = sizeof text;
    assert_int_equal(tle_variant_data(h, ONE, TLE_PART_TIR, text, &size), TLE_STATUS_OK);
    assert_memory_equal(text, "tir one", size);
    size = sizeof text;
    assert_int_equal(tle_variant_data(h, ONE, TLE_PART_CUBIN, text, &size), TLE_STATUS_OK);
    assert_memory_equal(text, "CUBIN-ONE", size);
    assert_int_equal(tle_variant_data(h, TWO, TLE_PART_TIR, text, &size), TLE_STATUS_NOT_FOUND);
    assert_non_null(strstr(tle_last_error(), "does not hold part 3"));
    assert_int_equal(tle_variant_data(h, "zap", TLE_PART_PTX, text, &size), TLE_STATUS_NOT_FOUND);
    assert_int_equal(tle_variant_data(h, ONE, (tle_variant_part)9, text, &size),
                     TLE_STATUS_NOT_FOUND);
    assert_int_equal(tle_variant_data(h, NULL, TLE_PART_PTX, text, &size),
                     TLE_STATUS_INVALID_ARGUMENT);
    char id[TLE_BUILD_ID_SIZE];
    assert_int_equal(tle_build_id(h, id), TLE_STATUS_OK);
    assert_int_equal(strlen(id), 64);
    assert_int_equal(tle_build_id(h, NULL), TLE_STATUS_INVALID_ARGUMENT);
    tle_destroy(h);
}

static void nothing_runs_without_a_device(void **state) {
    (void)state;
    tle_handle h = make(options_for(TLE_DEVICE_NONE));
    tle_topk_select_params p = call();
    void *memory = NULL;
    size_t size = 0;
    assert_int_equal(tle_topk_select_supported(h, &p, NULL, 0), TLE_STATUS_OK);
    assert_int_equal(tle_topk_select_workspace_size(h, &p, &size), TLE_STATUS_OK);
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_DRIVER_NOT_FOUND);
    assert_int_equal(tle_alloc(h, 4, &memory), TLE_STATUS_DRIVER_NOT_FOUND);
    assert_int_equal(tle_synchronize(h, NULL), TLE_STATUS_DRIVER_NOT_FOUND);
    tle_destroy(h);
}

static void memory_calls(void **state) {
    (void)state;
    tle_handle h = make(options_for(TLE_DEVICE_CUDA));
    void *memory = NULL;
    int value = 0;
    assert_int_equal(tle_alloc(h, 4, &memory), TLE_STATUS_OK);
    assert_int_equal(tle_copy(h, memory, &(int){5}, 4), TLE_STATUS_OK);
    assert_int_equal(tle_copy(h, &value, memory, 4), TLE_STATUS_OK);
    assert_int_equal(value, 5);
    assert_int_equal(tle_free(h, memory), TLE_STATUS_OK);
    assert_int_equal(tle_free(h, NULL), TLE_STATUS_OK);
    assert_int_equal(tle_copy(h, NULL, NULL, 0), TLE_STATUS_OK);
    assert_int_equal(tle_copy(h, NULL, &value, 4), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_copy(h, &value, NULL, 4), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_alloc(h, 0, &memory), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_alloc(h, 4, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_alloc(NULL, 4, &memory), TLE_STATUS_INVALID_ARGUMENT);
    tle_destroy(h);
}

static void structs_of_other_versions(void **state) {
    (void)state;
    tle_handle h = make(options_for(TLE_DEVICE_CUDA));
    tle_device_info info = {.struct_size = offsetof(tle_device_info, arch)};
    memset(info.arch, '!', sizeof info.arch);
    assert_int_equal(tle_handle_device(h, &info), TLE_STATUS_OK);
    assert_string_equal(info.name, "Fake GPU");
    assert_int_equal(info.arch[0], '!');
    info.struct_size = 0;
    assert_int_equal(tle_handle_device(h, &info), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_handle_device(h, NULL), TLE_STATUS_INVALID_ARGUMENT);
    tle_destroy(h);
}

static void devices_are_counted(void **state) {
    (void)state;
    int32_t count = 9;
    tle_device_info info = {.struct_size = sizeof info};
    assert_int_equal(tle_device_count(TLE_DEVICE_NONE, &count), TLE_STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(tle_device_count(TLE_DEVICE_NONE, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_device_count((tle_device_kind)0, &count), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_get_device_info(TLE_DEVICE_NONE, 0, &info), TLE_STATUS_OK);
    assert_string_equal(info.name, "none");
}

/* ---- log ---- */

typedef struct Lines {
    int count;
    uint32_t flag;
    char last[2048];
} Lines;

static void keep_line(uint32_t flag, const char *line, void *user) {
    Lines *lines = (Lines *)user;
    lines->count++;
    lines->flag = flag;
    snprintf(lines->last, sizeof lines->last, "%s", line);
}

static void log_lines(void **state) {
    (void)state;
    Lines lines = {0};
    tle_handle_options o = options_for(TLE_DEVICE_CUDA);
    o.log = keep_line;
    o.log_user = &lines;
    o.log_flags = TLE_LOG_DISPATCH;
    tle_handle h = make(o);
    tle_topk_select_params p = call();
    assert_int_equal(tle_topk_select(h, &p, NULL, 0, NULL), TLE_STATUS_OK);
    assert_int_equal(lines.count, 1);
    assert_int_equal(lines.flag, TLE_LOG_DISPATCH);
    assert_memory_equal(lines.last, "tle,1,", 6);
    assert_non_null(strstr(lines.last, ",fake:0,topk_select,dispatch," ONE
                                       ",tle explain topk --rows 1 --columns 64 --k 4 --align "));
    assert_int_equal(tle_set_log(h, TLE_LOG_ERROR, keep_line, &lines), TLE_STATUS_OK);
    p.k = 0;
    tle_topk_select(h, &p, NULL, 0, NULL);
    assert_int_equal(lines.count, 2);
    assert_non_null(strstr(lines.last, "TLE_STATUS_INVALID_ARGUMENT,k is 0"));
    assert_int_equal(tle_set_log(h, 0, NULL, NULL), TLE_STATUS_OK);
    tle_topk_select(h, &p, NULL, 0, NULL);
    assert_int_equal(lines.count, 2);
    assert_int_equal(tle_set_log(h, 1u << 9, NULL, NULL), TLE_STATUS_INVALID_ARGUMENT);
    assert_int_equal(tle_set_log(NULL, 0, NULL, NULL), TLE_STATUS_INVALID_ARGUMENT);
    tle_destroy(h);
}

static void log_file(void **state) {
    (void)state;
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/tmp/test_api_%ld.log", (long)getpid());
    setenv("TLE_LOG", "load,profile", 1);
    setenv("TLE_LOG_FILE", "/tmp/test_api_%i.log", 1);
    tle_handle h = make(options_for(TLE_DEVICE_CUDA));
    tle_topk_select_params p = call();
    tle_topk_select(h, &p, NULL, 0, NULL);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_non_null(strstr(line, ",load," ONE));
    assert_non_null(fgets(line, sizeof line, f));
    assert_non_null(strstr(line, " us,"));
    fclose(f);
    tle_destroy(h);
    remove(path);
    setenv("TLE_LOG_FILE", "/nowhere/x.log", 1);
    no_handle(options_for(TLE_DEVICE_CUDA), TLE_STATUS_INVALID_ARGUMENT, "/nowhere/x.log");
    unsetenv("TLE_LOG");
    unsetenv("TLE_LOG_FILE");
}

#define TEST(name)  cmocka_unit_test_setup_teardown(name, setup, teardown)
#define EMPTY(name) cmocka_unit_test_setup_teardown(name, setup_empty, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(refuses_options),
        TEST(environment_chooses),
        EMPTY(no_pack_at_all),
        EMPTY(other_architectures_only),
        EMPTY(no_cubins),
        EMPTY(best_architecture_wins),
        EMPTY(bad_packs_are_refused),
        TEST(preload_and_unload),
        TEST(strict_handles_do_not_load),
        TEST(the_emulator_gets_ptx),
        TEST(threads_share_one_load),
        TEST(variants_are_listed),
        TEST(parts_are_copied),
        TEST(nothing_runs_without_a_device),
        TEST(memory_calls),
        TEST(structs_of_other_versions),
        TEST(devices_are_counted),
        TEST(log_lines),
        TEST(log_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
