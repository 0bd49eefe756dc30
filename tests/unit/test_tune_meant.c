/* What variants are meant for: where it keeps them out of the choice, of rules between measured
 * values, and of a walk. */
#include "cli/tune.h"

#include "tune_fixture.h"

static void mean(int variant, int fact, int64_t lo, int64_t hi) {
    TuneVariant *v = &set.variants[variant];
    v->meant |= UINT32_C(1) << fact;
    v->meant_lo[fact] = lo;
    v->meant_hi[fact] = hi;
}

static bool has_time(int point, int variant) {
    return isfinite(tune_score(&set, point, variant));
}

/* ---- the choice ---- */

/* b is for unaligned rows, c for 1,001 columns and more. */
static void begin_with_three(int points) {
    begin(3, points);
    mean(1, ALIGN, 1, 8);
    mean(2, COLUMNS, 1001, MOST);
}

static void test_all_that_a_variant_is_meant_for_must_hold(void **state) {
    static const struct {
        int64_t columns, align;
        bool meant[4];
    } rows[] = {{1000, 16, {true, false, false, false}},
                {1000, 8, {true, true, false, false}},
                {1001, 16, {true, false, true, false}},
                {1001, 4, {true, true, true, true}},
                {MOST, 1, {true, true, true, true}}};
    (void)state;
    begin(4, 1);
    mean(1, ALIGN, 1, 8);
    mean(2, COLUMNS, 1001, MOST);
    mean(3, ALIGN, 1, 8);
    mean(3, COLUMNS, 1001, MOST);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t fact[TUNE_FACTS] = {1, rows[i].columns, 8, rows[i].align, 0};
        for (int v = 0; v < 4; v++)
            assert_int_equal(tune_is_meant(&set, v, fact), rows[i].meant[v]);
    }
}

static void test_what_is_not_meant_does_not_count_although_faster(void **state) {
    (void)state;
    begin_with_three(3);
    for (int i = 0; i < 3; i++) {
        int p = add_point(1, i == 2 ? 5000 : 1000, 8, i == 1 ? 8 : 16);
        for (int v = 0; v < 3; v++)
            set_time(p, v, 10 - v);
    }
    tune_keep_candidates(&set);
    assert_true(has_time(0, 0) && !has_time(0, 1) && !has_time(0, 2));
    assert_true(has_time(1, 0) && has_time(1, 1) && !has_time(1, 2));
    assert_true(has_time(2, 0) && !has_time(2, 1) && has_time(2, 2));
    make_rules();
    assert_int_equal(chosen(1, 1000, 8, 16), 0);
    assert_int_equal(chosen(1, 1000, 8, 8), 1);
    assert_int_equal(chosen(1, 5000, 8, 16), 2);
}

static void test_where_nothing_that_is_meant_is_legal_all_count(void **state) {
    (void)state;
    begin_with_three(2);
    set.variants[0].hi[ROWS] = 3;
    int neither = add_point(4, 1000, 8, 16), one = add_point(4, 5000, 8, 16);
    for (int v = 1; v < 3; v++) {
        set_time(neither, v, 10 - v);
        set_time(one, v, v);
    }
    tune_keep_candidates(&set);
    assert_true(has_time(neither, 1) && has_time(neither, 2));
    assert_true(!has_time(one, 1) && has_time(one, 2));
    make_rules();
    assert_int_equal(chosen(4, 1000, 8, 16), 2);
    assert_int_equal(chosen(4, 5000, 8, 16), 2);
}

/* a is legal at both points and was too slow to be timed at the second: what it was slower than is
 * no candidate, and the choice that of the first. */
static void test_what_is_meant_and_has_no_time_keeps_the_others_out(void **state) {
    (void)state;
    begin_with_three(2);
    set_time(add_point(1, 500, 8, 16), 0, 5);
    int slow = add_point(1, 1000, 8, 16);
    set_time(slow, 1, 5);
    tune_keep_candidates(&set);
    assert_false(has_time(slow, 1));
    make_rules();
    assert_int_equal(chosen(1, 1000, 8, 16), 0);
}

