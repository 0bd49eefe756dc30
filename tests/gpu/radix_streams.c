#include "gpu/radix_streams.h"

#include "cli/reference_radix.h"
#include "gpu/graph.h"
#include "kernels/support/keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, COLUMNS = 20000, K = 1500, REPLAYS = 20 };

/* What a call touches, in this order. */
enum { KEYS, PAYLOAD, LENGTHS, INDICES, VALUES, PAYLOAD_OUT, ARRAYS, FIRST_OUTPUT = INDICES };

/* A call whose arrays lie in rows of `strides` elements on the device, without gaps on the host. */
typedef struct Batch {
    tle_handle h;
    int64_t rows, columns, k, strides[ARRAYS];
    bool smallest, sorted;
    char *host[ARRAYS], *want[ARRAYS];
    void *device[ARRAYS];
} Batch;

static const size_t elements[ARRAYS] = {4, 8, 4, 4, 4, 8};

static int64_t width(const Batch *b, int array) {
    return array >= FIRST_OUTPUT ? b->k : array == LENGTHS ? 1 : b->columns;
}

static size_t row_bytes(const Batch *b, int array) {
    return (size_t)width(b, array) * elements[array];
}

static void *device_row(const Batch *b, int array, int64_t row) {
    return (char *)b->device[array] + (size_t)(row * b->strides[array]) * elements[array];
}

static bool copy_rows(const Batch *b, int array, bool in) {
    bool ok = true;
    for (int64_t r = 0; r < b->rows && ok; r++) {
        void *host = b->host[array] + (size_t)r * row_bytes(b, array);
        void *there = device_row(b, array, r);
        ok = !tle_copy(b->h, in ? there : host, in ? host : there, row_bytes(b, array));
    }
    return ok;
}

static bool expect(const Batch *b) {
    ReferenceRadix reference = {
        .dtype = TLE_DTYPE_FLOAT32,
        .keys = b->host[KEYS],
        .rows = b->rows,
        .columns = b->columns,
        .key_row_stride = b->columns,
        .k = b->k,
        .lengths = (const int32_t *)(const void *)b->host[LENGTHS],
        .smallest = b->smallest,
        .sorted = b->sorted,
        .payload_bytes = elements[PAYLOAD],
        .payload = b->host[PAYLOAD],
        .payload_row_stride = b->columns,
        .indices = (int32_t *)(void *)b->want[INDICES],
        .index_row_stride = b->k,
        .values = b->want[VALUES],
        .value_row_stride = b->k,
        .payload_out = b->want[PAYLOAD_OUT],
        .payload_out_row_stride = b->k,
    };
    return reference_radix(&reference);
}

static bool set_lengths(Batch *b, uint64_t seed) {
    Random rng = {seed};
    int32_t *lengths = (int32_t *)(void *)b->host[LENGTHS];
    for (int64_t i = 0; i < b->rows; i++)
        lengths[i] = (int32_t)random_below(&rng, (uint64_t)b->columns + 2) - 1;
    return expect(b) && copy_rows(b, LENGTHS, true);
}

static bool open_batch(Batch *b, uint64_t seed) {
    Random rng = {seed};
    for (int i = 0; i < ARRAYS; i++) {
        size_t last = (size_t)((b->rows - 1) * b->strides[i]) * elements[i];
        b->host[i] = malloc((size_t)b->rows * row_bytes(b, i));
        b->want[i] = malloc((size_t)b->rows * row_bytes(b, i));
        if (!b->host[i] || !b->want[i] || tle_alloc(b->h, last + row_bytes(b, i), &b->device[i]))
            return false;
    }
    for (size_t i = 0; i < (size_t)b->rows * row_bytes(b, PAYLOAD); i++)
        b->host[PAYLOAD][i] = (char)random_bits(&rng);
    return fill_keys(b->host[KEYS], TLE_DTYPE_FLOAT32, b->rows * b->columns, VALUES_GRID, &rng) &&
           copy_rows(b, KEYS, true) && copy_rows(b, PAYLOAD, true) && set_lengths(b, seed);
}

