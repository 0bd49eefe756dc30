#include "gpu/topk_streams.h"

#include "cli/reference_topk.h"
#include "gpu/graph.h"
#include "kernels/support/topk_case.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 24, COLUMNS = 20000, K = 2048, REPLAYS = 20 };

/* One batch with its inputs, on the device and on the host. */
typedef struct Batch {
    tle_handle h;
    float *scores;
    int32_t *lengths, *got, *want;
    void *device_scores, *device_lengths, *device_indices;
} Batch;

static tle_topk_select_params params_of(const Batch *b) {
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = ROWS;
    p.columns = p.row_stride = COLUMNS;
    p.k = p.index_row_stride = K;
    p.scores = b->device_scores;
    p.lengths = b->device_lengths;
    p.indices = b->device_indices;
    return p;
}

static bool set_lengths(Batch *b, uint64_t seed) {
    Random r = {seed};
    for (int i = 0; i < ROWS; i++)
        b->lengths[i] = (int32_t)random_below(&r, COLUMNS + 2) - 1;
    ReferenceTopk ref = {.scores = b->scores,
                         .rows = ROWS,
                         .columns = COLUMNS,
                         .row_stride = COLUMNS,
                         .k = K,
                         .lengths = b->lengths,
                         .indices = b->want,
                         .index_row_stride = K};
    return reference_topk(&ref) &&
           !tle_copy(b->h, b->device_lengths, b->lengths, ROWS * sizeof(int32_t));
}

static bool open_batch(Batch *b, tle_handle h, uint64_t seed) {
    Random r = {seed};
    size_t scores = (size_t)ROWS * COLUMNS * sizeof(float),
           indices = (size_t)ROWS * K * sizeof(int32_t);
    b->h = h;
    b->scores = malloc(scores);
    b->lengths = malloc(ROWS * sizeof(int32_t));
    b->got = malloc(indices);
    b->want = malloc(indices);
    if (!b->scores || !b->lengths || !b->got || !b->want ||
        tle_alloc(h, scores, &b->device_scores) ||
        tle_alloc(h, ROWS * sizeof(int32_t), &b->device_lengths) ||
        tle_alloc(h, indices, &b->device_indices))
        return false;
    fill_values(b->scores, (int64_t)ROWS * COLUMNS, seed % 2 ? VALUES_NORMAL : VALUES_GRID, &r);
    return !tle_copy(h, b->device_scores, b->scores, scores) && set_lengths(b, seed);
}

static void close_batch(Batch *b) {
    free(b->scores);
    free(b->lengths);
    free(b->got);
    free(b->want);
    tle_free(b->h, b->device_scores);
    tle_free(b->h, b->device_lengths);
    tle_free(b->h, b->device_indices);
}

static bool right(Batch *b, const char *what, char *why, size_t size) {
    size_t bytes = (size_t)ROWS * K * sizeof(int32_t);
    if (tle_copy(b->h, b->got, b->device_indices, bytes) || memcmp(b->got, b->want, bytes)) {
        snprintf(why, size, "%s: the indices differ from the reference %s", what, tle_last_error());
        return false;
    }
    return true;
}

static bool wipe(Batch *b) {
    size_t bytes = (size_t)ROWS * K * sizeof(int32_t);
    memset(b->got, 0x5a, bytes);
    return !tle_copy(b->h, b->device_indices, b->got, bytes);
}

static bool enqueue(void *batch, void *stream) {
    Batch *b = batch;
    tle_topk_select_params p = params_of(b);
    return !tle_topk_select(b->h, &p, NULL, 0, stream);
}

static bool failed(char *why, size_t size, const char *what) {
    snprintf(why, size, "%s: %s", what, tle_last_error());
    return false;
}

bool check_two_streams(const Driver *d, tle_handle h, char *why, size_t size) {
    Batch b[2];
    void *stream[2] = {NULL, NULL};
    bool ok = true;
    memset(b, 0, sizeof b);
    for (int i = 0; i < 2 && ok; i++)
        ok = open_batch(&b[i], h, (uint64_t)i + 1) && wipe(&b[i]) &&
             !d->stream_create(&stream[i], 1);
    for (int n = 0; n < REPLAYS && ok; n++)
        ok = enqueue(&b[0], stream[0]) && enqueue(&b[1], stream[1]);
    for (int i = 0; i < 2 && ok; i++)
        ok = !d->stream_synchronize(stream[i]);
    if (!ok)
        failed(why, size, "two streams");
    ok = ok && right(&b[0], "first of two streams", why, size) &&
         right(&b[1], "second of two streams", why, size);
    for (int i = 0; i < 2; i++) {
        close_batch(&b[i]);
        d->stream_destroy(stream[i]);
    }
    return ok;
}

