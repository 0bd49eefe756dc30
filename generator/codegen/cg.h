/* Code generation: TIR after the pass pipeline -> LLVM IR -> PTX, through LLVM-C only.
 *
 * Every thread holds, of a tile, the registers that its layout gives it: a TIR tile value is an
 * array of LLVM values, one per register index. */
#ifndef CODEGEN_CG_H
#define CODEGEN_CG_H

#include "pass/pass.h"

/* Ways of code generation that can be left out. */
typedef enum CgStrategy {
#define X(id, name, summary) CG_##id,
#include "codegen/strategies.def"
#undef X
    CG_STRATEGY_COUNT
} CgStrategy;

enum { CG_OPT_LEVEL = 2 };

typedef struct CgOptions {
    uint32_t opt_level; /* 0..3, CG_OPT_LEVEL if nothing is said; 0 leaves the code as it is */
    bool line_info;     /* .loc of the TLE source, relative paths */
    bool want_llvm;     /* keep the LLVM IR text (before and after optimisation) */
    uint32_t without;   /* strategies to leave out: a set of 1 << CgStrategy */
} CgOptions;

typedef struct CgResult {
    const char *llvm;     /* unoptimised text, when asked for */
    const char *llvm_opt; /* optimised text, when asked for */
    const char *ptx;
    size_t ptx_len;
    double ms_emit_ir, ms_optimise, ms_assembly;
} CgResult;

/* Once per process, before any cg_compile: registers the target and sets the process-wide options
 * of LLVM that have no other door (32-bit shared pointers). Not thread safe. */
void cg_init(void);
/* Reads a comma list of strategies into a set. NULL, or what is wrong with it. */
const char *cg_strategies(Arena *a, const char *list, uint32_t *set);
/* "LLVM 22.1.0". */
const char *cg_version(Arena *a);

/* Text lives in `a`. False after diagnostics. LLVM may abort on what it cannot select: callers run
 * this in a child process (driver/child.c). */
bool cg_compile(IrModule *m, const PassTarget *target, const CgOptions *o, Arena *a, Diag *d,
                CgResult *out);

#endif
