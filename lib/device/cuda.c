/* NVIDIA GPUs through the driver API, opened at run time.
 *
 * Kernels are context-independent libraries (cuLibraryLoadData), so one load serves every context
 * of the device. Work goes to the context of the caller's stream; the default streams mean the
 * device's primary context, which the handle retains. A call pushes that context only where it is
 * not current already and pops it again, so the caller's context is the same on return.
 *
 * The table of driver functions is the one process-wide state: written once under pthread_once,
 * read-only afterwards. */
#include "device/cuda_api.h"
#include "device/device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Driver {
#define X(name, version, params) CUresult(*name) params;
#include "device/cuda_api.def"
#undef X
    tle_status status; /* of opening it */
    int32_t native;
    int version;
    char problem[256];
} Driver;

static Driver driver;
static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

static const struct {
    const char *name;
    int version;
    size_t offset;
} driver_functions[] = {
#define X(name, version, params) {#name, version, offsetof(Driver, name)},
#include "device/cuda_api.def"
#undef X
};

enum { FUNCTION_COUNT = sizeof driver_functions / sizeof driver_functions[0] };

typedef struct CudaDevice {
    TleiDevice base;
    CUdevice device;
    CUcontext context; /* the primary one */
} CudaDevice;

typedef struct CudaKernel {
    CUlibrary library;
    CUkernel kernel;
} CudaKernel;

/* ---- opening the driver ---- */

static void set_problem(tle_status status, int32_t native, const char *text, const char *detail) {
    driver.status = status;
    driver.native = native;
    snprintf(driver.problem, sizeof driver.problem, "%s%s", text, detail);
}

static void resolve_functions(void *library) {
    void *symbol = dlsym(library, "cuGetProcAddress_v2");
    CuGetProcAddress *get_address;
    memcpy(&get_address, &symbol, sizeof get_address);
    if (!get_address) {
        set_problem(TLE_STATUS_DRIVER_TOO_OLD, 0, "the CUDA driver is older than 12.0: it lacks ",
                    "cuGetProcAddress_v2");
        return;
    }
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        void *function = NULL;
        if (get_address(driver_functions[i].name, &function, driver_functions[i].version, 0,
                        NULL) ||
            !function) {
            set_problem(TLE_STATUS_DRIVER_TOO_OLD, 0, "the CUDA driver lacks ",
                        driver_functions[i].name);
            return;
        }
        memcpy((char *)&driver + driver_functions[i].offset, &function, sizeof function);
    }
}

static void initialise(void) {
    CUresult result = driver.cuInit(0);
    driver.cuDriverGetVersion(&driver.version);
    if (!result || result == CUDA_ERROR_NO_DEVICE) {
        driver.native = result;
        return;
    }
    const char *text = NULL;
    driver.cuGetErrorString(result, &text);
    bool old =
        result == CUDA_ERROR_INSUFFICIENT_DRIVER || result == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
    set_problem(old ? TLE_STATUS_DRIVER_TOO_OLD : TLE_STATUS_DRIVER_ERROR, result,
                "the CUDA driver cannot be initialised: ", text ? text : "no text");
}

static void open_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        set_problem(TLE_STATUS_DRIVER_NOT_FOUND, 0,
                    "the CUDA driver cannot be opened: ", dlerror());
        return;
    }
    resolve_functions(library);
    if (!driver.status)
        initialise();
}

static tle_status need_driver(TleiError *e) {
    pthread_once(&driver_once, open_driver);
    if (driver.status)
        return tlei_fail_native(e, driver.status, driver.native, "%s", driver.problem);
    return TLE_STATUS_OK;
}

/* ---- errors ---- */

static tle_status status_of(CUresult result) {
    switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
        return TLE_STATUS_OUT_OF_MEMORY;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
        return TLE_STATUS_NO_DEVICE;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
        return TLE_STATUS_UNSUPPORTED_ARCH;
    case CUDA_ERROR_INVALID_IMAGE: /* a cubin whose checksum held: made for a newer driver */
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INSUFFICIENT_DRIVER:
        return TLE_STATUS_DRIVER_TOO_OLD;
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
        return TLE_STATUS_CAPTURE_UNSUPPORTED;
    default:
        return TLE_STATUS_DRIVER_ERROR;
    }
}

static tle_status cuda_fail(TleiError *e, CUresult result, const char *call, const char *subject) {
    const char *name = NULL, *text = NULL;
    driver.cuGetErrorName(result, &name);
    driver.cuGetErrorString(result, &text);
    return tlei_fail_native(e, status_of(result), result,
                            "%s(%s) failed with %s (%d): %s; the driver is CUDA %d.%d", call,
                            subject, name ? name : "an unknown error", result, text ? text : "",
                            driver.version / 1000, driver.version % 1000 / 10);
}

/* ---- contexts ---- */

