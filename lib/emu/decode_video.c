/* Decoders of video instructions, cvt.pack and of what sm_100 adds to plain arithmetic. */
#include "decode.h"
#include "exec_more.h"
#include <string.h>

/* ---- selectors ---------------------------------------------------------------------------- */

/* %r.b2, %r.h1 of the scalar forms: 0 to 3 for bytes, 4 and 5 for halves, 7 for all. */
static uint32_t part_of(Decoder *d, const Operand *o) {
    const char *s = o->select;
    if (!*s)
        return VIDEO_WHOLE;
    uint32_t digit = (uint32_t)(s[1] - '0');
    if (s[2] || digit > (s[0] == 'b' ? 3u : 1u))
        decode_bad(d, "selector .%s", s);
    return s[0] == 'b' ? digit : 4 + digit;
}

/* .b7654, .h32 of the forms on 2 or 4 parts: a digit for each part, the highest first, as four
 * bits each from the lowest up. */
static uint32_t parts_of(Decoder *d, const Operand *o, uint32_t n, uint32_t first) {
    uint32_t out = 0;
    for (uint32_t k = 0; k < n; k++)
        out |= (first + k) << (4 * k);
    if (!*o->select)
        return out;
    if (strlen(o->select) != n + 1 || o->select[0] != (n == 4 ? 'b' : 'h'))
        decode_bad(d, "selector .%s", o->select);
    out = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t digit = (uint32_t)(o->select[n - k] - '0');
        if (digit >= 2 * n)
            decode_bad(d, "selector .%s", o->select);
        out |= digit << (4 * k);
    }
    return out;
}

/* The parts of the destination that are written, a bit for each. */
static uint32_t mask_of(Decoder *d, const Operand *o, uint32_t n) {
    uint32_t out = 0;
    if (!*o->select)
        return (1u << n) - 1;
    if (o->select[0] != (n == 4 ? 'b' : 'h'))
        decode_bad(d, "selector .%s", o->select);
    for (const char *s = o->select + 1; *s; s++) {
        if (*s < '0' || *s >= (char)('0' + n))
            decode_bad(d, "selector .%s", o->select);
        out |= 1u << (*s - '0');
    }
    return out;
}

/* ---- video -------------------------------------------------------------------------------- */

typedef struct VideoName {
    const char *name;
    uint8_t op, parts;
} VideoName;

static const VideoName names[] = {
    {"vadd", VIDEO_ADD, 1},  {"vsub", VIDEO_SUB, 1},      {"vabsdiff", VIDEO_ABSDIFF, 1},
    {"vmin", VIDEO_MIN, 1},  {"vmax", VIDEO_MAX, 1},      {"vshl", VIDEO_SHL, 1},
    {"vshr", VIDEO_SHR, 1},  {"vset", VIDEO_SET, 1},      {"vmad", VIDEO_MAD, 1},
    {"vadd2", VIDEO_ADD, 2}, {"vsub2", VIDEO_SUB, 2},     {"vabsdiff2", VIDEO_ABSDIFF, 2},
    {"vmin2", VIDEO_MIN, 2}, {"vmax2", VIDEO_MAX, 2},     {"vavrg2", VIDEO_AVERAGE, 2},
    {"vset2", VIDEO_SET, 2}, {"vadd4", VIDEO_ADD, 4},     {"vsub4", VIDEO_SUB, 4},
    {"vmin4", VIDEO_MIN, 4}, {"vmax4", VIDEO_MAX, 4},     {"vabsdiff4", VIDEO_ABSDIFF, 4},
    {"vset4", VIDEO_SET, 4}, {"vavrg4", VIDEO_AVERAGE, 4}};

static bool is_word(PtxType t) {
    return t == TY_U32 || t == TY_S32;
}

static int32_t source(Decoder *d, uint32_t k) {
    return decode_src(d, decode_operand(d, k), TY_B32);
}

static void sources(Decoder *d, Insn *in, bool third) {
    in->a = source(d, 1);
    in->b = source(d, 2);
    in->c = third ? source(d, 3) : 0;
    in->d = decode_dst(d, decode_operand(d, 0), TY_B32);
}

static void video_mad(Decoder *d, Insn *in) {
    const Operand *a = decode_operand(d, 1), *b = decode_operand(d, 2), *c = decode_operand(d, 3);
    bool product = a->negated != b->negated, plus = decode_take(d, MOD_PO);
    decode_operands(d, 4, 4);
    if (plus && (product || c->negated))
        decode_unsupported(d);
    in->sub2 =
        (uint8_t)(plus ? VIDEO_PLUS_ONE
                       : (product ? VIDEO_MINUS_PRODUCT : 0) | (c->negated ? VIDEO_MINUS_C : 0));
    if (product && c->negated)
        decode_unsupported(d);
    in->vec = decode_take(d, MOD_SHR7) ? 7 : decode_take(d, MOD_SHR15) ? 15 : 0;
}

