/* Commands that look: info, list, dump, env. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- info ---- */

static void show_device(const tle_device_info *d) {
    printf("  %d: %s, %s, %d SMs", d->ordinal, d->name, d->arch, d->sm_count);
    if (d->memory_bytes) // an emulated device has the host's
        printf(", %.1f GiB, L2 %d MiB", (double)d->memory_bytes / (1 << 30), d->l2_bytes >> 20);
    if (d->driver_version)
        printf(", driver CUDA %d.%d", d->driver_version / 1000, d->driver_version % 1000 / 10);
    printf("\n");
}

static void show_devices(tle_device_kind kind, const char *title) {
    int32_t count = 0;
    printf("%s devices:\n", title);
    if (tle_device_count(kind, &count)) {
        printf("  none: %s\n", tle_last_error());
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        tle_device_info d = {.struct_size = sizeof d};
        if (tle_get_device_info(kind, i, &d))
            printf("  %d: %s\n", i, tle_last_error());
        else
            show_device(&d);
    }
    if (!count)
        printf("  none: the driver sees none\n");
}

/* Variants by operator, which come together. */
typedef struct Counts {
    char text[512];
    char op[64];
    int of_op, all;
} Counts;

static void end_operator(Counts *c) {
    size_t used = strlen(c->text);
    if (c->of_op)
        snprintf(c->text + used, sizeof c->text - used, "%s%s %d", used ? ", " : "", c->op,
                 c->of_op);
    c->of_op = 0;
}

static int count_variant(const tle_variant_info *info, void *user) {
    Counts *c = (Counts *)user;
    if (strcmp(c->op, info->op) != 0)
        end_operator(c);
    snprintf(c->op, sizeof c->op, "%s", info->op);
    c->of_op++;
    c->all++;
    return 0;
}

int command_info(const Options *o) {
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    options.device_kind = TLE_DEVICE_NONE;
    options.arch = o->value[OPT_arch];
    tle_handle handle = NULL;
    tle_memory_usage usage = {.struct_size = sizeof usage};
    char build_id[TLE_BUILD_ID_SIZE];
    Counts counts = {0};
    printf("%s\n", tle_build_info());
    show_devices(TLE_DEVICE_CUDA, "CUDA");
    show_devices(TLE_DEVICE_EMU, "Emulated");
    tle_status status = tle_create(&handle, &options);
    if (!status)
        status = tle_memory_info(handle, &usage);
    if (!status)
        status = tle_build_id(handle, build_id);
    if (!status)
        status = tle_variants(handle, NULL, count_variant, &counts);
    end_operator(&counts);
    if (!status)
        printf("Kernels: %d variants%s%s%s, %llu bytes embedded, build id %.16s\n", counts.all,
               counts.all ? " (" : "", counts.text, counts.all ? ")" : "",
               (unsigned long long)usage.pack_bytes, build_id);
    tle_destroy(handle);
    return status ? complain_status("info", status) : 0;
}

/* ---- list ---- */

typedef struct Lister {
    bool json;
    int count;
} Lister;

/* The number, or another text for an unknown one. */
static const char *number_or(int32_t value, const char *unknown, char text[16]) {
    if (value < 0)
        return unknown;
    snprintf(text, 16, "%d", value);
    return text;
}

static void list_json(const tle_variant_info *v, bool first) {
    char registers[16], spills[16];
    printf("%s\n  {\"name\": \"%s\", \"op\": \"%s\", \"arch\": \"%s\", \"threads\": %d, "
           "\"cluster\": [%d, %d, %d], \"shared_bytes\": %d, \"registers\": %s, "
           "\"spill_bytes\": %s}",
           first ? "" : ",", v->name, v->op, v->arch, v->threads, v->cluster[0], v->cluster[1],
           v->cluster[2], v->shared_bytes, number_or(v->registers, "null", registers),
           number_or(v->spill_bytes, "null", spills));
}

