/* The few driver calls that the GPU checks and the benchmarks need beyond libtle: streams, graphs,
 * events. Opened at run time, so a program also builds and starts where there is no driver. */
#ifndef GPU_DRIVER_H
#define GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Driver {
    void *library;
#define X(result, name, symbol, params) int(*name) params;
#include "gpu/driver.def"
#undef X
} Driver;

/* Opens libcuda and makes device 0's primary context current. False with a sentence in `why`. */
bool driver_open(Driver *d, char *why, size_t why_size);

#endif
