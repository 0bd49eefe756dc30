/* Decoders of loads, stores, atomics, asynchronous copies and cache hints. */
#include "decode.h"
#include <string.h>

static const PtxMod hints[] = {MOD_CA,
                               MOD_CG,
                               MOD_CS,
                               MOD_LU,
                               MOD_CV,
                               MOD_WB,
                               MOD_WT,
                               MOD_NC,
                               MOD_L1_EVICT_NORMAL,
                               MOD_L1_EVICT_UNCHANGED,
                               MOD_L1_EVICT_FIRST,
                               MOD_L1_EVICT_LAST,
                               MOD_L1_NO_ALLOCATE,
                               MOD_L2_EVICT_FIRST,
                               MOD_L2_EVICT_LAST,
                               MOD_L2_EVICT_NORMAL,
                               MOD_L2_64B,
                               MOD_L2_128B,
                               MOD_L2_256B,
                               MOD_NONE};

void decode_hints(Decoder *d) {
    while (decode_take_one(d, hints) != MOD_NONE) {
    }
}

Scope decode_scope(Decoder *d) {
    static const PtxMod scopes[] = {MOD_CTA, MOD_CLUSTER, MOD_GPU, MOD_SYS, MOD_GL, MOD_NONE};
    switch ((int)decode_take_one(d, scopes)) {
    case MOD_NONE:
        return SCOPE_NONE;
    case MOD_CTA:
        return SCOPE_CTA;
    case MOD_CLUSTER:
        return SCOPE_CLUSTER;
    default:
        return SCOPE_GPU;
    }
}

/* Memory semantics and scope; atomics are strong without any. */
static void take_semantics(Decoder *d, Insn *in) {
    static const struct {
        PtxMod mod;
        Semantics sem;
    } table[] = {{MOD_VOLATILE, SEM_RELAXED}, {MOD_RELAXED, SEM_RELAXED},
                 {MOD_MMIO, SEM_RELAXED},     {MOD_ACQUIRE, SEM_ACQUIRE},
                 {MOD_RELEASE, SEM_RELEASE},  {MOD_ACQ_REL, SEM_ACQ_REL}};
    decode_take(d, MOD_WEAK);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (decode_take(d, table[i].mod)) {
            in->sem = (uint8_t)table[i].sem;
            in->flags |= F_STRONG;
        }
    in->scope = (uint8_t)decode_scope(d);
}

static PtxSpace take_space(Decoder *d, Insn *in) {
    if (decode_take(d, MOD_GLOBAL))
        return SPACE_GLOBAL;
    if (decode_take(d, MOD_SHARED) || decode_take(d, MOD_SHARED_CTA))
        return SPACE_SHARED;
    if (decode_take(d, MOD_SHARED_CLUSTER)) {
        in->flags |= F_CLUSTER;
        return SPACE_SHARED;
    }
    if (decode_take(d, MOD_LOCAL))
        return SPACE_LOCAL;
    if (decode_take(d, MOD_CONST))
        return SPACE_CONST;
    if (decode_take(d, MOD_PARAM) || decode_take(d, MOD_PARAM_ENTRY) ||
        decode_take(d, MOD_PARAM_FUNC))
        return SPACE_PARAM;
    return SPACE_GENERIC;
}

static uint8_t take_vector(Decoder *d) {
    return decode_take(d, MOD_V2) ? 2 : decode_take(d, MOD_V4) ? 4 : decode_take(d, MOD_V8) ? 8 : 1;
}

/* A .param access through a register, or without a parameter's name, goes where the address says:
 * for kernels to the parameters' host memory, for functions to local memory. */
static void settle_space(Decoder *d, Insn *in, PtxSpace declared) {
    in->space = (uint8_t)declared;
    if (declared != SPACE_PARAM)
        return;
    in->space = d->source->is_entry ? SPACE_GLOBAL : SPACE_LOCAL;
    if (d->source->is_entry)
        in->imm -= (int64_t)PARAM_WINDOW;
}

