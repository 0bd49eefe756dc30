/* A call of an operator on arrays in host memory: its way to the device and back, for `tle run` and
 * `tle check`. */
#ifndef CLI_HOST_CALL_H
#define CLI_HOST_CALL_H

#include "cli/element.h"
#include <stdbool.h>
#include <tle/tle.h>

typedef struct CallReport {
    char variant[128];
    double microseconds; /* of the last of the calls */
} CallReport;

/* Memory of a device, filled from `from` unless that is NULL; NULL after a message. */
void *to_device(tle_handle handle, const void *from, size_t bytes);
/* Copies an array to the device; an absent one stays absent. */
bool array_to_device(tle_handle handle, const void *from, int64_t elements, size_t element,
                     void **out);

/* The functions of an operator, on its parameters. */
typedef struct HostCall {
    const char *operator_name;
    const void *params;
    tle_status (*workspace_size)(tle_handle handle, const void *params, size_t *size);
    tle_status (*call)(tle_handle handle, const void *params, void *workspace, size_t size);
} HostCall;

/* Calls `calls` times, so that the last can be timed without loading, and waits. Returns 0, or an
 * exit status after a message. */
int call_repeatedly(tle_handle handle, const HostCall *call, int calls, CallReport *report);

/* ---- topk ---- */

/* [rows, k] results. Arrays that are NULL are not passed. */
typedef struct HostTopk {
    ElementType type; /* of scores and values */
    const void *scores;
    int64_t rows, columns, row_stride, k;
    const int32_t *lengths, *row_starts; /* lengths: [requests] */
    int32_t *indices;
    size_t misalign; /* elements by which the device copies are shifted */
    bool sorted, absolute;
    int64_t next_n;
    void *values;
    int32_t *raw_indices;
    const int32_t *offsets, *row_to_table, *page_table;
    int64_t tables, pages, page_size; /* the table is [tables, pages] */
} HostTopk;

/* Entries of lengths. */
int64_t host_topk_requests(const HostTopk *call);
int run_host_topk(tle_handle handle, const HostTopk *call, int calls, CallReport *report);

/* ---- radix ---- */

typedef struct HostRadix {
    int32_t dtype;
    uint32_t key_bytes;
    const void *keys;
    int64_t rows, columns, row_stride, k; /* the stride of the payload, too */
    const int32_t *lengths;
    bool smallest, sorted;
    int32_t payload_bytes;
    const void *payload;
    int32_t *indices;
    void *values, *payload_out;
    size_t misalign;
} HostRadix;

int run_host_radix(tle_handle handle, const HostRadix *call, int calls, CallReport *report);

#endif
