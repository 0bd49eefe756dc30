/* tle_topk_select on the emulator, against the C reference. */
#include "kernels/support/topk_suite.h"

#include "cli/reference_topk.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static int open_handle(void **state) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h;
    o.device_kind = TLE_DEVICE_EMU;
    if (tle_create(&h, &o)) {
        print_error("%s\n", tle_last_error());
        return -1;
    }
    *state = h;
    return 0;
}

static int close_handle(void **state) {
    tle_destroy(*state);
    return 0;
}

static bool visit(const TopkCase *c, void *user) {
    char why[900];
    if (run_topk_case(user, c, why, sizeof why))
        return true;
    print_error("%s\n", why);
    return false;
}

static void lengths(void **state) {
    assert_true(topk_lengths(visit, *state, 131072));
}

static void values(void **state) {
    assert_true(topk_values(visit, *state));
}

static void ragged(void **state) {
    assert_true(topk_ragged(visit, *state));
}

static void strides(void **state) {
    assert_true(topk_strides(visit, *state));
}

static void ks(void **state) {
    assert_true(topk_ks(visit, *state));
}

static void thousand_random_cases(void **state) {
    assert_true(topk_random(visit, *state, 20261129, 1000, 4096));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths), cmocka_unit_test(values),
        cmocka_unit_test(ragged),  cmocka_unit_test(strides),
        cmocka_unit_test(ks),      cmocka_unit_test(thousand_random_cases),
    };
    return cmocka_run_group_tests(tests, open_handle, close_handle);
}
