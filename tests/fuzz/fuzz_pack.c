/* libFuzzer target: any bytes as a pack. Opening and reading stay within the bytes, and a pack that
 * opens finds each of its entries by name. */
#include "core/pack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_blob(const TleiPack *pack, uint32_t blob) {
    TleiError e;
    char *text = NULL;
    size_t n = 0;
    if (blob != PACK_NO_BLOB && tlei_pack_blob_size(pack, blob) < 1 << 20 &&
        !tlei_pack_load(pack, blob, &text, &n, &e))
        free(text);
}

static void read_all(const TleiPack *pack) {
    for (uint32_t i = 0; i < pack->header.entry_count; i++) {
        PackEntry entry = tlei_pack_entry(pack, i);
        if (tlei_pack_find(pack, tlei_pack_name(pack, i)) != (int64_t)i)
            abort();
        read_blob(pack, entry.meta);
        read_blob(pack, entry.cubin);
        read_blob(pack, entry.ptx);
        read_blob(pack, entry.tir);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    TleiPack pack;
    TleiError e;
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    memcpy(copy, data, size);
    if (!tlei_pack_open(&pack, copy, size, "fuzz", &e))
        read_all(&pack);
    free(copy);
    return 0;
}
