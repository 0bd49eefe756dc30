/* Makers of layouts: blocked, derived from another layout (slice, expand, permute, reshape), shared
 * row-major. Every maker gives a layout that layout_valid accepts when its input is valid. */
#include "ir/layout.h"

#include "ir/layout_impl.h"

#include <string.h>

enum { MAX_BLOCK_LOG2 = 16 }; /* a basis is 16 bits wide */

void layout_split_extent(int64_t extent, uint8_t *block_log2_out, uint16_t *repeat_out) {
    uint8_t log2 = 0;
    while (log2 < MAX_BLOCK_LOG2 && extent > 0 && !(extent & 1)) {
        extent >>= 1;
        log2++;
    }
    *block_log2_out = log2;
    *repeat_out = (uint16_t)extent;
}

static Layout empty(LayoutKind kind, unsigned rank, const int64_t *extent) {
    Layout l;
    memset(&l, 0, sizeof l);
    l.kind = kind;
    l.rank = (uint8_t)rank;
    for (unsigned d = 0; d < rank; d++)
        layout_split_extent(extent[d], &l.block_log2[d], &l.repeat[d]);
    return l;
}

/* --- blocked --- */

static unsigned floor_log2(uint32_t v) {
    unsigned n = 0;
    while (v >>= 1)
        n++;
    return n;
}

/* Bits handed out so far in each dimension, and the bases made from them. */
typedef struct Dealer {
    Layout *l;
    const uint8_t *order;
    uint8_t used[LAYOUT_MAX_RANK];
} Dealer;

static bool deal(Dealer *k, unsigned dim, uint16_t *basis) {
    if (k->used[dim] >= k->l->block_log2[dim])
        return false;
    basis[dim] = (uint16_t)(1u << k->used[dim]++);
    return true;
}

/* The next bit of the fastest dimension that has one left. */
static bool deal_next(Dealer *k, uint16_t *basis) {
    for (unsigned i = 0; i < k->l->rank; i++)
        if (deal(k, k->order[i], basis))
            return true;
    return false;
}

Layout layout_blocked(unsigned rank, const int64_t *extent, const uint32_t *per_thread,
                      const uint8_t *order, uint32_t lanes, uint32_t warps) {
    Layout l = empty(LAYOUT_DISTRIBUTED, rank, extent);
    Dealer k = {.l = &l, .order = order};
    uint16_t threads[LAYOUT_MAX_BITS][LAYOUT_MAX_RANK] = {0};
    unsigned regs = 0;
    for (unsigned i = 0; i < rank; i++)
        for (unsigned n = floor_log2(per_thread[order[i]]); n > 0; n--)
            regs += deal(&k, order[i], l.basis[regs]);
    l.bits[LAYOUT_LANE] = (uint8_t)floor_log2(lanes);
    l.bits[LAYOUT_WARP] = (uint8_t)floor_log2(warps);
    unsigned thread_bits = (unsigned)l.bits[LAYOUT_LANE] + l.bits[LAYOUT_WARP];
    for (unsigned i = 0; i < thread_bits; i++)
        deal_next(&k, threads[i]);
    while (deal_next(&k, l.basis[regs]))
        regs++;
    l.bits[LAYOUT_REG] = (uint8_t)regs;
    memcpy(l.basis[regs], threads, thread_bits * sizeof *threads);
    return l;
}

/* --- derived --- */

/* Removes register bits that depend on earlier ones. */
static void drop_register_copies(Layout *l) {
    uint32_t mask = layout_reg_copies(l);
    unsigned bits = layout_input_bits(l), regs = l->bits[LAYOUT_REG], kept = 0;
    for (unsigned i = 0; i < bits; i++) {
        if (i < regs && mask >> i & 1) {
            l->bits[LAYOUT_REG]--;
            continue;
        }
        if (kept != i)
            memcpy(l->basis[kept], l->basis[i], sizeof l->basis[i]);
        kept++;
    }
    memset(l->basis[kept], 0, (bits - kept) * sizeof l->basis[0]);
}

Layout layout_unbroadcast(const Layout *l, unsigned dim) {
    Layout out = *l;
    out.block_log2[dim] = 0;
    out.repeat[dim] = 1;
    for (unsigned i = 0; i < layout_input_bits(l); i++)
        out.basis[i][dim] = 0;
    drop_register_copies(&out);
    return out;
}

