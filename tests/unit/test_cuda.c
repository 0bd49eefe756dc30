/* The CUDA device over a driver written here: the source under test is compiled into this file with
 * its own dlopen and dlsym, so "libcuda.so.1" is what this file says. Checked are the calls that
 * reach the driver, the caller's context before and after, and what errors become. */
#include "device/device.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void *test_dlopen(const char *name, int flags);
static void *test_dlsym(void *library, const char *symbol);
static int test_dlclose(void *library);
static char *test_dlerror(void);

#define dlopen  test_dlopen
#define dlsym   test_dlsym
#define dlclose test_dlclose
#define dlerror test_dlerror
#include "device/cuda.c"

/* ---- the driver ---- */

typedef struct FakeDriver {
    int present, lacks_get_address, init_error, device_count;
    const char *lacks; /* a function that it does not have */
    const char *fails; /* a call that returns `error` */
    CUresult error;
    CUcontext stack[8];
    int depth, pushes, retained, libraries, capture_mode, capture_mode_at_load, capturing;
    int attributes[4][2], attribute_count;
    CUlaunchConfig config;
    CUlaunchAttribute launch_attributes[MAX_ATTRIBUTES];
    CUcontext launched_in;
    int launches, largest_cluster;
    TleiTensor tensor;
    CUdeviceptr zeroed; /* by memset, before the launch */
    size_t zeroed_words;
    struct {
        void *to;
        unsigned char data[16];
        size_t bytes;
    } staged; /* what a copy took and the device does not have yet */
} FakeDriver;

static FakeDriver d = {.present = 1, .device_count = 2, .largest_cluster = 16};

static struct CUctx_st *context(uintptr_t n) {
    return (struct CUctx_st *)(n * 0x100);
}

/* Device i's primary context is number i + 1; number 9 is a foreign one of device 0. */
static CUdevice device_of(CUcontext c) {
    return c == context(9) ? 0 : (CUdevice)((uintptr_t)c / 0x100) - 1;
}

static CUresult result_of(const char *call) {
    return d.fails && !strcmp(d.fails, call) ? d.error : 0;
}

static CUresult fake_cuInit(unsigned int flags) {
    (void)flags;
    return d.init_error;
}

static CUresult fake_cuDriverGetVersion(int *version) {
    *version = 13000;
    return 0;
}

static CUresult fake_cuGetErrorName(CUresult error, const char **name) {
    *name = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_SOME";
    return 0;
}

static CUresult fake_cuGetErrorString(CUresult error, const char **text) {
    (void)error;
    *text = "some text";
    return 0;
}

static CUresult fake_cuDeviceGetCount(int *count) {
    *count = d.device_count;
    return result_of("cuDeviceGetCount");
}

static CUresult fake_cuDeviceGet(CUdevice *device, int ordinal) {
    *device = ordinal;
    return 0;
}

static CUresult fake_cuDeviceGetName(char *name, int len, CUdevice device) {
    snprintf(name, (size_t)len, "Test GPU %d", device);
    return 0;
}

static CUresult fake_cuDeviceTotalMem(size_t *bytes, CUdevice device) {
    (void)device;
    *bytes = (size_t)1 << 37;
    return 0;
}

static CUresult fake_cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    (void)device;
    *value = attribute == 16 ? 132 : attribute == 75 ? 9 : attribute == 97 ? 232448 : 0;
    return 0;
}

static CUresult fake_cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice device) {
    d.retained++;
    *c = context((uintptr_t)device + 1);
    return result_of("cuDevicePrimaryCtxRetain");
}

static CUresult fake_cuDevicePrimaryCtxRelease(CUdevice device) {
    (void)device;
    d.retained--;
    return 0;
}

static CUresult fake_cuCtxGetCurrent(CUcontext *c) {
    *c = d.depth ? d.stack[d.depth - 1] : NULL;
    return 0;
}

static CUresult fake_cuCtxGetDevice(CUdevice *device) {
    *device = device_of(d.stack[d.depth - 1]);
    return 0;
}

static CUresult fake_cuCtxPushCurrent(CUcontext c) {
    d.stack[d.depth++] = c;
    d.pushes++;
    return 0;
}

