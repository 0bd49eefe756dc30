/* Single instructions over edge and random operands, against plain C written from the PTX manual.
 * One small kernel is made for each row: it loads a, b, c, executes the row's text, stores d. */
#include "emu/operands.h"
#include "emu_fixture.h"
#include <fenv.h>
#include <math.h>

typedef struct Operands {
    uint64_t a, b, c;
} Operands;

typedef uint64_t Reference(const Operands *o);

/* Register classes of d, a, b, c: 'r' 32 bits, 'd' 64 bits, 'h' 16 bits. The text uses %rN/%rdN/%hN
 * with N = 0 for d, 1 to 3 for a to c. */
typedef struct Row {
    const char *text, *classes;
    Reference *want;
} Row;

/* ---- formats ------------------------------------------------------------------------------ */

static float f32(uint64_t bits) {
    uint32_t narrow = (uint32_t)bits;
    float f;
    memcpy(&f, &narrow, 4);
    return f;
}

static uint64_t u32(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return f != f ? 0x7fffffffu : bits;
}

static double f64(uint64_t bits) {
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

static uint64_t u64(double d) {
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return d != d ? 0xfff8000000000000u : bits;
}

/* Value of a small float, by its definition. */
static double small(uint64_t bits, int ebits, int mbits) {
    int e = (int)(bits >> mbits) & ((1 << ebits) - 1);
    double m = (double)(bits & ((1u << mbits) - 1)), s = bits >> (ebits + mbits) & 1 ? -1 : 1;
    int bias = (1 << (ebits - 1)) - 1;
    if (e == (1 << ebits) - 1)
        return m != 0 ? (double)NAN : s * (double)INFINITY;
    return s * ldexp(e ? m + (double)(1 << mbits) : m, (e ? e : 1) - bias - mbits);
}

static double half(uint64_t bits) {
    return small(bits & 0xffff, 5, 10);
}

static double brain(uint64_t bits) {
    return small(bits & 0xffff, 8, 7);
}

/* Nearest small float, ties to even, by looking at the two neighbours of a truncation. */
static uint64_t to_small(double v, int ebits, int mbits) {
    uint64_t sign = (uint64_t)(signbit(v) != 0) << (ebits + mbits);
    uint64_t infinite = (((uint64_t)1 << ebits) - 1) << mbits, low = 0, high = infinite;
    double a = fabs(v);
    if (v != v)
        return 0x7fff;
    while (high - low > 1) { /* largest value not above a */
        uint64_t mid = (low + high) / 2;
        if (small(mid, ebits, mbits) <= a)
            low = mid;
        else
            high = mid;
    }
    double x = small(low, ebits, mbits), step = x - small(low ? low - 1 : 0, ebits, mbits);
    double y = low + 1 == infinite ? x + step : small(low + 1, ebits, mbits);
    if (low == infinite || isinf(a))
        return sign | infinite;
    return sign | (a - x > y - a || (a - x == y - a && (low & 1)) ? low + 1 : low);
}

static uint64_t to_half(double v) {
    return to_small(v, 5, 10);
}

static uint64_t to_brain(double v) {
    return to_small(v, 8, 7);
}

/* ---- references --------------------------------------------------------------------------- */

#define REF(name, expr)                                                                            \
    static uint64_t name(const Operands *o) {                                                      \
        uint64_t a = o->a, b = o->b, c = o->c;                                                     \
        uint32_t A = (uint32_t)a, B = (uint32_t)b, C = (uint32_t)c;                                \
        int32_t sA = (int32_t)A, sB = (int32_t)B, sC = (int32_t)C;                                 \
        (void)a, (void)b, (void)c, (void)A, (void)B, (void)C, (void)sA, (void)sB, (void)sC;        \
        return (uint64_t)(expr);                                                                   \
    }

static int64_t clamp(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

REF(r_add, (uint32_t)(A + B))
REF(r_addsat, (uint32_t)clamp((int64_t)sA + sB, INT32_MIN, INT32_MAX))
REF(r_subsat, (uint32_t)clamp((int64_t)sA - sB, INT32_MIN, INT32_MAX))
REF(r_sub64, a - b)
REF(r_mulhi_u, (uint32_t)((uint64_t)A * B >> 32))
REF(r_mulhi_s, (uint32_t)((int64_t)sA * sB >> 32))
REF(r_wide_s, (int64_t)sA *sB)
REF(r_wide_u, (uint64_t)A *B)
REF(r_madlo, (uint32_t)(A * B + C))
REF(r_madhisat, (uint32_t)clamp(((int64_t)sA * sB >> 32) + sC, INT32_MIN, INT32_MAX))
REF(r_madwide, (uint64_t)((int64_t)sA * sB) + c)
REF(r_mulhi16, (uint16_t)((int32_t)(int16_t)a * (int16_t)b >> 16))
REF(r_sad, (uint32_t)(C + (sA < sB ? B - A : A - B)))
REF(r_div_s, sB == 0 ? UINT32_MAX : sB == -1 ? 0u - A : (uint32_t)(sA / sB))
REF(r_rem_u, B ? A % B : 0xffffffffu)
REF(r_abs, (uint32_t)(sA < 0 ? 0u - A : A))
REF(r_min_s, (uint32_t)(sA < sB ? sA : sB))
REF(r_max_u64, a > b ? a : b)
REF(r_shl, B > 31 ? 0 : (uint32_t)(A << (B & 31)))
REF(r_shr_s, (uint32_t)(sA >> (B > 31 ? 31 : B)))
REF(r_shr64, B > 63 ? 0 : a >> (B & 63))
REF(r_popc, __builtin_popcountll(a))
REF(r_clz, A ? __builtin_clz(A) : 32)
REF(r_mul24, (uint32_t)((int64_t)((int32_t)(A << 8) >> 8) * ((int32_t)(B << 8) >> 8)))

static uint64_t r_funnel_left(const Operands *o) {
    uint32_t n = (uint32_t)o->c & 31, hi = (uint32_t)o->b, lo = (uint32_t)o->a;
    return n ? (uint32_t)(hi << n | lo >> (32 - n)) : hi;
}

static uint64_t r_funnel_right_clamp(const Operands *o) {
    uint32_t n = (uint32_t)o->c, hi = (uint32_t)o->b, lo = (uint32_t)o->a;
    return n >= 32 ? hi : n ? (uint32_t)(hi << (32 - n) | lo >> n) : lo;
}

static uint64_t bit_field(uint64_t a, uint64_t b, uint64_t c, uint32_t msb, bool sign) {
    uint32_t pos = b & 0xff, len = c & 0xff;
    uint32_t top = pos + len - 1 < msb ? pos + len - 1 : msb;
    bool fill = sign && len && (a >> top & 1);
    uint64_t d = 0;
    for (uint32_t i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? (a >> (pos + i) & 1) : fill) << i;
    return d;
}
REF(r_bfe_s, (uint32_t)bit_field(A, b, c, 31, true))
REF(r_bfe_u, (uint32_t)bit_field(A, b, c, 31, false))
REF(r_bfe_s64, bit_field(a, B, C, 63, true))

static uint64_t r_bfi(const Operands *o) {
    uint32_t f = (uint32_t)o->b, pos = o->c & 0xff;
    for (uint32_t i = 0; i < 7 && pos + i <= 31; i++) {
        f &= ~(1u << (pos + i));
        f |= ((uint32_t)o->a >> i & 1) << (pos + i);
    }
    return f;
}

static uint64_t r_brev(const Operands *o) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= ((uint32_t)o->a >> i & 1) << (31 - i);
    return r;
}

static uint64_t r_prmt(const Operands *o) {
    uint8_t bytes[8];
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(o->a >> (8 * i));
        bytes[i + 4] = (uint8_t)(o->b >> (8 * i));
    }
    for (int i = 0; i < 4; i++) {
        uint32_t s = (uint32_t)o->c >> (4 * i) & 15;
        uint32_t v = bytes[s & 7];
        r |= (s & 8 ? (v & 0x80 ? 0xff : 0) : v) << (8 * i);
    }
    return r;
}

