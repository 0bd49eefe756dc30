/* Lifetimes of shared memory.
 *
 * A buffer lives from its allocation to the last use of anything derived from it. A use inside a
 * loop that does not hold the allocation repeats, so it counts until the loop's end. A pointer that
 * a loop carries out of its iteration keeps the buffer alive for the whole loop; one that is stored
 * or has an unknown origin, for the whole kernel. A buffer that is accessed from other CTAs shares
 * its bytes with nothing: their positions say nothing about ours. */
#include "analysis/shared_life.h"

#include "analysis/scratch.h"

enum { MIN_ALIGN = 16, BIG_ALIGN = 128, BIG_BYTES = 1024, SMALL_SCRATCH = 1024 };

typedef struct Interval {
    uint32_t first, last;
} Interval;

typedef struct Lives {
    Arena *arena;
    const IrModule *m;
    const Roots *roots;
    VEC(SharedLife) lives;
    Map of_alloc; /* alloc -> index in lives */
    Map of_loop;  /* loop -> index in loops */
    VEC(Interval) loops;
    uint32_t position, turns;
    bool unknown_use;    /* a pointer that may be any buffer is used */
    bool unknown_remote; /* by another CTA */
} Lives;

/* --- first walk: positions and candidates --- */

static void add_alloc(Lives *s, IrOp op) {
    const IrTypeData *t = ir_type(s->m, ir_value_type(s->m, ir_result(s->m, op, 0)));
    uint32_t bytes = ir_elem_bytes(s->m, t->of);
    for (unsigned d = 0; d < t->rank; d++)
        bytes *= (uint32_t)t->shape[d];
    uint32_t align = (uint32_t)ir_int(s->m, op, IR_KEY_ALIGN, 1);
    uint32_t least = bytes >= BIG_BYTES ? BIG_ALIGN : MIN_ALIGN;
    SharedLife life = {op,
                       false,
                       bytes,
                       align < least ? least : align,
                       s->position,
                       s->position,
                       UINT64_C(1) << ir_group(s->m, op),
                       0,
                       false};
    map_put(&s->of_alloc, op, s->lives.len);
    (void)vec_push(s->arena, &s->lives, life);
}

static void add_scratch(Lives *s, IrOp op) {
    Scratch need = scratch_of(s->m, op);
    if (!need.bytes)
        return;
    SharedLife life = {op,
                       true,
                       need.bytes,
                       need.align < MIN_ALIGN ? MIN_ALIGN : need.align,
                       s->position,
                       s->position,
                       UINT64_C(1) << ir_group(s->m, op),
                       need.bytes <= SMALL_SCRATCH ? ++s->turns : 0,
                       false};
    (void)vec_push(s->arena, &s->lives, life);
}

static void number_block(Lives *s, IrBlock b) {
    for (IrOp op = ir_first(s->m, b); op; op = ir_next(s->m, op)) {
        IrKind kind = ir_kind(s->m, op);
        uint32_t first = ++s->position;
        if (kind == IR_OP_SHARED_ALLOC)
            add_alloc(s, op);
        else if (ir_trait(s->m, op, IR_TRAIT_SCRATCH))
            add_scratch(s, op);
        if (kind == IR_OP_REDUCE || kind == IR_OP_SCAN)
            continue;
        for (uint32_t r = 0; r < ir_region_count(s->m, op); r++)
            number_block(s, ir_region_block(s->m, op, r));
        if (kind == IR_OP_FOR || kind == IR_OP_WHILE) {
            map_put(&s->of_loop, op, s->loops.len);
            (void)vec_push(s->arena, &s->loops, ((Interval){first, ++s->position}));
        }
    }
}

/* --- second walk: uses --- */

static void extend(SharedLife *life, Interval at) {
    life->first = at.first < life->first ? at.first : life->first;
    life->last = at.last > life->last ? at.last : life->last;
}

static bool inside(const IrModule *m, IrOp op, IrOp ancestor) {
    while (op && op != ancestor)
        op = ir_parent_op(m, op);
    return op != 0;
}

