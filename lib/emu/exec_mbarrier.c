/* mbarriers. Their state is kept beside shared memory, whose 8 bytes hold a word derived from it:
 * if the word has changed, something overwrote the barrier.
 *
 * A phase is complete when no arrivals and no bytes are pending. Waiting for a phase means: the
 * current phase is another one. */
#include "async.h"
#include <string.h>

#define MAX_COUNT ((1u << 20) - 1)

static uint64_t barrier_key(const Cta *c, uint32_t offset) {
    return (uint64_t)c->rank << 32 | offset;
}

Mbarrier *mbarrier_at(const Cta *cta, uint32_t offset) {
    Async *a = cta->cluster->async;
    uint32_t id = map_find(&a->barrier_ids, barrier_key(cta, offset), 0);
    return id && a->barriers.data[id - 1]->live ? a->barriers.data[id - 1] : NULL;
}

uint32_t mbarrier_channel(Warp *w, const Cta *cta, uint32_t offset) {
    Race *r = w->cta->cluster->race;
    return r ? race_channel(r, (uint64_t)2 << 60 | barrier_key(cta, offset)) : 0;
}

/* ---- the word ----------------------------------------------------------------------------- */

/* Also the state that arrivals return: phase, and what was pending. */
static uint64_t word_of(const Mbarrier *m) {
    return (uint64_t)(m->phase & 1) << 63 | (uint64_t)((uint32_t)m->tx & 0x3fffff) << 40 |
           (uint64_t)(m->pending & MAX_COUNT) << 20 | (m->expected & MAX_COUNT);
}

static void write_word(Mbarrier *m) {
    m->word = word_of(m);
    memcpy(m->cta->shared + m->offset, &m->word, sizeof m->word);
}

static bool is_intact(const Mbarrier *m) {
    return memcmp(m->cta->shared + m->offset, &m->word, sizeof m->word) == 0;
}

#define MISUSE(...) report_add(w, in, lane, TLE_EMU_REPORT_MBARRIER, address, 8, __VA_ARGS__)

static void check_intact(Warp *w, const Insn *in, uint32_t lane, uint64_t address, Mbarrier *m) {
    if (is_intact(m))
        return;
    MISUSE("something has overwritten the mbarrier");
    write_word(m);
}

/* ---- phases ------------------------------------------------------------------------------- */

static bool phase_is_over(const Warp *w, const Insn *in, const Mbarrier *m, uint32_t lane) {
    if (in->sub2 == MOD_PARITY)
        return (m->phase & 1) != (plane32(w, in->b)[lane] & 1);
    return (m->phase & 1) != plane64(w, in->b)[lane] >> 63;
}

static void acquire(Warp *w, const Insn *in, const Mbarrier *m) {
    if (in->sem != SEM_RELAXED && w->cta->cluster->race)
        race_barrier_leave(w, m->done);
}

/* The lanes whose phases are over by now; the current fragment is the waiting one. */
static uint32_t lanes_over(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t address[LANES];
    uint32_t over = 0, offset;
    access_addresses(w, in, mask, address);
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        Cta *c = access_shared(w, address[i], 8, &offset);
        Mbarrier *m = c ? mbarrier_at(c, offset) : NULL;
        if (!m || !phase_is_over(w, in, m, i))
            continue;
        acquire(w, in, m);
        over |= 1u << i;
    }
    return over;
}

/* Looks again at what a fragment waits for; goes on with false if `give_up`. */
static void retry(Warp *w, Fragment *f, bool give_up) {
    Fragment *running = w->f;
    uint32_t over;
    warp_select(w, f);
    over = lanes_over(w, f->wait_insn, f->wait_exec);
    if (over || give_up) {
        set_pred(w, f->wait_insn->d, over, f->wait_exec);
        f->state = FRAG_RUN;
    }
    if (running)
        warp_select(w, running);
    else
        w->f = NULL;
}

static bool retry_all(Cluster *c, bool give_up) {
    bool any = false;
    for (uint32_t r = 0; r < c->count; r++)
        for (uint32_t k = 0; k < c->ctas[r]->warp_count; k++)
            for (uint32_t i = 0; i < LANES; i++)
                if (c->ctas[r]->warps[k].frags[i].state == FRAG_MBARRIER) {
                    retry(&c->ctas[r]->warps[k], &c->ctas[r]->warps[k].frags[i], give_up);
                    any = true;
                }
    return any;
}

bool mbarrier_give_up(Cluster *c) {
    return retry_all(c, true);
}

