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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
