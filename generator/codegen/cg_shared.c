/* Shared-memory buffers: their addresses, and pointers to their elements. */
#include "codegen/cg_impl.h"

void cg_shared_alloc(Cg *c, IrOp op) {
    int64_t at = ir_int(c->m, op, IR_KEY_SHARED_OFFSET, -1);

    if (at < 0) {
        cg_unsupported(c, op, "no place was planned (was the shared-plan pass run?)");
        return;
    }
    cg_set_scalar(c, ir_result(c->m, op, 0), cg_shared_ptr(c, cg_i32(c, (uint32_t)at)));
}

void cg_buffer_view(Cg *c, IrOp op) {
    const IrTypeData *t = ir_type(c->m, ir_value_type(c->m, ir_result(c->m, op, 0)));
    V at = cg_i32(c, (uint32_t)ir_int(c->m, op, IR_KEY_START, 0));
    uint32_t bytes = ir_elem_bytes(c->m, t->of);

    for (unsigned d = 0; d < t->rank; d++)
        bytes *= (uint32_t)t->shape[d];
    if (ir_operand_count(c->m, op) > 1) {
        V part = LLVMBuildMul(c->b, cg_operand(c, op, 1).at[0], cg_i32(c, bytes), "");
        at = LLVMBuildAdd(c->b, at, part, "");
    }
    V p = LLVMBuildGEP2(c->b, c->i8, cg_operand(c, op, 0).at[0], &at, 1, "");
    cg_set_scalar(c, ir_result(c->m, op, 0), p);
}

/* --- offsets of elements --- */

static V row_major_offset(Cg *c, const IrTypeData *buf, const V *coord) {
    V offset = coord[0];

    for (unsigned d = 1; d < buf->rank; d++) {
        offset = LLVMBuildMul(c->b, offset, cg_i32(c, (uint32_t)buf->shape[d]), "");
        offset = LLVMBuildAdd(c->b, offset, coord[d], "");
    }
    return offset;
}

/* Which offset bits (a mask) a coordinate bit contributes: the columns of the inverse of the
 * layout's map. False when the map is not one to one. */
typedef struct Inverse {
    uint32_t image[LAYOUT_MAX_RANK][16];
} Inverse;

static uint32_t pack(const Layout *l, const uint16_t *coord) {
    uint32_t packed = 0;

    for (unsigned d = 0; d < l->rank; d++)
        packed = packed << l->block_log2[d] | coord[d];
    return packed;
}

/* Gauss-Jordan elimination: row i starts as (image of offset bit i, offset bit i). */
static bool invert(const Layout *l, Inverse *out) {
    uint32_t coord[LAYOUT_MAX_BITS], offset[LAYOUT_MAX_BITS];
    unsigned n = l->bits[LAYOUT_REG], bit = 0, total = 0;

    for (unsigned i = 0; i < n; i++) {
        coord[i] = pack(l, l->basis[i]);
        offset[i] = 1u << i;
    }
    for (unsigned d = 0; d < l->rank; d++)
        total += l->block_log2[d];
    if (total != n)
        return false;
    for (unsigned d = l->rank; d-- > 0;)
        for (unsigned k = 0; k < l->block_log2[d]; k++, bit++) {
            unsigned pivot = bit;

            while (pivot < n && !(coord[pivot] >> bit & 1))
                pivot++;
            if (pivot == n)
                return false;
            uint32_t swap_coord = coord[pivot], swap_offset = offset[pivot];
            coord[pivot] = coord[bit], offset[pivot] = offset[bit];
            coord[bit] = swap_coord, offset[bit] = swap_offset;
            for (unsigned i = 0; i < n; i++)
                if (i != bit && coord[i] >> bit & 1)
                    coord[i] ^= coord[bit], offset[i] ^= offset[bit];
        }
    bit = 0;
    for (unsigned d = l->rank; d-- > 0;)
        for (unsigned k = 0; k < l->block_log2[d]; k++)
            out->image[d][k] = offset[bit++];
    return true;
}

static V layout_offset(Cg *c, IrOp op, const Layout *l, const V *coord) {
    V inner = cg_i32(c, 0), repeat = cg_i32(c, 0);
    Inverse inverse;

    if (!invert(l, &inverse)) {
        cg_unsupported(c, op, "a shared layout that is not one to one");
        return inner;
    }
    for (unsigned d = 0; d < l->rank; d++) {
        V part = cg_linear(c, c->b, coord[d], inverse.image[d], l->block_log2[d]);
        V high = LLVMBuildLShr(c->b, coord[d], cg_i32(c, l->block_log2[d]), "");

        inner = LLVMBuildXor(c->b, inner, part, "");
        repeat = LLVMBuildMul(c->b, repeat, cg_i32(c, l->repeat[d]), "");
        if (l->repeat[d] > 1)
            repeat = LLVMBuildAdd(c->b, repeat, high, "");
    }
    V blocks = LLVMBuildShl(c->b, repeat, cg_i32(c, l->bits[LAYOUT_REG]), "");
    return LLVMBuildOr(c->b, blocks, inner, "");
}

static V element_ptr(Cg *c, IrOp op, const IrTypeData *buf, V base, const V *coord) {
    LLVMTypeRef elem = cg_type(c, buf->of);
    V offset = buf->layout ? layout_offset(c, op, layout_get(ir_layouts(c->m), buf->layout), coord)
                           : row_major_offset(c, buf, coord);

    return LLVMBuildGEP2(c->b, elem == c->i1 ? c->i8 : elem, base, &offset, 1, "");
}

/* --- local_ptr --- */

static V index_at(Cg *c, IrOp op, const IrTypeData *result, uint32_t reg, unsigned dim) {
    if (ir_operand_count(c->m, op) == 1)
        return cg_coord(c, result->layout, op, reg, dim);
    CgRegs x = cg_operand(c, op, dim + 1);
    return x.at[x.len == 1 ? 0 : reg];
}

void cg_local_ptr(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    IrType t = ir_value_type(c->m, result);
    const IrTypeData *buf = ir_type(c->m, ir_value_type(c->m, ir_operand(c->m, op, 0)));
    CgRegs out = cg_new_regs_for(c, t);
    V base = cg_operand(c, op, 0).at[0];

    for (uint32_t r = 0; r < out.len; r++) {
        V coord[LAYOUT_MAX_RANK];

        for (unsigned d = 0; d < buf->rank; d++)
            coord[d] = index_at(c, op, ir_type(c->m, t), r, d);
        out.at[r] = element_ptr(c, op, buf, base, coord);
    }
    cg_set(c, result, out);
}
