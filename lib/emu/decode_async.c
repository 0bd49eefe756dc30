/* Decoders of mbarriers, cp.async, bulk and tensor copies, st.async and red.async. */
#include "async.h"
#include "decode.h"
#include <string.h>

static const PtxMod scopes[] = {MOD_CTA, MOD_CLUSTER, MOD_NONE};
static const PtxMod reductions[] = {MOD_ADD, MOD_MIN, MOD_MAX, MOD_INC, MOD_DEC,
                                    MOD_AND, MOD_OR,  MOD_XOR, MOD_NONE};

/* ---- addresses ---------------------------------------------------------------------------- */

static BulkAddress address(Decoder *d, const Operand *o, PtxSpace space) {
    Insn scratch = {0};
    BulkAddress a = {0};
    PtxSpace found = decode_address(d, &scratch, o, space);
    if ((scratch.flags & F_FRAME) || (found == SPACE_PARAM && space != SPACE_PARAM))
        decode_bad(d, "address of the wrong state space");
    a.code = scratch.a;
    a.wide = scratch.flags & F_ADDR64;
    a.offset = scratch.imm;
    if (scratch.flags & F_NO_BASE) {
        a.code = decode_const(d, (uint64_t)scratch.imm, true);
        a.wide = true;
        a.offset = 0;
    }
    return a;
}

static PtxSpace take_shared(Decoder *d, uint32_t *flags) {
    if (decode_take(d, MOD_SHARED_CLUSTER)) {
        *flags |= F_CLUSTER;
        return SPACE_SHARED;
    }
    return decode_take(d, MOD_SHARED) || decode_take(d, MOD_SHARED_CTA) ? SPACE_SHARED
                                                                        : SPACE_GENERIC;
}

/* ---- mbarrier ----------------------------------------------------------------------------- */

static void pending_count(Decoder *d) {
    decode_operands(d, 2, 2);
    int32_t a = decode_src(d, decode_operand(d, 1), TY_B64);
    Insn in = decode_begin(d, x_mbarrier, CLASS_BARRIER);
    in.sub = MOD_PENDING_COUNT;
    in.d = decode_dst(d, decode_operand(d, 0), TY_B32);
    in.a = a;
    decode_emit(d, in);
}

/* {test_wait, try_wait} p, [a], state or parity {, hint} */
static void wait_operands(Decoder *d, Insn *in) {
    bool parity = decode_take(d, MOD_PARITY);
    decode_operands(d, 3, in->sub == MOD_TRY_WAIT ? 4 : 3);
    in->d = decode_pred_dst(d, decode_operand(d, 0));
    in->b = decode_src(d, decode_operand(d, 2), parity ? TY_B32 : TY_B64);
    in->sub2 = parity ? MOD_PARITY : MOD_NONE;
    decode_address(d, in, decode_operand(d, 1), (PtxSpace)in->space);
}

/* arrive {state,} [a] {, count or bytes}; a remote one has the sink for a state or none at all */
static void arrive_operands(Decoder *d, Insn *in) {
    static const PtxMod kinds[] = {MOD_EXPECT_TX, MOD_NOCOMPLETE, MOD_NONE};
    uint32_t k = decode_operand(d, 0)->kind != OPND_MEM;
    in->sub2 = (uint8_t)decode_take_one(d, kinds);
    in->d = SINK;
    if (k)
        in->d = decode_dst(d, decode_operand(d, 0), TY_B64);
    if (in->d != SINK && (in->flags & F_CLUSTER))
        decode_bad(d, "an arrival in shared::cluster returns no state");
    if (in->sub2 != MOD_NONE && d->s->operand_count < k + 2)
        decode_bad(d, "operand %u is missing", k + 2);
    if (d->s->operand_count > k + 1) {
        in->b = decode_src(d, decode_operand(d, k + 1), TY_B32);
        in->flags |= F_HAS_COUNT;
    }
    decode_address(d, in, decode_operand(d, k), (PtxSpace)in->space);
}

