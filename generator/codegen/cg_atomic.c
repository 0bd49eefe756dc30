/* Atomics: one PTX instruction per element, by the owner of the element, predicated by the mask; a
 * `red` where nobody wants the old value. Old values reach the threads that hold copies by shuffles
 * within a warp, else through scratch (analysis/scratch.h). Aggregated ones are in
 * cg_aggregate.c. */
#include "codegen/cg_impl.h"

#include "analysis/scratch.h"

/* --- PTX text --- */

static const char *sem_text(int64_t sem) {
    static const char *const names[] = {[IR_SEM_RELAXED] = "relaxed",
                                        [IR_SEM_ACQUIRE] = "acquire",
                                        [IR_SEM_RELEASE] = "release",
                                        [IR_SEM_ACQ_REL] = "acq_rel"};

    return names[sem];
}

static const char *scope_text(int64_t scope) {
    static const char *const names[] = {[IR_SCOPE_CTA] = "cta",
                                        [IR_SCOPE_CLUSTER] = "cluster",
                                        [IR_SCOPE_GPU] = "gpu",
                                        [IR_SCOPE_SYS] = "sys"};

    return names[scope];
}

static const char *space_text(unsigned space) {
    return space == IR_SPACE_GLOBAL   ? "global"
           : space == IR_SPACE_SHARED ? "shared"
                                      : "shared::cluster";
}

/* "add.u32", "max.s64", "add.noftz.f16"; NULL when PTX has none. */
static const char *rmw_text(Cg *c, int64_t rmw, LLVMTypeRef t) {
    static const char *const names[] = {
        [IR_RMW_ADD] = "add.u",  [IR_RMW_AND] = "and.b",   [IR_RMW_OR] = "or.b",
        [IR_RMW_XOR] = "xor.b",  [IR_RMW_XCHG] = "exch.b", [IR_RMW_SMAX] = "max.s",
        [IR_RMW_SMIN] = "min.s", [IR_RMW_UMAX] = "max.u",  [IR_RMW_UMIN] = "min.u",
    };
    unsigned bits = cg_bits(c, t);
    StrBuf text;

    if (rmw == IR_RMW_FADD)
        return t == c->f32    ? "add.f32"
               : t == c->f64  ? "add.f64"
               : t == c->f16  ? "add.noftz.f16"
               : t == c->bf16 ? "add.noftz.bf16"
                              : NULL;
    if (bits != 32 && bits != 64)
        return NULL;
    strbuf_init(&text, c->arena);
    strbuf_addf(&text, "%s%u", names[rmw], bits);
    return text.text;
}

static char value_constraint(unsigned bits) {
    return bits == 64 ? 'l' : bits == 32 ? 'r' : 'h';
}

CgAtomic cg_atomic(Cg *c, IrOp op) {
    IrType pointer = ir_value_type(c->m, ir_operand(c->m, op, 0));
    CgAtomic a = {.op = op, .used = !ir_unused(c->m, ir_result(c->m, op, 0))};
    bool cas = ir_kind(c->m, op) == IR_OP_ATOMIC_CAS;
    int64_t rmw = ir_int(c->m, op, IR_KEY_RMW, IR_RMW_ADD);

    a.type = cg_type(c, ir_value_type(c->m, ir_operand(c->m, op, 1)));
    a.bits = cg_bits(c, a.type);
    a.space = ir_type(c->m, ir_elem_type(c->m, pointer))->space;
    a.sem = ir_int(c->m, op, IR_KEY_SEM, IR_SEM_ACQ_REL);
    a.scope = ir_int(c->m, op, IR_KEY_SCOPE, IR_SCOPE_GPU);
    if (a.space == IR_SPACE_CLUSTER && a.scope == IR_SCOPE_CTA)
        a.scope = IR_SCOPE_CLUSTER; /* what it is about lies in another CTA */
    if (cas)
        a.what = a.bits == 16   ? "cas.b16"
                 : a.bits == 32 ? "cas.b32"
                 : a.bits == 64 ? "cas.b64"
                                : NULL;
    else
        a.what = rmw_text(c, rmw, a.type);
    if (!a.what)
        cg_unsupported(c, op, "an atomic of %u bits that PTX does not have", a.bits);
    bool releases_only = a.sem == IR_SEM_RELAXED || a.sem == IR_SEM_RELEASE;
    a.red = !a.used && !cas && rmw != IR_RMW_XCHG && releases_only;
    return a;
}

