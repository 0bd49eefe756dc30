/* What the tests of `tle tune` share: an operator's facts, and sets of times made by hand. */
#ifndef UNIT_TUNE_FIXTURE_H
#define UNIT_TUNE_FIXTURE_H

#include "cli/tune.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- facts ---- */

enum { ROWS, COLUMNS, K, ALIGN, DTYPE, FACTS };
enum { MOST = 1000000 };

static const char *const dtypes[] = {"fp32", "fp16", NULL};
static const TuneFact fact_list[FACTS] = {{"rows", TUNE_SPAN, MOST, NULL},
                                          {"columns", TUNE_SPAN, MOST, NULL},
                                          {"k", TUNE_SIZE, 4096, NULL},
                                          {"align", TUNE_ALIGN, 16, NULL},
                                          {"dtype", TUNE_TEXT, 1, dtypes}};
static const TuneFacts facts = {fact_list, FACTS};

static TuneSet set;
static TuneRules rules;
static char why[200];

static int drop(void **state) {
    (void)state;
    tune_set_free(&set);
    free(rules.list);
    rules = (TuneRules){0};
    return 0;
}

/* ---- sets made by hand ---- */

static void begin(int variants, int most_points) {
    set = (TuneSet){.facts = facts, .variant_count = variants, .point_count = most_points};
    set.op = strdup("select");
    set.arch = strdup("sm_90a");
    set.device = strdup("A \"GPU\"");
    set.sources = strdup("12ab");
    set.compiler = strdup("cc");
    set.variants = (TuneVariant *)calloc((size_t)variants, sizeof *set.variants);
    set.points = (TunePoint *)calloc((size_t)most_points, sizeof *set.points);
    assert_non_null(set.variants);
    assert_non_null(set.points);
    for (int v = 0; v < variants; v++) {
        char name[] = {(char)('a' + v), '\0'};
        set.variants[v].name = strdup(name);
        for (int f = 0; f < FACTS; f++)
            set.variants[v].hi[f] = fact_list[f].most;
    }
    assert_true(tune_set_times(&set));
    set.point_count = 0;
}

static int add_point(int64_t rows, int64_t columns, int64_t k, int64_t align) {
    const int64_t fact[FACTS] = {rows, columns, k, align, 0};
    memcpy(set.points[set.point_count].fact, fact, sizeof fact);
    return set.point_count++;
}

static void set_time(int point, int variant, double us) {
    set.hot[tune_at(&set, point, variant)] = us;
    set.cold[tune_at(&set, point, variant)] = us;
}

/* A point with times of the first two variants. */
static int add_pair(int64_t rows, int64_t columns, int64_t k, int64_t align, double a, double b) {
    int point = add_point(rows, columns, k, align);
    set_time(point, 0, a);
    set_time(point, 1, b);
    return point;
}

static int chosen(int64_t rows, int64_t columns, int64_t k, int64_t align) {
    const int64_t fact[TUNE_FACTS] = {rows, columns, k, align, 0};
    return tune_chosen(&set, &rules, fact);
}

static void make_rules(void) {
    if (!tune_rules(&set, 1.03, &rules, why, sizeof why))
        fail_msg("%s", why);
}

#endif
