/* Making tensors and changing their shape. */
#include "sema/sema_builtin.h"
#include "sema/sema_promote.h"
#include <string.h>

SVal b_arange(Sema *s, const SVal *a, Span at) {
    int64_t lo, hi;
    if (!arg_int(s, a[0], "start", at, &lo) || !arg_int(s, a[1], "end", at, &hi))
        return sv_error();
    if (lo < INT32_MIN || hi > INT32_MAX || hi <= lo || hi - lo > IR_MAX_TILE)
        return sema_error(s, DIAG_SEMA_RANGE, at,
                          "arange(%lld, %lld) must hold 1 to %d values of int32", (long long)lo,
                          (long long)hi, IR_MAX_TILE);
    int64_t n = hi - lo;
    IrType t = ir_tile(s->m, ir_scalar(s->m, IR_I32), 1, &n, 0);
    IrOp op = ir_build(&s->b, IR_OP_ARANGE, NULL, 0, &t, 1);
    ir_set_int(s->m, op, IR_KEY_START, lo);
    ir_set_int(s->m, op, IR_KEY_END, hi);
    return sv_tensor(s, ir_result(s->m, op, 0), dt(D_INT32));
}

static SVal filled(Sema *s, SVal shape, SVal value, SVal dtype, Span at) {
    int64_t dims[IR_MAX_RANK];
    uint32_t rank;
    DType t;
    if (!arg_shape(s, shape, "shape", at, &rank, dims) || !arg_dtype(s, dtype, "dtype", at, &t))
        return sv_error();
    SVal x = sema_cast(s, value, t, false, at);
    if (x.kind == SV_TENSOR && x.rank)
        return sema_error(s, DIAG_SEMA_TYPE, at, "'value' must be a scalar, found %s",
                          sv_describe(s, x));
    return sema_broadcast(s, x, rank, dims, at);
}

SVal b_full(Sema *s, const SVal *a, Span at) {
    return filled(s, a[0], a[1], a[2], at);
}

SVal b_zeros(Sema *s, const SVal *a, Span at) {
    return filled(s, a[0], sv_int(0), a[1], at);
}

SVal b_zeros_like(Sema *s, const SVal *a, Span at) {
    SVal x = a[0];
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    return sema_broadcast(s, number_to_tensor(s, sv_int(0), x.dtype, at), x.rank, x.shape, at);
}

SVal b_cast(Sema *s, const SVal *a, Span at) {
    DType t;
    bool bitcast;
    int rounding;
    static const char *const roundings[] = {"rtne", "rtz", NULL};
    if (!arg_dtype(s, a[1], "dtype", at, &t) || !arg_bool(s, a[3], "bitcast", at, &bitcast) ||
        !arg_choice(s, a[2], "fp_downcast_rounding", roundings, 0, at, &rounding))
        return sv_error();
    SVal x = a[0];
    if (bitcast && !arg_tensor(s, &x, "input", at))
        return sv_error();
    x = sema_cast(s, x, t, bitcast, at);
    if (rounding && x.kind == SV_TENSOR && ir_value_op(s->m, x.v) &&
        ir_kind(s->m, ir_value_op(s->m, x.v)) == IR_OP_FPTRUNC)
        ir_set_int(s->m, ir_value_op(s->m, x.v), IR_KEY_ROUND, IR_ROUND_RTZ);
    return x;
}

SVal b_to_tensor(Sema *s, const SVal *a, Span at) {
    return sema_tensor(s, a[0], dt(D_NONE), at);
}

SVal b_broadcast_to(Sema *s, const SVal *a, Span at) {
    int64_t dims[IR_MAX_RANK];
    uint32_t rank;
    SVal x = a[0];
    if (!arg_tensor(s, &x, "input", at) || !arg_shape(s, a[1], "shape", at, &rank, dims))
        return sv_error();
    if (rank < x.rank)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "cannot broadcast %s to %u dimensions",
                          sv_describe(s, x), rank);
    return sema_broadcast(s, x, rank, dims, at);
}

SVal b_broadcast(Sema *s, const SVal *a, Span at) {
    SVal xy[2] = {a[0], a[1]};
    if (!arg_tensor(s, &xy[0], "input", at) || !arg_tensor(s, &xy[1], "other", at) ||
        !sema_broadcast_pair(s, &xy[0], &xy[1], at))
        return sv_error();
    return sv_tuple(s, xy, 2);
}

