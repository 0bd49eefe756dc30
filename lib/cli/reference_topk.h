/* The selection contract in plain C, as slow and simple as it can be: what every kernel is compared
 * with, here and in the tests. It shares nothing with the kernels. */
#ifndef CLI_REFERENCE_TOPK_H
#define CLI_REFERENCE_TOPK_H

#include "cli/element.h"

/* The k best of n scores, best first: their indices, then -1. False when memory is exhausted. */
bool reference_ranked_row(ElementType type, const void *scores, int64_t n, int64_t k, int32_t *out);
/* The same with indices ascending. */
bool reference_topk_row(ElementType type, const void *scores, int64_t n, int64_t k, int32_t *out);

typedef struct ReferenceTopk {
    ElementType type; /* of scores and values */
    const void *scores;
    int64_t rows, columns, row_stride, k;
    const int32_t *lengths, *row_starts; /* each may be NULL */
    int32_t *indices;                    /* may be NULL */
    int64_t index_row_stride;
    bool sorted, absolute;
    int64_t next_n;
    void *values; /* this and what follows may be NULL */
    int64_t value_row_stride;
    int32_t *raw_indices;
    int64_t raw_index_row_stride;
    const int32_t *offsets, *page_table, *row_to_table;
    int64_t page_table_stride, page_tables, page_size;
} ReferenceTopk;

/* A whole call, as tle_topk_select defines it. */
bool reference_topk(const ReferenceTopk *call);

#endif
