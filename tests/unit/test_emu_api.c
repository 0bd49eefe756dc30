/* The emulator's interface: diagnostics of bad PTX, refused arguments, versioned structs, cost
 * figures, determinism, and a reader that survives damaged text. */
#include "emu_fixture.h"
#include <tle/tle.h>

#define HEAD ".version 8.6\n.target sm_90a\n.address_size 64\n"
#define ENTRY(body)                                                                                \
    HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n"              \
         ".reg .b64 %rd<8>;\n" body "\nret;\n}\n"

static const struct {
    const char *text;
    tle_emu_status status;
    const char *message;
} bad[] = {
    {"", TLE_EMU_BAD_PTX, "no .version"},
    {"hello", TLE_EMU_BAD_PTX, "case:1: expected a declaration, found 'hello'"},
    {HEAD ".visible .entry k(\n", TLE_EMU_BAD_PTX, "case:5: expected"},
    {HEAD ".visible .entry k()\n{\nret;\n", TLE_EMU_BAD_PTX, "function is not closed"},
    {HEAD "/* no end", TLE_EMU_BAD_PTX, "comment is not closed"},
    {ENTRY("add.u32 %r1, %r2;"), TLE_EMU_BAD_PTX, "case:9: add.u32: 2 operands, expected 3"},
    {ENTRY("add.u32 %r1, %rd2, %r3;"), TLE_EMU_BAD_PTX, "register of the wrong size"},
    {ENTRY("add.u32 %r1, %r9, %r3;"), TLE_EMU_NOT_SUPPORTED, "not supported: %r9"},
    {ENTRY("bra nowhere;"), TLE_EMU_BAD_PTX, "unknown label 'nowhere'"},
    {ENTRY("@%r1 bra nowhere;"), TLE_EMU_BAD_PTX, "guard is not a predicate"},
    {ENTRY("mov.u32 %r1, 5x;"), TLE_EMU_BAD_PTX, "malformed number"},
    {ENTRY("frobnicate.u32 %r1;"), TLE_EMU_NOT_SUPPORTED,
     "not supported: frobnicate.u32 at line 9"},
    {ENTRY("add.odd.u32 %r1, %r2, %r3;"), TLE_EMU_NOT_SUPPORTED, "add.odd.u32 at line 9"},
    {ENTRY("add.rn.u32 %r1, %r2, %r3;"), TLE_EMU_NOT_SUPPORTED, "add.rn.u32 at line 9"},
    {ENTRY("tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [p, {%r1}];"), TLE_EMU_NOT_SUPPORTED,
     "tex.1d.v4.s32.s32 at line 9"},
    {ENTRY("ld.param.u64 %rd1, [p+8];"), TLE_EMU_BAD_PTX, "past the end of the parameters"},
    {ENTRY("setmaxnreg.inc.sync.aligned.u32 20;"), TLE_EMU_BAD_PTX, "multiple of 8"},
    {ENTRY("call external;"), TLE_EMU_NOT_SUPPORTED, "external function 'external'"},
    {".version 8.6\n.target sm_120\n.address_size 64\n", TLE_EMU_NOT_SUPPORTED,
     "sm_120 on a device of sm_90"},
    {".version 8.6\n.target sm_90\n.address_size 32\n", TLE_EMU_NOT_SUPPORTED, ".address_size"},
};

static void test_diagnostics(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Emu e = emu_open(NULL);
        tle_emu_status s =
            tle_emu_module_load(e.device, bad[i].text, strlen(bad[i].text), "case", &e.module);
        if (s != bad[i].status || !strstr(tle_emu_last_error(e.device), bad[i].message))
            fail_msg("case %zu: %s: %s, expected %s", i, tle_emu_status_name(s),
                     tle_emu_last_error(e.device), bad[i].message);
        emu_close(&e);
    }
}

static const char counting[] =
    HEAD ".global .align 4 .u32 total = 5;\n"
         ".visible .entry k(.param .u64 out, .param .u32 n)\n.maxntid 128, 1, 1\n{\n"
         ".shared .align 4 .b8 line[128];\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
         "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
         "add.u64 %rd3, %rd1, %rd2;\nld.param.u32 %r2, [n];\n"
         "st.global.u32 [%rd3], %r2;\nmov.u64 %rd4, line;\nadd.u64 %rd4, %rd4, %rd2;\n"
         "st.shared.u32 [%rd4], %r1;\nbar.sync 0;\nmul.wide.u32 %rd5, %r1, 64;\n"
         "and.b64 %rd5, %rd5, 127;\nmov.u64 %rd4, line;\nadd.u64 %rd4, %rd4, %rd5;\n"
         "ld.shared.u32 %r3, [%rd4];\nred.global.add.u32 [total], 1;\nret;\n}\n";