SVal b_expand_dims(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], axes = a[1].kind == SV_TUPLE ? a[1] : sv_tuple(s, &a[1], 1);
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    for (uint32_t i = 0; i < axes.len && x.kind == SV_TENSOR; i++) {
        int64_t axis;
        if (!arg_int(s, axes.items[i], "axis", at, &axis))
            return sv_error();
        x = sema_expand_dims(s, x, axis, at);
    }
    return x;
}

static int64_t product(uint32_t rank, const int64_t *shape) {
    int64_t n = 1;
    for (uint32_t i = 0; i < rank; i++)
        n *= shape[i];
    return n;
}

SVal sema_reshape(Sema *s, SVal x, uint32_t rank, const int64_t *shape, Span at) {
    if (product(x.rank, x.shape) != product(rank, shape))
        return sema_error(s, DIAG_SEMA_SHAPE, at, "cannot reshape %s to a shape of %lld elements",
                          sv_describe(s, x), (long long)product(rank, shape));
    if (x.rank == rank && !memcmp(x.shape, shape, rank * sizeof *shape))
        return x;
    if (!x.rank)
        return sema_broadcast(s, x, rank, shape, at);
    if (!rank)
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                          "a reshape to a scalar is not supported; reduce instead");
    IrType t = sv_ir_type(s, x.dtype, rank, shape);
    return sv_tensor(s, ir_build1(&s->b, IR_OP_RESHAPE, t, x.v), x.dtype);
}

SVal b_reshape(Sema *s, const SVal *a, Span at) {
    int64_t dims[IR_MAX_RANK];
    uint32_t rank, hole = IR_MAX_RANK;
    SVal x = a[0], shape = a[1];
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    if (shape.len == 1 && shape.items[0].kind == SV_TUPLE)
        shape = shape.items[0];
    shape = sv_tuple(s, shape.items, shape.len); /* a copy: one -1 is replaced */
    for (uint32_t i = 0; i < shape.len; i++)
        if (shape.items[i].kind == SV_INT && shape.items[i].num.i == -1 && hole == IR_MAX_RANK) {
            hole = i;
            shape.items[i] = sv_int(1);
        }
    if (!arg_shape(s, shape, "shape", at, &rank, dims))
        return sv_error();
    if (hole < rank)
        dims[hole] = product(x.rank, x.shape) / product(rank, dims);
    return sema_reshape(s, x, rank, dims, at);
}

SVal b_ravel(Sema *s, const SVal *a, Span at) {
    SVal x = a[0];
    if (!arg_tensor(s, &x, "x", at))
        return sv_error();
    int64_t n = product(x.rank, x.shape);
    return sema_reshape(s, x, 1, &n, at);
}

SVal sema_transpose(Sema *s, SVal x, const SVal *dims, Span at) {
    int64_t order[IR_MAX_RANK], shape[IR_MAX_RANK];
    unsigned seen = 0;
    if (dims && dims->len != x.rank)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "the permutation has %u entries for %s",
                          dims->len, sv_describe(s, x));
    for (uint32_t i = 0; i < x.rank; i++) {
        /* Without an order the last two dimensions change places. */
        order[i] = x.rank < 2 ? i : i == x.rank - 1u ? i - 1 : i == x.rank - 2u ? i + 1 : i;
        if (dims && !arg_int(s, dims->items[i], "dims", at, &order[i]))
            return sv_error();
        if (order[i] < 0 || order[i] >= x.rank || (seen & (1u << order[i])))
            return sema_error(s, DIAG_SEMA_RANGE, at, "'dims' must be a permutation of 0 .. %d",
                              x.rank - 1);
        seen |= 1u << order[i];
        shape[i] = x.shape[order[i]];
    }
    if (x.rank < 2)
        return x;
    IrValue v = ir_build1(&s->b, IR_OP_TRANS, sv_ir_type(s, x.dtype, x.rank, shape), x.v);
    ir_set_ints(s->m, ir_value_op(s->m, v), IR_KEY_ORDER, order, x.rank);
    return sv_tensor(s, v, x.dtype);
}

SVal b_trans(Sema *s, const SVal *a, Span at) {
    SVal x = a[0], dims = a[1];
    if (!arg_tensor(s, &x, "input", at))
        return sv_error();
    if (dims.len == 1 && dims.items[0].kind == SV_TUPLE)
        dims = dims.items[0];
    return sema_transpose(s, x, dims.len ? &dims : NULL, at);
}
