/* Combine regions of reductions and scans, inlined per pair of elements. A region holds scalar
 * elementwise operations; its 2n arguments are two n-tuples, its yield is their combination. */
#include "codegen/cg_impl.h"

static IrOp yield_of(const Cg *c, IrOp op) {
    return ir_last(c->m, ir_region_block(c->m, op, 0));
}

void cg_combine(Cg *c, IrOp op, const V *a, const V *b, V *out) {
    IrBlock block = ir_region_block(c->m, op, 0);
    uint32_t n = ir_arg_count(c->m, block) / 2;
    IrOp yield = yield_of(c, op);

    for (uint32_t i = 0; i < n; i++) {
        cg_set_scalar(c, ir_arg(c->m, block, i), a[i]);
        cg_set_scalar(c, ir_arg(c->m, block, n + i), b[i]);
    }
    cg_block(c, block);
    for (uint32_t i = 0; i < n && !c->failed; i++)
        out[i] = cg_scalar(c, ir_operand(c->m, yield, i));
}

IrKind cg_combine_kind(const Cg *c, IrOp op) {
    IrBlock block = ir_region_block(c->m, op, 0);
    IrOp first = ir_first(c->m, block), yield = yield_of(c, op);

    if (ir_arg_count(c->m, block) != 2 || ir_next(c->m, first) != yield ||
        ir_operand_count(c->m, first) != 2 || ir_result_count(c->m, first) != 1)
        return IR_OP_NONE;
    IrValue x = ir_operand(c->m, first, 0), y = ir_operand(c->m, first, 1);
    IrValue p = ir_arg(c->m, block, 0), q = ir_arg(c->m, block, 1);
    bool arguments = (x == p && y == q) || (x == q && y == p);
    bool yielded = ir_operand(c->m, yield, 0) == ir_result(c->m, first, 0);
    return arguments && yielded && ir_trait(c->m, first, IR_TRAIT_COMMUTES) ? ir_kind(c->m, first)
                                                                            : IR_OP_NONE;
}
