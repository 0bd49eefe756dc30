/* `tle profile`: the cost figures of a launch, by line of the source. */
#include "cli/emu_job.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X(field of a site, heading) */
#define COLUMNS(X)                                                                                 \
    X("warps", "issued")                                                                           \
    X("lanes", "lanes")                                                                            \
    X("accesses", "access")                                                                        \
    X("requested_bytes", "bytes")                                                                  \
    X("sectors", "sectors")                                                                        \
    X("lines", "lines")                                                                            \
    X("bank_conflicts", "conflict")                                                                \
    X("serialised", "serial")                                                                      \
    X("dsmem_bytes", "dsmem")                                                                      \
    X("bulk_bytes", "bulk")                                                                        \
    X("waits", "waits")                                                                            \
    X("divergent", "diverge")                                                                      \
    X("flops", "flops")

static const struct {
    const char *field, *heading;
} columns[] = {
#define X(field, heading) {field, heading},
    COLUMNS(X)
#undef X
};

enum { COLUMN_COUNT = sizeof columns / sizeof *columns };

typedef struct Line {
    const char *file;
    int number;
    double sums[COLUMN_COUNT];
} Line;

static double number(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const char *text_of(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static int compare(const void *x, const void *y) {
    const Line *a = (const Line *)x, *b = (const Line *)y;
    int files = strcmp(a->file, b->file);
    return files ? files : (a->number > b->number) - (a->number < b->number);
}

/* Sums of each source line, in order. NULL without memory. */
static Line *by_line(const cJSON *sites, int *count) {
    const cJSON *site = NULL;
    int used = 0;
    Line *lines = (Line *)calloc((size_t)cJSON_GetArraySize(sites) + 1, sizeof *lines);
    for (site = lines && sites ? sites->child : NULL; site; site = site->next) {
        Line key = {.file = text_of(site, "file"), .number = (int)number(site, "line")};
        int at = 0;
        while (at < used && compare(&lines[at], &key) != 0)
            at++;
        if (at == used)
            lines[used++] = key;
        for (int c = 0; c < COLUMN_COUNT; c++)
            lines[at].sums[c] += number(site, columns[c].field);
    }
    if (lines)
        qsort(lines, (size_t)used, sizeof *lines, compare);
    *count = used;
    return lines;
}

/* ---- printing ---- */

/* The text of a source line, if the file is where the PTX says. */
static void print_source(const Line *line) {
    char text[256] = "";
    FILE *f = *line->file ? fopen(line->file, "r") : NULL;
    for (int n = 0; f && n < line->number;) {
        if (!fgets(text, sizeof text, f)) {
            *text = '\0';
            break;
        }
        n += strchr(text, '\n') != NULL;
    }
    if (f)
        fclose(f);
    text[strcspn(text, "\n")] = '\0';
    printf("  %s\n", text + strspn(text, " \t"));
}

static void print_lines(const Line *lines, int count) {
    bool shown[COLUMN_COUNT] = {false};
    const char *file = NULL;
    for (int i = 0; i < count; i++)
        for (int c = 0; c < COLUMN_COUNT; c++)
            shown[c] |= lines[i].sums[c] > 0;
    for (int i = 0; i < count; i++) {
        if (!file || strcmp(file, lines[i].file) != 0) {
            file = lines[i].file;
            printf("\n%s\n  line", *file ? file : "without a source line");
            for (int c = 0; c < COLUMN_COUNT; c++)
                if (shown[c])
                    printf(" %9s", columns[c].heading);
            printf("\n");
        }
        printf("%6d", lines[i].number);
        for (int c = 0; c < COLUMN_COUNT; c++)
            if (shown[c] && lines[i].sums[c] > 0)
                printf(" %9.0f", lines[i].sums[c]);
            else if (shown[c])
                printf(" %9s", ".");
        print_source(&lines[i]);
    }
}

static void print_totals(const cJSON *cost) {
    for (const cJSON *item = cost->child; item; item = item->next) {
        if (cJSON_IsString(item))
            printf("%-28s %s\n", item->string, item->valuestring);
        else if (cJSON_IsNumber(item) && item->valuedouble > 0)
            printf("%-28s %.0f\n", item->string, item->valuedouble);
        else if (cJSON_IsObject(item) && item->child) {
            printf("%-28s", item->string);
            for (const cJSON *part = item->child; part; part = part->next)
                printf(" %s %.0f%s", part->string, part->valuedouble, part->next ? "," : "\n");
        }
    }
}

static int print_profile(const EmuJob *job) {
    cJSON *cost = cJSON_Parse(tle_emu_cost_json(job->device));
    int count = 0;
    if (!cost)
        return complain("the cost figures cannot be read");
    Line *lines = by_line(cJSON_GetObjectItemCaseSensitive(cost, "sites"), &count);
    if (lines) {
        print_totals(cost);
        print_lines(lines, count);
    }
    free(lines);
    cJSON_Delete(cost);
    return lines ? 0 : complain("no memory");
}

int command_profile(const Options *o) {
    EmuJob job = {0};
    int failed = emu_job_run(o, TLE_EMU_CHECK_BOUNDS, 2, &job);
    if (!failed && job.status)
        failed =
            complain("%s: %s", tle_emu_status_name(job.status), tle_emu_last_error(job.device));
    if (!failed && o->value[OPT_json])
        printf("%s\n", tle_emu_cost_json(job.device));
    else if (!failed)
        failed = print_profile(&job);
    emu_job_free(&job);
    return failed;
}
