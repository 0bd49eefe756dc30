/* Cluster: no CTA starts too late or ends too early for the others of its cluster.
 *
 * A CTA may touch the shared memory of another one only while that one runs. The source orders data
 * by cluster barriers; this pass adds what follows from the lives of CTAs:
 *
 *   entry   where a remote access may come before any cluster barrier: arrive at the start of the
 *           block that every CTA reaches, wait before its operation that holds the access
 *   exit    where remote accesses may come after the last cluster barrier: arrive behind the last
 *           of them, wait at the end of the kernel
 *
 *   %v = load %remote_ptr                 %v = load %remote_ptr
 *   store %out, %v                  =>    cluster_arrive
 *   return                                store %out, %v
 *                                         cluster_wait
 *                                         return
 *
 * Every CTA must reach these barriers. Operations of the kernel's own block are reached by all; a
 * branch that holds a cluster barrier is taken by all CTAs of a cluster or by none, as the language
 * demands, so these barriers move into it and other paths do without. A cluster of one CTA needs
 * no cluster barriers: they become barriers of the CTA.
 *
 * Runs before the shared plan and the hazard pass. Cost: size of the kernel times its depth. */
#include "pass/pass.h"

typedef struct Cluster {
    PassContext *c;
    IrModule *m;
} Cluster;

/* --- what operations are --- */

static bool is_remote_pointer(const IrModule *m, IrValue v) {
    return ir_type(m, ir_elem_type(m, ir_value_type(m, v)))->space == IR_SPACE_CLUSTER;
}

static bool is_remote_access(const IrModule *m, IrOp op) {
    switch ((int)ir_kind(m, op)) {
    case IR_OP_LOAD:
    case IR_OP_STORE:
    case IR_OP_STORE_ASYNC:
    case IR_OP_ATOMIC_RMW:
    case IR_OP_ATOMIC_CAS:
    case IR_OP_GROUP_BARRIER:
        return is_remote_pointer(m, ir_operand(m, op, 0));
    default:
        return false;
    }
}

typedef struct Contents {
    bool remote, barrier, init;
} Contents;

static void look(IrModule *m, IrOp op, void *user) {
    Contents *x = user;
    IrKind kind = ir_kind(m, op);
    x->remote |= is_remote_access(m, op);
    x->barrier |= kind == IR_OP_CLUSTER_ARRIVE || kind == IR_OP_CLUSTER_WAIT;
    x->init |=
        (kind == IR_OP_GROUP_BARRIER && is_remote_access(m, op)) || kind == IR_OP_MBARRIER_INIT;
}

static Contents contents(IrModule *m, IrOp op) {
    Contents x = {false, false, false};
    ir_walk(m, op, look, &x);
    return x;
}

static bool runs_regions(IrKind kind) {
    return kind == IR_OP_IF || kind == IR_OP_FOR || kind == IR_OP_WHILE;
}

static void build(Cluster *k, IrOp before, IrKind kind, Span at) {
    IrBuilder b = {.m = k->m, .span = at, .group = ir_group(k->m, before)};
    ir_at_op(&b, before);
    ir_build(&b, kind, NULL, 0, NULL, 0);
    k->c->changed = true;
}

/* --- entry --- */

static bool exposed(const Cluster *k, IrBlock b, bool *passed);

/* The same for one operation. The test of a while runs at least once, a body perhaps never. */
static bool op_exposed(const Cluster *k, IrOp op, bool *passed) {
    IrKind kind = ir_kind(k->m, op);
    bool inside[2] = {false, false};
    if (is_remote_access(k->m, op))
        return true;
    for (uint32_t r = 0; runs_regions(kind) && r < ir_region_count(k->m, op); r++) {
        inside[r] = kind == IR_OP_WHILE && inside[0];
        if (exposed(k, ir_region_block(k->m, op, r), &inside[r]))
            return true;
    }
    *passed = kind == IR_OP_CLUSTER_WAIT || (kind == IR_OP_IF && inside[0] && inside[1]) ||
              (kind == IR_OP_WHILE && inside[0]);
    return false;
}

/* True when a remote access may run although no cluster barrier was passed. *passed tells what the
 * block's end can rely on. */
static bool exposed(const Cluster *k, IrBlock b, bool *passed) {
    for (IrOp op = ir_first(k->m, b); op && !*passed; op = ir_next(k->m, op))
        if (op_exposed(k, op, passed))
            return true;
    return false;
}

/* The first operation from `op` on that a barrier must precede, or 0. */
static IrOp first_exposed(const Cluster *k, IrOp op) {
    bool passed = false;
    for (; op && !passed; op = ir_next(k->m, op))
        if (op_exposed(k, op, &passed))
            return op;
    return 0;
}

static bool barrier_before(const Cluster *k, IrOp op) {
    bool found = false;
    for (op = ir_prev(k->m, op); op; op = ir_prev(k->m, op))
        found |= contents(k->m, op).barrier;
    return found;
}

/* Whether a branch can have barriers of its own: it holds some, none is under way, and what follows
 * does not rely on those of one path only. */
static bool enters_by_branches(const Cluster *k, IrOp op, bool inside) {
    return ir_kind(k->m, op) == IR_OP_IF && contents(k->m, op).barrier && !inside &&
           !first_exposed(k, ir_next(k->m, op));
}

