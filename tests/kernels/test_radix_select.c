/* Every variant of radix_select on the emulator: all checks, against a sort. */
#include "kernels/support/radix_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define ALL      RADIX_ALL_COLUMNS

static const RadixCase lengths[] = {
    {.rows = 2, .columns = 1, .k = 1, .length = ALL, .values = RADIX_NORMAL},
    {.rows = 2, .columns = 3, .k = 2, .length = ALL, .values = RADIX_BITS, .payload_bytes = 4},
    {.rows = 3, .columns = 40, .k = 7, .length = RADIX_RAGGED, .values = RADIX_SPECIAL},
    {.rows = 1, .columns = 99, .k = 100, .length = ALL, .values = RADIX_NORMAL},
    {.rows = 1, .columns = 100, .k = 100, .length = ALL, .values = RADIX_BITS, .payload_bytes = 8},
    {.rows = 1, .columns = 101, .k = 100, .length = ALL, .values = RADIX_BITS},
    {.rows = 2, .columns = 100, .k = 5, .length = 0, .values = RADIX_BITS, .payload_bytes = 8},
    {.rows = 5, .columns = 2500, .k = 513, .length = RADIX_RAGGED, .values = RADIX_FEW},
    {.rows = 1, .columns = 4096, .k = 4096, .length = ALL, .values = RADIX_BITS},
    {.rows = 2, .columns = 4096, .k = 2048, .length = 4001, .values = RADIX_NORMAL, .gap = 3},
    {.rows = 2, .columns = 4096, .k = 9, .length = INT32_MAX, .values = RADIX_BITS, .misalign = 1},
};

static const RadixCase long_rows[] = {
    {.rows = 1, .columns = 8192, .k = 8192, .length = ALL, .values = RADIX_BITS},
    {.rows = 1, .columns = 8191, .k = 300, .length = ALL, .values = RADIX_NORMAL},
    {.rows = 1, .columns = 8193, .k = 8192, .length = ALL, .values = RADIX_NORMAL},
    {.rows = 2, .columns = 9001, .k = 64, .length = ALL, .values = RADIX_LOW, .misalign = 3},
    {.rows = 1, .columns = 20000, .k = 4000, .length = ALL, .values = RADIX_FEW},
    {.rows = 1, .columns = 20000, .k = 15000, .length = ALL, .values = RADIX_BITS},
    {.rows = 2, .columns = 12000, .k = 1, .length = RADIX_RAGGED, .values = RADIX_NORMAL},
};

/* Shares of a cluster that do not fit registers; `columns` is what they are longer. */
static const RadixCase longest[] = {
    {.rows = 1, .columns = 2001, .k = 2000, .length = ALL, .values = RADIX_NORMAL},
    {.rows = 1, .columns = 8, .k = 300, .length = ALL, .values = RADIX_FEW},
    {.rows = 1, .columns = 3000, .k = 3000, .length = ALL, .values = RADIX_DESCENDING},
};

typedef struct Context {
    tle_emu_options options;
    bool (*run)(struct Context *c, tle_emu_device *device, tle_emu_kernel *kernel,
                const RadixVariant *v);
    bool ok;
} Context;

/* Alternates what the case leaves open, so that every form meets every body. */
static RadixCase varied(RadixCase c, size_t i) {
    static const int payloads[] = {0, 4, 8};
    c.smallest = i % 2 == 1;
    c.with_values = i % 4 != 0;
    c.without_indices = c.with_values && i % 5 == 4;
    if (!c.payload_bytes)
        c.payload_bytes = payloads[i % 3];
    c.seed = 31 * i + 1;
    return c;
}

static bool check(tle_emu_device *device, tle_emu_kernel *kernel, const RadixVariant *v,
                  RadixCase c) {
    char why[1100];
    if (!radix_legal(v, &c) || radix_run(device, kernel, v, &c, why, sizeof why))
        return true;
    print_error("%s\n", why);
    return false;
}

static bool visit(const RadixVariant *v, void *user) {
    Context *c = user;
    tle_emu_device *device = NULL;
    c->ok = c->ok && tle_emu_create(&c->options, &device) == TLE_EMU_OK;
    tle_emu_kernel *kernel = c->ok ? radix_kernel(device, v) : NULL;
    c->ok = kernel && c->run(c, device, kernel, v);
    tle_emu_destroy(device);
    return c->ok;
}

static void every_variant(Context c) {
    c.options.struct_size = sizeof c.options;
    c.options.instruction_limit = 20000000; /* a loop without end is a failure */
    c.ok = true;
    assert_int_not_equal(radix_variants(visit, &c), 0);
    assert_true(c.ok);
}

/* A cluster costs the emulator as much as its CTAs: every so many cases are for it. */
static size_t step_of(const RadixVariant *v) {
    return v->ctas == 1 ? 1 : v->ctas > 8 ? 16 : 6;
}

static bool run_lengths(Context *c, tle_emu_device *d, tle_emu_kernel *kernel,
                        const RadixVariant *v) {
    bool ok = true;
    (void)c;
    for (size_t i = 0; i < COUNT(lengths) && ok; i += step_of(v))
        ok = check(d, kernel, v, varied(lengths[i], i));
    for (size_t i = 0; i < COUNT(long_rows) && ok; i += step_of(v))
        ok = check(d, kernel, v, varied(long_rows[i], i));
    if (v->ctas > 1 && ok) {
        size_t i = v->type->bytes / 4 % COUNT(longest); /* each for some types */
        RadixCase row = varied(longest[i], i);
        row.columns += (int64_t)v->ctas * 4096;
        ok = check(d, kernel, v, row);
    }
    return ok;
}

static void rows_of_all_lengths(void **state) {
    (void)state;
    every_variant((Context){.run = run_lengths});
}

/* Short rows for the bodies for them, longer ones than the registers hold for the others. */
static RadixCase row_for(const RadixVariant *v, RadixValues values) {
    bool is_short = v->max_columns < 9000;
    return (RadixCase){.rows = 1,
                       .columns = is_short ? 1501 : 8709,
                       .k = is_short ? 200 : 1000,
                       .length = RADIX_ALL_COLUMNS,
                       .values = values};
}

static bool run_values(Context *c, tle_emu_device *d, tle_emu_kernel *kernel,
                       const RadixVariant *v) {
    bool ok = true;
    (void)c;
    for (size_t kind = 0; kind < RADIX_VALUES_COUNT && ok; kind += step_of(v)) {
        RadixCase row = varied(row_for(v, (RadixValues)kind), kind);
        ok = check(d, kernel, v, row);
        row.smallest = !row.smallest;
        ok = ok && (v->ctas > 1 || check(d, kernel, v, row));
    }
    return ok;
}

static void values_of_all_kinds(void **state) {
    (void)state;
    every_variant((Context){.run = run_values});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_all_lengths),
        cmocka_unit_test(values_of_all_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
