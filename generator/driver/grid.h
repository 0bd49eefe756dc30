/* A grid file (docs/metadata.md): which variants of an operator's kernels to compile. */
#ifndef DRIVER_GRID_H
#define DRIVER_GRID_H

#include "driver/signature.h"

typedef struct GridVariant {
    const char *name;
    const char *source; /* path: the grid's folder and the file */
    const char *kernel;
    ParamList params;
    ConstList consts;
    uint32_t num_warps, min_ctas;
    uint64_t archs;           /* bit i: it is built for the grid's archs[i] */
    const char *legal;        /* JSON */
    const char *meant;        /* JSON, or NULL: for all that is legal */
    const char *disable_pass; /* comma list of passes to leave out; "": none */
    uint32_t without;         /* strategies of code generation to leave out, see cg.h */
    const char *text;         /* all of the above as one text, for the content hash */
    bool allow_spills;
} GridVariant;

typedef struct Grid {
    const char *op;
    const char *import_root; /* of the kernels: the folder that holds the grid's folder */
    const char **archs;
    uint32_t n_archs;
    GridVariant *variants;
    uint32_t n_variants;
} Grid;

/* `text` is the file's, `path` its name. NULL, or a sentence that names the place and what was
 * expected there. */
const char *grid_read(Arena *a, const char *path, const char *text, size_t len, Grid *out);

/* Leaves the variants that are built for `arch`; false when the grid does not list it. */
bool grid_keep_arch(Grid *g, const char *arch);

#endif