static void update(Mbarrier *m) {
    Race *r = m->cta->cluster->race;
    bool over = m->pending == 0 && m->tx == 0;
    if (over) {
        m->phase++;
        m->pending = m->expected;
        if (r) {
            race_join(r, m->done, m->gathered);
            memset(m->gathered, 0, race_clock_bytes(r));
        }
    }
    write_word(m);
    m->cta->cluster->async->events++;
    note_change(m->cta->warps[0].launch);
    if (over)
        retry_all(m->cta->cluster, false);
}

/* ---- operations --------------------------------------------------------------------------- */

static Mbarrier *new_barrier(Warp *w, Cta *c, uint32_t offset) {
    Async *a = c->cluster->async;
    Race *r = c->cluster->race;
    uint32_t id = map_find(&a->barrier_ids, barrier_key(c, offset), 0);
    Mbarrier *m;
    if (id) {
        m = a->barriers.data[id - 1];
    } else {
        m = arena_new_of(w->launch->arena, Mbarrier);
        vec_push(w->launch->arena, &a->barriers, m);
        map_put(&a->barrier_ids, barrier_key(c, offset), a->barriers.len);
        m->gathered = r ? race_new_clock(r) : NULL;
        m->done = r ? race_new_clock(r) : NULL;
    }
    m->cta = c;
    m->offset = offset;
    m->live = true;
    return m;
}

static void init(Warp *w, const Insn *in, uint32_t lane, uint64_t address) {
    uint32_t offset;
    Cta *c = access_shared(w, address, 8, &offset);
    Mbarrier *m = mbarrier_at(c, offset);
    uint32_t count = plane32(w, in->b)[lane];
    if (count == 0 || count > MAX_COUNT)
        MISUSE("count %u is not from 1 to %u", count, MAX_COUNT);
    if (m)
        MISUSE("initialised again without mbarrier.inval");
    m = new_barrier(w, c, offset);
    m->expected = m->pending = count;
    m->tx = 0;
    m->phase = 0;
    write_word(m);
}

static void change_tx(Warp *w, const Insn *in, uint32_t lane, uint64_t address, Mbarrier *m,
                      int64_t by) {
    int64_t tx = m->tx + by;
    if (tx > (int64_t)MAX_COUNT || tx < -(int64_t)MAX_COUNT)
        MISUSE("transaction count %lld is not within %u", (long long)tx, MAX_COUNT);
    m->tx = (int32_t)tx;
    m->last = in;
}

static void publish(Warp *w, const Insn *in, Mbarrier *m) {
    if (!w->cta->cluster->race)
        return;
    if (in->sem == SEM_RELAXED)
        race_relaxed_arrive(w, &m->gathered);
    else
        race_barrier_arrive(w, &m->gathered);
}

static void arrive(Warp *w, const Insn *in, uint32_t lane, uint64_t address, Mbarrier *m) {
    uint32_t count = 1;
    uint64_t state = word_of(m);
    bool has_count = (in->flags & F_HAS_COUNT) && in->sub2 != MOD_EXPECT_TX;
    if (has_count)
        count = plane32(w, in->b)[lane];
    if (in->sub2 == MOD_EXPECT_TX)
        change_tx(w, in, lane, address, m, plane32(w, in->b)[lane]);
    if (count == 0 || count > m->pending)
        MISUSE("%u arrivals where %u of %u are pending", count, m->pending, m->expected);
    if (in->sub2 == MOD_NOCOMPLETE && count >= m->pending)
        MISUSE("arrive.noComplete would complete the phase");
    count = count < m->pending ? count : m->pending;
    publish(w, in, m);
    m->pending -= count;
    if (in->sub == MOD_ARRIVE_DROP)
        m->expected -= count < m->expected ? count : m->expected;
    if (in->d != SINK)
        plane64(w, in->d)[lane] = state;
    update(m);
}

static void operate(Warp *w, const Insn *in, uint32_t lane, uint64_t address, Mbarrier *m) {
    switch ((int)in->sub) {
    case MOD_INVAL:
        m->live = false;
        break;
    case MOD_EXPECT_TX:
        change_tx(w, in, lane, address, m, plane32(w, in->b)[lane]);
        write_word(m);
        break;
    case MOD_COMPLETE_TX:
        publish(w, in, m);
        change_tx(w, in, lane, address, m, -(int64_t)plane32(w, in->b)[lane]);
        update(m);
        break;
    default:
        arrive(w, in, lane, address, m);
    }
}

/* The lanes at whose addresses there is a barrier, or may be one: checked as memory accesses too.
 */
