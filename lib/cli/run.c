/* `tle run topk`: from .npy files to indices. */
#include "cli/cli.h"
#include "cli/npy.h"
#include "cli/reference_topk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* ---- one call on host arrays ---- */

/* Keeps the variant's name, the eighth field of a dispatch line. */
static void keep_variant(uint32_t flag, const char *line, void *user) {
    TopkReport *report = (TopkReport *)user;
    for (int field = 1; flag == TLE_LOG_DISPATCH && field < 8 && line; field++)
        line = (line = strchr(line, ',')) ? line + 1 : NULL;
    if (flag == TLE_LOG_DISPATCH && line)
        snprintf(report->variant, sizeof report->variant, "%.*s", (int)strcspn(line, ","), line);
}

typedef struct DeviceArrays {
    void *scores, *lengths, *row_starts, *indices, *workspace;
} DeviceArrays;

static size_t scores_bytes(const HostTopk *c) {
    return c->rows && c->columns ? (size_t)((c->rows - 1) * c->row_stride + c->columns) * 4 : 0;
}

/* Copies an array of rows to the device; an absent one stays absent. */
static bool rows_to_device(tle_handle h, const int32_t *from, int64_t rows, void **out) {
    if (from)
        *out = to_device(h, from, (size_t)rows * sizeof *from);
    return !from || *out;
}

static bool make_arrays(tle_handle h, const HostTopk *c, DeviceArrays *d) {
    size_t shift = c->misalign * 4, bytes = scores_bytes(c);
    d->scores = to_device(h, NULL, bytes + shift);
    d->indices = to_device(h, NULL, (size_t)(c->rows * c->k) * 4);
    if (!d->scores || !d->indices || !rows_to_device(h, c->lengths, c->rows, &d->lengths) ||
        !rows_to_device(h, c->row_starts, c->rows, &d->row_starts))
        return false;
    tle_status status = tle_copy(h, (char *)d->scores + shift, c->scores, bytes);
    return !status || !complain_status("copy", status);
}

static void free_arrays(tle_handle h, DeviceArrays *d) {
    tle_free(h, d->scores);
    tle_free(h, d->lengths);
    tle_free(h, d->row_starts);
    tle_free(h, d->indices);
    tle_free(h, d->workspace);
}

static tle_topk_select_params params_of(const HostTopk *c, const DeviceArrays *d) {
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    p.rows = c->rows;
    p.columns = c->columns;
    p.k = c->k;
    p.scores = (const char *)d->scores + c->misalign * 4;
    p.row_stride = c->row_stride;
    p.lengths = (const int32_t *)d->lengths;
    p.row_starts = (const int32_t *)d->row_starts;
    p.indices = (int32_t *)d->indices;
    p.index_row_stride = c->k;
    return p;
}

static int call_repeatedly(tle_handle h, const HostTopk *c, DeviceArrays *d, int calls,
                           TopkReport *report) {
    tle_topk_select_params p = params_of(c, d);
    size_t bytes = 0;
    tle_status status = tle_topk_select_workspace_size(h, &p, &bytes);
    if (!status && bytes && !(d->workspace = to_device(h, NULL, bytes)))
        return EXIT_FAILED;
    for (int i = 0; i < calls && !status; i++) {
        double begin = now_us();
        status = tle_topk_select(h, &p, d->workspace, bytes, NULL);
        if (!status)
            status = tle_synchronize(h, NULL);
        report->microseconds = now_us() - begin;
    }
    if (!status)
        status = tle_copy(h, c->indices, d->indices, (size_t)(c->rows * c->k) * 4);
    return status ? complain_status("topk", status) : 0;
}

int run_host_topk(tle_handle h, const HostTopk *c, int calls, TopkReport *report) {
    DeviceArrays d = {0};
    *report = (TopkReport){0};
    tle_set_log(h, TLE_LOG_DISPATCH, keep_variant, report);
    int failed = make_arrays(h, c, &d) ? call_repeatedly(h, c, &d, calls, report) : EXIT_FAILED;
    tle_set_log(h, 0, NULL, NULL);
    free_arrays(h, &d);
    return failed;
}

/* ---- the command ---- */

typedef struct Job {
    NpyArray scores, lengths, row_starts, indices;
    HostTopk call;
} Job;

static int bad_file(const NpyError *e) {
    return complain("%s", e->text);
}

static int read_scores(const Options *o, Job *job) {
    NpyError e;
    const char *path = o->value[OPT_scores];
    NpyArray *a = &job->scores;
    if (!npy_read(path, a, &e))
        return bad_file(&e);
    if (a->type != NPY_F4)
        return complain("%s: the scores are '%s'; they must be '<f4'", path,
                        npy_type_name(a->type));
    if (a->dims != 1 && a->dims != 2)
        return complain("%s: the scores have %u dimensions; they are [columns] or [rows, columns]",
                        path, a->dims);
    job->call.scores = (const float *)a->data;
    job->call.rows = a->dims == 2 ? a->shape[0] : 1;
    job->call.columns = job->call.row_stride = a->shape[a->dims - 1];
    return 0;
}

