/* Lists of test cases, run by several threads: each has a stream and an arena of its own, makes the
 * inputs and references of the cases it takes, and enqueues them without a wait. */
#ifndef GPU_MANY_H
#define GPU_MANY_H

#include "cli/driver.h"
#include "kernels/support/case_run.h"

typedef struct Many {
    const Driver *driver; /* NULL: no streams, as on the emulator */
    tle_handle h;
    int threads;
    const CaseKind *kind;
    char *cases;
    size_t count, room;
} Many;

/* Adds a case to the list; false without memory. */
bool many_add(Many *m, const void *c);
/* Of every `parts` cases keeps the one at `part`, from 0 on. */
void many_keep(Many *m, size_t part, size_t parts);
/* Runs the list and empties it. False with the sentence of a case that went wrong. */
bool many_run(Many *m, char *why, size_t size);

#endif
