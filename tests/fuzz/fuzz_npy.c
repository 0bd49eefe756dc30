/* libFuzzer target: any bytes as a .npy file; what is accepted reads the same after a rewrite. */
#include "cli/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_bytes(const char *path, const uint8_t *data, size_t size) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        abort();
}

static void rewrite(const char *path, const NpyArray *a) {
    NpyArray again;
    NpyError e;
    if (!npy_write(path, a, &e) || !npy_read(path, &again, &e))
        abort();
    if (again.type != a->type || again.dims != a->dims ||
        memcmp(again.shape, a->shape, sizeof a->shape) != 0 ||
        memcmp(again.data, a->data, (size_t)a->elements * npy_type_size(a->type)) != 0)
        abort();
    npy_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    NpyArray a;
    NpyError e;
    snprintf(path, sizeof path, "/tmp/fuzz_npy_%ld.npy", (long)getpid());
    write_bytes(path, data, size);
    if (npy_read(path, &a, &e)) {
        rewrite(path, &a);
        npy_free(&a);
    }
    remove(path);
    return 0;
}
