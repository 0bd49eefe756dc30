/* wgmma: products of a warpgroup, executed by each warp for its own 16 rows when it issues them.
 *
 * That is one of the allowed times. What the hardware may do later is watched: from issue until a
 * wait_group covers it, an instruction keeps its accumulators (nobody may touch them) and its A
 * registers (nobody may write them), and its reads of shared memory belong to a channel of the
 * warp, so that a write which is not ordered behind the wait is a race. Registers touched since
 * the last wgmma.fence may not be used by wgmma.
 *
 * Shared operands. A descriptor gives start, two strides and a swizzle of S = 32, 64 or 128 bytes.
 * By k: rows of S bytes (16 without a swizzle), eight to a block, blocks at the second stride; the
 * halves of a row are 16 bytes apart, without a swizzle the first stride. By m or n: S bytes of one
 * k, eight k to a block; see chunk_address. The swizzle exchanges address bits 4 to 6 with an
 * exclusive or of bits 7 to 9, as many as S has 16-byte chunks. */
#include "fp.h"
#include "matrix.h"
#include "race.h"

#define CHANNEL_KEY ((uint64_t)0x77 << 56)
#define PLANE       128u
#define FIRST_PLANE 2 /* planes 0 and 1 are scratch */

typedef struct Flight {
    const Insn *in;
    uint32_t group;
} Flight;

struct Matrix {
    const Frame *frame; /* whose registers are watched */
    uint32_t words, capacity;
    uint64_t *acc, *fragment, *touched; /* a bit for each plane */
    bool fenced;
    VEC(Flight) flights;
    uint32_t group; /* the one that fills */
};

/* ---- registers in flight ------------------------------------------------------------------ */

static bool bit(const uint64_t *set, uint32_t plane_index) {
    return set[plane_index / 64] >> (plane_index % 64) & 1;
}

static void mark(uint64_t *set, uint32_t plane_index) {
    set[plane_index / 64] |= (uint64_t)1 << (plane_index % 64);
}

static void clear(Matrix *m, uint64_t *set) {
    memset(set, 0, m->words * sizeof *set);
}

static void watch_frame(Warp *w) {
    Matrix *m = w->matrix;
    const Frame *f = w->f->frame;
    uint32_t words = f->fn->frame_bytes / PLANE / 64 + 1;
    if (!m)
        m = w->matrix = arena_new_of(w->launch->arena, Matrix);
    if (w->watch && m->frame == f)
        return;
    if (words > m->capacity) {
        m->acc = arena_array(w->launch->arena, uint64_t, words);
        m->fragment = arena_array(w->launch->arena, uint64_t, words);
        m->touched = arena_array(w->launch->arena, uint64_t, words);
        m->capacity = words;
    }
    m->frame = f;
    m->words = words;
    clear(m, m->acc);
    clear(m, m->fragment);
    clear(m, m->touched);
    m->flights.len = m->group = 0;
    m->fenced = false;
    w->watch = true;
}

static void mark_flight(Matrix *m, const Insn *in) {
    for (uint32_t k = 0; k < in->ext_count; k++)
        if (!(in->ext[k] & 1))
            mark(k < in->size ? m->acc : m->fragment, (uint32_t)in->ext[k] / PLANE);
}

static const Insn *flight_of(const Matrix *m, int32_t code) {
    for (uint32_t i = m->flights.len; i-- > 0;)
        for (uint32_t k = 0; k < m->flights.data[i].in->ext_count; k++)
            if (m->flights.data[i].in->ext[k] == code)
                return m->flights.data[i].in;
    return m->flights.data[0].in;
}

static void touch(Warp *w, const Insn *in, int32_t code, bool writes) {
    Matrix *m = w->matrix;
    uint32_t at = (uint32_t)code / PLANE;
    if ((code & 1) || at < FIRST_PLANE || at >= m->words * 64)
        return;
    mark(m->touched, at);
    bool acc = bit(m->acc, at), fragment = writes && bit(m->fragment, at);
    if (acc || fragment)
        report_add(w, in, first_lane(w->f->mask), TLE_EMU_REPORT_MATRIX, 0, 0,
                   "%s of a register that is %s of the wgmma at PTX line %u, which no "
                   "wgmma.wait_group has covered",
                   writes ? "write" : "read", acc ? "an accumulator" : "an operand",
                   flight_of(m, code)->line);
}

static bool writes_ext(const Insn *in) {
    return in->cls == CLASS_LOAD || in->fn == x_unpack;
}

static bool has_register_list(const Insn *in) {
    return in->cls == CLASS_LOAD || in->cls == CLASS_STORE || in->fn == x_unpack ||
           in->fn == x_pack;
}

