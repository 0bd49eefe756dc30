/* The few driver calls that timing and the checks on a GPU need beyond libtle: streams, graphs,
 * events. Opened at run time, so a program also builds and starts where there is no driver. */
#ifndef CLI_DRIVER_H
#define CLI_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Driver {
    void *library;
#define X(result, name, symbol, params) int(*name) params;
#include "cli/driver.def"
#undef X
} Driver;

/* Opens libcuda and makes the device's primary context current. False with a sentence in `why`. */
bool driver_open(Driver *d, int ordinal, char *why, size_t why_size);

#endif
