/* The emulator's interface on a GPU: a library that takes the place of libtle_emu.so, so that the
 * tests of CUDA programs (tests/unit/test_emu_*.c) run on the hardware unchanged. Memory is
 * managed, hence at one address for both sides; schedules and checks are ignored and nothing is
 * reported. */
#include "tle/tle_emu.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct LaunchAttribute {
    int id;
    char pad[4];
    union {
        char pad[64];
        unsigned dims[3];
    } value;
} LaunchAttribute;

typedef struct LaunchConfig {
    unsigned grid[3], block[3], shared;
    void *stream;
    LaunchAttribute *attributes;
    unsigned count;
} LaunchConfig;

typedef struct Driver {
    int (*init)(unsigned), (*get)(int *, int), (*retain)(void **, int), (*current)(void *);
    int (*alloc)(uint64_t *, size_t, unsigned), (*release)(uint64_t);
    int (*load)(void **, const void *), (*unload)(void *), (*find)(void **, void *, const char *);
    int (*global)(uint64_t *, size_t *, void *, const char *);
    int (*set)(void *, int, int), (*launch)(const LaunchConfig *, void *, void **, void **);
    int (*sync)(void);
    int (*encode)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                  const uint32_t *, const uint32_t *, int, int, int, int);
} Driver;

struct tle_emu_device {
    Driver driver;
    char error[64];
};

struct tle_emu_module {
    tle_emu_device *device;
    void *handle;
};

static bool resolve(Driver *d) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    const struct {
        void *where;
        const char *name;
    } names[] = {{&d->init, "cuInit"},
                 {&d->get, "cuDeviceGet"},
                 {&d->retain, "cuDevicePrimaryCtxRetain"},
                 {&d->current, "cuCtxSetCurrent"},
                 {&d->alloc, "cuMemAllocManaged"},
                 {&d->release, "cuMemFree_v2"},
                 {&d->load, "cuModuleLoadData"},
                 {&d->unload, "cuModuleUnload"},
                 {&d->find, "cuModuleGetFunction"},
                 {&d->global, "cuModuleGetGlobal_v2"},
                 {&d->set, "cuFuncSetAttribute"},
                 {&d->launch, "cuLaunchKernelEx"},
                 {&d->sync, "cuCtxSynchronize"},
                 {&d->encode, "cuTensorMapEncodeTiled"}};
    for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(library, names[i].name);
        if (!f)
            return false;
        memcpy(names[i].where, &f, sizeof f);
    }
    return library != NULL;
}

/* Numbers of the driver: an invalid value, an invalid size of a cluster; attributes of functions.
 */
enum { BAD_VALUE = 1, BAD_CLUSTER = 912, DYNAMIC_SHARED = 8, LARGE_CLUSTER = 14 };

static tle_emu_status outcome(tle_emu_device *d, const char *call, int error) {
    if (error)
        snprintf(d->error, sizeof d->error, "%s: driver error %d", call, error);
    return error == BAD_VALUE || error == BAD_CLUSTER ? TLE_EMU_INVALID_ARGUMENT
           : error                                    ? TLE_EMU_FAULT
                                                      : TLE_EMU_OK;
}

tle_emu_status tle_emu_create(const tle_emu_options *options, tle_emu_device **device_out) {
    tle_emu_device *d = calloc(1, sizeof *d);
    void *context;
    int ordinal;
    (void)options;
    if (!d || !resolve(&d->driver) || d->driver.init(0) || d->driver.get(&ordinal, 0) ||
        d->driver.retain(&context, ordinal) || d->driver.current(context)) {
        free(d);
        return TLE_EMU_NOT_FOUND;
    }
    *device_out = d;
    return TLE_EMU_OK;
}

void tle_emu_destroy(tle_emu_device *device) {
    free(device);
}

const char *tle_emu_last_error(const tle_emu_device *device) {
    return device->error;
}

const char *tle_emu_status_name(tle_emu_status status) {
    return status ? "failed" : "ok";
}

tle_emu_status tle_emu_alloc(tle_emu_device *device, size_t bytes, void **address_out) {
    uint64_t p = 0;
    int error = device->driver.alloc(&p, bytes, 1);
    memcpy(address_out, &p, sizeof p);
    return outcome(device, "cuMemAllocManaged", error);
}

