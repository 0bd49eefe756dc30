/* How fast the emulator is, in processor time of one thread: integer code, products of tensor cores
 * of each type, and a selection of 131,072 scores, without checks and with all. */
#include "tle/tle_emu.h"

#include "kernels/support/variant.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEAT = 3, TEXT = 1 << 16, ROUNDS = 4000, PRODUCTS = 100 };

static void fail(const char *what, tle_emu_device *d) {
    fprintf(stderr, "%s: %s\n", what, tle_emu_last_error(d));
    exit(1);
}

/* The kernel alone in the text: seconds of the fastest of a few launches. */
static double seconds(tle_emu_device *d, const char *ptx, size_t size, tle_emu_launch_config config,
                      void **params, uint32_t checks) {
    tle_emu_options o = {.struct_size = sizeof o, .checks = checks};
    tle_emu_module *m = NULL;
    double best = 1e9;
    config.struct_size = sizeof config;
    if (tle_emu_configure(d, &o) || tle_emu_module_load(d, ptx, size, "speed", &m))
        fail("load", d);
    for (int i = 0; i < REPEAT; i++) {
        clock_t start = clock();
        if (tle_emu_launch(d, tle_emu_module_kernel_at(m, 0), &config, params))
            fail("launch", d);
        double s = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = s < best ? s : best;
    }
    tle_emu_module_unload(m);
    return best;
}

#define HEAD                                                                                       \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 s[32768];\n"          \
    ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<512>;\n.reg .b64 %rd<8>;\n"                \
    ".reg .pred %p<4>;\nld.param.u64 %rd1, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, 0;\n"

static size_t append(char *text, size_t at, const char *more) {
    size_t n = strlen(more);
    if (at + n >= TEXT)
        exit(1);
    memcpy(text + at, more, n + 1);
    return at + n;
}

static void integers(tle_emu_device *d, void **params) {
    char text[TEXT], line[256];
    size_t at = append(text, 0, HEAD "LOOP:\n");
    for (int i = 0; i < 32; i++) {
        snprintf(line, sizeof line,
                 "mad.lo.u32 %%r%d, %%r0, %%r%d, %%r1;\nxor.b32 %%r%d, %%r%d, %%r0;\n"
                 "shr.u32 %%r%d, %%r%d, 3;\nadd.u32 %%r%d, %%r%d, %%r%d;\n",
                 2 + i, 2 + (i + 1) % 32, 2 + i, 2 + i, 34 + i, 2 + i, 2 + i, 2 + i, 34 + i);
        at = append(text, at, line);
    }
    snprintf(line, sizeof line,
             "add.u32 %%r1, %%r1, 1;\nsetp.lt.u32 %%p1, %%r1, %d;\n@%%p1 bra LOOP;\nret;\n}\n",
             ROUNDS);
    at = append(text, at, line);
    tle_emu_launch_config c = {.block = {256}};
    double lanes = (double)((32 * 4 + 3) * ROUNDS) * 256;
    double plain = seconds(d, text, at, c, params, TLE_EMU_CHECK_NONE);
    double checked = seconds(d, text, at, c, params, TLE_EMU_CHECK_ALL);
    printf("integers: %.0f M lane-instructions/s without checks, %.0f with all\n",
           lanes / plain * 1e-6, lanes / checked * 1e-6);
}

/* A word of each lane, out of global memory, through shared memory and back. */
static void memory(tle_emu_device *d, void **params) {
    char text[TEXT], line[512];
    size_t at = append(text, 0, HEAD);
    snprintf(line, sizeof line,
             "mul.wide.u32 %%rd2, %%r0, 4;\nadd.u64 %%rd1, %%rd1, %%rd2;\nmov.u32 %%r2, s;\n"
             "mul.lo.u32 %%r3, %%r0, 4;\nadd.u32 %%r2, %%r2, %%r3;\nLOOP:\n"
             "ld.global.u32 %%r4, [%%rd1];\nst.shared.u32 [%%r2], %%r4;\n"
             "ld.shared.u32 %%r5, [%%r2];\nst.global.u32 [%%rd1], %%r5;\n"
             "add.u32 %%r1, %%r1, 1;\nsetp.lt.u32 %%p1, %%r1, %d;\n@%%p1 bra LOOP;\nret;\n}\n",
             ROUNDS);
    at = append(text, at, line);
    tle_emu_launch_config c = {.block = {256}};
    double plain = seconds(d, text, at, c, params, TLE_EMU_CHECK_NONE);
    double checked = seconds(d, text, at, c, params, TLE_EMU_CHECK_ALL);
    double lanes = 4.0 * 256 * (double)ROUNDS;
    printf("loads and stores: %.0f M lanes/s without checks, %.0f with all (%.1f times)\n",
           lanes / plain * 1e-6, lanes / checked * 1e-6, checked / plain);
}

/* ---- tensor cores ------------------------------------------------------------------------- */

typedef struct Type {
    const char *name; /* of the instruction, from the accumulator on */
    const char *flags;
    uint32_t k;
    uint32_t word; /* of shared memory: elements of moderate size */
    bool half;
} Type;

