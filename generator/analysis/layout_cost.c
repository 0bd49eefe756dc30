/* What layouts cost: conversions and memory accesses. Rough figures; only their order matters. */
#include "analysis/layout_rule.h"

enum {
    COST_BARRIER = 60,    /* write, barrier, read: latency that nothing hides */
    COST_SHARED_REG = 4,  /* one register through shared memory */
    COST_SHUFFLE_REG = 3, /* one register by one shuffle */
    COST_ACCESS = 4,      /* one load or store instruction */
    LANES = 32,
    SECTOR = 32 /* bytes */
};

uint32_t layout_convert_cost(const Layout *from, const Layout *to) {
    switch (layout_move(from, to)) {
    case LAYOUT_MOVE_NONE:
    case LAYOUT_MOVE_REGISTERS:
        return 0;
    case LAYOUT_MOVE_SHUFFLE:
        return COST_SHUFFLE_REG * LAYOUT_SHUFFLE_SOURCES * layout_registers(to);
    case LAYOUT_MOVE_SHARED:
        return COST_BARRIER + COST_SHARED_REG * (layout_registers(from) + layout_registers(to));
    }
    return 0;
}

/* Registers 0 .. n-1 are n consecutive elements along `dim` that start at a multiple of n in every
 * thread: no other basis touches the low bits. */
static uint32_t aligned_run(const Layout *l, unsigned dim) {
    uint32_t run = layout_contiguous(l, dim);
    unsigned bits = 0;
    for (unsigned in = 0; in < LAYOUT_IN_COUNT; in++)
        bits += l->bits[in];
    while (run > 1) {
        uint32_t low = 0;
        for (unsigned i = 0; i < bits; i++)
            if (i >= l->bits[LAYOUT_REG] || 1u << i >= run)
                low |= l->basis[i][dim] & (run - 1);
        if (!low)
            break;
        run /= 2;
    }
    return run;
}

/* The dimension along which addresses run. */
static unsigned run_dim(const AxisInfo *p) {
    unsigned best = p->rank - 1u;
    for (unsigned d = p->rank; d-- > 0;)
        if (p->contiguity[d] > p->contiguity[best])
            best = d;
    return best;
}

uint32_t layout_vector(const Axis *x, const IrModule *m, IrOp access, const Layout *l,
                       uint32_t max_bytes) {
    unsigned dim = run_dim(axis_info(x, ir_operand(m, access, 0)));
    uint32_t proven = axis_vector(x, m, access, dim, max_bytes), run = aligned_run(l, dim);
    return proven < run ? proven : run;
}

typedef struct Place {
    int64_t part[LAYOUT_MAX_RANK]; /* equal places share a sector */
} Place;

static Place place_of(const Layout *l, const AxisInfo *p, uint32_t lane, int64_t bytes) {
    uint32_t coord[LAYOUT_MAX_RANK];
    Place at = {{0}};
    layout_apply(l, 0, lane, 0, 0, coord);
    for (unsigned d = 0; d < l->rank; d++) {
        int64_t run = p->contiguity[d] * bytes, c = coord[d];
        int64_t step = run > SECTOR ? SECTOR / bytes : p->contiguity[d];
        step = step < p->constancy[d] ? p->constancy[d] : step;
        at.part[d] = c / (step < 1 ? 1 : step);
    }
    return at;
}

static bool same_place(const Place *a, const Place *b) {
    for (unsigned d = 0; d < LAYOUT_MAX_RANK; d++)
        if (a->part[d] != b->part[d])
            return false;
    return true;
}

/* Sectors that one access of a warp touches, each lane taking `bytes` at once. */
static uint32_t sectors(const Layout *l, const AxisInfo *p, int64_t elem, int64_t bytes) {
    Place seen[LANES];
    uint32_t count = 0, wide = bytes > SECTOR ? (uint32_t)(bytes / SECTOR) : 1;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        Place at = place_of(l, p, lane, elem);
        uint32_t i = 0;
        while (i < count && !same_place(&seen[i], &at))
            i++;
        if (i == count)
            seen[count++] = at;
    }
    return count * wide;
}

uint32_t layout_access_cost(const Axis *x, const IrModule *m, IrOp access, const Layout *l,
                            uint32_t max_bytes) {
    IrValue ptr = ir_operand(m, access, 0);
    const IrTypeData *pointer = ir_type(m, ir_elem_type(m, ir_value_type(m, ptr)));
    int64_t elem = (int64_t)ir_elem_bytes(m, pointer->of);
    uint32_t vector = layout_vector(x, m, access, l, max_bytes);
    uint32_t touched = sectors(l, axis_info(x, ptr), elem, elem * vector);
    if (pointer->space != IR_SPACE_GLOBAL)
        touched /= 4;
    return (layout_registers(l) + vector - 1) / vector * (COST_ACCESS + touched);
}
