/* Shared by axis.c (fixed point) and axis_ops.c (what each operation does). */
#ifndef ANALYSIS_AXIS_IMPL_H
#define ANALYSIS_AXIS_IMPL_H

#include "analysis/axis.h"

/* Beyond any access width and any power of two that fits the types in use. */
#define AXIS_MAX_POW2 (INT64_C(1) << 31)

struct Axis {
    Arena *arena;
    const IrModule *m;
    VEC(AxisInfo *) info; /* by value; NULL = not reached yet (top) */
    Map assumed;          /* value -> divisibility from assume */
    bool changed;
};

/* Largest power of two that divides v, at most AXIS_MAX_POW2; 0 gives the maximum. */
int64_t axis_pow2_of(int64_t v);
/* Nothing known about a value of this type. */
AxisInfo axis_nothing(const IrModule *m, IrType t);
/* Step between neighbours of a contiguous run: 1 for integers, bytes for pointers. */
int64_t axis_unit(const IrModule *m, IrType t);
/* What is known at positions that are multiples of `run`: a run cut in pieces starts anywhere in
 * the old run. */
int64_t axis_divisible_at(const AxisInfo *a, unsigned dim, int64_t run, int64_t unit);
/* NULL while the value has not been reached. */
const AxisInfo *axis_reached(const Axis *x, IrValue v);
/* Facts of result `i` from the operands; false while an operand has not been reached. */
bool axis_transfer(const Axis *x, IrOp op, uint32_t i, AxisInfo *out);

#endif