static uint64_t r_lop3(const Operands *o) { /* table 0xb8 */
    uint32_t r = 0;
    for (int i = 0; i < 32; i++) {
        uint32_t k = (uint32_t)(o->a >> i & 1) << 2 | (uint32_t)(o->b >> i & 1) << 1 |
                     (uint32_t)(o->c >> i & 1);
        r |= (0xb8u >> k & 1) << i;
    }
    return r;
}

static uint64_t r_dp4a(const Operands *o) {
    int32_t s = (int32_t)o->c;
    for (int i = 0; i < 4; i++)
        s = (int32_t)((uint32_t)s +
                      (uint32_t)((int8_t)(o->a >> (8 * i)) * (uint8_t)(o->b >> (8 * i))));
    return (uint32_t)s;
}

static uint64_t r_dp2a(const Operands *o) {
    int32_t s = (int32_t)o->c;
    for (int i = 0; i < 2; i++)
        s = (int32_t)((uint32_t)s +
                      (uint32_t)((int16_t)(o->a >> (16 * i)) * (int8_t)(o->b >> (8 * i + 16))));
    return (uint32_t)s;
}

/* 96-bit sum and difference through the carry flag; the top word comes out */
REF(r_carry, (uint32_t)(A + B + (uint32_t)(((uint64_t)A + C) >> 32)))
REF(r_borrow, (uint32_t)(A - B - (A < C)))

