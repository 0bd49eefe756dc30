/* A call of an operator from its parameters to its launch: the steps that all operators take.
 *
 * The operator's own function `plan` (TleiOpDef) validates the parameters and writes facts,
 * arguments and memory; what follows is here: the choice of a variant, the workspace, the log, the
 * launch, and the questions about a call. A plan lives on the caller's stack and allocates
 * nothing. */
#ifndef CORE_PLAN_H
#define CORE_PLAN_H

#include "core/op.h"

enum { TLEI_MAX_FACTS = 16, TLEI_MAX_ARGS = 32, TLEI_MAX_RANGES = 15 };

/* That a plan has room for an operator with so many of each. */
#define TLEI_PLAN_HOLDS(facts, args, ranges)                                                       \
    _Static_assert((int)(facts) <= (int)TLEI_MAX_FACTS && (int)(args) <= (int)TLEI_MAX_ARGS &&     \
                       (int)(ranges) <= (int)TLEI_MAX_RANGES,                                      \
                   "a plan has no room for the operator")

struct TleiPlan {
    tle_handle handle;
    const TleiOp *op;
    TleiFact facts[TLEI_MAX_FACTS];
    int64_t values[TLEI_MAX_ARGS];         /* by argument of the operator; pointers as integers */
    TleiRange ranges[TLEI_MAX_RANGES + 1]; /* the workspace comes behind the operator's own */
    uint32_t range_count;                  /* of the operator's own */
    int64_t rows;                          /* CTAs or clusters; 0 launches nothing */
    bool dependent; /* launched so, where the variant and the device can; TLE_LAUNCH_DEPENDENT */
    uint32_t variant;
    uint64_t workspace; /* bytes needed */
};

/* The public functions of an operator; `params` is its parameter struct. */
tle_status tlei_plan_call(tle_handle handle, TleiOpId op, const void *params, void *workspace,
                          size_t workspace_size, tle_stream stream);
tle_status tlei_plan_workspace_size(tle_handle handle, TleiOpId op, const void *params,
                                    size_t *size);
tle_status tlei_plan_supported(tle_handle handle, TleiOpId op, const void *params, char *reason,
                               size_t reason_size);
tle_status tlei_plan_explain(tle_handle handle, TleiOpId op, const void *params, char *text,
                             size_t text_size, size_t *needed);

#endif
