/* Global memory: allocations, registered host ranges, module variables, parameters. A table sorted
 * by base answers which region holds an address. Freed allocations stay in it (their pages are
 * given back and made inaccessible) so that later uses are named as such.
 *
 * Fresh bytes hold a pattern derived from their address. A byte that was never written by a kernel
 * and still holds the pattern is uninitialised; one that does not was written by the host. */
#include "vm.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE       4096u
#define GUARD      65536u
#define WATCH_MAX  ((uint64_t)64 << 20)
#define QUARANTINE 1024u

uint64_t memory_poison(uint64_t granule) {
    uint64_t z = granule * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- bit sets ----------------------------------------------------------------------------- */

bool bits_all_set_far(const uint64_t *bits, uint64_t at, uint32_t count) {
    while (count) {
        uint32_t shift = (uint32_t)(at & 63), n = 64 - shift < count ? 64 - shift : count;
        uint64_t want = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << shift;
        if ((bits[at >> 6] & want) != want)
            return false;
        at += n;
        count -= n;
    }
    return true;
}

void bits_change(uint64_t *bits, uint64_t at, uint64_t count, bool set) {
    while (count) {
        uint64_t shift = at & 63, n = 64 - shift < count ? 64 - shift : count;
        uint64_t which = (n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << shift;
        if (set)
            bits[at >> 6] |= which;
        else
            bits[at >> 6] &= ~which;
        at += n;
        count -= n;
    }
}

/* ---- pages ------------------------------------------------------------------------------- */

void *memory_map_pages(uint64_t size) {
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void unmap_region(Region *r) {
    if (r->map_size)
        munmap((void *)(uintptr_t)r->map_base, r->map_size);
    if (r->init)
        munmap(r->init, r->init_size);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* First index whose base is above `address`. */
static uint32_t above(const RegionTable *t, uint64_t address) {
    uint32_t low = 0, high = t->len;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->at[mid].base <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

Region *memory_find(RegionTable *t, uint64_t address, uint64_t bytes, bool write) {
    Region *second = NULL;
    for (uint32_t i = above(t, address); i-- > 0;) {
        Region *r = &t->at[i];
        uint64_t off = address - r->base;
        if (off > t->longest)
            break;
        if (off >= r->size || r->size - off < bytes)
            continue;
        if (!r->freed && !(write && r->read_only))
            return r;
        if (!second || second->freed)
            second = r;
    }
    return second;
}

Region *memory_below(RegionTable *t, uint64_t address) {
    uint32_t i = above(t, address);
    return i ? &t->at[i - 1] : NULL;
}

bool memory_add(RegionTable *t, Region r) {
    if (t->len == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 64;
        Region *at = realloc(t->at, cap * sizeof *at);
        if (!at)
            return false;
        t->at = at;
        t->cap = cap;
    }
    uint32_t i = above(t, r.base);
    memmove(&t->at[i + 1], &t->at[i], (t->len - i) * sizeof *t->at);
    r.id = ++t->next_id;
    t->at[i] = r;
    t->len++;
    if (r.size > t->longest)
        t->longest = r.size;
    return true;
}

Region *memory_at(RegionTable *t, uint64_t base, RegionKind kind) {
    for (uint32_t i = above(t, base); i-- > 0 && t->at[i].base == base;)
        if (t->at[i].kind == kind && !t->at[i].freed)
            return &t->at[i];
    return NULL;
}

void memory_remove(RegionTable *t, Region *r) {
    uint32_t i = (uint32_t)(r - t->at);
    unmap_region(r);
    memmove(&t->at[i], &t->at[i + 1], (t->len - i - 1) * sizeof *t->at);
    t->len--;
}

/* ---- allocations -------------------------------------------------------------------------- */

static void fill(uint64_t base, uint64_t bytes) {
    for (uint64_t at = base; at < base + bytes; at += 8) {
        uint64_t v = memory_poison(at >> 3);
        memcpy((void *)(uintptr_t)at, &v, sizeof v);
    }
}

bool memory_watch(Region *r) {
    if (r->init)
        return true;
    r->init_size = (r->size / 8 + 2 * PAGE) / PAGE * PAGE;
    r->init = memory_map_pages(r->init_size);
    if (r->init)
        bits_set(r->init, 0, r->size);
    return r->init != NULL;
}

/* Takes away the contents of a part: whole granules hold the fill again. */
void memory_forget(Region *r, uint64_t at, uint64_t bytes) {
    bits_clear(r->init, at - r->base, bytes);
    if (!r->poisoned)
        return;
    for (uint64_t b = at; b < at + bytes; b++) {
        uint64_t v = memory_poison(b >> 3);
        *(uint8_t *)(uintptr_t)b = (uint8_t)(v >> (8 * (b & 7)));
    }
}

tle_emu_status memory_alloc(Device *d, size_t bytes, void **out) {
    Region r = {.kind = REGION_ALLOC, .size = bytes};
    if (bytes > (uint64_t)1 << 46)
        return device_fail(d, TLE_EMU_OUT_OF_MEMORY, "allocation of %zu bytes is over 2^46", bytes);
    uint64_t body = (bytes + PAGE - 1) / PAGE * PAGE;
    r.map_size = body + GUARD;
    void *p = memory_map_pages(r.map_size);
    if (!p)
        return device_fail(d, TLE_EMU_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    r.base = r.map_base = (uint64_t)(uintptr_t)p;
    mprotect((uint8_t *)p + body, GUARD, PROT_NONE);
    if (bytes <= WATCH_MAX) {
        r.init_size = (body / 8 + PAGE - 1) / PAGE * PAGE;
        r.init = memory_map_pages(r.init_size);
        if (!r.init) {
            munmap(p, r.map_size);
            return device_fail(d, TLE_EMU_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
        }
        r.poisoned = true;
        fill(r.base, body);
    }
    if (!memory_add(&d->regions, r)) {
        unmap_region(&r);
        return device_fail(d, TLE_EMU_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
    }
    *out = p;
    return TLE_EMU_OK;
}

/* Too many freed ranges: forget the oldest. */
static void shrink_quarantine(RegionTable *t) {
    Region *oldest = NULL;
    for (uint32_t i = 0; i < t->len; i++)
        if (t->at[i].freed && (!oldest || t->at[i].id < oldest->id))
            oldest = &t->at[i];
    if (oldest) {
        memory_remove(t, oldest);
        t->freed_count--;
    }
}

tle_emu_status memory_release(Device *d, void *address) {
    Region *r = memory_at(&d->regions, (uint64_t)(uintptr_t)address, REGION_ALLOC);
    if (!r)
        return device_fail(d, TLE_EMU_NOT_FOUND, "%p is not the start of an allocation", address);
    madvise(address, r->map_size - GUARD, MADV_DONTNEED);
    mprotect(address, r->map_size - GUARD, PROT_NONE);
    r->freed = true;
    if (++d->regions.freed_count > QUARANTINE)
        shrink_quarantine(&d->regions);
    return TLE_EMU_OK;
}

void memory_clear(Device *d) {
    for (uint32_t i = 0; i < d->regions.len; i++)
        unmap_region(&d->regions.at[i]);
    free(d->regions.at);
    d->regions = (RegionTable){0};
}
