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
    {"dtype", TUNE_TEXT, sizeof topk_dtype_ids / sizeof *topk_dtype_ids - 1, topk_dtypes}};

/* Rows on both sides of where a device of 132 processors has no more room: for clusters of 16 and 8
 * (a few processors of some groups are left over), of 4 and of 2, for one CTA a processor, and for
 * two. Lengths are those that bodies end at, and some between. */
static const int64_t topk_rows[] = {1,  4,  7,   8,   15,  16,  30,   31,
                                    66, 67, 132, 133, 264, 265, 1024, TUNE_END};
static const int64_t topk_columns[] = {4096,   8192,   16384,  24576,   32768,   49152,   65536,
                                       131072, 262144, 524288, 1048576, 4194304, TUNE_END};
/* Bodies are made for three sizes; those for others end at 2,048, 4,096 and 8,192, and rows of as
 * many are measured beside sizes a little smaller. */
static const int64_t topk_ks[] = {100, 512, 1024, 2000, 2048, 4000, 8000, TUNE_END};
static const int64_t topk_aligns[] = {2, 4, 8, 16, TUNE_END}, topk_forms[] = {0, 1, TUNE_END};
static const int64_t topk_dtype_grid[] = {0, 1, 2, TUNE_END};
static const int64_t *const topk_grid[TOPK_COUNT] = {topk_rows,   topk_columns, topk_ks,
                                                     topk_aligns, topk_forms,   topk_dtype_grid};
static const int64_t coarse_rows[] = {1, 7, 15, 30, 66, 264, TUNE_END};
static const int64_t coarse_columns[] = {4096,   8192,   16384,   32768,   65536,
                                         131072, 262144, 1048576, 4194304, TUNE_END};
static const int64_t quick_rows[] = {1, 15, 264, TUNE_END};
static const int64_t quick_columns[] = {4096, 16384, 65536, 1048576, TUNE_END};

static int64_t element_bytes(const int64_t *f) {
    return (topk_dtype_ids[f[TOPK_dtype]] & 255) / 8;
}

/* As aligned as loads of 16 bytes need, as loads of four elements, or as the elements alone. */
static bool topk_may_be_aligned(const int64_t *f) {
    return f[TOPK_align] == 16 || f[TOPK_align] == 4 * element_bytes(f) ||
           f[TOPK_align] == element_bytes(f);
}

/* Whether a size tells something at such rows: it has bodies of its own for short fp32 ones, or
 * differs from the size above. */
static bool topk_size_matters(const int64_t *f) {
    const int64_t longest_of_own = 32768, longest_for_4000 = 16384;
    switch (f[TOPK_k]) {
    case 512:
    case 1024:
    case 2048:
        return !f[TOPK_dtype] && !f[TOPK_form] &&
               (f[TOPK_columns] <= longest_of_own || f[TOPK_rows] == 1 || f[TOPK_rows] == 264);
    case 100:
        return !f[TOPK_dtype];
    case 4000:
        return f[TOPK_columns] <= longest_for_4000;
    default:
        return true;
    }
}

/* The full grid for aligned rows of fp32, a coarse one for others. */
static bool topk_wanted(const int64_t *f, bool quick) {
    const int64_t most_elements = (int64_t)280 << 20;
    bool full = !quick && f[TOPK_align] == 16 && !f[TOPK_form] && !f[TOPK_dtype];
    bool fine = full && f[TOPK_k] != 100 && f[TOPK_k] <= 2048;
    if (f[TOPK_columns] <= f[TOPK_k] || f[TOPK_rows] * f[TOPK_columns] > most_elements)
        return false;
    if (!topk_may_be_aligned(f) || !topk_size_matters(f))
        return false;
    return fine || (tune_is_among(quick ? quick_rows : coarse_rows, f[TOPK_rows]) &&
                    tune_is_among(quick ? quick_columns : coarse_columns, f[TOPK_columns]));
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
    size_t shift = f[TOPK_align] < 16 ? (size_t)f[TOPK_align] : 0;
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
