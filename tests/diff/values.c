/* Values of programs: special ones of each format, small numbers, random bits. */
#include "emu/operands.h"
#include "gen.h"
#include <stdlib.h>
#include <string.h>

#define PICK(table, r) ((table)[(r) % (sizeof(table) / sizeof *(table))])

static uint64_t integer(uint64_t r, uint64_t way) {
    if (way < 35)
        return PICK(operand_ints, r);
    if (way < 65)
        return r % 300 - (r >> 40 & 1) * 150;
    return r;
}

static uint32_t single(uint64_t r, uint64_t way) {
    uint32_t bits = (uint32_t)r;
    if (way < 25)
        return PICK(operand_floats, r);
    if (way < 75) /* from 2^-12 to 2^12 */
        return (bits & 0x807fffffu) | (115 + (uint32_t)(r >> 40) % 25) << 23;
    if (way < 85) /* few bits: ties */
        return (bits & 0x80700000u) | (120 + (uint32_t)(r >> 40) % 16) << 23;
    return bits;
}

static uint64_t wide(uint64_t r, uint64_t r2, uint64_t way) {
    if (way < 25)
        return PICK(operand_doubles, r);
    if (way < 75)
        return (r & 0x800fffffffffffffu) | (1011 + r2 % 25) << 52;
    if (way < 85)
        return (r & 0x800fffffe0000000u) | (1000 + r2 % 60) << 52;
    return r;
}

static uint32_t half(uint64_t r, uint64_t way) {
    if (way < 25)
        return PICK(operand_halves, r);
    if (way < 80)
        return (uint32_t)(r & 0x83ff) | (10 + (uint32_t)(r >> 40) % 11) << 10;
    return (uint32_t)r & 0xffff;
}

static uint32_t brain(uint64_t r, uint64_t way) {
    if (way < 25)
        return PICK(operand_bfloats, r);
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
