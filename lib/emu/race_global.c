/* Races in global memory within a launch, by happens-before.
 *
 * Warps of one cluster are ordered by the clocks of race.c. Of other clusters a warp knows what
 * acquire and release at the scope of the GPU told it: a set of clocks, one for each cluster it has
 * heard of. Such sets never change once made, have a number, and travel as the last entry of a
 * clock, so that barriers pass them on. Number 0 is the empty set.
 *
 * A page of global memory that a kernel touches has cells of four bytes, or narrower where accesses
 * are. A cell remembers the last write and two reads, which is enough unless three warps read
 * without order among them and only the forgotten one races. */
#include "race.h"
#include <stdio.h>
#include <string.h>

#define PAGE_SHIFT 12
#define PAGE_BYTES (1u << PAGE_SHIFT)
/* The set that grew too large to be kept: whoever has it is not judged against other clusters. */
#define EVERYTHING 1u
#define MAX_KNOWN  2048u

/* Epoch: clock 20, lane 6, member 9, cluster + 1 20, strength 2, serial 7 bits. */
#define G_CLOCK_MASK    0xfffffu
#define G_LANE_SHIFT    20
#define G_MEMBER_SHIFT  26
#define G_CLUSTER_SHIFT 35
#define G_CLUSTER_MASK  0xfffffu
#define G_STRONG_SHIFT  55
#define G_SERIAL_SHIFT  57

typedef struct GlobalCell {
    uint64_t wr, rd[2];
} GlobalCell;

typedef struct GlobalPage {
    GlobalCell *cells;
    uint64_t key;
    uint32_t shift; /* log2 of the bytes of a cell */
} GlobalPage;

typedef struct Known {
    uint32_t cluster;
    const uint32_t *row;
} Known;

typedef struct KnownSet {
    Known *at; /* by cluster */
    uint32_t count;
} KnownSet;

struct GlobalRace {
    Arena *arena;
    Map pages; /* address / PAGE_BYTES -> index + 1 */
    VEC(GlobalPage) page;
    uint64_t last_key;
    uint32_t last_page;
    VEC(KnownSet) sets;
    Map joined; /* two numbers -> number */
    Map sync;   /* address -> number */
    uint32_t warps;
};

/* One access of one lane. */
typedef struct GlobalAccess {
    Warp *w;
    const Insn *in;
    const uint32_t *clock, *foreign;
    uint64_t epoch, address;
    uint32_t member, lane, cluster, strength;
    bool reported;
} GlobalAccess;

GlobalRace *race_global_new(const Launch *l, Arena *a) {
    GlobalRace *g = arena_new_of(a, GlobalRace);
    g->arena = a;
    g->warps = l->cluster_size * l->warps;
    map_init(&g->pages, a);
    map_init(&g->joined, a);
    map_init(&g->sync, a);
    for (uint32_t i = 0; i <= EVERYTHING; i++)
        vec_push(g->arena, &g->sets, (KnownSet){0});
    vec_push(g->arena, &g->page, (GlobalPage){0});
    return g;
}

/* ---- sets of clocks ----------------------------------------------------------------------- */

static const uint32_t *known_row(const KnownSet *s, uint32_t cluster) {
    uint32_t low = 0, high = s->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (s->at[mid].cluster < cluster)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->count && s->at[low].cluster == cluster ? s->at[low].row : NULL;
}

/* The later of two rows of one cluster entry by entry; one of the two where it covers the other. */
static const uint32_t *later_row(GlobalRace *g, const uint32_t *a, const uint32_t *b) {
    bool a_covers = true, b_covers = true;
    for (uint32_t i = 0; i < g->warps; i++) {
        a_covers &= a[i] >= b[i];
        b_covers &= b[i] >= a[i];
    }
    if (a_covers || b_covers)
        return a_covers ? a : b;
    uint32_t *row = arena_array(g->arena, uint32_t, g->warps);
    for (uint32_t i = 0; i < g->warps; i++)
        row[i] = a[i] > b[i] ? a[i] : b[i];
    return row;
}

static bool same_set(const KnownSet *a, const KnownSet *b) {
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->at[i].cluster != b->at[i].cluster || a->at[i].row != b->at[i].row)
            return false;
    return true;
}

