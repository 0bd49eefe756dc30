/* Shared plan: byte offsets in dynamic shared memory, for buffers and for scratch of operations, in
 * one plan.
 *
 * Assumes layouts are final. Guarantees: whatever lives at the same time has disjoint bytes; a
 * scratch never overlaps a live buffer; what different execution groups use is disjoint. Sets
 * `offset` on shared_alloc, `scratch` and `scratch_bytes` on operations that need scratch,
 * `shared_bytes` on the function. Memory that is used again is made safe by the hazard pass, which
 * works on bytes.
 *
 *   %a = shared_alloc : buf<1024xi32>                 %a = shared_alloc [offset = 0]
 *   %s, = reduce %x ...                        ->     %s = reduce %x [scratch = 4096, ...]
 *
 * First fit, largest first: near optimal for the few buffers of a kernel. Cost: quadratic in them.
 */
#include "analysis/shared_life.h"
#include "pass/pass.h"

#include <stdlib.h>

typedef struct Placed {
    const SharedLife *life;
    uint64_t offset;
    uint32_t index;
} Placed;

static int by_size(const void *x, const void *y) {
    const Placed *a = x, *b = y;
    if (a->life->bytes != b->life->bytes)
        return a->life->bytes > b->life->bytes ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static uint64_t align_up(uint64_t v, uint32_t align) {
    return (v + align - 1) / align * align;
}

/* The lowest offset that is free of everything placed before. */
static uint64_t lowest_fit(const Placed *placed, uint32_t n, const SharedLife *life) {
    uint64_t at = 0;
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t end = placed[i].offset + placed[i].life->bytes;
            if (shared_interfere(placed[i].life, life) && placed[i].offset < at + life->bytes &&
                at < end) {
                at = align_up(end, life->align);
                moved = true;
            }
        }
    }
    return at;
}

static void record(PassContext *c, const Placed *p) {
    IrOp op = p->life->op;
    if (!p->life->scratch) {
        ir_set_int(c->m, op, IR_KEY_SHARED_OFFSET, (int64_t)p->offset);
        return;
    }
    ir_set_int(c->m, op, IR_KEY_SCRATCH_OFFSET, (int64_t)p->offset);
    ir_set_int(c->m, op, IR_KEY_SCRATCH_BYTES, p->life->bytes);
}

static void note_parts(PassContext *c, const Placed *placed, uint32_t n) {
    enum { MAX_NOTES = 8 };
    for (uint32_t i = 0; i < n && i < MAX_NOTES; i++)
        diag_note(c->diag, ir_span(c->m, placed[i].life->op), "%u bytes for %s",
                  placed[i].life->bytes,
                  placed[i].life->scratch ? "the scratch of this operation" : "this buffer");
}

/* Attributes of an earlier plan. */
static void forget(IrModule *m, IrOp op, void *user) {
    (void)user;
    if (ir_kind(m, op) == IR_OP_SHARED_ALLOC)
        ir_unset(m, op, IR_KEY_SHARED_OFFSET);
    if (ir_trait(m, op, IR_TRAIT_SCRATCH)) {
        ir_unset(m, op, IR_KEY_SCRATCH_OFFSET);
        ir_unset(m, op, IR_KEY_SCRATCH_BYTES);
    }
}

static bool plan(PassContext *c, IrOp func) {
    uint32_t n;
    uint64_t total = 0;
    ir_walk(c->m, func, forget, NULL);
    const Roots *roots = roots_analyse(c->scratch, c->m, func);
    const SharedLife *lives = shared_lives(c->scratch, c->m, func, roots, &n);
    Placed *placed = arena_array(c->scratch, Placed, (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++)
        placed[i] = (Placed){&lives[i], 0, i};
    qsort(placed, n, sizeof *placed, by_size);
    for (uint32_t i = 0; i < n; i++) {
        placed[i].offset = lowest_fit(placed, i, placed[i].life);
        uint64_t end = placed[i].offset + placed[i].life->bytes;
        total = end > total ? end : total;
        record(c, &placed[i]);
    }
    ir_set_int(c->m, func, IR_KEY_SHARED_BYTES, (int64_t)total);
    c->changed |= n != 0;
    if (total <= c->target->max_shared)
        return true;
    diag_error(c->diag, DIAG_PASS_SHARED, ir_span(c->m, func),
               "the kernel needs %llu bytes of shared memory, %s has %u", (unsigned long long)total,
               c->target->name, c->target->max_shared);
    note_parts(c, placed, n);
    return false;
}

bool pass_shared_plan(PassContext *c) {
    bool ok = true;
    for (uint32_t i = 0; i < ir_func_count(c->m); i++)
        ok &= plan(c, ir_func(c->m, i));
    return ok;
}
