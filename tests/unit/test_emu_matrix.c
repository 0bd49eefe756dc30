/* Tensor-core instructions: bit for bit what a model in exact integers says, and what an H200 left;
 * the matrix loads and stores, wmma; registers of a wgmma in flight. */
#include "emu_fixture.h"
#include "emu_matrix_cases.h"
#include <math.h>

/* ---- the model ---------------------------------------------------------------------------- */

/* A number sig * 2^unit; `top` is its nominal exponent. */
typedef struct Number {
    int64_t sig;
    int unit, top;
    bool special;
} Number;

static Number number(Elem type, uint32_t raw) {
    const ElemInfo *e = &elems[type];
    int bias = (1 << (e->exponent - 1)) - 1;
    raw = type == E_TF32 ? raw >> 13 : raw;
    uint32_t mantissa = raw & ((1u << e->mantissa) - 1);
    uint32_t field = raw >> e->mantissa & ((1u << e->exponent) - 1);
    bool negative = raw >> (e->mantissa + e->exponent) & 1;
    int64_t sig = field ? mantissa | 1u << e->mantissa : mantissa;
    Number n = {.top = (field ? (int)field : 1) - bias};
    n.unit = n.top - e->mantissa;
    n.sig = negative ? -sig : sig;
    n.special = type == E_E4M3 ? field == 15 && mantissa == 7 : field == (1u << e->exponent) - 1;
    return n;
}

static __int128 shifted(__int128 v, int by) {
    if (v == 0) /* a zero does not bound the largest exponent, so `by` may be anything */
        return 0;
    if (by >= 0)
        return v * ((__int128)1 << by);
    return by < -120 ? 0 : v < 0 ? -(-v >> -by) : v >> -by;
}

/* Sum of the terms, each cut off `fraction` bits below the largest nominal exponent. */
static Number fused(const Number *terms, uint32_t n, int fraction) {
    Number r = {.top = -100000};
    __int128 sum = 0;
    for (uint32_t i = 0; i < n; i++)
        if (terms[i].sig && terms[i].top > r.top)
            r.top = terms[i].top;
    r.unit = r.top - fraction;
    for (uint32_t i = 0; i < n && r.top > -100000; i++)
        sum += shifted(terms[i].sig, terms[i].unit - r.unit);
    r.sig = (int64_t)sum;
    return r;
}

static int length_of(int64_t sig) {
    int n = 0;
    for (uint64_t v = (uint64_t)(sig < 0 ? -sig : sig); v; v >>= 1)
        n++;
    return n;
}

static uint32_t bits_of(float f) {
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}

/* Truncated to `keep` bits, as f32. */
static uint32_t cut(Number v, int keep) {
    int top = v.unit + length_of(v.sig) - 1, unit = (top < -126 ? -126 : top) - keep + 1;
    int64_t sig = (int64_t)shifted(v.sig, v.unit - unit);
    if (sig == 0)
        return 0;
    return top > 127 ? (sig < 0 ? 0xff800000u : 0x7f800000u)
                     : bits_of((float)ldexp((double)sig, unit));
}

/* To nearest even, as f16. */
static uint32_t to_half(Number v) {
    int top = v.unit + length_of(v.sig) - 1, unit = (top < -14 ? -14 : top) - 10,
        by = v.unit - unit;
    uint64_t sign = v.sig < 0 ? 0x8000 : 0;
    unsigned __int128 a = (unsigned __int128)(v.sig < 0 ? -v.sig : v.sig), q;
    if (v.sig == 0 || by < -100)
        return 0;
    q = by >= 0 ? a << by : a >> -by;
    if (by < 0) {
        unsigned __int128 rest = a - (q << -by), half = (unsigned __int128)1 << (-by - 1);
        q += rest > half || (rest == half && (q & 1));
    }
    uint64_t bits = top < -14 ? (uint64_t)q : ((uint64_t)(top + 14) << 10) + (uint64_t)q;
    if (bits == 0)
        return 0;
    return (uint32_t)(sign | (bits >= 0x7c00 ? 0x7c00 : bits));
}

static uint32_t finish(const MatrixCase *c, Number v, int keep) {
    return c->d == E_F16 ? to_half(v) : cut(v, keep);
}

typedef struct Vectors {
    uint32_t a[64], b[64], acc;
} Vectors;

