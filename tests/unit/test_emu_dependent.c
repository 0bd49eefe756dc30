/* Dependent launches on the emulator: global memory that a thread accesses before its
 * griddepcontrol.wait is reported, in such a launch alone. */
#include "emu_fixture.h"

#define KERNEL(name, before, guard, after)                                                         \
    ".visible .entry " name "(.param .u64 p)\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<4>;\n"            \
    ".reg .pred %p<2>;\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n"                           \
    "setp.lt.u32 %p0, %r1, 7;\n" before guard "griddepcontrol.wait;\n" after                       \
    "griddepcontrol.launch_dependents;\nret;\n}\n"

static const char text[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.const .u32 three = 3;\n" KERNEL(
        "waits", "ld.const.u32 %r3, [three];\n", "", "ld.global.u32 %r2, [%rd1];\n")
        KERNEL("reads", "ld.global.u32 %r2, [%rd1];\n", "", "")
            KERNEL("writes", "st.global.u32 [%rd1], %r1;\n", "", "")
                KERNEL("adds", "red.global.add.u32 [%rd1], 1;\n", "", "")
                    KERNEL("some", "", "@%p0 ", "ld.global.u32 %r2, [%rd1];\n")
                        KERNEL("second",
                               "mov.u32 %r3, %ctaid.x;\nsetp.eq.u32 %p1, %r3, 1;\n"
                               "@%p1 ld.global.u32 %r2, [%rd1];\n",
                               "", "");

static tle_emu_status launch(Emu *e, const char *name, uint32_t dependent) {
    tle_emu_kernel *k = NULL;
    void *memory = emu_zeros(e, 4), *params[] = {&memory};
    tle_emu_launch_config c = {
        .struct_size = sizeof c, .grid = {2}, .block = {32}, .dependent = dependent};
    assert_int_equal(tle_emu_module_kernel(e->module, name, &k), TLE_EMU_OK);
    return tle_emu_launch(e->device, k, &c, params);
}

static void early_accesses_are_reported(void **state) {
    static const char *const early[] = {"reads", "writes", "adds", "some", "second"};
    (void)state;
    tle_emu_options o = {.struct_size = sizeof o,
                         .checks = TLE_EMU_CHECK_ALL & ~TLE_EMU_CHECK_RACE};
    Emu e = emu_open(&o);
    emu_load(&e, text, sizeof text - 1, "dependent");
    assert_int_equal(launch(&e, "waits", 1), TLE_EMU_OK);
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) {
        tle_emu_report r = {.struct_size = sizeof r};
        assert_int_equal(launch(&e, early[i], 0), TLE_EMU_OK);
        assert_int_equal(launch(&e, early[i], 1), TLE_EMU_FAULT);
        assert_int_equal(tle_emu_report_get(e.device, 0, &r), TLE_EMU_OK);
        assert_int_equal(r.kind, TLE_EMU_REPORT_DEPENDENT);
        assert_non_null(strstr(r.text, "before the thread's griddepcontrol.wait"));
        assert_int_equal(r.lane, i == 3 ? 7 : 0); /* lanes under 7 wait in "some" */
        assert_int_equal(r.cta[0], i == 4);       /* the second CTA has not waited yet */
    }
    emu_close(&e);
}

static void the_check_can_be_left_out(void **state) {
    (void)state;
    tle_emu_options o = {.struct_size = sizeof o, .checks = TLE_EMU_CHECK_BOUNDS};
    Emu e = emu_open(&o);
    emu_load(&e, text, sizeof text - 1, "dependent");
    assert_int_equal(launch(&e, "reads", 1), TLE_EMU_OK);
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(early_accesses_are_reported),
        cmocka_unit_test(the_check_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
