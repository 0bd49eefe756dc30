/* Shared by the decoder and the handlers of matrix instructions.
 *
 * An instruction's registers stand in `ext`: destination first, then A, B and C as far as they are
 * registers. Fields: type, type2 and sub2 are the types of D, A and B; imm the shape; size, vec and
 * rounding the numbers of registers of D, A and B; sub the MATRIX_ bits. */
#ifndef EMU_MATRIX_H
#define EMU_MATRIX_H

#include "dot.h"
#include "exec.h"

enum {
    MATRIX_TRANS_A = 1,
    MATRIX_TRANS_B = 2,
    MATRIX_NEGATE_A = 4,
    MATRIX_NEGATE_B = 8,
    MATRIX_REGISTER_A = 16,
    MATRIX_COLUMNS = 32, /* wmma.load and store: by columns */
    MATRIX_STRIDE = 64   /* likewise: with a stride, in register c */
};

static inline int64_t matrix_shape(uint32_t m, uint32_t n, uint32_t k) {
    return (int64_t)(m | n << 10 | k << 20);
}

static inline uint32_t matrix_m(const Insn *in) {
    return (uint32_t)in->imm & 1023;
}

static inline uint32_t matrix_n(const Insn *in) {
    return (uint32_t)in->imm >> 10 & 1023;
}

static inline uint32_t matrix_k(const Insn *in) {
    return (uint32_t)in->imm >> 20 & 1023;
}

static inline bool matrix_is_int(PtxType t) {
    return t == TY_S8 || t == TY_U8 || t == TY_S4 || t == TY_U4;
}

/* Bits of an element; bytes of the others are those of their type. */
static inline uint32_t matrix_bits(PtxType t) {
    return t == TY_S4 || t == TY_U4 ? 4 : 8 * ptx_type_bytes(t);
}

static inline int16_t matrix_int(PtxType t, uint32_t raw) {
    switch ((int)t) {
    case TY_S8:
        return (int8_t)raw;
    case TY_S4:
        return (int16_t)((int32_t)(raw << 28) >> 28);
    default:
        return (int16_t)raw;
    }
}

static inline bool matrix_is_fp8(PtxType t) {
    return t == TY_E4M3 || t == TY_E5M2;
}

/* Raw elements of an operand, `n` of them, into the tile's A or B. */
void matrix_operand(PtxType type, const uint32_t *raw, uint32_t n, bool negate, float *value,
                    int16_t *exponent, DotRange *range);
/* C of the tile from registers and back: lane and register index give row and column. */
void matrix_load_c(const Warp *w, PtxType type, const int32_t *regs, uint32_t n, uint32_t count,
                   DotTile *t);
void matrix_store_c(const Warp *w, PtxType type, const int32_t *regs, uint32_t n, uint32_t count,
                    const DotTile *t);
/* A of 16 or 8 rows from the registers of mma.sync and wgmma, row by row into raw. */
void matrix_gather_a(const Warp *w, const int32_t *regs, uint32_t count, uint32_t m, uint32_t k,
                     uint32_t bits, uint32_t *raw);
/* True when the whole warp is there; else the fragment waits. */
bool matrix_together(Warp *w, const Insn *in, uint32_t mask);
void matrix_count(Warp *w, const Insn *in, uint32_t m);

#endif
