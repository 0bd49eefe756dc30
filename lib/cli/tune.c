/* `tle tune`: an operator's dispatch table from timings, taken on this GPU or read from a file. */
#include "cli/cli.h"
#include "cli/tune_op.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what the library says of its variants ---- */

typedef struct Collector {
    tle_handle handle;
    TuneSet *set;
    bool failed;
} Collector;

static cJSON *metadata(tle_handle handle, const char *name) {
    size_t size = 0;
    if (tle_variant_data(handle, name, TLE_PART_META, NULL, &size))
        return NULL;
    char *text = (char *)malloc(size + 1);
    cJSON *meta = NULL;
    if (text && !tle_variant_data(handle, name, TLE_PART_META, text, &size))
        meta = cJSON_ParseWithLength(text, size);
    free(text);
    return meta;
}

/* Of a fact: a range, what divides an alignment, or a name. */
static void read_limit(const cJSON *item, const TuneFact *fact, int64_t *lo, int64_t *hi) {
    const char *name = cJSON_GetStringValue(item);
    *lo = 0;
    *hi = fact->most;
    if (cJSON_IsArray(item) && cJSON_GetArraySize(item) == 2) {
        *lo = (int64_t)cJSON_GetArrayItem(item, 0)->valuedouble;
        *hi = (int64_t)cJSON_GetArrayItem(item, 1)->valuedouble;
    } else if (cJSON_IsNumber(item)) {
        *lo = (int64_t)item->valuedouble;
    }
    if (name && fact->kind == TUNE_TEXT) {
        *lo = 1; // a name that is none of the fact's is that of no call
        *hi = 0;
        for (int64_t i = 0; fact->names[i]; i++)
            if (!strcmp(fact->names[i], name))
                *lo = *hi = i;
    }
}

static void read_limits(const cJSON *meta, const TuneFacts *facts, TuneVariant *v) {
    const cJSON *legal = cJSON_GetObjectItemCaseSensitive(meta, "legal");
    const cJSON *meant = cJSON_GetObjectItemCaseSensitive(meta, "meant");
    v->meant = 0;
    for (int f = 0; f < facts->count; f++) {
        const TuneFact *fact = &facts->list[f];
        const cJSON *range = cJSON_GetObjectItemCaseSensitive(meant, fact->name);
        read_limit(cJSON_GetObjectItemCaseSensitive(legal, fact->name), fact, &v->lo[f], &v->hi[f]);
        read_limit(range, fact, &v->meant_lo[f], &v->meant_hi[f]);
        v->meant |= (uint32_t)(range != NULL) << f;
    }
}

/* Adds a word unless it is there; words are separated by blanks. */
static bool add_word(char **text, const char *word) {
    if (strstr(*text, word))
        return true;
    size_t size = strlen(*text) + strlen(word) + 2;
    char *longer = (char *)realloc(*text, size);
    if (!longer)
        return false;
    *text = longer;
    if (*longer)
        strcat(longer, " ");
    strcat(longer, word);
    return true;
}

static bool collect(Collector *c, const tle_variant_info *info) {
    TuneSet *set = c->set;
    size_t bytes = ((size_t)set->variant_count + 1) * sizeof *set->variants;
    TuneVariant *list = (TuneVariant *)realloc(set->variants, bytes);
    if (!list)
        return false;
    set->variants = list;
    TuneVariant *v = &list[set->variant_count];
    *v = (TuneVariant){.name = strdup(info->name)};
    if (!v->name)
        return false;
    set->variant_count++;
    cJSON *meta = metadata(c->handle, info->name);
    const char *hash =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(meta, "source_sha256"));
    read_limits(meta, &set->facts, v);
    bool ok = meta && add_word(&set->sources, hash ? hash : "");
    cJSON_Delete(meta);
    return ok;
}

static int collect_one(const tle_variant_info *info, void *user) {
    Collector *c = (Collector *)user;
    if (!c->set->arch)
        c->set->arch = strdup(info->arch);
    c->failed = !info->disabled && !collect(c, info);
    return c->failed;
}

