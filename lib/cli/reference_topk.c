/* Selection by sorting. */
#include "cli/reference_topk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

bool reference_ranked_row(ElementType type, const void *scores, int64_t n, int64_t k,
                          int32_t *out) {
    Scored *all = (Scored *)malloc(n ? (size_t)n * sizeof *all : 1);
    if (!all)
        return false;
    for (int64_t i = 0; i < n; i++)
        all[i] = (Scored){element_get(type, scores, i), (int32_t)i};
    if (n)
        qsort(all, (size_t)n, sizeof *all, by_rank);
    for (int64_t i = 0; i < k; i++)
        out[i] = i < n ? all[i].index : -1;
    free(all);
    return true;
}

bool reference_topk_row(ElementType type, const void *scores, int64_t n, int64_t k, int32_t *out) {
    int64_t found = n < k ? n : k;
    if (!reference_ranked_row(type, scores, n, k, out))
        return false;
    if (found)
        qsort(out, (size_t)found, sizeof *out, by_value);
    return true;
}

/* ---- a whole call ---- */

static int64_t next_n_of(const ReferenceTopk *c) {
    return c->next_n ? c->next_n : 1;
}

static int64_t row_start(const ReferenceTopk *c, int64_t r) {
    return c->row_starts && c->row_starts[r] > 0 ? c->row_starts[r] : 0;
}

static int64_t row_length(const ReferenceTopk *c, int64_t r) {
    int64_t n = next_n_of(c), length = c->columns;
    if (c->lengths)
        length = c->lengths[r / n] - n + r % n + 1;
    if (length > c->columns - row_start(c, r))
        length = c->columns - row_start(c, r);
    return length > 0 ? length : 0;
}

/* The index x of row r through its page table. */
static int32_t through_pages(const ReferenceTopk *c, int64_t r, int32_t x) {
    int64_t table = c->row_to_table ? c->row_to_table[r] : r / next_n_of(c);
    if (table < 0 || table >= c->page_tables)
        return -1;
    int64_t page = c->page_table[table * c->page_table_stride + x / c->page_size];
    return (int32_t)(uint32_t)(page * c->page_size + x % c->page_size);
}

static int32_t transformed(const ReferenceTopk *c, int64_t r, int32_t x) {
    if (x < 0)
        return x;
    if (c->page_table)
        return through_pages(c, r, x);
    return c->offsets ? (int32_t)((uint32_t)x + (uint32_t)c->offsets[r]) : x;
}

/* The bits of element x, or of -inf. */
static void write_value(const ReferenceTopk *c, int64_t place, const void *row, int32_t x) {
    size_t bytes = element_bytes(c->type);
    if (x >= 0)
        memcpy((char *)c->values + (size_t)place * bytes, (const char *)row + (size_t)x * bytes,
               bytes);
    else
        element_put(c->type, c->values, place, -INFINITY);
}

/* Writes what the call wants to know of the chosen elements of row r. */
static void write_row(const ReferenceTopk *c, int64_t r, const void *row, const int32_t *chosen) {
    for (int64_t j = 0; j < c->k; j++) {
        int32_t x = chosen[j];
        if (c->values)
            write_value(c, r * c->value_row_stride + j, row, x);
        if (x >= 0 && c->absolute)
            x += (int32_t)row_start(c, r);
        if (c->raw_indices)
            c->raw_indices[r * c->raw_index_row_stride + j] = x;
        if (c->indices)
            c->indices[r * c->index_row_stride + j] = transformed(c, r, x);
    }
}

bool reference_topk(const ReferenceTopk *c) {
    int32_t *chosen = (int32_t *)malloc((size_t)c->k * sizeof *chosen);
    bool ok = chosen != NULL;
    for (int64_t r = 0; r < c->rows && ok; r++) {
        int64_t length = row_length(c, r);
        size_t first = (size_t)(r * c->row_stride + row_start(c, r)) * element_bytes(c->type);
        const void *row = length ? (const char *)c->scores + first : NULL;
        ok = c->sorted ? reference_ranked_row(c->type, row, length, c->k, chosen)
                       : reference_topk_row(c->type, row, length, c->k, chosen);
        if (ok)
            write_row(c, r, row, chosen);
    }
    free(chosen);
    return ok;
}
