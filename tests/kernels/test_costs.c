/* Cost figures: of small kernels whose figures are known by counting, and bounds on what the
 * curated kernels read, wait and collide. A change that makes a kernel read twice fails here,
 * without a GPU. */
#include "tle/tle_emu.h"

#include "kernels/support/one_row.h"
#include "kernels/support/radix_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A figure of the site whose instruction contains `instruction`. */
static uint64_t site_figure(const char *json, const char *instruction, const char *name) {
    char site[1024];
    const char *sites = strstr(json, "\"sites\":["), *at, *begin;
    assert_non_null(sites);
    at = strstr(sites, instruction);
    if (!at)
        return 0;
    for (begin = at; *begin != '{'; begin--) {
    }
    snprintf(site, sizeof site, "%.*s", (int)strcspn(begin, "}"), begin);
    return cost_figure(site, name);
}

/* Of all sites but those of the class `without` (NULL: of all). */
static uint64_t sum_of_sites(const char *json, const char *name, const char *without) {
    char site[1024], class[64];
    uint64_t sum = 0;
    const char *at = strstr(json, "\"sites\":[");
    assert_non_null(at);
    snprintf(class, sizeof class, "\"class\":\"%s\"", without ? without : "");
    while ((at = strchr(at, '{')) != NULL) {
        size_t n = strcspn(at, "}");
        snprintf(site, sizeof site, "%.*s", (int)n, at);
        if (!strstr(site, class))
            sum += cost_figure(site, name);
        at += n;
    }
    return sum;
}

static void launch(tle_emu_device *d, const char *ptx, size_t size, tle_emu_launch_config config,
                   void **params) {
    tle_emu_module *m = NULL;
    config.struct_size = sizeof config;
    if (tle_emu_module_load(d, ptx, size, "costs", &m) ||
        tle_emu_launch(d, tle_emu_module_kernel_at(m, 0), &config, params))
        fail_msg("%s", tle_emu_last_error(d));
}

/* ---- known by counting -------------------------------------------------------------------- */

/* One warp; `body` finds p in %a, lane in %r0, lane * `scale` in %t, p and sm + that in %at, %st.
 */
static const char frame[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 sm[8192];\n"
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n"
    ".reg .b64 %%a, %%t, %%at, %%st;\nld.param.u64 %%a, [p];\nmov.u32 %%r0, %%tid.x;\n"
    "mul.wide.u32 %%t, %%r0, %u;\nadd.u64 %%at, %%a, %%t;\nmov.u64 %%st, sm;\n"
    "add.u64 %%st, %%st, %%t;\n%s\nret;\n}\n";

static const struct {
    const char *instruction;
    uint32_t scale;
    const char *figure;
    uint64_t want;
} counted[] = {
    {"ld.global.u32 %r1, [%at];", 4, "sectors", 4},
    {"ld.global.u32 %r1, [%at];", 8, "sectors", 8},
    {"ld.global.u32 %r1, [%at];", 128, "sectors", 32},
    {"ld.global.u32 %r1, [%at];", 128, "lines", 32},
    {"ld.global.u32 %r1, [%at+4];", 4, "sectors", 5},
    {"ld.global.u32 %r1, [%a];", 4, "sectors", 1},
    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%at];", 16, "sectors", 16},
    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%at];", 16, "requested_bytes", 512},
    {"st.shared.u32 [%st], %r0;", 4, "bank_conflicts", 0},
    {"st.shared.u32 [%st], %r0;", 8, "bank_conflicts", 1},
    {"st.shared.u32 [%st], %r0;", 64, "bank_conflicts", 15},
    {"st.shared.u32 [%st], %r0;", 128, "bank_conflicts", 31},
    {"st.shared.u32 [%st], %r0;", 132, "bank_conflicts", 0},
    {"st.shared.v2.u32 [%st], {%r0, %r0};", 8, "bank_conflicts", 0},
    {"st.shared.v4.u32 [%st], {%r0, %r0, %r0, %r0};", 16, "bank_conflicts", 0},
    {"red.global.add.u32 [%a], %r0;", 4, "serialised", 31},
    {"red.global.add.u32 [%at], %r0;", 4, "serialised", 0},
};

