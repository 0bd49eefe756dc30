/* Handles: creation from options and environment, destruction, and what belongs to the whole. */
#include "core/handle.h"
#include "core/arch.h"
#include "core/env.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define X(name) extern const TleiOpDef tlei_op_##name;
#include "operators.def"
#undef X

static const TleiOpDef *const op_defs[TLEI_OP_COUNT] = {
#define X(name) &tlei_op_##name,
#include "operators.def"
#undef X
};

/* A dispatch table is some kilobytes; this bounds what a wrong path can cost. */
enum { MAX_OVERLAY_BYTES = 4 << 20 };

/* ---- arguments ---- */

tle_status tlei_check_handle(tle_handle h, TleiError *e) {
    return h ? TLE_STATUS_OK : tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "handle is NULL");
}

tle_status tlei_struct_out(void *to, const void *from, size_t size, const char *what,
                           TleiError *e) {
    if (!to)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is NULL", what);
    size_t theirs;
    memcpy(&theirs, to, sizeof theirs);
    if (theirs < sizeof theirs)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s->struct_size is %zu; it must be the struct's size, %zu", what, theirs,
                         size);
    size_t n = theirs < size ? theirs : size;
    memcpy((char *)to + sizeof theirs, (const char *)from + sizeof theirs, n - sizeof theirs);
    return TLE_STATUS_OK;
}

tle_status tlei_struct_in(void *to, const void *from, size_t size, const char *what, TleiError *e) {
    return tlei_struct_since(to, from, size, size, what, e);
}

tle_status tlei_struct_since(void *to, const void *from, size_t least, size_t size,
                             const char *what, TleiError *e) {
    if (!from)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is NULL", what);
    size_t theirs;
    memcpy(&theirs, from, sizeof theirs);
    if (theirs < least)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s->struct_size is %zu, less than the %zu of version 0.1", what, theirs,
                         least);
    if (theirs > 65536)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "%s->struct_size is %zu, more than any version's", what, theirs);
    for (size_t i = size; i < theirs; i++)
        if (((const unsigned char *)from)[i])
            return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                             "%s sets a field at offset %zu that version %d.%d does not know", what,
                             i, TLE_VERSION_MAJOR, TLE_VERSION_MINOR);
    memset(to, 0, size);
    memcpy(to, from, theirs < size ? theirs : size);
    return TLE_STATUS_OK;
}

tle_status tlei_ops_named(tle_handle h, const char *name, uint32_t *first, uint32_t *last,
                          TleiError *e) {
    *first = 0;
    *last = TLEI_OP_COUNT;
    if (!name)
        return TLE_STATUS_OK;
    for (uint32_t i = 0; i < TLEI_OP_COUNT; i++) {
        if (!strcmp(h->ops[i].def->name, name)) {
            *first = i;
            *last = i + 1;
            return TLE_STATUS_OK;
        }
    }
    return tlei_fail(e, TLE_STATUS_NOT_FOUND, "there is no operator '%s'", name);
}

tle_status tlei_finish(tle_handle h, const char *op, tle_status status, const TleiError *e) {
    if (status && h)
        tlei_log(&h->log, TLE_LOG_ERROR, op, tle_status_name(status), "", "%s", e->text);
    return status;
}

/* ---- options ---- */

static tle_status choose_kind(const tle_handle_options *o, int32_t *kind, TleiError *e) {
    *kind = o->device_kind;
    if (*kind < TLE_DEVICE_DEFAULT || *kind > TLE_DEVICE_NONE)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "options->device_kind is %d; kinds are 0 (default) to 3 (none)", *kind);
    if (*kind != TLE_DEVICE_DEFAULT)
        return TLE_STATUS_OK;
    const char *name = tlei_env(TLEI_ENV_DEVICE);
    if (!name || !strcmp(name, "cuda"))
        *kind = TLE_DEVICE_CUDA;
    else if (!strcmp(name, "emu"))
        *kind = TLE_DEVICE_EMU;
    else if (!strcmp(name, "none"))
        *kind = TLE_DEVICE_NONE;
    else
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "TLE_DEVICE is '%s'; known are cuda, emu and none", name);
    return TLE_STATUS_OK;
}

