/* The handle: a device, its operators and what is loaded. Everything but the kernel slots of the
 * variants and two counters is immutable once tle_create returns, so calls take no lock. */
#ifndef CORE_HANDLE_H
#define CORE_HANDLE_H

#include "core/files.h"
#include "core/op.h"
#include <pthread.h>

struct tle_handle_s {
    TleiPool pool;
    TleiLog log;
    const TleiSources *sources;
    TleiFiles files;
    TleiDevice *device;
    bool strict;
    TleiOp ops[TLEI_OP_COUNT];
    pthread_mutex_t load_lock; /* one load at a time */
    _Atomic uint64_t loaded_variants, image_bytes;
};

/* INVALID_ARGUMENT for a null handle. */
tle_status tlei_check_handle(tle_handle handle, TleiError *e);
/* The operators [first, last) that a name means: NULL is all. */
tle_status tlei_ops_named(tle_handle handle, const char *name, uint32_t *first, uint32_t *last,
                          TleiError *e);
/* Copies a versioned struct out (to) or in (from), as far as both sides know it. `what` names the
 * argument. Coming in, bytes beyond what this version knows must be zero. */
tle_status tlei_struct_out(void *to, const void *from, size_t size, const char *what, TleiError *e);
tle_status tlei_struct_in(void *to, const void *from, size_t size, const char *what, TleiError *e);
/* The same for a struct that had `least` bytes in its first version: what a caller's lacks is 0. */
tle_status tlei_struct_since(void *to, const void *from, size_t least, size_t size,
                             const char *what, TleiError *e);

/* ---- load.c ---- */

/* The kernel of a variant, loaded if need be; `lazy`: in the middle of a call. */
tle_status tlei_load(tle_handle handle, const TleiOp *op, TleiVariant *variant, bool lazy,
                     TleiKernel **out, TleiError *e);
void tlei_unload_all(tle_handle handle);

/* Logs a failed call and passes its status on. */
tle_status tlei_finish(tle_handle handle, const char *op, tle_status status, const TleiError *e);

#endif
