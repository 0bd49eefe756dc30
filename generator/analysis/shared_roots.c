/* Roots of shared pointers: which buffers a value may point into.
 *
 * A set per value, grown to a fixed point. Sets flow through every pure operation, so addresses
 * that go through integers and back keep their roots; and through control flow. Values that come
 * from memory, parameters or opaque code and have a shared pointer type are unknown. */
#include "analysis/shared_roots.h"

typedef struct RootSet {
    VEC(IrOp) allocs; /* in order of discovery */
    bool unknown;
} RootSet;

struct Roots {
    Arena *arena;
    const IrModule *m;
    VEC(RootSet) sets; /* by value */
    bool changed;
};

static RootSet *set_of(Roots *r, IrValue v) {
    while (r->sets.len <= v)
        (void)vec_push(r->arena, &r->sets, (RootSet){.unknown = false});
    return &r->sets.data[v];
}

static void add_alloc(Roots *r, IrValue v, IrOp alloc) {
    RootSet *s = set_of(r, v);
    for (uint32_t i = 0; i < s->allocs.len; i++)
        if (s->allocs.data[i] == alloc)
            return;
    (void)vec_push(r->arena, &s->allocs, alloc);
    r->changed = true;
}

static void add_unknown(Roots *r, IrValue v) {
    RootSet *s = set_of(r, v);
    r->changed |= !s->unknown;
    s->unknown = true;
}

static void flow(Roots *r, IrValue from, IrValue to) {
    if (from >= r->sets.len)
        return;
    for (uint32_t i = 0; i < r->sets.data[from].allocs.len; i++)
        add_alloc(r, to, r->sets.data[from].allocs.data[i]);
    if (r->sets.data[from].unknown)
        add_unknown(r, to);
}

static bool is_shared(const IrModule *m, IrType t) {
    const IrTypeData *d = ir_type(m, ir_elem_type(m, t));
    return d->kind == IR_PTR && d->space != IR_SPACE_GLOBAL;
}

static void walk_block(Roots *r, IrBlock b);

static void walk_loop(Roots *r, IrOp op, IrBlock body, uint32_t skip_operands, uint32_t skip_args) {
    const IrModule *m = r->m;
    IrOp yield = ir_last(m, body);
    for (uint32_t i = 0; i < ir_operand_count(m, yield); i++)
        flow(r, ir_operand(m, yield, i), ir_arg(m, body, i + skip_args));
    for (uint32_t i = 0; i + skip_operands < ir_operand_count(m, op); i++)
        flow(r, ir_operand(m, op, i + skip_operands), ir_arg(m, body, i + skip_args));
}

static void walk_for(Roots *r, IrOp op) {
    IrBlock body = ir_region_block(r->m, op, 0);
    walk_loop(r, op, body, 3, 1);
    walk_block(r, body);
    walk_loop(r, op, body, 3, 1);
    for (uint32_t i = 0; i < ir_result_count(r->m, op); i++)
        flow(r, ir_arg(r->m, body, i + 1), ir_result(r->m, op, i));
}

static void walk_while(Roots *r, IrOp op) {
    const IrModule *m = r->m;
    IrBlock test = ir_region_block(m, op, 0), body = ir_region_block(m, op, 1);
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++)
        flow(r, ir_operand(m, op, i), ir_arg(m, test, i));
    walk_block(r, test);
    IrOp condition = ir_last(m, test);
    for (uint32_t i = 1; i < ir_operand_count(m, condition); i++) {
        flow(r, ir_operand(m, condition, i), ir_arg(m, body, i - 1));
        flow(r, ir_operand(m, condition, i), ir_result(m, op, i - 1));
    }
    walk_block(r, body);
    IrOp yield = ir_last(m, body);
    for (uint32_t i = 0; i < ir_operand_count(m, yield); i++)
        flow(r, ir_operand(m, yield, i), ir_arg(m, test, i));
}

static void walk_if(Roots *r, IrOp op) {
    for (uint32_t k = 0; k < 2; k++) {
        IrBlock b = ir_region_block(r->m, op, k);
        walk_block(r, b);
        IrOp yield = ir_last(r->m, b);
        for (uint32_t i = 0; i < ir_result_count(r->m, op); i++)
            flow(r, ir_operand(r->m, yield, i), ir_result(r->m, op, i));
    }
}

static void walk_plain(Roots *r, IrOp op) {
    const IrModule *m = r->m;
    bool pure = ir_trait(m, op, IR_TRAIT_PURE);
    for (uint32_t k = 0; k < ir_result_count(m, op); k++) {
        IrValue v = ir_result(m, op, k);
        if (ir_kind(m, op) == IR_OP_SHARED_ALLOC)
            add_alloc(r, v, op);
        for (uint32_t i = 0; pure && i < ir_operand_count(m, op); i++)
            flow(r, ir_operand(m, op, i), v);
        const RootSet *s = set_of(r, v);
        if (is_shared(m, ir_value_type(m, v)) && !s->allocs.len)
            add_unknown(r, v); /* from memory, an integer, or code that cannot be seen through */
    }
}

static void walk_block(Roots *r, IrBlock b) {
    for (IrOp op = ir_first(r->m, b); op; op = ir_next(r->m, op))
        switch ((int)ir_kind(r->m, op)) {
        case IR_OP_FOR:
            walk_for(r, op);
            break;
        case IR_OP_WHILE:
            walk_while(r, op);
            break;
        case IR_OP_IF:
            walk_if(r, op);
            break;
        default:
            walk_plain(r, op);
            break;
        }
}

Roots *roots_analyse(Arena *a, const IrModule *m, IrOp func) {
    Roots *r = arena_new_of(a, Roots);
    r->arena = a;
    r->m = m;
    IrBlock body = ir_region_block(m, func, 0);
    for (uint32_t i = 0; i < ir_arg_count(m, body); i++)
        if (is_shared(m, ir_value_type(m, ir_arg(m, body, i))))
            add_unknown(r, ir_arg(m, body, i));
    do {
        r->changed = false;
        walk_block(r, body);
    } while (r->changed);
    return r;
}

const IrOp *roots_of(const Roots *r, IrValue v, uint32_t *len_out, bool *unknown_out) {
    const RootSet *s = v < r->sets.len ? &r->sets.data[v] : NULL;
    *len_out = s ? s->allocs.len : 0;
    *unknown_out = s && s->unknown;
    return s ? s->allocs.data : NULL;
}