static CUresult fake_cuCtxPopCurrent(CUcontext *c) {
    *c = d.stack[--d.depth];
    return 0;
}

/* Streams are numbers: 0x1000 * their context's. */
static CUresult fake_cuStreamGetCtx(CUstream stream, CUcontext *c) {
    *c = context((uintptr_t)stream / 0x1000);
    return result_of("cuStreamGetCtx");
}

static CUresult fake_cuStreamIsCapturing(CUstream stream, int *status) {
    (void)stream;
    *status = d.capturing;
    return 0;
}

static CUresult fake_cuStreamSynchronize(CUstream stream) {
    if (!stream && d.staged.bytes)
        memcpy(d.staged.to, d.staged.data, d.staged.bytes);
    d.staged.bytes = 0;
    return result_of("cuStreamSynchronize");
}

static CUresult fake_cuThreadExchangeStreamCaptureMode(int *mode) {
    int old = d.capture_mode;
    d.capture_mode = *mode;
    *mode = old;
    return 0;
}

static CUresult fake_cuLibraryLoadData(CUlibrary *library, const void *code, int *jit_options,
                                       void **jit_values, unsigned int jit_count, int *options,
                                       void **values, unsigned int count) {
    (void)code, (void)jit_options, (void)jit_values, (void)jit_count, (void)options;
    (void)values, (void)count;
    CUresult result = result_of("cuLibraryLoadData");
    d.capture_mode_at_load = d.capture_mode;
    d.libraries += !result;
    *library = result ? NULL : (CUlibrary)0x77;
    return result;
}

static CUresult fake_cuLibraryUnload(CUlibrary library) {
    (void)library;
    d.libraries--;
    return 0;
}

static CUresult fake_cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    (void)library, (void)name;
    *kernel = (CUkernel)0x88;
    return result_of("cuLibraryGetKernel");
}

static CUresult fake_cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    *function = (CUfunction)kernel;
    return result_of("cuKernelGetFunction");
}

static CUresult fake_cuKernelSetAttribute(int attribute, int value, CUkernel kernel,
                                          CUdevice device) {
    (void)kernel, (void)device;
    d.attributes[d.attribute_count][0] = attribute;
    d.attributes[d.attribute_count++][1] = value;
    return result_of("cuKernelSetAttribute");
}

static CUresult fake_cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                                  const CUlaunchConfig *config) {
    (void)function;
    *clusters = (int)config->attrs[0].value.clusterDim.x <= d.largest_cluster;
    return result_of("cuOccupancyMaxActiveClusters");
}

static CUresult fake_cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count,
                                      CUstream stream) {
    (void)stream;
    assert_int_equal(value, 0);
    d.zeroed = to;
    d.zeroed_words = count;
    return result_of("cuMemsetD32Async");
}

static CUresult fake_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                                      void **params, void **extra) {
    (void)function, (void)params, (void)extra;
    d.launches++;
    d.config = *config;
    memcpy(d.launch_attributes, config->attrs, config->numAttrs * sizeof *config->attrs);
    d.launched_in = d.stack[d.depth - 1];
    return result_of("cuLaunchKernelEx");
}

static CUresult fake_cuMemAlloc(CUdeviceptr *memory, size_t bytes) {
    CUresult result = result_of("cuMemAlloc");
    *memory = result ? 0 : (CUdeviceptr)(uintptr_t)malloc(bytes);
    return result;
}

static CUresult fake_cuMemFree(CUdeviceptr memory) {
    free((void *)(uintptr_t)memory);
    return 0;
}

static CUresult fake_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    assert_true(bytes <= sizeof d.staged.data);
    d.staged.to = (void *)(uintptr_t)to;
    d.staged.bytes = bytes;
    memcpy(d.staged.data, (const void *)(uintptr_t)from, bytes);
    return result_of("cuMemcpy");
}

