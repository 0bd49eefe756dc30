/* tle.h - the public interface of libtle: GPU operators for large language model inference.
 *
 * Compiles as C99 and as C++17 and needs only <stddef.h> and <stdint.h>; no CUDA header is used.
 *
 * Rules that hold for every function, unless its comment says otherwise:
 *
 *   Errors     A tle_status is returned and outputs are written only on TLE_STATUS_OK. The full
 *              sentence, with the argument's name, value and limit, is tle_last_error() of the
 *              calling thread. The library never prints on its own account, exits or aborts.
 *   Threads    "safe": may be called from any thread at any time. "safe per handle": any number of
 *              threads may call it on one handle at once. "exclusive": no other call on the same
 *              handle may run at the same time.
 *   Streams    A tle_stream is a CUstream or cudaStream_t by value. NULL and the legacy (1) and
 *              per-thread (2) default streams mean that stream of the handle's device. Operators
 *              only enqueue work: they neither wait for the device nor allocate device memory.
 *   Capture    Operators may be captured into a CUDA graph once their kernels are loaded (see
 *              tle_preload); a captured call is a fixed number of kernel nodes.
 *   Context    The calling thread's current CUDA context and device are the same on return.
 *   Structs    Every struct that crosses this interface starts with struct_size, the caller's
 *              sizeof. New fields are only ever appended, and zero means the old behaviour, so a
 *              program built with an older header keeps working. Use the _INIT macros. */
#ifndef TLE_TLE_H
#define TLE_TLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(TLE_STATIC)
#define TLE_API
#elif defined(__GNUC__)
#define TLE_API __attribute__((visibility("default")))
#else
#define TLE_API
#endif

/* ---- Versions -------------------------------------------------------------------------------- */

#define TLE_VERSION_MAJOR 0
#define TLE_VERSION_MINOR 1
#define TLE_VERSION_PATCH 0
/* Comparable number: 0xMMmmpp. */
#define TLE_VERSION_HEX ((TLE_VERSION_MAJOR << 16) | (TLE_VERSION_MINOR << 8) | TLE_VERSION_PATCH)

/* The version of the library in use, in the form of TLE_VERSION_HEX. Thread class: safe. Never
 * fails. Since 0.1. */
TLE_API uint32_t tle_version(void);

/* How the library was built, as one static line: version, C compiler, LLVM, ptxas, architectures.
 * Thread class: safe. Never fails. Since 0.1. */
TLE_API const char *tle_build_info(void);

/* ---- Status and errors ----------------------------------------------------------------------- */

/* The numbers are part of the binary interface and never change. */
typedef enum tle_status {
    TLE_STATUS_OK = 0,
    TLE_STATUS_INVALID_ARGUMENT = 1,     /* an argument that no build of the library accepts */
    TLE_STATUS_UNSUPPORTED_SHAPE = 2,    /* a well-formed shape beyond this version's limits */
    TLE_STATUS_UNSUPPORTED_DTYPE = 3,    /* a known element type that the operator does not take */
    TLE_STATUS_UNSUPPORTED_ARCH = 4,     /* no kernel was built for the device */
    TLE_STATUS_WORKSPACE_TOO_SMALL = 5,  /* less than what the _workspace_size query answers */
    TLE_STATUS_NOT_PRELOADED = 6,        /* strict handle, and the kernel is not loaded yet */
    TLE_STATUS_PACK_NOT_FOUND = 7,       /* the library holds no kernels of the operator */
    TLE_STATUS_PACK_VERSION = 8,         /* a pack or table written in another format version */
    TLE_STATUS_DRIVER_NOT_FOUND = 9,     /* libcuda.so.1 cannot be opened */
    TLE_STATUS_DRIVER_TOO_OLD = 10,      /* the driver lacks a function or refuses the kernels */
    TLE_STATUS_DRIVER_ERROR = 11,        /* a driver call failed; see tle_last_native_error */
    TLE_STATUS_OUT_OF_MEMORY = 12,       /* host or device memory is exhausted */
    TLE_STATUS_INTERNAL = 13,            /* a defect of the library or of its build */
    TLE_STATUS_NO_DEVICE = 14,           /* the driver is there, the device is not */
    TLE_STATUS_NO_VARIANT = 15,          /* supported in principle, but no built kernel is legal */
    TLE_STATUS_PACK_CORRUPT = 16,        /* a pack's contents fail their checks */
    TLE_STATUS_TABLE_INVALID = 17,       /* a dispatch table cannot be read or parsed */
    TLE_STATUS_EMULATOR_NOT_FOUND = 18,  /* libtle_emu.so cannot be opened */
    TLE_STATUS_EMULATOR_FAULT = 19,      /* the emulator found an error in a kernel's execution */
    TLE_STATUS_CAPTURE_UNSUPPORTED = 20, /* the call cannot be captured on this device */
    TLE_STATUS_NOT_FOUND = 21            /* no variant, operator or text of that name */
} tle_status;

