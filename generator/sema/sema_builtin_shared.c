/* Shared-memory buffers: alloc, local_ptr, copy, whole-buffer load and store. */
#include "sema/sema_builtin.h"
#include "sema/sema_promote.h"
#include <string.h>

SVal sema_full_view(Sema *s, SVal buffer, Span at) {
    if (buffer.len) {
        SVal index[IR_MAX_RANK];
        for (uint32_t d = 0; d < buffer.rank; d++)
            index[d] = sema_coordinates(s, buffer.rank, buffer.shape, d, at);
        SVal args[3] = {buffer, sv_tuple(s, index, buffer.rank), sv_none()};
        return b_local_ptr(s, args, at);
    }
    DType t = dt_ptr(buffer.dtype, IR_SPACE_SHARED);
    IrType type = sv_ir_type(s, t, buffer.rank, buffer.shape);
    SVal p = sv_tensor(
        s, ir_result(s->m, ir_build(&s->b, IR_OP_LOCAL_PTR, &buffer.v, 1, &type, 1), 0), t);
    return buffer.items ? sema_remote_pointer(s, p, buffer.items[0]) : p;
}

static bool check_buffer(Sema *s, SVal x, const char *name, Span at) {
    if (x.kind == SV_BUFFER)
        return true;
    sema_error(s, DIAG_SEMA_TYPE, at, "'%s' must be a buffer made by tle.gpu.alloc, found %s", name,
               sv_describe(s, x));
    return false;
}

SVal sema_shared_buffer(Sema *s, DType t, uint32_t rank, const int64_t *shape, Span at) {
    DType stored = t.base == D_INT1 ? dt(D_INT8) : t;
    IrType type = ir_buf(s->m, dt_ir(s, stored), rank, shape, 0);
    int64_t *kept = arena_array(s->arena, int64_t, IR_MAX_RANK);
    SVal b = sv_none();
    memcpy(kept, shape, rank * sizeof *shape);
    s->b.span = at;
    b.kind = SV_BUFFER;
    b.dtype = t;
    b.rank = (uint8_t)rank;
    b.shape = kept;
    b.v = ir_result(s->m, ir_build(&s->b, IR_OP_SHARED_ALLOC, NULL, 0, &type, 1), 0);
    return b;
}

/* alloc(..., alias=buffer, alias_offset_bytes=k): other names for bytes of a buffer. */
static SVal alias_of(Sema *s, const SVal *a, DType t, uint32_t rank, const int64_t *shape,
                     Span at) {
    int64_t start, bytes = (dt_bits(t) + 7) / 8, size = 0;
    if (!check_buffer(s, a[5], "alias", at) || !arg_int(s, a[6], "alias_offset_bytes", at, &start))
        return sv_error();
    if (a[4].kind != SV_NONE)
        return sema_error(s, DIAG_SEMA_CALL, at, "an alias takes no 'init_value'");
    if (start < 0 || start % bytes)
        return sema_error(s, DIAG_SEMA_RANGE, at,
                          "'alias_offset_bytes' must be a multiple of %lld, found %lld",
                          (long long)bytes, (long long)start);
    size = sema_buffer_bytes(a[5]);
    for (uint32_t d = 0; d < rank; d++)
        bytes *= shape[d];
    if (start + bytes > size)
        return sema_error(
            s, DIAG_SEMA_RANGE, at, "%lld bytes from byte %lld do not fit the %lld bytes of %s",
            (long long)bytes, (long long)start, (long long)size, sv_describe(s, a[5]));
    return sema_buffer_view(s, a[5], t, rank, shape, start, sv_none(), at);
}

SVal b_alloc(Sema *s, const SVal *a, Span at) {
    int64_t *shape = arena_array(s->arena, int64_t, IR_MAX_RANK);
    uint32_t rank;
    DType t;
    if (!arg_shape(s, a[0], "shape", at, &rank, shape) || !arg_dtype(s, a[1], "dtype", at, &t))
        return sv_error();
    if (!rank || dt_is_ptr(t))
        return sema_error(s, DIAG_SEMA_SHAPE, at,
                          "a shared buffer needs at least one dimension and a scalar dtype");
    if (a[2].kind != SV_NONE)
        return sema_unsupported_argument(s, "tle.gpu.alloc", "layout", at);
    if (a[3].kind != SV_STR || strcmp(str_text(s->strings, a[3].str), "smem"))
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "'scope' must be tle.gpu.smem, found %s",
                          sv_describe(s, a[3]));
    SVal b = a[5].kind == SV_NONE ? sema_shared_buffer(s, t, rank, shape, at)
                                  : alias_of(s, a, t, rank, shape, at);
    if (b.kind == SV_ERROR)
        return b;
    if (a[4].kind != SV_NONE &&
        sema_store(s, sema_full_view(s, b, at), a[4], sv_none(), at).kind == SV_ERROR)
        return sv_error();
    return b;
}

