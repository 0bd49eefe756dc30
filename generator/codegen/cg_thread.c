/* Threads and coordinates: who holds which element, relative to the execution group.
 *
 * The coordinate of an element is (base of the thread) XOR (part of the register), plus the repeat.
 * The base is one value per layout and dimension, made once in the entry block out of the thread id
 * by masks and shifts; where thread and register bits do not overlap, XOR is emitted as an addition
 * that cannot wrap, so that it folds into address offsets. */
#include "codegen/cg_impl.h"

/* --- thread ids --- */

static V entry_intrinsic(Cg *c, const char *name) {
    LLVMBuilderRef b = c->b;

    c->b = c->entry;
    V x = cg_intrinsic(c, name, NULL, 0, NULL, 0);
    c->b = b;
    return x;
}

void cg_threads_begin(Cg *c) {
    uint32_t n = ir_group_count(c->m, c->func);
    V tid = entry_intrinsic(c, "llvm.nvvm.read.ptx.sreg.tid.x");

    c->threads = arena_array(c->arena, CgThread, n);
    for (uint32_t g = 0; g < n; g++) {
        uint32_t first = ir_group_at(c->m, c->func, g)->first_warp * CG_WARP;
        CgThread *t = &c->threads[g];

        t->tid = first ? LLVMBuildSub(c->entry, tid, cg_i32(c, first), "tid") : tid;
        t->lane = LLVMBuildAnd(c->entry, tid, cg_i32(c, CG_WARP - 1), "lane");
        t->warp = LLVMBuildLShr(c->entry, t->tid, cg_i32(c, CG_WARP_BITS), "warp");
    }
}

const CgThread *cg_thread(Cg *c, IrOp op) {
    return &c->threads[ir_group(c->m, op)];
}

uint32_t cg_warps(const Cg *c, IrOp op) {
    return ir_group_at(c->m, c->func, ir_group(c->m, op))->num_warps;
}

/* --- linear maps of the thread id --- */

/* The bits of `tid` that move by `shift` places to the left, and where they land. */
static uint32_t bits_with_shift(const uint32_t *images, unsigned n, int shift) {
    uint32_t mask = 0;

    for (unsigned i = 0; i < n; i++) {
        int to = (int)i + shift;

        if (to >= 0 && to < 32 && images[i] >> to & 1)
            mask |= 1u << i;
    }
    return mask;
}

static V shifted(Cg *c, LLVMBuilderRef b, V x, int shift) {
    if (shift > 0)
        return LLVMBuildShl(b, x, cg_i32(c, (uint32_t)shift), "");
    if (shift < 0)
        return LLVMBuildLShr(b, x, cg_i32(c, (uint32_t)-shift), "");
    return x;
}

V cg_linear(Cg *c, LLVMBuilderRef b, V tid, const uint32_t *images, unsigned n) {
    V sum = NULL;
    uint32_t used = 0;

    for (int shift = 31; shift > -32; shift--) {
        uint32_t mask = bits_with_shift(images, n, shift);

        if (!mask)
            continue;
        uint32_t lands = shift >= 0 ? mask << shift : mask >> -shift;
        V term = shifted(c, b, LLVMBuildAnd(b, tid, cg_i32(c, mask), ""), shift);
        if (sum && used & lands)
            sum = LLVMBuildXor(b, sum, term, "");
        else if (sum)
            LLVMSetIsDisjoint(sum = LLVMBuildOr(b, sum, term, ""), 1);
        else
            sum = term;
        used |= lands;
    }
    return sum ? sum : cg_i32(c, 0);
}

/* --- coordinates --- */

static void fill_base(Cg *c, CgBase *out, const Layout *l, V tid) {
    unsigned first = l->bits[LAYOUT_REG];
    unsigned n = (unsigned)l->bits[LAYOUT_LANE] + l->bits[LAYOUT_WARP];

    for (unsigned d = 0; d < l->rank; d++) {
        uint32_t images[LAYOUT_MAX_BITS] = {0};

        for (unsigned i = 0; i < n; i++) {
            images[i] = l->basis[first + i][d];
            out->mask[d] |= images[i];
        }
        out->coord[d] = cg_linear(c, c->entry, tid, images, n);
    }
}

const CgBase *cg_base(Cg *c, LayoutId layout, IrOp op) {
    CgBase base = {.layout = layout, .group = ir_group(c->m, op)};

    for (uint32_t i = 0; i < c->bases.len; i++)
        if (c->bases.data[i].layout == layout && c->bases.data[i].group == base.group)
            return &c->bases.data[i];
    fill_base(c, &base, layout_get(ir_layouts(c->m), layout), cg_thread(c, op)->tid);
    vec_push(c->arena, &c->bases, base);
    return &c->bases.data[c->bases.len - 1];
}

static V add_small(Cg *c, V x, uint32_t k) {
    if (!k)
        return x;
    V sum = LLVMBuildAdd(c->b, x, cg_i32(c, k), "");
    if (LLVMIsAInstruction(sum)) {
        LLVMSetNUW(sum, 1);
        LLVMSetNSW(sum, 1);
    }
    return sum;
}

V cg_coord(Cg *c, LayoutId layout, IrOp op, uint32_t reg, unsigned dim) {
    const Layout *l = layout_get(ir_layouts(c->m), layout);
    const CgBase *base = cg_base(c, layout, op);
    uint32_t coord[LAYOUT_MAX_RANK];

    layout_apply(l, reg, 0, 0, 0, coord);
    uint32_t in_block = coord[dim] & ((1u << l->block_log2[dim]) - 1);
    uint32_t overlap = in_block & base->mask[dim];
    V x = base->coord[dim];
    if (overlap)
        x = LLVMBuildXor(c->b, x, cg_i32(c, overlap), "");
    return add_small(c, x, coord[dim] - overlap);
}

