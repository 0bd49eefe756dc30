/* Loads and stores through pointers, global and shared.
 *
 * An access covers `vector` consecutive registers, whose elements are neighbours in memory under
 * one mask (the coalesce pass proved both). Without mask and qualifiers it is LLVM's own load or
 * store; else one predicated PTX instruction, so that masked-off lanes touch no memory, several
 * loads can be in flight, and no branch is needed. Of threads that hold copies of a tile only the
 * owner stores; a scalar is stored by one thread of the group. */
#include "codegen/cg_impl.h"

typedef struct Access {
    IrOp op;
    bool is_store;
    unsigned space;
    LLVMTypeRef elem;   /* as held in registers */
    LLVMTypeRef stored; /* as held in memory: i8 for i1 */
    unsigned elem_bits, vector;
    unsigned word_bits, words; /* how the access is cut into PTX registers */
} Access;

static void cut_words(Access *a) {
    unsigned bits = a->elem_bits * a->vector;

    a->word_bits = a->elem_bits >= 32 ? a->elem_bits : bits < 32 ? bits : 32;
    a->words = bits / a->word_bits;
}

static Access access_of(Cg *c, IrOp op, IrType value, uint32_t regs) {
    const IrTypeData *p =
        ir_type(c->m, ir_elem_type(c->m, ir_value_type(c->m, ir_operand(c->m, op, 0))));
    Access a = {.op = op, .space = p->space, .elem = cg_type(c, value)};

    a.is_store = ir_kind(c->m, op) == IR_OP_STORE;
    a.stored = a.elem == c->i1 ? c->i8 : a.elem;
    a.elem_bits = cg_bits(c, a.stored);
    a.vector = (unsigned)ir_int(c->m, op, IR_KEY_VECTOR, 1);
    if (!a.vector || regs % a.vector)
        a.vector = 1;
    while (a.vector > 1 && a.vector * a.elem_bits > c->target->max_vector * 8)
        a.vector /= 2;
    cut_words(&a);
    return a;
}

/* --- elements <-> words --- */

static V to_memory(Cg *c, const Access *a, V x) {
    return a->elem == c->i1 ? LLVMBuildZExt(c->b, x, c->i8, "") : x;
}

static V from_memory(Cg *c, const Access *a, V x) {
    if (a->elem != c->i1)
        return x;
    return LLVMBuildICmp(c->b, LLVMIntNE, x, LLVMConstNull(c->i8), "");
}

/* Word `w` of the access, made of elements x[0 .. vector). */
static V pack_word(Cg *c, const Access *a, const V *x, unsigned w) {
    unsigned n = a->word_bits / a->elem_bits;
    LLVMTypeRef elem = cg_int_type(c, a->elem_bits);

    if (n == 1)
        return cg_to_int(c, to_memory(c, a, x[w]));
    V vector = LLVMGetPoison(LLVMVectorType(elem, n));
    for (unsigned i = 0; i < n; i++) {
        V e = cg_to_int(c, to_memory(c, a, x[w * n + i]));

        vector = LLVMBuildInsertElement(c->b, vector, e, cg_i32(c, i), "");
    }
    return LLVMBuildBitCast(c->b, vector, cg_int_type(c, a->word_bits), "");
}

static void unpack_word(Cg *c, const Access *a, V word, unsigned w, V *x) {
    unsigned n = a->word_bits / a->elem_bits;
    LLVMTypeRef elem = cg_int_type(c, a->elem_bits);

    if (n == 1) {
        x[w] = from_memory(c, a, cg_from_int(c, word, a->stored));
        return;
    }
    V vector = LLVMBuildBitCast(c->b, word, LLVMVectorType(elem, n), "");
    for (unsigned i = 0; i < n; i++) {
        V e = LLVMBuildExtractElement(c->b, vector, cg_i32(c, i), "");

        x[w * n + i] = from_memory(c, a, cg_from_int(c, e, a->stored));
    }
}

/* --- PTX text --- */

