/* Decoders of matrix instructions: wgmma, mma, wmma, ldmatrix, stmatrix, movmatrix. Shapes and
 * types outside the tables are not supported; sparse, one-bit and block-scaled forms are not. */
#include "decode.h"
#include "matrix.h"

static void need_sync_aligned(Decoder *d) {
    if (!decode_take(d, MOD_SYNC) || !decode_take(d, MOD_ALIGNED))
        decode_unsupported(d);
}

static const Operand *list_of(const Operand *o, uint32_t *count) {
    *count = o->kind == OPND_VECTOR ? o->elem_count : 1;
    return o->kind == OPND_VECTOR ? o->elems : o;
}

/* Registers of an operand list behind those already in `ext`. */
static uint8_t add_registers(Decoder *d, int32_t *ext, uint32_t *at, const Operand *o, PtxType type,
                             uint32_t want, bool store) {
    uint32_t n;
    const Operand *each = list_of(o, &n);
    if (n != want)
        decode_bad(d, "%u registers, expected %u", n, want);
    for (uint32_t k = 0; k < n; k++)
        ext[(*at)++] = store ? decode_dst(d, &each[k], type) : decode_src(d, &each[k], type);
    return (uint8_t)n;
}

static int64_t immediate(Decoder *d, uint32_t k, int64_t low, int64_t high) {
    const Operand *o = decode_operand(d, k);
    if (o->kind != OPND_INT || o->value < low || o->value > high)
        decode_bad(d, "operand %u must be an immediate from %lld to %lld", k + 1, (long long)low,
                   (long long)high);
    return o->value;
}

/* ---- wgmma -------------------------------------------------------------------------------- */

static bool wgmma_types(PtxType d, PtxType a, PtxType b, uint32_t k) {
    uint32_t bits = matrix_bits(a);
    if (bits * k != 256)
        return false;
    switch ((int)a) {
    case TY_F16:
        return b == a && (d == TY_F32 || d == TY_F16);
    case TY_BF16:
    case TY_TF32:
        return b == a && d == TY_F32;
    case TY_E4M3:
    case TY_E5M2:
        return matrix_is_fp8(b) && (d == TY_F32 || d == TY_F16);
    case TY_S8:
    case TY_U8:
        return (b == TY_S8 || b == TY_U8) && d == TY_S32;
    default:
        return false;
    }
}

static bool wgmma_columns(uint32_t n, PtxType a) {
    if (n < 8 || n > 256 || n % 8)
        return false;
    return !matrix_is_int(a) || n <= 32 || n % 16 == 0;
}

/* imm-scale-a, imm-scale-b {, imm-trans-a}, imm-trans-b after the predicate */
static uint8_t wgmma_modifiers(Decoder *d, uint32_t at, PtxType a, bool registers) {
    uint32_t sub = 0, transposes = a == TY_F16 || a == TY_BF16 ? (registers ? 1 : 2) : 0;
    if (matrix_is_int(a)) {
        decode_operands(d, at, at);
        return 0;
    }
    decode_operands(d, at + 2 + transposes, at + 2 + transposes);
    for (uint32_t k = 0; k < 2; k++) {
        int64_t v = immediate(d, at + k, -1, 1);
        if (v == 0)
            decode_bad(d, "scale must be 1 or -1");
        sub |= v < 0 ? (uint32_t)MATRIX_NEGATE_A << k : 0u;
    }
    for (uint32_t k = 0; k < transposes; k++) {
        bool of_a = transposes == 2 && k == 0;
        if (immediate(d, at + 2 + k, 0, 1))
            sub |= of_a ? MATRIX_TRANS_A : MATRIX_TRANS_B;
    }
    return (uint8_t)sub;
}

