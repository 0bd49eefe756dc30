/* Which shared buffers an operation may touch: pointer values are traced to their SHARED_ALLOC
 * roots through address arithmetic, selects, control flow and block arguments. A pointer with an
 * unknown origin touches every buffer. */
#ifndef ANALYSIS_SHARED_ROOTS_H
#define ANALYSIS_SHARED_ROOTS_H

#include "ir/ir.h"

typedef struct Roots Roots;

Roots *roots_analyse(Arena *a, const IrModule *m, IrOp func);
/* The alloc operations `v` may point into; *unknown_out when any other shared memory too. */
const IrOp *roots_of(const Roots *r, IrValue v, uint32_t *len_out, bool *unknown_out);

#endif
