/* Timings and dispatch tables as JSON text.
 *
 * A file of timings keeps what rules are made of, so that they can be made again without a GPU:
 *   {"schema": 1, "op", "arch", "device", "sources", "compiler",
 *    "variants": {name: {fact: [lo, hi], ...}, ...},
 *    "points": [{fact: value, ..., "us": {name: [hot, cold], ...}}, ...]}
 * where a variant that has no time at a point is left out there. */
#include "cli/tune.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sets ---- */

bool tune_set_times(TuneSet *set) {
    size_t count = (size_t)set->point_count * (size_t)set->variant_count;
    set->hot = (double *)malloc((count + 1) * sizeof *set->hot);
    set->cold = (double *)malloc((count + 1) * sizeof *set->cold);
    for (size_t i = 0; set->hot && set->cold && i < count; i++)
        set->hot[i] = set->cold[i] = NAN;
    return set->hot && set->cold;
}

void tune_set_free(TuneSet *set) {
    for (int v = 0; set->variants && v < set->variant_count; v++)
        free(set->variants[v].name);
    char *texts[] = {set->op, set->arch, set->device, set->sources, set->compiler};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    free(set->variants);
    free(set->points);
    free(set->hot);
    free(set->cold);
    *set = (TuneSet){0};
}

static int find_point(const TuneSet *set, const TunePoint *point) {
    for (int p = 0; p < set->point_count; p++)
        if (!memcmp(set->points[p].fact, point->fact,
                    (size_t)set->facts.count * sizeof *point->fact))
            return p;
    return -1;
}

static int find_variant(const TuneSet *set, const char *name) {
    for (int v = 0; v < set->variant_count; v++)
        if (!strcmp(set->variants[v].name, name))
            return v;
    return -1;
}

bool tune_set_take(TuneSet *set, const TuneSet *from) {
    if (strcmp(set->arch, from->arch) || strcmp(set->device, from->device) ||
        strcmp(set->sources, from->sources) || strcmp(set->compiler, from->compiler))
        return false;
    for (int v = 0; v < from->variant_count; v++) {
        int here = find_variant(set, from->variants[v].name);
        for (int p = 0; here >= 0 && p < from->point_count; p++) {
            int there = find_point(set, &from->points[p]);
            if (there < 0)
                continue;
            set->hot[tune_at(set, there, here)] = from->hot[tune_at(from, p, v)];
            set->cold[tune_at(set, there, here)] = from->cold[tune_at(from, p, v)];
        }
    }
    return true;
}

/* ---- printing ---- */

static bool add_fact(cJSON *object, const TuneFact *fact, int64_t value) {
    return fact->kind == TUNE_TEXT
               ? cJSON_AddStringToObject(object, fact->name, fact->names[value]) != NULL
               : cJSON_AddNumberToObject(object, fact->name, (double)value) != NULL;
}

static bool add_range(cJSON *object, const char *name, int64_t lo, int64_t hi) {
    double ends[] = {(double)lo, (double)hi};
    cJSON *pair = cJSON_CreateDoubleArray(ends, 2);
    if (pair && cJSON_AddItemToObject(object, name, pair))
        return true;
    cJSON_Delete(pair);
    return false;
}

static bool add_variant(cJSON *object, const TuneSet *set, const TuneVariant *v) {
    cJSON *limits = cJSON_AddObjectToObject(object, v->name);
    for (int f = 0; limits && f < set->facts.count; f++) {
        TuneKind kind = set->facts.list[f].kind;
        bool ranged = kind == TUNE_SPAN || kind == TUNE_SIZE;
        if (ranged && !add_range(limits, set->facts.list[f].name, v->lo[f], v->hi[f]))
            return false;
    }
    return limits != NULL;
}

/* To the nanosecond. */
static double rounded(double us) {
    return round(us * 1e3) / 1e3;
}

static bool add_point(cJSON *array, const TuneSet *set, int p) {
    cJSON *point = cJSON_CreateObject();
    bool ok = point && cJSON_AddItemToArray(array, point);
    for (int f = 0; ok && f < set->facts.count; f++)
        ok = add_fact(point, &set->facts.list[f], set->points[p].fact[f]);
    cJSON *times = ok ? cJSON_AddObjectToObject(point, "us") : NULL;
    for (int v = 0; times && ok && v < set->variant_count; v++) {
        double pair[] = {rounded(set->hot[tune_at(set, p, v)]),
                         rounded(set->cold[tune_at(set, p, v)])};
        cJSON *item = isfinite(pair[0] + pair[1]) ? cJSON_CreateDoubleArray(pair, 2) : NULL;
        if (item)
            ok = cJSON_AddItemToObject(times, set->variants[v].name, item);
    }
    return times && ok;
}

