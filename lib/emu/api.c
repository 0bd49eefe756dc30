/* The public functions: arguments checked here, work done elsewhere. */
#include "exec.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Oldest struct sizes accepted: the first field must be there. */
#define HAS_FIELD(p, T, field) ((p)->struct_size >= offsetof(T, field) + sizeof((p)->field))

tle_emu_status device_fail(Device *d, tle_emu_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(d->error, sizeof d->error, format, args);
    va_end(args);
    return status;
}

uint32_t tle_emu_version(void) {
    return TLE_EMU_VERSION; /* of the build */
}

const char *tle_emu_status_name(tle_emu_status status) {
    switch (status) {
    case TLE_EMU_OK:
        return "TLE_EMU_OK";
    case TLE_EMU_INVALID_ARGUMENT:
        return "TLE_EMU_INVALID_ARGUMENT";
    case TLE_EMU_OUT_OF_MEMORY:
        return "TLE_EMU_OUT_OF_MEMORY";
    case TLE_EMU_BAD_PTX:
        return "TLE_EMU_BAD_PTX";
    case TLE_EMU_NOT_SUPPORTED:
        return "TLE_EMU_NOT_SUPPORTED";
    case TLE_EMU_NOT_FOUND:
        return "TLE_EMU_NOT_FOUND";
    case TLE_EMU_FAULT:
        return "TLE_EMU_FAULT";
    case TLE_EMU_DEADLOCK:
        return "TLE_EMU_DEADLOCK";
    case TLE_EMU_LIMIT:
        return "TLE_EMU_LIMIT";
    case TLE_EMU_TRAP:
        return "TLE_EMU_TRAP";
    }
    return "TLE_EMU_?";
}

/* ---- device ------------------------------------------------------------------------------- */

void device_out_of_memory(void *user, size_t wanted) {
    Device *d = user;
    (void)wanted;
    longjmp(*d->escape, 1);
}

static void defaults(Device *d) {
    d->sm_arch = 90;
    d->sm_count = 132;
    d->max_reports = 16;
    d->shared_limit = 232448;
    d->checks = TLE_EMU_CHECK_ALL;
}

#define OPTION(field, target)                                                                      \
    if (HAS_FIELD(o, tle_emu_options, field) && o->field)                                          \
        d->target = o->field;

static tle_emu_status apply(Device *d, const tle_emu_options *o, bool first) {
    if (!o)
        return TLE_EMU_OK;
    if (o->struct_size < sizeof o->struct_size + sizeof o->sm_arch)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT, "options.struct_size %zu is too small",
                           o->struct_size);
    if (HAS_FIELD(o, tle_emu_options, checks) &&
        (o->checks & ~(TLE_EMU_CHECK_ALL | TLE_EMU_CHECK_NONE)))
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT, "checks 0x%x have bits of no check",
                           o->checks);
    if (HAS_FIELD(o, tle_emu_options, schedule) && o->schedule > TLE_EMU_SCHEDULE_ADVERSARIAL)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT, "schedule %u is not known", o->schedule);
    if (HAS_FIELD(o, tle_emu_options, shared_limit) && o->shared_limit > 1u << 23)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT, "shared_limit %u is over 8 MiB",
                           o->shared_limit);
    if (first) {
        OPTION(sm_arch, sm_arch)
        OPTION(sm_count, sm_count)
    }
    OPTION(checks, checks)
    OPTION(max_reports, max_reports)
    OPTION(shared_limit, shared_limit)
    OPTION(host_threads, host_threads)
    if (HAS_FIELD(o, tle_emu_options, schedule))
        d->schedule = o->schedule;
    if (HAS_FIELD(o, tle_emu_options, seed))
        d->seed = o->seed;
    if (HAS_FIELD(o, tle_emu_options, instruction_limit))
        d->limit = o->instruction_limit;
    if (HAS_FIELD(o, tle_emu_options, cost))
        d->cost = o->cost;
    if (d->checks & TLE_EMU_CHECK_NONE)
        d->checks = 0;
    return TLE_EMU_OK;
}

tle_emu_status tle_emu_create(const tle_emu_options *options, tle_emu_device **device_out) {
    tle_emu_status status;
    tle_emu_device *device;
    if (!device_out)
        return TLE_EMU_INVALID_ARGUMENT;
    device = calloc(1, sizeof *device);
    if (!device)
        return TLE_EMU_OUT_OF_MEMORY;
    defaults(&device->d);
    device->d.cost_json = "{}";
    device->d.report_arena = arena_new(device_out_of_memory, &device->d);
    status = device->d.report_arena ? apply(&device->d, options, true) : TLE_EMU_OUT_OF_MEMORY;
    if (status != TLE_EMU_OK)
        tle_emu_destroy(device);
    else
        *device_out = device;
    return status;
}

void tle_emu_destroy(tle_emu_device *device) {
    if (!device)
        return;
    while (device->d.modules)
        module_free(device->d.modules);
    memory_clear(&device->d);
    arena_free(device->d.report_arena);
    arena_free(device->d.launch_arena);
    free(device);
}

