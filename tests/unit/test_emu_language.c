/* C++ of tests/emu/language.cu on the emulator, against the same computed here. */
#include "emu_fixture.h"
#include <math.h>

#define LANES 32

static Emu open_language(void) {
    Emu e = emu_open(NULL);
    emu_load_file(&e, "tests/emu/language.ptx");
    return e;
}

static int32_t *ints(Emu *e, uint32_t n) {
    return emu_zeros(e, n * sizeof(int32_t));
}

static void run(Emu *e, const char *kernel, uint32_t threads, void **params) {
    emu_run(e, kernel, DIM(1, 1, 1), DIM(threads, 1, 1), 0, params);
}

static void test_pointers(void **state) {
    Emu e = open_language();
    int32_t *out = ints(&e, LANES);
    void *params[] = {&out};
    (void)state;
    run(&e, "pointers", LANES, params);
    for (int t = 0; t < LANES; t++) {
        int k = t % 2, x = k + 5;
        int want = (k ? x * 2 : x + 2) * 1000000 + (k ? x + 3 : x * 3) * 10000 + 11 * (t % 4 + 1) +
                   "hello"[t % 5] + (k ? -2 : 1) - 4 + 7 + 6;
        assert_int_equal(out[t], want);
    }
    emu_close(&e);
}

static int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static void test_recursion(void **state) {
    Emu e = open_language();
    int32_t *out = ints(&e, LANES);
    void *params[] = {&out};
    (void)state;
    run(&e, "recursion", LANES, params);
    for (int t = 0; t < LANES; t++)
        assert_int_equal(out[t], ackermann(t % 3, t / 3 % 4));
    emu_close(&e);
}

static void test_structures(void **state) {
    Emu e = open_language();
    int32_t *out = ints(&e, LANES), in[20];
    void *params[] = {&out, in};
    (void)state;
    for (int i = 0; i < 20; i++)
        in[i] = i * 7 - 50;
    run(&e, "structures", LANES, params);
    for (int t = 0; t < LANES; t++) {
        uint32_t s = 0;
        for (int i = 0; i < 20; i++)
            s = s * 3 + (uint32_t)(in[i] + (t % 20 == i ? t : 0) + ((t + 3) % 20 == i ? t + 3 : 0));
        assert_int_equal((uint32_t)out[t], s);
    }
    emu_close(&e);
}

static void test_virtuals(void **state) {
    Emu e = open_language();
    int32_t *out = ints(&e, LANES);
    void *params[] = {&out};
    (void)state;
    for (int t = 0; t < LANES; t++)
        out[t] = t + 3;
    run(&e, "virtuals", LANES, params);
    for (int t = 0; t < LANES; t++)
        assert_int_equal(out[t], t & 1 ? (t + 10) * (t + 3) : t + 10);
    emu_close(&e);
}

static int case_of(int v, int k) {
    const int results[] = {k * 3,
                           k / 3,
                           k % 5,
                           k ^ 9,
                           k << 3,
                           __builtin_popcount((unsigned)k),
                           k ? __builtin_clz((unsigned)k) : 32,
                           k * k};
    return v >= 0 && v < 8 ? results[v] : -1;
}

static void test_cases(void **state) {
    Emu e = open_language();
    int32_t *out = ints(&e, LANES);
    void *params[] = {&out};
    (void)state;
    for (int t = 0; t < LANES; t++)
        out[t] = t % 10 - 1;
    run(&e, "cases", LANES, params);
    for (int t = 0; t < LANES; t++)
        assert_int_equal(out[t], case_of(t % 10 - 1, t));
    emu_close(&e);
}

static void test_stack(void **state) {
    Emu e = open_language();
    int32_t *out = ints(&e, LANES);
    void *params[] = {&out};
    (void)state;
    run(&e, "stack", LANES, params);
    for (int t = 0; t < LANES; t++) {
        int n = t + 1, want = 0;
        for (int i = 0; i < 2 * n; i++)
            want += i * i + (i < n ? i * i : 0) + (i < n ? i * i : 0) + (i >= n ? i * i : 0);
        assert_int_equal(out[t], want);
    }
    emu_close(&e);
}

/* ---- warp matrices ------------------------------------------------------------------------ */

