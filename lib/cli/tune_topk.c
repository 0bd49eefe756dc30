/* Tuning topk_select: its facts, the grid of points, and how a call is made. */
#include "cli/tune_op.h"

enum { TOPK_rows, TOPK_columns, TOPK_k, TOPK_align, TOPK_form, TOPK_dtype, TOPK_COUNT };

#define TYPES(X)                                                                                   \
    X("fp32", FLOAT32)                                                                             \
    X("bf16", BFLOAT16)                                                                            \
    X("fp16", FLOAT16)
#define X(name, suffix) name,
static const char *const topk_dtypes[] = {TYPES(X) NULL};
#undef X
#define X(name, suffix) TLE_DTYPE_##suffix,
static const int32_t topk_dtype_ids[] = {TYPES(X)};
#undef X

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

static int64_t element_bytes(const int64_t *f) {
    return (topk_dtype_ids[f[TOPK_dtype]] & 255) / 8;
}

/* Kernels are made for these; other sizes share kernels. */
static bool topk_is_usual(int64_t k) {
    return k == 512 || k == 1024 || k == 2048;
}

/* The full grid for the usual calls, aligned rows of fp32 and a usual k; a coarse one for others.
 */
static bool topk_wanted(const int64_t *f, bool quick) {
    enum { MOST_ELEMENTS = 1 << 28 };
    bool usual_k = topk_is_usual(f[TOPK_k]), plain = f[TOPK_align] == 16 && !f[TOPK_form];
    bool coarse = tune_is_power_of(4, f[TOPK_rows]) && f[TOPK_rows] <= 256 &&
                  tune_is_power_of(2, f[TOPK_columns]);
    if (f[TOPK_columns] <= f[TOPK_k] || f[TOPK_rows] * f[TOPK_columns] > MOST_ELEMENTS)
        return false;
    if (f[TOPK_form] && usual_k)
        return false; // nothing is made for them there
    return coarse || (!quick && usual_k && plain && f[TOPK_dtype] == 0);
}

static int topk_input_kind(const int64_t *f) {
    return (int)f[TOPK_dtype];
}

static void topk_fill(int kind, void *block, size_t bytes) {
    tune_fill(topk_dtype_ids[kind], block, bytes);
}

static size_t topk_input_bytes(const int64_t *f) {
    return (size_t)(f[TOPK_rows] * f[TOPK_columns] * element_bytes(f));
}

/* Indices, then the values of a form. */
static size_t topk_output_bytes(const int64_t *f) {
    return (size_t)(f[TOPK_rows] * f[TOPK_k] * (4 + (f[TOPK_form] ? element_bytes(f) : 0)));
}

static tle_topk_select_params topk_params(const TuneCall *call) {
    const int64_t *f = call->fact;
    tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
    size_t shift = f[TOPK_align] < 16 ? (size_t)element_bytes(f) : 0;
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

const TuneOp tune_topk = {
    .name = "topk_select",
    .facts = {topk_facts, TOPK_COUNT},
    .grid = topk_grid,
    .wanted = topk_wanted,
    .input_kind = topk_input_kind,
    .fill = topk_fill,
    .input_bytes = topk_input_bytes,
    .output_bytes = topk_output_bytes,
    .workspace = topk_workspace,
    .run = topk_run,
};