static void by_counting(void **state) {
    char text[2048], instruction[64];
    (void)state;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        tle_emu_device *d = open_counting(2);
        void *p = NULL;
        int n = snprintf(text, sizeof text, frame, counted[i].scale, counted[i].instruction);
        assert_int_equal(tle_emu_alloc(d, 8192, &p), TLE_EMU_OK);
        memset(p, 0, 8192);
        launch(d, text, (size_t)n, (tle_emu_launch_config){.block = {32}}, (void *[]){&p});
        snprintf(instruction, sizeof instruction, "\"%.*s\"",
                 (int)strcspn(counted[i].instruction, " "), counted[i].instruction);
        uint64_t got = site_figure(tle_emu_cost_json(d), instruction, counted[i].figure);
        if (got != counted[i].want)
            fail_msg("%s at a stride of %u: %s is %llu, not %llu", counted[i].instruction,
                     counted[i].scale, counted[i].figure, (unsigned long long)got,
                     (unsigned long long)counted[i].want);
        assert_int_equal(site_figure(tle_emu_cost_json(d), instruction, "accesses"), 1);
        assert_int_equal(cost_figure(tle_emu_cost_json(d), "by_shared"), 25);
        tle_emu_destroy(d);
    }
}

/* ---- the curated kernels ------------------------------------------------------------------ */

typedef struct Costs {
    uint64_t row_bytes, read_bytes, barriers, conflicts, plain_conflicts, instructions;
} Costs;

/* Scores that are spread like those of a model: sums of uniform numbers. */
static void fill(float *scores, int64_t n) {
    uint64_t state = 12345;
    for (int64_t i = 0; i < n; i++) {
        scores[i] = 0;
        for (int k = 0; k < 4; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            scores[i] += (float)(int32_t)(state >> 32) * 0x1p-31f;
        }
    }
}

/* Scores whose neighbours are alike: sums of 64 that follow each other. */
static void fill_smooth(float *scores, int64_t n) {
    float sum = 0;
    fill(scores, n);
    for (int64_t i = 0; i < 64; i++)
        sum += scores[i];
    for (int64_t i = 0; i < n; i++) {
        float leaves = scores[i];
        scores[i] = sum;
        sum += (i + 64 < n ? scores[i + 64] : 0) - leaves;
    }
}

/* Scores that differ in a few units of the last place. */
static void fill_close(float *scores, int64_t n) {
    fill(scores, n);
    for (int64_t i = 0; i < n; i++)
        scores[i] = 1 + fabsf(scores[i]) * 0x1p-20f;
}

/* 480 neighbours larger than all others, which go to one warp. */
static void fill_block(float *scores, int64_t n) {
    fill(scores, n);
    for (int64_t i = n / 3; i < n / 3 + 480; i++)
        scores[i] += 8;
}

static Costs costs_of_row(const char *variant, int64_t columns, int32_t k,
                          void (*fill_row)(float *scores, int64_t n)) {
    tle_emu_device *d = open_counting(2);
    float *scores = malloc((size_t)columns * sizeof *scores);
    assert_non_null(d);
    assert_non_null(scores);
    fill_row(scores, columns);
    const char *wrong = select_one_row(
        d, &(OneRow){.variant = variant, .scores = scores, .columns = columns, .k = k});
    if (wrong)
        fail_msg("%s: %s", variant, wrong);
    const char *json = tle_emu_cost_json(d);
    Costs c = {.row_bytes = (uint64_t)columns * 4,
               .read_bytes = cost_figure(json, "global_load_sectors") * 32,
               .barriers = cost_figure(json, "barriers"),
               .conflicts = cost_figure(json, "shared_bank_conflicts"),
               .plain_conflicts = sum_of_sites(json, "bank_conflicts", "atomic"),
               .instructions = cost_figure(json, "warp_instructions")};
    assert_int_equal(sum_of_sites(json, "warps", NULL), c.instructions);
    assert_int_equal(sum_of_sites(json, "bank_conflicts", NULL), c.conflicts);
    print_message("%s, %lld columns: %.3f of the row read, %llu barriers, %llu bank conflicts "
                  "(%llu not of atomics), %llu instructions\n",
                  variant, (long long)columns, (double)c.read_bytes / (double)c.row_bytes,
                  (unsigned long long)c.barriers, (unsigned long long)c.conflicts,
                  (unsigned long long)c.plain_conflicts, (unsigned long long)c.instructions);
    tle_emu_destroy(d);
    free(scores);
    return c;
}

