/* Broadcasting, subscripts and other changes of shape. */
#include "sema/sema_mesh.h"
#include "sema/sema_promote.h"
#include <string.h>

static SVal expand(Sema *s, SVal x, uint32_t axis) {
    int64_t shape[IR_MAX_RANK];
    for (uint32_t i = 0; i <= x.rank; i++)
        shape[i] = i == axis ? 1 : x.shape[i < axis ? i : i - 1];
    IrType t = sv_ir_type(s, x.dtype, x.rank + 1u, shape);
    IrValue v;
    if (!x.rank) {
        v = ir_build_splat(&s->b, t, x.v);
    } else {
        v = ir_build1(&s->b, IR_OP_EXPAND_DIMS, t, x.v);
        ir_set_int(s->m, ir_value_op(s->m, v), IR_KEY_AXIS, axis);
    }
    return sv_tensor(s, v, x.dtype);
}

SVal sema_expand_dims(Sema *s, SVal x, int64_t axis, Span at) {
    s->b.span = at;
    if (x.rank >= IR_MAX_RANK)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "a tensor has at most %d dimensions",
                          IR_MAX_RANK);
    if (axis < 0)
        axis += x.rank + 1;
    if (axis < 0 || axis > x.rank)
        return sema_error(s, DIAG_SEMA_RANGE, at, "axis %lld is outside %s", (long long)axis,
                          sv_describe(s, x));
    return expand(s, x, (uint32_t)axis);
}

static bool shapes_equal(SVal x, uint32_t rank, const int64_t *shape) {
    return x.rank == rank && (!rank || !memcmp(x.shape, shape, rank * sizeof *shape));
}

static const char *shape_text(Sema *s, uint32_t rank, const int64_t *shape) {
    StrBuf b;
    strbuf_init(&b, s->arena);
    strbuf_addc(&b, '[');
    for (uint32_t i = 0; i < rank; i++)
        strbuf_addf(&b, "%s%lld", i ? ", " : "", (long long)shape[i]);
    strbuf_addc(&b, ']');
    return b.text;
}

SVal sema_broadcast(Sema *s, SVal x, uint32_t rank, const int64_t *shape, Span at) {
    if (x.kind != SV_TENSOR || shapes_equal(x, rank, shape))
        return x;
    s->b.span = at;
    if (!x.rank)
        return sv_tensor(s, ir_build_splat(&s->b, sv_ir_type(s, x.dtype, rank, shape), x.v),
                         x.dtype);
    while (x.rank < rank)
        x = expand(s, x, 0);
    for (uint32_t i = 0; i < rank; i++)
        if (x.rank != rank || (x.shape[i] != shape[i] && x.shape[i] != 1))
            return sema_error(s, DIAG_SEMA_SHAPE, at, "cannot broadcast %s to %s",
                              sv_describe(s, x), shape_text(s, rank, shape));
    if (shapes_equal(x, rank, shape))
        return x;
    IrType t = sv_ir_type(s, x.dtype, rank, shape);
    return sv_tensor(s, ir_build1(&s->b, IR_OP_BROADCAST, t, x.v), x.dtype);
}

bool sema_broadcast_pair(Sema *s, SVal *a, SVal *b, Span at) {
    uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t shape[IR_MAX_RANK];
    if (a->kind != SV_TENSOR || b->kind != SV_TENSOR)
        return false;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t x = i + a->rank < rank ? 1 : a->shape[i + a->rank - rank];
        int64_t y = i + b->rank < rank ? 1 : b->shape[i + b->rank - rank];
        if (x != y && x != 1 && y != 1) {
            sema_error(s, DIAG_SEMA_SHAPE, at,
                       "shapes %s and %s do not broadcast: dimension %u is %lld and %lld",
                       shape_text(s, a->rank, a->shape), shape_text(s, b->rank, b->shape), i,
                       (long long)x, (long long)y);
            return false;
        }
        shape[i] = x > y ? x : y;
    }
    *a = sema_broadcast(s, *a, rank, shape, at);
    *b = sema_broadcast(s, *b, rank, shape, at);
    return a->kind == SV_TENSOR && b->kind == SV_TENSOR;
}

static SVal subscript_tuple(Sema *s, SVal object, SVal index, Span at) {
    int64_t lo = 0, hi = object.len;
    if (index.kind == SV_SLICE) {
        if (index.items && index.items[0].kind == SV_INT)
            lo = index.items[0].num.i + (index.items[0].num.i < 0 ? object.len : 0);
        if (index.items && index.items[1].kind == SV_INT)
            hi = index.items[1].num.i + (index.items[1].num.i < 0 ? object.len : 0);
        if (index.items && index.items[2].kind != SV_NONE && index.items[2].num.i != 1)
            return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                              "a tuple slice with a step is not supported");
        lo = lo < 0 ? 0 : lo > object.len ? object.len : lo;
        hi = hi < lo ? lo : hi > object.len ? object.len : hi;
        return sv_tuple(s, object.items + lo, (uint32_t)(hi - lo));
    }
    if (index.kind != SV_INT && index.kind != SV_BOOL)
        return sema_error(s, DIAG_SEMA_CONST, at,
                          "a tuple index must be a compile-time integer, found %s",
                          sv_describe(s, index));
    int64_t i = index.num.i + (index.num.i < 0 ? object.len : 0);
    if (i < 0 || i >= object.len)
        return sema_error(s, DIAG_SEMA_RANGE, at, "index %lld is outside a tuple of %u",
                          (long long)index.num.i, object.len);
    return object.items[i];
}

static bool is_full_slice(SVal x) {
    if (x.kind != SV_SLICE)
        return false;
    for (int i = 0; x.items && i < 3; i++)
        if (x.items[i].kind != SV_NONE)
            return false;
    return true;
}

static SVal subscript_tensor(Sema *s, SVal x, SVal index, Span at) {
    SVal one[1] = {index};
    const SVal *items = index.kind == SV_TUPLE ? index.items : one;
    uint32_t len = index.kind == SV_TUPLE ? index.len : 1, kept = 0, axis = 0;
    for (uint32_t i = 0; i < len; i++) {
        if (items[i].kind == SV_ERROR)
            return items[i];
        if (items[i].kind != SV_NONE && !is_full_slice(items[i]))
            return sema_error(s, DIAG_SEMA_UNSUPPORTED, at,
                              "a tensor subscript takes only ':' and None, found %s",
                              sv_describe(s, items[i]));
        kept += items[i].kind != SV_NONE;
    }
    if (kept > x.rank)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "%u ':' in the subscript of %s", kept,
                          sv_describe(s, x));
    for (uint32_t i = 0; i < len; i++, axis++) {
        if (items[i].kind == SV_NONE)
            x = sema_expand_dims(s, x, axis, at);
        if (x.kind == SV_ERROR)
            return x;
    }
    return x;
}

SVal sema_subscript(Sema *s, SVal object, SVal index, Span at) {
    if (object.kind == SV_ERROR || index.kind == SV_ERROR)
        return sv_error();
    s->b.span = at;
    if (object.kind == SV_TUPLE)
        return subscript_tuple(s, object, index, at);
    if (object.kind == SV_TENSOR)
        return subscript_tensor(s, object, index, at);
    if (object.kind == SV_MESH)
        return mesh_subscript(s, object, index, at);
    return sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "%s cannot be subscripted",
                      sv_describe(s, object));
}
