/* Bulk copies of bytes by the async proxy: global <-> shared memory, shared memory to a peer's,
 * with reductions; st.async and red.async. Each active lane issues one operation of its own. */
#include "async.h"
#include <string.h>

uint64_t bulk_address(const Warp *w, BulkAddress a, uint32_t lane) {
    if (a.wide)
        return plane64(w, a.code)[lane] + (uint64_t)a.offset;
    return (uint32_t)(plane32(w, a.code)[lane] + (uint32_t)a.offset);
}

/* ---- running ------------------------------------------------------------------------------ */

static void combine(AsyncOp *op) {
    const Insn *in = op->in;
    for (uint32_t at = 0; at < op->bytes[0]; at += in->size) {
        uint64_t old = 0, b = 0;
        memcpy(&old, op->to[0] + at, in->size);
        memcpy(&b, op->from[0] + at, in->size);
        old = in->bulk->to_global ? atomic_global_result(in, old, b, 0)
                                  : atomic_result(in, old, b, 0);
        memcpy(op->to[0] + at, &old, in->size);
    }
    async_end_write(op, op->to[0], op->bytes[0]);
}

static void copy(AsyncOp *op) {
    memmove(op->to[0], op->from[0], op->bytes[0]);
    async_end_write(op, op->to[0], op->bytes[0]);
}

static void store(AsyncOp *op) {
    op->from[0] = (const uint8_t *)op->value;
    if (op->in->bulk->reduce)
        combine(op);
    else
        copy(op);
}

void bulk_cost(const AsyncOp *op, uint32_t bytes) {
    Cost *c = op->w->launch->cost;
    const BulkArgs *b = op->in->bulk;
    if (!c)
        return;
    c->bulk_bytes += bytes;
    if (c->sites)
        cost_site(op->w, op->in)->bulk += bytes;
    c->dsmem_bytes += b->to_global || op->to_cta == op->w->cta ? 0 : bytes;
    if (b->from_global)
        c->global_load_sectors += (bytes + 31) / 32;
    if (b->to_global)
        c->global_store_sectors += (bytes + 31) / 32;
}

/* ---- issue -------------------------------------------------------------------------------- */

/* The barrier of a copy; it must be initialised. False if it is not. */
bool bulk_barrier(Warp *w, const Insn *in, uint32_t lane, uint64_t address, AsyncOp *op,
                  uint32_t bytes) {
    Insn as_memory = *in;
    uint64_t addresses[LANES] = {0};
    uint8_t *host[LANES];
    uint32_t offset;
    Cta *c = access_shared(w, address, 8, &offset);
    if (!c || !mbarrier_at(c, offset)) {
        report_add(w, in, lane, TLE_EMU_REPORT_MBARRIER, address, 8,
                   "no mbarrier has been initialised where the copy is to complete");
        return false;
    }
    as_memory.space = SPACE_SHARED;
    as_memory.flags |= F_STRONG | F_CLUSTER;
    addresses[lane] = address;
    if (!access_resolve(w, &as_memory, 1u << lane, addresses, 8, ACCESS_ATOMIC, host))
        return false;
    op->barrier_cta = c;
    op->barrier_at = offset;
    op->tx_bytes = bytes;
    return true;
}

static bool is_aligned(Warp *w, const Insn *in, uint32_t lane, uint64_t to, uint64_t from,
                       uint32_t bytes) {
    if (bytes % 16) {
        report_add(w, in, lane, TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                   "size of %u bytes is not a multiple of 16", bytes);
        return false;
    }
    if (!(w->launch->checks & TLE_EMU_CHECK_ALIGN) || !((to | from) & 15))
        return true;
    report_add(w, in, lane, TLE_EMU_REPORT_ALIGN, to & 15 ? to : from, bytes,
               "%s of a bulk copy is not a multiple of 16", to & 15 ? "destination" : "source");
    return false;
}

/* From and to; without one of them the operation only signals. */
static void bind(Warp *w, const Insn *in, uint32_t lane, AsyncOp *op, uint64_t to, uint64_t from,
                 uint32_t bytes) {
    const BulkArgs *b = in->bulk;
    Cta *owner;
    uint32_t offset;
    AccessKind kind = b->reduce ? ACCESS_ATOMIC : ACCESS_WRITE;
    if (!is_aligned(w, in, lane, to, from, bytes))
        return;
    op->from[0] = b->from_global
                      ? access_global(w, in, lane, from, bytes, ACCESS_READ)
                      : async_shared(w, in, lane, from, bytes, ACCESS_READ, op, &owner, &offset);
    op->to[0] = b->to_global ? access_global(w, in, lane, to, bytes, kind)
                             : async_shared(w, in, lane, to, bytes, kind, op, &op->to_cta, &offset);
    op->bytes[0] = bytes;
    if (!op->from[0] || !op->to[0])
        return;
    op->run = b->reduce ? combine : copy;
    bulk_cost(op, bytes);
    if (!b->reduce)
        async_begin_write(op, op->to[0], bytes);
}

/* Without clusters an H200 stops at copies and stores from shared to shared::cluster memory. */
static bool has_cluster(Warp *w, const Insn *in, uint32_t lane) {
    if (!w->launch->in_clusters)
        report_add(w, in, lane, TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
                   "a write to shared::cluster memory in a launch without clusters");
    return w->launch->in_clusters;
}