static const char *cache_text(int64_t cache, bool is_store) {
    switch (cache) {
    case IR_CACHE_CA:
        return is_store ? "" : ".ca";
    case IR_CACHE_CG:
        return ".cg";
    case IR_CACHE_CS:
        return ".cs";
    case IR_CACHE_CV:
        return is_store ? "" : ".cv";
    case IR_CACHE_WB:
        return is_store ? ".wb" : "";
    case IR_CACHE_WT:
        return is_store ? ".wt" : "";
    default:
        return "";
    }
}

/* An eviction priority replaces the cache operator: PTX allows one of them. */
static const char *qualifiers(Cg *c, const Access *a) {
    int64_t evict = ir_int(c->m, a->op, IR_KEY_EVICT, IR_EVICT_NORMAL);

    if (a->space != IR_SPACE_GLOBAL)
        return "";
    switch (evict) {
    case IR_EVICT_FIRST:
        return ".L1::evict_first";
    case IR_EVICT_LAST:
        return ".L1::evict_last";
    case IR_EVICT_NO_ALLOCATE:
        return ".L1::no_allocate";
    default:
        break;
    }
    return cache_text(ir_int(c->m, a->op, IR_KEY_CACHE, IR_CACHE_NONE), a->is_store);
}

static bool is_volatile(Cg *c, const Access *a) {
    return ir_int(c->m, a->op, IR_KEY_VOLATILE, 0) != 0;
}

static const char *space_text(const Access *a) {
    return a->space == IR_SPACE_GLOBAL   ? ".global"
           : a->space == IR_SPACE_SHARED ? ".shared"
                                         : ".shared::cluster";
}

static char word_constraint(const Access *a) {
    return a->word_bits == 64 ? 'l' : a->word_bits == 32 ? 'r' : 'h';
}

static const char *pointer_constraint(const Access *a) {
    return a->space == IR_SPACE_GLOBAL ? "l" : "r";
}

/* "@$P ld.global.v4.b32 {$0,$1,$2,$3}, [$A];" with operands numbered from `first_word`. */
static const char *instruction(Cg *c, const Access *a, unsigned first_word, unsigned pointer,
                               int predicate) {
    StrBuf t;

    strbuf_init(&t, c->arena);
    if (predicate >= 0)
        strbuf_addf(&t, "@$%d ", predicate);
    strbuf_addf(&t, "%s%s%s%s", a->is_store ? "st" : "ld", is_volatile(c, a) ? ".volatile" : "",
                space_text(a), is_volatile(c, a) ? "" : qualifiers(c, a));
    if (a->words > 1)
        strbuf_addf(&t, ".v%u", a->words);
    strbuf_addf(&t, ".b%u ", a->word_bits);
    if (a->is_store)
        strbuf_addf(&t, "[$%u], ", pointer);
    strbuf_addz(&t, a->words > 1 ? "{" : "");
    for (unsigned i = 0; i < a->words; i++)
        strbuf_addf(&t, "%s$%u", i ? "," : "", first_word + i);
    strbuf_addz(&t, a->words > 1 ? "}" : "");
    if (!a->is_store)
        strbuf_addf(&t, ", [$%u]", pointer);
    strbuf_addc(&t, ';');
    return t.text;
}

static bool needs_ptx(Cg *c, const Access *a, V mask) {
    return !cg_is_true(mask) || qualifiers(c, a)[0] || is_volatile(c, a);
}

/* --- load --- */

/* LLVM has 8-bit integers, PTX registers have 16 bits at least. */
static LLVMTypeRef asm_word(Cg *c, const Access *a) {
    return cg_int_type(c, a->word_bits < 16 ? 16 : a->word_bits);
}

static V widen(Cg *c, const Access *a, V word) {
    return a->word_bits < 16 ? LLVMBuildZExt(c->b, word, c->i16, "") : word;
}

static V narrow(Cg *c, const Access *a, V word) {
    return a->word_bits < 16 ? LLVMBuildTrunc(c->b, word, c->i8, "") : word;
}

static void plain_load(Cg *c, const Access *a, V ptr, V *out) {
    LLVMTypeRef word = cg_int_type(c, a->word_bits);
    unsigned n = a->words, align = a->vector * a->elem_bits / 8;
    V x = cg_load_at(c, n > 1 ? LLVMVectorType(word, n) : word, ptr, align);

    for (unsigned w = 0; w < n; w++)
        unpack_word(c, a, n > 1 ? LLVMBuildExtractElement(c->b, x, cg_i32(c, w), "") : x, w, out);
}

