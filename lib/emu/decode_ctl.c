/* Decoders of control flow, barriers, fences and warp-wide instructions. */
#include "decode.h"
#include "exec_more.h"
#include <string.h>

static void add_fixup(Decoder *d, const Operand *o, uint32_t table) {
    Fixup f = {.insn = d->code.len - 1, .table = table};
    if (o->kind != OPND_NAME)
        decode_bad(d, "target is not a label");
    f.label = o->name;
    f.scope = o->scope;
    f.line = d->s->line;
    vec_push(d->context->arena, &d->fixups, f);
}

/* An instruction that must not be guarded is jumped over instead. Returns the index of the jump,
 * whose target is set by end_guard. */
static uint32_t begin_guard(Decoder *d) {
    if (!d->guarded)
        return UINT32_MAX;
    Insn in = decode_begin(d, x_bra, CLASS_CONTROL);
    in.guard_negated = !in.guard_negated;
    in.ends = INSN_BRANCH;
    decode_emit(d, in);
    d->guarded = false;
    return d->code.len - 1;
}

static void end_guard(Decoder *d, uint32_t jump) {
    if (jump != UINT32_MAX)
        d->code.data[jump].imm = d->code.len;
}

void dec_bra(Decoder *d) {
    decode_take(d, MOD_UNI);
    decode_operands(d, 1, 1);
    Insn in = decode_begin(d, x_bra, CLASS_CONTROL);
    in.ends = INSN_BRANCH;
    decode_emit(d, in);
    add_fixup(d, decode_operand(d, 0), 0);
}

static const PtxLabel *table_named(Decoder *d, const Operand *o) {
    for (uint32_t i = 0; i < d->source->labels.len; i++)
        if (d->source->labels.data[i].is_table && d->source->labels.data[i].name == o->name)
            return &d->source->labels.data[i];
    decode_bad(d, "no .branchtargets of that name");
}

void dec_brx(Decoder *d) {
    decode_take(d, MOD_UNI);
    decode_take(d, MOD_IDX);
    decode_operands(d, 2, 2);
    const PtxLabel *table = table_named(d, decode_operand(d, 1));
    uint32_t jump = begin_guard(d);
    int32_t a = decode_src(d, decode_operand(d, 0), TY_B32);
    Insn in = decode_begin(d, x_brx, CLASS_CONTROL);
    in.a = a;
    in.ends = INSN_TABLE;
    in.table_count = table->targets.len;
    decode_emit(d, in);
    for (uint32_t k = 0; k < table->targets.len; k++) {
        Operand o = {.kind = OPND_NAME, .name = table->targets.data[k], .scope = table->scope};
        add_fixup(d, &o, k + 1);
    }
    end_guard(d, jump);
}

/* ---- calls -------------------------------------------------------------------------------- */

static CallCopy *copies(Decoder *d, const Operand *list, uint32_t *count) {
    uint32_t n = list ? list->elem_count : 0;
    CallCopy *c = arena_array(d->context->arena, CallCopy, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const Operand *o = &list->elems[k];
        const PtxVar *v = &d->module->ptx->vars.data[o->var];
        if (o->kind != OPND_SYMBOL || v->space != SPACE_PARAM)
            decode_unsupported(d); /* registers as arguments */
        c[k].from = (uint32_t)v->address;
        c[k].bytes = (uint32_t)v->bytes;
    }
    *count = n;
    return c;
}

static void check_lengths(Decoder *d, const CallSite *site) {
    const PtxFunction *f = site->callee->source;
    if (f->params.len != site->arg_count || f->results.len != site->result_count)
        decode_bad(d, "call of %s with %u arguments and %u results", site->callee->name,
                   site->arg_count, site->result_count);
    for (uint32_t k = 0; k < site->arg_count; k++)
        if (d->module->ptx->vars.data[f->params.data[k]].bytes != site->args[k].bytes)
            decode_bad(d, "argument %u of %s has the wrong size", k + 1, site->callee->name);
    for (uint32_t k = 0; k < site->result_count; k++)
        if (d->module->ptx->vars.data[f->results.data[k]].bytes != site->results[k].bytes)
            decode_bad(d, "result of %s has the wrong size", site->callee->name);
}

