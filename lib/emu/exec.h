/* Handlers of decoded instructions, by file. A handler executes the active lanes `mask` of one
 * warp; the program counter already points at the next instruction. */
#ifndef EMU_EXEC_H
#define EMU_EXEC_H

#include "cost.h"

enum { DIV_EXACT, DIV_APPROX, DIV_FULL };

typedef enum SpecialReg {
#define X(id, text, bytes) SREG_##id,
#include "special.def"
#undef X
    SREG_COUNT
} SpecialReg;

typedef enum HalfOp {
    HALF_ADD,
    HALF_SUB,
    HALF_MUL,
    HALF_FMA,
    HALF_MIN,
    HALF_MAX,
    HALF_NEG,
    HALF_ABS,
    HALF_EX2,
    HALF_TANH
} HalfOp;

/* exec_int.c, exec_float.c, exec_half.c: the rows of insns.def */
#define S(mnemonic, m1, m2, type, fn, operands, sub, flags, cls) ExecFn x_##fn;
#include "insns.def"
#undef S

/* exec_int.c */
ExecFn x_lop3, x_lop3_pred, x_mov_pred, x_dp4a, x_dp2a;
/* exec_move.c */
ExecFn x_mov_32, x_mov_64, x_mov_special, x_mov_frame, x_mov_param, x_pack, x_unpack;
ExecFn x_selp_32, x_selp_64, x_slct, x_setp, x_setp_u32, x_setp_s32, x_setp_u64, x_setp_s64;
ExecFn x_setp_f32, x_set, x_cvta_to, x_cvta_from, x_isspacep, x_mapa, x_getctarank;
/* exec_cvt.c */
ExecFn x_cvt, x_cvt_pack, x_cvt_unpack, x_cvt_int;
/* exec_mem.c */
ExecFn x_ld, x_st, x_ld_param, x_prefetch, x_createpolicy;
/* exec_atomic.c */
ExecFn x_atom;
uint64_t atomic_result(const Insn *in, uint64_t old, uint64_t b, uint64_t c);
uint64_t atomic_global_result(const Insn *in, uint64_t old, uint64_t b, uint64_t c);
/* exec_cp_async.c, exec_bulk.c, exec_mbarrier.c */
ExecFn x_cp_async, x_async_commit, x_async_wait, x_cp_async_arrive, x_bulk, x_st_async, x_mbarrier;
/* exec_warp.c */
ExecFn x_shfl, x_vote, x_match, x_redux, x_elect, x_activemask, x_bar_warp;
/* exec_sync.c */
ExecFn x_barrier, x_fence, x_proxy_fence, x_nop, x_aligned_nop, x_grid_wait, x_nanosleep;
/* exec_regs.c */
ExecFn x_setmaxnreg;
/* cluster.c */
ExecFn x_cluster_arrive, x_cluster_wait;
/* exec_mma.c */
ExecFn x_mma, x_wmma, x_wmma_load, x_wmma_store, x_ldmatrix, x_stmatrix, x_movmatrix;
/* exec_wgmma.c */
ExecFn x_wgmma, x_wgmma_fence, x_wgmma_commit, x_wgmma_wait;
/* exec_ctl.c */
ExecFn x_bra, x_brx, x_join, x_call, x_ret, x_exit, x_trap, x_end;

#endif
