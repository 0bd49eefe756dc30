/* Layout conversions: the same elements, held by other threads. layout_move says how far they have
 * to go: nowhere, within a thread, within a warp (shuffles), or through scratch. */
#include "analysis/layout_rule.h"
#include "analysis/scratch.h"
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
    bool own_lane;     /* `lane` is the thread's own */
} MoveSources;

static MoveSources thread_sources(Cg *c, IrOp op, const Layout *from, const Layout *to) {
    uint32_t lanes[LAYOUT_MAX_BITS] = {0}, regs[LAYOUT_MAX_BITS] = {0};
    unsigned n = (unsigned)to->bits[LAYOUT_LANE] + to->bits[LAYOUT_WARP];
    V tid = cg_thread(c, op)->tid;
    MoveSources s = {.own_lane = true};

    for (unsigned i = 0; i < n; i++) {
        uint32_t warp, bit = 1u << i;

        layout_source(from, to, 0, bit & (CG_WARP - 1), bit >> CG_WARP_BITS, &regs[i], &lanes[i],
                      &warp);
        s.reg_bits |= regs[i];
        s.own_lane = s.own_lane && lanes[i] == (bit & (CG_WARP - 1));
    }
    s.lane = cg_linear(c, c->b, tid, lanes, n);
    s.reg = cg_linear(c, c->b, tid, regs, n);
    return s;
}

static V fetch(Cg *c, V x, V lane) {
    return lane ? cg_shuffle(c, "idx", x, lane) : x;
}

/* The threads of the warp want different registers of the source: each candidate is shuffled
 * (lane NULL: is the thread's own), and each thread keeps the one it wants. Candidates are
 * first ^ every subset of s->reg_bits. */
static V shuffle_register(Cg *c, const MoveSources *s, CgRegs in, uint32_t first, V lane) {
    V out = fetch(c, in.at[first], lane);

    for (uint32_t subset = s->reg_bits; subset; subset = (subset - 1) & s->reg_bits) {
        V x = fetch(c, in.at[first ^ subset], lane);
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
        bool own = s.own_lane && !lane;
        V at = own ? NULL : LLVMBuildXor(c->b, s.lane, cg_i32(c, lane), "");
        out.at[r] = shuffle_register(c, &s, in, reg, at);
    }
}

/* --- shared memory --- */

/* Byte of element `reg` in scratch whose rows are `pitch` elements apart. */
static V place(Cg *c, IrOp op, LayoutId layout, uint32_t reg, uint32_t pitch, unsigned bytes) {
    const Layout *l = layout_get(ir_layouts(c->m), layout);
    V row = cg_i32(c, 0);

    for (unsigned d = 0; d + 1u < l->rank; d++) {
        row = LLVMBuildNUWMul(c->b, row, cg_i32(c, (uint32_t)layout_extent(l, d)), "");
        row = LLVMBuildNUWAdd(c->b, row, cg_coord(c, layout, op, reg, d), "");
    }
    V at = LLVMBuildNUWMul(c->b, row, cg_i32(c, pitch), "");
    at = LLVMBuildNUWAdd(c->b, at, cg_coord(c, layout, op, reg, l->rank - 1u), "");
    return cg_scratch(c, op, LLVMBuildNUWMul(c->b, at, cg_i32(c, bytes), ""));
}

static uint32_t row_length(const Cg *c, LayoutId layout) {
    const Layout *l = layout_get(ir_layouts(c->m), layout);

    return (uint32_t)layout_extent(l, l->rank - 1u);
}

/* Owners write, one barrier, everybody reads what it needs. */
static void move_shared(Cg *c, IrOp op, LayoutId from, LayoutId to, CgRegs in, CgRegs out) {
    const Layout *source = layout_get(ir_layouts(c->m), from);
    LLVMTypeRef t = LLVMTypeOf(in.at[0]);
    unsigned bytes = cg_scratch_bytes(c, t);
    bool padded = ir_kind(c->m, op) == IR_OP_CONVERT_LAYOUT;
    uint32_t pitch_from = padded ? scratch_pitch(source, bytes) : row_length(c, from);
    uint32_t pitch_to = padded ? pitch_from : row_length(c, to);
    LLVMBasicBlockRef join = cg_guard_begin(c, cg_owner(c, from, op));

    for (uint32_t r = 0; r < in.len; r++)
        if (cg_owns_reg(source, r))
            cg_store_scratch(c, in.at[r], place(c, op, from, r, pitch_from, bytes));
    cg_guard_end(c, join);
    cg_barrier(c, op);
    for (uint32_t r = 0; r < out.len; r++)
        out.at[r] = cg_load_scratch(c, t, place(c, op, to, r, pitch_to, bytes));
}

void cg_convert_layout(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    IrType to = ir_value_type(c->m, result), from = ir_value_type(c->m, ir_operand(c->m, op, 0));
    const Layout *source = cg_layout(c, from), *target = cg_layout(c, to);
    CgRegs in = cg_operand(c, op, 0), out = cg_new_regs_for(c, to);

    switch (layout_move(source, target)) {
    case LAYOUT_MOVE_NONE:
    case LAYOUT_MOVE_REGISTERS:
        move_registers(source, target, in, out);
        break;
    case LAYOUT_MOVE_SHUFFLE:
        move_lanes(c, op, source, target, in, out);
        break;
    case LAYOUT_MOVE_SHARED:
        move_shared(c, op, ir_type(c->m, from)->layout, ir_type(c->m, to)->layout, in, out);
        break;
    }
    cg_set(c, result, out);
}

/* Where the operand's layout reshapes to the result's, every register stays where it is. */
void cg_reshape(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    IrType to = ir_value_type(c->m, result), from = ir_value_type(c->m, ir_operand(c->m, op, 0));
    CgRegs in = cg_operand(c, op, 0), out = cg_new_regs_for(c, to);
    Layout same;

    if (layout_result_for(c->m, op, cg_layout(c, from), &same) &&
        layout_equal(&same, cg_layout(c, to)))
        out = in;
    else
        move_shared(c, op, ir_type(c->m, from)->layout, ir_type(c->m, to)->layout, in, out);
    cg_set(c, result, out);
}
