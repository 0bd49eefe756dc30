/* Selections of which each reads what the one before it wrote, all launched dependent on that one:
 * they are right only if every kernel waits before it reads. For any device. */
#ifndef KERNELS_SUPPORT_TOPK_CHAIN_H
#define KERNELS_SUPPORT_TOPK_CHAIN_H

#include "tle/tle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TopkChain TopkChain;

/* NULL without memory. */
TopkChain *topk_chain_open(tle_handle h, uint64_t seed);
void topk_chain_close(TopkChain *c);
/* Overwrites what earlier runs left; waits for the device. */
bool topk_chain_wipe(TopkChain *c);
/* Enqueues all of it; may be captured. */
bool topk_chain_enqueue(TopkChain *c, tle_stream stream);
/* Compares with the reference, after the stream is done. */
bool topk_chain_right(TopkChain *c, char *why, size_t size);

#endif
