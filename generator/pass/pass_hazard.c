/* Hazard: barriers between conflicting accesses to shared memory.
 *
 * A tile statement sees the effects of those before it. Threads run apart between barriers, so a
 * barrier must stand between two accesses to the same bytes by different threads of which one
 * writes.
 *
 * Works on bytes after the shared plan: intervals of the buffers that a pointer may belong to, and
 * of operations' scratch, so it also orders the reuse of memory by different buffers. The state is
 * the set of accesses since the last barrier; it flows through structured control flow and around
 * loops to a fixed point. Conflicts: all but read-read and atomic-atomic. No conflict: accesses to
 * one buffer through the same injective view in the same layout, since every thread touches its own
 * elements.
 *
 * Placement: before the operation that conflicts. A loop is first made safe against itself; what
 * then still conflicts came from before it, and one barrier before the loop suffices. Barriers that
 * exist, and those inside scratch operations, count. Conditions are scalars, hence uniform, so a
 * barrier may stand anywhere. Execution groups are ordered by other means: accesses of different
 * groups are not compared, and a barrier speaks for its own group. Global memory is left alone, as
 * in Triton.
 *
 * What asynchronous stores write is ordered by the barriers that they count on, not here.
 *
 * A remote access may hit the CTA's own memory, so it counts as one to the same bytes here. What it
 * does in other CTAs is ordered by cluster barriers alone, which the source places.
 *
 *   store %p, %v                      store %p, %v
 *   %old = atomic_rmw %q, %one   ->   barrier
 *                                     %old = atomic_rmw %q, %one
 *
 * Known miss: two buffers' worth of one interval are not told apart by index. */
#include "analysis/layout_rule.h"
#include "analysis/scratch.h"
#include "analysis/shared_roots.h"
#include "pass/pass.h"

typedef enum AccessKind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC } AccessKind;

typedef struct Access {
    int64_t first, end; /* bytes [first, end) */
    AccessKind kind;
    uint32_t group;
    uint64_t view; /* equal views: each thread touches its own elements; 0 = none */
    bool arrived;  /* before a cluster_arrive whose cluster_wait is to come */
} Access;

typedef VEC(Access) Accesses;

typedef struct Hazard {
    PassContext *c;
    IrModule *m;
    const Roots *roots;
    int64_t shared_bytes;
    bool insert;       /* false: only look for conflicts */
    bool conflict;     /* found while looking */
    uint32_t inserted; /* barriers so far */
} Hazard;

/* --- sets of accesses --- */

static bool same_access(const Access *a, const Access *b) {
    return a->first == b->first && a->end == b->end && a->kind == b->kind && a->group == b->group &&
           a->view == b->view && a->arrived == b->arrived;
}

/* True when the access is new. */
static bool add(Hazard *h, Accesses *s, Access a) {
    for (uint32_t i = 0; i < s->len; i++)
        if (same_access(&s->data[i], &a))
            return false;
    (void)vec_push(h->c->scratch, s, a);
    return true;
}

static bool merge(Hazard *h, Accesses *into, const Accesses *from) {
    bool grew = false;
    for (uint32_t i = 0; i < from->len; i++)
        grew |= add(h, into, from->data[i]);
    return grew;
}

static Accesses copy_of(Hazard *h, const Accesses *s) {
    Accesses out = {0};
    merge(h, &out, s);
    return out;
}

static void clear_group(Accesses *s, uint32_t group) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->len; i++)
        if (s->data[i].group != group)
            s->data[kept++] = s->data[i];
    s->len = kept;
}

/* The two halves of a cluster's barrier order what comes before the first and after the second. */
static void arrive(Accesses *s, uint32_t group) {
    for (uint32_t i = 0; i < s->len; i++)
        s->data[i].arrived |= s->data[i].group == group;
}

static void clear_arrived(Accesses *s, uint32_t group) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->len; i++)
        if (s->data[i].group != group || !s->data[i].arrived)
            s->data[kept++] = s->data[i];
    s->len = kept;
}

static bool conflicts(const Access *a, const Access *b) {
    if (a->group != b->group || a->end <= b->first || b->end <= a->first)
        return false;
    if (a->view && a->view == b->view)
        return false;
    return a->kind != b->kind || a->kind == ACCESS_WRITE;
}

static bool any_conflict(const Accesses *pending, const Accesses *now) {
    for (uint32_t i = 0; i < pending->len; i++)
        for (uint32_t k = 0; k < now->len; k++)
            if (conflicts(&pending->data[i], &now->data[k]))
                return true;
    return false;
}

/* --- what an operation touches --- */

