/* Axis analysis: what each operation does to contiguity, divisibility and constancy.
 *
 * All three are powers of two and speak of groups that are aligned to their own size. Every use of
 * a run is bounded by the divisibility of its start, so a run that wraps around in 32 bits does no
 * harm: the wrap is at a multiple of 2^31, never inside an aligned group. */
#include "analysis/axis_impl.h"

#include "analysis/axis_range.h"

/* One dimension of one operand. */
typedef struct Dim {
    int64_t run, div, same;
} Dim;

/* Both operands of a binary operation in one dimension. */
typedef struct Pair {
    Dim l, r;
    bool r_const, non_negative; /* non_negative: the left operand */
    int64_t r_value;
    uint32_t bits;
} Pair;

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

int64_t axis_pow2_of(int64_t v) {
    int64_t p = 1;
    while (p < AXIS_MAX_POW2 && (v == 0 || !(v & p)))
        p *= 2;
    return p;
}

static int64_t at_run(Dim a, int64_t run, int64_t unit) {
    return run >= a.run ? a.div : lesser(a.div, run * unit);
}

int64_t axis_divisible_at(const AxisInfo *a, unsigned dim, int64_t run, int64_t unit) {
    return at_run((Dim){a->contiguity[dim], a->divisibility[dim], a->constancy[dim]}, run, unit);
}

int64_t axis_unit(const IrModule *m, IrType t) {
    const IrTypeData *elem = ir_type(m, ir_elem_type(m, t));
    return elem->kind == IR_PTR ? (int64_t)ir_elem_bytes(m, elem->of) : 1;
}

static int64_t product(int64_t a, int64_t b) {
    return a >= AXIS_MAX_POW2 / b ? AXIS_MAX_POW2 : a * b;
}

/* --- one dimension of a binary operation --- */

/* Equal where both operands are equal: true of every elementwise operation. */
static Dim dim_opaque(const Pair *p) {
    return (Dim){1, 1, lesser(p->l.same, p->r.same)};
}

static Dim dim_add(const Pair *p) {
    Dim out = dim_opaque(p);
    out.run = greater(lesser(p->l.run, p->r.same), lesser(p->l.same, p->r.run));
    out.div = lesser(at_run(p->l, out.run, 1), at_run(p->r, out.run, 1));
    return out;
}

static Dim dim_sub(const Pair *p) {
    Dim out = dim_opaque(p);
    out.run = lesser(p->l.run, p->r.same);
    out.div = lesser(at_run(p->l, out.run, 1), at_run(p->r, out.run, 1));
    return out;
}

static Dim dim_mul(const Pair *p) {
    if (p->r_const && p->r_value == 1)
        return p->l;
    Dim out = dim_opaque(p);
    out.div = product(at_run(p->l, 1, 1), at_run(p->r, 1, 1));
    return out;
}

/* Aligned group of l inside which the low bits that `unit` spans are the only ones to change. */
static int64_t low_group(const Pair *p, int64_t unit) {
    return lesser(lesser(p->l.run, p->l.div), unit);
}

/* Groups of size g with l = g * a + i and r = g * b, 0 <= i < g: l / r = a / b, l % r = (a % b) * g
 * + i. */
static int64_t division_group(const Pair *p) {
    return lesser(low_group(p, at_run(p->r, 1, 1)), p->r.same);
}

static Dim dim_div(const Pair *p) {
    Dim out = dim_opaque(p);
    if (p->non_negative)
        out.same = greater(out.same, division_group(p));
    if (p->r_const && p->r_value > 0 && axis_pow2_of(p->r_value) == p->r_value)
        out.div = greater(1, at_run(p->l, 1, 1) / p->r_value);
    return out;
}

static Dim dim_rem(const Pair *p) {
    Dim out = dim_opaque(p);
    if (p->non_negative)
        out.run = division_group(p);
    out.div = lesser(at_run(p->l, out.run, 1), at_run(p->r, out.run, 1));
    return out;
}

