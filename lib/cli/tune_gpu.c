/* Times every variant of an operator at every point, on a GPU.
 *
 * A handle is made for each variant, with the variant forced, so what is timed is what a call runs.
 * As many calls as fill a millisecond are captured into a graph; the time is the median over
 * replays between two events. Hot: all calls read the same input. Cold: they read different copies,
 * after the L2 cache was overwritten. A variant that is far slower than the best so far at a point
 * is not measured further. Results must not depend on the variant: one that differs from the first
 * at a point is named and left out. */
#include "cli/cli.h"
#include "cli/driver.h"
#include "cli/tune_op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 16, PASSES = 9, LEAST_PASSES = 5 };
static const double pass_us = 1000, budget_us = 2000, hopeless = 1.6;
static const size_t flush_bytes = (size_t)256 << 20, block_bytes = (size_t)16 << 20;

typedef struct Bench {
    const TuneOp *op;
    TuneSet *set;
    Driver d;
    void *stream, *begin, *end, *exec;
    unsigned long long flush;
    tle_handle memory_of; /* owns the memory below */
    char *pools[TUNE_KINDS];
    size_t pool_bytes[TUNE_KINDS], output_bytes;
    char *output;
    uint32_t *host;     /* a copy of the output */
    uint64_t *expected; /* hash of the right result at each point, or 0 */
    double *best_hot;
} Bench;

static bool sure(int code, const char *what) {
    if (code)
        complain("tune: %s failed: error %d", what, code);
    return !code;
}

static bool fine(tle_status status, const char *what) {
    if (status)
        complain_status(what, status);
    return !status;
}

/* ---- one measurement ---- */

static bool capture(Bench *b, tle_handle handle, TuneCall call, int calls, int copies) {
    void *graph = NULL;
    size_t bytes = b->op->input_bytes(call.fact);
    char *input = call.input;
    bool ok = sure(b->d.begin_capture(b->stream, 2), "cuStreamBeginCapture");
    for (int i = calls - 1; ok && i >= 0; i--) {
        call.input = input + bytes * (size_t)(i % copies);
        ok = fine(b->op->run(handle, &call, b->stream), "tune");
    }
    ok = sure(b->d.end_capture(b->stream, &graph), "cuStreamEndCapture") && ok;
    if (b->exec)
        b->d.exec_destroy(b->exec);
    b->exec = NULL;
    ok = ok && sure(b->d.instantiate(&b->exec, graph, 0), "cuGraphInstantiate");
    if (graph)
        b->d.graph_destroy(graph);
    return ok;
}

/* Microseconds of one replay; negative after a message. */
static double replay(Bench *b, bool cold) {
    float milliseconds = 0;
    if ((cold && !sure(b->d.memory_set(b->flush, 1, flush_bytes, b->stream), "cuMemsetD8Async")) ||
        !sure(b->d.event_record(b->begin, b->stream), "cuEventRecord") ||
        !sure(b->d.graph_launch(b->exec, b->stream), "cuGraphLaunch") ||
        !sure(b->d.event_record(b->end, b->stream), "cuEventRecord") ||
        !sure(b->d.event_synchronize(b->end), "cuEventSynchronize") ||
        !sure(b->d.event_elapsed(&milliseconds, b->begin, b->end), "cuEventElapsedTime"))
        return -1;
    return (double)milliseconds * 1e3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median replay; the first is not counted. */
static double median(Bench *b, bool cold) {
    double times[PASSES], first = replay(b, cold);
    int passes = first > 0 ? (int)(budget_us / first) : LEAST_PASSES;
    passes = passes < LEAST_PASSES ? LEAST_PASSES : passes > PASSES ? PASSES : passes;
    for (int i = 0; i < passes; i++) {
        times[i] = replay(b, cold);
        if (times[i] < 0)
            return -1;
    }
    qsort(times, (size_t)passes, sizeof *times, ascending);
    return times[passes / 2];
}

/* FNV-1a of the output's words, never 0. */
static bool hash_output(Bench *b, const int64_t *fact, uint64_t *hash) {
    size_t bytes = b->op->output_bytes(fact);
    if (!fine(tle_copy(b->memory_of, b->host, b->output, bytes), "tune: the result"))
        return false;
    *hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < bytes / sizeof *b->host; i++)
        *hash = (*hash ^ b->host[i]) * UINT64_C(1099511628211);
    *hash |= 1;
    return true;
}

