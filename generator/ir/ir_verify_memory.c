/* Verifiers of pointers, memory, shared memory and operations across elements. */
#include "ir/ir_verify.h"

/* --- pointers and memory --- */

/* What a pointer or tile of pointers points to, in the same shape; 0 when it is no pointer. */
static IrType pointee_of(IrVerifier *v, IrType t) {
    if (!ir_is_ptr(v->m, t))
        return 0;
    IrModule *m = (IrModule *)(uintptr_t)v->m; /* only interns a type */
    return ir_type_with_elem(m, t, ir_type(m, ir_elem_type(m, t))->of);
}

static IrType want_pointer(IrVerifier *v, IrOp op) {
    IrType of = pointee_of(v, ir_operand_type(v, op, 0));
    if (!of)
        ir_bad(v, op, "operand 0 is %s, expected pointers",
               ir_type_text(v, ir_operand_type(v, op, 0)));
    return of;
}

static bool want_mask(IrVerifier *v, IrOp op, uint32_t i) {
    return i >= ir_operand_count(v->m, op) ||
           ir_want_operand(v, op, i, ir_i1_like(v, ir_operand_type(v, op, 0)));
}

static void check_vector(IrVerifier *v, IrOp op) {
    int64_t vector = ir_int(v->m, op, IR_KEY_VECTOR, 1);
    if (vector < 1 || vector & (vector - 1))
        ir_bad(v, op, "vector of %lld elements, expected a power of two", (long long)vector);
}

void ir_verify_addptr(IrVerifier *v, IrOp op) {
    IrType p = ir_operand_type(v, op, 0), i = ir_operand_type(v, op, 1);
    IrElem e = ir_elem(v->m, i);
    if (!want_pointer(v, op))
        return;
    if ((e != IR_I32 && e != IR_I64) || ir_is_tile(v->m, p) != ir_is_tile(v->m, i))
        ir_bad(v, op, "operand 1 is %s, expected i32 or i64 in the shape of operand 0",
               ir_type_text(v, i));
    else
        ir_want_result(v, op, 0, p);
}

void ir_verify_load(IrVerifier *v, IrOp op) {
    IrType of = want_pointer(v, op);
    if (!of || !want_mask(v, op, 1) || !ir_want_result(v, op, 0, of))
        return;
    if (ir_operand_count(v->m, op) == 3)
        ir_want_operand(v, op, 2, of);
    check_vector(v, op);
}

void ir_verify_store(IrVerifier *v, IrOp op) {
    IrType of = want_pointer(v, op);
    if (of && ir_want_operand(v, op, 1, of) && want_mask(v, op, 2))
        check_vector(v, op);
}

static bool rmw_fits(int64_t rmw, IrElem e) {
    bool floats = ir_elem_is_float(e);
    if (e == IR_ELEM_NONE || e == IR_I1)
        return false;
    return rmw == IR_RMW_XCHG || (rmw == IR_RMW_FADD ? floats : !floats);
}

void ir_verify_atomic_rmw(IrVerifier *v, IrOp op) {
    IrType of = want_pointer(v, op);
    if (!of)
        return;
    int64_t rmw = ir_int(v->m, op, IR_KEY_RMW, 0);
    if (!rmw_fits(rmw, ir_elem(v->m, of))) {
        ir_bad(v, op, "'%s' does not work on %s", ir_enum_text(IR_KEY_RMW, rmw),
               ir_type_text(v, of));
        return;
    }
    if (ir_want_operand(v, op, 1, of) && want_mask(v, op, 2))
        ir_want_result(v, op, 0, of);
}

void ir_verify_atomic_cas(IrVerifier *v, IrOp op) {
    IrType of = want_pointer(v, op);
    if (of && ir_want_operand(v, op, 1, of) && ir_want_operand(v, op, 2, of))
        ir_want_result(v, op, 0, of);
}

/* --- shared memory --- */

void ir_verify_shared_alloc(IrVerifier *v, IrOp op) {
    int64_t align = ir_int(v->m, op, IR_KEY_ALIGN, 1);
    if (ir_type(v->m, ir_result_type(v, op, 0))->kind != IR_BUF)
        ir_bad(v, op, "result is %s, expected a buffer", ir_type_text(v, ir_result_type(v, op, 0)));
    if (align < 1 || align & (align - 1))
        ir_bad(v, op, "alignment %lld, expected a power of two", (long long)align);
    if (ir_int(v->m, op, IR_KEY_SHARED_OFFSET, 0) < 0)
        ir_bad(v, op, "negative offset");
}