/* Narrows to int32, which the library takes. */
static bool narrow(NpyArray *a) {
    int64_t *wide = (int64_t *)a->data;
    int32_t *narrow = (int32_t *)a->data;
    for (int64_t i = 0; a->type == NPY_I8 && i < a->elements; i++) {
        int64_t value = wide[i];
        if (value < INT32_MIN || value > INT32_MAX)
            return false;
        memcpy(&narrow[i], &(int32_t){(int32_t)value}, sizeof *narrow);
    }
    return true;
}

static int read_per_row(const char *path, int64_t rows, NpyArray *a, const int32_t **out) {
    NpyError e;
    if (!path)
        return 0;
    if (!npy_read(path, a, &e))
        return bad_file(&e);
    if (a->type != NPY_I4 && a->type != NPY_I8)
        return complain("%s: the elements are '%s'; they must be '<i4' or '<i8'", path,
                        npy_type_name(a->type));
    if (a->dims != 1 || a->shape[0] != rows)
        return complain("%s: the shape must be [%lld], one element for each row of the scores",
                        path, (long long)rows);
    if (!narrow(a))
        return complain("%s: an element does not fit 32 bits", path);
    *out = (const int32_t *)a->data;
    return 0;
}

static int make_indices(Job *job) {
    NpyArray *a = &job->indices;
    *a = (NpyArray){.type = NPY_I4, .dims = job->scores.dims};
    a->shape[0] = job->call.rows;
    a->shape[a->dims - 1] = job->call.k;
    if (__builtin_mul_overflow(job->call.rows, job->call.k, &a->elements) ||
        a->elements > INT64_MAX / 8)
        return complain("rows times k is too large");
    a->data = malloc(a->elements ? (size_t)a->elements * 4 : 1);
    job->call.indices = (int32_t *)a->data;
    return a->data ? 0 : complain("no memory for %lld indices", (long long)a->elements);
}

static int read_job(const Options *o, Job *job) {
    if (!o->operand || strcmp(o->operand, "topk"))
        return complain("run: name an operator: topk"), EXIT_USAGE;
    if (!o->value[OPT_scores] || !o->value[OPT_k])
        return complain("run topk: --scores and --k are needed"), EXIT_USAGE;
    if (!options_int(o, OPT_k, 1, TLE_TOPK_SELECT_MAX_K, 0, &job->call.k))
        return EXIT_USAGE;
    int failed = read_scores(o, job);
    if (!failed)
        failed =
            read_per_row(o->value[OPT_lengths], job->call.rows, &job->lengths, &job->call.lengths);
    if (!failed)
        failed = read_per_row(o->value[OPT_row_starts], job->call.rows, &job->row_starts,
                              &job->call.row_starts);
    return failed ? failed : make_indices(job);
}

static int verify(const Job *job) {
    const HostTopk *c = &job->call;
    int32_t *expected = (int32_t *)malloc((size_t)job->indices.elements * 4 + 1);
    ReferenceTopk reference = {c->scores,  c->rows,       c->columns, c->row_stride, c->k,
                               c->lengths, c->row_starts, expected,   c->k};
    int failed = 0;
    if (!expected || !reference_topk(&reference))
        failed = complain("no memory for the reference");
    for (int64_t i = 0; i < job->indices.elements && !failed; i++)
        if (expected[i] != c->indices[i])
            failed =
                complain("row %lld, place %lld: the index is %d, a sort says %d",
                         (long long)(i / c->k), (long long)(i % c->k), c->indices[i], expected[i]);
    if (!failed)
        fprintf(stderr, "tle: the result equals a sort's\n");
    free(expected);
    return failed;
}

/* One line a row, as text, unless a file is named. */
static int write_result(const Options *o, const Job *job) {
    NpyError e;
    if (o->value[OPT_out])
        return npy_write(o->value[OPT_out], &job->indices, &e) ? 0 : bad_file(&e);
    for (int64_t i = 0; i < job->indices.elements; i++)
        printf("%d%c", job->call.indices[i], (i + 1) % job->call.k ? ' ' : '\n');
    return 0;
}

static int run_job(const Options *o, Job *job) {
    tle_handle handle = NULL;
    tle_device_info device = {.struct_size = sizeof device};
    TopkReport report;
    int failed = open_handle(o, &handle);
    if (failed)
        return failed;
    tle_handle_device(handle, &device);
    int calls = device.kind == TLE_DEVICE_CUDA ? 2 : 1;
    failed = run_host_topk(handle, &job->call, calls, &report);
    tle_destroy(handle);
    if (failed)
        return failed;
    fprintf(stderr, "tle: %s on %s: %lld x %lld, k %lld: %.1f us\n",
            *report.variant ? report.variant : "nothing to run", device.name,
            (long long)job->call.rows, (long long)job->call.columns, (long long)job->call.k,
            report.microseconds);
    failed = o->value[OPT_verify] ? verify(job) : 0;
    return failed ? failed : write_result(o, job);
}

int command_run(const Options *o) {
    Job job = {0};
    int failed = read_job(o, &job);
    if (!failed)
        failed = run_job(o, &job);
    npy_free(&job.scores);
    npy_free(&job.lengths);
    npy_free(&job.row_starts);
    npy_free(&job.indices);
    return failed;
}