/* call {(results),} function {, (arguments)} {, prototype} */
void dec_call(Decoder *d) {
    CallSite *site = arena_new_of(d->context->arena, CallSite);
    const Operand *list = NULL, *target;
    uint32_t k = 0, id;
    int32_t address = 0;
    decode_take(d, MOD_UNI);
    if (decode_operand(d, 0)->kind == OPND_VECTOR)
        list = decode_operand(d, k++);
    site->results = copies(d, list, &site->result_count);
    target = decode_operand(d, k++);
    list = k < d->s->operand_count && d->s->operands[k].kind == OPND_VECTOR ? &d->s->operands[k]
                                                                            : NULL;
    site->args = copies(d, list, &site->arg_count);
    uint32_t jump = begin_guard(d);
    if (target->kind == OPND_NAME) {
        id = map_find(&d->module->ptx->function_ids, target->name, 0);
        if (!strcmp(ptx_name(d->context, target->name), "__assertfail")) {
            decode_emit(d, decode_begin(d, x_assert, CLASS_CONTROL));
            end_guard(d, jump);
            return;
        }
        if (!id || !d->module->functions[id - 1].source->has_body)
            ptx_fail(d->context, TLE_EMU_NOT_SUPPORTED, d->s->line,
                     "not supported: call of external function '%s' at line %u",
                     ptx_name(d->context, target->name), d->s->line);
        site->callee = &d->module->functions[id - 1];
        check_lengths(d, site);
    } else {
        address = decode_src(d, target, TY_B64);
    }
    Insn in = decode_begin(d, x_call, CLASS_CONTROL);
    in.call = site;
    in.a = address;
    decode_emit(d, in);
    end_guard(d, jump);
}

/* Functions have one return, at their end, where all paths meet. */
void dec_ret(Decoder *d) {
    decode_take(d, MOD_UNI);
    if (d->source->is_entry) {
        dec_exit(d);
        return;
    }
    Insn in = decode_begin(d, x_bra, CLASS_CONTROL);
    in.ends = INSN_BRANCH;
    in.imm = -1;
    decode_emit(d, in);
}

void dec_exit(Decoder *d) {
    Insn in = decode_begin(d, x_exit, CLASS_CONTROL);
    in.ends = d->guarded ? INSN_NEXT : INSN_EXIT;
    decode_emit(d, in);
}

void dec_trap(Decoder *d) {
    Insn in = decode_begin(d, x_trap, CLASS_CONTROL);
    in.ends = d->guarded ? INSN_NEXT : INSN_EXIT;
    decode_emit(d, in);
}

/* ---- CTA barriers ------------------------------------------------------------------------- */

static const PtxMod red_ops[] = {MOD_POPC, MOD_AND, MOD_OR, MOD_NONE};

static void count_operand(Decoder *d, Insn *in, uint32_t k, uint32_t end) {
    if (k >= end)
        return;
    in->b = decode_src(d, decode_operand(d, k), TY_B32);
    in->flags |= F_HAS_COUNT;
}

