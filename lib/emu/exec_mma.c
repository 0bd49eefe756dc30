/* Matrix instructions of one warp: mma.sync, wmma, ldmatrix, stmatrix, movmatrix.
 *
 * Fragments of mma.sync, with g = lane / 4 and t = lane % 4 and `per` elements in a register:
 * A: register r has row g + 8 (r % 2), columns t per + 0 .. per-1 + 4 per (r / 2); B: register r
 * has column g and the rows likewise; C and D: element i has row g + 8 (i / 2 % 2) and column
 * 2 t + i % 2 + 8 (i / 4). Fragments of wmma, whose layout PTX leaves open, hold element
 * (32 slot + lane) modulo the size of the matrix, in row order. */
#include "fp.h"
#include "matrix.h"
#include <math.h>

bool matrix_together(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t all;
    if (w->f->forced) {
        w->f->forced = false;
        return true;
    }
    return warp_gather(w, in, mask, w->live, true, &all);
}

void matrix_count(Warp *w, const Insn *in, uint32_t m) {
    uint64_t flops = (uint64_t)2 * m * matrix_n(in) * matrix_k(in);
    if (!w->launch->cost)
        return;
    w->launch->cost->matrix_flops += flops;
    if (w->launch->cost->sites)
        cost_site(w, in)->flops += flops;
}

void matrix_operand(PtxType type, const uint32_t *raw, uint32_t n, bool negate, float *value,
                    int16_t *exponent, DotRange *range) {
    *range = (DotRange){.low = INT16_MAX, .high = INT16_MIN};
    if (!matrix_is_int(type)) {
        dot_decode(type, raw, n, negate, value, exponent, range);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        exponent[i] = matrix_int(type, raw[i]);
}

/* ---- fragments ---------------------------------------------------------------------------- */

static inline uint32_t element(uint32_t word, uint32_t e, uint32_t bits) {
    return bits == 32 ? word : word >> (e * bits) & ((1u << bits) - 1);
}

void matrix_gather_a(const Warp *w, const int32_t *regs, uint32_t count, uint32_t m, uint32_t k,
                     uint32_t bits, uint32_t *raw) {
    uint32_t per = 32 / bits, halves = m / 8;
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t *p = plane32(w, regs[r]);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t row = lane / 4 + 8 * (r % halves),
                     col = lane % 4 * per + 4 * per * (r / halves);
            for (uint32_t e = 0; e < per; e++)
                raw[row * k + col + e] = element(p[lane], e, bits);
        }
    }
}

static void gather_b(const Warp *w, const int32_t *regs, uint32_t count, uint32_t bits,
                     uint32_t *raw) {
    uint32_t per = 32 / bits;
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t *p = plane32(w, regs[r]);
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t e = 0; e < per; e++)
                raw[(lane % 4 * per + e + 4 * per * r) * 8 + lane / 4] = element(p[lane], e, bits);
    }
}

static inline uint32_t c_at(uint32_t lane, uint32_t i, uint32_t n) {
    return (lane / 4 + 8 * (i / 2 % 2)) * n + lane % 4 * 2 + i % 2 + 8 * (i / 4);
}

/* Where element 0 of each lane stands, and how far from there element i. */
static void c_bases(uint32_t n, uint32_t base[LANES]) {
    for (uint32_t lane = 0; lane < LANES; lane++)
        base[lane] = c_at(lane, 0, n);
}

static void load_halves(const uint32_t *p, const uint32_t *base, float *c) {
    float low[LANES], high[LANES];
    dot_from_halves(p, LANES, low, high);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        c[base[lane]] = low[lane];
        c[base[lane] + 1] = high[lane];
    }
}

