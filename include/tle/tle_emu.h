/* libtle_emu: a virtual GPU that executes PTX text on the CPU and judges what it executes.
 *
 * Use: create a device, load a module from PTX text, look up a kernel, allocate or register
 * memory, launch. A launch is complete when the call returns; its status says whether every
 * enabled check was clean, and the reports say what was not.
 *
 * Memory: device addresses are host addresses. Allocations of tle_emu_alloc can be read and
 * written by the host through plain memcpy; registered ranges are the caller's own memory.
 * A kernel may touch nothing else: any other address is reported.
 *
 * Threads: a device and everything made from it belong to one thread at a time. Different
 * devices may be used by different threads at once. No function prints, exits or aborts.
 *
 * Versioning: every struct starts with `struct_size`, which the caller sets to sizeof the struct.
 * Fields are only ever appended and zero always means the default. */
#ifndef TLE_TLE_EMU_H
#define TLE_TLE_EMU_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TLE_EMU_API
#elif defined(__GNUC__)
#define TLE_EMU_API __attribute__((visibility("default")))
#else
#define TLE_EMU_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tle_emu_device tle_emu_device;
typedef struct tle_emu_module tle_emu_module;
typedef struct tle_emu_kernel tle_emu_kernel;

typedef enum tle_emu_status {
    TLE_EMU_OK = 0,
    TLE_EMU_INVALID_ARGUMENT =
        1, /* a null pointer, a size of zero, a launch shape over the limit */
    TLE_EMU_OUT_OF_MEMORY = 2,
    TLE_EMU_BAD_PTX = 3, /* the text is not PTX; the error text names the line */
    TLE_EMU_NOT_SUPPORTED =
        4,                 /* PTX that this emulator does not execute; names instruction, line */
    TLE_EMU_NOT_FOUND = 5, /* no kernel, symbol or memory of that name or address */
    TLE_EMU_FAULT = 6,     /* the launch ran, and a check reported something */
    TLE_EMU_DEADLOCK = 7,  /* no warp could go on; the report says who waits for what */
    TLE_EMU_LIMIT = 8,     /* the instruction limit of the device was reached */
    TLE_EMU_TRAP = 9       /* the kernel executed trap */
} tle_emu_status;

/* ---- checks ------------------------------------------------------------------------------- */

#define TLE_EMU_CHECK_BOUNDS  0x01u  /* out of bounds, freed and read-only memory, per space */
#define TLE_EMU_CHECK_ALIGN   0x02u  /* address not a multiple of the access size */
#define TLE_EMU_CHECK_UNINIT  0x04u  /* reads of memory that nothing wrote */
#define TLE_EMU_CHECK_RACE    0x08u  /* unordered accesses to shared memory */
#define TLE_EMU_CHECK_BARRIER 0x10u  /* wrong counts, divergent aligned barriers, exited threads */
#define TLE_EMU_CHECK_CLUSTER 0x20u  /* memory of CTAs that have not started or have exited */
#define TLE_EMU_CHECK_PROXY   0x40u  /* generic writes that async copies read without a fence */
#define TLE_EMU_CHECK_MATRIX  0x80u  /* registers of a wgmma in flight, missing wgmma.fence */
#define TLE_EMU_CHECK_GLOBAL  0x100u /* with _RACE: races in global memory within a launch too */
#define TLE_EMU_CHECK_ALL     0x1ffu
#define TLE_EMU_CHECK_NONE    0x80000000u /* as `checks`: none at all (zero means all) */

/* Bounds are always checked in so far as the emulator itself must stay safe: without
 * TLE_EMU_CHECK_BOUNDS a global access is made as it stands, and a wild one is the caller's
 * crash; shared, local, constant and parameter accesses are checked in any case. */

typedef enum tle_emu_schedule {
    TLE_EMU_SCHEDULE_ROUND_ROBIN = 0, /* warps take turns in order */
    TLE_EMU_SCHEDULE_RANDOM = 1,      /* warps and turn lengths drawn from the seed */
    TLE_EMU_SCHEDULE_ADVERSARIAL = 2  /* one warp, chosen by the seed, runs only when it must */
} tle_emu_schedule;

typedef struct tle_emu_options {
    size_t struct_size;
    uint32_t sm_arch;           /* 90 for sm_90a; default 90 */
    uint32_t sm_count;          /* %nsmid; default 132 */
    uint32_t checks;            /* TLE_EMU_CHECK_* bits, no others; default all */
    uint32_t schedule;          /* tle_emu_schedule */
    uint64_t seed;              /* of the random and the adversarial schedule */
    uint64_t instruction_limit; /* warp instructions of one launch; default none */
    uint32_t max_reports;       /* reports kept of one launch; default 16 */
    uint32_t shared_limit;      /* static + dynamic shared bytes of a CTA; default 232448 */
    uint32_t cost;         /* 1: cost figures (tle_emu_cost_json), 2: of each instruction too */
    uint32_t host_threads; /* of a launch, at most 64; nothing but time depends on it; default 1 */
} tle_emu_options;

