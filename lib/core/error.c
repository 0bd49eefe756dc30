/* The error record of each thread. */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local TleiError thread_error;

TleiError *tlei_thread_error(void) {
    return &thread_error;
}

const char *tle_last_error(void) {
    return thread_error.text;
}

int32_t tle_last_native_error(void) {
    return thread_error.native;
}

static void fill(TleiError *e, tle_status status, int32_t native, const char *format,
                 va_list args) {
    e->status = status;
    e->native = native;
    vsnprintf(e->text, sizeof e->text, format, args);
}

tle_status tlei_fail(TleiError *e, tle_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fill(e, status, 0, format, args);
    va_end(args);
    return status;
}

tle_status tlei_fail_native(TleiError *e, tle_status status, int32_t native, const char *format,
                            ...) {
    va_list args;
    va_start(args, format);
    fill(e, status, native, format, args);
    va_end(args);
    return status;
}