static void wgmma_multiply(Decoder *d) {
    PtxType to = decode_type(d, 0), a = decode_type(d, 1), b = decode_type(d, 2);
    const uint16_t *shape = d->s->shape;
    const Operand *oa = decode_operand(d, 1);
    bool registers = oa->kind == OPND_VECTOR, negated = false;
    uint32_t n = shape[1], at = 0;
    if (d->s->type_count != 3 || shape[0] != 64 || !wgmma_types(to, a, b, shape[2]) ||
        !wgmma_columns(n, a))
        decode_unsupported(d);
    Insn in = decode_begin(d, x_wgmma, CLASS_MATRIX);
    int32_t *ext = decode_ext(d, 136);
    in.flags = decode_take(d, MOD_SATFINITE) ? F_SAT : 0;
    if (in.flags && to != TY_S32)
        decode_unsupported(d);
    in.size = add_registers(d, ext, &at, decode_operand(d, 0), TY_B32, to == TY_F16 ? n / 4 : n / 2,
                            true);
    if (registers)
        in.vec = add_registers(d, ext, &at, oa, TY_B32, 4, false);
    else
        in.a = decode_src(d, oa, TY_B64);
    in.b = decode_src(d, decode_operand(d, 2), TY_B64);
    in.c = decode_pred(d, decode_operand(d, 3), &negated);
    in.flags |= negated ? F_NEGATED : 0;
    in.sub = wgmma_modifiers(d, 4, a, registers) | (registers ? MATRIX_REGISTER_A : 0);
    in.type = (uint8_t)to;
    in.type2 = (uint8_t)a;
    in.sub2 = (uint8_t)b;
    in.imm = matrix_shape(64, n, shape[2]);
    in.ext = ext;
    in.ext_count = (uint8_t)at;
    d->module->uses_async = true;
    decode_emit(d, in);
}

void dec_wgmma(Decoder *d) {
    need_sync_aligned(d);
    if (decode_take(d, MOD_MMA_ASYNC)) {
        wgmma_multiply(d);
        return;
    }
    bool fence = decode_take(d, MOD_FENCE), commit = decode_take(d, MOD_COMMIT_GROUP);
    if (!fence && !commit && !decode_take(d, MOD_WAIT_GROUP))
        decode_unsupported(d);
    Insn in = decode_begin(d,
                           fence    ? x_wgmma_fence
                           : commit ? x_wgmma_commit
                                    : x_wgmma_wait,
                           CLASS_MATRIX);
    decode_operands(d, !fence && !commit, !fence && !commit);
    if (!fence && !commit)
        in.imm = immediate(d, 0, 0, 7);
    decode_emit(d, in);
}

/* ---- mma.sync ----------------------------------------------------------------------------- */

typedef struct MmaForm {
    uint8_t m, n, k;
    uint8_t a, b, d; /* types; those of B are of A's family */
} MmaForm;

static const MmaForm mma_forms[] = {
#define M(m, n, k, a, d) {m, n, k, TY_##a, TY_##a, TY_##d},
    M(16, 8, 8, F16, F32) M(16, 8, 8, F16, F16) M(16, 8, 16, F16, F32) M(16, 8, 16, F16, F16)
        M(16, 8, 8, BF16, F32) M(16, 8, 16, BF16, F32) M(16, 8, 4, TF32, F32) M(16, 8, 8, TF32, F32)
            M(8, 8, 4, F64, F64) M(16, 8, 4, F64, F64) M(16, 8, 8, F64, F64) M(16, 8, 16, F64, F64)
                M(16, 8, 16, E4M3, F32) M(16, 8, 16, E4M3, F16) M(16, 8, 16, E5M2, F32)
                    M(16, 8, 16, E5M2, F16) M(16, 8, 32, E4M3, F16) M(16, 8, 32, E5M2, F16)
                        M(16, 8, 32, E4M3, F32) M(16, 8, 32, E5M2, F32) M(8, 8, 16, S8, S32)
                            M(16, 8, 16, S8, S32) M(16, 8, 32, S8, S32) M(8, 8, 16, U8, S32)
                                M(16, 8, 16, U8, S32) M(16, 8, 32, U8, S32) M(8, 8, 32, S4, S32)
                                    M(16, 8, 32, S4, S32) M(16, 8, 64, S4, S32) M(8, 8, 32, U4, S32)
                                        M(16, 8, 32, U4, S32) M(16, 8, 64, U4, S32)
#undef M
};

