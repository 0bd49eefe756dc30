#include "kernels/support/radix_case.h"

#include "kernels/support/variant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 0x5a }; /* what every byte of the outputs holds before the launch */

/* Bits of the kernels' flags. */
enum { LENGTHS = 1, SMALLEST = 2, INDICES = 4, VALUES = 8, PAYLOAD = 16, PAYLOAD_8 = 32 };

/* ---- variants ----------------------------------------------------------------------------- */

typedef struct Listing {
    RadixVisit *visit;
    void *user;
    int count;
} Listing;

static int see_variant(const tle_variant_info *info, void *user) {
    Listing *l = user;
    RadixVariant v = {.max_columns = INT32_MAX,
                      .max_sorted_k = 8192,
                      .threads = (uint32_t)info->threads,
                      .ctas = (uint32_t)info->cluster[0],
                      .shared_bytes = (uint32_t)info->shared_bytes};
    const char *type = strstr(info->name, "__"), *group = strstr(info->name, "__v");
    snprintf(v.name, sizeof v.name, "%s", info->name);
    v.type = type ? radix_type(type + 2, strcspn(type + 2, "_")) : NULL;
    v.sorted = strstr(info->name, "__sorted") != NULL;
    v.group = group ? strtoll(group + 3, NULL, 10) : 0;
    if (strstr(info->name, "__short4k"))
        v.max_columns = v.max_sorted_k = 4096;
    if (v.ctas > 1)
        v.max_sorted_k = 4096;
    if (!v.type || !v.group) {
        fprintf(stderr, "%s: what does the name mean?\n", info->name);
        return 1;
    }
    l->count++;
    return l->visit(&v, l->user) ? 0 : 1;
}

int radix_variants(RadixVisit *visit, void *user) {
    Listing l = {visit, user, 0};
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    tle_handle h = NULL;
    o.device_kind = TLE_DEVICE_NONE;
    if (tle_create(&h, &o) || tle_variants(h, "radix_select", see_variant, &l))
        fprintf(stderr, "%s\n", tle_last_error());
    tle_destroy(h);
    return l.count;
}

tle_emu_kernel *radix_kernel(tle_emu_device *device, const RadixVariant *v) {
    tle_emu_module *module = NULL;
    tle_variant_info info;
    size_t size = 0;
    char *ptx = variant_ptx(v->name, &size, &info);
    if (ptx && tle_emu_module_load(device, ptx, size, v->name, &module))
        fprintf(stderr, "%s: %s\n", v->name, tle_emu_last_error(device));
    free(ptx);
    return module ? tle_emu_module_kernel_at(module, 0) : NULL;
}

bool radix_legal(const RadixVariant *v, const RadixCase *c) {
    return c->columns <= v->max_columns && (!v->sorted || c->k <= v->max_sorted_k);
}

RadixCase radix_fitted(const RadixVariant *v, const RadixCase *c) {
    RadixCase fitted = *c;
    fitted.columns = (c->columns + v->group - 1) / v->group * v->group;
    fitted.gap = (c->gap + v->group - 1) / v->group * v->group;
    if (fitted.columns != c->columns && c->length == RADIX_ALL_COLUMNS)
        fitted.length = (int32_t)c->columns;
    return fitted;
}

/* ---- the reference ------------------------------------------------------------------------ */

typedef struct Element {
    const RadixType *type;
    uint64_t bits;
    int32_t index;
    bool smallest;
} Element;

static int by_rank(const void *a, const void *b) {
    const Element *x = a, *y = b;
    int order = radix_compare(x->type, x->bits, y->bits);
    if (order == 0)
        return x->index < y->index ? -1 : 1;
    /* NaN is greatest: first of the largest, last of the smallest. */
    return x->smallest ? order : -order;
}

static int by_index(const void *a, const void *b) {
    const Element *x = a, *y = b;
    return x->index < y->index ? -1 : 1;
}

/* ---- one launch --------------------------------------------------------------------------- */

/* The outputs come last. */
enum { IN_KEYS, IN_PAYLOAD, IN_LENGTHS, OUT_INDICES, OUT_VALUES, OUT_PAYLOAD, BUFFERS };

typedef struct Run {
    tle_emu_device *device;
    const RadixVariant *variant;
    RadixCase c;
    void *at[BUFFERS];
    size_t bytes[BUFFERS];
    Element *row; /* room for the elements of one row */
    int64_t failed_row, failed_place;
} Run;

static int64_t first_key(const Run *r) {
    return r->c.misalign * r->variant->group;
}

static int64_t key_stride(const Run *r) {
    return r->c.columns + r->c.gap;
}

