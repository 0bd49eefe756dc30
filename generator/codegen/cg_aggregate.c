/* Aggregated atomics: the lanes of a warp share an address per register (the aggregate pass proved
 * it), so the warp combines its values first and its first lane acts once. Registers that share
 * their address too are combined with them.
 *
 * add: lane i gets old + what earlier registers and lower lanes added. A constant value is counted
 * by ballots; other values are summed by a scan over the lanes. Everything else is reduced: its
 * result is unused. */
#include "codegen/cg_impl.h"

enum { BALLOTS = 4 }; /* up to so many registers, counting beats scanning */

typedef struct Group {
    const CgAtomic *atomic;
    V ptr;
    V *on;    /* this thread owns the element and its mask holds */
    V *value; /* 0 (the identity) where not `on` */
    V *old;   /* out */
    uint32_t len;
} Group;

static V first_lane(Cg *c, IrOp op) {
    return LLVMBuildICmp(c->b, LLVMIntEQ, cg_thread(c, op)->lane, cg_i32(c, 0), "");
}

/* One atomic for the warp when `any`; every lane gets the old value if somebody wants it. */
static V act(Cg *c, const Group *g, V total, V any) {
    V on = LLVMBuildAnd(c->b, first_lane(c, g->atomic->op), any, "");
    V old = cg_atomic_one(c, g->atomic, g->ptr, &total, 1, on);

    return g->atomic->used ? cg_shuffle(c, "idx", old, cg_i32(c, 0)) : old;
}

static V any_lane(Cg *c, V x) {
    V args[2] = {cg_i32(c, CG_FULL_MASK), x};

    return cg_intrinsic(c, "llvm.nvvm.vote.any.sync", NULL, 0, args, 2);
}

static V popc(Cg *c, V x) {
    return cg_intrinsic(c, "llvm.ctpop", &c->i32, 1, &x, 1);
}

/* --- a constant value, counted --- */

static V times(Cg *c, V count, V value) {
    V wide = LLVMBuildZExt(c->b, count, LLVMTypeOf(value), "");

    return LLVMBuildMul(c->b, wide, value, "");
}

static void count(Cg *c, const Group *g, V value) {
    V below = cg_intrinsic(c, "llvm.nvvm.read.ptx.sreg.lanemask.lt", NULL, 0, NULL, 0);
    V *ballot = arena_array(c->arena, V, g->len), *before = arena_array(c->arena, V, g->len);
    V total = cg_i32(c, 0);

    for (uint32_t i = 0; i < g->len; i++) {
        ballot[i] = cg_ballot(c, g->on[i]);
        before[i] = total;
        total = LLVMBuildAdd(c->b, total, popc(c, ballot[i]), "");
    }
    V any = LLVMBuildICmp(c->b, LLVMIntNE, total, cg_i32(c, 0), "");
    V old = act(c, g, times(c, total, value), any);
    for (uint32_t i = 0; i < g->len && g->atomic->used; i++) {
        V lower = popc(c, LLVMBuildAnd(c->b, ballot[i], below, ""));
        V all = LLVMBuildAdd(c->b, before[i], lower, "");

        g->old[i] = LLVMBuildAdd(c->b, old, times(c, all, value), "");
    }
}

/* --- other values of add, summed --- */

/* Sum over this lane and the lower ones. */
static V lane_scan(Cg *c, IrOp op, V x) {
    V lane = cg_thread(c, op)->lane;

    for (uint32_t step = 1; step < CG_WARP; step *= 2) {
        V other = cg_shuffle(c, "up", x, cg_i32(c, step));
        V has = LLVMBuildICmp(c->b, LLVMIntUGE, lane, cg_i32(c, step), "");
        V sum = LLVMBuildAdd(c->b, x, other, "");

        x = LLVMBuildSelect(c->b, has, sum, x, "");
    }
    return x;
}

static V any_on(Cg *c, const Group *g) {
    V any = g->on[0];

    for (uint32_t i = 1; i < g->len; i++)
        any = LLVMBuildOr(c->b, any, g->on[i], "");
    return any_lane(c, any);
}

static void sum(Cg *c, const Group *g) {
    V own = g->value[0];

    for (uint32_t i = 1; i < g->len; i++)
        own = LLVMBuildAdd(c->b, own, g->value[i], "");
    V upto = lane_scan(c, g->atomic->op, own);
    V total = cg_shuffle(c, "idx", upto, cg_i32(c, CG_WARP - 1));
    V at =
        LLVMBuildAdd(c->b, act(c, g, total, any_on(c, g)), LLVMBuildSub(c->b, upto, own, ""), "");
    for (uint32_t i = 0; i < g->len; i++) {
        g->old[i] = at;
        at = LLVMBuildAdd(c->b, at, g->value[i], "");
    }
}

/* --- results unused: reduce --- */

static V combine(Cg *c, int64_t rmw, V x, V y) {
    static const char *const names[] = {[IR_RMW_SMAX] = "llvm.smax",
                                        [IR_RMW_SMIN] = "llvm.smin",
                                        [IR_RMW_UMAX] = "llvm.umax",
                                        [IR_RMW_UMIN] = "llvm.umin"};
    LLVMTypeRef t = LLVMTypeOf(x);
    V args[2] = {x, y};

    switch (rmw) {
    case IR_RMW_ADD:
        return LLVMBuildAdd(c->b, x, y, "");
    case IR_RMW_AND:
        return LLVMBuildAnd(c->b, x, y, "");
    case IR_RMW_OR:
        return LLVMBuildOr(c->b, x, y, "");
    case IR_RMW_XOR:
        return LLVMBuildXor(c->b, x, y, "");
    default:
        return cg_intrinsic(c, names[rmw], &t, 1, args, 2);
    }
}

