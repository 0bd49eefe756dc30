/* Errors: a status, a full sentence and the driver's own code.
 *
 * Internal functions take the record to fill, so that a question (`_supported`) can be asked
 * without touching the thread's last error. Public functions pass tlei_thread_error(). A record is
 * written only on failure. Nothing here allocates. */
#ifndef CORE_ERROR_H
#define CORE_ERROR_H

#include <tle/tle.h>

typedef struct TleiError {
    tle_status status;
    int32_t native;
    char text[1024];
} TleiError;

TleiError *tlei_thread_error(void);

/* Fills the record and returns the status, for `return tlei_fail(...)`. */
__attribute__((format(printf, 3, 4))) tle_status tlei_fail(TleiError *e, tle_status status,
                                                           const char *format, ...);
__attribute__((format(printf, 4, 5))) tle_status tlei_fail_native(TleiError *e, tle_status status,
                                                                  int32_t native,
                                                                  const char *format, ...);

#endif