static void test_version(void **state) {
    (void)state;
    assert_int_equal(tle_emu_version(),
                     (TLE_VERSION_MAJOR * 1000 + TLE_VERSION_MINOR) * 1000 + TLE_VERSION_PATCH);
}

static void test_arguments(void **state) {
    int n = 9, *out;
    size_t bytes, align;
    void *address;
    tle_emu_kernel *k = NULL;
    tle_emu_kernel_info info = {.struct_size = sizeof info};
    tle_emu_launch_config c = {.struct_size = sizeof c, .block = {32}};
    (void)state;
    Emu e = emu_open(NULL), other = emu_open(NULL);
    assert_int_equal(tle_emu_create(NULL, NULL), TLE_EMU_INVALID_ARGUMENT);
    assert_int_equal(tle_emu_alloc(e.device, 0, &address), TLE_EMU_INVALID_ARGUMENT);
    assert_int_equal(tle_emu_alloc(e.device, (size_t)1 << 60, &address), TLE_EMU_OUT_OF_MEMORY);
    assert_int_equal(tle_emu_register(e.device, NULL, 4, 0), TLE_EMU_INVALID_ARGUMENT);
    emu_load(&e, counting, sizeof counting - 1, "counting");
    assert_int_equal(tle_emu_module_kernel_count(e.module), 1);
    assert_int_equal(tle_emu_module_kernel(e.module, "absent", &k), TLE_EMU_NOT_FOUND);
    assert_int_equal(tle_emu_module_kernel(e.module, "k", &k), TLE_EMU_OK);
    assert_ptr_equal(tle_emu_module_kernel_at(e.module, 0), k);
    assert_null(tle_emu_module_kernel_at(e.module, 1));
    assert_int_equal(tle_emu_kernel_get_info(k, &info), TLE_EMU_OK);
    assert_string_equal(info.name, "k");
    assert_int_equal(info.param_count, 2);
    assert_int_equal(info.max_threads, 128);
    assert_int_equal(info.static_shared_bytes, 128);
    assert_int_equal(tle_emu_kernel_param(k, 1, &bytes, &align), TLE_EMU_OK);
    assert_int_equal(bytes, 4);
    assert_int_equal(tle_emu_kernel_param(k, 2, &bytes, &align), TLE_EMU_NOT_FOUND);
    assert_int_equal(tle_emu_module_global(e.module, "total", &address, &bytes), TLE_EMU_OK);
    assert_int_equal(*(int *)address, 5);
    out = emu_new(&e, 512);
    void *params[] = {&out, &n}, *missing[] = {&out, NULL};
    assert_int_equal(tle_emu_launch(e.device, k, NULL, params), TLE_EMU_INVALID_ARGUMENT);
    assert_int_equal(tle_emu_launch(e.device, k, &c, missing), TLE_EMU_INVALID_ARGUMENT);
    assert_int_equal(tle_emu_launch(other.device, k, &c, params), TLE_EMU_INVALID_ARGUMENT);
    c.block[0] = 129;
    assert_int_equal(tle_emu_launch(e.device, k, &c, params), TLE_EMU_INVALID_ARGUMENT);
    assert_non_null(strstr(tle_emu_last_error(e.device), "limit of 128"));
    c.block[0] = 32;
    c.dynamic_shared_bytes = 232448;
    assert_int_equal(tle_emu_launch(e.device, k, &c, params), TLE_EMU_INVALID_ARGUMENT);
    c.dynamic_shared_bytes = 0;
    c.grid[0] = 3;
    c.cluster[0] = 2;
    assert_int_equal(tle_emu_launch(e.device, k, &c, params), TLE_EMU_INVALID_ARGUMENT);
    c.grid[0] = 4;
    assert_int_equal(tle_emu_launch(e.device, k, &c, params), TLE_EMU_OK);
    assert_int_equal(*(int *)address, 5 + 4 * 32);
    assert_int_equal(out[31], 9);
    emu_close(&other);
    emu_close(&e);
}

static long figure(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(json, key);
    assert_non_null(at);
    return strtol(at + strlen(key), NULL, 10);
}