static Dim dim_and(const Pair *p) {
    Dim out = dim_opaque(p);
    if (p->r_const) {
        out.run = low_group(p, axis_pow2_of(~p->r_value)); /* low ones let the run through */
        out.same = greater(out.same, low_group(p, axis_pow2_of(p->r_value)));
    }
    out.div = greater(at_run(p->l, out.run, 1), out.run > 1 ? 1 : at_run(p->r, 1, 1));
    return out;
}

/* or, xor: r does not touch the bits that change inside the group. */
static Dim dim_or(const Pair *p) {
    Dim out = dim_opaque(p);
    out.run = lesser(low_group(p, at_run(p->r, 1, 1)), p->r.same);
    out.div = lesser(at_run(p->l, out.run, 1), at_run(p->r, out.run, 1));
    return out;
}

static bool shift_amount(const Pair *p) {
    return p->r_const && p->r_value >= 0 && p->r_value < (int64_t)p->bits && p->r_value < 31;
}

static Dim dim_shl(const Pair *p) {
    if (!shift_amount(p))
        return dim_opaque(p);
    if (p->r_value == 0)
        return p->l;
    Dim out = dim_opaque(p);
    out.div = product(at_run(p->l, 1, 1), INT64_C(1) << p->r_value);
    return out;
}

/* lshr, ashr: division by 2^n that rounds down. */
static Dim dim_shr(const Pair *p) {
    if (!shift_amount(p))
        return dim_opaque(p);
    Dim out = dim_opaque(p);
    out.same = greater(out.same, low_group(p, INT64_C(1) << p->r_value));
    out.div = greater(1, at_run(p->l, 1, 1) >> p->r_value);
    return out;
}

static Dim dim_minmax(const Pair *p) {
    Dim out = dim_opaque(p);
    out.div = lesser(at_run(p->l, 1, 1), at_run(p->r, 1, 1));
    return out;
}

/* --- whole operations --- */

static int64_t extent_of(const IrModule *m, IrType t, unsigned dim) {
    const IrTypeData *d = ir_type(m, t);
    return d->kind == IR_TILE ? d->shape[dim] : 1;
}

static unsigned rank_of(const IrModule *m, IrType t) {
    const IrTypeData *d = ir_type(m, t);
    return d->kind == IR_TILE ? d->rank : 1;
}

AxisInfo axis_nothing(const IrModule *m, IrType t) {
    AxisInfo out = {.rank = (uint8_t)rank_of(m, t)};
    for (unsigned d = 0; d < IR_MAX_RANK; d++)
        out.contiguity[d] = out.divisibility[d] = out.constancy[d] = 1;
    return out;
}

/* The same value in every element, of which `div` is known. */
static AxisInfo uniform(const IrModule *m, IrType t, int64_t div) {
    AxisInfo out = axis_nothing(m, t);
    for (unsigned d = 0; d < out.rank; d++) {
        out.divisibility[d] = div;
        out.constancy[d] = axis_pow2_of(extent_of(m, t, d));
    }
    return out;
}

static AxisInfo constant(const IrModule *m, IrType t, int64_t value) {
    AxisInfo out = uniform(m, t, axis_pow2_of(value));
    out.is_const = true;
    out.value = value;
    return out;
}

/* What every element is a multiple of. */
static int64_t divisible_everywhere(const AxisInfo *a, int64_t unit) {
    int64_t div = 1;
    for (unsigned d = 0; d < a->rank; d++)
        div = greater(div, axis_divisible_at(a, d, 1, unit));
    return div;
}

/* A scalar operand of an operation on tiles is the same everywhere. */
static Dim dim_of(const AxisInfo *a, const IrModule *m, IrType from, IrType to, unsigned d) {
    if (ir_is_tile(m, to) && !ir_is_tile(m, from))
        return (Dim){1, a->divisibility[0], axis_pow2_of(extent_of(m, to, d))};
    return (Dim){a->contiguity[d], a->divisibility[d], a->constancy[d]};
}

static void set_dim(AxisInfo *out, unsigned d, Dim v) {
    out->contiguity[d] = v.run;
    out->divisibility[d] = v.div;
    out->constancy[d] = v.same;
}