static uint32_t lanes_allowed(Warp *w, const Insn *in, uint32_t mask, const uint64_t *addresses) {
    bool write = in->sub == MOD_INIT || in->sub == MOD_INVAL;
    uint8_t *host[LANES];
    uint32_t offset;
    for (uint32_t lane = 0; lane < LANES && in->sub != MOD_INIT; lane++) {
        uint64_t address = addresses[lane];
        Cta *c = mask >> lane & 1 ? access_shared(w, address, 8, &offset) : NULL;
        if (c && !mbarrier_at(c, offset)) {
            MISUSE("no mbarrier has been initialised at byte %u of shared memory", offset);
            mask &= ~(1u << lane);
        }
    }
    return access_resolve(w, in, mask, addresses, 8, write ? ACCESS_WRITE : ACCESS_ATOMIC, host);
}

static Mbarrier *find(Warp *w, const Insn *in, uint32_t lane, uint64_t address) {
    uint32_t offset;
    Cta *c = access_shared(w, address, 8, &offset);
    Mbarrier *m = c ? mbarrier_at(c, offset) : NULL;
    if (m)
        check_intact(w, in, lane, address, m);
    return m;
}

static void wait(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address) {
    uint32_t over = lanes_over(w, in, mask);
    set_pred(w, in->d, over, mask);
    if (over)
        return;
    if (in->sub == MOD_TRY_WAIT) {
        w->f->wait_address = address[first_lane(mask)];
        warp_wait(w, FRAG_MBARRIER, in, mask);
    } else {
        note_look(w, in, address[first_lane(mask)]);
        w->budget = 0; /* others' turn: whoever tests will test again */
    }
}

void x_mbarrier(Warp *w, const Insn *in, uint32_t mask) {
    uint64_t address[LANES];
    uint32_t good;
    bool waits = in->sub == MOD_TEST_WAIT || in->sub == MOD_TRY_WAIT;
    if (in->sub == MOD_PENDING_COUNT) {
        const uint64_t *state = plane64(w, in->a);
        uint32_t *d = plane32(w, in->d);
        FOR_LANES(mask, { d[i] = (uint32_t)(state[i] >> 20) & MAX_COUNT; });
        return;
    }
    access_addresses(w, in, mask, address);
    good = lanes_allowed(w, in, mask, address);
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(good >> i & 1))
            continue;
        Mbarrier *m = find(w, in, i, address[i]);
        if (in->sub == MOD_INIT)
            init(w, in, i, address[i]);
        else if (m && !waits)
            operate(w, in, i, address[i], m);
    }
    if (!waits)
        return;
    set_pred(w, in->d, ALL_LANES, mask & ~good); /* nothing to wait for */
    if (good)
        wait(w, in, good, address);
}

void mbarrier_expect_more(Mbarrier *m, uint32_t arrivals) {
    m->pending += arrivals;
    write_word(m);
}

/* ---- from the engines --------------------------------------------------------------------- */

void mbarrier_complete(const AsyncOp *op) {
    Warp *w = op->w;
    const Insn *in = op->in;
    uint32_t lane = first_lane(op->lanes);
    Mbarrier *m = mbarrier_at(op->barrier_cta, op->barrier_at);
    uint64_t address = op->barrier_at + SHARED_BASE;
    if (!m) {
        MISUSE("the mbarrier that an asynchronous operation completes on is not initialised");
        return;
    }
    check_intact(w, in, lane, address, m);
    if (w->cta->cluster->race)
        race_channel_done(m->gathered, op->channel, op->epoch);
    if (op->releases)
        race_join(w->cta->cluster->race, m->gathered, op->released);
    change_tx(w, in, lane, address, m, -(int64_t)op->tx_bytes);
    if (op->arrivals > m->pending)
        MISUSE("%u arrivals where %u of %u are pending", op->arrivals, m->pending, m->expected);
    m->pending -= op->arrivals < m->pending ? op->arrivals : m->pending;
    update(m);
}

void async_describe_wait(StrBuf *b, Warp *w, const Fragment *f) {
    uint32_t offset;
    Cta *c = access_shared(w, f->wait_address, 8, &offset);
    const Mbarrier *m = c ? mbarrier_at(c, offset) : NULL;
    if (!m) {
        strbuf_addz(b, "wait for an mbarrier that is gone");
        return;
    }
    strbuf_addf(
        b,
        "wait for the mbarrier at byte %u of shared memory: phase %u, %u of %u arrivals and "
        "%d bytes pending",
        offset, m->phase, m->pending, m->expected, m->tx);
}

/* A transaction count that is left over means copies and expectations that do not match. */
void mbarrier_check_end(Cluster *c) {
    for (uint32_t i = 0; i < c->async->barriers.len; i++) {
        const Mbarrier *m = c->async->barriers.data[i];
        Warp *w = &m->cta->warps[0];
        if (m->live && m->tx)
            report_add(w, m->last, 0, TLE_EMU_REPORT_MBARRIER, m->offset + SHARED_BASE, 8,
                       "the mbarrier at byte %u of shared memory is left with %d bytes expected",
                       m->offset, m->tx);
    }
}
