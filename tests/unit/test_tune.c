/* `tle tune` without a GPU: timings go in, rules come out. What the rules choose is compared with
 * the timings themselves, the smallest sets with all sets. */
#include "cli/tune.h"

#include "tune_fixture.h"

/* ---- covers ---- */

static unsigned next_random(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static double loss_of(const double *loss, int cells, int members, const bool *chosen_set) {
    double total = 0;
    for (int c = 0; c < cells; c++) {
        double least = INFINITY;
        for (int m = 0; m < members; m++)
            if (chosen_set[m])
                least = fmin(least, loss[c * members + m]);
        total += least;
    }
    return total;
}

enum { CELLS = 12, MEMBERS = 8 };

static int count_chosen(const bool *chosen_set) {
    int count = 0;
    for (int m = 0; m < MEMBERS; m++)
        count += chosen_set[m];
    return count;
}

static void test_cover_is_the_best_of_all_sets(void **state) {
    unsigned random = 1;
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        bool allowed[CELLS * MEMBERS] = {false}, found[MEMBERS], tried[MEMBERS];
        double loss[CELLS * MEMBERS];
        for (int c = 0; c < CELLS; c++) {
            allowed[c * MEMBERS + (int)(next_random(&random) % MEMBERS)] = true;
            for (int m = c * MEMBERS; m < (c + 1) * MEMBERS; m++) {
                if (next_random(&random) % 4 == 0)
                    allowed[m] = true;
                loss[m] = allowed[m] ? 1e-4 * (next_random(&random) % 300) : INFINITY;
            }
        }
        int best_size = MEMBERS + 1;
        double best_loss = INFINITY;
        for (unsigned set_bits = 0; set_bits < 1u << MEMBERS; set_bits++) {
            for (int m = 0; m < MEMBERS; m++)
                tried[m] = set_bits >> m & 1;
            double total = loss_of(loss, CELLS, MEMBERS, tried);
            int size = count_chosen(tried);
            if (isfinite(total) && (size < best_size || (size == best_size && total < best_loss))) {
                best_size = size;
                best_loss = total;
            }
        }
        assert_true(tune_cover(allowed, loss, CELLS, MEMBERS, found));
        assert_int_equal(count_chosen(found), best_size);
        assert_true(fabs(loss_of(loss, CELLS, MEMBERS, found) - best_loss) < 1e-9);
    }
}

/* Each cell allows three neighbours of many: a set of every third is enough, and far too many sets
 * are there to try them all. */
static void test_cover_of_very_many_is_small_enough(void **state) {
    enum { MANY = 90 };
    static bool allowed[MANY * MANY], found[MANY];
    static double loss[MANY * MANY];
    int count = 0;
    (void)state;
    for (int i = 0; i < MANY * MANY; i++) {
        int away = (i % MANY - i / MANY + MANY) % MANY;
        allowed[i] = away < 3;
        loss[i] = allowed[i] ? 0 : INFINITY;
    }
    assert_true(tune_cover(allowed, loss, MANY, MANY, found));
    assert_true(loss_of(loss, MANY, MANY, found) == 0);
    for (int m = 0; m < MANY; m++)
        count += found[m];
    assert_true(count <= MANY / 3 + MANY / 10);
}

/* ---- rules ---- */

static const int64_t row_grid[] = {1, 4, 16, 64}, column_grid[] = {100, 1000, 10000, 100000};

/* All points of the two grids; us[i][j] is the time of variant v by the caller's model. */
static void add_grid(double (*model)(int64_t rows, int64_t columns, int variant)) {
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int p = add_point(row_grid[i], column_grid[j], 8, 16);
            for (int v = 0; v < set.variant_count; v++)
                set_time(p, v, model(row_grid[i], column_grid[j], v));
        }
    }
}

/* a: a short body, b: one of a cluster, c: one CTA for each row; d is 2 % faster than c once. */
static double bodies(int64_t rows, int64_t columns, int variant) {
    double r = (double)rows, n = (double)columns;
    double us[] = {columns <= 1000 ? 2 + n / 1000 : NAN, 5 + r * n / 100000, 4 + r / 16 + n / 5000,
                   (rows == 64 && columns == 10000 ? 0.98 : 1.5) * (4 + r / 16 + n / 5000)};
    return us[variant];
}

