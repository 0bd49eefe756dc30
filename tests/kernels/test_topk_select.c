/* tle_topk_select on the emulator, against the C reference. */
#include "kernels/support/topk_chain.h"
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

typedef struct Typed {
    tle_handle h;
    ElementType type;
} Typed;

static bool visit_typed(const TopkCase *c, void *user) {
    Typed *t = user;
    TopkCase typed = *c;
    typed.type = t->type;
    return visit(&typed, t->h);
}

static void of_type(tle_handle h, ElementType type) {
    Typed t = {h, type};
    assert_true(topk_lengths(visit_typed, &t, 70000));
    assert_true(topk_values(visit_typed, &t));
    assert_true(topk_ragged(visit_typed, &t));
    assert_true(topk_strides(visit_typed, &t));
    assert_true(topk_ks(visit_typed, &t));
    assert_true(topk_random(visit_typed, &t, 20261201, 200, 4096));
}

static void fp16(void **state) {
    of_type(*state, ELEMENT_FP16);
}

static void bf16(void **state) {
    of_type(*state, ELEMENT_BF16);
}

/* Each link reads what the one before it wrote. */
static void dependent_launches(void **state) {
    char why[200] = "";
    TopkChain *c = topk_chain_open(*state, 3);
    assert_non_null(c);
    bool ok =
        topk_chain_wipe(c) && topk_chain_enqueue(c, NULL) && topk_chain_right(c, why, sizeof why);
    topk_chain_close(c);
    if (!ok)
        fail_msg("%s", why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths),
        cmocka_unit_test(values),
        cmocka_unit_test(ragged),
        cmocka_unit_test(strides),
        cmocka_unit_test(ks),
        cmocka_unit_test(thousand_random_cases),
        cmocka_unit_test(fp16),
        cmocka_unit_test(bf16),
        cmocka_unit_test(dependent_launches),
    };
    return cmocka_run_group_tests(tests, open_handle, close_handle);
}
