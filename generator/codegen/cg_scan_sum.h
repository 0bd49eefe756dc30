/* The steps of a scan that sums 32-bit integers, where the machine has shorter ways than the
 * general doubling: they need no order and no prefix that may be absent, since 0 is neutral. */
#ifndef CODEGEN_CG_SCAN_SUM_H
#define CODEGEN_CG_SCAN_SUM_H

#include "codegen/cg_impl.h"

/* Whether the scan `op` of values of `type` is such a sum on this target. */
bool cg_scan_is_sum(const Cg *c, IrOp op, LLVMTypeRef type);
/* Over the lanes that differ in the low `n_bits` bits: the sum of the lanes before this one (after
 * it with `reverse`); *total becomes the sum of all. */
V cg_sum_before_lane(Cg *c, IrOp op, uint32_t n_bits, bool reverse, V *total);
/* The same over all lanes of a warp where each value is 0 or 1: by a ballot. */
V cg_count_before_lane(Cg *c, bool reverse, V *total);
/* `x` is the value of warp number (lane & (warps - 1)): the sum of the values of the warps before
 * `own` (after it with `reverse`); *total becomes the sum of all. */
V cg_sum_before_warp(Cg *c, IrOp op, uint32_t warps, bool reverse, V own, V x, V *total);

#endif
