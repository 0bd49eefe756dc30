/* Clusters that run ahead of their turn on several threads. What a launch does is defined by its
 * clusters running in turn (sched.c); this makes it faster where they do not depend on each other.
 *
 * In rounds, each of the next clusters runs alone, against memory as it was when the round began
 * (view.h). Then, in order, what a cluster has done is made a part of the launch if it is what it
 * would have done in its turn: it was not about to report anything, it did not use what clusters
 * talk through (strong accesses and atomics of global memory, the clock), it needed no company,
 * and it touched nothing that a cluster before it had written, nor wrote what one had touched. The
 * first of which that is not so runs in its turn, and so do all after it. */
#ifndef EMU_AHEAD_H
#define EMU_AHEAD_H

#include "exec.h"

/* Takes the launch as far as that goes; l->next_cluster is then the first that has not run. */
void ahead_run(Launch *l);
/* The threads end; for a launch that ends early too. */
void ahead_end(Launch *l);
/* Whether what this cluster does has become of no use. */
bool ahead_is_cancelled(const Launch *l);
/* The time, in instructions, which only a cluster in its turn knows. */
uint64_t ahead_time(const Warp *w);

#endif