void dec_mbarrier(Decoder *d) {
    static const PtxMod ops[] = {MOD_TEST_WAIT,   MOD_TRY_WAIT,  MOD_ARRIVE,
                                 MOD_ARRIVE_DROP, MOD_INIT,      MOD_INVAL,
                                 MOD_COMPLETE_TX, MOD_EXPECT_TX, MOD_NONE};
    Insn head = {0};
    d->module->uses_async = true;
    if (decode_type(d, 0) != TY_B64)
        decode_unsupported(d);
    if (decode_take(d, MOD_PENDING_COUNT)) {
        pending_count(d);
        return;
    }
    head.sub = (uint8_t)decode_take_one(d, ops);
    head.space = (uint8_t)take_shared(d, &head.flags);
    head.sem = decode_take(d, MOD_RELAXED) ? SEM_RELAXED : SEM_ACQ_REL;
    decode_take(d, MOD_ACQUIRE);
    decode_take(d, MOD_RELEASE);
    decode_take_one(d, scopes);
    switch ((int)head.sub) {
    case MOD_TEST_WAIT:
    case MOD_TRY_WAIT:
        wait_operands(d, &head);
        break;
    case MOD_ARRIVE:
    case MOD_ARRIVE_DROP:
        arrive_operands(d, &head);
        break;
    case MOD_INVAL:
        decode_operands(d, 1, 1);
        decode_address(d, &head, decode_operand(d, 0), (PtxSpace)head.space);
        break;
    case MOD_NONE:
        decode_unsupported(d);
    default:
        decode_operands(d, 2, 2);
        head.b = decode_src(d, decode_operand(d, 1), TY_B32);
        decode_address(d, &head, decode_operand(d, 0), (PtxSpace)head.space);
    }
    Insn in = decode_begin(d, x_mbarrier, CLASS_BARRIER);
    in.sub = head.sub;
    in.sub2 = head.sub2;
    in.sem = head.sem;
    in.space = head.space;
    in.flags = head.flags | (head.sub == MOD_INIT || head.sub == MOD_INVAL ? 0 : F_STRONG);
    in.d = head.d;
    in.a = head.a;
    in.b = head.b;
    in.imm = head.imm;
    in.size = 8;
    decode_emit(d, in);
}

/* ---- cp.async ----------------------------------------------------------------------------- */

/* The fourth operand: how many bytes, or a predicate to copy none of them. */
static void source_size(Decoder *d, Insn *in, const Operand *o) {
    bool negated = false;
    if (o->kind == OPND_REG && d->source->regs.data[o->reg].type == TY_PRED) {
        in->e = decode_pred(d, o, &negated);
        in->flags |= F_COMBINE | (negated ? F_NEGATED : 0);
    } else {
        in->c = decode_src(d, o, TY_B32);
        in->flags |= F_HAS_COUNT;
    }
}

static void copy_16(Decoder *d) {
    Insn head = {0};
    BulkArgs *args = arena_new_of(d->context->arena, BulkArgs);
    bool hint = decode_take(d, MOD_L2_CACHE_HINT);
    const Operand *size = decode_operand(d, 2);
    decode_take(d, MOD_SHARED);
    decode_take(d, MOD_SHARED_CTA);
    decode_take(d, MOD_GLOBAL);
    decode_hints(d);
    decode_operands(d, 3, 4u + hint);
    if (size->kind != OPND_INT || (size->value != 4 && size->value != 8 && size->value != 16))
        decode_bad(d, "size must be 4, 8 or 16");
    decode_address(d, &head, decode_operand(d, 0), SPACE_SHARED);
    args->from = address(d, decode_operand(d, 1), SPACE_GLOBAL);
    if (!args->from.wide)
        decode_bad(d, "global address in a 32-bit register");
    if (d->s->operand_count - hint == 4)
        source_size(d, &head, decode_operand(d, 3));
    Insn in = decode_begin(d, x_cp_async, CLASS_ASYNC);
    in.a = head.a;
    in.imm = head.imm;
    in.flags = head.flags;
    in.c = head.c;
    in.e = head.e;
    in.bulk = args;
    in.size = (uint8_t)size->value;
    in.vec = 1;
    in.space = SPACE_SHARED;
    decode_emit(d, in);
}

static void group(Decoder *d, GroupKind kind, ExecFn *fn) {
    Insn in = decode_begin(d, fn, CLASS_ASYNC);
    in.sub = (uint8_t)kind;
    in.sub2 = decode_take(d, MOD_READ) ? MOD_READ : MOD_NONE;
    if (fn == x_async_wait && decode_take(d, MOD_WAIT_ALL)) {
        in.flags = F_ABS;
        decode_operands(d, 0, 0);
    } else if (fn == x_async_wait) {
        const Operand *n = decode_operand(d, 0);
        if (n->kind != OPND_INT || n->value < 0)
            decode_bad(d, "number of groups must be a constant");
        in.imm = n->value;
        decode_take(d, MOD_WAIT_GROUP);
    }
    decode_emit(d, in);
}

static bool any_of(const Decoder *d, PtxMod m) {
    return d->mods[m / 64] >> (m % 64) & 1;
}

static void arrive_when_copied(Decoder *d) {
    Insn head = {0};
    decode_take(d, MOD_ARRIVE);
    bool noinc = decode_take(d, MOD_NOINC);
    PtxSpace space = take_shared(d, &head.flags);
    decode_operands(d, 1, 1);
    decode_address(d, &head, decode_operand(d, 0), space);
    Insn in = decode_begin(d, x_cp_async_arrive, CLASS_ASYNC);
    in.a = head.a;
    in.imm = head.imm;
    in.flags = head.flags | F_STRONG;
    in.space = (uint8_t)space;
    in.sub2 = noinc ? MOD_NOINC : MOD_NONE;
    in.size = 8;
    decode_emit(d, in);
}