/* sync a {, b}; arrive a, b; red d, a {, b}, {!}c */
static void barrier(Decoder *d, bool aligned) {
    Insn head = {.sub = MOD_SYNC};
    uint32_t n = d->s->operand_count, k = 0;
    bool negated = false;
    if (decode_take(d, MOD_ARRIVE))
        head.sub = MOD_ARRIVE;
    else if (decode_take(d, MOD_RED))
        head.sub = MOD_RED;
    else if (!decode_take(d, MOD_SYNC))
        decode_unsupported(d);
    if (head.sub == MOD_RED) {
        PtxType t = decode_type(d, 0);
        head.sub2 = (uint8_t)decode_take_one(d, red_ops);
        decode_operands(d, 3, 4);
        head.d = t == TY_PRED ? decode_pred_dst(d, decode_operand(d, 0))
                              : decode_dst(d, decode_operand(d, 0), t);
        if ((head.sub2 == MOD_POPC) != (t == TY_U32))
            decode_unsupported(d);
        head.c = decode_pred(d, decode_operand(d, --n), &negated);
        k = 1;
    }
    head.a = decode_src(d, decode_operand(d, k), TY_B32);
    count_operand(d, &head, k + 1, n);
    if (head.sub == MOD_ARRIVE && !(head.flags & F_HAS_COUNT))
        decode_bad(d, "arrive needs a thread count");
    Insn in = decode_begin(d, x_barrier, CLASS_BARRIER);
    in.sub = head.sub;
    in.sub2 = head.sub2;
    in.d = head.d;
    in.a = head.a;
    in.b = head.b;
    in.c = head.c;
    in.flags = head.flags | (aligned ? F_ALIGNED : 0) | (negated ? F_NEGATED : 0);
    decode_emit(d, in);
}

void dec_bar(Decoder *d) {
    decode_take(d, MOD_CTA);
    if (decode_take(d, MOD_WARP)) {
        decode_take(d, MOD_SYNC);
        decode_operands(d, 1, 1);
        int32_t a = decode_src(d, decode_operand(d, 0), TY_B32);
        Insn in = decode_begin(d, x_bar_warp, CLASS_WARP);
        in.a = a;
        decode_emit(d, in);
        return;
    }
    barrier(d, true);
}

static void cluster_barrier(Decoder *d) {
    bool wait = decode_take(d, MOD_WAIT);
    if (!wait && !decode_take(d, MOD_ARRIVE))
        decode_unsupported(d);
    decode_operands(d, 0, 0);
    Insn in = decode_begin(d, wait ? x_cluster_wait : x_cluster_arrive, CLASS_BARRIER);
    in.flags = decode_take(d, MOD_ALIGNED) ? F_ALIGNED : 0;
    in.sem = decode_take(d, MOD_RELAXED) ? SEM_RELAXED : wait ? SEM_ACQUIRE : SEM_RELEASE;
    decode_take(d, MOD_RELEASE);
    decode_take(d, MOD_ACQUIRE);
    decode_emit(d, in);
}

void dec_barrier(Decoder *d) {
    if (decode_take(d, MOD_CLUSTER)) {
        cluster_barrier(d);
        return;
    }
    decode_take(d, MOD_CTA);
    barrier(d, decode_take(d, MOD_ALIGNED));
}

/* ---- fences ------------------------------------------------------------------------------- */

void dec_membar(Decoder *d) {
    Insn in = decode_begin(d, x_fence, CLASS_BARRIER);
    in.scope = (uint8_t)decode_scope(d);
    if (in.scope == SCOPE_NONE)
        decode_unsupported(d);
    decode_emit(d, in);
}

/* fence.proxy.async{.space}, .alias, .async::generic with acquire or release */
static void proxy_fence(Decoder *d) {
    static const PtxMod spaces[] = {MOD_GLOBAL, MOD_SHARED_CTA, MOD_SHARED_CLUSTER, MOD_NONE};
    if (decode_take(d, MOD_ASYNC_GENERIC)) {
        decode_take(d, MOD_ACQUIRE);
        decode_take(d, MOD_RELEASE);
        decode_take(d, MOD_SYNC_RESTRICT_CTA);
        decode_take(d, MOD_SYNC_RESTRICT_CLUSTER);
        decode_take(d, MOD_CLUSTER);
    } else if (!decode_take(d, MOD_ALIAS) && !decode_take(d, MOD_ASYNC)) {
        decode_unsupported(d);
    }
    Insn in = decode_begin(d, x_proxy_fence, CLASS_BARRIER);
    in.sub = decode_take_one(d, spaces) == MOD_GLOBAL;
    decode_emit(d, in);
}

