/* Selection by sorting. */
#include "cli/reference_topk.h"

#include <math.h>
#include <stdlib.h>

typedef struct Scored {
    float score;
    int32_t index;
} Scored;

/* NaN before everything, then greater scores, then smaller indices. */
static int by_rank(const void *a, const void *b) {
    const Scored *x = (const Scored *)a, *y = (const Scored *)b;
    bool x_nan = isnan(x->score), y_nan = isnan(y->score);
    if (x_nan != y_nan)
        return x_nan ? -1 : 1;
    if (!x_nan && x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static int by_value(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

bool reference_topk_row(const float *scores, int64_t n, int64_t k, int32_t *out) {
    Scored *all = (Scored *)malloc(n ? (size_t)n * sizeof *all : 1);
    if (!all)
        return false;
    for (int64_t i = 0; i < n; i++)
        all[i] = (Scored){scores[i], (int32_t)i};
    if (n)
        qsort(all, (size_t)n, sizeof *all, by_rank);
    int64_t found = n < k ? n : k;
    for (int64_t i = 0; i < k; i++)
        out[i] = i < found ? all[i].index : -1;
    if (found)
        qsort(out, (size_t)found, sizeof *out, by_value);
    free(all);
    return true;
}

bool reference_topk(const ReferenceTopk *c) {
    for (int64_t r = 0; r < c->rows; r++) {
        int64_t start = c->row_starts && c->row_starts[r] > 0 ? c->row_starts[r] : 0;
        int64_t length = c->lengths ? c->lengths[r] : c->columns;
        if (length > c->columns - start)
            length = c->columns - start;
        if (length < 0)
            length = 0;
        const float *row = length ? c->scores + r * c->row_stride + start : NULL;
        if (!reference_topk_row(row, length, c->k, c->indices + r * c->index_row_stride))
            return false;
    }
    return true;
}
