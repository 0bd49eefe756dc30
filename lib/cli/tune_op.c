/* What the operators that can be tuned share: their list, the points of a grid, and values. */
#include "cli/tune_op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TuneOp *const ops[] = {
#define X(name, run, explain) &tune_##name,
#include "cli/operators.def"
#undef X
};

const TuneOp *tune_op(uint32_t number) {
    return ops[number];
}

bool tune_is_among(const int64_t *list, int64_t value) {
    while (*list != TUNE_END && *list != value)
        list++;
    return *list == value;
}

/* ---- values ---- */

static uint16_t half_of(float value) {
    union {
        float value;
        uint32_t bits;
    } u = {.value = value};
    uint32_t sign = u.bits >> 16 & 0x8000, exponent = u.bits >> 23 & 0xff;
    if (exponent < 113)
        return (uint16_t)sign; // below the normal numbers
    return (uint16_t)(sign | (exponent - 112) << 10 | (u.bits >> 13 & 0x3ff));
}

/* SplitMix64: every run has the same values. */
static uint64_t next_bits(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* By Box and Muller. */
static double next_normal(uint64_t *state) {
    double u[2];
    for (int i = 0; i < 2; i++)
        u[i] = ((double)(next_bits(state) >> 11) + 0.5) / 9007199254740992.0;
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

/* The bits of the next element: normal values of floats, any bits of integers. */
static uint64_t next_element(int32_t dtype, uint64_t *state) {
    double value = 0;
    float single = 0;
    uint32_t bits = 0;
    uint64_t wide = 0;
    if (dtype >> 8 < 2)
        return next_bits(state);
    value = next_normal(state);
    single = (float)value;
    memcpy(&bits, &single, sizeof bits);
    memcpy(&wide, &value, sizeof wide);
    return dtype == TLE_DTYPE_FLOAT64    ? wide
           : dtype == TLE_DTYPE_FLOAT32  ? bits
           : dtype == TLE_DTYPE_BFLOAT16 ? bits >> 16
                                         : half_of(single);
}

void tune_fill(int32_t dtype, void *block, size_t bytes) {
    size_t size = (size_t)(dtype & 255) / 8;
    uint64_t state = 1;
    for (size_t at = 0; at + size <= bytes; at += size) {
        uint64_t element = next_element(dtype, &state);
        memcpy((char *)block + at, &element, size); /* the low bytes come first */
    }
}

/* ---- points ---- */

/* Aligned as any input is, and never dereferenced: only asked whether it is supported. */
static bool supported(const TuneOp *op, tle_handle handle, const int64_t *fact) {
    size_t size = 0;
    char *somewhere = (char *)(uintptr_t)256;
    TuneCall call = {.fact = fact, .input = somewhere, .output = somewhere + ((size_t)1 << 40)};
    return op->workspace(handle, &call, &size) == TLE_STATUS_OK;
}

static bool add_point(TuneSet *set, const int64_t *fact) {
    size_t bytes = ((size_t)set->point_count + 1) * sizeof *set->points;
    TunePoint *points = (TunePoint *)realloc(set->points, bytes);
    if (!points)
        return false;
    set->points = points;
    memcpy(points[set->point_count++].fact, fact, sizeof points->fact);
    return true;
}

bool tune_add_points(const TuneOp *op, tle_handle handle, bool quick, TuneSet *set) {
    int at[TUNE_FACTS] = {0};
    for (int f = 0; f < op->facts.count;) {
        int64_t fact[TUNE_FACTS] = {0};
        for (int i = 0; i < op->facts.count; i++)
            fact[i] = op->grid[i][at[i]];
        if (op->wanted(fact, quick) && supported(op, handle, fact) && !add_point(set, fact))
            return false;
        for (f = 0; f < op->facts.count && op->grid[f][++at[f]] == TUNE_END; f++)
            at[f] = 0;
    }
    return true;
}
