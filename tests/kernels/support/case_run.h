/* Running test cases of any operator on any device: one alone, or many at once in an arena. */
#ifndef KERNELS_SUPPORT_CASE_RUN_H
#define KERNELS_SUPPORT_CASE_RUN_H

#include "kernels/support/arena.h"

/* How an operator's cases run. A run is a case with its memory. */
typedef struct CaseKind {
    size_t case_bytes, run_bytes;
    int outputs; /* how many of the buffers, which come first */
    /* Zeroes the run and takes the case; arena NULL: every buffer is allocated. */
    void (*open)(void *run, tle_handle h, Arena *arena, const void *c);
    bool (*make)(void *run); /* the inputs on the host; false without room */
    tle_status (*reserve)(void *run);
    bool (*expect)(void *run);
    tle_status (*enqueue)(const void *run, tle_stream stream);
    bool (*same)(void *run, char *why, size_t size);
    CaseBuffer *(*buffer)(void *run, int i); /* NULL past the last */
    void (*close)(void *run);
    void (*describe)(const void *c, char *text, size_t size);
} CaseKind;

/* Runs a case. False when the result differs from the reference, or anything was written outside of
 * the outputs, or a call failed; `why` then says what, with the case. */
bool run_case(const CaseKind *kind, tle_handle h, const void *c, tle_stream stream, char *why,
              size_t size);
/* Runs the first of the cases, as many as the arena has room for and at least one, without a wait
 * between them. Returns how many those were; 0 where run_case would say false. */
int run_cases(const CaseKind *kind, Arena *arena, const void *cases, int count, tle_stream stream,
              char *why, size_t size);

#endif