/* Two registers, or one of two f16, are neighbours in their row. */
void matrix_load_c(const Warp *w, PtxType type, const int32_t *regs, uint32_t n, uint32_t count,
                   DotTile *t) {
    uint32_t base[LANES];
    c_bases(n, base);
    if (type == TY_F16) {
        for (uint32_t r = 0; r < count; r++)
            load_halves(plane32(w, regs[r]), base, t->c.f + c_at(0, 2 * r, n));
        return;
    }
    for (uint32_t r = 0; r < count; r += 2) {
        const uint32_t *p = plane32(w, regs[r]), *q = plane32(w, regs[r + 1]);
        int32_t *c = t->c.i + c_at(0, r, n);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const uint32_t pair[2] = {p[lane], q[lane]};
            memcpy(c + base[lane], pair, sizeof pair);
        }
    }
}

static void store_halves(uint32_t *p, const uint32_t *base, const float *c) {
    float low[LANES], high[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) {
        low[lane] = c[base[lane]];
        high[lane] = c[base[lane] + 1];
    }
    dot_to_halves(low, high, LANES, p);
}

void matrix_store_c(const Warp *w, PtxType type, const int32_t *regs, uint32_t n, uint32_t count,
                    const DotTile *t) {
    uint32_t base[LANES];
    c_bases(n, base);
    if (type == TY_F16) {
        for (uint32_t r = 0; r < count; r++)
            store_halves(plane32(w, regs[r]), base, t->c.f + c_at(0, 2 * r, n));
        return;
    }
    for (uint32_t r = 0; r < count; r += 2) {
        uint32_t *p = plane32(w, regs[r]), *q = plane32(w, regs[r + 1]), pair[2];
        const int32_t *c = t->c.i + c_at(0, r, n);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            memcpy(pair, c + base[lane], sizeof pair);
            p[lane] = pair[0];
            q[lane] = pair[1];
        }
    }
}

/* ---- mma.sync ----------------------------------------------------------------------------- */

/* fp8 runs as two f16 products from zero: columns 0 and 1 of each four, then 2 and 3. */
static uint32_t fp8_column(uint32_t k, uint32_t all) {
    return k / 4 * 2 + k % 2 + (k % 4 >= 2 ? all / 2 : 0);
}

static uint32_t fp8_to_half(PtxType type, uint32_t bits) {
    return type == TY_E5M2 ? bits << 8 : fp_pack(TY_F16, fp_unpack(type, bits), ROUND_RN, false);
}

static void fp8_operand(PtxType type, uint32_t *raw, uint32_t rows, uint32_t cols, bool is_a) {
    uint32_t old[512];
    memcpy(old, raw, (size_t)rows * cols * sizeof *old);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < cols; j++)
            raw[is_a ? i * cols + fp8_column(j, cols) : fp8_column(i, rows) * cols + j] =
                fp8_to_half(type, old[i * cols + j]);
}

/* Raw elements into the tile; fp8 through f16. */
static void place_a(DotTile *t, PtxType type, uint32_t *raw) {
    bool fp8 = matrix_is_fp8(type);
    if (fp8)
        fp8_operand(type, raw, t->m, t->k, true);
    matrix_operand(fp8 ? TY_F16 : type, raw, t->m * t->k, false, t->a, t->ea, &t->range_a);
}

static void place_b(DotTile *t, PtxType type, uint32_t *raw) {
    bool fp8 = matrix_is_fp8(type);
    if (fp8)
        fp8_operand(type, raw, t->k, t->n, false);
    matrix_operand(fp8 ? TY_F16 : type, raw, t->k * t->n, false, t->b, t->eb, &t->range_b);
}

static DotModel model_of(const Insn *in, uint32_t k) {
    PtxType a = (PtxType)in->type2;
    bool fp8 = matrix_is_fp8(a);
    uint32_t group = in->fn == x_wmma && a == TY_TF32 ? 4 : fp8 ? k / 2 : k;
    return (DotModel){.fraction = 25, .group = (uint8_t)group, .keep = 24, .add_after = fp8};
}

