/* What a handle and its devices are: descriptions, variants, their parts, memory figures. */
#include "core/handle.h"

#include "base/sha256.h"
#include <stdio.h>
#include <string.h>

#ifndef TLE_BUILD_INFO
#define TLE_BUILD_INFO "no build record"
#endif

#define STRING(x)  #x
#define VERSION(x) STRING(x)

uint32_t tle_version(void) {
    return TLE_VERSION_HEX;
}

const char *tle_build_info(void) {
    return "libtle " VERSION(TLE_VERSION_MAJOR) "." VERSION(TLE_VERSION_MINOR) "." VERSION(
        TLE_VERSION_PATCH) ", C compiler " __VERSION__ ", " TLE_BUILD_INFO;
}

/* ---- devices ---- */

static tle_status device_ops(tle_device_kind kind, const TleiDeviceOps **out, TleiError *e) {
    if ((int)kind < TLE_DEVICE_CUDA || (int)kind > TLE_DEVICE_NONE)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "kind is %d; kinds are 1 (cuda), 2 (emu) and 3 (none)", (int)kind);
    *out = tlei_builtin_sources.devices[kind];
    return TLE_STATUS_OK;
}

tle_status tle_device_count(tle_device_kind kind, int32_t *count) {
    TleiError *e = tlei_thread_error();
    const TleiDeviceOps *ops = NULL;
    tle_status status = device_ops(kind, &ops, e);
    if (!status && !count)
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "count is NULL");
    return status ? status : ops->count(count, e);
}

tle_status tle_get_device_info(tle_device_kind kind, int32_t ordinal, tle_device_info *info) {
    TleiError *e = tlei_thread_error();
    const TleiDeviceOps *ops = NULL;
    tle_device_info full = {0};
    tle_status status = device_ops(kind, &ops, e);
    if (!status)
        status = ops->info(ordinal, &full, e);
    return status ? status : tlei_struct_out(info, &full, sizeof full, "info", e);
}

tle_status tle_handle_device(tle_handle h, tle_device_info *info) {
    TleiError *e = tlei_thread_error();
    tle_status status = tlei_check_handle(h, e);
    return status ? status
                  : tlei_struct_out(info, &h->device->info, sizeof h->device->info, "info", e);
}

/* ---- loading ---- */

static tle_status preload_op(tle_handle h, const TleiOp *op, TleiError *e) {
    if (op->absent)
        return tlei_fail(e, op->absent, "%s", op->absent_text);
    for (uint32_t i = 0; i < op->variant_count; i++) {
        TleiKernel *kernel = NULL;
        tle_status status = op->variants[i].disabled
                                ? TLE_STATUS_OK
                                : tlei_load(h, op, &op->variants[i], false, &kernel, e);
        if (status && status != TLE_STATUS_NO_VARIANT) /* which dispatch passes over from now on */
            return status;
    }
    return TLE_STATUS_OK;
}

/* What there is; only where there is nothing at all, the operator that tells most about why. */
static tle_status preload_all(tle_handle h, TleiError *e) {
    const TleiOp *absent = NULL;
    tle_status status = TLE_STATUS_OK;
    bool any = false;
    for (uint32_t i = 0; i < TLEI_OP_COUNT && !status; i++) {
        const TleiOp *op = &h->ops[i];
        any = any || !op->absent;
        if (!op->absent)
            status = preload_op(h, op, e);
        else if (!absent || absent->absent == TLE_STATUS_PACK_NOT_FOUND)
            absent = op;
    }
    return any || !absent ? status : preload_op(h, absent, e);
}

tle_status tle_preload(tle_handle h, const char *op) {
    TleiError *e = tlei_thread_error();
    uint32_t i = 0, last = 0;
    tle_status status = tlei_check_handle(h, e);
    if (!status)
        status = tlei_ops_named(h, op, &i, &last, e);
    if (!status)
        status = op ? preload_op(h, &h->ops[i], e) : preload_all(h, e);
    return tlei_finish(h, "preload", status, e);
}

tle_status tle_unload(tle_handle h) {
    tle_status status = tlei_check_handle(h, tlei_thread_error());
    if (!status)
        tlei_unload_all(h);
    return status;
}

tle_status tle_memory_info(tle_handle h, tle_memory_usage *usage) {
    TleiError *e = tlei_thread_error();
    tle_status status = tlei_check_handle(h, e);
    if (status)
        return status;
    tle_memory_usage full = {
        .loaded_variants = atomic_load(&h->loaded_variants),
        .image_bytes = atomic_load(&h->image_bytes),
        .host_bytes = h->pool.bytes + sizeof *h,
    };
    for (size_t i = 0; i < h->files.count; i++)
        full.pack_bytes += (uint64_t)(h->files.list[i].end - h->files.list[i].begin);
    return tlei_struct_out(usage, &full, sizeof full, "usage", e);
}

