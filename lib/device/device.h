/* A device: where kernels are loaded and launched. One vtable per kind, chosen once per handle.
 *
 * Thread rule: load, launch and the memory functions may be called from several threads at once;
 * close only alone. None changes the caller's current CUDA context. Errors name what was tried. */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "core/error.h"
#include <stdbool.h>

typedef struct TleiDevice {
    const struct TleiDeviceOps *ops;
    tle_device_info info;
    int32_t major, minor; /* compute capability */
} TleiDevice;

typedef struct TleiKernel TleiKernel; /* each kind has its own */

typedef struct TleiDeviceConfig {
    int32_t ordinal;                /* -1: the caller's current device, else 0 */
    int32_t arch_major, arch_minor; /* what an emulated device is */
    uint32_t emu_checks, emu_threads;
} TleiDeviceConfig;

typedef struct TleiImage {
    const void *bytes; /* not needed after load returns; text is NUL-terminated */
    size_t size;
    const char *variant, *kernel;
    uint32_t shared_bytes;
    uint32_t cluster_ctas; /* CTAs of a cluster */
    uint32_t threads;      /* of a CTA */
} TleiImage;

/* Memory that a call may touch, as its arguments say. */
typedef struct TleiRange {
    const char *name;
    const void *address;
    uint64_t bytes;
    bool writable;
    uint32_t element; /* bytes, which the address is a multiple of */
} TleiRange;

typedef struct TleiLaunch {
    const char *variant;
    uint32_t grid[3], threads, cluster[3], shared_bytes;
    bool cooperative;
    bool dependent; /* may begin before the kernel in front of it in the stream is done */
    void *zeroed;   /* set to zero before, in the same stream */
    uint32_t zeroed_bytes;
    void **args; /* args[i] points at the value of parameter i */
    tle_stream stream;
    const TleiRange *ranges;
    uint32_t range_count;
} TleiLaunch;

/* A tiled tensor in global memory, as cuTensorMapEncodeTiled takes it, in the driver's numbers. The
 * first dimension is the innermost, without a stride. */
typedef struct TleiTensor {
    void *address;
    uint64_t dims[5], strides[4]; /* elements; bytes */
    uint32_t box[5], steps[5];
    uint32_t type, rank, interleave, swizzle, promotion, fill;
} TleiTensor;

enum { TLEI_TENSOR_MAP_BYTES = 128 };

typedef struct TleiDeviceOps {
    const char *name;
    bool runs_ptx; /* images are PTX text, not cubins */
    tle_status (*count)(int32_t *count, TleiError *e);
    /* Writes all of *info but struct_size. */
    tle_status (*info)(int32_t ordinal, tle_device_info *info, TleiError *e);
    tle_status (*open)(const TleiDeviceConfig *config, TleiDevice **out, TleiError *e);
    void (*close)(TleiDevice *device);
    /* NO_VARIANT when the device cannot hold one cluster of the kernel. */
    tle_status (*load)(TleiDevice *device, const TleiImage *image, TleiKernel **out, TleiError *e);
    void (*unload)(TleiDevice *device, TleiKernel *kernel);
    tle_status (*launch)(TleiDevice *device, TleiKernel *kernel, const TleiLaunch *launch,
                         TleiError *e);
    tle_status (*alloc)(TleiDevice *device, size_t bytes, void **out, TleiError *e);
    tle_status (*free)(TleiDevice *device, void *memory, TleiError *e);
    /* Between any two of host and device memory; complete on return. */
    tle_status (*copy)(TleiDevice *device, void *to, const void *from, size_t bytes, TleiError *e);
    tle_status (*synchronize)(TleiDevice *device, tle_stream stream, TleiError *e);
    /* Encodes a tensor map for kernels of this device: 128 bytes at a multiple of 64. */
    tle_status (*tensor_map)(TleiDevice *device, const TleiTensor *tensor, void *map_out,
                             TleiError *e);
} TleiDeviceOps;

extern const TleiDeviceOps tlei_device_cuda, tlei_device_emu, tlei_device_none;

/* True when the CUDA driver is in the process already and says that the stream is being captured.
 * Never opens the driver. */
bool tlei_cuda_capturing(tle_stream stream);

#endif
