/* The emulator as a device: libtle_emu.so (tle/tle_emu.h), opened at run time, on request only.
 *
 * Memory is host memory. A launch may touch what tle_alloc gave and the ranges that its arguments
 * span; those are registered for its duration. An emulated device belongs to one thread at a time,
 * so a mutex serialises; launches are complete when they return. */
#include "core/env.h"
#include "device/device.h"
#include <tle/tle_emu.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The member type is the declared function's own. */
typedef struct Emulator {
#define X(name) __typeof__(tle_emu_##name) *emu_##name;
#include "device/emu_api.def"
#undef X
    void *library;
} Emulator;

static const struct {
    const char *name;
    size_t offset;
} emu_functions[] = {
#define X(name) {"tle_emu_" #name, offsetof(Emulator, emu_##name)},
#include "device/emu_api.def"
#undef X
};

typedef struct EmuModel {
    int32_t capability; /* times ten */
    int32_t sm_count;
    uint32_t shared_limit;
} EmuModel;

static const EmuModel models[] = {
#define X(capability, sm_count, shared_limit) {capability, sm_count, shared_limit},
#include "device/emu_devices.def"
#undef X
};

typedef struct EmuDevice {
    TleiDevice base;
    Emulator api;
    tle_emu_device *device;
    pthread_mutex_t lock;
} EmuDevice;

typedef struct EmuKernel {
    tle_emu_module *module;
    tle_emu_kernel *kernel;
} EmuKernel;

/* ---- opening the library ---- */

/* By its SONAME first: the other name is there only where programs are linked. */
#define NAME_OF(major)     "libtle_emu.so." #major
#define SONAME_OF(version) NAME_OF(version)
static const char *const library_names[] = {SONAME_OF(TLE_VERSION_MAJOR), "libtle_emu.so"};
enum { NAME_COUNT = sizeof library_names / sizeof *library_names };