/* The registers of a vector access all have one width; 128-bit ones count as two. */
static void registers(Decoder *d, Insn *in, const Operand *o, bool store) {
    const Operand *each = o->kind == OPND_VECTOR ? o->elems : o;
    uint32_t n = o->kind == OPND_VECTOR ? o->elem_count : 1, want = in->size == 8 ? 8 : 4, bytes;
    int32_t *ext = decode_ext(d, n * 2);
    bool wide = false, known = false;
    if (n != in->vec)
        decode_bad(d, "%u registers for a vector of %u", n, in->vec);
    for (uint32_t k = 0; k < n; k++) { /* width first: constants take it */
        if (each[k].kind != OPND_REG)
            continue;
        wide = decode_reg_bytes(d, &each[k]) == 8;
        known = true;
    }
    if (known)
        want = wide ? 8 : 4;
    for (uint32_t k = 0; k < n; k++) {
        ext[k] = decode_any(d, &each[k], want, &bytes);
        if (bytes != want || (!store && each[k].kind != OPND_REG && each[k].kind != OPND_SINK))
            decode_bad(d, "registers of different widths");
    }
    if (want < in->size)
        decode_bad(d, "register is narrower than its type");
    in->ext = ext;
    in->ext_count = (uint8_t)n;
    in->flags |= want == 8 ? F_WIDE64 : 0;
}

static void registers_128(Decoder *d, Insn *in, const Operand *o) {
    const Operand *each = o->kind == OPND_VECTOR ? o->elems : o;
    uint32_t n = o->kind == OPND_VECTOR ? o->elem_count : 1;
    int32_t *ext = decode_ext(d, n * 2);
    if (n != in->vec)
        decode_bad(d, "%u registers for a vector of %u", n, in->vec);
    for (uint32_t k = 0; k < n; k++) {
        ext[2 * k] = decode_src(d, &each[k], TY_B128);
        ext[2 * k + 1] = ext[2 * k] + 256;
    }
    in->ext = ext;
    in->ext_count = (uint8_t)(2 * n);
    in->size = 8;
    in->vec = (uint8_t)(2 * n);
    in->flags |= F_WIDE64;
}

static void load_store(Decoder *d, bool store) {
    PtxType type = decode_type(d, 0);
    Insn head = {0};
    const Operand *value = decode_operand(d, store ? 1 : 0);
    const Operand *where = decode_operand(d, store ? 0 : 1);
    bool hint = decode_take(d, MOD_L2_CACHE_HINT);
    if (d->s->type_count != 1 || type == TY_PRED)
        decode_unsupported(d);
    decode_operands(d, 2 + hint, 2 + hint);
    take_semantics(d, &head);
    decode_hints(d);
    PtxSpace space = take_space(d, &head);
    head.vec = take_vector(d);
    head.size = (uint8_t)ptx_type_bytes(type);
    if (type == TY_B128)
        registers_128(d, &head, value);
    else
        registers(d, &head, value, store);
    space = decode_address(d, &head, where, space);
    Insn in = decode_begin(d, store ? x_st : x_ld, store ? CLASS_STORE : CLASS_LOAD);
    in.vec = head.vec;
    in.size = head.size;
    in.flags = head.flags | (ptx_type_class(type) == 'S' ? F_SIGNED : 0);
    in.sem = head.sem;
    in.scope = head.scope;
    in.a = head.a;
    in.imm = head.imm;
    in.ext = head.ext;
    in.ext_count = head.ext_count;
    in.type = (uint8_t)type;
    if (space == SPACE_PARAM && (head.flags & F_NO_BASE)) {
        if (store)
            decode_bad(d, "store to a kernel parameter");
        in.fn = x_ld_param;
        if (in.imm < 0 || (uint64_t)in.imm + (uint64_t)in.size * in.vec > d->fn->param_bytes)
            decode_bad(d, "past the end of the parameters");
        in.space = SPACE_PARAM;
    } else {
        settle_space(d, &in, space);
    }
    decode_emit(d, in);
}

void dec_ld(Decoder *d) {
    load_store(d, false);
}

void dec_st(Decoder *d) {
    if (decode_take(d, MOD_ASYNC))
        dec_st_async(d);
    else
        load_store(d, true);
}

/* ---- atomics ------------------------------------------------------------------------------ */

static bool atomic_type_fits(PtxMod op, PtxType t) {
    char c = ptx_type_class(t);
    uint32_t bytes = ptx_type_bytes(t);
    switch ((int)op) {
    case MOD_ADD:
        return (c == 'U' || c == 'S' || c == 'F' || c == 'V') && bytes >= 2 && t != TY_F32X2;
    case MOD_MIN:
    case MOD_MAX:
        return ((c == 'U' || c == 'S') && bytes >= 4) || t == TY_F16 || t == TY_BF16 ||
               t == TY_F16X2 || t == TY_BF16X2;
    case MOD_INC:
    case MOD_DEC:
        return t == TY_U32;
    case MOD_CAS:
        return c == 'B' && bytes >= 2;
    case MOD_EXCH:
        return c == 'B' && bytes >= 4;
    default:
        return c == 'B' && bytes >= 4 && bytes <= 8;
    }
}