/* Doubles: one fused multiply-add after the other, in the order of k. */
static void mma_f64(const Warp *w, const Insn *in) {
    const int32_t *ea = in->ext + in->size, *eb = ea + in->vec, *ec = eb + in->rounding;
    double a[256], b[128], c[128];
    uint32_t m = matrix_m(in), n = 8, k = matrix_k(in), halves = m / 8;
    for (uint32_t r = 0; r < in->vec; r++)
        for (uint32_t i = 0; i < LANES; i++)
            a[(i / 4 + 8 * (r % halves)) * k + i % 4 + 4 * (r / halves)] =
                fp_f64(plane64(w, ea[r])[i]);
    for (uint32_t r = 0; r < in->rounding; r++)
        for (uint32_t i = 0; i < LANES; i++)
            b[(i % 4 + 4 * r) * n + i / 4] = fp_f64(plane64(w, eb[r])[i]);
    for (uint32_t r = 0; r < in->size; r++)
        for (uint32_t i = 0; i < LANES; i++)
            c[c_at(i, r, n)] = fp_f64(plane64(w, ec[r])[i]);
    for (uint32_t i = 0; i < m * n; i++)
        for (uint32_t q = 0; q < k; q++)
            c[i] = fma(a[i / n * k + q], b[q * n + i % n], c[i]);
    for (uint32_t r = 0; r < in->size; r++)
        for (uint32_t i = 0; i < LANES; i++)
            plane64(w, in->ext[r])[i] = fp_u64(c[c_at(i, r, n)]);
}

/* The tile's product, whatever its kind; all operands are in place. */
static void multiply(DotTile *t, const Insn *in) {
    PtxType a = (PtxType)in->type2;
    t->half = in->type == TY_F16;
    t->saturate = in->flags & F_SAT;
    DotModel model = model_of(in, t->k);
    if (matrix_is_int(a))
        dot_int(t);
    else
        dot_float(t, &model);
}

/* mma d, a, b, c */
void x_mma(Warp *w, const Insn *in, uint32_t mask) {
    const int32_t *ea = in->ext + in->size, *eb = ea + in->vec, *ec = eb + in->rounding;
    PtxType a = (PtxType)in->type2, b = (PtxType)in->sub2, d = (PtxType)in->type;
    uint32_t raw[1024], m = matrix_m(in), k = matrix_k(in);
    DotTile t;
    if (!matrix_together(w, in, mask))
        return;
    matrix_count(w, in, m);
    if (d == TY_F64) {
        mma_f64(w, in);
        return;
    }
    t.m = m;
    t.n = 8;
    t.k = k;
    matrix_gather_a(w, ea, in->vec, m, k, matrix_bits(a), raw);
    place_a(&t, a, raw);
    gather_b(w, eb, in->rounding, matrix_bits(b), raw);
    place_b(&t, b, raw);
    matrix_load_c(w, d, ec, 8, in->size, &t);
    multiply(&t, in);
    matrix_store_c(w, d, in->ext, 8, in->size, &t);
}

/* ---- wmma --------------------------------------------------------------------------------- */

/* Element of the matrix in a slot: registers hold `per` slots each. */
static uint32_t slot_element(uint32_t lane, uint32_t slot, uint32_t size) {
    return (slot * LANES + lane) % size;
}

static void wmma_gather(const Warp *w, const int32_t *regs, uint32_t count, uint32_t bits,
                        uint32_t size, uint32_t *raw) {
    uint32_t per = 32 / bits;
    for (uint32_t s = 0; s < count * per; s++)
        for (uint32_t i = 0; i < LANES; i++)
            raw[slot_element(i, s, size)] = element(plane32(w, regs[s / per])[i], s % per, bits);
}

