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

IrKind cg_combine_kind(const Cg *c, IrOp op, uint32_t i) {
    IrBlock block = ir_region_block(c->m, op, 0);
    uint32_t n = ir_arg_count(c->m, block) / 2;
    IrOp def = ir_value_op(c->m, ir_operand(c->m, yield_of(c, op), i));

    if (!def || ir_parent(c->m, def) != block || ir_operand_count(c->m, def) != 2 ||
        ir_result_count(c->m, def) != 1 || !ir_trait(c->m, def, IR_TRAIT_COMMUTES))
        return IR_OP_NONE;
    IrValue x = ir_operand(c->m, def, 0), y = ir_operand(c->m, def, 1);
    IrValue p = ir_arg(c->m, block, i), q = ir_arg(c->m, block, n + i);
    bool arguments = (x == p && y == q) || (x == q && y == p);
    return arguments ? ir_kind(c->m, def) : IR_OP_NONE;
}
