/* Loads, stores and atomics through pointers. */
#include "sema/sema_builtin.h"
#include "sema/sema_promote.h"

static bool is_bool_ptr(SVal p) {
    return p.dtype.depth == 1 && p.dtype.base == D_INT1;
}

/* The type of an element in memory: booleans are bytes. */
static DType memory_dtype(SVal pointer) {
    return is_bool_ptr(pointer) ? dt(D_INT8) : dt_pointee(pointer.dtype);
}

static bool check_pointer(Sema *s, SVal p, const char *what, Span at) {
    if (p.kind == SV_TENSOR && dt_is_ptr(p.dtype))
        return true;
    sema_error(s, DIAG_SEMA_TYPE, at, "%s needs a pointer or a tensor of pointers, found %s", what,
               sv_describe(s, p));
    return false;
}

/* Brings a mask to the pointer's shape; an absent or constant-true mask becomes none. A mask with
 * more dimensions than the pointer widens the pointer, as in Triton. */
static bool prepare_mask(Sema *s, SVal *pointer, SVal *mask, Span at) {
    if (mask->kind == SV_NONE)
        return true;
    if (mask->kind != SV_TENSOR && !sv_is_number(*mask)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "'mask' must be a tensor of int1, found %s",
                   sv_describe(s, *mask));
        return false;
    }
    *mask = sema_cast(s, *mask, dt(D_INT1), false, at);
    return mask->kind == SV_TENSOR && sema_broadcast_pair(s, pointer, mask, at);
}

SVal sema_load(Sema *s, SVal pointer, SVal mask, SVal other, Span at) {
    if (!check_pointer(s, pointer, "load", at) || !prepare_mask(s, &pointer, &mask, at))
        return sv_error();
    if (mask.kind == SV_NONE && other.kind != SV_NONE)
        return sema_error(s, DIAG_SEMA_CALL, at, "'other' has no meaning without 'mask'");
    IrValue operands[3] = {pointer.v, mask.v, 0};
    uint32_t n = mask.kind == SV_NONE ? 1 : 2;
    DType t = memory_dtype(pointer);
    if (other.kind != SV_NONE) {
        other =
            sema_broadcast(s, sema_cast(s, other, t, false, at), pointer.rank, pointer.shape, at);
        if (other.kind != SV_TENSOR)
            return sv_error();
        operands[n++] = other.v;
    }
    s->b.span = at;
    IrType type = sv_ir_type(s, t, pointer.rank, pointer.shape);
    SVal x =
        sv_tensor(s, ir_result(s->m, ir_build(&s->b, IR_OP_LOAD, operands, n, &type, 1), 0), t);
    return is_bool_ptr(pointer) ? sema_cast(s, x, dt(D_INT1), false, at) : x;
}

SVal sema_store(Sema *s, SVal pointer, SVal value, SVal mask, Span at) {
    if (!check_pointer(s, pointer, "store", at) || !prepare_mask(s, &pointer, &mask, at))
        return sv_error();
    if (value.kind != SV_TENSOR && !sv_is_number(value))
        return sema_error(s, DIAG_SEMA_TYPE, at, "'value' must be a tensor or a number, found %s",
                          sv_describe(s, value));
    if (is_bool_ptr(pointer))
        value = sema_cast(s, value, dt(D_INT1), false, at);
    value = sema_cast(s, value, memory_dtype(pointer), false, at);
    if (value.kind != SV_TENSOR)
        return sv_error();
    if (value.rank > pointer.rank)
        return sema_error(s, DIAG_SEMA_SHAPE, at, "cannot store %s through %s",
                          sv_describe(s, value), sv_describe(s, pointer));
    value = sema_broadcast(s, value, pointer.rank, pointer.shape, at);
    if (value.kind != SV_TENSOR)
        return sv_error();
    IrValue operands[3] = {pointer.v, value.v, mask.v};
    s->b.span = at;
    ir_build(&s->b, IR_OP_STORE, operands, mask.kind == SV_NONE ? 2 : 3, NULL, 0);
    return sv_none();
}

/* The operation just built at the end of the builder's block. */
static IrOp last_op(Sema *s, IrKind kind) {
    IrOp op = s->b.before ? ir_prev(s->m, s->b.before) : ir_last(s->m, s->b.block);
    while (op && ir_kind(s->m, op) != kind)
        op = ir_prev(s->m, op);
    return op;
}