typedef Dim DimRule(const Pair *p);

typedef struct Operands {
    const Axis *x;
    const IrModule *m;
    IrOp op;
    IrType type; /* of the result */
    const AxisInfo *in[3];
} Operands;

static Dim operand_dim(const Operands *o, uint32_t i, unsigned d) {
    IrType t = ir_value_type(o->m, ir_operand(o->m, o->op, i));
    return dim_of(o->in[i], o->m, t, o->type, d);
}

static AxisInfo binary(const Operands *o, DimRule *rule, bool swapped) {
    AxisInfo out = axis_nothing(o->m, o->type);
    IrElem elem = ir_elem(o->m, o->type);
    const AxisInfo *r = o->in[!swapped];
    IrKind kind = ir_kind(o->m, o->op);
    Pair p = {.r_const = r->is_const,
              .r_value = r->value,
              .bits = elem == IR_ELEM_NONE ? 64 : ir_elem_bits(elem),
              .non_negative = kind == IR_OP_UDIV || kind == IR_OP_UREM ||
                              range_of(o->m, ir_operand(o->m, o->op, swapped)).lo >= 0};
    for (unsigned d = 0; d < out.rank; d++) {
        p.l = operand_dim(o, swapped, d);
        p.r = operand_dim(o, !swapped, d);
        set_dim(&out, d, rule(&p));
    }
    return out;
}

/* The constant operand, when there is one, is the right one. */
static AxisInfo commuting(const Operands *o, DimRule *rule) {
    return binary(o, rule, o->in[0]->is_const && !o->in[1]->is_const);
}

static AxisInfo opaque(const Operands *o) {
    AxisInfo out = axis_nothing(o->m, o->type);
    for (unsigned d = 0; d < out.rank; d++) {
        int64_t same = axis_pow2_of(extent_of(o->m, o->type, d));
        for (uint32_t i = 0; i < ir_operand_count(o->m, o->op); i++) {
            IrValue v = ir_operand(o->m, o->op, i);
            Dim in = dim_of(axis_reached(o->x, v), o->m, ir_value_type(o->m, v), o->type, d);
            same = lesser(same, in.same);
        }
        out.constancy[d] = same;
    }
    return out;
}

/* l < r and l >= r are uniform in groups that start at multiples of the group, when r is a multiple
 * too: r is never inside the group. With the run on the right it is r > l and r <= l. */
static AxisInfo compare(const Operands *o) {
    AxisInfo out = opaque(o);
    int64_t cmp = ir_int(o->m, o->op, IR_KEY_CMP, IR_CMP_EQ);
    bool left = cmp == IR_CMP_SLT || cmp == IR_CMP_SGE || cmp == IR_CMP_ULT || cmp == IR_CMP_UGE;
    bool right = cmp == IR_CMP_SGT || cmp == IR_CMP_SLE || cmp == IR_CMP_UGT || cmp == IR_CMP_ULE;
    if (!left && !right)
        return out;
    for (unsigned d = 0; d < out.rank; d++) {
        Pair p = {.l = operand_dim(o, right, d), .r = operand_dim(o, left, d)};
        out.constancy[d] = greater(out.constancy[d], division_group(&p));
    }
    return out;
}

static AxisInfo select_info(const Operands *o) {
    AxisInfo out = axis_nothing(o->m, o->type);
    int64_t unit = axis_unit(o->m, o->type);
    for (unsigned d = 0; d < out.rank; d++) {
        Dim c = operand_dim(o, 0, d), a = operand_dim(o, 1, d), b = operand_dim(o, 2, d);
        int64_t run = lesser(c.same, lesser(a.run, b.run));
        set_dim(&out, d,
                (Dim){run, lesser(at_run(a, run, unit), at_run(b, run, unit)),
                      lesser(c.same, lesser(a.same, b.same))});
    }
    return out;
}