/* Copies dimension `from` of `l` to dimension `to` of `out`. */
static void copy_dim(const Layout *l, unsigned from, Layout *out, unsigned to) {
    out->block_log2[to] = l->block_log2[from];
    out->repeat[to] = l->repeat[from];
    for (unsigned i = 0; i < layout_input_bits(l); i++)
        out->basis[i][to] = l->basis[i][from];
}

static Layout without_dims(const Layout *l, unsigned rank) {
    Layout out;
    memset(&out, 0, sizeof out);
    out.kind = l->kind;
    out.rank = (uint8_t)rank;
    memcpy(out.bits, l->bits, sizeof out.bits);
    return out;
}

Layout layout_slice(const Layout *l, unsigned dim) {
    Layout out = without_dims(l, l->rank - 1u);
    for (unsigned d = 0, to = 0; d < l->rank; d++)
        if (d != dim)
            copy_dim(l, d, &out, to++);
    drop_register_copies(&out);
    return out;
}

Layout layout_expand(const Layout *l, unsigned dim) {
    Layout out = without_dims(l, l->rank + 1u);
    for (unsigned d = 0; d < l->rank; d++)
        copy_dim(l, d, &out, d < dim ? d : d + 1);
    out.repeat[dim] = 1;
    return out;
}

Layout layout_permute(const Layout *l, const uint8_t *order) {
    Layout out = without_dims(l, l->rank);
    for (unsigned d = 0; d < l->rank; d++)
        copy_dim(l, order[d], &out, d);
    return out;
}

/* --- reshape --- */

static int64_t flatten(const Layout *l, const uint32_t *coord) {
    int64_t flat = 0;
    for (unsigned d = 0; d < l->rank; d++)
        flat = flat * layout_extent(l, d) + coord[d];
    return flat;
}

static void unflatten(const Layout *l, int64_t flat, uint32_t *coord_out) {
    for (unsigned d = l->rank; d-- > 0;) {
        coord_out[d] = (uint32_t)(flat % layout_extent(l, d));
        flat /= layout_extent(l, d);
    }
}

static bool same_element(const Layout *a, const Layout *b, uint32_t reg, uint32_t lane,
                         uint32_t warp, uint32_t cta) {
    uint32_t x[LAYOUT_MAX_RANK], y[LAYOUT_MAX_RANK];
    layout_apply(a, reg, lane, warp, cta, x);
    layout_apply(b, reg, lane, warp, cta, y);
    return flatten(a, x) == flatten(b, y);
}

/* Row-major numbers agree for every input. Only repeats can break linearity, so the check by
 * enumeration is needed only with them. */
static bool same_order(const Layout *a, const Layout *b) {
    for (uint32_t cta = 0; cta < 1u << a->bits[LAYOUT_CTA]; cta++)
        for (uint32_t warp = 0; warp < 1u << a->bits[LAYOUT_WARP]; warp++)
            for (uint32_t lane = 0; lane < 1u << a->bits[LAYOUT_LANE]; lane++)
                for (uint32_t reg = 0; reg < layout_registers(a); reg++)
                    if (!same_element(a, b, reg, lane, warp, cta))
                        return false;
    return true;
}

bool layout_reshape(const Layout *l, unsigned rank, const int64_t *extent, Layout *out) {
    Layout r = empty(l->kind, rank, extent);
    memcpy(r.bits, l->bits, sizeof r.bits);
    for (unsigned i = 0; i < layout_input_bits(l); i++) {
        uint32_t from[LAYOUT_MAX_RANK] = {0}, to[LAYOUT_MAX_RANK] = {0};
        for (unsigned d = 0; d < l->rank; d++)
            from[d] = l->basis[i][d];
        unflatten(&r, flatten(l, from), to);
        for (unsigned d = 0; d < rank; d++) {
            if (to[d] >> r.block_log2[d])
                return false;
            r.basis[i][d] = (uint16_t)to[d];
        }
    }
    if (layout_repeats(l) != layout_repeats(&r))
        return false;
    if (layout_repeats(l) > 1 && !same_order(l, &r))
        return false;
    *out = r;
    return true;
}

/* --- shared --- */

Layout layout_row_major(unsigned rank, const int64_t *extent) {
    Layout l = empty(LAYOUT_SHARED, rank, extent);
    unsigned bits = 0;
    for (unsigned d = rank; d-- > 0;)
        for (unsigned i = 0; i < l.block_log2[d]; i++)
            l.basis[bits++][d] = (uint16_t)(1u << i);
    l.bits[LAYOUT_REG] = (uint8_t)bits;
    return l;
}
