/* How an operation with the SCRATCH trait uses shared memory, given its operands' layouts. One answer
 * for the plan (how many bytes), the hazard pass (what is read and written around which internal
 * barriers) and code generation (what to emit), so that the three cannot disagree. */
#ifndef ANALYSIS_SCRATCH_H
#define ANALYSIS_SCRATCH_H

#include "ir/ir.h"

typedef struct Scratch {
    uint32_t bytes;   /* 0: stays in registers and shuffles */
    uint32_t align;
    uint32_t barriers; /* CTA barriers the operation executes internally; the first separates its
                        * writes from its reads */
} Scratch;

Scratch scratch_of(const IrModule *m, IrOp op);

#endif
