/* Log: flags by name, the sink, and the composition of a line. */
#include "core/log.h"
#include "core/env.h"
#include "core/text.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint32_t flag;
} flag_names[] = {
#define X(constant, name) {name, TLE_LOG_##constant},
#include "core/log.def"
#undef X
};

static uint32_t flag_of(const char *name, size_t len) {
    for (size_t i = 0; i < sizeof flag_names / sizeof flag_names[0]; i++)
        if (strlen(flag_names[i].name) == len && !memcmp(flag_names[i].name, name, len))
            return flag_names[i].flag;
    return 0;
}

tle_status tlei_log_parse(const char *text, uint32_t *flags, TleiError *e) {
    uint32_t all = 0;
    for (const char *p = text; *p;) {
        size_t len = strcspn(p, ",");
        uint32_t flag = flag_of(p, len);
        if (!flag)
            return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                             "TLE_LOG names '%.*s'; known are error, warn, check, dispatch, load, "
                             "profile and all",
                             (int)len, p);
        all |= flag;
        p += len + (p[len] == ',');
    }
    *flags = all;
    return TLE_STATUS_OK;
}

/* Replaces %i by the process id. */
static void expand_path(const char *pattern, char *path, size_t size) {
    TleiText t;
    tlei_text_init(&t, path, size);
    for (const char *p = pattern; *p; p++) {
        if (p[0] == '%' && p[1] == 'i') {
            tlei_text_add(&t, "%ld", (long)getpid());
            p++;
        } else {
            tlei_text_add(&t, "%c", *p);
        }
    }
}

static tle_status open_file(TleiLog *log, TleiError *e) {
    const char *pattern = tlei_env(TLEI_ENV_LOG_FILE);
    if (!pattern || !log->flags)
        return TLE_STATUS_OK;
    char path[1024];
    expand_path(pattern, path, sizeof path);
    log->file = fopen(path, "ae");
    if (!log->file)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "TLE_LOG_FILE: cannot append to '%s'",
                         path);
    setvbuf(log->file, NULL, _IOLBF, 0);
    return TLE_STATUS_OK;
}

tle_status tlei_log_open(TleiLog *log, uint32_t flags, tle_log_fn fn, void *user, TleiError *e) {
    log->flags = flags;
    log->fn = fn;
    log->user = user;
    const char *names = tlei_env(TLEI_ENV_LOG);
    if (!flags && names) {
        tle_status status = tlei_log_parse(names, &log->flags, e);
        if (status)
            return status;
    }
    return fn ? TLE_STATUS_OK : open_file(log, e);
}

void tlei_log_close(TleiLog *log) {
    if (log->file)
        fclose(log->file);
    log->file = NULL;
}

void tlei_log(const TleiLog *log, uint32_t flag, const char *op, const char *event,
              const char *replay, const char *format, ...) {
    if (!tlei_log_on(log, flag))
        return;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char detail[1100], line[1600];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    snprintf(line, sizeof line, "tle,1,%lld.%06ld,%ld,%s,%s,%s,%s,%s", (long long)now.tv_sec,
             now.tv_nsec / 1000, (long)getpid(), log->device, op, event, detail, replay);
    if (log->fn)
        log->fn(flag, line, log->user);
    else
        fprintf(log->file ? log->file : stderr, "%s\n", line);
}