static uint32_t merge(GlobalRace *g, uint32_t x, uint32_t y) {
    KnownSet a = g->sets.data[x], b = g->sets.data[y], c = {0};
    uint32_t i = 0, j = 0;
    if (x == EVERYTHING || y == EVERYTHING || a.count + b.count > MAX_KNOWN)
        return EVERYTHING;
    c.at = arena_array(g->arena, Known, a.count + b.count);
    while (i < a.count || j < b.count) {
        if (j == b.count || (i < a.count && a.at[i].cluster < b.at[j].cluster)) {
            c.at[c.count++] = a.at[i++];
        } else if (i == a.count || b.at[j].cluster < a.at[i].cluster) {
            c.at[c.count++] = b.at[j++];
        } else {
            c.at[c.count].cluster = a.at[i].cluster;
            c.at[c.count++].row = later_row(g, a.at[i++].row, b.at[j++].row);
        }
    }
    if (same_set(&c, &a) || same_set(&c, &b))
        return same_set(&c, &a) ? x : y;
    vec_push(g->arena, &g->sets, c);
    return g->sets.len - 1;
}

/* The number of all that either set knows. */
uint32_t race_global_join(GlobalRace *g, uint32_t x, uint32_t y) {
    uint64_t key = (uint64_t)x << 32 | y;
    uint32_t z;
    if (x == y || y == 0)
        return x;
    if (x == 0)
        return y;
    z = map_find(&g->joined, key, 0);
    if (!z) {
        z = merge(g, x, y);
        map_put(&g->joined, key, z);
    }
    return z;
}

/* What a clock of the warp's cluster stands for, as a set that other clusters understand. */
static uint32_t published(const Warp *w, const uint32_t *clock) {
    GlobalRace *g = w->launch->global_race;
    const Race *r = w->cta->cluster->race;
    KnownSet own = {.count = 1};
    uint32_t *row = arena_array(g->arena, uint32_t, g->warps);
    memcpy(row, clock, g->warps * sizeof *row);
    own.at = arena_array(g->arena, Known, 1);
    own.at->cluster = (uint32_t)w->cta->cluster->number;
    own.at->row = row;
    vec_push(g->arena, &g->sets, own);
    return race_global_join(g, clock[r->row - 1], g->sets.len - 1);
}

/* A release at `address`: of `clock`, or of what `*cached` (0: not made yet) stands for. */
void race_global_publish(Warp *w, uint64_t address, const uint32_t *clock, uint32_t *cached) {
    GlobalRace *g = w->launch->global_race;
    uint32_t set = cached && *cached ? *cached : published(w, clock);
    if (cached)
        *cached = set;
    map_put(&g->sync, address, race_global_join(g, map_find(&g->sync, address, 0), set));
}

/* An acquire at `address`: into the last entry of a clock. */
void race_global_learn(Warp *w, uint64_t address, uint32_t *set) {
    GlobalRace *g = w->launch->global_race;
    if (g->sync.len)
        *set = race_global_join(g, *set, map_find(&g->sync, address, 0));
}

/* ---- pages -------------------------------------------------------------------------------- */

static uint32_t add_page(GlobalRace *g, uint64_t key, uint32_t shift) {
    GlobalPage fresh = {.shift = shift, .key = key};
    fresh.cells = arena_array(g->arena, GlobalCell, PAGE_BYTES >> shift);
    vec_push(g->arena, &g->page, fresh);
    map_put(&g->pages, key, g->page.len - 1);
    return g->page.len - 1;
}

static GlobalPage *page_of(GlobalRace *g, uint64_t address) {
    uint64_t key = address >> PAGE_SHIFT;
    if (g->last_page == 0 || g->last_key != key) {
        uint32_t at = map_find(&g->pages, key, 0);
        if (!at)
            at = add_page(g, key, 2);
        g->last_key = key;
        g->last_page = at;
    }
    return &g->page.data[g->last_page];
}

/* Narrower cells, each with the history of the wider one that it was a part of. */
static void refine(GlobalRace *g, GlobalPage *p, uint32_t shift) {
    GlobalCell *cells = arena_array(g->arena, GlobalCell, PAGE_BYTES >> shift);
    for (uint32_t i = 0; i < PAGE_BYTES >> shift; i++)
        cells[i] = p->cells[i >> (p->shift - shift)];
    p->cells = cells;
    p->shift = shift;
}

/* ---- one access --------------------------------------------------------------------------- */

static uint32_t of_cluster(uint64_t e) {
    return ((uint32_t)(e >> G_CLUSTER_SHIFT) & G_CLUSTER_MASK) - 1;
}

static uint32_t of_member(uint64_t e) {
    return (uint32_t)(e >> G_MEMBER_SHIFT) & 511;
}

static uint32_t of_lane(uint64_t e) {
    return (uint32_t)(e >> G_LANE_SHIFT) & 63;
}

