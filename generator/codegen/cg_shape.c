/* Constants, launch values, facts, and the operations that only rename elements: a register of the
 * result is a register of the operand in the same thread. */
#include "codegen/cg_impl.h"

/* --- constants and launch values --- */

static V constant(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    LLVMTypeRef t = cg_type(c, ir_value_type(c->m, result));
    IrElem e = ir_elem(c->m, ir_value_type(c->m, result));

    if (LLVMGetTypeKind(t) == LLVMPointerTypeKind)
        return LLVMConstNull(t);
    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind && !ir_elem_is_float(e))
        return cg_const(c, t, ir_int(c->m, op, IR_KEY_INT_VALUE, 0));
    if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind) {
        double x = ir_float(c->m, op, IR_KEY_FLOAT_VALUE, 0);

        if (x != 0.0)
            cg_unsupported(c, op, "an fp8 constant other than 0; convert from a wider float");
        return LLVMConstNull(t);
    }
    return LLVMConstReal(t, ir_float(c->m, op, IR_KEY_FLOAT_VALUE, 0));
}

static void set_all(Cg *c, IrOp op, V x) {
    IrValue result = ir_result(c->m, op, 0);
    CgRegs out = cg_new_regs_for(c, ir_value_type(c->m, result));

    for (uint32_t r = 0; r < out.len; r++)
        out.at[r] = x;
    cg_set(c, result, out);
}

void cg_const_op(Cg *c, IrOp op) {
    set_all(c, op, constant(c, op));
}

void cg_poison(Cg *c, IrOp op) {
    set_all(c, op, LLVMGetUndef(cg_type(c, ir_value_type(c->m, ir_result(c->m, op, 0)))));
}

void cg_splat(Cg *c, IrOp op) {
    set_all(c, op, cg_operand(c, op, 0).at[0]);
}

static void launch_value(Cg *c, IrOp op, const char *const *names) {
    int64_t axis = ir_int(c->m, op, IR_KEY_AXIS, 0);

    if (axis < 0 || axis > 2) {
        cg_unsupported(c, op, "axis %lld, expected 0, 1 or 2", (long long)axis);
        return;
    }
    set_all(c, op, cg_intrinsic(c, names[axis], NULL, 0, NULL, 0));
}

