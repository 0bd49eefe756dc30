/* Matrix products that the emulator and a GPU both make: their kernels, their operands, and the
 * hash of what an H200 left, found with these same cases.
 *
 * Kernels take in, out, the descriptors of A and B without the address of shared memory, and the
 * bytes of one CTA's input and output. Four CTAs get operands of four kinds: close to one, of wide
 * exponents, with zeros and subnormals, and random bits with infinities and NaNs. */
#ifndef EMU_MATRIX_CASES_H
#define EMU_MATRIX_CASES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef enum Elem {
    E_F16,
    E_BF16,
    E_TF32,
    E_E4M3,
    E_E5M2,
    E_F32,
    E_S8,
    E_U8,
    E_S4,
    E_U4,
    E_S32
} Elem;

typedef struct ElemInfo {
    const char *name;
    int bits, exponent, mantissa; /* exponent 0: an integer */
} ElemInfo;

static const ElemInfo elems[] = {{"f16", 16, 5, 10}, {"bf16", 16, 8, 7}, {"tf32", 32, 8, 10},
                                 {"e4m3", 8, 4, 3},  {"e5m2", 8, 5, 2},  {"f32", 32, 8, 23},
                                 {"s8", 8, 0, 0},    {"u8", 8, 0, 0},    {"s4", 4, 0, 0},
                                 {"u4", 4, 0, 0},    {"s32", 32, 0, 0}};

enum { TRANS_A = 1, TRANS_B = 2, NEG_A = 4, NEG_B = 8, REG_A = 16, SATURATE = 32, NO_C = 64 };

typedef struct Place {
    uint32_t start, first, second; /* bytes */
} Place;

typedef struct MatrixCase {
    uint32_t m; /* 64: wgmma, else mma.sync */
    uint32_t n, k;
    Elem d, a, b;
    uint32_t flags;
    uint32_t swizzle, turn;
    Place at_a, at_b;
    uint64_t gpu;
} MatrixCase;

