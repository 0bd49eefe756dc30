/* Video instructions: arithmetic on bytes and halves in 64 bits, then saturation to the part that
 * is written, then a second operation or a merge with c. */
#include "exec_more.h"

static bool is_signed(uint8_t type) {
    return type == TY_S32;
}

static int64_t extend(uint32_t v, uint32_t bits, bool sign) {
    if (bits == 32)
        return sign ? (int64_t)(int32_t)v : (int64_t)v;
    v &= (1u << bits) - 1;
    return sign && (v >> (bits - 1)) ? (int64_t)v - ((int64_t)1 << bits) : (int64_t)v;
}

static uint32_t part_bits(uint32_t part) {
    return part == VIDEO_WHOLE ? 32 : part < 4 ? 8 : 16;
}

static uint32_t part_shift(uint32_t part) {
    return part == VIDEO_WHOLE ? 0 : part < 4 ? 8 * part : 16 * (part - 4);
}

static int64_t take(uint32_t v, uint32_t part, bool sign) {
    return extend(v >> part_shift(part), part_bits(part), sign);
}

static int64_t clamp(int64_t v, uint32_t bits, bool sign) {
    int64_t high = sign ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
    int64_t low = sign ? -high - 1 : 0;
    return v < low ? low : v > high ? high : v;
}

static bool compare(const Insn *in, int64_t a, int64_t b) {
    switch ((int)in->size) {
    case MOD_EQ:
        return a == b;
    case MOD_NE:
        return a != b;
    case MOD_LT:
        return a < b;
    case MOD_LE:
        return a <= b;
    case MOD_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static int64_t operate(const Insn *in, int64_t a, int64_t b) {
    int64_t sum = a + b;
    switch ((VideoOp)in->sub) {
    case VIDEO_ADD:
        return sum;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a > b ? a - b : b - a;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_SET:
        return compare(in, a, b);
    case VIDEO_AVERAGE: /* halves go away from zero */
        return (sum + (sum >= 0)) >> 1;
    case VIDEO_SHL:
        return (int64_t)((uint64_t)a << b);
    case VIDEO_SHR:
        return a >> b;
    case VIDEO_MAD:
        break;
    }
    return 0;
}

static int64_t shift_count(const Insn *in, uint32_t b) {
    return in->flags & F_CLAMP ? (b > 32 ? 32 : b) : b & 31;
}

static uint32_t second(const Insn *in, int64_t v, uint32_t c) {
    bool sign = is_signed(in->type);
    int64_t x = extend((uint32_t)v, 32, sign), y = extend(c, 32, sign);
    switch ((int)in->sub2) {
    case MOD_ADD:
        return (uint32_t)v + c;
    case MOD_MIN:
        return (uint32_t)(x < y ? x : y);
    default:
        return (uint32_t)(x > y ? x : y);
    }
}

static uint32_t scalar(const Insn *in, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t part_a = in->imm & 15, part_b = in->imm >> 4 & 15, part_d = in->imm >> 8 & 15;
    bool shift = in->sub == VIDEO_SHL || in->sub == VIDEO_SHR;
    int64_t x = take(a, part_a, is_signed(in->type2)), y = take(b, part_b, is_signed(in->rounding));
    int64_t v = operate(in, x, shift ? shift_count(in, (uint32_t)y) : y);
    if (in->flags & F_SAT)
        v = clamp(v, part_bits(part_d), is_signed(in->type));
    if (in->sub2)
        return second(in, v, c);
    if (part_d == VIDEO_WHOLE)
        return (uint32_t)v;
    uint32_t keep = ((1u << part_bits(part_d)) - 1) << part_shift(part_d);
    return (c & ~keep) | ((uint32_t)v << part_shift(part_d) & keep);
}

void x_video(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *a = plane32(w, in->a), *b = plane32(w, in->b), *c = plane32(w, in->c);
    FOR_LANES(mask, { d[i] = scalar(in, a[i], b[i], c[i]); });
}

/* Parts are chosen from the pair b:a. */
static uint32_t parts(const Insn *in, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t bits = 32u / in->vec, out = c, sum = 0;
    uint64_t both = a | (uint64_t)b << 32;
    for (uint32_t k = 0; k < in->vec; k++) {
        uint32_t pa = (uint32_t)(in->imm >> (4 * k)) & 15;
        uint32_t pb = (uint32_t)(in->imm >> (16 + 4 * k)) & 15;
        if (!(in->imm >> (32 + k) & 1))
            continue;
        int64_t x = extend((uint32_t)(both >> (pa * bits)), bits, is_signed(in->type2));
        int64_t y = extend((uint32_t)(both >> (pb * bits)), bits, is_signed(in->rounding));
        int64_t v = operate(in, x, y);
        if (in->flags & F_SAT)
            v = clamp(v, bits, is_signed(in->type));
        uint32_t keep = ((1u << bits) - 1) << (bits * k);
        out = (out & ~keep) | ((uint32_t)v << (bits * k) & keep);
        sum += (uint32_t)v;
    }
    return in->sub2 ? c + sum : out;
}

void x_video_parts(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *a = plane32(w, in->a), *b = plane32(w, in->b), *c = plane32(w, in->c);
    FOR_LANES(mask, { d[i] = parts(in, a[i], b[i], c[i]); });
}

static uint32_t multiply_add(const Insn *in, uint32_t a, uint32_t b, uint32_t c) {
    bool sign = is_signed(in->type2) || is_signed(in->rounding) ||
                (in->sub2 & (VIDEO_MINUS_PRODUCT | VIDEO_MINUS_C));
    int64_t x = take(a, in->imm & 15, is_signed(in->type2));
    int64_t y = take(b, in->imm >> 4 & 15, is_signed(in->rounding));
    __int128 v = (__int128)x * y, z = extend(c, 32, sign);
    v = in->sub2 & VIDEO_MINUS_PRODUCT ? -v : v;
    z = in->sub2 & VIDEO_MINUS_C ? -z : z;
    v = (v + z + (in->sub2 & VIDEO_PLUS_ONE ? 1 : 0)) >> in->vec;
    if (in->flags & F_SAT) {
        __int128 high = sign ? INT32_MAX : UINT32_MAX, low = sign ? INT32_MIN : 0;
        v = v < low ? low : v > high ? high : v;
    }
    return (uint32_t)v;
}

void x_video_mad(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d);
    const uint32_t *a = plane32(w, in->a), *b = plane32(w, in->b), *c = plane32(w, in->c);
    FOR_LANES(mask, { d[i] = multiply_add(in, a[i], b[i], c[i]); });
}

void x_cvt_pack_int(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t *d = plane32(w, in->d), bits = in->size, keep = (1u << bits) - 1;
    const uint32_t *a = plane32(w, in->a), *b = plane32(w, in->b), *c = plane32(w, in->c);
    bool sign = in->flags & F_SIGNED, from = is_signed(in->type2);
    FOR_LANES(mask, {
        uint32_t high = (uint32_t)clamp(extend(a[i], 32, from), bits, sign) & keep;
        uint32_t low = (uint32_t)clamp(extend(b[i], 32, from), bits, sign) & keep;
        d[i] = (bits < 16 ? c[i] << (2 * bits) : 0) | high << bits | low;
    });
}
