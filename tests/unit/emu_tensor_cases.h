/* Tensor copies that the emulator and a GPU both make: boxes of a small tensor, loaded, stored or
 * added. `gpu` is the hash of what an H200 left, found with these same cases. */
#ifndef EMU_TENSOR_CASES_H
#define EMU_TENSOR_CASES_H

#include <stdint.h>
#include <string.h>

enum { U8, U16, U32, I32, U64, I64, F16, F32, F64, BF16, F32_FTZ, TF32, TF32_FTZ };

typedef struct TensorCase {
    const char *kernel;
    uint32_t type, bytes, rank;
    uint64_t dims[5], strides[4];
    uint32_t box[5], steps[5];
    uint32_t swizzle, fill;
    int32_t at[5];
    uint64_t gpu;
} TensorCase;

#define TENSOR_BYTES 65536u /* room for the tensor */
#define DUMP_BYTES   32768u /* of shared memory */
#define ONES         {1, 1, 1, 1, 1}

static const TensorCase tensor_cases[] = {
    {"load_1d", U8, 1, 1, {1000}, {0}, {256}, ONES, 0, 0, {32}, 0xa479878e3d282aa9},
    {"load_1d", U32, 4, 1, {300}, {0}, {256}, ONES, 0, 0, {100}, 0xbee388c2655a1735},
    {"load_1d", F32, 4, 1, {300}, {0}, {64}, ONES, 0, 1, {-8}, 0x011f77063e6b1156},
    {"load_1d", F64, 8, 1, {300}, {0}, {64}, ONES, 0, 1, {290}, 0x099c1ef073ab68bb},
    {"load_1d", U64, 8, 1, {64}, {0}, {16}, ONES, 3, 0, {10}, 0x3aa8ad31d766dc1e},
    {"load_2d", F16, 2, 2, {128, 64}, {256}, {64, 32}, ONES, 3, 0, {64, 16}, 0xdc555c41de46aba3},
    {"load_2d", F16, 2, 2, {128, 64}, {256}, {32, 32}, ONES, 2, 0, {32, 3}, 0xf081caadaf260a3e},
    {"load_2d", F16, 2, 2, {128, 64}, {256}, {16, 32}, ONES, 1, 0, {16, 40}, 0x01bdb90dcde9d0a5},
    {"load_2d", F16, 2, 2, {128, 64}, {256}, {64, 32}, ONES, 0, 0, {-8, -7}, 0xd22fe8196797bafb},
    {"load_2d", BF16, 2, 2, {100, 50}, {208}, {64, 16}, ONES, 3, 1, {72, 45}, 0x086a122bca256c12},
    {"load_2d", U8, 1, 2, {200, 77}, {208}, {128, 64}, ONES, 3, 0, {96, 30}, 0xf4f6d191905d125c},
    {"load_2d", U8, 1, 2, {200, 77}, {208}, {32, 9}, ONES, 3, 0, {16, 5}, 0x3b50562325139adb},
    {"load_2d", F32, 4, 2, {40, 60}, {160}, {8, 20}, ONES, 2, 0, {4, 5}, 0xff934c1465dff582},
    {"load_2d", F32, 4, 2, {40, 60}, {160}, {4, 20}, ONES, 1, 1, {-4, 55}, 0x1ab18bdcffe862e5},
    {"load_2d", F32_FTZ, 4, 2, {40, 60}, {160}, {32, 20}, ONES, 0, 0, {0, 0}, 0x115ab7951e0e6c46},
    {"load_2d", TF32, 4, 2, {40, 60}, {160}, {32, 20}, ONES, 0, 0, {0, 0}, 0x73a3b362ac1b5041},
    {"load_2d", TF32_FTZ, 4, 2, {40, 60}, {160}, {32, 20}, ONES, 0, 0, {0, 0}, 0x73a3b362ac1b5041},
    {"load_2d",
     U32,
     4,
     2,
     {40, 60},
     {160},
     {32, 20},
     {1, 2, 1, 1, 1},
     3,
     0,
     {4, 7},
     0xf16608740062249c},
    {"load_2d",
     U32,
     4,
     2,
     {40, 60},
     {160},
     {32, 21},
     {2, 4, 1, 1, 1},
     0,
     0,
     {-4, 50},
     0xd6ca7bdee57ba0e2},
    {"load_3d",
     U16,
     2,
     3,
     {32, 20, 10},
     {64, 1280},
     {32, 6, 4},
     ONES,
     2,
     0,
     {8, 17, 8},
     0x59c7a3ff4709108a},
    {"load_3d",
     F16,
     2,
     3,
     {64, 7, 5},
     {128, 896},
     {64, 8, 5},
     ONES,
     3,
     1,
     {0, 0, 0},
     0x17aaaf3e7352c865},
    {"load_4d",
     I32,
     4,
     4,
     {16, 6, 5, 4},
     {64, 384, 1920},
     {16, 3, 2, 2},
     ONES,
     2,
     0,
     {4, 4, 4, -1},
     0x084af1bb76b6a0de},
    {"load_5d",
     U8,
     1,
     5,
     {48, 5, 4, 3, 3},
     {48, 240, 960, 2880},
     {32, 3, 2, 2, 2},
     ONES,
     1,
     0,
     {16, 3, -1, 2, 1},
     0xa3eb3f4ff79ad8ce},
    {"load_5d",
     U8,
     1,
     5,
     {48, 5, 4, 3, 3},
     {48, 240, 960, 2880},
     {16, 4, 4, 2, 2},
     {1, 2, 3, 1, 2},
     0,
     0,
     {16, 1, 0, 0, 0},
     0x8d42c63a2832d4dd},
    {"store_3d",
     U16,
     2,
     3,
     {32, 20, 10},
     {64, 1280},
     {32, 6, 4},
     ONES,
     2,
     0,
     {8, 17, 8},
     0x25a48d505d5e0e72},
    {"store_3d",
     U32,
     4,
     3,
     {32, 20, 8},
     {128, 2560},
     {32, 6, 3},
     {1, 3, 2, 1, 1},
     3,
     0,
     {4, 2, 1},
     0x95ead91590b14960},
    {"store_3d",
     TF32,
     4,
     3,
     {32, 20, 8},
     {128, 2560},
     {32, 6, 3},
     ONES,
     0,
     0,
     {4, 2, 1},
     0x6f4dac70cffd9120},
    {"add_3d",
     U64,
     8,
     3,
     {16, 20, 10},
     {128, 2560},
     {16, 6, 3},
     ONES,
     3,
     0,
     {4, 2, 1},
     0xbc686bd5c01edbb4},
    {"add_3d",
     F32,
     4,
     3,
     {32, 20, 10},
     {128, 2560},
     {32, 6, 3},
     ONES,
     3,
     0,
     {0, 0, 0},
     0xb60d0aa9087b0e8f},
    {"add_3d",
     F16,
     2,
     3,
     {64, 20, 10},
     {128, 2560},
     {64, 6, 3},
     ONES,
     3,
     0,
     {0, 0, 0},
     0xf991cfc2ddc58cf8},
    {"add_3d",
     BF16,
     2,
     3,
     {64, 20, 10},
     {128, 2560},
     {64, 6, 3},
     ONES,
     0,
     0,
     {0, 0, 0},
     0xa6d94bb4f28ce094},
    {"max_3d",
     I32,
     4,
     3,
     {32, 20, 10},
     {128, 2560},
     {32, 6, 3},
     ONES,
     0,
     0,
     {0, 0, 0},
     0xf216b81108a7db96},
    {"max_3d",
     I64,
     8,
     3,
     {16, 20, 10},
     {128, 2560},
     {16, 6, 3},
     ONES,
     0,
     0,
     {0, 0, 0},
     0x54159e172868bdaa},
    {"max_3d",
     F16,
     2,
     3,
     {64, 20, 10},
     {128, 2560},
     {64, 6, 3},
     ONES,
     0,
     0,
     {0, 0, 0},
     0xb16a835bc528f96e},
    {"add_3d",
     U32,
     4,
     3,
     {32, 20, 10},
     {128, 2560},
     {32, 6, 3},
     ONES,
     3,
     0,
     {32, 2, 1},
     0xb54195537ec87272},
    {"load_2d", F32, 4, 2, {40, 60}, {160}, {32, 20}, ONES, 0, 0, {200, -100}, 0x4112492f7d2ec325},
};

