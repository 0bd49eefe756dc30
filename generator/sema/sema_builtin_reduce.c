/* Reductions, scans, histogram. The combination is a region built by the same code that builds
 * everything else, whether it comes from the table below or from a user's jit function. */
#include "sema/sema_builtin.h"
#include "sema/sema_promote.h"
#include <string.h>

/* Combines n left and n right scalars into n results. */
typedef bool Combine(Sema *s, const void *user, const SVal *x, const SVal *y, SVal *out, uint32_t n,
                     Span at);

enum { MAX_COMBINED = 8 };

static bool combine_binary(Sema *s, const void *user, const SVal *x, const SVal *y, SVal *out,
                           uint32_t n, Span at) {
    (void)n;
    out[0] = sema_binary(s, *(const AstOp *)user, x[0], y[0], at);
    return out[0].kind == SV_TENSOR;
}

static bool combine_extremum(Sema *s, const void *user, const SVal *x, const SVal *y, SVal *out,
                             uint32_t n, Span at) {
    (void)n;
    out[0] = sema_extremum(s, *(const bool *)user, x[0], y[0], false, at);
    return out[0].kind == SV_TENSOR;
}

typedef struct ArgExtremum {
    bool max, left;
} ArgExtremum;

static bool combine_arg(Sema *s, const void *user, const SVal *x, const SVal *y, SVal *out,
                        uint32_t n, Span at) {
    const ArgExtremum *e = user;
    (void)n;
    SVal first = sema_compare(s, e->max ? AST_OP_GT : AST_OP_LT, x[0], y[0], at);
    if (e->left) {
        SVal tie = sema_binary(s, AST_OP_BITAND, sema_compare(s, AST_OP_EQ, x[0], y[0], at),
                               sema_compare(s, AST_OP_LT, x[1], y[1], at), at);
        first = sema_binary(s, AST_OP_BITOR, first, tie, at);
    }
    out[0] = sema_select(s, first, x[0], y[0], at);
    out[1] = sema_select(s, first, x[1], y[1], at);
    return out[0].kind == SV_TENSOR && out[1].kind == SV_TENSOR;
}

static bool combine_user(Sema *s, const void *user, const SVal *x, const SVal *y, SVal *out,
                         uint32_t n, Span at) {
    SVal args[2 * MAX_COMBINED];
    memcpy(args, x, n * sizeof *x);
    memcpy(args + n, y, n * sizeof *y);
    SArgs list = {.pos = args, .n_pos = 2 * n};
    const SVal *f = user;
    SVal r = f->kind == SV_FUNCTION ? sema_call_function(s, f->ast, &list, at)
                                    : sema_call_builtin(s, f->builtin, NULL, &list, at);
    if (r.kind == SV_ERROR)
        return false;
    if (n == 1 && r.kind != SV_TUPLE)
        r = sv_tuple(s, &r, 1);
    if (r.kind != SV_TUPLE || r.len != n) {
        sema_error(s, DIAG_SEMA_TYPE, at, "the combine function must return %u values, found %s", n,
                   sv_describe(s, r));
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        out[i] = sema_cast(s, r.items[i], x[i].dtype, false, at);
        if (out[i].kind != SV_TENSOR)
            return false;
    }
    return true;
}

