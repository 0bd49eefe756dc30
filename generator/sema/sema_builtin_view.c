/* Views of shared buffers: slot, subslice, reshape, aliases. They share the memory; a view without
 * gaps is a buffer of its own in TIR, one with gaps adds its origin to every index. */
#include "sema/sema_builtin.h"
#include "sema/sema_promote.h"
#include <string.h>

static int64_t elem_bytes(DType t) {
    return (dt_bits(t) + 7) / 8;
}

static int64_t elements(uint32_t rank, const int64_t *shape) {
    int64_t n = 1;
    for (uint32_t d = 0; d < rank; d++)
        n *= shape[d];
    return n;
}

int64_t sema_buffer_bytes(SVal buffer) {
    return elem_bytes(buffer.dtype) * elements(buffer.rank, buffer.shape);
}

static bool without_gaps(Sema *s, SVal buffer, const char *what, Span at) {
    if (!buffer.len)
        return true;
    sema_error(s, DIAG_SEMA_SHAPE, at,
               "%s needs memory without gaps; %s is a part along an inner dimension", what,
               sv_describe(s, buffer));
    return false;
}

SVal sema_buffer_view(Sema *s, SVal buffer, DType t, uint32_t rank, const int64_t *shape,
                      int64_t start, SVal index, Span at) {
    int64_t *kept = arena_array(s->arena, int64_t, IR_MAX_RANK);
    IrValue operands[2] = {buffer.v, 0};
    if (!without_gaps(s, buffer, "a view", at))
        return sv_error();
    if (index.kind != SV_NONE) {
        index = sema_cast(s, index, dt(D_INT32), false, at);
        if (index.kind != SV_TENSOR)
            return sv_error();
        operands[1] = index.v;
    }
    DType stored = t.base == D_INT1 ? dt(D_INT8) : t;
    IrType type = ir_buf(s->m, dt_ir(s, stored), rank, shape, 0);
    s->b.span = at;
    IrOp op = ir_build(&s->b, IR_OP_BUFFER_VIEW, operands, index.kind == SV_NONE ? 1 : 2, &type, 1);
    ir_set_int(s->m, op, IR_KEY_START, start);
    memcpy(kept, shape, rank * sizeof *shape);
    buffer.dtype = t;
    buffer.rank = (uint8_t)rank;
    buffer.shape = kept;
    buffer.v = ir_result(s->m, op, 0);
    return buffer;
}

SVal b_slot(Sema *s, const SVal *a, Span at) {
    SVal b = a[0], stage = a[1];
    if (b.rank < 2)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "slot drops a dimension; %s has only one",
                          sv_describe(s, b));
    if (!without_gaps(s, b, "slot", at))
        return sv_error();
    int64_t bytes = sema_buffer_bytes(b) / b.shape[0];
    if (stage.kind == SV_TENSOR && (stage.rank || !dt_is_int(stage.dtype)))
        return sema_error(s, DIAG_SEMA_TYPE, at, "'stage' must be an integer scalar, found %s",
                          sv_describe(s, stage));
    if (stage.kind == SV_TENSOR)
        return sema_buffer_view(s, b, b.dtype, b.rank - 1u, b.shape + 1, 0, stage, at);
    int64_t i;
    if (!arg_int(s, stage, "stage", at, &i))
        return sv_error();
    if (i < 0 || i >= b.shape[0])
        return sema_error(s, DIAG_SEMA_RANGE, at, "slot %lld is outside the %lld of %s",
                          (long long)i, (long long)b.shape[0], sv_describe(s, b));
    return sema_buffer_view(s, b, b.dtype, b.rank - 1u, b.shape + 1, i * bytes, sv_none(), at);
}

/* A part with gaps: the buffer stays, the origin moves. */
static SVal with_origin(Sema *s, SVal b, uint32_t axis, int64_t start, int64_t length) {
    int64_t *shape = arena_array(s->arena, int64_t, 2 * IR_MAX_RANK);
    for (uint32_t d = 0; d < b.rank; d++) {
        shape[d] = b.shape[d];
        shape[b.rank + d] = b.len ? b.shape[b.rank + d] : 0;
    }
    shape[axis] = length;
    shape[b.rank + axis] += start;
    b.shape = shape;
    b.len = 1;
    return b;
}

SVal b_subslice(Sema *s, const SVal *a, Span at) {
    SVal b = a[0];
    int64_t start, length, shape[IR_MAX_RANK];
    uint32_t axis;
    if (!arg_int(s, a[1], "start", at, &start) || !arg_int(s, a[2], "length", at, &length) ||
        !arg_axis(s, a[3], b, at, &axis))
        return sv_error();
    if (start < 0 || length < 1 || start + length > b.shape[axis])
        return sema_error(s, DIAG_SEMA_RANGE, at, "%lld to %lld is outside dimension %u of %s",
                          (long long)start, (long long)(start + length), axis, sv_describe(s, b));
    if (b.len || elements(axis, b.shape) != 1)
        return with_origin(s, b, axis, start, length);
    int64_t step = sema_buffer_bytes(b) / b.shape[axis];
    memcpy(shape, b.shape, b.rank * sizeof *shape);
    shape[axis] = length;
    return sema_buffer_view(s, b, b.dtype, b.rank, shape, start * step, sv_none(), at);
}

SVal b_buffer_reshape(Sema *s, const SVal *a, Span at) {
    SVal b = a[0];
    int64_t shape[IR_MAX_RANK];
    uint32_t rank;
    if (!arg_shape(s, a[1], "shape", at, &rank, shape) || !without_gaps(s, b, "reshape", at))
        return sv_error();
    if (!rank || elements(rank, shape) != elements(b.rank, b.shape))
        return sema_error(s, DIAG_SEMA_SHAPE, at, "cannot reshape %s to %lld elements",
                          sv_describe(s, b), (long long)elements(rank, shape));
    return sema_buffer_view(s, b, b.dtype, rank, shape, 0, sv_none(), at);
}
