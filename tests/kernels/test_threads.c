/* Every compiled variant leaves the same memory, figures and reports on one host thread and on
 * several. The PTX is launched as it is, a CTA or cluster for each of a few rows. */
#include "tle/tle_emu.h"

#include "kernels/support/variant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 2, COLUMNS = 2064, MAX_K = 2048, MAX_PARAMS = 32, MAX_VARIANTS = 1024 };

typedef struct Names {
    char name[MAX_VARIANTS][128];
    int count;
} Names;

static int keep_name(const tle_variant_info *info, void *user) {
    Names *names = user;
    if (names->count < MAX_VARIANTS)
        snprintf(names->name[names->count++], sizeof names->name[0], "%s", info->name);
    return 0;
}

static int32_t k_of(const char *name) {
    const char *at = strstr(name, "__k");
    int32_t k = at ? (int32_t)strtol(at + 3, NULL, 10) : 0;
    return k ? k : 100;
}

typedef struct Run {
    const char *name, *layout;
    int32_t k;
    tle_emu_device *device;
    tle_emu_module *module;
    tle_variant_info info;
    void *scores, *indices;
    int32_t *want; /* indices of one thread */
} Run;

/* What the parameters of an operator's kernels are; those behind are of fused forms, which zeros
 * leave out. s: scores, i: indices, r and x: their strides, c: columns, k, 0: nothing. */
static const struct {
    const char *op, *params;
} layouts[] = {
    {"topk_select", "s00irxck0"},
    {"radix_select", "s00i00r0x00ck0"},
};

static const char *layout_of(const char *variant) {
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (!strncmp(variant, layouts[i].op, strlen(layouts[i].op)))
            return layouts[i].params;
    fail_msg("%s: an operator whose parameters are not in `layouts`", variant);
    return NULL;
}

static void fill_params(const char *layout, void **params, const Run *r) {
    static int64_t row_stride = COLUMNS, index_stride = MAX_K, zero = 0;
    static int32_t columns = COLUMNS;
    for (int i = 0; i < MAX_PARAMS; i++, layout += *layout != 0)
        params[i] = *layout == 's'   ? (void *)&r->scores
                    : *layout == 'i' ? (void *)&r->indices
                    : *layout == 'r' ? (void *)&row_stride
                    : *layout == 'x' ? (void *)&index_stride
                    : *layout == 'c' ? (void *)&columns
                    : *layout == 'k' ? (void *)&r->k
                                     : (void *)&zero;
}

static void launch(const Run *r, uint32_t threads, uint32_t checks) {
    void *params[MAX_PARAMS];
    tle_emu_options o = {
        .struct_size = sizeof o, .checks = checks, .cost = 2, .host_threads = threads};
    tle_emu_launch_config config = {.struct_size = sizeof config,
                                    .grid = {ROWS * (uint32_t)r->info.cluster[0]},
                                    .block = {(uint32_t)r->info.threads},
                                    .cluster = {(uint32_t)r->info.cluster[0]},
                                    .dynamic_shared_bytes = (uint32_t)r->info.shared_bytes};
    fill_params(r->layout, params, r);
    assert_int_equal(tle_emu_configure(r->device, &o), TLE_EMU_OK);
    assert_int_equal(tle_emu_mark(r->device, r->indices, ROWS * MAX_K * 4, 0), TLE_EMU_OK);
    if (tle_emu_launch(r->device, tle_emu_module_kernel_at(r->module, 0), &config, params))
        fail_msg("%s on %u threads: %s", r->name, threads, tle_emu_last_error(r->device));
    assert_int_equal(tle_emu_report_count(r->device), 0);
}

static void compare(const Run *r, uint32_t checks, uint32_t least) {
    launch(r, 1, checks);
    char *cost = strdup(tle_emu_cost_json(r->device));
    memcpy(r->want, r->indices, ROWS * MAX_K * 4);
    for (uint32_t threads = least; threads <= 4; threads += 2) {
        launch(r, threads, checks);
        if (memcmp(r->want, r->indices, ROWS * MAX_K * 4) != 0)
            fail_msg("%s: other indices on %u threads", r->name, threads);
        if (strcmp(cost, tle_emu_cost_json(r->device)) != 0)
            fail_msg("%s: other figures on %u threads", r->name, threads);
    }
    free(cost);
}

/* Any bits, some of them twice. */
static void fill(uint32_t *scores, size_t n) {
    uint64_t state = 99;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        scores[i] = i % 5 ? (uint32_t)(state >> 32) : scores[i / 2];
    }
}

static void variant(const char *name, const char *layout) {
    Run r = {.name = name, .layout = layout, .k = k_of(name), .want = malloc(ROWS * MAX_K * 4)};
    size_t size = 0;
    char *ptx = variant_ptx(name, &size, &r.info);
    assert_non_null(ptx);
    assert_int_equal(tle_emu_create(NULL, &r.device), TLE_EMU_OK);
    assert_int_equal(tle_emu_module_load(r.device, ptx, size, name, &r.module), TLE_EMU_OK);
    assert_int_equal(tle_emu_alloc(r.device, ROWS * COLUMNS * 8, &r.scores), TLE_EMU_OK);
    assert_int_equal(tle_emu_alloc(r.device, ROWS * MAX_K * 4, &r.indices), TLE_EMU_OK);
    fill(r.scores, ROWS * COLUMNS * 2);
    compare(&r, TLE_EMU_CHECK_ALL, 2);
    compare(&r, TLE_EMU_CHECK_NONE, 4);
    tle_emu_destroy(r.device);
    free(ptx);
    free(r.want);
}

static void every_variant(void **state) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    static Names names;
    (void)state;
    o.device_kind = TLE_DEVICE_NONE;
    assert_int_equal(tle_create(&h, &o), TLE_STATUS_OK);
    assert_int_equal(tle_variants(h, NULL, keep_name, &names), TLE_STATUS_OK);
    assert_true(names.count > 0 && names.count < MAX_VARIANTS);
    for (int i = 0; i < names.count; i++)
        variant(names.name[i], layout_of(names.name[i]));
    tle_destroy(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
