/* Tensor maps and tensor copies against a reference written from the CUDA documentation, element by
 * element, and against what an H200 left in the same cases. */
#include "tle/tle_emu.h"

#include "emu_fixture.h"
#include "emu_tensor_cases.h"

static const tle_emu_options modes[] = {
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ROUND_ROBIN},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_RANDOM, .seed = 5},
    {.struct_size = sizeof(tle_emu_options), .schedule = TLE_EMU_SCHEDULE_ADVERSARIAL, .seed = 1},
};

static tle_emu_status encode(Emu *e, void *map, const TensorCase *c, void *tensor) {
    return tle_emu_tensor_map_encode_tiled(e->device, map, c->type, c->rank, tensor, c->dims,
                                           c->strides, c->box, c->steps, 0, c->swizzle, 0, c->fill);
}

/* Where element n of the box lies in shared memory: by its row and its 16-byte column. */
static uint32_t swizzled(const TensorCase *c, uint32_t byte) {
    static const uint32_t spans[] = {0, 32, 64, 128};
    uint32_t inner = c->box[0] * c->bytes;
    if (c->swizzle)
        byte = byte / inner * spans[c->swizzle] + byte % inner;
    uint32_t line = byte / 128, unit = byte / 16 % 8;
    if (c->swizzle == 3)
        unit ^= line % 8;
    else if (c->swizzle == 2)
        unit ^= line % 4;
    else if (c->swizzle == 1)
        unit ^= line % 2;
    return line * 128 + unit * 16 + byte % 16;
}

/* Byte offset in the tensor of the box's element n, or -1 outside. */
static int64_t tensor_byte(const TensorCase *c, uint32_t n) {
    int64_t byte = 0;
    for (uint32_t k = 0; k < c->rank; k++) {
        uint32_t step = k ? c->steps[k] : 1, extent = (c->box[k] + step - 1) / step;
        int64_t x = c->at[k] + (int64_t)(n % extent) * step;
        if (x < 0 || x >= (int64_t)c->dims[k])
            return -1;
        byte += k ? x * (int64_t)c->strides[k - 1] : x * c->bytes;
        n /= extent;
    }
    return byte;
}

static void expect_load(const TensorCase *c, const uint8_t *tensor, uint8_t *want) {
    static const uint8_t zeros[8];
    static const uint8_t nan[8] = {0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f};
    memset(want, 0xee, DUMP_BYTES);
    for (uint32_t n = 0; n < tensor_box(c) / c->bytes; n++) {
        int64_t from = tensor_byte(c, n);
        const uint8_t *outside = c->fill ? nan : zeros;
        memcpy(want + swizzled(c, n * c->bytes), from < 0 ? outside : tensor + from, c->bytes);
    }
}

static void run_case(Emu *e, const TensorCase *c, uint8_t *tensor, uint8_t *dump) {
    _Alignas(64) uint8_t map[128];
    int bytes = (int)tensor_box(c), size = DUMP_BYTES, at[5];
    memcpy(at, c->at, sizeof at);
    if (encode(e, map, c, tensor) != TLE_EMU_OK)
        fail_msg("%s", tle_emu_last_error(e->device));
    void *load[] = {map, &dump, &bytes, &size, at, at + 1, at + 2, at + 3, at + 4};
    void *store[] = {map, &dump, &bytes, at, at + 1, at + 2};
    emu_run(e, c->kernel, DIM(1, 1, 1), DIM(128, 1, 1), DUMP_BYTES,
            tensor_is_load(c) ? load : store);
}

static void test_cases(void **state) {
    (void)state;
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
        Emu e = emu_open(&modes[mode]);
        emu_load_file(&e, "tests/emu/async.ptx");
        uint8_t *tensor = emu_new(&e, TENSOR_BYTES), *dump = emu_new(&e, DUMP_BYTES);
        uint8_t *want = malloc(DUMP_BYTES);
        for (size_t i = 0; i < TENSOR_CASE_COUNT; i++) {
            const TensorCase *c = &tensor_cases[i];
            tensor_fill(tensor, TENSOR_BYTES, c, 1);
            tensor_fill(dump, DUMP_BYTES, c, 2);
            expect_load(c, tensor, want);
            run_case(&e, c, tensor, dump);
            if (tensor_is_load(c) && c->type < TF32 && memcmp(dump, want, DUMP_BYTES) != 0)
                fail_msg("case %zu differs from the reference", i);
            uint64_t hash = tensor_is_load(c) ? tensor_hash(dump, DUMP_BYTES)
                                              : tensor_hash(tensor, TENSOR_BYTES);
            if (hash != c->gpu)
                fail_msg("case %zu: 0x%016llx, an H200 left 0x%016llx", i, (unsigned long long)hash,
                         (unsigned long long)c->gpu);
        }
        free(want);
        emu_close(&e);
    }
}

