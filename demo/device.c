/* The CUDA driver's memory calls, by their documented names, so that the demo needs no CUDA header
 * and runs on a machine without a driver. */
#define _DEFAULT_SOURCE
#include "device.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t DevicePointer;

/* name, C name, arguments: what the demo calls, each returning 0 on success */
#define DRIVER_CALLS(X)                                                                            \
    X(init, "cuInit", (unsigned flags))                                                            \
    X(device_get, "cuDeviceGet", (int *device, int ordinal))                                       \
    X(retain, "cuDevicePrimaryCtxRetain", (void **context, int device))                            \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int device))                                       \
    X(set_current, "cuCtxSetCurrent", (void *context))                                             \
    X(synchronize, "cuCtxSynchronize", (void))                                                     \
    X(alloc, "cuMemAlloc_v2", (DevicePointer * memory, size_t bytes))                              \
    X(release_memory, "cuMemFree_v2", (DevicePointer memory))                                      \
    X(write, "cuMemcpyHtoD_v2", (DevicePointer to, const void *from, size_t bytes))                \
    X(read, "cuMemcpyDtoH_v2", (void *to, DevicePointer from, size_t bytes))

struct Device {
    int on_gpu;
    int ordinal;
    void *library;
#define X(name, symbol, arguments) int(*name) arguments;
    DRIVER_CALLS(X)
#undef X
};

static int find(void *library, const char *symbol, void *slot, size_t size) {
    void *address = dlsym(library, symbol);
    memcpy(slot, &address, size);
    return address ? 0 : -1;
}

static int open_driver(Device *device, int ordinal) {
    device->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!device->library) {
        return -1;
    }
    int missing = 0;
#define X(name, symbol, arguments)                                                                 \
    missing |= find(device->library, symbol, &device->name, sizeof device->name);
    DRIVER_CALLS(X)
#undef X
    void *context = NULL;
    return missing || device->init(0) || device->device_get(&device->ordinal, ordinal) ||
                   device->retain(&context, device->ordinal) || device->set_current(context)
               ? -1
               : 0;
}

Device *device_open(const tle_device_info *info) {
    Device *device = calloc(1, sizeof *device);
    if (!device) {
        fprintf(stderr, "demo: out of memory\n");
        return NULL;
    }
    device->on_gpu = info->kind == TLE_DEVICE_CUDA;
    if (device->on_gpu && open_driver(device, info->ordinal) != 0) {
        fprintf(stderr, "demo: the driver's memory calls are not to be had for device %d\n",
                info->ordinal);
        device_close(device);
        return NULL;
    }
    return device;
}

void device_close(Device *device) {
    if (!device) {
        return;
    }
    if (device->library && device->release) {
        device->release(device->ordinal);
    }
    free(device);
}

void *device_alloc(Device *device, const void *from, size_t bytes) {
    if (!device->on_gpu) {
        void *memory = calloc(1, bytes);
        return memory && from ? memcpy(memory, from, bytes) : memory;
    }
    DevicePointer memory = 0;
    if (device->alloc(&memory, bytes) != 0) {
        return NULL;
    }
    if (from && device->write(memory, from, bytes) != 0) {
        device->release_memory(memory);
        return NULL;
    }
    return (void *)(uintptr_t)memory;
}

void device_free(Device *device, void *memory) {
    if (!device->on_gpu) {
        free(memory);
    } else if (memory) {
        device->release_memory((DevicePointer)(uintptr_t)memory);
    }
}

int device_read(Device *device, void *to, const void *from, size_t bytes) {
    if (!device->on_gpu) {
        memcpy(to, from, bytes);
        return 0;
    }
    return device->read(to, (DevicePointer)(uintptr_t)from, bytes);
}

int device_wait(Device *device) {
    return device->on_gpu ? device->synchronize() : 0;
}