/* A file may have times of a variant that takes fewer calls since. */
static void test_what_is_not_legal_does_not_count(void **state) {
    (void)state;
    begin(2, 2);
    set.variants[1].hi[COLUMNS] = 1000;
    int shorter = add_pair(1, 1000, 8, 16, 10, 9), longer = add_pair(1, 5000, 8, 16, 10, 9);
    tune_keep_candidates(&set);
    assert_true(has_time(shorter, 0) && has_time(shorter, 1));
    assert_true(has_time(longer, 0) && !has_time(longer, 1));
    make_rules();
    assert_int_equal(chosen(1, 1000, 8, 16), 1);
    assert_int_equal(chosen(1, 5000, 8, 16), 0);
}

static void test_legal_are_ranges_alignments_and_names(void **state) {
    static const struct {
        int64_t rows, align, dtype;
        bool legal;
    } rows[] = {{5, 16, 1, true},  {7, 32, 1, true}, {4, 16, 1, false},
                {8, 16, 1, false}, {5, 8, 1, false}, {5, 16, 0, false}};
    (void)state;
    begin(1, 1);
    set.variants[0].lo[ROWS] = 5;
    set.variants[0].hi[ROWS] = 7;
    set.variants[0].lo[ALIGN] = 16;
    set.variants[0].lo[DTYPE] = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t fact[TUNE_FACTS] = {rows[i].rows, 9, 9, rows[i].align, rows[i].dtype};
        assert_int_equal(tune_is_legal(&set, 0, fact), rows[i].legal);
    }
}

/* ---- rules ---- */

/* a is any call's; b is better at many columns, and meant for more than 1,000 of them. */
static void begin_with_a_long_one(int points) {
    begin(2, points);
    mean(1, COLUMNS, 1001, 20000);
}

static void test_a_rule_between_two_columns_ends_with_what_is_meant(void **state) {
    (void)state;
    begin_with_a_long_one(3);
    set_time(add_point(1, 100, 8, 16), 0, 5);
    for (int64_t columns = 10000; columns <= 20000; columns += 10000)
        add_pair(1, columns, 8, 16, 9, 5);
    make_rules();
    assert_int_equal(chosen(1, 1000, 8, 16), 0);
    assert_int_equal(chosen(1, 1001, 8, 16), 1);
    assert_int_equal(chosen(1, 20000, 8, 16), 1);
    assert_int_equal(chosen(1, 20001, 8, 16), 0);
}

static void test_a_rule_keeps_the_measured_columns_where_nothing_else_is_legal(void **state) {
    (void)state;
    begin_with_a_long_one(2);
    set.variants[0].hi[COLUMNS] = 0;
    set_time(add_point(1, 100, 8, 16), 1, 5);
    set_time(add_point(1, 10000, 8, 16), 1, 5);
    tune_keep_candidates(&set);
    make_rules();
    assert_int_equal(chosen(1, 100, 8, 16), 1);
    assert_int_equal(chosen(1, 10000, 8, 16), 1);
}

/* b is the better one of 64 rows, at 10,000 columns; at 1,000 nothing was measured of so many. */
static void test_what_was_not_measured_goes_with_what_is_meant(void **state) {
    (void)state;
    begin_with_a_long_one(5);
    for (int64_t columns = 100; columns <= 10000; columns *= 10)
        set_time(add_point(1, columns, 8, 16), 0, 5);
    set_time(add_point(64, 100, 8, 16), 0, 5);
    set_time(add_point(64, 10000, 8, 16), 1, 5);
    make_rules();
    assert_int_equal(chosen(64, 1000, 8, 16), 0);
    assert_int_equal(chosen(64, 10000, 8, 16), 1);
}

