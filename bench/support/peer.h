/* The launcher that a library exports to be timed beside libtle (bench/topk_torch.py --peer).
 *
 * Plain C, so that any kernel can be wrapped without this project's build. A library is one
 * implementation: the functions below, exported. Calls of it come one at a time, and are captured
 * into CUDA graphs; so they neither allocate nor wait. docs/benchmarks.md has an example. */
#ifndef BENCH_SUPPORT_PEER_H
#define BENCH_SUPPORT_PEER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returned by a launcher for a call that it does not take. Any other value but 0 is the error code
 * of the CUDA run time: the call failed. */
enum { TLE_PEER_UNSUPPORTED = -1 };

/* For tables: "SGLang v2", and which state of its source this is. */
const char *tle_peer_name(void);
const char *tle_peer_version(void);

/* Whether rows may be shorter than `columns`; 0 where `lengths` is not looked at. */
int tle_peer_ragged(void);

/* Bytes of device memory for calls of a shape. They are zero at the first call of a shape; then the
 * memory is the launcher's, so what it leaves there is what its next call of the shape finds. */
int tle_peer_workspace_size(int64_t rows, int64_t columns, int64_t k, size_t *size);

/* Enqueues the selection of the k largest of each row's first lengths[row] scores: `indices` is
 * [rows, k], in any order, -1 behind the last of a row shorter than k. All pointers are device
 * memory, `row_stride` counts elements, `lengths` is never NULL, `stream` is a CUstream. */
int tle_peer_topk(const float *scores, int64_t rows, int64_t columns, int64_t row_stride,
                  const int32_t *lengths, int64_t k, int32_t *indices, void *workspace,
                  size_t workspace_size, void *stream);

#ifdef __cplusplus
}
#endif

#endif