static PtxType storage(PtxType t) {
    return t == TY_B128 ? t : ptx_type_bytes(t) == 8 ? TY_B64 : TY_B32;
}

static void vector_or_scalar(Decoder *d, int32_t *ext, const Operand *o, uint32_t n, PtxType t,
                             bool store) {
    const Operand *each = o->kind == OPND_VECTOR ? o->elems : o;
    if ((o->kind == OPND_VECTOR ? o->elem_count : 1) != n)
        decode_bad(d, "vector of the wrong length");
    for (uint32_t k = 0; k < n; k++)
        ext[k] = store ? decode_dst(d, &each[k], t) : decode_src(d, &each[k], t);
}

/* atom d, [a], b {, c}; red [a], b */
static void atomic(Decoder *d, bool returns) {
    static const PtxMod ops[] = {MOD_CAS, MOD_EXCH, MOD_ADD, MOD_MIN, MOD_MAX, MOD_INC,
                                 MOD_DEC, MOD_AND,  MOD_OR,  MOD_XOR, MOD_NONE};
    PtxType type = decode_type(d, 0);
    Insn head = {0};
    PtxMod op = decode_take_one(d, ops);
    uint32_t first = returns ? 1 : 0;
    bool hint = decode_take(d, MOD_L2_CACHE_HINT), cas = op == MOD_CAS;
    take_semantics(d, &head);
    decode_take(d, MOD_NOFTZ);
    PtxSpace space = take_space(d, &head);
    head.vec = take_vector(d);
    if (op == MOD_NONE || d->s->type_count != 1 || !atomic_type_fits(op, type))
        decode_unsupported(d);
    decode_operands(d, first + 2 + cas + hint, first + 2 + cas + hint);
    int32_t *ext = decode_ext(d, 2u * head.vec), c = 0;
    if (returns)
        vector_or_scalar(d, ext, decode_operand(d, 0), head.vec, storage(type), true);
    vector_or_scalar(d, ext + head.vec, decode_operand(d, first + 1), head.vec, storage(type),
                     false);
    if (cas)
        c = decode_src(d, decode_operand(d, first + 2), storage(type));
    space = decode_address(d, &head, decode_operand(d, first), space);
    Insn in = decode_begin(d, x_atom, CLASS_ATOMIC);
    in.type = (uint8_t)type;
    in.size = (uint8_t)ptx_type_bytes(type);
    in.vec = head.vec;
    in.sem = head.sem;
    in.scope = head.scope;
    in.sub = (uint8_t)op;
    in.a = head.a;
    in.c = c;
    in.imm = head.imm;
    in.flags = head.flags | F_STRONG | (ptx_type_class(type) == 'S' ? F_SIGNED : 0);
    in.ext = ext;
    settle_space(d, &in, space);
    decode_emit(d, in);
}

void dec_atom(Decoder *d) {
    atomic(d, true);
}

void dec_red(Decoder *d) {
    if (decode_take(d, MOD_ASYNC))
        dec_red_async(d);
    else
        atomic(d, false);
}

/* ---- hints -------------------------------------------------------------------------------- */

void dec_prefetch(Decoder *d) {
    Insn scratch = {0};
    decode_operands(d, 1, 1);
    take_space(d, &scratch);
    decode_hints(d);
    decode_take(d, MOD_L1);
    decode_take(d, MOD_L2);
    decode_take(d, MOD_TENSORMAP);
    decode_emit(d, decode_begin(d, x_prefetch, CLASS_OTHER));
}

void dec_discard(Decoder *d) {
    decode_take(d, MOD_GLOBAL);
    decode_take(d, MOD_L2);
    decode_hints(d);
    decode_emit(d, decode_begin(d, x_prefetch, CLASS_OTHER));
}

void dec_createpolicy(Decoder *d) {
    decode_take(d, MOD_FRACTIONAL);
    decode_take(d, MOD_RANGE);
    decode_take(d, MOD_GLOBAL);
    decode_take(d, MOD_CVT);
    decode_take(d, MOD_L2);
    decode_take(d, MOD_L2_EVICT_UNCHANGED);
    decode_hints(d);
    Insn in = decode_begin(d, x_createpolicy, CLASS_OTHER);
    in.d = decode_dst(d, decode_operand(d, 0), TY_B64);
    decode_emit(d, in);
}