SVal b_local_ptr(Sema *s, const SVal *a, Span at) {
    SVal b = a[0], list = a[1];
    bool apart = false;
    IrValue operands[IR_MAX_RANK + 1];
    if (!check_buffer(s, b, "buffer", at) ||
        (a[2].kind != SV_NONE && !arg_bool(s, a[2], "apart", at, &apart)))
        return sv_error();
    if (list.kind == SV_NONE)
        return sema_full_view(s, b, at);
    if (list.kind != SV_TUPLE || list.len != b.rank)
        return sema_error(s, DIAG_SEMA_SHAPE, at,
                          "'indices' must be a tuple of %u, one per dimension of %s, found %s",
                          b.rank, sv_describe(s, b), sv_describe(s, list));
    SVal first = sv_none();
    operands[0] = b.v;
    for (uint32_t i = 0; i < list.len; i++) {
        SVal x = list.items[i];
        if (!arg_tensor(s, &x, "indices", at))
            return sv_error();
        if (!dt_is_int(x.dtype))
            return sema_error(s, DIAG_SEMA_TYPE, at, "index %u must be an integer, found %s", i,
                              sv_describe(s, x));
        x = sema_cast(s, x, dt(D_INT32), false, at);
        if (b.len && b.shape[b.rank + i])
            x = sema_binary(s, AST_OP_ADD, x, sv_int(b.shape[b.rank + i]), at);
        if (i && (x.rank != first.rank || memcmp(x.shape, first.shape, x.rank * sizeof *x.shape)))
            return sema_error(
                s, DIAG_SEMA_SHAPE, at,
                "index %u is %s, index 0 is %s; all indices are scalars, or tensors of one shape",
                i, sv_describe(s, x), sv_describe(s, first));
        first = i ? first : x;
        operands[i + 1] = x.v;
    }
    DType t = dt_ptr(b.dtype, IR_SPACE_SHARED);
    IrType type = sv_ir_type(s, t, first.rank, first.shape);
    s->b.span = at;
    IrOp op = ir_build(&s->b, IR_OP_LOCAL_PTR, operands, b.rank + 1u, &type, 1);
    if (apart)
        ir_set_int(s->m, op, IR_KEY_APART, true);
    SVal p = sv_tensor(s, ir_result(s->m, op, 0), t);
    return b.items ? sema_remote_pointer(s, p, b.items[0]) : p;
}

static SVal copy_in(Sema *s, SVal src, SVal dst, SVal mask, SVal other, Span at) {
    if (mask.kind != SV_NONE && other.kind == SV_NONE)
        other = sv_int(0); /* masked-off elements become zero */
    src = sema_broadcast(s, src, dst.rank, dst.shape, at);
    return sema_store(s, sema_full_view(s, dst, at), sema_load(s, src, mask, other, at), sv_none(),
                      at);
}

SVal b_copy(Sema *s, const SVal *a, Span at) {
    SVal src = a[0], dst = a[1];
    bool in = dst.kind == SV_BUFFER;
    if (a[3].kind != SV_NONE)
        return sema_unsupported_argument(s, "tle.gpu.copy", "offsets", at);
    if (a[4].kind != SV_NONE)
        return sema_unsupported_argument(s, "tle.gpu.copy", "barrier", at);
    SVal buffer = in ? dst : src, pointer = in ? src : dst;
    if (!check_buffer(s, buffer, in ? "dst" : "src", at))
        return sv_error();
    if (pointer.kind != SV_TENSOR || !dt_is_ptr(pointer.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at,
                          "copy goes between a tensor of pointers and a buffer, found %s and %s",
                          sv_describe(s, src), sv_describe(s, dst));
    if (!dt_equal(dt_pointee(pointer.dtype), buffer.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "copy between %s and %s: the element types differ",
                          sv_describe(s, pointer), sv_describe(s, buffer));
    if (in)
        return copy_in(s, src, dst, a[5], a[6], at);
    if (a[6].kind != SV_NONE)
        return sema_error(s, DIAG_SEMA_CALL, at, "'other' is for copies into a buffer");
    return sema_store(s, dst, sema_load(s, sema_full_view(s, src, at), sv_none(), sv_none(), at),
                      a[5], at);
}

SVal b_memory_space(Sema *s, const SVal *a, Span at) {
    if (a[1].kind != SV_STR)
        return sema_error(s, DIAG_SEMA_TYPE, at, "'space' must be a string, found %s",
                          sv_describe(s, a[1]));
    return a[0]; /* the value is the same wherever it lives */
}

SVal b_buffer_load(Sema *s, const SVal *a, Span at) {
    if (a[2].kind != SV_NONE)
        return sema_unsupported_argument(s, "buffer.load", "target_shape", at);
    return sema_load(s, sema_full_view(s, a[0], at), sv_none(), sv_none(), at);
}

SVal b_buffer_store(Sema *s, const SVal *a, Span at) {
    return sema_store(s, sema_full_view(s, a[0], at), a[1], sv_none(), at);
}
