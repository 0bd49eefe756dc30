#include "kernels/support/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int keep_info(const tle_variant_info *v, void *user) {
    tle_variant_info *wanted = user;
    if (strcmp(v->name, wanted->name) != 0)
        return 0;
    wanted->threads = v->threads;
    wanted->shared_bytes = v->shared_bytes;
    memcpy(wanted->cluster, v->cluster, sizeof wanted->cluster);
    return 1;
}

static char *read_ptx(tle_handle h, const char *variant, size_t *size) {
    if (tle_variant_data(h, variant, TLE_PART_PTX, NULL, size))
        return NULL;
    char *ptx = malloc(*size);
    if (ptx && tle_variant_data(h, variant, TLE_PART_PTX, ptx, size)) {
        free(ptx);
        return NULL;
    }
    return ptx;
}

char *variant_ptx(const char *variant, size_t *size, tle_variant_info *info) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    char *ptx = NULL;
    o.device_kind = TLE_DEVICE_NONE;
    *info = (tle_variant_info){.struct_size = sizeof *info, .name = variant};
    if (!tle_create(&h, &o) && !tle_variants(h, NULL, keep_info, info))
        ptx = read_ptx(h, variant, size);
    if (!ptx)
        fprintf(stderr, "%s: %s\n", variant, tle_last_error());
    tle_destroy(h);
    return ptx;
}
