/* The operators that can be tuned: their facts, the grid of points, and how a call is made. */
#include "cli/tune_op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- topk_select ---- */

enum { TOPK_rows, TOPK_columns, TOPK_k, TOPK_align, TOPK_form, TOPK_dtype, TOPK_COUNT };

static const char *const topk_dtypes[] = {"fp32", "bf16", "fp16", NULL};
static const int32_t topk_dtype_ids[] = {TLE_DTYPE_FLOAT32, TLE_DTYPE_BFLOAT16, TLE_DTYPE_FLOAT16};
static const int64_t topk_dtype_bytes[] = {4, 2, 2};

static const TuneFact topk_facts[TOPK_COUNT] = {
    {"rows", TUNE_SPAN, TLE_TOPK_SELECT_MAX_ROWS, NULL},
    {"columns", TUNE_SPAN, TLE_TOPK_SELECT_MAX_COLUMNS, NULL},
    {"k", TUNE_SIZE, TLE_TOPK_SELECT_MAX_K, NULL},
    {"align", TUNE_ALIGN, 16, NULL},
    {"form", TUNE_EQUAL, 1, NULL},
    {"dtype", TUNE_TEXT, 0, topk_dtypes}};

static const int64_t topk_rows[] = {1,  2,  4,  6,   8,   12,  16,  24,   32,
                                    48, 64, 96, 128, 192, 256, 512, 1024, TUNE_END};
static const int64_t topk_columns[] = {2048,  4096,  8192,   16384,  24576,  32768,   49152,
                                       65536, 98304, 131072, 262144, 524288, 1048576, TUNE_END};
static const int64_t topk_ks[] = {100, 512, 900, 1024, 2047, 2048, TLE_TOPK_SELECT_MAX_K, TUNE_END};
static const int64_t topk_aligns[] = {4, 16, TUNE_END}, topk_forms[] = {0, 1, TUNE_END};
static const int64_t topk_dtype_grid[] = {0, 1, 2, TUNE_END};
static const int64_t *const topk_grid[TOPK_COUNT] = {topk_rows,   topk_columns, topk_ks,
                                                     topk_aligns, topk_forms,   topk_dtype_grid};

/* Kernels are made for these; other sizes share kernels. */
static bool topk_is_usual(int64_t k) {
    return k == 512 || k == 1024 || k == 2048;
}

static bool power_of(int64_t base, int64_t value) {
    while (value % base == 0)
        value /= base;
    return value == 1;
}

/* The full grid for the usual calls, aligned rows of fp32 and a usual k; a coarse one for others.
 */
static bool topk_wanted(const int64_t *f, bool quick) {
    enum { MOST_ELEMENTS = 1 << 28 };
    bool usual_k = topk_is_usual(f[TOPK_k]), plain = f[TOPK_align] == 16 && !f[TOPK_form];
    bool coarse = power_of(4, f[TOPK_rows]) && f[TOPK_rows] <= 256 && power_of(2, f[TOPK_columns]);
    if (f[TOPK_columns] <= f[TOPK_k] || f[TOPK_rows] * f[TOPK_columns] > MOST_ELEMENTS)
        return false;
    if (f[TOPK_form] && usual_k)
        return false; // nothing is made for them there
    return coarse || (!quick && usual_k && plain && f[TOPK_dtype] == 0);
}

static int topk_input_kind(const int64_t *f) {
    return (int)f[TOPK_dtype];
}

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

/* Normal values by Box and Muller, of a generator of its own so that every run has the same. */
static float next_normal(uint64_t *state) {
    double u[2];
    for (int i = 0; i < 2; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        u[i] = ((double)(*state >> 33) + 0.5) / 2147483648.0;
    }
    return (float)(sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]));
}

static void topk_fill(int kind, void *block, size_t bytes) {
    uint64_t state = 1;
    size_t count = bytes / (size_t)topk_dtype_bytes[kind];
    for (size_t i = 0; i < count; i++) {
        float value = next_normal(&state);
        uint32_t bits = 0;
        memcpy(&bits, &value, sizeof bits);
        if (kind == 0)
            memcpy((char *)block + 4 * i, &bits, 4);
        else
            ((uint16_t *)block)[i] = kind == 1 ? (uint16_t)(bits >> 16) : half_of(value);
    }
}

static size_t topk_input_bytes(const int64_t *f) {
    return (size_t)(f[TOPK_rows] * f[TOPK_columns] * topk_dtype_bytes[f[TOPK_dtype]]);
}

/* Indices, then the values of a form. */
static size_t topk_output_bytes(const int64_t *f) {
    return (size_t)(f[TOPK_rows] * f[TOPK_k]) * (f[TOPK_form] ? 8 : 4);
}

static tle_topk_select_params topk_params(const TuneCall *call) {
    const int64_t *f = call->fact;
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    size_t shift = f[TOPK_align] < 16 ? (size_t)topk_dtype_bytes[f[TOPK_dtype]] : 0;
    p.dtype = topk_dtype_ids[f[TOPK_dtype]];
    p.rows = f[TOPK_rows];
    p.columns = p.row_stride = f[TOPK_columns];
    p.k = p.index_row_stride = p.value_row_stride = f[TOPK_k];
    p.scores = call->input + shift;
    p.indices = (int32_t *)(void *)call->output;
    if (f[TOPK_form])
        p.values = (float *)(void *)(call->output + 4 * f[TOPK_rows] * f[TOPK_k]);
    return p;
}

static tle_status topk_workspace(tle_handle handle, const TuneCall *call, size_t *size) {
    tle_topk_select_params p = topk_params(call);
    return tle_topk_select_workspace_size(handle, &p, size);
}

static tle_status topk_run(tle_handle handle, const TuneCall *call, tle_stream stream) {
    tle_topk_select_params p = topk_params(call);
    return tle_topk_select(handle, &p, call->workspace, call->workspace_size, stream);
}

/* ---- the list ---- */

static const TuneOp ops[] = {{"topk",
                              "topk_select",
                              {topk_facts, TOPK_COUNT},
                              topk_grid,
                              topk_wanted,
                              topk_input_kind,
                              topk_fill,
                              topk_input_bytes,
                              topk_output_bytes,
                              topk_workspace,
                              topk_run}};

const TuneOp *tune_op_named(const char *operand) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i].operand, operand))
            return &ops[i];
    return NULL;
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
