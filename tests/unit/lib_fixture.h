/* What the tests of the run time share: a device that records instead of running, and a writer of
 * packs that follows base/pack_format.h on its own. */
#ifndef UNIT_LIB_FIXTURE_H
#define UNIT_LIB_FIXTURE_H

#include "base/pack_format.h"
#include "base/sha256.h"
#include "core/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the recording device ---- */

typedef struct FakeState {
    int loads, unloads, launches;
    TleiLaunch launch;
    uint64_t args[TLEI_MAX_PARAMS];
    uint32_t arg_count;
    TleiRange ranges[16];
    char image[256];
    tle_status fail_open, fail_load, fail_launch;
    uint32_t largest_cluster; /* 0: any */
    int32_t major, minor;
    int32_t shared_bytes; /* of a CTA; 0: not limited */
} FakeState;

static FakeState fake;

static tle_status fake_count(int32_t *count, TleiError *e) {
    (void)e;
    *count = 1;
    return TLE_STATUS_OK;
}

static tle_status fake_info(int32_t ordinal, tle_device_info *info, TleiError *e) {
    (void)e;
    info->kind = TLE_DEVICE_CUDA;
    info->ordinal = ordinal;
    info->sm_count = 132;
    info->shared_bytes_per_block = fake.shared_bytes;
    snprintf(info->name, sizeof info->name, "Fake GPU");
    snprintf(info->arch, sizeof info->arch, "sm_%d%d", fake.major, fake.minor);
    return TLE_STATUS_OK;
}

static const TleiDeviceOps fake_cuda, fake_emu;

static tle_status fake_open_as(const TleiDeviceOps *ops, int32_t kind, TleiDevice **out,
                               TleiError *e) {
    if (fake.fail_open)
        return tlei_fail_native(e, fake.fail_open, 35, "fake: no device");
    TleiDevice *d = (TleiDevice *)calloc(1, sizeof *d);
    d->ops = ops;
    d->major = fake.major;
    d->minor = fake.minor;
    fake_info(0, &d->info, e);
    d->info.kind = kind;
    *out = d;
    return TLE_STATUS_OK;
}

static tle_status fake_open(const TleiDeviceConfig *config, TleiDevice **out, TleiError *e) {
    (void)config;
    return fake_open_as(&fake_cuda, TLE_DEVICE_CUDA, out, e);
}

static tle_status fake_open_emu(const TleiDeviceConfig *config, TleiDevice **out, TleiError *e) {
    (void)config;
    return fake_open_as(&fake_emu, TLE_DEVICE_EMU, out, e);
}

static void fake_close(TleiDevice *device) {
    free(device);
}

static tle_status fake_load(TleiDevice *device, const TleiImage *image, TleiKernel **out,
                            TleiError *e) {
    (void)device;
    if (fake.fail_load)
        return tlei_fail_native(e, fake.fail_load, 209, "fake: cannot load %s", image->variant);
    if (fake.largest_cluster && image->cluster_ctas > fake.largest_cluster)
        return tlei_fail(e, TLE_STATUS_NO_VARIANT, "fake: no cluster of %u", image->cluster_ctas);
    snprintf(fake.image, sizeof fake.image, "%.*s", (int)image->size, (const char *)image->bytes);
    fake.loads++;
    *out = (TleiKernel *)malloc(1);
    return TLE_STATUS_OK;
}

static void fake_unload(TleiDevice *device, TleiKernel *kernel) {
    (void)device;
    fake.unloads++;
    free(kernel);
}

static tle_status fake_launch(TleiDevice *device, TleiKernel *kernel, const TleiLaunch *l,
                              TleiError *e) {
    (void)device, (void)kernel;
    if (fake.fail_launch)
        return tlei_fail_native(e, fake.fail_launch, 719, "fake: launch failed");
    fake.launches++;
    fake.launch = *l;
    for (uint32_t i = 0; i < fake.arg_count; i++)
        memcpy(&fake.args[i], l->args[i], 8);
    for (uint32_t i = 0; i < l->range_count && i < 16; i++)
        fake.ranges[i] = l->ranges[i];
    return TLE_STATUS_OK;
}