typedef struct Worker {
    const Driver *d;
    tle_handle h;
    uint64_t seed;
    bool ok;
    char why[400];
} Worker;

static bool work(Worker *w) {
    Batch b;
    void *stream = NULL;
    char none[8];
    Driver own;
    memset(&b, 0, sizeof b);
    if (!driver_open(&own, 0, none, sizeof none) || !open_batch(&b, w->h, w->seed) ||
        own.stream_create(&stream, 1))
        return failed(w->why, sizeof w->why, "thread");
    bool ok = true;
    for (int n = 0; n < REPLAYS && ok; n++)
        ok = wipe(&b) && enqueue(&b, stream) && !own.stream_synchronize(stream) &&
             right(&b, "thread", w->why, sizeof w->why);
    close_batch(&b);
    own.stream_destroy(stream);
    return ok;
}

static void *run_worker(void *user) {
    Worker *w = user;
    w->ok = work(w);
    return NULL;
}

bool check_threads(const Driver *d, tle_handle h, char *why, size_t size) {
    enum { THREADS = 4 };
    Worker w[THREADS];
    pthread_t thread[THREADS];
    bool ok = true;
    for (int i = 0; i < THREADS; i++) {
        w[i] = (Worker){d, h, (uint64_t)i + 10, false, ""};
        if (pthread_create(&thread[i], NULL, run_worker, &w[i]))
            return failed(why, size, "threads");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        if (!w[i].ok)
            snprintf(why, size, "%s", w[i].why);
        ok = ok && w[i].ok;
    }
    return ok;
}

bool check_capture(const Driver *d, tle_handle h, char *why, size_t size) {
    Batch b;
    void *stream = NULL;
    Graph g = {.driver = d};
    memset(&b, 0, sizeof b);
    bool ok = open_batch(&b, h, 3) && !tle_preload(h, "topk_select") &&
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

bool check_huge_stride(const Driver *d, tle_handle h, char *why, size_t size) {
    enum { COLS = 5000, HUGE_ROWS = 3, SMALL_K = 512 };
    int64_t stride = ((int64_t)1 << 31) + 1;
    float *row = malloc(HUGE_ROWS * COLS * sizeof *row);
    int32_t got[HUGE_ROWS * SMALL_K], want[HUGE_ROWS * SMALL_K];
    void *scores = NULL, *indices = NULL;
    Random r = {99};
    (void)d;
    fill_values(row, HUGE_ROWS * COLS, VALUES_NORMAL, &r);
    ReferenceTopk ref = {.scores = row,
                         .rows = HUGE_ROWS,
                         .columns = COLS,
                         .row_stride = COLS,
                         .k = SMALL_K,
                         .indices = want,
                         .index_row_stride = SMALL_K};
    bool ok = reference_topk(&ref) &&
              !tle_alloc(h, (size_t)(2 * stride + COLS) * sizeof(float), &scores) &&
              !tle_alloc(h, sizeof got, &indices);
    for (int64_t i = 0; i < HUGE_ROWS && ok; i++)
        ok = !tle_copy(h, (float *)scores + i * stride, row + i * COLS, COLS * sizeof(float));
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = HUGE_ROWS;
    p.columns = COLS;
    p.row_stride = stride;
    p.k = p.index_row_stride = SMALL_K;
    p.scores = scores;
    p.indices = indices;
    ok = ok && !tle_topk_select(h, &p, NULL, 0, NULL) && !tle_synchronize(h, NULL) &&
         !tle_copy(h, got, indices, sizeof got);
    if (!ok)
        failed(why, size, "rows * stride beyond 2^32");
    else if (memcmp(got, want, sizeof got))
        ok = failed(why, size, "rows * stride beyond 2^32: the indices differ from the reference");
    tle_free(h, scores);
    tle_free(h, indices);
    free(row);
    return ok;
}