/* Bounds: the row is read once, but for one in fifty, beside what is sampled; barriers of a row;
 * bank conflicts of loads and stores. A tile's eight warps each sample 128 columns, a long row has
 * a sample of 4,096 columns of 131,072. In a cluster each CTA reads the whole sample. */
static const struct {
    const char *variant;
    int64_t columns;
    int32_t k;
    uint64_t sampled, barriers, plain_conflicts;
} bounds[] = {
    {"topk_select__f32__k512__tile4k__v4__w8", 4096, 512, 0, 7, 0},
    {"topk_select__f32__k1024__tile4k__v4__w8", 4096, 1024, 0, 7, 30},
    {"topk_select__f32__k2048__tile4k__v4__w8", 4096, 2048, 0, 7, 150},
    {"topk_select__f32__kany__tile4k__v4__w16", 4096, 100, 0, 7, 0},
    {"topk_select__f32__k2048__tile16k__v4__w32", 16384, 2048, 0, 7, 0},
    {"topk_select__f32__k512__long__v4__w16", 131072, 512, 4096, 19, 1000},
    {"topk_select__f32__k2048__long__v4__w16", 131072, 2048, 4096, 19, 1250},
    {"topk_select__f32__k2048__longonce__v4__w16", 131072, 2048, 4096, 19, 1250},
    {"topk_select__f32__k2048__longer__v4__w16", 262144, 2048, 8192, 20, 1400},
    {"topk_select__f32__kany__mark8_16k__v4__w16", 16384, 2048, 8 * 2048, 112, 230},
    {"topk_select__f32__kany__mark8_128k__v4__w16", 131072, 2048, 8 * 4096, 136, 300},
    {"topk_select__f32__kany__mark16_128k__v4__w16", 131072, 2048, 16 * 4096, 272, 512},
    {"topk_select__f32__kany__mark2_64k__v4__w16", 65536, 2048, 2 * 8192, 36, 800},
    {"topk_select__f32__kany__mark2_128k__v4__w16", 131072, 2048, 2 * 8192, 36, 900},
    {"topk_select__f32__kany__mark2_256k__v4__w16", 262144, 2048, 2 * 8192, 38, 1100},
    {"topk_select__f32__kany__mark2_long__v4__w16", 524288, 2048, 2 * 16384, 38, 1250},
    {"topk_select__f32__kany__mark2_long__v4__w16", 1048576, 2048, 2 * 16384, 38, 1100},
    {"topk_select__f32__kany__mark4_long__v4__w16", 1048576, 2048, 4 * 16384, 76, 450},
    {"topk_select__f32__kany__mark8_long__v4__w16", 1048576, 2048, 8 * 16384, 136, 420},
    {"topk_select__f32__kany__mark16_long__v4__w16", 1048576, 2048, 16 * 16384, 272, 520},
};

static void curated(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        Costs c = costs_of_row(bounds[i].variant, bounds[i].columns, bounds[i].k, fill);
        assert_true(c.read_bytes >= c.row_bytes);
        assert_true(c.read_bytes * 50 <= c.row_bytes * 51 + bounds[i].sampled * 4 * 50);
        assert_true(c.barriers <= bounds[i].barriers);
        assert_true(c.plain_conflicts <= bounds[i].plain_conflicts);
    }
}

/* A sample tells as well where the mark is where neighbours are alike, or all scores, and one warp
 * may list many: such rows are read once too. */