static int describe(tle_handle handle, const TuneOp *op, TuneSet *set) {
    Collector c = {.handle = handle, .set = set};
    tle_device_info info = {.struct_size = sizeof info};
    set->facts = op->facts;
    set->op = strdup(op->name);
    set->sources = strdup("");
    set->compiler = strdup(tle_build_info());
    tle_status status = tle_handle_device(handle, &info);
    set->device = strdup(info.name);
    if (!set->op || !set->sources || !set->compiler || !set->device)
        return complain("no memory");
    if (!status)
        status = tle_variants(handle, op->name, collect_one, &c);
    if (status)
        return complain_status("tune", status);
    if (c.failed)
        return complain("tune: the metadata of the variants cannot be read");
    return set->arch ? 0 : complain("tune: the library holds no variants of %s", op->name);
}

/* What this library says of the variants of a file, whose times stay usable when that changes, and
 * the times that count by that. What the library does not have no rule may name. */
static int describe_again(TuneSet *set) {
    tle_handle handle = NULL;
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    int unknown = 0;
    options.device_kind = TLE_DEVICE_NONE;
    options.arch = set->arch;
    tle_status status = tle_create(&handle, &options);
    if (status)
        return complain_status("tune: no handle", status);
    for (int v = 0; v < set->variant_count; v++) {
        cJSON *meta = metadata(handle, set->variants[v].name);
        if (meta)
            read_limits(meta, &set->facts, &set->variants[v]);
        for (int p = 0; !meta && p < set->point_count; p++)
            set->hot[tune_at(set, p, v)] = set->cold[tune_at(set, p, v)] = NAN;
        unknown += !meta;
        cJSON_Delete(meta);
    }
    tle_destroy(handle);
    if (unknown)
        complain("tune: %d of the %d variants are none of this library and are left out", unknown,
                 set->variant_count);
    tune_keep_candidates(set);
    return 0;
}

/* ---- where timings come from ---- */