/* Strides differ, so that none can stand in for another. */
static int64_t stride_of(const Run *r, int buffer) {
    return buffer >= OUT_INDICES ? r->c.k + buffer - OUT_INDICES : r->c.columns + 1;
}

static size_t element_of(const Run *r, int buffer) {
    const size_t sizes[BUFFERS] = {r->variant->type->bytes, (size_t)r->c.payload_bytes,
                                   sizeof(int32_t),         sizeof(int32_t),
                                   r->variant->type->bytes, (size_t)r->c.payload_bytes};
    return sizes[buffer];
}

static bool present(const Run *r, int buffer) {
    const RadixCase *c = &r->c;
    const bool given[BUFFERS] = {
        true,           c->payload_bytes != 0, c->length != RADIX_ALL_COLUMNS, !c->without_indices,
        c->with_values, c->payload_bytes != 0};
    return given[buffer];
}

static int64_t elements_of(const Run *r, int buffer) {
    int64_t last = r->c.rows - 1;
    switch (buffer) {
    case IN_KEYS:
        return first_key(r) + last * key_stride(r) + r->c.columns;
    case IN_PAYLOAD:
        return last * stride_of(r, buffer) + r->c.columns;
    case IN_LENGTHS:
        return r->c.rows;
    default:
        return last * stride_of(r, buffer) + r->c.k;
    }
}

static bool make_buffers(Run *r) {
    for (int i = 0; i < BUFFERS; i++) {
        if (!present(r, i))
            continue;
        r->bytes[i] = (size_t)elements_of(r, i) * element_of(r, i);
        if (r->bytes[i] && tle_emu_alloc(r->device, r->bytes[i], &r->at[i]))
            return false;
        if (r->bytes[i] && i >= OUT_INDICES)
            memset(r->at[i], GUARD, r->bytes[i]);
    }
    r->row = malloc((size_t)(r->c.columns ? r->c.columns : 1) * sizeof *r->row);
    return r->row != NULL;
}

static void fill_buffers(Run *r) {
    const RadixCase *c = &r->c;
    Random rng = {c->seed};
    if (r->bytes[IN_KEYS])
        memset(r->at[IN_KEYS], 0xff, r->bytes[IN_KEYS]); /* NaN and -1 between the rows */
    for (int64_t i = 0; i < c->rows; i++) {
        radix_fill(r->variant->type, r->at[IN_KEYS], first_key(r) + i * key_stride(r), c->columns,
                   c->values, &rng);
        if (present(r, IN_LENGTHS))
            ((int32_t *)r->at[IN_LENGTHS])[i] =
                c->length != RADIX_RAGGED
                    ? c->length
                    : (int32_t)random_below(&rng, (uint64_t)c->columns + 7) - 3;
    }
    for (size_t i = 0; i < r->bytes[IN_PAYLOAD]; i++)
        ((unsigned char *)r->at[IN_PAYLOAD])[i] = (unsigned char)(random_bits(&rng) >> 40);
}

static bool launch(Run *r, tle_emu_kernel *kernel) {
    const RadixCase *c = &r->c;
    char *keys = r->at[IN_KEYS]
                     ? (char *)r->at[IN_KEYS] + (size_t)first_key(r) * r->variant->type->bytes
                     : NULL;
    int64_t strides[] = {key_stride(r), stride_of(r, IN_PAYLOAD), stride_of(r, OUT_INDICES),
                         stride_of(r, OUT_VALUES), stride_of(r, OUT_PAYLOAD)};
    int32_t columns = (int32_t)c->columns, k = (int32_t)c->k;
    int32_t flags = (present(r, IN_LENGTHS) ? LENGTHS : 0) | (c->smallest ? SMALLEST : 0) |
                    (present(r, OUT_INDICES) ? INDICES : 0) |
                    (present(r, OUT_VALUES) ? VALUES : 0) | (c->payload_bytes ? PAYLOAD : 0) |
                    (c->payload_bytes == 8 ? PAYLOAD_8 : 0);
    void *params[] = {&keys,
                      &r->at[IN_PAYLOAD],
                      &r->at[IN_LENGTHS],
                      &r->at[OUT_INDICES],
                      &r->at[OUT_VALUES],
                      &r->at[OUT_PAYLOAD],
                      &strides[0],
                      &strides[1],
                      &strides[2],
                      &strides[3],
                      &strides[4],
                      &columns,
                      &k,
                      &flags};
    tle_emu_launch_config config = {.struct_size = sizeof config,
                                    .grid = {(uint32_t)c->rows * r->variant->ctas},
                                    .block = {r->variant->threads},
                                    .cluster = {r->variant->ctas},
                                    .dynamic_shared_bytes = r->variant->shared_bytes};
    return tle_emu_launch(r->device, kernel, &config, params) == TLE_EMU_OK;
}

