/* How an operation with the SCRATCH trait uses shared memory, given its operands' layouts. One
 * answer for the plan (how many bytes), the hazard pass (what is read and written around which
 * internal barriers) and code generation (what to emit), so that the three cannot disagree.
 *
 * The algorithms. "Owner" of an element: the thread whose lane and warp have no bit of
 * layout_lane_copies / layout_warp_copies set, in registers without a bit of layout_reg_copies.
 * "Row- major number": of the element in its tile. All addresses are relative to the operation's
 * scratch.
 *
 * convert_layout, by layout_move: none; a renaming of registers; shuffles with layout_source; or
 *     owners (of the operand's layout) write element e at scratch_address; barrier; every thread
 * reads its elements. Where source lane = own lane for all threads, "shuffle" needs selects only.
 * reshape: a renaming of registers when layout_reshape(operand) is the result's layout; else owners
 *     write at row-major number * element bytes; barrier; every thread reads its own numbers.
 * exchange: by layout_exchange, a renaming of registers, shuffles by XOR of the lane, or, where the
 *     warp differs: every thread writes register r at (r * threads + thread) * element bytes;
 *     barrier; every thread reads the slots of its partner.
 * reduce over axis: 1. each thread combines its registers that differ in the axis, in the order of
 *     their coordinate; 2. lanes combine by shuffle xor over the bits of scratch_axis_bits(LANE),
 * so that all of them hold the result; 3. where K = scratch_axis_warps > 1: of every result element
 *     (row-major number n in the sliced tile) the lanes and warps that own it in the slice, and one
 *     lane of the axis bits, write their partial to part(i) + (n * K + k) * bytes, k = the warp's
 * axis bits packed; barrier; every thread reads the K partials of its elements and combines them in
 *     the order of k. Results are in layout_slice(operand layout): every thread has its own.
 * scan over axis: the layout is scannable: along the axis come registers (a run), lanes, warps,
 * then further registers and repeats (outer blocks, O of them). 1. each thread scans its runs; 2.
 * the totals of runs are scanned over the axis lanes by shuffles, per outer block; 3. where K > 1:
 * the last axis lane writes the warp's total of line n (row-major number without the axis) and
 * outer block o to part(i) + ((n * O + o) * K + k) * bytes; barrier; every thread combines the
 * totals before its own, in the order of (o, k), and all of them for `total`. Reverse: mirrored.
 * histogram: threads clear bins; barrier; owners of the operand add 1 with shared atomics where the
 *     mask holds and the value is a bin; barrier; every thread reads the bins of its elements.
 * atomic_rmw, atomic_cas: owners act. When the result is used and threads of other warps hold
 * copies: owners write the old value at row-major number * bytes (a scalar: number 0, thread 0
 * acts); barrier; every thread reads. Copies inside one warp are served by shuffles. */
#ifndef ANALYSIS_SCRATCH_H
#define ANALYSIS_SCRATCH_H

#include "ir/ir.h"

typedef struct Scratch {
    uint32_t bytes; /* 0: stays in registers and shuffles */
    uint32_t align;
    uint32_t barriers; /* barriers of the group that the operation executes internally; the first
                        * separates its writes from its reads */
} Scratch;

Scratch scratch_of(const IrModule *m, IrOp op);

/* reduce, scan: where the partials of operand i begin. */
uint32_t scratch_part(const IrModule *m, IrOp op, uint32_t i);
/* Bits of lane or warp that move along the axis and are no copies. */
uint32_t scratch_axis_bits(const Layout *l, LayoutIn in, unsigned axis);
/* Warps along the axis: 2 ^ number of those bits. */
uint32_t scratch_axis_warps(const Layout *l, unsigned axis);
/* scan: outer blocks of one line. */
uint32_t scratch_scan_blocks(const Layout *l, unsigned axis);
/* convert_layout: elements from one row (last dimension) to the next, padded against bank
 * conflicts; the address of an element is its row-major number in that pitch, times its bytes. */
uint32_t scratch_pitch(const Layout *l, uint32_t elem_bytes);
uint32_t scratch_address(const Layout *l, uint32_t elem_bytes,
                         const uint32_t coord[LAYOUT_MAX_RANK]);

#endif
