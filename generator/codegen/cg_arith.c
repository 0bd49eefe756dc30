/* Integer and float arithmetic, comparison, selection: one LLVM instruction each where LLVM has one
 * with the same meaning. */
#include "codegen/cg_impl.h"

/* --- integers --- */

V cg_int_binary(Cg *c, IrOp op, const V *x) {
    static const LLVMOpcode opcodes[IR_OP_COUNT] = {
        [IR_OP_ADD] = LLVMAdd,   [IR_OP_SUB] = LLVMSub,   [IR_OP_MUL] = LLVMMul,
        [IR_OP_SDIV] = LLVMSDiv, [IR_OP_UDIV] = LLVMUDiv, [IR_OP_SREM] = LLVMSRem,
        [IR_OP_UREM] = LLVMURem, [IR_OP_AND] = LLVMAnd,   [IR_OP_OR] = LLVMOr,
        [IR_OP_XOR] = LLVMXor,
    };

    return LLVMBuildBinOp(c->b, opcodes[ir_kind(c->m, op)], x[0], x[1], "");
}

V cg_umulhi(Cg *c, IrOp op, const V *x) {
    unsigned bits = cg_bits(c, LLVMTypeOf(x[0]));
    LLVMTypeRef wide = cg_int_type(c, 2 * bits);
    V a = LLVMBuildZExt(c->b, x[0], wide, ""), b = LLVMBuildZExt(c->b, x[1], wide, "");
    V high = LLVMBuildLShr(c->b, LLVMBuildMul(c->b, a, b, ""), LLVMConstInt(wide, bits, 0), "");

    (void)op;
    return LLVMBuildTrunc(c->b, high, LLVMTypeOf(x[0]), "");
}

static V shift(Cg *c, IrKind kind, V x, V by) {
    if (kind == IR_OP_SHL)
        return LLVMBuildShl(c->b, x, by, "");
    return kind == IR_OP_LSHR ? LLVMBuildLShr(c->b, x, by, "") : LLVMBuildAShr(c->b, x, by, "");
}

/* TIR shifts are defined for every amount, as PTX's are; LLVM's are not. The clamp below folds away
 * for small constants, and the back end knows it as PTX's own behaviour. */
V cg_shift(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = LLVMTypeOf(x[0]);
    IrKind kind = ir_kind(c->m, op);
    unsigned bits = cg_bits(c, t);
    V in_range = LLVMBuildICmp(c->b, LLVMIntULT, x[1], LLVMConstInt(t, bits, 0), "");

    if (kind == IR_OP_ASHR) {
        V last = LLVMConstInt(t, bits - 1, 0);
        return shift(c, kind, x[0], LLVMBuildSelect(c->b, in_range, x[1], last, ""));
    }
    return LLVMBuildSelect(c->b, in_range, shift(c, kind, x[0], x[1]), LLVMConstNull(t), "");
}

V cg_int_minmax(Cg *c, IrOp op, const V *x) {
    static const char *const names[IR_OP_COUNT] = {
        [IR_OP_SMIN] = "llvm.smin",
        [IR_OP_SMAX] = "llvm.smax",
        [IR_OP_UMIN] = "llvm.umin",
        [IR_OP_UMAX] = "llvm.umax",
    };
    LLVMTypeRef t = LLVMTypeOf(x[0]);

    return cg_intrinsic(c, names[ir_kind(c->m, op)], &t, 1, x, 2);
}

V cg_int_unary(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = LLVMTypeOf(x[0]);
    V args[2] = {x[0], LLVMConstNull(c->i1)};

    switch (ir_kind(c->m, op)) {
    case IR_OP_POPC:
        return cg_intrinsic(c, "llvm.ctpop", &t, 1, args, 1);
    case IR_OP_CLZ:
        return cg_intrinsic(c, "llvm.ctlz", &t, 1, args, 2);
    default: /* the operations that cg.def sends here: IABS is left */
        return cg_intrinsic(c, "llvm.abs", &t, 1, args, 2);
    }
}

/* --- floats --- */

static bool is_fp8(Cg *c, IrOp op) {
    IrElem e = ir_elem(c->m, ir_value_type(c->m, ir_operand(c->m, op, 0)));

    if (e != IR_F8E4M3 && e != IR_F8E5M2)
        return false;
    cg_unsupported(c, op, "arithmetic on fp8; convert to a wider float first");
    return true;
}

V cg_float_binary(Cg *c, IrOp op, const V *x) {
    IrKind kind = ir_kind(c->m, op);
    LLVMOpcode opcode = kind == IR_OP_FADD ? LLVMFAdd : kind == IR_OP_FSUB ? LLVMFSub : LLVMFMul;

    if (is_fp8(c, op))
        return x[0];
    V y = LLVMBuildBinOp(c->b, opcode, x[0], x[1], "");
    if (LLVMIsAInstruction(y))
        LLVMSetFastMathFlags(y, LLVMFastMathAllowContract);
    return y;
}

