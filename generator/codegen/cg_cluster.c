/* Clusters: rank, addresses in other CTAs, barriers of the cluster and of groups of CTAs; grids
 * that overlap. */
#include "codegen/cg_impl.h"

void cg_cluster_rank(Cg *c, IrOp op) {
    V rank = cg_intrinsic(c, "llvm.nvvm.read.ptx.sreg.cluster.ctarank", NULL, 0, NULL, 0);

    cg_set_scalar(c, ir_result(c->m, op, 0), rank);
}

/* mapa keeps offsets, so one of them, of the start of shared memory, serves every address: the
 * distance from there is known when the program is compiled, or shared with the local address. */
V cg_remote(Cg *c, IrOp op, const V *x) {
    V args[2] = {c->smem, x[1]};
    V there = cg_intrinsic(c, "llvm.nvvm.mapa.shared.cluster", NULL, 0, args, 2);
    V from = LLVMBuildPtrToInt(c->b, c->smem, c->i32, "");
    V distance = LLVMBuildSub(c->b, LLVMBuildPtrToInt(c->b, x[0], c->i32, ""), from, "");

    (void)op;
    return LLVMBuildGEP2(c->b, c->i8, there, &distance, 1, "");
}

void cg_cluster_arrive(Cg *c, IrOp op) {
    bool relaxed = ir_int(c->m, op, IR_KEY_SEM, IR_SEM_RELEASE) == IR_SEM_RELAXED;

    cg_intrinsic(c,
                 relaxed ? "llvm.nvvm.barrier.cluster.arrive.relaxed.aligned"
                         : "llvm.nvvm.barrier.cluster.arrive.aligned",
                 NULL, 0, NULL, 0);
}

void cg_cluster_wait(Cg *c, IrOp op) {
    (void)op;
    cg_intrinsic(c, "llvm.nvvm.barrier.cluster.wait.aligned", NULL, 0, NULL, 0);
}

/* Until bit 31 of the word differs from the value that this CTA found. */
static void wait_for_flip(Cg *c, const char *load, const char *constraints, V ptr, V found) {
    LLVMBasicBlockRef spin = cg_new_block(c, "spin"), done = cg_new_block(c, "arrived");

    LLVMBuildBr(c->b, spin);
    LLVMPositionBuilderAtEnd(c->b, spin);
    V now = cg_asm(c, load, constraints, c->i32, &ptr, 1, true);
    V changed = LLVMBuildXor(c->b, now, found, "");
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntSLT, changed, cg_i32(c, 0), ""), done, spin);
    LLVMPositionBuilderAtEnd(c->b, done);
}

/* The increments of all members add up to 2^31, so the last one to arrive flips bit 31 and leaves
 * the others zero. One thread speaks for the CTA, between two barriers of it. */
void cg_group_barrier(Cg *c, IrOp op) {
    bool global =
        ir_type(c->m, ir_value_type(c->m, ir_operand(c->m, op, 0)))->space == IR_SPACE_GLOBAL;
    bool cluster = ir_int(c->m, op, IR_KEY_SCOPE, IR_SCOPE_GPU) == IR_SCOPE_CLUSTER;
    V args[2] = {cg_operand(c, op, 0).at[0], cg_operand(c, op, 1).at[0]};
    const char *space = global ? "global" : "shared::cluster", *scope = cluster ? "cluster" : "gpu";
    StrBuf add, load;

    strbuf_init(&add, c->arena);
    strbuf_init(&load, c->arena);
    strbuf_addf(&add, "atom.release.%s.%s.add.u32 $0, [$1], $2;", scope, space);
    strbuf_addf(&load, "ld.acquire.%s.%s.b32 $0, [$1];", scope, space);
    cg_barrier(c, op);
    LLVMBasicBlockRef join = cg_guard_begin(c, cg_owner(c, 0, op));
    V found = cg_asm(c, add.text, global ? "=r,l,r" : "=r,r,r", c->i32, args, 2, true);
    wait_for_flip(c, load.text, global ? "=r,l" : "=r,r", args[0], found);
    cg_guard_end(c, join);
    cg_barrier(c, op);
}

/* --- grids that overlap --- */

/* LLVM's intrinsics for these touch no memory as far as it knows, and it would move loads over
 * them. On targets whose grids follow one another completely there is nothing to say. */
void cg_grid_control(Cg *c, IrOp op) {
    if (c->target->sm < PASS_SM_CLUSTERS)
        return;
    cg_asm(c,
           ir_kind(c->m, op) == IR_OP_GRID_WAIT ? "griddepcontrol.wait;"
                                                : "griddepcontrol.launch_dependents;",
           "~{memory}", c->none, NULL, 0, true);
}

/* One arrival ends a phase, the one that says how many bytes are to come. The fence lets a relaxed
 * barrier of the cluster show the barrier to peers. */
void cg_mbarrier_init(Cg *c, IrOp op) {
    V ptr = cg_operand(c, op, 0).at[0];
    LLVMBasicBlockRef join = cg_guard_begin(c, cg_owner(c, 0, op));

    cg_asm(c, "mbarrier.init.shared::cta.b64 [$0], 1; fence.mbarrier_init.release.cluster;", "r",
           c->none, &ptr, 1, true);
    cg_guard_end(c, join);
}

void cg_mbarrier_expect(Cg *c, IrOp op) {
    V args[2] = {cg_operand(c, op, 0).at[0], cg_operand(c, op, 1).at[0]};
    LLVMBasicBlockRef join = cg_guard_begin(c, cg_owner(c, 0, op));

    cg_asm(c, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r", c->none, args, 2,
           true);
    cg_guard_end(c, join);
}

void cg_mbarrier_wait(Cg *c, IrOp op) {
    static const char text[] = "{ .reg .pred p; "
                               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [$1], "
                               "$2; selp.b32 $0, 1, 0, p; }";
    V args[2] = {cg_operand(c, op, 0).at[0], cg_operand(c, op, 1).at[0]};
    LLVMBasicBlockRef spin = cg_new_block(c, "spin"), done = cg_new_block(c, "complete");

    LLVMBuildBr(c->b, spin);
    LLVMPositionBuilderAtEnd(c->b, spin);
    V ended = cg_asm(c, text, "=r,r,r", c->i32, args, 2, true);
    LLVMBuildCondBr(c->b, LLVMBuildICmp(c->b, LLVMIntNE, ended, cg_i32(c, 0), ""), done, spin);
    LLVMPositionBuilderAtEnd(c->b, done);
}