static CUresult fake_cuTensorMapEncodeTiled(void *map, unsigned int type, unsigned int rank,
                                            void *address, const uint64_t *dims,
                                            const uint64_t *strides, const uint32_t *box,
                                            const uint32_t *steps, unsigned int interleave,
                                            unsigned int swizzle, unsigned int promotion,
                                            unsigned int fill) {
    d.tensor = (TleiTensor){.address = address,
                            .dims = {dims[0], dims[1]},
                            .strides = {strides[0]},
                            .box = {box[0], box[1]},
                            .steps = {steps[0], steps[1]},
                            .type = type,
                            .rank = rank,
                            .interleave = interleave,
                            .swizzle = swizzle,
                            .promotion = promotion,
                            .fill = fill};
    *(char *)map = 'm';
    return result_of("cuTensorMapEncodeTiled");
}

/* A function pointer as dlsym gives it. */
#define STORE(out, function)                                                                       \
    do {                                                                                           \
        __typeof__(function) *pointer = function;                                                  \
        memcpy((out), &pointer, sizeof pointer);                                                   \
    } while (0)

static CUresult fake_get_address(const char *symbol, void **function, int version, uint64_t flags,
                                 int *status) {
    (void)version, (void)flags, (void)status;
    if (d.lacks && !strcmp(symbol, d.lacks))
        return 500;
#define X(name, wanted, params)                                                                    \
    if (!strcmp(symbol, #name))                                                                    \
        STORE(function, fake_##name);
#include "device/cuda_api.def"
#undef X
    return 0;
}

static void *test_dlopen(const char *name, int flags) {
    (void)flags;
    return d.present && !strcmp(name, "libcuda.so.1") ? &d : NULL;
}

static void *test_dlsym(void *library, const char *symbol) {
    void *function = NULL;
    (void)library, (void)symbol;
    if (!d.lacks_get_address)
        STORE(&function, fake_get_address);
    return function;
}

static int test_dlclose(void *library) {
    (void)library;
    return 0;
}

static char *test_dlerror(void) {
    static char text[] = "libcuda.so.1: not here";
    return text;
}

/* ---- tests ---- */

static TleiError e;
static TleiDevice *device;
static const TleiImage image = {"code", 4, "variant", "kernel", 100000, 1, 1024};

static int setup(void **state) {
    (void)state;
    d = (FakeDriver){.present = 1, .device_count = 2, .largest_cluster = 16};
    TleiDeviceConfig config = {.ordinal = 1};
    return tlei_device_cuda.open(&config, &device, &e) ? -1 : 0;
}

static int teardown(void **state) {
    (void)state;
    tlei_device_cuda.close(device);
    assert_int_equal(d.retained, 0);
    assert_int_equal(d.libraries, 0);
    return 0;
}

static TleiKernel *load(void) {
    TleiKernel *k = NULL;
    if (tlei_device_cuda.load(device, &image, &k, &e))
        fail_msg("%s", e.text);
    return k;
}

static TleiLaunch launch_in(uintptr_t stream) {
    return (TleiLaunch){.variant = "variant",
                        .grid = {70, 1, 1},
                        .threads = 256,
                        .cluster = {1, 1, 1},
                        .shared_bytes = 100000,
                        .stream = (tle_stream)stream};
}

static void describes_devices(void **state) {
    (void)state;
    int32_t count = 0;
    tle_device_info info;
    assert_int_equal(tlei_device_cuda.count(&count, &e), TLE_STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(tlei_device_cuda.info(1, &info, &e), TLE_STATUS_OK);
    assert_string_equal(info.name, "Test GPU 1");
    assert_string_equal(info.arch, "sm_90");
    assert_int_equal(info.sm_count, 132);
    assert_int_equal(info.driver_version, 13000);
    assert_int_equal(tlei_device_cuda.info(2, &info, &e), TLE_STATUS_NO_DEVICE);
    assert_string_equal(e.text, "CUDA device 2: the driver has 2 devices");
    assert_int_equal(tlei_device_cuda.info(-1, &info, &e), TLE_STATUS_NO_DEVICE);
}

static void opens_the_current_device(void **state) {
    (void)state;
    TleiDevice *other = NULL;
    TleiDeviceConfig config = {.ordinal = -1};
    assert_int_equal(tlei_device_cuda.open(&config, &other, &e), TLE_STATUS_OK);
    assert_int_equal(other->info.ordinal, 0);
    tlei_device_cuda.close(other);
    d.stack[d.depth++] = context(2);
    assert_int_equal(tlei_device_cuda.open(&config, &other, &e), TLE_STATUS_OK);
    assert_int_equal(other->info.ordinal, 1);
    tlei_device_cuda.close(other);
}

static void loads_under_any_capture_mode(void **state) {
    (void)state;
    d.stack[d.depth++] = context(1);
    TleiKernel *k = load();
    assert_int_equal(d.capture_mode_at_load, CU_STREAM_CAPTURE_MODE_RELAXED);
    assert_int_equal(d.capture_mode, 0);
    assert_int_equal(d.depth, 1);
    assert_ptr_equal(d.stack[0], context(1));
    assert_int_equal(d.attribute_count, 1);
    assert_int_equal(d.attributes[0][0], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    assert_int_equal(d.attributes[0][1], 100000);
    tlei_device_cuda.unload(device, k);
}

static void large_clusters_are_allowed(void **state) {
    (void)state;
    TleiImage wide = image;
    TleiKernel *k = NULL;
    wide.cluster_ctas = 16;
    assert_int_equal(tlei_device_cuda.load(device, &wide, &k, &e), TLE_STATUS_OK);
    assert_int_equal(d.attribute_count, 2);
    assert_int_equal(d.attributes[1][0], CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
    TleiLaunch l = launch_in(0);
    l.cluster[0] = 16;
    l.cooperative = true;
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_OK);
    assert_int_equal(d.config.numAttrs, 2);
    assert_int_equal(d.launch_attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    assert_int_equal(d.launch_attributes[0].value.clusterDim.x, 16);
    assert_int_equal(d.launch_attributes[0].value.clusterDim.y, 1);
    assert_int_equal(d.launch_attributes[1].id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
    tlei_device_cuda.unload(device, k);
}

static void dependent_launches_may_begin_early(void **state) {
    (void)state;
    TleiKernel *k = NULL;
    assert_int_equal(tlei_device_cuda.load(device, &image, &k, &e), TLE_STATUS_OK);
    TleiLaunch l = launch_in(0);
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_OK);
    assert_int_equal(d.config.numAttrs, 0);
    l.dependent = true;
    l.cluster[0] = 8;
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_OK);
    assert_int_equal(d.config.numAttrs, 2);
    assert_int_equal(d.launch_attributes[1].id, 6); /* PROGRAMMATIC_STREAM_SERIALIZATION */
    assert_int_equal(*(const int *)&d.launch_attributes[1].value, 1);
    tlei_device_cuda.unload(device, k);
}

static void clusters_that_do_not_fit_are_refused(void **state) {
    (void)state;
    TleiImage wide = image;
    TleiKernel *k = NULL;
    wide.cluster_ctas = 16;
    d.largest_cluster = 8;
    assert_int_equal(tlei_device_cuda.load(device, &wide, &k, &e), TLE_STATUS_NO_VARIANT);
    assert_null(k);
    assert_non_null(strstr(e.text, "a cluster of 16 CTAs"));
    wide.cluster_ctas = 8;
    assert_int_equal(tlei_device_cuda.load(device, &wide, &k, &e), TLE_STATUS_OK);
    tlei_device_cuda.unload(device, k);
}

static void words_of_grid_barriers_are_zeroed(void **state) {
    (void)state;
    TleiKernel *k = load();
    TleiLaunch l = launch_in(0);
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_OK);
    assert_int_equal(d.zeroed_words, 0);
    l.zeroed = (void *)(uintptr_t)0x4000;
    l.zeroed_bytes = 16;
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_OK);
    assert_int_equal(d.zeroed, 0x4000);
    assert_int_equal(d.zeroed_words, 4);
    tlei_device_cuda.unload(device, k);
}

static void launches_in_the_streams_context(void **state) {
    (void)state;
    TleiKernel *k = load();
    TleiLaunch l = launch_in(0);
    d.pushes = 0;
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_OK);
    assert_ptr_equal(d.launched_in, context(2));
    assert_int_equal(d.config.gridDimX, 70);
    assert_int_equal(d.config.blockDimX, 256);
    assert_int_equal(d.config.sharedMemBytes, 100000);
    assert_int_equal(d.config.numAttrs, 0);
    assert_int_equal(d.pushes, 1);
    assert_int_equal(d.depth, 0);
    l = launch_in(0x2000);
    d.stack[d.depth++] = context(2);
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_OK);
    assert_int_equal(d.pushes, 1);
    assert_ptr_equal(d.config.hStream, (void *)0x2000);
    l = launch_in(0x1000);
    d.launches = 0;
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_INVALID_ARGUMENT);
    assert_string_equal(e.text, "stream belongs to CUDA device 0, the handle to device 1");
    assert_int_equal(d.launches, 0);
    assert_int_equal(d.depth, 1);
    assert_ptr_equal(d.stack[0], context(2));
    tlei_device_cuda.unload(device, k);
}

