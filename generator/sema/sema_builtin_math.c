/* Element by element: selection, extrema, arithmetic functions. */
#include "sema/sema_builtin.h"
#include "sema/sema_const.h"
#include "sema/sema_promote.h"
#include <math.h>

SVal b_where(Sema *s, const SVal *a, Span at) {
    return sema_select(s, a[0], a[1], a[2], at);
}

SVal b_add(Sema *s, const SVal *a, Span at) {
    return sema_binary(s, AST_OP_ADD, a[0], a[1], at);
}

SVal b_sub(Sema *s, const SVal *a, Span at) {
    return sema_binary(s, AST_OP_SUB, a[0], a[1], at);
}

SVal b_mul(Sema *s, const SVal *a, Span at) {
    return sema_binary(s, AST_OP_MUL, a[0], a[1], at);
}

/* --- extrema --- */

static SVal const_extremum(Sema *s, bool max, SVal x, SVal y, Span at) {
    SVal less = const_compare(s, AST_OP_LT, x, y, at);
    if (less.kind == SV_ERROR)
        return less;
    return (less.num.i != 0) == max ? y : x;
}

static SVal narrow_to_f32(Sema *s, SVal x, Span at) {
    bool narrow = x.kind == SV_TENSOR && dt_equal(x.dtype, dt(D_BF16));
    return narrow ? sema_cast(s, x, dt(D_FP32), false, at) : x;
}

SVal sema_extremum(Sema *s, bool max, SVal x, SVal y, bool propagate_nan, Span at) {
    if (sv_is_number(x) && sv_is_number(y))
        return const_extremum(s, max, x, y, at);
    x = narrow_to_f32(s, x, at);
    y = narrow_to_f32(s, y, at);
    if (!sema_pair(s, &x, &y, false, false, max ? "maximum" : "minimum", at))
        return sv_error();
    IrKind kind = dt_is_float(x.dtype)    ? (max ? IR_OP_FMAX : IR_OP_FMIN)
                  : dt_is_signed(x.dtype) ? (max ? IR_OP_SMAX : IR_OP_SMIN)
                                          : (max ? IR_OP_UMAX : IR_OP_UMIN);
    IrValue v = ir_build2(&s->b, kind, x.v, y.v);
    if (propagate_nan && dt_is_float(x.dtype))
        ir_set_int(s->m, ir_value_op(s->m, v), IR_KEY_PROPAGATE_NAN, 1);
    return sv_tensor(s, v, x.dtype);
}

static bool propagates(Sema *s, SVal x, Span at, bool *out) {
    static const char *const choices[] = {"none", "all", NULL};
    int choice;
    *out = false;
    if (!arg_choice(s, x, "propagate_nan", choices, 0, at, &choice))
        return false;
    *out = choice == 1;
    return true;
}

SVal b_minimum(Sema *s, const SVal *a, Span at) {
    bool nan;
    return propagates(s, a[2], at, &nan) ? sema_extremum(s, false, a[0], a[1], nan, at)
                                         : sv_error();
}

SVal b_maximum(Sema *s, const SVal *a, Span at) {
    bool nan;
    return propagates(s, a[2], at, &nan) ? sema_extremum(s, true, a[0], a[1], nan, at) : sv_error();
}

SVal b_clamp(Sema *s, const SVal *a, Span at) {
    bool nan;
    if (!propagates(s, a[3], at, &nan))
        return sv_error();
    return sema_extremum(s, false, sema_extremum(s, true, a[0], a[1], nan, at), a[2], nan, at);
}

/* --- division --- */

SVal b_cdiv(Sema *s, const SVal *a, Span at) {
    SVal less_one = sema_binary(s, AST_OP_SUB, a[1], sv_int(1), at);
    return sema_binary(s, AST_OP_FLOORDIV, sema_binary(s, AST_OP_ADD, a[0], less_one, at), a[1],
                       at);
}