/* comparisons give 1 or 0 */
REF(r_lt_f, f32(a) < f32(b))
REF(r_geu_f, !(f32(a) < f32(b)))
REF(r_ne_f, f32(a) < f32(b) || f32(a) > f32(b))
REF(r_num_f, f32(a) == f32(a) && f32(b) == f32(b))
REF(r_hi, A > B)
REF(r_le_and, sA <= sB && sC != 0)
REF(r_slct, (uint32_t)(sC >= 0 ? A : B))

/* floats */
REF(r_fadd, u32(f32(a) + f32(b)))
REF(r_fmul, u32(f32(a) * f32(b)))
REF(r_ffma, u32(fmaf(f32(a), f32(b), f32(c))))
REF(r_fdiv, u32(f32(a) / f32(b)))
REF(r_fsqrt, u32(sqrtf(f32(a))))

/* The first NaN operand of a double passes through, quiet. */
static uint64_t first_nan(double r, uint64_t a, uint64_t b, uint64_t c) {
    uint64_t quiet = 0x0008000000000000u;
    if (r == r)
        return u64(r);
    return isnan(f64(a))   ? a | quiet
           : isnan(f64(b)) ? b | quiet
           : isnan(f64(c)) ? c | quiet
                           : u64(r);
}
REF(r_dfma, first_nan(fma(f64(a), f64(b), f64(c)), b, c, a))
REF(r_ddiv, first_nan(f64(a) / f64(b), a, b, 0))

static float flush(float f) {
    return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f;
}
REF(r_fadd_ftz, u32(flush(flush(f32(a)) + flush(f32(b)))))
REF(r_fmul_sat, u32(f32(a) * f32(b) > 1 ? 1 : f32(a) * f32(b) > 0 ? f32(a) * f32(b) : 0))

/* A directed sum is the nearest one, moved by one place where it lies on the wrong side. Doubles
 * hold the difference of the exponents that the test gives exactly enough to tell the side. */
static float directed(long double exact, int mode) {
    float r = (float)exact;
    if (isnan(r) || (isinf(r) && isinf((double)exact)))
        return r;
    if (mode == FE_UPWARD && (long double)r < exact)
        return nextafterf(r, INFINITY);
    if (mode == FE_DOWNWARD && (long double)r > exact)
        return nextafterf(r, -INFINITY);
    if (mode == FE_TOWARDZERO && fabsl((long double)r) > fabsl(exact))
        return nextafterf(r, 0);
    return r;
}
REF(r_fmul_rz, u32(directed((long double)f32(a) * f32(b), FE_TOWARDZERO)))
REF(r_fmul_rp, u32(directed((long double)f32(a) * f32(b), FE_UPWARD)))
REF(r_fmul_rm, u32(directed((long double)f32(a) * f32(b), FE_DOWNWARD)))

static float least(float a, float b) {
    if (a != a)
        return b;
    if (b != b)
        return a;
    if (a == b)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}
REF(r_fmin, u32(least(f32(a), f32(b))))
REF(r_fmax_nan, f32(a) != f32(a) || f32(b) != f32(b) ? 0x7fffffffu : u32(-least(-f32(a), -f32(b))))
REF(r_copysign, (A & 0x80000000u) | (B & 0x7fffffffu))

