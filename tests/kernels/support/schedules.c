#define _POSIX_C_SOURCE 200809L /* setenv */
#include "kernels/support/schedules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARIANTS = 1024, NAME = 128 };

typedef struct Names {
    char name[MAX_VARIANTS][NAME];
    int count;
} Names;

static int keep_name(const tle_variant_info *info, void *user) {
    Names *names = user;
    if (names->count < MAX_VARIANTS)
        snprintf(names->name[names->count++], NAME, "%s", info->name);
    return 0;
}

static tle_handle open_emulator(void) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    o.device_kind = TLE_DEVICE_EMU;
    if (tle_create(&h, &o))
        fprintf(stderr, "%s\n", tle_last_error());
    return h;
}

/* The k that a variant's name says; 100 for those of any k. */
static int64_t k_of(const char *name) {
    const char *at = strstr(name, "__k");
    int64_t k = at ? strtoll(at + 3, NULL, 10) : 0;
    return k ? k : 100;
}

/* Shapes that are legal for all: aligned rows of up to 4096 columns; longer ones for the others. */
static int run_variant(tle_handle h, const char *name, uint64_t seed, const char *schedule) {
    static const struct {
        int64_t rows, columns;
        ValueKind values;
        bool ragged;
    } shapes[] = {{2, 4096, VALUES_NORMAL, false},
                  {3, 2500, VALUES_GRID, true},
                  {1, 9000, VALUES_NORMAL, false}};
    int failed = 0;
    char why[900];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        TopkCase c = {.type = topk_variant_type(name),
                      .rows = shapes[i].rows,
                      .columns = shapes[i].columns,
                      .k = k_of(name),
                      .values = shapes[i].values,
                      .lengths = shapes[i].ragged,
                      .length = TOPK_RAGGED,
                      .seed = seed * 8 + i,
                      .dependent = true};
        if (strstr(name, "__form__")) { /* one call plain, one sorted, one in ascending order */
            c.sorted = i == 1;
            c.with_values = c.with_raw = i > 0;
            c.page_size = i > 0 ? 64 : 0;
        }
        /* The kernels of halves are those of fp32 but for the loads: one shape each. */
        if (c.type != ELEMENT_FP32 && i != seed % 2)
            continue;
        if (!topk_variant_takes(name, &c) || run_topk_case(h, &c, why, sizeof why))
            continue;
        fprintf(stderr, "%s, TLE_EMU_SCHEDULE=%s: %s\n", name, schedule, why);
        failed++;
    }
    return failed;
}

static int run_schedule(const Names *names, const char *schedule, uint64_t seed) {
    int failed = 0;
    setenv("TLE_EMU_SCHEDULE", schedule, 1);
    for (int i = 0; i < names->count; i++) {
        setenv("TLE_FORCE_VARIANT", names->name[i], 1);
        tle_handle h = open_emulator();
        failed += h ? run_variant(h, names->name[i], seed, schedule) : 1;
        tle_destroy(h);
    }
    unsetenv("TLE_FORCE_VARIANT");
    unsetenv("TLE_EMU_SCHEDULE");
    return failed;
}

int run_all_schedules(uint64_t first, uint64_t seeds) {
    static const char *const kinds[] = {"random", "adversarial"};
    static Names names;
    int failed = 0;
    char schedule[64];
    names.count = 0;
    tle_handle h = open_emulator();
    if (!h || tle_variants(h, "topk_select", keep_name, &names) || !names.count)
        return 1;
    tle_destroy(h);
    for (uint64_t seed = first; seed < first + seeds; seed++)
        for (int k = 0; k < 2; k++) {
            snprintf(schedule, sizeof schedule, "%s:%llu", kinds[k], (unsigned long long)seed);
            failed += run_schedule(&names, schedule, seed);
        }
    return failed;
}
