/* Type promotion and casts, as Triton's: numbers adopt the other operand's type unless their kind
 * is higher; floats win over integers; integers follow C's usual conversions. */
#include "sema/sema_promote.h"
#include <math.h>

/* bool 0 < integer 1 < float 2 */
static unsigned kind_rank(DType t) {
    if (dt_is_float(t))
        return 2;
    return t.base == D_INT1 ? 0 : 1;
}

static bool is_fp8(DType t) {
    return !t.depth && (t.base == D_FP8E5 || t.base == D_FP8E4NV);
}

static bool is_base(DType t, DBase base) {
    return !t.depth && t.base == base;
}

DType promote_integers(DType a, DType b) {
    /* int1 counts as unsigned, like every type without a sign. */
    bool sa = dt_is_signed(a), sb = dt_is_signed(b);
    uint32_t wa = dt_bits(a), wb = dt_bits(b);
    if (sa == sb)
        return wa > wb ? a : b;
    if (!sa)
        return wa >= wb ? a : b;
    return wb >= wa ? b : a;
}

DType promote(DType a, bool a_number, DType b, bool b_number, bool division) {
    if (a_number != b_number) {
        DType number = a_number ? a : b, tensor = a_number ? b : a;
        if (kind_rank(number) <= kind_rank(tensor)) {
            bool half = is_base(tensor, D_FP16) || is_base(tensor, D_BF16);
            return division && half ? dt(D_FP32) : tensor;
        }
    }
    if (is_base(a, D_FP64) || is_base(b, D_FP64))
        return dt(D_FP64);
    if (is_base(a, D_FP32) || is_base(b, D_FP32))
        return dt(D_FP32);
    if (is_base(a, D_FP16) || is_base(b, D_FP16))
        return dt(division ? D_FP32 : D_FP16);
    if (is_base(a, D_BF16) && is_base(b, D_BF16))
        return dt(division ? D_FP32 : D_BF16);
    if (is_base(a, D_BF16) || is_base(b, D_BF16))
        return dt(D_FP32);
    if (is_fp8(a) || is_fp8(b))
        return dt_equal(a, b) ? a : dt(D_FP16);
    return promote_integers(a, b);
}

DType number_dtype(SVal x) {
    if (x.kind == SV_BOOL)
        return dt(D_INT1);
    if (x.kind == SV_INT) {
        if (x.num.i >= INT32_MIN && x.num.i <= INT32_MAX)
            return dt(D_INT32);
        return dt(x.num.i > 0 && x.num.i <= UINT32_MAX ? D_UINT32 : D_INT64);
    }
    double a = fabs(x.num.f);
    bool single = a == 0.0 || isinf(a) || isnan(a) ||
                  (a >= 1.1754943508222875e-38 && a <= 3.4028234663852886e38);
    return dt(single ? D_FP32 : D_FP64);
}

DType value_dtype(SVal x) {
    return sv_is_number(x) ? number_dtype(x) : x.dtype;
}

/* Whether an integer constant is a value of an integer type. */
static bool int_fits(int64_t i, DType t) {
    uint32_t bits = dt_bits(t);
    if (t.base == D_INT1)
        return i == 0 || i == 1;
    if (dt_is_unsigned(t))
        return i >= 0 && (bits == 64 || i < ((int64_t)1 << bits));
    return bits == 64 || (i >= -((int64_t)1 << (bits - 1)) && i < ((int64_t)1 << (bits - 1)));
}

static SVal number_to_int(Sema *s, SVal x, DType t, Span at) {
    if (x.kind == SV_FLOAT) {
        if (isnan(x.num.f) || fabs(x.num.f) >= 9.2e18)
            return sema_error(s, DIAG_SEMA_RANGE, at, "%s does not fit %s", sv_describe(s, x),
                              dt_name(s, t));
        x = sv_int((int64_t)x.num.f);
    }
    if (t.base == D_INT1)
        x.num.i = x.num.i != 0;
    if (!int_fits(x.num.i, t))
        return sema_error(s, DIAG_SEMA_RANGE, at, "%s does not fit %s", sv_describe(s, x),
                          dt_name(s, t));
    return sv_tensor(s, ir_build_int(&s->b, dt_ir(s, t), x.num.i), t);
}

SVal number_to_tensor(Sema *s, SVal x, DType t, Span at) {
    s->b.span = at;
    if (dt_is_int(t))
        return number_to_int(s, x, t, at);
    if (!dt_is_float(t))
        return sema_error(s, DIAG_SEMA_TYPE, at, "expected a value of type %s, found %s",
                          dt_name(s, t), sv_describe(s, x));
    double f = x.kind == SV_FLOAT ? x.num.f : (double)x.num.i;
    return sv_tensor(s, ir_build_float(&s->b, dt_ir(s, t), f), t);
}

SVal sema_tensor(Sema *s, SVal x, DType want, Span at) {
    if (x.kind == SV_TENSOR || x.kind == SV_ERROR)
        return x;
    if (!sv_is_number(x))
        return sema_error(s, DIAG_SEMA_TYPE, at, "expected a tensor or a number, found %s",
                          sv_describe(s, x));
    return number_to_tensor(s, x, want.base ? want : number_dtype(x), at);
}

