/* The contract of tle_radix_select in plain C, as slow and simple as it can be: what every kernel
 * is compared with, here and in the tests. It shares nothing with the kernels. */
#ifndef CLI_REFERENCE_RADIX_H
#define CLI_REFERENCE_RADIX_H

#include <stdbool.h>
#include <tle/tle.h>

typedef struct ReferenceRadix {
    int32_t dtype; /* a tle_dtype that the operator takes */
    const void *keys;
    int64_t rows, columns, key_row_stride, k;
    const int32_t *lengths; /* may be NULL */
    bool smallest, sorted;
    size_t payload_bytes; /* 0: no payload */
    const void *payload;
    int64_t payload_row_stride;
    int32_t *indices; /* this and what follows may be NULL */
    int64_t index_row_stride;
    void *values;
    int64_t value_row_stride;
    void *payload_out;
    int64_t payload_out_row_stride;
} ReferenceRadix;

/* False when memory is exhausted. */
bool reference_radix(const ReferenceRadix *call);

/* Bytes of an element; 0 for a type that the operator does not take. */
size_t reference_key_bytes(int32_t dtype);

#endif