static SVal float_divide(Sema *s, IrKind kind, SVal x, SVal y, const char *what, Span at) {
    if (!arg_tensor(s, &x, "x", at) || !sema_pair(s, &x, &y, true, false, what, at))
        return sv_error();
    if (!dt_is_float(x.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "%s needs floats, found %s", what,
                          sv_describe(s, x));
    return sv_tensor(s, ir_build2(&s->b, kind, x.v, y.v), x.dtype);
}

SVal b_fdiv(Sema *s, const SVal *a, Span at) {
    bool ieee;
    if (!arg_bool(s, a[2], "ieee_rounding", at, &ieee))
        return sv_error();
    return float_divide(s, ieee ? IR_OP_FDIV_RN : IR_OP_FDIV, a[0], a[1], "fdiv", at);
}

SVal b_div_rn(Sema *s, const SVal *a, Span at) {
    return float_divide(s, IR_OP_FDIV_RN, a[0], a[1], "div_rn", at);
}

SVal b_fma(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], y = a[1], z = a[2];
    if (!arg_tensor(s, &x, "x", at) || !sema_pair(s, &x, &y, false, false, "fma", at) ||
        !sema_pair(s, &x, &z, false, false, "fma", at) ||
        !sema_pair(s, &x, &y, false, false, "fma", at))
        return sv_error();
    if (!dt_is_float(x.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "fma needs floats, found %s", sv_describe(s, x));
    IrType t = ir_value_type(s->m, x.v);
    IrValue operands[3] = {x.v, y.v, z.v};
    return sv_tensor(s, ir_result(s->m, ir_build(&s->b, IR_OP_FMA, operands, 3, &t, 1), 0),
                     x.dtype);
}

SVal b_umulhi(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], y = a[1];
    if (!arg_tensor(s, &x, "x", at) || !sema_pair(s, &x, &y, false, false, "umulhi", at))
        return sv_error();
    if (!dt_is_int(x.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "umulhi needs integers, found %s",
                          sv_describe(s, x));
    return sv_tensor(s, ir_build2(&s->b, IR_OP_UMULHI, x.v, y.v), x.dtype);
}

/* --- one operand --- */

SVal b_abs(Sema *s, const SVal *a, Span at) {
    SVal x = a[0];
    if (sv_is_number(x))
        return x.kind == SV_FLOAT ? sv_float(fabs(x.num.f))
               : x.num.i < 0      ? const_unary(s, AST_OP_NEG, x, at)
                                  : x;
    if (!arg_tensor(s, &x, "x", at))
        return sv_error();
    if (dt_is_ptr(x.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "abs does not apply to a pointer");
    if (!dt_is_float(x.dtype) && !dt_is_signed(x.dtype))
        return x;
    IrKind kind = dt_is_float(x.dtype) ? IR_OP_FABS : IR_OP_IABS;
    return sv_tensor(s, ir_build1(&s->b, kind, ir_value_type(s->m, x.v), x.v), x.dtype);
}

/* Functions that hardware approximates exist in single precision only. */
static SVal float1(Sema *s, IrKind kind, SVal x, bool wide, const char *name, Span at) {
    if (!arg_tensor(s, &x, "x", at))
        return sv_error();
    if (!dt_equal(x.dtype, dt(D_FP32)) && !(wide && dt_equal(x.dtype, dt(D_FP64))))
        return sema_error(s, DIAG_SEMA_TYPE, at, "%s needs float32%s, found %s", name,
                          wide ? " or float64" : "", sv_describe(s, x));
    return sv_tensor(s, ir_build1(&s->b, kind, ir_value_type(s->m, x.v), x.v), x.dtype);
}

#define FLOAT1(name, KIND, wide)                                                                   \
    SVal b_##name(Sema *s, const SVal *a, Span at) {                                               \
        return float1(s, IR_OP_##KIND, a[0], wide, #name, at);                                     \
    }
FLOAT1(exp, EXP, false)
FLOAT1(exp2, EXP2, false)
FLOAT1(log, LOG, false)
FLOAT1(log2, LOG2, false)
FLOAT1(sin, SIN, false)
FLOAT1(cos, COS, false)
FLOAT1(sqrt, SQRT, true)
FLOAT1(sqrt_rn, SQRT_RN, true)
FLOAT1(rsqrt, RSQRT, false)
FLOAT1(floor, FLOOR, true)
FLOAT1(ceil, CEIL, true)
#undef FLOAT1

SVal b_sigmoid(Sema *s, const SVal *a, Span at) {
    SVal e = float1(s, IR_OP_EXP, sema_unary(s, AST_OP_NEG, a[0], at), false, "sigmoid", at);
    return sema_binary(s, AST_OP_DIV, sv_float(1.0),
                       sema_binary(s, AST_OP_ADD, sv_float(1.0), e, at), at);
}

/* --- bits --- */

static SVal count_bits(Sema *s, IrKind kind, SVal x, const char *name, Span at) {
    if (!arg_tensor(s, &x, "x", at))
        return sv_error();
    if (!dt_is_int(x.dtype) || dt_bits(x.dtype) < 32)
        return sema_error(s, DIAG_SEMA_TYPE, at, "%s needs integers of 32 or 64 bits, found %s",
                          name, sv_describe(s, x));
    SVal n = sv_tensor(s, ir_build1(&s->b, kind, ir_value_type(s->m, x.v), x.v), x.dtype);
    return sema_cast(s, n, dt(D_INT32), false, at);
}

SVal b_clz(Sema *s, const SVal *a, Span at) {
    return count_bits(s, IR_OP_CLZ, a[0], "clz", at);
}

SVal b_popc(Sema *s, const SVal *a, Span at) {
    return count_bits(s, IR_OP_POPC, a[0], "popc", at);
}
