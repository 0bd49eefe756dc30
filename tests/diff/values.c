/* Values of programs: special ones of each format, small numbers, random bits. */
#include "gen.h"
#include <stdlib.h>
#include <string.h>

static const uint64_t ints[] = {0,
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
static const uint32_t floats[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x00800001,
    0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x40000000, 0x3f000000, 0xbf000000, 0x40200000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0x7fc12345,
    0x4b000000, 0x4b800000, 0x4f000000, 0xcf000000, 0x4f800000, 0x4effffff, 0x5f000000, 0xdf000000,
    0x5f800000, 0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x38800000, 0x387fffff, 0x43e00000,
    0x43e80000, 0x3b000000, 0x47600000, 0x7e800000, 0x7f000000, 0x3effffff, 0x4b000001, 0x437f8000};
static const uint64_t doubles[] = {
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
static const uint16_t halves[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00,
                                  0x3c01, 0x3bff, 0x3800, 0x4100, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                  0x7e00, 0x7c01, 0x3555, 0x6400, 0x7800, 0x5bff, 0x1400, 0x2e66};
static const uint16_t bfloats[] = {0,      0x8000, 1,      0x807f, 0x0080, 0x3f80, 0xbf80, 0x3f81,
                                   0x3f7f, 0x3f00, 0x4020, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0,
                                   0x7f81, 0x4300, 0x4f00, 0x5f00, 0x3e80, 0x0100, 0x7e80, 0xc2c8};

#define PICK(table, r) ((table)[(r) % (sizeof(table) / sizeof *(table))])

static uint64_t integer(uint64_t r, uint64_t way) {
    if (way < 35)
        return PICK(ints, r);
    if (way < 65)
        return r % 300 - (r >> 40 & 1) * 150;
    return r;
}

static uint32_t single(uint64_t r, uint64_t way) {
    uint32_t bits = (uint32_t)r;
    if (way < 25)
        return PICK(floats, r);
    if (way < 75) /* from 2^-12 to 2^12 */
        return (bits & 0x807fffffu) | (115 + (uint32_t)(r >> 40) % 25) << 23;
    if (way < 85) /* few bits: ties */
        return (bits & 0x80700000u) | (120 + (uint32_t)(r >> 40) % 16) << 23;
    return bits;
}

static uint64_t wide(uint64_t r, uint64_t r2, uint64_t way) {
    if (way < 25)
        return PICK(doubles, r);
    if (way < 75)
        return (r & 0x800fffffffffffffu) | (1011 + r2 % 25) << 52;
    if (way < 85)
        return (r & 0x800fffffe0000000u) | (1000 + r2 % 60) << 52;
    return r;
}

static uint32_t half(uint64_t r, uint64_t way) {
    if (way < 25)
        return PICK(halves, r);
    if (way < 80)
        return (uint32_t)(r & 0x83ff) | (10 + (uint32_t)(r >> 40) % 11) << 10;
    return (uint32_t)r & 0xffff;
}

static uint32_t brain(uint64_t r, uint64_t way) {
    if (way < 25)
        return PICK(bfloats, r);
    if (way < 80)
        return (uint32_t)(r & 0x807f) | (118 + (uint32_t)(r >> 40) % 19) << 7;
    return (uint32_t)r & 0xffff;
}

uint64_t gen_value(uint64_t *random, DiffKind kind) {
    uint64_t way = gen_next(random) % 100, r = gen_next(random), r2 = gen_next(random);
    switch (kind) {
    case KIND_INT16:
    case KIND_INT32:
    case KIND_INT64:
    case KIND_PRED:
    case KIND_COUNT:
        return integer(r, way);
    case KIND_F16:
        return half(r, way);
    case KIND_BF16:
        return brain(r, way);
    case KIND_F16X2:
        return half(r, way) | half(r2, r >> 57) << 16;
    case KIND_BF16X2:
        return brain(r, way) | brain(r2, r >> 57) << 16;
    case KIND_F32:
        return single(r, way);
    case KIND_F64:
        return wide(r, r2, way);
    }
    return r;
}

/* Words of an area are full even for narrow kinds, for loads may be wider than the kind. */
void diff_input(const DiffProgram *p, uint8_t *in) {
    uint64_t random = p->seed ^ 0x6a09e667f3bcc908u;
    for (uint32_t kind = 0; kind < KIND_COUNT; kind++)
        for (uint32_t i = 0; i < DIFF_AREA; i++) {
            uint64_t v = gen_value(&random, (DiffKind)kind),
                     more = gen_value(&random, (DiffKind)kind);
            uint32_t bits = kind == KIND_PRED ? 64 : 8 * gen_bytes((DiffKind)kind);
            if (bits < 64)
                v = (v & (((uint64_t)1 << bits) - 1)) | more << bits;
            memcpy(in + ((size_t)kind * DIFF_AREA + i) * 8, &v, 8);
        }
}

void diff_output_init(const DiffProgram *p, uint8_t *out) {
    uint64_t random = p->seed;
    memset(out, 0, p->out_bytes);
    if (p->approx < diff_approx_count())
        return;
    for (size_t i = 0; i < DIFF_CLEAR; i++) {
        uint64_t v = gen_next(&random);
        memcpy(out + 8 * i, &v, 8);
    }
}

uint64_t diff_hash(const void *data, size_t bytes) {
    const uint8_t *at = data;
    uint64_t h = 0x9e3779b97f4a7c15u ^ bytes, v;
    for (; bytes >= 8; bytes -= 8, at += 8) {
        memcpy(&v, at, 8);
        h = (h ^ v) * 0x9fb21c651e98df25u;
        h ^= h >> 29;
    }
    for (; bytes; bytes--)
        h = (h ^ *at++) * 0x100000001b3u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

void diff_free(DiffProgram *p) {
    free(p->text);
    p->text = NULL;
}
