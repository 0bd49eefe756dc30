/* tle-gpu-check: every duty of the operators on a real GPU. Prints one line a group, writes one
 * JSON file, exits 1 when any group failed and 2 when there is no GPU. */
#define _POSIX_C_SOURCE 200809L
#include "gpu/radix_streams.h"
#include "gpu/topk_dependent.h"
#include "gpu/topk_streams.h"
#include "kernels/support/radix_call_suite.h"
#include "kernels/support/topk_suite.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Check {
    const Driver *driver;
    tle_handle h;
    uint32_t cases, random_cases;
    int64_t max_columns;
    ElementType type; /* of run_typed */
    char why[1200];
} Check;

static bool visit(const TopkCase *c, void *user) {
    Check *k = user;
    k->cases++;
    return run_topk_case(k->h, c, k->why, sizeof k->why);
}

static bool run_lengths(Check *k) {
    return topk_lengths(visit, k, k->max_columns);
}

static bool run_values(Check *k) {
    return topk_values(visit, k);
}

static bool run_ragged(Check *k) {
    return topk_ragged(visit, k);
}

static bool run_strides(Check *k) {
    return topk_strides(visit, k);
}

static bool run_ks(Check *k) {
    return topk_ks(visit, k);
}

static bool run_random(Check *k) {
    return topk_random(visit, k, 42, k->random_cases, 20000);
}

static bool run_forms(Check *k) {
    return topk_forms(visit, k, k->max_columns) &&
           topk_random_forms(visit, k, 43, k->random_cases, 20000);
}

/* All of the lists above for another type of scores. */
static bool visit_typed(const TopkCase *c, void *user) {
    Check *k = user;
    TopkCase typed = *c;
    typed.type = k->type;
    return visit(&typed, k);
}

static bool run_typed(Check *k, ElementType type) {
    k->type = type;
    return topk_lengths(visit_typed, k, k->max_columns) && topk_values(visit_typed, k) &&
           topk_ragged(visit_typed, k) && topk_strides(visit_typed, k) && topk_ks(visit_typed, k) &&
           topk_random(visit_typed, k, 44, k->random_cases, 20000) &&
           topk_forms(visit_typed, k, k->max_columns) &&
           topk_random_forms(visit_typed, k, 45, k->random_cases, 20000);
}

static bool run_fp16(Check *k) {
    return run_typed(k, ELEMENT_FP16);
}

static bool run_bf16(Check *k) {
    return run_typed(k, ELEMENT_BF16);
}

static bool run_streams(Check *k) {
    k->cases++;
    return check_two_streams(k->driver, k->h, k->why, sizeof k->why);
}

static bool run_threads(Check *k) {
    k->cases++;
    return check_threads(k->driver, k->h, k->why, sizeof k->why);
}

static bool run_capture(Check *k) {
    k->cases++;
    return check_capture(k->driver, k->h, k->why, sizeof k->why);
}

static bool run_dependent(Check *k) {
    k->cases++;
    return check_dependent(k->driver, k->h, k->why, sizeof k->why);
}

static bool run_huge(Check *k) {
    k->cases++;
    return check_huge_stride(k->driver, k->h, k->why, sizeof k->why);
}

/* ---- radix ---- */

static bool visit_radix(const RadixCall *c, void *user) {
    Check *k = user;
    k->cases++;
    return run_radix_call(k->h, c, k->why, sizeof k->why);
}

#define RADIX_GROUP(name)                                                                          \
    static bool run_radix_##name(Check *k) {                                                       \
        return radix_call_##name(visit_radix, k);                                                  \
    }

RADIX_GROUP(dtypes)
RADIX_GROUP(orders)
RADIX_GROUP(sorted)
RADIX_GROUP(payload)
RADIX_GROUP(ragged)
RADIX_GROUP(strides)
RADIX_GROUP(ks)

static bool run_radix_lengths(Check *k) {
    return radix_call_lengths(visit_radix, k, k->max_columns);
}

static bool run_radix_random(Check *k) {
    return radix_call_random(visit_radix, k, 44, k->random_cases, 20000);
}

static bool run_radix_capture(Check *k) {
    k->cases++;
    return check_radix_capture(k->driver, k->h, k->why, sizeof k->why);
}

static bool run_radix_huge(Check *k) {
    k->cases++;
    return check_radix_huge_stride(k->driver, k->h, k->why, sizeof k->why);
}