static void close_batch(Batch *b) {
    for (int i = 0; i < ARRAYS; i++) {
        free(b->host[i]);
        free(b->want[i]);
        tle_free(b->h, b->device[i]);
    }
}

static bool wipe(Batch *b) {
    bool ok = true;
    for (int i = FIRST_OUTPUT; i < ARRAYS && ok; i++) {
        memset(b->host[i], 0x5a, (size_t)b->rows * row_bytes(b, i));
        ok = copy_rows(b, i, true);
    }
    return ok;
}

static bool enqueue(void *batch, void *stream) {
    const Batch *b = batch;
    tle_radix_select_params p = TLE_RADIX_SELECT_PARAMS_INIT;
    p.rows = b->rows;
    p.columns = b->columns;
    p.k = b->k;
    p.keys = b->device[KEYS];
    p.key_row_stride = b->strides[KEYS];
    p.lengths = b->device[LENGTHS];
    p.order = b->smallest ? TLE_SELECT_SMALLEST : TLE_SELECT_LARGEST;
    p.sorted = b->sorted;
    p.payload_bytes = (int32_t)elements[PAYLOAD];
    p.payload = b->device[PAYLOAD];
    p.payload_row_stride = b->strides[PAYLOAD];
    p.indices = b->device[INDICES];
    p.index_row_stride = b->strides[INDICES];
    p.values = b->device[VALUES];
    p.value_row_stride = b->strides[VALUES];
    p.payload_out = b->device[PAYLOAD_OUT];
    p.payload_out_row_stride = b->strides[PAYLOAD_OUT];
    return !tle_radix_select(b->h, &p, NULL, 0, stream);
}

static bool right(const Batch *b, const char *what, char *why, size_t size) {
    static const char *const names[ARRAYS] = {
        [INDICES] = "indices", [VALUES] = "values", [PAYLOAD_OUT] = "payloads"};
    for (int i = FIRST_OUTPUT; i < ARRAYS; i++)
        if (!copy_rows(b, i, false) ||
            memcmp(b->host[i], b->want[i], (size_t)b->rows * row_bytes(b, i)) != 0) {
            snprintf(why, size, "%s: the %s differ from the reference %s", what, names[i],
                     tle_last_error());
            return false;
        }
    return true;
}

static bool failed(char *why, size_t size, const char *what) {
    snprintf(why, size, "%s: %s", what, tle_last_error());
    return false;
}

bool check_radix_capture(const Driver *d, tle_handle h, char *why, size_t size) {
    Batch b = {.h = h,
               .rows = ROWS,
               .columns = COLUMNS,
               .k = K,
               .strides = {COLUMNS, COLUMNS, 1, K, K, K},
               .sorted = true};
    void *stream = NULL;
    Graph g = {.driver = d};
    bool ok = open_batch(&b, 3) && !tle_preload(h, "radix_select") &&
              !d->stream_create(&stream, 1) && graph_capture(&g, d, stream, enqueue, &b);
    if (!ok)
        failed(why, size, "capture");
    for (uint64_t n = 0; n < REPLAYS && ok; n++) {
        ok = set_lengths(&b, 50 + n) && wipe(&b) && graph_replay(&g) &&
             !d->stream_synchronize(stream);
        ok = ok && right(&b, "replay with changed lengths", why, size);
    }
    graph_close(&g);
    d->stream_destroy(stream);
    close_batch(&b);
    return ok;
}

bool check_radix_huge_stride(const Driver *d, tle_handle h, char *why, size_t size) {
    const int64_t far = ((int64_t)1 << 31) + 1, near = ((int64_t)1 << 29) + 3;
    Batch b = {.h = h,
               .rows = 3,
               .columns = 5000,
               .k = 700,
               .strides = {far, near, 1, near, near, near},
               .smallest = true};
    (void)d;
    bool ok = open_batch(&b, 99) && wipe(&b) && enqueue(&b, NULL) && !tle_synchronize(h, NULL);
    if (!ok)
        failed(why, size, "rows * stride beyond 2^32");
    ok = ok && right(&b, "rows * stride beyond 2^32", why, size);
    close_batch(&b);
    return ok;
}
