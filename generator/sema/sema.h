/* Sema: specialises one kernel of a parsed file into TIR. Jit calls are inlined, constexpr values
 * fold, runtime control flow becomes structured regions, early return becomes nesting. */
#ifndef SEMA_SEMA_H
#define SEMA_SEMA_H

#include "ast/ast.h"
#include "ir/ir.h"

typedef struct SemaParam { /* --sig 'x:*fp32:16' */
    const char *name;
    const char *type;   /* "*fp32", "i32", "u64", "fp32", "*i8", ... (Triton's spelling) */
    uint32_t divisible; /* 0 or 1 = nothing known */
} SemaParam;

/* --const K=2048; a Python literal: int, float, True, False, None, 'text', tuple; or a dtype; or
 * @name, what the module calls so (a mesh, say) */
typedef struct SemaConst {
    const char *name;
    const char *value;
} SemaConst;

typedef struct SemaRequest {
    const char *kernel;
    const SemaParam *params;
    uint32_t n_params;
    const SemaConst *consts;
    uint32_t n_consts;
    uint32_t num_warps;
    const char *arch;        /* "sm_90a" */
    uint32_t sm;             /* 90 */
    const char *import_root; /* where imported files are looked up; NULL: nowhere */
    const char *source_root; /* taken off the front of their names; may be NULL */
} SemaRequest;

/* Adds one FUNC to `m`. Parameters of the kernel come in source order without the constexpr ones.
 * False after diagnostics. */
bool sema_specialise(Ast *t, const SemaRequest *r, IrModule *m, Diag *d);
/* The path that the module `a.b` has under an import root, root/a/b.py; NULL for a name that no
 * file can have: none, a relative one, a star. Whether the file is there is not looked at. */
const char *sema_import_path(Arena *a, const char *import_root, const char *dotted);
/* Names of the @triton.jit functions of the file, in order; NULL-terminated, on the AST's arena. */
const char *const *sema_kernels(Ast *t);

#endif
