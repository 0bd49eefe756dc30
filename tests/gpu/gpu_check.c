/* tle-gpu-check: every duty of the operators on a real GPU. Prints one line a group, writes one
 * JSON file, exits 1 when any group failed and 2 when there is no GPU. Most groups are lists of
 * cases that several threads compare with the reference; on the emulator those run alone. Under
 * slow tools several processes take a part of the lists each: --part 3/8 is the third of eight. */
#define _POSIX_C_SOURCE 200809L
#include "gpu/many.h"
#include "gpu/radix_streams.h"
#include "gpu/same_bytes.h"
#include "gpu/topk_dependent.h"
#include "gpu/topk_streams.h"
#include "kernels/support/radix_call_suite.h"
#include "kernels/support/topk_suite.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Check {
    const Driver *driver; /* NULL on the emulator */
    tle_handle h;
    const tle_handle_options *options;
    Many many;
    uint32_t cases, random_cases;
    int64_t max_columns;
    unsigned part, parts; /* of each list of cases */
    int runs;
    ElementType type; /* of add_typed */
    char why[1200];
} Check;

/* ---- topk: lists ---- */

static bool add_topk(const TopkCase *c, void *user) {
    Check *k = user;
    return many_add(&k->many, c);
}

static bool add_typed(const TopkCase *c, void *user) {
    Check *k = user;
    TopkCase typed = *c;
    typed.type = k->type;
    return add_topk(&typed, k);
}

/* Types in turn. */
static bool add_any_type(const TopkCase *c, void *user) {
    Check *k = user;
    TopkCase typed = *c;
    typed.type = (ElementType)(k->many.count % ELEMENT_COUNT);
    return add_topk(&typed, k);
}

static bool list_lengths(Check *k) {
    return topk_lengths(add_topk, k, k->max_columns);
}

static bool list_values(Check *k) {
    return topk_values(add_topk, k);
}

static bool list_regimes(Check *k) {
    return topk_regimes(add_any_type, k, k->max_columns);
}

static bool list_ragged(Check *k) {
    return topk_ragged(add_topk, k);
}

static bool list_strides(Check *k) {
    return topk_strides(add_topk, k);
}

static bool list_ks(Check *k) {
    return topk_ks(add_topk, k);
}

static bool list_forms(Check *k) {
    return topk_forms(add_topk, k, k->max_columns);
}

/* Half of them with forms. */
static bool list_random(Check *k) {
    uint32_t half = k->random_cases / 2;
    return topk_random(add_any_type, k, 42, k->random_cases - half, 20000) &&
           topk_random_forms(add_any_type, k, 43, half, 20000);
}

/* All lists but the last for another type of scores. */
static bool list_typed(Check *k, ElementType type) {
    k->type = type;
    return topk_lengths(add_typed, k, k->max_columns) && topk_values(add_typed, k) &&
           topk_ragged(add_typed, k) && topk_strides(add_typed, k) && topk_ks(add_typed, k) &&
           topk_forms(add_typed, k, k->max_columns);
}

static bool list_fp16(Check *k) {
    return list_typed(k, ELEMENT_FP16);
}

static bool list_bf16(Check *k) {
    return list_typed(k, ELEMENT_BF16);
}

/* ---- topk: programs ---- */

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

static bool run_same(Check *k, bool (*same)(SameBytes *)) {
    SameBytes s = {.h = k->h,
                   .options = k->options,
                   .runs = k->runs,
                   .max_columns = k->max_columns,
                   .why = k->why,
                   .why_size = sizeof k->why};
    bool ok = same(&s);
    k->cases = s.compared;
    return ok;
}

static bool run_same_topk(Check *k) {
    return run_same(k, same_topk);
}

/* ---- radix ---- */

static bool add_radix(const RadixCall *c, void *user) {
    Check *k = user;
    return many_add(&k->many, c);
}

#define RADIX_LIST(name)                                                                           \
    static bool list_radix_##name(Check *k) {                                                      \
        return radix_call_##name(add_radix, k);                                                    \
    }

RADIX_LIST(dtypes)
RADIX_LIST(orders)
RADIX_LIST(sorted)
RADIX_LIST(payload)
RADIX_LIST(ragged)
RADIX_LIST(strides)
RADIX_LIST(ks)

static bool list_radix_lengths(Check *k) {
    return radix_call_lengths(add_radix, k, k->max_columns);
}

static bool list_radix_regimes(Check *k) {
    return radix_call_regimes(add_radix, k, k->max_columns);
}

static bool list_radix_random(Check *k) {
    return radix_call_random(add_radix, k, 44, k->random_cases, 20000);
}

static bool run_radix_capture(Check *k) {
    k->cases++;
    return check_radix_capture(k->driver, k->h, k->why, sizeof k->why);
}

static bool run_radix_huge(Check *k) {
    k->cases++;
    return check_radix_huge_stride(k->driver, k->h, k->why, sizeof k->why);
}

static bool run_same_radix(Check *k) {
    return run_same(k, same_radix);
}

/* ---- groups ---- */

/* A group is a list of cases of a kind, or a program of its own. */
typedef struct Group {
    const char *name;
    bool (*run)(Check *);
    const CaseKind *kind;
    bool streams; /* it needs them, or graphs, or a GPU's memory */
} Group;