static int64_t bytes_of_buffer(const IrModule *m, const IrTypeData *t) {
    int64_t bytes = ir_elem_bytes(m, t->of);
    for (unsigned d = 0; d < t->rank; d++)
        bytes *= t->shape[d];
    return bytes;
}

void ir_verify_buffer_view(IrVerifier *v, IrOp op) {
    const IrTypeData *from = ir_type(v->m, ir_operand_type(v, op, 0));
    const IrTypeData *to = ir_type(v->m, ir_result_type(v, op, 0));
    int64_t start = ir_int(v->m, op, IR_KEY_START, 0);
    IrModule *m = (IrModule *)(uintptr_t)v->m; /* only interns a type */
    if (from->kind != IR_BUF || to->kind != IR_BUF || from->layout || to->layout) {
        ir_bad(v, op, "a view of %s as %s, expected buffers without a layout",
               ir_type_text(v, ir_operand_type(v, op, 0)),
               ir_type_text(v, ir_result_type(v, op, 0)));
        return;
    }
    if (ir_operand_count(m, op) == 2)
        ir_want_operand(v, op, 1, ir_scalar(m, IR_I32));
    int64_t size = bytes_of_buffer(m, from), part = bytes_of_buffer(m, to);
    if (start < 0 || start % ir_elem_bytes(m, to->of) || start + part > size)
        ir_bad(v, op, "%lld bytes from byte %lld of a buffer of %lld", (long long)part,
               (long long)start, (long long)size);
}

/* --- clusters --- */

void ir_verify_cluster_rank(IrVerifier *v, IrOp op) {
    IrModule *m = (IrModule *)(uintptr_t)v->m; /* only interns a type */
    ir_want_result(v, op, 0, ir_scalar(m, IR_I32));
}

void ir_verify_remote(IrVerifier *v, IrOp op) {
    IrModule *m = (IrModule *)(uintptr_t)v->m; /* only interns types */
    IrType p = ir_operand_type(v, op, 0), of = want_pointer(v, op);
    IrType i32 = ir_scalar(m, IR_I32), rank = ir_operand_type(v, op, 1);
    IrType want = ir_is_tile(m, rank) ? ir_type_with_elem(m, p, i32) : i32;
    if (!of || !ir_want_operand(v, op, 1, want))
        return;
    const IrTypeData *d = ir_type(m, ir_elem_type(m, p));
    if (d->space != IR_SPACE_SHARED)
        ir_bad(v, op, "operand 0 is %s, expected pointers of space %d", ir_type_text(v, p),
               IR_SPACE_SHARED);
    else
        ir_want_result(v, op, 0, ir_type_with_elem(m, p, ir_ptr(m, d->of, IR_SPACE_CLUSTER)));
}

void ir_verify_cluster_arrive(IrVerifier *v, IrOp op) {
    int64_t sem = ir_int(v->m, op, IR_KEY_SEM, IR_SEM_RELEASE);
    if (sem != IR_SEM_RELEASE && sem != IR_SEM_RELAXED)
        ir_bad(v, op, "'%s', expected release or relaxed", ir_enum_text(IR_KEY_SEM, sem));
}

void ir_verify_group_barrier(IrVerifier *v, IrOp op) {
    IrModule *m = (IrModule *)(uintptr_t)v->m; /* only interns types */
    IrType i32 = ir_scalar(m, IR_I32);
    const IrTypeData *p = ir_type(m, ir_operand_type(v, op, 0));
    if (p->kind != IR_PTR || p->of != i32 || p->space == IR_SPACE_SHARED)
        ir_bad(v, op, "operand 0 is %s, expected a pointer to i32 of space %d or %d",
               ir_type_text(v, ir_operand_type(v, op, 0)), IR_SPACE_GLOBAL, IR_SPACE_CLUSTER);
    else
        ir_want_operand(v, op, 1, i32);
}

/* A barrier lies in the CTA's own memory; where it counts for is known by its address. */
void ir_verify_mbarrier(IrVerifier *v, IrOp op) {
    IrModule *m = (IrModule *)(uintptr_t)v->m; /* only interns types */
    IrType want = ir_ptr(m, ir_scalar(m, IR_I64), IR_SPACE_SHARED);
    if (ir_want_operand(v, op, 0, want) && ir_operand_count(m, op) > 1)
        ir_want_operand(v, op, 1, ir_scalar(m, IR_I32));
}

