/* From the addresses of a warp's lanes to host memory, judged on the way: window, bounds,
 * alignment, freed and read-only memory, uninitialised bytes, races. A lane with a fault is
 * reported and takes no part in the access. */
#include "exec.h"
#include "view.h"
#include <string.h>

void access_addresses(const Warp *w, const Insn *in, uint32_t mask, uint64_t *address) {
    uint64_t offset = (uint64_t)in->imm;
    (void)mask;
    if (in->flags & F_NO_BASE) {
        if (in->flags & F_FRAME)
            offset += w->f->frame->local_base;
        for (uint32_t i = 0; i < LANES; i++)
            address[i] = offset;
    } else if (in->flags & F_ADDR64) {
        const uint64_t *a = plane64(w, in->a);
        for (uint32_t i = 0; i < LANES; i++)
            address[i] = a[i] + offset;
    } else {
        const uint32_t *a = plane32(w, in->a);
        for (uint32_t i = 0; i < LANES; i++)
            address[i] = (uint32_t)(a[i] + (uint32_t)offset);
    }
}

static const char *verb(AccessKind kind) {
    return kind == ACCESS_READ ? "read" : kind == ACCESS_WRITE ? "write" : "atomic access";
}

/* ---- ahead of its turn ------------------------------------------------------------------- */

const uint8_t *access_host(const Launch *l, uint64_t address) {
    return l->view ? view_peek(l->view, address) : (const uint8_t *)(uintptr_t)address;
}

uint64_t *access_init(Launch *l, const Region *r, uint64_t offset, uint32_t bytes) {
    uint64_t *init = l->view ? view_init(l->view, r, offset, bytes) : r->init;
    if (!init)
        longjmp(l->escape, 1);
    return init;
}

/* Memory through which clusters may talk to each other is used in the cluster's turn alone. */
static uint8_t *use_view(Warp *w, const Insn *in, uint64_t address, uint32_t bytes, AccessKind kind,
                         bool stays) {
    uint8_t *at = NULL;
    if (kind != ACCESS_ATOMIC && !(in->flags & F_STRONG))
        at = view_use(w->launch->view, address, bytes, kind, stays);
    if (!at)
        w->launch->stop = w->stop = true;
    return at;
}

/* The whole warp at once where its lanes lie side by side; false where they do not. */
static bool use_row(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address, uint32_t bytes,
                    AccessKind kind, uint8_t **host) {
    if (mask != ALL_LANES)
        return false;
    for (uint32_t i = 1; i < LANES; i++)
        if (address[i] != address[0] + (uint64_t)i * bytes)
            return false;
    uint8_t *at = use_view(w, in, address[0], LANES * bytes, kind, in->fn != x_ld);
    for (uint32_t i = 0; at && i < LANES; i++)
        host[i] = at + (size_t)i * bytes;
    return at != NULL;
}

/* Without checks: what no view holds is left to the cluster's turn. */
static uint32_t all_in_view(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address,
                            uint32_t bytes, AccessKind kind, uint8_t **host) {
    if (use_row(w, in, mask, address, bytes, kind, host))
        return mask;
    for (uint32_t i = 0; i < LANES && !w->launch->stop; i++)
        if (mask >> i & 1)
            host[i] = use_view(w, in, address[i], bytes, kind, in->fn != x_ld);
    return w->launch->stop ? 0 : mask;
}

/* ---- initialised bytes -------------------------------------------------------------------- */

/* Bytes of [off, off + n) in the region that a kernel never wrote and that still hold the fill. */
static bool still_poison(const Launch *l, const Region *r, uint64_t *init, uint64_t off,
                         uint32_t n) {
    uint64_t first = off & ~(uint64_t)7, last = (off + n + 7) & ~(uint64_t)7;
    if (!r->poisoned)
        return true;
    for (uint64_t at = first; at < last; at += 8) {
        uint64_t want = memory_poison((r->base + at) >> 3), got;
        memcpy(&got, access_host(l, r->base + at), sizeof got);
        uint64_t differs = want ^ got;
        for (uint32_t b = 0; b < 8; b++)
            if ((differs >> (8 * b) & 0xff) && !(init[(at + b) >> 6] >> ((at + b) & 63) & 1)) {
                /* the host wrote in this granule */
                bits_set(init, first, last - first);
                return false;
            }
    }
    return true;
}