static void foreign_contexts_of_the_device(void **state) {
    (void)state;
    TleiDevice *zero = NULL;
    TleiKernel *k = load();
    TleiDeviceConfig config = {.ordinal = 0};
    TleiLaunch l = launch_in(0x9000);
    assert_int_equal(tlei_device_cuda.open(&config, &zero, &e), TLE_STATUS_OK);
    assert_int_equal(tlei_device_cuda.launch(zero, k, &l, &e), TLE_STATUS_OK);
    assert_ptr_equal(d.launched_in, context(9));
    assert_int_equal(d.depth, 0);
    tlei_device_cuda.unload(device, k);
    tlei_device_cuda.close(zero);
}

static void load_errors(void **state) {
    (void)state;
    static const struct {
        const char *call;
        CUresult error;
        tle_status status;
    } cases[] = {
        {"cuLibraryLoadData", 209, TLE_STATUS_UNSUPPORTED_ARCH},
        {"cuLibraryLoadData", 200, TLE_STATUS_DRIVER_TOO_OLD},
        {"cuLibraryLoadData", 222, TLE_STATUS_DRIVER_TOO_OLD},
        {"cuLibraryLoadData", 2, TLE_STATUS_OUT_OF_MEMORY},
        {"cuLibraryGetKernel", 500, TLE_STATUS_DRIVER_ERROR},
        {"cuKernelSetAttribute", 1, TLE_STATUS_DRIVER_ERROR},
        {"cuKernelGetFunction", 2, TLE_STATUS_OUT_OF_MEMORY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        TleiKernel *k = NULL;
        d.fails = cases[i].call;
        d.error = cases[i].error;
        assert_int_equal(tlei_device_cuda.load(device, &image, &k, &e), cases[i].status);
        assert_int_equal(e.native, cases[i].error);
        assert_non_null(strstr(e.text, cases[i].call));
        assert_non_null(strstr(e.text, "CUDA 13.0"));
        assert_int_equal(d.depth + d.libraries + d.capture_mode, 0);
    }
}

static void call_errors(void **state) {
    (void)state;
    TleiKernel *k = load();
    TleiLaunch l = launch_in(0x2000);
    void *memory = NULL;
    d.fails = "cuLaunchKernelEx";
    d.error = 719;
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_DRIVER_ERROR);
    assert_string_equal(e.text, "cuLaunchKernelEx(variant) failed with CUDA_ERROR_LAUNCH_FAILED "
                                "(719): some text; the driver is CUDA 13.0");
    d.error = 900;
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_CAPTURE_UNSUPPORTED);
    d.fails = "cuStreamGetCtx";
    d.error = 400;
    assert_int_equal(tlei_device_cuda.launch(device, k, &l, &e), TLE_STATUS_DRIVER_ERROR);
    d.fails = "cuMemAlloc";
    d.error = 2;
    assert_int_equal(tlei_device_cuda.alloc(device, 0, &memory, &e), TLE_STATUS_OUT_OF_MEMORY);
    d.fails = "cuStreamSynchronize";
    d.error = 700;
    assert_int_equal(tlei_device_cuda.synchronize(device, NULL, &e), TLE_STATUS_DRIVER_ERROR);
    assert_int_equal(tlei_device_cuda.copy(device, &(char){0}, &l, 1, &e), TLE_STATUS_DRIVER_ERROR);
    assert_int_equal(d.depth, 0);
    tlei_device_cuda.unload(device, k);
}