void cg_program_id(Cg *c, IrOp op) {
    static const char *const names[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x",
                                        "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                        "llvm.nvvm.read.ptx.sreg.ctaid.z"};

    launch_value(c, op, names);
}

void cg_num_programs(Cg *c, IrOp op) {
    static const char *const names[] = {"llvm.nvvm.read.ptx.sreg.nctaid.x",
                                        "llvm.nvvm.read.ptx.sreg.nctaid.y",
                                        "llvm.nvvm.read.ptx.sreg.nctaid.z"};

    launch_value(c, op, names);
}

/* --- facts --- */

void cg_fact(Cg *c, IrOp op) {
    cg_set(c, ir_result(c->m, op, 0), cg_operand(c, op, 0));
}

void cg_assume(Cg *c, IrOp op) {
    CgRegs x = cg_operand(c, op, 0);

    for (uint32_t r = 0; r < x.len; r++)
        if (!LLVMIsConstant(x.at[r]))
            cg_intrinsic(c, "llvm.assume", NULL, 0, &x.at[r], 1);
}

void cg_trap(Cg *c, IrOp op) {
    CgRegs x = cg_operand(c, op, 0);
    LLVMBasicBlockRef stop = cg_new_block(c, "trap"), go = cg_new_block(c, "go");
    V all = x.at[0];

    for (uint32_t r = 1; r < x.len; r++)
        all = LLVMBuildAnd(c->b, all, x.at[r], "");
    LLVMBuildCondBr(c->b, all, go, stop);
    LLVMPositionBuilderAtEnd(c->b, stop);
    cg_intrinsic(c, "llvm.trap", NULL, 0, NULL, 0);
    LLVMBuildUnreachable(c->b);
    LLVMPositionBuilderAtEnd(c->b, go);
}

/* --- renamings --- */

typedef void ShapeMap(Cg *c, IrOp op, const Layout *from, const uint32_t *coord, uint32_t *out);

/* Result register r is the operand's register at the mapped coordinate. The layout pass makes the
 * lanes and warps of both agree; what remains is within the thread. */
static void rename_regs(Cg *c, IrOp op, ShapeMap *map) {
    IrValue result = ir_result(c->m, op, 0);
    const Layout *to = cg_layout(c, ir_value_type(c->m, result));
    const Layout *from = cg_layout(c, ir_value_type(c->m, ir_operand(c->m, op, 0)));
    CgRegs in = cg_operand(c, op, 0), out = cg_new_regs_for(c, ir_value_type(c->m, result));

    for (uint32_t r = 0; r < out.len; r++) {
        uint32_t coord[LAYOUT_MAX_RANK] = {0}, source[LAYOUT_MAX_RANK] = {0};

        layout_apply(to, r, 0, 0, 0, coord);
        map(c, op, from, coord, source);
        uint32_t reg;
        if (!layout_find_register(from, 0, 0, source, &reg)) {
            cg_unsupported(c, op, "the operand's layout does not hold the result's elements");
            return;
        }
        out.at[r] = in.at[reg];
    }
    cg_set(c, result, out);
}

static void map_broadcast(Cg *c, IrOp op, const Layout *from, const uint32_t *coord,
                          uint32_t *out) {
    (void)c, (void)op;
    for (unsigned d = 0; d < from->rank; d++)
        out[d] = layout_extent(from, d) == 1 ? 0 : coord[d];
}

static void map_expand(Cg *c, IrOp op, const Layout *from, const uint32_t *coord, uint32_t *out) {
    unsigned axis = (unsigned)ir_int(c->m, op, IR_KEY_AXIS, 0);

    for (unsigned d = 0; d < from->rank; d++)
        out[d] = coord[d < axis ? d : d + 1];
}

/* Dimension i of the result is dimension order[i] of the operand. */
static void map_trans(Cg *c, IrOp op, const Layout *from, const uint32_t *coord, uint32_t *out) {
    const IrAttrData *order = ir_attr(c->m, op, IR_KEY_ORDER);

    for (unsigned d = 0; d < from->rank; d++)
        out[order->ints[d]] = coord[d];
}

void cg_broadcast(Cg *c, IrOp op) {
    rename_regs(c, op, map_broadcast);
}

void cg_expand_dims(Cg *c, IrOp op) {
    rename_regs(c, op, map_expand);
}

void cg_trans(Cg *c, IrOp op) {
    rename_regs(c, op, map_trans);
}

void cg_arange(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    LayoutId layout = ir_type(c->m, ir_value_type(c->m, result))->layout;
    V start = cg_const(c, c->i32, ir_int(c->m, op, IR_KEY_START, 0));
    CgRegs out = cg_new_regs_for(c, ir_value_type(c->m, result));

    for (uint32_t r = 0; r < out.len; r++)
        out.at[r] = LLVMBuildAdd(c->b, cg_coord(c, layout, op, r, 0), start, "");
    cg_set(c, result, out);
}

/* --- inline PTX per element --- */

static V asm_element(Cg *c, IrOp op, uint32_t reg, LLVMTypeRef result) {
    const char *text = str_text(ir_strings(c->m), ir_str(c->m, op, IR_KEY_MESSAGE));
    const char *constraints = str_text(ir_strings(c->m), ir_str(c->m, op, IR_KEY_NAME));
    uint32_t n = ir_operand_count(c->m, op);
    V *args = arena_array(c->arena, V, n + 1);

    for (uint32_t i = 0; i < n; i++) {
        CgRegs in = cg_operand(c, op, i);

        args[i] = in.at[in.len == 1 ? 0 : reg];
    }
    V x = cg_asm(c, text, constraints, result, args, n, false);
    cg_call_attr(c, x, "convergent", 0); /* the text may hold a shuffle or a vote */
    return x;
}

void cg_asm_op(Cg *c, IrOp op) {
    uint32_t n = ir_result_count(c->m, op);
    LLVMTypeRef *types = arena_array(c->arena, LLVMTypeRef, n + 1);
    CgRegs *out = arena_array(c->arena, CgRegs, n + 1);

    if (!n) {
        cg_unsupported(c, op, "inline PTX without a result");
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        IrType t = ir_value_type(c->m, ir_result(c->m, op, i));

        types[i] = cg_type(c, t);
        out[i] = cg_new_regs_for(c, t);
        cg_set(c, ir_result(c->m, op, i), out[i]);
    }
    LLVMTypeRef type = n == 1 ? types[0] : LLVMStructTypeInContext(c->ctx, types, n, 0);
    for (uint32_t r = 0; r < out[0].len; r++) {
        V x = asm_element(c, op, r, type);

        for (uint32_t i = 0; i < n; i++)
            out[i].at[r] = n == 1 ? x : LLVMBuildExtractValue(c->b, x, i, "");
    }
}
