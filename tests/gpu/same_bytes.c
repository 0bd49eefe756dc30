/* A batch has one row of each kind of scores, in turn. Its bytes are taken once, and compared with
 * those of the same call again and again; of each row alone; of parts of the batch; of a batch of
 * twice the rows, the second time in another order; and of every variant that takes the call. */
#include "gpu/same_bytes.h"

#include "kernels/support/keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Point {
    int32_t dtype;
    int64_t rows, columns, k;
    bool sorted, values, smallest;
} Point;

/* Device memory of a call's rows. */
typedef struct Arrays {
    char *in, *indices, *values; /* values: NULL where not wanted */
} Arrays;

typedef struct Operator {
    const char *name;
    tle_status (*reserve)(tle_handle h, const Point *p, const Arrays *a, size_t *size);
    tle_status (*call)(tle_handle h, const Point *p, const Arrays *a, void *workspace, size_t size);
} Operator;

/* A handle for each variant, with the variant forced. */
typedef struct Variants {
    char **names;
    tle_handle *handles;
    int count;
} Variants;

typedef struct Batch {
    SameBytes *s;
    const Operator *op;
    Point p;
    size_t row_in, row_indices, row_values; /* bytes */
    int64_t *order;                         /* of the second half of the rows */
    char *first, *found;                    /* what came out, the first time and later */
    char *in, *out, *workspace;             /* out: the indices of all rows, then their values */
    size_t out_bytes, workspace_size;
} Batch;

static size_t bytes_of(const Point *p) {
    return (size_t)(p->dtype & 255) / 8;
}

/* ---- the operators ---- */

static tle_topk_select_params topk_params(const Point *p, const Arrays *a) {
    tle_topk_select_params t = TLE_TOPK_SELECT_PARAMS_INIT;
    t.dtype = p->dtype;
    t.rows = p->rows;
    t.columns = t.row_stride = p->columns;
    t.k = t.index_row_stride = p->k;
    t.scores = a->in;
    t.indices = (int32_t *)(void *)a->indices;
    t.sorted = p->sorted;
    t.values = a->values;
    t.value_row_stride = p->k;
    return t;
}

static tle_status topk_reserve(tle_handle h, const Point *p, const Arrays *a, size_t *size) {
    tle_topk_select_params t = topk_params(p, a);
    return tle_topk_select_workspace_size(h, &t, size);
}

static tle_status topk_call(tle_handle h, const Point *p, const Arrays *a, void *workspace,
                            size_t size) {
    tle_topk_select_params t = topk_params(p, a);
    return tle_topk_select(h, &t, workspace, size, NULL);
}

static tle_radix_select_params radix_params(const Point *p, const Arrays *a) {
    tle_radix_select_params t = TLE_RADIX_SELECT_PARAMS_INIT;
    t.dtype = p->dtype;
    t.rows = p->rows;
    t.columns = t.key_row_stride = p->columns;
    t.k = t.index_row_stride = p->k;
    t.keys = a->in;
    t.indices = (int32_t *)(void *)a->indices;
    t.sorted = p->sorted;
    t.values = a->values;
    t.value_row_stride = p->k;
    t.order = p->smallest ? TLE_SELECT_SMALLEST : TLE_SELECT_LARGEST;
    return t;
}

static tle_status radix_reserve(tle_handle h, const Point *p, const Arrays *a, size_t *size) {
    tle_radix_select_params t = radix_params(p, a);
    return tle_radix_select_workspace_size(h, &t, size);
}

static tle_status radix_call(tle_handle h, const Point *p, const Arrays *a, void *workspace,
                             size_t size) {
    tle_radix_select_params t = radix_params(p, a);
    return tle_radix_select(h, &t, workspace, size, NULL);
}

static const Operator topk = {"topk_select", topk_reserve, topk_call};
static const Operator radix = {"radix_select", radix_reserve, radix_call};

/* ---- a batch ---- */

static bool differ(const Batch *b, const char *what) {
    const Point *p = &b->p;
    snprintf(b->s->why, b->s->why_size,
             "%s gives other bytes [%s dtype 0x%x rows %lld columns %lld k %lld sorted %d values "
             "%d smallest %d] %s",
             what, b->op->name, (unsigned)p->dtype, (long long)p->rows, (long long)p->columns,
             (long long)p->k, p->sorted, p->values, p->smallest, tle_last_error());
    return false;
}

/* Rows of all kinds, then the same rows in another order. */
static bool fill(Batch *b, char *host) {
    Random rng = {(uint64_t)b->p.columns};
    int64_t rows = b->p.rows;
    for (int64_t r = 0; r < rows; r++) {
        ValueKind kind = (ValueKind)((r + b->p.k) % VALUES_COUNT);
        if (!fill_keys(host + (size_t)r * b->row_in, b->p.dtype, b->p.columns, kind, &rng))
            return false;
        b->order[r] = r;
    }
    for (int64_t r = rows - 1; r > 0; r--) {
        int64_t other = (int64_t)random_below(&rng, (uint64_t)r + 1), kept = b->order[r];
        b->order[r] = b->order[other];
        b->order[other] = kept;
    }
    for (int64_t r = 0; r < rows; r++)
        memcpy(host + (size_t)(rows + r) * b->row_in, host + (size_t)b->order[r] * b->row_in,
               b->row_in);
    return true;
}

