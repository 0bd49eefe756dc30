/* `tle run topk`: from .npy files to indices, scores and transformed indices. */
#include "cli/cli.h"
#include "cli/npy.h"
#include "cli/reference_topk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    NpyArray scores, lengths, row_starts, offsets, row_to_table, page_table;
    NpyArray indices, values, raw_indices;
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

static int read_integers(const char *path, NpyArray *a) {
    NpyError e;
    if (!npy_read(path, a, &e))
        return bad_file(&e);
    if (a->type != NPY_I4 && a->type != NPY_I8)
        return complain("%s: the elements are '%s'; they must be '<i4' or '<i8'", path,
                        npy_type_name(a->type));
    return 0;
}

static int read_per_row(const char *path, int64_t rows, NpyArray *a, const int32_t **out) {
    if (!path)
        return 0;
    int failed = read_integers(path, a);
    if (failed)
        return failed;
    if (a->dims != 1 || a->shape[0] != rows)
        return complain("%s: the shape must be [%lld], one element for each row of the scores",
                        path, (long long)rows);
    if (!narrow(a))
        return complain("%s: an element does not fit 32 bits", path);
    *out = (const int32_t *)a->data;
    return 0;
}

static int read_page_table(const Options *o, Job *job) {
    const char *path = o->value[OPT_page_table];
    NpyArray *a = &job->page_table;
    HostTopk *c = &job->call;
    if (!path)
        return 0;
    int failed = read_integers(path, a);
    if (failed)
        return failed;
    int64_t needed = (c->columns + c->page_size - 1) / c->page_size;
    if (a->dims != 2 || a->shape[1] < needed)
        return complain("%s: the shape must be [tables, pages] with at least %lld pages", path,
                        (long long)needed);
    if (!narrow(a))
        return complain("%s: an element does not fit 32 bits", path);
    c->page_table = (const int32_t *)a->data;
    c->tables = a->shape[0];
    c->pages = a->shape[1];
    return 0;
}

static int read_numbers(const Options *o, HostTopk *c) {
    const char *base = o->value[OPT_index_base];
    c->sorted = o->value[OPT_sorted] != NULL;
    c->absolute = base && !strcmp(base, "absolute");
    if (base && !c->absolute && strcmp(base, "relative"))
        return complain("--index-base is '%s'; it is relative or absolute", base), EXIT_USAGE;
    if (!o->value[OPT_page_table] != !o->value[OPT_page_size])
        return complain("run topk: --page-table and --page-size come together"), EXIT_USAGE;
    if (!options_int(o, OPT_k, 1, TLE_TOPK_SELECT_MAX_K, 0, &c->k) ||
        !options_int(o, OPT_page_size, 1, TLE_TOPK_SELECT_MAX_PAGE, 1, &c->page_size) ||
        !options_int(o, OPT_next_n, 1, TLE_TOPK_SELECT_MAX_ROWS, 1, &c->next_n))
        return EXIT_USAGE;
    return 0;
}

static int read_form(const Options *o, Job *job) {
    HostTopk *c = &job->call;
    int failed = read_per_row(o->value[OPT_offsets], c->rows, &job->offsets, &c->offsets);
    if (!failed)
        failed =
            read_per_row(o->value[OPT_row_to_table], c->rows, &job->row_to_table, &c->row_to_table);
    return failed ? failed : read_page_table(o, job);
}

static int make_result(Job *job, NpyType type, NpyArray *a) {
    *a = (NpyArray){.type = type, .dims = job->scores.dims};
    a->shape[0] = job->call.rows;
    a->shape[a->dims - 1] = job->call.k;
    if (__builtin_mul_overflow(job->call.rows, job->call.k, &a->elements) ||
        a->elements > INT64_MAX / 8)
        return complain("rows times k is too large");
    a->data = malloc(a->elements ? (size_t)a->elements * 4 : 1);
    return a->data ? 0 : complain("no memory for %lld results", (long long)a->elements);
}

