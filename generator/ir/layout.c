/* Layouts: table, questions and text. The makers are in layout_make.c, conversions in
 * layout_move.c. */
#include "ir/layout.h"

#include "base/map.h"
#include "base/vec.h"
#include "ir/layout_impl.h"

#include <string.h>

struct LayoutTable {
    Arena *arena;
    VEC(Layout *) layouts;
    Map by_hash;             /* hash -> id of the newest layout with it */
    VEC(uint32_t) same_hash; /* by id: the next older one */
};

/* --- linear algebra --- */

static unsigned top_bit(uint32_t v) {
    unsigned bit = 0;
    while (v >>= 1)
        bit++;
    return bit;
}

uint32_t f2_reduce(const F2Span *s, uint32_t vector, uint32_t *inputs_out) {
    uint32_t inputs = 0, rest = 0;
    while (vector) {
        unsigned pivot = top_bit(vector);
        if (s->vector[pivot]) {
            vector ^= s->vector[pivot];
            inputs ^= s->inputs[pivot];
        } else {
            vector ^= 1u << pivot;
            rest |= 1u << pivot;
        }
    }
    if (inputs_out)
        *inputs_out = inputs;
    return rest;
}

bool f2_insert(F2Span *s, uint32_t vector, unsigned input) {
    uint32_t inputs = 0;
    uint32_t rest = f2_reduce(s, vector, &inputs);
    if (!rest)
        return false;
    unsigned pivot = top_bit(rest);
    s->vector[pivot] = rest;
    s->inputs[pivot] = inputs ^ (1u << input);
    s->count++;
    return true;
}

/* --- geometry --- */

unsigned layout_block_bits(const Layout *l) {
    unsigned n = 0;
    for (unsigned d = 0; d < l->rank; d++)
        n += l->block_log2[d];
    return n;
}

unsigned layout_first_bit(const Layout *l, LayoutIn in) {
    unsigned n = 0;
    for (unsigned i = 0; i < (unsigned)in; i++)
        n += l->bits[i];
    return n;
}

unsigned layout_input_bits(const Layout *l) {
    return layout_first_bit(l, LAYOUT_IN_COUNT);
}

uint32_t layout_pack(const Layout *l, const uint16_t *coord) {
    uint32_t flat = 0;
    for (unsigned d = 0; d < l->rank; d++)
        flat = flat << l->block_log2[d] | coord[d];
    return flat;
}

uint32_t layout_repeats(const Layout *l) {
    uint32_t n = 1;
    for (unsigned d = 0; d < l->rank; d++)
        n *= l->repeat[d];
    return n;
}

void layout_repeat_coord(const Layout *l, uint32_t index, uint32_t coord_out[LAYOUT_MAX_RANK]) {
    for (unsigned d = l->rank; d-- > 0;) {
        coord_out[d] = (index % l->repeat[d]) << l->block_log2[d];
        index /= l->repeat[d];
    }
    for (unsigned d = l->rank; d < LAYOUT_MAX_RANK; d++)
        coord_out[d] = 0;
}

int64_t layout_extent(const Layout *l, unsigned dim) {
    return (int64_t)l->repeat[dim] << l->block_log2[dim];
}

uint32_t layout_registers(const Layout *l) {
    return layout_repeats(l) << l->bits[LAYOUT_REG];
}

static const char *why_dimensions(const Layout *l) {
    if (l->rank > LAYOUT_MAX_RANK)
        return "rank above the limit";
    for (unsigned d = 0; d < l->rank; d++) {
        uint8_t log2;
        uint16_t repeat;
        if (l->block_log2[d] > 16 || !l->repeat[d])
            return "extent out of range";
        layout_split_extent(layout_extent(l, d), &log2, &repeat);
        if (log2 != l->block_log2[d])
            return "block is not the largest power of two in the extent";
    }
    return layout_block_bits(l) > 30 ? "block too large" : NULL;
}