static const Group groups[] = {
    {"topk.lengths", list_lengths, &topk_cases, false},
    {"topk.values", list_values, &topk_cases, false},
    {"topk.regimes", list_regimes, &topk_cases, false},
    {"topk.ragged", list_ragged, &topk_cases, false},
    {"topk.strides", list_strides, &topk_cases, false},
    {"topk.ks", list_ks, &topk_cases, false},
    {"topk.forms", list_forms, &topk_cases, false},
    {"topk.fp16", list_fp16, &topk_cases, false},
    {"topk.bf16", list_bf16, &topk_cases, false},
    {"topk.random", list_random, &topk_cases, false},
    {"topk.same-bytes", run_same_topk, NULL, false},
    {"topk.streams", run_streams, NULL, true},
    {"topk.threads", run_threads, NULL, true},
    {"topk.capture", run_capture, NULL, true},
    {"topk.dependent", run_dependent, NULL, true},
    {"topk.huge-stride", run_huge, NULL, true},
    {"radix.dtypes", list_radix_dtypes, &radix_calls, false},
    {"radix.orders", list_radix_orders, &radix_calls, false},
    {"radix.sorted", list_radix_sorted, &radix_calls, false},
    {"radix.payload", list_radix_payload, &radix_calls, false},
    {"radix.lengths", list_radix_lengths, &radix_calls, false},
    {"radix.regimes", list_radix_regimes, &radix_calls, false},
    {"radix.ragged", list_radix_ragged, &radix_calls, false},
    {"radix.strides", list_radix_strides, &radix_calls, false},
    {"radix.ks", list_radix_ks, &radix_calls, false},
    {"radix.random", list_radix_random, &radix_calls, false},
    {"radix.same-bytes", run_same_radix, NULL, false},
    {"radix.capture", run_radix_capture, NULL, true},
    {"radix.huge-stride", run_radix_huge, NULL, true},
};

enum { GROUP_COUNT = sizeof groups / sizeof *groups };

static bool run_group(Check *k, const Group *g) {
    k->cases = 0;
    k->why[0] = 0;
    if (!g->kind)
        return g->run(k);
    k->many.kind = g->kind;
    bool ok = g->run(k);
    many_keep(&k->many, k->part - 1, k->parts);
    k->cases = (uint32_t)k->many.count;
    if (!ok)
        snprintf(k->why, sizeof k->why, "no memory for the list");
    return many_run(&k->many, k->why, sizeof k->why) && ok;
}

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

static void report(FILE *out, const Check *k, const Group *g, bool ok, double time, bool first) {
    printf("%-18s %s  %u cases  %.1f s  %s\n", g->name, ok ? "ok    " : "FAILED", k->cases, time,
           k->why);
    fflush(stdout);
    if (!out)
        return;
    fprintf(out, "%s\n  {\"group\": \"%s\", \"ok\": %s, \"cases\": %u, \"why\": ", first ? "" : ",",
            g->name, ok ? "true" : "false", k->cases);
    put_string(out, k->why);
    fputc('}', out);
    fflush(out);
}

static bool run_groups(Check *k, const char *only, FILE *out) {
    bool all = true, first = true;
    for (int i = 0; i < GROUP_COUNT; i++) {
        if ((only && !strstr(groups[i].name, only)) || (groups[i].streams && !k->driver) ||
            (!groups[i].kind && k->part > 1))
            continue;
        double start = seconds();
        bool ok = run_group(k, &groups[i]);
        report(out, k, &groups[i], ok, seconds() - start, first);
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
    bool emulator;
} Options;

static bool read_options(int argc, char **argv, Check *k, Options *o) {
    static const struct option options[] = {{"out", required_argument, NULL, 'o'},
                                            {"group", required_argument, NULL, 'g'},
                                            {"random", required_argument, NULL, 'n'},
                                            {"runs", required_argument, NULL, 'r'},
                                            {"max-columns", required_argument, NULL, 'm'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"device", required_argument, NULL, 'd'},
                                            {"part", required_argument, NULL, 'p'},
                                            {NULL, 0, NULL, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 'o')
            o->path = optarg;
        else if (c == 'g')
            o->only = optarg;
        else if (c == 'n')
            k->random_cases = (uint32_t)strtoul(optarg, NULL, 10);
        else if (c == 'r')
            k->runs = (int)strtol(optarg, NULL, 10);
        else if (c == 'm')
            k->max_columns = strtoll(optarg, NULL, 10);
        else if (c == 't')
            k->many.threads = (int)strtol(optarg, NULL, 10);
        else if (c == 'p' && sscanf(optarg, "%u/%u", &k->part, &k->parts) == 2 && k->part > 0 &&
                 k->part <= k->parts)
            continue;
        else if (c == 'd' && (!strcmp(optarg, "cuda") || !strcmp(optarg, "emu")))
            o->emulator = !strcmp(optarg, "emu");
        else
            return false;
    }
    return optind == argc && k->many.threads > 0;
}

int main(int argc, char **argv) {
    Driver driver;
    tle_handle_options handle = TLE_HANDLE_OPTIONS_INIT;
    Check k = {.options = &handle,
               .random_cases = 1000,
               .max_columns = 1048576,
               .part = 1,
               .parts = 1,
               .runs = 100};
    Options o = {NULL, NULL, false};
    k.many.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (!read_options(argc, argv, &k, &o)) {
        fprintf(stderr, "usage: tle-gpu-check [--out results.json] [--group name] [--random cases] "
                        "[--runs n] [--max-columns n] [--threads n] [--part i/n] "
                        "[--device cuda|emu]\n");
        return 2;
    }
    handle.device_kind = o.emulator ? TLE_DEVICE_EMU : TLE_DEVICE_CUDA;
    if (!o.emulator && !driver_open(&driver, 0, k.why, sizeof k.why)) {
        fprintf(stderr, "tle-gpu-check: %s\n", k.why);
        return 2;
    }
    if (tle_create(&k.h, &handle)) {
        fprintf(stderr, "tle-gpu-check: %s\n", tle_last_error());
        return 2;
    }
    k.driver = k.many.driver = o.emulator ? NULL : &driver;
    k.many.h = k.h;
    int code = check(&k, o.only, o.path);
    tle_destroy(k.h);
    return code;
}
