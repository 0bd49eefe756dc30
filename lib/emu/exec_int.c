/* Integer arithmetic and bit operations. One short function for each type, made by macros: the
 * loop over lanes stays free of switches, so compilers vectorise it. */
#include "exec.h"

#define OP1(name, S, T, expr)                                                                      \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        S *d = (S *)(void *)plane(w, in->d);                                                       \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        FOR_LANES(mask, {                                                                          \
            T a = (T)pa[i];                                                                        \
            d[i] = (S)(expr);                                                                      \
        });                                                                                        \
    }

#define OP2(name, S, T, expr)                                                                      \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        S *d = (S *)(void *)plane(w, in->d);                                                       \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        const S *pb = (const S *)(void *)plane(w, in->b);                                          \
        FOR_LANES(mask, {                                                                          \
            T a = (T)pa[i];                                                                        \
            T b = (T)pb[i];                                                                        \
            d[i] = (S)(expr);                                                                      \
        });                                                                                        \
    }

#define OP3(name, S, T, expr)                                                                      \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        S *d = (S *)(void *)plane(w, in->d);                                                       \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        const S *pb = (const S *)(void *)plane(w, in->b);                                          \
        const S *pc = (const S *)(void *)plane(w, in->c);                                          \
        FOR_LANES(mask, {                                                                          \
            T a = (T)pa[i];                                                                        \
            T b = (T)pb[i];                                                                        \
            T c = (T)pc[i];                                                                        \
            d[i] = (S)(expr);                                                                      \
        });                                                                                        \
    }

/* Second source is 32 bits wide whatever the type (shift amounts, positions). */
#define OP2U(name, S, T, expr)                                                                     \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        S *d = (S *)(void *)plane(w, in->d);                                                       \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        const uint32_t *pb = plane32(w, in->b);                                                    \
        FOR_LANES(mask, {                                                                          \
            T a = (T)pa[i];                                                                        \
            uint32_t b = pb[i];                                                                    \
            d[i] = (S)(expr);                                                                      \
        });                                                                                        \
    }

/* Destination twice as wide as the sources; D is the slot of the destination. */
#define WIDE2(name, D, T, R)                                                                       \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        D *d = (D *)(void *)plane(w, in->d);                                                       \
        const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);                           \
        FOR_LANES(mask, { d[i] = (D)((R)(T)pa[i] * (R)(T)pb[i]); });                               \
    }

#define WIDE3(name, D, T, R)                                                                       \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        D *d = (D *)(void *)plane(w, in->d);                                                       \
        const D *pc = (const D *)(void *)plane(w, in->c);                                          \
        const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);                           \
        FOR_LANES(mask, { d[i] = (D)((D)((R)(T)pa[i] * (R)(T)pb[i]) + pc[i]); });                  \
    }

#define S32 uint32_t
#define S64 uint64_t

/* ---- add, sub, mul, mad, sad -------------------------------------------------------------- */

