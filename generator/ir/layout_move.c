/* Conversion between distributed layouts of one tile.
 *
 * Both layouts are linear and split extents in the same way, so the source of an element is a
 * linear function of (register, lane, warp) of the result. With T = thread part and R = register
 * part:
 *
 *   source(r, t) = t + S(R_to(r) + T_to(t) + T_from(t)),   + is XOR,
 *
 * where S solves for inputs of `from` by elimination in the order registers, lanes, warps. S uses
 * registers alone whenever they suffice, then registers and lanes: the same thread is preferred,
 * then the same warp. */
#include "ir/layout.h"

#include "ir/layout_impl.h"

#include <assert.h>

/* The vector to be solved for input bit `bit` of kind `in` of the result. */
static uint32_t difference(const Layout *from, const Layout *to, LayoutIn in, unsigned bit) {
    uint32_t v = 0;
    if (bit < to->bits[in])
        v ^= layout_pack(to, to->basis[layout_first_bit(to, in) + bit]);
    if (in != LAYOUT_REG && bit < from->bits[in])
        v ^= layout_pack(from, from->basis[layout_first_bit(from, in) + bit]);
    return v;
}

static F2Span span_of(const Layout *l, LayoutIn last) {
    F2Span span = {0};
    for (unsigned i = 0; i < layout_first_bit(l, last) + l->bits[last]; i++)
        f2_insert(&span, layout_pack(l, l->basis[i]), i);
    return span;
}

static uint32_t difference_of(const Layout *from, const Layout *to, LayoutIn in, uint32_t index) {
    uint32_t v = 0;
    for (unsigned i = 0; index >> i; i++)
        if (index >> i & 1)
            v ^= difference(from, to, in, i);
    return v;
}

static uint32_t field(const Layout *l, uint32_t inputs, LayoutIn in) {
    return inputs >> layout_first_bit(l, in) & ((1u << l->bits[in]) - 1);
}

void layout_source(const Layout *from, const Layout *to, uint32_t reg, uint32_t lane, uint32_t warp,
                   uint32_t *reg_out, uint32_t *lane_out, uint32_t *warp_out) {
    uint32_t inner = reg & ((1u << to->bits[LAYOUT_REG]) - 1), inputs;
    uint32_t repeat = reg >> to->bits[LAYOUT_REG];
    F2Span span = span_of(from, LAYOUT_WARP);
    uint32_t wanted = difference_of(from, to, LAYOUT_REG, inner) ^
                      difference_of(from, to, LAYOUT_LANE, lane) ^
                      difference_of(from, to, LAYOUT_WARP, warp);
    uint32_t rest = f2_reduce(&span, wanted, &inputs);
    assert(!rest); /* `from` is onto */
    (void)rest;
    *reg_out = repeat << from->bits[LAYOUT_REG] | field(from, inputs, LAYOUT_REG);
    *lane_out = lane ^ field(from, inputs, LAYOUT_LANE);
    *warp_out = warp ^ field(from, inputs, LAYOUT_WARP);
}

/* Some bit of `in` cannot be solved with `span`. */
static bool unsolved(const F2Span *span, const Layout *from, const Layout *to, LayoutIn in) {
    unsigned bits = from->bits[in] > to->bits[in] ? from->bits[in] : to->bits[in];
    for (unsigned i = 0; i < bits; i++)
        if (f2_reduce(span, difference(from, to, in, i), NULL))
            return true;
    return false;
}

static bool same_threads(const Layout *from, const Layout *to) {
    for (LayoutIn in = LAYOUT_LANE; in < LAYOUT_IN_COUNT; in++) {
        if (from->bits[in] != to->bits[in])
            return false;
        for (unsigned i = 0; i < to->bits[in]; i++)
            if (difference(from, to, in, i))
                return false;
    }
    return true;
}

/* How many source registers the threads need for one result register: 2^rank of the register part
 * of the source as a function of lane and warp. */
static uint32_t source_registers(const F2Span *span, const Layout *from, const Layout *to) {
    F2Span needed = {0};
    for (LayoutIn in = LAYOUT_LANE; in <= LAYOUT_WARP; in++)
        for (unsigned i = 0; i < to->bits[in]; i++) {
            uint32_t inputs;
            f2_reduce(span, difference(from, to, in, i), &inputs);
            f2_insert(&needed, field(from, inputs, LAYOUT_REG), 0);
        }
    return 1u << needed.count;
}

LayoutMove layout_move(const Layout *from, const Layout *to) {
    if (layout_equal(from, to))
        return LAYOUT_MOVE_NONE;
    F2Span registers = span_of(from, LAYOUT_REG), lanes = span_of(from, LAYOUT_LANE);
    if (same_threads(from, to) && !unsolved(&registers, from, to, LAYOUT_REG))
        return LAYOUT_MOVE_REGISTERS;
    bool in_warp =
        from->bits[LAYOUT_LANE] == to->bits[LAYOUT_LANE] &&
        !unsolved(&lanes, from, to, LAYOUT_REG) && !unsolved(&lanes, from, to, LAYOUT_LANE) &&
        !unsolved(&lanes, from, to, LAYOUT_WARP) && !unsolved(&lanes, from, to, LAYOUT_CTA);
    if (in_warp && source_registers(&lanes, from, to) <= LAYOUT_SHUFFLE_SOURCES)
        return LAYOUT_MOVE_SHUFFLE;
    return LAYOUT_MOVE_SHARED;
}

void layout_exchange(const Layout *l, unsigned dim, uint32_t mask, uint32_t *reg_out,
                     uint32_t *lane_out, uint32_t *warp_out) {
    uint16_t coord[LAYOUT_MAX_RANK] = {0};
    uint32_t inputs;
    F2Span span = span_of(l, LAYOUT_WARP);
    coord[dim] = (uint16_t)mask;
    uint32_t rest = f2_reduce(&span, layout_pack(l, coord), &inputs);
    assert(!rest); /* l is onto, within one CTA */
    (void)rest;
    *reg_out = field(l, inputs, LAYOUT_REG);
    *lane_out = field(l, inputs, LAYOUT_LANE);
    *warp_out = field(l, inputs, LAYOUT_WARP);
}
