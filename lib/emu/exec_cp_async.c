/* cp.async: 4, 8 or 16 bytes a lane from global to shared memory, in groups or towards mbarriers.
 * These copies belong to the generic proxy. */
#include "async.h"
#include <string.h>

static void copy(AsyncOp *op) {
    for (uint32_t i = 0; i < LANES; i++) {
        if (!op->to[i])
            continue;
        memset(op->to[i], 0, op->size);
        if (op->from[i])
            memcpy(op->to[i], op->from[i], op->bytes[i]);
        async_end_write(op, op->to[i], op->size);
    }
}

static uint32_t lane_bytes(const Warp *w, const Insn *in, uint32_t lane) {
    if (in->flags & F_COMBINE)
        return (*pred_of(w, in->e) >> lane & 1) != (bool)(in->flags & F_NEGATED) ? 0 : in->size;
    if (in->flags & F_HAS_COUNT && plane32(w, in->c)[lane] < in->size)
        return plane32(w, in->c)[lane];
    return in->size;
}

static const uint8_t *source(Warp *w, const Insn *in, uint32_t lane, uint32_t bytes) {
    uint64_t from = bulk_address(w, in->bulk->from, lane);
    if (from % in->size && (w->launch->checks & TLE_EMU_CHECK_ALIGN)) {
        report_add(w, in, lane, TLE_EMU_REPORT_ALIGN, from, in->size,
                   "source is not a multiple of %u", in->size);
        return NULL;
    }
    return bytes ? access_global(w, in, lane, from, bytes, ACCESS_READ) : NULL;
}

static void count(Warp *w, const Insn *in, uint32_t mask, const uint64_t *to) {
    uint64_t from[LANES];
    if (!w->launch->cost)
        return;
    for (uint32_t i = 0; i < LANES; i++)
        from[i] = bulk_address(w, in->bulk->from, i);
    cost_access(w, in, mask, from, in->size, ACCESS_READ, SPACE_GLOBAL);
    cost_access(w, in, mask, to, in->size, ACCESS_WRITE, SPACE_SHARED);
    w->launch->cost->cp_async_bytes += (uint64_t)popcount32(mask) * in->size;
}

void x_cp_async(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t to[LANES];
    AsyncOp *op = async_issue(w, in, mask, copy);
    Cta *owner;
    uint32_t offset;
    async_join_group(op, GROUP_COPY);
    op->size = in->size;
    op->to_cta = w->cta;
    access_addresses(w, in, mask, to);
    if (w->launch->checks & TLE_EMU_CHECK_RACE)
        race_begin(w);
    count(w, in, mask, to);
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        op->bytes[i] = lane_bytes(w, in, i);
        op->from[i] = source(w, in, i, op->bytes[i]);
        if (to[i] % in->size && (w->launch->checks & TLE_EMU_CHECK_ALIGN)) {
            report_add(w, in, i, TLE_EMU_REPORT_ALIGN, to[i], in->size,
                       "destination is not a multiple of %u", in->size);
            continue;
        }
        op->to[i] = async_shared(w, in, i, to[i], in->size, ACCESS_WRITE, op, &owner, &offset);
        if (op->to[i])
            async_begin_write(op, op->to[i], in->size);
    }
}

/* One arrival a lane on its barrier, once the lane's copies so far are complete. Without .noinc it
 * is made up for beforehand. */
void x_cp_async_arrive(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t address[LANES];
    uint8_t *host[LANES];
    uint32_t offset, channel = async_group_channel(w, GROUP_COPY);
    access_addresses(w, in, mask, address);
    for (uint32_t left = mask; left;) {
        uint32_t lead = first_lane(left), same = 0;
        for (uint32_t i = 0; i < LANES; i++)
            same |= (uint32_t)((left >> i & 1) && address[i] == address[lead]) << i;
        left &= ~same;
        Cta *c = access_shared(w, address[lead], 8, &offset);
        Mbarrier *m = c ? mbarrier_at(c, offset) : NULL;
        if (!m) {
            report_add(w, in, lead, TLE_EMU_REPORT_MBARRIER, address[lead], 8,
                       "no mbarrier has been initialised here");
            continue;
        }
        if (!access_resolve(w, in, same, address, 8, ACCESS_ATOMIC, host))
            continue;
        AsyncOp *op = async_issue(w, in, same, NULL);
        op->barrier_cta = c;
        op->barrier_at = offset;
        op->arrivals = popcount32(same);
        op->channel = channel;
        if (w->cta->cluster->race)
            op->epoch = race_channel_epoch(w->cta->cluster->race, channel) - 1;
        if (in->sub2 != MOD_NOINC)
            mbarrier_expect_more(m, op->arrivals);
    }
}
