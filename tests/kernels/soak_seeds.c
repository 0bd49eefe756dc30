/* Every variant under fifty seeds of every schedule of the emulator. Only `make soak` runs it. */
#include "kernels/support/schedules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 50 };

static void fifty_seeds(void **state) {
    int failed = 0;
    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        int now = run_all_schedules(seed, 1);
        print_message("seed %llu: %d failures\n", (unsigned long long)seed, now);
        failed += now;
    }
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fifty_seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