static void issue(Warp *w, const Insn *in, uint32_t lane, uint64_t to, uint64_t from,
                  uint64_t barrier) {
    uint32_t bytes = plane32(w, in->bulk->size)[lane], offset;
    AsyncOp *op = async_issue(w, in, 1u << lane, NULL);
    if (in->bulk->to_global) {
        async_join_group(op, GROUP_BULK);
    } else {
        Cta *c = access_shared(w, barrier, 8, &offset);
        if (c)
            async_use_channel(op, mbarrier_channel(w, c, offset));
        if (!bulk_barrier(w, in, lane, barrier, op, bytes))
            return;
    }
    bind(w, in, lane, op, to, from, bytes);
    if (op->to_cta && op->to_cta != op->barrier_cta)
        report_add(w, in, lane, TLE_EMU_REPORT_BAD_OPERAND, to, bytes,
                   "destination in CTA %u of the cluster and mbarrier in CTA %u", op->to_cta->rank,
                   op->barrier_cta->rank);
}

/* The same place in another CTA. */
uint64_t bulk_in_cta(uint64_t address, uint32_t rank) {
    return (address & ((1u << CLUSTER_SHIFT) - 1)) | (uint64_t)(rank + 1) << CLUSTER_SHIFT;
}

uint32_t bulk_destinations(Warp *w, const Insn *in, uint32_t lane) {
    uint32_t mask = plane32(w, in->bulk->cta_mask)[lane] & 0xffff;
    if (mask && mask >> w->cta->cluster->count == 0)
        return mask;
    report_add(w, in, lane, TLE_EMU_REPORT_BAD_OPERAND, 0, 0,
               "CTA mask 0x%x in a cluster of %u CTAs", mask, w->cta->cluster->count);
    return mask & ((1u << w->cta->cluster->count) - 1);
}

static void issue_all(Warp *w, const Insn *in, uint32_t lane) {
    const BulkArgs *b = in->bulk;
    uint64_t to = bulk_address(w, b->to, lane), from = bulk_address(w, b->from, lane);
    uint64_t barrier = b->has_barrier ? bulk_address(w, b->barrier, lane) : 0;
    uint32_t ctas = b->multicast ? bulk_destinations(w, in, lane) : 0;
    if (!b->to_global && !b->from_global && !has_cluster(w, in, lane))
        return;
    if (!b->multicast)
        issue(w, in, lane, to, from, barrier);
    for (uint32_t r = 0; ctas >> r; r++)
        if (ctas >> r & 1)
            issue(w, in, lane, bulk_in_cta(to, r), from, bulk_in_cta(barrier, r));
}

void x_bulk(Warp *w, const Insn *in, uint32_t mask) {
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_begin(w);
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        if (in->bulk->rank)
            tensor_issue(w, in, i);
        else if (!in->bulk->prefetch)
            issue_all(w, in, i);
    }
}

/* ---- st.async, red.async ------------------------------------------------------------------ */

static void take_value(const Warp *w, const Insn *in, uint32_t lane, AsyncOp *op) {
    uint8_t *at = (uint8_t *)op->value;
    for (uint32_t k = 0; k < in->ext_count; k++)
        if (in->size == 8)
            memcpy(at + 8 * k, &plane64(w, in->ext[k])[lane], 8);
        else
            memcpy(at + 4 * k, &plane32(w, in->ext[k])[lane], 4);
}

void x_st_async(Warp *w, const Insn *in, uint32_t mask) {
    uint32_t bytes = (uint32_t)in->size * in->vec, offset;
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_begin(w);
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        if (!has_cluster(w, in, i))
            continue;
        uint64_t to = bulk_address(w, in->bulk->to, i);
        uint64_t barrier = bulk_address(w, in->bulk->barrier, i);
        AsyncOp *op = async_issue(w, in, 1u << i, NULL);
        Cta *c = access_shared(w, barrier, 8, &offset);
        if (c)
            async_use_channel(op, mbarrier_channel(w, c, offset));
        if (!bulk_barrier(w, in, i, barrier, op, bytes))
            continue;
        take_value(w, in, i, op);
        if (to % bytes && (w->launch->checks & TLE_EMU_CHECK_ALIGN)) {
            report_add(w, in, i, TLE_EMU_REPORT_ALIGN, to, bytes,
                       "destination is not a multiple of %u", bytes);
            continue;
        }
        op->bytes[0] = bytes;
        op->to[0] =
            async_shared(w, in, i, to, bytes, in->bulk->reduce ? ACCESS_ATOMIC : ACCESS_WRITE, op,
                         &op->to_cta, &offset);
        if (!op->to[0])
            continue;
        op->run = store;
        bulk_cost(op, bytes);
        if (!in->bulk->reduce)
            async_begin_write(op, op->to[0], bytes);
        /* The completion has release semantics: who acquires it knows what the thread did before.
         */
        op->releases = w->cta->cluster->race != NULL;
        if (op->releases)
            race_remember(w, &op->released);
    }
    race_warp_sync(w);
}
