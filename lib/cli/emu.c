/* `tle emu`: one launch with all checks; reports and cost figures. */
#include "cli/emu_job.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

static cJSON *report_json(const tle_emu_report *r) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "kind", r->kind);
    cJSON_AddStringToObject(o, "kernel", r->kernel);
    cJSON_AddNumberToObject(o, "ptx_line", r->ptx_line);
    cJSON_AddStringToObject(o, "file", r->source_file);
    cJSON_AddNumberToObject(o, "line", r->source_line);
    cJSON_AddItemToObject(o, "cta", cJSON_CreateIntArray((const int *)r->cta, 3));
    cJSON_AddItemToObject(o, "thread", cJSON_CreateIntArray((const int *)r->thread, 3));
    cJSON_AddNumberToObject(o, "warp", r->warp);
    cJSON_AddNumberToObject(o, "lane", r->lane);
    cJSON_AddStringToObject(o, "text", r->text);
    return o;
}

static void print_json(const EmuJob *job) {
    cJSON *all = cJSON_CreateObject(), *reports = cJSON_AddArrayToObject(all, "reports");
    cJSON_AddStringToObject(all, "status", tle_emu_status_name(job->status));
    for (uint32_t i = 0; i < tle_emu_report_count(job->device); i++) {
        tle_emu_report r = {.struct_size = sizeof r};
        if (!tle_emu_report_get(job->device, i, &r))
            cJSON_AddItemToArray(reports, report_json(&r));
    }
    cJSON_AddItemToObject(all, "cost", cJSON_Parse(tle_emu_cost_json(job->device)));
    char *text = cJSON_PrintUnformatted(all);
    if (text)
        printf("%s\n", text);
    cJSON_free(text);
    cJSON_Delete(all);
}

static void print_text(const EmuJob *job) {
    for (uint32_t i = 0; i < tle_emu_report_count(job->device); i++) {
        tle_emu_report r = {.struct_size = sizeof r};
        if (!tle_emu_report_get(job->device, i, &r))
            printf("%s\n", r.text);
    }
    printf("%s\n", tle_emu_cost_json(job->device));
}

int command_emu(const Options *o) {
    EmuJob job = {0};
    int failed = emu_job_run(o, TLE_EMU_CHECK_ALL, 1, &job);
    if (!failed && o->value[OPT_json])
        print_json(&job);
    else if (!failed)
        print_text(&job);
    if (!failed && job.status)
        failed = complain("%s: %u reports", tle_emu_status_name(job.status),
                          tle_emu_report_count(job.device));
    emu_job_free(&job);
    return failed;
}