static Number product(const MatrixCase *c, const Vectors *v, uint32_t k, bool halves) {
    Number x = number(c->a, v->a[k]), y = number(c->b, v->b[k]), p;
    if (halves) /* fp8 becomes f16 first: e4m3's subnormals are normal there */
        for (int i = 0; i < 2; i++) {
            Number *n = i ? &y : &x;
            int top = n->unit + length_of(n->sig) - 1;
            n->top = n->sig && top > -14 ? top : n->sig ? -14 : n->top;
        }
    p.sig = x.sig * y.sig;
    p.unit = x.unit + y.unit;
    p.top = x.top + y.top;
    p.special = x.special || y.special;
    if ((c->flags & NEG_A) != 0)
        p.sig = -p.sig;
    if ((c->flags & NEG_B) != 0)
        p.sig = -p.sig;
    return p;
}

/* fp8 of mma.sync: two halves of k, each from zero, then the accumulator. */
static bool fp8_of_mma(const MatrixCase *c, const Vectors *v, uint32_t *out) {
    Number terms[33], sum = {0};
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < c->k; k++)
            if ((k % 4 >= 2) == (half == 1))
                terms[n++] = product(c, v, k, true);
        uint32_t before = half ? finish(c, sum, 24) : 0;
        terms[n] = number(c->d, before);
        if (terms[n].special)
            return false;
        sum = fused(terms, n + 1, 25);
    }
    uint32_t total = finish(c, sum, 24);
    if (number(c->d, total).special)
        return false;
    if (c->d == E_F32) {
        float x, y;
        memcpy(&x, &total, 4);
        memcpy(&y, &v->acc, 4);
        *out = bits_of(x + y);
        return true;
    }
    Number pair[2] = {number(E_F16, total), number(E_F16, v->acc)};
    pair[0].top = pair[1].top = 15;
    *out = to_half(fused(pair, 2, 60));
    return true;
}

/* False where infinities or NaNs take part. */
static bool float_model(const MatrixCase *c, const Vectors *v, uint32_t *out) {
    Number terms[65];
    bool fp8 = elems[c->a].bits == 8, mma = c->m != 64;
    for (uint32_t k = 0; k < c->k; k++) {
        terms[k] = product(c, v, k, false);
        if (terms[k].special)
            return false;
    }
    terms[c->k] = number(c->d, c->flags & NO_C ? 0 : v->acc);
    if (terms[c->k].special)
        return false;
    if (mma && fp8)
        return fp8_of_mma(c, v, out);
    *out = finish(c, fused(terms, c->k + 1, fp8 ? 13 : 25), fp8 ? 14 : 24);
    return true;
}

static int64_t integer(Elem type, uint32_t raw) {
    int bits = elems[type].bits;
    int64_t v = raw & ((1u << bits) - 1);
    bool sign = type == E_S8 || type == E_S4;
    return sign && v >> (bits - 1) ? v - (1 << bits) : v;
}