void ir_verify_store_async(IrVerifier *v, IrOp op) {
    IrModule *m = (IrModule *)(uintptr_t)v->m; /* only interns types */
    IrType p = ir_operand_type(v, op, 0), of = want_pointer(v, op);
    IrType barrier = ir_ptr(m, ir_scalar(m, IR_I64), IR_SPACE_CLUSTER);
    if (!of || !ir_want_operand(v, op, 1, of) ||
        !ir_want_operand(v, op, 2, ir_type_with_elem(m, p, barrier)) || !want_mask(v, op, 3))
        return;
    uint32_t bytes = ir_elem_bytes(m, of);
    if (ir_type(m, ir_elem_type(m, p))->space != IR_SPACE_CLUSTER || (bytes != 4 && bytes != 8))
        ir_bad(v, op, "operand 0 is %s, expected pointers of space %d to 4 or 8 bytes",
               ir_type_text(v, p), IR_SPACE_CLUSTER);
    else
        check_vector(v, op);
}

/* All indices are i32 scalars, or i32 tiles of the result's shape. */
static bool check_indices(IrVerifier *v, IrOp op, const IrTypeData *buffer) {
    IrModule *m = (IrModule *)(uintptr_t)v->m; /* only interns a type */
    uint32_t n = ir_operand_count(m, op) - 1;
    IrType want = ir_type_with_elem(m, ir_result_type(v, op, 0), ir_scalar(m, IR_I32));
    if (n && n != buffer->rank) {
        ir_bad(v, op, "%u indices into a buffer of rank %u", n, buffer->rank);
        return false;
    }
    for (uint32_t i = 1; i <= n; i++)
        if (!ir_want_operand(v, op, i, want))
            return false;
    return true;
}

void ir_verify_local_ptr(IrVerifier *v, IrOp op) {
    const IrTypeData *b = ir_type(v->m, ir_operand_type(v, op, 0));
    IrType t = ir_result_type(v, op, 0);
    const IrTypeData *d = ir_type(v->m, t), *p = ir_type(v->m, ir_elem_type(v->m, t));
    if (b->kind != IR_BUF) {
        ir_bad(v, op, "operand 0 is %s, expected a buffer",
               ir_type_text(v, ir_operand_type(v, op, 0)));
        return;
    }
    if (p->kind != IR_PTR || d->kind == IR_BUF || p->of != b->of || p->space != IR_SPACE_SHARED) {
        ir_bad(v, op, "result is %s, expected pointers to the elements of %s", ir_type_text(v, t),
               ir_type_text(v, ir_operand_type(v, op, 0)));
        return;
    }
    bool whole = ir_operand_count(v->m, op) == 1, same = d->rank == b->rank;
    for (unsigned i = 0; same && i < d->rank; i++)
        same = d->shape[i] == b->shape[i];
    if (whole && !same)
        ir_bad(v, op, "result is %s, expected the shape of the buffer", ir_type_text(v, t));
    else
        check_indices(v, op, b);
}

/* --- across elements --- */

/* The first n operands are tiles of one shape with `axis`; false after a diagnostic. */
static bool check_tiles(IrVerifier *v, IrOp op, uint32_t n, int64_t axis) {
    const IrTypeData *first = ir_type(v->m, ir_operand_type(v, op, 0));
    for (uint32_t i = 0; i < n; i++) {
        const IrTypeData *d = ir_type(v->m, ir_operand_type(v, op, i));
        bool same = d->kind == IR_TILE && d->rank == first->rank && d->layout == first->layout &&
                    ir_elem(v->m, d->of) != IR_ELEM_NONE;
        for (unsigned k = 0; same && k < d->rank; k++)
            same = d->shape[k] == first->shape[k];
        if (!same) {
            ir_bad(v, op, "operand %u is %s, expected a tile of numbers like operand 0", i,
                   ir_type_text(v, ir_operand_type(v, op, i)));
            return false;
        }
    }
    if (axis >= 0 && axis < first->rank)
        return true;
    ir_bad(v, op, "axis %lld of a tile of rank %u", (long long)axis, first->rank);
    return false;
}