static void video_scalar(Decoder *d, Insn *in) {
    static const PtxMod seconds[] = {MOD_ADD, MOD_MIN, MOD_MAX, MOD_NONE};
    uint32_t part = part_of(d, decode_operand(d, 0));
    if (in->sub == VIDEO_MAD) {
        video_mad(d, in);
    } else {
        in->sub2 = (uint8_t)decode_take_one(d, seconds);
        bool third = in->sub2 || part != VIDEO_WHOLE;
        if (in->sub2 && part != VIDEO_WHOLE)
            decode_unsupported(d);
        decode_operands(d, third ? 4 : 3, third ? 4 : 3);
    }
    if (in->sub == VIDEO_SHL || in->sub == VIDEO_SHR) {
        in->flags |= decode_take(d, MOD_CLAMP) ? F_CLAMP : 0;
        if (!(in->flags & F_CLAMP) && !decode_take(d, MOD_WRAP))
            decode_unsupported(d);
    }
    in->imm = (int64_t)(part_of(d, decode_operand(d, 1)) | part_of(d, decode_operand(d, 2)) << 4 |
                        part << 8);
    sources(d, in, d->s->operand_count == 4);
}

static void video_parts(Decoder *d, Insn *in, uint32_t n) {
    decode_operands(d, 4, 4);
    in->vec = (uint8_t)n;
    in->sub2 = (uint8_t)(decode_take(d, MOD_ADD) ? MOD_ADD : MOD_NONE);
    in->imm = (int64_t)parts_of(d, decode_operand(d, 1), n, 0) |
              (int64_t)parts_of(d, decode_operand(d, 2), n, n) << 16 |
              (int64_t)mask_of(d, decode_operand(d, 0), n) << 32;
    sources(d, in, true);
}

/* v….dtype.atype.btype, vset.atype.btype */
void dec_video(Decoder *d) {
    static const PtxMod tests[] = {MOD_EQ, MOD_NE, MOD_LT, MOD_LE, MOD_GT, MOD_GE, MOD_NONE};
    const char *name = ptx_name(d->context, d->s->opcode);
    const VideoName *v = names;
    while (strcmp(v->name, name) != 0)
        v++;
    bool set = v->op == VIDEO_SET;
    Insn in = decode_begin(d,
                           v->op == VIDEO_MAD ? x_video_mad
                           : v->parts == 1    ? x_video
                                              : x_video_parts,
                           CLASS_INT);
    in.sub = v->op;
    in.type = (uint8_t)(set ? TY_U32 : decode_type(d, 0));
    in.type2 = (uint8_t)decode_type(d, set ? 0 : 1);
    in.rounding = (uint8_t)decode_type(d, set ? 1 : 2);
    if (d->s->type_count != (set ? 2 : 3) || !is_word((PtxType)in.type) ||
        !is_word((PtxType)in.type2) || !is_word((PtxType)in.rounding))
        decode_unsupported(d);
    in.flags = decode_take(d, MOD_SAT) ? F_SAT : 0;
    if (set) {
        in.size = (uint8_t)decode_take_one(d, tests);
        if (in.size == MOD_NONE)
            decode_unsupported(d);
    }
    if (v->parts == 1)
        video_scalar(d, &in);
    else
        video_parts(d, &in, v->parts);
    decode_emit(d, in);
}

bool dec_is_video(const char *name) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name))
            return true;
    return false;
}

/* ---- cvt.pack ----------------------------------------------------------------------------- */

/* cvt.pack.sat.type.s32 d, a, b; cvt.pack.sat.type.s32.b32 d, a, b, c: c moves up */
void dec_cvt_pack(Decoder *d) {
    PtxType to = decode_type(d, 0);
    uint32_t bits = to == TY_U2 || to == TY_S2   ? 2
                    : to == TY_U4 || to == TY_S4 ? 4
                                                 : 8 * ptx_type_bytes(to);
    bool third = bits < 16;
    if (!decode_take(d, MOD_SAT) || bits > 16 || ptx_type_class(to) == 'B' ||
        d->s->type_count != (third ? 3 : 2) || !is_word(decode_type(d, 1)) ||
        (third && decode_type(d, 2) != TY_B32))
        decode_unsupported(d);
    decode_operands(d, third ? 4 : 3, third ? 4 : 3);
    Insn in = decode_begin(d, x_cvt_pack_int, CLASS_CONVERT);
    in.size = (uint8_t)bits;
    in.flags = ptx_type_class(to) == 'S' ? F_SIGNED : 0;
    in.type2 = (uint8_t)decode_type(d, 1);
    sources(d, &in, third);
    decode_emit(d, in);
}

/* ---- arithmetic of sm_100 ----------------------------------------------------------------- */