/* Small integers in f16: every sum is exact. */
static uint16_t half_of(int v) {
    int a = abs(v), e = 0;
    if (a == 0)
        return 0;
    while (a >> (e + 1))
        e++;
    return (uint16_t)((v < 0 ? 0x8000 : 0) | (e + 15) << 10 | ((a << (10 - e)) & 0x3ff));
}

static void test_fragments(void **state) {
    Emu e = open_language();
    uint16_t *a = emu_zeros(&e, 16 * 24 * 2), *b = emu_zeros(&e, 16 * 32 * 2);
    float *c = emu_zeros(&e, 256 * 4), before[256];
    int va[16][16], vb[16][16];
    uint64_t s = 11;
    void *params[] = {&a, &b, &c};
    (void)state;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            va[i][j] = (int)(emu_random(&s) % 41) - 20;
            vb[i][j] = (int)(emu_random(&s) % 41) - 20;
            a[i * 24 + j] = half_of(va[i][j]);
            b[j * 32 + i] = half_of(vb[i][j]);
            before[i * 16 + j] = c[i * 16 + j] = (float)(emu_random(&s) % 1000);
        }
    run(&e, "fragments", 32, params);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++) {
            float sum = before[i * 16 + j];
            for (int k = 0; k < 16; k++)
                sum += (float)(va[i][k] * vb[k][j]);
            assert_true(c[j * 16 + i] == sum * 2 + 1);
        }
    emu_close(&e);
}

static void test_bytes(void **state) {
    Emu e = open_language();
    int8_t *a = emu_zeros(&e, 256), *b = emu_zeros(&e, 512);
    int32_t *c = ints(&e, 8 * 32);
    uint64_t s = 12;
    void *params[] = {&a, &b, &c};
    (void)state;
    for (int i = 0; i < 256; i++)
        a[i] = (int8_t)emu_random(&s);
    for (int i = 0; i < 512; i++)
        b[i] = (int8_t)emu_random(&s);
    run(&e, "bytes", 32, params);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 32; j++) {
            int sum = 5;
            for (int k = 0; k < 16; k++)
                sum += a[k * 16 + i] * b[k * 32 + j];
            assert_int_equal(c[i * 32 + j], sum);
        }
    emu_close(&e);
}

/* Half-word (row, col) of the matrix whose rows start at the 16-byte chunks of lanes 8 j and on. */
static uint16_t *cell(uint16_t *shared, int j, int row, int col, int flip) {
    int chunk = (8 * j + row) * 37 % 64;
    return shared + ((chunk * 16) ^ flip) / 2 + col;
}

static void test_rows(void **state) {
    Emu e = open_language();
    uint32_t *in = emu_zeros(&e, 2048), *out = emu_zeros(&e, (288 + 512) * 4);
    uint16_t shared[1024], after[1024];
    uint64_t s = 13;
    void *params[] = {&in, &out};
    (void)state;
    for (int i = 0; i < 512; i++)
        in[i] = (uint32_t)emu_random(&s);
    memcpy(shared, in, sizeof shared);
    run(&e, "rows", 32, params);
    for (int j = 0; j < 4; j++)
        for (int t = 0; t < 32; t++)
            for (int h = 0; h < 2; h++) {
                int r = t / 4, c = t % 4 * 2 + h;
                assert_int_equal((out[t + 32 * j] >> (16 * h)) & 0xffff, *cell(shared, j, r, c, 0));
                assert_int_equal((out[t + 32 * (4 + j)] >> (16 * h)) & 0xffff,
                                 *cell(shared, j, c, r, 0));
            }
    for (int t = 0; t < 32; t++)
        assert_int_equal(out[t + 256], out[t + 32 * 6]); /* transposed in registers or on the way */
    memcpy(after, shared, sizeof after);
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++) {
            *cell(after, 0, r, c, 0) = *cell(shared, 3, r, c, 0);
            *cell(after, 1, r, c, 0) = *cell(shared, 0, c, r, 0);
        }
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++)
            *cell(after, 0, r, c, 512) = *cell(shared, 1, c, r, 0);
    assert_memory_equal(out + 288, after, sizeof after);
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointers),   cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_structures), cmocka_unit_test(test_virtuals),
        cmocka_unit_test(test_cases),      cmocka_unit_test(test_stack),
        cmocka_unit_test(test_fragments),  cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
