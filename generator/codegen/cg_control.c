/* Structured control flow -> basic blocks; carried tiles become one phi per register. */
#include "codegen/cg_impl.h"

/* One phi per register of each value of a list. */
typedef struct Phis {
    CgRegs *values;
    uint32_t len;
} Phis;

static Phis new_phis(Cg *c, uint32_t len) {
    Phis p = {arena_array(c->arena, CgRegs, len + 1), len};

    return p;
}

static void add_phi(Cg *c, Phis *p, uint32_t i, IrType t) {
    LLVMTypeRef type = cg_type(c, t);

    p->values[i] = cg_new_regs_for(c, t);
    for (uint32_t r = 0; r < p->values[i].len; r++)
        p->values[i].at[r] = LLVMBuildPhi(c->b, type, "");
}

/* Operands first .. of `op` flow into the phis from the current block. */
static void feed(Cg *c, const Phis *p, IrOp op, uint32_t first) {
    LLVMBasicBlockRef from = LLVMGetInsertBlock(c->b);

    for (uint32_t i = 0; i < p->len; i++) {
        CgRegs in = cg_operand(c, op, first + i);

        for (uint32_t r = 0; r < p->values[i].len; r++)
            LLVMAddIncoming(p->values[i].at[r], &in.at[r], &from, 1);
    }
}

static Phis result_phis(Cg *c, IrOp op) {
    Phis p = new_phis(c, ir_result_count(c->m, op));

    for (uint32_t i = 0; i < p.len; i++)
        add_phi(c, &p, i, ir_value_type(c->m, ir_result(c->m, op, i)));
    return p;
}

static void set_results(Cg *c, IrOp op, const Phis *p) {
    for (uint32_t i = 0; i < p->len; i++)
        cg_set(c, ir_result(c->m, op, i), p->values[i]);
}

static Phis arg_phis(Cg *c, IrBlock b, uint32_t first) {
    Phis p = new_phis(c, ir_arg_count(c->m, b) - first);

    for (uint32_t i = 0; i < p.len; i++) {
        add_phi(c, &p, i, ir_value_type(c->m, ir_arg(c->m, b, first + i)));
        cg_set(c, ir_arg(c->m, b, first + i), p.values[i]);
    }
    return p;
}

/* Phis are made at the start of `block`, whatever the builder is doing. */
static Phis results_in(Cg *c, IrOp op, LLVMBasicBlockRef block) {
    LLVMBasicBlockRef at = LLVMGetInsertBlock(c->b);

    LLVMPositionBuilderAtEnd(c->b, block);
    Phis p = result_phis(c, op);
    LLVMPositionBuilderAtEnd(c->b, at);
    return p;
}

/* --- if --- */

static void branch(Cg *c, IrBlock body, LLVMBasicBlockRef at, LLVMBasicBlockRef join,
                   const Phis *results) {
    LLVMPositionBuilderAtEnd(c->b, at);
    cg_block(c, body);
    if (c->failed)
        return;
    feed(c, results, ir_last(c->m, body), 0);
    LLVMBuildBr(c->b, join);
}

static bool is_empty(Cg *c, IrBlock b) {
    return ir_first(c->m, b) == ir_last(c->m, b);
}

void cg_if(Cg *c, IrOp op) {
    LLVMBasicBlockRef join = cg_new_block(c, "join"), then = cg_new_block(c, "then");
    LLVMBasicBlockRef other = join, from = LLVMGetInsertBlock(c->b);
    IrBlock else_body = ir_region_block(c->m, op, 1);
    Phis results = results_in(c, op, join);
    V cond = cg_operand(c, op, 0).at[0];

    if (is_empty(c, else_body))
        feed(c, &results, ir_last(c->m, else_body), 0);
    else
        other = cg_new_block(c, "else");
    LLVMBuildCondBr(c->b, cond, then, other);
    LLVMMoveBasicBlockAfter(then, from);
    branch(c, ir_region_block(c->m, op, 0), then, join, &results);
    if (other != join && !c->failed)
        branch(c, else_body, other, join, &results);
    LLVMMoveBasicBlockAfter(join, LLVMGetLastBasicBlock(c->fn));
    LLVMPositionBuilderAtEnd(c->b, join);
    set_results(c, op, &results);
}

/* --- for --- */

typedef struct Loop {
    V lower, upper, step;
    LLVMTypeRef type;
} Loop;

/* True while another iteration follows `i`; i < upper holds. Never wraps: near the largest integer
 * i + step might, so the distance left is compared instead, as a limit where that cannot wrap. */