static inline uint32_t sat32(int64_t v) {
    return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

OP2(add_32, S32, uint32_t, a + b)
OP2(add_64, S64, uint64_t, a + b)
OP2(add_sat, S32, int32_t, sat32((int64_t)a + b))
OP2(sub_32, S32, uint32_t, a - b)
OP2(sub_64, S64, uint64_t, a - b)
OP2(sub_sat, S32, int32_t, sat32((int64_t)a - b))
OP2(add_16x2, S32, uint32_t, ((a + b) & 0xffffu) | ((a & 0xffff0000u) + (b & 0xffff0000u)))

OP2(mul_lo_32, S32, uint32_t, a *b)
OP2(mul_lo_64, S64, uint64_t, a *b)
OP2(mul_hi_u16, S32, uint16_t, ((uint32_t)a * b) >> 16)
OP2(mul_hi_s16, S32, int16_t, ((int32_t)a * b) >> 16)
OP2(mul_hi_u32, S32, uint32_t, ((uint64_t)a * b) >> 32)
OP2(mul_hi_s32, S32, int32_t, ((int64_t)a * b) >> 32)
OP2(mul_hi_u64, S64, uint64_t, ((unsigned __int128)a * b) >> 64)
OP2(mul_hi_s64, S64, int64_t, ((__int128)a * b) >> 64)
WIDE2(mul_wide_u16, S32, uint16_t, uint32_t)
WIDE2(mul_wide_s16, S32, int16_t, int32_t)
WIDE2(mul_wide_u32, S64, uint32_t, uint64_t)
WIDE2(mul_wide_s32, S64, int32_t, int64_t)

OP3(mad_lo_32, S32, uint32_t, a *b + c)
OP3(mad_lo_64, S64, uint64_t, a *b + c)
OP3(mad_hi_u16, S32, uint16_t, (((uint32_t)a * b) >> 16) + c)
OP3(mad_hi_s16, S32, int16_t, (((int32_t)a * b) >> 16) + c)
OP3(mad_hi_u32, S32, uint32_t, (uint32_t)(((uint64_t)a * b) >> 32) + c)
OP3(mad_hi_s32, S32, int32_t, (uint32_t)(((int64_t)a * b) >> 32) + (uint32_t)c)
OP3(mad_hi_sat, S32, int32_t, sat32((((int64_t)a * b) >> 32) + c))
OP3(mad_hi_u64, S64, uint64_t, (uint64_t)(((unsigned __int128)a * b) >> 64) + c)
OP3(mad_hi_s64, S64, int64_t, (uint64_t)(((__int128)a * b) >> 64) + (uint64_t)c)
WIDE3(mad_wide_u16, S32, uint16_t, uint32_t)
WIDE3(mad_wide_s16, S32, int16_t, int32_t)
WIDE3(mad_wide_u32, S64, uint32_t, uint64_t)
WIDE3(mad_wide_s32, S64, int32_t, int64_t)

static inline int32_t ext24s(uint32_t v) {
    return (int32_t)(v << 8) >> 8;
}

OP2(mul24_lo_u, S32, uint32_t, (uint64_t)(a & 0xffffffu) * (b & 0xffffffu))
OP2(mul24_lo_s, S32, uint32_t, (int64_t)ext24s(a) * ext24s(b))
OP2(mul24_hi_u, S32, uint32_t, ((uint64_t)(a & 0xffffffu) * (b & 0xffffffu)) >> 16)
OP2(mul24_hi_s, S32, uint32_t, ((int64_t)ext24s(a) * ext24s(b)) >> 16)
OP3(mad24_lo_u, S32, uint32_t, (uint64_t)(a & 0xffffffu) * (b & 0xffffffu) + c)
OP3(mad24_lo_s, S32, uint32_t, (int64_t)ext24s(a) * ext24s(b) + c)
OP3(mad24_hi_u, S32, uint32_t, (((uint64_t)(a & 0xffffffu) * (b & 0xffffffu)) >> 16) + c)
OP3(mad24_hi_s, S32, uint32_t, (((int64_t)ext24s(a) * ext24s(b)) >> 16) + c)

void x_mad24_hi_sat(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b), *pc = plane32(w, in->c);
    FOR_LANES(mask, {
        int64_t v = ((int64_t)ext24s(pa[i]) * ext24s(pb[i]) >> 16) + (int32_t)pc[i];
        d[i] = (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
    });
}

OP3(sad_u16, S32, uint16_t, c + (a < b ? b - a : a - b))
OP3(sad_s16, S32, int16_t, c + (a < b ? b - a : a - b))
OP3(sad_u32, S32, uint32_t, c + (a < b ? b - a : a - b))
OP3(sad_s32, S32, int32_t,
    (uint32_t)c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b))
OP3(sad_u64, S64, uint64_t, c + (a < b ? b - a : a - b))
OP3(sad_s64, S64, int64_t,
    (uint64_t)c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))

/* ---- div, rem: a zero divisor gives all ones, as the hardware sequence does ----------------- */

OP2(div_u16, S32, uint16_t, b ? a / b : 0xffff)
OP2(div_s16, S32, int16_t, b ? a / b : -1)
OP2(div_u32, S32, uint32_t, b ? a / b : ~0u)
OP2(div_s32, S32, int32_t, b == 0 ? -1 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b)
OP2(div_u64, S64, uint64_t, b ? a / b : ~(uint64_t)0)
OP2(div_s64, S64, int64_t, b == 0 ? -1 : b == -1 ? (int64_t)(0u - (uint64_t)a) : a / b)
OP2(rem_u16, S32, uint16_t, b ? a % b : 0xffff)
OP2(rem_s16, S32, int16_t, b ? a % b : -1)
OP2(rem_u32, S32, uint32_t, b ? a % b : ~0u)
OP2(rem_s32, S32, int32_t, b == 0 ? -1 : b == -1 ? 0 : a % b)
OP2(rem_u64, S64, uint64_t, b ? a % b : ~(uint64_t)0)
OP2(rem_s64, S64, int64_t, b == 0 ? -1 : b == -1 ? 0 : a % b)