static bool of_same_instruction(const GlobalAccess *a, uint64_t e) {
    return of_cluster(e) == a->cluster && of_member(e) == a->member &&
           !((e ^ a->epoch) >> G_SERIAL_SHIFT) && !((e ^ a->epoch) & G_CLOCK_MASK);
}

static bool happened_before(const GlobalAccess *a, uint64_t e) {
    uint32_t clock = (uint32_t)e & G_CLOCK_MASK, v = of_member(e);
    const GlobalRace *g = a->w->launch->global_race;
    if (of_cluster(e) == a->cluster) {
        if (v == a->member)
            return of_lane(e) == a->lane || clock < a->clock[v];
        if (clock <= a->clock[v])
            return true;
    }
    if (*a->foreign == EVERYTHING)
        return true;
    const uint32_t *row = known_row(&g->sets.data[*a->foreign], of_cluster(e));
    return row && clock <= row[v];
}

/* Two strong accesses do not race where the scope of each includes the other's thread. */
static bool both_strong(const GlobalAccess *a, uint64_t e) {
    uint32_t other = (uint32_t)(e >> G_STRONG_SHIFT) & 3, warps = a->w->launch->warps;
    uint32_t least = a->strength < other ? a->strength : other;
    if (of_cluster(e) != a->cluster)
        return least >= SCOPE_GPU;
    return least >= (of_member(e) / warps == a->member / warps ? SCOPE_CTA : SCOPE_CLUSTER);
}

static void describe(const GlobalAccess *a, uint64_t e, char *room, size_t size) {
    uint32_t warps = a->w->launch->warps, v = of_member(e);
    if (of_cluster(e) == a->cluster && v == a->member)
        snprintf(room, size, "lane %u of the same warp, without bar.warp.sync", of_lane(e));
    else if (of_cluster(e) == a->cluster && v / warps == a->member / warps)
        snprintf(room, size, "warp %u lane %u of the same CTA", v % warps, of_lane(e));
    else
        snprintf(room, size, "warp %u lane %u of CTA %llu of the grid", v % warps, of_lane(e),
                 (unsigned long long)of_cluster(e) * a->w->launch->cluster_size + v / warps);
}

/* Whether the cell at `at` holds already what the store is about to write there: then it does not
 * matter which of the two comes last. */
static bool holds_already(const GlobalAccess *a, uint64_t at, uint32_t bytes) {
    const Insn *in = a->in;
    for (uint64_t b = at; in->fn == x_st && b < at + bytes; b++) {
        uint32_t k = (uint32_t)(b - a->address) / in->size;
        uint32_t shift = (uint32_t)(b - a->address) % in->size * 8;
        uint64_t v = in->flags & F_WIDE64 ? plane64(a->w, in->ext[k])[a->lane]
                                          : plane32(a->w, in->ext[k])[a->lane];
        if ((uint8_t)(v >> shift) != *access_host(a->w->launch, b))
            return false;
    }
    return in->fn == x_st;
}

static void judge(GlobalAccess *a, uint64_t e, const char *now, const char *before) {
    char who[128];
    if (e == 0 || a->reported || happened_before(a, e) || both_strong(a, e))
        return;
    if (of_same_instruction(a, e) &&
        (now[0] == 'r' || race_stores_same(a->w, a->in, of_lane(e), a->lane)))
        return;
    a->reported = true;
    describe(a, e, who, sizeof who);
    bool weaker = a->strength && (e >> G_STRONG_SHIFT & 3);
    report_add(a->w, a->in, a->lane, TLE_EMU_REPORT_RACE, a->address, 0,
               "%s of global memory races with a %s by %s%s", now, before, who,
               weaker ? " (the scope of one does not include the other)" : "");
}

static void read_cell(GlobalAccess *a, GlobalCell *c) {
    if (c->rd[0] == a->epoch)
        return;
    judge(a, c->wr, "read", "write");
    if (c->rd[0] == 0 || happened_before(a, c->rd[0]))
        c->rd[0] = a->epoch;
    else
        c->rd[1] = a->epoch;
}

static void write_cell(GlobalAccess *a, GlobalCell *c, uint64_t at, uint32_t bytes) {
    if (c->wr && !happened_before(a, c->wr) &&
        (of_same_instruction(a, c->wr) || !holds_already(a, at, bytes)))
        judge(a, c->wr, "write", "write");
    judge(a, c->rd[0], "write", "read");
    judge(a, c->rd[1], "write", "read");
    c->wr = a->epoch;
    c->rd[0] = c->rd[1] = 0;
}