/* Opens a library beside the object that this code is in. */
static void *open_beside(const char *name) {
    Dl_info self;
    char path[PATH_MAX];
    if (!dladdr(&tlei_device_emu, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    if (!slash)
        return NULL;
    int dir = (int)(slash - self.dli_fname);
    int n = snprintf(path, sizeof path, "%.*s/%s", dir, self.dli_fname, name);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *find_library(void) {
    void *library = NULL;
    for (int i = 0; i < NAME_COUNT && !library; i++)
        library = open_beside(library_names[i]);
    for (int i = 0; i < NAME_COUNT && !library; i++)
        library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static tle_status open_library(Emulator *api, TleiError *e) {
    const char *named = tlei_env(TLEI_ENV_EMU_LIBRARY);
    api->library = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : find_library();
    if (!api->library)
        return tlei_fail(e, TLE_STATUS_EMULATOR_NOT_FOUND, "the emulator cannot be opened: %s",
                         dlerror());
    for (size_t i = 0; i < sizeof emu_functions / sizeof emu_functions[0]; i++) {
        void *function = dlsym(api->library, emu_functions[i].name);
        if (!function) {
            dlclose(api->library);
            return tlei_fail(e, TLE_STATUS_EMULATOR_NOT_FOUND, "the emulator's library lacks %s",
                             emu_functions[i].name);
        }
        memcpy((char *)api + emu_functions[i].offset, &function, sizeof function);
    }
    return TLE_STATUS_OK;
}

/* ---- errors ---- */

static tle_status status_of(tle_emu_status status) {
    switch (status) {
    case TLE_EMU_OK:
        return TLE_STATUS_OK;
    case TLE_EMU_OUT_OF_MEMORY:
        return TLE_STATUS_OUT_OF_MEMORY;
    case TLE_EMU_FAULT:
    case TLE_EMU_DEADLOCK:
    case TLE_EMU_LIMIT:
    case TLE_EMU_TRAP:
        return TLE_STATUS_EMULATOR_FAULT;
    case TLE_EMU_INVALID_ARGUMENT:
    case TLE_EMU_BAD_PTX:
    case TLE_EMU_NOT_SUPPORTED:
    case TLE_EMU_NOT_FOUND:
        break;
    }
    return TLE_STATUS_INTERNAL;
}

static tle_status emu_fail(const EmuDevice *d, tle_emu_status status, const char *what,
                           const char *subject, TleiError *e) {
    const char *text = d->api.emu_last_error(d->device);
    tle_emu_report report = {.struct_size = sizeof report};
    if (status_of(status) == TLE_STATUS_EMULATOR_FAULT && d->api.emu_report_count(d->device) &&
        !d->api.emu_report_get(d->device, 0, &report))
        text = report.text;
    return tlei_fail_native(e, status_of(status), (int32_t)status, "emulator: %s %s: %s", what,
                            subject, text);
}

/* ---- devices ---- */

static tle_status count_emu(int32_t *count, TleiError *e) {
    Emulator api = {0};
    tle_status status = open_library(&api, e);
    if (status)
        return status;
    dlclose(api.library);
    *count = 1;
    return TLE_STATUS_OK;
}

static const EmuModel *model_of(const TleiDeviceConfig *config) {
    int32_t capability = config->arch_major * 10 + config->arch_minor;
    size_t i = sizeof models / sizeof models[0] - 1;
    while (i && models[i].capability > capability)
        i--;
    return &models[i];
}

static void describe(const TleiDeviceConfig *config, tle_device_info *info) {
    info->kind = TLE_DEVICE_EMU;
    snprintf(info->name, sizeof info->name, "libtle emulator");
    snprintf(info->arch, sizeof info->arch, "sm_%d%d", config->arch_major, config->arch_minor);
    info->sm_count = model_of(config)->sm_count;
    info->shared_bytes_per_block = (int32_t)model_of(config)->shared_limit;
}

static tle_status info_emu(int32_t ordinal, tle_device_info *info, TleiError *e) {
    int32_t count = 0;
    tle_status status = count_emu(&count, e);
    if (status)
        return status;
    if (ordinal != 0)
        return tlei_fail(e, TLE_STATUS_NO_DEVICE, "emulated device %d: there is one, number 0",
                         ordinal);
    describe(&(TleiDeviceConfig){.arch_major = 9}, info);
    return TLE_STATUS_OK;
}

/* The whole text as an unsigned number, decimal or 0x. */
static bool parse_number(const char *text, uint64_t *out) {
    char *end = NULL;
    if (*text < '0' || *text > '9') /* strtoull takes signs and blanks */
        return false;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return !errno && !*end;
}

/* "random:7": false for a name that is not known and for a seed that is no number. */
static bool parse_schedule(const char *text, tle_emu_options *options) {
    static const char *const names[] = {"round-robin", "random", "adversarial"};
    size_t length = strcspn(text, ":");
    for (uint32_t i = 0; i < 3; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], text, length)) {
            options->schedule = i;
            return !text[length] || parse_number(text + length + 1, &options->seed);
        }
    return false;
}

/* A number of 32 bits; 0 where the variable is not set. */
static tle_status number_of(TleiEnv variable, const char *example, uint32_t *out, TleiError *e) {
    const char *text = tlei_env(variable);
    uint64_t n = 0;
    if (text && (!parse_number(text, &n) || n > UINT32_MAX))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s is '%s'; it is a number of 32 bits, such as %s",
                         tlei_env_name(variable), text, example);
    *out = (uint32_t)n;
    return TLE_STATUS_OK;
}

static tle_status options_of(const TleiDeviceConfig *config, tle_emu_options *out, TleiError *e) {
    const char *schedule = tlei_env(TLEI_ENV_EMU_SCHEDULE);
    uint32_t checks, threads;
    tle_status status = number_of(TLEI_ENV_EMU_CHECKS, "0x1ff", &checks, e);
    if (!status)
        status = number_of(TLEI_ENV_EMU_THREADS, "4", &threads, e);
    if (status)
        return status;
    *out = (tle_emu_options){
        .struct_size = sizeof *out,
        .sm_arch = (uint32_t)(config->arch_major * 10 + config->arch_minor),
        .sm_count = (uint32_t)model_of(config)->sm_count,
        .shared_limit = model_of(config)->shared_limit,
        .checks = config->emu_checks ? config->emu_checks : checks,
        .host_threads = config->emu_threads ? config->emu_threads : threads,
    };
    if (out->checks & ~(TLE_EMU_CHECK_ALL | TLE_EMU_CHECK_NONE))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "emulator checks 0x%x have bits of no check; all are 0x%x", out->checks,
                         TLE_EMU_CHECK_ALL);
    if (schedule && !parse_schedule(schedule, out))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "TLE_EMU_SCHEDULE is '%s'; known are round-robin, random:SEED and "
                         "adversarial:SEED",
                         schedule);
    return TLE_STATUS_OK;
}

