/* How many layout conversions a function has, by what they cost. For reports and tests. */
#ifndef PASS_CONVERT_ELIM_H
#define PASS_CONVERT_ELIM_H

#include "ir/ir.h"

typedef struct ConvertCount {
    uint32_t all;
    uint32_t shared;   /* through shared memory */
    uint32_t in_loops; /* of `all` */
} ConvertCount;

ConvertCount convert_count(IrModule *m, IrOp func);

#endif
