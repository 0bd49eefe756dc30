/* How the layouts of an operation's operands and results depend on each other. One answer for
 * layout assignment, conversion elimination and their cost, so that they cannot disagree. */
#ifndef ANALYSIS_LAYOUT_RULE_H
#define ANALYSIS_LAYOUT_RULE_H

#include "analysis/axis.h"

typedef enum LayoutRule {
    LAYOUT_RULE_NONE, /* no tiles, or tiles that do not depend on each other */
    LAYOUT_RULE_FREE, /* producers that cost the same in any layout: const, splat, arange, poison */
    LAYOUT_RULE_SAME, /* all tiles of one shape have one layout */
    LAYOUT_RULE_DERIVED, /* expand_dims, broadcast, trans, reshape: a function in both directions */
    LAYOUT_RULE_REDUCE,  /* results are slices of the operands */
    LAYOUT_RULE_FLOW     /* if, for, while and their terminators */
} LayoutRule;

LayoutRule layout_rule(const IrModule *m, IrOp op);
/* DERIVED: the operand layout that the result layout needs, or false when there is none. */
bool layout_operand_for(const IrModule *m, IrOp op, const Layout *result, Layout *out);
/* DERIVED (but broadcast) and REDUCE, scan totals: the layout that the operand's gives. */
bool layout_result_for(const IrModule *m, IrOp op, const Layout *operand, Layout *out);

/* The layout of a tile value; NULL before assignment and for other values. */
const Layout *layout_of(const IrModule *m, IrValue v);
const Layout *layout_of_type(const IrModule *m, IrType t);
/* Warps of the operation's execution group. */
uint32_t layout_warps(const IrModule *m, IrOp op);
/* Loops around an operation, inside its function. */
uint32_t layout_loop_depth(const IrModule *m, IrOp op);
/* Along `axis`: element bits in the order registers, lanes, warps, further registers, as a scan
 * needs them. Blocked layouts and what is derived from them are like that. */
bool layout_scannable(const Layout *l, unsigned axis);

/* --- cost, in rough instruction issue slots of one thread --- */
uint32_t layout_convert_cost(const Layout *from, const Layout *to);
/* Elements per access in this layout: consecutive registers whose addresses are one aligned run. */
uint32_t layout_vector(const Axis *x, const IrModule *m, IrOp access, const Layout *l,
                       uint32_t max_bytes);
/* Of a load, store or atomic on tiles in layout `l`: instructions and memory sectors. */
uint32_t layout_access_cost(const Axis *x, const IrModule *m, IrOp access, const Layout *l,
                            uint32_t max_bytes);

#endif
