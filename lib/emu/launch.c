/* One launch: arguments checked, parameters laid out, the grid run, reports and figures left. */
#include "ahead.h"
#include <stdlib.h>
#include <string.h>

/* What a device keeps of its launches' memory for the next one: pages that are new cost more than
 * the work of a small launch. */
enum { KEPT_BYTES = 256 << 20 };

static Arena *take_arena(Device *d) {
    Arena *a = d->launch_arena ? d->launch_arena : arena_new(device_out_of_memory, d);
    d->launch_arena = NULL;
    return a;
}

static void leave_arena(Device *d, Arena *a) {
    if (a && arena_bytes(a) <= KEPT_BYTES) {
        arena_reset(a);
        d->launch_arena = a;
    } else {
        arena_free(a);
    }
}

static void dims(uint32_t out[3], const uint32_t in[3]) {
    for (int k = 0; k < 3; k++)
        out[k] = in[k] ? in[k] : 1;
}

static tle_emu_status check_block(Launch *l) {
    Device *d = l->device;
    const PtxFunction *f = l->fn->source;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint32_t most = f->has_max_threads && f->max_threads < 1024 ? f->max_threads : 1024;
    if (l->block[0] > 1024 || l->block[1] > 1024 || l->block[2] > 64 || threads > most)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT,
                           "block (%u,%u,%u) of kernel %s is over its limit of %u threads",
                           l->block[0], l->block[1], l->block[2], l->fn->name, most);
    if (f->required_block[0] && memcmp(f->required_block, l->block, sizeof l->block) != 0)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT,
                           "block (%u,%u,%u), but kernel %s requires (%u,%u,%u)", l->block[0],
                           l->block[1], l->block[2], l->fn->name, f->required_block[0],
                           f->required_block[1], f->required_block[2]);
    l->threads = (uint32_t)threads;
    l->warps = (l->threads + LANES - 1) / LANES;
    return TLE_EMU_OK;
}

static tle_emu_status check_grid(Launch *l, const tle_emu_launch_config *config) {
    Device *d = l->device;
    const uint32_t *required = l->fn->source->required_cluster;
    dims(l->cluster, config->cluster[0] || !required[0] ? config->cluster : required);
    if (l->grid[1] > 65535 || l->grid[2] > 65535 || l->grid[0] > 0x7fffffffu)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT,
                           "grid (%u,%u,%u) is over (2147483647,65535,65535)", l->grid[0],
                           l->grid[1], l->grid[2]);
    if (required[0] && memcmp(required, l->cluster, sizeof l->cluster) != 0)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT,
                           "cluster (%u,%u,%u), but kernel %s requires (%u,%u,%u)", l->cluster[0],
                           l->cluster[1], l->cluster[2], l->fn->name, required[0], required[1],
                           required[2]);
    l->in_clusters = required[0] || config->cluster[0];
    uint64_t size = (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2];
    if (size > MAX_CLUSTER)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT, "cluster of %llu CTAs is over 16",
                           (unsigned long long)size);
    for (int k = 0; k < 3; k++)
        if (l->grid[k] % l->cluster[k])
            return device_fail(d, TLE_EMU_INVALID_ARGUMENT,
                               "grid dimension %u is not a multiple of the cluster's %u",
                               l->grid[k], l->cluster[k]);
    l->cluster_size = (uint32_t)size;
    l->cluster_total = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] / size;
    return TLE_EMU_OK;
}

static tle_emu_status check_shared(Launch *l, const tle_emu_launch_config *config) {
    Device *d = l->device;
    uint64_t all = (uint64_t)l->fn->static_shared + config->dynamic_shared_bytes;
    if (all > d->shared_limit)
        return device_fail(d, TLE_EMU_INVALID_ARGUMENT,
                           "%u static and %u dynamic bytes of shared memory are over %u",
                           l->fn->static_shared, config->dynamic_shared_bytes, d->shared_limit);
    l->dynamic_bytes = config->dynamic_shared_bytes;
    l->shared_bytes = (uint32_t)all;
    return TLE_EMU_OK;
}

