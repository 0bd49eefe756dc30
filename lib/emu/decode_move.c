/* Decoders of moves, comparisons, selections, conversions and a few bit instructions. */
#include "decode.h"
#include <string.h>

static bool is_float(PtxType t) {
    char c = ptx_type_class(t);
    return c == 'F' || c == 'V';
}

/* ---- mov ---------------------------------------------------------------------------------- */

static void pack_or_unpack(Decoder *d, const Operand *vector, const Operand *scalar, bool pack,
                           PtxType type) {
    uint32_t n = vector->elem_count, total = ptx_type_bytes(type), bytes;
    Insn in = decode_begin(d, pack ? x_pack : x_unpack, CLASS_MOVE);
    int32_t *ext = decode_ext(d, n);
    if (n == 0 || total % n || total > 8)
        decode_unsupported(d);
    in.size = (uint8_t)(total / n);
    PtxType each = in.size == 8 ? TY_B64 : TY_B32;
    for (uint32_t k = 0; k < n; k++)
        ext[k] =
            pack ? decode_src(d, &vector->elems[k], each) : decode_dst(d, &vector->elems[k], each);
    in.ext = ext;
    in.ext_count = (uint8_t)n;
    if (pack)
        in.d = decode_dst(d, scalar, type);
    else
        in.a = decode_any(d, scalar, total == 8 ? 8 : 4, &bytes);
    in.flags = total == 8 ? F_WIDE64 : 0;
    decode_emit(d, in);
}

/* mov.b128: two 64-bit planes. */
static void move_128(Decoder *d, const Operand *to, const Operand *from) {
    bool pack = from->kind == OPND_VECTOR, unpack = to->kind == OPND_VECTOR;
    if ((pack && from->elem_count != 2) || (unpack && to->elem_count != 2))
        decode_unsupported(d);
    for (int32_t k = 0; k < 2; k++) {
        Insn in = decode_begin(d, x_mov_64, CLASS_MOVE);
        in.d = unpack ? decode_dst(d, &to->elems[k], TY_B64) : decode_dst(d, to, TY_B128) + 256 * k;
        in.a =
            pack ? decode_src(d, &from->elems[k], TY_B64) : decode_src(d, from, TY_B128) + 256 * k;
        decode_emit(d, in);
    }
}

void dec_mov(Decoder *d) {
    PtxType type = decode_type(d, 0);
    decode_operands(d, 2, 2);
    const Operand *to = decode_operand(d, 0), *from = decode_operand(d, 1);
    bool negated = false;
    if (type == TY_NONE)
        decode_unsupported(d);
    if (type == TY_B128) {
        move_128(d, to, from);
        return;
    }
    if (to->kind == OPND_VECTOR || from->kind == OPND_VECTOR) {
        bool pack = from->kind == OPND_VECTOR;
        if (pack && to->kind == OPND_VECTOR)
            decode_unsupported(d);
        pack_or_unpack(d, pack ? from : to, pack ? to : from, pack, type);
        return;
    }
    if (type == TY_PRED) {
        Insn in = decode_begin(d, x_mov_pred, CLASS_MOVE);
        in.a = decode_pred(d, from, &negated);
        if (negated)
            in.fn = x_not_pred;
        in.d = decode_pred_dst(d, to);
        decode_emit(d, in);
        return;
    }
    int32_t source = decode_src(d, from, type);
    Insn in = decode_begin(d, ptx_type_bytes(type) == 8 ? x_mov_64 : x_mov_32, CLASS_MOVE);
    in.a = source;
    in.d = decode_dst(d, to, type);
    decode_emit(d, in);
}

/* ---- comparisons -------------------------------------------------------------------------- */

static PtxMod take_compare(Decoder *d, PtxType type) {
    static const PtxMod list[] = {MOD_EQ,  MOD_NE,  MOD_LT,       MOD_LE,  MOD_GT,
                                  MOD_GE,  MOD_LO,  MOD_LS,       MOD_HI,  MOD_HS,
                                  MOD_EQU, MOD_NEU, MOD_LTU,      MOD_LEU, MOD_GTU,
                                  MOD_GEU, MOD_NUM, MOD_NAN_TEST, MOD_NONE};
    PtxMod m = decode_take_one(d, list);
    if (m == MOD_NONE || (m >= MOD_EQU && m <= MOD_NAN_TEST && !is_float(type)))
        decode_unsupported(d);
    switch ((int)m) {
    case MOD_LO:
        return MOD_LT;
    case MOD_LS:
        return MOD_LE;
    case MOD_HI:
        return MOD_GT;
    case MOD_HS:
        return MOD_GE;
    default:
        return m;
    }
}

static const PtxMod bool_ops[] = {MOD_AND, MOD_OR, MOD_XOR, MOD_NONE};