V cg_float_minmax(Cg *c, IrOp op, const V *x) {
    bool nan = ir_int(c->m, op, IR_KEY_PROPAGATE_NAN, 0) != 0;
    bool least = ir_kind(c->m, op) == IR_OP_FMIN;
    LLVMTypeRef t = LLVMTypeOf(x[0]);

    if (is_fp8(c, op))
        return x[0];
    return cg_intrinsic(c,
                        nan ? (least ? "llvm.minimum" : "llvm.maximum")
                            : (least ? "llvm.minnum" : "llvm.maxnum"),
                        &t, 1, x, 2);
}

V cg_fneg(Cg *c, IrOp op, const V *x) {
    return is_fp8(c, op) ? x[0] : LLVMBuildFNeg(c->b, x[0], "");
}

V cg_float_unary(Cg *c, IrOp op, const V *x) {
    IrKind kind = ir_kind(c->m, op);
    LLVMTypeRef t = LLVMTypeOf(x[0]);

    if (is_fp8(c, op))
        return x[0];
    return cg_intrinsic(c,
                        kind == IR_OP_FABS    ? "llvm.fabs"
                        : kind == IR_OP_FLOOR ? "llvm.floor"
                                              : "llvm.ceil",
                        &t, 1, x, 1);
}

V cg_fma(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = LLVMTypeOf(x[0]);

    return is_fp8(c, op) ? x[0] : cg_intrinsic(c, "llvm.fma", &t, 1, x, 3);
}

/* --- comparison and selection --- */

V cg_icmp(Cg *c, IrOp op, const V *x) {
    static const LLVMIntPredicate predicates[] = {
        [IR_CMP_EQ] = LLVMIntEQ,   [IR_CMP_NE] = LLVMIntNE,   [IR_CMP_SLT] = LLVMIntSLT,
        [IR_CMP_SLE] = LLVMIntSLE, [IR_CMP_SGT] = LLVMIntSGT, [IR_CMP_SGE] = LLVMIntSGE,
        [IR_CMP_ULT] = LLVMIntULT, [IR_CMP_ULE] = LLVMIntULE, [IR_CMP_UGT] = LLVMIntUGT,
        [IR_CMP_UGE] = LLVMIntUGE,
    };
    int64_t cmp = ir_int(c->m, op, IR_KEY_CMP, IR_CMP_EQ);

    if (cmp > IR_CMP_UGE) {
        cg_unsupported(c, op, "a float comparison of integers");
        cmp = IR_CMP_EQ;
    }
    return LLVMBuildICmp(c->b, predicates[cmp], x[0], x[1], "");
}

V cg_fcmp(Cg *c, IrOp op, const V *x) {
    static const LLVMRealPredicate predicates[] = {
        [IR_CMP_OEQ] = LLVMRealOEQ,  [IR_CMP_ONE] = LLVMRealONE,  [IR_CMP_OLT] = LLVMRealOLT,
        [IR_CMP_OLE] = LLVMRealOLE,  [IR_CMP_OGT] = LLVMRealOGT,  [IR_CMP_OGE] = LLVMRealOGE,
        [IR_CMP_ORD] = LLVMRealORD,  [IR_CMP_UNO] = LLVMRealUNO,  [IR_CMP_UNE] = LLVMRealUNE,
        [IR_CMP_UEQ] = LLVMRealUEQ,  [IR_CMP_FULT] = LLVMRealULT, [IR_CMP_FULE] = LLVMRealULE,
        [IR_CMP_FUGT] = LLVMRealUGT, [IR_CMP_FUGE] = LLVMRealUGE,
    };
    int64_t cmp = ir_int(c->m, op, IR_KEY_CMP, IR_CMP_OEQ);

    if (cmp < IR_CMP_OEQ) {
        cg_unsupported(c, op, "an integer comparison of floats");
        cmp = IR_CMP_OEQ;
    }
    if (is_fp8(c, op))
        return LLVMConstNull(c->i1);
    return LLVMBuildFCmp(c->b, predicates[cmp], x[0], x[1], "");
}

V cg_select(Cg *c, IrOp op, const V *x) {
    (void)op;
    return LLVMBuildSelect(c->b, x[0], x[1], x[2], "");
}

V cg_addptr(Cg *c, IrOp op, const V *x) {
    const IrTypeData *p =
        ir_type(c->m, ir_elem_type(c->m, ir_value_type(c->m, ir_operand(c->m, op, 0))));
    LLVMTypeRef pointee = cg_type(c, p->of);

    return LLVMBuildGEP2(c->b, pointee == c->i1 ? c->i8 : pointee, x[0], (V *)(uintptr_t)&x[1], 1,
                         "");
}