/* The region takes two of each element, gives one of each, and has no effects. */
static bool check_combine(IrVerifier *v, IrOp op, uint32_t n) {
    IrType *types = arena_array(v->scratch, IrType, 2 * (size_t)n);
    for (uint32_t i = 0; i < n; i++)
        types[i] = types[n + i] = ir_elem_type(v->m, ir_operand_type(v, op, i));
    for (IrOp inner = ir_first(v->m, ir_region_block(v->m, op, 0)); inner;
         inner = ir_next(v->m, inner)) {
        if (!ir_trait(v->m, inner, IR_TRAIT_PURE | IR_TRAIT_TERMINATOR) ||
            ir_region_count(v->m, inner)) {
            ir_bad(v, inner, "has effects or regions, which a combining region must not");
            return false;
        }
    }
    return ir_want_args(v, op, 0, types, 2 * n) && ir_want_passed(v, op, 0, 0, types, n);
}

/* t is `tile` without the axis (a scalar from rank 1), in any layout. */
static bool is_reduced(const IrModule *m, IrType tile, int64_t axis, IrType t) {
    const IrTypeData *s = ir_type(m, tile), *d = ir_type(m, t);
    if (ir_elem_type(m, t) != s->of || d->kind == IR_BUF || d->rank != s->rank - 1)
        return false;
    for (unsigned i = 0; i < d->rank; i++)
        if (d->shape[i] != s->shape[i < axis ? i : i + 1])
            return false;
    return true;
}

static bool want_reduced(IrVerifier *v, IrOp op, uint32_t result, uint32_t operand, int64_t axis) {
    if (is_reduced(v->m, ir_operand_type(v, op, operand), axis, ir_result_type(v, op, result)))
        return true;
    ir_bad(v, op, "result %u is %s, expected %s without dimension %lld", result,
           ir_type_text(v, ir_result_type(v, op, result)),
           ir_type_text(v, ir_operand_type(v, op, operand)), (long long)axis);
    return false;
}

void ir_verify_reduce(IrVerifier *v, IrOp op) {
    uint32_t n = ir_operand_count(v->m, op);
    int64_t axis = ir_int(v->m, op, IR_KEY_AXIS, 0);
    if (ir_result_count(v->m, op) != n) {
        ir_bad(v, op, "%u results for %u operands", ir_result_count(v->m, op), n);
        return;
    }
    if (!check_tiles(v, op, n, axis) || !check_combine(v, op, n))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (!want_reduced(v, op, i, i, axis))
            return;
}

void ir_verify_scan(IrVerifier *v, IrOp op) {
    const IrModule *m = v->m;
    bool exclusive = ir_int(m, op, IR_KEY_EXCLUSIVE, 0), total = ir_int(m, op, IR_KEY_TOTAL, 0);
    uint32_t operands = ir_operand_count(m, op), results = ir_result_count(m, op);
    uint32_t n = exclusive ? operands / 2 : operands;
    int64_t axis = ir_int(m, op, IR_KEY_AXIS, 0);
    if (!n || operands != n * (exclusive ? 2 : 1) || results != n * (total ? 2 : 1)) {
        ir_bad(v, op, "%u operands and %u results do not fit its attributes", operands, results);
        return;
    }
    if (!check_tiles(v, op, n, axis) || !check_combine(v, op, n))
        return;
    for (uint32_t i = 0; i < n; i++) {
        IrType t = ir_operand_type(v, op, i);
        if ((exclusive && !ir_want_operand(v, op, n + i, ir_elem_type(m, t))) ||
            !ir_want_result(v, op, i, t) || (total && !want_reduced(v, op, n + i, i, axis)))
            return;
    }
}

void ir_verify_histogram(IrVerifier *v, IrOp op) {
    IrType s = ir_operand_type(v, op, 0), t = ir_result_type(v, op, 0);
    if (!ir_is_tile(v->m, s) || ir_elem(v->m, s) != IR_I32)
        ir_bad(v, op, "operand 0 is %s, expected a tile of i32", ir_type_text(v, s));
    else if (!ir_is_tile(v->m, t) || ir_elem(v->m, t) != IR_I32 || ir_type(v->m, t)->rank != 1)
        ir_bad(v, op, "result is %s, expected tile<bins x i32>", ir_type_text(v, t));
    else
        want_mask(v, op, 1);
}
