/* NumPy's .npy files, format versions 1 to 3, C order, the element types that operators take.
 *
 * The file is untrusted: every field is checked before it is used, memory is asked for only after
 * the file is known to hold as many bytes, and each refusal is a sentence that names the file. */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NPY_MAX_DIMS = 8 };

typedef enum NpyType {
    NPY_F4,
    NPY_I4,
    NPY_I8,
    NPY_F2,
    NPY_U1,
    NPY_U2,
    NPY_U4,
    NPY_U8,
    NPY_F8,
    NPY_TYPE_COUNT
} NpyType;

typedef struct NpyArray {
    NpyType type;
    uint32_t dims;
    int64_t shape[NPY_MAX_DIMS];
    int64_t elements;
    void *data; /* malloc'ed, never NULL after a successful read */
} NpyArray;

typedef struct NpyError {
    char text[512];
} NpyError;

size_t npy_type_size(NpyType type);
const char *npy_type_name(NpyType type); /* "<f4" */
/* "f4" and the like; false if there is none of that name. */
bool npy_type_named(const char *name, NpyType *out);

bool npy_read(const char *path, NpyArray *out, NpyError *e);
void npy_free(NpyArray *array);
/* Writes version 1.0; the path "-" is standard output. */
bool npy_write(const char *path, const NpyArray *array, NpyError *e);

#endif
