/* generator/ir/layout: every answer is compared with a model that enumerates elements. Small
 * layouts are enumerated exhaustively: every assignment of bases to a few register, lane and warp
 * bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/layout.h"

#include <string.h>

enum { MAX_SMALL = 4096 };

typedef struct Small {
    Layout *l;
    uint32_t count;
} Small;

static int setup(void **state) {
    *state = arena_new(NULL, NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    arena_free(*state);
    return 0;
}

static uint32_t input_size(const Layout *l, LayoutIn in) {
    return 1u << l->bits[in];
}

static int64_t elements(const Layout *l) {
    int64_t n = 1;
    for (unsigned d = 0; d < l->rank; d++)
        n *= layout_extent(l, d);
    return n;
}

/* Row-major number of the element at an input, computed without the library. */
static int64_t model(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp) {
    uint32_t in[3] = {reg & (input_size(l, LAYOUT_REG) - 1), lane, warp};
    uint32_t repeat = reg >> l->bits[LAYOUT_REG], coord[LAYOUT_MAX_RANK] = {0};
    unsigned bit = 0;
    for (unsigned k = 0; k < 3; k++)
        for (unsigned i = 0; i < l->bits[k]; i++, bit++)
            for (unsigned d = 0; d < l->rank; d++)
                if (in[k] & 1u << i)
                    coord[d] ^= l->basis[bit][d];
    for (unsigned d = l->rank; d-- > 0; repeat /= l->repeat[d])
        coord[d] += repeat % l->repeat[d] * (1u << l->block_log2[d]);
    int64_t flat = 0;
    for (unsigned d = 0; d < l->rank; d++)
        flat = flat * layout_extent(l, d) + coord[d];
    return flat;
}

static int64_t applied(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp) {
    uint32_t coord[LAYOUT_MAX_RANK];
    layout_apply(l, reg, lane, warp, 0, coord);
    int64_t flat = 0;
    for (unsigned d = 0; d < l->rank; d++)
        flat = flat * layout_extent(l, d) + coord[d];
    return flat;
}

#define FOR_INPUTS(l, reg, lane, warp)                                                             \
    for (uint32_t warp = 0; warp < input_size(l, LAYOUT_WARP); warp++)                             \
        for (uint32_t lane = 0; lane < input_size(l, LAYOUT_LANE); lane++)                         \
            for (uint32_t reg = 0; reg < layout_registers(l); reg++)

/* All layouts with the given split of one or two dimensions and number of bits. */
static Small enumerate(Arena *a, Layout shape, bool valid_only) {
    Small s = {arena_array(a, Layout, MAX_SMALL), 0};
    unsigned bits = (unsigned)shape.bits[0] + shape.bits[1] + shape.bits[2], block = 0;
    for (unsigned d = 0; d < shape.rank; d++)
        block += shape.block_log2[d];
    for (uint32_t code = 0; code < 1u << (bits * block); code++) {
        Layout l = shape;
        for (unsigned i = 0; i < bits; i++) {
            uint32_t v = code >> (i * block) & ((1u << block) - 1);
            for (unsigned d = shape.rank; d-- > 0; v >>= shape.block_log2[d])
                l.basis[i][d] = (uint16_t)(v & ((1u << shape.block_log2[d]) - 1));
        }
        assert_true(s.count < MAX_SMALL);
        if (!valid_only || layout_valid(&l, NULL))
            s.l[s.count++] = l;
    }
    return s;
}