static void check_init_global(Warp *w, const Insn *in, uint32_t lane, Region *r, uint64_t address,
                              uint32_t bytes, AccessKind kind) {
    uint64_t off = address - r->base;
    uint64_t *init = access_init(w->launch, r, off, bytes);
    if (!(kind & ACCESS_READ) || bits_all_set(init, off, bytes) ||
        !still_poison(w->launch, r, init, off, bytes)) {
        if (kind & ACCESS_WRITE)
            bits_set(init, off, bytes);
        return;
    }
    report_add(w, in, lane, TLE_EMU_REPORT_UNINIT, address, bytes,
               "%s of %u bytes at byte %llu of an allocation of %llu bytes that nothing wrote",
               verb(kind), bytes, (unsigned long long)off, (unsigned long long)r->size);
    bits_set(init, off, bytes);
}

/* ---- global ------------------------------------------------------------------------------- */

static void report_global(Warp *w, const Insn *in, uint32_t lane, Region *r, uint64_t address,
                          uint32_t bytes, AccessKind kind) {
    Region *near = memory_below(&w->launch->device->regions, address);
    if (r && r->freed)
        report_add(w, in, lane, TLE_EMU_REPORT_FREED, address, bytes,
                   "%s of %u bytes at byte %llu of a freed allocation of %llu bytes", verb(kind),
                   bytes, (unsigned long long)(address - r->base), (unsigned long long)r->size);
    else if (r)
        report_add(w, in, lane, TLE_EMU_REPORT_READ_ONLY, address, bytes,
                   "%s of %u bytes in read-only memory", verb(kind), bytes);
    else if (near && address - near->base < near->size + ((uint64_t)1 << 32))
        report_add(w, in, lane, TLE_EMU_REPORT_BOUNDS, address, bytes,
                   "%s of %u bytes at byte %llu of %s%s of %llu bytes", verb(kind), bytes,
                   (unsigned long long)(address - near->base),
                   near->kind == REGION_ALLOC   ? "an allocation"
                   : near->kind == REGION_HOST  ? "a registered range"
                   : near->kind == REGION_PARAM ? "the kernel's parameters"
                                                : "variable ",
                   near->kind == REGION_MODULE && near->name ? near->name : "",
                   (unsigned long long)near->size);
    else
        report_add(w, in, lane, TLE_EMU_REPORT_BOUNDS, address, bytes,
                   "%s of %u bytes at an address that is not global memory", verb(kind), bytes);
}

static bool allows(const Region *r, AccessKind kind) {
    return r && !r->freed && !(r->read_only && (kind & ACCESS_WRITE));
}

/* The kernel in front of a dependent launch may still be running. */
static void check_waited(Warp *w, const Insn *in, uint32_t lane, const Region *r, uint64_t address,
                         uint32_t bytes, AccessKind kind) {
    if (r->kind != REGION_PARAM && in->space != SPACE_CONST)
        report_add(w, in, lane, TLE_EMU_REPORT_DEPENDENT, address, bytes,
                   "%s of %u bytes of a dependent launch before the thread's griddepcontrol.wait",
                   verb(kind), bytes);
}

static uint8_t *resolve_global(Warp *w, const Insn *in, uint32_t lane, uint64_t address,
                               uint32_t bytes, AccessKind kind, bool stays) {
    Launch *l = w->launch;
    Region *r = l->last_region;
    if (!r || address - r->base >= r->size || r->size - (address - r->base) < bytes ||
        !allows(r, kind)) {
        r = memory_find(&l->device->regions, address, bytes, (kind & ACCESS_WRITE) != 0);
        if (!allows(r, kind)) {
            report_global(w, in, lane, r, address, bytes, kind);
            return NULL;
        }
        l->last_region = r;
    }
    if (l->dependent && !(w->grid_waited >> lane & 1))
        check_waited(w, in, lane, r, address, bytes, kind);
    if (r->init && (l->checks & TLE_EMU_CHECK_UNINIT))
        check_init_global(w, in, lane, r, address, bytes, kind);
    if (l->global_race && !r->read_only)
        race_global_access(w, in, lane, address, bytes, kind);
    return l->view ? use_view(w, in, address, bytes, kind, stays) : (uint8_t *)(uintptr_t)address;
}