static int list_one(const tle_variant_info *v, void *user) {
    Lister *l = (Lister *)user;
    char cluster[40], registers[16], spills[16];
    if (l->json) {
        list_json(v, l->count++ == 0);
        return 0;
    }
    if (!l->count++)
        printf("%-44s %-8s %7s %7s %7s %6s %6s\n", "variant", "arch", "threads", "cluster",
               "shared", "regs", "spills");
    snprintf(cluster, sizeof cluster, "%dx%dx%d", v->cluster[0], v->cluster[1], v->cluster[2]);
    printf("%-44s %-8s %7d %7s %7d %6s %6s%s\n", v->name, v->arch, v->threads, cluster,
           v->shared_bytes, number_or(v->registers, "?", registers),
           number_or(v->spill_bytes, "?", spills), v->disabled ? "  disabled" : "");
    return 0;
}

/* Operators go by the names of `tle run` and by those that the library gives them. */
static const char *library_name(const char *operand) {
    static const struct {
        const char *here, *there;
    } names[] = {
#define X(name, run, explain) {#name, #name "_select"},
#include "cli/operators.def"
#undef X
    };
    for (size_t i = 0; operand && i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].here, operand))
            return names[i].there;
    return operand;
}

int command_list(const Options *o) {
    tle_handle handle = NULL;
    Lister l = {.json = o->value[OPT_json] != NULL};
    int failed = open_for_questions(o, &handle);
    if (failed)
        return failed;
    if (l.json)
        printf("[");
    tle_status status = tle_variants(handle, library_name(o->operand), list_one, &l);
    if (l.json)
        printf("\n]\n");
    failed = status ? complain_status("list", status) : 0;
    if (!status && !l.count && !l.json)
        failed = complain("the library holds no variants for this device");
    tle_destroy(handle);
    return failed;
}

/* ---- dump ---- */

static tle_variant_part part_of(const Options *o) {
    return o->value[OPT_ptx]     ? TLE_PART_PTX
           : o->value[OPT_tir]   ? TLE_PART_TIR
           : o->value[OPT_cubin] ? TLE_PART_CUBIN
                                 : TLE_PART_META;
}

static int parts_named(const Options *o) {
    return (o->value[OPT_ptx] != NULL) + (o->value[OPT_tir] != NULL) +
           (o->value[OPT_meta] != NULL) + (o->value[OPT_cubin] != NULL);
}

static int write_bytes(const char *path, const char *bytes, size_t size, bool text) {
    FILE *f = path ? fopen(path, "wb") : stdout;
    if (!f)
        return complain("%s cannot be opened", path);
    bool ok = fwrite(bytes, 1, size, f) == size;
    if (text && size && bytes[size - 1] != '\n')
        ok = fputc('\n', f) != EOF && ok;
    if (path)
        ok = fclose(f) == 0 && ok;
    return ok ? 0 : complain("%s cannot be written", path ? path : "standard output");
}

int command_dump(const Options *o) {
    tle_handle handle = NULL;
    size_t size = 0;
    char *bytes = NULL;
    tle_variant_part part = part_of(o);
    if (!o->operand)
        return complain("dump: name a variant ('tle list' prints them)"), EXIT_USAGE;
    if (parts_named(o) > 1)
        return complain("dump: name one part, not %d", parts_named(o)), EXIT_USAGE;
    int failed = open_for_questions(o, &handle);
    if (failed)
        return failed;
    tle_status status = tle_variant_data(handle, o->operand, part, NULL, &size);
    if (!status && (bytes = (char *)malloc(size ? size : 1)))
        status = tle_variant_data(handle, o->operand, part, bytes, &size);
    if (status || !bytes)
        failed = status ? complain_status("dump", status) : complain("no memory");
    else
        failed = write_bytes(o->value[OPT_out], bytes, size, part != TLE_PART_CUBIN);
    free(bytes);
    tle_destroy(handle);
    return failed;
}

/* ---- env ---- */

int command_env(const Options *o) {
    const char *name = NULL, *value = NULL, *meaning = NULL;
    (void)o;
    for (int32_t i = 0; tle_environment(i, &name, &value, &meaning); i++)
        printf("%s=%s\n    %s\n", name, value ? value : "", meaning);
    return 0;
}
