/* What the emulator's tests share: a device per test, launches in one line, reports on failure. */
#ifndef EMU_FIXTURE_H
#define EMU_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tle/tle_emu.h"

typedef struct Emu {
    tle_emu_device *device;
    tle_emu_module *module;
} Emu;

static inline Emu emu_open(const tle_emu_options *options) {
    Emu e = {0};
    assert_int_equal(tle_emu_create(options, &e.device), TLE_EMU_OK);
    return e;
}

static inline void emu_load(Emu *e, const char *ptx, size_t length, const char *name) {
    tle_emu_status s = tle_emu_module_load(e->device, ptx, length, name, &e->module);
    if (s != TLE_EMU_OK)
        fail_msg("%s: %s", tle_emu_status_name(s), tle_emu_last_error(e->device));
}

static inline void emu_load_file(Emu *e, const char *path) {
    FILE *f = fopen(path, "rb");
    size_t cap = (size_t)1 << 21, length;
    char *text = malloc(cap);
    assert_non_null(f);
    assert_non_null(text);
    length = fread(text, 1, cap, f);
    fclose(f);
    emu_load(e, text, length, path);
    free(text);
}

static inline void *emu_new(Emu *e, size_t bytes) {
    void *p = NULL;
    assert_int_equal(tle_emu_alloc(e->device, bytes, &p), TLE_EMU_OK);
    return p;
}

static inline void *emu_zeros(Emu *e, size_t bytes) {
    void *p = emu_new(e, bytes);
    memset(p, 0, bytes);
    return p;
}

/* In clusters of `cluster` CTAs along x; 0: what the kernel requires. */
static inline tle_emu_status emu_try_cluster(Emu *e, const char *kernel, const uint32_t grid[3],
                                             uint32_t cluster, const uint32_t block[3],
                                             uint32_t shared, void **params) {
    tle_emu_kernel *k = NULL;
    tle_emu_launch_config c = {.struct_size = sizeof c, .dynamic_shared_bytes = shared};
    memcpy(c.grid, grid, sizeof c.grid);
    memcpy(c.block, block, sizeof c.block);
    c.cluster[0] = cluster;
    assert_int_equal(tle_emu_module_kernel(e->module, kernel, &k), TLE_EMU_OK);
    return tle_emu_launch(e->device, k, &c, params);
}

static inline tle_emu_status emu_try(Emu *e, const char *kernel, const uint32_t grid[3],
                                     const uint32_t block[3], uint32_t shared, void **params) {
    return emu_try_cluster(e, kernel, grid, 0, block, shared, params);
}

#define DIM(...) ((const uint32_t[3]){__VA_ARGS__})

/* A launch that must be clean. */
static inline void emu_run(Emu *e, const char *kernel, const uint32_t grid[3],
                           const uint32_t block[3], uint32_t shared, void **params) {
    tle_emu_status s = emu_try(e, kernel, grid, block, shared, params);
    if (s != TLE_EMU_OK)
        fail_msg("%s: %s: %s", kernel, tle_emu_status_name(s), tle_emu_last_error(e->device));
}

static inline void emu_run_cluster(Emu *e, const char *kernel, const uint32_t grid[3],
                                   uint32_t cluster, const uint32_t block[3], uint32_t shared,
                                   void **params) {
    tle_emu_status s = emu_try_cluster(e, kernel, grid, cluster, block, shared, params);
    if (s != TLE_EMU_OK)
        fail_msg("%s: %s: %s", kernel, tle_emu_status_name(s), tle_emu_last_error(e->device));
}

/* The reports of the last launch hold one of this kind at this line (0: any) of the PTX. */
static inline bool emu_reported(const Emu *e, tle_emu_report_kind kind, uint32_t line) {
    for (uint32_t i = 0; i < tle_emu_report_count(e->device); i++) {
        tle_emu_report r = {.struct_size = sizeof r};
        assert_int_equal(tle_emu_report_get(e->device, i, &r), TLE_EMU_OK);
        if (r.kind == kind && (line == 0 || r.ptx_line == line))
            return true;
    }
    return false;
}

static inline void emu_close(Emu *e) {
    tle_emu_destroy(e->device);
}

static inline uint64_t emu_random(uint64_t *state) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

#endif