/* Results are tied to inputs that hold `other`: a masked-off load leaves them as they are. */
static void predicated_load(Cg *c, const Access *a, V ptr, V mask, const V *other, V *out) {
    unsigned n = a->words;
    V args[2 + CG_MAX_WORDS] = {ptr, mask};
    LLVMTypeRef types[CG_MAX_WORDS];
    StrBuf constraints;
    bool always = cg_is_true(mask);

    strbuf_init(&constraints, c->arena);
    for (unsigned i = 0; i < n; i++) {
        types[i] = asm_word(c, a);
        strbuf_addf(&constraints, "=%c,", word_constraint(a));
    }
    strbuf_addz(&constraints, pointer_constraint(a));
    strbuf_addz(&constraints, always ? "" : ",b");
    for (unsigned i = 0; i < n && !always; i++) {
        args[2 + i] = other ? widen(c, a, pack_word(c, a, other, i)) : LLVMConstNull(types[i]);
        strbuf_addf(&constraints, ",%u", i);
    }
    LLVMTypeRef type = n == 1 ? types[0] : LLVMStructTypeInContext(c->ctx, types, n, 0);
    const char *text = instruction(c, a, 0, n, always ? -1 : (int)n + 1);
    unsigned n_args = always ? 1 : 2 + n;
    V x = is_volatile(c, a) ? cg_asm(c, text, constraints.text, type, args, n_args, true)
                            : cg_asm_read(c, text, constraints.text, type, args, n_args);
    for (unsigned i = 0; i < n; i++)
        unpack_word(c, a, narrow(c, a, n == 1 ? x : LLVMBuildExtractValue(c->b, x, i, "")), i, out);
}

static V mask_at(Cg *c, CgRegs mask, uint32_t reg) {
    if (!mask.len)
        return LLVMConstInt(c->i1, 1, 0);
    return mask.at[mask.len == 1 ? 0 : reg];
}

static bool is_false(V x) {
    return LLVMIsAConstantInt(x) && LLVMConstIntGetZExtValue(x) == 0;
}

static void load_vector(Cg *c, const Access *a, V ptr, V mask, const V *other, V *out) {
    if (is_false(mask))
        for (unsigned i = 0; i < a->vector; i++)
            out[i] = other ? other[i] : LLVMConstNull(a->elem);
    else if (needs_ptx(c, a, mask) || (a->words > 1 && cg_uses(c, CG_WHOLE_VECTORS)))
        predicated_load(c, a, ptr, mask, other, out);
    else
        plain_load(c, a, ptr, out);
}

void cg_load(Cg *c, IrOp op) {
    IrValue result = ir_result(c->m, op, 0);
    IrType t = ir_value_type(c->m, result);
    CgRegs out = cg_new_regs_for(c, t), ptr = cg_operand(c, op, 0), none = {NULL, 0};
    uint32_t n = ir_operand_count(c->m, op);
    CgRegs mask = n > 1 ? cg_operand(c, op, 1) : none, other = n > 2 ? cg_operand(c, op, 2) : none;
    Access a = access_of(c, op, t, out.len);

    for (uint32_t r = 0; r < out.len; r += a.vector)
        load_vector(c, &a, ptr.at[r], mask_at(c, mask, r), other.len ? &other.at[r] : NULL,
                    &out.at[r]);
    cg_set(c, result, out);
}

/* --- store --- */

static void plain_store(Cg *c, const Access *a, V ptr, const V *x) {
    LLVMTypeRef word = cg_int_type(c, a->word_bits);
    V all = a->words == 1 ? NULL : LLVMGetPoison(LLVMVectorType(word, a->words));

    for (unsigned w = 0; w < a->words; w++) {
        V e = pack_word(c, a, x, w);

        all = a->words == 1 ? e : LLVMBuildInsertElement(c->b, all, e, cg_i32(c, w), "");
    }
    cg_store_at(c, all, ptr, a->vector * a->elem_bits / 8);
}