#define TENSOR_CASE_COUNT (sizeof tensor_cases / sizeof *tensor_cases)

static inline uint64_t tensor_mix(uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Any bits: denormals and infinities too, but no NaNs, whose bits are no matter here. */
static inline void tensor_fill(uint8_t *p, uint32_t bytes, const TensorCase *c, uint64_t seed) {
    for (uint32_t i = 0; i < bytes; i += c->bytes) {
        uint64_t v = tensor_mix(seed + i);
        int floats = c->type >= F16;
        if (floats && c->bytes == 2)
            v &= c->type == F16 ? 0xfbff : 0xff7f;
        if (floats && c->bytes == 4)
            v &= i % 12 == 0 ? 0x807fffffu : 0xff7fffffu;
        if (floats && c->bytes == 4 && i % 20 == 0)
            v = (v & ~(uint64_t)0x1fff) | 0x1000; /* half way between two tf32 */
        if (floats && c->bytes == 8)
            v &= 0xffefffffffffffffu;
        memcpy(p + i, &v, c->bytes);
    }
}

static inline int tensor_is_load(const TensorCase *c) {
    return c->kernel[0] == 'l';
}

static inline uint32_t tensor_box(const TensorCase *c) {
    uint32_t n = c->bytes * c->box[0];
    for (uint32_t k = 1; k < c->rank; k++)
        n *= (c->box[k] + c->steps[k] - 1) / c->steps[k];
    return n;
}

static inline uint64_t tensor_hash(const uint8_t *p, uint32_t bytes) {
    uint64_t h = 0xcbf29ce484222325u;
    for (uint32_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

#endif