static int clamp_calls(double us) {
    const double most = CALLS;
    double calls = us > 0 ? pass_us / us : most;
    return (int)fmax(2, fmin(most, calls));
}

static int copies_of(const Bench *b, const int64_t *fact) {
    size_t fit = b->pool_bytes[b->op->input_kind(fact)] / b->op->input_bytes(fact);
    return fit > CALLS ? CALLS : (int)fit;
}

/* Times one legal variant at a point; false after a failure. */
static bool measure(Bench *b, tle_handle handle, const TuneCall *call, int p, int v) {
    uint64_t hash = 0;
    if (!fine(b->op->run(handle, call, b->stream), b->set->variants[v].name) ||
        !fine(tle_synchronize(handle, b->stream), b->set->variants[v].name) ||
        !hash_output(b, call->fact, &hash))
        return false;
    if (b->expected[p] && b->expected[p] != hash) {
        complain("tune: '%s' gives another result than the variants before it at point %d and is "
                 "left out there",
                 b->set->variants[v].name, p);
        return true;
    }
    b->expected[p] = hash;
    if (!capture(b, handle, *call, 1, 1) || replay(b, false) < 0)
        return false;
    int calls = clamp_calls(replay(b, false));
    if (!capture(b, handle, *call, calls, 1))
        return false;
    double first = replay(b, false), second = replay(b, false); /* a graph's first takes longer */
    if (first < 0 || second < 0)
        return false;
    if (second / calls > hopeless * b->best_hot[p])
        return true;
    double hot = median(b, false) / calls;
    if (hot <= 0 || !capture(b, handle, *call, calls, copies_of(b, call->fact)))
        return false;
    double cold = median(b, true) / calls;
    b->set->hot[tune_at(b->set, p, v)] = hot;
    b->set->cold[tune_at(b->set, p, v)] = cold;
    b->best_hot[p] = fmin(b->best_hot[p], hot);
    return cold > 0;
}

/* ---- all of them ---- */

static bool measure_point(Bench *b, tle_handle handle, int p, int v) {
    const int64_t *fact = b->set->points[p].fact;
    void *workspace = NULL;
    TuneCall call = {.fact = fact, .output = b->output};
    call.input = b->pools[b->op->input_kind(fact)];
    if (b->op->workspace(handle, &call, &call.workspace_size))
        return true; // not legal there
    if (call.workspace_size &&
        !fine(tle_alloc(b->memory_of, call.workspace_size, &workspace), "tune: the workspace"))
        return false;
    call.workspace = (char *)workspace;
    bool ok = measure(b, handle, &call, p, v);
    tle_free(b->memory_of, workspace);
    return ok;
}

static bool measure_variant(Bench *b, const tle_handle_options *options, int v) {
    tle_handle handle = NULL;
    const char *name = b->set->variants[v].name;
    if (setenv("TLE_FORCE_VARIANT", name, 1))
        return !complain("tune: no memory");
    bool ok = fine(tle_create(&handle, options), name);
    for (int p = 0; ok && p < b->set->point_count; p++)
        ok = measure_point(b, handle, p, v);
    if (b->exec)
        b->d.exec_destroy(b->exec); // it runs the handle's kernels
    b->exec = NULL;
    tle_destroy(handle);
    unsetenv("TLE_FORCE_VARIANT");
    fprintf(stderr, "\rtle: tune: %d of %d variants", v + 1, b->set->variant_count);
    return ok;
}

/* ---- memory ---- */

/* One block of values, repeated; a margin behind them for inputs that begin later. */
static bool fill_pool(Bench *b, int kind, char *block) {
    void *pool = NULL;
    size_t bytes = b->pool_bytes[kind];
    if (!bytes)
        return true;
    b->op->fill(kind, block, block_bytes);
    if (!fine(tle_alloc(b->memory_of, bytes + block_bytes, &pool), "tune: the inputs"))
        return false;
    b->pools[kind] = (char *)pool;
    for (size_t at = 0; at < bytes + block_bytes; at += block_bytes) {
        size_t part =
            bytes + block_bytes - at < block_bytes ? bytes + block_bytes - at : block_bytes;
        if (!fine(tle_copy(b->memory_of, b->pools[kind] + at, block, part), "tune: the inputs"))
            return false;
    }
    return true;
}

