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

enum { ROWS = 2, COLUMNS = 2052, MAX_K = 2048, MAX_PARAMS = 32, MAX_VARIANTS = 256 };

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
    const char *name;
    tle_emu_device *device;
    tle_emu_module *module;
    tle_variant_info info;
    void *scores, *indices;
    int32_t *want; /* indices of one thread */
} Run;

/* Parameters behind the first nine are of the fused forms, which zeros leave out. */
static void launch(const Run *r, uint32_t threads, uint32_t checks) {
    int64_t row_stride = COLUMNS, index_stride = MAX_K;
    int32_t columns = COLUMNS, k = k_of(r->name), flags = 0;
    void *scores = r->scores, *indices = r->indices, *none = NULL;
    void *params[MAX_PARAMS] = {&scores,       &none,    &none, &indices, &row_stride,
                                &index_stride, &columns, &k,    &flags};
    uint64_t zero = 0;
    tle_emu_options o = {
        .struct_size = sizeof o, .checks = checks, .cost = 2, .host_threads = threads};
    tle_emu_launch_config config = {.struct_size = sizeof config,
                                    .grid = {ROWS * (uint32_t)r->info.cluster[0]},
                                    .block = {(uint32_t)r->info.threads},
                                    .cluster = {(uint32_t)r->info.cluster[0]},
                                    .dynamic_shared_bytes = (uint32_t)r->info.shared_bytes};
    for (int i = 9; i < MAX_PARAMS; i++)
        params[i] = &zero;
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

static void fill(float *scores, int64_t n) {
    uint64_t state = 99;
    for (int64_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        scores[i] = (float)(int32_t)(state >> 44); /* some twice */
    }
}

static void variant(const char *name) {
    Run r = {.name = name, .want = malloc(ROWS * MAX_K * 4)};
    size_t size = 0;
    char *ptx = variant_ptx(name, &size, &r.info);
    assert_non_null(ptx);
    assert_int_equal(tle_emu_create(NULL, &r.device), TLE_EMU_OK);
    assert_int_equal(tle_emu_module_load(r.device, ptx, size, name, &r.module), TLE_EMU_OK);
    assert_int_equal(tle_emu_alloc(r.device, ROWS * COLUMNS * 4, &r.scores), TLE_EMU_OK);
    assert_int_equal(tle_emu_alloc(r.device, ROWS * MAX_K * 4, &r.indices), TLE_EMU_OK);
    fill(r.scores, ROWS * COLUMNS);
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
    assert_int_equal(tle_variants(h, "topk_select", keep_name, &names), TLE_STATUS_OK);
    tle_destroy(h);
    assert_true(names.count > 0);
    for (int i = 0; i < names.count; i++)
        variant(names.name[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