static AxisInfo addptr_info(const Operands *o) {
    AxisInfo out = axis_nothing(o->m, o->type);
    int64_t unit = axis_unit(o->m, o->type);
    for (unsigned d = 0; d < out.rank; d++) {
        Dim p = operand_dim(o, 0, d), i = operand_dim(o, 1, d);
        int64_t run = greater(lesser(p.run, i.same), lesser(p.same, i.run));
        int64_t bytes = product(at_run(i, run, 1), axis_pow2_of(unit));
        set_dim(&out, d, (Dim){run, lesser(at_run(p, run, unit), bytes), lesser(p.same, i.same)});
    }
    return out;
}

/* The shared memory of every CTA is aligned alike; a run ends where the rank changes. */
static AxisInfo remote_info(const Operands *o) {
    AxisInfo out = axis_nothing(o->m, o->type);
    int64_t unit = axis_unit(o->m, o->type);
    bool scalar = !ir_is_tile(o->m, ir_value_type(o->m, ir_operand(o->m, o->op, 1)));
    for (unsigned d = 0; d < out.rank; d++) {
        Dim p = operand_dim(o, 0, d), rank = scalar ? p : operand_dim(o, 1, d);
        int64_t same = scalar ? p.run : rank.same, run = lesser(p.run, same);
        set_dim(&out, d,
                (Dim){run, at_run(p, run, unit), scalar ? p.same : lesser(p.same, rank.same)});
    }
    return out;
}

static AxisInfo arange_info(const Operands *o) {
    AxisInfo out = axis_nothing(o->m, o->type);
    out.contiguity[0] = axis_pow2_of(extent_of(o->m, o->type, 0));
    out.divisibility[0] =
        lesser(axis_pow2_of(ir_int(o->m, o->op, IR_KEY_START, 0)), out.contiguity[0]);
    return out;
}

/* --- shapes --- */

static AxisInfo expand_info(const Operands *o) {
    AxisInfo out = axis_nothing(o->m, o->type);
    unsigned axis = (unsigned)ir_int(o->m, o->op, IR_KEY_AXIS, 0);
    for (unsigned d = 0, from = 0; d < out.rank; d++)
        if (d == axis)
            out.divisibility[d] = divisible_everywhere(o->in[0], axis_unit(o->m, o->type));
        else
            set_dim(&out, d,
                    (Dim){o->in[0]->contiguity[from], o->in[0]->divisibility[from],
                          o->in[0]->constancy[from]}),
                from++;
    return out;
}

static AxisInfo broadcast_info(const Operands *o) {
    AxisInfo out = *o->in[0];
    IrType from = ir_value_type(o->m, ir_operand(o->m, o->op, 0));
    for (unsigned d = 0; d < out.rank; d++)
        if (extent_of(o->m, from, d) != extent_of(o->m, o->type, d))
            out.constancy[d] = axis_pow2_of(extent_of(o->m, o->type, d));
    return out;
}

static AxisInfo trans_info(const Operands *o) {
    AxisInfo out = axis_nothing(o->m, o->type);
    const IrAttrData *order = ir_attr(o->m, o->op, IR_KEY_ORDER);
    for (unsigned d = 0; order && d < out.rank && d < order->len; d++) {
        unsigned from = (unsigned)order->ints[d];
        set_dim(&out, d,
                (Dim){o->in[0]->contiguity[from], o->in[0]->divisibility[from],
                      o->in[0]->constancy[from]});
    }
    return out;
}

/* Only the fastest dimension keeps its runs, cut to what fits the new rows. */
static AxisInfo reshape_info(const Operands *o) {
    const AxisInfo *in = o->in[0];
    int64_t unit = axis_unit(o->m, o->type), every = divisible_everywhere(in, unit);
    AxisInfo out = axis_nothing(o->m, o->type);
    unsigned last = out.rank - 1u, from = in->rank - 1u;
    int64_t row = axis_pow2_of(extent_of(o->m, o->type, last));
    for (unsigned d = 0; d < out.rank; d++)
        out.divisibility[d] = every;
    out.contiguity[last] = lesser(in->contiguity[from], row);
    out.constancy[last] = lesser(in->constancy[from], row);
    out.divisibility[last] =
        greater(every, axis_divisible_at(in, from, out.contiguity[last], unit));
    return out;
}