static tle_status choose_strict(const tle_handle_options *o, bool *strict, TleiError *e) {
    if (o->strict < TLE_SWITCH_DEFAULT || o->strict > TLE_SWITCH_OFF)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "options->strict is %d; it is 0 (default), 1 (on) or 2 (off)", o->strict);
    const char *text = tlei_env(TLEI_ENV_STRICT);
    if (text && strcmp(text, "0") && strcmp(text, "1"))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "TLE_STRICT is '%s'; it is 0 or 1", text);
    *strict = o->strict == TLE_SWITCH_ON ||
              (o->strict == TLE_SWITCH_DEFAULT && text && !strcmp(text, "1"));
    return TLE_STATUS_OK;
}

/* The architecture asked for, or NULL for the device's own. */
static tle_status choose_arch(const tle_handle_options *o, const char **name, TleiArch *arch,
                              TleiError *e) {
    *name = o->arch ? o->arch : tlei_env(TLEI_ENV_ARCH);
    *arch = (TleiArch){9, 0, 'a'};
    if (*name && !tlei_arch_parse(*name, arch))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "arch is '%s'; architectures are written like sm_90a", *name);
    return TLE_STATUS_OK;
}

static tle_status check_options(const tle_handle_options *o, TleiError *e) {
    if (o->device_ordinal < -1)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "options->device_ordinal is %d; the least is -1 (current device)",
                         o->device_ordinal);
    if (o->log_flags & ~TLE_LOG_ALL)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "options->log_flags is 0x%x; known flags are 0x%x", o->log_flags,
                         TLE_LOG_ALL);
    return TLE_STATUS_OK;
}

/* ---- overlay ---- */

static tle_status overlay_error(const char *path, const char *what, TleiError *e) {
    return tlei_fail(e, TLE_STATUS_TABLE_INVALID, "dispatch table %s: %s", path, what);
}

/* Reads a whole file; the caller frees it. */
static tle_status read_file(const char *path, char **out, size_t *size, TleiError *e) {
    FILE *f = fopen(path, "rbe");
    if (!f)
        return overlay_error(path, "cannot be opened", e);
    char *text = malloc(MAX_OVERLAY_BYTES);
    size_t n = text ? fread(text, 1, MAX_OVERLAY_BYTES, f) : 0;
    bool failed = ferror(f) != 0;
    fclose(f);
    if (text && !failed && n < MAX_OVERLAY_BYTES) {
        *out = text;
        *size = n;
        return TLE_STATUS_OK;
    }
    free(text);
    return overlay_error(path, failed ? "cannot be read" : "is larger than 4 MiB", e);
}

/* The operator that a table is for. */
static tle_status overlay_op(tle_handle h, const char *path, const char *text, size_t size,
                             TleiOp **op, TleiError *e) {
    cJSON *root = cJSON_ParseWithLength(text, size);
    if (!root)
        return overlay_error(path, "not JSON", e);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "op"));
    uint32_t first = 0, last = 0;
    tle_status status = TLE_STATUS_OK;
    if (!name)
        status = overlay_error(path, "'op' is missing", e);
    else if (tlei_ops_named(h, name, &first, &last, e))
        status = overlay_error(path, "'op' names no operator of the library", e);
    else
        *op = &h->ops[first];
    cJSON_Delete(root);
    return status;
}

static tle_status read_overlay(tle_handle h, const tle_handle_options *o, TleiError *e) {
    const char *path = o->dispatch_overlay ? o->dispatch_overlay : tlei_env(TLEI_ENV_DISPATCH);
    if (!path)
        return TLE_STATUS_OK;
    char *text = NULL;
    size_t size = 0;
    TleiOp *op = NULL;
    TleiTable table;
    tle_status status = read_file(path, &text, &size, e);
    if (!status)
        status = overlay_op(h, path, text, size, &op, e);
    if (!status)
        status = tlei_table_parse(&h->pool, text, size, path, op->def->name, op->def->facts,
                                  op->variants, op->variant_count, &table, e);
    free(text);
    if (status)
        return status;
    op->tables[1] = op->tables[0];
    op->tables[0] = table;
    op->table_count++;
    return TLE_STATUS_OK;
}

/* ---- creation ---- */

