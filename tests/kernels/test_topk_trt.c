/* The variants of tle_topk_select that no dispatch table prefers, against the C reference: those
 * after TensorRT-LLM's algorithm, whose bins come from scores cut to half precision. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "kernels/support/topk_suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void by_variant(const char *variant) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    TopkRunner v = {.variant = variant, .step = 1};
    o.device_kind = TLE_DEVICE_EMU;
    setenv("TLE_FORCE_VARIANT", variant, 1);
    if (tle_create(&v.h, &o))
        fail_msg("%s", tle_last_error());
    assert_true(topk_values(topk_run, &v));
    assert_true(topk_ragged(topk_run, &v));
    assert_true(topk_random(topk_run, &v, 9, 100, 6000));
    assert_true(v.run > 30);
    tle_destroy(v.h);
    unsetenv("TLE_FORCE_VARIANT");
}

static void wide_loads(void **state) {
    (void)state;
    by_variant("topk_select__f32__kany__trt__v4__w16");
}

static void any_alignment(void **state) {
    (void)state;
    by_variant("topk_select__f32__kany__trt__v1__w16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_loads),
        cmocka_unit_test(any_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