void matrix_watch(Warp *w, const Insn *in) {
    if (w->matrix->frame != w->f->frame || in->cls == CLASS_CONTROL || in->cls == CLASS_MATRIX ||
        in->cls == CLASS_ASYNC)
        return;
    touch(w, in, in->d, true);
    touch(w, in, in->d2, true);
    touch(w, in, in->a, false);
    touch(w, in, in->b, false);
    touch(w, in, in->c, false);
    touch(w, in, in->e, false);
    for (uint32_t k = 0; has_register_list(in) && k < in->ext_count; k++)
        touch(w, in, in->ext[k], writes_ext(in));
}

static void check_fenced(Warp *w, const Insn *in) {
    Matrix *m = w->matrix;
    uint32_t lane = first_lane(w->f->mask);
    if (!m->fenced) {
        report_add(w, in, lane, TLE_EMU_REPORT_MATRIX, 0, 0,
                   "no wgmma.fence before the first wgmma");
        m->fenced = true;
        return;
    }
    for (uint32_t k = 0; k < in->ext_count; k++) {
        if ((in->ext[k] & 1) || !bit(m->touched, (uint32_t)in->ext[k] / PLANE))
            continue;
        report_add(w, in, lane, TLE_EMU_REPORT_MATRIX, 0, 0,
                   "a register of %s has been touched since the last wgmma.fence",
                   k < in->size ? "the accumulators" : "operand A");
        return;
    }
}

/* An accumulator may go on to be one, but not be read as operand A. */
static void check_operand(Warp *w, const Insn *in) {
    for (uint32_t k = in->size; k < in->ext_count; k++)
        if (!(in->ext[k] & 1) && bit(w->matrix->acc, (uint32_t)in->ext[k] / PLANE)) {
            report_add(w, in, first_lane(w->f->mask), TLE_EMU_REPORT_MATRIX, 0, 0,
                       "operand A is an accumulator of the wgmma at PTX line %u, which no "
                       "wgmma.wait_group has covered",
                       flight_of(w->matrix, in->ext[k])->line);
            return;
        }
}

static void depart(Warp *w, const Insn *in) {
    Matrix *m = w->matrix;
    Flight f = {.in = in, .group = m->group};
    check_fenced(w, in);
    check_operand(w, in);
    mark_flight(m, in);
    vec_push(w->launch->arena, &m->flights, f);
}

static void land(Matrix *m, uint32_t pending) {
    uint32_t kept = 0;
    clear(m, m->acc);
    clear(m, m->fragment);
    for (uint32_t i = 0; i < m->flights.len; i++) {
        Flight f = m->flights.data[i];
        if (f.group + pending < m->group)
            continue;
        mark_flight(m, f.in);
        m->flights.data[kept++] = f;
    }
    m->flights.len = kept;
}

static uint32_t channel_of(Warp *w) {
    return race_channel(w->cta->cluster->race, CHANNEL_KEY | race_index(w));
}

void x_wgmma_fence(Warp *w, const Insn *in, uint32_t mask) {
    if (!matrix_together(w, in, mask) || !(w->launch->checks & TLE_EMU_CHECK_MATRIX))
        return;
    watch_frame(w);
    clear(w->matrix, w->matrix->touched);
    w->matrix->fenced = true;
}

void x_wgmma_commit(Warp *w, const Insn *in, uint32_t mask) {
    if (!matrix_together(w, in, mask))
        return;
    if (w->watch)
        w->matrix->group++;
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_channel_next(w->cta->cluster->race, channel_of(w));
}

void x_wgmma_wait(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t pending = (uint32_t)in->imm;
    if (!matrix_together(w, in, mask))
        return;
    if (w->watch)
        land(w->matrix, pending);
    if (!(w->launch->checks & TLE_EMU_CHECK_RACE))
        return;
    uint32_t channel = channel_of(w);
    uint32_t open = race_channel_epoch(w->cta->cluster->race, channel);
    if (open > pending + 1)
        race_channel_done(race_clock(w), channel, open - 1 - pending);
}

/* ---- operands in shared memory ------------------------------------------------------------ */

typedef struct Layout {
    uint32_t start, first, second; /* bytes; strides of the descriptor */
    uint32_t swizzle;              /* bytes of a swizzled row; 16 without */
    uint32_t turn;                 /* base offset: bits 7 to 9 of where the pattern starts */
} Layout;