static tle_status fake_alloc(TleiDevice *device, size_t bytes, void **out, TleiError *e) {
    (void)device;
    *out = malloc(bytes);
    return *out ? TLE_STATUS_OK : tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "fake: %zu", bytes);
}

static tle_status fake_free(TleiDevice *device, void *memory, TleiError *e) {
    (void)device, (void)e;
    free(memory);
    return TLE_STATUS_OK;
}

static tle_status fake_copy(TleiDevice *device, void *to, const void *from, size_t bytes,
                            TleiError *e) {
    (void)device, (void)e;
    memcpy(to, from, bytes);
    return TLE_STATUS_OK;
}

static tle_status fake_synchronize(TleiDevice *device, tle_stream stream, TleiError *e) {
    (void)device, (void)stream, (void)e;
    return TLE_STATUS_OK;
}

#define FAKE_OPS(open_function, ptx)                                                               \
    {                                                                                              \
        .name = "fake",                                                                            \
        .runs_ptx = ptx,                                                                           \
        .count = fake_count,                                                                       \
        .info = fake_info,                                                                         \
        .open = open_function,                                                                     \
        .close = fake_close,                                                                       \
        .load = fake_load,                                                                         \
        .unload = fake_unload,                                                                     \
        .launch = fake_launch,                                                                     \
        .alloc = fake_alloc,                                                                       \
        .free = fake_free,                                                                         \
        .copy = fake_copy,                                                                         \
        .synchronize = fake_synchronize,                                                           \
    }

static const TleiDeviceOps fake_cuda = FAKE_OPS(fake_open, false);
static const TleiDeviceOps fake_emu = FAKE_OPS(fake_open_emu, true);

/* ---- packs ---- */

typedef struct FakeVariant {
    const char *name, *meta, *cubin, *ptx, *tir; /* NULL: no such blob */
} FakeVariant;

typedef struct Bytes {
    uint8_t *data;
    size_t size;
} Bytes;

static void bytes_add(Bytes *b, const void *data, size_t n) {
    b->data = (uint8_t *)realloc(b->data, b->size + n + 1);
    memcpy(b->data + b->size, data, n);
    b->size += n;
}

static void bytes_align(Bytes *b) {
    static const char zeros[16];
    bytes_add(b, zeros, (16 - b->size % 16) % 16);
}

static uint32_t add_string(Bytes *strings, const char *text) {
    uint32_t offset = (uint32_t)strings->size;
    bytes_add(strings, text, strlen(text) + 1);
    return offset;
}

static uint32_t add_text_blob(Bytes *blobs, const char *text) {
    if (!text)
        return PACK_NO_BLOB;
    PackBlob b = {.stored_bytes = strlen(text), .raw_bytes = strlen(text)};
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, text, strlen(text));
    sha256_end(&sha, b.sha256);
    bytes_add(blobs, &b, sizeof b);
    return (uint32_t)(blobs->size / sizeof b) - 1;
}

/* Uncompressed, in the order given; the caller frees data. */
static Bytes make_pack(const char *op, const char *arch, const FakeVariant *v, size_t count) {
    Bytes strings = {0}, blobs = {0}, entries = {0}, file = {0};
    PackHeader h = {.magic = PACK_MAGIC, .version = PACK_VERSION, .entry_count = (uint32_t)count};
    add_string(&strings, "");
    h.op_name = add_string(&strings, op);
    h.arch_name = add_string(&strings, arch);
    for (size_t i = 0; i < count; i++) {
        PackEntry e = {.name = add_string(&strings, v[i].name)};
        e.meta = add_text_blob(&blobs, v[i].meta);
        e.cubin = add_text_blob(&blobs, v[i].cubin);
        e.ptx = add_text_blob(&blobs, v[i].ptx);
        e.tir = add_text_blob(&blobs, v[i].tir);
        bytes_add(&entries, &e, sizeof e);
    }
    h.blob_count = (uint32_t)(blobs.size / sizeof(PackBlob));
    h.string_bytes = (uint32_t)strings.size;
    memset(h.build_id, 0xab, sizeof h.build_id);
    bytes_add(&file, &h, sizeof h);
    bytes_add(&file, entries.data, entries.size);
    size_t blob_table = file.size;
    bytes_add(&file, blobs.data, blobs.size);
    bytes_add(&file, strings.data, strings.size);
    size_t b = 0;
    for (size_t i = 0; i < count; i++) {
        const char *parts[] = {v[i].meta, v[i].cubin, v[i].ptx, v[i].tir};
        for (size_t p = 0; p < 4; p++) {
            if (!parts[p])
                continue;
            bytes_align(&file);
            uint64_t offset = file.size;
            memcpy(file.data + blob_table + b++ * sizeof(PackBlob), &offset, sizeof offset);
            bytes_add(&file, parts[p], strlen(parts[p]));
        }
    }
    uint64_t total = file.size;
    memcpy(file.data + offsetof(PackHeader, file_bytes), &total, sizeof total);
    free(strings.data);
    free(blobs.data);
    free(entries.data);
    return file;
}

