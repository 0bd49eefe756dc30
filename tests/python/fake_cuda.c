/* A libcuda.so.1 without a GPU, for programs that only time kernels: launches do nothing and take a
 * time that follows from the kernel's grid and block, memory is there but kept by nobody. Built by
 * test_cli_tune.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef struct Config {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned count;
} Config;

static double captured_us, replayed_us, events_us[64];
static int events, capturing;
static char anything[64];

static int nothing(void) {
    return 0;
}

static int give(void **out) {
    *out = anything;
    return 0;
}

static int give_second(void **out, void *a) {
    (void)a;
    *out = anything;
    return 0;
}

static int version(int *out) {
    *out = 13000;
    return 0;
}

static int count(int *out) {
    *out = 1;
    return 0;
}

static int device(int *out, int ordinal) {
    *out = ordinal;
    return 0;
}

static int name(char *out, int size) {
    snprintf(out, (size_t)size, "Fake GPU");
    return 0;
}

static int total(size_t *out) {
    *out = (size_t)80 << 30;
    return 0;
}

static int attribute(int *out, int which) {
    *out = which == 16 ? 132 : which == 38 ? 50 << 20 : which == 75 ? 9 : which == 97 ? 232448 : 0;
    return 0;
}

static int text(int code, const char **out) {
    (void)code;
    *out = "no error";
    return 0;
}

static int clusters(int *out) {
    *out = 8;
    return 0;
}

static int is_capturing(void *stream, int *out) {
    (void)stream;
    *out = capturing;
    return 0;
}

static int begin_capture(void) {
    captured_us = 0;
    capturing = 1;
    return 0;
}

static int end_capture(void *stream, void **graph) {
    (void)stream;
    capturing = 0;
    *graph = anything;
    return 0;
}

/* Wide blocks are good at long rows, many CTAs cost waves. */
static int launch(const Config *config) {
    double ctas = (double)config->grid[0] * config->grid[1] * config->grid[2];
    captured_us += 2 + ctas / 132 * (1 + config->block[0] / 512.0) + 1000.0 / config->block[0];
    return 0;
}

static int replay(void) {
    replayed_us += captured_us;
    return 0;
}

static int make_event(void **out) {
    *out = &events_us[events++ % 64];
    return 0;
}

static int record(void *event) {
    *(double *)event = replayed_us;
    return 0;
}

static int elapsed(float *milliseconds, void *begin, void *end) {
    *milliseconds = (float)((*(double *)end - *(double *)begin) / 1e3);
    return 0;
}

static int allocate(uint64_t *out, size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *out = (uint64_t)(uintptr_t)memory;
    return memory == MAP_FAILED ? 2 : 0;
}

static int current_device(int *out) {
    *out = 0;
    return 0;
}

int cuGetProcAddress_v2(const char *symbol, void **function, int wanted, uint64_t flags,
                        int *status) {
    (void)wanted;
    (void)flags;
    (void)status;
    *function = dlsym(RTLD_DEFAULT, symbol);
    return *function ? 0 : 500;
}

/* Copies do nothing either: what the host reads back is always the same. */
#define EXPORT(symbol, target) int symbol(void) __attribute__((alias(#target)));
EXPORT(cuCtxGetCurrent, give)
EXPORT(cuCtxGetDevice, current_device)
EXPORT(cuCtxPopCurrent, give)
EXPORT(cuCtxPushCurrent, nothing)
EXPORT(cuCtxSetCurrent, nothing)
EXPORT(cuDeviceGet, device)
EXPORT(cuDeviceGetAttribute, attribute)
EXPORT(cuDeviceGetCount, count)
EXPORT(cuDeviceGetName, name)
EXPORT(cuDevicePrimaryCtxRelease, nothing)
EXPORT(cuDevicePrimaryCtxRetain, give)
EXPORT(cuDeviceTotalMem, total)
EXPORT(cuDriverGetVersion, version)
EXPORT(cuEventCreate, make_event)
EXPORT(cuEventDestroy_v2, nothing)
EXPORT(cuEventElapsedTime, elapsed)
EXPORT(cuEventRecord, record)
EXPORT(cuEventSynchronize, nothing)
EXPORT(cuGetErrorName, text)
EXPORT(cuGetErrorString, text)
EXPORT(cuGraphDestroy, nothing)
EXPORT(cuGraphExecDestroy, nothing)
EXPORT(cuGraphInstantiateWithFlags, give)
EXPORT(cuGraphLaunch, replay)
EXPORT(cuInit, nothing)
EXPORT(cuKernelGetFunction, give)
EXPORT(cuKernelSetAttribute, nothing)
EXPORT(cuLaunchKernelEx, launch)
EXPORT(cuLibraryGetKernel, give)
EXPORT(cuLibraryLoadData, give)
EXPORT(cuLibraryUnload, nothing)
EXPORT(cuMemAlloc, allocate)
EXPORT(cuMemAlloc_v2, allocate)
EXPORT(cuMemFree, nothing)
EXPORT(cuMemFree_v2, nothing)
EXPORT(cuMemcpy, nothing)
EXPORT(cuMemsetD32Async, nothing)
EXPORT(cuMemsetD8Async, nothing)
EXPORT(cuOccupancyMaxActiveClusters, clusters)
EXPORT(cuStreamBeginCapture_v2, begin_capture)
EXPORT(cuStreamCreate, give)
EXPORT(cuStreamDestroy_v2, nothing)
EXPORT(cuStreamEndCapture, end_capture)
EXPORT(cuStreamGetCtx, give_second)
EXPORT(cuStreamIsCapturing, is_capturing)
EXPORT(cuStreamSynchronize, nothing)
EXPORT(cuTensorMapEncodeTiled, nothing)
EXPORT(cuThreadExchangeStreamCaptureMode, nothing)