uint8_t *access_global(Warp *w, const Insn *in, uint32_t lane, uint64_t address, uint32_t bytes,
                       AccessKind kind) {
    return resolve_global(w, in, lane, address, bytes, kind, true);
}

static uint32_t all_global(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address,
                           uint32_t bytes, AccessKind kind, uint8_t **host) {
    if (!(w->launch->checks & TLE_EMU_CHECK_BOUNDS)) {
        if (w->launch->view)
            return all_in_view(w, in, mask, address, bytes, kind, host);
        for (uint32_t i = 0; i < LANES; i++)
            host[i] = (uint8_t *)(uintptr_t)address[i];
        return mask;
    }
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        host[i] = resolve_global(w, in, i, address[i], bytes, kind, in->fn != x_ld);
        if (!host[i])
            mask &= ~(1u << i);
    }
    return mask;
}

/* ---- shared ------------------------------------------------------------------------------- */

/* The CTA that a shared address lies in; NULL for a rank that the cluster lacks. */
static Cta *owner_of(Warp *w, uint32_t address) {
    uint32_t rank = address >> CLUSTER_SHIFT;
    if (rank == 0)
        return w->cta;
    return rank - 1 < w->cta->cluster->count ? w->cta->cluster->ctas[rank - 1] : NULL;
}

Cta *access_shared(Warp *w, uint64_t address, uint32_t bytes, uint32_t *offset) {
    uint64_t a = (address & WINDOW_MASK) == SHARED_WINDOW ? address & ~WINDOW_MASK : address;
    Cta *owner = a >> 32 ? NULL : owner_of(w, (uint32_t)a);
    *offset = ((uint32_t)a & ((1u << CLUSTER_SHIFT) - 1)) - SHARED_BASE;
    if (*offset >= w->launch->shared_bytes || w->launch->shared_bytes - *offset < bytes)
        return NULL;
    return owner;
}

static void check_init_shared(Warp *w, const Insn *in, uint32_t lane, Cta *owner, uint32_t off,
                              uint32_t bytes, AccessKind kind) {
    if ((kind & ACCESS_READ) && !bits_all_set(owner->shared_init, off, bytes))
        report_add(w, in, lane, TLE_EMU_REPORT_UNINIT, off + SHARED_BASE, bytes,
                   "%s of %u bytes at byte %u of shared memory that nothing wrote", verb(kind),
                   bytes, off);
    bits_set(owner->shared_init, off, bytes);
}

static uint8_t *resolve_shared(Warp *w, const Insn *in, uint32_t lane, uint64_t address,
                               uint32_t bytes, AccessKind kind) {
    Launch *l = w->launch;
    Cta *owner = address >> 32 ? NULL : owner_of(w, (uint32_t)address);
    uint32_t off = ((uint32_t)address & ((1u << CLUSTER_SHIFT) - 1)) - SHARED_BASE;
    if (owner && owner != w->cta && in->space == SPACE_SHARED && !(in->flags & F_CLUSTER))
        owner = NULL; /* shared::cta reaches no peer */
    if (!owner || off >= l->shared_bytes || l->shared_bytes - off < bytes) {
        report_add(w, in, lane, TLE_EMU_REPORT_BOUNDS, address, bytes,
                   "%s of %u bytes at byte %lld of %u bytes of shared memory%s", verb(kind), bytes,
                   (long long)(int32_t)off, l->shared_bytes,
                   owner ? "" : " (of a CTA that this access cannot reach)");
        return NULL;
    }
    if (owner != w->cta && !cluster_use_peer(w, in, lane, owner, address, bytes))
        return NULL;
    if (l->checks & TLE_EMU_CHECK_UNINIT)
        check_init_shared(w, in, lane, owner, off, bytes, kind);
    if (l->checks & TLE_EMU_CHECK_RACE)
        race_access(w, in, lane, owner, off, bytes, kind);
    return owner->shared + off;
}

/* ---- local -------------------------------------------------------------------------------- */