static void test_few_rules_choose_what_is_fast(void **state) {
    (void)state;
    begin(4, 16);
    add_grid(bodies);
    set.variants[0].hi[COLUMNS] = 1000;
    make_rules();
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int v = chosen(row_grid[i], column_grid[j], 8, 16);
            double best = INFINITY;
            for (int w = 0; w < 4; w++)
                best = fmin(best, tune_score(&set, 4 * i + j, w));
            assert_true(tune_score(&set, 4 * i + j, v) <= 1.03 * best);
            assert_int_not_equal(v, 3); /* c is near enough there */
        }
    }
    assert_true(rules.count <= 4);
}

static void test_between_grid_values_the_upper_one_counts(void **state) {
    (void)state;
    begin(4, 16);
    add_grid(bodies);
    make_rules();
    for (int64_t rows = 1; rows <= 64; rows++) {
        for (int64_t columns = 50; columns <= 100000; columns += 777) {
            int i = 0, j = 0;
            while (row_grid[i] < rows)
                i++;
            while (column_grid[j] < columns)
                j++;
            assert_int_equal(chosen(rows, columns, 8, 16),
                             chosen(row_grid[i], column_grid[j], 8, 16));
        }
    }
    assert_int_equal(chosen(5000, 700000, 8, 16), chosen(64, 100000, 8, 16)); /* beyond the grid */
}

static void test_random_times_never_lose_more_than_the_tolerance(void **state) {
    unsigned random = 7;
    (void)state;
    for (int trial = 0; trial < 100; trial++) {
        begin(6, 16);
        for (int p = 0; p < 16; p++) {
            add_point(row_grid[p / 4], column_grid[p % 4], 8, 16);
            set_time(p, (int)(next_random(&random) % 6), 100);
            for (int v = 0; v < 6; v++)
                if (next_random(&random) % 3)
                    set_time(p, v, 100 + 0.1 * (next_random(&random) % 100));
        }
        make_rules();
        for (int p = 0; p < 16; p++) {
            int v = tune_chosen(&set, &rules, set.points[p].fact);
            double best = INFINITY;
            for (int w = 0; w < 6; w++)
                best = fmin(best, tune_score(&set, p, w));
            assert_true(tune_score(&set, p, v) <= 1.03 * best);
        }
        drop(NULL);
    }
}

static void test_of_very_many_variants_few_are_named(void **state) {
    (void)state;
    begin(80, 16);
    for (int p = 0; p < 16; p++) {
        add_point(row_grid[p / 4], column_grid[p % 4], 8, 16);
        for (int v = 0; v < 80; v++)
            set_time(p, v, (p == 15) == (v == 79) ? 100 + 0.03 * v : 110);
    }
    make_rules();
    assert_int_equal(rules.count, 2);
    assert_int_equal(chosen(64, 100000, 8, 16), 79);
    assert_int_equal(chosen(64, 10000, 8, 16), 0); // of as few it loses least
}

static void test_more_variants_than_a_class_holds_are_refused(void **state) {
    (void)state;
    begin(TUNE_MEMBERS, TUNE_MEMBERS);
    for (int v = 0; v < TUNE_MEMBERS; v++) {
        int p = add_point(v < 32 ? 1 : 2, 100 + v % 32, 8, 16);
        for (int w = 0; w < TUNE_MEMBERS; w++)
            set_time(p, w, v == w ? 1 : 2);
    }
    assert_false(tune_rules(&set, 1.03, &rules, why, sizeof why));
    assert_string_equal(why, "more than 63 variants are needed in one class");
}

static void test_sizes_with_own_variants_come_first_and_others_share(void **state) {
    (void)state;
    begin(2, 8);
    set.variants[0].lo[K] = set.variants[0].hi[K] = 512; // made for 512; the other takes any
    const int64_t sizes[] = {16, 512, 900, 4000};
    for (int i = 0; i < 4; i++) {
        int p = add_point(1, 100, sizes[i], 16);
        set_time(p, 1, 10);
        if (sizes[i] == 512)
            set_time(p, 0, 5);
    }
    make_rules();
    assert_int_equal(rules.count, 2);
    assert_int_equal(rules.list[0].variant, 0);
    assert_int_equal(chosen(1, 100, 512, 16), 0);
    assert_int_equal(chosen(1, 100, 511, 16), 1);
    assert_int_equal(chosen(1, 100, 513, 16), 1);
    assert_int_equal(chosen(1, 100, 4096, 16), 1);
    assert_int_equal(rules.list[1].lo[K], 0);
    assert_int_equal(rules.list[1].hi[K], 4096);
}

