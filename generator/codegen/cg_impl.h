/* Shared by the files of codegen/: the state of one compilation and its helpers.
 *
 * A TIR value is an array of LLVM values, one per register of its layout (one for scalars). A
 * buffer is its address in shared memory. Helpers that emit code do so at c->b; what depends on the
 * thread alone is emitted once, in the entry block, through c->entry.
 *
 * Errors: cg_unsupported reports at the operation and sets c->failed; the walk stops there, so a
 * helper may return any value of the right type after it. */
#ifndef CODEGEN_CG_IMPL_H
#define CODEGEN_CG_IMPL_H

#include "codegen/cg.h"
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

enum { CG_WARP = 32, CG_WARP_BITS = 5, CG_MAX_WORDS = 8 };
#define CG_FULL_MASK   0xffffffffu
#define CG_ON_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)

typedef struct CgRegs {
    LLVMValueRef *at;
    uint32_t len;
} CgRegs;

typedef struct CgThread { /* one execution group */
    LLVMValueRef tid, lane, warp;
} CgThread;

typedef struct CgBase { /* the part of a layout's coordinates that depends on the thread */
    LayoutId layout;
    uint32_t group;
    LLVMValueRef coord[LAYOUT_MAX_RANK];
    uint32_t mask[LAYOUT_MAX_RANK]; /* bits that may be set */
} CgBase;

typedef struct Cg {
    IrModule *m;
    const PassTarget *target;
    const CgOptions *options;
    Arena *arena;
    Diag *diag;
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LLVMBuilderRef b, entry;
    LLVMTypeRef none, i1, i8, i16, i32, i64, f16, bf16, f32, f64;
    IrOp func;
    LLVMValueRef fn, smem;
    VEC(CgRegs) values; /* by IrValue */
    VEC(CgBase) bases;
    CgThread *threads; /* by group */
    LLVMDIBuilderRef di;
    LLVMMetadataRef subprogram;
    uint32_t scope_file;         /* file of the subprogram */
    VEC(LLVMMetadataRef) scopes; /* by source file */
    bool failed;
} Cg;

typedef LLVMValueRef V;

/* --- cg.c: values and blocks --- */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void cg_unsupported(Cg *c, IrOp op, const char *format, ...);
CgRegs cg_regs(Cg *c, IrValue v);
CgRegs cg_operand(Cg *c, IrOp op, uint32_t i);
V cg_scalar(Cg *c, IrValue v); /* register 0 */
CgRegs cg_new_regs(Cg *c, uint32_t len);
CgRegs cg_new_regs_for(Cg *c, IrType t);
void cg_set(Cg *c, IrValue v, CgRegs regs);
void cg_set_scalar(Cg *c, IrValue v, V x);
/* Emits a block's operations but its terminator. */
void cg_block(Cg *c, IrBlock b);
const Layout *cg_layout(const Cg *c, IrType t); /* NULL for scalars */
LLVMBasicBlockRef cg_new_block(Cg *c, const char *name);

bool cg_uses(const Cg *c, CgStrategy s);

/* --- cg_llvm.c: LLVM in short form --- */
void cg_init_types(Cg *c);
LLVMTypeRef cg_elem_llvm(const Cg *c, IrElem e);
LLVMTypeRef cg_type(const Cg *c, IrType t); /* of one register */
unsigned cg_bits(const Cg *c, LLVMTypeRef t);
LLVMTypeRef cg_int_type(const Cg *c, unsigned bits);
V cg_i32(const Cg *c, uint32_t x);
V cg_const(const Cg *c, LLVMTypeRef t, int64_t x);
bool cg_is_true(V x); /* the i1 constant true */
V cg_intrinsic(Cg *c, const char *name, const LLVMTypeRef *overloads, unsigned n_overloads,
               const V *args, unsigned n_args);
V cg_asm(Cg *c, const char *text, const char *constraints, LLVMTypeRef result, const V *args,
         unsigned n_args, bool effects);
/* An assembly call that reads memory and may go when its result is unused. */
V cg_asm_read(Cg *c, const char *text, const char *constraints, LLVMTypeRef result, const V *args,
              unsigned n_args);
void cg_call_attr(Cg *c, V call, const char *name, uint64_t value);
/* Reinterprets an element as an integer of its own width (i1 stays) and back. */
V cg_to_int(Cg *c, V x);
V cg_from_int(Cg *c, V x, LLVMTypeRef t);
V cg_shared_ptr(Cg *c, V byte_offset);
V cg_load_at(Cg *c, LLVMTypeRef t, V ptr, unsigned align);
void cg_store_at(Cg *c, V x, V ptr, unsigned align);
/* Bytes that one element takes in scratch: i1 takes one. */
unsigned cg_scratch_bytes(const Cg *c, LLVMTypeRef t);
V cg_load_scratch(Cg *c, LLVMTypeRef t, V ptr);
void cg_store_scratch(Cg *c, V x, V ptr);
void cg_debug_begin(Cg *c);
void cg_debug_function(Cg *c, const char *name, Span at);
void cg_debug_at(Cg *c, Span at);