static Layout layout_of(uint64_t descriptor) {
    static const uint8_t rows[4] = {16, 128, 64, 32};
    return (Layout){.start = (uint32_t)(descriptor & 0x3fff) << 4,
                    .first = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                    .second = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                    .turn = (uint32_t)(descriptor >> 49 & 7),
                    .swizzle = rows[descriptor >> 62]};
}

/* Address of the 16-byte chunk `c` of row `r`: by k, r counts m or n and c chunks of k; else r
 * counts k and c chunks of m or n. */
static inline uint32_t chunk_address(const Layout *l, uint32_t r, uint32_t c, bool by_k) {
    uint32_t chunks = l->swizzle / 16, at = l->start;
    if (by_k)
        at += r / 8 * l->second + r % 8 * l->swizzle + (chunks == 1 ? c * l->first : c * 16);
    else if (chunks == 1)
        at += c * l->second + r / 8 * l->first + r % 8 * 16;
    else
        at += c / chunks * l->first + c % chunks * 16 + r / 8 * l->second + r % 8 * l->swizzle;
    return at ^ (((at >> 7) - l->turn) & (chunks - 1)) << 4;
}

/* Sixteen bytes of shared memory, judged; zeros where there is no memory. */
static const uint8_t *judged_chunk(Warp *w, const Insn *in, uint32_t address, uint32_t off) {
    static const uint8_t zeros[16] = {0};
    const Launch *l = w->launch;
    if (off >= l->shared_bytes || l->shared_bytes - off < 16) {
        report_add(w, in, first_lane(w->f->mask), TLE_EMU_REPORT_BOUNDS, address, 16,
                   "operand at byte %lld of %u bytes of shared memory", (long long)(int32_t)off,
                   l->shared_bytes);
        return zeros;
    }
    if ((l->checks & TLE_EMU_CHECK_UNINIT) && !bits_all_set(w->cta->shared_init, off, 16)) {
        report_add(w, in, first_lane(w->f->mask), TLE_EMU_REPORT_UNINIT, address, 16,
                   "operand at byte %u of shared memory that nothing wrote", off);
        bits_set(w->cta->shared_init, off, 16);
    }
    if (l->checks & TLE_EMU_CHECK_RACE)
        race_async_access(w, in, first_lane(w->f->mask), channel_of(w), true, w->cta, off, 16,
                          ACCESS_READ);
    return w->cta->shared + off;
}

static inline const uint8_t *chunk(Warp *w, const Insn *in, uint32_t address) {
    const Launch *l = w->launch;
    uint32_t off = (address & 0x3ffff) - SHARED_BASE;
    bool inside = off < l->shared_bytes && l->shared_bytes - off >= 16;
    if (!inside || (l->checks & (TLE_EMU_CHECK_UNINIT | TLE_EMU_CHECK_RACE)))
        return judged_chunk(w, in, address, off);
    return w->cta->shared + off;
}

/* One chunk's elements, `step` apart. */
static void spread(const uint8_t *from, uint32_t bytes, uint32_t *to, uint32_t step) {
    if (bytes == 1)
        for (uint32_t e = 0; e < 16; e++)
            to[e * step] = from[e];
    else if (bytes == 2)
        for (uint32_t e = 0; e < 8; e++)
            to[e * step] = from[2 * e] | (uint32_t)from[2 * e + 1] << 8;
    else
        for (uint32_t e = 0; e < 4; e++)
            memcpy(&to[e * step], from + 4 * e, 4);
}

/* A chunk of each of eight rows: element (row, e) at row * row_step + e * k_step. */
static inline void spread_rows(const uint8_t *const from[8], uint32_t bytes, uint32_t *to,
                               uint32_t row_step, uint32_t k_step) {
    for (uint32_t e = 0; e < 16 / bytes; e++)
        for (uint32_t r = 0; r < 8; r++) {
            uint32_t v = 0;
            memcpy(&v, from[r] + e * bytes, bytes);
            to[e * k_step + r * row_step] = v;
        }
}

/* Inlined for each size, and for rows side by side. */
static void spread_eight(const uint8_t *const from[8], uint32_t bytes, uint32_t *to,
                         uint32_t row_step, uint32_t k_step) {
    if (row_step != 1)
        spread_rows(from, bytes, to, row_step, k_step);
    else if (bytes == 1)
        spread_rows(from, 1, to, 1, k_step);
    else if (bytes == 2)
        spread_rows(from, 2, to, 1, k_step);
    else
        spread_rows(from, 4, to, 1, k_step);
}

/* Rows `first` to `first` + n of an operand into raw, with element (row, k) at
 * row * row_step + k * k_step. */
