/* One call of tle_radix_select on any device, compared with the plain C reference. */
#ifndef KERNELS_SUPPORT_RADIX_CALL_H
#define KERNELS_SUPPORT_RADIX_CALL_H

#include "kernels/support/case_run.h"
#include "kernels/support/values.h"
#include "tle/tle.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct RadixCall {
    int32_t dtype;
    int64_t rows, columns, k;
    int64_t row_stride; /* of keys; 0: columns */
    int64_t padding;    /* elements between the rows of payload and outputs */
    int64_t misalign;   /* elements that keys, payload and outputs are off a 256-byte boundary */
    ValueKind values;
    bool lengths;
    int32_t length; /* with lengths: every row's length; RADIX_CALL_RAGGED draws them */
    bool smallest, sorted, no_indices, no_values;
    int32_t payload_bytes;
    uint64_t seed;
    tle_stream stream;
} RadixCall;

/* Draws from -3 .. columns + 3, so negative and too long ones come up. */
#define RADIX_CALL_RAGGED INT32_MIN

/* Runs the case. False when a byte of the outputs' memory is not what the reference leaves there,
 * or a call failed; `why` then says what, with the case. */
bool run_radix_call(tle_handle h, const RadixCall *c, char *why, size_t why_size);

/* Of RadixCall, for many at once. */
extern const CaseKind radix_calls;

/* A description that replays it. */
void describe_radix_call(const void *c, char *text, size_t size);

#endif