/* --- casts and facts --- */

static AxisInfo same_bits(const Operands *o) {
    AxisInfo out = *o->in[0];
    IrType from = ir_value_type(o->m, ir_operand(o->m, o->op, 0));
    int64_t unit = axis_unit(o->m, from);
    if (unit == axis_unit(o->m, o->type) && !out.is_const)
        return out;
    for (unsigned d = 0; d < out.rank; d++) { /* the step is no longer one element */
        out.divisibility[d] = axis_divisible_at(&out, d, 1, unit);
        out.contiguity[d] = 1;
    }
    out.is_const = false;
    return out;
}

static bool integer_or_pointer(const IrModule *m, IrType t) {
    IrElem e = ir_elem(m, t);
    return e == IR_ELEM_NONE || !ir_elem_is_float(e);
}

static AxisInfo bitcast_info(const Operands *o) {
    IrType from = ir_value_type(o->m, ir_operand(o->m, o->op, 0));
    bool ints = integer_or_pointer(o->m, from) && integer_or_pointer(o->m, o->type);
    return ints ? same_bits(o) : opaque(o);
}

static AxisInfo extend_info(const Operands *o) {
    AxisInfo out = *o->in[0];
    IrElem from = ir_elem(o->m, ir_value_type(o->m, ir_operand(o->m, o->op, 0)));
    if (from == IR_I1) /* 0 and 1 become 0 and -1: no run survives */
        return opaque(o);
    if (out.is_const && ir_kind(o->m, o->op) == IR_OP_ZEXT && ir_elem_bits(from) < 64)
        out.value &= (INT64_C(1) << ir_elem_bits(from)) - 1;
    return out;
}

static AxisInfo trunc_info(const Operands *o) {
    AxisInfo out = *o->in[0];
    out.is_const = false;
    return ir_elem(o->m, o->type) == IR_I1 ? opaque(o) : out;
}

static int64_t fact_at(const IrModule *m, IrOp op, IrKey key, unsigned d) {
    const IrAttrData *a = ir_attr(m, op, key);
    return a && d < a->len && a->ints[d] > 0 ? axis_pow2_of(a->ints[d]) : 1;
}

static AxisInfo fact_info(const Operands *o) {
    AxisInfo out = *o->in[0];
    int64_t unit = axis_unit(o->m, o->type);
    for (unsigned d = 0; d < out.rank; d++) {
        int64_t extent = axis_pow2_of(extent_of(o->m, o->type, d));
        int64_t run = lesser(extent, fact_at(o->m, o->op, IR_KEY_CONTIGUOUS, d));
        run = greater(run, out.contiguity[d]);
        int64_t div = axis_divisible_at(&out, d, run, unit);
        out.divisibility[d] = greater(div, fact_at(o->m, o->op, IR_KEY_DIVISIBLE, d));
        out.contiguity[d] = run;
        out.constancy[d] =
            greater(out.constancy[d], lesser(extent, fact_at(o->m, o->op, IR_KEY_CONSTANCY, d)));
    }
    return out;
}

/* --- pointers into shared buffers --- */

enum { SHARED_ALIGN = 16 }; /* what the plan guarantees at least */

static int64_t buffer_align(const IrModule *m, IrValue buffer);

static int64_t view_align(const IrModule *m, IrOp view) {
    int64_t start = ir_int(m, view, IR_KEY_START, 0);
    int64_t align = buffer_align(m, ir_operand(m, view, 0));
    if (ir_operand_count(m, view) > 1) {
        const IrTypeData *t = ir_type(m, ir_value_type(m, ir_result(m, view, 0)));
        int64_t bytes = ir_elem_bytes(m, t->of);
        for (unsigned d = 0; d < t->rank; d++)
            bytes *= t->shape[d];
        align = lesser(align, axis_pow2_of(bytes));
    }
    return start ? lesser(align, axis_pow2_of(start)) : align;
}