static bool same_family(PtxType a, PtxType b) {
    return a == b || (matrix_is_fp8(a) && matrix_is_fp8(b)) ||
           (matrix_is_int(a) && matrix_is_int(b) && matrix_bits(a) == matrix_bits(b));
}

static bool mma_supported(const uint16_t *shape, PtxType d, PtxType a, PtxType b) {
    for (size_t i = 0; i < sizeof mma_forms / sizeof *mma_forms; i++) {
        const MmaForm *f = &mma_forms[i];
        if (f->m == shape[0] && f->n == shape[1] && f->k == shape[2] && f->a == a && f->d == d)
            return same_family(a, b);
    }
    return false;
}

static PtxType register_type(PtxType t) {
    return t == TY_F64 ? TY_B64 : TY_B32;
}

/* Registers that hold `elements` of a type over a warp. */
static uint32_t registers_for(PtxType t, uint32_t elements) {
    return t == TY_F64 ? elements / 32 : elements * matrix_bits(t) / 1024;
}

void dec_mma(Decoder *d) {
    PtxType to = decode_type(d, 0), a = decode_type(d, 1), b = decode_type(d, 2);
    const uint16_t *s = d->s->shape;
    uint32_t at = 0;
    Rounding rounding = ROUND_RN;
    need_sync_aligned(d);
    if (d->s->type_count != 4 || to != decode_type(d, 3) || !decode_take(d, MOD_ROW) ||
        !decode_take(d, MOD_COL) || !mma_supported(s, to, a, b))
        decode_unsupported(d);
    decode_operands(d, 4, 4);
    Insn in = decode_begin(d, x_mma, CLASS_MATRIX);
    int32_t *ext = decode_ext(d, 32);
    decode_flags(d, to == TY_F64 ? F_NEAREST : 0, &rounding);
    in.flags = to == TY_S32 && decode_take(d, MOD_SATFINITE) ? F_SAT : 0;
    in.size = add_registers(d, ext, &at, decode_operand(d, 0), register_type(to),
                            registers_for(to, (uint32_t)s[0] * s[1]), true);
    in.vec = add_registers(d, ext, &at, decode_operand(d, 1), register_type(a),
                           registers_for(a, (uint32_t)s[0] * s[2]), false);
    in.rounding = add_registers(d, ext, &at, decode_operand(d, 2), register_type(b),
                                registers_for(b, (uint32_t)s[1] * s[2]), false);
    add_registers(d, ext, &at, decode_operand(d, 3), register_type(to), in.size, false);
    in.type = (uint8_t)to;
    in.type2 = (uint8_t)a;
    in.sub2 = (uint8_t)b;
    in.imm = matrix_shape(s[0], s[1], s[2]);
    in.ext = ext;
    in.ext_count = (uint8_t)at;
    decode_emit(d, in);
}

/* ---- wmma --------------------------------------------------------------------------------- */

static const MmaForm wmma_forms[] = {
#define W(m, n, k, a, d) {m, n, k, TY_##a, TY_##a, TY_##d},
#define W3(k, a, d)      W(16, 16, k, a, d) W(8, 32, k, a, d) W(32, 8, k, a, d)
    W3(16, F16, F32) W3(16, F16, F16) W3(16, BF16, F32) W3(16, S8, S32) W3(16, U8, S32)
        W(16, 16, 8, TF32, F32) W(8, 8, 4, F64, F64)
#undef W
#undef W3
};

static const MmaForm *wmma_form(const uint16_t *s, PtxType a, PtxType to) {
    for (size_t i = 0; i < sizeof wmma_forms / sizeof *wmma_forms; i++) {
        const MmaForm *f = &wmma_forms[i];
        if (f->m == s[0] && f->n == s[1] && f->k == s[2] && (a == TY_NONE || f->a == a) &&
            (to == TY_NONE || f->d == to))
            return f;
    }
    return NULL;
}