static bool fill_region(Sema *s, IrOp op, const SVal *in, uint32_t n, Combine *combine,
                        const void *user, Span at) {
    SVal x[MAX_COMBINED], y[MAX_COMBINED], out[MAX_COMBINED];
    IrValue yielded[MAX_COMBINED];
    IrBuilder saved = s->b;
    IrBlock block = ir_region_block(s->m, op, 0);
    for (uint32_t i = 0; i < n; i++)
        x[i] = sv_tensor(s, ir_add_arg(s->m, block, dt_ir(s, in[i].dtype)), in[i].dtype);
    for (uint32_t i = 0; i < n; i++)
        y[i] = sv_tensor(s, ir_add_arg(s->m, block, dt_ir(s, in[i].dtype)), in[i].dtype);
    ir_at_end(&s->b, block);
    bool ok = combine(s, user, x, y, out, n, at);
    for (uint32_t i = 0; ok && i < n; i++) {
        yielded[i] = out[i].v;
        if (out[i].rank || !dt_equal(out[i].dtype, in[i].dtype)) {
            sema_error(s, DIAG_SEMA_TYPE, at, "the combination of two %s gives %s",
                       dt_name(s, in[i].dtype), sv_describe(s, out[i]));
            ok = false;
        }
    }
    if (ok)
        ir_build(&s->b, IR_OP_YIELD, yielded, n, NULL, 0);
    s->b = saved;
    return ok;
}

static IrType reduced_type(Sema *s, SVal x, uint32_t axis) {
    int64_t shape[IR_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < x.rank; i++)
        if (i != axis)
            shape[rank++] = x.shape[i];
    return sv_ir_type(s, x.dtype, rank, shape);
}

/* Reduces `n` tensors of one shape. Axis None reduces everything. */
static bool reduce(Sema *s, SVal *in, uint32_t n, SVal axis_arg, bool keep_dims, Combine *combine,
                   const void *user, SVal *out, Span at) {
    uint32_t axis = 0, rank = in[0].rank;
    IrValue operands[MAX_COMBINED];
    IrType types[MAX_COMBINED];
    int64_t ones[IR_MAX_RANK] = {1, 1, 1, 1, 1};
    memcpy(out, in, n * sizeof *in);
    if (!rank) /* one element is its own reduction */
        return true;
    if (axis_arg.kind != SV_NONE && !arg_axis(s, axis_arg, in[0], at, &axis))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        int64_t count = ir_tile_elems(s->m, ir_value_type(s->m, in[i].v));
        SVal x = axis_arg.kind == SV_NONE ? sema_reshape(s, in[i], 1, &count, at) : in[i];
        operands[i] = x.v;
        types[i] = reduced_type(s, x, axis);
    }
    s->b.span = at;
    IrOp op = ir_build(&s->b, IR_OP_REDUCE, operands, n, types, n);
    ir_set_int(s->m, op, IR_KEY_AXIS, axis);
    if (!fill_region(s, op, in, n, combine, user, at))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        out[i] = sv_tensor(s, ir_result(s->m, op, i), in[i].dtype);
        if (keep_dims)
            out[i] = axis_arg.kind == SV_NONE ? sema_broadcast(s, out[i], rank, ones, at)
                                              : sema_expand_dims(s, out[i], axis, at);
    }
    return true;
}

static SVal reduce_one(Sema *s, SVal x, SVal axis, SVal keep, Combine *combine, const void *user,
                       Span at) {
    bool keep_dims;
    SVal out;
    if (!arg_bool(s, keep, "keep_dims", at, &keep_dims) ||
        !reduce(s, &x, 1, axis, keep_dims, combine, user, &out, at))
        return sv_error();
    return out;
}

/* --- types of sums --- */

static SVal widen_bf16(Sema *s, SVal x, Span at) {
    return dt_equal(x.dtype, dt(D_BF16)) ? sema_cast(s, x, dt(D_FP32), false, at) : x;
}

/* Sums of narrow integers are taken in 32 bits. */
static SVal widen_for_sum(Sema *s, SVal x, SVal dtype, Span at) {
    DType t;
    x = widen_bf16(s, x, at);
    if (dtype.kind != SV_NONE)
        return arg_dtype(s, dtype, "dtype", at, &t) ? sema_cast(s, x, t, false, at) : sv_error();
    if (dt_is_int(x.dtype) && dt_bits(x.dtype) < 32)
        return sema_cast(s, x, dt(dt_is_signed(x.dtype) ? D_INT32 : D_UINT32), false, at);
    return x;
}