/* Until when a use by `op` needs the buffer of `alloc`. */
static Interval use_interval(const Lives *s, IrOp op, uint32_t position, IrOp alloc) {
    Interval at = {position, position};
    for (IrOp p = ir_parent_op(s->m, op); p; p = ir_parent_op(s->m, p)) {
        uint32_t loop;
        if (!map_get(&s->of_loop, p, &loop))
            continue;
        if (inside(s->m, alloc, p))
            break;
        at.last = s->loops.data[loop].last;
    }
    return at;
}

static void use_value(Lives *s, IrOp op, uint32_t position, IrValue v, bool escapes) {
    uint32_t len;
    bool unknown;
    const IrOp *allocs = roots_of(s->roots, v, &len, &unknown);
    s->unknown_use |= unknown;
    s->unknown_remote |= unknown && ir_kind(s->m, op) == IR_OP_REMOTE;
    for (uint32_t i = 0; i < len; i++) {
        SharedLife *life = &s->lives.data[map_find(&s->of_alloc, allocs[i], 0)];
        life->groups |= UINT64_C(1) << ir_group(s->m, op);
        life->remote |= ir_kind(s->m, op) == IR_OP_REMOTE;
        extend(life, use_interval(s, op, position, allocs[i]));
        if (escapes)
            extend(life, (Interval){0, s->position});
    }
}

/* Pointers among the carried values of a loop outlive the iteration. */
static void carry_block(Lives *s, IrOp loop, Interval at, IrBlock b) {
    for (uint32_t i = 0; i < ir_arg_count(s->m, b); i++) {
        uint32_t len;
        bool unknown;
        const IrOp *allocs = roots_of(s->roots, ir_arg(s->m, b, i), &len, &unknown);
        for (uint32_t k = 0; k < len; k++)
            if (inside(s->m, allocs[k], loop))
                extend(&s->lives.data[map_find(&s->of_alloc, allocs[k], 0)], at);
    }
}

static bool stores_value(const IrModule *m, IrOp op, uint32_t operand) {
    IrKind kind = ir_kind(m, op);
    return operand == 1 && (kind == IR_OP_STORE || kind == IR_OP_ATOMIC_RMW);
}

static void use_block(Lives *s, IrBlock b, uint32_t *position) {
    for (IrOp op = ir_first(s->m, b); op; op = ir_next(s->m, op)) {
        uint32_t at = ++*position, loop;
        for (uint32_t i = 0; i < ir_operand_count(s->m, op); i++)
            use_value(s, op, at, ir_operand(s->m, op, i), stores_value(s->m, op, i));
        if (ir_kind(s->m, op) == IR_OP_REDUCE || ir_kind(s->m, op) == IR_OP_SCAN)
            continue;
        bool is_loop = map_get(&s->of_loop, op, &loop);
        for (uint32_t r = 0; r < ir_region_count(s->m, op); r++) {
            if (is_loop)
                carry_block(s, op, s->loops.data[loop], ir_region_block(s->m, op, r));
            use_block(s, ir_region_block(s->m, op, r), position);
        }
        *position += is_loop;
    }
}

SharedLife *shared_lives(Arena *a, const IrModule *m, IrOp func, const Roots *roots,
                         uint32_t *len_out) {
    Lives s = {.arena = a, .m = m, .roots = roots};
    map_init(&s.of_alloc, a);
    map_init(&s.of_loop, a);
    number_block(&s, ir_region_block(m, func, 0));
    uint32_t position = 0;
    use_block(&s, ir_region_block(m, func, 0), &position);
    for (uint32_t i = 0; s.unknown_use && i < s.lives.len; i++)
        if (!s.lives.data[i].scratch)
            extend(&s.lives.data[i], (Interval){0, s.position});
    for (uint32_t i = 0; s.unknown_remote && i < s.lives.len; i++)
        s.lives.data[i].remote |= !s.lives.data[i].scratch;
    *len_out = s.lives.len;
    return s.lives.data;
}

static bool keeps_apart(const SharedLife *x, const SharedLife *y) {
    if (!x->turn)
        return y->turn && !x->scratch;
    return y->turn ? x->turn + 1 == y->turn || y->turn + 1 == x->turn : !y->scratch;
}

bool shared_interfere(const SharedLife *x, const SharedLife *y) {
    bool one_group = x->groups == y->groups && !(x->groups & (x->groups - 1));
    bool overlap = x->first <= y->last && y->first <= x->last;
    return !one_group || overlap || x->remote || y->remote || keeps_apart(x, y);
}
