/* Program ids, facts, assertions, ranges, dtypes. */
#include "sema/sema_builtin.h"
#include "sema/sema_const.h"
#include "sema/sema_promote.h"

static SVal program(Sema *s, IrKind kind, SVal axis, Span at) {
    int64_t i;
    if (!arg_int(s, axis, "axis", at, &i))
        return sv_error();
    if (i < 0 || i > 2)
        return sema_error(s, DIAG_SEMA_RANGE, at, "'axis' must be 0, 1 or 2, found %lld",
                          (long long)i);
    IrType t = ir_scalar(s->m, IR_I32);
    IrOp op = ir_build(&s->b, kind, NULL, 0, &t, 1);
    ir_set_int(s->m, op, IR_KEY_AXIS, i);
    return sv_tensor(s, ir_result(s->m, op, 0), dt(D_INT32));
}

SVal b_program_id(Sema *s, const SVal *a, Span at) {
    return program(s, IR_OP_PROGRAM_ID, a[0], at);
}

SVal b_num_programs(Sema *s, const SVal *a, Span at) {
    return program(s, IR_OP_NUM_PROGRAMS, a[0], at);
}

SVal b_assume(Sema *s, const SVal *a, Span at) {
    bool known, value;
    IrValue cond;
    if (!sema_condition(s, a[0], at, &known, &value, &cond))
        return sv_error();
    if (known && !value)
        return sema_error(s, DIAG_SEMA_ASSERT, at, "the assumption is false at compile time");
    if (!known)
        ir_build(&s->b, IR_OP_ASSUME, &cond, 1, NULL, 0);
    return sv_none();
}

static SVal fact(Sema *s, IrKey key, SVal x, SVal values, Span at) {
    int64_t list[IR_MAX_RANK];
    uint32_t rank;
    if (sv_is_number(x))
        return x;
    if (!arg_tensor(s, &x, "input", at) || !arg_shape(s, values, "values", at, &rank, list))
        return sv_error();
    if (rank != (x.rank ? x.rank : 1u))
        return sema_error(s, DIAG_SEMA_SHAPE, at, "'values' has %u entries for %s", rank,
                          sv_describe(s, x));
    IrType t = ir_value_type(s->m, x.v);
    IrOp op = ir_build(&s->b, IR_OP_FACT, &x.v, 1, &t, 1);
    ir_set_ints(s->m, op, key, list, rank);
    return sv_tensor(s, ir_result(s->m, op, 0), x.dtype);
}

SVal b_multiple_of(Sema *s, const SVal *a, Span at) {
    return fact(s, IR_KEY_DIVISIBLE, a[0], a[1], at);
}

SVal b_max_contiguous(Sema *s, const SVal *a, Span at) {
    return fact(s, IR_KEY_CONTIGUOUS, a[0], a[1], at);
}

SVal b_max_constancy(Sema *s, const SVal *a, Span at) {
    return fact(s, IR_KEY_CONSTANCY, a[0], a[1], at);
}

static const char *message_text(Sema *s, SVal x) {
    return x.kind == SV_STR && str_len(s->strings, x.str) ? str_text(s->strings, x.str)
                                                          : "the assertion does not hold";
}

SVal b_static_assert(Sema *s, const SVal *a, Span at) {
    if (!sv_is_const(a[0]))
        return sema_error(s, DIAG_SEMA_CONST, at,
                          "static_assert needs a compile-time condition, found %s",
                          sv_describe(s, a[0]));
    if (!const_truth(s, a[0]))
        return sema_error(s, DIAG_SEMA_ASSERT, at, "static assertion failed: %s",
                          message_text(s, a[1]));
    return sv_none();
}

SVal b_device_assert(Sema *s, const SVal *a, Span at) {
    SVal c = a[0];
    if (a[2].kind != SV_NONE)
        c = sema_binary(s, AST_OP_BITOR, sema_cast(s, c, dt(D_INT1), false, at),
                        sema_unary(s, AST_OP_NOT, a[2], at), at);
    c = sema_cast(s, c, dt(D_INT1), false, at);
    if (c.kind == SV_ERROR)
        return c;
    IrOp op = ir_build(&s->b, IR_OP_TRAP, &c.v, 1, NULL, 0);
    ir_set_str(s->m, op, IR_KEY_MESSAGE, str_internz(s->strings, message_text(s, a[1])));
    return sv_none();
}

SVal b_debug_barrier(Sema *s, const SVal *a, Span at) {
    (void)a;
    (void)at;
    ir_build(&s->b, IR_OP_BARRIER, NULL, 0, NULL, 0);
    return sv_none();
}

/* Kernels whose programs all wait may be launched before the one in front of them is done: the
 * metadata says so. A wait in a branch or loop is one that some may not come by. */
SVal b_gdc_wait(Sema *s, const SVal *a, Span at) {
    (void)a;
    (void)at;
    IrOp func = ir_func(s->m, ir_func_count(s->m) - 1);
    IrOp wait = ir_build(&s->b, IR_OP_GRID_WAIT, NULL, 0, NULL, 0);
    if (ir_parent_op(s->m, wait) == func)
        ir_set_int(s->m, func, IR_KEY_DEPENDENT, 1);
    return sv_none();
}

