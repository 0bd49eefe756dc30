/* Matrix products of CUDA programs (tests/emu/matmul.ptx): wmma, mma with ldmatrix, and tensor
 * copies with wgmma. Entries are small integers, so every sum is exact. */
#include "emu_fixture.h"

enum { BF16_TYPE = 9 }; /* CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 */

static const tle_emu_options modes[] = {
    {.struct_size = sizeof *modes},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 21},
    {.struct_size = sizeof *modes, .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 4},
    {.struct_size = sizeof *modes, .checks = TLE_EMU_CHECK_NONE},
};

#define FOR_MODES(e)                                                                               \
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++)                             \
        for (Emu e = open_programs(mode); e.device; emu_close(&e), e.device = NULL)

static Emu open_programs(size_t mode) {
    Emu e = emu_open(&modes[mode]);
    emu_load_file(&e, "tests/emu/matmul.ptx");
    return e;
}

static int entry(int i, int salt) {
    return (i * 37 + i / 64 * 11 + salt) % 15 - 7;
}

static uint16_t bf16_of(int v) {
    float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return (uint16_t)(bits >> 16);
}

/* Integers from -7 to 7: bit patterns of f16. */
static uint16_t f16_of(int v) {
    static const uint16_t magnitudes[] = {0,      0x3c00, 0x4000, 0x4200,
                                          0x4400, 0x4500, 0x4600, 0x4700};
    return (uint16_t)(magnitudes[v < 0 ? -v : v] | (v < 0 ? 0x8000 : 0));
}

/* a is m by k; `across` is the step of b along k, `down` along n. */
static void check(const float *c, int m, int n, int k, int across, int down) {
    for (int y = 0; y < m; y++)
        for (int x = 0; x < n; x++) {
            int sum = 0;
            for (int i = 0; i < k; i++)
                sum += entry(y * k + i, 0) * entry(i * across + x * down, 5);
            assert_true(c[y * n + x] == (float)sum);
        }
}

static void test_wmma(void **state) {
    (void)state;
    FOR_MODES(e) {
        int m = 32, n = 48, k = 64;
        uint16_t *a = emu_new(&e, 32 * 64 * 2), *b = emu_new(&e, 64 * 48 * 2);
        float *c = emu_new(&e, 32 * 48 * 4);
        for (int i = 0; i < m * k; i++)
            a[i] = f16_of(entry(i, 0));
        for (int i = 0; i < k * n; i++)
            b[i] = f16_of(entry(i, 5));
        emu_run(&e, "wmma_product", DIM(3, 2, 1), DIM(32, 1, 1), 0, (void *[]){&a, &b, &c, &n, &k});
        check(c, m, n, k, n, 1);
    }
}

static void test_mma(void **state) {
    (void)state;
    FOR_MODES(e) {
        int k = 80;
        uint16_t *a = emu_new(&e, 16 * 80 * 2), *b = emu_new(&e, 80 * 8 * 2);
        float *c = emu_new(&e, 16 * 8 * 4);
        for (int i = 0; i < 16 * k; i++)
            a[i] = bf16_of(entry(i, 0));
        for (int i = 0; i < k * 8; i++)
            b[i] = bf16_of(entry(i, 5));
        emu_run(&e, "mma_product", DIM(1, 1, 1), DIM(32, 1, 1), 0, (void *[]){&a, &b, &c, &k});
        check(c, 16, 8, k, 8, 1);
    }
}

static void map_of(Emu *e, void *map, void *matrix, uint64_t rows, uint64_t columns) {
    const uint64_t dims[] = {columns, rows}, strides[] = {columns * 2};
    const uint32_t box[] = {64, 64}, steps[] = {1, 1};
    assert_int_equal(tle_emu_tensor_map_encode_tiled(e->device, map, BF16_TYPE, 2, matrix, dims,
                                                     strides, box, steps, 0,
                                                     TLE_EMU_TENSOR_SWIZZLE_128B, 0, 0),
                     TLE_EMU_OK);
}

static void test_specialised(void **state) {
    (void)state;
    FOR_MODES(e) {
        _Alignas(64) uint8_t map_a[128], map_b[128];
        int m = 128, n = 128, k = 320;
        uint16_t *a = emu_new(&e, 128 * 320 * 2), *b = emu_new(&e, 128 * 320 * 2);
        float *c = emu_new(&e, 128 * 128 * 4);
        for (int i = 0; i < m * k; i++)
            a[i] = bf16_of(entry(i, 0));
        for (int i = 0; i < n * k; i++)
            b[i] = bf16_of(entry(i, 5));
        map_of(&e, map_a, a, 128, 320);
        map_of(&e, map_b, b, 128, 320);
        emu_run(&e, "specialised_product", DIM(2, 2, 1), DIM(160, 1, 1), 6 * 64 * 64 * 2,
                (void *[]){map_a, map_b, &c, &n, &k});
        check(c, m, n, k, 1, k);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wmma),
        cmocka_unit_test(test_mma),
        cmocka_unit_test(test_specialised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