static void wmma_f64(const Warp *w, const Insn *in) {
    double c[64];
    const uint64_t *a = plane64(w, in->ext[2]), *b = plane64(w, in->ext[3]);
    for (uint32_t e = 0; e < 64; e++) {
        c[e] = fp_f64(plane64(w, in->ext[4 + e / LANES])[e % LANES]);
        for (uint32_t q = 0; q < 4; q++)
            c[e] = fma(fp_f64(a[e / 8 * 4 + q]), fp_f64(b[q * 8 + e % 8]), c[e]);
    }
    for (uint32_t e = 0; e < 64; e++)
        plane64(w, in->ext[e / LANES])[e % LANES] = fp_u64(c[e]);
}

static void wmma_scatter(const Warp *w, const Insn *in, const DotTile *t) {
    uint32_t size = t->m * t->n;
    for (uint32_t s = 0; s < size / LANES; s++)
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t e = slot_element(i, s, size);
            if (in->type != TY_F16)
                plane32(w, in->ext[s])[i] = (uint32_t)t->c.i[e];
            else if (s % 2)
                dot_to_halves(&t->c.f[slot_element(i, s - 1, size)], &t->c.f[e], 1,
                              &plane32(w, in->ext[s / 2])[i]);
        }
}

/* wmma.mma d, a, b, c */
void x_wmma(Warp *w, const Insn *in, uint32_t mask) {
    const int32_t *ea = in->ext + in->size, *eb = ea + in->vec, *ec = eb + in->rounding;
    PtxType a = (PtxType)in->type2, c = (PtxType)in->sub2;
    uint32_t raw[1024], bits = matrix_bits(a), nc;
    DotTile t;
    if (!matrix_together(w, in, mask))
        return;
    /* its operands came from loads of all lanes, so what follows is behind them */
    race_warp_sync(w);
    t.m = matrix_m(in);
    t.n = matrix_n(in);
    t.k = matrix_k(in);
    matrix_count(w, in, t.m);
    if (in->type == TY_F64) {
        wmma_f64(w, in);
        return;
    }
    nc = t.m * t.n;
    wmma_gather(w, ea, in->vec, bits, t.m * t.k, raw);
    place_a(&t, a, raw);
    wmma_gather(w, eb, in->rounding, bits, t.k * t.n, raw);
    place_b(&t, a, raw);
    wmma_gather(w, ec, c == TY_F16 ? nc / 64 : nc / 32, c == TY_F16 ? 16 : 32, nc, raw);
    for (uint32_t e = 0; e < nc; e++)
        if (c == TY_F16)
            t.c.f[e] = (float)fp_unpack(TY_F16, raw[e]);
        else
            t.c.i[e] = (int32_t)raw[e];
    multiply(&t, in);
    wmma_scatter(w, in, &t);
}

/* Addresses of what each lane holds in slot `s`. */
static void wmma_addresses(const Warp *w, const Insn *in, uint32_t s, const uint64_t *base,
                           uint64_t *address) {
    uint32_t rows = in->vec, cols = in->rounding, bytes = ptx_type_bytes((PtxType)in->type);
    bool columns = in->sub & MATRIX_COLUMNS;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t e = slot_element(i, s, rows * cols), row = e / cols, col = e % cols;
        uint64_t stride = in->sub & MATRIX_STRIDE ? plane32(w, in->c)[i] : columns ? rows : cols;
        address[i] = base[i] + bytes * (columns ? col * stride + row : row * stride + col);
    }
}

static void wmma_move(Warp *w, const Insn *in, uint32_t mask, bool store) {
    uint64_t base[LANES], address[LANES];
    uint8_t *host[LANES];
    uint32_t bytes = ptx_type_bytes((PtxType)in->type), per = bytes >= 4 ? 1 : 4 / bytes;
    access_addresses(w, in, mask, base);
    for (uint32_t s = 0; s < in->ext_count * per; s++) {
        wmma_addresses(w, in, s, base, address);
        uint8_t *regs = plane(w, in->ext[s / per]);
        uint32_t width = bytes == 8 ? 8 : 4;
        uint32_t ok =
            access_resolve(w, in, mask, address, bytes, store ? ACCESS_WRITE : ACCESS_READ, host);
        for (uint32_t i = 0; i < LANES; i++) {
            uint8_t *at = regs + i * width + s % per * bytes;
            if (!(ok >> i & 1))
                continue;
            memcpy(store ? host[i] : at, store ? at : host[i], bytes);
        }
    }
}