static V identity(LLVMTypeRef t, int64_t rmw) {
    V ones = LLVMConstAllOnes(t);
    V top = LLVMConstInt(t, 1ull << (LLVMGetIntTypeWidth(t) - 1), 0);

    switch (rmw) {
    case IR_RMW_AND:
    case IR_RMW_UMIN:
        return ones;
    case IR_RMW_SMIN:
        return LLVMConstXor(ones, top);
    case IR_RMW_SMAX:
        return top;
    default:
        return LLVMConstNull(t);
    }
}

static const char *redux_name(int64_t rmw) {
    static const char *const names[] = {
        [IR_RMW_ADD] = "llvm.nvvm.redux.sync.add",   [IR_RMW_AND] = "llvm.nvvm.redux.sync.and",
        [IR_RMW_OR] = "llvm.nvvm.redux.sync.or",     [IR_RMW_XOR] = "llvm.nvvm.redux.sync.xor",
        [IR_RMW_SMAX] = "llvm.nvvm.redux.sync.max",  [IR_RMW_SMIN] = "llvm.nvvm.redux.sync.min",
        [IR_RMW_UMAX] = "llvm.nvvm.redux.sync.umax", [IR_RMW_UMIN] = "llvm.nvvm.redux.sync.umin",
    };

    return names[rmw];
}

static V reduce_lanes(Cg *c, int64_t rmw, V x) {
    V args[2] = {x, cg_i32(c, CG_FULL_MASK)};

    if (LLVMTypeOf(x) == c->i32 && c->target->sm >= 80)
        return cg_intrinsic(c, redux_name(rmw), NULL, 0, args, 2);
    for (uint32_t bit = 1; bit < CG_WARP; bit *= 2)
        x = combine(c, rmw, x, cg_shuffle(c, "bfly", x, cg_i32(c, bit)));
    return x;
}

static void reduce(Cg *c, const Group *g, int64_t rmw) {
    V x = g->value[0];

    for (uint32_t i = 1; i < g->len; i++)
        x = combine(c, rmw, x, g->value[i]);
    act(c, g, reduce_lanes(c, rmw, x), any_on(c, g));
}

/* --- the operation --- */

static V element_on(Cg *c, const Layout *l, CgRegs mask, V owner, uint32_t reg) {
    if (!cg_owns_reg(l, reg))
        return LLVMConstInt(c->i1, 0, 0);
    return mask.len ? LLVMBuildAnd(c->b, owner, mask.at[mask.len == 1 ? 0 : reg], "") : owner;
}

/* The constant that all values of a group are, else NULL. */
static V one_constant(CgRegs values, const uint32_t *regs, uint32_t n) {
    V x = values.at[regs[0]];

    for (uint32_t i = 1; i < n; i++)
        if (values.at[regs[i]] != x)
            return NULL;
    return LLVMIsAConstantInt(x) ? x : NULL;
}

static void emit_group(Cg *c, const CgAtomic *a, CgRegs mask, CgRegs out, const uint32_t *regs,
                       uint32_t n) {
    IrType t = ir_value_type(c->m, ir_result(c->m, a->op, 0));
    int64_t rmw = ir_int(c->m, a->op, IR_KEY_RMW, IR_RMW_ADD);
    CgRegs values = cg_operand(c, a->op, 1);
    V owner = cg_owner(c, ir_type(c->m, t)->layout, a->op),
      constant = one_constant(values, regs, n);
    Group g = {.atomic = a, .ptr = cg_operand(c, a->op, 0).at[regs[0]], .len = n};

    g.on = arena_array(c->arena, V, n);
    g.value = arena_array(c->arena, V, n);
    g.old = arena_array(c->arena, V, n);
    for (uint32_t i = 0; i < n; i++) {
        g.on[i] = element_on(c, cg_layout(c, t), mask, owner, regs[i]);
        g.value[i] = LLVMBuildSelect(c->b, g.on[i], values.at[regs[i]], identity(a->type, rmw), "");
        g.old[i] = LLVMGetUndef(a->type);
    }
    if (rmw == IR_RMW_ADD && constant && n <= BALLOTS)
        count(c, &g, constant);
    else if (rmw == IR_RMW_ADD && a->used)
        sum(c, &g);
    else
        reduce(c, &g, rmw);
    for (uint32_t i = 0; i < n; i++)
        out.at[regs[i]] = g.old[i];
}

void cg_aggregate(Cg *c, const CgAtomic *a, CgRegs mask) {
    IrValue result = ir_result(c->m, a->op, 0);
    CgRegs ptr = cg_operand(c, a->op, 0), out = cg_new_regs_for(c, ir_value_type(c->m, result));
    uint32_t *regs = arena_array(c->arena, uint32_t, out.len);
    bool *done = arena_array(c->arena, bool, out.len);

    for (uint32_t r = 0; r < out.len; r++) {
        uint32_t n = 0;

        for (uint32_t k = r; k < out.len && !done[r]; k++)
            if (!done[k] && ptr.at[k] == ptr.at[r])
                regs[n++] = k;
        for (uint32_t i = 0; i < n; i++)
            done[regs[i]] = true;
        if (n)
            emit_group(c, a, mask, out, regs, n);
    }
    if (a->used)
        cg_atomic_spread(c, a->op, out);
    cg_set(c, result, out);
}
