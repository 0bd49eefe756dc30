/* Exchange: every element comes from the one whose index along the axis differs by XOR with a mask.
 * In a linear layout the partner is at a fixed XOR of register, lane and warp. */
#include "analysis/layout_rule.h"
#include "codegen/cg_impl.h"

typedef struct Partner {
    uint32_t reg, lane, warp; /* XOR */
} Partner;

static V slot(Cg *c, IrOp op, uint32_t reg, V thread, unsigned bytes) {
    V at = LLVMBuildNUWAdd(c->b, thread, cg_i32(c, reg * CG_WARP * cg_warps(c, op)), "");

    return cg_scratch(c, op, LLVMBuildNUWMul(c->b, at, cg_i32(c, bytes), ""));
}

static void through_shared(Cg *c, IrOp op, Partner p, CgRegs in, CgRegs out) {
    LLVMTypeRef t = LLVMTypeOf(in.at[0]);
    unsigned bytes = cg_scratch_bytes(c, t);
    V tid = cg_thread(c, op)->tid;
    V other = LLVMBuildXor(c->b, tid, cg_i32(c, p.lane | p.warp << CG_WARP_BITS), "");

    for (uint32_t r = 0; r < in.len; r++)
        cg_store_scratch(c, in.at[r], slot(c, op, r, tid, bytes));
    cg_barrier(c, op);
    for (uint32_t r = 0; r < out.len; r++)
        out.at[r] = cg_load_scratch(c, t, slot(c, op, r ^ p.reg, other, bytes));
}

void cg_exchange(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    IrType t = ir_value_type(c->m, result);
    CgRegs in = cg_operand(c, op, 0), out = cg_new_regs_for(c, t);
    Partner p;

    layout_exchange(cg_layout(c, t), (unsigned)ir_int(c->m, op, IR_KEY_AXIS, 0),
                    (uint32_t)ir_int(c->m, op, IR_KEY_MASK, 0), &p.reg, &p.lane, &p.warp);
    if (p.warp)
        through_shared(c, op, p, in, out);
    for (uint32_t r = 0; !p.warp && r < out.len; r++) {
        V x = in.at[r ^ p.reg];

        out.at[r] = p.lane ? cg_shuffle(c, "bfly", x, cg_i32(c, p.lane)) : x;
    }
    cg_set(c, result, out);
}
