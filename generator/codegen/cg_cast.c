/* Conversions between element types. fp8 goes through fp16 and fp32 as the hardware's instructions
 * do, saturating on the way down. */
#include "codegen/cg_impl.h"

static IrElem operand_elem(const Cg *c, IrOp op) {
    return ir_elem(c->m, ir_value_type(c->m, ir_operand(c->m, op, 0)));
}

static IrElem result_elem(const Cg *c, IrOp op) {
    return ir_elem(c->m, ir_value_type(c->m, ir_result(c->m, op, 0)));
}

static LLVMTypeRef result_type(const Cg *c, IrOp op) {
    return cg_type(c, ir_value_type(c->m, ir_result(c->m, op, 0)));
}

static bool is_fp8(IrElem e) {
    return e == IR_F8E4M3 || e == IR_F8E5M2;
}

V cg_cast(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = result_type(c, op);

    switch (ir_kind(c->m, op)) {
    case IR_OP_TRUNC:
        return LLVMBuildTrunc(c->b, x[0], t, "");
    case IR_OP_ZEXT:
        return LLVMBuildZExt(c->b, x[0], t, "");
    case IR_OP_SEXT:
        return LLVMBuildSExt(c->b, x[0], t, "");
    case IR_OP_PTRTOINT:
        return LLVMBuildPtrToInt(c->b, x[0], t, "");
    default: /* the operations that cg.def sends here: INTTOPTR is left */
        return LLVMBuildIntToPtr(c->b, x[0], t, "");
    }
}

/* --- floats to floats --- */

static V fp8_to_f32(Cg *c, IrElem from, V x) {
    V pair = LLVMBuildZExt(c->b, x, c->i16, "");
    V halves = cg_intrinsic(
        c, from == IR_F8E4M3 ? "llvm.nvvm.e4m3x2.to.f16x2.rn" : "llvm.nvvm.e5m2x2.to.f16x2.rn",
        NULL, 0, &pair, 1);
    V half = LLVMBuildExtractElement(c->b, halves, cg_i32(c, 0), "");

    return LLVMBuildFPExt(c->b, half, c->f32, "");
}

static V f32_to_fp8(Cg *c, IrElem to, V x) {
    V args[2] = {LLVMConstNull(c->f32), x}; /* the second lands in the low byte */
    V pair =
        cg_intrinsic(c, to == IR_F8E4M3 ? "llvm.nvvm.ff.to.e4m3x2.rn" : "llvm.nvvm.ff.to.e5m2x2.rn",
                     NULL, 0, args, 2);

    return LLVMBuildTrunc(c->b, pair, c->i8, "");
}

V cg_fpext(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = result_type(c, op);

    if (!is_fp8(operand_elem(c, op)))
        return LLVMBuildFPExt(c->b, x[0], t, "");
    V wide = fp8_to_f32(c, operand_elem(c, op), x[0]);
    if (t == c->f32)
        return wide;
    return t == c->f64 ? LLVMBuildFPExt(c->b, wide, t, "") : LLVMBuildFPTrunc(c->b, wide, t, "");
}

/* Rounding towards zero has intrinsics from f32 only. */
static V round_to_zero(Cg *c, IrOp op, V x) {
    LLVMTypeRef t = result_type(c, op);

    if (LLVMTypeOf(x) == c->f32 && t == c->f16)
        return cg_asm(c, "cvt.rz.f16.f32 $0, $1;", "=h,f", c->f16, &x, 1, false);
    if (LLVMTypeOf(x) == c->f32 && t == c->bf16)
        return cg_intrinsic(c, "llvm.nvvm.f2bf16.rz", NULL, 0, &x, 1);
    if (LLVMTypeOf(x) == c->f64 && t == c->f32)
        return cg_intrinsic(c, "llvm.nvvm.d2f.rz", NULL, 0, &x, 1);
    cg_unsupported(c, op, "rounding towards zero between these types");
    return LLVMConstNull(t);
}

V cg_fptrunc(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef from = LLVMTypeOf(x[0]), to = result_type(c, op);

    if (ir_int(c->m, op, IR_KEY_ROUND, IR_ROUND_NONE) == IR_ROUND_RTZ)
        return round_to_zero(c, op, x[0]);
    if (is_fp8(operand_elem(c, op)) && is_fp8(result_elem(c, op)))
        return f32_to_fp8(c, result_elem(c, op), fp8_to_f32(c, operand_elem(c, op), x[0]));
    if (is_fp8(result_elem(c, op))) {
        V wide = from == c->f32   ? x[0]
                 : from == c->f64 ? LLVMBuildFPTrunc(c->b, x[0], c->f32, "")
                                  : LLVMBuildFPExt(c->b, x[0], c->f32, "");
        return f32_to_fp8(c, result_elem(c, op), wide);
    }
    if (cg_bits(c, from) == cg_bits(c, to)) /* f16 <-> bf16 */
        return LLVMBuildFPTrunc(c->b, LLVMBuildFPExt(c->b, x[0], c->f32, ""), to, "");
    return LLVMBuildFPTrunc(c->b, x[0], to, "");
}

/* --- floats and integers --- */

V cg_fp_int(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = result_type(c, op);
    V wide = is_fp8(operand_elem(c, op)) ? fp8_to_f32(c, operand_elem(c, op), x[0]) : x[0];

    if (ir_kind(c->m, op) == IR_OP_FPTOSI)
        return LLVMBuildFPToSI(c->b, wide, t, "");
    return LLVMBuildFPToUI(c->b, wide, t, "");
}

V cg_int_fp(Cg *c, IrOp op, const V *x) {
    IrElem to = result_elem(c, op);
    LLVMTypeRef t = is_fp8(to) ? c->f32 : cg_elem_llvm(c, to);
    V y = ir_kind(c->m, op) == IR_OP_SITOFP ? LLVMBuildSIToFP(c->b, x[0], t, "")
                                            : LLVMBuildUIToFP(c->b, x[0], t, "");

    return is_fp8(to) ? f32_to_fp8(c, to, y) : y;
}

V cg_bitcast(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = result_type(c, op);

    return LLVMGetTypeKind(t) == LLVMPointerTypeKind ? x[0] : LLVMBuildBitCast(c->b, x[0], t, "");
}
