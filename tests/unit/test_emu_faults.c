/* Planted faults (tests/emu/faults): each kernel has exactly one, which must be reported with its
 * kind, its line of PTX and the right place under every schedule; its repaired twin must be clean.
 * All checks are on. */
#include "tle/tle_emu.h"

#include "emu/faults/fault_case.h"
#include "emu_fixture.h"

static uint32_t line_of(const char *text, const char *part) {
    const char *at = strstr(text, part);
    uint32_t line = 1;
    assert_non_null(at);
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static tle_emu_status run_case(Emu *e, const FaultCase *c, bool faulty, char *text, size_t size) {
    int n = FAULT_N;
    int *p, *q;
    assert_true(fault_text(c, faulty, "k", text, size));
    emu_load(e, text, strlen(text), "case");
    p = emu_zeros(e, FAULT_BYTES);
    q = emu_new(e, FAULT_BYTES);
    if (faulty && c->shape == FAULT_FREED)
        assert_int_equal(tle_emu_free(e->device, p), TLE_EMU_OK);
    return emu_try_cluster(e, "k", DIM(fault_ctas(c), 1, 1), fault_cluster(c),
                           DIM(FAULT_THREADS, 1, 1), FAULT_SHARED, (void *[]){&p, &q, &n});
}

static tle_emu_options options_of(uint32_t schedule, uint64_t seed) {
    return (tle_emu_options){.struct_size = sizeof(tle_emu_options),
                             .schedule = schedule,
                             .seed = seed,
                             .instruction_limit = 8000000};
}

/* A report of the kind and line, with every part of its place. */
static bool is_reported(const Emu *e, const FaultCase *c, uint32_t line) {
    for (uint32_t i = 0; i < tle_emu_report_count(e->device); i++) {
        tle_emu_report r = {.struct_size = sizeof r};
        assert_int_equal(tle_emu_report_get(e->device, i, &r), TLE_EMU_OK);
        if (r.kind != c->kind || (line && r.ptx_line != line))
            continue;
        assert_string_equal(r.kernel, "k");
        assert_string_equal(r.source_file, "kernel.py");
        assert_int_equal(r.source_line, 7);
        assert_true(r.ptx_line > 0);
        assert_true(r.thread[0] == r.warp * 32 + r.lane);
        assert_true(r.cta[0] < fault_ctas(c));
        assert_non_null(strstr(r.text, "kernel.py:7, PTX line "));
        return true;
    }
    return false;
}

static void fault(const FaultCase *c, uint32_t schedule) {
    static char text[8192];
    tle_emu_options options = options_of(schedule, schedule);
    Emu e = emu_open(&options);
    tle_emu_status s = run_case(&e, c, true, text, sizeof text), want = c->status;
    uint32_t line = c->marked ? line_of(text, c->marked) : 0;
    if (c->kind == TLE_EMU_REPORT_RACE && schedule != TLE_EMU_SCHEDULE_ROUND_ROBIN)
        line = 0; /* the other of the two may come second, and is named then */
    if (c->kind == TLE_EMU_REPORT_BARRIER && s == TLE_EMU_DEADLOCK)
        want = s; /* a misused barrier may leave warps behind */
    if (s != want || !is_reported(&e, c, line))
        fail_msg("%s (line %u, schedule %u): %s: %s", c->name, line, schedule,
                 tle_emu_status_name(s), tle_emu_last_error(e.device));
    emu_close(&e);
}

static void twin(const FaultCase *c, uint32_t schedule, uint64_t seed) {
    static char text[8192];
    tle_emu_options options = options_of(schedule, seed);
    Emu e = emu_open(&options);
    tle_emu_status s = run_case(&e, c, false, text, sizeof text);
    if (s != TLE_EMU_OK || tle_emu_report_count(e.device))
        fail_msg("twin of %s, schedule %u, seed %llu: %s: %s", c->name, schedule,
                 (unsigned long long)seed, tle_emu_status_name(s), tle_emu_last_error(e.device));
    emu_close(&e);
}

static void test_faults(void **state) {
    (void)state;
    for (size_t i = 0; i < FAULT_COUNT; i++)
        for (uint32_t schedule = 0; schedule < 3; schedule++)
            fault(&fault_cases[i], schedule);
}

static void test_twins(void **state) {
    (void)state;
    for (size_t i = 0; i < FAULT_COUNT; i++)
        for (uint32_t k = 0; k < 9; k++)
            twin(&fault_cases[i], k % 3, k);
}

static void test_freed(void **state) {
    static char text[8192];
    int n = 64;
    (void)state;
    Emu e = emu_open(NULL);
    snprintf(text, sizeof text, FAULT_HEAD "ld.global.u32 %%r1, [%%at];\nret;\n}\n", "k");
    emu_load(&e, text, strlen(text), "freed");
    int *p = emu_zeros(&e, 1024), *q = p;
    void *params[] = {&p, &q, &n};
    assert_int_equal(emu_try(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params), TLE_EMU_OK);
    assert_int_equal(tle_emu_free(e.device, p), TLE_EMU_OK);
    assert_int_equal(tle_emu_free(e.device, p), TLE_EMU_NOT_FOUND);
    assert_int_equal(emu_try(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params), TLE_EMU_FAULT);
    tle_emu_report r = {.struct_size = sizeof r};
    assert_int_equal(tle_emu_report_get(e.device, 0, &r), TLE_EMU_OK);
    assert_int_equal(r.kind, TLE_EMU_REPORT_FREED);
    emu_close(&e);
}

static void test_registered(void **state) {
    static char text[8192];
    int n = 64, *p;
    (void)state;
    Emu e = emu_open(NULL);
    snprintf(text, sizeof text, FAULT_HEAD "st.global.u32 [%%at], %%r0;\nret;\n}\n", "k");
    emu_load(&e, text, strlen(text), "registered");
    p = calloc(64, 4);
    void *params[] = {&p, &p, &n};
    tle_emu_report r = {.struct_size = sizeof r};
    assert_int_equal(emu_try(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params), TLE_EMU_FAULT);
    assert_int_equal(tle_emu_register(e.device, p, 256, 1), TLE_EMU_OK);
    assert_int_equal(emu_try(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params), TLE_EMU_FAULT);
    assert_int_equal(tle_emu_report_get(e.device, 0, &r), TLE_EMU_OK);
    assert_int_equal(r.kind, TLE_EMU_REPORT_READ_ONLY);
    assert_int_equal(p[5], 0);
    assert_int_equal(tle_emu_register(e.device, p, 256, 0), TLE_EMU_OK);
    emu_run(&e, "k", DIM(1, 1, 1), DIM(64, 1, 1), 0, params);
    assert_int_equal(p[5], 5);
    assert_int_equal(tle_emu_unregister(e.device, p), TLE_EMU_OK);
    assert_int_equal(tle_emu_unregister(e.device, p), TLE_EMU_OK);
    assert_int_equal(tle_emu_unregister(e.device, p), TLE_EMU_NOT_FOUND);
    free(p);
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_freed),
        cmocka_unit_test(test_registered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
