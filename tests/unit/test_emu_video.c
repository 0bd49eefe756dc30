/* Video instructions, packing conversions and later arithmetic, one instruction at a time, against
 * C written from the PTX manual. Every row is one kernel over random and edge operands. */
#include "emu_fixture.h"
#include <math.h>

typedef struct Operands {
    uint32_t a, b, c;
} Operands;

typedef uint32_t Reference(const Operands *o);

typedef struct Row {
    const char *text; /* %r1 to %r3, %f1 to %f3, %h1 to %h3 in, %r0 out */
    Reference *want;
} Row;

static int64_t clamp(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

static int64_t byte(uint32_t v, int i) {
    return (int8_t)(v >> (8 * i));
}

static int64_t ubyte(uint32_t v, int i) {
    return v >> (8 * i) & 255;
}

static int64_t half(uint32_t v, int i) {
    return (int16_t)(v >> (16 * i));
}

static int64_t uhalf(uint32_t v, int i) {
    return v >> (16 * i) & 0xffff;
}

static float f32(uint32_t bits) {
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t u32(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return f != f ? 0x7fffffffu : bits;
}

#define REF(name, expr)                                                                            \
    static uint32_t name(const Operands *o) {                                                      \
        uint32_t a = o->a, b = o->b, c = o->c;                                                     \
        (void)a, (void)b, (void)c;                                                                 \
        return (uint32_t)(expr);                                                                   \
    }
/* n parts, each by `expr` of k; the low `bits` of it count */
#define PARTS(name, n, expr)                                                                       \
    static uint32_t name(const Operands *o) {                                                      \
        uint32_t a = o->a, b = o->b, c = o->c, r = 0;                                              \
        (void)a, (void)b, (void)c;                                                                 \
        for (int k = 0; k < (n); k++)                                                              \
            r |= ((uint32_t)(expr) & (0xffffffffu >> (32 - 32 / (n)))) << (k * 32 / (n));          \
        return r;                                                                                  \
    }
#define SUMS(name, n, expr)                                                                        \
    static uint32_t name(const Operands *o) {                                                      \
        uint32_t a = o->a, b = o->b, r = o->c;                                                     \
        (void)b;                                                                                   \
        for (int k = 0; k < (n); k++)                                                              \
            r += (uint32_t)(expr);                                                                 \
        return r;                                                                                  \
    }

REF(r_add, a + b)
REF(r_add_parts, byte(a, 0) + half(b, 1))
REF(r_add_sat, clamp((int64_t)(int32_t)a + (int32_t)b, INT32_MIN, INT32_MAX))
REF(r_add_add, byte(a, 3) + uhalf(b, 0) + c)
REF(r_sub_max, (int32_t)(a - b) > (int32_t)c ? a - b : c)
REF(r_diff, (int32_t)a > (int32_t)b ? a - b : b - a)
REF(r_diff_u,
    (ubyte(a, 0) > ubyte(b, 2) ? ubyte(a, 0) - ubyte(b, 2) : ubyte(b, 2) - ubyte(a, 0)) + c)
REF(r_min_merge,
    (c & 0xff00ffffu) | ((uint32_t)(byte(a, 1) < byte(b, 2) ? byte(a, 1) : byte(b, 2)) & 255) << 16)
REF(r_max_half, (c & 0xffffu) | (uint32_t)(uhalf(a, 0) > uhalf(b, 1) ? uhalf(a, 0) : uhalf(b, 1))
                                    << 16)
REF(r_shl_clamp, b > 31 ? 0 : a << (b & 31))
REF(r_shl_wrap, (a << (b & 31)) + c)
REF(r_shr_clamp, (int32_t)a >> (b > 31 ? 31 : b))
REF(r_shr_wrap, uhalf(a, 1) >> (b & 31))
REF(r_mad, byte(a, 0) * byte(b, 1) + (int32_t)c)
REF(r_mad_neg, -(half(a, 0) * half(b, 1)) + (int32_t)c)
REF(r_mad_c, byte(a, 3) * half(b, 0) - (int32_t)c)
REF(r_mad_po, (half(a, 0) * half(b, 1) + (int32_t)c + 1))
REF(r_mad_shr, (half(a, 0) * half(b, 1) + (int32_t)c) >> 7)
REF(r_mad_sat, clamp((int64_t)(int32_t)a *(int32_t)b + (int32_t)c, INT32_MIN, INT32_MAX))
REF(r_set, (int32_t)a < (int64_t)b)
REF(r_set_add, (a >= b) + c)
PARTS(r_add2, 2, half(a, k) + half(b, k))
PARTS(r_sub2_sat, 2, clamp(half(a, k) - half(b, k), -32768, 32767))
PARTS(r_min2, 2, half(a, k) < half(b, k) ? half(a, k) : half(b, k))
PARTS(r_average2, 2, (half(a, k) + half(b, k) + (half(a, k) + half(b, k) >= 0)) >> 1)
PARTS(r_set2, 2, half(a, k) > half(b, k))
PARTS(r_cross2, 2, k == 0 ? half(b, 0) + half(a, 1) : half(a, 0) + half(b, 1))
REF(r_upper2, (c & 0xffff) | (uint32_t)(uhalf(a, 1) - uhalf(b, 1)) << 16)
PARTS(r_add4, 4, byte(a, k) + byte(b, k))
PARTS(r_add4_sat, 4, clamp(ubyte(a, k) + ubyte(b, k), 0, 255))
PARTS(r_max4, 4, ubyte(a, k) > ubyte(b, k) ? ubyte(a, k) : ubyte(b, k))
PARTS(r_average4, 4, (ubyte(a, k) + ubyte(b, k) + 1) >> 1)
SUMS(r_diff4, 4, llabs(byte(a, k) - byte(b, k)))
SUMS(r_set4, 4, ubyte(a, k) <= ubyte(b, k))
SUMS(r_diff2, 2, llabs(uhalf(a, k) - uhalf(b, k)))
REF(r_some4, (c & 0x00ff00ffu) | (uint32_t)(ubyte(a, 3) + ubyte(b, 3)) % 256 << 24 |
                 (uint32_t)(ubyte(a, 1) + ubyte(b, 1)) % 256 << 8)

REF(r_pack16, (uint32_t)clamp((int32_t)a, -32768, 32767) << 16 |
                  ((uint32_t)clamp((int32_t)b, -32768, 32767) & 0xffff))
REF(r_pack8,
    c << 16 | (uint32_t)clamp((int32_t)a, 0, 255) << 8 | (uint32_t)clamp((int32_t)b, 0, 255))
REF(r_pack4, c << 8 | ((uint32_t)clamp((int32_t)a, -8, 7) & 15) << 4 |
                 ((uint32_t)clamp((int32_t)b, -8, 7) & 15))
REF(r_pack2, c << 4 | (uint32_t)clamp((int32_t)a, 0, 3) << 2 | (uint32_t)clamp((int32_t)b, 0, 3))
REF(r_mad24_sat,
    clamp((((int64_t)((int32_t)(a << 8) >> 8) * ((int32_t)(b << 8) >> 8)) >> 16) + (int32_t)c,
          INT32_MIN, INT32_MAX))

static float least(float a, float b) {
    return a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b;
}
REF(r_min3, u32(least(least(f32(a), f32(b)), f32(c))))
REF(r_max3_abs, f32(a) != f32(a) || f32(b) != f32(b) || f32(c) != f32(c)
                    ? 0x7fffffffu
                    : u32(fmaxf(fmaxf(fabsf(f32(a)), fabsf(f32(b))), fabsf(f32(c)))))

static float brain(uint32_t v) {
    return f32(v << 16);
}
REF(r_add_brain, u32(brain(a) + f32(b)))
REF(r_fma_brain, u32(fmaf(brain(a), brain(b), f32(c))))
REF(r_sub_sat, u32(brain(a) - f32(b) > 0 ? (brain(a) - f32(b) < 1 ? brain(a) - f32(b) : 1) : 0))

/* The mark of an element out of bounds makes zero; other factors here are one. */
REF(r_oob, (a & 0x7fff) == 0x7ff7 ? 0 : 0x4000)

static const Row rows[] = {
    {"vadd.s32.s32.s32 %r0,%r1,%r2;", r_add},
    {"vadd.s32.s32.s32 %r0,%r1.b0,%r2.h1;", r_add_parts},
    {"vadd.s32.s32.s32.sat %r0,%r1,%r2;", r_add_sat},
    {"vadd.s32.s32.u32.add %r0,%r1.b3,%r2.h0,%r3;", r_add_add},
    {"vsub.s32.s32.s32.max %r0,%r1,%r2,%r3;", r_sub_max},
    {"vabsdiff.s32.s32.s32 %r0,%r1,%r2;", r_diff},
    {"vabsdiff.u32.u32.u32.add %r0,%r1.b0,%r2.b2,%r3;", r_diff_u},
    {"vmin.s32.s32.s32 %r0.b2,%r1.b1,%r2.b2,%r3;", r_min_merge},
    {"vmax.u32.u32.u32 %r0.h1,%r1.h0,%r2.h1,%r3;", r_max_half},
    {"vshl.u32.u32.u32.clamp %r0,%r1,%r2;", r_shl_clamp},
    {"vshl.u32.u32.u32.wrap.add %r0,%r1,%r2,%r3;", r_shl_wrap},
    {"vshr.s32.s32.u32.clamp %r0,%r1,%r2;", r_shr_clamp},
    {"vshr.u32.u32.u32.wrap %r0,%r1.h1,%r2;", r_shr_wrap},
    {"vmad.s32.s32.s32 %r0,%r1.b0,%r2.b1,%r3;", r_mad},
    {"vmad.s32.s32.s32 %r0,%r1.h0,-%r2.h1,%r3;", r_mad_neg},
    {"vmad.s32.s32.s32 %r0,%r1.b3,%r2.h0,-%r3;", r_mad_c},
    {"vmad.s32.s32.s32.po %r0,%r1.h0,%r2.h1,%r3;", r_mad_po},
    {"vmad.s32.s32.s32.shr7 %r0,%r1.h0,%r2.h1,%r3;", r_mad_shr},
    {"vmad.s32.s32.s32.sat %r0,%r1,%r2,%r3;", r_mad_sat},
    {"vset.s32.u32.lt %r0,%r1,%r2;", r_set},
    {"vset.u32.u32.ge.add %r0,%r1,%r2,%r3;", r_set_add},
    {"vadd2.s32.s32.s32 %r0,%r1,%r2,%r3;", r_add2},
    {"vsub2.s32.s32.s32.sat %r0,%r1,%r2,%r3;", r_sub2_sat},
    {"vmin2.s32.s32.s32 %r0,%r1,%r2,%r3;", r_min2},
    {"vavrg2.s32.s32.s32 %r0,%r1,%r2,%r3;", r_average2},
    {"vset2.s32.s32.gt %r0,%r1,%r2,%r3;", r_set2},
    {"vadd2.s32.s32.s32 %r0,%r1.h02,%r2.h31,%r3;", r_cross2},
    {"vsub2.u32.u32.u32 %r0.h1,%r1,%r2,%r3;", r_upper2},
    {"vabsdiff2.u32.u32.u32.add %r0,%r1,%r2,%r3;", r_diff2},
    {"vadd4.s32.s32.s32 %r0,%r1,%r2,%r3;", r_add4},
    {"vadd4.u32.u32.u32.sat %r0,%r1,%r2,%r3;", r_add4_sat},
    {"vmax4.u32.u32.u32 %r0,%r1,%r2,%r3;", r_max4},
    {"vavrg4.u32.u32.u32 %r0,%r1,%r2,%r3;", r_average4},
    {"vabsdiff4.u32.s32.s32.add %r0,%r1,%r2,%r3;", r_diff4},
    {"vset4.u32.u32.le.add %r0,%r1,%r2,%r3;", r_set4},
    {"vadd4.u32.u32.u32 %r0.b31,%r1,%r2,%r3;", r_some4},
    {"cvt.pack.sat.s16.s32 %r0,%r1,%r2;", r_pack16},
    {"cvt.pack.sat.u8.s32.b32 %r0,%r1,%r2,%r3;", r_pack8},
    {"cvt.pack.sat.s4.s32.b32 %r0,%r1,%r2,%r3;", r_pack4},
    {"cvt.pack.sat.u2.s32.b32 %r0,%r1,%r2,%r3;", r_pack2},
    {"mad24.hi.sat.s32 %r0,%r1,%r2,%r3;", r_mad24_sat},
    {"min.f32 %f0,%f1,%f2,%f3; mov.b32 %r0,%f0;", r_min3},
    {"max.NaN.abs.f32 %f0,%f1,%f2,%f3; mov.b32 %r0,%f0;", r_max3_abs},
    {"add.f32.bf16 %f0,%h1,%f2; mov.b32 %r0,%f0;", r_add_brain},
    {"sub.sat.f32.bf16 %f0,%h1,%f2; mov.b32 %r0,%f0;", r_sub_sat},
    {"fma.rn.f32.bf16 %f0,%h1,%h2,%f3; mov.b32 %r0,%f0;", r_fma_brain},
    {"and.b32 %r9,%r1,1; setp.eq.u32 %p1,%r9,0; selp.b16 %h1,0x7ff7,0x3c00,%p1; mov.b16 %h2,0x3c00;"
     "fma.rn.oob.f16 %h0,%h1,%h2,%h2; cvt.u32.u16 %r0,%h0;",
     NULL},
};

static const uint32_t edges[] = {0,          1,          31,         32,         255,
                                 0x7fff,     0x8000,     0xffff,     0x7fffffff, 0x80000000,
                                 0xffffffff, 0x80008000, 0x7f800000, 0x7fc00000, 0x3f800000,
                                 0xbf800000, 0x80808080, 0x7f7f7f7f};

enum { COUNT = 1024 };

static void make_operands(uint32_t *in) {
    uint64_t s = 77;
    for (uint32_t i = 0; i < 3 * COUNT; i++) {
        uint64_t pick = emu_random(&s);
        uint32_t r = (uint32_t)(emu_random(&s) >> 16);
        in[i] = pick % 3 == 0   ? edges[pick / 3 % (sizeof edges / sizeof *edges)]
                : pick % 3 == 1 ? r >> (pick / 3 % 28)
                                : r;
    }
}

static void build(char *text, size_t size, const char *instruction) {
    snprintf(
        text, size,
        ".version 9.0\n.target sm_100a\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
        ".reg .b64 %%rd<9>; .reg .b32 %%r<19>; .reg .f32 %%f<9>; .reg .b16 %%h<9>;\n"
        ".reg .pred %%p<3>;\n"
        "ld.param.u64 %%rd1,[in]; ld.param.u64 %%rd2,[out]; mov.u32 %%r10,%%tid.x;\n"
        "mul.wide.u32 %%rd3,%%r10,12; add.s64 %%rd1,%%rd1,%%rd3;\n"
        "mul.wide.u32 %%rd3,%%r10,4; add.s64 %%rd2,%%rd2,%%rd3;\n"
        "ld.global.u32 %%r1,[%%rd1]; ld.global.u32 %%r2,[%%rd1+4]; ld.global.u32 %%r3,[%%rd1+8];\n"
        "mov.b32 %%f1,%%r1; mov.b32 %%f2,%%r2; mov.b32 %%f3,%%r3;\n"
        "cvt.u16.u32 %%h1,%%r1; cvt.u16.u32 %%h2,%%r2; cvt.u16.u32 %%h3,%%r3;\n"
        "%s\nst.global.u32 [%%rd2],%%r0;\nret; }\n",
        instruction);
}

static uint32_t wanted(const Row *r, const uint32_t *in) {
    Operands o = {in[0], in[1], in[2]};
    if (r->want)
        return r->want(&o);
    o.a = in[0] & 1 ? 0x3c00 : 0x7ff7;
    return r_oob(&o);
}

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Emu e =
            emu_open(&(tle_emu_options){.struct_size = sizeof(tle_emu_options), .sm_arch = 100});
        char text[2048];
        uint32_t *in = emu_new(&e, 3 * COUNT * 4), *out = emu_zeros(&e, COUNT * 4);
        void *params[] = {&in, &out};
        make_operands(in);
        build(text, sizeof text, rows[i].text);
        emu_load(&e, text, strlen(text), rows[i].text);
        emu_run(&e, "k", DIM(1, 1, 1), DIM(COUNT, 1, 1), 0, params);
        for (uint32_t k = 0; k < COUNT; k++) {
            uint32_t want = wanted(&rows[i], in + 3 * k);
            if (out[k] != want)
                fail_msg("%s of %08x %08x %08x: %08x, want %08x", rows[i].text, in[3 * k],
                         in[3 * k + 1], in[3 * k + 2], out[k], want);
        }
        emu_close(&e);
    }
}

