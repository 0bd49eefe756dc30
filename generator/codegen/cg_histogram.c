/* Histograms: bins in scratch, cleared by all threads, counted by shared atomics, read back in the
 * result's layout; analysis/scratch.h fixes the steps. */
#include "codegen/cg_impl.h"

enum { BIN_BYTES = 4 };

static V bin_address(Cg *c, IrOp op, V bin) {
    return cg_scratch(c, op, LLVMBuildMul(c->b, bin, cg_i32(c, BIN_BYTES), ""));
}

static void clear(Cg *c, IrOp op, uint32_t bins) {
    uint32_t threads = cg_warps(c, op) * CG_WARP;
    V tid = cg_thread(c, op)->tid;

    for (uint32_t first = 0; first < bins; first += threads) {
        V bin = LLVMBuildAdd(c->b, tid, cg_i32(c, first), "");
        V on = LLVMConstInt(c->i1, 1, 0);

        if (first + threads > bins)
            on = LLVMBuildICmp(c->b, LLVMIntULT, bin, cg_i32(c, bins), "");
        LLVMBasicBlockRef join = cg_guard_begin(c, on);
        cg_store_scratch(c, cg_i32(c, 0), bin_address(c, op, bin));
        cg_guard_end(c, join);
    }
}

static void add_one(Cg *c, V ptr, V on) {
    V args[3] = {ptr, cg_i32(c, 1), on};

    cg_asm(c, "@$2 red.relaxed.cta.shared.add.u32 [$0], $1;", "r,r,b", c->none, args, 3, true);
}

static void count(Cg *c, IrOp op, uint32_t bins) {
    IrType t = ir_value_type(c->m, ir_operand(c->m, op, 0));
    const Layout *l = cg_layout(c, t);
    CgRegs x = cg_operand(c, op, 0);
    V owner = cg_owner(c, ir_type(c->m, t)->layout, op);

    for (uint32_t r = 0; r < x.len; r++) {
        LLVMTypeRef type = LLVMTypeOf(x.at[r]);
        V limit = LLVMConstInt(type, bins, 0);
        V on = LLVMBuildICmp(c->b, LLVMIntULT, x.at[r], limit, "");

        if (!cg_owns_reg(l, r))
            continue;
        on = LLVMBuildAnd(c->b, on, owner, "");
        if (ir_operand_count(c->m, op) > 1)
            on = LLVMBuildAnd(c->b, on, cg_operand(c, op, 1).at[r], "");
        add_one(c, bin_address(c, op, LLVMBuildIntCast2(c->b, x.at[r], c->i32, 0, "")), on);
    }
}

void cg_histogram(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    IrType t = ir_value_type(c->m, result);
    LayoutId layout = ir_type(c->m, t)->layout;
    CgRegs out = cg_new_regs_for(c, t);
    uint32_t bins = (uint32_t)ir_tile_elems(c->m, t);

    if (cg_type(c, t) != c->i32 || cg_bits(c, LLVMTypeOf(cg_operand(c, op, 0).at[0])) < 32) {
        cg_unsupported(c, op, "values or bins that are narrower than 32 bits");
        return;
    }
    clear(c, op, bins);
    cg_barrier(c, op);
    count(c, op, bins);
    cg_barrier(c, op);
    for (uint32_t r = 0; r < out.len; r++)
        out.at[r] =
            cg_load_scratch(c, c->i32, bin_address(c, op, cg_linear_index(c, layout, op, r)));
    cg_set(c, result, out);
}