static SVal widen_for_extremum(Sema *s, SVal x, Span at) {
    x = widen_bf16(s, x, at);
    if (dt_bits(x.dtype) < 32)
        return sema_cast(s, x, dt(dt_is_float(x.dtype) ? D_FP32 : D_INT32), false, at);
    return x;
}

SVal b_sum(Sema *s, const SVal *a, Span at) {
    static const AstOp op = AST_OP_ADD;
    SVal x = a[0];
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    x = widen_for_sum(s, x, a[3], at);
    return x.kind == SV_ERROR ? x : reduce_one(s, x, a[1], a[2], combine_binary, &op, at);
}

static SVal reduce_bits(Sema *s, const AstOp *op, const SVal *a, Span at) {
    SVal x = a[0];
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    if (!dt_is_int(x.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "a bitwise reduction needs integers, found %s",
                          sv_describe(s, x));
    return reduce_one(s, x, a[1], a[2], combine_binary, op, at);
}

SVal b_reduce_or(Sema *s, const SVal *a, Span at) {
    static const AstOp op = AST_OP_BITOR;
    return reduce_bits(s, &op, a, at);
}

SVal b_xor_sum(Sema *s, const SVal *a, Span at) {
    static const AstOp op = AST_OP_BITXOR;
    return reduce_bits(s, &op, a, at);
}

/* --- extrema and where they are --- */

static SVal positions(Sema *s, SVal x, SVal axis_arg, Span at) {
    uint32_t axis = 0;
    int64_t n = 1;
    if (axis_arg.kind == SV_NONE)
        n = ir_tile_elems(s->m, ir_value_type(s->m, x.v));
    else if (!arg_axis(s, axis_arg, x, at, &axis))
        return sv_error();
    else
        n = x.shape[axis];
    IrType t = ir_tile(s->m, ir_scalar(s->m, IR_I32), 1, &n, 0);
    IrOp op = ir_build(&s->b, IR_OP_ARANGE, NULL, 0, &t, 1);
    ir_set_int(s->m, op, IR_KEY_START, 0);
    ir_set_int(s->m, op, IR_KEY_END, n);
    SVal i = sv_tensor(s, ir_result(s->m, op, 0), dt(D_INT32));
    if (axis_arg.kind == SV_NONE)
        return sema_reshape(s, i, x.rank, x.shape, at);
    for (uint32_t d = axis + 1; d < x.rank; d++)
        i = sema_expand_dims(s, i, i.rank, at);
    return sema_broadcast(s, i, x.rank, x.shape, at);
}

static SVal with_indices(Sema *s, bool max, SVal x, SVal axis, SVal left, SVal keep, Span at) {
    ArgExtremum e = {max, true};
    bool keep_dims;
    SVal in[2], out[2];
    if (!arg_bool(s, left, "tie_break_left", at, &e.left) ||
        !arg_bool(s, keep, "keep_dims", at, &keep_dims))
        return sv_error();
    if (!x.rank)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "a scalar has no positions to return");
    in[0] = widen_bf16(s, x, at);
    in[1] = positions(s, x, axis, at);
    if (in[1].kind == SV_ERROR || !reduce(s, in, 2, axis, keep_dims, combine_arg, &e, out, at))
        return sv_error();
    return sv_tuple(s, out, 2);
}

static SVal extremum(Sema *s, bool max, const SVal *a, Span at) {
    SVal x = a[0];
    bool indices;
    if (!arg_tensor(s, &x, "input", at) || !arg_bool(s, a[2], "return_indices", at, &indices))
        return sv_error();
    if (indices)
        return with_indices(s, max, x, a[1], a[3], a[4], at);
    return reduce_one(s, widen_for_extremum(s, x, at), a[1], a[4], combine_extremum, &max, at);
}

SVal b_max(Sema *s, const SVal *a, Span at) {
    return extremum(s, true, a, at);
}

SVal b_min(Sema *s, const SVal *a, Span at) {
    return extremum(s, false, a, at);
}

