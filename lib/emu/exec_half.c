/* f16, bf16 and their pairs: computed in double with one rounding (fp.h). */
#include "exec.h"
#include "fp.h"
#include <math.h>

static PtxType element(const Insn *in) {
    return in->type == TY_F16 || in->type == TY_F16X2 ? TY_F16 : TY_BF16;
}

static bool is_pair(const Insn *in) {
    return in->type == TY_F16X2 || in->type == TY_BF16X2;
}

static bool is_nan16(PtxType t, uint32_t bits) {
    return (bits & 0x7fff) > (t == TY_F16 ? 0x7c00u : 0x7f80u);
}

static uint32_t flush16(const Insn *in, PtxType t, uint32_t bits) {
    uint32_t exponent = t == TY_F16 ? 0x7c00 : 0x7f80;
    return (in->flags & F_FTZ) && !(bits & exponent) ? bits & 0x8000 : bits;
}

static uint32_t finish(const Insn *in, PtxType t, double v) {
    if ((in->flags & F_SAT) && (v != v || v <= 0))
        return 0;
    if ((in->flags & F_SAT) && v > 1)
        v = 1;
    if ((in->flags & F_RELU) && v <= 0)
        return 0;
    return flush16(in, t, fp_pack(t, v, ROUND_RN, false));
}

static uint32_t min_max16(const Insn *in, PtxType t, uint32_t a, uint32_t b, bool max) {
    uint32_t sign = 0;
    if (in->flags & F_XORSIGN) {
        sign = (a ^ b) & 0x8000;
        a &= 0x7fff;
        b &= 0x7fff;
    }
    bool nan_a = is_nan16(t, a), nan_b = is_nan16(t, b);
    if ((nan_a && nan_b) || ((nan_a || nan_b) && (in->flags & F_NAN)))
        return NAN_16;
    if (nan_a || nan_b)
        return (nan_a ? b : a) | sign;
    double x = fp_unpack(t, a), y = fp_unpack(t, b);
    bool a_less = x < y || (x == y && (a >> 15) > (b >> 15));
    return (a_less != max ? a : b) | sign;
}

static uint32_t compute(const Insn *in, PtxType t, uint32_t a, uint32_t b, uint32_t c) {
    a = flush16(in, t, a);
    b = flush16(in, t, b);
    c = flush16(in, t, c);
    double x = fp_unpack(t, a), y = fp_unpack(t, b);
    switch ((HalfOp)in->sub) {
    case HALF_ADD:
        return finish(in, t, fp_add_odd(x, y));
    case HALF_SUB:
        return finish(in, t, fp_add_odd(x, -y));
    case HALF_MUL:
        return finish(in, t, x * y);
    case HALF_FMA:
        return finish(in, t, fp_fma_odd(x, y, fp_unpack(t, c)));
    case HALF_MIN:
        return min_max16(in, t, a, b, false);
    case HALF_MAX:
        return min_max16(in, t, a, b, true);
    case HALF_NEG:
        return is_nan16(t, a) ? NAN_16 : a ^ 0x8000;
    case HALF_ABS:
        return is_nan16(t, a) ? NAN_16 : a & 0x7fff;
    case HALF_EX2:
        return finish(in, t, exp2(x));
    case HALF_TANH:
        return finish(in, t, tanh(x));
    }
    return 0;
}

void x_half(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b), *pc = plane32(w, in->c);
    PtxType t = element(in);
    bool two = is_pair(in);
    FOR_LANES(mask, {
        uint32_t r = compute(in, t, pa[i] & 0xffff, pb[i] & 0xffff, pc[i] & 0xffff);
        if (two)
            r |= compute(in, t, pa[i] >> 16, pb[i] >> 16, pc[i] >> 16) << 16;
        d[i] = r;
    });
}
