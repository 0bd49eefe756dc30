/* Loading and launching for `tle emu` and `tle profile`. */
#include "cli/emu_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- PTX ---- */

static int read_file(const char *path, EmuJob *job) {
    FILE *f = fopen(path, "rb");
    long size = -1;
    if (!f)
        return complain("%s cannot be opened", path);
    if (!fseek(f, 0, SEEK_END))
        size = ftell(f);
    rewind(f);
    job->ptx = size >= 0 ? (char *)malloc((size_t)size + 1) : NULL;
    job->ptx_size = job->ptx ? fread(job->ptx, 1, (size_t)size, f) : 0;
    fclose(f);
    return job->ptx && job->ptx_size == (size_t)size ? 0 : complain("%s cannot be read", path);
}

static int keep_shape(const tle_variant_info *v, void *user) {
    const void **wanted = (const void **)user;
    EmuJob *job = (EmuJob *)(uintptr_t)wanted[1];
    if (strcmp(v->name, (const char *)wanted[0]))
        return 0;
    job->config.block[0] = (uint32_t)v->threads;
    job->config.dynamic_shared_bytes = (uint32_t)v->shared_bytes;
    for (int k = 0; k < 3; k++)
        job->config.cluster[k] = (uint32_t)v->cluster[k];
    return 1;
}

/* A variant's PTX, block, cluster and shared memory. */
static int read_variant(const Options *o, EmuJob *job) {
    Options questions = *o;
    tle_handle handle = NULL;
    const void *wanted[] = {o->operand, job};
    questions.value[OPT_device] = "none";
    int failed = open_handle(&questions, &handle);
    if (failed)
        return failed;
    tle_status status = tle_variant_data(handle, o->operand, TLE_PART_PTX, NULL, &job->ptx_size);
    if (!status)
        job->ptx = (char *)malloc(job->ptx_size + 1);
    if (!status && job->ptx)
        status = tle_variant_data(handle, o->operand, TLE_PART_PTX, job->ptx, &job->ptx_size);
    if (!status)
        status = tle_variants(handle, NULL, keep_shape, wanted);
    failed = status ? complain_status(o->operand, status) : 0;
    tle_destroy(handle);
    return failed || job->ptx ? failed : complain("no memory");
}

/* ---- options ---- */

static bool parse_dims(const char *name, const char *text, uint32_t dims[3]) {
    for (int k = 0; text && k < 3; k++) {
        char *end = NULL;
        unsigned long n = strtoul(text, &end, 10);
        if (end == text || n == 0 || n > INT32_MAX || (*end && *end != ','))
            break;
        dims[k] = (uint32_t)n;
        if (!*end)
            return true;
        text = end + 1;
    }
    if (text)
        complain("--%s is X[,Y[,Z]], each at least 1", name);
    return !text;
}

static bool parse_schedule(const char *text, uint32_t *out) {
    static const char *const names[] = {"round-robin", "random", "adversarial"};
    for (uint32_t i = 0; text && i < 3; i++)
        if (!strcmp(text, names[i])) {
            *out = i;
            return true;
        }
    if (text)
        complain("--schedule is '%s'; known are round-robin, random and adversarial", text);
    return !text;
}

static bool parse_checks(const char *text, uint32_t *out) {
    static const struct {
        const char *name;
        uint32_t bit;
    } names[] = {{"bounds", TLE_EMU_CHECK_BOUNDS},   {"align", TLE_EMU_CHECK_ALIGN},
                 {"uninit", TLE_EMU_CHECK_UNINIT},   {"race", TLE_EMU_CHECK_RACE},
                 {"barrier", TLE_EMU_CHECK_BARRIER}, {"cluster", TLE_EMU_CHECK_CLUSTER},
                 {"proxy", TLE_EMU_CHECK_PROXY},     {"matrix", TLE_EMU_CHECK_MATRIX},
                 {"global", TLE_EMU_CHECK_GLOBAL},   {"all", TLE_EMU_CHECK_ALL},
                 {"none", TLE_EMU_CHECK_NONE}};
    if (text)
        *out = 0;
    while (text && *text) {
        size_t n = strcspn(text, ","), i = 0;
        while (i < sizeof names / sizeof *names &&
               (strlen(names[i].name) != n || memcmp(names[i].name, text, n) != 0))
            i++;
        if (i == sizeof names / sizeof *names) {
            complain("--checks: there is no check '%.*s'", (int)n, text);
            return false;
        }
        *out |= names[i].bit;
        text += n + (text[n] == ',');
    }
    return true;
}

