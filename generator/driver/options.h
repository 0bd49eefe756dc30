/* The command line of tlec, from opts.def. */
#ifndef DRIVER_OPTIONS_H
#define DRIVER_OPTIONS_H

#include "driver/compile.h"

typedef enum Emit {
    EMIT_AST,
    EMIT_TIR,
    EMIT_LLVM,
    EMIT_LLVM_OPT,
    EMIT_PTX,
    EMIT_CUBIN,
    EMIT_META
} Emit;

typedef struct Options {
    CompileRequest compile;
    Emit emit;
    const char *output; /* NULL = standard output */
    const char *ptxas;  /* NULL = not named */
    bool json, time, list_kernels, version, help;
} Options;

#define TLEC_VERSION "0.1.0"

/* NULL, or a sentence that says what is wrong. */
const char *options_read(Arena *a, int argc, char **argv, Options *out);
void options_help(FILE *out);

#endif
