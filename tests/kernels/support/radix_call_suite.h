/* The duties of tle_radix_select as lists of cases, for any device. */
#ifndef KERNELS_SUPPORT_RADIX_CALL_SUITE_H
#define KERNELS_SUPPORT_RADIX_CALL_SUITE_H

#include "kernels/support/radix_call.h"

/* Sees one case; false stops the list. */
typedef bool RadixCallVisit(const RadixCall *c, void *user);

/* Each returns false as soon as the visitor did. max_columns bounds the long rows. */
/* Every element type with every kind of values. */
bool radix_call_dtypes(RadixCallVisit *visit, void *user);
/* Both orders, sorted and not, of rows with many ties and special values. */
bool radix_call_orders(RadixCallVisit *visit, void *user);
/* Sorted places up to whole rows of the largest k. */
bool radix_call_sorted(RadixCallVisit *visit, void *user);
/* Payloads of both widths, with and without the other outputs. */
bool radix_call_payload(RadixCallVisit *visit, void *user);
bool radix_call_lengths(RadixCallVisit *visit, void *user, int64_t max_columns);
/* Every kind of values for every body, types and orders in turn. */
bool radix_call_regimes(RadixCallVisit *visit, void *user, int64_t max_columns);
bool radix_call_ragged(RadixCallVisit *visit, void *user);
bool radix_call_strides(RadixCallVisit *visit, void *user);
/* From 1 beyond the row. */
bool radix_call_ks(RadixCallVisit *visit, void *user);
bool radix_call_random(RadixCallVisit *visit, void *user, uint64_t seed, uint32_t cases,
                       int64_t max_columns);

#endif
