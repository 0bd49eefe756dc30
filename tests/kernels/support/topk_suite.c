#include "kernels/support/topk_suite.h"

#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

bool topk_run(const TopkCase *c, void *runner) {
    TopkRunner *r = runner;
    char why[1100];
    TopkCase typed = *c;
    typed.type = r->type;
    if ((r->variant && !topk_variant_takes(r->variant, c)) || r->seen++ % r->step)
        return true;
    r->run++;
    if (run_topk_case(r->h, &typed, why, sizeof why))
        return true;
    fprintf(stderr, "%s%s%s: %s\n", r->arch ? r->arch : "", r->arch ? ", " : "",
            r->variant ? r->variant : "dispatch", why);
    return false;
}

/* Around k, around the tile of 8192, odd ones, and long rows. */
bool topk_lengths(TopkVisit *visit, void *user, int64_t max_columns) {
    static const int64_t columns[] = {1,      2,      3,      511,    512,    513,   1023,
                                      1025,   2047,   2048,   2049,   4095,   4096,  4097,
                                      8191,   8192,   8193,   16385,  32768,  65537, 99999,
                                      131071, 131072, 262144, 524288, 1048576};
    static const int64_t ks[] = {512, 1024, 2048};
    for (size_t i = 0; i < COUNT(columns); i++) {
        for (size_t j = 0; j < COUNT(ks) && columns[i] <= max_columns; j++) {
            if (columns[i] > 20000 && j != 2)
                continue;
            TopkCase c = {.rows = 1,
                          .columns = columns[i],
                          .k = ks[j],
                          .values = VALUES_NORMAL,
                          .seed = i + 1};
            if (!visit(&c, user))
                return false;
        }
    }
    static const int32_t lengths[] = {0,    1,    -1,   INT32_MIN + 1, 2047, 2048,
                                      2049, 3001, 4999, 5000,          5001, INT32_MAX};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        TopkCase c = {.rows = 3,
                      .columns = 5000,
                      .k = 2048,
                      .values = VALUES_NORMAL,
                      .lengths = true,
                      .length = lengths[i],
                      .seed = 100 + i};
        if (!visit(&c, user))
            return false;
    }
    return true;
}

bool topk_values(TopkVisit *visit, void *user) {
    for (int kind = 0; kind < VALUES_COUNT; kind++) {
        TopkCase c = {.rows = 2, .columns = 10000, .k = 2048, .values = (ValueKind)kind, .seed = 7};
        TopkCase d = {.rows = 1,
                      .columns = 3001,
                      .k = 512,
                      .values = (ValueKind)kind,
                      .seed = 8,
                      .misalign = 1};
        if (!visit(&c, user) || !visit(&d, user))
            return false;
    }
    return true;
}

bool topk_ragged(TopkVisit *visit, void *user) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (int kind = 0; kind < 4; kind++) {
            TopkCase c = {.rows = 9,
                          .columns = 3000 + (int64_t)seed * 4,
                          .k = kind == 3 ? 100 : 512,
                          .values = kind == 2 ? VALUES_GRID : VALUES_NORMAL,
                          .seed = seed};
            c.lengths = kind != 1;
            c.row_starts = kind != 0;
            c.length = c.start = TOPK_RAGGED;
            if (!visit(&c, user))
                return false;
        }
    }
    /* rows that end within the last group of columns that a wide load takes, at tiles' ends */
    for (int i = 0; i < 15; i++) {
        TopkCase c = {.rows = i % 2 ? 2 : 20,
                      .columns = 2048 << (i / 3),
                      .k = i % 2 ? 2048 : 300,
                      .values = VALUES_NORMAL,
                      .lengths = true,
                      .length = (2048 << (i / 3)) - 1 - i % 3,
                      .seed = 20 + (uint64_t)i};
        if (!visit(&c, user))
            return false;
    }
    return true;
}

bool topk_strides(TopkVisit *visit, void *user) {
    static const struct {
        int64_t columns, stride, index_stride, misalign;
    } forms[] = {{4096, 4096, 0, 1},   {4096, 4097, 0, 0},   {4096, 4100, 600, 0},
                 {4095, 4096, 513, 0}, {4097, 5001, 0, 3},   {2500, 1, 0, 0},
                 {2500, 0, 0, 2},      {4096, 8192, 700, 4}, {9001, 9004, 0, 0},
                 {12288, 12290, 0, 2}};
    for (size_t i = 0; i < COUNT(forms); i++) {
        TopkCase c = {.rows = 4,
                      .columns = forms[i].columns,
                      .row_stride = forms[i].stride,
                      .k = 512,
                      .index_stride = forms[i].index_stride,
                      .misalign = forms[i].misalign,
                      .values = VALUES_NORMAL,
                      .seed = i + 1};
        if (!visit(&c, user))
            return false;
    }
    return true;
}