static void read_once(void **state) {
    static const struct {
        const char *variant;
        void (*fill_row)(float *scores, int64_t n);
        int64_t columns;
        uint64_t sampled;
    } rows[] = {
        {"topk_select__f32__kany__mark8_16k__v4__w16", fill_smooth, 16384, 8 * 2048},
        {"topk_select__f32__kany__mark8_64k__v4__w16", fill_smooth, 65536, 8 * 4096},
        {"topk_select__f32__kany__mark8_128k__v4__w16", fill_smooth, 131072, 8 * 4096},
        {"topk_select__f32__kany__mark16_256k__v4__w16", fill_smooth, 262144, 16 * 8192},
        {"topk_select__f32__kany__mark2_64k__v4__w16", fill_smooth, 65536, 2 * 8192},
        {"topk_select__f32__kany__mark2_256k__v4__w16", fill_smooth, 262144, 2 * 8192},
        {"topk_select__f32__kany__mark4_long__v4__w16", fill_smooth, 524288, 4 * 16384},
        {"topk_select__f32__kany__mark8_long__v4__w16", fill_smooth, 262144, 8 * 16384},
        {"topk_select__f32__kany__mark2_long__v4__w16", fill_smooth, 1048576, 2 * 16384},
        {"topk_select__f32__kany__mark16_long__v4__w16", fill_smooth, 1048576, 16 * 16384},
        {"topk_select__f32__kany__mark8_16k__v4__w16", fill_close, 16384, 8 * 2048},
        {"topk_select__f32__kany__mark2_64k__v4__w16", fill_close, 65536, 2 * 8192},
        {"topk_select__f32__kany__mark2_128k__v4__w16", fill_close, 131072, 2 * 8192},
        {"topk_select__f32__kany__mark8_long__v4__w16", fill_close, 262144, 8 * 16384},
        {"topk_select__f32__kany__mark8_128k__v4__w16", fill_block, 131072, 8 * 4096},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Costs c = costs_of_row(rows[i].variant, rows[i].columns, 2048, rows[i].fill_row);
        assert_true(c.read_bytes * 50 <= c.row_bytes * 51 + rows[i].sampled * 4 * 50);
    }
}

/* ---- radix selection ---------------------------------------------------------------------- */

typedef struct RadixCost {
    const char *variant;
    int64_t columns, k;
    uint64_t read_percent, barriers;
    bool found, ok;
} RadixCost;

static bool radix_cost(const RadixVariant *v, void *user) {
    RadixCost *want = user;
    RadixCase c = {.rows = 1,
                   .columns = want->columns,
                   .k = want->k,
                   .length = RADIX_ALL_COLUMNS,
                   .values = RADIX_NORMAL};
    char why[1100];
    if (strcmp(v->name, want->variant) != 0)
        return true;
    tle_emu_device *d = open_counting(2);
    tle_emu_kernel *kernel = radix_kernel(d, v);
    want->found = true;
    if (!kernel || !radix_run(d, kernel, v, &c, why, sizeof why))
        fail_msg("%s", why);
    const char *json = tle_emu_cost_json(d);
    uint64_t row = (uint64_t)c.columns * v->type->bytes;
    uint64_t read = cost_figure(json, "global_load_sectors") * 32,
             barriers = cost_figure(json, "barriers");
    print_message("%s, %lld columns: %.3f of the row read, %llu barriers, %llu instructions\n",
                  v->name, (long long)c.columns, (double)read / (double)row,
                  (unsigned long long)barriers,
                  (unsigned long long)cost_figure(json, "warp_instructions"));
    want->ok = read >= row && read * 100 <= row * want->read_percent && barriers <= want->barriers;
    tle_emu_destroy(d);
    return false;
}

static void radix(void **state) {
    static const RadixCost costs[] = {
        {"radix_select__f32__index__short4k__v4__w16", 4096, 512, 102, 12, false, false},
        {"radix_select__f32__index__stream__v4__w32", 8192, 2048, 102, 12, false, false},
        {"radix_select__f32__index__stream__v4__w32", 131072, 2048, 107, 54, false, false},
        {"radix_select__f32__sorted__stream__v4__w32", 131072, 2048, 107, 64, false, false},
        {"radix_select__f32__index__stream__v4__w32", 131072, 4096, 205, 54, false, false},
        {"radix_select__f16__index__stream__v8__w32", 131072, 2048, 107, 48, false, false},
        {"radix_select__i64__index__stream__v2__w32", 131072, 2048, 105, 100, false, false},
        {"radix_select__f32__index__stream__v1__w32", 131072, 2048, 117, 150, false, false},
        {"radix_select__f32__index__cluster8__v4__w32", 32768, 2048, 102, 180, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        RadixCost c = costs[i];
        radix_variants(radix_cost, &c);
        assert_true(c.found);
        assert_true(c.ok);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_counting),
        cmocka_unit_test(curated),
        cmocka_unit_test(read_once),
        cmocka_unit_test(radix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