/* halves */
REF(r_hadd, to_half(half(a) + half(b)))
REF(r_hmul, to_half(half(a) * half(b)))
REF(r_badd, to_brain(brain(a) + brain(b)))
REF(r_bmul, to_brain(brain(a) * brain(b)))
REF(r_hmul2, to_half(half(a) * half(b)) | to_half(half(a >> 16) * half(b >> 16)) << 16)
REF(r_hlt, half(a) < half(b))

/* conversions */
REF(r_f2h, to_half(f32(a)))
REF(r_f2b, to_brain(f32(a)))
REF(r_h2f, u32((float)half(a)))
REF(r_pack, to_half(f32(a)) << 16 | to_half(f32(b)))
REF(r_packb, to_brain(f32(a)) << 16 | to_brain(f32(b)))
REF(r_s2f, u32((float)sA))
REF(r_u64f, u32((float)a))
/* a NaN hands on its sign and its leading bits */
REF(r_d2f,
    isnan(f64(a)) ? (a >> 63) << 31 | 0x7fc00000u | (a >> 29 & 0x3fffff) : u32((float)f64(a)))
REF(r_s8, (uint32_t)(int32_t)(int8_t)a)
REF(r_satu8, (uint32_t)clamp(sA, 0, 255))
REF(r_sats16, (uint32_t)(int32_t)clamp((int64_t)a, -32768, 32767))
REF(r_s32_64, (int64_t)sA)

static uint64_t to_int(double v, double low, double high, uint64_t low_bits, uint64_t high_bits,
                       uint64_t nan) {
    return v != v ? nan : v <= low ? low_bits : v >= high ? high_bits : (uint64_t)(int64_t)v;
}
REF(r_f2s, (uint32_t)to_int(trunc(f32(a)), -2147483648.0, 2147483647.0, 0x80000000u, 0x7fffffff, 0))
REF(r_f2u_rni, (uint32_t)to_int(nearbyint(f32(a)), 0, 4294967295.0, 0, 0xffffffffu, 0))
REF(r_f2u_rpi, (uint32_t)to_int(ceil(f32(a)), 0, 4294967295.0, 0, 0xffffffffu, 0))
REF(r_f2s8, (uint32_t)to_int(floor(f32(a)), -128, 127, (uint64_t)-128, 127, 0))
REF(r_d2s64,
    to_int(trunc(f64(a)), -0x1p63, 0x1p63, (uint64_t)1 << 63, INT64_MAX, (uint64_t)1 << 63))
REF(r_frni, u32(nearbyintf(f32(a))))

#define P(text) "{\n.reg .pred %p;\n" text "\nselp.b32 %r0, 1, 0, %p;\n}"