const char *tle_emu_last_error(const tle_emu_device *device) {
    return device ? device->d.error : "";
}

tle_emu_status tle_emu_configure(tle_emu_device *device, const tle_emu_options *options) {
    if (!device || !options)
        return TLE_EMU_INVALID_ARGUMENT;
    return apply(&device->d, options, false);
}

/* ---- memory ------------------------------------------------------------------------------- */

tle_emu_status tle_emu_alloc(tle_emu_device *device, size_t bytes, void **address_out) {
    if (!device || !address_out)
        return TLE_EMU_INVALID_ARGUMENT;
    if (bytes == 0)
        return device_fail(&device->d, TLE_EMU_INVALID_ARGUMENT, "allocation of 0 bytes");
    return memory_alloc(&device->d, bytes, address_out);
}

tle_emu_status tle_emu_free(tle_emu_device *device, void *address) {
    if (!device)
        return TLE_EMU_INVALID_ARGUMENT;
    return memory_release(&device->d, address);
}

tle_emu_status tle_emu_register(tle_emu_device *device, void *address, size_t bytes,
                                int read_only) {
    Region r = {.kind = REGION_HOST, .count = 1};
    if (!device)
        return TLE_EMU_INVALID_ARGUMENT;
    if (!address || bytes == 0 || (uint64_t)(uintptr_t)address + bytes < bytes)
        return device_fail(&device->d, TLE_EMU_INVALID_ARGUMENT, "range %p of %zu bytes", address,
                           bytes);
    r.base = (uint64_t)(uintptr_t)address;
    r.size = bytes;
    r.read_only = read_only != 0;
    if (!memory_add(&device->d.regions, r))
        return device_fail(&device->d, TLE_EMU_OUT_OF_MEMORY, "no memory to register a range");
    return TLE_EMU_OK;
}

tle_emu_status tle_emu_unregister(tle_emu_device *device, void *address) {
    Region *r;
    if (!device)
        return TLE_EMU_INVALID_ARGUMENT;
    r = memory_at(&device->d.regions, (uint64_t)(uintptr_t)address, REGION_HOST);
    if (!r)
        return device_fail(&device->d, TLE_EMU_NOT_FOUND, "%p is not the start of a range",
                           address);
    memory_remove(&device->d.regions, r);
    return TLE_EMU_OK;
}

tle_emu_status tle_emu_mark(tle_emu_device *device, void *address, size_t bytes, int initialised) {
    Region *r;
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (!device)
        return TLE_EMU_INVALID_ARGUMENT;
    r = memory_find(&device->d.regions, at, bytes, false);
    if (!r || r->freed)
        return device_fail(&device->d, TLE_EMU_NOT_FOUND, "%p with %zu bytes is not in one range",
                           address, bytes);
    if (initialised) {
        if (r->init)
            bits_set(r->init, at - r->base, bytes);
        return TLE_EMU_OK;
    }
    if (!memory_watch(r))
        return device_fail(&device->d, TLE_EMU_OUT_OF_MEMORY, "no memory to watch %zu bytes",
                           bytes);
    memory_forget(r, at, bytes);
    return TLE_EMU_OK;
}

/* ---- modules ------------------------------------------------------------------------------ */

tle_emu_status tle_emu_module_load(tle_emu_device *device, const char *ptx, size_t length,
                                   const char *name, tle_emu_module **module_out) {
    if (!device)
        return TLE_EMU_INVALID_ARGUMENT;
    if (!ptx || !module_out)
        return device_fail(&device->d, TLE_EMU_INVALID_ARGUMENT, "null PTX or result");
    return module_load(&device->d, ptx, length, name ? name : "ptx", module_out);
}

void tle_emu_module_unload(tle_emu_module *module) {
    if (module)
        module_free(module);
}

tle_emu_status tle_emu_module_global(tle_emu_module *module, const char *name, void **address_out,
                                     size_t *bytes_out) {
    if (!module || !name || !address_out || !bytes_out)
        return TLE_EMU_INVALID_ARGUMENT;
    for (uint32_t id = 1; id < module->ptx->vars.len; id++) {
        const PtxVar *v = &module->ptx->vars.data[id];
        if (!v->storage || strcmp(str_text(module->names, v->name), name) != 0)
            continue;
        *address_out = v->storage;
        *bytes_out = v->bytes;
        return TLE_EMU_OK;
    }
    return device_fail(&module->device->d, TLE_EMU_NOT_FOUND, "no variable '%s' in %s", name,
                       module->name);
}

uint32_t tle_emu_module_kernel_count(const tle_emu_module *module) {
    return module ? module->kernel_count : 0;
}

tle_emu_kernel *tle_emu_module_kernel_at(const tle_emu_module *module, uint32_t index) {
    return module && index < module->kernel_count ? module->kernels[index] : NULL;
}

