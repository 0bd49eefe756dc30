/* The pack file: all compiled variants of one operator for one architecture.
 *
 * Written by generator/emit, read by lib/core. All integers are little endian; the file is made of
 * a header, an index sorted by variant name, a string table, and blobs.
 *
 *   PackHeader
 *   PackEntry[entry_count]      sorted by name (byte order)
 *   PackBlob[blob_count]        in order of first use; equal contents are stored once
 *   char strings[string_bytes]  NUL-terminated names, offset 0 is ""
 *   blob bytes                  each at blob.offset, zstd-compressed when stored_bytes < raw_bytes
 *
 * Kinds of packs: the run-time pack holds metadata + cubin, the emulator pack metadata + PTX, so an
 * installation without the emulator need not carry PTX. Nothing in a pack depends on paths, time
 * or the machine that built it: two clones give the same bytes. */
#ifndef BASE_PACK_FORMAT_H
#define BASE_PACK_FORMAT_H

#include <stdint.h>

#define PACK_MAGIC   0x4b504c54u /* "TLPK" */
#define PACK_VERSION 1u
#define PACK_NO_BLOB 0xffffffffu

typedef struct PackHeader {
    uint32_t magic, version;
    uint32_t entry_count, blob_count;
    uint32_t string_bytes;
    uint32_t op_name, arch_name; /* offsets into strings: "topk_select", "sm_90a" */
    uint32_t reserved;
    uint64_t file_bytes;
    uint8_t build_id[32]; /* SHA-256 over all entries' contents */
} PackHeader;

typedef struct PackEntry {
    uint32_t name;  /* offset into strings */
    uint32_t meta;  /* blob: metadata JSON, see docs/metadata.md */
    uint32_t cubin; /* blob or PACK_NO_BLOB */
    uint32_t ptx;   /* blob or PACK_NO_BLOB */
    uint32_t tir;   /* blob (TIR text before code generation) or PACK_NO_BLOB */
    uint32_t reserved;
} PackEntry;

typedef struct PackBlob {
    uint64_t offset; /* from the start of the file, 16-byte aligned */
    uint64_t stored_bytes, raw_bytes;
    uint8_t sha256[32]; /* of the raw bytes */
} PackBlob;

#endif
