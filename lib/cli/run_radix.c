/* `tle run radix`: from .npy files to indices, keys and payloads. */
#include "cli/arrays.h"
#include "cli/reference_radix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Job {
    NpyArray keys, lengths, payload;
    NpyArray indices, values, payload_out;
    HostRadix call;
} Job;

static int read_keys(const Options *o, Job *job) {
    HostRadix *c = &job->call;
    const KeyType *type = NULL;
    int failed = read_rows(o->value[OPT_keys], "keys", &job->keys, &c->rows, &c->columns);
    if (!failed)
        failed = key_type_of(o, o->value[OPT_keys], &job->keys, &type);
    if (failed)
        return failed;
    c->dtype = type->dtype;
    c->key_bytes = (uint32_t)npy_type_size(type->file);
    c->keys = job->keys.data;
    c->row_stride = c->columns;
    return 0;
}

static int read_payload(const Options *o, Job *job) {
    const char *path = o->value[OPT_payload];
    NpyArray *a = &job->payload;
    NpyError e;
    if (!path)
        return 0;
    if (!npy_read(path, a, &e))
        return bad_file(&e);
    if (a->dims != job->keys.dims || memcmp(a->shape, job->keys.shape, sizeof a->shape) != 0)
        return complain("%s: the shape of the payload is not that of the keys", path);
    if (npy_type_size(a->type) != 4 && npy_type_size(a->type) != 8)
        return complain("%s: the elements are '%s'; they must have 4 or 8 bytes", path,
                        npy_type_name(a->type));
    job->call.payload = a->data;
    job->call.payload_bytes = (int32_t)npy_type_size(a->type);
    return 0;
}

static int make_results(const Options *o, Job *job) {
    HostRadix *c = &job->call;
    int failed = make_result(NPY_I4, job->keys.dims, c->rows, c->k, &job->indices);
    if (!failed && o->value[OPT_values])
        failed = make_result(job->keys.type, job->keys.dims, c->rows, c->k, &job->values);
    if (!failed && c->payload)
        failed = make_result(job->payload.type, job->keys.dims, c->rows, c->k, &job->payload_out);
    c->indices = (int32_t *)job->indices.data;
    c->values = job->values.data;
    c->payload_out = job->payload_out.data;
    return failed;
}

static int read_job(const Options *o, Job *job) {
    HostRadix *c = &job->call;
    c->smallest = o->value[OPT_smallest] != NULL;
    c->sorted = o->value[OPT_sorted] != NULL;
    if (!o->value[OPT_keys] || !o->value[OPT_k])
        return complain("run radix: --keys and --k are needed"), EXIT_USAGE;
    if (!o->value[OPT_payload] != !o->value[OPT_payload_out])
        return complain("run radix: --payload and --payload-out come together"), EXIT_USAGE;
    int64_t most = c->sorted ? TLE_RADIX_SELECT_MAX_SORTED_K : TLE_RADIX_SELECT_MAX_K;
    if (!options_int(o, OPT_k, 1, most, 0, &c->k))
        return EXIT_USAGE;
    int failed = read_keys(o, job);
    if (!failed)
        failed = read_payload(o, job);
    if (!failed)
        failed = read_per_row(o->value[OPT_lengths], c->rows, &job->lengths, &c->lengths);
    return failed ? failed : make_results(o, job);
}

static bool sort_instead(const Job *job, int32_t *indices, void *values, void *payload_out) {
    const HostRadix *c = &job->call;
    ReferenceRadix reference = {
        .dtype = c->dtype,
        .keys = c->keys,
        .rows = c->rows,
        .columns = c->columns,
        .key_row_stride = c->row_stride,
        .k = c->k,
        .lengths = c->lengths,
        .smallest = c->smallest,
        .sorted = c->sorted,
        .payload_bytes = (size_t)c->payload_bytes,
        .payload = c->payload,
        .payload_row_stride = c->row_stride,
        .indices = indices,
        .index_row_stride = c->k,
        .values = values,
        .value_row_stride = c->k,
        .payload_out = c->payload ? payload_out : NULL,
        .payload_out_row_stride = c->k,
    };
    return reference_radix(&reference);
}

static int verify(const Job *job) {
    size_t elements = (size_t)job->indices.elements + 1;
    int32_t *indices = (int32_t *)malloc(elements * 4);
    void *values = malloc(elements * 8), *payload_out = malloc(elements * 8);
    int failed = 0;
    if (!indices || !values || !payload_out || !sort_instead(job, indices, values, payload_out))
        failed = complain("no memory for the reference");
    if (!failed)
        failed = compare_result("index", &job->indices, indices);
    if (!failed)
        failed = compare_result("key", &job->values, values);
    if (!failed)
        failed = compare_result("payload", &job->payload_out, payload_out);
    if (!failed)
        fprintf(stderr, "tle: the result equals a sort's\n");
    free(indices);
    free(values);
    free(payload_out);
    return failed;
}

static int write_results(const Options *o, const Job *job) {
    int failed = o->value[OPT_values] ? write_array(o->value[OPT_values], &job->values) : 0;
    if (!failed && o->value[OPT_payload_out])
        failed = write_array(o->value[OPT_payload_out], &job->payload_out);
    return failed ? failed : write_indices(o, &job->indices);
}

static int run_host(tle_handle handle, const void *call, int calls, CallReport *report) {
    return run_host_radix(handle, (const HostRadix *)call, calls, report);
}

int run_radix(const Options *o) {
    Job job = {0};
    const HostRadix *c = &job.call;
    int failed = read_job(o, &job);
    if (!failed)
        failed = run_and_report(o, run_host, c, c->rows, c->columns, c->k);
    if (!failed && o->value[OPT_verify])
        failed = verify(&job);
    if (!failed)
        failed = write_results(o, &job);
    npy_free(&job.keys);
    npy_free(&job.lengths);
    npy_free(&job.payload);
    npy_free(&job.indices);
    npy_free(&job.values);
    npy_free(&job.payload_out);
    return failed;
}