/* a is made for 512, b ends at 2,048, c takes any; measured at 100, 2,000 and 8,000. b is the best
 * of the short rows, a a little better at 512, and c of the long rows. */
static void test_rules_of_a_size_are_what_those_behind_do_not_say(void **state) {
    const int64_t sizes[] = {100, 512, 2000, 4000};
    (void)state;
    begin(3, 16);
    set.variants[0].lo[K] = set.variants[0].hi[K] = 512;
    set.variants[1].hi[K] = 2048;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int p = add_point(1, column_grid[j], sizes[i], 16);
            set_time(p, 2, 10);
            if (sizes[i] <= 2000)
                set_time(p, 1, column_grid[j] <= 1000 ? 8 : 12);
            if (sizes[i] == 512)
                set_time(p, 0, column_grid[j] == 100 ? 6 : 9.9);
        }
    }
    make_rules();
    assert_int_equal(rules.count, 3);
    assert_int_equal(chosen(1, 100, 512, 16), 0);
    assert_int_equal(chosen(1, 101, 512, 16), 1);
    assert_int_equal(chosen(1, 1001, 512, 16), 2);
    assert_int_equal(chosen(1, 100, 100, 16), 1);
    assert_int_equal(chosen(1, 1000, 2048, 16), 1); // where b ends
    assert_int_equal(chosen(1, 1000, 2049, 16), 2);
    assert_int_equal(chosen(1, 1001, 7, 16), 2);
}

/* a is made for 512 and was measured at the ends of the grid alone, b for any. */
static void test_what_a_size_has_not_measured_is_left_to_the_others(void **state) {
    (void)state;
    begin(2, 8);
    set.variants[0].lo[K] = set.variants[0].hi[K] = 512;
    for (int j = 0; j < 4; j++)
        set_time(add_point(1, column_grid[j], 2000, 16), 1, 10);
    for (int j = 0; j < 4; j += 3)
        add_pair(1, column_grid[j], 512, 16, 5, 10);
    make_rules();
    assert_int_equal(chosen(1, 100, 512, 16), 0);
    assert_int_equal(chosen(1, 101, 512, 16), 1);
    assert_int_equal(chosen(1, 10000, 512, 16), 1);
    assert_int_equal(chosen(1, 10001, 512, 16), 0);
}

/* Where nothing was measured a piece is neither a hole nor left to chance. */
static void test_what_was_not_measured_goes_with_its_neighbours(void **state) {
    (void)state;
    begin(2, 3);
    set_time(add_point(1, 100, 8, 16), 0, 5);
    set_time(add_point(64, 100, 8, 16), 1, 5);
    set_time(add_point(1, 1000, 8, 16), 0, 5); // and nothing at 64 x 1000
    make_rules();
    assert_int_equal(chosen(64, 1000, 8, 16), 1);
    assert_int_equal(chosen(1, 5000, 8, 16), 0);
    assert_true(chosen(5000, 500000, 8, 16) >= 0);
}

static void test_a_larger_alignment_is_asked_first(void **state) {
    (void)state;
    begin(2, 2);
    set_time(add_point(1, 100, 8, 4), 0, 5); // b needs 16
    add_pair(1, 100, 8, 16, 5, 3);
    make_rules();
    assert_int_equal(rules.count, 2);
    assert_int_equal(chosen(1, 100, 8, 16), 1);
    assert_int_equal(chosen(1, 100, 8, 4), 0);
    assert_int_equal(chosen(1, 100, 8, 8), 0);
    assert_int_equal(rules.list[1].conditions, 0); // what is aligned by 4 is everything
}

static void test_what_one_type_has_measured_does_not_limit_another(void **state) {
    (void)state;
    begin(2, 3);
    for (int i = 0; i < 3; i++) { /* of the second type only k = 8, and another alignment */
        int p = add_point(1, 100, i == 1 ? 4000 : 8, i == 2 ? 8 : 16);
        set.points[p].fact[DTYPE] = i == 2;
        set_time(p, i == 2, 5);
    }
    make_rules();
    const int64_t other[TUNE_FACTS] = {1, 100, 4096, 2, 1};
    assert_int_equal(tune_chosen(&set, &rules, other), 1);
}

/* The first of two variants is the better one at size 8, and ends at 1,000 columns. */
static void begin_with_a_short_one(void) {
    begin(2, 2);
    set.variants[0].hi[COLUMNS] = 1000;
    add_pair(1, 1000, 8, 16, 1, 9);
}

