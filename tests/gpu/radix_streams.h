/* Checks of tle_radix_select that need graphs or much memory. Each returns false with a sentence.
 */
#ifndef GPU_RADIX_STREAMS_H
#define GPU_RADIX_STREAMS_H

#include "cli/driver.h"
#include "tle/tle.h"

/* A captured call is replayed after the lengths in device memory changed. */
bool check_radix_capture(const Driver *d, tle_handle h, char *why, size_t why_size);
/* The last rows of keys, payload and outputs start beyond 2^32 bytes, those of keys beyond 2^32
 * elements. */
bool check_radix_huge_stride(const Driver *d, tle_handle h, char *why, size_t why_size);

#endif
