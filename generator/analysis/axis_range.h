/* Bounds of integer values, as far as a short walk up their definitions shows them. */
#ifndef ANALYSIS_AXIS_RANGE_H
#define ANALYSIS_AXIS_RANGE_H

#include "ir/ir.h"

typedef struct Range {
    int64_t lo, hi; /* signed, inclusive */
} Range;

/* Of every element of an integer value. */
Range range_of(const IrModule *m, IrValue v);

#endif