static const struct {
    const char *name;
    bool (*run)(Check *);
} groups[] = {
    {"topk.lengths", run_lengths},
    {"topk.values", run_values},
    {"topk.ragged", run_ragged},
    {"topk.strides", run_strides},
    {"topk.ks", run_ks},
    {"topk.random", run_random},
    {"topk.forms", run_forms},
    {"topk.fp16", run_fp16},
    {"topk.bf16", run_bf16},
    {"topk.streams", run_streams},
    {"topk.threads", run_threads},
    {"topk.capture", run_capture},
    {"topk.dependent", run_dependent},
    {"topk.huge-stride", run_huge},
    {"radix.dtypes", run_radix_dtypes},
    {"radix.orders", run_radix_orders},
    {"radix.sorted", run_radix_sorted},
    {"radix.payload", run_radix_payload},
    {"radix.lengths", run_radix_lengths},
    {"radix.ragged", run_radix_ragged},
    {"radix.strides", run_radix_strides},
    {"radix.ks", run_radix_ks},
    {"radix.random", run_radix_random},
    {"radix.capture", run_radix_capture},
    {"radix.huge-stride", run_radix_huge},
};

enum { GROUP_COUNT = sizeof groups / sizeof *groups };

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* JSON needs no more than this for our own sentences: no control characters occur in them. */
static void put_string(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static bool run_groups(Check *k, const char *only, FILE *out) {
    bool all = true, first = true;
    for (int i = 0; i < GROUP_COUNT; i++) {
        if (only && !strstr(groups[i].name, only))
            continue;
        double start = seconds();
        k->cases = 0;
        k->why[0] = 0;
        bool ok = groups[i].run(k);
        printf("%-18s %s  %u cases  %.1f s  %s\n", groups[i].name, ok ? "ok    " : "FAILED",
               k->cases, seconds() - start, k->why);
        fflush(stdout);
        if (out) {
            fprintf(out, "%s\n  {\"group\": \"%s\", \"ok\": %s, \"cases\": %u, \"why\": ",
                    first ? "" : ",", groups[i].name, ok ? "true" : "false", k->cases);
            put_string(out, k->why);
            fputc('}', out);
        }
        first = false;
        all = all && ok;
    }
    return all;
}

static int check(Check *k, const char *only, const char *path) {
    tle_device_info info = {.struct_size = sizeof info};
    FILE *out = path ? fopen(path, "w") : NULL;
    if (path && !out) {
        fprintf(stderr, "tle-gpu-check: cannot write %s\n", path);
        return 2;
    }
    tle_handle_device(k->h, &info);
    printf("%s, driver %d, %s\n", info.name, info.driver_version, tle_build_info());
    if (out)
        fprintf(out, "{\"schema\": 1, \"device\": \"%s\", \"driver\": %d, \"groups\": [", info.name,
                info.driver_version);
    bool ok = run_groups(k, only, out);
    if (out) {
        fprintf(out, "\n], \"ok\": %s}\n", ok ? "true" : "false");
        fclose(out);
    }
    return ok ? 0 : 1;
}

typedef struct Options {
    const char *path, *only;
} Options;

static bool read_options(int argc, char **argv, Check *k, Options *o) {
    static const struct option options[] = {{"out", required_argument, NULL, 'o'},
                                            {"group", required_argument, NULL, 'g'},
                                            {"random", required_argument, NULL, 'n'},
                                            {"max-columns", required_argument, NULL, 'm'},
                                            {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "o:g:n:m:", options, NULL)) != -1) {
        if (c == 'o')
            o->path = optarg;
        else if (c == 'g')
            o->only = optarg;
        else if (c == 'n')
            k->random_cases = (uint32_t)strtoul(optarg, NULL, 10);
        else if (c == 'm')
            k->max_columns = strtoll(optarg, NULL, 10);
        else
            return false;
    }
    return optind == argc;
}

int main(int argc, char **argv) {
    Driver driver;
    Check k = {.driver = &driver, .random_cases = 1000, .max_columns = 1048576};
    Options o = {NULL, NULL};
    tle_handle_options handle = TLE_HANDLE_OPTIONS_INIT;
    if (!read_options(argc, argv, &k, &o)) {
        fprintf(stderr, "usage: tle-gpu-check [--out results.json] [--group name] [--random cases] "
                        "[--max-columns n]\n");
        return 2;
    }
    handle.device_kind = TLE_DEVICE_CUDA;
    if (!driver_open(&driver, 0, k.why, sizeof k.why)) {
        fprintf(stderr, "tle-gpu-check: %s\n", k.why);
        return 2;
    }
    if (tle_create(&k.h, &handle)) {
        fprintf(stderr, "tle-gpu-check: %s\n", tle_last_error());
        return 2;
    }
    int code = check(&k, o.only, o.path);
    tle_destroy(k.h);
    return code;
}