/* The constant's name, such as "TLE_STATUS_INVALID_ARGUMENT", or "TLE_STATUS_UNKNOWN". Static
 * string. Thread class: safe. Since 0.1. */
TLE_API const char *tle_status_name(tle_status status);

/* What the status means, as a short static phrase. Thread class: safe. Since 0.1. */
TLE_API const char *tle_status_string(tle_status status);

/* The sentence of the calling thread's last failed call, "" when there was none. Valid until the
 * thread's next call into the library; successful calls leave it alone. Not meant for control
 * flow. Thread class: safe. Since 0.1. */
TLE_API const char *tle_last_error(void);

/* The driver's or the emulator's own code of that failure, 0 where none was involved. Thread
 * class: safe. Since 0.1. */
TLE_API int32_t tle_last_native_error(void);

/* ---- Data types ------------------------------------------------------------------------------ */

/* DLPack's type code and bit width: code << 8 | bits. */
#define TLE_DTYPE(code, bits) (((code) << 8) | (bits))

typedef enum tle_dtype {
    TLE_DTYPE_INT32 = TLE_DTYPE(0, 32),
    TLE_DTYPE_INT64 = TLE_DTYPE(0, 64),
    TLE_DTYPE_UINT32 = TLE_DTYPE(1, 32),
    TLE_DTYPE_UINT64 = TLE_DTYPE(1, 64),
    TLE_DTYPE_FLOAT16 = TLE_DTYPE(2, 16),
    TLE_DTYPE_FLOAT32 = TLE_DTYPE(2, 32),
    TLE_DTYPE_FLOAT64 = TLE_DTYPE(2, 64),
    TLE_DTYPE_BFLOAT16 = TLE_DTYPE(4, 16)
} tle_dtype;

/* A CUstream or cudaStream_t. */
typedef void *tle_stream;

/* ---- Devices --------------------------------------------------------------------------------- */

typedef enum tle_device_kind {
    TLE_DEVICE_DEFAULT = 0, /* what TLE_DEVICE names, else CUDA; never a silent fallback */
    TLE_DEVICE_CUDA = 1,    /* a GPU, through the driver API opened at run time */
    TLE_DEVICE_EMU = 2,     /* libtle_emu.so: pointers are host memory, calls return when done */
    TLE_DEVICE_NONE = 3     /* no device: questions (explain, variants) only, nothing runs */
} tle_device_kind;

typedef struct tle_device_info {
    size_t struct_size;
    int32_t kind;    /* tle_device_kind */
    int32_t ordinal; /* as the driver counts, after CUDA_VISIBLE_DEVICES */
    char name[128];
    char arch[16]; /* "sm_90" */
    int32_t sm_count;
    int32_t driver_version; /* 13000 for CUDA 13.0; 0 on the emulator */
    int32_t shared_bytes_per_block;
    int32_t l2_bytes;
    uint64_t memory_bytes;
} tle_device_info;

/* Writes how many devices of a kind there are. Thread class: safe. Allocates host memory on first
 * use of the driver. Errors: INVALID_ARGUMENT, DRIVER_NOT_FOUND, DRIVER_TOO_OLD, DRIVER_ERROR,
 * EMULATOR_NOT_FOUND. A driver without devices is OK with 0. Since 0.1. */