/* ---- abs, neg, min, max ------------------------------------------------------------------- */

OP1(abs_s16, S32, int16_t, a < 0 ? -a : a)
OP1(abs_s32, S32, int32_t, a < 0 ? 0u - (uint32_t)a : (uint32_t)a)
OP1(abs_s64, S64, int64_t, a < 0 ? 0u - (uint64_t)a : (uint64_t)a)
OP1(neg_32, S32, uint32_t, 0u - a)
OP1(neg_64, S64, uint64_t, 0u - a)

#define MINMAX(suffix, S, T)                                                                       \
    OP2(min_##suffix, S, T, a < b ? a : b)                                                         \
    OP2(max_##suffix, S, T, a > b ? a : b)
MINMAX(u16, S32, uint16_t)
MINMAX(s16, S32, int16_t)
MINMAX(u32, S32, uint32_t)
MINMAX(s32, S32, int32_t)
MINMAX(u64, S64, uint64_t)
MINMAX(s64, S64, int64_t)

OP2(min_relu_s32, S32, int32_t, (a < b ? a : b) < 0 ? 0 : (a < b ? a : b))
OP2(max_relu_s32, S32, int32_t, (a > b ? a : b) < 0 ? 0 : (a > b ? a : b))

#define HALVES(name, T, expr)                                                                      \
    static inline uint32_t halves_##name(uint32_t x, uint32_t y) {                                 \
        uint32_t r = 0;                                                                            \
        for (int h = 0; h < 32; h += 16) {                                                         \
            T a = (T)(x >> h);                                                                     \
            T b = (T)(y >> h);                                                                     \
            r |= (uint32_t)(uint16_t)(expr) << h;                                                  \
        }                                                                                          \
        return r;                                                                                  \
    }                                                                                              \
    OP2(name, S32, uint32_t, halves_##name(a, b))
HALVES(min_u16x2, uint16_t, a < b ? a : b)
HALVES(max_u16x2, uint16_t, a > b ? a : b)
HALVES(min_s16x2, int16_t, a < b ? a : b)
HALVES(max_s16x2, int16_t, a > b ? a : b)
HALVES(min_relu_s16x2, int16_t, (a < b ? a : b) < 0 ? 0 : (a < b ? a : b))
HALVES(max_relu_s16x2, int16_t, (a > b ? a : b) < 0 ? 0 : (a > b ? a : b))

/* ---- extended precision: the carry flags are one bit of each lane -------------------------- */

#define CARRY(name, S, W, expr)                                                                    \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        S *d = (S *)(void *)plane(w, in->d);                                                       \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        const S *pb = (const S *)(void *)plane(w, in->b);                                          \
        uint32_t out = 0;                                                                          \
        for (uint32_t i = 0; i < LANES; i++) {                                                     \
            W a = pa[i];                                                                           \
            W b = pb[i];                                                                           \
            W carry = w->cc >> i & 1;                                                              \
            W r = (expr);                                                                          \
            (void)carry;                                                                           \
            if (!(mask >> i & 1))                                                                  \
                continue;                                                                          \
            d[i] = (S)r;                                                                           \
            out |= (uint32_t)((r >> (8 * sizeof(S))) & 1) << i;                                    \
        }                                                                                          \
        if (in->flags & F_CC)                                                                      \
            w->cc = (w->cc & ~mask) | out;                                                         \
    }
CARRY(add_cc_32, S32, uint64_t, a + b)
CARRY(add_cc_64, S64, unsigned __int128, a + b)
CARRY(addc_32, S32, uint64_t, a + b + carry)
CARRY(addc_64, S64, unsigned __int128, a + b + carry)
/* After a subtraction the flag holds the borrow. */
CARRY(sub_cc_32, S32, uint64_t, a - b)
CARRY(sub_cc_64, S64, unsigned __int128, a - b)
CARRY(subc_32, S32, uint64_t, a - b - carry)
CARRY(subc_64, S64, unsigned __int128, a - b - carry)

/* product is the chosen half; sub: 1 takes the carry in */
#define MADC(name, S, W, half)                                                                     \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        S *d = (S *)(void *)plane(w, in->d);                                                       \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        const S *pb = (const S *)(void *)plane(w, in->b);                                          \
        const S *pc = (const S *)(void *)plane(w, in->c);                                          \
        uint32_t out = 0;                                                                          \
        for (uint32_t i = 0; i < LANES; i++) {                                                     \
            S a = pa[i];                                                                           \
            S b = pb[i];                                                                           \
            if (!(mask >> i & 1))                                                                  \
                continue;                                                                          \
            W r = (W)(S)(half) + pc[i] + (in->sub ? (w->cc >> i & 1) : 0u);                        \
            d[i] = (S)r;                                                                           \
            out |= (uint32_t)((r >> (8 * sizeof(S))) & 1) << i;                                    \
        }                                                                                          \
        if (in->flags & F_CC)                                                                      \
            w->cc = (w->cc & ~mask) | out;                                                         \
    }