static const Row rows[] = {
    {"add.s32 %r0, %r1, %r2;", "rrr", r_add},
    {"add.sat.s32 %r0, %r1, %r2;", "rrr", r_addsat},
    {"sub.sat.s32 %r0, %r1, %r2;", "rrr", r_subsat},
    {"sub.s64 %rd0, %rd1, %rd2;", "ddd", r_sub64},
    {"mul.hi.u32 %r0, %r1, %r2;", "rrr", r_mulhi_u},
    {"mul.hi.s32 %r0, %r1, %r2;", "rrr", r_mulhi_s},
    {"mul.wide.s32 %rd0, %r1, %r2;", "drr", r_wide_s},
    {"mul.wide.u32 %rd0, %r1, %r2;", "drr", r_wide_u},
    {"mad.lo.s32 %r0, %r1, %r2, %r3;", "rrrr", r_madlo},
    {"mad.hi.sat.s32 %r0, %r1, %r2, %r3;", "rrrr", r_madhisat},
    {"mad.wide.s32 %rd0, %r1, %r2, %rd3;", "drrd", r_madwide},
    {"mul.hi.s16 %h0, %h1, %h2;", "hhh", r_mulhi16},
    {"mul24.lo.s32 %r0, %r1, %r2;", "rrr", r_mul24},
    {"sad.s32 %r0, %r1, %r2, %r3;", "rrrr", r_sad},
    {"div.s32 %r0, %r1, %r2;", "rrr", r_div_s},
    {"rem.u32 %r0, %r1, %r2;", "rrr", r_rem_u},
    {"abs.s32 %r0, %r1;", "rr", r_abs},
    {"min.s32 %r0, %r1, %r2;", "rrr", r_min_s},
    {"max.u64 %rd0, %rd1, %rd2;", "ddd", r_max_u64},
    {"shl.b32 %r0, %r1, %r2;", "rrr", r_shl},
    {"shr.s32 %r0, %r1, %r2;", "rrr", r_shr_s},
    {"shr.u64 %rd0, %rd1, %r2;", "ddr", r_shr64},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", "rrrr", r_funnel_left},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", "rrrr", r_funnel_right_clamp},
    {"popc.b64 %r0, %rd1;", "rd", r_popc},
    {"clz.b32 %r0, %r1;", "rr", r_clz},
    {"bfe.s32 %r0, %r1, %r2, %r3;", "rrrr", r_bfe_s},
    {"bfe.u32 %r0, %r1, %r2, %r3;", "rrrr", r_bfe_u},
    {"bfe.s64 %rd0, %rd1, %r2, %r3;", "ddrr", r_bfe_s64},
    {"bfi.b32 %r0, %r1, %r2, %r3, 7;", "rrrr", r_bfi},
    {"brev.b32 %r0, %r1;", "rr", r_brev},
    {"prmt.b32 %r0, %r1, %r2, %r3;", "rrrr", r_prmt},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xb8;", "rrrr", r_lop3},
    {"dp4a.s32.u32 %r0, %r1, %r2, %r3;", "rrrr", r_dp4a},
    {"dp2a.hi.s32.s32 %r0, %r1, %r2, %r3;", "rrrr", r_dp2a},
    {"{\n.reg .b32 %t;\nadd.cc.u32 %t, %r1, %r3;\naddc.u32 %r0, %r1, %r2;\n}", "rrrr", r_carry},
    {"{\n.reg .b32 %t;\nsub.cc.u32 %t, %r1, %r3;\nsubc.u32 %r0, %r1, %r2;\n}", "rrrr", r_borrow},
    {P("setp.lt.f32 %p, %r1, %r2;"), "rrr", r_lt_f},
    {P("setp.geu.f32 %p, %r1, %r2;"), "rrr", r_geu_f},
    {P("setp.ne.f32 %p, %r1, %r2;"), "rrr", r_ne_f},
    {P("setp.num.f32 %p, %r1, %r2;"), "rrr", r_num_f},
    {P("setp.hi.u32 %p, %r1, %r2;"), "rrr", r_hi},
    {P(".reg .pred %q;\nsetp.ne.s32 %q, %r3, 0;\nsetp.le.and.s32 %p, %r1, %r2, %q;"), "rrrr",
     r_le_and},
    {P(".reg .pred %q, %n;\nsetp.ge.s32 %n|%p, %r1, %r2;"), "rrr", NULL},
    {"slct.b32.s32 %r0, %r1, %r2, %r3;", "rrrr", r_slct},
    {"add.rn.f32 %r0, %r1, %r2;", "rrr", r_fadd},
    {"add.f32 %r0, %r1, %r2;", "rrr", r_fadd},
    {"add.ftz.f32 %r0, %r1, %r2;", "rrr", r_fadd_ftz},
    {"mul.f32 %r0, %r1, %r2;", "rrr", r_fmul},
    {"mul.sat.f32 %r0, %r1, %r2;", "rrr", r_fmul_sat},
    {"mul.rz.f32 %r0, %r1, %r2;", "rrr", r_fmul_rz},
    {"mul.rp.f32 %r0, %r1, %r2;", "rrr", r_fmul_rp},
    {"mul.rm.f32 %r0, %r1, %r2;", "rrr", r_fmul_rm},
    {"fma.rn.f32 %r0, %r1, %r2, %r3;", "rrrr", r_ffma},
    {"div.rn.f32 %r0, %r1, %r2;", "rrr", r_fdiv},
    {"sqrt.rn.f32 %r0, %r1;", "rr", r_fsqrt},
    {"fma.rn.f64 %rd0, %rd1, %rd2, %rd3;", "dddd", r_dfma},
    {"div.rn.f64 %rd0, %rd1, %rd2;", "ddd", r_ddiv},
    {"min.f32 %r0, %r1, %r2;", "rrr", r_fmin},
    {"max.NaN.f32 %r0, %r1, %r2;", "rrr", r_fmax_nan},
    {"copysign.f32 %r0, %r1, %r2;", "rrr", r_copysign},
    {"add.rn.f16 %h0, %h1, %h2;", "hhh", r_hadd},
    {"mul.rn.f16 %h0, %h1, %h2;", "hhh", r_hmul},
    {"add.rn.bf16 %h0, %h1, %h2;", "hhh", r_badd},
    {"mul.rn.bf16 %h0, %h1, %h2;", "hhh", r_bmul},
    {"mul.rn.f16x2 %r0, %r1, %r2;", "rrr", r_hmul2},
    {P("setp.lt.f16 %p, %h1, %h2;"), "rhh", r_hlt},
    {"cvt.rn.f16.f32 %h0, %r1;", "hr", r_f2h},
    {"cvt.rn.bf16.f32 %h0, %r1;", "hr", r_f2b},
    {"cvt.f32.f16 %r0, %h1;", "rh", r_h2f},
    {"cvt.rn.f16x2.f32 %r0, %r1, %r2;", "rrr", r_pack},
    {"cvt.rn.bf16x2.f32 %r0, %r1, %r2;", "rrr", r_packb},
    {"cvt.rn.f32.s32 %r0, %r1;", "rr", r_s2f},
    {"cvt.rn.f32.u64 %r0, %rd1;", "rd", r_u64f},
    {"cvt.rn.f32.f64 %r0, %rd1;", "rd", r_d2f},
    {"cvt.s8.s32 %r0, %r1;", "rr", r_s8},
    {"cvt.sat.u8.s32 %r0, %r1;", "rr", r_satu8},
    {"cvt.sat.s16.s64 %r0, %rd1;", "rd", r_sats16},
    {"cvt.s64.s32 %rd0, %r1;", "dr", r_s32_64},
    {"cvt.rzi.s32.f32 %r0, %r1;", "rr", r_f2s},
    {"cvt.rni.u32.f32 %r0, %r1;", "rr", r_f2u_rni},
    {"cvt.rpi.u32.f32 %r0, %r1;", "rr", r_f2u_rpi},
    {"cvt.rmi.s8.f32 %r0, %r1;", "rr", r_f2s8},
    {"cvt.rzi.s64.f64 %rd0, %rd1;", "dd", r_d2s64},
    {"cvt.rni.f32.f32 %r0, %r1;", "rr", r_frni},
};

