/* Programs of one approximate instruction, and whether two answers to it are close enough. */
#include "gen.h"
#include <math.h>
#include <string.h>

typedef enum Rule { ULP, REL, ABS, TRIG, LOG } Rule;

static double reference(uint32_t row, double a, double b) {
    uint32_t i = 0;
    (void)b;
#define X(text, bytes, operands, value, rule, bound)                                               \
    if (row == i++)                                                                                \
        return value;
#include "approx.def"
#undef X
    return NAN;
}

static const struct {
    const char *text;
    uint32_t bytes, operands;
    Rule rule;
    double bound;
} rows[] = {
#define X(text, bytes, operands, value, rule, bound) {text, bytes, operands, rule, bound},
#include "approx.def"
#undef X
};

enum { ROWS = sizeof rows / sizeof *rows, BLOCK = 256 };

uint32_t diff_approx_count(void) {
    return ROWS;
}

const char *diff_approx_text(uint32_t row) {
    return rows[row].text;
}

static DiffKind operand_kind(uint32_t row) {
    return rows[row].bytes == 4             ? KIND_F32
           : rows[row].bytes == 8           ? KIND_F64
           : strstr(rows[row].text, "bf16") ? KIND_BF16
                                            : KIND_F16;
}

/* Word i of the kind's area is operand a of element i, and operand b of the one before. */
static uint32_t word_of(uint32_t i, uint32_t operand) {
    return (i * 7 + i / DIFF_AREA * 3 + operand * (1 + i / DIFF_AREA)) % DIFF_AREA;
}

bool diff_approx_generate(uint64_t seed, DiffProgram *p) {
    Text t = {0};
    uint32_t row = (uint32_t)(seed - DIFF_APPROX) % ROWS, bits = 8 * rows[row].bytes;
    *p = (DiffProgram){
        .seed = seed, .grid = DIFF_APPROX_COUNT / BLOCK, .block = BLOCK, .approx = row};
    p->record_bytes = rows[row].bytes;
    p->out_bytes = DIFF_APPROX_COUNT * (size_t)p->record_bytes;
    text_add(&t,
             ".version 8.6\n.target sm_90a\n.address_size 64\n"
             ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 trips)\n{\n"
             ".reg .b64 %%a<4>;\n.reg .b32 %%i, %%c, %%t;\n.reg .b%u %%v<3>;\n",
             bits);
    text_add(&t,
             "ld.param.u64 %%a1, [in];\nld.param.u64 %%a2, [out];\nmov.u32 %%i, %%tid.x;\n"
             "mov.u32 %%c, %%ctaid.x;\nmad.lo.u32 %%i, %%c, %u, %%i;\n"
             "mul.wide.u32 %%a3, %%i, %u;\nadd.u64 %%a2, %%a2, %%a3;\n",
             (unsigned)BLOCK, rows[row].bytes);
    for (uint32_t k = 0; k < rows[row].operands; k++) {
        text_add(&t, "mul.lo.u32 %%t, %%c, %u;\nmad.lo.u32 %%t, %%i, 7, %%t;\n", 3 + k);
        text_add(&t,
                 "add.u32 %%t, %%t, %u;\nand.b32 %%t, %%t, %u;\nmul.wide.u32 %%a3, %%t, 8;\n"
                 "add.u64 %%a3, %%a3, %%a1;\nld.global.b%u %%v%u, [%%a3+%u];\n",
                 k, DIFF_AREA - 1, bits, k + 1, (uint32_t)operand_kind(row) * DIFF_AREA * 8);
    }
    text_add(&t, "%s %%v0, %%v1%s;\nst.global.b%u [%%a2], %%v0;\nret;\n}\n", rows[row].text,
             rows[row].operands == 2 ? ", %v2" : "", bits);
    p->text = t.at;
    p->length = t.length;
    return !t.failed;
}

/* ---- closeness ---------------------------------------------------------------------------- */