static bool is_default_stream(tle_stream stream) {
    return (uintptr_t)stream <= 2;
}

/* The context that the stream belongs to. */
static tle_status context_of(const CudaDevice *d, tle_stream stream, CUcontext *out, TleiError *e) {
    *out = d->context;
    if (is_default_stream(stream))
        return TLE_STATUS_OK;
    CUresult result = driver.cuStreamGetCtx(stream, out);
    return result ? cuda_fail(e, result, "cuStreamGetCtx", "stream") : TLE_STATUS_OK;
}

/* Makes a context current where it is not; *pushed says whether to pop. */
static tle_status enter(CUcontext wanted, bool *pushed, TleiError *e) {
    CUcontext current = NULL;
    *pushed = false;
    if (!driver.cuCtxGetCurrent(&current) && current == wanted)
        return TLE_STATUS_OK;
    CUresult result = driver.cuCtxPushCurrent(wanted);
    if (result)
        return cuda_fail(e, result, "cuCtxPushCurrent", "device context");
    *pushed = true;
    return TLE_STATUS_OK;
}

static void leave(bool pushed) {
    CUcontext old;
    if (pushed)
        driver.cuCtxPopCurrent(&old);
}

/* A stream of another device would run the kernel there without its attributes. */
static tle_status check_stream_device(const CudaDevice *d, CUcontext context, TleiError *e) {
    CUdevice device = d->device;
    if (context != d->context)
        driver.cuCtxGetDevice(&device);
    if (device != d->device)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "stream belongs to CUDA device %d, the handle to device %d", device,
                         d->base.info.ordinal);
    return TLE_STATUS_OK;
}

/* ---- devices ---- */

static tle_status count_cuda(int32_t *count, TleiError *e) {
    tle_status status = need_driver(e);
    if (status)
        return status;
    *count = 0;
    if (driver.native == CUDA_ERROR_NO_DEVICE)
        return TLE_STATUS_OK;
    int n = 0;
    CUresult result = driver.cuDeviceGetCount(&n);
    if (result)
        return cuda_fail(e, result, "cuDeviceGetCount", "");
    *count = n;
    return TLE_STATUS_OK;
}

static tle_status find_device(int32_t ordinal, CUdevice *device, TleiError *e) {
    int32_t count = 0;
    tle_status status = count_cuda(&count, e);
    if (status)
        return status;
    if (ordinal < 0 || ordinal >= count)
        return tlei_fail(e, TLE_STATUS_NO_DEVICE, "CUDA device %d: the driver has %d device%s",
                         ordinal, count, count == 1 ? "" : "s");
    CUresult result = driver.cuDeviceGet(device, ordinal);
    return result ? cuda_fail(e, result, "cuDeviceGet", "ordinal") : TLE_STATUS_OK;
}

static int attribute(CUdevice device, int which) {
    int value = 0;
    driver.cuDeviceGetAttribute(&value, which, device);
    return value;
}

static void describe(CUdevice device, int32_t ordinal, tle_device_info *info) {
    size_t memory = 0;
    driver.cuDeviceTotalMem(&memory, device);
    driver.cuDeviceGetName(info->name, (int)sizeof info->name, device);
    snprintf(info->arch, sizeof info->arch, "sm_%d%d",
             attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
             attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    info->kind = TLE_DEVICE_CUDA;
    info->ordinal = ordinal;
    info->sm_count = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->driver_version = driver.version;
    info->shared_bytes_per_block =
        attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    info->l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    info->memory_bytes = memory;
}

static tle_status info_cuda(int32_t ordinal, tle_device_info *info, TleiError *e) {
    CUdevice device = 0;
    tle_status status = find_device(ordinal, &device, e);
    if (!status)
        describe(device, ordinal, info);
    return status;
}

static int32_t current_ordinal(void) {
    CUcontext current = NULL;
    CUdevice device = 0;
    if (driver.cuCtxGetCurrent(&current) || !current || driver.cuCtxGetDevice(&device))
        return 0;
    return device;
}

static tle_status open_cuda(const TleiDeviceConfig *config, TleiDevice **out, TleiError *e) {
    tle_status status = need_driver(e);
    if (status)
        return status;
    int32_t ordinal = config->ordinal < 0 ? current_ordinal() : config->ordinal;
    CUdevice device = 0;
    status = find_device(ordinal, &device, e);
    if (status)
        return status;
    CudaDevice *d = calloc(1, sizeof *d);
    if (!d)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for a device record");
    CUresult result = driver.cuDevicePrimaryCtxRetain(&d->context, device);
    if (result) {
        free(d);
        return cuda_fail(e, result, "cuDevicePrimaryCtxRetain", "device");
    }
    d->device = device;
    d->base.ops = &tlei_device_cuda;
    d->base.major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    d->base.minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    describe(device, ordinal, &d->base.info);
    *out = &d->base;
    return TLE_STATUS_OK;
}

static void close_cuda(TleiDevice *device) {
    driver.cuDevicePrimaryCtxRelease(((CudaDevice *)device)->device);
    free(device);
}

/* ---- kernels ---- */

static tle_status set_attributes(const CudaDevice *d, const CudaKernel *k, const TleiImage *image,
                                 TleiError *e) {
    CUresult result = driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                  (int)image->shared_bytes, k->kernel, d->device);
    if (!result && image->cluster_ctas > 8)
        result = driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
                                             k->kernel, d->device);
    return result ? cuda_fail(e, result, "cuKernelSetAttribute", image->variant) : TLE_STATUS_OK;
}