/* ---- wide memory, 128-bit atomics, redux of floats ---------------------------------------- */

static const char wide[] =
    ".version 9.0\n.target sm_100a\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
    ".reg .b64 %rd<19>; .reg .b32 %r<19>; .reg .f32 %f<9>; .reg .b128 %q<4>;\n"
    "ld.param.u64 %rd1,[in]; ld.param.u64 %rd2,[out]; mov.u32 %r10,%tid.x;\n"
    "mul.wide.u32 %rd3,%r10,32; add.s64 %rd4,%rd1,%rd3; mul.wide.u32 %rd3,%r10,64;\n"
    "add.s64 %rd5,%rd2,%rd3;\n"
    "ld.global.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8},[%rd4];\n"
    "st.global.v8.b32 [%rd5],{%r8,%r7,%r6,%r5,%r4,%r3,%r2,%r1};\n"
    "ld.global.v4.b64 {%rd10,%rd11,%rd12,%rd13},[%rd4];\n"
    "st.global.v4.b64 [%rd5+32],{%rd11,%rd10,%rd13,%rd12};\n"
    "mov.b128 %q1,{%rd10,%rd11}; atom.global.b128.exch %q2,[%rd2+2048],%q1;\n"
    "mov.b128 %q3,{%rd12,%rd13}; atom.global.b128.cas %q2,[%rd2+2048],%q1,%q3;\n"
    "mov.b128 {%rd14,%rd15},%q2; xor.b64 %rd14,%rd14,%rd15; cvt.u32.u64 %r11,%rd14;\n"
    "mov.b32 %f1,%r1; redux.sync.max.abs.f32 %f2,%f1,-1; redux.sync.min.NaN.f32 %f3,%f1,-1;\n"
    "mul.wide.u32 %rd3,%r10,8; add.s64 %rd5,%rd2,%rd3;\n"
    "st.global.v2.f32 [%rd5+2064],{%f2,%f3};\nret; }\n";