static bool fill(cJSON *root, const TuneSet *set) {
    cJSON_AddNumberToObject(root, "schema", 1);
    cJSON_AddStringToObject(root, "op", set->op);
    cJSON_AddStringToObject(root, "arch", set->arch);
    cJSON_AddStringToObject(root, "device", set->device);
    cJSON_AddStringToObject(root, "sources", set->sources);
    cJSON_AddStringToObject(root, "compiler", set->compiler);
    cJSON *variants = cJSON_AddObjectToObject(root, "variants");
    cJSON *points = cJSON_AddArrayToObject(root, "points");
    bool ok = variants && points;
    for (int v = 0; ok && v < set->variant_count; v++)
        ok = add_variant(variants, set, &set->variants[v]);
    for (int p = 0; ok && p < set->point_count; p++)
        ok = add_point(points, set, p);
    return ok;
}

char *tune_set_print(const TuneSet *set) {
    cJSON *root = cJSON_CreateObject();
    char *text = root && fill(root, set) ? cJSON_PrintUnformatted(root) : NULL;
    cJSON_Delete(root);
    return text;
}

/* ---- parsing ---- */

static bool wrong(char *why, size_t why_size, const char *what) {
    snprintf(why, why_size, "the timings are not what is expected: %s", what);
    return false;
}

static bool text_of(const cJSON *root, const char *key, char **out) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, key));
    *out = text ? strdup(text) : NULL;
    return *out != NULL;
}

static bool whole(const cJSON *item, int64_t *out) {
    if (!cJSON_IsNumber(item) || !(fabs(item->valuedouble) < 9e15))
        return false;
    *out = (int64_t)item->valuedouble;
    return (double)*out == item->valuedouble;
}

static bool read_fact(const cJSON *object, const TuneFact *fact, int64_t *out) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, fact->name);
    if (fact->kind == TUNE_ALIGN)
        return whole(item, out) && *out >= 1 && !(*out & (*out - 1));
    if (fact->kind != TUNE_TEXT)
        return whole(item, out) && *out >= 0 && *out <= fact->most;
    const char *text = cJSON_GetStringValue(item);
    for (*out = 0; text && fact->names[*out]; ++*out)
        if (!strcmp(fact->names[*out], text))
            return true;
    return false;
}

static bool read_variants(const cJSON *object, TuneSet *set) {
    set->variants =
        (TuneVariant *)calloc((size_t)cJSON_GetArraySize(object) + 1, sizeof *set->variants);
    const cJSON *item = set->variants && cJSON_IsObject(object) ? object->child : NULL;
    for (; item; item = item->next) {
        TuneVariant *v = &set->variants[set->variant_count++];
        v->name = strdup(item->string);
        if (!v->name)
            return false;
        for (int f = 0; f < set->facts.count; f++) {
            const cJSON *pair = cJSON_GetObjectItemCaseSensitive(item, set->facts.list[f].name);
            v->hi[f] = set->facts.list[f].most;
            if (pair && (!whole(cJSON_GetArrayItem(pair, 0), &v->lo[f]) ||
                         !whole(cJSON_GetArrayItem(pair, 1), &v->hi[f])))
                return false;
        }
    }
    return set->variant_count > 0;
}

static bool read_times(const cJSON *point, TuneSet *set, int p) {
    const cJSON *times = cJSON_GetObjectItemCaseSensitive(point, "us");
    for (int v = 0; v < set->variant_count; v++) {
        const cJSON *pair = cJSON_GetObjectItemCaseSensitive(times, set->variants[v].name);
        const cJSON *hot = cJSON_GetArrayItem(pair, 0), *cold = cJSON_GetArrayItem(pair, 1);
        if (!pair)
            continue;
        if (!cJSON_IsNumber(hot) || !cJSON_IsNumber(cold) || !(hot->valuedouble > 0) ||
            !(cold->valuedouble > 0))
            return false;
        set->hot[tune_at(set, p, v)] = hot->valuedouble;
        set->cold[tune_at(set, p, v)] = cold->valuedouble;
    }
    return cJSON_IsObject(times);
}

