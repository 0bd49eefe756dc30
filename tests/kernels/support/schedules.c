#define _POSIX_C_SOURCE 200809L /* setenv */
#include "kernels/support/schedules.h"
#include "kernels/support/radix_case.h"
#include "kernels/support/topk_case.h"

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
static const struct {
    int64_t rows, columns;
    ValueKind values;
    bool ragged;
} shapes[] = {
    {2, 4096, VALUES_NORMAL, false}, {3, 2500, VALUES_GRID, true}, {1, 9000, VALUES_NORMAL, false}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* The cases that a variant takes; returns how many. */
static size_t list_cases(const char *name, uint64_t seed, TopkCase cases[SHAPES]) {
    size_t count = 0;
    for (size_t i = 0; i < SHAPES; i++) {
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
        if (topk_variant_takes(name, &c))
            cases[count++] = c;
    }
    return count;
}

static int run_variant(tle_handle h, const char *name, uint64_t seed, bool in_turn,
                       const char *schedule) {
    TopkCase cases[SHAPES];
    size_t count = list_cases(name, seed, cases);
    int failed = 0;
    char why[900];
    /* The kernels of halves are those of fp32 but for the loads. */
    bool one = in_turn || topk_variant_type(name) != ELEMENT_FP32;
    for (size_t i = 0; i < count; i++) {
        if ((one && i != seed % count) || run_topk_case(h, &cases[i], why, sizeof why))
            continue;
        fprintf(stderr, "%s, TLE_EMU_SCHEDULE=%s: %s\n", name, schedule, why);
        failed++;
    }
    return failed;
}

static int run_schedule(const Names *names, const char *schedule, uint64_t seed, bool in_turn) {
    int failed = 0;
    setenv("TLE_EMU_SCHEDULE", schedule, 1);
    for (int i = 0; i < names->count; i++) {
        setenv("TLE_FORCE_VARIANT", names->name[i], 1);
        tle_handle h = open_emulator();
        failed += h ? run_variant(h, names->name[i], seed, in_turn, schedule) : 1;
        tle_destroy(h);
    }
    unsetenv("TLE_FORCE_VARIANT");
    unsetenv("TLE_EMU_SCHEDULE");
    return failed;
}

int topk_schedules(uint64_t first, uint64_t seeds, bool in_turn) {
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
            failed += run_schedule(&names, schedule, seed, in_turn);
        }
    return failed;
}

/* ---- radix_select ---- */

typedef struct RadixSchedule {
    tle_emu_options options;
    bool in_turn;
    int failed;
} RadixSchedule;

/* Ragged rows, and one row as long as the body takes. */
static void run_radix(RadixSchedule *s, tle_emu_device *device, tle_emu_kernel *kernel,
                      const RadixVariant *v) {
    bool is_short = v->max_columns < 9000;
    const RadixCase cases[] = {{.rows = 2,
                                .columns = 1000,
                                .k = 300,
                                .length = RADIX_RAGGED,
                                .values = RADIX_FEW,
                                .smallest = true,
                                .with_values = true,
                                .payload_bytes = 4},
                               {.rows = 1,
                                .columns = is_short ? 1501 : 8709,
                                .k = is_short ? 200 : 1000,
                                .length = RADIX_ALL_COLUMNS,
                                .values = RADIX_NORMAL,
                                .payload_bytes = 8}};
    char why[1100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RadixCase c = cases[i];
        if (s->in_turn && i != s->options.seed % (sizeof cases / sizeof *cases))
            continue;
        c.seed = s->options.seed * 8 + i;
        if (!radix_legal(v, &c) || radix_run(device, kernel, v, &c, why, sizeof why))
            continue;
        fprintf(stderr, "schedule %u, seed %llu: %s\n", s->options.schedule,
                (unsigned long long)s->options.seed, why);
        s->failed++;
    }
}

static bool visit_radix(const RadixVariant *v, void *user) {
    RadixSchedule *s = user;
    tle_emu_device *device = NULL;
    tle_emu_kernel *kernel = NULL;
    if (tle_emu_create(&s->options, &device) == TLE_EMU_OK)
        kernel = radix_kernel(device, v);
    if (kernel)
        run_radix(s, device, kernel, v);
    else
        s->failed++;
    tle_emu_destroy(device);
    return true;
}

int radix_schedules(uint64_t first, uint64_t seeds, bool in_turn) {
    static const uint32_t kinds[] = {TLE_EMU_SCHEDULE_RANDOM, TLE_EMU_SCHEDULE_ADVERSARIAL};
    RadixSchedule s = {.options = {.struct_size = sizeof s.options, .instruction_limit = 20000000},
                       .in_turn = in_turn};
    for (uint64_t seed = first; seed < first + seeds; seed++)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            s.options.schedule = kinds[i];
            s.options.seed = seed;
            if (!radix_variants(visit_radix, &s))
                s.failed++;
        }
    return s.failed;
}