static void test_wide(void **state) {
    Emu e = emu_open(&(tle_emu_options){.struct_size = sizeof(tle_emu_options), .sm_arch = 100});
    uint32_t *in = emu_new(&e, 1024), *out = emu_zeros(&e, 2064 + 256), last[8];
    float most = 0, least_of = INFINITY;
    uint64_t s = 5;
    void *params[] = {&in, &out};
    (void)state;
    for (int i = 0; i < 256; i++)
        in[i] =
            i % 8 ? (uint32_t)emu_random(&s) : u32((float)(int32_t)(emu_random(&s) % 1999) - 999);
    emu_load(&e, wide, strlen(wide), "wide");
    emu_run(&e, "k", DIM(1, 1, 1), DIM(32, 1, 1), 0, params);
    for (int t = 0; t < 32; t++) {
        for (int k = 0; k < 8; k++) {
            assert_int_equal(out[t * 16 + k], in[t * 8 + 7 - k]);
            assert_int_equal(out[t * 16 + 8 + k], in[t * 8 + (k ^ 2)]);
        }
        most = fmaxf(most, fabsf(f32(in[t * 8])));
        least_of = fminf(least_of, f32(in[t * 8]));
    }
    for (int t = 0; t < 32; t++) {
        assert_true(f32(out[516 + 2 * t]) == most);
        assert_true(f32(out[517 + 2 * t]) == least_of);
    }
    /* the last lane's exchange stays until its own compare-and-swap, which alone succeeds */
    memcpy(last, in + 31 * 8, sizeof last);
    assert_memory_equal(out + 512, last + 4, 16);
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