static void predicated_store(Cg *c, const Access *a, V ptr, V mask, const V *x) {
    unsigned n = a->words;
    V args[2 + CG_MAX_WORDS];
    StrBuf constraints;
    bool always = cg_is_true(mask);

    strbuf_init(&constraints, c->arena);
    for (unsigned i = 0; i < n; i++) {
        args[i] = widen(c, a, pack_word(c, a, x, i));
        strbuf_addf(&constraints, "%c,", word_constraint(a));
    }
    args[n] = ptr;
    args[n + 1] = mask;
    strbuf_addf(&constraints, "%s%s", pointer_constraint(a), always ? "" : ",b");
    cg_asm(c, instruction(c, a, 0, n, always ? -1 : (int)n + 1), constraints.text, c->none, args,
           n + (always ? 1u : 2u), true);
}

static V both(Cg *c, V x, V y) {
    return cg_is_true(x) ? y : cg_is_true(y) ? x : LLVMBuildAnd(c->b, x, y, "");
}

void cg_store(Cg *c, IrOp op) {
    IrType t = ir_value_type(c->m, ir_operand(c->m, op, 1));
    CgRegs ptr = cg_operand(c, op, 0), x = cg_operand(c, op, 1), mask = {NULL, 0};
    const Layout *l = cg_layout(c, t);
    Access a = access_of(c, op, t, x.len);
    V owner = cg_owner(c, ir_type(c->m, t)->layout, op);

    if (ir_operand_count(c->m, op) > 2)
        mask = cg_operand(c, op, 2);
    for (uint32_t r = 0; r < x.len; r += a.vector) {
        V on = both(c, mask_at(c, mask, r), owner);

        if (is_false(on) || (l && !cg_owns_reg(l, r)))
            continue;
        if (needs_ptx(c, &a, on))
            predicated_store(c, &a, ptr.at[r], on, &x.at[r]);
        else
            plain_store(c, &a, ptr.at[r], &x.at[r]);
    }
}

/* --- asynchronous store --- */

/* "@$P st.async....v4.b32 [$A], {$0,$1,$2,$3}, [$B];" */
static void async_store(Cg *c, const Access *a, V ptr, V barrier, V on, const V *x) {
    unsigned n = a->words;
    bool always = cg_is_true(on);
    V args[3 + CG_MAX_WORDS];
    StrBuf text, constraints;

    strbuf_init(&text, c->arena);
    strbuf_init(&constraints, c->arena);
    if (!always)
        strbuf_addf(&text, "@$%u ", n + 2);
    strbuf_addz(&text, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes");
    if (n > 1)
        strbuf_addf(&text, ".v%u", n);
    strbuf_addf(&text, ".b%u [$%u], %s", a->word_bits, n, n > 1 ? "{" : "");
    for (unsigned i = 0; i < n; i++) {
        args[i] = pack_word(c, a, x, i);
        strbuf_addf(&text, "%s$%u", i ? "," : "", i);
        strbuf_addf(&constraints, "%c,", word_constraint(a));
    }
    strbuf_addf(&text, "%s, [$%u];", n > 1 ? "}" : "", n + 1);
    strbuf_addf(&constraints, "r,r%s", always ? "" : ",b");
    args[n] = ptr;
    args[n + 1] = barrier;
    args[n + 2] = on;
    cg_asm(c, text.text, constraints.text, c->none, args, n + (always ? 2u : 3u), true);
}

void cg_store_async(Cg *c, IrOp op) {
    IrType t = ir_value_type(c->m, ir_operand(c->m, op, 1));
    CgRegs ptr = cg_operand(c, op, 0), x = cg_operand(c, op, 1), barrier = cg_operand(c, op, 2);
    CgRegs mask = {NULL, 0};
    const Layout *l = cg_layout(c, t);
    Access a = access_of(c, op, t, x.len);
    V owner = cg_owner(c, ir_type(c->m, t)->layout, op);

    if (ir_operand_count(c->m, op) > 3)
        mask = cg_operand(c, op, 3);
    for (uint32_t r = 0; r < x.len; r += a.vector) {
        V on = both(c, mask_at(c, mask, r), owner);

        if (!is_false(on) && (!l || cg_owns_reg(l, r)))
            async_store(c, &a, ptr.at[r], barrier.at[r], on, &x.at[r]);
    }
}
