/* Operands at which instructions go wrong: zeros, units, limits, neighbours of one and of what
 * conversions take, ties, subnormals, infinities, NaNs with payloads; as integers and as the bits
 * of each format. The random programs of diff/ draw from the tables by place, so a change of one
 * makes other programs. */
#ifndef EMU_OPERANDS_H
#define EMU_OPERANDS_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t operand_ints[] = {0,
                                        1,
                                        2,
                                        3,
                                        7,
                                        15,
                                        16,
                                        31,
                                        32,
                                        33,
                                        63,
                                        64,
                                        65,
                                        127,
                                        128,
                                        255,
                                        256,
                                        0x7fff,
                                        0x8000,
                                        0xffff,
                                        0x10000,
                                        0x7fffff,
                                        0xffffff,
                                        0x7fffffff,
                                        0x80000000,
                                        0x80000001,
                                        0xfffffffe,
                                        0xffffffff,
                                        0x100000000,
                                        0x7fffffffffffffff,
                                        0x8000000000000000,
                                        0xffffffffffffffff,
                                        0xffffffff80000000,
                                        0x00ff00ff00ff00ff,
                                        0x0123456789abcdef};
static const uint32_t operand_floats[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x00800001,
    0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x40000000, 0x3f000000, 0xbf000000, 0x40200000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0x7fc12345,
    0x4b000000, 0x4b800000, 0x4f000000, 0xcf000000, 0x4f800000, 0x4effffff, 0x5f000000, 0xdf000000,
    0x5f800000, 0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x38800000, 0x387fffff, 0x43e00000,
    0x43e80000, 0x3b000000, 0x47600000, 0x7e800000, 0x7f000000, 0x3effffff, 0x4b000001, 0x437f8000};
static const uint64_t operand_doubles[] = {
    0,
    0x8000000000000000,
    1,
    0x000fffffffffffff,
    0x0010000000000000,
    0x8010000000000001,
    0x3ff0000000000000,
    0xbff0000000000000,
    0x3ff0000000000001,
    0x3fefffffffffffff,
    0x3fe0000000000000,
    0x4004000000000000,
    0x7fefffffffffffff,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff8000000000000,
    0x43e0000000000000,
    0x43f0000000000000,
    0xc3e0000000000000,
    0x41dfffffffc00000,
    0x41e0000000000000,
    0x41efffffffe00000,
    0x47efffffe0000000,
    0x47efffffefffffff,
    0x47effffff0000000,
    0x36a0000000000000,
    0x3690000000000000,
    0x380fffffffffffff,
    0x40effc0000000000,
    0x4340000000000000,
    0x4330000000000001,
};
static const uint16_t operand_halves[] = {
    0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3800, 0x4100,
    0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x3555, 0x6400, 0x7800, 0x5bff, 0x1400, 0x2e66};
static const uint16_t operand_bfloats[] = {
    0,      0x8000, 1,      0x807f, 0x0080, 0x3f80, 0xbf80, 0x3f81, 0x3f7f, 0x3f00, 0x4020, 0x7f7f,
    0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0x4300, 0x4f00, 0x5f00, 0x3e80, 0x0100, 0x7e80, 0xc2c8};

#define OPERANDS_OF(table) (sizeof(table) / sizeof *(table))

enum {
    OPERAND_COUNT = OPERANDS_OF(operand_ints) + OPERANDS_OF(operand_floats) +
                    OPERANDS_OF(operand_doubles) + OPERANDS_OF(operand_halves) +
                    OPERANDS_OF(operand_bfloats)
};

/* All of them one after the other, as registers of 64 bits; of 16 bits in both halves of a word. */
static inline uint64_t operand(size_t i) {
    const size_t floats = OPERANDS_OF(operand_ints), doubles = floats + OPERANDS_OF(operand_floats);
    const size_t halves = doubles + OPERANDS_OF(operand_doubles);
    const size_t bfloats = halves + OPERANDS_OF(operand_halves);
    i %= OPERAND_COUNT;
    return i < floats    ? operand_ints[i]
           : i < doubles ? operand_floats[i - floats]
           : i < halves  ? operand_doubles[i - doubles]
           : i < bfloats ? operand_halves[i - halves] * 0x10001u
                         : operand_bfloats[i - bfloats] * 0x10001u;
}

#endif