/* --- one element --- */

/* "@$P atom.relaxed.gpu.global.add.u32 $0, [$1], $2;" */
static const char *instruction(Cg *c, const CgAtomic *a, unsigned n_values, bool predicated) {
    unsigned at = a->red ? 0 : 1;
    StrBuf t;

    strbuf_init(&t, c->arena);
    if (predicated)
        strbuf_addf(&t, "@$%u ", at + 1 + n_values);
    strbuf_addf(&t, "%s.%s.%s.%s.%s ", a->red ? "red" : "atom", sem_text(a->sem),
                scope_text(a->scope), space_text(a->space), a->what);
    if (!a->red)
        strbuf_addz(&t, "$0, ");
    strbuf_addf(&t, "[$%u]", at);
    for (unsigned i = 0; i < n_values; i++)
        strbuf_addf(&t, ", $%u", at + 1 + i);
    strbuf_addc(&t, ';');
    return t.text;
}

V cg_atomic_one(Cg *c, const CgAtomic *a, V ptr, const V *values, unsigned n_values, V on) {
    bool predicated = !cg_is_true(on);
    char letter = value_constraint(a->bits);
    V args[4] = {ptr};
    unsigned n = 1;
    StrBuf constraints;

    strbuf_init(&constraints, c->arena);
    if (!a->red)
        strbuf_addf(&constraints, "=%c,", letter);
    strbuf_addz(&constraints, a->space == IR_SPACE_GLOBAL ? "l" : "r");
    for (unsigned i = 0; i < n_values; i++) {
        args[n++] = cg_to_int(c, values[i]);
        strbuf_addf(&constraints, ",%c", letter);
    }
    if (predicated) {
        args[n++] = on;
        strbuf_addz(&constraints, ",b");
    }
    V old = cg_asm(c, instruction(c, a, n_values, predicated), constraints.text,
                   a->red ? c->none : cg_int_type(c, a->bits), args, n, true);
    return a->red ? LLVMGetUndef(a->type) : cg_from_int(c, old, a->type);
}

/* --- old values for the threads that hold copies --- */

static bool zero_bases(const Layout *l, LayoutIn in, uint32_t mask) {
    unsigned first = l->bits[LAYOUT_REG] + (in == LAYOUT_WARP ? l->bits[LAYOUT_LANE] : 0u);

    for (unsigned i = 0; i < l->bits[in]; i++)
        for (unsigned d = 0; d < l->rank && mask >> i & 1; d++)
            if (l->basis[first + i][d])
                return false;
    return true;
}

static void spread_in_warp(Cg *c, IrOp op, const Layout *l, CgRegs old) {
    uint32_t copies = layout_lane_copies(l);
    V owner = LLVMBuildAnd(c->b, cg_thread(c, op)->lane, cg_i32(c, ~copies & (CG_WARP - 1)), "");

    if (!copies)
        return;
    if (!zero_bases(l, LAYOUT_LANE, copies))
        cg_unsupported(c, op, "a layout whose copies are spread over dependent lanes");
    for (uint32_t r = 0; r < old.len && !c->failed; r++)
        old.at[r] = cg_shuffle(c, "idx", old.at[r], owner);
}

static V scratch_place(Cg *c, IrOp op, LayoutId layout, uint32_t reg, unsigned bytes) {
    V number = layout ? cg_linear_index(c, layout, op, reg) : cg_i32(c, 0);

    return cg_scratch(c, op, LLVMBuildNUWMul(c->b, number, cg_i32(c, bytes), ""));
}