static V another(Cg *c, const Loop *l, V i) {
    bool from_zero = LLVMIsAConstantInt(l->lower) && LLVMConstIntGetSExtValue(l->lower) >= 0;

    if (from_zero) {
        V limit = LLVMBuildNSWSub(c->b, l->upper, l->step, "limit");

        return LLVMBuildICmp(c->b, LLVMIntSLT, i, limit, "");
    }
    V left = LLVMBuildSub(c->b, l->upper, i, "left");
    return LLVMBuildICmp(c->b, LLVMIntUGT, left, l->step, "");
}

/* for (i = lower; i < upper; i += step), tested at the bottom. */
void cg_for(Cg *c, IrOp op) {
    IrBlock block = ir_region_block(c->m, op, 0);
    LLVMBasicBlockRef body = cg_new_block(c, "for"), next = cg_new_block(c, "next");
    LLVMBasicBlockRef exit = cg_new_block(c, "end"), from = LLVMGetInsertBlock(c->b);
    Loop l = {cg_operand(c, op, 0).at[0], cg_operand(c, op, 1).at[0], cg_operand(c, op, 2).at[0],
              LLVMTypeOf(cg_operand(c, op, 0).at[0])};
    Phis results = results_in(c, op, exit);

    feed(c, &results, op, 3);
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, l.lower, l.upper, ""), body, exit);
    LLVMPositionBuilderAtEnd(c->b, body);
    V i = LLVMBuildPhi(c->b, l.type, "i");
    LLVMAddIncoming(i, &l.lower, &from, 1);
    cg_set_scalar(c, ir_arg(c->m, block, 0), i);
    Phis carried = arg_phis(c, block, 1);
    for (uint32_t k = 0; k < carried.len; k++) {
        CgRegs in = cg_operand(c, op, 3 + k);

        for (uint32_t r = 0; r < in.len; r++)
            LLVMAddIncoming(carried.values[k].at[r], &in.at[r], &from, 1);
    }
    cg_block(c, block);
    if (c->failed)
        return;
    IrOp yield = ir_last(c->m, block);
    feed(c, &results, yield, 0);
    LLVMBuildCondBr(c->b, another(c, &l, i), next, exit);
    LLVMPositionBuilderAtEnd(c->b, next);
    V following = LLVMBuildNSWAdd(c->b, i, l.step, "");
    LLVMAddIncoming(i, &following, &next, 1);
    feed(c, &carried, yield, 0);
    LLVMBuildBr(c->b, body);
    LLVMMoveBasicBlockAfter(next, LLVMGetLastBasicBlock(c->fn));
    LLVMMoveBasicBlockAfter(exit, LLVMGetLastBasicBlock(c->fn));
    LLVMPositionBuilderAtEnd(c->b, exit);
    set_results(c, op, &results);
}

/* --- while --- */

/* Values that a condition passes on, without the condition itself. */
static CgRegs *passed_on(Cg *c, IrOp condition) {
    uint32_t n = ir_operand_count(c->m, condition) - 1;
    CgRegs *out = arena_array(c->arena, CgRegs, n + 1);

    for (uint32_t i = 0; i < n; i++)
        out[i] = cg_operand(c, condition, i + 1);
    return out;
}

void cg_while(Cg *c, IrOp op) {
    IrBlock test = ir_region_block(c->m, op, 0), block = ir_region_block(c->m, op, 1);
    LLVMBasicBlockRef head = cg_new_block(c, "while"), body = cg_new_block(c, "do");
    LLVMBasicBlockRef exit = cg_new_block(c, "end"), from = LLVMGetInsertBlock(c->b);

    LLVMBuildBr(c->b, head);
    LLVMPositionBuilderAtEnd(c->b, head);
    Phis carried = arg_phis(c, test, 0);
    for (uint32_t k = 0; k < carried.len; k++) {
        CgRegs in = cg_operand(c, op, k);

        for (uint32_t r = 0; r < in.len; r++)
            LLVMAddIncoming(carried.values[k].at[r], &in.at[r], &from, 1);
    }
    cg_block(c, test);
    if (c->failed)
        return;
    IrOp condition = ir_last(c->m, test);
    CgRegs *values = passed_on(c, condition);
    for (uint32_t i = 0; i < ir_arg_count(c->m, block); i++)
        cg_set(c, ir_arg(c->m, block, i), values[i]);
    for (uint32_t i = 0; i < ir_result_count(c->m, op); i++)
        cg_set(c, ir_result(c->m, op, i), values[i]);
    LLVMBuildCondBr(c->b, cg_operand(c, condition, 0).at[0], body, exit);
    LLVMPositionBuilderAtEnd(c->b, body);
    cg_block(c, block);
    if (c->failed)
        return;
    feed(c, &carried, ir_last(c->m, block), 0);
    LLVMBuildBr(c->b, head);
    LLVMMoveBasicBlockAfter(exit, LLVMGetLastBasicBlock(c->fn));
    LLVMPositionBuilderAtEnd(c->b, exit);
}