static void test_a_last_rule_covers_what_the_others_cannot(void **state) {
    (void)state;
    begin_with_a_short_one();
    make_rules();
    assert_int_equal(rules.count, 2);
    assert_int_equal(rules.list[0].variant, 0);
    assert_int_equal(rules.list[1].variant, 1);
}

static void test_a_last_rule_may_come_from_another_size(void **state) {
    (void)state;
    begin_with_a_short_one();
    set_time(add_point(1, 1000, 4000, 16), 0, 1); // b was far behind at 8 and is not timed
    make_rules();
    assert_int_equal(chosen(1, 1000, 4000, 16), 0);
    assert_int_equal(chosen(1, 1001, 4000, 16), 1);
}

static void test_hot_and_cold_count_alike(void **state) {
    (void)state;
    begin(2, 1);
    int p = add_point(1, 1000, 8, 16);
    set.hot[tune_at(&set, p, 0)] = 1;
    set.cold[tune_at(&set, p, 0)] = 9; // 3 in the mean
    set.hot[tune_at(&set, p, 1)] = 2;
    set.cold[tune_at(&set, p, 1)] = 2;
    make_rules();
    assert_int_equal(chosen(1, 1000, 8, 16), 1);
}

static void test_too_fine_a_grid_is_refused(void **state) {
    (void)state;
    begin(1, TUNE_GRID + 1);
    for (int i = 0; i <= TUNE_GRID; i++)
        set_time(add_point(1, 100 + i, 8, 16), 0, 5);
    assert_false(tune_rules(&set, 1.03, &rules, why, sizeof why));
    assert_string_equal(why, "there are more than 32 values of columns");
}

/* ---- texts ---- */

static void test_table_is_in_the_documented_form(void **state) {
    (void)state;
    begin(3, 3);
    set_time(add_point(1, 100, 8, 16), 0, 5);
    set_time(add_point(1, 1000, 8, 16), 1, 5);
    set_time(add_point(1, 1000, 8, 4), 2, 5);
    make_rules();
    char *text = tune_table_print(&set, &rules);
    assert_string_equal(
        text, "{\"schema\": 1, \"op\": \"select\", \"arch\": \"sm_90a\",\n"
              " \"provenance\": {\"sources\": \"12ab\", \"compiler\": \"cc\", "
              "\"measured_on\": \"A \\\"GPU\\\"\"},\n"
              " \"rules\": [\n"
              "   {\"when\": {\"columns\": [101, 1000000], \"align\": 16}, \"variant\": \"b\"},\n"
              "   {\"when\": {\"align\": 16}, \"variant\": \"a\"},\n"
              "   {\"when\": {}, \"variant\": \"c\"}]}\n");
    free(text);
}

static void test_timings_read_back(void **state) {
    TuneSet again;
    (void)state;
    begin(4, 16);
    add_grid(bodies);
    set.variants[0].hi[COLUMNS] = 1000;
    set.points[3].fact[DTYPE] = 1;
    char *text = tune_set_print(&set);
    assert_non_null(text);
    if (!tune_set_parse(text, &facts, &again, why, sizeof why))
        fail_msg("%s", why);
    assert_int_equal(again.point_count, 16);
    assert_int_equal(again.variants[0].hi[COLUMNS], 1000);
    assert_int_equal(again.variants[1].hi[COLUMNS], MOST);
    assert_int_equal(again.points[3].fact[DTYPE], 1);
    for (int p = 0; p < 16; p++)
        for (int v = 0; v < 4; v++) {
            double old = tune_score(&set, p, v), now = tune_score(&again, p, v);
            assert_true(isinf(old) ? isinf(now) : fabs(old - now) < 2e-3);
        }
    tune_set_free(&again);
    free(text);
}

#define HEAD                                                                                       \
    "{\"schema\": 1, \"op\": \"o\", \"arch\": \"a\", \"device\": \"d\", \"sources\": \"\", "       \
    "\"compiler\": \"\", "
#define POINT "{\"rows\": 1, \"columns\": 2, \"k\": 3, \"align\": 4, \"dtype\": \"fp32\", \"us\": "
/* One whose time is right. */
#define AT(rows, columns, k, align)                                                                \
    HEAD "\"variants\": {\"v\": {}}, \"points\": [{\"rows\": " #rows ", \"columns\": " #columns    \
         ", \"k\": " #k ", \"align\": " #align ", \"dtype\": \"fp32\", \"us\": {\"v\": [1, 1]}}]}"

