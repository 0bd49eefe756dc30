/* Passes over TIR and their manager.
 *
 * A pass is one file with one public function, a row in passes.def, and a golden file under
 * tests/golden/pass. It gets the module and a scratch arena that is reset after it; it returns
 * false after diagnostics, and says whether it changed anything. */
#ifndef PASS_PASS_H
#define PASS_PASS_H

#include "ir/ir.h"

typedef struct PassTarget {
    const char *name;    /* "sm_90a" */
    const char *family;  /* "sm90": selects the pipeline */
    uint32_t sm;         /* 90 */
    uint32_t ptx;        /* PTX version times ten */
    uint32_t max_shared; /* bytes of dynamic shared memory a CTA may ask for: 232448 on sm_90 */
    uint32_t max_vector; /* widest global access in bytes: 16 (32 on sm_100) */
} PassTarget;

enum { PASS_SM_CLUSTERS = 90 }; /* the first with clusters, and with grids that overlap */

/* By name; NULL when unknown. */
const PassTarget *pass_target(const char *name);
const PassTarget *pass_target_at(uint32_t i); /* NULL past the end */

typedef struct PassContext {
    IrModule *m;
    const PassTarget *target;
    Arena *scratch;
    Diag *diag;
    bool changed; /* set by the pass */
} PassContext;

typedef bool PassFn(PassContext *c);

typedef struct PassInfo {
    const char *name;
    PassFn *run;
    const char *summary;
} PassInfo;

#define X(id, name, fn, summary) bool fn(PassContext *c);
#include "pass/passes.def"
#undef X

const PassInfo *pass_by_name(const char *name); /* NULL when unknown */
const PassInfo *pass_at(uint32_t i);            /* NULL past the end */

typedef struct PassOptions {
    const char *passes;      /* comma list; NULL = the target's pipeline */
    const char *print_after; /* pass name, "all", or NULL */
    const char *stop_after;  /* run up to and including this pass */
    const char *disable;     /* comma list of passes to leave out */
    bool verify_each;
    bool print_changed;
    bool time;  /* report through the sink below */
    FILE *dump; /* where print_after goes */
    void (*on_time)(void *user, const char *pass, double ms);
    void *user;
} PassOptions;

bool pass_run(IrModule *m, const PassTarget *target, const PassOptions *o, Diag *d);

#endif