/* f16 operands are held eight registers wide, some elements more than once. */
static uint32_t wmma_registers(PtxType t, uint32_t elements, bool accumulator) {
    return t == TY_F16 && !accumulator ? 8 : registers_for(t, elements);
}

static bool take_layout(Decoder *d) {
    bool columns = decode_take(d, MOD_COL);
    if (!columns && !decode_take(d, MOD_ROW))
        decode_unsupported(d);
    return columns;
}

/* wmma.load.{a,b,c} r, [p] {, stride}; wmma.store.d [p], r {, stride} */
static void wmma_move(Decoder *d, bool store) {
    static const PtxMod which[] = {MOD_MAT_A, MOD_MAT_B, MOD_MAT_C, MOD_MAT_D, MOD_NONE};
    PtxMod mat = decode_take_one(d, which);
    PtxType t = decode_type(d, 0);
    const uint16_t *s = d->s->shape;
    bool accumulator = mat == MOD_MAT_C || mat == MOD_MAT_D;
    uint32_t rows = mat == MOD_MAT_B ? s[2] : s[0], cols = mat == MOD_MAT_A ? s[2] : s[1], at = 0;
    if (mat == MOD_NONE || d->s->type_count != 1 ||
        !wmma_form(s, accumulator ? TY_NONE : t, accumulator ? t : TY_NONE))
        decode_unsupported(d);
    Insn head = {0};
    PtxSpace space = SPACE_GENERIC;
    head.sub = take_layout(d) ? MATRIX_COLUMNS : 0;
    if (decode_take(d, MOD_GLOBAL))
        space = SPACE_GLOBAL;
    else if (decode_take(d, MOD_SHARED) || decode_take(d, MOD_SHARED_CTA))
        space = SPACE_SHARED;
    decode_operands(d, 2, 3);
    int32_t *ext = decode_ext(d, 16);
    head.size = add_registers(d, ext, &at, decode_operand(d, store), register_type(t),
                              wmma_registers(t, rows * cols, accumulator), !store);
    if (d->s->operand_count == 3) {
        head.c = decode_src(d, decode_operand(d, 2), TY_B32);
        head.sub |= MATRIX_STRIDE;
    }
    space = decode_address(d, &head, decode_operand(d, !store), space);
    if (space == SPACE_LOCAL || space == SPACE_PARAM)
        decode_unsupported(d);
    Insn in = decode_begin(d, store ? x_wmma_store : x_wmma_load, store ? CLASS_STORE : CLASS_LOAD);
    in.a = head.a;
    in.c = head.c;
    in.imm = head.imm;
    in.flags = head.flags;
    in.sub = head.sub;
    in.size = head.size;
    in.space = (uint8_t)space;
    in.type = (uint8_t)t;
    in.vec = (uint8_t)rows;
    in.rounding = (uint8_t)cols;
    in.ext = ext;
    in.ext_count = (uint8_t)at;
    decode_emit(d, in);
}