static uint64_t r_lt(const Operands *o) {
    return (int32_t)o->a < (int32_t)o->b;
}

/* ---- running ------------------------------------------------------------------------------ */

enum { COUNT = 4096 };

static void fill(Operands *in) {
    uint64_t seed = 88172645463325252u, n = OPERAND_COUNT;
    for (uint64_t i = 0; i < COUNT; i++) {
        in[i].a = i < COUNT * 3 / 4 ? operand(i) : emu_random(&seed);
        in[i].b = i < COUNT / 2 ? operand(i * 7 + i / n) : emu_random(&seed);
        in[i].c = i < COUNT * 3 / 5 ? operand(i * 5 + i / 3) : emu_random(&seed);
        if (i >= COUNT * 7 / 8) { /* floats of one magnitude, where roundings show */
            in[i].a = (in[i].a & 0xbfffffffffffffffu) | 0x3f00000030000000u;
            in[i].b = (in[i].b & 0xbfffffffffffffffu) | 0x3f00000030000000u;
        }
    }
}

static const char *type_of(char c) {
    return c == 'd' ? "b64" : c == 'h' ? "b16" : "b32";
}

static const char *reg_of(char c) {
    return c == 'd' ? "rd" : c == 'h' ? "h" : "r";
}

static void make_kernel(const Row *row, char *text, size_t size) {
    int n = snprintf(text, size,
                     ".version 8.6\n.target sm_90a\n.address_size 64\n"
                     ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                     ".reg .b16 %%h<4>;\n.reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\n"
                     ".reg .b64 %%in, %%out;\n.reg .b32 %%i, %%t;\n.reg .b64 %%o;\n"
                     "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n"
                     "mov.u32 %%i, %%ctaid.x;\nshl.b32 %%i, %%i, 8;\nmov.u32 %%t, "
                     "%%tid.x;\nadd.u32 %%i, %%i, %%t;\nmul.wide.u32 %%o, %%i, 24;\n"
                     "add.u64 %%in, %%in, %%o;\nmul.wide.u32 %%o, %%i, 8;\n"
                     "add.u64 %%out, %%out, %%o;\n");
    for (int k = 1; row->classes[k]; k++)
        n += snprintf(text + n, size - (size_t)n, "ld.global.%s %%%s%d, [%%in+%d];\n",
                      type_of(row->classes[k]), reg_of(row->classes[k]), k, 8 * (k - 1));
    snprintf(text + n, size - (size_t)n, "%s\nst.global.%s [%%out], %%%s0;\nret;\n}\n", row->text,
             type_of(row->classes[0]), reg_of(row->classes[0]));
}

