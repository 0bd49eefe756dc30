/* Axis analysis: for every value, per dimension: contiguity (how long runs of consecutive values
 * are), divisibility (what the first value of each run is a multiple of; for pointers in bytes),
 * constancy (how long runs of equal values are). All are powers of two; scalars have one dimension.
 * Sources: arange, constants, parameter facts, fact, assume, and the arithmetic of each op. */
#ifndef ANALYSIS_AXIS_H
#define ANALYSIS_AXIS_H

#include "ir/ir.h"

typedef struct AxisInfo {
    uint8_t rank;
    int64_t contiguity[IR_MAX_RANK], divisibility[IR_MAX_RANK], constancy[IR_MAX_RANK];
    bool is_const;
    int64_t value; /* when is_const: the one value */
} AxisInfo;

typedef struct Axis Axis;

/* Fixed point over loops; results live in `a`. */
Axis *axis_analyse(Arena *a, const IrModule *m, IrOp func);
const AxisInfo *axis_info(const Axis *x, IrValue v);
/* Elements per access that the pointer (and mask) of a load or store prove safe along the fastest
 * dimension `dim`, at most max_bytes wide. */
uint32_t axis_vector(const Axis *x, const IrModule *m, IrOp access, unsigned dim,
                     uint32_t max_bytes);

#endif
