/* cvt in all its forms. A register wider than its type is allowed: sources are truncated to the
 * type, results extended by its sign. Floats pass through double, where all are exact. */
#include "exec.h"
#include "fp.h"
#include <math.h>

static bool is_signed(uint8_t type) {
    return ptx_type_class((PtxType)type) == 'S';
}

static bool is_float(uint8_t type) {
    return ptx_type_class((PtxType)type) == 'F';
}

static uint64_t extend(uint8_t type, uint64_t v) {
    uint32_t bits = 8 * ptx_type_bytes((PtxType)type);
    if (bits >= 64)
        return v;
    v &= ((uint64_t)1 << bits) - 1;
    if (is_signed(type) && (v >> (bits - 1) & 1))
        v |= ~(uint64_t)0 << bits;
    return v;
}

static void limits(uint8_t type, __int128 *low, __int128 *high) {
    uint32_t bits = 8 * ptx_type_bytes((PtxType)type);
    if (is_signed(type)) {
        *high = ((__int128)1 << (bits - 1)) - 1;
        *low = -*high - 1;
    } else {
        *low = 0;
        *high = ((__int128)1 << bits) - 1;
    }
}

static uint64_t int_to_int(const Insn *in, uint64_t v) {
    v = extend(in->type2, v);
    if (in->flags & F_SAT) {
        __int128 low, high, x = is_signed(in->type2) ? (__int128)(int64_t)v : (__int128)v;
        limits(in->type, &low, &high);
        v = (uint64_t)(x < low ? low : x > high ? high : x);
    }
    return extend(in->type, v);
}

/* Keeps the top 53 bits and makes the last odd if others were lost. */
static double int_to_odd(uint64_t magnitude, bool negative) {
    if (magnitude >> 53) {
        uint64_t lost = magnitude & 0x7ff;
        magnitude = (magnitude & ~(uint64_t)0x7ff) | (lost ? 0x800 : 0);
    }
    return negative ? -(double)magnitude : (double)magnitude;
}

static uint64_t int_to_float(const Insn *in, uint64_t v) {
    Rounding r = (Rounding)in->rounding;
    bool sign = is_signed(in->type2);
    v = extend(in->type2, v);
    bool negative = sign && (int64_t)v < 0;
    switch ((int)in->type) {
    case TY_F64:
        return fp_u64(sign ? fp_from_s64d((int64_t)v, r) : fp_from_u64d(v, r));
    case TY_F32: {
        float f = sign ? fp_from_s64((int64_t)v, r) : fp_from_u64(v, r);
        if (in->flags & F_SAT)
            f = f < 0 ? 0 : f > 1 ? 1 : f;
        return fp_u32(f);
    }
    default:
        return fp_pack((PtxType)in->type, int_to_odd(negative ? 0u - v : v, negative), r, false);
    }
}

/* The NaN that a conversion makes: doubles take over the leading bits of f16 and f32 and hand
 * theirs on, as do bf16 and tf32 by truncation; all else gives the canonical NaN. */
static uint64_t convert_nan(const Insn *in, uint64_t raw) {
    uint32_t narrow = (uint32_t)raw;
    uint64_t sign = raw & ((uint64_t)1 << 63);
    if (in->type2 == TY_F64 && in->type == TY_F64)
        return raw | (uint64_t)1 << 51;
    if (in->type2 == TY_F64 && in->type == TY_F32)
        return sign >> 32 | 0x7fc00000u | (raw >> 29 & 0x3fffffu);
    if (in->type2 == TY_F64 && in->type == TY_F16)
        return sign >> 48 | 0x7e00u | (raw >> 42 & 0x1ffu);
    if (in->type == TY_F64 && in->type2 == TY_F32 && !(in->flags & F_FTZ))
        return (uint64_t)(narrow >> 31) << 63 | (uint64_t)0xfff << 51 |
               (uint64_t)(narrow & 0x3fffffu) << 29;
    if (in->type == TY_F64 && in->type2 == TY_F16)
        return (uint64_t)(narrow >> 15 & 1) << 63 | (uint64_t)0xfff << 51 |
               (uint64_t)(narrow & 0x1ffu) << 42;
    if (in->type == TY_F64)
        return 0x7fffffffe0000000u;
    if (in->type == TY_F32)
        return in->type2 == TY_BF16 ? (narrow & 0xffffu) << 16 : NAN32;
    if (in->type == TY_TF32)
        return in->rounding == ROUND_RNA ? narrow & 0xffffe000u : 0x7fffe000u;
    return fp_pack((PtxType)in->type, (double)NAN, ROUND_RN, in->flags & F_SATFINITE);
}

static double read_float(const Insn *in, uint64_t raw) {
    if (in->type2 == TY_F64)
        return fp_f64(raw);
    uint32_t bits = (uint32_t)raw;
    if (in->type2 == TY_F32)
        return (double)fp_f32(in->flags & F_FTZ ? fp_flush(bits) : bits);
    return fp_unpack((PtxType)in->type2, bits & 0xffff);
}

