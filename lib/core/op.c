/* Opening an operator: which pack fits the device, its variants, its tables, and the switches of
 * the environment. */
#include "core/arch.h"
#include "core/env.h"
#include "core/handle.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

typedef struct PackName {
    const char *op, *arch; /* not NUL-terminated */
    size_t op_len, arch_len;
    bool emu;
} PackName;

/* Splits "<op>.<arch>[.emu].tlepack". */
static bool split_name(const char *name, PackName *out) {
    const char *arch = strchr(name, '.');
    const char *rest = arch ? strchr(arch + 1, '.') : NULL;
    if (!rest)
        return false;
    *out = (PackName){name, arch + 1, (size_t)(arch - name), (size_t)(rest - arch - 1),
                      !strcmp(rest, ".emu.tlepack")};
    return out->emu || !strcmp(rest, ".tlepack");
}

static bool is_of_op(const TleiEmbedded *file, const TleiOp *op, PackName *name) {
    return split_name(file->name, name) && strlen(op->def->name) == name->op_len &&
           !memcmp(op->def->name, name->op, name->op_len);
}

/* 0: cannot be used on the device. */
static int32_t rank(const PackName *name, const TleiDevice *device, const char *arch) {
    char built[32];
    snprintf(built, sizeof built, "%.*s", (int)name->arch_len, name->arch);
    if (arch && strcmp(arch, built))
        return 0;
    return tlei_arch_rank(built, device->major, device->minor);
}

/* The best pack of a kind, or NULL. */
static const TleiEmbedded *best_pack(tle_handle h, const TleiOp *op, const char *arch, bool emu) {
    const TleiEmbedded *best = NULL;
    int32_t best_rank = 0;
    for (size_t i = 0; i < h->files.count; i++) {
        PackName name;
        const TleiEmbedded *file = &h->files.list[i];
        int32_t r = is_of_op(file, op, &name) && name.emu == emu ? rank(&name, h->device, arch) : 0;
        if (r > best_rank) {
            best = file;
            best_rank = r;
        }
    }
    return best;
}

static tle_status set_absent(tle_handle h, TleiOp *op, tle_status status, const char *text,
                             TleiError *e) {
    op->absent = status;
    op->absent_text = tlei_pool_strdup(&h->pool, text);
    if (!op->absent_text)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for operator %s", op->def->name);
    return TLE_STATUS_OK;
}

/* No pack fits: says what there is. */
static tle_status set_no_pack(tle_handle h, TleiOp *op, const char *arch, TleiError *e) {
    char text[512];
    TleiText t;
    uint32_t built = 0;
    tlei_text_init(&t, text, sizeof text);
    tlei_text_add(&t, "%s: no kernels for %s (%s)", op->def->name,
                  arch ? arch : h->device->info.arch, h->device->info.name);
    for (size_t i = 0; i < h->files.count; i++) {
        PackName name;
        if (is_of_op(&h->files.list[i], op, &name) && name.emu == h->device->ops->runs_ptx)
            tlei_text_add(&t, "%s%.*s", built++ ? ", " : "; built were ", (int)name.arch_len,
                          name.arch);
    }
    if (built)
        return set_absent(h, op, TLE_STATUS_UNSUPPORTED_ARCH, text, e);
    tlei_text_add(&t, "; no pack of this operator is %s", tlei_files_where(h->sources));
    return set_absent(h, op, TLE_STATUS_PACK_NOT_FOUND, text, e);
}

static tle_status open_pack(TleiOp *op, const TleiEmbedded *file, TleiError *e) {
    TleiPack *pack = &op->packs[op->pack_count];
    tle_status status =
        tlei_pack_open(pack, file->begin, (size_t)(file->end - file->begin), file->name, e);
    if (status)
        return status;
    PackName name;
    split_name(file->name, &name);
    if (strcmp(tlei_pack_op(pack), op->def->name) ||
        strlen(tlei_pack_arch(pack)) != name.arch_len ||
        memcmp(tlei_pack_arch(pack), name.arch, name.arch_len))
        return tlei_fail(e, TLE_STATUS_PACK_CORRUPT, "pack %s says that it is %s for %s",
                         file->name, tlei_pack_op(pack), tlei_pack_arch(pack));
    op->pack_count++;
    return TLE_STATUS_OK;
}

static uint32_t image_blob(const TleiPack *pack, uint32_t entry, bool ptx) {
    PackEntry e = tlei_pack_entry(pack, entry);
    return ptx ? e.ptx : e.cubin;
}

static bool has_images(const TleiPack *pack, bool ptx) {
    for (uint32_t i = 0; i < pack->header.entry_count; i++)
        if (image_blob(pack, i, ptx) != PACK_NO_BLOB)
            return true;
    return false;
}