void dec_fence(Decoder *d) {
    Insn in = decode_begin(d, x_fence, CLASS_BARRIER);
    if (d->s->operand_count)
        decode_unsupported(d);
    if (decode_take(d, MOD_PROXY)) {
        proxy_fence(d);
        return;
    }
    decode_take(d, MOD_MBARRIER_INIT);
    decode_take(d, MOD_SYNC_RESTRICT_CTA);
    decode_take(d, MOD_SYNC_RESTRICT_CLUSTER);
    decode_take(d, MOD_SC);
    decode_take(d, MOD_ACQ_REL);
    decode_take(d, MOD_ACQUIRE);
    decode_take(d, MOD_RELEASE);
    in.scope = (uint8_t)decode_scope(d);
    if (in.scope == SCOPE_NONE)
        decode_unsupported(d);
    decode_emit(d, in);
}

/* ---- warp-wide ---------------------------------------------------------------------------- */

void dec_shfl(Decoder *d) {
    static const PtxMod modes[] = {MOD_UP, MOD_DOWN, MOD_BFLY, MOD_IDX, MOD_NONE};
    PtxMod mode = decode_take_one(d, modes);
    int32_t src[4];
    if (!decode_take(d, MOD_SYNC) || mode == MOD_NONE || ptx_type_bytes(decode_type(d, 0)) != 4)
        decode_unsupported(d);
    decode_operands(d, 5, 5);
    for (uint32_t k = 0; k < 4; k++)
        src[k] = decode_src(d, decode_operand(d, k + 1), TY_B32);
    const Operand *to = decode_operand(d, 0);
    Insn in = decode_begin(d, x_shfl, CLASS_WARP);
    in.d = decode_dst(d, to, TY_B32);
    in.d2 = decode_pred_dst(d, to->pair);
    in.a = src[0];
    in.b = src[1];
    in.c = src[2];
    in.e = src[3];
    in.sub = (uint8_t)mode;
    decode_emit(d, in);
}

void dec_vote(Decoder *d) {
    static const PtxMod modes[] = {MOD_ALL, MOD_ANY, MOD_UNI, MOD_BALLOT, MOD_NONE};
    PtxMod mode = decode_take_one(d, modes);
    bool negated = false;
    if (!decode_take(d, MOD_SYNC) || mode == MOD_NONE)
        decode_unsupported(d);
    decode_operands(d, 3, 3);
    int32_t a = decode_pred(d, decode_operand(d, 1), &negated);
    int32_t b = decode_src(d, decode_operand(d, 2), TY_B32);
    Insn in = decode_begin(d, x_vote, CLASS_WARP);
    in.d = mode == MOD_BALLOT ? decode_dst(d, decode_operand(d, 0), TY_B32)
                              : decode_pred_dst(d, decode_operand(d, 0));
    in.a = a;
    in.b = b;
    in.sub = (uint8_t)mode;
    in.flags = negated ? F_NEGATED : 0;
    decode_emit(d, in);
}

void dec_match(Decoder *d) {
    static const PtxMod modes[] = {MOD_ALL, MOD_ANY, MOD_NONE};
    PtxMod mode = decode_take_one(d, modes);
    PtxType type = decode_type(d, 0);
    if (!decode_take(d, MOD_SYNC) || mode == MOD_NONE || ptx_type_bytes(type) < 4)
        decode_unsupported(d);
    decode_operands(d, 3, 3);
    int32_t a = decode_src(d, decode_operand(d, 1), type);
    int32_t b = decode_src(d, decode_operand(d, 2), TY_B32);
    const Operand *to = decode_operand(d, 0);
    Insn in = decode_begin(d, x_match, CLASS_WARP);
    in.d = decode_dst(d, to, TY_B32);
    in.d2 = decode_pred_dst(d, to->pair);
    in.a = a;
    in.b = b;
    in.sub = (uint8_t)mode;
    in.size = (uint8_t)ptx_type_bytes(type);
    decode_emit(d, in);
}

