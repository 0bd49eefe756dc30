/* mbarriers, cp.async, bulk copies: CUDA programs compiled by nvcc (tests/emu/async.ptx) against
 * the same work in C, under every scheduling mode with all checks. */
#include "tle/tle_emu.h"

#include "emu_fixture.h"

static const tle_emu_options modes[] = {
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ROUND_ROBIN},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 21},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 22},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 4},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 9},
    {.struct_size = sizeof(tle_emu_options), .checks = TLE_EMU_CHECK_NONE},
};

#define FOR_MODES(e)                                                                               \
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++)                             \
        for (Emu e = open_async(mode); e.device; emu_close(&e), e.device = NULL)

static Emu open_async(size_t mode) {
    Emu e = emu_open(&modes[mode]);
    emu_load_file(&e, "tests/emu/async.ptx");
    return e;
}

static void check_column_sums(const char *kernel, uint32_t threads) {
    FOR_MODES(e) {
        int rows = 11, want[128] = {0};
        int *in = emu_new(&e, 11 * 512), *out = emu_new(&e, 512);
        for (int i = 0; i < rows * 128; i++)
            want[i % 128] += in[i] = i * 31 % 1009;
        emu_run(&e, kernel, DIM(1, 1, 1), DIM(threads, 1, 1), 0, (void *[]){&in, &out, &rows});
        assert_memory_equal(out, want, sizeof want);
    }
}

static void test_copy_groups(void **state) {
    (void)state;
    check_column_sums("copy_groups", 32);
}

static void test_copy_barriers(void **state) {
    (void)state;
    check_column_sums("copy_barriers", 64);
}

static void test_bulk_pipeline(void **state) {
    (void)state;
    FOR_MODES(e) {
        int rows = 37, n = rows * 256;
        int *in = emu_new(&e, (size_t)n * 4), *out = emu_new(&e, (size_t)n * 4);
        for (int i = 0; i < n; i++)
            in[i] = i;
        emu_run(&e, "bulk_pipeline", DIM(3, 1, 1), DIM(160, 1, 1), 0, (void *[]){&in, &out, &rows});
        for (int i = 0; i < n; i++)
            assert_int_equal(out[i], 2 * i);
    }
}

static void test_bulk_add(void **state) {
    (void)state;
    FOR_MODES(e) {
        unsigned *in = emu_new(&e, 10 * 256), *sums = emu_zeros(&e, 256), want[64] = {0};
        for (unsigned i = 0; i < 640; i++)
            want[i % 64] += in[i] = i * i;
        emu_run(&e, "bulk_add", DIM(10, 1, 1), DIM(64, 1, 1), 0, (void *[]){&in, &sums});
        assert_memory_equal(sums, want, sizeof want);
    }
}

static void test_bulk_ring(void **state) {
    (void)state;
    FOR_MODES(e) {
        int *in = emu_new(&e, 8 * 256), *out = emu_new(&e, 8 * 256);
        for (int i = 0; i < 512; i++)
            in[i] = i;
        emu_run(&e, "bulk_ring", DIM(8, 1, 1), DIM(64, 1, 1), 0, (void *[]){&in, &out});
        for (int i = 0; i < 512; i++) {
            int cta = i / 64, before = cta / 4 * 4 + (cta + 3) % 4;
            assert_int_equal(out[i], in[before * 64 + 63 - i % 64] + 1000 * (before % 4));
        }
    }
}

static void test_remote_arrive(void **state) {
    (void)state;
    FOR_MODES(e) {
        int *out = emu_new(&e, 128);
        emu_run(&e, "remote_arrive", DIM(4, 1, 1), DIM(32, 1, 1), 0, (void *[]){&out});
        for (int t = 0; t < 32; t++)
            assert_int_equal(out[t], 600 + 4 * (31 - t));
    }
}

static void assert_figure(const Emu *e, const char *name, unsigned long long want) {
    char text[64];
    snprintf(text, sizeof text, "\"%s\":%llu,", name, want);
    if (!strstr(tle_emu_cost_json(e->device), text))
        fail_msg("%s is not %llu in %s", name, want, tle_emu_cost_json(e->device));
}

static void test_figures(void **state) {
    const tle_emu_options o = {.struct_size = sizeof o, .cost = 1};
    int rows = 10;
    (void)state;
    Emu e = emu_open(&o);
    emu_load_file(&e, "tests/emu/async.ptx");
    int *in = emu_zeros(&e, 10240), *out = emu_new(&e, 10240);
    emu_run(&e, "bulk_pipeline", DIM(2, 1, 1), DIM(160, 1, 1), 0, (void *[]){&in, &out, &rows});
    assert_figure(&e, "bulk_bytes", 20480); /* in and out */
    assert_figure(&e, "global_load_sectors", 320);
    assert_figure(&e, "global_store_sectors", 320);
    assert_figure(&e, "dsmem_bytes", 0);
    emu_run(&e, "copy_groups", DIM(1, 1, 1), DIM(32, 1, 1), 0, (void *[]){&in, &out, &rows});
    assert_figure(&e, "cp_async_bytes", 5120);
    assert_figure(&e, "global_load_sectors", 160);
    emu_run(&e, "bulk_ring", DIM(4, 1, 1), DIM(64, 1, 1), 0, (void *[]){&in, &out});
    assert_figure(&e, "dsmem_bytes", 4 * (256 + 4));
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_groups),   cmocka_unit_test(test_copy_barriers),
        cmocka_unit_test(test_bulk_pipeline), cmocka_unit_test(test_bulk_add),
        cmocka_unit_test(test_bulk_ring),     cmocka_unit_test(test_remote_arrive),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
