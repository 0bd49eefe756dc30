/* Facts about loops that several passes ask for. */
#ifndef PASS_LOOPS_H
#define PASS_LOOPS_H

#include "ir/ir.h"

/* How often a for loop runs, when its bounds and step are constants. */
bool pass_trip_count(const IrModule *m, IrOp loop, uint64_t *out);

#endif
