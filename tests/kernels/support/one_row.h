/* One row selected by one variant on the emulator, with what it cost. */
#ifndef KERNELS_SUPPORT_ONE_ROW_H
#define KERNELS_SUPPORT_ONE_ROW_H

#include "tle/tle_emu.h"

#include <stdint.h>

typedef struct OneRow {
    const char *variant; /* of topk_select, fp32 */
    const float *scores;
    int64_t columns;
    int32_t k;
    int32_t start, end; /* end 0: the call gives neither starts nor lengths */
    int32_t *indices;   /* [k], written */
} OneRow;

/* A device that counts: 1 all together, 2 for each instruction too. */
tle_emu_device *open_counting(uint32_t cost);

/* NULL, or what went wrong. The device's tle_emu_cost_json tells the cost. */
const char *select_one_row(tle_emu_device *d, const OneRow *row);

/* The number behind "name": in a JSON text; 0 if there is none. */
uint64_t cost_figure(const char *json, const char *name);

#endif
