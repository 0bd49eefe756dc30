/* Reader of packs (base/pack_format.h) over bytes that stay where they are.
 *
 * The bytes are untrusted: tlei_pack_open checks every count, offset and order before anything else
 * looks at them, and tlei_pack_read checks the SHA-256 of what it hands out, so no other code needs
 * to doubt a pack. Nothing is decompressed before it is asked for. */
#ifndef CORE_PACK_H
#define CORE_PACK_H

#include "base/pack_format.h"
#include "core/error.h"

typedef struct TleiPack {
    const uint8_t *bytes;
    size_t size;
    const char *label; /* for messages */
    PackHeader header;
    const uint8_t *entries, *blobs; /* unaligned tables */
    const char *strings;
} TleiPack;

/* bytes and label must outlive the pack. PACK_VERSION or PACK_CORRUPT. */
tle_status tlei_pack_open(TleiPack *pack, const void *bytes, size_t size, const char *label,
                          TleiError *e);

const char *tlei_pack_op(const TleiPack *pack);
const char *tlei_pack_arch(const TleiPack *pack);
PackEntry tlei_pack_entry(const TleiPack *pack, uint32_t i);
const char *tlei_pack_name(const TleiPack *pack, uint32_t i);
/* Index of the entry of that name, or -1. */
int64_t tlei_pack_find(const TleiPack *pack, const char *name);

/* Raw size of a blob, which must not be PACK_NO_BLOB. */
size_t tlei_pack_blob_size(const TleiPack *pack, uint32_t blob);
/* Writes tlei_pack_blob_size bytes. */
tle_status tlei_pack_read(const TleiPack *pack, uint32_t blob, void *out, TleiError *e);
/* The same into fresh memory, one NUL behind the contents; the caller frees it. */
tle_status tlei_pack_load(const TleiPack *pack, uint32_t blob, char **out, size_t *size,
                          TleiError *e);

#endif
