/* Tuning radix_select: its facts, the grid of points, and how a call is made. */
#include "cli/tune_op.h"

enum { RADIX_rows, RADIX_columns, RADIX_k, RADIX_align, RADIX_sorted, RADIX_dtype, RADIX_COUNT };

static const char *const radix_dtypes[] = {
#define X(name, suffix, npy) name,
#include "cli/key_types.def"
#undef X
    NULL};
static const int32_t radix_dtype_ids[] = {
#define X(name, suffix, npy) TLE_DTYPE_##suffix,
#include "cli/key_types.def"
#undef X
};

static const TuneFact radix_facts[RADIX_COUNT] = {
    {"rows", TUNE_SPAN, TLE_RADIX_SELECT_MAX_ROWS, NULL},
    {"columns", TUNE_SPAN, TLE_RADIX_SELECT_MAX_COLUMNS, NULL},
    {"k", TUNE_SIZE, TLE_RADIX_SELECT_MAX_K, NULL},
    {"align", TUNE_ALIGN, 16, NULL},
    {"sorted", TUNE_EQUAL, 1, NULL},
    {"dtype", TUNE_TEXT, sizeof radix_dtype_ids / sizeof *radix_dtype_ids - 1, radix_dtypes}};

/* Rows on both sides of where a device of 132 processors has no more room for clusters. */
static const int64_t radix_rows[] = {1, 7, 8, 15, 16, 64, 264, 4096, TUNE_END};
static const int64_t radix_columns[] = {1024,  4096,   8192,    16384,   32768,
                                        65536, 262144, 1048576, TUNE_END};
/* Sorted, most bodies end at 4,096 and all at 8,192. */
static const int64_t radix_ks[] = {64, 2048, 3000, TLE_RADIX_SELECT_MAX_SORTED_K, 65536, TUNE_END};
static const int64_t radix_aligns[] = {2, 4, 8, 16, TUNE_END}, radix_sorted[] = {0, 1, TUNE_END};
static const int64_t radix_dtype_grid[] = {0, 1, 2, 3, 4, 5, 6, 7, TUNE_END};
static const int64_t *const radix_grid[RADIX_COUNT] = {
    radix_rows, radix_columns, radix_ks, radix_aligns, radix_sorted, radix_dtype_grid};
static const int64_t coarse_rows[] = {7, 15, 264, TUNE_END};
static const int64_t coarse_columns[] = {4096, 16384, 65536, 1048576, TUNE_END};

static int64_t element_bytes(const int64_t *f) {
    return (radix_dtype_ids[f[RADIX_dtype]] & 255) / 8;
}

static size_t radix_input_bytes(const int64_t *f) {
    return (size_t)(f[RADIX_rows] * f[RADIX_columns] * element_bytes(f));
}

/* Whether a size tells something: 64 of the best is measured for the usual calls alone, 3,000 where
 * bodies end, and very many for one type. */
static bool radix_size_matters(const int64_t *f) {
    bool usual = !f[RADIX_dtype] && f[RADIX_align] == 16;
    switch (f[RADIX_k]) {
    case 64:
        return usual;
    case 3000:
        return f[RADIX_sorted];
    case 65536:
        return usual && !f[RADIX_sorted];
    default:
        return true;
    }
}

/* Aligned rows, or such as only the elements are aligned in. Aligned ones of fp32 have the full
 * grid; the others have bodies of the same making. */
static bool radix_wanted(const int64_t *f, bool quick) {
    const size_t most_bytes = (size_t)5 << 28;
    bool full = !quick && !f[RADIX_dtype] && f[RADIX_align] == 16 && f[RADIX_k] <= 2048;
    bool coarse = tune_is_among(coarse_rows, f[RADIX_rows]) &&
                  tune_is_among(coarse_columns, f[RADIX_columns]);
    if (f[RADIX_columns] < f[RADIX_k] || radix_input_bytes(f) > most_bytes)
        return false;
    if (f[RADIX_align] != 16 && f[RADIX_align] != element_bytes(f))
        return false;
    if (!radix_size_matters(f))
        return false;
    return full || (coarse && (!quick || f[RADIX_k] == 2048));
}

static int radix_input_kind(const int64_t *f) {
    return (int)f[RADIX_dtype];
}

static void radix_fill(int kind, void *block, size_t bytes) {
    tune_fill(radix_dtype_ids[kind], block, bytes);
}

/* Keys, then indices. */
static size_t radix_output_bytes(const int64_t *f) {
    return (size_t)(f[RADIX_rows] * f[RADIX_k] * (4 + element_bytes(f)));
}

static tle_radix_select_params radix_params(const TuneCall *call) {
    const int64_t *f = call->fact;
    tle_radix_select_params p = TLE_RADIX_SELECT_PARAMS_INIT;
    p.dtype = radix_dtype_ids[f[RADIX_dtype]];
    p.rows = f[RADIX_rows];
    p.columns = p.key_row_stride = f[RADIX_columns];
    p.k = p.index_row_stride = p.value_row_stride = f[RADIX_k];
    p.keys = call->input + (f[RADIX_align] < 16 ? element_bytes(f) : 0);
    p.sorted = (int32_t)f[RADIX_sorted];
    p.values = call->output;
    p.indices = (int32_t *)(void *)(call->output + f[RADIX_rows] * f[RADIX_k] * element_bytes(f));
    return p;
}

static tle_status radix_workspace(tle_handle handle, const TuneCall *call, size_t *size) {
    tle_radix_select_params p = radix_params(call);
    return tle_radix_select_workspace_size(handle, &p, size);
}

static tle_status radix_run(tle_handle handle, const TuneCall *call, tle_stream stream) {
    tle_radix_select_params p = radix_params(call);
    return tle_radix_select(handle, &p, call->workspace, call->workspace_size, stream);
}

const TuneOp tune_radix = {
    .name = "radix_select",
    .facts = {radix_facts, RADIX_COUNT},
    .grid = radix_grid,
    .wanted = radix_wanted,
    .input_kind = radix_input_kind,
    .fill = radix_fill,
    .input_bytes = radix_input_bytes,
    .output_bytes = radix_output_bytes,
    .workspace = radix_workspace,
    .run = radix_run,
};
