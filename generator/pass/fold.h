/* Evaluation of operations on constants, exactly as the device would. */
#ifndef PASS_FOLD_H
#define PASS_FOLD_H

#include "ir/ir.h"

/* A constant of an element type: `i` for integers (sign-extended, i1 as 0 or 1), `f` for floats. */
typedef struct FoldValue {
    int64_t i;
    double f;
} FoldValue;

bool fold_const_of(const IrModule *m, IrValue v, FoldValue *out); /* scalar or splat */

/* The result of an elementwise operation whose operands are all constants. False when the operation
 * is not one to fold, or when folding could change what the device computes: division by zero,
 * conversions out of range, NaN results, approximate functions. */
bool fold_op(const IrModule *m, IrOp op, FoldValue *out);

bool fold_int(IrKind kind, IrElem e, const int64_t *in, int64_t *out);
bool fold_icmp(int64_t cmp, IrElem e, int64_t a, int64_t b);
bool fold_float(IrKind kind, IrElem e, const double *in, double *out);
bool fold_fcmp(int64_t cmp, double a, double b);
bool fold_cast(IrKind kind, int64_t round, IrElem from, IrElem to, FoldValue in, FoldValue *out);

#endif
