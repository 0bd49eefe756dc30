/* The same call gives the same bytes, whatever runs it: in every run, in every batch, by every
 * variant. */
#ifndef GPU_SAME_BYTES_H
#define GPU_SAME_BYTES_H

#include "tle/tle.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct SameBytes {
    tle_handle h;
    const tle_handle_options *options; /* of handles for single variants */
    int runs;                          /* of each call */
    int64_t max_columns;
    uint32_t compared; /* outputs so far */
    char *why;
    size_t why_size;
} SameBytes;

/* Each false with a sentence in `why`. */
bool same_topk(SameBytes *s);
bool same_radix(SameBytes *s);

#endif
