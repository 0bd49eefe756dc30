/* NumPy files as arguments and results of operators. Functions return 0, or an exit status after a
 * message that names the file. */
#ifndef CLI_ARRAYS_H
#define CLI_ARRAYS_H

#include "cli/cli.h"
#include "cli/host_call.h"
#include "cli/npy.h"

typedef struct KeyType {
    const char *name; /* "fp32" */
    int32_t dtype;
    NpyType file;
} KeyType;

/* The type that --dtype names, else fp32. */
int key_type_option(const Options *o, const KeyType **out);
/* The type of an array of keys, which --dtype may tell. */
int key_type_of(const Options *o, const char *path, const NpyArray *keys, const KeyType **out);

int bad_file(const NpyError *e);
/* An array [columns] or [rows, columns]; `what` is the plural in messages. */
int read_rows(const char *path, const char *what, NpyArray *a, int64_t *rows, int64_t *columns);
/* Of int32 or int64. */
int read_integers(const char *path, NpyArray *a);
/* Integers to int32 in place, which the library takes. */
int narrow(const char *path, NpyArray *a);
/* An integer for each of `rows` rows; nothing without a path. */
int read_per_row(const char *path, int64_t rows, NpyArray *a, const int32_t **out);

/* An empty result [k] or [rows, k], like the input of `dims` dimensions. */
int make_result(NpyType type, uint32_t dims, int64_t rows, int64_t k, NpyArray *a);
int write_array(const char *path, const NpyArray *a);
/* To the file that --out names, else one line a row as text. */
int write_indices(const Options *o, const NpyArray *indices);
/* Bit for bit with what a sort gave; nothing without an array. `what` is the singular. */
int compare_result(const char *what, const NpyArray *got, const void *expected);

/* Opens the device that the options name, runs the call there and reports the time. */
typedef int RunHost(tle_handle handle, const void *call, int calls, CallReport *report);
int run_and_report(const Options *o, RunHost *run, const void *call, int64_t rows, int64_t columns,
                   int64_t k);

#endif
