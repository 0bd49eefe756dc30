#include "kernels/support/one_row.h"

#include "kernels/support/variant.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTHS = 1, ROW_STARTS = 2, INDICES = 4 }; /* of the kernels' flags */

tle_emu_device *open_counting(uint32_t cost) {
    tle_emu_options o = {.struct_size = sizeof o, .cost = cost};
    tle_emu_device *d = NULL;
    return tle_emu_create(&o, &d) ? NULL : d;
}

enum { SCORES, STARTS, ROW_LENGTHS, ANSWER, BUFFERS };

static bool copy_in(tle_emu_device *d, const void *from, size_t bytes, void **to) {
    if (tle_emu_alloc(d, bytes, to))
        return false;
    if (from)
        memcpy(*to, from, bytes);
    return true;
}

static bool copy_row(tle_emu_device *d, const OneRow *row, void *buffers[BUFFERS]) {
    int32_t length = row->end - row->start;
    return copy_in(d, row->scores, (size_t)row->columns * 4, &buffers[SCORES]) &&
           copy_in(d, &row->start, 4, &buffers[STARTS]) &&
           copy_in(d, &length, 4, &buffers[ROW_LENGTHS]) &&
           copy_in(d, NULL, (size_t)row->k * 4, &buffers[ANSWER]);
}

static bool launch(tle_emu_device *d, tle_emu_module *m, const tle_variant_info *v,
                   const OneRow *row, void *buffers[BUFFERS]) {
    int64_t row_stride = row->columns, index_stride = row->k;
    int32_t width = (int32_t)row->columns, k = row->k,
            flags = INDICES | (row->end ? LENGTHS | ROW_STARTS : 0);
    tle_emu_launch_config config = {.struct_size = sizeof config,
                                    .grid = {(uint32_t)v->cluster[0]},
                                    .block = {(uint32_t)v->threads},
                                    .cluster = {(uint32_t)v->cluster[0]},
                                    .dynamic_shared_bytes = (uint32_t)v->shared_bytes};
    return !tle_emu_launch(d, tle_emu_module_kernel_at(m, 0), &config,
                           (void *[]){&buffers[SCORES], &buffers[ROW_LENGTHS], &buffers[STARTS],
                                      &buffers[ANSWER], &row_stride, &index_stride, &width, &k,
                                      &flags});
}

const char *select_one_row(tle_emu_device *d, const OneRow *row) {
    size_t size = 0;
    tle_variant_info info;
    tle_emu_module *m = NULL;
    void *buffers[BUFFERS] = {NULL};
    char *ptx = variant_ptx(row->variant, &size, &info);
    bool ok = ptx && !tle_emu_module_load(d, ptx, size, row->variant, &m) &&
              copy_row(d, row, buffers) && launch(d, m, &info, row, buffers);
    const char *wrong = ok ? NULL : ptx ? tle_emu_last_error(d) : "no such variant";
    if (ok && row->indices)
        memcpy(row->indices, buffers[ANSWER], (size_t)row->k * 4);
    for (int i = 0; i < BUFFERS && ok; i++)
        tle_emu_free(d, buffers[i]);
    if (ok)
        tle_emu_module_unload(m);
    free(ptx);
    return wrong;
}

uint64_t cost_figure(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *at = strstr(json, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}
