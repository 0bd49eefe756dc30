/* Rows of which a sample gives a wrong idea, on the bodies that take one: the answer is right, and
 * the row is read a few times at most. */
#include "kernels/support/one_row.h"
#include "kernels/support/values.h"

#include "cli/reference_topk.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the rows ----------------------------------------------------------------------------- */

typedef struct Spot {
    int64_t i, n;
    bool seen, seen_later;     /* by the sample; by the larger one where neighbours are alike */
    float normal, alike, unit; /* alike: the same in eight columns */
} Spot;

static float hot_end(const Spot *s) {
    return s->i >= s->n - 3000 ? s->normal + 10 : s->normal;
}

static float hot_start(const Spot *s) {
    return s->i < 2500 ? s->normal + 10 : s->normal;
}

static float hot_middle(const Spot *s) {
    return s->i >= s->n / 2 - 1500 && s->i < s->n / 2 + 1500 ? s->normal + 10 : s->normal;
}

static float few_positive(const Spot *s) {
    return s->normal > 2.5f ? s->normal - 2.5f : 0;
}

/* What the sample sees is a little better than the rest, by powers of two, or of another sign. */
static float seen_a_little_better(const Spot *s) {
    return s->seen ? 3 + s->unit / 8 : 2 + s->unit;
}

static float seen_far_better(const Spot *s) {
    return s->seen ? 1000 + s->unit : s->unit;
}

static float seen_positive(const Spot *s) {
    return s->seen ? s->unit : -s->unit;
}

static float seen_positive_else_zero(const Spot *s) {
    return s->seen ? s->unit : 0;
}

static float seen_negative_else_lower(const Spot *s) {
    return s->seen ? -1 - s->unit : -10 - s->unit;
}

/* The sample sees nothing of what is wanted. */
static float unseen_better(const Spot *s) {
    return s->seen ? s->unit : 100 + s->unit;
}

static float unseen_infinite(const Spot *s) {
    return s->seen || s->unit > 0.3f ? s->normal : INFINITY;
}

static float unseen_nan(const Spot *s) {
    return s->seen || s->unit > 0.3f ? s->normal : NAN;
}

/* Many scores share a value that is not the mark. */
static float unseen_plateau(const Spot *s) {
    return s->seen ? 3 + s->unit / 8 : s->unit < 0.001f ? 2.9f + s->unit : 2.7f;
}

static float unseen_plateau_above(const Spot *s) {
    return s->seen ? s->unit : s->unit < 0.001f ? 9 + s->unit : 7;
}

/* What the sample sees is alike in eight neighbours: a larger one is taken, of which the other half
 * is as the rest, or as misleading as the first. */
static float seen_alike(const Spot *s) {
    return s->seen ? s->alike : s->normal;
}

static float seen_alike_and_higher(const Spot *s) {
    return s->seen || s->seen_later ? s->alike + 2 : s->normal;
}

static float seen_alike_and_lower(const Spot *s) {
    return s->seen || s->seen_later ? s->alike - 1 : s->normal;
}

static float seen_alike_and_negative(const Spot *s) {
    return s->seen || s->seen_later ? s->alike - 20 : s->unit;
}

typedef struct Kind {
    const char *name;
    float (*score)(const Spot *);
    int reads; /* of the row, at most */
} Kind;

static const Kind kinds[] = {
    {"hot end", hot_end, 3},
    {"hot start", hot_start, 3},
    {"hot middle", hot_middle, 3},
    {"few positive", few_positive, 3},
    {"seen a little better", seen_a_little_better, 3},
    {"seen far better", seen_far_better, 4},
    {"seen positive", seen_positive, 5},
    {"seen positive, else zero", seen_positive_else_zero, 4},
    {"seen negative, else lower", seen_negative_else_lower, 4},
    {"unseen better", unseen_better, 5},
    {"unseen infinite", unseen_infinite, 4},
    {"unseen NaN", unseen_nan, 4},
    {"unseen plateau", unseen_plateau, 5},
    {"unseen plateau above", unseen_plateau_above, 5},
    {"seen alike", seen_alike, 3},
    {"seen alike and higher", seen_alike_and_higher, 4},
    {"seen alike and lower", seen_alike_and_lower, 4},
    {"seen alike and negative", seen_alike_and_negative, 5},
};

/* These come behind the kinds of values.def, of which none needs more than four. */
enum { KINDS = VALUES_COUNT + sizeof kinds / sizeof *kinds };

static const char *name_of(int kind) {
    return kind < VALUES_COUNT ? value_kind_name((ValueKind)kind) : kinds[kind - VALUES_COUNT].name;
}

static int most_reads(int kind) {
    return kind < VALUES_COUNT ? 4 : kinds[kind - VALUES_COUNT].reads;
}

enum { MOST_COLUMNS = 262144, MOST_K = 2048 };

/* ---- the bodies --------------------------------------------------------------------------- */

typedef struct Body {
    const char *variant;
    int64_t columns;
    int32_t k, start, end, skip; /* skip: columns of the first group before the row */
    int64_t ctas, runs, run;     /* each CTA's sample: so many runs of so many columns */
    int64_t later; /* so many runs of eight, at places drawn by a hash as the first, or none */
    double beside; /* reads before a sample is seen to mislead, where one CTA has the row */
} Body;

