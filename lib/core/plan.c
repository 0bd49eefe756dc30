/* From parameters to a launch, and the questions on the way. */
#include "core/plan.h"

#include "core/arguments.h"
#include "core/handle.h"
#include <stdio.h>

enum { WORKSPACE_ALIGN = 16 };

/* Everything before the launch. A call of no rows needs no variant. Without `pointers` memory is
 * looked at for its alignment alone. */
static tle_status prepare(tle_handle h, TleiOpId op, const void *params, bool pointers, TleiPlan *p,
                          TleiError *e) {
    tle_status status = tlei_check_handle(h, e);
    if (status)
        return status;
    p->handle = h;
    p->op = &h->ops[op];
    p->range_count = 0;
    p->workspace = 0;
    p->dependent = false;
    status = p->op->def->plan(params, pointers, p, e);
    if (status || !p->rows)
        return status;
    status = tlei_choose(p->op, p->facts, &p->variant, e);
    if (!status)
        p->workspace = tlei_workspace(&p->op->variants[p->variant], (uint64_t)p->rows);
    return status;
}

/* Adds the workspace to the memory and to the arguments of the call. */
static tle_status take_workspace(TleiPlan *p, void *workspace, size_t size, TleiError *e) {
    TleiRange *r = &p->ranges[p->range_count];
    *r = (TleiRange){"workspace", NULL, 0, true, 1};
    if (size < p->workspace)
        return tlei_fail(e, TLE_STATUS_WORKSPACE_TOO_SMALL,
                         "workspace_size is %zu; %s needs %llu bytes for %lld rows", size,
                         p->op->variants[p->variant].name, (unsigned long long)p->workspace,
                         (long long)p->rows);
    if (!p->workspace)
        return TLE_STATUS_OK;
    if (!workspace || (uintptr_t)workspace % WORKSPACE_ALIGN)
        return tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT,
                         "workspace is %p; it must be a non-null multiple of %d", workspace,
                         WORKSPACE_ALIGN);
    r->address = workspace;
    r->bytes = p->workspace;
    tle_status status = tlei_check_pointers(r, 1, e);
    if (status)
        return status;
    p->values[p->op->def->workspace_arg] = (int64_t)(uintptr_t)workspace;
    return TLE_STATUS_OK;
}

static void log_choice(const TleiPlan *p) {
    char replay[320];
    p->op->def->replay(p, replay, sizeof replay);
    tlei_log(&p->handle->log, TLE_LOG_DISPATCH, p->op->def->name, "dispatch", replay, "%s",
             p->op->variants[p->variant].name);
}

static tle_status call(tle_handle h, TleiOpId op, const void *params, void *workspace, size_t size,
                       tle_stream stream, TleiError *e) {
    TleiPlan p;
    tle_status status = prepare(h, op, params, true, &p, e);
    if (!status)
        status = take_workspace(&p, workspace, size, e);
    if (!status && p.workspace)
        status = tlei_check_overlaps(p.ranges, p.range_count + 1, e);
    if (status || !p.rows)
        return status;
    if (tlei_log_on(&h->log, TLE_LOG_DISPATCH))
        log_choice(&p);
    TleiCall c = {.values = p.values,
                  .groups = (uint64_t)p.rows,
                  .stream = stream,
                  .dependent = p.dependent,
                  .ranges = p.ranges,
                  .range_count = p.range_count + 1};
    status = tlei_run(h, p.op, p.variant, &c, e);
    /* The device turned out not to run this kernel, which is refused from now on: choose again. */
    return status == TLE_STATUS_NO_VARIANT ? call(h, op, params, workspace, size, stream, e)
                                           : status;
}

tle_status tlei_plan_call(tle_handle h, TleiOpId op, const void *params, void *workspace,
                          size_t workspace_size, tle_stream stream) {
    TleiError *e = tlei_thread_error();
    tle_status status = call(h, op, params, workspace, workspace_size, stream, e);
    return h ? tlei_finish(h, h->ops[op].def->name, status, e) : status;
}

tle_status tlei_plan_workspace_size(tle_handle h, TleiOpId op, const void *params, size_t *size) {
    TleiError *e = tlei_thread_error();
    TleiPlan p;
    tle_status status = prepare(h, op, params, false, &p, e);
    if (!status && !size)
        status = tlei_fail(e, TLE_STATUS_INVALID_ARGUMENT, "size is NULL");
    if (!status)
        *size = (size_t)p.workspace;
    return status;
}

tle_status tlei_plan_supported(tle_handle h, TleiOpId op, const void *params, char *reason,
                               size_t reason_size) {
    TleiPlan p;
    TleiError e = {TLE_STATUS_OK, 0, ""};
    TleiText out;
    tle_status status = prepare(h, op, params, true, &p, &e);
    if (!status && p.rows && p.op->variants[p.variant].problem)
        status = tlei_fail(&e, TLE_STATUS_INTERNAL, "%s: %s", p.op->variants[p.variant].name,
                           p.op->variants[p.variant].problem);
    tlei_text_init(&out, reason, reason_size);
    tlei_text_add(&out, "%s", status ? e.text : "");
    return status;
}

tle_status tlei_plan_explain(tle_handle h, TleiOpId op, const void *params, char *text,
                             size_t text_size, size_t *needed) {
    TleiError *e = tlei_thread_error();
    TleiError refused = {TLE_STATUS_OK, 0, ""};
    TleiText out;
    TleiPlan p;
    tle_status status = tlei_check_handle(h, e);
    if (status)
        return status;
    tlei_text_init(&out, text, text_size);
    status = prepare(h, op, params, false, &p, &refused);
    /* These two come from the tables, which explain themselves; the rest from the arguments. */
    if (status && status != TLE_STATUS_NO_VARIANT && !p.op->absent)
        tlei_text_add(&out, "refused: %s\n", refused.text);
    else
        tlei_explain(p.op, p.facts, &out);
    if (needed)
        *needed = out.len + 1;
    return TLE_STATUS_OK;
}