/* --- cg_thread.c: threads, coordinates, warps --- */
void cg_threads_begin(Cg *c);
const CgThread *cg_thread(Cg *c, IrOp op);
uint32_t cg_warps(const Cg *c, IrOp op); /* of the group */
/* XOR over the bits of `tid` of images[bit], as an i32; n bits. */
V cg_linear(Cg *c, LLVMBuilderRef b, V tid, const uint32_t *images, unsigned n);
const CgBase *cg_base(Cg *c, LayoutId layout, IrOp op);
/* Coordinate of register `reg` of this thread along `dim`. */
V cg_coord(Cg *c, LayoutId layout, IrOp op, uint32_t reg, unsigned dim);
/* Row-major index of this thread's element `reg` in the tile. */
V cg_linear_index(Cg *c, LayoutId layout, IrOp op, uint32_t reg);
/* True in one thread of those that hold copies of a tile's elements (of a scalar when layout is 0).
 */
V cg_owner(Cg *c, LayoutId layout, IrOp op);
/* True when register `reg` is the first of the thread's copies of its element. */
bool cg_owns_reg(const Layout *l, uint32_t reg);
void cg_barrier(Cg *c, IrOp op);
V cg_shuffle(Cg *c, const char *mode, V x, V lane); /* "idx", "bfly", "up", "down" */
V cg_ballot(Cg *c, V predicate);
/* Code between the two runs where `predicate` holds; no values may leave it. */
LLVMBasicBlockRef cg_guard_begin(Cg *c, V predicate);
void cg_guard_end(Cg *c, LLVMBasicBlockRef join);
/* (thread id & mask) == 0. */
V cg_thread_zero(Cg *c, IrOp op, uint32_t mask);
/* Scratch of an operation: address of byte `offset` in it. */
V cg_scratch(Cg *c, IrOp op, V byte_offset);

/* --- groups of operations (cg.def) --- */
typedef void CgFn(Cg *c, IrOp op);
typedef V CgElem(Cg *c, IrOp op, const V *x);
#define OP(name, fn)   CgFn fn;
#define EACH(name, fn) CgElem fn;
#include "codegen/cg.def"
#undef OP
#undef EACH
/* One register's worth of an elementwise operation: also used inside combine regions. */
CgElem *cg_elementwise(IrKind kind);

/* --- cg_lines.c: a tile cut along an axis, as reductions and scans see it --- */
enum { CG_MAX_TUPLE = 8 };

typedef struct CgLines {
    const Layout *layout;
    unsigned axis;
    LayoutId slice;  /* layout of the lines; 0 when there is only one (rank 1) */
    uint32_t len;    /* lines that a thread has a part of */
    uint32_t **regs; /* of each line, in the order of the axis coordinate; no copies */
    uint32_t regs_len;
    uint8_t lane_bits[CG_WARP_BITS], n_lane_bits; /* bits along the axis, lowest coordinate first */
    uint8_t warp_bits[CG_WARP_BITS], n_warp_bits;
} CgLines;

bool cg_lines(Cg *c, IrOp op, CgLines *out);
/* The thread's warp among those along the axis, in the order of the coordinate. */
V cg_lines_warp(Cg *c, IrOp op, const CgLines *l);
/* One thread for each line and warp along the axis. */
V cg_lines_writer(Cg *c, IrOp op, const CgLines *l);
/* Row-major number of line `i` of this thread. */
V cg_lines_number(Cg *c, IrOp op, const CgLines *l, uint32_t i);

/* --- cg_combine.c: regions of reduce and scan --- */
/* out[i] = region(a[0..n-1], b[0..n-1]). */
void cg_combine(Cg *c, IrOp op, const V *a, const V *b, V *out);
/* The commuting operation that alone combines operand i, from its own two arguments; else NONE. */
IrKind cg_combine_kind(const Cg *c, IrOp op, uint32_t i);

/* --- cg_atomic.c, cg_aggregate.c --- */
typedef struct CgAtomic {
    IrOp op;
    LLVMTypeRef type;
    unsigned bits, space;
    int64_t sem, scope;
    const char *what; /* "add.u32" */
    bool used, red;   /* somebody wants the old value; a `red` will do */
} CgAtomic;

CgAtomic cg_atomic(Cg *c, IrOp op);
/* One instruction where `on` holds; gives the old value, undefined elsewhere. */
V cg_atomic_one(Cg *c, const CgAtomic *a, V ptr, const V *values, unsigned n_values, V on);
/* Brings the owners' old values to all threads that hold copies. */
void cg_atomic_spread(Cg *c, IrOp op, CgRegs old);
void cg_aggregate(Cg *c, const CgAtomic *a, CgRegs mask);

/* --- cg_target.c --- */
LLVMTargetMachineRef cg_machine(const PassTarget *target, uint32_t opt_level, char **why_out);
bool cg_optimise(Cg *c, LLVMTargetMachineRef machine);
bool cg_assembly(Cg *c, LLVMTargetMachineRef machine, CgResult *out);

#endif