bool topk_ks(TopkVisit *visit, void *user) {
    static const int64_t ks[] = {1,    2,    3,    7,    31,   32,   33,   100,
                                 255,  511,  512,  513,  777,  1023, 1024, 1025,
                                 2000, 2047, 2048, 2049, 3000, 4095, 4096};
    static const int64_t large[] = {4097, 5000, 8191, 8192};
    static const int64_t beyond[] = {-1, 0, 1, 3, 4000, 20000}; /* columns beyond k */
    for (size_t i = 0; i < COUNT(ks); i++) {
        TopkCase c = {.rows = 1,
                      .columns = 6000,
                      .k = ks[i],
                      .values = i % 2 ? VALUES_GRID : VALUES_NORMAL,
                      .seed = i + 1};
        if (!visit(&c, user))
            return false;
    }
    for (size_t i = 0; i < COUNT(large) * COUNT(beyond); i++) {
        int64_t k = large[i / COUNT(beyond)];
        TopkCase c = {.rows = 1,
                      .columns = k + beyond[i % COUNT(beyond)],
                      .k = k,
                      .values = i % 3 ? VALUES_NORMAL : VALUES_GRID,
                      .sorted = i % 4 == 3,
                      .with_values = i % 4 == 3,
                      .seed = i + 1};
        if (!visit(&c, user))
            return false;
    }
    return true;
}

static int64_t draw_columns(Random *r, int64_t max) {
    int64_t top = (int64_t)1 << (1 + random_below(r, 14));
    return 1 + (int64_t)random_below(r, (uint64_t)(top < max ? top : max));
}

static TopkCase draw_case(Random *r, int64_t max_columns) {
    TopkCase c = {.rows = 1 + (int64_t)random_below(r, 4), .columns = draw_columns(r, max_columns)};
    c.k = random_below(r, 3) ? 1 + (int64_t)random_below(r, 1u << (1 + random_below(r, 13)))
                             : (int64_t)512 << random_below(r, 3);
    c.row_stride = c.columns + (int64_t)random_below(r, 9);
    c.index_stride = c.k + (int64_t)random_below(r, 3);
    c.misalign = (int64_t)random_below(r, 5);
    c.values = (ValueKind)random_below(r, VALUES_COUNT);
    c.lengths = random_below(r, 2) != 0;
    c.row_starts = random_below(r, 3) == 0;
    c.length = c.start = TOPK_RAGGED;
    c.seed = random_bits(r);
    c.dependent = c.seed & 1;
    return c;
}

bool topk_regimes(TopkVisit *visit, void *user, int64_t max_columns) {
    static const struct {
        int64_t rows, columns, k;
    } regimes[] = {{200, 3000, 700},  {3, 8000, 2048},   {140, 12288, 512}, {1, 16384, 512},
                   {70, 20000, 2048}, {8, 32768, 1024},  {20, 40960, 300},  {2, 65536, 2048},
                   {40, 70000, 1024}, {1, 131072, 2048}, {5, 100001, 5000}, {1, 300000, 1500},
                   {9, 270000, 2048}, {1, 1048576, 2048}};
    static const TopkCase forms[] = {{.k = 0},
                                     {.sorted = true, .with_values = true},
                                     {.with_values = true, .lengths = true},
                                     {.page_size = 64, .with_raw = true},
                                     {.offsets = true, .row_starts = true, .absolute = true}};
    for (size_t i = 0; i < COUNT(regimes); i++) {
        for (size_t kind = 0; kind < VALUES_COUNT && regimes[i].columns <= max_columns; kind++) {
            TopkCase c = forms[(i + kind) % COUNT(forms)];
            c.rows = regimes[i].rows;
            c.columns = regimes[i].columns;
            c.k = regimes[i].k;
            c.values = (ValueKind)kind;
            c.length = c.start = TOPK_RAGGED;
            c.seed = 70 + i;
            if (!visit(&c, user))
                return false;
        }
    }
    return true;
}

