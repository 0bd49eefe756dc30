/* Global memory of a device: its regions, and sets of bits, one for each byte of a region. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include "tle/tle_emu.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Device;

typedef enum RegionKind { REGION_ALLOC, REGION_HOST, REGION_MODULE, REGION_PARAM } RegionKind;

typedef struct Region {
    uint64_t base, size;
    RegionKind kind;
    bool read_only, freed;
    uint64_t *init; /* one bit per byte; NULL: all initialised */
    bool poisoned;  /* fresh bytes hold memory_poison() */
    uint32_t id, count;
    uint64_t map_base, map_size, init_size;
    const char *name;
} Region;

typedef struct RegionTable {
    Region *at; /* sorted by base */
    uint32_t len, cap;
    uint64_t longest; /* size of the largest region: how far back a search must look */
    uint32_t next_id, freed_count;
    uint64_t version;
} RegionTable;

/* Region that holds all of [address, address + bytes), else NULL. Of several, a live one, and for
 * `write` one that may be written. */
Region *memory_find(RegionTable *t, uint64_t address, uint64_t bytes, bool write);
/* From now on bytes of the region that nobody writes count as uninitialised. */
bool memory_watch(Region *r);
/* Region nearest below, for messages; may be NULL. */
Region *memory_below(RegionTable *t, uint64_t address);
bool memory_add(RegionTable *t, Region r);
/* Exact base; `kind` must match. */
Region *memory_at(RegionTable *t, uint64_t base, RegionKind kind);
void memory_remove(RegionTable *t, Region *r);
uint64_t memory_poison(uint64_t granule);
tle_emu_status memory_alloc(struct Device *d, size_t bytes, void **out);
tle_emu_status memory_release(struct Device *d, void *address);
/* Zeroed pages that cost nothing until they are touched, for munmap; NULL without memory. */
void *memory_map_pages(uint64_t size);
void memory_clear(struct Device *d);
void memory_forget(Region *r, uint64_t at, uint64_t bytes);

/* ---- sets of bits ------------------------------------------------------------------------- */

bool bits_all_set_far(const uint64_t *bits, uint64_t at, uint32_t count);
void bits_change(uint64_t *bits, uint64_t at, uint64_t count, bool set);

static inline void bits_clear(uint64_t *bits, uint64_t at, uint64_t count) {
    bits_change(bits, at, count, false);
}

/* Of one word where they are, as those of most accesses. */
static inline bool bits_all_set(const uint64_t *bits, uint64_t at, uint32_t count) {
    uint64_t want = (((uint64_t)1 << (count & 63)) - 1) << (at & 63);
    if (count >= 64 || (at & 63) + count > 64)
        return bits_all_set_far(bits, at, count);
    return (bits[at >> 6] & want) == want;
}

static inline void bits_set(uint64_t *bits, uint64_t at, uint64_t count) {
    if (count >= 64 || (at & 63) + count > 64)
        bits_change(bits, at, count, true);
    else
        bits[at >> 6] |= (((uint64_t)1 << count) - 1) << (at & 63);
}

#endif