static Operands as_seen(const Row *row, Operands o) {
    uint64_t *v[] = {&o.a, &o.b, &o.c};
    for (int k = 1; row->classes[k]; k++) {
        if (row->classes[k] == 'r')
            *v[k - 1] &= 0xffffffffu;
        if (row->classes[k] == 'h')
            *v[k - 1] &= 0xffff;
    }
    return o;
}

static void test_rows(void **state) {
    static char text[4096];
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        Emu e = emu_open(NULL);
        Operands *in = emu_new(&e, COUNT * sizeof *in);
        uint64_t *out = emu_zeros(&e, COUNT * 8);
        Reference *want = rows[r].want ? rows[r].want : r_lt;
        fill(in);
        make_kernel(&rows[r], text, sizeof text);
        emu_load(&e, text, strlen(text), rows[r].text);
        emu_run(&e, "k", DIM(COUNT / 256, 1, 1), DIM(256, 1, 1), 0, (void *[]){&in, &out});
        for (int i = 0; i < COUNT; i++) {
            Operands o = as_seen(&rows[r], in[i]);
            uint64_t w = want(&o);
            if (rows[r].classes[0] == 'r')
                w &= 0xffffffffu;
            if (rows[r].classes[0] == 'h')
                w &= 0xffff;
            if (out[i] != w)
                fail_msg("%s with a %llx b %llx c %llx: %llx, expected %llx", rows[r].text,
                         (unsigned long long)o.a, (unsigned long long)o.b, (unsigned long long)o.c,
                         (unsigned long long)out[i], (unsigned long long)w);
        }
        emu_close(&e);
    }
}

/* ---- approximations: within PTX's stated error --------------------------------------------- */

static const struct {
    const char *text;
    double (*want)(double);
    float low, high;
    double absolute, relative;
} approximations[] = {
    {"ex2.approx.f32 %r0, %r1;", exp2, -20, 20, 0, 0x1p-22},
    {"lg2.approx.f32 %r0, %r1;", log2, 2.5f, 1000, 0, 0x1p-22},
    {"sin.approx.f32 %r0, %r1;", sin, -3.14f, 3.14f, 0x1p-20, 0},
    {"cos.approx.f32 %r0, %r1;", cos, -3.14f, 3.14f, 0x1p-20, 0},
    {"tanh.approx.f32 %r0, %r1;", tanh, -5, 5, 0, 0x1p-11},
};

static void test_approximations(void **state) {
    static char text[4096];
    (void)state;
    for (size_t r = 0; r < sizeof approximations / sizeof *approximations; r++) {
        Emu e = emu_open(NULL);
        Row row = {approximations[r].text, "rr", NULL};
        Operands *in = emu_zeros(&e, COUNT * sizeof *in);
        uint64_t *out = emu_zeros(&e, COUNT * 8);
        for (int i = 0; i < COUNT; i++) {
            float x = approximations[r].low +
                      (approximations[r].high - approximations[r].low) * (float)i / (float)COUNT;
            in[i].a = u32(x);
        }
        make_kernel(&row, text, sizeof text);
        emu_load(&e, text, strlen(text), row.text);
        emu_run(&e, "k", DIM(COUNT / 256, 1, 1), DIM(256, 1, 1), 0, (void *[]){&in, &out});
        for (int i = 0; i < COUNT; i++) {
            double w = approximations[r].want((double)f32(in[i].a)), got = (double)f32(out[i]);
            assert_true(fabs(got - w) <=
                        approximations[r].absolute + approximations[r].relative * fabs(w));
        }
        emu_close(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_approximations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