MADC(madc_lo_32, S32, uint64_t, a *b)
MADC(madc_lo_64, S64, unsigned __int128, a *b)
MADC(madc_hi_u32, S32, uint64_t, ((uint64_t)a * b) >> 32)
MADC(madc_hi_s32, S32, uint64_t, ((int64_t)(int32_t)a * (int32_t)b) >> 32)
MADC(madc_hi_u64, S64, unsigned __int128, ((unsigned __int128)a * b) >> 64)
MADC(madc_hi_s64, S64, unsigned __int128, ((__int128)(int64_t)a * (int64_t)b) >> 64)

/* ---- logic and shifts --------------------------------------------------------------------- */

OP2(and_32, S32, uint32_t, a &b)
OP2(and_64, S64, uint64_t, a &b)
OP2(or_32, S32, uint32_t, a | b)
OP2(or_64, S64, uint64_t, a | b)
OP2(xor_32, S32, uint32_t, a ^ b)
OP2(xor_64, S64, uint64_t, a ^ b)
OP1(not_32, S32, uint32_t, ~a)
OP1(not_64, S64, uint64_t, ~a)
OP1(cnot_16, S32, uint16_t, a == 0)
OP1(cnot_32, S32, uint32_t, a == 0)
OP1(cnot_64, S64, uint64_t, a == 0)

/* Shift amounts beyond the width clamp to it. */
OP2U(shl_16, S32, uint16_t, b > 15 ? 0u : (uint32_t)a << b)
OP2U(shl_32, S32, uint32_t, b > 31 ? 0u : a << b)
OP2U(shl_64, S64, uint64_t, b > 63 ? 0u : a << b)
OP2U(shr_u16, S32, uint16_t, b > 15 ? 0 : a >> b)
OP2U(shr_u32, S32, uint32_t, b > 31 ? 0u : a >> b)
OP2U(shr_u64, S64, uint64_t, b > 63 ? 0u : a >> b)
OP2U(shr_s16, S32, int16_t, a >> (b > 15 ? 15 : b))
OP2U(shr_s32, S32, int32_t, a >> (b > 31 ? 31 : b))
OP2U(shr_s64, S64, int64_t, a >> (b > 63 ? 63 : b))

static inline uint32_t shf_amount(const Insn *in, uint32_t c) {
    return in->flags & F_CLAMP ? (c > 32 ? 32 : c) : c & 31;
}

OP3(shf_l, S32, uint32_t, ((uint64_t)b << 32 | a) << shf_amount(in, c) >> 32)
OP3(shf_r, S32, uint32_t, ((uint64_t)b << 32 | a) >> shf_amount(in, c))

/* Bit k of the result is bit (a_k b_k c_k) of the table. */
static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t r = 0;
    r |= table & 0x01 ? ~a & ~b & ~c : 0;
    r |= table & 0x02 ? ~a & ~b & c : 0;
    r |= table & 0x04 ? ~a & b & ~c : 0;
    r |= table & 0x08 ? ~a & b & c : 0;
    r |= table & 0x10 ? a & ~b & ~c : 0;
    r |= table & 0x20 ? a & ~b & c : 0;
    r |= table & 0x40 ? a & b & ~c : 0;
    r |= table & 0x80 ? a & b & c : 0;
    return r;
}

OP3(lop3, S32, uint32_t, lop3(a, b, c, (uint32_t)in->imm))

/* lop3.BoolOp d|p, a, b, c, table, q: p = (d != 0) op q */
void x_lop3_pred(Warp *w, const Insn *in, uint32_t mask) {
    const uint32_t *pd = plane32(w, in->d);
    uint32_t nonzero = 0, q = *pred_of(w, in->e) ^ (in->flags & F_NEGATED ? ALL_LANES : 0);
    x_lop3(w, in, mask);
    for (uint32_t i = 0; i < LANES; i++)
        nonzero |= (uint32_t)(pd[i] != 0) << i;
    nonzero = in->sub2 == MOD_AND ? nonzero & q : in->sub2 == MOD_OR ? nonzero | q : nonzero ^ q;
    set_pred(w, in->d2, nonzero, mask);
}