bool topk_random(TopkVisit *visit, void *user, uint64_t seed, uint32_t cases, int64_t max_columns) {
    Random r = {seed};
    for (uint32_t i = 0; i < cases; i++) {
        TopkCase c = draw_case(&r, max_columns);
        if (!visit(&c, user))
            return false;
    }
    return true;
}

/* ---- the fused forms ---- */

/* Forms of a call over the rows of `base`. */
static bool every_form(TopkVisit *visit, void *user, TopkCase base) {
    static const TopkCase forms[] = {
        {.with_values = true},
        {.with_values = true, .no_indices = true},
        {.with_values = true, .no_indices = true, .sorted = true},
        {.sorted = true},
        {.sorted = true, .with_values = true, .absolute = true},
        {.absolute = true},
        {.with_raw = true},
        {.offsets = true, .absolute = true, .with_raw = true},
        {.offsets = true, .sorted = true, .next_n = 3},
        {.next_n = 2, .with_values = true},
        {.page_size = 1},
        {.page_size = 64, .with_raw = true, .mapped = true},
        {.page_size = 16, .sorted = true, .with_values = true, .with_raw = true, .absolute = true},
        {.page_size = 4096, .next_n = 2, .mapped = true, .sorted = true},
        {.page_size = 1 << 30, .next_n = 4, .absolute = true},
    };
    for (size_t i = 0; i < COUNT(forms); i++) {
        TopkCase c = forms[i];
        c.rows = base.rows;
        c.columns = base.columns;
        c.k = base.k;
        c.index_stride = base.k + (int64_t)i % 3;
        c.values = base.values;
        c.lengths = base.lengths;
        c.row_starts = base.row_starts;
        c.length = c.start = TOPK_RAGGED;
        c.seed = base.seed + i;
        if (!visit(&c, user))
            return false;
    }
    return true;
}

bool topk_forms(TopkVisit *visit, void *user, int64_t max_columns) {
    static const TopkCase rows[] = {
        {.rows = 5, .columns = 40, .k = 3, .values = VALUES_TWO, .lengths = true},
        {.rows = 5, .columns = 3000, .k = 700, .values = VALUES_BITS, .lengths = true},
        {.rows = 3, .columns = 1500, .k = 2048, .values = VALUES_ZEROS, .row_starts = true},
        {.rows = 3, .columns = 4096, .k = 512, .values = VALUES_NAN_SOME, .row_starts = true},
        {.rows = 2, .columns = 4096, .k = 513, .values = VALUES_NAN_ALL},
        {.rows = 17, .columns = 5000, .k = 2048, .values = VALUES_GRID, .lengths = true},
        {.rows = 16, .columns = 20000, .k = 100, .values = VALUES_NORMAL, .lengths = true},
        {.rows = 2, .columns = 9000, .k = 2049, .values = VALUES_INFINITIES},
        {.rows = 2, .columns = 6001, .k = 4096, .values = VALUES_BITS},
        {.rows = 2, .columns = 9001, .k = 8192, .values = VALUES_GRID, .lengths = true},
        {.rows = 3, .columns = 20000, .k = 512, .values = VALUES_RELU, .row_starts = true},
        {.rows = 2, .columns = 70000, .k = 300, .values = VALUES_CONSTANT, .lengths = true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        TopkCase c = rows[i];
        c.seed = 1 + 100 * i;
        if (c.columns <= max_columns && !every_form(visit, user, c))
            return false;
    }
    return true;
}

bool topk_random_forms(TopkVisit *visit, void *user, uint64_t seed, uint32_t cases,
                       int64_t max_columns) {
    Random r = {seed};
    for (uint32_t i = 0; i < cases; i++) {
        TopkCase c = draw_case(&r, max_columns);
        uint64_t bits = random_bits(&r) >> 16;
        c.sorted = bits & 1;
        c.absolute = bits & 2;
        c.with_values = bits & 4;
        c.with_raw = bits & 8;
        c.next_n = bits & 16 ? 1 + (int64_t)random_below(&r, 5) : 0;
        c.offsets = (bits >> 5 & 3) == 1;
        if ((bits >> 5 & 3) == 2) {
            c.page_size = (int64_t)1 << random_below(&r, 16);
            c.mapped = bits & 128;
        }
        c.no_indices = c.with_values && !c.offsets && !c.page_size && bits & 256;
        if (!visit(&c, user))
            return false;
    }
    return true;
}