/* Counters of barriers are set at the kernel's start: that must be released. */
static void enter(Cluster *k, IrBlock b, bool init) {
    IrOp at = first_exposed(k, ir_first(k->m, b));
    if (!at)
        return;
    bool inside = barrier_before(k, at); /* ours must not come between the halves of another one */
    if (enters_by_branches(k, at, inside)) {
        enter(k, ir_region_block(k->m, at, 0), init);
        enter(k, ir_region_block(k->m, at, 1), init);
        return;
    }
    if (inside && !init)
        at = ir_first(k->m, b);
    IrOp arrive_at = init ? at : ir_first(k->m, b);
    build(k, arrive_at, IR_OP_CLUSTER_ARRIVE, ir_span(k->m, at));
    if (!init)
        ir_set_int(k->m, ir_prev(k->m, arrive_at), IR_KEY_SEM, IR_SEM_RELAXED);
    build(k, at, IR_OP_CLUSTER_WAIT, ir_span(k->m, at));
}

/* --- exit --- */

static bool pending(const Cluster *k, IrBlock b, bool in);

/* An arrive ends what is under way: peers leave only after its wait. */
static bool pending_op(const Cluster *k, IrOp op, bool in) {
    const IrModule *m = k->m;
    IrBlock region[2] = {0, 0};
    for (uint32_t r = 0; runs_regions(ir_kind(m, op)) && r < ir_region_count(m, op); r++)
        region[r] = ir_region_block(m, op, r);
    switch ((int)ir_kind(m, op)) {
    case IR_OP_CLUSTER_ARRIVE:
        return in && ir_int(m, op, IR_KEY_SEM, IR_SEM_RELEASE) != IR_SEM_RELEASE;
    case IR_OP_IF:
        return pending(k, region[0], in) || pending(k, region[1], in);
    case IR_OP_FOR:
        return in || pending(k, region[0], false);
    case IR_OP_WHILE:
        return pending(k, region[0], in || pending(k, region[1], false));
    case IR_OP_STORE_ASYNC: /* whoever it stores to waits for it */
        return in;
    default:
        return in || is_remote_access(m, op);
    }
}

/* Whether remote accesses may be under way at the end of the block. */
static bool pending(const Cluster *k, IrBlock b, bool in) {
    for (IrOp op = ir_first(k->m, b); op; op = ir_next(k->m, op))
        in = pending_op(k, op, in);
    return in;
}

/* The last operation that has to do with the cluster, or 0. */
static IrOp last_concerned(const Cluster *k, IrBlock b) {
    for (IrOp op = ir_last(k->m, b); op; op = ir_prev(k->m, op)) {
        Contents x = contents(k->m, op);
        if (x.remote || x.barrier)
            return op;
    }
    return 0;
}

static void leave(Cluster *k, IrBlock b, bool in);

/* The condition is the same in all CTAs, so each branch ends for itself. */
static void leave_branches(Cluster *k, IrOp op, bool in) {
    for (uint32_t r = 0; r < 2; r++) {
        IrBlock branch = ir_region_block(k->m, op, r);
        if (pending(k, branch, in))
            leave(k, branch, in);
    }
}

static void leave(Cluster *k, IrBlock b, bool in) {
    IrOp last = last_concerned(k, b), end = ir_last(k->m, b);
    if (last && ir_kind(k->m, last) == IR_OP_IF && contents(k->m, last).barrier) {
        for (IrOp op = ir_first(k->m, b); op != last; op = ir_next(k->m, op))
            in = pending_op(k, op, in);
        leave_branches(k, last, in);
        return;
    }
    IrOp after = last ? ir_next(k->m, last) : ir_first(k->m, b);
    Span at = ir_span(k->m, last ? last : end);
    build(k, after, IR_OP_CLUSTER_ARRIVE, at);
    build(k, end, IR_OP_CLUSTER_WAIT, at);
}

/* --- a cluster of one --- */

static void lower_single(IrModule *m, IrOp op, void *user) {
    Cluster *k = user;
    if (ir_kind(m, op) == IR_OP_CLUSTER_WAIT)
        build(k, op, IR_OP_BARRIER, ir_span(m, op));
    if (ir_kind(m, op) == IR_OP_CLUSTER_WAIT || ir_kind(m, op) == IR_OP_CLUSTER_ARRIVE)
        ir_erase(m, op);
}

static bool is_single(const IrModule *m, IrOp func) {
    const IrAttrData *a = ir_attr(m, func, IR_KEY_CLUSTER);
    for (uint32_t i = 0; a && i < a->len; i++)
        if (a->ints[i] > 1)
            return false;
    return true;
}

bool pass_cluster(PassContext *c) {
    Cluster k = {.c = c, .m = c->m};
    for (uint32_t i = 0; i < ir_func_count(c->m); i++) {
        IrOp func = ir_func(c->m, i);
        IrBlock body = ir_region_block(c->m, func, 0);
        Contents x = contents(c->m, func);
        if (is_single(c->m, func)) {
            if (x.barrier)
                ir_walk(c->m, func, lower_single, &k);
            continue;
        }
        if (!x.remote)
            continue;
        enter(&k, body, x.init);
        if (pending(&k, body, false))
            leave(&k, body, false);
    }
    return true;
}