/* ---- variants ---- */

static tle_variant_info describe(const TleiOp *op, TleiVariant *v) {
    tle_variant_info info = {
        .struct_size = sizeof info,
        .name = v->name,
        .op = op->def->name,
        .arch = op->arch,
        .threads = (int32_t)v->threads,
        .shared_bytes = (int32_t)v->shared_bytes,
        .registers = v->registers,
        .spill_bytes = v->spill_bytes,
        .loaded = atomic_load(&v->loaded) != NULL,
        .disabled = v->disabled,
    };
    for (int i = 0; i < 3; i++)
        info.cluster[i] = (int32_t)v->cluster[i];
    return info;
}

tle_status tle_variants(tle_handle h, const char *op, tle_variant_fn fn, void *user) {
    TleiError *e = tlei_thread_error();
    uint32_t first = 0, last = 0;
    tle_status status = tlei_check_handle(h, e);
    if (!status && !fn)
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "fn is NULL");
    if (!status)
        status = tlei_ops_named(h, op, &first, &last, e);
    for (uint32_t o = first; o < last && !status; o++) {
        for (uint32_t i = 0; i < h->ops[o].variant_count; i++) {
            tle_variant_info info = describe(&h->ops[o], &h->ops[o].variants[i]);
            if (fn(&info, user))
                return TLE_STATUS_OK;
        }
    }
    return status;
}

/* ---- parts ---- */

static uint32_t blob_of(PackEntry entry, tle_variant_part part) {
    switch (part) {
    case TLE_PART_META:
        return entry.meta;
    case TLE_PART_PTX:
        return entry.ptx;
    case TLE_PART_TIR:
        return entry.tir;
    case TLE_PART_CUBIN:
        return entry.cubin;
    }
    return PACK_NO_BLOB;
}

/* Finds the part in the pack of the kernels or in the one beside it. */
static tle_status find_part(tle_handle h, const char *name, tle_variant_part part,
                            const TleiPack **pack, uint32_t *blob, TleiError *e) {
    bool known = false;
    for (uint32_t o = 0; o < TLEI_OP_COUNT; o++) {
        for (uint32_t p = 0; p < h->ops[o].pack_count; p++) {
            *pack = &h->ops[o].packs[p];
            int64_t entry = tlei_pack_find(*pack, name);
            known = known || entry >= 0;
            *blob =
                entry < 0 ? PACK_NO_BLOB : blob_of(tlei_pack_entry(*pack, (uint32_t)entry), part);
            if (*blob != PACK_NO_BLOB)
                return TLE_STATUS_OK;
        }
    }
    return known ? tlei_fail(e, TLE_STATUS_NOT_FOUND,
                             "the library does not hold part %d of variant '%s'", (int)part, name)
                 : tlei_fail(e, TLE_STATUS_NOT_FOUND, "there is no variant '%s'", name);
}

tle_status tle_variant_data(tle_handle h, const char *name, tle_variant_part part, void *buffer,
                            size_t *size) {
    TleiError *e = tlei_thread_error();
    const TleiPack *pack = NULL;
    uint32_t blob = 0;
    tle_status status = tlei_check_handle(h, e);
    if (!status && (!name || !size))
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is NULL", name ? "size" : "name");
    if (!status)
        status = find_part(h, name, part, &pack, &blob, e);
    if (status)
        return status;
    size_t wanted = tlei_pack_blob_size(pack, blob);
    if (buffer && *size < wanted)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "*size is %zu, less than the part's %zu bytes", *size, wanted);
    if (buffer)
        status = tlei_pack_read(pack, blob, buffer, e);
    if (!status)
        *size = wanted;
    return status;
}

tle_status tle_build_id(tle_handle h, char hex[TLE_BUILD_ID_SIZE]) {
    TleiError *e = tlei_thread_error();
    tle_status status = tlei_check_handle(h, e);
    if (!status && !hex)
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "hex is NULL");
    if (status)
        return status;
    uint8_t ids[TLEI_OP_COUNT][32] = {{0}};
    for (uint32_t o = 0; o < TLEI_OP_COUNT; o++)
        if (h->ops[o].pack_count)
            memcpy(ids[o], h->ops[o].packs[0].header.build_id, sizeof ids[o]);
    sha256_hex(ids, sizeof ids, hex);
    return TLE_STATUS_OK;
}
