/* Layout conversions: the same elements, held by other threads. layout_move says how far they have
 * to go: nowhere, within a thread, within a warp (shuffles), or through scratch. */
#include "codegen/cg_impl.h"

static void move_registers(const Layout *from, const Layout *to, CgRegs in, CgRegs out) {
    for (uint32_t r = 0; r < out.len; r++) {
        uint32_t reg, lane, warp;

        layout_source(from, to, r, 0, 0, &reg, &lane, &warp);
        out.at[r] = in.at[reg];
    }
}

/* --- shuffles --- */

/* The thread-dependent part of the source, linear in the bits of the thread id. */
typedef struct MoveSources {
    V lane;            /* to add (XOR) to the lane of register r in thread 0 */
    V reg;             /* idem, register */
    uint32_t reg_bits; /* bits that `reg` may have */
} MoveSources;

static MoveSources thread_sources(Cg *c, IrOp op, const Layout *from, const Layout *to) {
    uint32_t lanes[LAYOUT_MAX_BITS] = {0}, regs[LAYOUT_MAX_BITS] = {0};
    unsigned n = (unsigned)to->bits[LAYOUT_LANE] + to->bits[LAYOUT_WARP];
    V tid = cg_thread(c, op)->tid;
    MoveSources s = {0};

    for (unsigned i = 0; i < n; i++) {
        uint32_t warp, bit = 1u << i;

        layout_source(from, to, 0, bit & (CG_WARP - 1), bit >> CG_WARP_BITS, &regs[i], &lanes[i],
                      &warp);
        s.reg_bits |= regs[i];
    }
    s.lane = cg_linear(c, c->b, tid, lanes, n);
    s.reg = cg_linear(c, c->b, tid, regs, n);
    return s;
}

/* The threads of the warp want different registers of the source: each candidate is shuffled, and
 * each thread keeps the one it wants. Candidates are first ^ every subset of s->reg_bits. */
static V shuffle_register(Cg *c, const MoveSources *s, CgRegs in, uint32_t first, V lane) {
    V out = cg_shuffle(c, "idx", in.at[first], lane);

    for (uint32_t subset = s->reg_bits; subset; subset = (subset - 1) & s->reg_bits) {
        V x = cg_shuffle(c, "idx", in.at[first ^ subset], lane);
        V wanted = LLVMBuildICmp(c->b, LLVMIntEQ, s->reg, cg_i32(c, subset), "");

        out = LLVMBuildSelect(c->b, wanted, x, out, "");
    }
    return out;
}

static void move_lanes(Cg *c, IrOp op, const Layout *from, const Layout *to, CgRegs in,
                       CgRegs out) {
    MoveSources s = thread_sources(c, op, from, to);

    for (uint32_t r = 0; r < out.len; r++) {
        uint32_t reg, lane, warp;

        layout_source(from, to, r, 0, 0, &reg, &lane, &warp);
        V at = LLVMBuildXor(c->b, s.lane, cg_i32(c, lane), "");
        out.at[r] = shuffle_register(c, &s, in, reg, at);
    }
}

/* --- shared memory --- */

static V place(Cg *c, IrOp op, V index, unsigned bytes) {
    return cg_scratch(c, op, LLVMBuildMul(c->b, index, cg_i32(c, bytes), ""));
}

/* Row-major in scratch; owners write, one barrier, everybody reads what it needs. */
static void move_shared(Cg *c, IrOp op, LayoutId from, LayoutId to, CgRegs in, CgRegs out) {
    const Layout *source = layout_get(ir_layouts(c->m), from);
    LLVMTypeRef t = LLVMTypeOf(in.at[0]);
    unsigned bytes = cg_scratch_bytes(c, t);
    V owner = cg_owner(c, from, op);
    LLVMBasicBlockRef then = NULL, join = NULL;

    if (!cg_is_true(owner)) {
        then = cg_new_block(c, "owner"), join = cg_new_block(c, "join");
        LLVMBuildCondBr(c->b, owner, then, join);
        LLVMPositionBuilderAtEnd(c->b, then);
    }
    for (uint32_t r = 0; r < in.len; r++)
        if (cg_owns_reg(source, r))
            cg_store_scratch(c, in.at[r], place(c, op, cg_linear_index(c, from, op, r), bytes));
    if (join) {
        LLVMBuildBr(c->b, join);
        LLVMPositionBuilderAtEnd(c->b, join);
    }
    cg_barrier(c, op);
    for (uint32_t r = 0; r < out.len; r++)
        out.at[r] = cg_load_scratch(c, t, place(c, op, cg_linear_index(c, to, op, r), bytes));
}

static void convert(Cg *c, IrOp op, const Layout *from, LayoutId from_id, const Layout *to,
                    LayoutId to_id, CgRegs in, CgRegs out) {
    switch (layout_move(from, to)) {
    case LAYOUT_MOVE_NONE:
    case LAYOUT_MOVE_REGISTERS:
        move_registers(from, to, in, out);
        break;
    case LAYOUT_MOVE_SHUFFLE:
        move_lanes(c, op, from, to, in, out);
        break;
    case LAYOUT_MOVE_SHARED:
        move_shared(c, op, from_id, to_id, in, out);
        break;
    }
}

void cg_convert_layout(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    IrType to = ir_value_type(c->m, result), from = ir_value_type(c->m, ir_operand(c->m, op, 0));
    CgRegs out = cg_new_regs_for(c, to);

    convert(c, op, cg_layout(c, from), ir_type(c->m, from)->layout, cg_layout(c, to),
            ir_type(c->m, to)->layout, cg_operand(c, op, 0), out);
    cg_set(c, result, out);
}

/* The operand under the result's shape keeps every register where it is when its layout reshapes
 * to a linear one; from there it is an ordinary conversion. */
void cg_reshape(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    IrType to = ir_value_type(c->m, result), from = ir_value_type(c->m, ir_operand(c->m, op, 0));
    const IrTypeData *shape = ir_type(c->m, to);
    CgRegs in = cg_operand(c, op, 0), out = cg_new_regs_for(c, to);
    Layout same;

    if (layout_reshape(cg_layout(c, from), shape->rank, shape->shape, &same))
        convert(c, op, &same, layout_intern(ir_layouts(c->m), &same), cg_layout(c, to),
                shape->layout, in, out);
    else
        move_shared(c, op, ir_type(c->m, from)->layout, shape->layout, in, out);
    cg_set(c, result, out);
}
