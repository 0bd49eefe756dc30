/* Cost figures of a launch, in all and for each instruction. */
#ifndef EMU_COST_H
#define EMU_COST_H

#include "vm.h"

typedef struct CostSite {
#define X(field, name) uint64_t field;
#include "cost_sites.def"
#undef X
} CostSite;

struct Cost {
    Arena *arena;
    CostSite **sites; /* [function][instruction]; NULL: not counted */
    uint64_t warp_insns[CLASS_COUNT], lane_insns[CLASS_COUNT];
    uint64_t global_load_sectors, global_store_sectors, global_lines;
    uint64_t global_loads, global_stores, global_atomics;
    uint64_t shared_accesses, shared_conflicts, shared_atomics, dsmem_bytes, local_accesses;
    uint64_t matrix_flops;
    uint64_t cp_async_bytes, bulk_bytes, atomic_serialised, barriers, cluster_barriers,
        divergent_branches, branches;
};

void cost_access(Warp *w, const Insn *in, uint32_t mask, const uint64_t *address, uint32_t bytes,
                 AccessKind kind, PtxSpace space);
const char *cost_json(const Launch *l, Arena *a);
const char *cost_class_name(InsnClass cls);
/* cost_site.c */
Cost *cost_new(const Launch *l, Arena *a);
void cost_add(Cost *into, const Cost *from, const Launch *l);
CostSite *cost_site(const Warp *w, const Insn *in);
void cost_wait(const Warp *w, const Insn *in);
void cost_add_sites(StrBuf *b, const Launch *l);
void cost_add_occupancy(StrBuf *b, const Launch *l);

#endif
