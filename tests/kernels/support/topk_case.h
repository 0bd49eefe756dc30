/* One call of tle_topk_select on any device, compared with the plain C reference. */
#ifndef KERNELS_SUPPORT_TOPK_CASE_H
#define KERNELS_SUPPORT_TOPK_CASE_H

#include "kernels/support/case_run.h"
#include "kernels/support/values.h"
#include "tle/tle.h"

#include <stdbool.h>

typedef struct TopkCase {
    ElementType type; /* of the scores and the values */
    int64_t rows, columns, k;
    int64_t row_stride;   /* 0: columns */
    int64_t index_stride; /* 0: k */
    int64_t misalign;     /* elements that the scores' base is off a 256-byte boundary */
    ValueKind values;
    bool lengths, row_starts;
    int32_t length; /* with lengths: every row's length; TOPK_RAGGED draws them */
    int32_t start;  /* with row_starts: idem */
    uint64_t seed;
    tle_stream stream;
    bool dependent; /* launched dependent on what is in front of it */
    /* the fused forms */
    bool sorted, absolute, with_values, with_raw, offsets, no_indices;
    int64_t next_n;
    int64_t page_size; /* 0: no page table */
    bool mapped;       /* rows choose their tables, some of them numbers that are none */
} TopkCase;

/* Draws from -3 .. columns + 3, so negative and too long ones come up. */
#define TOPK_RAGGED INT32_MIN

/* Runs the case. False when the result differs from the reference, or anything was written outside
 * of the outputs' [rows, k], or a call failed; `why` then says what, with the case. */
bool run_topk_case(tle_handle h, const TopkCase *c, char *why, size_t why_size);

/* Of TopkCase, for many at once. */
extern const CaseKind topk_cases;

/* Whether the variant of this name takes the case, but for the type; and the type that it is for.
 */
bool topk_variant_takes(const char *variant, const TopkCase *c);
ElementType topk_variant_type(const char *variant);

/* A description that replays it. */
void describe_topk_case(const void *c, char *text, size_t size);

#endif