/* A pack without what the device executes. */
static tle_status set_no_images(tle_handle h, TleiOp *op, TleiError *e) {
    char text[512];
    bool ptx = h->device->ops->runs_ptx;
    snprintf(text, sizeof text, "%s: pack %s holds no %s for %s (%s)%s", op->def->name,
             op->packs[0].label, ptx ? "PTX" : "cubins", op->arch, h->device->info.name,
             ptx ? "" : ": the library was built without ptxas, which makes them from PTX");
    return set_absent(h, op, TLE_STATUS_UNSUPPORTED_ARCH, text, e);
}

/* Patterns are separated by commas. */
static bool matches_any(const char *patterns, const char *name) {
    char pattern[256];
    while (*patterns) {
        size_t len = strcspn(patterns, ",");
        snprintf(pattern, sizeof pattern, "%.*s", (int)len, patterns);
        if (!fnmatch(pattern, name, 0))
            return true;
        patterns += len + (patterns[len] == ',');
    }
    return false;
}

static void apply_switches(TleiOp *op) {
    const char *disabled = tlei_env(TLEI_ENV_DISABLE_VARIANTS);
    for (uint32_t i = 0; disabled && i < op->variant_count; i++)
        op->variants[i].disabled = matches_any(disabled, op->variants[i].name);
    const char *forced = tlei_env(TLEI_ENV_FORCE_VARIANT);
    size_t len = strlen(op->def->name);
    if (!forced || strncmp(forced, op->def->name, len) || strncmp(forced + len, "__", 2))
        return;
    op->forced = tlei_variant_named(op->variants, op->variant_count, forced);
    op->forced_name = forced;
}

/* A pack serves devices of one capability that differ in shared memory, as 8.0 and 8.6 do. */
static void mark_too_large(TleiOp *op, const tle_device_info *info) {
    uint32_t most = (uint32_t)info->shared_bytes_per_block; /* 0: there is no device */
    for (uint32_t i = 0; i < op->variant_count; i++)
        op->variants[i].too_large = most && op->variants[i].shared_bytes > most;
}

static tle_status read_variants(tle_handle h, TleiOp *op, TleiError *e) {
    const TleiPack *pack = &op->packs[0];
    uint32_t n = pack->header.entry_count;
    op->variants = tlei_pool_alloc(&h->pool, n, sizeof *op->variants);
    if (!op->variants)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for %u variants of %s", n,
                         op->def->name);
    for (uint32_t i = 0; i < n; i++) {
        tle_status status = tlei_variant_read(&h->pool, pack, i, op->def->facts, op->def->args,
                                              &op->variants[i], e);
        if (status)
            return status;
        op->variant_count++;
    }
    return TLE_STATUS_OK;
}

static tle_status read_builtin_table(tle_handle h, TleiOp *op, TleiError *e) {
    char name[128];
    snprintf(name, sizeof name, "dispatch/%s/%s.json", op->arch, op->def->name);
    for (size_t i = 0; i < h->files.count; i++) {
        const TleiEmbedded *file = &h->files.list[i];
        if (strcmp(file->name, name))
            continue;
        tle_status status =
            tlei_table_parse(&h->pool, (const char *)file->begin, (size_t)(file->end - file->begin),
                             name, op->def->name, op->def->facts, op->variants, op->variant_count,
                             &op->tables[op->table_count], e);
        op->table_count += !status;
        return status;
    }
    return TLE_STATUS_OK;
}

/* Without a device the cubin pack describes the kernels, or failing that the emulator's. */
static tle_status open_packs(tle_handle h, TleiOp *op, const char *arch, TleiError *e) {
    bool ptx = h->device->ops->runs_ptx;
    const TleiEmbedded *first = best_pack(h, op, arch, ptx);
    const TleiEmbedded *second = best_pack(h, op, arch, !ptx);
    if (!first && h->device->info.kind == TLE_DEVICE_NONE) {
        first = second;
        second = NULL;
    }
    if (!first)
        return set_no_pack(h, op, arch, e);
    tle_status status = open_pack(op, first, e);
    op->arch = tlei_pack_arch(&op->packs[0]);
    if (!status && second)
        status = open_pack(op, second, e);
    if (!status && h->device->info.kind != TLE_DEVICE_NONE && !has_images(&op->packs[0], ptx))
        status = set_no_images(h, op, e);
    return status;
}

tle_status tlei_op_open(tle_handle h, TleiOp *op, const char *arch, TleiError *e) {
    op->forced = -1;
    op->arch = "";
    tle_status status = open_packs(h, op, arch, e);
    if (!status && op->pack_count)
        status = read_variants(h, op, e);
    if (status || op->absent)
        return status;
    mark_too_large(op, &h->device->info);
    apply_switches(op);
    return read_builtin_table(h, op, e);
}