TLE_API tle_status tle_device_count(tle_device_kind kind, int32_t *count);

/* Describes one device. info->struct_size must be set; fields beyond it are not written. Thread
 * class: safe. Creates no context. Errors: as tle_device_count, and NO_DEVICE. Since 0.1. */
TLE_API tle_status tle_get_device_info(tle_device_kind kind, int32_t ordinal,
                                       tle_device_info *info);

/* ---- Log ------------------------------------------------------------------------------------- */

/* What to log; the names in TLE_LOG are the lower-case last words. */
#define TLE_LOG_ERROR    1u  /* failed calls */
#define TLE_LOG_WARN     2u  /* lazy loads in the hot path, ignored table rows */
#define TLE_LOG_CHECK    4u  /* arguments of every call */
#define TLE_LOG_DISPATCH 8u  /* which variant and why */
#define TLE_LOG_LOAD     16u /* kernels loaded and unloaded */
#define TLE_LOG_PROFILE  32u /* host time per call */
#define TLE_LOG_ALL      63u

/* Receives one line without a newline:
 * tle,1,<seconds>,<pid>,<device>,<operator>,<event>,<variant or reason>,<replay command>
 * May be called from any thread that uses the handle; must not call the library. */
typedef void (*tle_log_fn)(uint32_t flag, const char *line, void *user);

/* ---- Handles --------------------------------------------------------------------------------- */

/* A device with its dispatch tables and loaded kernels. Cheap (milliseconds, no device memory
 * until kernels load). Immutable after creation but for lock-free caches, so one handle serves any
 * number of threads and streams of its device. */
typedef struct tle_handle_s *tle_handle;

typedef enum tle_switch {
    TLE_SWITCH_DEFAULT = 0, /* what the environment says, else off */
    TLE_SWITCH_ON = 1,
    TLE_SWITCH_OFF = 2
} tle_switch;

typedef struct tle_handle_options {
    size_t struct_size;
    int32_t device_kind;    /* tle_device_kind */
    int32_t device_ordinal; /* -1: the caller's current CUDA device, else 0 */
    /* A JSON table (docs/metadata.md) asked before the built-in ones; NULL: TLE_DISPATCH. */
    const char *dispatch_overlay;
    /* Architecture whose kernels to use, such as "sm_90a"; NULL: TLE_ARCH, else the device's. */
    const char *arch;
    int32_t strict;     /* tle_switch: an operator fails with NOT_PRELOADED rather than load */
    uint32_t log_flags; /* TLE_LOG_*; 0: the environment's TLE_LOG */
    tle_log_fn log;     /* NULL: lines go to TLE_LOG_FILE, else to stderr */
    void *log_user;
    uint32_t emu_checks;  /* emulator: TLE_EMU_CHECK_* bits of tle_emu.h; 0: TLE_EMU_CHECKS */
    uint32_t emu_threads; /* emulator: host threads, which change no result; 0: TLE_EMU_THREADS */
} tle_handle_options;

#define TLE_HANDLE_OPTIONS_INIT                                                                    \
    {sizeof(tle_handle_options),                                                                   \
     TLE_DEVICE_DEFAULT,                                                                           \
     -1,                                                                                           \
     NULL,                                                                                         \
     NULL,                                                                                         \
     TLE_SWITCH_DEFAULT,                                                                           \
     0,                                                                                            \
     NULL,                                                                                         \
     NULL,                                                                                         \
     0,                                                                                            \
     0}

/* Makes a handle. options may be NULL for all defaults. On a CUDA device the primary context is
 * retained until tle_destroy. Thread class: safe. Allocates host memory, may block, must not be
 * called during capture in the global mode. Errors: INVALID_ARGUMENT, DRIVER_NOT_FOUND,
 * DRIVER_TOO_OLD, DRIVER_ERROR, NO_DEVICE, UNSUPPORTED_ARCH (the architecture asked for does not
 * run on the device; that there are no kernels for it is an error of the operators),
 * PACK_NOT_FOUND (a folder of TLE_PACK_PATH cannot be read), PACK_VERSION, PACK_CORRUPT,
 * TABLE_INVALID, EMULATOR_NOT_FOUND, OUT_OF_MEMORY. Since 0.1. */