static int parse_options(const Options *o, EmuJob *job, tle_emu_options *emu) {
    int64_t shared, seed, limit, threads;
    const char *arch = o->value[OPT_arch];
    bool ok = options_int(o, OPT_shared, 0, 1 << 20, job->config.dynamic_shared_bytes, &shared) &&
              options_int(o, OPT_seed, 0, INT64_MAX, 0, &seed) &&
              options_int(o, OPT_limit, 1, INT64_MAX, 0, &limit) &&
              options_int(o, OPT_threads, 1, INT32_MAX, 1, &threads) &&
              parse_dims("grid", o->value[OPT_grid], job->config.grid) &&
              parse_dims("block", o->value[OPT_block], job->config.block) &&
              parse_dims("cluster", o->value[OPT_cluster], job->config.cluster) &&
              parse_schedule(o->value[OPT_schedule], &emu->schedule) &&
              parse_checks(o->value[OPT_checks], &emu->checks);
    if (!ok)
        return EXIT_USAGE;
    job->config.dynamic_shared_bytes = (uint32_t)shared;
    emu->seed = (uint64_t)seed;
    emu->instruction_limit = (uint64_t)limit;
    emu->host_threads = (uint32_t)threads;
    if (arch &&
        (strncmp(arch, "sm_", 3) != 0 || !(emu->sm_arch = (uint32_t)strtoul(arch + 3, NULL, 10)))) {
        complain("--arch is '%s'; it is a name such as sm_90a", arch);
        return EXIT_USAGE;
    }
    return 0;
}

/* ---- kernel and arguments ---- */

static int find_kernel(const Options *o, EmuJob *job) {
    tle_emu_kernel_info info = {.struct_size = sizeof info};
    const char *name = o->value[OPT_kernel];
    uint32_t count = tle_emu_module_kernel_count(job->module);
    if (name && tle_emu_module_kernel(job->module, name, &job->kernel))
        return complain("%s", tle_emu_last_error(job->device));
    if (!name && count != 1)
        return complain("%s has %u kernels: name one with --kernel", o->operand, count), EXIT_USAGE;
    if (!name)
        job->kernel = tle_emu_module_kernel_at(job->module, 0);
    tle_emu_kernel_get_info(job->kernel, &info);
    for (int k = 0; k < 3 && !job->config.block[0]; k++)
        if (info.required_block[0])
            memcpy(job->config.block, info.required_block, sizeof info.required_block);
    if (!job->config.block[0])
        job->config.block[0] = info.max_threads < 128 ? info.max_threads : 128;
    if ((int)info.param_count != o->rest_count)
        return complain("%s takes %u arguments; there are %d", info.name, info.param_count,
                        o->rest_count),
               EXIT_USAGE;
    return 0;
}

static int make_arguments(const Options *o, EmuJob *job) {
    for (int i = 0; i < o->rest_count; i++) {
        size_t bytes = 0, align = 0;
        if (i == EMU_MAX_ARGS)
            return complain("more than %d arguments", EMU_MAX_ARGS);
        job->arg_count = i + 1;
        int failed = emu_arg_make(job->device, o->rest[i], &job->args[i]);
        if (failed)
            return failed;
        tle_emu_kernel_param(job->kernel, (uint32_t)i, &bytes, &align);
        if (bytes != job->args[i].bytes)
            return complain("argument %d, '%s', has %zu bytes; the parameter has %zu", i + 1,
                            o->rest[i], job->args[i].bytes, bytes),
                   EXIT_USAGE;
    }
    return 0;
}

static int load(const Options *o, const tle_emu_options *emu, EmuJob *job) {
    if (tle_emu_create(emu, &job->device))
        return complain("no emulator of sm_%u can be made", emu->sm_arch);
    if (tle_emu_module_load(job->device, job->ptx, job->ptx_size, o->operand, &job->module))
        return complain("%s", tle_emu_last_error(job->device));
    int failed = find_kernel(o, job);
    return failed ? failed : make_arguments(o, job);
}

int emu_job_run(const Options *o, uint32_t checks, uint32_t cost, EmuJob *job) {
    tle_emu_options emu = {.struct_size = sizeof emu, .checks = checks, .cost = cost};
    void *params[EMU_MAX_ARGS];
    size_t n = o->operand ? strlen(o->operand) : 0;
    if (!n)
        return complain("name a file of PTX, or a variant ('tle list' prints them)"), EXIT_USAGE;
    job->config.struct_size = sizeof job->config;
    bool file = n > 4 && !strcmp(o->operand + n - 4, ".ptx");
    int failed = file ? read_file(o->operand, job) : read_variant(o, job);
    failed = failed ? failed : parse_options(o, job, &emu);
    failed = failed ? failed : load(o, &emu, job);
    if (failed)
        return failed;
    for (int i = 0; i < job->arg_count; i++)
        params[i] = &job->args[i].value;
    job->status = tle_emu_launch(job->device, job->kernel, &job->config, params);
    if (job->status == TLE_EMU_INVALID_ARGUMENT || job->status == TLE_EMU_OUT_OF_MEMORY)
        return complain("%s", tle_emu_last_error(job->device));
    for (int i = 0; i < job->arg_count && !failed; i++)
        failed = emu_arg_write(&job->args[i]);
    return failed;
}

void emu_job_free(EmuJob *job) {
    for (int i = 0; i < job->arg_count; i++)
        emu_arg_free(&job->args[i]);
    tle_emu_destroy(job->device);
    free(job->ptx);
}