/* The view is the whole buffer or 0 .. n - 1 of a buffer of rank 1, in a layout without copies:
 * then an element has one thread, whatever the mask. Names buffer and layout; 0 stands for the
 * layout of pointers that the source promises to be apart. */
static uint64_t view_of(const Hazard *h, IrValue ptr) {
    const IrModule *m = h->m;
    IrOp op = ir_value_op(m, ptr);
    const Layout *l = layout_of(m, ptr);
    if (op && ir_kind(m, op) == IR_OP_LOCAL_PTR && ir_int(m, op, IR_KEY_APART, 0))
        return (uint64_t)ir_value_op(m, ir_operand(m, op, 0)) << 32;
    if (!l || ir_kind(m, op) != IR_OP_LOCAL_PTR || layout_lane_copies(l) || layout_warp_copies(l))
        return 0;
    if (ir_operand_count(m, op) > 1) {
        IrOp range = ir_value_op(m, ir_operand(m, op, 1));
        if (ir_operand_count(m, op) > 2 || !range || ir_kind(m, range) != IR_OP_ARANGE ||
            ir_int(m, range, IR_KEY_START, -1) != 0)
            return 0;
    }
    IrOp alloc = ir_value_op(m, ir_operand(m, op, 0));
    return alloc ? (uint64_t)alloc << 32 | ir_value_type(m, ptr) : 0;
}

static int64_t buffer_bytes(const IrModule *m, IrOp alloc) {
    const IrTypeData *t = ir_type(m, ir_value_type(m, ir_result(m, alloc, 0)));
    int64_t bytes = ir_elem_bytes(m, t->of);
    for (unsigned d = 0; d < t->rank; d++)
        bytes *= t->shape[d];
    return bytes;
}

static void touch_pointer(Hazard *h, IrOp op, AccessKind kind, Accesses *out) {
    IrValue ptr = ir_operand(h->m, op, 0);
    uint32_t len;
    bool unknown;
    Access a = {.kind = kind, .group = ir_group(h->m, op)};
    if (ir_type(h->m, ir_elem_type(h->m, ir_value_type(h->m, ptr)))->space == IR_SPACE_GLOBAL)
        return;
    const IrOp *allocs = roots_of(h->roots, ptr, &len, &unknown);
    if (unknown || !len) {
        a.end = h->shared_bytes;
        add(h, out, a);
        return;
    }
    a.view = len == 1 ? view_of(h, ptr) : 0;
    for (uint32_t i = 0; i < len; i++) {
        a.first = ir_int(h->m, allocs[i], IR_KEY_SHARED_OFFSET, 0);
        a.end = a.first + buffer_bytes(h->m, allocs[i]);
        add(h, out, a);
    }
}

static bool scratch_access(const Hazard *h, IrOp op, AccessKind kind, Access *out) {
    int64_t bytes = ir_int(h->m, op, IR_KEY_SCRATCH_BYTES, 0);
    int64_t first = ir_int(h->m, op, IR_KEY_SCRATCH_OFFSET, 0);
    *out = (Access){first, first + bytes, kind, ir_group(h->m, op), 0, false};
    return bytes > 0;
}

/* Before the operation's first internal barrier, where it has one. */
static void touched(Hazard *h, IrOp op, Accesses *out) {
    Access a;
    switch ((int)ir_kind(h->m, op)) {
    case IR_OP_LOAD:
        touch_pointer(h, op, ACCESS_READ, out);
        break;
    case IR_OP_MBARRIER_INIT:
    case IR_OP_STORE:
        touch_pointer(h, op, ACCESS_WRITE, out);
        break;
    case IR_OP_ATOMIC_RMW:
    case IR_OP_ATOMIC_CAS:
    case IR_OP_MBARRIER_EXPECT:
    case IR_OP_MBARRIER_WAIT:
        touch_pointer(h, op, ACCESS_ATOMIC, out);
        break;
    default:
        break;
    }
    if (scratch_access(h, op, ACCESS_WRITE, &a))
        add(h, out, a);
}

/* --- flow --- */

static void run_block(Hazard *h, IrBlock b, Accesses *state);

static void insert_barrier(Hazard *h, IrOp before, uint32_t group, Accesses *state) {
    IrBuilder b = {.m = h->m, .span = ir_span(h->m, before), .group = group};
    ir_at_op(&b, before);
    ir_build(&b, IR_OP_BARRIER, NULL, 0, NULL, 0);
    h->c->changed = true;
    h->inserted++;
    clear_group(state, group);
}