TLE_API tle_status tle_create(tle_handle *handle, const tle_handle_options *options);

/* Frees a handle, its kernels and its context reference. NULL is allowed. The caller has waited
 * for all work enqueued through it. Thread class: exclusive. Since 0.1. */
TLE_API void tle_destroy(tle_handle handle);

/* Describes the handle's device. Rules as tle_get_device_info. Thread class: safe per handle.
 * Since 0.1. */
TLE_API tle_status tle_handle_device(tle_handle handle, tle_device_info *info);

/* Replaces the log sink; fn NULL restores TLE_LOG_FILE or stderr. flags 0 turns logging off.
 * Thread class: exclusive. Errors: INVALID_ARGUMENT. Since 0.1. */
TLE_API tle_status tle_set_log(tle_handle handle, uint32_t flags, tle_log_fn fn, void *user);

/* Loads all variants of one operator ("topk_select"), or of all that have kernels with NULL, so
 * that no later call loads anything. Thread class: safe per handle. Allocates host and device
 * memory and may block; not for capture. Errors: INVALID_ARGUMENT, NOT_FOUND, PACK_CORRUPT,
 * UNSUPPORTED_ARCH, DRIVER_TOO_OLD, DRIVER_ERROR, OUT_OF_MEMORY. Since 0.1. */
TLE_API tle_status tle_preload(tle_handle handle, const char *op);

/* Unloads every kernel of the handle. The caller has waited for all work enqueued through it, and
 * graphs captured from it must not be replayed any more. Thread class: exclusive. Since 0.1. */
TLE_API tle_status tle_unload(tle_handle handle);

typedef struct tle_memory_usage {
    size_t struct_size;
    uint64_t loaded_variants;
    uint64_t image_bytes; /* cubin or PTX handed to the device for those */
    uint64_t host_bytes;  /* tables and indices of the handle */
    uint64_t pack_bytes;  /* packs and tables in the library and in files, all architectures */
} tle_memory_usage;

/* Says what the handle holds. Thread class: safe per handle. Errors: INVALID_ARGUMENT. Since 0.1.
 */
TLE_API tle_status tle_memory_info(tle_handle handle, tle_memory_usage *usage);

/* ---- Variants: what was built ---------------------------------------------------------------- */

typedef struct tle_variant_info {
    size_t struct_size;
    const char *name; /* such as "topk_select__f32__k2048__v4__w32" */
    const char *op;
    const char *arch;
    int32_t threads; /* per CTA */
    int32_t cluster[3];
    int32_t shared_bytes;
    int32_t registers;   /* per thread; -1 when the build had no ptxas */
    int32_t spill_bytes; /* -1 when the build had no ptxas */
    int32_t loaded;      /* 1 when the handle has it on the device */
    int32_t disabled;    /* 1 when TLE_DISABLE_VARIANTS names it */
} tle_variant_info;

/* Sees one variant; the strings live as long as the handle. Returns 0 to go on, another value to
 * stop. */
typedef int (*tle_variant_fn)(const tle_variant_info *info, void *user);

/* Visits the handle's variants of one operator, or of all with NULL, by name. Thread class: safe
 * per handle. Errors: INVALID_ARGUMENT, NOT_FOUND. Since 0.1. */
TLE_API tle_status tle_variants(tle_handle handle, const char *op, tle_variant_fn fn, void *user);

typedef enum tle_variant_part {
    TLE_PART_META = 1, /* JSON, docs/metadata.md */
    TLE_PART_PTX = 2,
    TLE_PART_TIR = 3, /* tile IR text */
    TLE_PART_CUBIN = 4
} tle_variant_part;