static void moves_memory(void **state) {
    (void)state;
    void *memory = NULL;
    int value = 0;
    assert_int_equal(tlei_device_cuda.alloc(device, 4, &memory, &e), TLE_STATUS_OK);
    assert_int_equal(tlei_device_cuda.copy(device, memory, &(int){6}, 4, &e), TLE_STATUS_OK);
    assert_int_equal(*(int *)memory, 6); /* there, and not only on its way */
    assert_int_equal(tlei_device_cuda.copy(device, &value, memory, 4, &e), TLE_STATUS_OK);
    assert_int_equal(value, 6);
    assert_int_equal(tlei_device_cuda.free(device, memory, &e), TLE_STATUS_OK);
    assert_int_equal(d.depth, 0);
}

static void encodes_tensor_maps(void **state) {
    _Alignas(64) char map[TLEI_TENSOR_MAP_BYTES];
    TleiTensor t = {.address = map,
                    .dims = {64, 9},
                    .strides = {128},
                    .box = {32, 3},
                    .steps = {1, 2},
                    .type = 6,
                    .rank = 2,
                    .swizzle = 1,
                    .promotion = 3,
                    .fill = 1};
    (void)state;
    assert_int_equal(tlei_device_cuda.tensor_map(device, &t, map, &e), TLE_STATUS_OK);
    assert_int_equal(map[0], 'm');
    assert_memory_equal(&d.tensor, &t, sizeof t);
    d.fails = "cuTensorMapEncodeTiled";
    d.error = 1;
    assert_int_equal(tlei_device_cuda.tensor_map(device, &t, map, &e), TLE_STATUS_DRIVER_ERROR);
    assert_non_null(strstr(e.text, "cuTensorMapEncodeTiled(tensor) failed with"));
}