static void spread_by_scratch(Cg *c, IrOp op, LayoutId layout, const Layout *l, CgRegs old) {
    LLVMTypeRef t = LLVMTypeOf(old.at[0]);
    unsigned bytes = cg_scratch_bytes(c, t);
    LLVMBasicBlockRef join = cg_guard_begin(c, cg_owner(c, layout, op));

    for (uint32_t r = 0; r < old.len; r++)
        if (!l || cg_owns_reg(l, r))
            cg_store_scratch(c, old.at[r], scratch_place(c, op, layout, r, bytes));
    cg_guard_end(c, join);
    cg_barrier(c, op);
    for (uint32_t r = 0; r < old.len; r++)
        old.at[r] = cg_load_scratch(c, t, scratch_place(c, op, layout, r, bytes));
}

/* Registers that are copies take the value of the first. */
static void spread_in_thread(const Layout *l, CgRegs old) {
    for (uint32_t r = 0; l && r < old.len; r++)
        old.at[r] = old.at[r & ~layout_reg_copies(l)];
}

void cg_atomic_spread(Cg *c, IrOp op, CgRegs old) {
    IrType t = ir_value_type(c->m, ir_result(c->m, op, 0));
    LayoutId layout = ir_type(c->m, t)->layout;
    const Layout *l = cg_layout(c, t);

    spread_in_thread(l, old);
    if (scratch_of(c->m, op).bytes)
        spread_by_scratch(c, op, layout, l, old);
    else if (l)
        spread_in_warp(c, op, l, old);
    else /* a group of one warp */
        old.at[0] = cg_shuffle(c, "idx", old.at[0], cg_i32(c, 0));
}

/* --- the operations --- */

/* A releasing atomic of one thread speaks for all threads of the group. */
static void release_group(Cg *c, const CgAtomic *a, bool tile) {
    bool releases = a->sem == IR_SEM_RELEASE || a->sem == IR_SEM_ACQ_REL;

    if (!tile && releases && a->space != IR_SPACE_SHARED)
        cg_barrier(c, a->op);
}

static void each_element(Cg *c, const CgAtomic *a, unsigned n_values, CgRegs mask) {
    IrOp op = a->op;
    IrType t = ir_value_type(c->m, ir_result(c->m, op, 0));
    const Layout *l = cg_layout(c, t);
    CgRegs ptr = cg_operand(c, op, 0), out = cg_new_regs_for(c, t);
    V owner = cg_owner(c, ir_type(c->m, t)->layout, op);

    release_group(c, a, l != NULL);
    for (uint32_t r = 0; r < out.len; r++) {
        V values[2], on = owner;

        out.at[r] = LLVMGetUndef(a->type);
        if (l && !cg_owns_reg(l, r))
            continue;
        if (mask.len)
            on = LLVMBuildAnd(c->b, on, mask.at[mask.len == 1 ? 0 : r], "");
        for (unsigned i = 0; i < n_values; i++)
            values[i] = cg_operand(c, op, 1 + i).at[r];
        out.at[r] = cg_atomic_one(c, a, ptr.at[r], values, n_values, on);
    }
    if (a->used)
        cg_atomic_spread(c, op, out);
    cg_set(c, ir_result(c->m, op, 0), out);
}

void cg_atomic_rmw(Cg *c, IrOp op) {
    CgAtomic a = cg_atomic(c, op);
    CgRegs mask = {NULL, 0};

    if (c->failed)
        return;
    if (ir_operand_count(c->m, op) > 2)
        mask = cg_operand(c, op, 2);
    if (ir_int(c->m, op, IR_KEY_AGGREGATE, 0))
        cg_aggregate(c, &a, mask);
    else
        each_element(c, &a, 1, mask);
}

void cg_atomic_cas(Cg *c, IrOp op) {
    CgAtomic a = cg_atomic(c, op);
    CgRegs none = {NULL, 0};

    if (!c->failed)
        each_element(c, &a, 2, none);
}
