/* Sorting: sort, topk, flip. Bitonic networks of exchanges between elements whose index differs in
 * one bit. What stays in a thread's registers costs no communication, so the layouts decide how
 * much there is. Stage i turns runs of 2^(i-1) sorted elements into runs of 2^i, which alternate in
 * direction by bit i of the index, until the last one goes in the wanted direction. */
#include "sema/sema_builtin.h"
#include "sema/sema_promote.h"
#include <string.h>

static SVal exchange(Sema *s, SVal x, uint32_t axis, int64_t mask, Span at) {
    s->b.span = at;
    IrValue v = ir_build1(&s->b, IR_OP_EXCHANGE, ir_value_type(s->m, x.v), x.v);
    ir_set_int(s->m, ir_value_op(s->m, v), IR_KEY_AXIS, axis);
    ir_set_int(s->m, ir_value_op(s->m, v), IR_KEY_MASK, mask);
    return sv_tensor(s, v, x.dtype);
}

static bool power_of_two(int64_t n) {
    return !(n & (n - 1));
}

static uint32_t log2_of(int64_t n) {
    uint32_t log = 0;
    for (; n > 1; n /= 2)
        log++;
    return log;
}

typedef struct Sorter {
    Sema *s;
    uint32_t axis;
    bool descending;
    Span at;
} Sorter;

enum { ONE_DIRECTION = 64 }; /* no bit of an index */

/* i1 in the shape of x: bit `bit` of the index along the axis, XOR bit `other`, or XOR `flip`. */
static SVal index_bit(const Sorter *k, SVal x, uint32_t bit, uint32_t other, bool flip) {
    Sema *s = k->s;
    SVal i = sema_coordinates(s, x.rank, x.shape, k->axis, k->at);
    SVal b = sema_binary(s, AST_OP_SHR, i, sv_int(bit), k->at);
    if (other != ONE_DIRECTION)
        b = sema_binary(s, AST_OP_BITXOR, b, sema_binary(s, AST_OP_SHR, i, sv_int(other), k->at),
                        k->at);
    b = sema_binary(s, AST_OP_BITAND, b, sv_int(1), k->at);
    return sema_compare(s, flip ? AST_OP_EQ : AST_OP_NE, b, sv_int(0), k->at);
}

/* Integers: who takes the larger one takes the partner's when its own is less. Equal values make no
 * difference. */
static SVal swap_integers(const Sorter *k, SVal x, SVal partner, uint32_t bit, uint32_t turn) {
    Sema *s = k->s;
    bool flip = turn == ONE_DIRECTION && k->descending;
    SVal wants_least = index_bit(k, x, bit, turn, !flip);
    SVal less = sema_compare(s, AST_OP_LT, x, partner, k->at);
    return sema_select(s, sema_binary(s, AST_OP_BITXOR, less, wants_least, k->at), partner, x,
                       k->at);
}

/* Floats: both partners compare the same two values in the same order, so that they agree on what
 * happens even when one is a NaN. */
static SVal swap_floats(const Sorter *k, SVal x, SVal partner, uint32_t bit, uint32_t turn) {
    Sema *s = k->s;
    SVal right = index_bit(k, x, bit, ONE_DIRECTION, false);
    SVal low = sema_select(s, right, partner, x, k->at);
    SVal high = sema_select(s, right, x, partner, k->at);
    SVal swap;
    if (turn != ONE_DIRECTION)
        swap = sema_binary(s, AST_OP_BITXOR, sema_compare(s, AST_OP_GT, low, high, k->at),
                           index_bit(k, x, turn, ONE_DIRECTION, false), k->at);
    else
        swap = sema_compare(s, k->descending ? AST_OP_LT : AST_OP_GT, low, high, k->at);
    return sema_select(s, swap, partner, x, k->at);
}

/* Merges bitonic runs of 2^stage elements. */
static SVal merge(const Sorter *k, SVal x, uint32_t stage, bool last) {
    uint32_t turn = last ? ONE_DIRECTION : stage;
    for (uint32_t bit = stage; bit-- > 0 && x.kind == SV_TENSOR;) {
        SVal partner = exchange(k->s, x, k->axis, INT64_C(1) << bit, k->at);
        x = dt_is_float(x.dtype) ? swap_floats(k, x, partner, bit, turn)
                                 : swap_integers(k, x, partner, bit, turn);
    }
    return x;
}