static int64_t buffer_align(const IrModule *m, IrValue buffer) {
    IrOp alloc = ir_value_op(m, buffer);
    bool known = alloc && ir_kind(m, alloc) == IR_OP_SHARED_ALLOC;
    if (alloc && ir_kind(m, alloc) == IR_OP_BUFFER_VIEW)
        return view_align(m, alloc);
    return greater(SHARED_ALIGN, known ? axis_pow2_of(ir_int(m, alloc, IR_KEY_ALIGN, 1)) : 1);
}

/* Pointers to all elements, row-major. */
static AxisInfo full_view(const IrModule *m, IrType t, int64_t align, int64_t bytes) {
    AxisInfo out = axis_nothing(m, t);
    unsigned last = out.rank - 1u;
    int64_t row = axis_pow2_of(extent_of(m, t, last));
    for (unsigned d = 0; d < last; d++)
        out.divisibility[d] = bytes;
    out.contiguity[last] = row;
    out.divisibility[last] = lesser(align, product(row, bytes));
    return out;
}

/* Row-major address = align * a + sum of index * stride, dimension by dimension as in addptr. */
static AxisInfo indexed_view(const Operands *o, const IrTypeData *buf, int64_t align,
                             int64_t bytes) {
    AxisInfo out = uniform(o->m, o->type, align);
    int64_t stride = 1;
    for (unsigned i = buf->rank; i-- > 0;) {
        IrValue index = ir_operand(o->m, o->op, i + 1);
        const AxisInfo *in = axis_reached(o->x, index);
        for (unsigned d = 0; d < out.rank; d++) {
            Dim p = {out.contiguity[d], out.divisibility[d], out.constancy[d]};
            Dim v = dim_of(in, o->m, ir_value_type(o->m, index), o->type, d);
            if (stride != 1)
                v = (Dim){1, product(at_run(v, 1, 1), axis_pow2_of(stride)), v.same};
            int64_t run = greater(lesser(p.run, v.same), lesser(p.same, v.run));
            int64_t step = product(at_run(v, run, 1), bytes);
            set_dim(&out, d,
                    (Dim){run, lesser(at_run(p, run, bytes), step), lesser(p.same, v.same)});
        }
        stride *= buf->shape[i];
    }
    return out;
}

static AxisInfo local_ptr_info(const Operands *o) {
    IrValue buffer = ir_operand(o->m, o->op, 0);
    const IrTypeData *buf = ir_type(o->m, ir_value_type(o->m, buffer));
    int64_t bytes = ir_elem_bytes(o->m, buf->of), align = buffer_align(o->m, buffer);
    AxisInfo out = axis_nothing(o->m, o->type);
    if (buf->layout) { /* swizzled or padded: only elements are whole */
        for (unsigned d = 0; d < out.rank; d++)
            out.divisibility[d] = bytes;
        return out;
    }
    if (ir_operand_count(o->m, o->op) == 1)
        return full_view(o->m, o->type, align, bytes);
    return indexed_view(o, buf, align, bytes);
}

/* --- dispatch --- */

static bool fold(const Operands *o, int64_t *value_out) {
    if (!o->in[0] || !o->in[1] || !o->in[0]->is_const || !o->in[1]->is_const)
        return false;
    uint64_t a = (uint64_t)o->in[0]->value, b = (uint64_t)o->in[1]->value, v;
    switch ((int)ir_kind(o->m, o->op)) {
    case IR_OP_ADD:
        v = a + b;
        break;
    case IR_OP_SUB:
        v = a - b;
        break;
    case IR_OP_MUL:
        v = a * b;
        break;
    default:
        return false;
    }
    uint32_t drop = 64 - ir_elem_bits(ir_elem(o->m, o->type));
    *value_out = (int64_t)(v << drop) >> drop;
    return true;
}

