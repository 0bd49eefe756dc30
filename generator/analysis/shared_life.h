/* Lifetimes of shared memory over structured control flow: when each buffer, and each operation's
 * own scratch, must keep its bytes. Positions number operations in program order; a region's end
 * has a position of its own. */
#ifndef ANALYSIS_SHARED_LIFE_H
#define ANALYSIS_SHARED_LIFE_H

#include "analysis/shared_roots.h"

typedef struct SharedLife {
    IrOp op; /* SHARED_ALLOC, or the operation whose scratch it is */
    bool scratch;
    uint32_t bytes, align;
    uint32_t first, last; /* positions, both included */
    uint64_t groups;      /* execution groups that touch it, one bit each */
    uint32_t turn;        /* small scratch: its number among them in program order, from 1 */
    bool remote;          /* other CTAs of the cluster may access it */
} SharedLife;

/* In program order. Buffers that nobody uses have first == last. */
SharedLife *shared_lives(Arena *a, const IrModule *m, IrOp func, const Roots *roots,
                         uint32_t *len_out);
/* Both must not share bytes: they live at the same time, or in groups or CTAs that are not ordered.
 * Small scratch shares bytes with no buffer and not with the small scratch before and after it:
 * reuse would cost a barrier, which is worth more than the bytes. */
bool shared_interfere(const SharedLife *x, const SharedLife *y);

#endif