V cg_linear_index(Cg *c, LayoutId layout, IrOp op, uint32_t reg) {
    const Layout *l = layout_get(ir_layouts(c->m), layout);
    V index = cg_coord(c, layout, op, reg, 0);

    for (unsigned d = 1; d < l->rank; d++) {
        V scale = cg_i32(c, (uint32_t)layout_extent(l, d));

        index = LLVMBuildNUWMul(c->b, index, scale, "");
        index = LLVMBuildNUWAdd(c->b, index, cg_coord(c, layout, op, reg, d), "");
    }
    return index;
}

V cg_thread_zero(Cg *c, IrOp op, uint32_t mask) {
    V tid = cg_thread(c, op)->tid;

    if (!mask)
        return LLVMConstInt(c->i1, 1, 0);
    return LLVMBuildICmp(c->b, LLVMIntEQ, LLVMBuildAnd(c->b, tid, cg_i32(c, mask), ""),
                         cg_i32(c, 0), "");
}

V cg_owner(Cg *c, LayoutId layout, IrOp op) {
    if (!layout)
        return LLVMBuildICmp(c->b, LLVMIntEQ, cg_thread(c, op)->tid, cg_i32(c, 0), "");
    const Layout *l = layout_get(ir_layouts(c->m), layout);
    return cg_thread_zero(c, op, layout_lane_copies(l) | layout_warp_copies(l) << CG_WARP_BITS);
}

bool cg_owns_reg(const Layout *l, uint32_t reg) {
    return (reg & layout_reg_copies(l)) == 0;
}

/* --- barriers and warps --- */

void cg_barrier(Cg *c, IrOp op) {
    const IrGroup *g = ir_group_at(c->m, c->func, ir_group(c->m, op));
    V args[2] = {cg_i32(c, g->first_barrier), cg_i32(c, g->num_warps * CG_WARP)};

    if (ir_group_count(c->m, c->func) == 1)
        cg_intrinsic(c, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, 0, args, 1);
    else
        cg_intrinsic(c, "llvm.nvvm.barrier.cta.sync.aligned.count", NULL, 0, args, 2);
}

static V shuffle_word(Cg *c, const char *mode, V x, V lane) {
    StrBuf name;
    bool up = mode[0] == 'u';
    V args[4] = {cg_i32(c, CG_FULL_MASK), x, lane, cg_i32(c, up ? 0 : CG_WARP - 1)};

    strbuf_init(&name, c->arena);
    strbuf_addf(&name, "llvm.nvvm.shfl.sync.%s.i32", mode);
    return cg_intrinsic(c, name.text, NULL, 0, args, 4);
}

V cg_shuffle(Cg *c, const char *mode, V x, V lane) {
    LLVMTypeRef t = LLVMTypeOf(x);
    V bits = cg_to_int(c, x);
    LLVMTypeRef word = LLVMTypeOf(bits);

    if (cg_bits(c, word) < 32) {
        bits = shuffle_word(c, mode, LLVMBuildZExt(c->b, bits, c->i32, ""), lane);
        return cg_from_int(c, LLVMBuildTrunc(c->b, bits, word, ""), t);
    }
    if (cg_bits(c, word) == 32)
        return cg_from_int(c, shuffle_word(c, mode, bits, lane), t);
    V shift = LLVMConstInt(c->i64, 32, 0);
    V low = LLVMBuildTrunc(c->b, bits, c->i32, "");
    V high = LLVMBuildTrunc(c->b, LLVMBuildLShr(c->b, bits, shift, ""), c->i32, "");
    low = LLVMBuildZExt(c->b, shuffle_word(c, mode, low, lane), c->i64, "");
    high = LLVMBuildZExt(c->b, shuffle_word(c, mode, high, lane), c->i64, "");
    return cg_from_int(c, LLVMBuildOr(c->b, LLVMBuildShl(c->b, high, shift, ""), low, ""), t);
}

V cg_ballot(Cg *c, V predicate) {
    V args[2] = {cg_i32(c, CG_FULL_MASK), predicate};

    return cg_intrinsic(c, "llvm.nvvm.vote.ballot.sync", NULL, 0, args, 2);
}

/* --- scratch --- */

V cg_scratch(Cg *c, IrOp op, V byte_offset) {
    int64_t at = ir_int(c->m, op, IR_KEY_SCRATCH_OFFSET, -1);

    if (at < 0) {
        cg_unsupported(c, op, "no scratch was planned (was the shared-plan pass run?)");
        at = 0;
    }
    V base = cg_shared_ptr(c, cg_i32(c, (uint32_t)at));
    return LLVMBuildGEP2(c->b, c->i8, base, &byte_offset, 1, "");
}

LLVMBasicBlockRef cg_guard_begin(Cg *c, V predicate) {
    if (cg_is_true(predicate))
        return NULL;
    LLVMBasicBlockRef then = cg_new_block(c, "guarded"), join = cg_new_block(c, "join");
    LLVMBuildCondBr(c->b, predicate, then, join);
    LLVMPositionBuilderAtEnd(c->b, then);
    return join;
}

void cg_guard_end(Cg *c, LLVMBasicBlockRef join) {
    if (!join)
        return;
    LLVMBuildBr(c->b, join);
    LLVMPositionBuilderAtEnd(c->b, join);
}