/* ---- device ------------------------------------------------------------------------------- */

TLE_EMU_API uint32_t tle_emu_version(void); /* major * 1000000 + minor * 1000 + patch */
TLE_EMU_API const char *tle_emu_status_name(tle_emu_status status);

/* `options` may be NULL. */
TLE_EMU_API tle_emu_status tle_emu_create(const tle_emu_options *options,
                                          tle_emu_device **device_out);
/* Frees the device, its modules and its allocations. NULL is fine. */
TLE_EMU_API void tle_emu_destroy(tle_emu_device *device);
/* What the last failed call on this device had to say; "" at first. Valid until the next call. */
TLE_EMU_API const char *tle_emu_last_error(const tle_emu_device *device);
/* Changes checks and scheduling of later launches; arch and SM count stay. */
TLE_EMU_API tle_emu_status tle_emu_configure(tle_emu_device *device,
                                             const tle_emu_options *options);

/* ---- memory ------------------------------------------------------------------------------- */

/* 256-byte aligned, sparse (untouched pages cost nothing), uninitialised as far as the checks are
 * concerned. Bytes that the host writes count as written. Allocations over 64 MiB are not watched
 * for uninitialised reads. */
TLE_EMU_API tle_emu_status tle_emu_alloc(tle_emu_device *device, size_t bytes, void **address_out);
/* Later accesses by kernels are reported as use of freed memory. */
TLE_EMU_API tle_emu_status tle_emu_free(tle_emu_device *device, void *address);
/* Declares a host range as global memory that counts as initialised. Ranges may nest and overlap
 * (an access must lie inside one of them); the same base may be registered more than once and is
 * unregistered as often. */
TLE_EMU_API tle_emu_status tle_emu_register(tle_emu_device *device, void *address, size_t bytes,
                                            int read_only);
TLE_EMU_API tle_emu_status tle_emu_unregister(tle_emu_device *device, void *address);
/* Tells the uninitialised check that the host gives (1) or takes away (0) the contents of a part
 * of an allocation or of a registered range, as between two uses of one workspace. Taking away
 * overwrites an allocation's bytes and leaves a registered range's alone (there, later writes by
 * the host must be told with 1). */
TLE_EMU_API tle_emu_status tle_emu_mark(tle_emu_device *device, void *address, size_t bytes,
                                        int initialised);

/* ---- tensor maps -------------------------------------------------------------------------- */

/* The driver's numbers for these types are used as they are. */
#define TLE_EMU_TENSOR_INTERLEAVE_NONE 0u
#define TLE_EMU_TENSOR_SWIZZLE_NONE    0u
#define TLE_EMU_TENSOR_SWIZZLE_32B     1u
#define TLE_EMU_TENSOR_SWIZZLE_64B     2u
#define TLE_EMU_TENSOR_SWIZZLE_128B    3u

/* Arguments as for cuTensorMapEncodeTiled: type (CUtensorMapDataType), rank, address, dimensions,
 * strides in bytes of all but the first, box, element strides, interleave, swizzle, L2 promotion,
 * fill (1: NaN). Fills 128 bytes at `map_out` (64-byte aligned) in an encoding of this library,
 * which tensor copies of kernels on its devices take. */
TLE_EMU_API tle_emu_status tle_emu_tensor_map_encode_tiled(
    tle_emu_device *device, void *map_out, uint32_t type, uint32_t rank, void *address,
    const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
    const uint32_t *element_strides, uint32_t interleave, uint32_t swizzle, uint32_t promotion,
    uint32_t fill);

/* ---- modules and kernels ------------------------------------------------------------------ */

/* `ptx` need not end in NUL; `length` excludes one. `name` (may be NULL) appears in messages. */
TLE_EMU_API tle_emu_status tle_emu_module_load(tle_emu_device *device, const char *ptx,
                                               size_t length, const char *name,
                                               tle_emu_module **module_out);
TLE_EMU_API void tle_emu_module_unload(tle_emu_module *module);
/* A .global or .const variable of the module. */
TLE_EMU_API tle_emu_status tle_emu_module_global(tle_emu_module *module, const char *name,
                                                 void **address_out, size_t *bytes_out);
/* Number of entry functions, and each in the order of the text. The kernel lives as long as the
 * module. */
TLE_EMU_API uint32_t tle_emu_module_kernel_count(const tle_emu_module *module);
TLE_EMU_API tle_emu_kernel *tle_emu_module_kernel_at(const tle_emu_module *module, uint32_t index);
TLE_EMU_API tle_emu_status tle_emu_module_kernel(tle_emu_module *module, const char *name,
                                                 tle_emu_kernel **kernel_out);

