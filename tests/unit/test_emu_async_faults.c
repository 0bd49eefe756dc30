/* Planted faults in mbarriers and asynchronous copies: each kernel has exactly one, which must be
 * reported with its kind (and line, where it has one) under every schedule; its repaired twin must
 * be clean. */
#include "tle/tle_emu.h"

#include "emu/faults/fault_async.h"
#include "emu_fixture.h"

static uint32_t line_of(const char *text, const char *part) {
    const char *at = strstr(text + sizeof async_head - 1, part);
    uint32_t line = 1;
    assert_non_null(at);
    for (const char *s = text; s < at; s++)
        line += *s == '\n';
    return line;
}

static void make_map(Emu *e, uint8_t *map, void *a) {
    static const uint64_t dims[] = {16, 64}, strides[] = {64};
    static const uint32_t box[] = {16, 16}, steps[] = {1, 1};
    assert_int_equal(tle_emu_tensor_map_encode_tiled(e->device, map, 2, 2, a, dims, strides, box,
                                                     steps, 0, 0, 0, 0),
                     TLE_EMU_OK);
}

static tle_emu_status run_body(Emu *e, const char *body, char *text, size_t size) {
    _Alignas(64) uint8_t map[128];
    void *a, *b;
    assert_true(async_text(body, text, size));
    emu_load(e, text, strlen(text), "case");
    a = emu_zeros(e, 4096);
    b = emu_new(e, 4096);
    make_map(e, map, a);
    return emu_try(e, "k", DIM(2, 1, 1), DIM(64, 1, 1), 0, (void *[]){&a, &b, map});
}

static const tle_emu_options modes[] = {
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ROUND_ROBIN},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 3},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 2},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 1},
};

static void test_faults(void **state) {
    static char text[8192];
    (void)state;
    for (size_t i = 0; i < (size_t)ASYNC_COUNT; i++)
        for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
            Emu e = emu_open(&modes[mode]);
            tle_emu_status s = run_body(&e, async_cases[i].faulty, text, sizeof text);
            if (s == TLE_EMU_OK ||
                !emu_reported(&e, async_cases[i].kind,
                              async_cases[i].marked ? line_of(text, async_cases[i].marked) : 0))
                fail_msg("%s, mode %zu: %s: %s", async_cases[i].name, mode, tle_emu_status_name(s),
                         tle_emu_last_error(e.device));
            emu_close(&e);
        }
}

static void test_twins(void **state) {
    static char text[8192];
    (void)state;
    for (size_t i = 0; i < (size_t)ASYNC_COUNT; i++)
        for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
            Emu e = emu_open(&modes[mode]);
            tle_emu_status s = run_body(&e, async_cases[i].fixed, text, sizeof text);
            if (s != TLE_EMU_OK)
                fail_msg("twin of %s, mode %zu: %s: %s", async_cases[i].name, mode,
                         tle_emu_status_name(s), tle_emu_last_error(e.device));
            emu_close(&e);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_twins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