static const char *why_not_valid(const Layout *l) {
    const char *why = why_dimensions(l);
    if (why)
        return why;
    unsigned bits = layout_input_bits(l);
    if (bits > LAYOUT_MAX_BITS)
        return "too many input bits";
    if (l->kind == LAYOUT_SHARED && bits != l->bits[LAYOUT_REG])
        return "shared layout with bits besides the offset";
    F2Span span = {0};
    for (unsigned i = 0; i < bits; i++) {
        for (unsigned d = 0; d < l->rank; d++)
            if (l->basis[i][d] >> l->block_log2[d])
                return "basis outside the block";
        f2_insert(&span, layout_pack(l, l->basis[i]), i);
    }
    return span.count < layout_block_bits(l) ? "does not reach every element of the block" : NULL;
}

bool layout_valid(const Layout *l, const char **why_out) {
    const char *why = why_not_valid(l);
    if (why && why_out)
        *why_out = why;
    return !why;
}

/* Copies what counts, so that bytes may be compared and hashed. */
static Layout normal(const Layout *l) {
    Layout n;
    memset(&n, 0, sizeof n);
    n.kind = l->kind;
    n.rank = l->rank;
    memcpy(n.block_log2, l->block_log2, l->rank * sizeof *l->block_log2);
    memcpy(n.repeat, l->repeat, l->rank * sizeof *l->repeat);
    memcpy(n.bits, l->bits, sizeof l->bits);
    for (unsigned i = 0; i < layout_input_bits(l); i++)
        memcpy(n.basis[i], l->basis[i], l->rank * sizeof *l->basis[i]);
    return n;
}

bool layout_equal(const Layout *a, const Layout *b) {
    Layout x = normal(a), y = normal(b);
    return memcmp(&x, &y, sizeof x) == 0;
}

/* --- table --- */

LayoutTable *layout_table_new(Arena *a) {
    LayoutTable *t = arena_new_of(a, LayoutTable);
    t->arena = a;
    map_init(&t->by_hash, a);
    return t;
}

LayoutId layout_intern(LayoutTable *t, const Layout *l) {
    Layout n = normal(l);
    uint64_t hash = hash_bytes(&n, sizeof n, 0);
    uint32_t newest = map_find(&t->by_hash, hash, 0);
    for (uint32_t id = newest; id; id = t->same_hash.data[id - 1])
        if (memcmp(t->layouts.data[id - 1], &n, sizeof n) == 0)
            return id;
    Layout *copy = arena_new_of(t->arena, Layout);
    *copy = n;
    (void)vec_push(t->arena, &t->layouts, copy);
    (void)vec_push(t->arena, &t->same_hash, newest);
    map_put(&t->by_hash, hash, t->layouts.len);
    return t->layouts.len;
}

const Layout *layout_get(const LayoutTable *t, LayoutId id) {
    return id && id <= t->layouts.len ? t->layouts.data[id - 1] : NULL;
}

uint32_t layout_count(const LayoutTable *t) {
    return t->layouts.len;
}

/* --- questions --- */

static void add_bits(const Layout *l, LayoutIn in, uint32_t index, uint32_t *coord) {
    unsigned first = layout_first_bit(l, in);
    for (unsigned i = 0; i < l->bits[in]; i++)
        if (index >> i & 1)
            for (unsigned d = 0; d < l->rank; d++)
                coord[d] ^= l->basis[first + i][d];
}

void layout_apply(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp, uint32_t cta,
                  uint32_t coord_out[LAYOUT_MAX_RANK]) {
    /* the repeat part has only bits above the block, so XOR adds to it */
    layout_repeat_coord(l, reg >> l->bits[LAYOUT_REG], coord_out);
    add_bits(l, LAYOUT_REG, reg, coord_out);
    add_bits(l, LAYOUT_LANE, lane, coord_out);
    add_bits(l, LAYOUT_WARP, warp, coord_out);
    add_bits(l, LAYOUT_CTA, cta, coord_out);
}

/* Bits of `in` that depend on the bits before them, in the order register, lane, warp, cta. */
static uint32_t copies(const Layout *l, LayoutIn in) {
    F2Span span = {0};
    unsigned first = layout_first_bit(l, in);
    uint32_t mask = 0;
    for (unsigned i = 0; i < first + l->bits[in]; i++)
        if (!f2_insert(&span, layout_pack(l, l->basis[i]), i) && i >= first)
            mask |= 1u << (i - first);
    return mask;
}

uint32_t layout_lane_copies(const Layout *l) {
    return copies(l, LAYOUT_LANE);
}