/* Barriers that exist: they change the state and touch nothing. */
static bool is_barrier(const Hazard *h, IrOp op, Accesses *state) {
    switch ((int)ir_kind(h->m, op)) {
    case IR_OP_BARRIER:
    case IR_OP_GROUP_BARRIER: /* begins and ends with a barrier of the CTA */
        clear_group(state, ir_group(h->m, op));
        return true;
    case IR_OP_CLUSTER_ARRIVE:
        if (ir_int(h->m, op, IR_KEY_SEM, IR_SEM_RELEASE) == IR_SEM_RELEASE)
            arrive(state, ir_group(h->m, op));
        return true;
    case IR_OP_CLUSTER_WAIT:
        clear_arrived(state, ir_group(h->m, op));
        return true;
    default:
        return false;
    }
}

static void run_plain(Hazard *h, IrOp op, Accesses *state) {
    uint32_t group = ir_group(h->m, op);
    if (is_barrier(h, op, state))
        return;
    Accesses now = {0};
    Access read;
    touched(h, op, &now);
    if (any_conflict(state, &now)) {
        h->conflict = true;
        if (h->insert)
            insert_barrier(h, op, group, state);
    }
    if (scratch_access(h, op, ACCESS_READ, &read)) {
        clear_group(state, group);
        add(h, state, read);
    } else {
        merge(h, state, &now);
    }
}

static void run_if(Hazard *h, IrOp op, Accesses *state) {
    Accesses other = copy_of(h, state);
    run_block(h, ir_region_block(h->m, op, 0), state);
    run_block(h, ir_region_block(h->m, op, 1), &other);
    merge(h, state, &other);
}

/* One turn of a loop. `state` goes from the loop's head to its back edge; `leave` gets what is
 * pending where the loop ends. */
static void run_turn(Hazard *h, IrOp op, Accesses *state, Accesses *leave) {
    if (ir_kind(h->m, op) == IR_OP_FOR) {
        merge(h, leave, state);
        run_block(h, ir_region_block(h->m, op, 0), state);
        return;
    }
    run_block(h, ir_region_block(h->m, op, 0), state);
    merge(h, leave, state);
    run_block(h, ir_region_block(h->m, op, 1), state);
}

/* Turns until the state at the head is stable; true when a conflict was met on the way. */
static bool run_turns(Hazard *h, IrOp op, Accesses *head, Accesses *leave) {
    bool outer = h->conflict;
    h->conflict = false;
    for (bool grew = true; grew;) {
        Accesses state = copy_of(h, head);
        run_turn(h, op, &state, leave);
        grew = merge(h, head, &state);
    }
    bool met = h->conflict;
    h->conflict |= outer;
    return met;
}

/* Makes a loop safe against itself; what reaches its head from its own end. Each new barrier
 * shortens the state, so start afresh after one. */
static Accesses settle_loop(Hazard *h, IrOp op) {
    Accesses back, unused = {0};
    uint32_t before;
    do {
        before = h->inserted;
        back = (Accesses){0};
        run_turns(h, op, &back, &unused);
    } while (h->inserted != before);
    return back;
}

static void run_loop(Hazard *h, IrOp op, Accesses *state) {
    Accesses leave = {0}, back = h->insert ? settle_loop(h, op) : (Accesses){0};
    Accesses head = copy_of(h, &back);
    merge(h, &head, state);
    bool insert = h->insert;
    h->insert = false;
    bool met = run_turns(h, op, &head, &leave);
    if (met && insert) { /* something from before the loop */
        insert_barrier(h, op, ir_group(h->m, op), state);
        leave = (Accesses){0};
        head = copy_of(h, &back);
        merge(h, &head, state);
        run_turns(h, op, &head, &leave);
    }
    h->insert = insert;
    *state = leave;
}

static void run_block(Hazard *h, IrBlock b, Accesses *state) {
    for (IrOp op = ir_first(h->m, b); op; op = ir_next(h->m, op))
        switch ((int)ir_kind(h->m, op)) {
        case IR_OP_IF:
            run_if(h, op, state);
            break;
        case IR_OP_FOR:
        case IR_OP_WHILE:
            run_loop(h, op, state);
            break;
        default:
            run_plain(h, op, state);
            break;
        }
}

bool pass_hazard(PassContext *c) {
    for (uint32_t i = 0; i < ir_func_count(c->m); i++) {
        IrOp func = ir_func(c->m, i);
        Hazard h = {.c = c,
                    .m = c->m,
                    .roots = roots_analyse(c->scratch, c->m, func),
                    .shared_bytes = ir_int(c->m, func, IR_KEY_SHARED_BYTES, 0),
                    .insert = true};
        Accesses state = {0};
        run_block(&h, ir_region_block(c->m, func, 0), &state);
    }
    return true;
}
