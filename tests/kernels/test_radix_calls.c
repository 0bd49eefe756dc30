/* tle_radix_select on the emulator, against the C reference, as dispatch chooses. */
#include "kernels/support/radix_call_suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static int setup(void **state) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    o.device_kind = TLE_DEVICE_EMU;
    if (tle_create(&h, &o)) {
        print_error("%s\n", tle_last_error());
        return -1;
    }
    *state = h;
    return 0;
}

static int teardown(void **state) {
    tle_destroy(*state);
    return 0;
}

static bool visit(const RadixCall *c, void *user) {
    char why[1000];
    if (run_radix_call(user, c, why, sizeof why))
        return true;
    print_error("%s\n", why);
    return false;
}

static void dtypes(void **state) {
    assert_true(radix_call_dtypes(visit, *state));
}

static void orders(void **state) {
    assert_true(radix_call_orders(visit, *state));
}

static void sorted(void **state) {
    assert_true(radix_call_sorted(visit, *state));
}

static void payload(void **state) {
    assert_true(radix_call_payload(visit, *state));
}

static void lengths(void **state) {
    assert_true(radix_call_lengths(visit, *state, 131072));
}

static void ragged(void **state) {
    assert_true(radix_call_ragged(visit, *state));
}

static void strides(void **state) {
    assert_true(radix_call_strides(visit, *state));
}

static void ks(void **state) {
    assert_true(radix_call_ks(visit, *state));
}

static void random_cases(void **state) {
    assert_true(radix_call_random(visit, *state, 20261129, 300, 4096));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes),  cmocka_unit_test(orders),  cmocka_unit_test(sorted),
        cmocka_unit_test(payload), cmocka_unit_test(lengths), cmocka_unit_test(ragged),
        cmocka_unit_test(strides), cmocka_unit_test(ks),      cmocka_unit_test(random_cases),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