/* Where the values begin in the output. */
static size_t values_at(const Batch *b) {
    return 2 * (size_t)b->p.rows * b->row_indices;
}

static bool open_batch(Batch *b) {
    size_t rows = 2 * (size_t)b->p.rows;
    void *in = NULL, *out = NULL;
    b->row_in = (size_t)b->p.columns * bytes_of(&b->p);
    b->row_indices = (size_t)b->p.k * 4;
    b->row_values = b->p.values ? (size_t)b->p.k * bytes_of(&b->p) : 0;
    b->out_bytes = rows * (b->row_indices + b->row_values);
    b->order = malloc(rows * sizeof *b->order);
    b->first = malloc(b->out_bytes);
    b->found = malloc(b->out_bytes);
    char *host = malloc(rows * b->row_in);
    bool ok = b->order && b->first && b->found && host && fill(b, host) &&
              !tle_alloc(b->s->h, rows * b->row_in, &in) &&
              !tle_alloc(b->s->h, b->out_bytes, &out) &&
              !tle_copy(b->s->h, in, host, rows * b->row_in);
    b->in = in;
    b->out = out;
    free(host);
    return ok;
}

static void close_batch(Batch *b) {
    free(b->order);
    free(b->first);
    free(b->found);
    tle_free(b->s->h, b->in);
    tle_free(b->s->h, b->out);
    tle_free(b->s->h, b->workspace);
}

/* Room for a call; false where the handle's only variant does not take it. */
static bool reserve(Batch *b, tle_handle h, const Point *p, const Arrays *a, size_t *size) {
    void *larger = NULL;
    if (b->op->reserve(h, p, a, size))
        return false;
    if (*size <= b->workspace_size)
        return true;
    tle_free(b->s->h, b->workspace);
    b->workspace_size = tle_alloc(b->s->h, *size, &larger) ? 0 : *size;
    b->workspace = larger;
    return larger != NULL;
}

static Arrays arrays_from(const Batch *b, int64_t row) {
    Arrays a = {.in = b->in + (size_t)row * b->row_in,
                .indices = b->out + (size_t)row * b->row_indices};
    if (b->p.values)
        a.values = b->out + values_at(b) + (size_t)row * b->row_values;
    return a;
}

/* Enqueues rows [begin, end) as a batch of their own. */
static bool call_rows(Batch *b, tle_handle h, int64_t begin, int64_t end) {
    Point p = b->p;
    Arrays a = arrays_from(b, begin);
    size_t size = 0;
    p.rows = end - begin;
    return reserve(b, h, &p, &a, &size) && !b->op->call(h, &p, &a, b->workspace, size);
}

static bool wipe(Batch *b) {
    memset(b->found, 0x5a, b->out_bytes);
    return !tle_copy(b->s->h, b->out, b->found, b->out_bytes) && !tle_synchronize(b->s->h, NULL);
}

static bool fetch(Batch *b, char *to) {
    return !tle_synchronize(b->s->h, NULL) && !tle_copy(b->s->h, to, b->out, b->out_bytes);
}

static bool same_row(const Batch *b, int64_t here, int64_t there) {
    const char *x = b->first, *y = b->found;
    return !memcmp(x + (size_t)here * b->row_indices, y + (size_t)there * b->row_indices,
                   b->row_indices) &&
           !memcmp(x + values_at(b) + (size_t)here * b->row_values,
                   y + values_at(b) + (size_t)there * b->row_values, b->row_values);
}

static bool same_rows(Batch *b, const char *what) {
    bool ok = fetch(b, b->found);
    for (int64_t r = 0; r < b->p.rows && ok; r++)
        ok = same_row(b, r, r);
    b->s->compared++;
    return ok || differ(b, what);
}

/* ---- what must not matter ---- */

static bool again(Batch *b) {
    for (int i = 0; i < b->s->runs; i++)
        if (!wipe(b) || !call_rows(b, b->s->h, 0, b->p.rows) || !same_rows(b, "another run"))
            return differ(b, "another run");
    return true;
}

/* Parts of `most` rows or fewer, in turn of 1, 2, ... rows where that is 0. */
static bool in_parts(Batch *b, int64_t most) {
    bool ok = wipe(b);
    for (int64_t begin = 0, size = 1, end = 0; begin < b->p.rows && ok; begin = end, size++) {
        end = begin + (most ? most : size);
        end = end < b->p.rows ? end : b->p.rows;
        ok = call_rows(b, b->s->h, begin, end);
    }
    return ok ? same_rows(b, most ? "a row alone" : "a part of the batch")
              : differ(b, "a part of the batch");
}

