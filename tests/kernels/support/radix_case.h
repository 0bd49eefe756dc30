/* One launch of a compiled variant of radix_select on the emulator, all checks on, compared with a
 * sort. Variants are driven directly, so that each is tested whatever the dispatch table prefers.
 */
#ifndef KERNELS_SUPPORT_RADIX_CASE_H
#define KERNELS_SUPPORT_RADIX_CASE_H

#include "kernels/support/radix_values.h"
#include "tle/tle.h"
#include "tle/tle_emu.h"

/* A variant, as its name and metadata tell. */
typedef struct RadixVariant {
    char name[128];
    const RadixType *type;
    bool sorted;
    int64_t group;       /* elements of a load: columns, strides and base are multiples of it */
    int64_t max_columns; /* of the bodies for short rows */
    int64_t max_sorted_k;
    uint32_t threads, ctas, shared_bytes; /* ctas: of a row */
} RadixVariant;

/* Visits all variants of this build; false stops. Returns how many there are. */
typedef bool RadixVisit(const RadixVariant *variant, void *user);
int radix_variants(RadixVisit *visit, void *user);

/* The kernel of a variant, loaded on a device. NULL after a message on stderr. */
tle_emu_kernel *radix_kernel(tle_emu_device *device, const RadixVariant *variant);

#define RADIX_ALL_COLUMNS (-1000000)
#define RADIX_RAGGED      (-1000001) /* draws from -3 .. columns + 3 */

typedef struct RadixCase {
    int64_t rows, columns, k;
    int64_t gap;      /* what the key stride is more than columns */
    int64_t misalign; /* groups that the base is off an aligned one */
    int32_t length;   /* every row's length, or one of the two above */
    RadixValues values;
    bool smallest, without_indices, with_values;
    int payload_bytes;
    uint64_t seed;
} RadixCase;

/* Whether the variant may run the case. */
bool radix_legal(const RadixVariant *variant, const RadixCase *c);
/* Rounds what must be a multiple of the variant's group up; a row that grows gets its length back
 * by `length`. */
RadixCase radix_fitted(const RadixVariant *variant, const RadixCase *c);

/* False when a check of the emulator reports, or a byte of the outputs is not the reference's, or
 * one outside of [rows, k] has changed; `why` then says what. */
bool radix_run(tle_emu_device *device, tle_emu_kernel *kernel, const RadixVariant *variant,
               const RadixCase *c, char *why, size_t why_size);

#endif