/* The chosen elements of row i, in the order of the outputs; returns how many. */
static int64_t choose(Run *r, int64_t i) {
    const RadixCase *c = &r->c;
    int64_t n = c->columns;
    if (present(r, IN_LENGTHS)) {
        int64_t length = ((const int32_t *)r->at[IN_LENGTHS])[i];
        n = length < 0 ? 0 : length < n ? length : n;
    }
    for (int64_t j = 0; j < n; j++)
        r->row[j] = (Element){
            r->variant->type,
            radix_bits_at(r->variant->type, r->at[IN_KEYS], first_key(r) + i * key_stride(r) + j),
            (int32_t)j, c->smallest};
    if (n)
        qsort(r->row, (size_t)n, sizeof *r->row, by_rank);
    if (n > c->k)
        n = c->k;
    if (n && !r->variant->sorted)
        qsort(r->row, (size_t)n, sizeof *r->row, by_index);
    return n;
}

/* The expected bytes of one element of an output. NULL: a place without element. */
static uint64_t expected(const Run *r, int buffer, int64_t row, const Element *e) {
    uint64_t bits = 0;
    switch (buffer) {
    case OUT_INDICES:
        return e ? (uint32_t)e->index : UINT32_MAX;
    case OUT_VALUES:
        return e ? e->bits : radix_worst(r->variant->type, r->c.smallest);
    default:
        if (e)
            memcpy(&bits,
                   (const char *)r->at[IN_PAYLOAD] +
                       (size_t)(row * stride_of(r, IN_PAYLOAD) + e->index) * element_of(r, buffer),
                   element_of(r, buffer));
        return bits;
    }
}

static bool row_is_right(Run *r, int buffer, int64_t row, int64_t count) {
    size_t size = element_of(r, buffer);
    int64_t places = row == r->c.rows - 1 ? r->c.k : stride_of(r, buffer);
    for (int64_t j = 0; j < places; j++) {
        uint64_t want = 0, got = 0;
        memset(&want, GUARD, size);
        if (j < r->c.k)
            want = expected(r, buffer, row, j < count ? &r->row[j] : NULL);
        memcpy(&got, (const char *)r->at[buffer] + (size_t)(row * stride_of(r, buffer) + j) * size,
               size);
        if (got != want) {
            r->failed_row = row;
            r->failed_place = j;
            return false;
        }
    }
    return true;
}

static void describe(const RadixCase *c, char *text, size_t size) {
    snprintf(text, size,
             "rows %lld columns %lld k %lld gap %lld misalign %lld length %d values %s smallest %d "
             "payload %d seed %llu",
             (long long)c->rows, (long long)c->columns, (long long)c->k, (long long)c->gap,
             (long long)c->misalign, c->length, radix_values_name(c->values), c->smallest,
             c->payload_bytes, (unsigned long long)c->seed);
}

static bool run(Run *r, tle_emu_kernel *kernel, char *why, size_t size) {
    static const char *const outputs[] = {"indices", "values", "payload"};
    if (!make_buffers(r)) {
        snprintf(why, size, "no memory");
        return false;
    }
    fill_buffers(r);
    if (!launch(r, kernel)) {
        snprintf(why, size, "%s", tle_emu_last_error(r->device));
        return false;
    }
    for (int64_t i = 0; i < r->c.rows; i++) {
        int64_t count = choose(r, i);
        for (int b = OUT_INDICES; b < BUFFERS; b++)
            if (present(r, b) && !row_is_right(r, b, i, count)) {
                snprintf(why, size, "row %lld place %lld of the %s is wrong",
                         (long long)r->failed_row, (long long)r->failed_place,
                         outputs[b - OUT_INDICES]);
                return false;
            }
    }
    return true;
}

bool radix_run(tle_emu_device *device, tle_emu_kernel *kernel, const RadixVariant *variant,
               const RadixCase *c, char *why, size_t why_size) {
    Run r = {.device = device, .variant = variant, .c = radix_fitted(variant, c)};
    char what[600] = "", text[300];
    bool ok = run(&r, kernel, what, sizeof what);
    for (int i = 0; i < BUFFERS; i++)
        if (r.at[i])
            tle_emu_free(device, r.at[i]);
    free(r.row);
    describe(&r.c, text, sizeof text);
    if (!ok)
        snprintf(why, why_size, "%s: %s [%s]", variant->name, what, text);
    return ok;
}
