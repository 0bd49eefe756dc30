/* Times the variants of an operator at the points of its grid, on a GPU.
 *
 * A handle is made for each variant, with the variant forced, so what is timed is what a call runs.
 * As many calls as fill a millisecond are captured into a graph; the time is the median over
 * replays between two events. Hot: all calls read the same input. Cold: they read different copies,
 * after the L2 cache was overwritten. Results must not depend on the variant: one that differs from
 * the first at a point is named and left out. tune_walk.c says what is timed where. */
#include "cli/cli.h"
#include "cli/driver.h"
#include "cli/tune_op.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 16, PASSES = 9, LEAST_PASSES = 5, FEW_PASSES = 3 };
static const double pass_us = 1000, budget_us = 2000, launch_us = 20, seconds_between_saves = 3;
static const size_t flush_bytes = (size_t)256 << 20, block_bytes = ((size_t)11 << 20) + 49168,
                    most_compared = (size_t)256 << 10;

typedef struct Bench {
    const TuneOp *op;
    TuneSet *set;
    Driver d;
    void *stream, *begin, *end, *exec;
    unsigned long long flush;
    tle_handle memory_of; /* owns the memory below */
    char *pools[TUNE_KINDS];
    size_t pool_bytes[TUNE_KINDS], output_bytes;
    char *output, *workspace;
    size_t workspace_bytes;
    uint32_t *host;     /* a copy of the output's begin */
    uint64_t *expected; /* hash of the right result at each point, or 0 */
    const tle_handle_options *options;
    tle_handle *handles; /* of each variant, once it was needed */
    const TuneLimits *limits;
    double begun, saved; /* seconds */
} Bench;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

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

/* The median replay; the first is not counted, but cold, so that L2 has what this variant leaves in
 * it and not what another did. */
static double median(Bench *b, bool thorough, bool cold) {
    double times[PASSES], first = replay(b, true);
    int passes = first > 0 ? (int)(budget_us / first) : LEAST_PASSES;
    passes = passes < LEAST_PASSES ? LEAST_PASSES : passes > PASSES ? PASSES : passes;
    passes = thorough ? passes : FEW_PASSES;
    for (int i = 0; i < passes; i++) {
        times[i] = replay(b, cold);
        if (times[i] < 0)
            return -1;
    }
    qsort(times, (size_t)passes, sizeof *times, ascending);
    return times[passes / 2];
}