static bool read_points(const cJSON *array, TuneSet *set) {
    int p = 0;
    set->point_count = cJSON_GetArraySize(array);
    set->points = (TunePoint *)calloc((size_t)set->point_count + 1, sizeof *set->points);
    if (!set->points || !tune_set_times(set))
        return false;
    const cJSON *item = cJSON_IsArray(array) ? array->child : NULL;
    for (; item; item = item->next, p++) {
        for (int f = 0; f < set->facts.count; f++)
            if (!read_fact(item, &set->facts.list[f], &set->points[p].fact[f]))
                return false;
        if (!read_times(item, set, p))
            return false;
    }
    return p > 0;
}

static bool read_set(const cJSON *root, TuneSet *set, char *why, size_t why_size) {
    const cJSON *schema = cJSON_GetObjectItemCaseSensitive(root, "schema");
    if (!cJSON_IsNumber(schema) || schema->valuedouble != 1)
        return wrong(why, why_size, "'schema' is not 1");
    if (!text_of(root, "op", &set->op) || !text_of(root, "arch", &set->arch) ||
        !text_of(root, "device", &set->device) || !text_of(root, "sources", &set->sources) ||
        !text_of(root, "compiler", &set->compiler))
        return wrong(why, why_size, "one of op, arch, device, sources, compiler is missing");
    if (!read_variants(cJSON_GetObjectItemCaseSensitive(root, "variants"), set))
        return wrong(why, why_size, "'variants'");
    if (!read_points(cJSON_GetObjectItemCaseSensitive(root, "points"), set))
        return wrong(why, why_size, "'points'");
    return true;
}

bool tune_set_parse(const char *text, const TuneFacts *facts, TuneSet *set, char *why,
                    size_t why_size) {
    cJSON *root = cJSON_Parse(text);
    *set = (TuneSet){.facts = *facts};
    bool ok = root ? read_set(root, set, why, why_size) : wrong(why, why_size, "not JSON");
    cJSON_Delete(root);
    if (!ok)
        tune_set_free(set);
    return ok;
}

/* ---- the table ---- */

/* As a JSON string, empty without memory. */
static void print_text(FILE *f, const char *text) {
    cJSON *item = cJSON_CreateString(text);
    char *quoted = item ? cJSON_PrintUnformatted(item) : NULL;
    fputs(quoted ? quoted : "\"\"", f);
    cJSON_free(quoted);
    cJSON_Delete(item);
}

static void print_condition(FILE *f, const TuneFact *fact, int64_t lo, int64_t hi) {
    if (fact->kind == TUNE_TEXT)
        fprintf(f, "\"%s\": \"%s\"", fact->name, fact->names[lo]);
    else if (fact->kind == TUNE_ALIGN)
        fprintf(f, "\"%s\": %lld", fact->name, (long long)lo);
    else
        fprintf(f, "\"%s\": [%lld, %lld]", fact->name, (long long)lo, (long long)hi);
}

static void print_rule(FILE *f, const TuneSet *set, const TuneRule *rule) {
    const char *separator = "";
    fprintf(f, "   {\"when\": {");
    for (int i = 0; i < set->facts.count; i++) {
        if (!(rule->conditions >> i & 1))
            continue;
        fputs(separator, f);
        print_condition(f, &set->facts.list[i], rule->lo[i], rule->hi[i]);
        separator = ", ";
    }
    fprintf(f, "}, \"variant\": ");
    print_text(f, set->variants[rule->variant].name);
    fprintf(f, "}");
}

char *tune_table_print(const TuneSet *set, const TuneRules *rules) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    const struct {
        const char *key, *text;
    } head[] = {{"{\"schema\": 1, \"op\": ", set->op},
                {", \"arch\": ", set->arch},
                {",\n \"provenance\": {\"sources\": ", set->sources},
                {", \"compiler\": ", set->compiler},
                {", \"measured_on\": ", set->device}};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
        fputs(head[i].key, f);
        print_text(f, head[i].text);
    }
    fprintf(f, "},\n \"rules\": [");
    for (int r = 0; r < rules->count; r++) {
        fputs(r ? ",\n" : "\n", f);
        print_rule(f, set, &rules->list[r]);
    }
    fprintf(f, "]}\n");
    bool ok = !ferror(f);
    if (fclose(f) || !ok) {
        free(text);
        return NULL;
    }
    return text;
}