/* Whether one cluster fits the device at all: a large one may not, whole or in part. */
static tle_status check_cluster(CUfunction function, const TleiImage *image, TleiError *e) {
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {image->cluster_ctas, 1, 1}};
    CUlaunchConfig config = {
        .gridDimX = image->cluster_ctas,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = image->threads,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = image->shared_bytes,
        .attrs = &cluster,
        .numAttrs = 1,
    };
    int clusters = 0;
    CUresult result = driver.cuOccupancyMaxActiveClusters(&clusters, function, &config);
    if (result)
        return cuda_fail(e, result, "cuOccupancyMaxActiveClusters", image->variant);
    if (clusters < 1)
        return tlei_fail(e, TLE_STATUS_NO_VARIANT,
                         "%s: the device cannot run a cluster of %u CTAs of it", image->variant,
                         image->cluster_ctas);
    return TLE_STATUS_OK;
}

/* Asking for the function forces what lazy loading would otherwise do at the first launch. */
static tle_status load_library(const CudaDevice *d, const TleiImage *image, CudaKernel *k,
                               TleiError *e) {
    CUresult result =
        driver.cuLibraryLoadData(&k->library, image->bytes, NULL, NULL, 0, NULL, NULL, 0);
    if (result)
        return cuda_fail(e, result, "cuLibraryLoadData", image->variant);
    result = driver.cuLibraryGetKernel(&k->kernel, k->library, image->kernel);
    if (result)
        return cuda_fail(e, result, "cuLibraryGetKernel", image->kernel);
    tle_status status = set_attributes(d, k, image, e);
    if (status)
        return status;
    CUfunction function;
    result = driver.cuKernelGetFunction(&function, k->kernel);
    if (result)
        return cuda_fail(e, result, "cuKernelGetFunction", image->variant);
    return image->cluster_ctas > 1 ? check_cluster(function, image, e) : TLE_STATUS_OK;
}

/* Loading is legal while the thread captures only in the relaxed mode. */
static tle_status load_cuda(TleiDevice *device, const TleiImage *image, TleiKernel **out,
                            TleiError *e) {
    CudaDevice *d = (CudaDevice *)device;
    CudaKernel *k = calloc(1, sizeof *k);
    if (!k)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for a kernel record");
    bool pushed = false;
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    tle_status status = enter(d->context, &pushed, e);
    if (!status) {
        driver.cuThreadExchangeStreamCaptureMode(&mode);
        status = load_library(d, image, k, e);
        driver.cuThreadExchangeStreamCaptureMode(&mode);
        leave(pushed);
    }
    if (status) {
        if (k->library)
            driver.cuLibraryUnload(k->library);
        free(k);
        return status;
    }
    *out = (TleiKernel *)k;
    return TLE_STATUS_OK;
}

static void unload_cuda(TleiDevice *device, TleiKernel *kernel) {
    (void)device;
    driver.cuLibraryUnload(((CudaKernel *)kernel)->library);
    free(kernel);
}

enum { MAX_ATTRIBUTES = 3 };

static unsigned int launch_attributes(const TleiLaunch *l, CUlaunchAttribute out[MAX_ATTRIBUTES]) {
    unsigned int n = 0;
    if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1) {
        out[n].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        out[n].value.clusterDim.x = l->cluster[0];
        out[n].value.clusterDim.y = l->cluster[1];
        out[n++].value.clusterDim.z = l->cluster[2];
    }
    if (l->cooperative) {
        out[n].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        out[n++].value.cooperative = 1;
    }
    if (l->dependent) {
        out[n].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        out[n++].value.programmaticStreamSerializationAllowed = 1;
    }
    return n;
}

