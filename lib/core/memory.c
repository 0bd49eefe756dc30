/* Device memory for programs that have no CUDA run time of their own. */
#include "core/handle.h"

tle_status tle_alloc(tle_handle h, size_t bytes, void **memory) {
    TleiError *e = tlei_thread_error();
    tle_status status = tlei_check_handle(h, e);
    if (!status && (!memory || !bytes))
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s",
                           memory ? "bytes is 0" : "memory is NULL");
    if (!status)
        status = h->device->ops->alloc(h->device, bytes, memory, e);
    return tlei_finish(h, "alloc", status, e);
}

tle_status tle_free(tle_handle h, void *memory) {
    TleiError *e = tlei_thread_error();
    tle_status status = tlei_check_handle(h, e);
    if (!status && memory)
        status = h->device->ops->free(h->device, memory, e);
    return tlei_finish(h, "free", status, e);
}

tle_status tle_copy(tle_handle h, void *to, const void *from, size_t bytes) {
    TleiError *e = tlei_thread_error();
    tle_status status = tlei_check_handle(h, e);
    if (!status && bytes && (!to || !from))
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "%s is NULL", to ? "from" : "to");
    if (!status && bytes)
        status = h->device->ops->copy(h->device, to, from, bytes, e);
    return tlei_finish(h, "copy", status, e);
}

tle_status tle_synchronize(tle_handle h, tle_stream stream) {
    TleiError *e = tlei_thread_error();
    tle_status status = tlei_check_handle(h, e);
    if (!status)
        status = h->device->ops->synchronize(h->device, stream, e);
    return tlei_finish(h, "synchronize", status, e);
}
