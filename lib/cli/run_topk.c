/* `tle run topk`: from .npy files to indices, scores and transformed indices. */
#include "cli/arrays.h"
#include "cli/reference_topk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    NpyArray scores, lengths, row_starts, offsets, row_to_table, page_table;
    NpyArray indices, values, raw_indices;
    HostTopk call;
} Job;

static int read_scores(const Options *o, Job *job) {
    const char *path = o->value[OPT_scores];
    HostTopk *c = &job->call;
    int failed = read_rows(path, "scores", &job->scores, &c->rows, &c->columns);
    if (failed)
        return failed;
    const KeyType *type = NULL;
    failed = key_type_of(o, path, &job->scores, &type);
    if (failed)
        return failed;
    if (!element_of_dtype(type->dtype, &c->type))
        return complain("%s: the scores are '%s'; they must be '<f4', '<f2', or '<u2' with "
                        "--dtype bf16",
                        path, npy_type_name(job->scores.type));
    c->scores = job->scores.data;
    c->row_stride = c->columns;
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
    if (narrow(path, a))
        return EXIT_FAILED;
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

static int make_results(const Options *o, Job *job) {
    int64_t rows = job->call.rows, k = job->call.k;
    uint32_t dims = job->scores.dims;
    int failed = make_result(NPY_I4, dims, rows, k, &job->indices);
    if (!failed && o->value[OPT_values])
        failed = make_result(job->scores.type, dims, rows, k, &job->values);
    if (!failed && o->value[OPT_raw_out])
        failed = make_result(NPY_I4, dims, rows, k, &job->raw_indices);
    job->call.indices = (int32_t *)job->indices.data;
    job->call.values = job->values.data;
    job->call.raw_indices = (int32_t *)job->raw_indices.data;
    return failed;
}

static int read_job(const Options *o, Job *job) {
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

static int verify(const Job *job) {
    const HostTopk *c = &job->call;
    size_t bytes = (size_t)job->indices.elements * 4;
    int32_t *indices = (int32_t *)malloc(bytes + 1), *raw = (int32_t *)malloc(bytes + 1);
    void *values = malloc(bytes + 1);
    ReferenceTopk reference = {
        .type = c->type,
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
        failed = compare_result("index", &job->indices, indices);
    if (!failed)
        failed = compare_result("value", &job->values, values);
    if (!failed)
        failed = compare_result("raw index", &job->raw_indices, raw);
    if (!failed)
        fprintf(stderr, "tle: the result equals a sort's\n");
    free(indices);
    free(raw);
    free(values);
    return failed;
}

static int write_results(const Options *o, const Job *job) {
    int failed = o->value[OPT_values] ? write_array(o->value[OPT_values], &job->values) : 0;
    if (!failed && o->value[OPT_raw_out])
        failed = write_array(o->value[OPT_raw_out], &job->raw_indices);
    return failed ? failed : write_indices(o, &job->indices);
}

static int run_host(tle_handle handle, const void *call, int calls, CallReport *report) {
    return run_host_topk(handle, (const HostTopk *)call, calls, report);
}

int run_topk(const Options *o) {
    Job job = {0};
    const HostTopk *c = &job.call;
    int failed = read_job(o, &job);
    if (!failed)
        failed = run_and_report(o, run_host, c, c->rows, c->columns, c->k);
    if (!failed && o->value[OPT_verify])
        failed = verify(&job);
    if (!failed)
        failed = write_results(o, &job);
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