/* Atomics without a scope are of the GPU, and so are volatile accesses. */
static uint32_t strength_of(const Insn *in, AccessKind kind) {
    if (kind != ACCESS_ATOMIC && !(in->flags & F_STRONG))
        return 0;
    return in->scope ? in->scope : SCOPE_GPU;
}

static void touch_cells(GlobalAccess *a, uint32_t bytes, AccessKind kind) {
    GlobalRace *g = a->w->launch->global_race;
    uint64_t at = a->address, end = at + bytes;
    uint32_t need = (at | bytes) & 1 ? 0 : (at | bytes) & 2 ? 1 : 2;
    while (at < end) {
        GlobalPage *p = page_of(g, at);
        if (p->shift > need)
            refine(g, p, need);
        uint64_t stop = (at | (PAGE_BYTES - 1)) + 1;
        for (stop = stop < end ? stop : end; at < stop; at += 1u << p->shift) {
            GlobalCell *c = &p->cells[(at & (PAGE_BYTES - 1)) >> p->shift];
            if (kind == ACCESS_READ)
                read_cell(a, c);
            else
                write_cell(a, c, at, 1u << p->shift);
        }
    }
}

void race_global_access(Warp *w, const Insn *in, uint32_t lane, uint64_t address, uint32_t bytes,
                        AccessKind kind) {
    const Cluster *cluster = w->cta->cluster;
    Race *r = cluster->race;
    const uint32_t *clock = race_clock(w);
    GlobalAccess a = {.w = w, .in = in, .clock = clock, .lane = lane, .address = address};
    a.foreign = &clock[r->row - 1];
    a.member = race_index(w);
    a.cluster = (uint32_t)cluster->number;
    a.strength = strength_of(in, kind);
    if (clock[a.member] >= G_CLOCK_MASK || cluster->number >= G_CLUSTER_MASK - 1)
        return; /* no numbers left to tell accesses apart */
    a.epoch = clock[a.member] | (uint64_t)lane << G_LANE_SHIFT |
              (uint64_t)a.member << G_MEMBER_SHIFT | (uint64_t)(a.cluster + 1) << G_CLUSTER_SHIFT |
              (uint64_t)a.strength << G_STRONG_SHIFT | (uint64_t)r->serial << G_SERIAL_SHIFT;
    touch_cells(&a, bytes, kind);
}

/* ---- a cluster that ran ahead ------------------------------------------------------------- */

/* The page as of the other record, both with cells of one size; NULL if it has none. */
static GlobalPage *same_page(GlobalRace *g, GlobalRace *other, GlobalPage *p) {
    uint32_t at = map_find(&g->pages, p->key, 0);
    GlobalPage *q = at ? &g->page.data[at] : NULL;
    if (q && q->shift > p->shift)
        refine(g, q, p->shift);
    if (q && p->shift > q->shift)
        refine(other, p, q->shift);
    return q;
}

bool race_global_conflicts(GlobalRace *so_far, GlobalRace *ahead) {
    for (uint32_t i = 1; i < ahead->page.len; i++) {
        GlobalPage *p = &ahead->page.data[i], *q = same_page(so_far, ahead, p);
        for (uint32_t k = 0; q && k < PAGE_BYTES >> p->shift; k++) {
            const GlobalCell *a = &q->cells[k], *b = &p->cells[k];
            uint64_t before = a->wr | a->rd[0] | a->rd[1];
            if ((b->wr && before) || ((b->rd[0] | b->rd[1]) && a->wr))
                return true;
        }
    }
    return false;
}

/* Where both have read, the first read stays: a write by a later cluster races with that. */
static void append_cell(GlobalCell *a, const GlobalCell *b) {
    if (b->wr || !a->rd[0]) {
        if (b->wr | b->rd[0] | b->rd[1])
            *a = *b;
    } else if (b->rd[0] | b->rd[1]) {
        a->rd[1] = b->rd[1] ? b->rd[1] : b->rd[0];
    }
}

void race_global_append(GlobalRace *so_far, const GlobalRace *ahead) {
    for (uint32_t i = 1; i < ahead->page.len; i++) {
        const GlobalPage *p = &ahead->page.data[i];
        uint32_t at = map_find(&so_far->pages, p->key, 0);
        bool fresh = !at;
        if (fresh)
            at = add_page(so_far, p->key, p->shift);
        GlobalCell *cells = so_far->page.data[at].cells;
        if (fresh)
            memcpy(cells, p->cells, (PAGE_BYTES >> p->shift) * sizeof *cells);
        for (uint32_t k = 0; !fresh && k < PAGE_BYTES >> p->shift; k++)
            append_cell(&cells[k], &p->cells[k]);
    }
}