/* FNV-1a of the output's first words, never 0. */
static bool hash_output(Bench *b, const int64_t *fact, uint64_t *hash) {
    size_t bytes = b->op->output_bytes(fact);
    bytes = bytes < most_compared ? bytes : most_compared;
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

/* Runs a variant once, which loads it, and compares what it gives with the others. */
static TuneAnswer compare(Bench *b, tle_handle handle, const TuneCall *call, int p, int v) {
    const char *name = b->set->variants[v].name;
    uint64_t hash = 0;
    if (!fine(b->op->run(handle, call, b->stream), name) ||
        !fine(tle_synchronize(handle, b->stream), name) || !hash_output(b, call->fact, &hash))
        return TUNE_FAILED;
    if (b->expected[p] && b->expected[p] != hash) {
        complain("tune: '%s' gives another result than the variants before it at point %d and is "
                 "left out there",
                 name, p);
        return TUNE_REFUSED;
    }
    b->expected[p] = hash;
    return TUNE_TIMED;
}

static TuneAnswer time_call(Bench *b, tle_handle handle, const TuneCall *call, bool thorough,
                            double limit, double us[2]) {
    if (!capture(b, handle, *call, 1, 1) || replay(b, false) < 0)
        return TUNE_FAILED;
    double once = replay(b, false); /* with what launching a graph takes */
    us[0] = once;
    if (once > 2 * limit + launch_us)
        return TUNE_TIMED;
    int calls = clamp_calls(once);
    if (!capture(b, handle, *call, calls, 1))
        return TUNE_FAILED;
    double first = replay(b, false), second = replay(b, false); /* a graph's first takes longer */
    us[0] = second / calls;
    if (first < 0 || second <= 0)
        return TUNE_FAILED;
    if (us[0] > limit)
        return TUNE_TIMED;
    us[0] = median(b, thorough, false) / calls;
    if (us[0] <= 0 || !capture(b, handle, *call, calls, copies_of(b, call->fact)))
        return TUNE_FAILED;
    us[1] = median(b, thorough, true) / calls;
    return us[1] > 0 ? TUNE_TIMED : TUNE_FAILED;
}

/* ---- all of them ---- */

/* Of one variant, which the handle is forced to. */
static tle_handle handle_of(Bench *b, int v) {
    const char *name = b->set->variants[v].name;
    if (b->handles[v])
        return b->handles[v];
    if (setenv("TLE_FORCE_VARIANT", name, 1))
        complain("tune: no memory");
    else if (!fine(tle_create(&b->handles[v], b->options), name))
        b->handles[v] = NULL;
    unsetenv("TLE_FORCE_VARIANT");
    return b->handles[v];
}

static bool reserve(Bench *b, size_t bytes) {
    void *workspace = NULL;
    if (bytes <= b->workspace_bytes)
        return true;
    tle_free(b->memory_of, b->workspace);
    b->workspace_bytes = 0;
    if (fine(tle_alloc(b->memory_of, bytes, &workspace), "tune: the workspace"))
        b->workspace_bytes = bytes;
    b->workspace = (char *)workspace;
    return b->workspace_bytes != 0;
}

static TuneAnswer time_variant(void *user, int p, int v, bool thorough, double limit,
                               double us[2]) {
    Bench *b = (Bench *)user;
    const int64_t *fact = b->set->points[p].fact;
    TuneCall call = {.fact = fact, .output = b->output};
    tle_handle handle = handle_of(b, v);
    if (!handle)
        return TUNE_FAILED;
    call.input = b->pools[b->op->input_kind(fact)];
    if (b->op->workspace(handle, &call, &call.workspace_size))
        return TUNE_REFUSED; // not legal there
    if (!reserve(b, call.workspace_size))
        return TUNE_FAILED;
    call.workspace = call.workspace_size ? b->workspace : NULL;
    TuneAnswer answer = thorough ? TUNE_TIMED : compare(b, handle, &call, p, v);
    return answer == TUNE_TIMED ? time_call(b, handle, &call, thorough, limit, us) : answer;
}

static bool save_and_go_on(void *user, int done) {
    Bench *b = (Bench *)user;
    double time = now();
    bool ok = true;
    fprintf(stderr, "\rtle: tune: %d of %d points, %.0f s", done, b->set->point_count,
            time - b->begun);
    if (b->limits->save && time - b->saved > seconds_between_saves) {
        ok = b->limits->save(b->set, b->limits->user);
        b->saved = now();
    }
    return ok && time - b->begun < b->limits->seconds;
}

/* ---- memory ---- */

/* One block of values, repeated, with a margin behind them for inputs that begin later. Its size
 * has no large power of two, so that no two rows are alike: a launch takes as long as its worst
 * row. */
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
    b->host = (uint32_t *)malloc(most_compared);
    b->expected = (uint64_t *)calloc((size_t)b->set->point_count, sizeof *b->expected);
    b->handles = (tle_handle *)calloc((size_t)b->set->variant_count, sizeof(tle_handle));
    bool ok = block && b->host && b->expected && b->handles;
    if (!ok)
        complain("tune: no memory");
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

static bool open_bench(Bench *b) {
    char why[200];
    tle_device_info info = {.struct_size = sizeof info};
    if (!fine(tle_create(&b->memory_of, b->options), "tune") ||
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
    if (b->exec)
        b->d.exec_destroy(b->exec); // it runs the handles' kernels
    for (int v = 0; b->handles && v < b->set->variant_count; v++)
        tle_destroy(b->handles[v]);
    for (int kind = 0; kind < TUNE_KINDS; kind++)
        tle_free(b->memory_of, b->pools[kind]);
    tle_free(b->memory_of, b->output);
    tle_free(b->memory_of, b->workspace);
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
    free(b->handles);
}

int tune_measure(const TuneOp *op, const tle_handle_options *options, const TuneLimits *limits,
                 TuneSet *set) {
    Bench b = {.op = op, .set = set, .options = options, .limits = limits};
    TuneTimer timer = {&b, time_variant, save_and_go_on};
    bool ok = open_bench(&b);
    b.begun = b.saved = now();
    ok = ok && tune_walk(set, &timer);
    fputc('\n', stderr);
    close_bench(&b);
    return ok ? 0 : EXIT_FAILED;
}
