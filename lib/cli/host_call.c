/* What the calls of all operators on host arrays have in common. */
#include "cli/host_call.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

void *to_device(tle_handle handle, const void *from, size_t bytes) {
    void *memory = NULL;
    tle_status status = tle_alloc(handle, bytes ? bytes : 1, &memory);
    if (!status && from)
        status = tle_copy(handle, memory, from, bytes);
    if (!status)
        return memory;
    complain_status("device memory", status);
    tle_free(handle, memory);
    return NULL;
}

bool array_to_device(tle_handle h, const void *from, int64_t elements, size_t element, void **out) {
    if (from)
        *out = to_device(h, from, (size_t)elements * element);
    return !from || *out;
}

/* Keeps the variant's name, the eighth field of a dispatch line. */
static void keep_variant(uint32_t flag, const char *line, void *user) {
    CallReport *report = (CallReport *)user;
    for (int field = 1; flag == TLE_LOG_DISPATCH && field < 8 && line; field++)
        line = (line = strchr(line, ',')) ? line + 1 : NULL;
    if (flag == TLE_LOG_DISPATCH && line)
        snprintf(report->variant, sizeof report->variant, "%.*s", (int)strcspn(line, ","), line);
}

static tle_status call_all(tle_handle h, const HostCall *c, int calls, void *workspace, size_t size,
                           CallReport *report) {
    tle_status status = TLE_STATUS_OK;
    for (int i = 0; i < calls && !status; i++) {
        double begin = now_us();
        status = c->call(h, c->params, workspace, size);
        if (!status)
            status = tle_synchronize(h, NULL);
        report->microseconds = now_us() - begin;
    }
    return status;
}

int call_repeatedly(tle_handle h, const HostCall *c, int calls, CallReport *report) {
    void *workspace = NULL;
    size_t size = 0;
    *report = (CallReport){0};
    tle_status status = c->workspace_size(h, c->params, &size);
    if (!status && size && !(workspace = to_device(h, NULL, size)))
        return EXIT_FAILED;
    tle_set_log(h, TLE_LOG_DISPATCH, keep_variant, report);
    if (!status)
        status = call_all(h, c, calls, workspace, size, report);
    tle_set_log(h, 0, NULL, NULL);
    tle_free(h, workspace);
    return status ? complain_status(c->operator_name, status) : 0;
}