static tle_status open_emu(const TleiDeviceConfig *config, TleiDevice **out, TleiError *e) {
    if (config->ordinal > 0)
        return tlei_fail(e, TLE_STATUS_NO_DEVICE, "emulated device %d: there is one, number 0",
                         config->ordinal);
    tle_emu_options options;
    tle_status status = options_of(config, &options, e);
    if (status)
        return status;
    EmuDevice *d = calloc(1, sizeof *d);
    if (!d)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for a device record");
    status = open_library(&d->api, e);
    if (status) {
        free(d);
        return status;
    }
    tle_emu_status made = d->api.emu_create(&options, &d->device);
    if (made) {
        dlclose(d->api.library);
        free(d);
        return tlei_fail_native(e, status_of(made), (int32_t)made,
                                "emulator: no device of sm_%u can be made (code %d)",
                                options.sm_arch, (int)made);
    }
    pthread_mutex_init(&d->lock, NULL);
    d->base.ops = &tlei_device_emu;
    d->base.major = config->arch_major;
    d->base.minor = config->arch_minor;
    describe(config, &d->base.info);
    *out = &d->base;
    return TLE_STATUS_OK;
}

static void close_emu(TleiDevice *device) {
    EmuDevice *d = (EmuDevice *)device;
    d->api.emu_destroy(d->device);
    dlclose(d->api.library);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* ---- kernels ---- */

static tle_status load_locked(EmuDevice *d, const TleiImage *image, EmuKernel *k, TleiError *e) {
    tle_emu_status status =
        d->api.emu_module_load(d->device, image->bytes, image->size, image->variant, &k->module);
    if (status)
        return emu_fail(d, status, "cannot load", image->variant, e);
    status = d->api.emu_module_kernel(k->module, image->kernel, &k->kernel);
    if (!status)
        return TLE_STATUS_OK;
    tle_status failed = emu_fail(d, status, "has no kernel", image->kernel, e);
    d->api.emu_module_unload(k->module);
    return failed;
}

static tle_status load_emu(TleiDevice *device, const TleiImage *image, TleiKernel **out,
                           TleiError *e) {
    EmuDevice *d = (EmuDevice *)device;
    EmuKernel *k = calloc(1, sizeof *k);
    if (!k)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for a kernel record");
    pthread_mutex_lock(&d->lock);
    tle_status status = load_locked(d, image, k, e);
    pthread_mutex_unlock(&d->lock);
    if (status) {
        free(k);
        return status;
    }
    *out = (TleiKernel *)k;
    return TLE_STATUS_OK;
}

static void unload_emu(TleiDevice *device, TleiKernel *kernel) {
    EmuDevice *d = (EmuDevice *)device;
    pthread_mutex_lock(&d->lock);
    d->api.emu_module_unload(((EmuKernel *)kernel)->module);
    pthread_mutex_unlock(&d->lock);
    free(kernel);
}

/* ---- launch ---- */

static void forget_ranges(EmuDevice *d, const TleiLaunch *l, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (l->ranges[i].bytes)
            d->api.emu_unregister(d->device, (void *)(uintptr_t)l->ranges[i].address);
}

static tle_status declare_ranges(EmuDevice *d, const TleiLaunch *l, TleiError *e) {
    for (uint32_t i = 0; i < l->range_count; i++) {
        const TleiRange *r = &l->ranges[i];
        if (!r->bytes)
            continue;
        tle_emu_status status = d->api.emu_register(d->device, (void *)(uintptr_t)r->address,
                                                    (size_t)r->bytes, !r->writable);
        if (status) {
            tle_status failed = emu_fail(d, status, "cannot use the memory of", r->name, e);
            forget_ranges(d, l, i);
            return failed;
        }
    }
    return TLE_STATUS_OK;
}

static tle_status launch_locked(EmuDevice *d, const EmuKernel *k, const TleiLaunch *l,
                                TleiError *e) {
    tle_status status = declare_ranges(d, l, e);
    if (status)
        return status;
    tle_emu_launch_config config = {
        .struct_size = sizeof config,
        .grid = {l->grid[0], l->grid[1], l->grid[2]},
        .block = {l->threads, 1, 1},
        .cluster = {l->cluster[0], l->cluster[1], l->cluster[2]},
        .dynamic_shared_bytes = l->shared_bytes,
        .dependent = l->dependent,
    };
    if (l->zeroed_bytes)
        memset(l->zeroed, 0, l->zeroed_bytes);
    tle_emu_status ran = d->api.emu_launch(d->device, k->kernel, &config, l->args);
    if (ran)
        status = emu_fail(d, ran, "running", l->variant, e);
    forget_ranges(d, l, l->range_count);
    return status;
}

static tle_status launch_emu(TleiDevice *device, TleiKernel *kernel, const TleiLaunch *l,
                             TleiError *e) {
    EmuDevice *d = (EmuDevice *)device;
    if (tlei_cuda_capturing(l->stream))
        return tlei_fail(e, TLE_STATUS_CAPTURE_UNSUPPORTED,
                         "stream is being captured, which the emulator cannot follow");
    pthread_mutex_lock(&d->lock);
    tle_status status = launch_locked(d, (const EmuKernel *)kernel, l, e);
    pthread_mutex_unlock(&d->lock);
    return status;
}

/* ---- memory ---- */

static tle_status alloc_emu(TleiDevice *device, size_t bytes, void **out, TleiError *e) {
    EmuDevice *d = (EmuDevice *)device;
    pthread_mutex_lock(&d->lock);
    tle_emu_status status = d->api.emu_alloc(d->device, bytes, out);
    tle_status result =
        status ? emu_fail(d, status, "cannot allocate", "memory", e) : TLE_STATUS_OK;
    pthread_mutex_unlock(&d->lock);
    return result;
}

static tle_status free_emu(TleiDevice *device, void *memory, TleiError *e) {
    EmuDevice *d = (EmuDevice *)device;
    pthread_mutex_lock(&d->lock);
    tle_emu_status status = d->api.emu_free(d->device, memory);
    tle_status result = status ? emu_fail(d, status, "cannot free", "memory", e) : TLE_STATUS_OK;
    if (status == TLE_EMU_NOT_FOUND) /* the caller's pointer, not a defect */
        result = e->status = TLE_STATUS_INVALID_ARGUMENT;
    pthread_mutex_unlock(&d->lock);
    return result;
}

static tle_status copy_emu(TleiDevice *device, void *to, const void *from, size_t bytes,
                           TleiError *e) {
    (void)device, (void)e;
    memmove(to, from, bytes);
    return TLE_STATUS_OK;
}

static tle_status synchronize_emu(TleiDevice *device, tle_stream stream, TleiError *e) {
    (void)device, (void)stream, (void)e;
    return TLE_STATUS_OK;
}

static tle_status tensor_map_emu(TleiDevice *device, const TleiTensor *t, void *map_out,
                                 TleiError *e) {
    EmuDevice *d = (EmuDevice *)device;
    pthread_mutex_lock(&d->lock);
    tle_emu_status status = d->api.emu_tensor_map_encode_tiled(
        d->device, map_out, t->type, t->rank, t->address, t->dims, t->strides, t->box, t->steps,
        t->interleave, t->swizzle, t->promotion, t->fill);
    tle_status result =
        status ? emu_fail(d, status, "cannot encode", "a tensor", e) : TLE_STATUS_OK;
    if (status == TLE_EMU_INVALID_ARGUMENT) /* the caller's shape, not a defect */
        result = e->status = TLE_STATUS_INVALID_ARGUMENT;
    pthread_mutex_unlock(&d->lock);
    return result;
}

const TleiDeviceOps tlei_device_emu = {
    .name = "emu",
    .runs_ptx = true,
    .count = count_emu,
    .info = info_emu,
    .open = open_emu,
    .close = close_emu,
    .load = load_emu,
    .unload = unload_emu,
    .launch = launch_emu,
    .alloc = alloc_emu,
    .free = free_emu,
    .copy = copy_emu,
    .synchronize = synchronize_emu,
    .tensor_map = tensor_map_emu,
};