static bool set_hints(Sema *s, IrOp op, SVal cache, SVal evict, Span at) {
    static const char *const caches[] = {
        [IR_CACHE_NONE] = "",  [IR_CACHE_CA] = ".ca", [IR_CACHE_CG] = ".cg", [IR_CACHE_CS] = ".cs",
        [IR_CACHE_CV] = ".cv", [IR_CACHE_WB] = ".wb", [IR_CACHE_WT] = ".wt", NULL};
    static const char *const evicts[] = {[IR_EVICT_NORMAL] = "evict_normal",
                                         [IR_EVICT_FIRST] = "evict_first",
                                         [IR_EVICT_LAST] = "evict_last",
                                         [IR_EVICT_NO_ALLOCATE] = "no_allocate",
                                         NULL};
    int c, e;
    if (!arg_choice(s, cache, "cache_modifier", caches, IR_CACHE_NONE, at, &c) ||
        !arg_choice(s, evict, "eviction_policy", evicts, IR_EVICT_NORMAL, at, &e))
        return false;
    if (c != IR_CACHE_NONE)
        ir_set_int(s->m, op, IR_KEY_CACHE, c);
    if (e != IR_EVICT_NORMAL)
        ir_set_int(s->m, op, IR_KEY_EVICT, e);
    return true;
}

static SVal load_with(Sema *s, const SVal *a, bool async, Span at) {
    bool is_volatile;
    if (a[3].kind != SV_TUPLE || a[3].len)
        return sema_unsupported_argument(s, "load", "boundary_check", at);
    if (a[4].kind != SV_STR || str_len(s->strings, a[4].str))
        return sema_unsupported_argument(s, "load", "padding_option", at);
    if (!arg_bool(s, a[7], "volatile", at, &is_volatile))
        return sv_error();
    SVal x = sema_load(s, a[0], a[1], a[2], at);
    if (x.kind == SV_ERROR)
        return x;
    IrOp op = last_op(s, IR_OP_LOAD);
    if (!set_hints(s, op, a[5], a[6], at))
        return sv_error();
    if (is_volatile)
        ir_set_int(s->m, op, IR_KEY_VOLATILE, 1);
    if (async)
        ir_set_int(s->m, op, IR_KEY_IS_ASYNC, 1);
    return x;
}

SVal b_load(Sema *s, const SVal *a, Span at) {
    return load_with(s, a, false, at);
}

SVal b_tle_load(Sema *s, const SVal *a, Span at) {
    bool async;
    return arg_bool(s, a[8], "is_async", at, &async) ? load_with(s, a, async, at) : sv_error();
}

SVal b_store(Sema *s, const SVal *a, Span at) {
    if (a[3].kind != SV_TUPLE || a[3].len)
        return sema_unsupported_argument(s, "store", "boundary_check", at);
    SVal x = sema_store(s, a[0], a[1], a[2], at);
    if (x.kind != SV_ERROR && !set_hints(s, last_op(s, IR_OP_STORE), a[4], a[5], at))
        return sv_error();
    return x;
}

/* --- atomics --- */

static const char *const sems[] = {[IR_SEM_RELAXED] = "relaxed",
                                   [IR_SEM_ACQUIRE] = "acquire",
                                   [IR_SEM_RELEASE] = "release",
                                   [IR_SEM_ACQ_REL] = "acq_rel",
                                   NULL};
static const char *const scopes[] = {[IR_SCOPE_CTA] = "cta",
                                     [IR_SCOPE_CLUSTER] = "cluster",
                                     [IR_SCOPE_GPU] = "gpu",
                                     [IR_SCOPE_SYS] = "sys",
                                     NULL};

typedef struct Order {
    int sem, scope;
} Order;

static bool read_order(Sema *s, SVal sem, SVal scope, Span at, Order *out) {
    return arg_choice(s, sem, "sem", sems, IR_SEM_ACQ_REL, at, &out->sem) &&
           arg_choice(s, scope, "scope", scopes, IR_SCOPE_GPU, at, &out->scope);
}

static IrValue build_rmw(Sema *s, int rmw, Order order, SVal p, SVal x, SVal mask) {
    IrValue operands[3] = {p.v, x.v, mask.v};
    IrType t = ir_value_type(s->m, x.v);
    IrOp op = ir_build(&s->b, IR_OP_ATOMIC_RMW, operands, mask.kind == SV_NONE ? 2 : 3, &t, 1);
    ir_set_int(s->m, op, IR_KEY_RMW, rmw);
    ir_set_int(s->m, op, IR_KEY_SEM, order.sem);
    ir_set_int(s->m, op, IR_KEY_SCOPE, order.scope);
    return ir_result(s->m, op, 0);
}

static SVal and_mask(Sema *s, SVal mask, SVal more, Span at) {
    return mask.kind == SV_NONE ? more : sema_binary(s, AST_OP_BITAND, mask, more, at);
}

/* Floats order like their bits as signed integers when the sign bit is clear, and in reverse like
 * unsigned ones when it is set; so one float extremum is two integer ones under opposite masks. */