static void test_cost(void **state) {
    tle_emu_options o = {.struct_size = sizeof o, .cost = 1};
    int n = 9, *out;
    (void)state;
    Emu e = emu_open(&o);
    emu_load(&e, counting, sizeof counting - 1, "counting");
    out = emu_new(&e, 512);
    emu_run(&e, "k", DIM(1, 1, 1), DIM(32, 1, 1), 0, (void *[]){&out, &n});
    const char *json = tle_emu_cost_json(e.device);
    assert_int_equal(figure(json, "global_store_sectors"), 4);
    assert_int_equal(figure(json, "global_stores"), 1);
    assert_int_equal(figure(json, "global_atomics"), 1);
    assert_int_equal(figure(json, "atomics_serialised"), 31);
    assert_int_equal(figure(json, "shared_accesses"), 2);
    assert_int_equal(figure(json, "shared_bank_conflicts"), 0);
    assert_int_equal(figure(json, "barriers"), 1);
    assert_int_equal(figure(json, "warp_instructions"), 18);
    emu_close(&e);
}

/* A bit that names no check is a mistake of the caller, not a check that is left out. */
static void test_options(void **state) {
    const tle_emu_options wrong[] = {
        {.struct_size = sizeof *wrong, .checks = TLE_EMU_CHECK_ALL + 1},
        {.struct_size = sizeof *wrong, .checks = TLE_EMU_CHECK_RACE | 0x40000000u},
        {.struct_size = sizeof *wrong, .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL + 1},
        {.struct_size = sizeof wrong->struct_size},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tle_emu_device *d = NULL;
        assert_int_equal(tle_emu_create(&wrong[i], &d), TLE_EMU_INVALID_ARGUMENT);
        assert_null(d);
    }
    Emu e = emu_open(NULL);
    assert_int_equal(tle_emu_configure(e.device, &wrong[0]), TLE_EMU_INVALID_ARGUMENT);
    assert_string_equal(tle_emu_last_error(e.device), "checks 0x200 have bits of no check");
    emu_close(&e);
}

/* The same launch gives the same memory, reports and figures, each time. */
static void test_determinism(void **state) {
    static char first[2048];
    (void)state;
    for (int round = 0; round < 2; round++) {
        tle_emu_options o = {
            .struct_size = sizeof o, .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 77, .cost = 1};
        Emu e = emu_open(&o);
        emu_load_file(&e, "tests/emu/programs.ptx");
        unsigned *counter = emu_zeros(&e, 4), *taken = emu_new(&e, 1024);
        unsigned *winners = emu_zeros(&e, 64);
        static unsigned before[256];
        emu_run(&e, "tickets", DIM(2, 1, 1), DIM(128, 1, 1), 0,
                (void *[]){&counter, &taken, &winners});
        if (round == 1) {
            assert_memory_equal(before, taken, sizeof before);
            assert_string_equal(first, tle_emu_cost_json(e.device));
        }
        memcpy(before, taken, sizeof before);
        snprintf(first, sizeof first, "%s", tle_emu_cost_json(e.device));
        emu_close(&e);
    }
}

/* Bytes are changed, dropped, doubled: loading ends with some status and leaves nothing behind. */
static void test_damaged(void **state) {
    FILE *f = fopen("tests/emu/programs.ptx", "rb");
    static char text[1 << 17], copy[1 << 17];
    uint64_t seed = 4242;
    (void)state;
    assert_non_null(f);
    size_t length = fread(text, 1, sizeof text, f);
    fclose(f);
    Emu e = emu_open(NULL);
    for (int round = 0; round < 400; round++) {
        size_t n = length, cut = (size_t)(emu_random(&seed) % length);
        memcpy(copy, text, length);
        for (int k = 0; k < 1 + round % 4; k++) {
            size_t at = (size_t)(emu_random(&seed) % length);
            copy[at] = text[emu_random(&seed) % length];
        }
        if (round % 3 == 0)
            n = cut;
        if (round % 3 == 1)
            memmove(copy + cut / 2, copy + cut, length - cut);
        if (round % 3 == 1)
            n = length - (cut - cut / 2);
        tle_emu_module *m = NULL;
        if (tle_emu_module_load(e.device, copy, n, "damaged", &m) == TLE_EMU_OK)
            tle_emu_module_unload(m);
        else
            assert_true(tle_emu_last_error(e.device)[0] != '\0');
    }
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diagnostics), cmocka_unit_test(test_version),
        cmocka_unit_test(test_arguments),   cmocka_unit_test(test_cost),
        cmocka_unit_test(test_options),     cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
