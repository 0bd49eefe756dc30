/* Inside the canonicalisation pass: the work list, and the rules of canon.def by file.
 *
 * A rule looks at one operation and returns true when it changed it or took it away. Rules change
 * the module through the helpers below, which keep the work list complete. Every rule makes the
 * module smaller or moves it towards one fixed form (constants right, uniform work in scalars), so
 * the pass ends. */
#ifndef PASS_CANON_H
#define PASS_CANON_H

#include "pass/fold.h"
#include "pass/pass.h"

typedef struct Canon {
    IrModule *m;
    Arena *scratch;
    VEC(IrOp) work;
    VEC(bool) queued; /* per operation */
    bool changed;
} Canon;

typedef bool CanonRule(Canon *c, IrOp op);

#define R(kind, rule) bool canon_##rule(Canon *c, IrOp op);
#include "pass/canon.def"
#undef R

void canon_push(Canon *c, IrOp op);
void canon_push_users(Canon *c, IrValue v);
/* A builder in front of `op` with its span and group. */
IrBuilder canon_at(Canon *c, IrOp op);
/* Gives every use of `old` to `by`. */
void canon_use(Canon *c, IrValue old, IrValue by);
/* Gives the uses of op's only result to `by` and erases op. True. */
bool canon_replace(Canon *c, IrOp op, IrValue by);
/* Erases op, whose results are unused. True. */
bool canon_erase(Canon *c, IrOp op);
void canon_set_operand(Canon *c, IrOp op, uint32_t i, IrValue v);
/* Replaces op by a constant of its result type. True. */
bool canon_to_int(Canon *c, IrOp op, int64_t value);
bool canon_to_const(Canon *c, IrOp op, FoldValue value);
/* Replaces op by `kind` of one or two operands, with op's result type. True. */
bool canon_to1(Canon *c, IrOp op, IrKind kind, IrValue x);
bool canon_to2(Canon *c, IrOp op, IrKind kind, IrValue x, IrValue y);

/* Operand i of the operation of that kind which defines v, or 0. */
IrValue canon_through(const IrModule *m, IrValue v, IrKind kind, uint32_t i);
bool canon_is_int(const IrModule *m, IrValue v, int64_t value);
bool canon_is_float(const IrModule *m, IrValue v, double value); /* tells -0 from +0 */
/* Proven not to be negative as a signed number. */
bool canon_nonnegative(const IrModule *m, IrValue v);
/* The scalar that fills v: v itself, the operand of a splat, or a scalar constant built at b. */
IrValue canon_scalar_of(IrBuilder *b, IrValue v);
bool canon_is_uniform(const IrModule *m, IrValue v); /* scalar, splat or constant tile */

#endif
