/* Constant evaluation of floats and conversions.
 *
 * Arithmetic runs in double and is rounded once more into the type. That second rounding is
 * harmless for + - * / and square root while double has at least 2p + 2 bits for a type of p bits,
 * which holds for f32 and all narrower types. A fused multiply-add of a narrow type is folded only
 * when double holds it exactly. Nothing that gives NaN, or takes it, is folded: its bits are the
 * device's choice. */
#include "pass/fold.h"

#include <math.h>
#include <string.h>

/* min and max of zeros of different sign depend on the implementation's order of zeros. */
static bool zeros_differ(double a, double b) {
    return a == 0 && b == 0 && signbit(a) != signbit(b);
}

/* a * b + c, rounded once. */
static bool fused(IrElem e, double a, double b, double c, double *out) {
    if (e == IR_F64 || e == IR_F32) {
        *out = e == IR_F64 ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
        return true;
    }
    double product = a * b, sum = product + c; /* the product of narrow floats is exact */
    double back = sum - product;
    bool exact = (product - (sum - back)) + (c - back) == 0;
    *out = ir_round_float(e, sum);
    return exact;
}

static bool evaluate(IrKind kind, IrElem e, const double *in, double *out) {
    double a = in[0], b = in[1];
    switch (kind) {
    case IR_OP_FADD:
        *out = a + b;
        return true;
    case IR_OP_FSUB:
        *out = a - b;
        return true;
    case IR_OP_FMUL:
        *out = a * b;
        return true;
    case IR_OP_FDIV_RN:
        *out = a / b;
        return true;
    case IR_OP_FREM:
        *out = fmod(a, b);
        return true;
    case IR_OP_FMIN:
        *out = a < b ? a : b;
        return !zeros_differ(a, b);
    case IR_OP_FMAX:
        *out = a > b ? a : b;
        return !zeros_differ(a, b);
    case IR_OP_FNEG:
        *out = -a;
        return true;
    case IR_OP_FABS:
        *out = fabs(a);
        return true;
    case IR_OP_FMA:
        return fused(e, a, b, in[2], out);
    case IR_OP_SQRT_RN:
        *out = sqrt(a);
        return true;
    case IR_OP_FLOOR:
        *out = floor(a);
        return true;
    case IR_OP_CEIL:
        *out = ceil(a);
        return true;
    default:
        return false;
    }
}

bool fold_float(IrKind kind, IrElem e, const double *in, double *out) {
    double value = 0;
    if (isnan(in[0]) || isnan(in[1]) || isnan(in[2]) || !evaluate(kind, e, in, &value) ||
        isnan(value))
        return false;
    *out = ir_round_float(e, value);
    return !isnan(*out);
}

bool fold_fcmp(int64_t cmp, double a, double b) {
    bool unordered = isnan(a) || isnan(b);
    switch (cmp) {
    case IR_CMP_OEQ:
        return a == b;
    case IR_CMP_ONE:
        return !unordered && a != b;
    case IR_CMP_OLT:
        return a < b;
    case IR_CMP_OLE:
        return a <= b;
    case IR_CMP_OGT:
        return a > b;
    case IR_CMP_OGE:
        return a >= b;
    case IR_CMP_ORD:
        return !unordered;
    case IR_CMP_UNO:
        return unordered;
    case IR_CMP_UNE:
        return unordered || a != b;
    case IR_CMP_UEQ:
        return unordered || a == b;
    case IR_CMP_FULT:
        return unordered || a < b;
    case IR_CMP_FULE:
        return unordered || a <= b;
    case IR_CMP_FUGT:
        return unordered || a > b;
    default:
        return unordered || a >= b;
    }
}

/* --- conversions --- */

static int64_t extend(IrElem from, int64_t x, bool is_signed) {
    uint32_t bits = ir_elem_bits(from);
    if (is_signed)
        return from == IR_I1 ? -x : x;
    return bits >= 64 ? x : (int64_t)((uint64_t)x & ((UINT64_C(1) << bits) - 1));
}

static bool to_int(IrElem to, bool is_signed, double x, int64_t *out) {
    double t = trunc(x), high = ldexp(1, (int)ir_elem_bits(to) - (is_signed ? 1 : 0));
    if (isnan(x) || t >= high || t < (is_signed ? -high : 0))
        return false;
    *out = ir_wrap_int(to, is_signed ? (int64_t)t : (int64_t)(uint64_t)t);
    return true;
}

/* One rounding: directly to f32 and f64, through double for narrow types when that is exact. */
static bool to_float(IrElem to, bool is_signed, int64_t x, double *out) {
    uint64_t u = (uint64_t)x;
    if (to == IR_F32) {
        *out = is_signed ? (double)(float)x : (double)(float)u;
        return true;
    }
    double value = is_signed ? (double)x : (double)u;
    bool exact = fabs(value) <= 0x1p53;
    *out = ir_round_float(to, value);
    return (to == IR_F64 || exact) && !isnan(*out);
}

/* Bits of a float type to and from double; only types whose bits are a prefix of f32 or f64. */
static bool float_of_bits(IrElem e, int64_t bits, double *out) {
    float f;
    uint32_t narrow = e == IR_BF16 ? (uint32_t)bits << 16 : (uint32_t)bits;
    if (e == IR_F64)
        memcpy(out, &bits, sizeof *out);
    if (e == IR_F32 || e == IR_BF16) {
        memcpy(&f, &narrow, sizeof f);
        *out = (double)f;
    }
    return (e == IR_F64 || e == IR_F32 || e == IR_BF16) && !isnan(*out);
}

static bool bits_of_float(IrElem e, double value, int64_t *out) {
    float f = (float)value;
    uint32_t narrow;
    if (isnan(value) || (e != IR_F64 && e != IR_F32 && e != IR_BF16))
        return false;
    memcpy(&narrow, &f, sizeof narrow);
    memcpy(out, &value, sizeof *out);
    if (e != IR_F64)
        *out = e == IR_BF16 ? narrow >> 16 : narrow;
    return true;
}

static bool bitcast(IrElem from, IrElem to, FoldValue in, FoldValue *out) {
    int64_t bits = in.i;
    if (ir_elem_is_float(from) && !bits_of_float(from, in.f, &bits))
        return false;
    out->i = ir_elem_is_float(to) ? 0 : ir_wrap_int(to, bits);
    return !ir_elem_is_float(to) || float_of_bits(to, bits, &out->f);
}

bool fold_cast(IrKind kind, int64_t round, IrElem from, IrElem to, FoldValue in, FoldValue *out) {
    switch (kind) {
    case IR_OP_TRUNC:
        out->i = ir_wrap_int(to, in.i);
        return true;
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
        out->i = ir_wrap_int(to, extend(from, in.i, kind == IR_OP_SEXT));
        return true;
    case IR_OP_FPTRUNC:
    case IR_OP_FPEXT:
        out->f = ir_round_float(to, in.f);
        return !isnan(in.f) && !isnan(out->f) && (round != IR_ROUND_RTZ || out->f == in.f);
    case IR_OP_FPTOSI:
    case IR_OP_FPTOUI:
        return to_int(to, kind == IR_OP_FPTOSI, in.f, &out->i);
    case IR_OP_SITOFP:
        return to_float(to, true, extend(from, in.i, true), &out->f);
    case IR_OP_UITOFP:
        return to_float(to, false, extend(from, in.i, false), &out->f);
    case IR_OP_BITCAST:
        return bitcast(from, to, in, out);
    default:
        return false;
    }
}