static void captures_are_seen(void **state) {
    (void)state;
    assert_false(tlei_cuda_capturing((tle_stream)0x2000));
    d.capturing = 1;
    assert_true(tlei_cuda_capturing((tle_stream)0x2000));
    assert_false(tlei_cuda_capturing(NULL));
}

/* The driver is opened once a process, so each way of failing has a process of its own. */
static void open_in_child(FakeDriver faked, tle_status status, const char *part) {
    pid_t child = fork();
    if (!child) {
        d = faked;
        int32_t count = -1;
        tle_status got = tlei_device_cuda.count(&count, &e);
        int ok = got == status && (got ? strstr(e.text, part) != NULL : count == 0);
        if (!ok)
            fprintf(stderr, "%s: %s\n", tle_status_name(got), e.text);
        _exit(ok ? 0 : 1);
    }
    int result = 0;
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
}

static void missing_and_old_drivers(void **state) {
    (void)state;
    open_in_child((FakeDriver){0}, TLE_STATUS_DRIVER_NOT_FOUND,
                  "cannot be opened: libcuda.so.1: not here");
    open_in_child((FakeDriver){.present = 1, .lacks_get_address = 1}, TLE_STATUS_DRIVER_TOO_OLD,
                  "older than 12.0");
    open_in_child((FakeDriver){.present = 1, .lacks = "cuLibraryLoadData"},
                  TLE_STATUS_DRIVER_TOO_OLD, "lacks cuLibraryLoadData");
    open_in_child((FakeDriver){.present = 1, .init_error = 35}, TLE_STATUS_DRIVER_TOO_OLD,
                  "cannot be initialised: some text");
    open_in_child((FakeDriver){.present = 1, .init_error = 999}, TLE_STATUS_DRIVER_ERROR,
                  "cannot be initialised");
    open_in_child((FakeDriver){.present = 1, .init_error = 100}, TLE_STATUS_OK, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_and_old_drivers),
        TEST(describes_devices),
        TEST(opens_the_current_device),
        TEST(loads_under_any_capture_mode),
        TEST(large_clusters_are_allowed),
        TEST(dependent_launches_may_begin_early),
        TEST(clusters_that_do_not_fit_are_refused),
        TEST(words_of_grid_barriers_are_zeroed),
        TEST(launches_in_the_streams_context),
        TEST(foreign_contexts_of_the_device),
        TEST(load_errors),
        TEST(call_errors),
        TEST(moves_memory),
        TEST(encodes_tensor_maps),
        TEST(captures_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
