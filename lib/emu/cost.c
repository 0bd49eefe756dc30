/* Cost figures of one launch: what the PTX asks of the memory system, counted deterministically. */
#include "exec.h"
#include <string.h>

static const char *const class_names[CLASS_COUNT] = {
#define X(id, text) text,
#include "classes.def"
#undef X
};

/* Number of different values of address / unit that the lanes touch. */
static uint32_t distinct(uint32_t mask, const uint64_t *address, uint32_t bytes, uint32_t shift) {
    uint64_t seen[LANES * 2];
    uint32_t n = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        for (uint64_t u = address[i] >> shift; u <= (address[i] + bytes - 1) >> shift; u++) {
            uint32_t k = 0;
            while (k < n && seen[k] != u)
                k++;
            if (k == n && n < LANES * 2)
                seen[n++] = u;
        }
    }
    return n;
}

/* Extra passes: the most different words in one bank, less one. Wide accesses go in parts of the
 * warp (a half for 8 bytes, a quarter for 16), as the hardware does. */
static uint32_t conflicts(uint32_t mask, const uint64_t *address, uint32_t bytes) {
    uint32_t part = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8, extra = 0;
    for (uint32_t first = 0; first < LANES; first += part) {
        uint64_t words[32][LANES];
        uint8_t count[32] = {0}, most = 0;
        for (uint32_t i = first; i < first + part; i++)
            for (uint64_t u = address[i] >> 2; mask >> i & 1 && u <= (address[i] + bytes - 1) >> 2;
                 u++) {
                uint32_t bank = (uint32_t)u & 31, k = 0;
                while (k < count[bank] && words[bank][k] != u)
                    k++;
                if (k == count[bank] && k < LANES)
                    words[bank][count[bank]++] = u;
                most = count[bank] > most ? count[bank] : most;
            }
        extra += most > 1 ? most - 1u : 0;
    }
    return extra;
}

const char *cost_class_name(InsnClass cls) {
    return class_names[cls];
}

static void cost_global(Cost *c, CostSite *s, uint32_t mask, const uint64_t *address,
                        uint32_t bytes, AccessKind kind) {
    uint32_t sectors = distinct(mask, address, bytes, 5), lines = distinct(mask, address, bytes, 7);
    c->global_lines += lines;
    s->lines += lines;
    s->sectors += sectors;
    if (kind == ACCESS_READ) {
        c->global_loads++;
        c->global_load_sectors += sectors;
    } else if (kind == ACCESS_WRITE) {
        c->global_stores++;
        c->global_store_sectors += sectors;
    } else {
        c->global_atomics++;
    }
}

static void cost_shared(Warp *w, CostSite *s, uint32_t mask, const uint64_t *address,
                        uint32_t bytes, AccessKind kind) {
    Cost *c = w->launch->cost;
    uint32_t extra = conflicts(mask, address, bytes), remote = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t rank = (uint32_t)address[i] >> CLUSTER_SHIFT;
        remote += (mask >> i & 1) && rank && rank - 1 != w->cta->rank ? bytes : 0;
    }
    c->shared_accesses++;
    c->shared_conflicts += extra;
    c->dsmem_bytes += remote;
    c->shared_atomics += kind == ACCESS_ATOMIC;
    s->conflicts += extra;
    s->remote += remote;
}

void cost_access(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address, uint32_t bytes,
                 AccessKind kind, PtxSpace space) {
    Cost *c = w->launch->cost;
    CostSite none = {0}, *s = c->sites ? cost_site(w, in) : &none;
    bool at_barrier = in->fn == x_mbarrier || (in->cls == CLASS_ASYNC && in->fn != x_cp_async);
    if (mask == 0 || at_barrier) /* an mbarrier's word is not what a kernel loads or stores */
        return;
    if (space == SPACE_GENERIC)
        space = (address[first_lane(mask)] & WINDOW_MASK) == SHARED_WINDOW  ? SPACE_SHARED
                : (address[first_lane(mask)] & WINDOW_MASK) == LOCAL_WINDOW ? SPACE_LOCAL
                                                                            : SPACE_GLOBAL;
    s->accesses++;
    s->requested += (uint64_t)popcount32(mask) * bytes;
    if (space == SPACE_LOCAL)
        c->local_accesses++;
    else if (space == SPACE_GLOBAL)
        cost_global(c, s, mask, address, bytes, kind);
    else
        cost_shared(w, s, mask, address, bytes, kind);
    if (kind == ACCESS_ATOMIC && space != SPACE_LOCAL) {
        uint32_t again = popcount32(mask) - distinct(mask, address, 1, 0);
        c->atomic_serialised += again;
        s->serialised += again;
    }
}

static void add_classes(StrBuf *b, const char *name, const uint64_t *counts) {
    const char *comma = "";
    strbuf_addf(b, "\"%s\":{", name);
    for (int i = 0; i < CLASS_COUNT; i++)
        if (counts[i]) {
            strbuf_addf(b, "%s\"%s\":%llu", comma, class_names[i], (unsigned long long)counts[i]);
            comma = ",";
        }
    strbuf_addz(b, "}");
}

const char *cost_json(const Launch *l, Arena *a) {
    const Cost *c = l->cost;
    StrBuf b;
    uint64_t total = 0;
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {
        {"branches", c->branches},
        {"divergent_branches", c->divergent_branches},
        {"global_loads", c->global_loads},
        {"global_load_sectors", c->global_load_sectors},
        {"global_stores", c->global_stores},
        {"global_store_sectors", c->global_store_sectors},
        {"global_atomics", c->global_atomics},
        {"global_lines", c->global_lines},
        {"shared_accesses", c->shared_accesses},
        {"shared_bank_conflicts", c->shared_conflicts},
        {"shared_atomics", c->shared_atomics},
        {"atomics_serialised", c->atomic_serialised},
        {"matrix_flops", c->matrix_flops},
        {"dsmem_bytes", c->dsmem_bytes},
        {"cp_async_bytes", c->cp_async_bytes},
        {"bulk_bytes", c->bulk_bytes},
        {"local_accesses", c->local_accesses},
        {"barriers", c->barriers},
        {"cluster_barriers", c->cluster_barriers},
    };
    for (int i = 0; i < CLASS_COUNT; i++)
        total += c->warp_insns[i];
    strbuf_init(&b, a);
    strbuf_addf(&b, "{\"kernel\":\"%s\",\"ctas\":%llu,\"threads_per_cta\":%u,", l->fn->name,
                (unsigned long long)l->cluster_total * l->cluster_size, l->threads);
    strbuf_addf(&b, "\"warp_instructions\":%llu,", (unsigned long long)total);
    add_classes(&b, "warp_instructions_by_class", c->warp_insns);
    strbuf_addz(&b, ",");
    add_classes(&b, "lane_instructions_by_class", c->lane_insns);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        strbuf_addf(&b, ",\"%s\":%llu", fields[i].name, (unsigned long long)fields[i].value);
    cost_add_occupancy(&b, l);
    if (c->sites)
        cost_add_sites(&b, l);
    strbuf_addz(&b, "}");
    return b.text;
}