static bool with_others(Batch *b) {
    int64_t rows = b->p.rows;
    bool ok = wipe(b) && call_rows(b, b->s->h, 0, 2 * rows) && fetch(b, b->found);
    for (int64_t r = 0; r < rows && ok; r++)
        ok = same_row(b, r, r) && same_row(b, b->order[r], rows + r);
    b->s->compared++;
    return ok || differ(b, "a batch of twice the rows, half of them in another order,");
}

static bool by_variants(Batch *b, const Variants *v) {
    Arrays all = arrays_from(b, 0);
    size_t size = 0;
    for (int i = 0; i < v->count; i++) {
        if (b->op->reserve(v->handles[i], &b->p, &all, &size))
            continue; /* not legal there */
        if (!wipe(b) || !call_rows(b, v->handles[i], 0, b->p.rows))
            return differ(b, v->names[i]);
        if (!same_rows(b, v->names[i]))
            return false;
    }
    return true;
}

static bool same_batch(SameBytes *s, const Operator *op, const Point *p, const Variants *v) {
    Batch b = {.s = s, .op = op, .p = *p};
    bool ok = open_batch(&b) && wipe(&b) && call_rows(&b, s->h, 0, p->rows) && fetch(&b, b.first);
    if (!ok)
        differ(&b, "the first run");
    ok = ok && again(&b) && in_parts(&b, 1) && in_parts(&b, 0) && with_others(&b) &&
         by_variants(&b, v);
    close_batch(&b);
    return ok;
}

/* ---- variants ---- */

static int keep_name(const tle_variant_info *info, void *user) {
    Variants *v = user;
    char **longer = realloc(v->names, ((size_t)v->count + 1) * sizeof *longer);
    if (!longer)
        return 1;
    v->names = longer;
    v->names[v->count] = strdup(info->name);
    return !v->names[v->count++];
}

static bool open_variants(const SameBytes *s, const Operator *op, Variants *v) {
    bool ok = !tle_variants(s->h, op->name, keep_name, v);
    v->handles = calloc((size_t)v->count + 1, sizeof *v->handles);
    for (int i = 0; i < v->count && ok; i++)
        ok = v->handles && v->names[i] && !setenv("TLE_FORCE_VARIANT", v->names[i], 1) &&
             !tle_create(&v->handles[i], s->options);
    unsetenv("TLE_FORCE_VARIANT");
    if (!ok)
        snprintf(s->why, s->why_size, "variants of %s: %s", op->name, tle_last_error());
    return ok;
}

static void close_variants(Variants *v) {
    for (int i = 0; i < v->count; i++) {
        if (v->handles)
            tle_destroy(v->handles[i]);
        free(v->names[i]);
    }
    free(v->handles);
    free(v->names);
}

/* ---- the points ---- */

typedef struct Size {
    int64_t rows, columns, k;
} Size;

static bool same_sizes(SameBytes *s, const Operator *op, const int32_t *dtypes, int dtype_count,
                       const Size *sizes, int size_count) {
    Variants v = {0};
    bool ok = open_variants(s, op, &v);
    for (int i = 0; i < dtype_count * size_count * 2 && ok; i++) {
        const Size *size = &sizes[i / 2 % size_count];
        Point p = {.dtype = dtypes[i / 2 / size_count],
                   .rows = size->rows,
                   .columns = size->columns,
                   .k = size->k,
                   .sorted = i % 2 && size->k <= TLE_RADIX_SELECT_MAX_SORTED_K,
                   .values = i % 2,
                   .smallest = op == &radix && (i / 2) % 3 == 0};
        if (p.columns <= s->max_columns)
            ok = same_batch(s, op, &p, &v);
    }
    close_variants(&v);
    return ok;
}

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

bool same_topk(SameBytes *s) {
    static const int32_t dtypes[] = {TLE_DTYPE_FLOAT32, TLE_DTYPE_FLOAT16, TLE_DTYPE_BFLOAT16};
    static const Size sizes[] = {{40, 3000, 100},   {64, 4096, 512},   {38, 8192, 2048},
                                 {38, 16384, 1024}, {19, 20000, 8192}, {19, 65536, 2048},
                                 {6, 131072, 2048}, {2, 1048576, 512}};
    return same_sizes(s, &topk, dtypes, COUNT(dtypes), sizes, COUNT(sizes));
}

bool same_radix(SameBytes *s) {
    static const int32_t dtypes[] = {TLE_DTYPE_FLOAT32, TLE_DTYPE_FLOAT16, TLE_DTYPE_BFLOAT16,
                                     TLE_DTYPE_INT32,   TLE_DTYPE_UINT32,  TLE_DTYPE_INT64,
                                     TLE_DTYPE_UINT64,  TLE_DTYPE_FLOAT64};
    static const Size sizes[] = {
        {40, 1000, 1000}, {38, 4096, 64}, {19, 16384, 2048}, {19, 65536, 300}, {3, 131072, 8192}};
    return same_sizes(s, &radix, dtypes, COUNT(dtypes), sizes, COUNT(sizes));
}
