/* Scratch in shared memory of single operations; scratch.h describes the algorithms. */
#include "analysis/scratch.h"

#include "analysis/layout_rule.h"

enum { SCRATCH_ALIGN = 16, BANK_BYTES = 128 };

static const Scratch none = {0, 1, 0};

static uint32_t count_bits(uint32_t mask) {
    uint32_t n = 0;
    for (; mask; mask &= mask - 1)
        n++;
    return n;
}

uint32_t scratch_axis_bits(const Layout *l, LayoutIn in, unsigned axis) {
    uint32_t copies = in == LAYOUT_LANE ? layout_lane_copies(l) : layout_warp_copies(l);
    return layout_axis_bits(l, in, axis) & ~copies;
}

uint32_t scratch_axis_warps(const Layout *l, unsigned axis) {
    return 1u << count_bits(scratch_axis_bits(l, LAYOUT_WARP, axis));
}

uint32_t scratch_scan_blocks(const Layout *l, unsigned axis) {
    uint32_t blocks = l->repeat[axis], run = 1;
    for (unsigned i = 0; i < l->bits[LAYOUT_REG]; i++)
        if (l->basis[i][axis] == run)
            run *= 2;
        else if (l->basis[i][axis])
            blocks *= 2;
    return blocks;
}

static uint32_t elem_bytes_of(const IrModule *m, IrValue v) {
    return ir_elem_bytes(m, ir_elem_type(m, ir_value_type(m, v)));
}

static uint32_t elems_of(const IrModule *m, IrValue v) {
    return (uint32_t)ir_tile_elems(m, ir_value_type(m, v));
}

static uint32_t aligned(uint32_t bytes) {
    return (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

/* --- convert_layout, reshape --- */

/* Rows that are a multiple of all banks would put a column into one bank. */
uint32_t scratch_pitch(const Layout *l, uint32_t elem_bytes) {
    uint32_t row = (uint32_t)layout_extent(l, l->rank - 1u);
    if (l->rank < 2 || row * elem_bytes % BANK_BYTES)
        return row;
    return row + (elem_bytes < SCRATCH_ALIGN ? SCRATCH_ALIGN / elem_bytes : 1);
}

uint32_t scratch_address(const Layout *l, uint32_t elem_bytes,
                         const uint32_t coord[LAYOUT_MAX_RANK]) {
    uint32_t row = 0;
    for (unsigned d = 0; d + 1u < l->rank; d++)
        row = row * (uint32_t)layout_extent(l, d) + coord[d];
    return (row * scratch_pitch(l, elem_bytes) + coord[l->rank - 1u]) * elem_bytes;
}

static Scratch of_convert(const IrModule *m, IrOp op) {
    IrValue x = ir_operand(m, op, 0);
    const Layout *from = layout_of(m, x), *to = layout_of(m, ir_result(m, op, 0));
    if (!from || !to || layout_move(from, to) != LAYOUT_MOVE_SHARED)
        return none;
    uint32_t bytes = elem_bytes_of(m, x);
    uint32_t rows = elems_of(m, x) / (uint32_t)layout_extent(from, from->rank - 1u);
    return (Scratch){rows * scratch_pitch(from, bytes) * bytes, SCRATCH_ALIGN, 1};
}

static Scratch of_reshape(const IrModule *m, IrOp op) {
    IrValue x = ir_operand(m, op, 0);
    const Layout *from = layout_of(m, x), *to = layout_of(m, ir_result(m, op, 0));
    Layout renamed;
    if (!from || !to || (layout_result_for(m, op, from, &renamed) && layout_equal(&renamed, to)))
        return none;
    return (Scratch){elems_of(m, x) * elem_bytes_of(m, x), SCRATCH_ALIGN, 1};
}

/* --- exchange --- */

static Scratch of_exchange(const IrModule *m, IrOp op) {
    IrValue x = ir_operand(m, op, 0);
    const Layout *l = layout_of(m, x);
    uint32_t reg, lane, warp, threads = 32 * layout_warps(m, op);
    if (!l)
        return none;
    layout_exchange(l, (unsigned)ir_int(m, op, IR_KEY_AXIS, 0),
                    (uint32_t)ir_int(m, op, IR_KEY_MASK, 0), &reg, &lane, &warp);
    if (!warp)
        return none;
    return (Scratch){layout_registers(l) * threads * elem_bytes_of(m, x), SCRATCH_ALIGN, 1};
}

/* --- reduce, scan --- */

/* Partials of one operand: warps along the axis times results (times outer blocks of a scan). */
static uint32_t partials(const IrModule *m, IrOp op) {
    const Layout *l = layout_of(m, ir_operand(m, op, 0));
    unsigned axis = (unsigned)ir_int(m, op, IR_KEY_AXIS, 0);
    if (!l || scratch_axis_warps(l, axis) == 1)
        return 0;
    uint32_t lines = elems_of(m, ir_operand(m, op, 0)) / (uint32_t)layout_extent(l, axis);
    uint32_t blocks = ir_kind(m, op) == IR_OP_SCAN ? scratch_scan_blocks(l, axis) : 1;
    return lines * blocks * scratch_axis_warps(l, axis);
}

static uint32_t tile_operands(const IrModule *m, IrOp op) {
    uint32_t n = ir_operand_count(m, op);
    return ir_kind(m, op) == IR_OP_SCAN && ir_int(m, op, IR_KEY_EXCLUSIVE, 0) ? n / 2 : n;
}

uint32_t scratch_part(const IrModule *m, IrOp op, uint32_t i) {
    uint32_t at = 0, count = partials(m, op);
    for (uint32_t k = 0; k < i; k++)
        at += aligned(count * elem_bytes_of(m, ir_operand(m, op, k)));
    return at;
}

static Scratch of_partials(const IrModule *m, IrOp op) {
    uint32_t bytes = scratch_part(m, op, tile_operands(m, op));
    return bytes ? (Scratch){bytes, SCRATCH_ALIGN, 1} : none;
}

/* --- histogram, atomics --- */

static Scratch of_histogram(const IrModule *m, IrOp op) {
    IrValue bins = ir_result(m, op, 0);
    return (Scratch){elems_of(m, bins) * elem_bytes_of(m, bins), SCRATCH_ALIGN, 2};
}

static Scratch of_atomic(const IrModule *m, IrOp op) {
    IrValue old = ir_result(m, op, 0);
    if (ir_unused(m, old))
        return none;
    const Layout *l = layout_of(m, old);
    bool other_warps = l ? layout_warp_copies(l) != 0
                         : !ir_is_tile(m, ir_value_type(m, old)) && layout_warps(m, op) > 1;
    if (!other_warps)
        return none;
    return (Scratch){elems_of(m, old) * elem_bytes_of(m, old), SCRATCH_ALIGN, 1};
}

Scratch scratch_of(const IrModule *m, IrOp op) {
    switch ((int)ir_kind(m, op)) {
    case IR_OP_CONVERT_LAYOUT:
        return of_convert(m, op);
    case IR_OP_RESHAPE:
        return of_reshape(m, op);
    case IR_OP_EXCHANGE:
        return of_exchange(m, op);
    case IR_OP_REDUCE:
    case IR_OP_SCAN:
        return of_partials(m, op);
    case IR_OP_HISTOGRAM:
        return of_histogram(m, op);
    case IR_OP_ATOMIC_RMW:
    case IR_OP_ATOMIC_CAS:
        return of_atomic(m, op);
    default:
        return none;
    }
}
