/* Shared by the two halves of the layout pass: layout_classes.c decides, pass_layout.c rewrites.
 *
 * Values that must have one layout form a class: operands and results of elementwise operations and
 * accesses, values carried through control flow. An operation has a node too, so that producers
 * that are free in any layout (constants, splats, ranges) need not join: every use gets its own
 * copy. Classes are tied by edges: operations whose result layout is a function of the operand's.
 */
#ifndef PASS_LAYOUT_ASSIGN_H
#define PASS_LAYOUT_ASSIGN_H

#include "analysis/layout_rule.h"
#include "pass/pass.h"

typedef VEC(uint32_t) IndexVec;

/* An access or scan that prefers some layouts to others. */
typedef struct LayoutWish {
    IrOp op;
    LayoutId ideal;
    uint32_t weight;
    uint32_t node;
} LayoutWish;

typedef struct LayoutEdge {
    IrOp op;
    uint32_t operand, result; /* nodes */
    uint32_t weight;
} LayoutEdge;

typedef struct LayoutClass {
    IrType shape; /* tile of i1 without layout */
    uint32_t warps;
    uint64_t weight;
    LayoutId layout; /* 0 = not decided yet */
    bool pinned;     /* came with a layout */
    IndexVec wishes, edges;
} LayoutClass;

typedef struct LayoutAssign {
    PassContext *c;
    IrModule *m;
    IrOp func;
    Axis *axis;
    Map nodes;         /* value, or operation | NODE_OF_OP -> node */
    IndexVec parent;   /* union-find over nodes */
    IndexVec class_of; /* root node -> class */
    VEC(LayoutClass) classes;
    VEC(LayoutWish) wishes;
    VEC(LayoutEdge) edges;
} LayoutAssign;

/* Operations that produce the same in any layout at no cost. */
bool layout_is_free(const IrModule *m, IrValue v);
/* Values that travel together through control flow: calls `tie` with the value that stands for the
 * class and each value that joins it. */
typedef void LayoutTie(LayoutAssign *s, IrValue head, IrValue other);
void layout_flow(LayoutAssign *s, IrOp op, LayoutTie *tie);

void layout_collect(LayoutAssign *s);
void layout_decide(LayoutAssign *s);
/* Of a value's class, of an operation's class. */
LayoutId layout_of_value(LayoutAssign *s, IrValue v);
LayoutId layout_of_op(LayoutAssign *s, IrOp op);
/* What a tile of this shape gets when nobody minds. */
LayoutId layout_default(LayoutAssign *s, IrType tile, uint32_t warps);
uint32_t layout_wish_cost(LayoutAssign *s, const LayoutWish *w, const Layout *l);

#endif
