/* CUDA programs that sort, scan and convert (tests/emu/algorithms.ptx), run with all checks under
 * every scheduling mode and compared with the same work done in C. */
#include "emu_fixture.h"
#include <math.h>

static const tle_emu_options modes[] = {
    {.struct_size = sizeof *modes},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 4711},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 2},
    {.struct_size = sizeof *modes, .checks = TLE_EMU_CHECK_NONE},
};

#define FOR_MODES(e)                                                                               \
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++)                             \
        for (Emu e = open_programs(mode); e.device; emu_close(&e), e.device = NULL)

static Emu open_programs(size_t mode) {
    Emu e = emu_open(&modes[mode]);
    emu_load_file(&e, "tests/emu/algorithms.ptx");
    return e;
}

/* ---- sorting ------------------------------------------------------------------------------ */

typedef struct Pair {
    uint32_t key, value;
} Pair;

static int by_key_then_value(const void *a, const void *b) {
    const Pair *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* Values number the keys, so a stable sort leaves them ascending among equal keys. */
static void test_radix_sort(void **state) {
    enum { N = 768 };
    (void)state;
    FOR_MODES(e) {
        uint32_t *keys = emu_new(&e, N * 4), *values = emu_new(&e, N * 4);
        Pair want[N];
        uint64_t random = 5;
        for (uint32_t i = 0; i < N; i++) {
            keys[i] = (uint32_t)emu_random(&random) & (i % 3 ? 0xffffffffu : 0xf000001fu);
            values[i] = i;
            want[i] = (Pair){keys[i], i};
        }
        emu_run(&e, "radix_sort", DIM(N / 256, 1, 1), DIM(256, 1, 1), 0,
                (void *[]){&keys, &values});
        for (uint32_t i = 0; i < N; i += 256)
            qsort(want + i, 256, sizeof *want, by_key_then_value);
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(keys[i], want[i].key);
            assert_int_equal(values[i], want[i].value);
        }
    }
}

static int by_float(const void *a, const void *b) {
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static void test_bitonic_sort(void **state) {
    enum { N = 512 };
    (void)state;
    FOR_MODES(e) {
        float *data = emu_new(&e, 2 * N * 4), want[2 * N];
        uint64_t random = 9;
        for (uint32_t i = 0; i < 2 * N; i++)
            want[i] = data[i] = (float)((int)(emu_random(&random) % 2001) - 1000) * 0.125f;
        emu_run(&e, "bitonic_sort", DIM(2, 1, 1), DIM(N / 2, 1, 1), N * 4, (void *[]){&data});
        qsort(want, N, sizeof *want, by_float);
        qsort(want + N, N, sizeof *want, by_float);
        for (uint32_t i = 0; i < 2 * N; i++)
            assert_true(data[i] == want[i]);
    }
}

/* ---- scanning ----------------------------------------------------------------------------- */

static void test_scan_lookback(void **state) {
    enum { PARTS = 13, N = PARTS * 256 };
    (void)state;
    FOR_MODES(e) {
        uint32_t *in = emu_new(&e, N * 4), *out = emu_new(&e, N * 4), sum = 0;
        uint64_t *states = emu_zeros(&e, PARTS * 8), random = 77;
        unsigned *ticket = emu_zeros(&e, 4);
        for (uint32_t i = 0; i < N; i++)
            in[i] = (uint32_t)emu_random(&random);
        emu_run(&e, "scan_lookback", DIM(PARTS, 1, 1), DIM(256, 1, 1), 0,
                (void *[]){&in, &out, &states, &ticket});
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(out[i], sum += in[i]);
    }
}

/* ---- formats ------------------------------------------------------------------------------ */

/* A format of `exponent` and `mantissa` bits below a sign; `infinite`: it has infinities, else one
 * NaN. */
typedef struct Format {
    int exponent, mantissa;
    bool infinite, saturate;
} Format;

static double value_of(const Format *f, uint32_t bits) {
    int m = (int)(bits & ((1u << f->mantissa) - 1)), bias = (1 << (f->exponent - 1)) - 1;
    int e = (int)(bits >> f->mantissa & ((1u << f->exponent) - 1)), top = (1 << f->exponent) - 1;
    double v;
    if (f->infinite && e == top)
        v = m ? NAN : INFINITY;
    else if (!f->infinite && e == top && m == (1 << f->mantissa) - 1)
        v = NAN;
    else
        v = ldexp(e ? m + (1 << f->mantissa) : m, (e ? e : 1) - bias - f->mantissa);
    return bits >> (f->exponent + f->mantissa) ? -v : v;
}

/* The nearest number of the format, by search among its positive ones; ties to even. */
static uint32_t nearest(const Format *f, float x) {
    uint32_t sign = signbit(x) ? 1u << (f->exponent + f->mantissa) : 0, low = 0;
    uint32_t high = ((1u << f->exponent) - 1) << f->mantissa; /* infinity, where there is one */
    double a = fabs((double)x), last, beyond;
    if (!f->infinite)
        high += (1u << f->mantissa) - 1; /* the NaN */
    last = value_of(f, high - 1);
    beyond = last + (last - value_of(f, high - 2)) / 2;
    if (a >= beyond)
        return sign | (f->saturate ? high - 1 : high);
    if (a >= last)
        return sign | (high - 1);
    high--;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        *(value_of(f, middle) <= a ? &low : &high) = middle;
    }
    double down = a - value_of(f, low), up = value_of(f, high) - a;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : high);
}