/* Metadata with the parameters that tests bind; `extra` is more JSON with a leading comma. */
#define FAKE_META(variant, params, legal, extra) FAKE_CLUSTER(variant, "1", params, legal, extra)

#define FAKE_CLUSTER(variant, ctas, params, legal, extra)                                          \
    FAKE_OF("topk_select", variant, ctas, params, legal, extra)

#define FAKE_OF(op, variant, ctas, params, legal, extra)                                           \
    "{\"schema\": 1, \"name\": \"" variant "\", \"op\": \"" op "\", \"kernel\": \"kernel\","       \
    " \"source\": \"k.py\", \"source_sha256\": \"5eed\", \"arch\": \"sm_90a\","                    \
    " \"num_warps\": 4, \"threads\": 128, \"cluster\": [" ctas ", 1, 1], \"cooperative\": false,"  \
    " \"shared_bytes\": 49152, \"params\": [" params "], \"legal\": " legal extra "}"

#define PARAM(name, type) "{\"name\": \"" name "\", \"type\": \"" type "\"}"

#define ALL_PARAMS                                                                                 \
    "{\"name\": \"k\", \"type\": \"i32\"},"                                                        \
    "{\"name\": \"scores\", \"type\": \"*fp32\"},"                                                 \
    "{\"name\": \"indices\", \"type\": \"*i32\"},"                                                 \
    "{\"name\": \"lengths\", \"type\": \"*i32\"},"                                                 \
    "{\"name\": \"row_starts\", \"type\": \"*i32\"},"                                              \
    "{\"name\": \"row_stride\", \"type\": \"i64\"},"                                               \
    "{\"name\": \"index_stride\", \"type\": \"i64\"},"                                             \
    "{\"name\": \"columns\", \"type\": \"i32\"},"                                                  \
    "{\"name\": \"flags\", \"type\": \"i32\"}"

enum { ALL_PARAM_COUNT = 9 };

/* ---- handles over fake sources ---- */

typedef struct FakeFiles {
    TleiEmbedded files[8];
    Bytes packs[8];
    size_t count;
    TleiSources sources;
} FakeFiles;

__attribute__((unused)) static void files_init(FakeFiles *f) {
    memset(f, 0, sizeof *f);
    memset(&fake, 0, sizeof fake);
    fake.major = 9;
    f->sources = (TleiSources){.files = f->files, .file_count = &f->count};
    f->sources.devices[TLE_DEVICE_CUDA] = &fake_cuda;
    f->sources.devices[TLE_DEVICE_EMU] = &fake_emu;
    f->sources.devices[TLE_DEVICE_NONE] = &tlei_device_none;
}

__attribute__((unused)) static void files_add(FakeFiles *f, const char *name, Bytes bytes) {
    f->packs[f->count] = bytes;
    f->files[f->count++] = (TleiEmbedded){name, bytes.data, bytes.data + bytes.size};
}

__attribute__((unused)) static void files_add_text(FakeFiles *f, const char *name,
                                                   const char *text) {
    Bytes b = {0};
    bytes_add(&b, text, strlen(text));
    files_add(f, name, b);
}

__attribute__((unused)) static void files_free(FakeFiles *f) {
    for (size_t i = 0; i < f->count; i++)
        free(f->packs[i].data);
}

__attribute__((unused)) static Bytes one_pack(const char *arch, const FakeVariant *v, size_t n) {
    return make_pack("topk_select", arch, v, n);
}

#endif