static uint32_t int_model(const MatrixCase *c, const Vectors *v) {
    int64_t sum = (int32_t)v->acc;
    for (uint32_t k = 0; k < c->k; k++)
        sum += integer(c->a, v->a[k]) * integer(c->b, v->b[k]);
    if (c->flags & SATURATE)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

/* ---- where the elements are --------------------------------------------------------------- */

static uint32_t bits_at(const uint8_t *p, uint32_t index, Elem type) {
    uint32_t bits = (uint32_t)elems[type].bits, v = 0;
    if (bits == 4)
        return p[index / 2] >> (index % 2 * 4) & 15;
    memcpy(&v, p + index * bits / 8, bits / 8);
    return v;
}

/* Element (row, col) of a 16-byte wide core matrix layout with 8 rows: by k or by m and n. */
static uint32_t shared_at(const MatrixCase *c, const Place *p, uint32_t row, uint32_t k, bool by_k,
                          uint32_t bytes) {
    static const uint32_t widths[4] = {16, 128, 64, 32};
    uint32_t width = widths[c->swizzle], at = p->start, inner = (by_k ? k : row) * bytes;
    uint32_t outer = by_k ? row : k;
    at += outer % 8 * width + inner % 16;
    if (width == 16 && by_k)
        at += inner / 16 * p->first + outer / 8 * p->second;
    else if (width == 16)
        at += inner / 16 * p->second + outer / 8 * p->first;
    else
        at += inner % width / 16 * 16 + inner / width * p->first + outer / 8 * p->second;
    uint32_t phase = (at / 128 - c->turn) % 8;
    return at ^ (phase & (width / 16 - 1)) * 16;
}

/* Register and index in it of element (row, col) of an operand held in registers. */
static uint32_t in_registers(const uint8_t *regs, uint32_t threads, uint32_t warp, Elem type,
                             uint32_t row, uint32_t col, bool two_halves) {
    uint32_t per = 32 / (uint32_t)elems[type].bits, block = col / (4 * per);
    uint32_t reg = two_halves ? block * 2 + row / 8 : block;
    uint32_t lane = warp * 32 + row % 8 * 4 + col % (4 * per) / per;
    return bits_at(regs + (reg * threads + lane) * 4, col % per, type);
}

static void gather(const MatrixCase *c, const uint8_t *in, uint32_t row, uint32_t col, Vectors *v) {
    uint32_t threads = threads_of(c);
    const uint8_t *a = in + image_of(c), *b = a + a_words(c) * threads * 4;
    for (uint32_t k = 0; k < c->k; k++) {
        if (c->m == 64 && !(c->flags & REG_A)) {
            uint32_t bytes = (uint32_t)elems[c->a].bits / 8;
            v->a[k] =
                bits_at(in + shared_at(c, &c->at_a, row, k, !(c->flags & TRANS_A), bytes), 0, c->a);
        } else {
            v->a[k] = in_registers(a, threads, row / 16, c->a, row % 16, k, c->m != 8);
        }
        if (c->m == 64) {
            uint32_t bytes = (uint32_t)elems[c->b].bits / 8;
            v->b[k] =
                bits_at(in + shared_at(c, &c->at_b, col, k, !(c->flags & TRANS_B), bytes), 0, c->b);
        } else {
            v->b[k] = in_registers(b, 32, 0, c->b, col, k, false);
        }
    }
}

/* Element (row, col) of C or D. */
static uint32_t result_at(const MatrixCase *c, const uint8_t *regs, uint32_t row, uint32_t col) {
    uint32_t i = col / 8 * 4 + row % 16 / 8 * 2 + col % 2, lane = row % 8 * 4 + col % 8 / 2;
    lane += row / 16 * 32;
    if (c->d == E_F16)
        return bits_at(regs + (i / 2 * threads_of(c) + lane) * 4, i % 2, E_F16);
    return bits_at(regs + (i * threads_of(c) + lane) * 4, 0, E_F32);
}

/* ---- all cases ---------------------------------------------------------------------------- */

static uint32_t check_block(const MatrixCase *c, uint32_t index, uint32_t block, const uint8_t *in,
                            const uint8_t *out) {
    const uint8_t *before = in + input_bytes(c) - output_bytes(c);
    uint32_t checked = 0;
    for (uint32_t row = 0; row < c->m; row++)
        for (uint32_t col = 0; col < c->n; col++) {
            Vectors v;
            uint32_t want;
            gather(c, in, row, col, &v);
            v.acc = result_at(c, before, row, col);
            if (elems[c->a].exponent == 0)
                want = int_model(c, &v);
            else if (!float_model(c, &v, &want))
                continue;
            uint32_t got = result_at(c, out, row, col);
            if (got != want)
                fail_msg("case %u (m%un%uk%u %s.%s.%s) CTA %u row %u column %u: %08x, want %08x",
                         index, c->m, c->n, c->k, elems[c->d].name, elems[c->a].name,
                         elems[c->b].name, block, row, col, got, want);
            checked++;
        }
    return checked;
}

static void test_products(void **state) {
    Emu e = emu_open(NULL);
    size_t room = (size_t)1 << 21;
    char *text = malloc(room);
    uint64_t checked = 0;
    (void)state;
    assert_non_null(text);
    Text t = {text, text + room};
    PUT(&t, "%s", matrix_head);
    for (uint32_t i = 0; i < MATRIX_CASES; i++)
        matrix_kernel(&t, i);
    emu_load(&e, text, (size_t)(t.at - text), "matrix");
    for (uint32_t i = 0; i < MATRIX_CASES; i++) {
        const MatrixCase *c = &matrix_cases[i];
        uint32_t ins = input_bytes(c), outs = output_bytes(c);
        uint8_t *in = emu_new(&e, (size_t)ins * MATRIX_BLOCKS);
        uint8_t *out = emu_zeros(&e, (size_t)outs * MATRIX_BLOCKS);
        uint64_t da = descriptor(c, &c->at_a), db = descriptor(c, &c->at_b);
        void *params[] = {&in, &out, &da, &db, &ins, &outs};
        char name[16];
        snprintf(name, sizeof name, "c%u", i);
        matrix_input(c, in);
        emu_run(&e, name, DIM(MATRIX_BLOCKS, 1, 1), DIM(threads_of(c), 1, 1), image_of(c), params);
        for (uint32_t b = 0; b < MATRIX_BLOCKS; b++)
            checked += check_block(c, i, b, in + b * ins, out + b * outs);
        if (matrix_hash(out, (size_t)outs * MATRIX_BLOCKS) != c->gpu)
            fail_msg("case %u differs from the H200's results", i);
        tle_emu_free(e.device, in);
        tle_emu_free(e.device, out);
    }
    assert_true(checked > 200000);
    free(text);
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
