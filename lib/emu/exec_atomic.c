/* atom and red: each active lane in lane order reads, computes and writes. */
#include "exec.h"
#include "fp.h"
#include <string.h>

static uint64_t integer_result(const Insn *in, uint64_t old, uint64_t b, uint64_t c) {
    bool narrow = in->size == 4;
    uint64_t x = narrow ? (uint32_t)old : old, y = narrow ? (uint32_t)b : b;
    int64_t sx = narrow ? (int32_t)old : (int64_t)old, sy = narrow ? (int32_t)b : (int64_t)b;
    bool sign = in->flags & F_SIGNED;
    switch ((int)in->sub) {
    case MOD_ADD:
        return old + b;
    case MOD_MIN:
        return (sign ? sx < sy : x < y) ? old : b;
    case MOD_MAX:
        return (sign ? sx > sy : x > y) ? old : b;
    case MOD_INC:
        return x >= y ? 0 : x + 1;
    case MOD_DEC:
        return x == 0 || x > y ? y : x - 1;
    case MOD_AND:
        return old & b;
    case MOD_OR:
        return old | b;
    case MOD_XOR:
        return old ^ b;
    case MOD_EXCH:
        return b;
    default: { /* cas */
        uint64_t keep = in->size == 8 ? ~(uint64_t)0 : ((uint64_t)1 << (8 * in->size)) - 1;
        return (old & keep) == (b & keep) ? c : old;
    }
    }
}

static uint32_t half_result(const Insn *in, PtxType t, uint32_t old, uint32_t b) {
    double x = fp_unpack(t, old), y = fp_unpack(t, b);
    if (in->sub == MOD_ADD)
        return fp_pack(t, fp_add_odd(x, y), ROUND_RN, false);
    if (x != x || y != y)
        return x != x && y != y ? NAN_16 : x != x ? b : old;
    bool less = x < y || (x == y && (old >> 15) > (b >> 15));
    return less == (in->sub == MOD_MIN) ? old : b;
}

static uint64_t float_result(const Insn *in, uint64_t old, uint64_t b) {
    PtxType t;
    switch ((int)in->type) {
    case TY_F32:
        return fp_canon(fp_f32((uint32_t)old) + fp_f32((uint32_t)b));
    case TY_F64:
        return fp_result64(fp_f64(old) + fp_f64(b), fp_f64(old), fp_f64(b), 0);
    case TY_F16:
    case TY_BF16:
        return half_result(in, (PtxType)in->type, old & 0xffff, b & 0xffff);
    default:
        t = in->type == TY_F16X2 ? TY_F16 : TY_BF16;
        return half_result(in, t, old & 0xffff, b & 0xffff) |
               (uint64_t)half_result(in, t, old >> 16 & 0xffff, b >> 16 & 0xffff) << 16;
    }
}

static bool is_float(const Insn *in) {
    char cls = ptx_type_class((PtxType)in->type);
    return cls == 'F' || cls == 'V';
}

/* What is left in memory; `c` is for cas. */
uint64_t atomic_result(const Insn *in, uint64_t old, uint64_t b, uint64_t c) {
    return is_float(in) && in->sub != MOD_EXCH ? float_result(in, old, b)
                                               : integer_result(in, old, b, c);
}

/* In global memory sums of f32 neither take nor give denormals; in shared memory they do. */
uint64_t atomic_global_result(const Insn *in, uint64_t old, uint64_t b, uint64_t c) {
    if (in->type != TY_F32 || in->sub != MOD_ADD)
        return atomic_result(in, old, b, c);
    old = fp_flush((uint32_t)old);
    return fp_flush((uint32_t)atomic_result(in, old, fp_flush((uint32_t)b), 0));
}

static bool is_global(const Insn *in, uint64_t address) {
    return in->space == SPACE_GLOBAL ||
           (in->space == SPACE_GENERIC && (address & WINDOW_MASK) != SHARED_WINDOW);
}

static uint64_t operand(const Warp *w, const Insn *in, int32_t code, uint32_t i) {
    return in->size == 8 ? plane64(w, code)[i] : plane32(w, code)[i];
}

/* exch and cas of 128 bits: a register is two planes. */
static void lane_atomic_128(Warp *w, const Insn *in, uint32_t i, uint8_t *host) {
    uint64_t old[2], b[2], c[2];
    memcpy(old, host, sizeof old);
    for (int32_t k = 0; k < 2; k++) {
        b[k] = plane64(w, in->ext[1] + 256 * k)[i];
        c[k] = in->sub == MOD_CAS ? plane64(w, in->c + 256 * k)[i] : 0;
    }
    if (in->sub == MOD_EXCH)
        memcpy(host, b, sizeof b);
    else if (old[0] == b[0] && old[1] == b[1])
        memcpy(host, c, sizeof c);
    for (int32_t k = 0; k < 2; k++)
        plane64(w, in->ext[0] + 256 * k)[i] = old[k];
}

/* ext: destinations then sources of a vector; d and b of a scalar. */
static void lane_atomic(Warp *w, const Insn *in, uint32_t i, uint8_t *host, bool global) {
    for (uint32_t k = 0; k < in->vec; k++) {
        uint64_t old = 0, b = operand(w, in, in->ext[in->vec + k], i), r;
        uint64_t c = in->sub == MOD_CAS ? operand(w, in, in->c, i) : 0;
        int32_t d = in->ext[k];
        memcpy(&old, host + k * in->size, in->size);
        r = global ? atomic_global_result(in, old, b, c) : atomic_result(in, old, b, c);
        if (memcmp(host + k * in->size, &r, in->size) != 0)
            note_change(w->launch);
        memcpy(host + k * in->size, &r, in->size);
        if (in->size == 8)
            plane64(w, d)[i] = old;
        else
            plane32(w, d)[i] = (uint32_t)old;
    }
}

void x_atom(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t address[LANES];
    uint8_t *host[LANES];
    bool race = w->launch->checks & TLE_EMU_CHECK_RACE;
    if (in->space != SPACE_SHARED)
        w->cta->cluster->polls++;
    access_addresses(w, in, mask, address);
    uint32_t ok =
        access_resolve(w, in, mask, address, (uint32_t)in->size * in->vec, ACCESS_ATOMIC, host);
    if (ok)
        note_look(w, in, address[first_lane(ok)]);
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(ok >> i & 1))
            continue;
        if (race)
            race_sync_read(w, in, address[i]);
        if (in->type == TY_B128)
            lane_atomic_128(w, in, i, host[i]);
        else
            lane_atomic(w, in, i, host[i], is_global(in, address[i]));
        if (race)
            race_sync_write(w, in, address[i]);
    }
}
