/* The absent device: questions can be asked of its handle, nothing runs. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>

static tle_status count_none(int32_t *count, TleiError *e) {
    (void)e;
    *count = 1;
    return TLE_STATUS_OK;
}

static tle_status info_none(int32_t ordinal, tle_device_info *info, TleiError *e) {
    (void)e;
    info->kind = TLE_DEVICE_NONE;
    info->ordinal = ordinal;
    snprintf(info->name, sizeof info->name, "none");
    return TLE_STATUS_OK;
}

static tle_status open_none(const TleiDeviceConfig *config, TleiDevice **out, TleiError *e) {
    TleiDevice *device = calloc(1, sizeof *device);
    if (!device)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for a device record");
    device->ops = &tlei_device_none;
    device->major = config->arch_major;
    device->minor = config->arch_minor;
    info_none(0, &device->info, e);
    snprintf(device->info.arch, sizeof device->info.arch, "sm_%d%d", device->major, device->minor);
    *out = device;
    return TLE_STATUS_OK;
}

static void close_none(TleiDevice *device) {
    free(device);
}

static tle_status refuse(TleiError *e) {
    return tlei_fail(e, TLE_STATUS_DRIVER_NOT_FOUND,
                     "the handle was made without a device (TLE_DEVICE_NONE): nothing can run");
}

static tle_status load_none(TleiDevice *device, const TleiImage *image, TleiKernel **out,
                            TleiError *e) {
    (void)device, (void)image, (void)out;
    return refuse(e);
}

static void unload_none(TleiDevice *device, TleiKernel *kernel) {
    (void)device, (void)kernel;
}

static tle_status launch_none(TleiDevice *device, TleiKernel *kernel, const TleiLaunch *launch,
                              TleiError *e) {
    (void)device, (void)kernel, (void)launch;
    return refuse(e);
}

static tle_status alloc_none(TleiDevice *device, size_t bytes, void **out, TleiError *e) {
    (void)device, (void)bytes, (void)out;
    return refuse(e);
}

static tle_status free_none(TleiDevice *device, void *memory, TleiError *e) {
    (void)device, (void)memory;
    return refuse(e);
}

static tle_status copy_none(TleiDevice *device, void *to, const void *from, size_t bytes,
                            TleiError *e) {
    (void)device, (void)to, (void)from, (void)bytes;
    return refuse(e);
}

static tle_status synchronize_none(TleiDevice *device, tle_stream stream, TleiError *e) {
    (void)device, (void)stream;
    return refuse(e);
}

static tle_status tensor_map_none(TleiDevice *device, const TleiTensor *t, void *map_out,
                                  TleiError *e) {
    (void)device, (void)t, (void)map_out;
    return refuse(e);
}

const TleiDeviceOps tlei_device_none = {
    .name = "none",
    .count = count_none,
    .info = info_none,
    .open = open_none,
    .close = close_none,
    .load = load_none,
    .unload = unload_none,
    .launch = launch_none,
    .alloc = alloc_none,
    .free = free_none,
    .copy = copy_none,
    .synchronize = synchronize_none,
    .tensor_map = tensor_map_none,
};
