/* The duties of tle_topk_select as lists of cases, for any device. */
#ifndef KERNELS_SUPPORT_TOPK_SUITE_H
#define KERNELS_SUPPORT_TOPK_SUITE_H

#include "kernels/support/topk_case.h"

/* Sees one case; false stops the list. */
typedef bool TopkVisit(const TopkCase *c, void *user);

/* A visitor that runs what a variant takes, each step-th of it, with scores of one type. */
typedef struct TopkRunner {
    tle_handle h;
    const char *arch, *variant; /* for messages; the variant is the forced one, or NULL */
    ElementType type;
    int step;
    int seen, run;
} TopkRunner;

bool topk_run(const TopkCase *c, void *runner);

/* Each returns false as soon as the visitor did. max_columns bounds the long rows. */
bool topk_lengths(TopkVisit *visit, void *user, int64_t max_columns);
bool topk_values(TopkVisit *visit, void *user);
/* Every kind of scores for every body, forms in turn. */
bool topk_regimes(TopkVisit *visit, void *user, int64_t max_columns);
bool topk_ragged(TopkVisit *visit, void *user);
bool topk_strides(TopkVisit *visit, void *user);
bool topk_ks(TopkVisit *visit, void *user);
/* Every fused form over rows for every body, at most max_columns long. */
bool topk_forms(TopkVisit *visit, void *user, int64_t max_columns);
bool topk_random(TopkVisit *visit, void *user, uint64_t seed, uint32_t cases, int64_t max_columns);
/* With forms drawn, too. */
bool topk_random_forms(TopkVisit *visit, void *user, uint64_t seed, uint32_t cases,
                       int64_t max_columns);

#endif