static AxisInfo integer_info(const Operands *o) {
    switch ((int)ir_kind(o->m, o->op)) {
    case IR_OP_ADD:
        return commuting(o, dim_add);
    case IR_OP_SUB:
        return binary(o, dim_sub, false);
    case IR_OP_MUL:
        return commuting(o, dim_mul);
    case IR_OP_SDIV:
    case IR_OP_UDIV:
        return binary(o, dim_div, false);
    case IR_OP_SREM:
    case IR_OP_UREM:
        return binary(o, dim_rem, false);
    case IR_OP_AND:
        return commuting(o, dim_and);
    case IR_OP_OR:
    case IR_OP_XOR:
        return commuting(o, dim_or);
    case IR_OP_SHL:
        return binary(o, dim_shl, false);
    case IR_OP_LSHR:
    case IR_OP_ASHR:
        return binary(o, dim_shr, false);
    default:
        return binary(o, dim_minmax, false);
    }
}

static AxisInfo transfer(const Operands *o) {
    int64_t value;
    switch ((int)ir_kind(o->m, o->op)) {
    case IR_OP_CONST:
        return ir_const_int(o->m, ir_result(o->m, o->op, 0), &value)
                   ? constant(o->m, o->type, value)
                   : uniform(o->m, o->type, 1);
    case IR_OP_POISON:
        return uniform(o->m, o->type, AXIS_MAX_POW2);
    case IR_OP_ARANGE:
        return arange_info(o);
    case IR_OP_SPLAT:
        return o->in[0]->is_const ? constant(o->m, o->type, o->in[0]->value)
                                  : uniform(o->m, o->type, o->in[0]->divisibility[0]);
    case IR_OP_BROADCAST:
        return broadcast_info(o);
    case IR_OP_EXPAND_DIMS:
        return expand_info(o);
    case IR_OP_RESHAPE:
        return reshape_info(o);
    case IR_OP_TRANS:
        return trans_info(o);
    case IR_OP_CONVERT_LAYOUT:
        return *o->in[0];
    case IR_OP_FACT:
        return fact_info(o);
    case IR_OP_ADD:
    case IR_OP_SUB:
    case IR_OP_MUL:
        if (fold(o, &value))
            return constant(o->m, o->type, value);
        return integer_info(o);
    case IR_OP_SDIV:
    case IR_OP_UDIV:
    case IR_OP_SREM:
    case IR_OP_UREM:
    case IR_OP_AND:
    case IR_OP_OR:
    case IR_OP_XOR:
    case IR_OP_SHL:
    case IR_OP_LSHR:
    case IR_OP_ASHR:
    case IR_OP_SMIN:
    case IR_OP_SMAX:
    case IR_OP_UMIN:
    case IR_OP_UMAX:
        return integer_info(o);
    case IR_OP_ICMP:
        return compare(o);
    case IR_OP_SELECT:
        return select_info(o);
    case IR_OP_TRUNC:
        return trunc_info(o);
    case IR_OP_ZEXT:
    case IR_OP_SEXT:
        return extend_info(o);
    case IR_OP_BITCAST:
        return bitcast_info(o);
    case IR_OP_PTRTOINT:
    case IR_OP_INTTOPTR:
        return same_bits(o);
    case IR_OP_ADDPTR:
        return addptr_info(o);
    case IR_OP_LOCAL_PTR:
        return local_ptr_info(o);
    case IR_OP_REMOTE:
        return remote_info(o);
    default:
        return ir_trait(o->m, o->op, IR_TRAIT_ELEMENTWISE) ? opaque(o)
                                                           : axis_nothing(o->m, o->type);
    }
}

bool axis_transfer(const Axis *x, IrOp op, uint32_t i, AxisInfo *out) {
    Operands o = {.x = x, .m = x->m, .op = op, .type = ir_value_type(x->m, ir_result(x->m, op, i))};
    for (uint32_t k = 0; k < ir_operand_count(x->m, op); k++) {
        IrValue v = ir_operand(x->m, op, k);
        const AxisInfo *in = axis_reached(x, v);
        if (!in && ir_type(x->m, ir_value_type(x->m, v))->kind != IR_BUF)
            return false;
        if (k < 3)
            o.in[k] = in;
    }
    *out = transfer(&o);
    return true;
}