typedef struct tle_emu_kernel_info {
    size_t struct_size;
    const char *name;
    uint32_t param_count;
    uint32_t static_shared_bytes;
    uint32_t local_bytes;         /* per thread, with those of called functions */
    uint32_t max_threads;         /* of .maxntid or .reqntid; 1024 where there is none */
    uint32_t required_block[3];   /* of .reqntid, else zeros */
    uint32_t required_cluster[3]; /* of .reqnctapercluster, else zeros */
    uint32_t uses_dynamic_shared; /* 1: refers to an .extern .shared symbol */
    uint32_t register_count;      /* virtual registers declared */
} tle_emu_kernel_info;

TLE_EMU_API tle_emu_status tle_emu_kernel_get_info(const tle_emu_kernel *kernel,
                                                   tle_emu_kernel_info *info_out);
TLE_EMU_API tle_emu_status tle_emu_kernel_param(const tle_emu_kernel *kernel, uint32_t index,
                                                size_t *bytes_out, size_t *align_out);

/* ---- launch ------------------------------------------------------------------------------- */

typedef struct tle_emu_launch_config {
    size_t struct_size;
    uint32_t grid[3];    /* zero counts as 1 */
    uint32_t block[3];   /* zero counts as 1 */
    uint32_t cluster[3]; /* zeros: what the kernel requires, else 1 */
    uint32_t dynamic_shared_bytes;
    uint32_t dependent; /* 1: as launched before the kernel in front of it ends; global memory that
                         * a thread accesses before its griddepcontrol.wait is reported */
} tle_emu_launch_config;

/* `params[i]` points at the value of parameter i, as for cuLaunchKernel. Runs the whole grid
 * before it returns. TLE_EMU_FAULT, _DEADLOCK, _LIMIT and _TRAP leave reports. */
TLE_EMU_API tle_emu_status tle_emu_launch(tle_emu_device *device, tle_emu_kernel *kernel,
                                          const tle_emu_launch_config *config, void *const *params);

/* ---- reports of the last launch ----------------------------------------------------------- */

typedef enum tle_emu_report_kind {
    TLE_EMU_REPORT_BOUNDS = 1,
    TLE_EMU_REPORT_FREED = 2,
    TLE_EMU_REPORT_READ_ONLY = 3,
    TLE_EMU_REPORT_ALIGN = 4,
    TLE_EMU_REPORT_UNINIT = 5,
    TLE_EMU_REPORT_RACE = 6,
    TLE_EMU_REPORT_BARRIER = 7,
    TLE_EMU_REPORT_DEADLOCK = 8,
    TLE_EMU_REPORT_LIMIT = 9,
    TLE_EMU_REPORT_TRAP = 10,
    TLE_EMU_REPORT_BAD_OPERAND = 11, /* a value the instruction does not allow at run time */
    TLE_EMU_REPORT_CLUSTER = 12, /* use of a CTA's shared memory before its start, after its exit */
    TLE_EMU_REPORT_MBARRIER = 13, /* not initialised, overflow, counts that do not match */
    TLE_EMU_REPORT_MATRIX = 15,   /* registers of a wgmma in flight, no wgmma.fence */
    TLE_EMU_REPORT_PROXY = 14,    /* no fence.proxy.async between generic and async access */
    TLE_EMU_REPORT_DEPENDENT = 16 /* of a dependent launch, before griddepcontrol.wait */
} tle_emu_report_kind;

typedef struct tle_emu_report {
    size_t struct_size;
    uint32_t kind;           /* tle_emu_report_kind */
    uint32_t ptx_line;       /* 1-based line of the PTX text; 0 if there is none */
    const char *kernel;      /* entry function that was launched */
    const char *source_file; /* of .loc; "" if the PTX has none */
    uint32_t source_line;
    uint32_t cta[3];
    uint32_t thread[3]; /* the first lane concerned */
    uint32_t warp, lane;
    uint64_t address;
    uint32_t access_bytes;
    const char *text; /* all of the above and the explanation in one sentence or more */
} tle_emu_report;

TLE_EMU_API uint32_t tle_emu_report_count(const tle_emu_device *device);
/* Strings live until the next launch. Further reports of one instruction and kind are only
 * counted, not kept. */
TLE_EMU_API tle_emu_status tle_emu_report_get(const tle_emu_device *device, uint32_t index,
                                              tle_emu_report *report_out);

/* Cost figures of the last launch as one JSON object, "{}" if none were counted. Lives until the
 * next launch. */
TLE_EMU_API const char *tle_emu_cost_json(const tle_emu_device *device);

#ifdef __cplusplus
}
#endif
#endif