static char *whole_file(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long size = 0;
    if (f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET))
        text = (char *)calloc((size_t)size + 1, 1);
    if (text && fread(text, 1, (size_t)size, f) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

static int read_timings(const char *path, const TuneOp *op, TuneSet *set) {
    char why[200];
    char *text = whole_file(path);
    if (!text)
        return complain("tune: %s cannot be read", path);
    bool ok = tune_set_parse(text, &op->facts, set, why, sizeof why);
    free(text);
    if (!ok)
        return complain("tune: %s: %s", path, why);
    return strcmp(set->op, op->name) ? complain("tune: %s is of %s", path, set->op) : 0;
}

/* Writes and frees the text. */
static int write_text(const char *path, char *text) {
    FILE *f = path ? fopen(path, "w") : stdout;
    bool ok = text && f && fputs(text, f) != EOF;
    free(text);
    if (path && f)
        ok = !fclose(f) && ok;
    return ok ? 0 : complain("tune: %s cannot be written", path ? path : "standard output");
}

/* The times so far, in place of those before: never half a file. */
static bool save_times(const TuneSet *set, void *path) {
    char part[4096];
    if (snprintf(part, sizeof part, "%s.part", (const char *)path) >= (int)sizeof part)
        return !complain("tune: the name of %s is too long", (const char *)path);
    if (write_text(part, tune_set_print(set)))
        return false;
    return !rename(part, (const char *)path) ||
           !complain("tune: %s cannot be written", (const char *)path);
}

/* Times of an earlier run in the file that this one saves to, if it is there. A point at which no
 * candidate has one is timed anew. */
static int take_up(const Options *o, const TuneOp *op, TuneSet *set) {
    TuneSet old = {0};
    const char *path = o->value[OPT_save];
    if (!o->value[OPT_resume])
        return 0;
    if (!path)
        return complain("tune: --resume goes on with the file of --save, which is not given");
    if (access(path, F_OK))
        return 0;
    int failed = read_timings(path, op, &old);
    if (!failed && !tune_set_take(set, &old))
        failed = complain("tune: %s is of other kernels or of another device", path);
    tune_set_free(&old);
    if (!failed)
        tune_keep_candidates(set);
    return failed;
}

static int measure(const Options *o, const TuneOp *op, double seconds, TuneSet *set) {
    tle_handle handle = NULL;
    tle_device_info info = {.struct_size = sizeof info};
    tle_handle_options options = TLE_HANDLE_OPTIONS_INIT;
    char *path = o->value[OPT_save] ? strdup(o->value[OPT_save]) : NULL;
    TuneLimits limits = {seconds, path ? save_times : NULL, path};
    int failed = open_handle(o, &handle);
    if (!failed) {
        tle_handle_device(handle, &info);
        options.device_kind = info.kind;
        options.device_ordinal = info.ordinal;
        options.arch = o->value[OPT_arch];
        if (info.kind != TLE_DEVICE_CUDA)
            failed = complain("tune: a table needs times of a GPU, and %s is none; --timings reads "
                              "those of another machine",
                              info.name);
    }
    if (!failed)
        failed = describe(handle, op, set);
    if (!failed && (!tune_add_points(op, handle, o->value[OPT_quick_grid] != NULL, set) ||
                    !tune_set_times(set)))
        failed = complain("no memory");
    tle_destroy(handle);
    if (!failed)
        failed = take_up(o, op, set);
    if (!failed)
        failed = tune_measure(op, &options, &limits, set);
    if (!failed && path)
        failed = save_times(set, path) ? 0 : EXIT_FAILED;
    free(path);
    return failed;
}

/* ---- the command ---- */

/* How far the chosen are from the best, so that a reader sees what the tolerance cost. */
static void report(const TuneSet *set, const TuneRules *rules) {
    double worst = 1;
    int used = 0;
    for (int v = 0; v < set->variant_count; v++) {
        bool named = false;
        for (int r = 0; r < rules->count; r++)
            named = named || rules->list[r].variant == v;
        used += named;
    }
    for (int p = 0; p < set->point_count; p++) {
        double best = INFINITY;
        int v = tune_chosen(set, rules, set->points[p].fact);
        for (int w = 0; w < set->variant_count; w++)
            best = fmin(best, tune_score(set, p, w));
        if (v >= 0 && tune_score(set, p, v) / best > worst)
            worst = tune_score(set, p, v) / best;
    }
    fprintf(stderr, "tle: tune: %d points, %d rules, %d of %d variants; at worst %.1f %% behind\n",
            set->point_count, rules->count, used, set->variant_count, 100 * (worst - 1));
}

static int write_table(const Options *o, int64_t percent, const TuneSet *set) {
    TuneRules rules;
    char why[200];
    if (!tune_rules(set, 1 + (double)percent / 100, &rules, why, sizeof why))
        return complain("tune: %s", why);
    if (!rules.count)
        return complain("tune: no variant has a time at any point");
    report(set, &rules);
    int failed = write_text(o->value[OPT_out], tune_table_print(set, &rules));
    free(rules.list);
    return failed;
}

int command_tune(const Options *o) {
    TuneSet set = {0};
    const TuneOp *op = tune_op(o->op);
    int64_t percent = 0, seconds = 0;
    /* Before the measurement, which takes long. */
    if (!options_int(o, OPT_within, 0, 100, 3, &percent) ||
        !options_int(o, OPT_budget, 1, INT32_MAX, INT32_MAX, &seconds))
        return EXIT_USAGE;
    int failed = o->value[OPT_timings] ? read_timings(o->value[OPT_timings], op, &set)
                                       : measure(o, op, (double)seconds, &set);
    if (!failed && o->value[OPT_timings] && o->value[OPT_save])
        failed = write_text(o->value[OPT_save], tune_set_print(&set));
    if (!failed && o->value[OPT_timings])
        failed = describe_again(&set);
    if (!failed)
        failed = write_table(o, percent, &set);
    tune_set_free(&set);
    return failed;
}