static const Type types[] = {
    {"f32.f16.f16", ", 1, 1, 0, 0", 16, 0x3c01b8a5, false},
    {"f16.f16.f16", ", 1, 1, 0, 0", 16, 0x3c01b8a5, true},
    {"f32.bf16.bf16", ", 1, 1, 0, 0", 16, 0x3f81bf25, false},
    {"f32.tf32.tf32", ", 1, 1", 8, 0x3f9cc000, false},
    {"f32.e4m3.e4m3", ", 1, 1", 32, 0x38b93ab4, false},
    {"f32.e5m2.e5m2", ", 1, 1", 32, 0x3cbd3ab9, false},
    {"s32.s8.s8", "", 32, 0x01fe7f83, false},
};

static size_t product(char *text, size_t at, const Type *t) {
    char line[256];
    snprintf(line, sizeof line, "wgmma.mma_async.sync.aligned.m64n256k%u.%s {", t->k, t->name);
    at = append(text, at, line);
    for (int i = 0; i < (t->half ? 64 : 128); i++) {
        snprintf(line, sizeof line, "%s%%r%d", i ? "," : "", 64 + i);
        at = append(text, at, line);
    }
    snprintf(line, sizeof line, "}, %%rd3, %%rd3, %%p1%s;\n", t->flags);
    return append(text, at, line);
}

/* Both operands start at s and are not swizzled; 128 bytes to the other half of k, 256 to the next
 * eight rows. */
static void products(tle_emu_device *d, void **params, const Type *t) {
    char text[TEXT], line[512];
    size_t at = append(text, 0, HEAD);
    snprintf(line, sizeof line,
             "mov.u32 %%r3, s;\nmul.lo.u32 %%r4, %%r0, 4;\nadd.u32 %%r4, %%r3, %%r4;\n"
             "mov.u32 %%r2, 0;\nmov.u32 %%r5, 0x%x;\nFILL:\n"
             "st.shared.u32 [%%r4], %%r5;\nadd.u32 %%r4, %%r4, 512;\nadd.u32 %%r2, %%r2, 1;\n"
             "setp.lt.u32 %%p1, %%r2, 64;\n@%%p1 bra FILL;\nfence.proxy.async;\nbar.sync 0;\n",
             t->word);
    at = append(text, at, line);
    at = append(text, at,
                "shr.u32 %r3, %r3, 4;\ncvt.u64.u32 %rd3, %r3;\nor.b64 %rd3, %rd3, "
                "0x1000080000;\nsetp.eq.u32 %p1, %r1, %r1;\nwgmma.fence.sync.aligned;\nLOOP:\n");
    at = product(text, at, t);
    snprintf(line, sizeof line,
             "add.u32 %%r1, %%r1, 1;\nsetp.lt.u32 %%p2, %%r1, %d;\n@%%p2 bra LOOP;\n"
             "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nret;\n}\n",
             PRODUCTS);
    at = append(text, at, line);
    tle_emu_launch_config c = {.block = {128}};
    double flops = 2.0 * 64 * 256 * t->k * (double)PRODUCTS;
    double plain = seconds(d, text, at, c, params, TLE_EMU_CHECK_NONE);
    double checked = seconds(d, text, at, c, params, TLE_EMU_CHECK_ALL);
    printf("wgmma %s: %.1f GFLOP/s without checks, %.1f with all\n", t->name, flops / plain * 1e-9,
           flops / checked * 1e-9);
}

/* ---- a selection -------------------------------------------------------------------------- */

static void selection(tle_emu_device *d, const char *variant) {
    enum { COLUMNS = 131072, K = 2048 };
    size_t size = 0;
    tle_variant_info info;
    char *ptx = variant_ptx(variant, &size, &info);
    float *scores = NULL;
    void *indices = NULL, *none = NULL;
    int64_t row_stride = COLUMNS, index_stride = K;
    int32_t columns = COLUMNS, k = K, flags = 0;
    uint64_t state = 1;
    if (!ptx || tle_emu_alloc(d, COLUMNS * 4, (void **)&scores) ||
        tle_emu_alloc(d, K * 4, &indices))
        fail(variant, d);
    for (int i = 0; i < COLUMNS; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        scores[i] = (float)(int32_t)(state >> 32);
    }
    tle_emu_launch_config c = {.grid = {(uint32_t)info.cluster[0]},
                               .block = {(uint32_t)info.threads},
                               .cluster = {(uint32_t)info.cluster[0]},
                               .dynamic_shared_bytes = (uint32_t)info.shared_bytes};
    void *params[] = {&scores,       &none,    &none, &indices, &row_stride,
                      &index_stride, &columns, &k,    &flags};
    double plain = seconds(d, ptx, size, c, params, TLE_EMU_CHECK_NONE);
    double checked = seconds(d, ptx, size, c, params, TLE_EMU_CHECK_ALL);
    printf("%s of %d scores: %.3f s without checks, %.3f with all (%.1f times)\n", variant, COLUMNS,
           plain, checked, checked / plain);
    free(ptx);
}

int main(void) {
    tle_emu_device *d = NULL;
    void *words = NULL, *params[] = {&words};
    if (tle_emu_create(NULL, &d) || tle_emu_alloc(d, 4096, &words))
        return 1;
    memset(words, 0, 4096);
    integers(d, params);
    memory(d, params);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        products(d, params, &types[i]);
    selection(d, "topk_select__f32__k2048__radix__v4__w32");
    selection(d, "topk_select__f32__k2048__long__v4__w16");
    tle_emu_destroy(d);
    return 0;
}