/* Copies one part of a variant. With buffer NULL only *size is written: the bytes needed. Text is
 * not NUL-terminated. Thread class: safe per handle. Allocates host memory. Errors:
 * INVALID_ARGUMENT (also a buffer smaller than the part), NOT_FOUND, PACK_CORRUPT, OUT_OF_MEMORY.
 * Since 0.1. */
TLE_API tle_status tle_variant_data(tle_handle handle, const char *name, tle_variant_part part,
                                    void *buffer, size_t *size);

#define TLE_BUILD_ID_SIZE 65

/* Writes the 64 hex digits (and a NUL) that identify the handle's set of kernels, for callers that
 * key caches of their own by it. Thread class: safe per handle. Since 0.1. */
TLE_API tle_status tle_build_id(tle_handle handle, char hex[TLE_BUILD_ID_SIZE]);

/* The name, value in effect and meaning of the i-th environment variable the library reads;
 * returns 0 past the last. value is NULL where unset. Thread class: safe. Since 0.1. */
TLE_API int32_t tle_environment(int32_t i, const char **name, const char **value,
                                const char **meaning);

/* ---- Device memory --------------------------------------------------------------------------- */

/* For programs without a CUDA run time of their own; memory from anywhere else serves as well. */

/* Allocates device memory, aligned to 256 bytes; uninitialised. Thread class: safe per handle. May
 * block; not for capture. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, DRIVER_ERROR, DRIVER_NOT_FOUND
 * (a handle without a device). Since 0.1. */
TLE_API tle_status tle_alloc(tle_handle handle, size_t bytes, void **memory);

/* Frees what tle_alloc gave; NULL is allowed. Rules as tle_alloc. Since 0.1. */
TLE_API tle_status tle_free(tle_handle handle, void *memory);

/* Copies between any two of host and device memory and returns when the data is there. It is
 * ordered after the work of the legacy default stream only; wait for other streams first. Rules as
 * tle_alloc. Since 0.1. */
TLE_API tle_status tle_copy(tle_handle handle, void *to, const void *from, size_t bytes);

/* Waits until all work in the stream is done. Rules as tle_alloc. Since 0.1. */
TLE_API tle_status tle_synchronize(tle_handle handle, tle_stream stream);

/* ---- Operators ------------------------------------------------------------------------------- */

/* Bits of an operator's `flags`.
 *
 * TLE_LAUNCH_DEPENDENT launches programmatically dependent on the kernel in front of the call in
 * the stream: this one may be on the device already while that one still runs (from when all of its
 * CTAs have executed griddepcontrol.launch_dependents), and waits there until it is done before it
 * touches memory, so results are the same with and without. It holds in captured graphs too.
 * Architectures before sm_90, the emulator and kernels that cannot begin early ignore it. */
#define TLE_LAUNCH_DEPENDENT 1u

/* ---- topk_select: indices of the k largest scores of each row -------------------------------- */

#define TLE_TOPK_SELECT_MAX_K       8192
#define TLE_TOPK_SELECT_MAX_ROWS    INT32_MAX
#define TLE_TOPK_SELECT_MAX_COLUMNS INT32_MAX
#define TLE_TOPK_SELECT_MAX_PAGE    (1 << 30)

typedef enum tle_index_base {
    TLE_INDEX_RELATIVE = 0, /* indices count from the row's start */
    TLE_INDEX_ABSOLUTE = 1  /* from column 0: the row's start is added */
} tle_index_base;