static uint64_t float_to_int(const Insn *in, double x) {
    uint32_t bits = 8 * ptx_type_bytes((PtxType)in->type);
    __int128 low, high;
    limits(in->type, &low, &high);
    if (x != x) {
        if (in->type2 == TY_F64 || bits == 64)
            return extend(in->type, (uint64_t)1 << (bits - 1));
        return 0;
    }
    x = fp_integral(x, (Rounding)in->rounding);
    if (x <= (double)low)
        return (uint64_t)low;
    if (x >= (double)high)
        return (uint64_t)high;
    return is_signed(in->type) ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t write_float(const Insn *in, double x) {
    Rounding r = (Rounding)in->rounding;
    if (in->sub) { /* rni, rzi, …: to an integral value */
        x = fp_integral(x, r);
        r = ROUND_RN;
    }
    if (in->flags & F_SAT)
        x = x != x || x <= 0 ? 0 : x > 1 ? 1 : x;
    if ((in->flags & F_RELU) && x <= 0)
        x = 0;
    if (in->type == TY_F64)
        return fp_u64(x);
    if (in->type == TY_F32) {
        uint32_t bits = fp_canon(fp_narrow(x, r));
        return in->flags & F_FTZ ? fp_flush(bits) : bits;
    }
    return fp_pack((PtxType)in->type, x, r, in->flags & F_SATFINITE);
}

static uint64_t convert(const Insn *in, uint64_t v) {
    if (!is_float(in->type2))
        return is_float(in->type) ? int_to_float(in, v) : int_to_int(in, v);
    double x = read_float(in, v);
    if (x != x && is_float(in->type) && !(in->flags & F_SAT))
        return convert_nan(in, v);
    return is_float(in->type) ? write_float(in, x) : float_to_int(in, x);
}

/* size and vec: bytes of the destination and the source register */
static inline void store(const Warp *w, const Insn *in, uint32_t i, uint64_t v) {
    if (in->size == 8)
        plane64(w, in->d)[i] = v;
    else
        plane32(w, in->d)[i] = (uint32_t)v;
}

static inline uint64_t load(const Warp *w, const Insn *in, uint32_t i) {
    return in->vec == 8 ? plane64(w, in->a)[i] : plane32(w, in->a)[i];
}

void x_cvt(Warp *w, const Insn *in, uint32_t mask) {
    FOR_LANES(mask, { store(w, in, i, convert(in, load(w, in, i))); });
}

/* Integer to integer without saturation: shift up, shift down. */
void x_cvt_int(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t from = 64 - 8 * ptx_type_bytes((PtxType)in->type2);
    uint32_t to = 64 - 8 * ptx_type_bytes((PtxType)in->type);
    bool from_sign = is_signed(in->type2), to_sign = is_signed(in->type);
    FOR_LANES(mask, {
        uint64_t v = load(w, in, i) << from;
        v = from_sign ? (uint64_t)((int64_t)v >> from) : v >> from;
        v <<= to;
        v = to_sign ? (uint64_t)((int64_t)v >> to) : v >> to;
        store(w, in, i, v);
    });
}

static PtxType half_of(uint8_t pair) {
    switch ((int)pair) {
    case TY_F16X2:
        return TY_F16;
    case TY_BF16X2:
        return TY_BF16;
    case TY_E4M3X2:
        return TY_E4M3;
    case TY_E5M2X2:
        return TY_E5M2;
    default:
        return TY_NONE;
    }
}

static uint32_t narrow(const Insn *in, double x) {
    if ((in->flags & F_RELU) && x <= 0)
        x = 0;
    return fp_pack(half_of(in->type), x, (Rounding)in->rounding, in->flags & F_SATFINITE);
}

static uint32_t half_bits(uint8_t pair) {
    return 4 * ptx_type_bytes((PtxType)pair);
}

/* cvt.pair.f32 d, a, b: a is the upper half */
void x_cvt_pack(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d), bits = half_bits(in->type);
    const uint32_t *pa = plane32(w, in->a), *pb = plane32(w, in->b);
    FOR_LANES(mask, {
        uint32_t a = in->flags & F_FTZ ? fp_flush(pa[i]) : pa[i];
        uint32_t b = in->flags & F_FTZ ? fp_flush(pb[i]) : pb[i];
        d[i] = narrow(in, (double)fp_f32(a)) << bits | narrow(in, (double)fp_f32(b));
    });
}

/* pair to pair: fp8 from and to f16 */
void x_cvt_unpack(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d), to = half_bits(in->type), from = half_bits(in->type2);
    const uint32_t *pa = plane32(w, in->a);
    PtxType t = half_of(in->type2);
    uint32_t keep = (1u << from) - 1;
    FOR_LANES(mask, {
        uint32_t high = narrow(in, fp_unpack(t, pa[i] >> from & keep));
        d[i] = high << to | narrow(in, fp_unpack(t, pa[i] & keep));
    });
}
