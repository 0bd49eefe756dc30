/* One compilation, stage by stage: source -> AST -> TIR -> PTX -> cubin, and its metadata. Each
 * stage returns false after diagnostics. Shared by tlec and tle-grid. */
#ifndef DRIVER_COMPILE_H
#define DRIVER_COMPILE_H

#include "codegen/cg.h"
#include "driver/signature.h"
#include "emit/ptxas.h"

typedef struct CompileRequest {
    const char *path;        /* a .py file, or TIR text in a .tir file */
    const char *source_root; /* taken off the front of `path` in every output; may be NULL */
    const char *import_root; /* of files that kernels import; may be NULL */
    const char *kernel;      /* not needed for TIR text */
    const PassTarget *target;
    ParamList params;
    ConstList consts;
    uint32_t num_warps;
    uint32_t min_ctas; /* resident per SM; 0 = no demand */
    PassOptions pass;
    CgOptions cg;
    void (*on_time)(void *user, const char *stage, double ms); /* may be NULL */
    void *user;
} CompileRequest;

typedef struct Compile {
    const CompileRequest *request;
    Arena *arena;
    Sources *sources;
    Diag *diag;
    Ast *ast;
    IrModule *m;
    const char *source_name, *source;
    size_t source_len;
    uint32_t file;
    CgResult cg;
    bool assembled;
    PtxasResult cubin;
} Compile;

/* What the metadata says beyond what the compilation knows. */
typedef struct CompileLabel {
    const char *name, *op, *legal, *meant; /* as in Meta */
} CompileLabel;

/* Reads the file; false with errno set when that fails. */
bool compile_open(Compile *c, const CompileRequest *r, Arena *a);
bool compile_parse(Compile *c);
/* Specialises and runs the passes. TIR text gets passes only where the request names them. */
bool compile_tir(Compile *c);
/* LLVM may abort: callers run this in a child process. */
bool compile_ptx(Compile *c);
bool compile_cubin(Compile *c, const char *ptxas);
void compile_meta(const Compile *c, const CompileLabel *label, StrBuf *out);
Span compile_span(const Compile *c); /* of the kernel */
const char *compile_kernel_name(const Compile *c);
double compile_now_ms(void);

#endif