static uint8_t *resolve_local(Warp *w, const Insn *in, uint32_t lane, uint64_t address,
                              uint32_t bytes, AccessKind kind) {
    Launch *l = w->launch;
    if (address >= l->local_bytes || l->local_bytes - address < bytes) {
        report_add(w, in, lane, TLE_EMU_REPORT_BOUNDS, address, bytes,
                   "%s of %u bytes at byte %lld of %u bytes of local memory", verb(kind), bytes,
                   (long long)address, l->local_bytes);
        return NULL;
    }
    uint64_t at = (uint64_t)lane * l->local_bytes + address;
    if (l->checks & TLE_EMU_CHECK_UNINIT) {
        if ((kind & ACCESS_READ) && !bits_all_set(w->local_init, at, bytes))
            report_add(w, in, lane, TLE_EMU_REPORT_UNINIT, address, bytes,
                       "%s of %u bytes at byte %llu of local memory that nothing wrote", verb(kind),
                       bytes, (unsigned long long)address);
        bits_set(w->local_init, at, bytes);
    }
    return w->local + at;
}

/* ---- all spaces --------------------------------------------------------------------------- */

static uint32_t check_alignment(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address,
                                uint32_t bytes, AccessKind kind) {
    uint64_t low = bytes - 1;
    if (bytes & (bytes - 1))
        return mask;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1) || !(address[i] & low))
            continue;
        report_add(w, in, i, TLE_EMU_REPORT_ALIGN, address[i], bytes,
                   "%s of %u bytes at an address that is not a multiple of it", verb(kind), bytes);
        mask &= ~(1u << i);
    }
    return mask;
}

static uint32_t each_lane(Warp *w, const Insn *in, PtxSpace space, uint32_t mask,
                          const uint64_t *address, uint32_t bytes, AccessKind kind,
                          uint8_t **host) {
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t a = address[i];
        PtxSpace s = space;
        if (!(mask >> i & 1))
            continue;
        if (space == SPACE_GENERIC) {
            s = (a & WINDOW_MASK) == SHARED_WINDOW  ? SPACE_SHARED
                : (a & WINDOW_MASK) == LOCAL_WINDOW ? SPACE_LOCAL
                                                    : SPACE_GLOBAL;
            a &= s == SPACE_GLOBAL ? ~(uint64_t)0 : ~WINDOW_MASK;
        }
        if (s == SPACE_SHARED)
            host[i] = resolve_shared(w, in, i, a, bytes, kind);
        else if (s == SPACE_LOCAL)
            host[i] = resolve_local(w, in, i, a, bytes, kind);
        else
            host[i] = all_global(w, in, 1u << i, address, bytes, kind, host) ? host[i] : NULL;
        if (!host[i])
            mask &= ~(1u << i);
    }
    return mask;
}

/* Shared memory without checks: bounds for the whole warp in one pass. */
static bool plain_shared(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address,
                         uint32_t bytes, uint8_t **host) {
    Launch *l = w->launch;
    uint32_t bad = 0;
    if ((l->checks & (TLE_EMU_CHECK_UNINIT | TLE_EMU_CHECK_RACE)) || l->shared_bytes < bytes ||
        (in->flags & F_CLUSTER))
        return false;
    uint64_t last = l->shared_bytes - bytes;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t off = address[i] - SHARED_BASE;
        bad |= (uint32_t)(off > last) << i;
        host[i] = off > last ? NULL : w->cta->shared + off;
    }
    return (bad & mask) == 0;
}

static PtxSpace common_space(const Insn *in, uint32_t mask, const uint64_t *address) {
    uint64_t any = 0;
    if (in->space != SPACE_GENERIC)
        return in->space == SPACE_CONST || in->space == SPACE_PARAM ? SPACE_GLOBAL
                                                                    : (PtxSpace)in->space;
    for (uint32_t i = 0; i < LANES; i++)
        if (mask >> i & 1)
            any |= address[i];
    return any & (SHARED_WINDOW | LOCAL_WINDOW) ? SPACE_GENERIC : SPACE_GLOBAL;
}

uint32_t access_resolve(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address,
                        uint32_t bytes, AccessKind kind, uint8_t **host) {
    PtxSpace space = common_space(in, mask, address);
    if (w->launch->checks & TLE_EMU_CHECK_ALIGN)
        mask = check_alignment(w, in, mask, address, bytes, kind);
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_begin(w);
    if (w->launch->cost)
        cost_access(w, in, mask, address, bytes, kind, space);
    if (space == SPACE_GLOBAL)
        return all_global(w, in, mask, address, bytes, kind, host);
    if (space == SPACE_SHARED && plain_shared(w, in, mask, address, bytes, host))
        return mask;
    return each_lane(w, in, space, mask, address, bytes, kind, host);
}