#define PLAIN_A                 {0, 128, 256}
#define PLAIN_B                 {2048, 128, 256}
#define P(start, first, second) {start, first, second}
#define W(n, k, d, a, b, flags, gpu)                                                               \
    {64, n, k, E_##d, E_##a, E_##b, flags, 0, 0, PLAIN_A, PLAIN_B, gpu},
/* five places of operands for each swizzle and order */
#define L(flags, swizzle, turn, pa, pb, gpu)                                                       \
    {64, 64, 16, E_F32, E_BF16, E_BF16, flags, swizzle, turn, pa, pb, gpu},
#define M(m, n, k, d, a, b, flags, gpu)                                                            \
    {m, n, k, E_##d, E_##a, E_##b, flags, 0, 0, {0, 0, 0}, {0, 0, 0}, gpu},

static const MatrixCase matrix_cases[] = {
#include "emu_matrix_cases.def"
};
#undef P
#undef W
#undef L
#undef M

enum {
    MATRIX_CASES = sizeof matrix_cases / sizeof *matrix_cases,
    IMAGE = 32768,
    MATRIX_BLOCKS = 4
};

/* ---- sizes -------------------------------------------------------------------------------- */

static inline uint32_t words(const MatrixCase *c, Elem e, uint32_t rows, uint32_t cols) {
    return rows * cols * (uint32_t)elems[e].bits / 32 / (c->m == 64 ? 128 : 32);
}

static inline uint32_t d_words(const MatrixCase *c) {
    return words(c, c->d, c->m, c->n);
}

static inline uint32_t threads_of(const MatrixCase *c) {
    return c->m == 64 ? 128 : 32;
}

static inline uint32_t a_words(const MatrixCase *c) {
    return c->m == 64 ? 4 : words(c, c->a, c->m, c->k);
}

static inline uint32_t b_words(const MatrixCase *c) {
    return c->m == 64 ? 0 : words(c, c->b, c->n, c->k);
}

static inline uint32_t image_of(const MatrixCase *c) {
    return c->m == 64 ? IMAGE : 0;
}

/* Image, registers of A, of B, of C; a register is a row of words, one for each thread. */
static inline uint32_t input_bytes(const MatrixCase *c) {
    return image_of(c) + (a_words(c) + b_words(c) + d_words(c)) * threads_of(c) * 4;
}

static inline uint32_t output_bytes(const MatrixCase *c) {
    return d_words(c) * threads_of(c) * 4;
}

static inline uint64_t descriptor(const MatrixCase *c, const Place *p) {
    return p->start >> 4 | (uint64_t)(p->first >> 4) << 16 | (uint64_t)(p->second >> 4) << 32 |
           (uint64_t)c->turn << 49 | (uint64_t)c->swizzle << 62;
}

/* ---- operands ----------------------------------------------------------------------------- */

static inline uint64_t matrix_random(uint64_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s >> 11;
}

static inline uint32_t random_float(const ElemInfo *e, uint32_t kind, uint64_t *s) {
    uint32_t r = (uint32_t)matrix_random(s), all = 1 + (uint32_t)(e->exponent + e->mantissa);
    uint32_t bias = (1u << (e->exponent - 1)) - 1, top = 2 * bias, field;
    uint32_t span = e->exponent == 8 ? 20 : e->exponent == 5 ? 13 : 6;
    uint32_t pick = (uint32_t)matrix_random(s);
    if (kind == 3)
        return all == 32 ? r : r & ((1u << all) - 1);
    field = kind == 0 ? bias - 2 + pick % 4 : bias - span + pick % (2 * span + 1);
    if (kind == 2 && pick % 4 == 1)
        return (r & 1) << (all - 1);
    if (kind == 2 && pick % 4 == 2)
        field = 0;
    if (field > top)
        field = 0;
    return (r & 1) << (all - 1) | field << e->mantissa | (r >> 1 & ((1u << e->mantissa) - 1));
}

static inline void fill(uint8_t *to, uint32_t bytes, Elem type, uint32_t kind, uint64_t *s) {
    const ElemInfo *e = &elems[type];
    uint32_t step = e->bits < 8 ? 1 : (uint32_t)e->bits / 8;
    for (uint32_t i = 0; i < bytes; i += step) {
        uint32_t v = e->exponent ? random_float(e, kind, s) : (uint32_t)matrix_random(s);
        if (type == E_TF32)
            v <<= 13;
        if (type == E_S32 && kind != 3)
            v = v % 200000 - 100000u;
        memcpy(to + i, &v, step);
    }
}

static inline void matrix_input(const MatrixCase *c, uint8_t *in) {
    for (uint32_t block = 0; block < MATRIX_BLOCKS; block++, in += input_bytes(c)) {
        uint64_t s = 0x9e3779b97f4a7c15u * (block + 1) + c->n + c->k * 7u + (uint64_t)c->a * 99;
        uint32_t row = threads_of(c) * 4, at = image_of(c);
        memset(in, 0, image_of(c));
        if (at) {
            fill(in, IMAGE / 2, c->a, block, &s);
            fill(in + IMAGE / 2, IMAGE / 2, c->b, block, &s);
            if (c->at_b.start < IMAGE / 2) /* A and B close together */
                fill(in + 2048, 2048, c->b, block, &s);
        }
        fill(in + at, a_words(c) * row, c->a, block, &s);
        at += a_words(c) * row;
        fill(in + at, b_words(c) * row, c->b, block, &s);
        at += b_words(c) * row;
        fill(in + at, d_words(c) * row, c->d, block, &s);
    }
}

/* ---- kernels ------------------------------------------------------------------------------ */

static const char matrix_head[] = ".version 8.7\n.target sm_90a\n.address_size 64\n"
                                  ".extern .shared .align 1024 .b8 smem[];\n";

typedef struct Text {
    char *at, *end;
} Text;

#define PUT(t, ...) ((t)->at += snprintf((t)->at, (size_t)((t)->end - (t)->at), __VA_ARGS__))

static inline void put_list(Text *t, uint32_t first, uint32_t n) {
    PUT(t, "{");
    for (uint32_t i = 0; i < n; i++)
        PUT(t, "%s%%r%u", i ? "," : "", first + i);
    PUT(t, "}");
}

static inline void put_mma(Text *t, const MatrixCase *c) {
    PUT(t, "mma.sync.aligned.m%un%uk%u.row.col%s.%s.%s.%s.%s ", c->m, c->n, c->k,
        c->flags & SATURATE ? ".satfinite" : "", elems[c->d].name, elems[c->a].name,
        elems[c->b].name, elems[c->d].name);
    put_list(t, 100, d_words(c));
    PUT(t, ",");
    put_list(t, 20, a_words(c));
    PUT(t, ",");
    put_list(t, 20 + a_words(c), b_words(c));
    PUT(t, ",");
    put_list(t, 100, d_words(c));
    PUT(t, ";\n");
}

static inline void put_wgmma(Text *t, const MatrixCase *c) {
    uint32_t nd = d_words(c);
    PUT(t,
        "shr.u32 %%r14,%%r5,4; and.b32 %%r14,%%r14,16383; cvt.u64.u32 %%rd11,%%r14;\n"
        "add.s64 %%rd3,%%rd3,%%rd11; add.s64 %%rd4,%%rd4,%%rd11;\n"
        "setp.%s.u32 %%p2,%%r5,0; wgmma.fence.sync.aligned;\n",
        c->flags & NO_C ? "eq" : "ne");
    PUT(t, "wgmma.mma_async.sync.aligned.m64n%uk%u.%s.%s.%s%s ", c->n, c->k, elems[c->d].name,
        elems[c->a].name, elems[c->b].name, c->flags & SATURATE ? ".satfinite" : "");
    put_list(t, 100, nd);
    PUT(t, ",");
    if (c->flags & REG_A)
        put_list(t, 20, 4);
    else
        PUT(t, "%%rd3");
    PUT(t, ",%%rd4,%%p2");
    if (elems[c->a].exponent)
        PUT(t, ",%d,%d", c->flags & NEG_A ? -1 : 1, c->flags & NEG_B ? -1 : 1);
    if (elems[c->a].bits == 16 && !(c->flags & REG_A))
        PUT(t, ",%d", (c->flags & TRANS_A) != 0);
    if (elems[c->a].bits == 16)
        PUT(t, ",%d", (c->flags & TRANS_B) != 0);
    PUT(t, ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n");
}

/* The kernel named c<index>. */
static inline void matrix_kernel(Text *t, uint32_t index) {
    const MatrixCase *c = &matrix_cases[index];
    uint32_t row = threads_of(c) * 4, regs = a_words(c) + b_words(c);
    PUT(t,
        ".visible .entry c%u(.param .u64 in, .param .u64 out, .param .u64 da, .param .u64 db,\n"
        " .param .u32 ins, .param .u32 outs) {\n.reg .b64 %%rd<20>; .reg .b32 %%r<300>;\n"
        ".reg .pred %%p<4>;\n"
        "ld.param.u64 %%rd1,[in]; ld.param.u64 %%rd2,[out]; ld.param.u64 %%rd3,[da];\n"
        "ld.param.u64 %%rd4,[db]; ld.param.u32 %%r1,[ins]; ld.param.u32 %%r2,[outs];\n"
        "mov.u32 %%r3,%%ctaid.x; mov.u32 %%r4,%%tid.x; mov.u32 %%r5,smem;\n"
        "mul.wide.u32 %%rd5,%%r3,%%r1; add.s64 %%rd1,%%rd1,%%rd5;\n"
        "mul.wide.u32 %%rd5,%%r3,%%r2; add.s64 %%rd2,%%rd2,%%rd5;\n",
        index);
    if (image_of(c))
        PUT(t,
            "shl.b32 %%r7,%%r4,4; add.u32 %%r8,%%r5,%%r7; cvt.u64.u32 %%rd7,%%r7;\n"
            "add.s64 %%rd8,%%rd1,%%rd7; mov.u32 %%r9,0;\n"
            "L1: ld.global.v4.b32 {%%r10,%%r11,%%r12,%%r13},[%%rd8];\n"
            "st.shared.v4.b32 [%%r8],{%%r10,%%r11,%%r12,%%r13}; add.s64 %%rd8,%%rd8,2048;\n"
            "add.u32 %%r8,%%r8,2048; add.u32 %%r9,%%r9,2048; setp.lt.u32 %%p1,%%r9,%u;\n"
            "@%%p1 bra L1;\nfence.proxy.async; bar.sync 0;\nadd.s64 %%rd1,%%rd1,%u;\n",
            IMAGE, IMAGE);
    PUT(t, "mul.wide.u32 %%rd6,%%r4,4; add.s64 %%rd1,%%rd1,%%rd6; add.s64 %%rd2,%%rd2,%%rd6;\n");
    for (uint32_t i = 0; i < regs; i++)
        PUT(t, "ld.global.b32 %%r%u,[%%rd1+%u];\n", 20 + i, i * row);
    for (uint32_t i = 0; i < d_words(c); i++)
        PUT(t, "ld.global.b32 %%r%u,[%%rd1+%u];\n", 100 + i, (regs + i) * row);
    if (c->m == 64)
        put_wgmma(t, c);
    else
        put_mma(t, c);
    for (uint32_t i = 0; i < d_words(c); i++)
        PUT(t, "st.global.b32 [%%rd2+%u],%%r%u;\n", i * row, 100 + i);
    PUT(t, "ret;\n}\n");
}

static inline uint64_t matrix_hash(const uint8_t *p, size_t n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

#endif
