/* Compiles the variants of a grid in parallel child processes, keeping results by content hash. */
#ifndef DRIVER_GRID_BUILD_H
#define DRIVER_GRID_BUILD_H

#include "driver/grid.h"
#include "emit/pack.h"
#include "pass/pass.h"

typedef struct GridBuild {
    const Grid *grid;
    const PassTarget *target;
    const char *source_root; /* may be NULL */
    const char *ptxas;       /* NULL = no cubins */
    const char *cache;       /* folder; NULL = nothing is kept */
    uint32_t jobs;
    uint32_t compiled, from_cache; /* out */
    VEC(const char *) read;        /* out: every source file that a variant depends on */
} GridBuild;

/* One PackVariant for each variant of the grid, in its order; false after diagnostics and sentences
 * on standard error. */
bool grid_build(Arena *a, GridBuild *b, PackVariant *out);

#endif