/* add.f32.f16 d, a, c; sub; fma d, a, b, c: the narrow operands widen exactly */
void dec_mixed(Decoder *d, uint32_t op) {
    PtxType narrow = decode_type(d, 1);
    Rounding rounding = ROUND_RN;
    bool fma = op == MIXED_FMA;
    uint32_t flags = decode_flags(d, F_SAT | F_ROUND, &rounding);
    decode_operands(d, fma ? 4 : 3, fma ? 4 : 3);
    Insn in = decode_begin(d, x_mixed, CLASS_FLOAT);
    in.a = decode_src(d, decode_operand(d, 1), narrow);
    in.b = fma ? decode_src(d, decode_operand(d, 2), narrow) : 0;
    in.c = decode_src(d, decode_operand(d, fma ? 3 : 2), TY_F32);
    in.d = decode_dst(d, decode_operand(d, 0), TY_F32);
    in.sub = (uint8_t)op;
    in.type2 = (uint8_t)narrow;
    in.flags = flags;
    in.rounding = (uint8_t)rounding;
    decode_emit(d, in);
}

/* min and max of three */
void dec_minmax3(Decoder *d, bool max) {
    Rounding unused = ROUND_RN;
    uint32_t flags = decode_flags(d, F_FTZ | F_NAN, &unused);
    flags |= decode_take(d, MOD_ABS) ? F_ABS : 0;
    Insn in = decode_begin(d, x_minmax3, CLASS_FLOAT);
    in.a = decode_src(d, decode_operand(d, 1), TY_F32);
    in.b = decode_src(d, decode_operand(d, 2), TY_F32);
    in.c = decode_src(d, decode_operand(d, 3), TY_F32);
    in.d = decode_dst(d, decode_operand(d, 0), TY_F32);
    in.sub = max;
    in.flags = flags;
    decode_emit(d, in);
}

/* fma.rn.oob: a product with the out-of-bounds NaN is zero */
void dec_fma_oob(Decoder *d) {
    PtxType t = decode_type(d, 0);
    Rounding rounding = ROUND_RN;
    decode_take(d, MOD_OOB);
    uint32_t flags = decode_flags(d, F_FTZ | F_RELU | F_NEAREST, &rounding);
    if (d->s->type_count != 1 || (t != TY_F16 && t != TY_BF16 && t != TY_F16X2 && t != TY_BF16X2))
        decode_unsupported(d);
    decode_operands(d, 4, 4);
    Insn in = decode_begin(d, x_fma_oob, CLASS_HALF);
    in.a = decode_src(d, decode_operand(d, 1), t);
    in.b = decode_src(d, decode_operand(d, 2), t);
    in.c = decode_src(d, decode_operand(d, 3), t);
    in.d = decode_dst(d, decode_operand(d, 0), t);
    in.type = (uint8_t)t;
    in.sub = HALF_FMA;
    in.flags = flags;
    decode_emit(d, in);
}

/* ---- the stack ---------------------------------------------------------------------------- */

static uint32_t stack_type(Decoder *d) {
    PtxType t = decode_type(d, 0);
    if (d->s->type_count != 1 || (t != TY_U32 && t != TY_U64))
        decode_unsupported(d);
    return t == TY_U64 ? 8 : 4;
}

/* alloca.type p, size {, align}: an address of local memory */
void dec_alloca(Decoder *d) {
    uint32_t bytes = stack_type(d), align = 8;
    PtxType t = bytes == 8 ? TY_B64 : TY_B32;
    decode_operands(d, 2, 3);
    if (d->s->operand_count == 3) {
        const Operand *o = decode_operand(d, 2);
        if (o->kind != OPND_INT || o->value < 1 || o->value > 128 || (o->value & (o->value - 1)))
            decode_bad(d, "alignment must be a power of two up to 128");
        align = (uint32_t)o->value;
    }
    Insn in = decode_begin(d, x_alloca, CLASS_OTHER);
    in.a = decode_src(d, decode_operand(d, 1), t);
    in.d = decode_dst(d, decode_operand(d, 0), t);
    in.imm = align;
    in.flags = bytes == 8 ? F_WIDE64 : 0;
    decode_emit(d, in);
}

void dec_stacksave(Decoder *d) {
    uint32_t bytes = stack_type(d);
    decode_operands(d, 1, 1);
    Insn in = decode_begin(d, x_stacksave, CLASS_OTHER);
    in.d = decode_dst(d, decode_operand(d, 0), bytes == 8 ? TY_B64 : TY_B32);
    in.flags = bytes == 8 ? F_WIDE64 : 0;
    decode_emit(d, in);
}

void dec_stackrestore(Decoder *d) {
    uint32_t bytes = stack_type(d);
    decode_operands(d, 1, 1);
    Insn in = decode_begin(d, x_stackrestore, CLASS_OTHER);
    in.a = decode_src(d, decode_operand(d, 0), bytes == 8 ? TY_B64 : TY_B32);
    in.flags = bytes == 8 ? F_WIDE64 : 0;
    decode_emit(d, in);
}
