/* Programmatic dependent launch of topk_select on a GPU: chains of dependent selections in a stream
 * and in a replayed graph. */
#ifndef GPU_TOPK_DEPENDENT_H
#define GPU_TOPK_DEPENDENT_H

#include "cli/driver.h"
#include "tle/tle.h"

bool check_dependent(const Driver *d, tle_handle h, char *why, size_t size);

#endif