tle_emu_status tle_emu_free(tle_emu_device *device, void *address) {
    return outcome(device, "cuMemFree", device->driver.release((uint64_t)address));
}

tle_emu_status tle_emu_mark(tle_emu_device *device, void *address, size_t bytes, int initialised) {
    (void)device, (void)address, (void)bytes, (void)initialised;
    return TLE_EMU_OK;
}

tle_emu_status tle_emu_module_load(tle_emu_device *device, const char *ptx, size_t length,
                                   const char *name, tle_emu_module **module_out) {
    tle_emu_module *m = calloc(1, sizeof *m);
    char *text = calloc(1, length + 1);
    (void)name;
    if (!m || !text)
        return TLE_EMU_OUT_OF_MEMORY;
    memcpy(text, ptx, length);
    m->device = device;
    int error = device->driver.load(&m->handle, text);
    free(text);
    *module_out = m;
    return outcome(device, "cuModuleLoadData", error);
}

void tle_emu_module_unload(tle_emu_module *module) {
    module->device->driver.unload(module->handle);
    free(module);
}

tle_emu_status tle_emu_module_global(tle_emu_module *module, const char *name, void **address_out,
                                     size_t *bytes_out) {
    uint64_t p = 0;
    int error = module->device->driver.global(&p, bytes_out, module->handle, name);
    memcpy(address_out, &p, sizeof p);
    return outcome(module->device, "cuModuleGetGlobal", error);
}

tle_emu_status tle_emu_module_kernel(tle_emu_module *module, const char *name,
                                     tle_emu_kernel **kernel_out) {
    void *f = NULL;
    int error = module->device->driver.find(&f, module->handle, name);
    *kernel_out = f;
    return outcome(module->device, "cuModuleGetFunction", error);
}

static unsigned at_least_one(uint32_t n) {
    return n ? n : 1;
}

tle_emu_status tle_emu_launch(tle_emu_device *device, tle_emu_kernel *kernel,
                              const tle_emu_launch_config *config, void *const *params) {
    LaunchAttribute cluster = {.id = 4};
    LaunchConfig c = {.shared = config->dynamic_shared_bytes, .attributes = &cluster};
    void **values;
    for (int i = 0; i < 3; i++) {
        c.grid[i] = at_least_one(config->grid[i]);
        c.block[i] = at_least_one(config->block[i]);
        cluster.value.dims[i] = at_least_one(config->cluster[i]);
        c.count |= config->cluster[i] > 0;
    }
    memcpy(&values, &params, sizeof params); /* which the driver only reads */
    if (c.shared) /* with static shared memory, less than 48 KiB may be too much already */
        device->driver.set(kernel, DYNAMIC_SHARED, (int)c.shared);
    if (c.count && cluster.value.dims[0] * cluster.value.dims[1] * cluster.value.dims[2] > 8)
        device->driver.set(kernel, LARGE_CLUSTER, 1);
    int error = device->driver.launch(&c, kernel, values, NULL);
    if (error)
        return outcome(device, "cuLaunchKernelEx", error);
    return outcome(device, "cuCtxSynchronize", device->driver.sync());
}

uint32_t tle_emu_report_count(const tle_emu_device *device) {
    (void)device;
    return 0;
}

tle_emu_status tle_emu_report_get(const tle_emu_device *device, uint32_t index,
                                  tle_emu_report *report_out) {
    (void)device, (void)index, (void)report_out;
    return TLE_EMU_NOT_FOUND;
}

const char *tle_emu_cost_json(const tle_emu_device *device) {
    (void)device;
    return "{}";
}

tle_emu_status tle_emu_tensor_map_encode_tiled(tle_emu_device *device, void *map_out, uint32_t type,
                                               uint32_t rank, void *address, const uint64_t *dims,
                                               const uint64_t *strides, const uint32_t *box,
                                               const uint32_t *element_strides, uint32_t interleave,
                                               uint32_t swizzle, uint32_t promotion,
                                               uint32_t fill) {
    return outcome(device, "cuTensorMapEncodeTiled",
                   device->driver.encode(map_out, (int)type, rank, address, dims, strides, box,
                                         element_strides, (int)interleave, (int)swizzle,
                                         (int)promotion, (int)fill));
}
