/* A tile cut along an axis: which registers of a thread lie on one line, and which lanes and warps
 * share it. */
#include "codegen/cg_impl.h"

#include "analysis/scratch.h"

/* The bits of `mask`, ordered by the coordinate they move. */
static uint8_t order_bits(const Layout *l, unsigned axis, LayoutIn in, uint32_t mask,
                          uint8_t *out) {
    unsigned first = l->bits[LAYOUT_REG] + (in == LAYOUT_WARP ? l->bits[LAYOUT_LANE] : 0u);
    uint8_t n = 0;

    for (uint8_t bit = 0; bit < l->bits[in]; bit++) {
        uint8_t at = n;

        if (!(mask >> bit & 1))
            continue;
        for (; at && l->basis[first + out[at - 1]][axis] > l->basis[first + bit][axis]; at--)
            out[at] = out[at - 1];
        out[at] = bit;
        n++;
    }
    return n;
}

static uint32_t axis_coord(const Layout *l, uint32_t reg, unsigned axis) {
    uint32_t coord[LAYOUT_MAX_RANK];

    layout_apply(l, reg, 0, 0, 0, coord);
    return coord[axis];
}

/* The line of a register: its register in the sliced layout. */
static bool line_of(const CgLines *x, const Layout *slice, uint32_t reg, uint32_t *out) {
    uint32_t coord[LAYOUT_MAX_RANK];

    *out = 0;
    if (!slice)
        return true;
    layout_apply(x->layout, reg, 0, 0, 0, coord);
    for (unsigned d = x->axis; d + 1u < x->layout->rank; d++)
        coord[d] = coord[d + 1];
    return layout_find_register(slice, 0, 0, coord, out);
}

/* Keeps the registers of a line in the order of the axis coordinate. */
static void add_register(CgLines *x, uint32_t *count, uint32_t line, uint32_t reg) {
    uint32_t *regs = x->regs[line], at = count[line]++;
    uint32_t coord = axis_coord(x->layout, reg, x->axis);

    for (; at && axis_coord(x->layout, regs[at - 1], x->axis) > coord; at--)
        regs[at] = regs[at - 1];
    regs[at] = reg;
}

static bool collect(Cg *c, CgLines *x, const Layout *slice) {
    uint32_t n = layout_registers(x->layout);
    uint32_t *count = arena_array(c->arena, uint32_t, x->len);

    x->regs = arena_array(c->arena, uint32_t *, x->len);
    for (uint32_t i = 0; i < x->len; i++)
        x->regs[i] = arena_array(c->arena, uint32_t, n);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t line;

        if (!cg_owns_reg(x->layout, r))
            continue;
        if (!line_of(x, slice, r, &line))
            return false;
        add_register(x, count, line, r);
    }
    x->regs_len = count[0];
    for (uint32_t i = 1; i < x->len; i++)
        if (count[i] != count[0])
            return false;
    return true;
}

bool cg_lines(Cg *c, IrOp op, CgLines *out) {
    const Layout *l = cg_layout(c, ir_value_type(c->m, ir_operand(c->m, op, 0)));
    unsigned axis = (unsigned)ir_int(c->m, op, IR_KEY_AXIS, 0);
    const Layout *slice = NULL;

    *out = (CgLines){.layout = l, .axis = axis, .len = 1};
    if (l->rank > 1) {
        Layout sliced = layout_slice(l, axis);

        out->slice = layout_intern(ir_layouts(c->m), &sliced);
        slice = layout_get(ir_layouts(c->m), out->slice);
        out->len = layout_registers(slice);
    }
    out->n_lane_bits =
        order_bits(l, axis, LAYOUT_LANE, scratch_axis_bits(l, LAYOUT_LANE, axis), out->lane_bits);
    out->n_warp_bits =
        order_bits(l, axis, LAYOUT_WARP, scratch_axis_bits(l, LAYOUT_WARP, axis), out->warp_bits);
    if (layout_separable(l, axis) && collect(c, out, slice))
        return true;
    cg_unsupported(c, op, "a layout whose bits mix the axis with other dimensions");
    return false;
}

V cg_lines_warp(Cg *c, IrOp op, const CgLines *l) {
    uint32_t images[LAYOUT_MAX_BITS] = {0};

    for (uint8_t i = 0; i < l->n_warp_bits; i++)
        images[CG_WARP_BITS + l->warp_bits[i]] = 1u << i;
    return cg_linear(c, c->b, cg_thread(c, op)->tid, images, 2 * CG_WARP_BITS);
}

V cg_lines_writer(Cg *c, IrOp op, const CgLines *l) {
    uint32_t lanes = CG_WARP - 1, warps = cg_warps(c, op) - 1, along = 0;

    if (l->slice) {
        const Layout *slice = layout_get(ir_layouts(c->m), l->slice);

        lanes = layout_lane_copies(slice);
        warps = layout_warp_copies(slice);
    }
    for (uint8_t i = 0; i < l->n_warp_bits; i++)
        along |= 1u << l->warp_bits[i];
    return cg_thread_zero(c, op, lanes | (warps & ~along) << CG_WARP_BITS);
}

V cg_lines_number(Cg *c, IrOp op, const CgLines *l, uint32_t i) {
    return l->slice ? cg_linear_index(c, l->slice, op, i) : cg_i32(c, 0);
}