/* Row r reads scores[r * row_stride + start + i] for 0 <= i < length, where
 *   start  = row_starts ? max(row_starts[r], 0) : 0
 *   given  = lengths ? lengths[r / next_n] - next_n + r % next_n + 1 : columns
 *   length = max(0, min(given, columns - start))
 * and next_n of 0 means 1, which makes given lengths[r]. So start >= columns, or a length of zero
 * or less, is an empty row. It writes indices[r * index_row_stride + j] for 0 <= j < k: the chosen
 * i in ascending order, then -1 where the row has fewer than k elements.
 *
 * What is written may be changed and added to; every field that is zero leaves it as it is:
 *   sorted      the places are ordered by score downwards, then i upwards
 *   values      receives the chosen scores, bit for bit; -inf where indices has -1
 *   index_base  absolute: start is added to every index
 *   page_table  then an index x becomes page * page_size + x % page_size, where page is
 *               page_table[t * page_table_stride + x / page_size] and t is row_to_table[r], or
 *               r / next_n without it; -1 throughout the row if t is not in 0 .. page_tables - 1
 *   offsets     or, instead of pages, x becomes x + offsets[r]
 *   raw_indices receives the indices as they were before pages or offsets
 * -1 stays -1. Sums and products wrap at 32 bits.
 *
 * Which are chosen is a function of the row and k alone, on every device and in every batch: the
 * greatest; NaN of any sign is greater than +inf and all NaNs are equal; -0 equals +0; among equal
 * scores the smallest index wins.
 *
 * All pointers are device memory (host memory on the emulator) and need only the alignment of
 * their element, 4 bytes; kernels with wide loads are chosen where base and stride allow. Rows of
 * scores may overlap (any row_stride >= 0, so 0 repeats one row), and so may tables; rows of
 * outputs may not. An output may not overlap an input or another output. */
typedef struct tle_topk_select_params {
    size_t struct_size;
    int32_t dtype;             /* tle_dtype of the scores: fp32, fp16 or bf16 */
    uint32_t flags;            /* 0 or TLE_LAUNCH_DEPENDENT */
    int64_t rows;              /* 0 .. TLE_TOPK_SELECT_MAX_ROWS */
    int64_t columns;           /* longest possible row, 0 .. TLE_TOPK_SELECT_MAX_COLUMNS */
    int64_t k;                 /* 1 .. TLE_TOPK_SELECT_MAX_K; may exceed columns */
    const void *scores;        /* [rows, columns]; may be NULL when rows or columns is 0 */
    int64_t row_stride;        /* elements from row to row, >= 0 */
    const int32_t *lengths;    /* [rows], or NULL: every row is as long as it can be */
    const int32_t *row_starts; /* [rows], or NULL: every row starts at 0 */
    int32_t *indices;          /* [rows, k]; may be NULL when rows is 0, or beside values alone */
    int64_t index_row_stride;  /* elements from row to row, >= k */
    int32_t sorted;            /* 0 or 1 */
    int32_t index_base;        /* tle_index_base */
    int64_t next_n;            /* rows that share an entry of lengths, >= 0 */
    void *values;              /* [rows, k] of dtype, or NULL */
    int64_t value_row_stride;  /* elements from row to row, >= k; with values */
    int32_t *raw_indices;      /* [rows, k], or NULL */
    int64_t raw_index_row_stride; /* elements from row to row, >= k; with raw_indices */
    const int32_t *offsets;       /* [rows], or NULL */
    const int32_t *page_table;    /* [page_tables, columns / page_size rounded up], or NULL */
    int64_t page_table_stride;    /* elements from table to table, >= 0 */
    int64_t page_tables;          /* at least rows / next_n rounded up without row_to_table */
    int64_t page_size;            /* power of two, 1 .. TLE_TOPK_SELECT_MAX_PAGE */
    const int32_t *row_to_table;  /* [rows], or NULL */
} tle_topk_select_params;

#define TLE_TOPK_SELECT_PARAMS_INIT                                                                \
    {sizeof(tle_topk_select_params),                                                               \
     TLE_DTYPE_FLOAT32,                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     NULL,                                                                                         \
     NULL,                                                                                         \
     NULL,                                                                                         \
     0,                                                                                            \
     0,                                                                                            \
     TLE_INDEX_RELATIVE,                                                                           \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     NULL,                                                                                         \
     NULL,                                                                                         \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     NULL}