void x_and_pred(Warp *w, const Insn *in, uint32_t mask) {
    set_pred(w, in->d, *pred_of(w, in->a) & *pred_of(w, in->b), mask);
}

void x_or_pred(Warp *w, const Insn *in, uint32_t mask) {
    set_pred(w, in->d, *pred_of(w, in->a) | *pred_of(w, in->b), mask);
}

void x_xor_pred(Warp *w, const Insn *in, uint32_t mask) {
    set_pred(w, in->d, *pred_of(w, in->a) ^ *pred_of(w, in->b), mask);
}

void x_not_pred(Warp *w, const Insn *in, uint32_t mask) {
    set_pred(w, in->d, ~*pred_of(w, in->a), mask);
}

void x_mov_pred(Warp *w, const Insn *in, uint32_t mask) {
    set_pred(w, in->d, *pred_of(w, in->a), mask);
}

/* ---- bit fields --------------------------------------------------------------------------- */

/* Bits past the field repeat its sign bit, or the word's if the field reaches past the word. */
static inline uint64_t bfe(uint64_t a, uint32_t pos, uint32_t len, uint32_t width, bool sign) {
    pos &= 0xff;
    len &= 0xff;
    uint32_t top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    bool negative = sign && len && (a >> top & 1);
    uint32_t real = pos >= width ? 0 : width - pos < len ? width - pos : len;
    uint64_t keep = real == 64 ? ~(uint64_t)0 : ((uint64_t)1 << real) - 1;
    return (pos >= width ? 0 : a >> pos & keep) | (negative ? ~keep : 0);
}

OP3(bfe_u32, S32, uint32_t, bfe(a, b, c, 32, false))
OP3(bfe_s32, S32, uint32_t, bfe(a, b, c, 32, true))

#define BFE64(name, sign)                                                                          \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        uint64_t *d = plane64(w, in->d);                                                           \
        const uint64_t *pa = plane64(w, in->a);                                                    \
        const uint32_t *pb = plane32(w, in->b), *pc = plane32(w, in->c);                           \
        FOR_LANES(mask, { d[i] = bfe(pa[i], pb[i], pc[i], 64, sign); });                           \
    }
BFE64(bfe_u64, false)
BFE64(bfe_s64, true)

static inline uint64_t bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t width) {
    pos &= 0xff;
    len &= 0xff;
    if (pos >= width || len == 0)
        return b;
    if (len > width - pos)
        len = width - pos;
    uint64_t field = (len == 64 ? ~(uint64_t)0 : ((uint64_t)1 << len) - 1) << pos;
    return (b & ~field) | ((a << pos) & field);
}

#define BFI(name, S, width)                                                                        \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        S *d = (S *)(void *)plane(w, in->d);                                                       \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        const S *pb = (const S *)(void *)plane(w, in->b);                                          \
        const uint32_t *pc = plane32(w, in->c), *pe = plane32(w, in->e);                           \
        FOR_LANES(mask, { d[i] = (S)bfi(pa[i], pb[i], pc[i], pe[i], width); });                    \
    }
BFI(bfi_32, S32, 32)
BFI(bfi_64, S64, 64)

/* Destination 32 bits from a source of S. */
#define COUNT1(name, S, T, expr)                                                                   \
    void x_##name(Warp *w, const Insn *in, uint32_t mask) {                                        \
        uint32_t *d = plane32(w, in->d);                                                           \
        const S *pa = (const S *)(void *)plane(w, in->a);                                          \
        FOR_LANES(mask, {                                                                          \
            T a = (T)pa[i];                                                                        \
            d[i] = (uint32_t)(expr);                                                               \
        });                                                                                        \
    }

static inline uint32_t bfind(uint64_t a, uint32_t width, bool shiftamt) {
    if (a == 0)
        return ~0u;
    uint32_t top = 63u - (uint32_t)__builtin_clzll(a);
    return shiftamt ? width - 1 - top : top;
}

COUNT1(popc_32, S32, uint32_t, __builtin_popcount(a))
COUNT1(popc_64, S64, uint64_t, __builtin_popcountll(a))
COUNT1(clz_32, S32, uint32_t, a ? __builtin_clz(a) : 32)
COUNT1(clz_64, S64, uint64_t, a ? __builtin_clzll(a) : 64)
COUNT1(bfind_u32, S32, uint32_t, bfind(a, 32, in->flags &F_SHIFTAMT))
COUNT1(bfind_s32, S32, int32_t, bfind((uint32_t)(a < 0 ? ~a : a), 32, in->flags &F_SHIFTAMT))
COUNT1(bfind_u64, S64, uint64_t, bfind(a, 64, in->flags &F_SHIFTAMT))
COUNT1(bfind_s64, S64, int64_t, bfind((uint64_t)(a < 0 ? ~a : a), 64, in->flags &F_SHIFTAMT))

