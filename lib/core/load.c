/* Loading and launching. A loaded kernel sits in its variant's slot: calls read it with one
 * acquire load; loads are serialised by the handle's mutex. */
#include "core/handle.h"

#include <stdlib.h>
#include <time.h>

static tle_status read_image(tle_handle h, const TleiOp *op, const TleiVariant *v, char **bytes,
                             size_t *size, TleiError *e) {
    PackEntry entry = tlei_pack_entry(&op->packs[0], v->entry);
    uint32_t blob = h->device->ops->runs_ptx ? entry.ptx : entry.cubin;
    if (blob == PACK_NO_BLOB && h->device->info.kind != TLE_DEVICE_NONE)
        return tlei_fail(e, TLE_STATUS_UNSUPPORTED_ARCH, "%s: pack %s holds no %s of it", v->name,
                         op->packs[0].label, h->device->ops->runs_ptx ? "PTX" : "cubin");
    if (blob == PACK_NO_BLOB)
        blob = entry.meta;
    return tlei_pack_load(&op->packs[0], blob, bytes, size, e);
}

static tle_status load_locked(tle_handle h, const TleiOp *op, TleiVariant *v, TleiKernel **out,
                              TleiError *e) {
    *out = atomic_load_explicit(&v->loaded, memory_order_relaxed);
    if (*out)
        return TLE_STATUS_OK;
    char *bytes = NULL;
    size_t size = 0;
    tle_status status = read_image(h, op, v, &bytes, &size, e);
    if (status)
        return status;
    TleiImage image = {
        .bytes = bytes,
        .size = size,
        .variant = v->name,
        .kernel = v->kernel,
        .shared_bytes = v->shared_bytes,
        .cluster_ctas = v->cluster[0] * v->cluster[1] * v->cluster[2],
        .threads = v->threads,
    };
    status = h->device->ops->load(h->device, &image, out, e);
    free(bytes);
    if (status == TLE_STATUS_NO_VARIANT)
        atomic_store_explicit(&v->unlaunchable, true, memory_order_relaxed);
    if (status)
        return status;
    atomic_fetch_add(&h->loaded_variants, 1);
    atomic_fetch_add(&h->image_bytes, size);
    atomic_store_explicit(&v->loaded, *out, memory_order_release);
    tlei_log(&h->log, TLE_LOG_LOAD, op->def->name, "load", "", "%s", v->name);
    return TLE_STATUS_OK;
}

tle_status tlei_load(tle_handle h, const TleiOp *op, TleiVariant *v, bool lazy, TleiKernel **out,
                     TleiError *e) {
    *out = atomic_load_explicit(&v->loaded, memory_order_acquire);
    if (*out)
        return TLE_STATUS_OK;
    if (lazy && h->strict)
        return tlei_fail(e, TLE_STATUS_NOT_PRELOADED,
                         "%s is not loaded and the handle is strict: call tle_preload first",
                         v->name);
    if (lazy)
        tlei_log(&h->log, TLE_LOG_WARN, op->def->name, "lazy load", "", "%s", v->name);
    pthread_mutex_lock(&h->load_lock);
    tle_status status = load_locked(h, op, v, out, e);
    pthread_mutex_unlock(&h->load_lock);
    return status;
}

void tlei_unload_all(tle_handle h) {
    for (uint32_t o = 0; o < TLEI_OP_COUNT; o++)
        for (uint32_t i = 0; i < h->ops[o].variant_count; i++) {
            TleiKernel *k = atomic_exchange(&h->ops[o].variants[i].loaded, NULL);
            if (k)
                h->device->ops->unload(h->device, k);
        }
    atomic_store(&h->loaded_variants, 0);
    atomic_store(&h->image_bytes, 0);
}

/* ---- launch ---- */

uint64_t tlei_workspace(const TleiVariant *variant, uint64_t rows) {
    return variant->workspace_per_call + variant->workspace_per_row * rows;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The parameters as the kernel's metadata orders them. The machine is little endian, so a 64-bit
 * value is also its own 32-bit value, and tlei_variant_read saw to it that it fits. */
static tle_status launch(tle_handle h, TleiKernel *kernel, const TleiVariant *v,
                         const TleiCall *call, TleiError *e) {
    void *args[TLEI_MAX_PARAMS];
    int64_t values[TLEI_MAX_PARAMS];
    for (uint32_t i = 0; i < v->param_count; i++) {
        values[i] = call->values[v->params[i]];
        args[i] = &values[i];
    }
    int64_t zeroed = v->workspace_zeroed ? call->values[v->workspace_arg] : 0;
    uint64_t ctas = call->groups * v->cluster[0];
    if (ctas > INT32_MAX)
        return tlei_fail(e, TLE_STATUS_UNSUPPORTED_SHAPE, "%s: %llu CTAs are more than a grid's %d",
                         v->name, (unsigned long long)ctas, INT32_MAX);
    TleiLaunch l = {
        .variant = v->name,
        .grid = {(uint32_t)ctas, v->cluster[1], v->cluster[2]},
        .threads = v->threads,
        .cluster = {v->cluster[0], v->cluster[1], v->cluster[2]},
        .shared_bytes = v->shared_bytes,
        .cooperative = v->cooperative,
        .dependent = call->dependent && v->dependent_launch && !v->workspace_zeroed,
        .zeroed = (void *)(uintptr_t)zeroed,
        .zeroed_bytes = v->workspace_zeroed,
        .args = args,
        .stream = call->stream,
        .ranges = call->ranges,
        .range_count = call->range_count,
    };
    return h->device->ops->launch(h->device, kernel, &l, e);
}

tle_status tlei_run(tle_handle h, const TleiOp *op, uint32_t variant, const TleiCall *call,
                    TleiError *e) {
    TleiVariant *v = &op->variants[variant];
    if (v->problem)
        return tlei_fail(e, TLE_STATUS_INTERNAL, "%s: %s", v->name, v->problem);
    int64_t start = tlei_log_on(&h->log, TLE_LOG_PROFILE) ? now_ns() : 0;
    TleiKernel *kernel = NULL;
    tle_status status = tlei_load(h, op, v, true, &kernel, e);
    if (!status)
        status = launch(h, kernel, v, call, e);
    if (start)
        tlei_log(&h->log, TLE_LOG_PROFILE, op->def->name, "call", "", "%s %.3f us", v->name,
                 (double)(now_ns() - start) * 1e-3);
    return status;
}