/* Selects. workspace is device memory of at least what tle_topk_select_workspace_size answers, a
 * multiple of 16, apart from all other memory of the call; it may be NULL when that is 0, and its
 * contents mean nothing before and after. rows == 0 launches nothing. Enqueues one kernel;
 * capturable after preload. On the emulator the stream is ignored (a stream under capture is
 * refused) and the call returns when the result is there.
 * Method: radix selection in the ordered bit pattern of the score, as in Alabi et al., "Fast
 * k-selection algorithms for graphics processing units", ACM JEA 17 (2012).
 * Thread class: safe per handle. Allocates nothing (host or device) and does not block, but for
 * the first call of a variant that was not preloaded.
 * Errors: INVALID_ARGUMENT, UNSUPPORTED_SHAPE, UNSUPPORTED_DTYPE, UNSUPPORTED_ARCH,
 * WORKSPACE_TOO_SMALL, NO_VARIANT, NOT_PRELOADED, CAPTURE_UNSUPPORTED, DRIVER_ERROR,
 * DRIVER_NOT_FOUND (a handle without a device), EMULATOR_FAULT, and those of tle_preload.
 * Since 0.1. */
TLE_API tle_status tle_topk_select(tle_handle handle, const tle_topk_select_params *params,
                                   void *workspace, size_t workspace_size, tle_stream stream);

/* Writes the bytes of workspace that a call with these parameters needs; pointers in them are only
 * looked at for their alignment. Thread class: safe per handle. Allocates nothing. Errors: those
 * of tle_topk_select that can be told without running. Since 0.1. */
TLE_API tle_status tle_topk_select_workspace_size(tle_handle handle,
                                                  const tle_topk_select_params *params,
                                                  size_t *size);

/* Answers what tle_topk_select would, without running: its status, and with reason != NULL the
 * sentence ("" on OK), cut to reason_size. Leaves tle_last_error alone. Thread class: safe per
 * handle. Allocates nothing. Since 0.1. */
TLE_API tle_status tle_topk_select_supported(tle_handle handle,
                                             const tle_topk_select_params *params, char *reason,
                                             size_t reason_size);

/* Explains the choice of a variant: each candidate with the first condition that refuses it, the
 * table rows asked, and the table's origin. text may be NULL; *needed (may be NULL) receives the
 * bytes of the whole text with its NUL. Text beyond text_size is cut. Thread class: safe per
 * handle. Allocates host memory. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY. Since 0.1. */
TLE_API tle_status tle_topk_select_explain(tle_handle handle, const tle_topk_select_params *params,
                                           char *text, size_t text_size, size_t *needed);

/* tle_variants for this operator. Since 0.1. */
TLE_API tle_status tle_topk_select_variants(tle_handle handle, tle_variant_fn fn, void *user);

/* ---- radix_select: the k largest or smallest keys of each row, with their payload ------------ */

#define TLE_RADIX_SELECT_MAX_K        INT32_MAX /* unsorted */
#define TLE_RADIX_SELECT_MAX_SORTED_K 8192      /* so rows of as many columns can be sorted whole */
#define TLE_RADIX_SELECT_MAX_ROWS     INT32_MAX
#define TLE_RADIX_SELECT_MAX_COLUMNS  INT32_MAX

typedef enum tle_select_order { TLE_SELECT_LARGEST = 0, TLE_SELECT_SMALLEST = 1 } tle_select_order;

/* Row r reads keys[r * key_row_stride + i] and payload[r * payload_row_stride + i] for
 * 0 <= i < length, where length = lengths ? max(0, min(lengths[r], columns)) : columns. Of these
 * the k best are chosen, and place j of the row, 0 <= j < k, receives
 *   indices[r * index_row_stride + j]              the chosen i
 *   values[r * value_row_stride + j]               its key, bit for bit
 *   payload_out[r * payload_out_row_stride + j]    its payload, bit for bit
 * each where it is asked for. Places go by i upwards; with sorted by the order of the keys, the
 * best first, then by i upwards. A row with fewer than k elements fills the places behind them with
 * index -1, payload 0, and as value the worst there is: -inf of floats and the least of integers
 * for the largest, +inf and the greatest for the smallest.
 *
 * Which are chosen is a function of the row, the order and k alone, on every device and in every
 * batch. Floats: NaN of any sign is greater than +inf and all NaNs are equal, so they come first
 * among the largest and last among the smallest; -0 equals +0. Among equal keys the smallest index
 * wins, in either order.
 *
 * All pointers are device memory (host memory on the emulator) and need only the alignment of
 * their element; kernels with wide loads are chosen where base and stride allow. Rows of inputs may
 * overlap (any stride >= 0), and so may inputs; rows of outputs may not. An output may not overlap
 * an input or another output. */