/* a, b and, with a boolean operator, c. The last type is that of the comparison. */
static void comparison(Decoder *d, Insn *in, PtxType type) {
    bool negated = false;
    Rounding unused = ROUND_RN;
    in->sub = (uint8_t)take_compare(d, type);
    in->sub2 = (uint8_t)decode_take_one(d, bool_ops);
    in->type = (uint8_t)type;
    in->flags |= decode_flags(d, F_FTZ, &unused);
    decode_operands(d, in->sub2 ? 4 : 3, in->sub2 ? 4 : 3);
    in->a = decode_src(d, decode_operand(d, 1), type);
    in->b = decode_src(d, decode_operand(d, 2), type);
    if (in->sub2) {
        in->c = decode_pred(d, decode_operand(d, 3), &negated);
        in->flags |= F_COMBINE | (negated ? F_NEGATED : 0);
    }
}

static ExecFn *fast_compare(const Insn *in) {
    if (in->d2 || (in->flags & (F_COMBINE | F_FTZ)))
        return x_setp;
    switch ((int)in->type) {
    case TY_U32:
    case TY_B32:
        return x_setp_u32;
    case TY_S32:
        return x_setp_s32;
    case TY_U64:
    case TY_B64:
        return x_setp_u64;
    case TY_S64:
        return x_setp_s64;
    case TY_F32:
        return x_setp_f32;
    default:
        return x_setp;
    }
}

void dec_setp(Decoder *d) {
    PtxType type = decode_type(d, 0);
    Insn in = {0};
    if (d->s->type_count != 1)
        decode_unsupported(d);
    comparison(d, &in, type);
    Insn out = decode_begin(d, x_setp, CLASS_COMPARE);
    const Operand *p = decode_operand(d, 0);
    out.sub = in.sub;
    out.sub2 = in.sub2;
    out.type = in.type;
    out.flags = in.flags;
    out.a = in.a;
    out.b = in.b;
    out.c = in.c;
    out.d = decode_pred_dst(d, p);
    out.d2 = decode_pred_dst(d, p->pair);
    out.fn = fast_compare(&out);
    decode_emit(d, out);
}

void dec_set(Decoder *d) {
    PtxType to = decode_type(d, 0), type = decode_type(d, 1);
    Insn in = {0};
    if (d->s->type_count != 2 || ptx_type_bytes(to) > 4)
        decode_unsupported(d);
    comparison(d, &in, type);
    Insn out = decode_begin(d, x_set, CLASS_COMPARE);
    out.sub = in.sub;
    out.sub2 = in.sub2;
    out.type = in.type;
    out.flags = in.flags;
    out.a = in.a;
    out.b = in.b;
    out.c = in.c;
    out.d = decode_dst(d, decode_operand(d, 0), to);
    out.imm = to == TY_F32      ? 0x3f800000
              : to == TY_F16    ? 0x3c00
              : to == TY_BF16   ? 0x3f80
              : to == TY_F16X2  ? 0x3c003c00
              : to == TY_BF16X2 ? 0x3f803f80
                                : (int64_t)0xffffffff;
    decode_emit(d, out);
}

void dec_selp(Decoder *d) {
    PtxType type = decode_type(d, 0);
    bool negated = false;
    decode_operands(d, 4, 4);
    int32_t a = decode_src(d, decode_operand(d, 1), type);
    int32_t b = decode_src(d, decode_operand(d, 2), type);
    int32_t c = decode_pred(d, decode_operand(d, 3), &negated);
    Insn in = decode_begin(d, ptx_type_bytes(type) == 8 ? x_selp_64 : x_selp_32, CLASS_MOVE);
    in.a = negated ? b : a;
    in.b = negated ? a : b;
    in.c = c;
    in.d = decode_dst(d, decode_operand(d, 0), type);
    decode_emit(d, in);
}

void dec_slct(Decoder *d) {
    PtxType type = decode_type(d, 0), by = decode_type(d, 1);
    Rounding unused = ROUND_RN;
    uint32_t flags = decode_flags(d, F_FTZ, &unused);
    decode_operands(d, 4, 4);
    if (by != TY_F32 && by != TY_S32)
        decode_unsupported(d);
    int32_t a = decode_src(d, decode_operand(d, 1), type);
    int32_t b = decode_src(d, decode_operand(d, 2), type);
    int32_t c = decode_src(d, decode_operand(d, 3), by);
    Insn in = decode_begin(d, x_slct, CLASS_MOVE);
    in.a = a;
    in.b = b;
    in.c = c;
    in.d = decode_dst(d, decode_operand(d, 0), type);
    in.type2 = (uint8_t)by;
    in.flags = flags | (ptx_type_bytes(type) == 8 ? F_WIDE64 : 0);
    decode_emit(d, in);
}