void x_wmma_load(Warp *w, const Insn *in, uint32_t mask) {
    if (matrix_together(w, in, mask))
        wmma_move(w, in, w->f->mask, false);
}

void x_wmma_store(Warp *w, const Insn *in, uint32_t mask) {
    if (matrix_together(w, in, mask))
        wmma_move(w, in, w->f->mask, true);
}

/* ---- 8x8 matrices of 16 bits -------------------------------------------------------------- */

/* Row addresses come from lanes 8 j to 8 j + 7 for matrix j; other lanes' do not matter. */
static uint32_t matrix_rows(Warp *w, const Insn *in, AccessKind kind, uint8_t **host) {
    uint64_t address[LANES];
    uint32_t used = in->ext_count == 4 ? ALL_LANES : (1u << (8 * in->ext_count)) - 1;
    access_addresses(w, in, w->f->mask, address);
    return access_resolve(w, in, used & w->f->mask, address, 16, kind, host);
}

/* ldmatrix: lane i gets row i / 4, columns 2 (i % 4) and the next; transposed: of the columns. */
void x_ldmatrix(Warp *w, const Insn *in, uint32_t mask) {
    uint8_t *host[LANES];
    uint32_t ok;
    if (!matrix_together(w, in, mask))
        return;
    ok = matrix_rows(w, in, ACCESS_READ, host);
    for (uint32_t j = 0; j < in->ext_count; j++) {
        uint16_t m[8][8] = {{0}};
        uint32_t *d = plane32(w, in->ext[j]);
        for (uint32_t r = 0; r < 8; r++)
            if (ok >> (8 * j + r) & 1)
                memcpy(m[r], host[8 * j + r], 16);
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t r = i / 4, c = i % 4 * 2;
            d[i] = in->sub ? m[c][r] | (uint32_t)m[c + 1][r] << 16
                           : m[r][c] | (uint32_t)m[r][c + 1] << 16;
        }
    }
}

void x_stmatrix(Warp *w, const Insn *in, uint32_t mask) {
    uint8_t *host[LANES];
    uint32_t ok;
    if (!matrix_together(w, in, mask))
        return;
    ok = matrix_rows(w, in, ACCESS_WRITE, host);
    for (uint32_t j = 0; j < in->ext_count; j++) {
        uint16_t m[8][8];
        const uint32_t *s = plane32(w, in->ext[j]);
        for (uint32_t i = 0; i < LANES; i++)
            for (uint32_t e = 0; e < 2; e++) {
                uint16_t v = (uint16_t)(s[i] >> (16 * e));
                if (in->sub)
                    m[i % 4 * 2 + e][i / 4] = v;
                else
                    m[i / 4][i % 4 * 2 + e] = v;
            }
        for (uint32_t r = 0; r < 8; r++)
            if (ok >> (8 * j + r) & 1)
                memcpy(host[8 * j + r], m[r], 16);
    }
}

/* movmatrix: the transpose, within registers */
void x_movmatrix(Warp *w, const Insn *in, uint32_t mask) {
    uint16_t m[8][8];
    if (!matrix_together(w, in, mask))
        return;
    const uint32_t *a = plane32(w, in->a);
    uint32_t *d = plane32(w, in->d);
    for (uint32_t i = 0; i < LANES; i++)
        for (uint32_t e = 0; e < 2; e++)
            m[i / 4][i % 4 * 2 + e] = (uint16_t)(a[i] >> (16 * e));
    for (uint32_t i = 0; i < LANES; i++)
        d[i] = m[i % 4 * 2][i / 4] | (uint32_t)m[i % 4 * 2 + 1][i / 4] << 16;
}