/* ---- random boxes against the reference --------------------------------------------------- */

static uint32_t pick(uint64_t *rng, uint32_t from, uint32_t to) {
    return from + (uint32_t)(emu_random(rng) % (to - from + 1));
}

/* Tensors of up to 5 dimensions that fit the room, boxes that reach over their edges. */
static TensorCase random_case(uint64_t *rng) {
    static const char *const kernels[] = {"load_1d", "load_2d", "load_3d", "load_4d", "load_5d"};
    static const uint32_t types[] = {U8, U16, U32, U64, F16, F32, BF16},
                          sizes[] = {1, 2, 4, 8, 2, 4, 2};
    static const uint32_t spans[] = {256, 32, 64, 128};
    uint32_t t = pick(rng, 0, 6);
    TensorCase c = {.type = types[t], .bytes = sizes[t], .rank = pick(rng, 1, 5)};
    c.kernel = kernels[c.rank - 1];
    c.swizzle = pick(rng, 0, 3);
    c.fill = t >= 4 ? pick(rng, 0, 1) : 0;
    uint32_t unit = 16 / c.bytes, rows = 1;
    c.box[0] = unit * pick(rng, 1, spans[c.swizzle] / 16);
    c.box[0] = c.box[0] > 256 ? 256 : c.box[0];
    c.dims[0] = unit * pick(rng, 1, 20) + pick(rng, 0, unit - 1);
    c.at[0] = (int32_t)(unit * pick(rng, 0, 20)) - (int32_t)unit * 4;
    c.steps[0] = 1;
    uint64_t stride = (c.dims[0] * c.bytes + 15) / 16 * 16;
    for (uint32_t k = 1; k < c.rank; k++) {
        c.strides[k - 1] = stride;
        c.dims[k] = pick(rng, 1, k == 1 ? 12 : 4);
        stride *= c.dims[k];
        c.steps[k] = pick(rng, 1, 3);
        c.box[k] = pick(rng, 1, k == 1 ? 16 : 3);
        c.at[k] = (int32_t)pick(rng, 0, 14) - 4;
        rows *= (c.box[k] + c.steps[k] - 1) / c.steps[k];
    }
    if (rows * 256 > DUMP_BYTES || stride > TENSOR_BYTES)
        return random_case(rng);
    return c;
}

static void test_random(void **state) {
    uint64_t rng = 77;
    uint8_t *want = malloc(DUMP_BYTES);
    (void)state;
    Emu e = emu_open(&modes[1]);
    emu_load_file(&e, "tests/emu/async.ptx");
    uint8_t *tensor = emu_new(&e, TENSOR_BYTES), *dump = emu_new(&e, DUMP_BYTES);
    for (int n = 0; n < 150; n++) {
        TensorCase c = random_case(&rng);
        tensor_fill(tensor, TENSOR_BYTES, &c, (uint64_t)n);
        expect_load(&c, tensor, want);
        run_case(&e, &c, tensor, dump);
        if (memcmp(dump, want, DUMP_BYTES) != 0)
            fail_msg("random case %d: %s, type %u, swizzle %u", n, c.kernel, c.type, c.swizzle);
    }
    free(want);
    emu_close(&e);
}

static void test_multicast(void **state) {
    static const TensorCase c = {"multicast", I32,  4, 2, {32, 64}, {128},
                                 {32, 8},     ONES, 0, 0, {0},      0};
    _Alignas(64) uint8_t map[128];
    (void)state;
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
        Emu e = emu_open(&modes[mode]);
        emu_load_file(&e, "tests/emu/async.ptx");
        int *tensor = emu_new(&e, 64 * 128), *out = emu_new(&e, 8 * 2048);
        for (int i = 0; i < 64 * 32; i++)
            tensor[i] = i;
        assert_int_equal(encode(&e, map, &c, tensor), TLE_EMU_OK);
        emu_run(&e, "multicast", DIM(8, 1, 1), DIM(64, 1, 1), 0, (void *[]){map, &out});
        for (int i = 0; i < 8 * 512; i++)
            assert_int_equal(out[i], i / 1024 * 512 + i % 512);
        emu_close(&e);
    }
}

/* ---- what is refused ---------------------------------------------------------------------- */

typedef struct Refusal {
    const char *says;
    TensorCase c;
    uint32_t interleave, promotion;
    uint64_t address_off;
    tle_emu_status status;
} Refusal;