static void test_formats(void **state) {
    static const Format formats[4] = {
        {4, 3, false, true}, {5, 2, true, true}, {8, 7, true, false}, {5, 10, true, false}};
    enum { N = 3000 };
    (void)state;
    FOR_MODES(e) {
        float *in = emu_new(&e, N * 4), *back = emu_new(&e, N * 16);
        uint8_t *e4m3 = emu_new(&e, N), *e5m2 = emu_new(&e, N);
        uint16_t *bf16 = emu_new(&e, N * 2), *f16 = emu_new(&e, N * 2);
        uint64_t random = 31;
        int n = N;
        for (uint32_t i = 0; i < N; i++) {
            uint32_t r = (uint32_t)emu_random(&random);
            uint32_t bits = i % 4 == 0 ? r : (r & 0x80700000u) | (90 + r % 60) << 23;
            bits = (bits & 0x7f800000u) == 0x7f800000u ? 0x3f800000u : bits;
            memcpy(&in[i], &bits, 4);
        }
        emu_run(&e, "formats", DIM(12, 1, 1), DIM(256, 1, 1), 0,
                (void *[]){&in, &e4m3, &e5m2, &bf16, &f16, &back, &n});
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t got[4] = {e4m3[i], e5m2[i], bf16[i], f16[i]};
            for (uint32_t k = 0; k < 4; k++) {
                assert_int_equal(got[k], nearest(&formats[k], in[i]));
                assert_true((double)back[4 * i + k] == value_of(&formats[k], got[k]));
            }
        }
    }
}

/* ---- copies in flight --------------------------------------------------------------------- */

static void test_pipelined_rows(void **state) {
    enum { ROWS = 7 };
    (void)state;
    FOR_MODES(e) {
        float *in = emu_new(&e, 2 * ROWS * 64 * 4), *sums = emu_new(&e, 64 * 4);
        int rows = ROWS;
        for (int i = 0; i < 2 * ROWS * 64; i++)
            in[i] = (float)(i * 7 % 23 - 11);
        emu_run(&e, "pipelined_rows", DIM(2, 1, 1), DIM(32, 1, 1), 0,
                (void *[]){&in, &sums, &rows});
        for (int i = 0; i < 64; i++) {
            float want = 0;
            for (int r = 0; r < ROWS; r++) {
                const float *row = in + (i / 32 * ROWS + r) * 64;
                want += row[i % 32] * row[63 - i % 32];
            }
            assert_true(sums[i] == want);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_radix_sort),     cmocka_unit_test(test_bitonic_sort),
        cmocka_unit_test(test_scan_lookback),  cmocka_unit_test(test_formats),
        cmocka_unit_test(test_pipelined_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