static SVal build_cast(Sema *s, IrKind kind, SVal x, DType to) {
    IrType t = sv_ir_type(s, to, x.rank, x.shape);
    return sv_tensor(s, ir_build1(&s->b, kind, t, x.v), to);
}

static SVal cast_bits(Sema *s, SVal x, DType to, Span at) {
    if (dt_is_ptr(x.dtype) && dt_is_ptr(to)) {
        to.space = x.dtype.space;
        return build_cast(s, IR_OP_BITCAST, x, to);
    }
    if (dt_is_ptr(x.dtype) && !dt_is_ptr(to) && dt_bits(to) == 64)
        return build_cast(s, IR_OP_PTRTOINT, x, to);
    if (dt_is_ptr(to) && dt_is_int(x.dtype) && dt_bits(x.dtype) == 64)
        return build_cast(s, IR_OP_INTTOPTR, x, to);
    if (dt_is_ptr(x.dtype) || dt_is_ptr(to) || dt_bits(x.dtype) != dt_bits(to))
        return sema_error(s, DIAG_SEMA_TYPE, at, "cannot bitcast %s of %u bits to %s of %u bits",
                          dt_name(s, x.dtype), dt_bits(x.dtype), dt_name(s, to), dt_bits(to));
    if (dt_ir(s, x.dtype) == dt_ir(s, to)) {
        x.dtype = to;
        return x;
    }
    return build_cast(s, IR_OP_BITCAST, x, to);
}

static SVal cast_to_bool(Sema *s, SVal x, Span at) {
    if (dt_is_ptr(x.dtype))
        x = build_cast(s, IR_OP_PTRTOINT, x, dt(D_INT64));
    SVal zero = number_to_tensor(s, dt_is_float(x.dtype) ? sv_float(0.0) : sv_int(0), x.dtype, at);
    zero = sema_broadcast(s, zero, x.rank, x.shape, at);
    bool real = dt_is_float(x.dtype);
    IrValue v = ir_build_cmp(&s->b, real ? IR_OP_FCMP : IR_OP_ICMP, real ? IR_CMP_UNE : IR_CMP_NE,
                             x.v, zero.v);
    return sv_tensor(s, v, dt(D_INT1));
}

static SVal cast_float_to_float(Sema *s, SVal x, DType to) {
    uint32_t from_bits = dt_bits(x.dtype), to_bits = dt_bits(to);
    if (from_bits == to_bits || (is_fp8(x.dtype) && is_base(to, D_BF16)) ||
        (is_fp8(to) && is_base(x.dtype, D_BF16))) {
        x = build_cast(s, IR_OP_FPEXT, x, dt(D_FP32)); /* no direct exchange of formats */
        return build_cast(s, IR_OP_FPTRUNC, x, to);
    }
    return build_cast(s, to_bits > from_bits ? IR_OP_FPEXT : IR_OP_FPTRUNC, x, to);
}

static SVal cast_int_to_int(Sema *s, SVal x, DType to) {
    uint32_t from_bits = dt_bits(x.dtype), to_bits = dt_bits(to);
    if (from_bits == to_bits) {
        x.dtype = to;
        return x;
    }
    if (to_bits < from_bits)
        return build_cast(s, IR_OP_TRUNC, x, to);
    return build_cast(s, dt_is_signed(x.dtype) ? IR_OP_SEXT : IR_OP_ZEXT, x, to);
}

static SVal cast_pointer(Sema *s, SVal x, DType to, Span at) {
    if (dt_is_ptr(x.dtype) && dt_is_ptr(to))
        return cast_bits(s, x, to, at);
    if (dt_is_ptr(x.dtype) && dt_is_int(to)) {
        x = build_cast(s, IR_OP_PTRTOINT, x, dt(D_INT64));
        return cast_int_to_int(s, x, to);
    }
    if (dt_is_ptr(to) && dt_is_int(x.dtype))
        return build_cast(s, IR_OP_INTTOPTR, cast_int_to_int(s, x, dt(D_INT64)), to);
    return sema_error(s, DIAG_SEMA_TYPE, at, "cannot cast %s to %s", dt_name(s, x.dtype),
                      dt_name(s, to));
}

SVal sema_cast(Sema *s, SVal x, DType to, bool bitcast, Span at) {
    if (x.kind == SV_ERROR)
        return x;
    s->b.span = at;
    if (sv_is_number(x) && !bitcast)
        return number_to_tensor(s, x, to, at);
    x = sema_tensor(s, x, dt(D_NONE), at);
    if (x.kind == SV_ERROR || dt_equal(x.dtype, to))
        return x;
    if (bitcast)
        return cast_bits(s, x, to, at);
    if (!dt_is_ptr(to) && to.base == D_INT1)
        return cast_to_bool(s, x, at);
    if (dt_is_ptr(x.dtype) || dt_is_ptr(to))
        return cast_pointer(s, x, to, at);
    if (dt_is_float(x.dtype) && dt_is_float(to))
        return cast_float_to_float(s, x, to);
    if (dt_is_int(x.dtype) && dt_is_int(to))
        return cast_int_to_int(s, x, to);
    if (dt_is_float(x.dtype))
        return build_cast(s, dt_is_signed(to) ? IR_OP_FPTOSI : IR_OP_FPTOUI, x, to);
    return build_cast(s, dt_is_signed(x.dtype) ? IR_OP_SITOFP : IR_OP_UITOFP, x, to);
}
