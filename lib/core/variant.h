/* One compiled kernel as the run time sees it: the metadata of docs/metadata.md, compiled when a
 * handle is made, and the place where its loaded form is kept. */
#ifndef CORE_VARIANT_H
#define CORE_VARIANT_H

#include "core/pack.h"
#include "core/rule.h"
#include <stdatomic.h>

enum { TLEI_MAX_PARAMS = 32 };

/* What an operator can pass to its kernels: names and the bits that a value may need. Pointers
 * have 64. */
typedef struct TleiArgDef {
    const char *name;
    uint32_t bits;
} TleiArgDef;

typedef struct TleiArgTable {
    const TleiArgDef *defs;
    uint32_t count;
} TleiArgTable;

struct TleiKernel;

typedef struct TleiVariant {
    const char *name, *kernel, *source_sha256;
    uint32_t entry; /* in the pack it runs from */
    uint32_t threads, shared_bytes, cluster[3];
    bool cooperative, disabled;
    bool too_large;           /* it asks for more shared memory than the device has */
    bool dependent_launch;    /* it waits by itself for the kernel launched before it */
    atomic_bool unlaunchable; /* found when it was loaded: the device cannot run its cluster */
    int32_t registers, spill_bytes; /* -1: unknown */
    uint64_t workspace_per_call, workspace_per_row;
    uint32_t workspace_zeroed; /* the first bytes, zeroed before each launch */
    uint32_t param_count;
    uint8_t params[TLEI_MAX_PARAMS]; /* index into the operator's arguments */
    uint8_t workspace_arg;           /* the argument that holds the zeroed bytes */
    const char *problem;             /* why it cannot be called although it may be chosen */
    TleiRule legal;
    _Atomic(struct TleiKernel *) loaded;
} TleiVariant;

/* Reads entry i of the pack. A parameter that the operator does not know becomes a `problem`;
 * metadata that lacks what the contract promises is PACK_CORRUPT. */
tle_status tlei_variant_read(TleiPool *pool, const TleiPack *pack, uint32_t i, TleiFactTable facts,
                             TleiArgTable args, TleiVariant *out, TleiError *e);

#endif