uint32_t layout_warp_copies(const Layout *l) {
    return copies(l, LAYOUT_WARP);
}

uint32_t layout_reg_copies(const Layout *l) {
    return copies(l, LAYOUT_REG);
}

uint32_t layout_contiguous(const Layout *l, unsigned dim) {
    for (unsigned i = 0; i < l->bits[LAYOUT_REG]; i++)
        for (unsigned d = 0; d < l->rank; d++)
            if (l->basis[i][d] != (d == dim ? 1u << i : 0u))
                return 1u << i;
    return 1u << l->bits[LAYOUT_REG];
}

uint32_t layout_axis_bits(const Layout *l, LayoutIn in, unsigned dim) {
    unsigned first = layout_first_bit(l, in);
    uint32_t mask = 0;
    for (unsigned i = 0; i < l->bits[in]; i++)
        mask |= (uint32_t)(l->basis[first + i][dim] != 0) << i;
    return mask;
}

bool layout_separable(const Layout *l, unsigned dim) {
    for (unsigned i = 0; i < layout_input_bits(l); i++)
        for (unsigned d = 0; d < l->rank; d++)
            if (d != dim && l->basis[i][d] && l->basis[i][dim])
                return false;
    return true;
}

bool layout_find_register(const Layout *l, uint32_t lane, uint32_t warp,
                          const uint32_t coord[LAYOUT_MAX_RANK], uint32_t *reg_out) {
    uint32_t thread[LAYOUT_MAX_RANK] = {0}, repeat = 0, inputs;
    uint16_t wanted[LAYOUT_MAX_RANK] = {0};
    F2Span span = {0};
    add_bits(l, LAYOUT_LANE, lane, thread);
    add_bits(l, LAYOUT_WARP, warp, thread);
    for (unsigned d = 0; d < l->rank; d++) {
        uint32_t mask = (1u << l->block_log2[d]) - 1;
        repeat = repeat * l->repeat[d] + (coord[d] >> l->block_log2[d]);
        wanted[d] = (uint16_t)((coord[d] & mask) ^ thread[d]);
    }
    for (unsigned i = 0; i < l->bits[LAYOUT_REG]; i++)
        f2_insert(&span, layout_pack(l, l->basis[i]), i);
    if (f2_reduce(&span, layout_pack(l, wanted), &inputs))
        return false;
    *reg_out = repeat << l->bits[LAYOUT_REG] | inputs;
    return true;
}

/* --- text --- */

static void print_dims(const char *name, const int64_t *values, unsigned rank, StrBuf *out) {
    strbuf_addf(out, "%s[", name);
    for (unsigned d = 0; d < rank; d++)
        strbuf_addf(out, "%s%lld", d ? ", " : "", (long long)values[d]);
    strbuf_addc(out, ']');
}

static void print_bases(const Layout *l, const char *name, LayoutIn in, StrBuf *out) {
    unsigned first = layout_first_bit(l, in);
    strbuf_addf(out, " %s=[", name);
    for (unsigned i = 0; i < l->bits[in]; i++) {
        int64_t coord[LAYOUT_MAX_RANK];
        for (unsigned d = 0; d < l->rank; d++)
            coord[d] = l->basis[first + i][d];
        print_dims(i ? ", " : "", coord, l->rank, out);
    }
    strbuf_addc(out, ']');
}

void layout_print(const Layout *l, StrBuf *out) {
    int64_t block[LAYOUT_MAX_RANK], repeat[LAYOUT_MAX_RANK];
    for (unsigned d = 0; d < l->rank; d++) {
        block[d] = (int64_t)1 << l->block_log2[d];
        repeat[d] = l->repeat[d];
    }
    bool shared = l->kind == LAYOUT_SHARED;
    strbuf_addz(out, shared ? "shared<" : "layout<");
    print_dims("block=", block, l->rank, out);
    print_dims(" repeat=", repeat, l->rank, out);
    print_bases(l, shared ? "offset" : "reg", LAYOUT_REG, out);
    if (!shared) {
        print_bases(l, "lane", LAYOUT_LANE, out);
        print_bases(l, "warp", LAYOUT_WARP, out);
        print_bases(l, "cta", LAYOUT_CTA, out);
    }
    strbuf_addc(out, '>');
}