/* ---- cvt ---------------------------------------------------------------------------------- */

static uint32_t conversion_mode(Decoder *d, Insn *in) {
    static const struct {
        PtxMod mod;
        uint8_t rounding, integral;
    } modes[] = {{MOD_RN, ROUND_RN, 0},  {MOD_RZ, ROUND_RZ, 0},   {MOD_RM, ROUND_RM, 0},
                 {MOD_RP, ROUND_RP, 0},  {MOD_RNA, ROUND_RNA, 0}, {MOD_RNI, ROUND_RN, 1},
                 {MOD_RZI, ROUND_RZ, 1}, {MOD_RMI, ROUND_RM, 1},  {MOD_RPI, ROUND_RP, 1}};
    Rounding unused = ROUND_RN;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (decode_take(d, modes[i].mod)) {
            in->rounding = modes[i].rounding;
            in->sub = modes[i].integral;
        }
    in->flags |= decode_flags(d, F_FTZ | F_SAT | F_RELU | F_SATFINITE, &unused);
    return in->flags;
}

static bool is_small_pair(PtxType t) {
    return t == TY_F16X2 || t == TY_BF16X2 || t == TY_E4M3X2 || t == TY_E5M2X2;
}

static bool is_plain_float(PtxType t) {
    return t == TY_F16 || t == TY_BF16 || t == TY_F32 || t == TY_F64;
}

static bool is_int(PtxType t) {
    char c = ptx_type_class(t);
    return c == 'U' || c == 'S';
}

/* cvt.pair.f32 d, a, b and cvt.pair.pair d, a */
static void convert_pair(Decoder *d, Insn *mode, PtxType to, PtxType from) {
    bool two = from == TY_F32;
    decode_operands(d, two ? 3 : 2, two ? 3 : 2);
    if (!two && !is_small_pair(from))
        decode_unsupported(d);
    int32_t a = decode_src(d, decode_operand(d, 1), two ? TY_F32 : from);
    int32_t b = two ? decode_src(d, decode_operand(d, 2), TY_F32) : 0;
    Insn in = decode_begin(d, two ? x_cvt_pack : x_cvt_unpack, CLASS_CONVERT);
    in.a = a;
    in.b = b;
    in.d = decode_dst(d, decode_operand(d, 0), to);
    in.type = (uint8_t)to;
    in.type2 = (uint8_t)from;
    in.flags = mode->flags;
    in.rounding = mode->rounding;
    decode_emit(d, in);
}

void dec_cvt(Decoder *d) {
    PtxType to = decode_type(d, 0), from = decode_type(d, 1);
    Insn mode = {0};
    uint32_t size, source;
    if (decode_take(d, MOD_PACK)) {
        dec_cvt_pack(d);
        return;
    }
    if (d->s->type_count != 2)
        decode_unsupported(d);
    conversion_mode(d, &mode);
    if (is_small_pair(to)) {
        convert_pair(d, &mode, to, from);
        return;
    }
    if ((!is_int(to) && !is_plain_float(to) && to != TY_TF32) ||
        (!is_int(from) && !is_plain_float(from)))
        decode_unsupported(d);
    decode_operands(d, 2, 2);
    int32_t a = decode_any(d, decode_operand(d, 1), ptx_type_bytes(from) == 8 ? 8 : 4, &source);
    Insn in = decode_begin(d, x_cvt, CLASS_CONVERT);
    in.d = decode_any(d, decode_operand(d, 0), ptx_type_bytes(to) == 8 ? 8 : 4, &size);
    if (size < ptx_type_bytes(to) || source < ptx_type_bytes(from))
        decode_bad(d, "register is narrower than its type");
    in.a = a;
    in.size = (uint8_t)size;
    in.vec = (uint8_t)source;
    in.type = (uint8_t)to;
    in.type2 = (uint8_t)from;
    in.flags = mode.flags;
    in.rounding = mode.rounding;
    in.sub = mode.sub;
    if (is_int(to) && is_int(from) && !(in.flags & F_SAT))
        in.fn = x_cvt_int;
    decode_emit(d, in);
}

/* ---- address spaces ----------------------------------------------------------------------- */