/* The same, where what is meant for such columns cannot take so many rows. */
static void test_what_was_not_measured_goes_with_what_is_legal(void **state) {
    (void)state;
    begin_with_a_long_one(5);
    set.variants[0].hi[ROWS] = 3;
    for (int64_t columns = 100; columns <= 10000; columns *= 10)
        set_time(add_point(1, columns, 8, 16), 0, 5);
    set_time(add_point(64, 100, 8, 16), 1, 5);
    set_time(add_point(64, 10000, 8, 16), 1, 5);
    make_rules();
    assert_int_equal(chosen(64, 1000, 8, 16), 1);
    assert_int_equal(chosen(1, 1000, 8, 16), 0);
}

static void test_the_last_rule_is_of_what_is_meant_for_all(void **state) {
    (void)state;
    begin_with_a_long_one(1);
    add_pair(1, 10000, 8, 16, 9, 5);
    make_rules();
    assert_int_equal(chosen(1, 10000, 8, 16), 1);
    assert_int_equal(chosen(1, 1000, 8, 16), 0);
}

static void test_smaller_sizes_are_left_to_what_is_meant_for_them(void **state) {
    (void)state;
    begin(2, 2);
    mean(1, K, 100, 2000);
    for (int i = 0; i < 2; i++) {
        int p = add_point(1, 100, i ? 4000 : 2000, 16);
        set_time(p, 0, 9);
        if (!i)
            set_time(p, 1, 5);
    }
    make_rules();
    assert_int_equal(chosen(1, 100, 99, 16), 0);
    assert_int_equal(chosen(1, 100, 100, 16), 1);
    assert_int_equal(chosen(1, 100, 2000, 16), 1);
    assert_int_equal(chosen(1, 100, 2001, 16), 0);
}

/* ---- a walk ---- */

static TuneAnswer answer(void *user, int p, int v, bool thorough, double limit, double us[2]) {
    (void)user;
    (void)thorough;
    (void)limit;
    us[0] = us[1] = 30 - 10 * v;
    return tune_is_legal(&set, v, set.points[p].fact) ? TUNE_TIMED : TUNE_REFUSED;
}

static bool more(void *user, int done) {
    (void)user;
    (void)done;
    return true;
}

static void test_a_walk_times_candidates_alone(void **state) {
    TuneTimer timer = {NULL, answer, more};
    (void)state;
    begin_with_three(4);
    set.variants[0].hi[ROWS] = 3;
    int first = add_point(1, 1000, 8, 16), all = add_point(1, 5000, 8, 8);
    int one = add_point(4, 5000, 8, 16), neither = add_point(4, 1000, 8, 16);
    assert_true(tune_walk(&set, &timer));
    assert_true(has_time(first, 0) && !has_time(first, 1) && !has_time(first, 2));
    assert_true(has_time(all, 0) && has_time(all, 1) && has_time(all, 2));
    assert_true(!has_time(one, 1) && has_time(one, 2));
    assert_true(has_time(neither, 1) && has_time(neither, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_all_that_a_variant_is_meant_for_must_hold, drop),
        cmocka_unit_test_teardown(test_what_is_not_meant_does_not_count_although_faster, drop),
        cmocka_unit_test_teardown(test_where_nothing_that_is_meant_is_legal_all_count, drop),
        cmocka_unit_test_teardown(test_what_is_meant_and_has_no_time_keeps_the_others_out, drop),
        cmocka_unit_test_teardown(test_what_is_not_legal_does_not_count, drop),
        cmocka_unit_test_teardown(test_legal_are_ranges_alignments_and_names, drop),
        cmocka_unit_test_teardown(test_a_rule_between_two_columns_ends_with_what_is_meant, drop),
        cmocka_unit_test_teardown(
            test_a_rule_keeps_the_measured_columns_where_nothing_else_is_legal, drop),
        cmocka_unit_test_teardown(test_what_was_not_measured_goes_with_what_is_meant, drop),
        cmocka_unit_test_teardown(test_what_was_not_measured_goes_with_what_is_legal, drop),
        cmocka_unit_test_teardown(test_the_last_rule_is_of_what_is_meant_for_all, drop),
        cmocka_unit_test_teardown(test_smaller_sizes_are_left_to_what_is_meant_for_them, drop),
        cmocka_unit_test_teardown(test_a_walk_times_candidates_alone, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