/* Pools hold the largest input, and enough copies of smaller ones to be cold. */
static void size_pools(Bench *b) {
    for (int p = 0; p < b->set->point_count; p++) {
        const int64_t *fact = b->set->points[p].fact;
        size_t in = b->op->input_bytes(fact), out = b->op->output_bytes(fact);
        size_t *pool = &b->pool_bytes[b->op->input_kind(fact)];
        *pool = *pool > in ? *pool : in;
        *pool = *pool > flush_bytes ? *pool : flush_bytes;
        b->output_bytes = b->output_bytes > out ? b->output_bytes : out;
    }
}

static bool open_memory(Bench *b) {
    void *output = NULL;
    char *block = (char *)malloc(block_bytes);
    size_pools(b);
    b->host = (uint32_t *)malloc(b->output_bytes);
    size_t points = (size_t)b->set->point_count;
    b->expected = (uint64_t *)calloc(points, sizeof *b->expected);
    b->best_hot = (double *)malloc(points * sizeof *b->best_hot);
    bool ok = block && b->host && b->expected && b->best_hot;
    if (!ok)
        complain("tune: no memory");
    for (size_t p = 0; ok && p < points; p++)
        b->best_hot[p] = INFINITY;
    ok = ok && fine(tle_alloc(b->memory_of, b->output_bytes, &output), "tune: the results");
    b->output = (char *)output;
    for (int kind = 0; ok && kind < TUNE_KINDS; kind++)
        ok = fill_pool(b, kind, block);
    free(block);
    return ok;
}

/* Clocks rise before anything is timed. */
static bool warm_up(Bench *b) {
    enum { FLUSHES = 500 };
    bool ok = true;
    for (int i = 0; ok && i < FLUSHES; i++)
        ok = sure(b->d.memory_set(b->flush, 1, flush_bytes, b->stream), "cuMemsetD8Async");
    return ok && sure(b->d.stream_synchronize(b->stream), "cuStreamSynchronize");
}

static bool open_bench(Bench *b, const tle_handle_options *options) {
    char why[200];
    tle_device_info info = {.struct_size = sizeof info};
    if (!fine(tle_create(&b->memory_of, options), "tune") ||
        !fine(tle_handle_device(b->memory_of, &info), "tune"))
        return false;
    if (!driver_open(&b->d, info.ordinal, why, sizeof why))
        return !complain("tune: %s", why);
    return sure(b->d.stream_create(&b->stream, 1), "cuStreamCreate") &&
           sure(b->d.event_create(&b->begin, 0), "cuEventCreate") &&
           sure(b->d.event_create(&b->end, 0), "cuEventCreate") &&
           sure(b->d.memory_alloc(&b->flush, flush_bytes), "cuMemAlloc") && warm_up(b) &&
           open_memory(b);
}

static void close_bench(Bench *b) {
    for (int kind = 0; kind < TUNE_KINDS; kind++)
        tle_free(b->memory_of, b->pools[kind]);
    tle_free(b->memory_of, b->output);
    if (b->flush)
        b->d.memory_free(b->flush);
    if (b->begin)
        b->d.event_destroy(b->begin);
    if (b->end)
        b->d.event_destroy(b->end);
    if (b->stream)
        b->d.stream_destroy(b->stream);
    tle_destroy(b->memory_of);
    free(b->host);
    free(b->expected);
    free(b->best_hot);
}

int tune_measure(const TuneOp *op, const tle_handle_options *options, TuneSet *set) {
    Bench b = {.op = op, .set = set};
    bool ok = tune_set_times(set) && open_bench(&b, options);
    for (int v = 0; ok && v < set->variant_count; v++)
        ok = measure_variant(&b, options, v);
    fputc('\n', stderr);
    close_bench(&b);
    return ok ? 0 : EXIT_FAILED;
}
