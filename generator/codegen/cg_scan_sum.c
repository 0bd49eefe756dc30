#include "codegen/cg_scan_sum.h"

bool cg_scan_is_sum(const Cg *c, IrOp op, LLVMTypeRef type) {
    return type == c->i32 && cg_combine_kind(c, op, 0) == IR_OP_ADD && c->target->sm >= 80;
}

/* One step of the inclusive scan: lanes outside of the segment keep their sum. */
static void put_step(StrBuf *text, bool reverse, uint32_t distance, uint32_t clamp) {
    strbuf_addf(text, "shfl.sync.%s.b32 t|p, $0, %u, %u, -1; @p add.s32 $0, $0, t; ",
                reverse ? "down" : "up", distance, clamp);
}

/* shfl's clamp operand: the segment mask in bits 8..12, and the last lane for "down". */
static uint32_t segment(uint32_t n_bits, bool reverse) {
    uint32_t mask = (uint32_t)(CG_WARP - (1u << n_bits)) & 31u;

    return mask << 8 | (reverse ? 31u & ~mask : 0u);
}

V cg_sum_before_lane(Cg *c, IrOp op, uint32_t n_bits, bool reverse, V *total) {
    StrBuf text;
    V own = *total, lane = cg_thread(c, op)->lane;
    uint32_t last = (1u << n_bits) - 1;

    strbuf_init(&text, c->arena);
    strbuf_addz(&text, "{ .reg .b32 t; .reg .pred p; ");
    for (uint32_t b = 0; b < n_bits; b++)
        put_step(&text, reverse, 1u << b, segment(n_bits, reverse));
    strbuf_addz(&text, "}");
    V sum = cg_asm(c, text.text, "=r,0", c->i32, &own, 1, true);
    V end = reverse ? LLVMBuildAnd(c->b, lane, cg_i32(c, ~last), "")
                    : LLVMBuildOr(c->b, lane, cg_i32(c, last), "");
    *total = cg_shuffle(c, "idx", sum, end);
    return LLVMBuildSub(c->b, sum, own, "");
}

static V popc(Cg *c, V x) {
    return cg_intrinsic(c, "llvm.ctpop", &c->i32, 1, &x, 1);
}

V cg_count_before_lane(Cg *c, bool reverse, V *total) {
    V before = cg_intrinsic(
        c, reverse ? "llvm.nvvm.read.ptx.sreg.lanemask.gt" : "llvm.nvvm.read.ptx.sreg.lanemask.lt",
        NULL, 0, NULL, 0);
    V ballot = cg_ballot(c, LLVMBuildICmp(c->b, LLVMIntNE, *total, cg_i32(c, 0), ""));

    *total = popc(c, ballot);
    return popc(c, LLVMBuildAnd(c->b, ballot, before, ""));
}

static V sum_where(Cg *c, V cond, V x) {
    V args[2] = {LLVMBuildSelect(c->b, cond, x, cg_i32(c, 0), ""), cg_i32(c, ~0u)};

    return cg_intrinsic(c, "llvm.nvvm.redux.sync.add", NULL, 0, args, 2);
}

V cg_sum_before_warp(Cg *c, IrOp op, uint32_t warps, bool reverse, V own, V x, V *total) {
    V lane = cg_thread(c, op)->lane;
    V there = LLVMBuildICmp(c->b, LLVMIntULT, lane, cg_i32(c, warps), "");
    V before = LLVMBuildICmp(c->b, reverse ? LLVMIntUGT : LLVMIntULT, lane, own, "");

    *total = sum_where(c, there, x);
    return sum_where(c, LLVMBuildAnd(c->b, there, before, ""), x);
}