static const Refusal refusals[] = {
    {"rank 0", {"", U8, 1, 0, {64}, {0}, {16}, ONES, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"rank 6", {"", U8, 1, 6, {64}, {0}, {16}, ONES, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"data type 13",
     {"", 13, 1, 1, {64}, {0}, {16}, ONES, 0, 0, {0}, 0},
     0,
     0,
     0,
     TLE_EMU_NOT_SUPPORTED},
    {"interleave 1",
     {"", U8, 1, 1, {64}, {0}, {16}, ONES, 0, 0, {0}, 0},
     1,
     0,
     0,
     TLE_EMU_NOT_SUPPORTED},
    {"swizzle 4",
     {"", U8, 1, 1, {64}, {0}, {16}, ONES, 4, 0, {0}, 0},
     0,
     0,
     0,
     TLE_EMU_NOT_SUPPORTED},
    {"promotion 4", {"", U8, 1, 1, {64}, {0}, {16}, ONES, 0, 0, {0}, 0}, 0, 4, 0, 0},
    {"fill 2", {"", F16, 2, 1, {64}, {0}, {16}, ONES, 0, 2, {0}, 0}, 0, 0, 0, 0},
    {"NaN of an integer", {"", U16, 2, 1, {64}, {0}, {16}, ONES, 0, 1, {0}, 0}, 0, 0, 0, 0},
    {"multiple of 16", {"", U8, 1, 1, {64}, {0}, {16}, ONES, 0, 0, {0}, 0}, 0, 0, 8, 0},
    {"dimension 1 of 0", {"", U8, 1, 2, {64, 0}, {64}, {16, 1}, ONES, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"stride 40", {"", U8, 1, 2, {32, 4}, {40}, {16, 1}, ONES, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"less than a row", {"", U8, 1, 2, {64, 4}, {32}, {16, 1}, ONES, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"box of 0", {"", U8, 1, 2, {64, 4}, {64}, {16, 0}, ONES, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"box of 272", {"", U8, 1, 1, {512}, {0}, {272}, ONES, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"element stride 9", {"", U8, 1, 2, {64, 4}, {64}, {16, 1}, {1, 9}, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"element stride 0", {"", U8, 1, 2, {64, 4}, {64}, {16, 1}, {1, 0}, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"rows of the box of 24", {"", U16, 2, 1, {64}, {0}, {12}, ONES, 0, 0, {0}, 0}, 0, 0, 0, 0},
    {"over the swizzle's 32", {"", U16, 2, 1, {64}, {0}, {32}, ONES, 1, 0, {0}, 0}, 0, 0, 0, 0},
};

static void test_refusals(void **state) {
    _Alignas(64) uint8_t map[192];
    (void)state;
    Emu e = emu_open(NULL);
    uint8_t *tensor = emu_zeros(&e, TENSOR_BYTES);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const Refusal *r = &refusals[i];
        const TensorCase *c = &r->c;
        tle_emu_status s = tle_emu_tensor_map_encode_tiled(
            e.device, map, c->type, c->rank, tensor + r->address_off, c->dims, c->strides, c->box,
            c->steps, r->interleave, c->swizzle, r->promotion, c->fill);
        assert_int_equal(s, r->status ? r->status : TLE_EMU_INVALID_ARGUMENT);
        if (!strstr(tle_emu_last_error(e.device), r->says))
            fail_msg("'%s' does not say '%s'", tle_emu_last_error(e.device), r->says);
    }
    const TensorCase *c = &tensor_cases[0];
    assert_int_equal(tle_emu_tensor_map_encode_tiled(NULL, map, 0, 1, tensor, c->dims, NULL, c->box,
                                                     c->steps, 0, 0, 0, 0),
                     TLE_EMU_INVALID_ARGUMENT);
    assert_int_equal(encode(&e, map + 32, c, tensor), TLE_EMU_INVALID_ARGUMENT);
    assert_int_equal(encode(&e, map, c, NULL), TLE_EMU_INVALID_ARGUMENT);
    emu_close(&e);
}

/* Any change to the bytes of a map is seen before it does harm. */
static void test_damaged(void **state) {
    _Alignas(64) uint8_t map[128];
    const TensorCase *c = &tensor_cases[5];
    uint64_t rng = 99;
    (void)state;
    Emu e = emu_open(NULL);
    emu_load_file(&e, "tests/emu/async.ptx");
    uint8_t *tensor = emu_zeros(&e, TENSOR_BYTES), *dump = emu_new(&e, DUMP_BYTES);
    int bytes = (int)tensor_box(c), size = DUMP_BYTES, at[5] = {0};
    void *params[] = {map, &dump, &bytes, &size, at, at + 1, at + 2, at + 3, at + 4};
    for (int n = 0; n < 300; n++) {
        assert_int_equal(encode(&e, map, c, tensor), TLE_EMU_OK);
        map[emu_random(&rng) % 128] ^= (uint8_t)(1u << emu_random(&rng) % 8);
        assert_int_not_equal(
            emu_try(&e, c->kernel, DIM(1, 1, 1), DIM(32, 1, 1), DUMP_BYTES, params), TLE_EMU_OK);
        assert_true(emu_reported(&e, TLE_EMU_REPORT_BAD_OPERAND, 0));
    }
    emu_close(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),     cmocka_unit_test(test_random),
        cmocka_unit_test(test_multicast), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
