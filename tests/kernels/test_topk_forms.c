/* The fused forms of tle_topk_select on the emulator, against the C reference: as dispatch chooses,
 * and on every variant that makes them. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "kernels/support/topk_suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_VARIANTS = 256, NAME = 128 };

typedef struct Names {
    char name[MAX_VARIANTS][NAME];
    int count;
} Names;

static int keep_name(const tle_variant_info *info, void *user) {
    Names *names = user;
    if (strstr(info->name, "__form__") && names->count < MAX_VARIANTS)
        snprintf(names->name[names->count++], NAME, "%s", info->name);
    return 0;
}

static tle_handle open_handle(void) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    o.device_kind = TLE_DEVICE_EMU;
    if (tle_create(&h, &o))
        fail_msg("%s", tle_last_error());
    return h;
}

static void by_dispatch(void **state) {
    TopkRunner v = {.h = open_handle(), .step = 1};
    (void)state;
    assert_true(topk_forms(topk_run, &v, 131072));
    assert_true(topk_random_forms(topk_run, &v, 20261130, 100, 4096));
    tle_destroy(v.h);
}

static void by_dispatch_of_halves(void **state) {
    (void)state;
    for (int type = ELEMENT_FP16; type < ELEMENT_COUNT; type++) {
        TopkRunner v = {.h = open_handle(), .type = (ElementType)type, .step = 4};
        assert_true(topk_forms(topk_run, &v, 20000));
        assert_true(topk_random_forms(topk_run, &v, 20261131, 100, 4096));
        assert_true(v.run > 50);
        tle_destroy(v.h);
    }
}

static void by_every_variant(void **state) {
    static Names names;
    tle_handle h = open_handle();
    (void)state;
    names.count = 0;
    assert_int_equal(tle_variants(h, "topk_select", keep_name, &names), TLE_STATUS_OK);
    tle_destroy(h);
    assert_true(names.count >= 12);
    for (int i = 0; i < names.count; i++) {
        setenv("TLE_FORCE_VARIANT", names.name[i], 1);
        /* Steps that have no factor in common with the number of forms, so all forms come up. The
         * kernels of halves are those of fp32 but for the loads: fewer cases, and one of each body.
         */
        ElementType type = topk_variant_type(names.name[i]);
        if (type != ELEMENT_FP32 &&
            (strstr(names.name[i], "cluster16") || strstr(names.name[i], "streamlong")))
            continue;
        TopkRunner v = {.h = open_handle(),
                        .variant = names.name[i],
                        .type = type,
                        .step = type == ELEMENT_FP32 ? 7 : 23};
        assert_true(topk_forms(topk_run, &v, type == ELEMENT_FP32 ? 9000 : 5000));
        assert_true(topk_random_forms(topk_run, &v, 7 + (uint64_t)i, 40, 4096));
        assert_true(topk_ragged(topk_run, &v)); /* they take plain calls, too */
        assert_true(v.run > (type == ELEMENT_FP32 ? 12 : 2));
        tle_destroy(v.h);
    }
    unsetenv("TLE_FORCE_VARIANT");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_dispatch),
        cmocka_unit_test(by_dispatch_of_halves),
        cmocka_unit_test(by_every_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