static double decode(uint32_t row, uint64_t bits) {
    double v;
    uint32_t single = (uint32_t)bits;
    float f;
    if (rows[row].bytes == 8) {
        memcpy(&v, &bits, sizeof v);
        return v;
    }
    if (operand_kind(row) == KIND_F16) {
        int e = (int)(bits >> 10 & 31), m = (int)(bits & 1023);
        v = e == 31 ? (m ? NAN : INFINITY) : ldexp(e ? 1024 + m : m, (e ? e : 1) - 25);
        return bits & 0x8000 ? -v : v;
    }
    single = operand_kind(row) == KIND_BF16 ? single << 16 : single;
    memcpy(&f, &single, sizeof f);
    return (double)f;
}

static double least_normal(uint32_t row) {
    return operand_kind(row) == KIND_F64   ? 0x1p-1022
           : operand_kind(row) == KIND_F16 ? 0x1p-14
                                           : 0x1p-126;
}

static bool flushes(uint32_t row) {
    return strstr(rows[row].text, "ftz");
}

static double flushed(uint32_t row, double v) {
    return flushes(row) && fabs(v) < least_normal(row) ? copysign(0, v) : v;
}

/* The spacing of the result's format at v. */
static double spacing(uint32_t row, double v) {
    int digits = rows[row].bytes == 4            ? 24
                 : rows[row].bytes == 8          ? 53
                 : operand_kind(row) == KIND_F16 ? 11
                                                 : 8;
    int least = rows[row].bytes == 8             ? -1074
                : operand_kind(row) == KIND_F16  ? -24
                : operand_kind(row) == KIND_BF16 ? -133
                                                 : -149;
    int e = 0;
    frexp(v, &e);
    return ldexp(1, e - digits > least ? e - digits : least);
}

static double allowed(uint32_t row, double a, double right) {
    double half = spacing(row, right) / 2, bound = rows[row].bound;
    switch (rows[row].rule) {
    case ULP:
        return 2 * half * bound + half;
    case REL: /* the stated error is that of normal results; a GPU cuts subnormal ones off */
        return fabs(right) * bound + (fabs(right) < least_normal(row) ? 2 * half : half);
    case ABS:
        return bound + half;
    case TRIG: /* beyond 100 pi PTX states nothing */
        return fabs(a) <= 2 * 3.1415926535 ? bound + half : fabs(a) <= 314 ? 0x1.3bp-15 + half : 2;
    case LOG:
        return a > 0.5 && a < 2 ? bound + half : fabs(right) * bound + half;
    }
    return 0;
}

static bool near(uint32_t row, double a, double right, double got) {
    double most = operand_kind(row) == KIND_F16 ? 65504
                  : rows[row].bytes == 8        ? 0x1.fffffffffffffp1023
                                                : 0x1.fffffep127;
    if (right != right || got != got)
        return (right != right) == (got != got);
    if (isinf(got))
        return isinf(right)
                   ? (got > 0) == (right > 0)
                   : fabs(right) + allowed(row, a, right) >= most && (got > 0) == (right > 0);
    if (isinf(right) || fabs(right) > most) /* the largest finite one may be within the error */
        return fabs(got) >= most * (1 - 0x1p-7) && (got > 0) == (right > 0);
    bool flush = flushes(row) && fabs(right) < 1.0001 * least_normal(row) && got == 0;
    return flush || fabs(got - right) <= allowed(row, a, right);
}

bool diff_approx_close(const DiffProgram *p, const uint8_t *in, uint32_t i, uint64_t ours,
                       uint64_t theirs) {
    uint32_t row = p->approx;
    double operand[2] = {0, 0};
    for (uint32_t k = 0; k < rows[row].operands; k++) {
        uint64_t bits = 0;
        memcpy(&bits, in + ((size_t)operand_kind(row) * DIFF_AREA + word_of(i, k)) * 8,
               rows[row].bytes);
        operand[k] = flushed(row, decode(row, bits));
    }
    double right = reference(row, operand[0], operand[1]);
    if (strstr(rows[row].text, "div.approx") && fabs(operand[1]) > 0x1p126 &&
        isfinite(operand[1]) && !isnan(operand[0])) /* PTX promises no more than this */
        right = isinf(operand[0]) ? NAN : copysign(0, operand[0]) * copysign(1, operand[1]);
    double a = decode(row, ours), b = decode(row, theirs);
    if (rows[row].rule == TRIG && fabs(operand[0]) > 314)
        return (a != a) == (b != b);
    return near(row, operand[0], right, a) && near(row, operand[0], right, b);
}
