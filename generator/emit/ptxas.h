/* Runs ptxas: PTX text -> cubin and the figures it reports. */
#ifndef EMIT_PTXAS_H
#define EMIT_PTXAS_H

#include "source/diag.h"

typedef struct PtxasOptions {
    const char *path; /* a path, or a name looked up in PATH */
    const char *arch; /* "sm_90a" */
    bool line_info;
} PtxasOptions;

typedef struct PtxasResult {
    const void *cubin;
    size_t cubin_len;
    uint32_t registers, spill_bytes, stack_bytes, shared_bytes, barriers;
} PtxasResult;

/* False after a diagnostic at `at`. Contents live in `a`. The cubin depends on the text and the
 * options alone: ptxas works in a directory of its own, on fixed relative names. */
bool ptxas_run(Arena *a, const PtxasOptions *o, const char *ptx, size_t len, Span at, Diag *d,
               PtxasResult *out);
/* What `ptxas --version` prints; NULL when it cannot be run. */
const char *ptxas_version(Arena *a, const char *path);

#endif
