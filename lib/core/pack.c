/* Validation and decompression of packs. */
#include "core/pack.h"

#include "base/sha256.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packs are little endian");
_Static_assert(sizeof(PackHeader) == 72 && sizeof(PackEntry) == 24 && sizeof(PackBlob) == 56,
               "the structs are the file format");

/* Larger than any kernel, small enough that a forged size cannot exhaust memory. */
#define MAX_BLOB_BYTES ((uint64_t)256 << 20)

static PackBlob blob_at(const TleiPack *pack, uint32_t i) {
    PackBlob b;
    memcpy(&b, pack->blobs + (size_t)i * sizeof b, sizeof b);
    return b;
}

PackEntry tlei_pack_entry(const TleiPack *pack, uint32_t i) {
    PackEntry entry;
    memcpy(&entry, pack->entries + (size_t)i * sizeof entry, sizeof entry);
    return entry;
}

const char *tlei_pack_name(const TleiPack *pack, uint32_t i) {
    return pack->strings + tlei_pack_entry(pack, i).name;
}

const char *tlei_pack_op(const TleiPack *pack) {
    return pack->strings + pack->header.op_name;
}

const char *tlei_pack_arch(const TleiPack *pack) {
    return pack->strings + pack->header.arch_name;
}

static tle_status corrupt(const TleiPack *pack, TleiError *e, const char *what, uint64_t value,
                          uint64_t limit) {
    return tlei_fail(e, TLE_STATUS_PACK_CORRUPT, "pack %s: %s (%llu, limit %llu)", pack->label,
                     what, (unsigned long long)value, (unsigned long long)limit);
}

static tle_status check_header(TleiPack *pack, TleiError *e) {
    if (pack->size < sizeof pack->header)
        return corrupt(pack, e, "shorter than its header", pack->size, sizeof pack->header);
    PackHeader *h = &pack->header;
    memcpy(h, pack->bytes, sizeof *h);
    if (h->magic != PACK_MAGIC)
        return corrupt(pack, e, "not a pack: wrong magic number", h->magic, PACK_MAGIC);
    if (h->version != PACK_VERSION)
        return tlei_fail(e, TLE_STATUS_PACK_VERSION,
                         "pack %s has format version %u, this library reads version %u",
                         pack->label, h->version, PACK_VERSION);
    if (h->file_bytes != pack->size)
        return corrupt(pack, e, "size differs from the header's", pack->size, h->file_bytes);
    return TLE_STATUS_OK;
}

/* Places the three tables; their sizes are 32-bit counts, so the sum cannot overflow 64 bits. */
static tle_status check_tables(TleiPack *pack, uint64_t *data_start, TleiError *e) {
    const PackHeader *h = &pack->header;
    uint64_t blobs = sizeof *h + (uint64_t)h->entry_count * sizeof(PackEntry);
    uint64_t strings = blobs + (uint64_t)h->blob_count * sizeof(PackBlob);
    uint64_t end = strings + h->string_bytes;
    if (end > pack->size)
        return corrupt(pack, e, "tables reach past the end", end, pack->size);
    pack->entries = pack->bytes + sizeof *h;
    pack->blobs = pack->bytes + blobs;
    pack->strings = (const char *)(pack->bytes + strings);
    if (!h->string_bytes || pack->strings[0] || pack->strings[h->string_bytes - 1])
        return corrupt(pack, e, "string table does not begin and end with NUL", h->string_bytes, 1);
    if (h->op_name >= h->string_bytes || h->arch_name >= h->string_bytes)
        return corrupt(pack, e, "operator or architecture name outside the string table",
                       h->op_name, h->string_bytes);
    *data_start = end;
    return TLE_STATUS_OK;
}

static tle_status check_blobs(const TleiPack *pack, uint64_t data_start, TleiError *e) {
    for (uint32_t i = 0; i < pack->header.blob_count; i++) {
        PackBlob b = blob_at(pack, i);
        if (b.offset % 16 || b.offset < data_start || b.offset > pack->size)
            return corrupt(pack, e, "blob offset misaligned or out of the file", b.offset,
                           pack->size);
        if (b.stored_bytes > pack->size - b.offset)
            return corrupt(pack, e, "blob reaches past the end", b.stored_bytes,
                           pack->size - b.offset);
        if (b.stored_bytes > b.raw_bytes || b.raw_bytes > MAX_BLOB_BYTES)
            return corrupt(pack, e, "blob size", b.raw_bytes, MAX_BLOB_BYTES);
    }
    return TLE_STATUS_OK;
}

