/* Stores into other CTAs that count their bytes on a barrier there: mbarrier, store_async.
 *
 * A barrier's phase ends when the bytes that its CTA expects have come in, so a CTA waits for data
 * and not for threads. Barriers stand at the kernel's start, where all are made ready before a peer
 * can store. */
#include "sema/sema_builtin.h"
#include "sema/sema_promote.h"

enum { MOST_BARRIERS = 64 };

static IrBlock kernel_entry(const Sema *s) {
    return ir_region_block(s->m, ir_func(s->m, ir_func_count(s->m) - 1), 0);
}

/* Pointers to one barrier of a buffer, made by a builder anywhere. */
static IrValue barrier_pointer(IrBuilder *b, IrValue buffer, IrValue index) {
    IrType type = ir_ptr(b->m, ir_scalar(b->m, IR_I64), IR_SPACE_SHARED);
    IrValue place[2] = {buffer, index};
    return ir_result(b->m, ir_build(b, IR_OP_LOCAL_PTR, place, 2, &type, 1), 0);
}

SVal b_mbarrier(Sema *s, const SVal *a, Span at) {
    int64_t count, *shape = arena_array(s->arena, int64_t, IR_MAX_RANK);
    IrBlock entry = kernel_entry(s);
    if (!arg_int(s, a[0], "count", at, &count))
        return sv_error();
    if (count < 1 || count > MOST_BARRIERS)
        return sema_error(s, DIAG_SEMA_RANGE, at, "'count' must be 1 to %d, found %lld",
                          MOST_BARRIERS, (long long)count);
    shape[0] = count;
    IrBuilder outer = s->b,
              b = {.m = s->m, .span = at, .block = entry, .before = ir_first(s->m, entry)};
    s->b = b;
    SVal buffer = sema_shared_buffer(s, dt(D_INT64), 1, shape, at);
    for (int64_t i = 0; i < count; i++) {
        IrValue index = ir_build_int(&s->b, ir_scalar(s->m, IR_I32), i);
        IrValue p = barrier_pointer(&s->b, buffer.v, index);
        ir_build(&s->b, IR_OP_MBARRIER_INIT, &p, 1, NULL, 0);
    }
    s->b = outer;
    return buffer;
}

/* The pointer to barrier `index`; checked only as far as the compiler knows it. */
static bool one_barrier(Sema *s, SVal buffer, SVal index, Span at, SVal *out) {
    if (buffer.kind != SV_BUFFER || buffer.dtype.base != D_INT64 || buffer.rank != 1 ||
        buffer.items) {
        sema_error(s, DIAG_SEMA_TYPE, at, "'barrier' must be made by tle.mbarrier, found %s",
                   sv_describe(s, buffer));
        return false;
    }
    if (index.kind == SV_INT && (index.num.i < 0 || index.num.i >= buffer.shape[0])) {
        sema_error(s, DIAG_SEMA_RANGE, at, "there is no barrier %lld among %lld",
                   (long long)index.num.i, (long long)buffer.shape[0]);
        return false;
    }
    SVal args[3] = {buffer, sv_tuple(s, &index, 1), sv_bool(false)};
    *out = b_local_ptr(s, args, at);
    if (out->kind == SV_ERROR)
        return false;
    if (!out->rank)
        return true;
    sema_error(s, DIAG_SEMA_SHAPE, at, "'index' must be a scalar");
    return false;
}

static bool scalar_i32(Sema *s, SVal x, const char *name, Span at, SVal *out) {
    if (!arg_tensor(s, &x, name, at))
        return false;
    if (x.rank || !dt_is_int(x.dtype)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "'%s' must be an integer, found %s", name,
                   sv_describe(s, x));
        return false;
    }
    *out = sema_cast(s, x, dt(D_INT32), false, at);
    return out->kind == SV_TENSOR;
}

static SVal barrier_step(Sema *s, const SVal *a, const char *name, IrKind kind, Span at) {
    SVal p, x;
    if (!one_barrier(s, a[0], a[1], at, &p) || !scalar_i32(s, a[2], name, at, &x))
        return sv_error();
    IrValue operands[2] = {p.v, x.v};
    s->b.span = at;
    ir_build(&s->b, kind, operands, 2, NULL, 0);
    return sv_none();
}

SVal b_mbarrier_expect(Sema *s, const SVal *a, Span at) {
    return barrier_step(s, a, "bytes", IR_OP_MBARRIER_EXPECT, at);
}

SVal b_mbarrier_wait(Sema *s, const SVal *a, Span at) {
    SVal odd[3] = {a[0], a[1], sema_binary(s, AST_OP_BITAND, a[2], sv_int(1), at)};
    return odd[2].kind == SV_ERROR ? odd[2]
                                   : barrier_step(s, odd, "phase", IR_OP_MBARRIER_WAIT, at);
}

/* x in the shape of p. */
static bool like_pointers(Sema *s, SVal p, SVal *x, Span at) {
    if (x->kind == SV_TENSOR)
        *x = sema_broadcast(s, *x, p.rank, p.shape, at);
    return x->kind == SV_TENSOR;
}

static SVal remote_of(Sema *s, SVal pointer, SVal rank, SVal scope, Span at) {
    SVal args[6] = {pointer,   rank,     scope, sv_str(str_internz(s->strings, "cluster")),
                    sv_none(), sv_none()};
    return b_remote(s, args, at);
}

SVal b_store_async(Sema *s, const SVal *a, Span at) {
    SVal barrier, mask = a[5], pointer = remote_of(s, a[0], a[1], a[6], at);
    if (pointer.kind != SV_TENSOR || !one_barrier(s, a[3], a[4], at, &barrier))
        return sv_error();
    SVal value = sema_cast(s, a[2], dt_pointee(pointer.dtype), false, at);
    if (dt_bits(value.dtype) != 32 && dt_bits(value.dtype) != 64)
        return sema_error(s, DIAG_SEMA_TYPE, at,
                          "store_async stores elements of 32 or 64 bits, found %s",
                          sv_describe(s, value));
    if (mask.kind != SV_NONE)
        mask = sema_cast(s, mask, dt(D_INT1), false, at);
    if (!like_pointers(s, pointer, &value, at) || !like_pointers(s, pointer, &barrier, at) ||
        (mask.kind != SV_NONE && !like_pointers(s, pointer, &mask, at)))
        return sv_error();
    barrier = remote_of(s, barrier, a[1], a[6], at);
    if (barrier.kind != SV_TENSOR)
        return barrier;
    IrValue operands[4] = {pointer.v, value.v, barrier.v, mask.v};
    s->b.span = at;
    ir_build(&s->b, IR_OP_STORE_ASYNC, operands, mask.kind == SV_NONE ? 3 : 4, NULL, 0);
    return sv_none();
}