static const Body bodies[] = {
    {"topk_select__f32__kany__mark2_64k__v4__w16", 65536, 2048, 0, 0, 0, 2, 1024, 8, 0, 0},
    {"topk_select__f32__kany__mark2_128k__v4__w16", 131072, 2048, 0, 0, 0, 2, 256, 32, 0, 0},
    {"topk_select__f32__kany__mark2_256k__v4__w16", 131072, 2048, 5, 131071, 1, 2, 1024, 8, 0, 0},
    {"topk_select__f32__kany__mark2_long__v4__w16", 131072, 2048, 0, 0, 0, 2, 2048, 8, 0, 0},
    {"topk_select__f32__kany__mark4_long__v4__w16", 131072, 1000, 0, 0, 0, 4, 512, 32, 0, 0},
    {"topk_select__f32__kany__mark8_long__v4__w16", 131072, 2048, 0, 0, 0, 8, 512, 32, 0, 0},
    {"topk_select__f32__kany__mark8_long__v1__w16", 131075, 1500, 3, 131075, 0, 8, 512, 32, 0, 0},
    {"topk_select__f32__kany__mark16_long__v4__w16", 262144, 2048, 0, 0, 0, 16, 512, 32, 0, 0},
    {"topk_select__f32__kany__mark8_16k__v4__w16", 16384, 2048, 0, 0, 0, 8, 128, 16, 0, 0},
    {"topk_select__f32__kany__mark8_128k__v4__w16", 131072, 2048, 0, 0, 0, 8, 256, 16, 0, 0},
    {"topk_select__f32__kany__mark16_128k__v4__w16", 131072, 2048, 0, 0, 0, 16, 128, 32, 0, 0},
    {"topk_select__f32__kany__long__v4__w16", 8000, 1000, 0, 0, 0, 1, 512, 8, 1, 2}, /* one tile */
    {"topk_select__f32__kany__long__v4__w16", 65536, 2048, 0, 0, 0, 1, 512, 8, 1024, 0.65},
    {"topk_select__f32__kany__long__v4__w16", 131072, 1000, 5, 131071, 0, 1, 512, 8, 1536, 0.35},
    {"topk_select__f32__kany__longer__v4__w16", 262144, 2048, 0, 0, 0, 1, 256, 32, 3072, 0.25},
};

/* Runs begin at equal distances from the row's first group, rounded down to whole runs. */
static bool is_spread(const Body *b, int64_t i, int64_t n) {
    int64_t step = n / b->runs, next = i / step + 1;
    for (int64_t r = next - 1; r <= next && r < b->runs; r++)
        if (i / b->run == r * step / b->run)
            return true;
    return false;
}

/* A run begins at a multiple of eight that a hash of its number draws. */
static void mark_hashed(bool *seen, int64_t n, int64_t runs, int64_t run) {
    memset(seen, 0, (size_t)n);
    for (int64_t r = 0; r < runs; r++) {
        uint64_t drawn = (uint64_t)((uint32_t)r * 0x9E3779B1u) * (uint64_t)(n - run + 1);
        memset(seen + (drawn >> 32) / 8 * 8, 1, (size_t)run);
    }
}

/* About normal. */
static float alike(int64_t group) {
    Random r = {(uint64_t)(group + 1) * 0x9E3779B97F4A7C15u};
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += random_unit(&r);
    return (float)(sum - 6);
}

static void fill(float *scores, const Body *b, int kind) {
    Random r = {(uint64_t)kind + 1};
    if (kind < VALUES_COUNT) {
        fill_values(scores, b->columns, (ValueKind)kind, &r);
        return;
    }
    static bool seen[MOST_COLUMNS], later[MOST_COLUMNS];
    int64_t n = (b->end ? b->end : b->columns) - b->start;
    fill_values(scores, b->columns, VALUES_NORMAL, &r);
    mark_hashed(seen, n, b->runs, b->run);
    mark_hashed(later, n, b->later, 8);
    for (int64_t i = 0; i < n; i++) {
        Spot s = {.i = i,
                  .n = n,
                  .seen = b->later ? seen[i] : is_spread(b, i + b->skip, n + b->skip),
                  .seen_later = later[i],
                  .normal = scores[b->start + i],
                  .alike = alike(i / 8),
                  .unit = (float)random_unit(&r)};
        scores[b->start + i] = kinds[kind - VALUES_COUNT].score(&s);
    }
}

/* Returns how many bytes of the row were read beside the sample. */
static uint64_t select_row(tle_emu_device *d, const Body *b, int kind, float *scores, int32_t *got,
                           int32_t *want) {
    int32_t end = b->end ? b->end : (int32_t)b->columns;
    fill(scores, b, kind);
    assert_true(reference_topk_row(ELEMENT_FP32, scores + b->start, end - b->start, b->k, want));
    const char *wrong =
        select_one_row(d, &(OneRow){b->variant, scores, b->columns, b->k, b->start, b->end, got});
    if (wrong)
        fail_msg("%s, %s: %s", b->variant, name_of(kind), wrong);
    for (int32_t i = 0; i < b->k; i++)
        if (got[i] != want[i])
            fail_msg("%s, %s: place %d has %d, not %d", b->variant, name_of(kind), i, got[i],
                     want[i]);
    uint64_t read = cost_figure(tle_emu_cost_json(d), "global_load_sectors") * 32;
    return read - (uint64_t)(b->ctas * b->runs * b->run * 4);
}

static void misled(void **state) {
    static float scores[MOST_COLUMNS];
    static int32_t got[MOST_K], want[MOST_K];
    tle_emu_device *d = open_counting(1);
    (void)state;
    assert_non_null(d);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const Body *b = &bodies[i];
        double once = (double)select_row(d, b, VALUES_NORMAL, scores, got, want);
        print_message("%s, %lld columns:", b->variant, (long long)b->columns);
        for (int kind = 0; kind < KINDS; kind++) {
            double reads = (double)select_row(d, b, kind, scores, got, want) / once;
            print_message(" %s %.2f,", name_of(kind), reads);
            if (reads > most_reads(kind) + b->beside + 0.02)
                fail_msg("%s: the row is read %.2f times", name_of(kind), reads);
        }
        print_message("\n");
    }
    tle_emu_destroy(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(misled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