static int blob_ok(const TleiPack *pack, uint32_t blob, int required) {
    return blob < pack->header.blob_count || (!required && blob == PACK_NO_BLOB);
}

static tle_status check_entries(const TleiPack *pack, TleiError *e) {
    for (uint32_t i = 0; i < pack->header.entry_count; i++) {
        PackEntry entry = tlei_pack_entry(pack, i);
        if (entry.name >= pack->header.string_bytes)
            return corrupt(pack, e, "entry name outside the string table", entry.name,
                           pack->header.string_bytes);
        if (!blob_ok(pack, entry.meta, 1) || !blob_ok(pack, entry.cubin, 0) ||
            !blob_ok(pack, entry.ptx, 0) || !blob_ok(pack, entry.tir, 0))
            return corrupt(pack, e, "entry refers to a blob that is not there", i,
                           pack->header.blob_count);
        if (i && strcmp(tlei_pack_name(pack, i - 1), tlei_pack_name(pack, i)) >= 0)
            return corrupt(pack, e, "entries are not sorted by name", i, pack->header.entry_count);
    }
    return TLE_STATUS_OK;
}

tle_status tlei_pack_open(TleiPack *pack, const void *bytes, size_t size, const char *label,
                          TleiError *e) {
    *pack = (TleiPack){.bytes = bytes, .size = size, .label = label};
    uint64_t data_start = 0;
    tle_status status = check_header(pack, e);
    if (!status)
        status = check_tables(pack, &data_start, e);
    if (!status)
        status = check_blobs(pack, data_start, e);
    return status ? status : check_entries(pack, e);
}

int64_t tlei_pack_find(const TleiPack *pack, const char *name) {
    uint32_t lo = 0, hi = pack->header.entry_count;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = strcmp(tlei_pack_name(pack, mid), name);
        if (!order)
            return mid;
        if (order < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return -1;
}

size_t tlei_pack_blob_size(const TleiPack *pack, uint32_t blob) {
    return (size_t)blob_at(pack, blob).raw_bytes;
}

static tle_status verify(const TleiPack *pack, const PackBlob *b, const void *raw, TleiError *e) {
    Sha256 sha;
    uint8_t digest[32];
    sha256_init(&sha);
    sha256_add(&sha, raw, (size_t)b->raw_bytes);
    sha256_end(&sha, digest);
    if (memcmp(digest, b->sha256, sizeof digest))
        return corrupt(pack, e, "contents differ from their SHA-256, blob at", b->offset,
                       pack->size);
    return TLE_STATUS_OK;
}

tle_status tlei_pack_read(const TleiPack *pack, uint32_t blob, void *out, TleiError *e) {
    PackBlob b = blob_at(pack, blob);
    const uint8_t *stored = pack->bytes + b.offset;
    if (b.stored_bytes < b.raw_bytes) {
        size_t n = ZSTD_decompress(out, (size_t)b.raw_bytes, stored, (size_t)b.stored_bytes);
        if (ZSTD_isError(n))
            return tlei_fail(e, TLE_STATUS_PACK_CORRUPT, "pack %s: blob at %llu: %s", pack->label,
                             (unsigned long long)b.offset, ZSTD_getErrorName(n));
        if (n != b.raw_bytes)
            return corrupt(pack, e, "blob decompresses to another size", n, b.raw_bytes);
    } else {
        memcpy(out, stored, (size_t)b.raw_bytes);
    }
    return verify(pack, &b, out, e);
}

tle_status tlei_pack_load(const TleiPack *pack, uint32_t blob, char **out, size_t *size,
                          TleiError *e) {
    size_t n = tlei_pack_blob_size(pack, blob);
    char *data = malloc(n + 1);
    if (!data)
        return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for %zu bytes of pack %s", n,
                         pack->label);
    tle_status status = tlei_pack_read(pack, blob, data, e);
    if (status) {
        free(data);
        return status;
    }
    data[n] = '\0';
    *out = data;
    *size = n;
    return TLE_STATUS_OK;
}