static SVal float_extremum(Sema *s, bool max, Order order, SVal p, SVal x, SVal mask, Span at) {
    DType f = x.dtype, i = dt(dt_bits(f) == 64 ? D_INT64 : D_INT32);
    if (dt_bits(f) < 32)
        return sema_error(s, DIAG_SEMA_TYPE, at, "atomic_%s of %s is not supported",
                          max ? "max" : "min", dt_name(s, f));
    SVal bits = sema_cast(s, x, i, true, at),
         ip = sema_cast(s, p, dt_ptr(i, p.dtype.space), true, at);
    SVal negative = sema_compare(s, AST_OP_LT, bits, sv_int(0), at);
    SVal positive = sema_unary(s, AST_OP_NOT, negative, at);
    IrValue up = build_rmw(s, max ? IR_RMW_SMAX : IR_RMW_SMIN, order, ip, bits,
                           and_mask(s, mask, positive, at));
    IrValue un = build_rmw(s, max ? IR_RMW_UMIN : IR_RMW_UMAX, order, ip, bits,
                           and_mask(s, mask, negative, at));
    SVal old = sema_select(s, negative, sv_tensor(s, un, i), sv_tensor(s, up, i), at);
    return sema_cast(s, old, f, true, at);
}

typedef enum AtomicKind { A_ADD, A_MAX, A_MIN, A_AND, A_OR, A_XOR, A_XCHG } AtomicKind;

static int rmw_code(AtomicKind kind, DType t) {
    switch (kind) {
    case A_ADD:
        return dt_is_float(t) ? IR_RMW_FADD : IR_RMW_ADD;
    case A_MAX:
        return dt_is_signed(t) ? IR_RMW_SMAX : IR_RMW_UMAX;
    case A_MIN:
        return dt_is_signed(t) ? IR_RMW_SMIN : IR_RMW_UMIN;
    case A_AND:
        return IR_RMW_AND;
    case A_OR:
        return IR_RMW_OR;
    case A_XOR:
        return IR_RMW_XOR;
    case A_XCHG:
        return IR_RMW_XCHG;
    }
    return -1;
}

static SVal atomic(Sema *s, AtomicKind kind, const char *name, const SVal *a, Span at) {
    Order order;
    SVal p = a[0], mask = a[2];
    if (!check_pointer(s, p, name, at) || !read_order(s, a[3], a[4], at, &order) ||
        !prepare_mask(s, &p, &mask, at))
        return sv_error();
    DType t = dt_pointee(p.dtype);
    bool bits = kind == A_AND || kind == A_OR || kind == A_XOR,
         half_add = kind == A_ADD && dt_is_float(t);
    if (dt_is_ptr(t) || (dt_bits(t) < 32 && !(half_add && dt_bits(t) == 16)) ||
        (bits && !dt_is_int(t)))
        return sema_error(s, DIAG_SEMA_TYPE, at, "%s on %s is not supported", name, dt_name(s, t));
    if (a[1].kind != SV_TENSOR && !sv_is_number(a[1]))
        return sema_error(s, DIAG_SEMA_TYPE, at, "'val' must be a tensor or a number, found %s",
                          sv_describe(s, a[1]));
    SVal x = sema_broadcast(s, sema_cast(s, a[1], t, false, at), p.rank, p.shape, at);
    if (x.kind != SV_TENSOR)
        return sv_error();
    s->b.span = at;
    if ((kind == A_MAX || kind == A_MIN) && dt_is_float(t))
        return float_extremum(s, kind == A_MAX, order, p, x, mask, at);
    return sv_tensor(s, build_rmw(s, rmw_code(kind, t), order, p, x, mask), t);
}

#define ATOMIC(name, KIND)                                                                         \
    SVal b_atomic_##name(Sema *s, const SVal *a, Span at) {                                        \
        return atomic(s, KIND, "atomic_" #name, a, at);                                            \
    }
ATOMIC(add, A_ADD)
ATOMIC(max, A_MAX)
ATOMIC(min, A_MIN)
ATOMIC(and, A_AND)
ATOMIC(or, A_OR)
ATOMIC(xor, A_XOR)
ATOMIC(xchg, A_XCHG)
#undef ATOMIC

SVal b_atomic_cas(Sema *s, const SVal *a, Span at) {
    Order order;
    SVal p = a[0];
    if (!check_pointer(s, p, "atomic_cas", at) || !read_order(s, a[3], a[4], at, &order))
        return sv_error();
    DType t = dt_pointee(p.dtype);
    if (dt_is_ptr(t) || (dt_bits(t) != 16 && dt_bits(t) != 32 && dt_bits(t) != 64))
        return sema_error(s, DIAG_SEMA_TYPE, at, "atomic_cas on %s is not supported",
                          dt_name(s, t));
    SVal expected = sema_broadcast(s, sema_cast(s, a[1], t, false, at), p.rank, p.shape, at);
    SVal wanted = sema_broadcast(s, sema_cast(s, a[2], t, false, at), p.rank, p.shape, at);
    if (expected.kind != SV_TENSOR || wanted.kind != SV_TENSOR)
        return sv_error();
    IrValue operands[3] = {p.v, expected.v, wanted.v};
    IrType type = ir_value_type(s->m, expected.v);
    s->b.span = at;
    IrOp op = ir_build(&s->b, IR_OP_ATOMIC_CAS, operands, 3, &type, 1);
    ir_set_int(s->m, op, IR_KEY_SEM, order.sem);
    ir_set_int(s->m, op, IR_KEY_SCOPE, order.scope);
    return sv_tensor(s, ir_result(s->m, op, 0), t);
}