static SVal arg_extremum(Sema *s, bool max, const SVal *a, Span at) {
    SVal x = a[0];
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    SVal r = with_indices(s, max, x, a[1], a[2], a[3], at);
    return r.kind == SV_TUPLE ? r.items[1] : r;
}

SVal b_argmax(Sema *s, const SVal *a, Span at) {
    return arg_extremum(s, true, a, at);
}

SVal b_argmin(Sema *s, const SVal *a, Span at) {
    return arg_extremum(s, false, a, at);
}

/* --- with a user's function --- */

static bool tensors_of(Sema *s, SVal x, SVal *out, uint32_t *n, Span at) {
    SVal list = x.kind == SV_TUPLE ? x : sv_tuple(s, &x, 1);
    if (!list.len || list.len > MAX_COMBINED) {
        sema_error(s, DIAG_SEMA_CALL, at, "'input' must be 1 to %d tensors, found %u", MAX_COMBINED,
                   list.len);
        return false;
    }
    for (uint32_t i = 0; i < list.len; i++) {
        out[i] = list.items[i];
        if (!arg_tensor(s, &out[i], "input", at))
            return false;
        if (out[i].rank != out[0].rank ||
            memcmp(out[i].shape, out[0].shape, out[0].rank * sizeof(int64_t))) {
            sema_error(s, DIAG_SEMA_SHAPE, at, "input %u is %s, input 0 is %s", i,
                       sv_describe(s, out[i]), sv_describe(s, out[0]));
            return false;
        }
    }
    *n = list.len;
    return true;
}

static bool check_function(Sema *s, SVal f, Span at) {
    if (f.kind == SV_FUNCTION || f.kind == SV_BUILTIN)
        return true;
    sema_error(s, DIAG_SEMA_TYPE, at, "'combine_fn' must be a jit function, found %s",
               sv_describe(s, f));
    return false;
}

SVal b_reduce(Sema *s, const SVal *a, Span at) {
    SVal in[MAX_COMBINED], out[MAX_COMBINED];
    uint32_t n;
    bool keep_dims;
    if (!tensors_of(s, a[0], in, &n, at) || !check_function(s, a[2], at) ||
        !arg_bool(s, a[3], "keep_dims", at, &keep_dims) ||
        !reduce(s, in, n, a[1], keep_dims, combine_user, &a[2], out, at))
        return sv_error();
    return a[0].kind == SV_TUPLE ? sv_tuple(s, out, n) : out[0];
}

/* --- scans --- */

typedef struct ScanForm {
    bool exclusive; /* with a zero before the first element, and the total as a second result */
    bool reverse;
} ScanForm;

static bool scan(Sema *s, SVal *in, uint32_t n, SVal axis_arg, ScanForm form, Combine *combine,
                 const void *user, SVal *out, Span at) {
    uint32_t axis, count = n;
    IrValue operands[2 * MAX_COMBINED];
    IrType types[2 * MAX_COMBINED];
    if (!arg_axis(s, axis_arg, in[0], at, &axis))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        operands[i] = in[i].v;
        types[i] = ir_value_type(s->m, in[i].v);
    }
    for (uint32_t i = 0; form.exclusive && i < n; i++, count++) {
        operands[count] = number_to_tensor(s, sv_int(0), in[i].dtype, at).v;
        types[count] = reduced_type(s, in[i], axis);
    }
    s->b.span = at;
    IrOp op = ir_build(&s->b, IR_OP_SCAN, operands, count, types, count);
    ir_set_int(s->m, op, IR_KEY_AXIS, axis);
    if (form.reverse)
        ir_set_int(s->m, op, IR_KEY_REVERSE, 1);
    if (form.exclusive) {
        ir_set_int(s->m, op, IR_KEY_EXCLUSIVE, 1);
        ir_set_int(s->m, op, IR_KEY_TOTAL, 1);
    }
    for (uint32_t i = 0; i < count; i++)
        out[i] = sv_tensor(s, ir_result(s->m, op, i), in[i % n].dtype);
    return fill_region(s, op, in, n, combine, user, at);
}