/* 0x5a bytes pad parameters, so reading past one shows. */
static void set_params(Launch *l, void *const *params) {
    const PtxFunction *f = l->fn->source;
    l->params = arena_alloc(l->arena, l->fn->param_bytes + 256);
    l->params += 128 - ((uintptr_t)l->params & 127);
    memset(l->params, 0x5a, l->fn->param_bytes);
    for (uint32_t i = 0; i < f->params.len; i++) {
        const PtxVar *v = &l->module->ptx->vars.data[f->params.data[i]];
        memcpy(l->params + v->address, params[i], v->bytes);
    }
}

static void leave_results(Launch *l) {
    Device *d = l->device;
    if (l->cost)
        d->cost_json = cost_json(l, d->report_arena);
    for (uint32_t i = 0; l->status != TLE_EMU_OK && i < d->reports.len; i++)
        if (i == 0 || d->reports.data[i].kind == TLE_EMU_REPORT_DEADLOCK)
            device_fail(d, l->status, "%s", d->reports.data[i].text);
}

static tle_emu_status run(Launch *l, void *const *params) {
    Device *d = l->device;
    Region r = {.kind = REGION_PARAM, .read_only = true};
    set_params(l, params);
    l->local_bytes = (l->fn->total_local + 15u) & ~15u;
    l->resident_limit = d->sm_count * (l->threads <= 1024 ? 2048 / l->threads : 1);
    if (l->resident_limit > 4096)
        l->resident_limit = 4096;
    l->resident_limit = (l->resident_limit + l->cluster_size - 1) / l->cluster_size;
    l->resident = arena_array(l->arena, Cluster *, l->resident_limit + 1);
    if (!(~l->checks & (TLE_EMU_CHECK_RACE | TLE_EMU_CHECK_GLOBAL)))
        l->global_race = race_global_new(l, l->arena);
    if (d->cost)
        l->cost = cost_new(l, l->arena);
    r.base = (uint64_t)(uintptr_t)l->params;
    r.size = l->fn->param_bytes ? l->fn->param_bytes : 1;
    if (!memory_add(&d->regions, r))
        longjmp(l->escape, 1);
    l->status = TLE_EMU_OK;
    sched_run(l);
    leave_results(l);
    return l->status;
}

static void begin_reports(Device *d) {
    arena_reset(d->report_arena);
    d->reports.data = NULL;
    d->reports.len = d->reports.cap = 0;
    d->cost_json = "{}";
    d->error[0] = '\0';
}

tle_emu_status launch_run(Device *d, struct tle_emu_kernel *k, const tle_emu_launch_config *config,
                          void *const *params) {
    tle_emu_status status;
    Launch *l = calloc(1, sizeof *l);
    begin_reports(d);
    if (!l)
        return device_fail(d, TLE_EMU_OUT_OF_MEMORY, "no memory for a launch");
    l->device = d;
    l->fn = k->fn;
    l->module = k->module;
    l->checks = d->checks;
    l->dependent = config->dependent && (l->checks & TLE_EMU_CHECK_GLOBAL);
    l->limit = d->limit;
    dims(l->grid, config->grid);
    dims(l->block, config->block);
    status = check_block(l);
    if (status == TLE_EMU_OK)
        status = check_grid(l, config);
    if (status == TLE_EMU_OK)
        status = check_shared(l, config);
    if (status == TLE_EMU_OK) {
        d->escape = &l->escape;
        l->arena = take_arena(d);
        if (!l->arena || setjmp(l->escape))
            status = device_fail(d, TLE_EMU_OUT_OF_MEMORY, "no memory for kernel %s", l->fn->name);
        else
            status = run(l, params);
        d->escape = NULL;
    }
    Region *r =
        l->params ? memory_at(&d->regions, (uint64_t)(uintptr_t)l->params, REGION_PARAM) : NULL;
    if (r)
        memory_remove(&d->regions, r);
    ahead_end(l);
    leave_arena(d, l->arena);
    free(l);
    return status;
}