static SVal sort_runs(const Sorter *k, SVal x, uint32_t stages) {
    uint32_t all = log2_of(x.shape[k->axis]);
    for (uint32_t i = 1; i <= stages; i++)
        x = merge(k, x, i, i == all);
    return x;
}

/* The larger ones of each two neighbouring runs of `run` elements: half as many runs. */
static SVal halve(const Sorter *k, SVal x, int64_t run) {
    Sema *s = k->s;
    int64_t shape[IR_MAX_RANK], pre = 1, post = 1;
    for (uint32_t d = 0; d < x.rank; d++) {
        shape[d] = x.shape[d];
        pre *= d < k->axis ? x.shape[d] : 1;
        post *= d > k->axis ? x.shape[d] : 1;
    }
    int64_t parts[5] = {pre, x.shape[k->axis] / (2 * run), 2, run, post};
    SVal y = sema_reshape(s, x, post == 1 ? 4 : 5, parts, k->at);
    SVal args[5] = {y, sv_int(2), sv_bool(false), sv_bool(true), sv_bool(false)};
    shape[k->axis] /= 2;
    if (y.kind == SV_TENSOR)
        y = sema_cast(s, b_max(s, args, k->at), x.dtype, false, k->at);
    return y.kind == SV_TENSOR ? sema_reshape(s, y, x.rank, shape, k->at) : y;
}

static bool sortable(Sema *s, SVal *x, SVal dim, uint32_t *axis, Span at) {
    if (!arg_tensor(s, x, "x", at))
        return false;
    if (dt_is_ptr(x->dtype) || dt_bits(x->dtype) == 1 ||
        (dt_is_float(x->dtype) && dt_bits(x->dtype) == 8)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "%s cannot be sorted", sv_describe(s, *x));
        return false;
    }
    if (!x->rank) {
        sema_error(s, DIAG_SEMA_SHAPE, at, "a scalar cannot be sorted");
        return false;
    }
    if (!arg_axis(s, dim.kind == SV_NONE ? sv_int(-1) : dim, *x, at, axis))
        return false;
    if (!power_of_two(x->shape[*axis])) {
        sema_error(s, DIAG_SEMA_SHAPE, at,
                   "sorting needs a power of two along the dimension, found %s",
                   sv_describe(s, *x));
        return false;
    }
    return true;
}

SVal b_sort(Sema *s, const SVal *a, Span at) {
    Sorter k = {.s = s, .at = at};
    SVal x = a[0];
    if (!sortable(s, &x, a[1], &k.axis, at) || !arg_bool(s, a[2], "descending", at, &k.descending))
        return sv_error();
    return sort_runs(&k, x, log2_of(x.shape[k.axis]));
}

SVal b_topk(Sema *s, const SVal *a, Span at) {
    Sorter k = {.s = s, .descending = true, .at = at};
    SVal x = a[0];
    int64_t count;
    if (!sortable(s, &x, a[2], &k.axis, at) || !arg_int(s, a[1], "k", at, &count))
        return sv_error();
    if (count < 1 || count > x.shape[k.axis] || !power_of_two(count))
        return sema_error(s, DIAG_SEMA_RANGE, at,
                          "'k' must be a power of two from 1 to %lld, found %lld",
                          (long long)x.shape[k.axis], (long long)count);
    uint32_t stage = log2_of(count);
    x = sort_runs(&k, x, stage);
    while (x.kind == SV_TENSOR && x.shape[k.axis] > count) {
        x = halve(&k, x, count);
        if (x.kind == SV_TENSOR)
            x = merge(&k, x, stage, x.shape[k.axis] == count);
    }
    return x;
}

SVal b_flip(Sema *s, const SVal *a, Span at) {
    SVal x = a[0];
    uint32_t axis;
    if (!arg_tensor(s, &x, "x", at) ||
        !arg_axis(s, a[1].kind == SV_NONE ? sv_int(-1) : a[1], x, at, &axis))
        return sv_error();
    int64_t n = x.shape[axis];
    if (n == 1)
        return x;
    if (power_of_two(n))
        return exchange(s, x, axis, n - 1, at);
    SVal index = sema_binary(s, AST_OP_SUB, sv_int(n - 1),
                             sema_coordinates(s, x.rank, x.shape, axis, at), at);
    return sema_gather(s, x, index, axis, at);
}