static void test_damaged_timings_are_refused(void **state) {
    static const struct {
        const char *text, *found;
    } cases[] = {
        {"{", "not JSON"},
        {"{\"schema\": 2}", "'schema' is not 1"},
        {"{\"schema\": 1, \"op\": \"o\"}", "one of op, arch"},
        {HEAD "\"variants\": {}, \"points\": []}", "'variants'"},
        {HEAD "\"variants\": {\"v\": {\"k\": [1]}}, \"points\": []}", "'variants'"},
        {HEAD "\"variants\": {\"v\": {}}, \"points\": []}", "'points'"},
        {HEAD "\"variants\": {\"v\": {}}, \"points\": [{\"rows\": 1}]}", "'points'"},
        {HEAD "\"variants\": {\"v\": {}}, \"points\": [" POINT "{\"v\": [1]}}]}", "'points'"},
        {HEAD "\"variants\": {\"v\": {}}, \"points\": [" POINT "{\"v\": [1, -1]}}]}", "'points'"},
        {AT(-1, 2, 3, 4), "'points'"},
        {AT(1, 2, 1e15, 4), "'points'"},
        {AT(1, 2.5, 3, 4), "'points'"},
        {AT(1, 2, 3, 0), "'points'"},
        {AT(1, 2, 3, -4), "'points'"},
        {AT(1, 2, 3, 6), "'points'"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TuneSet read;
        assert_false(tune_set_parse(cases[i].text, &facts, &read, why, sizeof why));
        if (!strstr(why, cases[i].found))
            fail_msg("%s: %s", cases[i].text, why);
    }
    TuneSet read;
    assert_true(tune_set_parse(AT(1, 2, 3, 4), &facts, &read, why, sizeof why));
    tune_set_free(&read);
}

/* ---- which are timed where ---- */

enum { WALK_ROWS = 9, WALK_COLUMNS = 11, WALK_VARIANTS = 12 };

typedef struct Asked {
    int looks, thorough, points_left, last_done;
    bool looked[WALK_ROWS * WALK_COLUMNS * 2];
} Asked;

/* Each variant is best at its own length, and the farther from it the slower. Those of odd numbers
 * take one type alone. */
static double time_of(int p, int v) {
    double best_at = log2(1024) + 10.0 * v / (int)WALK_VARIANTS;
    double away = fabs(log2((double)set.points[p].fact[COLUMNS]) - best_at);
    return (2 + (double)set.points[p].fact[ROWS] / 100) * (1 + 0.25 * away);
}

static TuneAnswer answer(void *user, int p, int v, bool thorough, double limit, double us[2]) {
    Asked *a = (Asked *)user;
    if (v % 2 && set.points[p].fact[DTYPE])
        return TUNE_REFUSED;
    a->looked[p] = true;
    *(thorough ? &a->thorough : &a->looks) += 1;
    us[0] = time_of(p, v) * (thorough ? 1 : 1.01);
    if (us[0] <= limit)
        us[1] = 1.5 * us[0];
    return TUNE_TIMED;
}

static bool more(void *user, int done) {
    Asked *a = (Asked *)user;
    a->last_done = done;
    return a->points_left-- > 0;
}

static void begin_walk(void) {
    begin(WALK_VARIANTS, WALK_ROWS * WALK_COLUMNS * 2);
    for (int i = 0; i < WALK_ROWS * WALK_COLUMNS * 2; i++) {
        int64_t *fact = set.points[set.point_count++].fact;
        fact[ROWS] = INT64_C(1) << i % WALK_ROWS;
        fact[COLUMNS] = INT64_C(512) << i / WALK_ROWS % WALK_COLUMNS;
        fact[K] = 128;
        fact[ALIGN] = 16;
        fact[DTYPE] = i / WALK_ROWS / WALK_COLUMNS;
    }
}

static void test_a_walk_finds_the_best_everywhere_in_few_looks(void **state) {
    (void)state;
    Asked a = {.points_left = INT32_MAX};
    TuneTimer timer = {&a, answer, more};
    int legal = 0;
    begin_walk();
    assert_true(tune_walk(&set, &timer));
    assert_int_equal(a.last_done, set.point_count);
    for (int p = 0; p < set.point_count; p++) {
        double best = INFINITY, found = INFINITY;
        int near_best = 0;
        for (int v = 0; v < WALK_VARIANTS; v++) {
            if (v % 2 && set.points[p].fact[DTYPE])
                continue;
            legal++;
            best = fmin(best, sqrt(1.5) * time_of(p, v));
            found = fmin(found, tune_score(&set, p, v));
        }
        for (int v = 0; v < WALK_VARIANTS; v++)
            near_best += tune_score(&set, p, v) < 1.09 * found;
        /* Of several not the 1 % more of a quick look. */
        assert_true(fabs(found / best - (near_best > 1 ? 1 : 1.01)) < 1e-9);
    }
    assert_true(a.looks < legal * 3 / 4);
    assert_true(a.thorough < a.looks);
}

static void test_a_walk_that_ends_early_has_been_everywhere_coarsely(void **state) {
    (void)state;
    Asked a = {.points_left = 18}; /* of each type: 3 of the rows by 3 of the columns */
    TuneTimer timer = {&a, answer, more};
    begin_walk();
    assert_true(tune_walk(&set, &timer));
    assert_int_equal(a.last_done, 18);
    for (int p = 0; p < set.point_count; p++) {
        int row = p % WALK_ROWS, column = p / WALK_ROWS % WALK_COLUMNS;
        bool coarse = row % 4 == 0 && (column % 4 == 0 || column == WALK_COLUMNS - 1);
        assert_true(!a.looked[p] || coarse);
    }
    assert_true(tune_rules(&set, 1.03, &rules, why, sizeof why));
    assert_true(rules.count > 1);
}

static void test_a_walk_goes_on_where_another_ended(void **state) {
    (void)state;
    Asked a = {.points_left = 40}, b = {.points_left = INT32_MAX};
    TuneTimer timer = {&a, answer, more};
    begin_walk();
    assert_true(tune_walk(&set, &timer));
    char *text = tune_set_print(&set);
    TuneSet saved;
    assert_true(tune_set_parse(text, &facts, &saved, why, sizeof why));
    free(text);
    tune_set_free(&set);
    begin_walk();
    assert_true(tune_set_take(&set, &saved));
    timer.user = &b;
    assert_true(tune_walk(&set, &timer));
    assert_int_equal(b.last_done, set.point_count);
    for (int p = 0; p < set.point_count; p++)
        assert_true(a.looked[p] != b.looked[p]);
    free(saved.device);
    saved.device = strdup("another");
    assert_false(tune_set_take(&set, &saved));
    tune_set_free(&saved);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cover_is_the_best_of_all_sets),
        cmocka_unit_test(test_cover_of_very_many_is_small_enough),
        cmocka_unit_test_teardown(test_few_rules_choose_what_is_fast, drop),
        cmocka_unit_test_teardown(test_between_grid_values_the_upper_one_counts, drop),
        cmocka_unit_test_teardown(test_random_times_never_lose_more_than_the_tolerance, drop),
        cmocka_unit_test_teardown(test_of_very_many_variants_few_are_named, drop),
        cmocka_unit_test_teardown(test_more_variants_than_a_class_holds_are_refused, drop),
        cmocka_unit_test_teardown(test_sizes_with_own_variants_come_first_and_others_share, drop),
        cmocka_unit_test_teardown(test_rules_of_a_size_are_what_those_behind_do_not_say, drop),
        cmocka_unit_test_teardown(test_what_a_size_has_not_measured_is_left_to_the_others, drop),
        cmocka_unit_test_teardown(test_what_was_not_measured_goes_with_its_neighbours, drop),
        cmocka_unit_test_teardown(test_a_larger_alignment_is_asked_first, drop),
        cmocka_unit_test_teardown(test_what_one_type_has_measured_does_not_limit_another, drop),
        cmocka_unit_test_teardown(test_a_last_rule_covers_what_the_others_cannot, drop),
        cmocka_unit_test_teardown(test_a_last_rule_may_come_from_another_size, drop),
        cmocka_unit_test_teardown(test_hot_and_cold_count_alike, drop),
        cmocka_unit_test_teardown(test_too_fine_a_grid_is_refused, drop),
        cmocka_unit_test_teardown(test_table_is_in_the_documented_form, drop),
        cmocka_unit_test_teardown(test_timings_read_back, drop),
        cmocka_unit_test(test_damaged_timings_are_refused),
        cmocka_unit_test_teardown(test_a_walk_finds_the_best_everywhere_in_few_looks, drop),
        cmocka_unit_test_teardown(test_a_walk_that_ends_early_has_been_everywhere_coarsely, drop),
        cmocka_unit_test_teardown(test_a_walk_goes_on_where_another_ended, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