static void wmma_multiply(Decoder *d) {
    const uint16_t *s = d->s->shape;
    bool two = d->s->type_count == 2; /* D and C of f16 operands */
    PtxType to = decode_type(d, 0), from = decode_type(d, two ? 1 : 3);
    PtxType a = two ? TY_F16 : decode_type(d, 1), b = two ? TY_F16 : decode_type(d, 2);
    uint32_t at = 0;
    Rounding rounding = ROUND_RN;
    decode_take(d, MOD_ROW);
    decode_take(d, MOD_COL);
    if ((!two && d->s->type_count != 4) || a != b || !wmma_form(s, a, to) || !wmma_form(s, a, from))
        decode_unsupported(d);
    decode_operands(d, 4, 4);
    Insn in = decode_begin(d, x_wmma, CLASS_MATRIX);
    int32_t *ext = decode_ext(d, 40);
    decode_flags(d, to == TY_F64 ? F_NEAREST : 0, &rounding);
    in.flags = decode_take(d, MOD_SATFINITE) && to == TY_S32 ? F_SAT : 0;
    in.size = add_registers(d, ext, &at, decode_operand(d, 0), register_type(to),
                            registers_for(to, (uint32_t)s[0] * s[1]), true);
    in.vec = add_registers(d, ext, &at, decode_operand(d, 1), register_type(a),
                           wmma_registers(a, (uint32_t)s[0] * s[2], false), false);
    in.rounding = add_registers(d, ext, &at, decode_operand(d, 2), register_type(b),
                                wmma_registers(b, (uint32_t)s[1] * s[2], false), false);
    add_registers(d, ext, &at, decode_operand(d, 3), register_type(from),
                  registers_for(from, (uint32_t)s[0] * s[1]), false);
    in.type = (uint8_t)to;
    in.type2 = (uint8_t)a;
    in.sub2 = (uint8_t)from;
    in.imm = matrix_shape(s[0], s[1], s[2]);
    in.ext = ext;
    in.ext_count = (uint8_t)at;
    decode_emit(d, in);
}

void dec_wmma(Decoder *d) {
    need_sync_aligned(d);
    if (decode_take(d, MOD_MMA))
        wmma_multiply(d);
    else if (decode_take(d, MOD_LOAD))
        wmma_move(d, false);
    else if (decode_take(d, MOD_STORE))
        wmma_move(d, true);
    else
        decode_unsupported(d);
}

/* ---- 8x8 matrices of 16 bits -------------------------------------------------------------- */

static bool is_8x8_b16(const Decoder *d) {
    const uint16_t *s = d->s->shape;
    return s[0] == 8 && s[1] == 8 && s[2] == 0 && d->s->type_count == 1 &&
           decode_type(d, 0) == TY_B16;
}

static void matrices(Decoder *d, bool store) {
    static const PtxMod counts[] = {MOD_X1, MOD_X2, MOD_X4, MOD_NONE};
    Insn head = {0};
    uint32_t at = 0, n = 0;
    need_sync_aligned(d);
    PtxMod count = decode_take_one(d, counts);
    n = count == MOD_X1 ? 1 : count == MOD_X2 ? 2 : 4;
    if (count == MOD_NONE || !is_8x8_b16(d))
        decode_unsupported(d);
    bool trans = decode_take(d, MOD_TRANS);
    PtxSpace space =
        decode_take(d, MOD_SHARED) || decode_take(d, MOD_SHARED_CTA) ? SPACE_SHARED : SPACE_GENERIC;
    decode_operands(d, 2, 2);
    int32_t *ext = decode_ext(d, 4);
    add_registers(d, ext, &at, decode_operand(d, store), TY_B32, n, !store);
    decode_address(d, &head, decode_operand(d, !store), space);
    Insn in = decode_begin(d, store ? x_stmatrix : x_ldmatrix, store ? CLASS_STORE : CLASS_LOAD);
    in.a = head.a;
    in.imm = head.imm;
    in.flags = head.flags;
    in.space = (uint8_t)space;
    in.sub = trans ? MATRIX_TRANS_A : 0;
    in.ext = ext;
    in.ext_count = (uint8_t)n;
    decode_emit(d, in);
}

void dec_ldmatrix(Decoder *d) {
    matrices(d, false);
}

void dec_stmatrix(Decoder *d) {
    matrices(d, true);
}

void dec_movmatrix(Decoder *d) {
    need_sync_aligned(d);
    if (!decode_take(d, MOD_TRANS) || !is_8x8_b16(d))
        decode_unsupported(d);
    decode_operands(d, 2, 2);
    int32_t a = decode_src(d, decode_operand(d, 1), TY_B32);
    Insn in = decode_begin(d, x_movmatrix, CLASS_MATRIX);
    in.a = a;
    in.d = decode_dst(d, decode_operand(d, 0), TY_B32);
    decode_emit(d, in);
}