static PtxSpace take_space(Decoder *d, uint32_t *flags) {
    if (decode_take(d, MOD_GLOBAL))
        return SPACE_GLOBAL;
    if (decode_take(d, MOD_SHARED) || decode_take(d, MOD_SHARED_CTA))
        return SPACE_SHARED;
    if (decode_take(d, MOD_SHARED_CLUSTER)) {
        *flags |= F_CLUSTER;
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

void dec_cvta(Decoder *d) {
    bool to = decode_take(d, MOD_TO);
    uint32_t flags = 0;
    PtxSpace space = take_space(d, &flags);
    decode_operands(d, 2, 2);
    if (decode_type(d, 0) != TY_U64 || space == SPACE_GENERIC)
        decode_unsupported(d);
    if (space == SPACE_PARAM && !d->source->is_entry)
        space = SPACE_LOCAL;
    int32_t a = decode_src(d, decode_operand(d, 1), TY_B64);
    Insn in = decode_begin(d, to ? x_cvta_to : x_cvta_from, CLASS_MOVE);
    in.a = a;
    in.d = decode_dst(d, decode_operand(d, 0), TY_B64);
    in.space = (uint8_t)space;
    decode_emit(d, in);
}

void dec_isspacep(Decoder *d) {
    uint32_t flags = 0;
    PtxSpace space = take_space(d, &flags);
    decode_operands(d, 2, 2);
    if (space == SPACE_GENERIC)
        decode_unsupported(d);
    int32_t a = decode_src(d, decode_operand(d, 1), TY_B64);
    Insn in = decode_begin(d, x_isspacep, CLASS_COMPARE);
    in.a = a;
    in.d = decode_pred_dst(d, decode_operand(d, 0));
    in.space = (uint8_t)space;
    in.flags = flags;
    decode_emit(d, in);
}

static void cluster_address(Decoder *d, ExecFn *fn, bool rank) {
    uint32_t flags = 0, from, to;
    PtxSpace space = take_space(d, &flags);
    PtxType type = decode_type(d, 0);
    decode_operands(d, rank ? 3 : 2, rank ? 3 : 2);
    int32_t a = decode_any(d, decode_operand(d, 1), ptx_type_bytes(type) == 8 ? 8 : 4, &from);
    int32_t b = rank ? decode_src(d, decode_operand(d, 2), TY_B32) : 0;
    Insn in = decode_begin(d, fn, CLASS_MOVE);
    in.d = decode_any(d, decode_operand(d, 0), rank && ptx_type_bytes(type) == 8 ? 8 : 4, &to);
    in.a = a;
    in.b = b;
    in.space = (uint8_t)space;
    in.flags = (from == 8 ? F_ADDR64 : 0) | (to == 8 ? F_WIDE64 : 0);
    decode_emit(d, in);
}

void dec_mapa(Decoder *d) {
    cluster_address(d, x_mapa, true);
}

void dec_getctarank(Decoder *d) {
    cluster_address(d, x_getctarank, false);
}

/* ---- lop3, dot products ------------------------------------------------------------------- */

void dec_lop3(Decoder *d) {
    PtxMod op = decode_take_one(d, bool_ops);
    const Operand *to = decode_operand(d, 0), *table;
    bool negated = false;
    int32_t src[3], q = 0;
    decode_operands(d, op ? 6 : 5, op ? 6 : 5);
    table = decode_operand(d, 4);
    if (decode_type(d, 0) != TY_B32 || table->kind != OPND_INT)
        decode_unsupported(d);
    for (uint32_t k = 0; k < 3; k++)
        src[k] = decode_src(d, decode_operand(d, k + 1), TY_B32);
    if (op)
        q = decode_pred(d, decode_operand(d, 5), &negated);
    Insn in = decode_begin(d, op ? x_lop3_pred : x_lop3, CLASS_INT);
    in.a = src[0];
    in.b = src[1];
    in.c = src[2];
    in.e = q;
    in.d = decode_dst(d, to, TY_B32);
    in.d2 = op ? decode_pred_dst(d, to->pair) : 0;
    in.imm = table->value & 0xff;
    in.sub2 = (uint8_t)op;
    in.flags = negated ? F_NEGATED : 0;
    decode_emit(d, in);
}

static void dot_product(Decoder *d, ExecFn *fn, bool halves) {
    int32_t src[3];
    PtxType a = decode_type(d, 0), b = decode_type(d, 1);
    bool high = halves && decode_take(d, MOD_HI);
    if (halves)
        decode_take(d, MOD_LO);
    decode_operands(d, 4, 4);
    if (ptx_type_bytes(a) != 4 || ptx_type_bytes(b) != 4)
        decode_unsupported(d);
    for (uint32_t k = 0; k < 3; k++)
        src[k] = decode_src(d, decode_operand(d, k + 1), TY_B32);
    Insn in = decode_begin(d, fn, CLASS_INT);
    in.a = src[0];
    in.b = src[1];
    in.c = src[2];
    in.d = decode_dst(d, decode_operand(d, 0), TY_B32);
    in.sub = (uint8_t)((a == TY_S32) | (b == TY_S32) << 1);
    in.sub2 = high;
    decode_emit(d, in);
}

void dec_dp4a(Decoder *d) {
    dot_product(d, x_dp4a, false);
}

void dec_dp2a(Decoder *d) {
    dot_product(d, x_dp2a, true);
}
