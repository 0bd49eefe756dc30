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
    {"dtype", TUNE_TEXT, 0, radix_dtypes}};

static const int64_t radix_rows[] = {1, 8, 64, 256, 4096, TUNE_END};
static const int64_t radix_columns[] = {1024, 4096, 8192, 16384, 65536, 262144, 1048576, TUNE_END};
static const int64_t radix_ks[] = {64, 2048, TLE_RADIX_SELECT_MAX_SORTED_K, TUNE_END};
static const int64_t radix_aligns[] = {2, 4, 8, 16, TUNE_END}, radix_sorted[] = {0, 1, TUNE_END};
static const int64_t radix_dtype_grid[] = {0, 1, 2, 3, 4, 5, 6, 7, TUNE_END};
static const int64_t *const radix_grid[RADIX_COUNT] = {
    radix_rows, radix_columns, radix_ks, radix_aligns, radix_sorted, radix_dtype_grid};

static int64_t element_bytes(const int64_t *f) {
    return (radix_dtype_ids[f[RADIX_dtype]] & 255) / 8;
}

static size_t radix_input_bytes(const int64_t *f) {
    return (size_t)(f[RADIX_rows] * f[RADIX_columns] * element_bytes(f));
}

/* Aligned rows, or such as only the elements are aligned in. fp32 has the full grid; the others
 * have kernels of the same making. */
static bool radix_wanted(const int64_t *f, bool quick) {
    const size_t most_bytes = (size_t)1 << 30;
    bool coarse = tune_is_power_of(64, f[RADIX_rows]) && tune_is_power_of(4, f[RADIX_columns]) &&
                  f[RADIX_k] <= 2048;
    if (f[RADIX_columns] < f[RADIX_k] || radix_input_bytes(f) > most_bytes)
        return false;
    if (f[RADIX_align] != 16 && f[RADIX_align] != element_bytes(f))
        return false;
    return coarse || (!quick && f[RADIX_dtype] == 0);
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