/* ---- bulk copies -------------------------------------------------------------------------- */

/* Destination and source are the first two spaces written. */
static void directions(Decoder *d, BulkArgs *args, uint32_t *flags) {
    PtxMod space[2] = {MOD_NONE, MOD_NONE};
    uint32_t n = 0;
    for (uint32_t k = 0; k < d->s->order_count && n < 2; k++) {
        PtxMod m = d->s->order[k];
        if (m == MOD_GLOBAL || m == MOD_SHARED_CTA || m == MOD_SHARED_CLUSTER)
            space[n++] = m;
    }
    decode_take(d, MOD_GLOBAL);
    decode_take(d, MOD_SHARED_CTA);
    decode_take(d, MOD_SHARED_CLUSTER);
    if (args->prefetch) {
        args->from_global = true;
        if (n != 1 || space[0] != MOD_GLOBAL)
            decode_unsupported(d);
        return;
    }
    args->to_global = space[0] == MOD_GLOBAL;
    args->from_global = space[1] == MOD_GLOBAL;
    *flags |= space[0] == MOD_SHARED_CLUSTER ? F_CLUSTER : 0;
    if (n != 2 || (args->to_global && args->from_global) || space[1] == MOD_SHARED_CLUSTER)
        decode_unsupported(d);
}

static uint8_t take_rank(Decoder *d) {
    static const PtxMod dims[] = {MOD_DIM_1, MOD_DIM_2, MOD_DIM_3, MOD_DIM_4, MOD_DIM_5};
    for (uint8_t k = 0; k < 5; k++)
        if (decode_take(d, dims[k]))
            return (uint8_t)(k + 1);
    decode_unsupported(d);
}

static BulkAddress tensor_address(Decoder *d, BulkArgs *args, const Operand *o) {
    if (o->kind != OPND_MEM || o->elem_count != 1 || o->elems[0].kind != OPND_VECTOR ||
        o->elems[0].elem_count != args->rank)
        decode_bad(d, "expected [map, {%u coordinates}]", args->rank);
    for (uint32_t k = 0; k < args->rank; k++)
        args->coord[k] = decode_src(d, &o->elems[0].elems[k], TY_B32);
    return address(d, o, SPACE_GENERIC);
}

static uint32_t bulk_operands(Decoder *d, BulkArgs *args) {
    uint32_t k = 0;
    PtxSpace to = args->to_global ? SPACE_GLOBAL : SPACE_SHARED;
    PtxSpace from = args->from_global ? SPACE_GLOBAL : SPACE_SHARED;
    bool tensor = args->rank != 0;
    if (!args->prefetch) {
        const Operand *o = decode_operand(d, k++);
        args->to = tensor && args->to_global ? tensor_address(d, args, o) : address(d, o, to);
    }
    const Operand *o = decode_operand(d, k++);
    args->from = tensor && args->from_global ? tensor_address(d, args, o) : address(d, o, from);
    if (!tensor)
        args->size = decode_src(d, decode_operand(d, k++), TY_B32);
    if (args->has_barrier)
        args->barrier = address(d, decode_operand(d, k++), SPACE_SHARED);
    if (args->multicast)
        args->cta_mask = decode_src(d, decode_operand(d, k++), TY_B16);
    return k;
}

static bool reduction_fits(PtxMod op, PtxType t) {
    char c = ptx_type_class(t);
    if (op == MOD_AND || op == MOD_OR || op == MOD_XOR)
        return c == 'B' && ptx_type_bytes(t) >= 4;
    if (op == MOD_INC || op == MOD_DEC)
        return t == TY_U32;
    if (t == TY_F32 || t == TY_F64)
        return op == MOD_ADD;
    return ((c == 'U' || c == 'S') && ptx_type_bytes(t) >= 4) || t == TY_F16 || t == TY_BF16;
}

static void take_reduction(Decoder *d, const BulkArgs *args, Insn *in) {
    in->sub = (uint8_t)decode_take_one(d, reductions);
    decode_take(d, MOD_NOFTZ);
    if (in->sub == MOD_NONE)
        decode_unsupported(d);
    if (args->rank)
        return; /* the map says the type */
    in->type = (uint8_t)decode_type(d, 0);
    in->size = (uint8_t)ptx_type_bytes((PtxType)in->type);
    in->flags |= ptx_type_class((PtxType)in->type) == 'S' ? F_SIGNED : 0;
    if (d->s->type_count != 1 || !reduction_fits((PtxMod)in->sub, (PtxType)in->type))
        decode_unsupported(d);
}

