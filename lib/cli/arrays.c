/* Reading, making, comparing and writing the arrays of a call. */
#include "cli/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- element types ---- */

static const KeyType key_types[] = {
#define X(name, suffix, file) {name, TLE_DTYPE_##suffix, file},
#include "cli/key_types.def"
#undef X
};

enum { KEY_TYPE_COUNT = sizeof key_types / sizeof *key_types };

int key_type_option(const Options *o, const KeyType **out) {
    const char *name = o->value[OPT_dtype];
    *out = &key_types[0];
    if (!name)
        return 0;
    for (int i = 0; i < KEY_TYPE_COUNT; i++) {
        if (strcmp(name, key_types[i].name) != 0)
            continue;
        *out = &key_types[i];
        return 0;
    }
    complain("--dtype is '%s'; known are fp32, fp16, bf16, i32, u32, i64, u64 and fp64", name);
    return EXIT_USAGE;
}

int key_type_of(const Options *o, const char *path, const NpyArray *keys, const KeyType **out) {
    int failed = key_type_option(o, out);
    if (failed)
        return failed;
    if (o->value[OPT_dtype] && (*out)->file != keys->type)
        return complain("%s: the keys are '%s'; those of --dtype %s are '%s'", path,
                        npy_type_name(keys->type), (*out)->name, npy_type_name((*out)->file));
    for (int i = 0; i < KEY_TYPE_COUNT && !o->value[OPT_dtype]; i++) {
        *out = &key_types[i];
        if (key_types[i].file == keys->type && key_types[i].dtype != TLE_DTYPE_BFLOAT16)
            return 0;
    }
    if (o->value[OPT_dtype])
        return 0;
    return complain(
        "%s: the keys are '%s'; they are '<f4', '<f2', '<f8', '<i4', '<u4', '<i8' or '<u8', "
        "or '<u2' with --dtype bf16",
        path, npy_type_name(keys->type));
}

/* ---- reading ---- */

int bad_file(const NpyError *e) {
    return complain("%s", e->text);
}

int read_rows(const char *path, const char *what, NpyArray *a, int64_t *rows, int64_t *columns) {
    NpyError e;
    if (!npy_read(path, a, &e))
        return bad_file(&e);
    if (a->dims != 1 && a->dims != 2)
        return complain("%s: the %s have %u dimensions; they are [columns] or [rows, columns]",
                        path, what, a->dims);
    *rows = a->dims == 2 ? a->shape[0] : 1;
    *columns = a->shape[a->dims - 1];
    return 0;
}

int read_integers(const char *path, NpyArray *a) {
    NpyError e;
    if (!npy_read(path, a, &e))
        return bad_file(&e);
    if (a->type != NPY_I4 && a->type != NPY_I8)
        return complain("%s: the elements are '%s'; they must be '<i4' or '<i8'", path,
                        npy_type_name(a->type));
    return 0;
}

int narrow(const char *path, NpyArray *a) {
    int64_t *wide = (int64_t *)a->data;
    int32_t *narrow = (int32_t *)a->data;
    for (int64_t i = 0; a->type == NPY_I8 && i < a->elements; i++) {
        int64_t value = wide[i];
        if (value < INT32_MIN || value > INT32_MAX)
            return complain("%s: an element does not fit 32 bits", path);
        memcpy(&narrow[i], &(int32_t){(int32_t)value}, sizeof *narrow);
    }
    return 0;
}

int read_per_row(const char *path, int64_t rows, NpyArray *a, const int32_t **out) {
    if (!path)
        return 0;
    int failed = read_integers(path, a);
    if (failed)
        return failed;
    if (a->dims != 1 || a->shape[0] != rows)
        return complain("%s: the shape must be [%lld], one element for each row", path,
                        (long long)rows);
    *out = (const int32_t *)a->data;
    return narrow(path, a);
}

/* ---- results ---- */

int make_result(NpyType type, uint32_t dims, int64_t rows, int64_t k, NpyArray *a) {
    *a = (NpyArray){.type = type, .dims = dims};
    a->shape[0] = rows;
    a->shape[dims - 1] = k;
    if (__builtin_mul_overflow(rows, k, &a->elements) || a->elements > INT64_MAX / 16)
        return complain("rows times k is too large");
    size_t bytes = (size_t)a->elements * npy_type_size(type);
    a->data = malloc(bytes ? bytes : 1);
    return a->data ? 0 : complain("no memory for %lld results", (long long)a->elements);
}

int write_array(const char *path, const NpyArray *a) {
    NpyError e;
    return npy_write(path, a, &e) ? 0 : bad_file(&e);
}

int write_indices(const Options *o, const NpyArray *indices) {
    const int32_t *index = (const int32_t *)indices->data;
    int64_t k = indices->shape[indices->dims - 1];
    if (o->value[OPT_out])
        return write_array(o->value[OPT_out], indices);
    for (int64_t i = 0; i < indices->elements; i++)
        printf("%d%c", index[i], (i + 1) % k ? ' ' : '\n');
    return 0;
}

int compare_result(const char *what, const NpyArray *got, const void *expected) {
    size_t size = npy_type_size(got->type);
    int64_t k = got->dims ? got->shape[got->dims - 1] : 0;
    for (int64_t i = 0; got->data && i < got->elements; i++) {
        uint64_t found = 0, wanted = 0;
        memcpy(&found, (const char *)got->data + (size_t)i * size, size);
        memcpy(&wanted, (const char *)expected + (size_t)i * size, size);
        if (found != wanted)
            return complain("row %lld, place %lld: the %s is 0x%llx, a sort says 0x%llx",
                            (long long)(i / k), (long long)(i % k), what, (unsigned long long)found,
                            (unsigned long long)wanted);
    }
    return 0;
}

/* ---- running ---- */

int run_and_report(const Options *o, RunHost *run, const void *call, int64_t rows, int64_t columns,
                   int64_t k) {
    tle_handle handle = NULL;
    tle_device_info device = {.struct_size = sizeof device};
    CallReport report = {0};
    int failed = open_handle(o, &handle);
    if (failed)
        return failed;
    tle_handle_device(handle, &device);
    failed = run(handle, call, device.kind == TLE_DEVICE_CUDA ? 2 : 1, &report);
    tle_destroy(handle);
    if (!failed)
        fprintf(stderr, "tle: %s on %s: %lld x %lld, k %lld: %.1f us\n",
                *report.variant ? report.variant : "nothing to run", device.name, (long long)rows,
                (long long)columns, (long long)k, report.microseconds);
    return failed;
}