tle_emu_status tle_emu_module_kernel(tle_emu_module *module, const char *name,
                                     tle_emu_kernel **kernel_out) {
    if (!module || !name || !kernel_out)
        return TLE_EMU_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (!strcmp(module->kernels[i]->fn->name, name)) {
            *kernel_out = module->kernels[i];
            return TLE_EMU_OK;
        }
    return device_fail(&module->device->d, TLE_EMU_NOT_FOUND, "no kernel '%s' in %s", name,
                       module->name);
}

tle_emu_status tle_emu_kernel_get_info(const tle_emu_kernel *kernel,
                                       tle_emu_kernel_info *info_out) {
    tle_emu_kernel_info info = {0};
    const PtxFunction *s;
    size_t size;
    if (!kernel || !info_out || info_out->struct_size < sizeof info.struct_size)
        return TLE_EMU_INVALID_ARGUMENT;
    s = kernel->fn->source;
    size = info_out->struct_size < sizeof info ? info_out->struct_size : sizeof info;
    info.struct_size = info_out->struct_size;
    info.name = kernel->fn->name;
    info.param_count = s->params.len;
    info.static_shared_bytes = kernel->fn->static_shared;
    info.local_bytes = kernel->fn->total_local;
    info.max_threads = s->has_max_threads ? s->max_threads : 1024;
    memcpy(info.required_block, s->required_block, sizeof info.required_block);
    memcpy(info.required_cluster, s->required_cluster, sizeof info.required_cluster);
    info.uses_dynamic_shared = kernel->fn->uses_dynamic;
    info.register_count = s->regs.len;
    memcpy(info_out, &info, size);
    return TLE_EMU_OK;
}

tle_emu_status tle_emu_kernel_param(const tle_emu_kernel *kernel, uint32_t index, size_t *bytes_out,
                                    size_t *align_out) {
    const PtxFunction *s;
    if (!kernel || !bytes_out || !align_out)
        return TLE_EMU_INVALID_ARGUMENT;
    s = kernel->fn->source;
    if (index >= s->params.len)
        return device_fail(&kernel->module->device->d, TLE_EMU_NOT_FOUND,
                           "parameter %u of %u of kernel %s", index, s->params.len,
                           kernel->fn->name);
    *bytes_out = kernel->module->ptx->vars.data[s->params.data[index]].bytes;
    *align_out = kernel->module->ptx->vars.data[s->params.data[index]].align;
    return TLE_EMU_OK;
}

/* ---- launch, reports ---------------------------------------------------------------------- */

tle_emu_status tle_emu_launch(tle_emu_device *device, tle_emu_kernel *kernel,
                              const tle_emu_launch_config *config, void *const *params) {
    tle_emu_launch_config full = {0};
    size_t size;
    if (!device)
        return TLE_EMU_INVALID_ARGUMENT;
    if (!kernel || !config || config->struct_size < sizeof full.struct_size)
        return device_fail(&device->d, TLE_EMU_INVALID_ARGUMENT, "null kernel or configuration");
    if (&kernel->module->device->d != &device->d)
        return device_fail(&device->d, TLE_EMU_INVALID_ARGUMENT,
                           "kernel %s belongs to another device", kernel->fn->name);
    for (uint32_t i = 0; i < kernel->fn->source->params.len; i++)
        if (!params || !params[i])
            return device_fail(&device->d, TLE_EMU_INVALID_ARGUMENT,
                               "parameter %u of kernel %s is null", i, kernel->fn->name);
    size = config->struct_size < sizeof full ? config->struct_size : sizeof full;
    memcpy(&full, config, size);
    return launch_run(&device->d, kernel, &full, params);
}

uint32_t tle_emu_report_count(const tle_emu_device *device) {
    return device ? device->d.reports.len : 0;
}

tle_emu_status tle_emu_report_get(const tle_emu_device *device, uint32_t index,
                                  tle_emu_report *report_out) {
    tle_emu_report r = {0};
    const Report *from;
    if (!device || !report_out || report_out->struct_size < sizeof r.struct_size)
        return TLE_EMU_INVALID_ARGUMENT;
    if (index >= device->d.reports.len)
        return TLE_EMU_NOT_FOUND;
    from = &device->d.reports.data[index];
    r.struct_size = report_out->struct_size;
    r.kind = from->kind;
    r.ptx_line = from->ptx_line;
    r.kernel = from->kernel;
    r.source_file = from->source_file;
    r.source_line = from->source_line;
    memcpy(r.cta, from->cta, sizeof r.cta);
    memcpy(r.thread, from->thread, sizeof r.thread);
    r.warp = from->warp;
    r.lane = from->lane;
    r.address = from->address;
    r.access_bytes = from->access_bytes;
    r.text = from->text;
    memcpy(report_out, &r, r.struct_size < sizeof r ? r.struct_size : sizeof r);
    return TLE_EMU_OK;
}

const char *tle_emu_cost_json(const tle_emu_device *device) {
    return device ? device->d.cost_json : "{}";
}
