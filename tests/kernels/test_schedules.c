/* Every variant passes under every schedule of the emulator: one seed of each (soak_seeds.c has
 * fifty). */
#include "kernels/support/schedules.h"
#include "tle/tle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void topk_select(void **state) {
    (void)state;
    assert_int_equal(topk_schedules(0, 1, false), 0);
}

static void radix_select(void **state) {
    (void)state;
    assert_int_equal(radix_schedules(0, 1, false), 0);
}

static void unknown_schedule(void **state) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    (void)state;
    o.device_kind = TLE_DEVICE_EMU;
    setenv("TLE_EMU_SCHEDULE", "fair", 1);
    assert_int_equal(tle_create(&h, &o), TLE_STATUS_INVALID_ARGUMENT);
    unsetenv("TLE_EMU_SCHEDULE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topk_select),
        cmocka_unit_test(radix_select),
        cmocka_unit_test(unknown_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