static void bulk(Decoder *d) {
    BulkArgs *args = arena_new_of(d->context->arena, BulkArgs);
    Insn head = {0};
    bool hint = decode_take(d, MOD_L2_CACHE_HINT), in_group;
    args->prefetch = decode_take(d, MOD_PREFETCH);
    args->reduce = decode_take(d, MOD_REDUCE);
    if (decode_take(d, MOD_TENSOR))
        args->rank = take_rank(d);
    decode_take(d, MOD_TILE);
    decode_take(d, MOD_L2);
    directions(d, args, &head.flags);
    args->has_barrier = decode_take(d, MOD_TO_BYTES);
    in_group = decode_take(d, MOD_BULK_GROUP);
    args->multicast = decode_take(d, MOD_MULTICAST);
    if (!args->prefetch && (args->has_barrier == args->to_global || in_group != args->to_global))
        decode_unsupported(d);
    if (args->reduce)
        take_reduction(d, args, &head);
    uint32_t n = bulk_operands(d, args) + hint;
    decode_operands(d, n, n);
    Insn in = decode_begin(d, x_bulk, CLASS_ASYNC);
    in.bulk = args;
    in.flags = head.flags;
    in.sub = head.sub;
    in.type = head.type;
    in.size = head.size;
    decode_emit(d, in);
}

void dec_cp(Decoder *d) {
    d->module->uses_async = true;
    if (any_of(d, MOD_REDUCE) && !any_of(d, MOD_BULK))
        decode_unsupported(d);
    if (!decode_take(d, MOD_ASYNC))
        decode_unsupported(d);
    GroupKind kind = decode_take(d, MOD_BULK) ? GROUP_BULK : GROUP_COPY;
    if (decode_take(d, MOD_COMMIT_GROUP))
        group(d, kind, x_async_commit);
    else if (any_of(d, MOD_WAIT_GROUP) || any_of(d, MOD_WAIT_ALL))
        group(d, kind, x_async_wait);
    else if (kind == GROUP_BULK)
        bulk(d);
    else if (decode_take(d, MOD_MBARRIER))
        arrive_when_copied(d);
    else
        copy_16(d);
}

/* ---- st.async, red.async ------------------------------------------------------------------ */

/* [a], value, [mbar]: ext holds the value's registers */
static void remote(Decoder *d, Insn *head) {
    BulkArgs *args = arena_new_of(d->context->arena, BulkArgs);
    const Operand *value = decode_operand(d, 1);
    const Operand *each = value->kind == OPND_VECTOR ? value->elems : value;
    uint32_t n = value->kind == OPND_VECTOR ? value->elem_count : 1;
    PtxType type = decode_type(d, 0);
    int32_t *ext = decode_ext(d, 4);
    d->module->uses_async = true;
    decode_take(d, MOD_WEAK);
    decode_take(d, MOD_RELAXED);
    decode_take_one(d, scopes);
    if (!decode_take(d, MOD_TO_BYTES) || d->s->type_count != 1 ||
        !decode_take(d, MOD_SHARED_CLUSTER) || ptx_type_bytes(type) < 4)
        decode_unsupported(d);
    decode_operands(d, 3, 3);
    if (n != head->vec)
        decode_bad(d, "%u registers for a vector of %u", n, head->vec);
    for (uint32_t k = 0; k < n; k++)
        ext[k] = decode_src(d, &each[k], ptx_type_bytes(type) == 8 ? TY_B64 : TY_B32);
    args->to = address(d, decode_operand(d, 0), SPACE_SHARED);
    args->barrier = address(d, decode_operand(d, 2), SPACE_SHARED);
    args->has_barrier = true;
    args->reduce = head->sub != MOD_NONE;
    Insn in = decode_begin(d, x_st_async, CLASS_ASYNC);
    in.bulk = args;
    in.ext = ext;
    in.ext_count = (uint8_t)n;
    in.vec = head->vec;
    in.sub = head->sub;
    in.type = (uint8_t)type;
    in.size = (uint8_t)ptx_type_bytes(type);
    in.flags = F_CLUSTER | (ptx_type_class(type) == 'S' ? F_SIGNED : 0);
    decode_emit(d, in);
}

void dec_st_async(Decoder *d) {
    Insn head = {.vec = 1};
    head.vec = decode_take(d, MOD_V2) ? 2 : decode_take(d, MOD_V4) ? 4 : 1;
    remote(d, &head);
}

void dec_red_async(Decoder *d) {
    Insn head = {.vec = 1};
    head.sub = (uint8_t)decode_take_one(d, reductions);
    PtxType type = decode_type(d, 0);
    bool wide_add = head.sub == MOD_ADD && type == TY_U64;
    if (head.sub == MOD_NONE || !reduction_fits((PtxMod)head.sub, type) ||
        ptx_type_class(type) == 'F' || (ptx_type_bytes(type) != 4 && !wide_add))
        decode_unsupported(d);
    remote(d, &head);
}