static int make_results(const Options *o, Job *job) {
    int failed = make_result(job, NPY_I4, &job->indices);
    if (!failed && o->value[OPT_values])
        failed = make_result(job, NPY_F4, &job->values);
    if (!failed && o->value[OPT_raw_out])
        failed = make_result(job, NPY_I4, &job->raw_indices);
    job->call.indices = (int32_t *)job->indices.data;
    job->call.values = (float *)job->values.data;
    job->call.raw_indices = (int32_t *)job->raw_indices.data;
    return failed;
}

static int read_job(const Options *o, Job *job) {
    if (!o->operand || strcmp(o->operand, "topk"))
        return complain("run: name an operator: topk"), EXIT_USAGE;
    if (!o->value[OPT_scores] || !o->value[OPT_k])
        return complain("run topk: --scores and --k are needed"), EXIT_USAGE;
    int failed = read_numbers(o, &job->call);
    if (!failed)
        failed = read_scores(o, job);
    if (!failed)
        failed = read_form(o, job);
    if (!failed)
        failed = read_per_row(o->value[OPT_lengths], host_topk_requests(&job->call), &job->lengths,
                              &job->call.lengths);
    if (!failed)
        failed = read_per_row(o->value[OPT_row_starts], job->call.rows, &job->row_starts,
                              &job->call.row_starts);
    return failed ? failed : make_results(o, job);
}

/* Bit for bit; the values print as their bits. */
static int compare(const char *what, const Job *job, const void *got, const int32_t *expected) {
    const int32_t *bits = (const int32_t *)got;
    int64_t k = job->call.k;
    for (int64_t i = 0; i < job->indices.elements && got; i++)
        if (expected[i] != bits[i])
            return complain("row %lld, place %lld: the %s is %d, a sort says %d",
                            (long long)(i / k), (long long)(i % k), what, bits[i], expected[i]);
    return 0;
}

static int verify(const Job *job) {
    const HostTopk *c = &job->call;
    size_t bytes = (size_t)job->indices.elements * 4;
    int32_t *indices = (int32_t *)malloc(bytes + 1), *raw = (int32_t *)malloc(bytes + 1);
    float *values = (float *)malloc(bytes + 1);
    ReferenceTopk reference = {
        .scores = c->scores,
        .rows = c->rows,
        .columns = c->columns,
        .row_stride = c->row_stride,
        .k = c->k,
        .lengths = c->lengths,
        .row_starts = c->row_starts,
        .indices = indices,
        .index_row_stride = c->k,
        .sorted = c->sorted,
        .absolute = c->absolute,
        .next_n = c->next_n,
        .values = values,
        .value_row_stride = c->k,
        .raw_indices = raw,
        .raw_index_row_stride = c->k,
        .offsets = c->offsets,
        .page_table = c->page_table,
        .row_to_table = c->row_to_table,
        .page_table_stride = c->pages,
        .page_tables = c->tables,
        .page_size = c->page_size,
    };
    int failed = 0;
    if (!indices || !raw || !values || !reference_topk(&reference))
        failed = complain("no memory for the reference");
    if (!failed)
        failed = compare("index", job, c->indices, indices);
    if (!failed)
        failed = compare("value", job, c->values, (const int32_t *)(const void *)values);
    if (!failed)
        failed = compare("raw index", job, c->raw_indices, raw);
    if (!failed)
        fprintf(stderr, "tle: the result equals a sort's\n");
    free(indices);
    free(raw);
    free(values);
    return failed;
}

/* One line a row, as text, unless a file is named. */
static int write_result(const Options *o, const Job *job) {
    NpyError e;
    if (o->value[OPT_values] && !npy_write(o->value[OPT_values], &job->values, &e))
        return bad_file(&e);
    if (o->value[OPT_raw_out] && !npy_write(o->value[OPT_raw_out], &job->raw_indices, &e))
        return bad_file(&e);
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
    npy_free(&job.offsets);
    npy_free(&job.row_to_table);
    npy_free(&job.page_table);
    npy_free(&job.indices);
    npy_free(&job.values);
    npy_free(&job.raw_indices);
    return failed;
}