static void load_operand(Warp *w, const Insn *in, uint64_t descriptor, bool by_k, uint32_t first,
                         uint32_t n, uint32_t k, uint32_t bytes, uint32_t *raw, uint32_t row_step,
                         uint32_t k_step) {
    Layout l = layout_of(descriptor);
    uint32_t per = 16 / bytes;
    if (by_k) {
        for (uint32_t r = 0; r < 2 * n; r += 8) {
            const uint8_t *rows[8];
            uint32_t at = r / 16 * 8, c = r / 8 % 2;
            for (uint32_t i = 0; i < 8; i++)
                rows[i] = chunk(w, in, chunk_address(&l, first + at + i, c, true));
            spread_eight(rows, bytes, raw + at * row_step + c * per * k_step, row_step, k_step);
        }
        return;
    }
    for (uint32_t q = 0; q < k; q++)
        for (uint32_t r = 0; r < n; r += per)
            spread(chunk(w, in, chunk_address(&l, q, (first + r) / per, false)), bytes,
                   raw + r * row_step + q * k_step, row_step);
}

static uint64_t uniform(Warp *w, const Insn *in, int32_t code) {
    const uint64_t *v = plane64(w, code);
    for (uint32_t i = 1; i < LANES; i++)
        if (v[i] != v[0]) {
            report_add(w, in, i, TLE_EMU_REPORT_BAD_OPERAND, v[i], 0,
                       "descriptor 0x%llx differs from 0x%llx of lane 0", (unsigned long long)v[i],
                       (unsigned long long)v[0]);
            break;
        }
    return v[0];
}

/* ---- the product -------------------------------------------------------------------------- */

static DotModel model_of(PtxType a, uint32_t k) {
    if (matrix_is_fp8(a))
        return (DotModel){.fraction = 13, .group = (uint8_t)k, .keep = 14};
    return (DotModel){.fraction = 25, .group = (uint8_t)k, .keep = 24};
}

static void load_a(Warp *w, const Insn *in, DotTile *t, uint32_t *raw) {
    PtxType a = (PtxType)in->type2;
    if (in->sub & MATRIX_REGISTER_A)
        matrix_gather_a(w, in->ext + in->size, 4, 16, t->k, matrix_bits(a), raw);
    else
        load_operand(w, in, uniform(w, in, in->a), !(in->sub & MATRIX_TRANS_A), w->id % 4 * 16, 16,
                     t->k, ptx_type_bytes(a), raw, t->k, 1);
    matrix_operand(a, raw, 16 * t->k, in->sub & MATRIX_NEGATE_A, t->a, t->ea, &t->range_a);
}

static void load_b(Warp *w, const Insn *in, DotTile *t, uint32_t *raw) {
    PtxType b = (PtxType)in->sub2;
    load_operand(w, in, uniform(w, in, in->b), !(in->sub & MATRIX_TRANS_B), 0, t->n, t->k,
                 ptx_type_bytes(b), raw, 1, t->n);
    matrix_operand(b, raw, t->k * t->n, in->sub & MATRIX_NEGATE_B, t->b, t->eb, &t->range_b);
}

/* wgmma.mma_async d, a, b, scale-d, … */
void x_wgmma(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t raw[DOT_B];
    DotTile t;
    PtxType a = (PtxType)in->type2;
    if (!matrix_together(w, in, mask))
        return;
    bool keep = (*pred_of(w, in->c) ^ (in->flags & F_NEGATED ? ALL_LANES : 0)) & w->f->mask;
    t.m = 16;
    t.n = matrix_n(in);
    t.k = matrix_k(in);
    t.half = in->type == TY_F16;
    t.saturate = in->flags & F_SAT;
    matrix_count(w, in, 16);
    if ((w->id | 3) >= w->cta->warp_count && (w->launch->checks & TLE_EMU_CHECK_BARRIER))
        report_add(w, in, 0, TLE_EMU_REPORT_BARRIER, 0, 0,
                   "wgmma by a warpgroup of %u warps, not 4", w->cta->warp_count % 4);
    if (w->launch->checks & TLE_EMU_CHECK_MATRIX) {
        watch_frame(w);
        depart(w, in);
    }
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_begin(w);
    load_a(w, in, &t, raw);
    load_b(w, in, &t, raw);
    if (keep)
        matrix_load_c(w, (PtxType)in->type, in->ext, t.n, in->size, &t);
    else
        memset(t.c.i, 0, (size_t)16 * t.n * sizeof *t.c.i);
    DotModel model = model_of(a, t.k);
    if (matrix_is_int(a))
        dot_int(&t);
    else
        dot_float(&t, &model);
    matrix_store_c(w, (PtxType)in->type, in->ext, t.n, in->size, &t);
}