SVal b_gdc_launch_dependents(Sema *s, const SVal *a, Span at) {
    (void)a;
    (void)at;
    ir_build(&s->b, IR_OP_GRID_RELEASE, NULL, 0, NULL, 0);
    return sv_none();
}

SVal b_constexpr(Sema *s, const SVal *a, Span at) {
    if (a[0].kind == SV_TENSOR || a[0].kind == SV_BUFFER)
        return sema_error(s, DIAG_SEMA_CONST, at, "constexpr needs a compile-time value, found %s",
                          sv_describe(s, a[0]));
    return a[0];
}

SVal b_dtype(Sema *s, const SVal *a, Span at) {
    DType t;
    if (a[0].kind != SV_STR || !dt_from_signature(str_text(s->strings, a[0].str), &t))
        return sema_error(s, DIAG_SEMA_TYPE, at, "unknown dtype %s", sv_describe(s, a[0]));
    return sv_dtype(t);
}

SVal b_pointer_type(Sema *s, const SVal *a, Span at) {
    DType t;
    int64_t space;
    if (!arg_dtype(s, a[0], "element_ty", at, &t) || !arg_int(s, a[1], "address_space", at, &space))
        return sv_error();
    if (space != IR_SPACE_GLOBAL && space != IR_SPACE_SHARED && space != IR_SPACE_CLUSTER)
        return sema_error(
            s, DIAG_SEMA_RANGE, at,
            "'address_space' must be 1 (global), 3 (shared) or 7 (cluster), found %lld",
            (long long)space);
    return sv_dtype(dt_ptr(t, (uint8_t)space));
}

/* --- ranges --- */

static SVal make_range(Sema *s, SRangeKind kind, const SVal *a, Span at) {
    SVal r = sv_tuple(s, NULL, 0);
    r.kind = SV_RANGE;
    r.num.i = kind;
    r.len = S_RANGE_ITEMS;
    r.items = arena_array(s->arena, SVal, S_RANGE_ITEMS);
    for (int i = 0; i < S_RANGE_ITEMS; i++)
        r.items[i] = sv_none();
    bool one = a[1].kind == SV_NONE;
    r.items[S_RANGE_START] = one ? sv_int(0) : a[0];
    r.items[S_RANGE_STOP] = one ? a[0] : a[1];
    r.items[S_RANGE_STEP] = a[2].kind == SV_NONE ? sv_int(1) : a[2];
    for (int i = S_RANGE_START; i <= S_RANGE_STEP; i++) {
        SVal x = r.items[i];
        bool ok = x.kind == SV_INT || x.kind == SV_BOOL ||
                  (x.kind == SV_TENSOR && !x.rank && dt_is_int(x.dtype));
        if (!ok || (kind == S_RANGE_STATIC && x.kind == SV_TENSOR))
            return sema_error(s, ok ? DIAG_SEMA_CONST : DIAG_SEMA_TYPE, at,
                              "a bound of the range must be %s, found %s",
                              kind == S_RANGE_STATIC ? "a compile-time integer"
                                                     : "an integer scalar",
                              sv_describe(s, x));
    }
    if (sv_is_number(r.items[S_RANGE_STEP]) && !r.items[S_RANGE_STEP].num.i)
        return sema_error(s, DIAG_SEMA_RANGE, at, "the step of a range must not be 0");
    return r;
}

SVal b_python_range(Sema *s, const SVal *a, Span at) {
    return make_range(s, S_RANGE_RUNTIME, a, at);
}

SVal b_static_range(Sema *s, const SVal *a, Span at) {
    return make_range(s, S_RANGE_STATIC, a, at);
}

SVal b_range(Sema *s, const SVal *a, Span at) {
    SVal r = make_range(s, S_RANGE_RUNTIME, a, at);
    bool specialise;
    if (r.kind == SV_ERROR || !arg_bool(s, a[7], "warp_specialize", at, &specialise))
        return sv_error();
    if (specialise)
        return sema_unsupported_argument(s, "tl.range", "warp_specialize", at);
    r.items[S_RANGE_NUM_STAGES] = a[3];
    r.items[S_RANGE_UNROLL] = a[4];
    r.items[S_RANGE_FLATTEN] = a[6];
    r.items[S_RANGE_NO_LICM] = a[8];
    return r;
}

SVal b_tle_range(Sema *s, const SVal *a, Span at) {
    SVal r = b_range(s, a, at);
    if (r.kind == SV_RANGE)
        r.items[S_RANGE_REORDER] = a[9];
    return r;
}

/* --- questions on dtypes --- */

SVal b_is_floating(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_is_float(a[0].dtype));
}

SVal b_is_int(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_is_int(a[0].dtype));
}

SVal b_is_int_signed(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_is_signed(a[0].dtype));
}

SVal b_is_int_unsigned(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_is_int(a[0].dtype) && !dt_is_signed(a[0].dtype));
}

SVal b_is_bool(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_equal(a[0].dtype, dt(D_INT1)));
}

SVal b_is_ptr(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_is_ptr(a[0].dtype));
}

SVal b_is_fp32(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_equal(a[0].dtype, dt(D_FP32)));
}

SVal b_is_fp16(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_equal(a[0].dtype, dt(D_FP16)));
}

SVal b_is_bf16(Sema *s, const SVal *a, Span at) {
    (void)s, (void)at;
    return sv_bool(dt_equal(a[0].dtype, dt(D_BF16)));
}