static tle_status open_device(tle_handle h, const tle_handle_options *o, TleiArch arch,
                              TleiError *e) {
    int32_t kind = 0;
    tle_status status = choose_kind(o, &kind, e);
    if (status)
        return status;
    TleiDeviceConfig config = {
        .ordinal = o->device_ordinal,
        .arch_major = arch.major,
        .arch_minor = arch.minor,
        .emu_checks = o->emu_checks,
        .emu_threads = o->emu_threads,
    };
    return h->sources->devices[kind]->open(&config, &h->device, e);
}

static tle_status check_arch(tle_handle h, const char *arch, TleiError *e) {
    if (!arch || tlei_arch_rank(arch, h->device->major, h->device->minor))
        return TLE_STATUS_OK;
    return tlei_fail(e, TLE_STATUS_UNSUPPORTED_ARCH, "kernels for %s do not run on %s (%s)", arch,
                     h->device->info.arch, h->device->info.name);
}

static tle_status open_ops(tle_handle h, const char *arch, TleiError *e) {
    for (uint32_t i = 0; i < TLEI_OP_COUNT; i++)
        h->ops[i].def = op_defs[i];
    for (uint32_t i = 0; i < TLEI_OP_COUNT; i++) {
        tle_status status = tlei_op_open(h, &h->ops[i], arch, e);
        if (status)
            return status;
    }
    return TLE_STATUS_OK;
}

/* What is no variant's name would force nothing, without a word. */
static tle_status check_forced(TleiError *e) {
    const char *forced = tlei_env(TLEI_ENV_FORCE_VARIANT);
    if (forced && !strstr(forced, "__"))
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "TLE_FORCE_VARIANT is '%s'; variants are named <operator>__<what>",
                         forced);
    return TLE_STATUS_OK;
}

static tle_status initialise(tle_handle h, const tle_handle_options *o, TleiError *e) {
    const char *arch_name = NULL;
    TleiArch arch;
    tle_status status = check_options(o, e);
    if (!status)
        status = choose_strict(o, &h->strict, e);
    if (!status)
        status = check_forced(e);
    if (!status)
        status = choose_arch(o, &arch_name, &arch, e);
    if (!status)
        status = tlei_log_open(&h->log, o->log_flags, o->log, o->log_user, e);
    if (!status)
        status = open_device(h, o, arch, e);
    if (status)
        return status;
    snprintf(h->log.device, sizeof h->log.device, "%s:%d", h->device->ops->name,
             h->device->info.ordinal);
    status = check_arch(h, arch_name, e);
    if (!status)
        status = tlei_files_open(&h->files, h->sources, e);
    if (!status)
        status = open_ops(h, arch_name, e);
    return status ? status : read_overlay(h, o, e);
}

void tle_destroy(tle_handle h) {
    if (!h)
        return;
    if (h->device) {
        tlei_unload_all(h);
        h->device->ops->close(h->device);
    }
    tlei_log_close(&h->log);
    pthread_mutex_destroy(&h->load_lock);
    tlei_files_close(&h->files);
    tlei_pool_free(&h->pool);
    free(h);
}

tle_status tlei_create(tle_handle *handle, const tle_handle_options *options,
                       const TleiSources *sources, TleiError *e) {
    tle_handle_options o = TLE_HANDLE_OPTIONS_INIT;
    if (!handle)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "handle is NULL");
    tle_status status =
        options ? tlei_struct_in(&o, options, sizeof o, "options", e) : TLE_STATUS_OK;
    if (status)
        return status;
    tle_handle h = calloc(1, sizeof *h);
    if (!h)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for a handle");
    h->sources = sources;
    pthread_mutex_init(&h->load_lock, NULL);
    status = initialise(h, &o, e);
    if (status) {
        tle_destroy(h);
        return status;
    }
    *handle = h;
    return TLE_STATUS_OK;
}

tle_status tle_create(tle_handle *handle, const tle_handle_options *options) {
    return tlei_create(handle, options, &tlei_builtin_sources, tlei_thread_error());
}

tle_status tle_set_log(tle_handle h, uint32_t flags, tle_log_fn fn, void *user) {
    TleiError *e = tlei_thread_error();
    tle_status status = tlei_check_handle(h, e);
    if (status)
        return status;
    if (flags & ~TLE_LOG_ALL)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "flags is 0x%x; known flags are 0x%x",
                         flags, TLE_LOG_ALL);
    h->log.flags = flags;
    h->log.fn = fn;
    h->log.user = user;
    return TLE_STATUS_OK;
}