static SVal scan_one(Sema *s, const AstOp *op, SVal x, SVal axis, SVal reverse, Span at) {
    ScanForm form = {false, false};
    SVal out;
    if (x.kind == SV_ERROR || !arg_bool(s, reverse, "reverse", at, &form.reverse))
        return sv_error();
    if (!x.rank)
        return x;
    return scan(s, &x, 1, axis, form, combine_binary, op, &out, at) ? out : sv_error();
}

SVal b_cumsum(Sema *s, const SVal *a, Span at) {
    static const AstOp op = AST_OP_ADD;
    SVal x = a[0];
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    return scan_one(s, &op, widen_for_sum(s, x, a[3], at), a[1], a[2], at);
}

SVal b_cumprod(Sema *s, const SVal *a, Span at) {
    static const AstOp op = AST_OP_MUL;
    SVal x = a[0];
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    return scan_one(s, &op, widen_bf16(s, x, at), a[1], a[2], at);
}

SVal b_tle_cumsum(Sema *s, const SVal *a, Span at) {
    static const AstOp op = AST_OP_ADD;
    ScanForm form = {true, false};
    SVal x = a[0], out[2];
    if (!arg_tensor(s, &x, "input", at) || !arg_bool(s, a[2], "reverse", at, &form.reverse))
        return sv_error();
    x = widen_for_sum(s, x, a[3], at);
    if (x.kind == SV_ERROR)
        return x;
    if (!x.rank) {
        out[0] = number_to_tensor(s, sv_int(0), x.dtype, at);
        out[1] = x;
    } else if (!scan(s, &x, 1, a[1], form, combine_binary, &op, out, at)) {
        return sv_error();
    }
    return sv_tuple(s, out, 2);
}

SVal b_associative_scan(Sema *s, const SVal *a, Span at) {
    ScanForm form = {false, false};
    SVal in[MAX_COMBINED], out[2 * MAX_COMBINED];
    uint32_t n;
    if (!tensors_of(s, a[0], in, &n, at) || !check_function(s, a[2], at) ||
        !arg_bool(s, a[3], "reverse", at, &form.reverse) ||
        !scan(s, in, n, a[1], form, combine_user, &a[2], out, at))
        return sv_error();
    return a[0].kind == SV_TUPLE ? sv_tuple(s, out, n) : out[0];
}

SVal b_histogram(Sema *s, const SVal *a, Span at) {
    int64_t bins;
    SVal x = a[0], mask = a[2];
    if (!arg_tensor(s, &x, "input", at) || !arg_int(s, a[1], "num_bins", at, &bins))
        return sv_error();
    if (x.rank != 1 || !dt_is_int(x.dtype) || dt_bits(x.dtype) > 32)
        return sema_error(s, DIAG_SEMA_TYPE, at,
                          "histogram needs a 1-D tensor of integers up to 32 bits, found %s",
                          sv_describe(s, x));
    if (bins < 1 || bins > IR_MAX_TILE)
        return sema_error(s, DIAG_SEMA_RANGE, at, "'num_bins' must be 1 to %d, found %lld",
                          IR_MAX_TILE, (long long)bins);
    x = sema_cast(s, x, dt(D_INT32), false, at);
    if (mask.kind != SV_NONE) {
        mask = sema_broadcast(s, sema_cast(s, mask, dt(D_INT1), false, at), 1, x.shape, at);
        if (mask.kind != SV_TENSOR)
            return sv_error();
    }
    IrValue operands[2] = {x.v, mask.v};
    IrType t = ir_tile(s->m, ir_scalar(s->m, IR_I32), 1, &bins, 0);
    s->b.span = at;
    IrOp op = ir_build(&s->b, IR_OP_HISTOGRAM, operands, mask.kind == SV_NONE ? 1 : 2, &t, 1);
    return sv_tensor(s, ir_result(s->m, op, 0), dt(D_INT32));
}
