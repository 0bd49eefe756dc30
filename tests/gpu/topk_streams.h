/* Checks of tle_topk_select that need streams and graphs. Each returns false with a sentence. */
#ifndef GPU_TOPK_STREAMS_H
#define GPU_TOPK_STREAMS_H

#include "cli/driver.h"
#include "tle/tle.h"

/* Two streams run different batches at once, again and again. */
bool check_two_streams(const Driver *d, tle_handle h, char *why, size_t why_size);
/* Four threads share one handle, each with a stream of its own. */
bool check_threads(const Driver *d, tle_handle h, char *why, size_t why_size);
/* A captured call is replayed after the lengths in device memory changed. */
bool check_capture(const Driver *d, tle_handle h, char *why, size_t why_size);
/* The last row starts beyond 2^32 elements. */
bool check_huge_stride(const Driver *d, tle_handle h, char *why, size_t why_size);

#endif