void dec_redux(Decoder *d) {
    static const PtxMod ops[] = {MOD_ADD, MOD_MIN, MOD_MAX, MOD_AND, MOD_OR, MOD_XOR, MOD_NONE};
    PtxMod op = decode_take_one(d, ops);
    PtxType type = decode_type(d, 0);
    if (!decode_take(d, MOD_SYNC) || op == MOD_NONE || ptx_type_bytes(type) != 4 ||
        (type == TY_F32 && op != MOD_MIN && op != MOD_MAX))
        decode_unsupported(d);
    uint32_t flags = type == TY_F32 && decode_take(d, MOD_ABS) ? F_ABS : 0;
    flags |= type == TY_F32 && decode_take(d, MOD_NAN_) ? F_NAN : 0;
    decode_operands(d, 3, 3);
    int32_t a = decode_src(d, decode_operand(d, 1), type);
    int32_t b = decode_src(d, decode_operand(d, 2), TY_B32);
    Insn in = decode_begin(d, x_redux, CLASS_WARP);
    in.d = decode_dst(d, decode_operand(d, 0), TY_B32);
    in.a = a;
    in.b = b;
    in.sub = (uint8_t)op;
    in.flags = type == TY_S32 ? F_SIGNED : flags;
    in.type = (uint8_t)type;
    decode_emit(d, in);
}

void dec_elect(Decoder *d) {
    decode_operands(d, 2, 2);
    if (!decode_take(d, MOD_SYNC))
        decode_unsupported(d);
    int32_t a = decode_src(d, decode_operand(d, 1), TY_B32);
    const Operand *to = decode_operand(d, 0);
    Insn in = decode_begin(d, x_elect, CLASS_WARP);
    in.d = decode_dst(d, to, TY_B32);
    in.d2 = decode_pred_dst(d, to->pair);
    in.a = a;
    decode_emit(d, in);
}

void dec_activemask(Decoder *d) {
    decode_operands(d, 1, 1);
    Insn in = decode_begin(d, x_activemask, CLASS_WARP);
    in.d = decode_dst(d, decode_operand(d, 0), TY_B32);
    decode_emit(d, in);
}

/* ---- without effect ----------------------------------------------------------------------- */

void dec_nanosleep(Decoder *d) {
    decode_emit(d, decode_begin(d, x_nanosleep, CLASS_OTHER));
}

void dec_nop(Decoder *d) {
    decode_take(d, MOD_MASK);
    decode_emit(d, decode_begin(d, x_nop, CLASS_OTHER));
}

void dec_setmaxnreg(Decoder *d) {
    const Operand *count = decode_operand(d, 0);
    bool more = decode_take(d, MOD_INC), less = decode_take(d, MOD_DEC);
    decode_operands(d, 1, 1);
    if (more == less || !decode_take(d, MOD_SYNC) || !decode_take(d, MOD_ALIGNED) ||
        decode_type(d, 0) != TY_U32)
        decode_unsupported(d);
    if (count->kind != OPND_INT || count->value < 24 || count->value > 256 || count->value % 8)
        decode_bad(d, "register count must be a multiple of 8 from 24 to 256");
    Insn in = decode_begin(d, x_setmaxnreg, CLASS_OTHER);
    in.sub = more ? MOD_INC : MOD_DEC;
    in.imm = count->value;
    in.flags = F_ALIGNED;
    decode_emit(d, in);
}

/* Launches follow one another completely: there is nothing to let begin, and a wait matters to the
 * check of dependent launches alone. */
void dec_griddepcontrol(Decoder *d) {
    decode_operands(d, 0, 0);
    bool wait = decode_take(d, MOD_WAIT);
    if (wait == decode_take(d, MOD_LAUNCH_DEPENDENTS))
        decode_unsupported(d);
    decode_emit(d, decode_begin(d, wait ? x_grid_wait : x_nop, CLASS_OTHER));
}