typedef struct tle_radix_select_params {
    size_t struct_size;
    int32_t dtype;    /* tle_dtype of the keys, any of them */
    uint32_t flags;   /* 0 or TLE_LAUNCH_DEPENDENT */
    int64_t rows;     /* 0 .. TLE_RADIX_SELECT_MAX_ROWS */
    int64_t columns;  /* longest possible row, 0 .. TLE_RADIX_SELECT_MAX_COLUMNS */
    int64_t k;        /* 1 .. TLE_RADIX_SELECT_MAX_K, sorted .._MAX_SORTED_K; may exceed columns */
    const void *keys; /* [rows, columns]; may be NULL when rows or columns is 0 */
    int64_t key_row_stride;         /* elements from row to row, >= 0 */
    const int32_t *lengths;         /* [rows], or NULL: every row has all columns */
    int32_t order;                  /* tle_select_order */
    int32_t sorted;                 /* 0 or 1 */
    int32_t payload_bytes;          /* of an element of the payload, 4 or 8; 0: there is none */
    const void *payload;            /* [rows, columns], with payload_bytes */
    int64_t payload_row_stride;     /* elements from row to row, >= 0 */
    int32_t *indices;               /* [rows, k], or NULL */
    int64_t index_row_stride;       /* elements from row to row, >= k; with indices */
    void *values;                   /* [rows, k] of dtype, or NULL */
    int64_t value_row_stride;       /* elements from row to row, >= k; with values */
    void *payload_out;              /* [rows, k], with payload_bytes */
    int64_t payload_out_row_stride; /* elements from row to row, >= k */
} tle_radix_select_params;

#define TLE_RADIX_SELECT_PARAMS_INIT                                                               \
    {sizeof(tle_radix_select_params),                                                              \
     TLE_DTYPE_FLOAT32,                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     NULL,                                                                                         \
     TLE_SELECT_LARGEST,                                                                           \
     0,                                                                                            \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     NULL,                                                                                         \
     0,                                                                                            \
     NULL,                                                                                         \
     0}

/* Selects; a call asks for at least one of indices, values and payload_out. Workspace, streams,
 * capture, the emulator and the thread class are as those of tle_topk_select; rows == 0 launches
 * nothing, else one kernel is enqueued.
 * Method: radix selection in the ordered bit pattern of the key, as in Alabi et al., "Fast
 * k-selection algorithms for graphics processing units", ACM JEA 17 (2012); sorted places by a
 * bitonic network, Batcher, "Sorting networks and their applications", AFIPS 32 (1968).
 * Errors: those of tle_topk_select. Since 0.1. */
TLE_API tle_status tle_radix_select(tle_handle handle, const tle_radix_select_params *params,
                                    void *workspace, size_t workspace_size, tle_stream stream);

/* Rules as tle_topk_select_workspace_size. Whether indices, values and lengths are NULL counts, as
 * does payload_bytes. Since 0.1. */
TLE_API tle_status tle_radix_select_workspace_size(tle_handle handle,
                                                   const tle_radix_select_params *params,
                                                   size_t *size);

/* Answers what tle_radix_select would, without running. Rules as tle_topk_select_supported.
 * Since 0.1. */
TLE_API tle_status tle_radix_select_supported(tle_handle handle,
                                              const tle_radix_select_params *params, char *reason,
                                              size_t reason_size);

/* Explains the choice of a variant. Rules as tle_topk_select_explain. Since 0.1. */
TLE_API tle_status tle_radix_select_explain(tle_handle handle,
                                            const tle_radix_select_params *params, char *text,
                                            size_t text_size, size_t *needed);

/* tle_variants for this operator. Since 0.1. */
TLE_API tle_status tle_radix_select_variants(tle_handle handle, tle_variant_fn fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