static const Layout shapes[] = {
    {.rank = 1, .block_log2 = {2}, .repeat = {1}, .bits = {1, 1, 1}},
    {.rank = 1, .block_log2 = {2}, .repeat = {3}, .bits = {2, 1, 0}},
    {.rank = 1, .block_log2 = {2}, .repeat = {1}, .bits = {0, 2, 1}},
    {.rank = 1, .block_log2 = {2}, .repeat = {1}, .bits = {2, 2, 1}},
    {.rank = 2, .block_log2 = {1, 1}, .repeat = {3, 1}, .bits = {1, 1, 1}},
    {.rank = 2, .block_log2 = {1, 1}, .repeat = {3, 5}, .bits = {1, 2, 0}},
    {.rank = 2, .block_log2 = {2, 0}, .repeat = {1, 3}, .bits = {1, 1, 1}},
    {.rank = 2, .block_log2 = {1, 2}, .repeat = {1, 1}, .bits = {1, 1, 1}},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void check_coverage(const Layout *l) {
    uint32_t count[256] = {0};
    FOR_INPUTS(l, reg, lane, warp) {
        assert_int_equal(applied(l, reg, lane, warp), model(l, reg, lane, warp));
        count[model(l, reg, lane, warp)]++;
    }
    bool all = true;
    for (int64_t e = 0; e < elements(l); e++)
        all = all && count[e];
    assert_int_equal(layout_valid(l, NULL), all);
}

static void check_owners(const Layout *l) {
    uint32_t count[256] = {0};
    uint32_t reg_copies = layout_reg_copies(l), lane_copies = layout_lane_copies(l);
    FOR_INPUTS(l, reg, lane, warp)
    if (!(reg & reg_copies) && !(lane & lane_copies) && !(warp & layout_warp_copies(l)))
        count[model(l, reg, lane, warp)]++;
    for (int64_t e = 0; e < elements(l); e++)
        assert_int_equal(count[e], 1);
}

static void check_contiguous(const Layout *l) {
    for (unsigned d = 0; d < l->rank; d++) {
        uint32_t run = layout_contiguous(l, d), coord[LAYOUT_MAX_RANK], next[LAYOUT_MAX_RANK];
        bool longer = run * 2 <= input_size(l, LAYOUT_REG);
        for (uint32_t i = 0; i < run * 2 && i < input_size(l, LAYOUT_REG); i++) {
            layout_apply(l, i, 0, 0, 0, coord);
            memset(next, 0, sizeof next);
            next[d] = i;
            bool same = memcmp(coord, next, l->rank * sizeof *coord) == 0;
            assert_true(same || i >= run);
            longer = longer && same;
        }
        assert_false(longer);
    }
}

static void check_find(const Layout *l) {
    FOR_INPUTS(l, reg, lane, warp) {
        uint32_t coord[LAYOUT_MAX_RANK], found;
        layout_apply(l, reg, lane, warp, 0, coord);
        assert_true(layout_find_register(l, lane, warp, coord, &found));
        assert_int_equal(model(l, found, lane, warp), model(l, reg, lane, warp));
        assert_false(found & layout_reg_copies(l));
    }
}

static void test_small_layouts(void **state) {
    for (unsigned i = 0; i < SHAPES; i++) {
        Small s = enumerate(*state, shapes[i], false);
        for (uint32_t k = 0; k < s.count; k++) {
            const Layout *l = &s.l[k];
            check_coverage(l);
            check_contiguous(l);
            if (layout_valid(l, NULL)) {
                check_owners(l);
                check_find(l);
            }
        }
    }
}

/* --- conversion --- */

static bool uniform_register(const Layout *from, const Layout *to, uint32_t reg) {
    for (uint32_t source = 0; source < layout_registers(from); source++) {
        bool all = true;
        for (uint32_t warp = 0; warp < input_size(to, LAYOUT_WARP); warp++)
            for (uint32_t lane = 0; lane < input_size(to, LAYOUT_LANE); lane++)
                all = all && model(from, source, lane, warp) == model(to, reg, lane, warp);
        if (all)
            return true;
    }
    return false;
}

/* Lowest distance at which an element is found: 0 same thread, 1 same warp, 2 elsewhere. */
static int distance(const Layout *from, int64_t element, uint32_t lane, uint32_t warp) {
    int best = 2;
    FOR_INPUTS(from, r, l, w)
    if (model(from, r, l, w) == element) {
        int here = w != warp ? 2 : l != lane ? 1 : 0;
        best = here < best ? here : best;
    }
    return best;
}

static void check_sources(const Layout *from, const Layout *to) {
    FOR_INPUTS(to, reg, lane, warp) {
        uint32_t r, l, w;
        layout_source(from, to, reg, lane, warp, &r, &l, &w);
        int64_t element = model(to, reg, lane, warp);
        assert_int_equal(model(from, r, l, w), element);
        int got = w != warp ? 2 : l != lane ? 1 : 0;
        assert_int_equal(got, distance(from, element, lane, warp));
    }
}

static LayoutMove expected_move(const Layout *from, const Layout *to) {
    bool equal = layout_registers(from) == layout_registers(to), registers = true, warp_only = true;
    FOR_INPUTS(to, reg, lane, warp) {
        int64_t element = model(to, reg, lane, warp);
        equal = equal && model(from, reg, lane, warp) == element;
        warp_only = warp_only && distance(from, element, lane, warp) < 2;
    }
    if (equal)
        return LAYOUT_MOVE_NONE;
    for (uint32_t reg = 0; registers && reg < layout_registers(to); reg++)
        registers = uniform_register(from, to, reg);
    /* with two register bits no result register needs more than LAYOUT_SHUFFLE_SOURCES */
    return registers ? LAYOUT_MOVE_REGISTERS : warp_only ? LAYOUT_MOVE_SHUFFLE : LAYOUT_MOVE_SHARED;
}

static void test_small_conversions(void **state) {
    static const uint32_t step[SHAPES] = {1, 3, 1, 29, 1, 7, 1, 7};
    int seen[4] = {0};
    for (unsigned i = 0; i < SHAPES; i++) {
        Small s = enumerate(*state, shapes[i], true);
        for (uint32_t x = 0; x < s.count; x += step[i])
            for (uint32_t y = 0; y < s.count; y += step[i]) {
                LayoutMove move = layout_move(&s.l[x], &s.l[y]);
                assert_int_equal(move, expected_move(&s.l[x], &s.l[y]));
                seen[move]++;
                check_sources(&s.l[x], &s.l[y]);
            }
    }
    for (int i = 0; i < 4; i++)
        assert_true(seen[i] > 0);
}

/* The map of sources is linear, and a transpose of 8 registers is left to shared memory. */
static void test_sources_linear(void **state) {
    (void)state;
    const int64_t extent[1] = {768};
    const uint8_t order[1] = {0};
    for (uint32_t v = 1; v <= 8; v *= 2) {
        Layout from = layout_blocked(1, extent, &v, order, 32, 1);
        Layout to = layout_blocked(1, extent, &(uint32_t){1}, order, 32, 1);
        LayoutMove expected = v == 1   ? LAYOUT_MOVE_NONE
                              : v <= 4 ? LAYOUT_MOVE_SHUFFLE
                                       : LAYOUT_MOVE_SHARED;
        assert_int_equal(layout_move(&from, &to), expected);
        FOR_INPUTS(&to, reg, lane, warp) {
            uint32_t got[3], sum[3] = {0}, part[3];
            layout_source(&from, &to, reg, lane, warp, &got[0], &got[1], &got[2]);
            for (unsigned bit = 0; bit < 8; bit++) {
                layout_source(&from, &to, reg & 1u << bit, 0, 0, &part[0], &part[1], &part[2]);
                if (bit < to.bits[LAYOUT_REG])
                    for (int k = 0; k < 3; k++)
                        sum[k] ^= part[k];
                layout_source(&from, &to, 0, lane & 1u << bit, 0, &part[0], &part[1], &part[2]);
                for (int k = 0; k < 3; k++)
                    sum[k] ^= part[k];
            }
            sum[0] += reg >> to.bits[LAYOUT_REG] << from.bits[LAYOUT_REG];
            assert_memory_equal(got, sum, sizeof got);
        }
    }
}

/* --- derived layouts --- */

/* Every element that a thread of `l` holds is, projected, in the same thread of `projected`, and
 * the other way round. `drop` is removed from the coordinate (slice) or set to 0 (unbroadcast). */
static void check_projection(const Layout *l, const Layout *projected, unsigned drop, bool slice) {
    assert_true(layout_valid(projected, NULL));
    assert_int_equal(layout_reg_copies(projected), 0);
    FOR_INPUTS(l, reg, lane, warp) {
        uint32_t coord[LAYOUT_MAX_RANK], wanted[LAYOUT_MAX_RANK] = {0}, found;
        layout_apply(l, reg, lane, warp, 0, coord);
        for (unsigned d = 0, to = 0; d < l->rank; d++)
            if (!slice)
                wanted[d] = d == drop ? 0 : coord[d];
            else if (d != drop)
                wanted[to++] = coord[d];
        assert_true(layout_find_register(projected, lane, warp, wanted, &found));
    }
    assert_true(layout_registers(projected) <= layout_registers(l));
}

static void test_slice_and_unbroadcast(void **state) {
    for (unsigned i = 4; i < SHAPES; i++) {
        Small s = enumerate(*state, shapes[i], true);
        for (uint32_t k = 0; k < s.count; k++)
            for (unsigned dim = 0; dim < 2; dim++) {
                Layout slice = layout_slice(&s.l[k], dim);
                check_projection(&s.l[k], &slice, dim, true);
                Layout one = layout_unbroadcast(&s.l[k], dim);
                check_projection(&s.l[k], &one, dim, false);
                Layout expanded = layout_expand(&slice, dim);
                assert_true(layout_equal(&expanded, &one));
            }
    }
}

static void test_permute(void **state) {
    const uint8_t swap[2] = {1, 0};
    for (unsigned i = 4; i < SHAPES; i++) {
        Small s = enumerate(*state, shapes[i], true);
        for (uint32_t k = 0; k < s.count; k++) {
            Layout p = layout_permute(&s.l[k], swap), back = layout_permute(&p, swap);
            assert_true(layout_valid(&p, NULL));
            assert_true(layout_equal(&back, &s.l[k]));
            FOR_INPUTS(&p, reg, lane, warp) {
                uint32_t coord[LAYOUT_MAX_RANK], from[LAYOUT_MAX_RANK] = {0}, found;
                layout_apply(&p, reg, lane, warp, 0, coord);
                from[0] = coord[1];
                from[1] = coord[0];
                assert_true(layout_find_register(&s.l[k], lane, warp, from, &found));
                if (p.repeat[0] == 1 || p.repeat[1] == 1)
                    assert_int_equal(model(&s.l[k], found, lane, warp),
                                     model(&s.l[k], reg, lane, warp));
            }
        }
    }
}

/* A reshape exists exactly when row-major numbers, seen in the new shape, are repeat + XOR of the
 * images of the bits. */
static bool reshape_is_linear(const Layout *l, const Layout *shape) {
    int64_t strides[LAYOUT_MAX_RANK];
    strides[shape->rank - 1] = 1;
    for (unsigned d = shape->rank - 1u; d > 0; d--)
        strides[d - 1] = strides[d] * layout_extent(shape, d);
    bool ok = true;
    FOR_INPUTS(l, reg, lane, warp) {
        uint32_t sum[LAYOUT_MAX_RANK] = {0},
                 in[3] = {reg & (input_size(l, LAYOUT_REG) - 1), lane, warp};
        for (unsigned k = 0; k < 3; k++)
            for (unsigned i = 0; i < l->bits[k]; i++) {
                uint32_t bit = in[k] & 1u << i;
                int64_t flat = model(l, k == 0 ? bit : 0, k == 1 ? bit : 0, k == 2 ? bit : 0);
                for (unsigned d = 0; d < shape->rank; d++) {
                    uint32_t part = (uint32_t)(flat / strides[d] % layout_extent(shape, d));
                    ok = ok && !(part >> shape->block_log2[d]);
                    sum[d] ^= part;
                }
            }
        uint32_t repeat = reg >> l->bits[LAYOUT_REG];
        int64_t flat = 0;
        for (unsigned d = shape->rank; d-- > 0; repeat /= shape->repeat[d])
            flat += strides[d] * (sum[d] + (repeat % shape->repeat[d] << shape->block_log2[d]));
        ok = ok && !repeat && flat == model(l, reg, lane, warp);
    }
    return ok;
}

static void test_reshape(void **state) {
    static const int64_t extents[][3] = {{4, 3, 1}, {3, 4, 1}, {12, 1, 1}, {2, 6, 1},  {6, 2, 1},
                                         {2, 2, 3}, {2, 3, 2}, {3, 2, 2},  {60, 1, 1}, {10, 6, 1},
                                         {8, 1, 1}, {4, 2, 1}, {2, 2, 2},  {1, 8, 1}};
    int done = 0, refused = 0;
    for (unsigned i = 0; i < SHAPES; i++) {
        Small s = enumerate(*state, shapes[i], true);
        for (unsigned e = 0; e < sizeof extents / sizeof *extents; e++) {
            Layout shape = {.rank = 3}, out;
            for (unsigned d = 0; d < 3; d++)
                layout_split_extent(extents[e][d], &shape.block_log2[d], &shape.repeat[d]);
            if (elements(&shapes[i]) != elements(&shape))
                continue;
            for (uint32_t k = 0; k < s.count; k++) {
                bool ok = layout_reshape(&s.l[k], 3, extents[e], &out);
                assert_int_equal(ok, reshape_is_linear(&s.l[k], &shape));
                done += ok;
                refused += !ok;
                if (!ok)
                    continue;
                assert_true(layout_valid(&out, NULL));
                FOR_INPUTS(&out, reg, lane, warp)
                assert_int_equal(model(&out, reg, lane, warp), model(&s.l[k], reg, lane, warp));
            }
        }
    }
    assert_true(done > 0 && refused > 0);
}

/* --- makers --- */

static void test_split(void **state) {
    (void)state;
    static const int64_t cases[][3] = {{1, 0, 1},    {192, 6, 3},   {160, 5, 5},       {576, 6, 9},
                                       {24, 3, 3},   {1024, 10, 1}, {1 << 20, 16, 16}, {7, 0, 7},
                                       {240, 4, 15}, {65536, 16, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t log2;
        uint16_t repeat;
        layout_split_extent(cases[i][0], &log2, &repeat);
        assert_int_equal(log2, cases[i][1]);
        assert_int_equal(repeat, cases[i][2]);
    }
}

static void test_blocked(void **state) {
    (void)state;
    static const int64_t extents[][2] = {{1, 1},   {1, 24},    {192, 64}, {64, 576},
                                         {16, 16}, {160, 240}, {2, 1024}, {128, 3}};
    static const uint8_t orders[2][2] = {{1, 0}, {0, 1}};
    for (unsigned e = 0; e < sizeof extents / sizeof *extents; e++)
        for (unsigned o = 0; o < 2; o++)
            for (uint32_t v = 1; v <= 8; v *= 2)
                for (uint32_t warps = 1; warps <= 8; warps *= 2) {
                    uint32_t per_thread[2] = {1, 1};
                    per_thread[orders[o][0]] = v;
                    Layout l = layout_blocked(2, extents[e], per_thread, orders[o], 32, warps);
                    const char *why = "";
                    if (!layout_valid(&l, &why))
                        fail_msg("%s", why);
                    assert_int_equal(layout_extent(&l, 0), extents[e][0]);
                    assert_int_equal(layout_extent(&l, 1), extents[e][1]);
                    assert_int_equal(l.bits[LAYOUT_LANE], 5);
                    assert_int_equal(1 << l.bits[LAYOUT_WARP], warps);
                    uint32_t block = 1u << l.block_log2[orders[o][0]];
                    assert_true(layout_contiguous(&l, orders[o][0]) >= (v < block ? v : block));
                    assert_int_equal(layout_reg_copies(&l), 0);
                }
}

/* The fastest dimension goes to registers, lanes, warps, further registers, in that order. */
static void test_blocked_1d(void **state) {
    (void)state;
    Layout l = layout_blocked(1, (const int64_t[]){2048}, (const uint32_t[]){4},
                              (const uint8_t[]){0}, 32, 4);
    for (uint32_t warp = 0; warp < 4; warp++)
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t reg = 0; reg < 16; reg++)
                assert_int_equal(applied(&l, reg, lane, warp),
                                 reg % 4 + 4 * lane + 128 * warp + 512 * (reg / 4));
    Layout small = layout_blocked(1, (const int64_t[]){192}, (const uint32_t[]){1},
                                  (const uint8_t[]){0}, 32, 4);
    assert_int_equal(layout_registers(&small), 3);
    assert_int_equal(layout_warp_copies(&small), 2);
    assert_int_equal(layout_lane_copies(&small), 0);
}

static void test_row_major(void **state) {
    (void)state;
    Layout l = layout_row_major(2, (const int64_t[]){192, 64});
    assert_true(layout_valid(&l, NULL));
    for (uint32_t offset = 0; offset < 192 * 64; offset++)
        assert_int_equal(applied(&l, offset, 0, 0), offset);
}

static void test_separable(void **state) {
    (void)state;
    Layout l = layout_blocked(2, (const int64_t[]){16, 96}, (const uint32_t[]){1, 2},
                              (const uint8_t[]){1, 0}, 32, 4);
    assert_true(layout_separable(&l, 0) && layout_separable(&l, 1));
    assert_int_equal(layout_axis_bits(&l, LAYOUT_LANE, 1), 0x0f);
    assert_int_equal(layout_axis_bits(&l, LAYOUT_LANE, 0), 0x10);
    assert_int_equal(layout_axis_bits(&l, LAYOUT_WARP, 0), 0x3);
    l.basis[1][1] = 1;
    assert_false(layout_separable(&l, 1));
}

static void test_table_and_text(void **state) {
    LayoutTable *t = layout_table_new(*state);
    Layout l = layout_blocked(2, (const int64_t[]){6, 4}, (const uint32_t[]){1, 2},
                              (const uint8_t[]){1, 0}, 2, 2);
    LayoutId id = layout_intern(t, &l);
    l.basis[LAYOUT_MAX_BITS - 1][3] = 7; /* beyond what counts */
    assert_int_equal(layout_intern(t, &l), id);
    Layout other = layout_slice(&l, 0);
    assert_int_not_equal(layout_intern(t, &other), id);
    assert_int_equal(layout_count(t), 2);
    assert_true(layout_equal(layout_get(t, id), &l));
    assert_null(layout_get(t, 0));
    assert_null(layout_get(t, 3));
    StrBuf b;
    strbuf_init(&b, *state);
    layout_print(&l, &b);
    assert_string_equal(b.text, "layout<block=[2, 4] repeat=[3, 1] reg=[[0, 1]] lane=[[0, 2]] "
                                "warp=[[1, 0]] cta=[]>");
    strbuf_init(&b, *state);
    Layout shared = layout_row_major(1, (const int64_t[]){12});
    layout_print(&shared, &b);
    assert_string_equal(b.text, "shared<block=[4] repeat=[3] offset=[[1], [2]]>");
}

/* The partner of every input is at the same XOR, and holds the element at the XOR of the index. */
static void check_exchange(const Layout *l, unsigned dim) {
    for (uint32_t mask = 1; mask < 1u << l->block_log2[dim]; mask++) {
        uint32_t r, t, w, from[LAYOUT_MAX_RANK], to[LAYOUT_MAX_RANK];
        layout_exchange(l, dim, mask, &r, &t, &w);
        FOR_INPUTS(l, reg, lane, warp) {
            layout_apply(l, reg, lane, warp, 0, from);
            layout_apply(l, reg ^ r, lane ^ t, warp ^ w, 0, to);
            for (unsigned d = 0; d < l->rank; d++)
                assert_int_equal(to[d], d == dim ? from[d] ^ mask : from[d]);
        }
    }
}

static void test_exchange(void **state) {
    Layout shape = {.rank = 2, .block_log2 = {1, 2}, .repeat = {3, 1}, .bits = {2, 1, 1}};
    Small s = enumerate(*state, shape, true);
    for (uint32_t i = 0; i < s.count; i++) {
        check_exchange(&s.l[i], 0);
        check_exchange(&s.l[i], 1);
    }
    const int64_t extent[] = {64, 192};
    const uint32_t per_thread[] = {1, 4};
    const uint8_t order[] = {1, 0};
    Layout l = layout_blocked(2, extent, per_thread, order, 32, 4);
    check_exchange(&l, 0);
    check_exchange(&l, 1);
    uint32_t r, t, w;
    layout_exchange(&l, 1, 2, &r, &t, &w); /* within a thread's four */
    assert_int_equal(r, 2);
    assert_int_equal(t | w, 0);
}

static void test_invalid(void **state) {
    (void)state;
    const char *why;
    Layout good = {.rank = 1, .block_log2 = {1}, .repeat = {1}, .bits = {1}, .basis = {{1}}};
    assert_true(layout_valid(&good, &why));
    Layout l = good;
    l.basis[0][0] = 0;
    assert_false(layout_valid(&l, &why));
    assert_string_equal(why, "does not reach every element of the block");
    l.basis[0][0] = 2;
    assert_false(layout_valid(&l, &why));
    assert_string_equal(why, "basis outside the block");
    l = good;
    l.repeat[0] = 2;
    assert_false(layout_valid(&l, &why));
    assert_string_equal(why, "block is not the largest power of two in the extent");
    l = good;
    l.repeat[0] = 0;
    assert_false(layout_valid(&l, &why));
    assert_string_equal(why, "extent out of range");
    l = good;
    l.rank = LAYOUT_MAX_RANK + 1;
    assert_false(layout_valid(&l, &why));
    assert_string_equal(why, "rank above the limit");
    l = good;
    l.bits[LAYOUT_LANE] = 32;
    assert_false(layout_valid(&l, &why));
    assert_string_equal(why, "too many input bits");
    l = good;
    l.kind = LAYOUT_SHARED;
    l.bits[LAYOUT_LANE] = 1;
    assert_false(layout_valid(&l, &why));
    assert_string_equal(why, "shared layout with bits besides the offset");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_small_layouts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_small_conversions, setup, teardown),
        cmocka_unit_test(test_sources_linear),
        cmocka_unit_test_setup_teardown(test_slice_and_unbroadcast, setup, teardown),
        cmocka_unit_test_setup_teardown(test_permute, setup, teardown),
        cmocka_unit_test_setup_teardown(test_reshape, setup, teardown),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_blocked_1d),
        cmocka_unit_test(test_row_major),
        cmocka_unit_test(test_separable),
        cmocka_unit_test_setup_teardown(test_table_and_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_exchange, setup, teardown),
        cmocka_unit_test(test_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
