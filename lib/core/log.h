/* The log of one handle. A line is
 *   tle,1,<seconds>,<pid>,<device>,<operator>,<event>,<variant or reason>,<replay command>
 * and costs nothing but a test of a bit where its flag is off. */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "core/error.h"
#include <stdio.h>

typedef struct TleiLog {
    uint32_t flags;
    tle_log_fn fn;
    void *user;
    FILE *file; /* of TLE_LOG_FILE; NULL: stderr */
    char device[16];
} TleiLog;

/* flags 0 asks TLE_LOG; fn NULL asks TLE_LOG_FILE. */
tle_status tlei_log_open(TleiLog *log, uint32_t flags, tle_log_fn fn, void *user, TleiError *e);
void tlei_log_close(TleiLog *log);

static inline int tlei_log_on(const TleiLog *log, uint32_t flag) {
    return (log->flags & flag) != 0;
}

/* op and replay may be "". */
__attribute__((format(printf, 6, 7))) void tlei_log(const TleiLog *log, uint32_t flag,
                                                    const char *op, const char *event,
                                                    const char *replay, const char *format, ...);

/* Parses "dispatch,load". */
tle_status tlei_log_parse(const char *text, uint32_t *flags, TleiError *e);

#endif