static inline uint64_t reverse(uint64_t v, uint32_t width) {
    uint64_t r = 0;
    for (uint32_t k = 0; k < width; k++)
        r |= (v >> k & 1) << (width - 1 - k);
    return r;
}

OP1(brev_32, S32, uint32_t, reverse(a, 32))
OP1(brev_64, S64, uint64_t, reverse(a, 64))

static inline uint32_t field_mask(uint32_t pos, uint32_t len, bool clamp) {
    if (!clamp) {
        pos &= 31;
        len &= 31;
    }
    uint64_t ones = len > 31 ? 0xffffffffu : ((uint64_t)1 << len) - 1;
    return pos > 31 ? 0 : (uint32_t)(ones << pos);
}

OP2(bmsk, S32, uint32_t, field_mask(a, b, in->flags &F_CLAMP))

static inline uint32_t szext(uint32_t a, uint32_t n, bool clamp, bool sign) {
    if (!clamp)
        n &= 31;
    if (n > 31)
        return a;
    uint32_t keep = (1u << n) - 1;
    bool negative = sign && n && (a >> (n - 1) & 1);
    return (a & keep) | (negative ? ~keep : 0);
}

OP2(szext_u, S32, uint32_t, szext(a, b, in->flags &F_CLAMP, false))
OP2(szext_s, S32, uint32_t, szext(a, b, in->flags &F_CLAMP, true))

/* Position of the n-th set bit counted from `base`, upwards for n > 0, downwards for n < 0. */
static inline uint32_t fns(uint32_t m, uint32_t base, int32_t n) {
    int32_t step = n < 0 ? -1 : 1, left = n == 0 ? 1 : n < 0 ? -n : n;
    if (n == 0)
        return base < 32 && (m >> base & 1) ? base : ~0u;
    for (int32_t p = base < 32 ? (int32_t)base : -1; p >= 0 && p < 32; p += step)
        if ((m >> p & 1) && --left == 0)
            return (uint32_t)p;
    return ~0u;
}

OP3(fns, S32, uint32_t, fns(a, b, (int32_t)c))

/* ---- permute, dot products ---------------------------------------------------------------- */

static inline uint32_t prmt_byte(uint64_t both, uint32_t sel) {
    uint32_t v = (uint32_t)(both >> (8 * (sel & 7))) & 0xff;
    return sel & 8 ? (v & 0x80 ? 0xff : 0) : v;
}

static const uint8_t prmt_modes[][4][4] = {
    {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}, /* f4e */
    {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}, /* b4e */
    {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}, /* rc8 */
    {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}, /* ecl */
    {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}, /* ecr */
    {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}  /* rc16 */
};

static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t c, uint32_t mode) {
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t sel = mode ? prmt_modes[mode - 1][c & 3][k] : c >> (4 * k) & 15;
        r |= prmt_byte(both, sel) << (8 * k);
    }
    return r;
}

OP3(prmt, S32, uint32_t, prmt(a, b, c, in->sub))

static inline int32_t lane_byte(uint32_t v, int k, bool sign) {
    uint32_t byte = v >> (8 * k) & 0xff;
    return sign ? (int32_t)(int8_t)byte : (int32_t)byte;
}

/* sub: bit 0 a is signed, bit 1 b is signed */
static inline uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, uint32_t sub) {
    for (int k = 0; k < 4; k++)
        c += (uint32_t)(lane_byte(a, k, sub & 1) * lane_byte(b, k, sub & 2));
    return c;
}

static inline uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, uint32_t sub, bool high) {
    for (int k = 0; k < 2; k++) {
        uint32_t half = a >> (16 * k) & 0xffff;
        int32_t x = sub & 1 ? (int32_t)(int16_t)half : (int32_t)half;
        c += (uint32_t)x * (uint32_t)lane_byte(b, k + (high ? 2 : 0), sub & 2);
    }
    return c;
}

OP3(dp4a, S32, uint32_t, dp4a(a, b, c, in->sub))
OP3(dp2a, S32, uint32_t, dp2a(a, b, c, in->sub, in->sub2))