static tle_status launch_in_context(const CudaKernel *k, const TleiLaunch *l, TleiError *e) {
    CUlaunchAttribute attributes[MAX_ATTRIBUTES] = {{0}};
    CUlaunchConfig config = {
        .gridDimX = l->grid[0],
        .gridDimY = l->grid[1],
        .gridDimZ = l->grid[2],
        .blockDimX = l->threads,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = l->shared_bytes,
        .hStream = l->stream,
        .attrs = attributes,
        .numAttrs = launch_attributes(l, attributes),
    };
    CUresult result = CUDA_SUCCESS;
    if (l->zeroed_bytes)
        result = driver.cuMemsetD32Async((CUdeviceptr)(uintptr_t)l->zeroed, 0, l->zeroed_bytes / 4,
                                         l->stream);
    if (result)
        return cuda_fail(e, result, "cuMemsetD32Async", l->variant);
    result = driver.cuLaunchKernelEx(&config, (CUfunction)k->kernel, l->args, NULL);
    return result ? cuda_fail(e, result, "cuLaunchKernelEx", l->variant) : TLE_STATUS_OK;
}

static tle_status launch_cuda(TleiDevice *device, TleiKernel *kernel, const TleiLaunch *l,
                              TleiError *e) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext context = NULL;
    bool pushed = false;
    tle_status status = context_of(d, l->stream, &context, e);
    if (!status)
        status = enter(context, &pushed, e);
    if (status)
        return status;
    status = check_stream_device(d, context, e);
    if (!status)
        status = launch_in_context((const CudaKernel *)kernel, l, e);
    leave(pushed);
    return status;
}

/* ---- memory ---- */

static tle_status alloc_cuda(TleiDevice *device, size_t bytes, void **out, TleiError *e) {
    bool pushed = false;
    tle_status status = enter(((CudaDevice *)device)->context, &pushed, e);
    if (status)
        return status;
    CUdeviceptr memory = 0;
    CUresult result = driver.cuMemAlloc(&memory, bytes);
    leave(pushed);
    if (result)
        return cuda_fail(e, result, "cuMemAlloc", "bytes");
    *out = (void *)(uintptr_t)memory;
    return TLE_STATUS_OK;
}

static tle_status free_cuda(TleiDevice *device, void *memory, TleiError *e) {
    bool pushed = false;
    tle_status status = enter(((CudaDevice *)device)->context, &pushed, e);
    if (status)
        return status;
    CUresult result = driver.cuMemFree((CUdeviceptr)(uintptr_t)memory);
    leave(pushed);
    return result ? cuda_fail(e, result, "cuMemFree", "memory") : TLE_STATUS_OK;
}

static tle_status copy_cuda(TleiDevice *device, void *to, const void *from, size_t bytes,
                            TleiError *e) {
    bool pushed = false;
    tle_status status = enter(((CudaDevice *)device)->context, &pushed, e);
    if (status)
        return status;
    CUresult result =
        driver.cuMemcpy((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes);
    /* From pageable memory the driver returns when it has taken the bytes, before the device has
     * them; another stream would still see the old ones. */
    const char *call = result ? "cuMemcpy" : "cuStreamSynchronize";
    if (!result)
        result = driver.cuStreamSynchronize(NULL);
    leave(pushed);
    return result ? cuda_fail(e, result, call, "bytes") : TLE_STATUS_OK;
}

static tle_status synchronize_cuda(TleiDevice *device, tle_stream stream, TleiError *e) {
    CUcontext context = NULL;
    bool pushed = false;
    tle_status status = context_of((CudaDevice *)device, stream, &context, e);
    if (!status)
        status = enter(context, &pushed, e);
    if (status)
        return status;
    CUresult result = driver.cuStreamSynchronize(stream);
    leave(pushed);
    return result ? cuda_fail(e, result, "cuStreamSynchronize", "stream") : TLE_STATUS_OK;
}

bool tlei_cuda_capturing(tle_stream stream) {
    if (is_default_stream(stream))
        return false;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return false;
    dlclose(library);
    TleiError ignored;
    int status = 0;
    return !need_driver(&ignored) && !driver.cuStreamIsCapturing(stream, &status) &&
           status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static tle_status tensor_map_cuda(TleiDevice *device, const TleiTensor *t, void *map_out,
                                  TleiError *e) {
    (void)device; /* the driver encodes for any */
    CUresult result = driver.cuTensorMapEncodeTiled(map_out, t->type, t->rank, t->address, t->dims,
                                                    t->strides, t->box, t->steps, t->interleave,
                                                    t->swizzle, t->promotion, t->fill);
    return result ? cuda_fail(e, result, "cuTensorMapEncodeTiled", "tensor") : TLE_STATUS_OK;
}

const TleiDeviceOps tlei_device_cuda = {
    .name = "cuda",
    .count = count_cuda,
    .info = info_cuda,
    .open = open_cuda,
    .close = close_cuda,
    .load = load_cuda,
    .unload = unload_cuda,
    .launch = launch_cuda,
    .alloc = alloc_cuda,
    .free = free_cuda,
    .copy = copy_cuda,
    .synchronize = synchronize_cuda,
    .tensor_map = tensor_map_cuda,
};
