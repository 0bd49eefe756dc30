/* Messages and handles: what every command needs. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int complain(const char *format, ...) {
    va_list args;
    fputs("tle: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return EXIT_FAILED;
}

int complain_status(const char *what, tle_status status) {
    return complain("%s: %s (%s)", what, tle_last_error(), tle_status_name(status));
}

static bool kind_named(const char *name, int32_t *kind) {
    static const char *const names[] = {"cuda", "emu", "none"};
    for (int i = 0; i < 3; i++) {
        if (!strcmp(name, names[i])) {
            *kind = TLE_DEVICE_CUDA + i;
            return true;
        }
    }
    return false;
}

/* A GPU where there is one; the note says why not. */
static int32_t default_kind(void) {
    int32_t count = 0;
    if (getenv("TLE_DEVICE"))
        return TLE_DEVICE_DEFAULT;
    tle_status status = tle_device_count(TLE_DEVICE_CUDA, &count);
    if (!status && count > 0)
        return TLE_DEVICE_CUDA;
    fprintf(stderr, "tle: running on the emulator, since there is no GPU (%s)\n",
            status ? tle_last_error() : "the driver sees none");
    return TLE_DEVICE_EMU;
}

int open_handle(const Options *o, tle_handle *out) {
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    int64_t ordinal = -1;
    if (!options_int(o, OPT_ordinal, 0, INT32_MAX, -1, &ordinal))
        return EXIT_USAGE;
    if (!o->value[OPT_device])
        options.device_kind = default_kind();
    else if (!kind_named(o->value[OPT_device], &options.device_kind)) {
        complain("--device is '%s'; known are cuda, emu and none", o->value[OPT_device]);
        return EXIT_USAGE;
    }
    options.device_ordinal = (int32_t)ordinal;
    options.arch = o->value[OPT_arch];
    options.dispatch_overlay = o->value[OPT_dispatch];
    tle_status status = tle_create(out, &options);
    return status ? complain_status("no handle", status) : 0;
}

int open_for_questions(const Options *o, tle_handle *out) {
    Options questions = *o;
    if (!o->value[OPT_device])
        questions.value[OPT_device] = "none";
    return open_handle(&questions, out);
}
