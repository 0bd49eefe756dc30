#include "kernels/support/case_run.h"

#include <stdio.h>
#include <stdlib.h>

static bool failed(tle_status status, char *why, size_t size) {
    snprintf(why, size, "%s: %s", tle_status_name(status), tle_last_error());
    return false;
}

static void add_case(const CaseKind *kind, const void *c, const char *what, char *why,
                     size_t size) {
    char text[600];
    kind->describe(c, text, sizeof text);
    snprintf(why, size, "%s [%s]", what, text);
}

static bool copy_in(const CaseKind *kind, void *run, tle_handle h) {
    const CaseBuffer *b = NULL;
    for (int i = 0; (b = kind->buffer(run, i)) != NULL; i++)
        if (!buffer_send(b, h))
            return false;
    return true;
}

static bool copy_out(const CaseKind *kind, void *run, tle_handle h) {
    for (int i = 0; i < kind->outputs; i++)
        if (!buffer_fetch(kind->buffer(run, i), h))
            return false;
    return true;
}

static bool run_alone(const CaseKind *kind, void *run, tle_handle h, tle_stream stream, char *why,
                      size_t size) {
    if (!kind->make(run) || !kind->expect(run) || !copy_in(kind, run, h))
        return failed(TLE_STATUS_OUT_OF_MEMORY, why, size);
    tle_status status = kind->reserve(run);
    if (!status)
        status = kind->enqueue(run, stream);
    if (!status)
        status = tle_synchronize(h, stream);
    if (status)
        return failed(status, why, size);
    return copy_out(kind, run, h) ? kind->same(run, why, size)
                                  : failed(TLE_STATUS_DRIVER_ERROR, why, size);
}

bool run_case(const CaseKind *kind, tle_handle h, const void *c, tle_stream stream, char *why,
              size_t size) {
    char what[500] = "";
    void *run = malloc(kind->run_bytes);
    if (!run)
        return failed(TLE_STATUS_OUT_OF_MEMORY, why, size);
    kind->open(run, h, NULL, c);
    bool ok = run_alone(kind, run, h, stream, what, sizeof what);
    kind->close(run);
    free(run);
    if (!ok)
        add_case(kind, c, what, why, size);
    return ok;
}

/* ---- many at once ---- */

typedef struct Runs {
    const CaseKind *kind;
    Arena *arena;
    const char *cases;
    char *list;
    int count;
} Runs;

static void *run_at(const Runs *r, int i) {
    return r->list + (size_t)i * r->kind->run_bytes;
}

static const void *case_at(const Runs *r, int i) {
    return r->cases + (size_t)i * r->kind->case_bytes;
}

/* False, and nothing taken, where the arena has no room for it or it cannot be called. */
static bool add_run(Runs *r) {
    void *run = run_at(r, r->count);
    size_t used = r->arena->used;
    r->kind->open(run, r->arena->h, r->arena, case_at(r, r->count));
    bool ok = r->kind->make(run) && !r->kind->reserve(run);
    if (ok) {
        r->count++;
    } else {
        r->kind->close(run);
        r->arena->used = used;
    }
    return ok;
}

static bool check_run(const Runs *r, int i, char *why, size_t size) {
    char what[500] = "";
    CaseBuffer *b = NULL;
    bool ok = r->kind->same(run_at(r, i), what, sizeof what);
    for (int n = 0; (b = r->kind->buffer(run_at(r, i), n)) != NULL; n++)
        if (n < r->kind->outputs || !r->kind->buffer(run_at(r, i), n + 1)) /* the last: workspace */
            buffer_accept(b);
    if (!ok)
        add_case(r->kind, case_at(r, i), what, why, size);
    return ok;
}

/* The references are computed while the device works. */
static bool call_all(const Runs *r, tle_stream stream, char *why, size_t size) {
    if (!arena_send(r->arena))
        return failed(TLE_STATUS_DRIVER_ERROR, why, size);
    tle_status status = TLE_STATUS_OK;
    bool ok = true;
    for (int i = 0; i < r->count && !status; i++)
        status = r->kind->enqueue(run_at(r, i), stream);
    for (int i = 0; i < r->count && ok && !status; i++)
        ok = r->kind->expect(run_at(r, i));
    if (!status)
        status = tle_synchronize(r->arena->h, stream);
    if (!status && !ok)
        status = TLE_STATUS_OUT_OF_MEMORY;
    return status ? failed(status, why, size)
                  : arena_fetch(r->arena) || failed(TLE_STATUS_DRIVER_ERROR, why, size);
}

static bool run_together(const Runs *r, tle_stream stream, char *why, size_t size) {
    bool ok = call_all(r, stream, why, size);
    for (int i = 0; i < r->count && ok; i++)
        ok = check_run(r, i, why, size);
    if (ok && !arena_untouched(r->arena)) {
        add_case(r->kind, r->cases, "something was written beside the outputs, from this case on",
                 why, size);
        return false;
    }
    return ok;
}

int run_cases(const CaseKind *kind, Arena *arena, const void *cases, int count, tle_stream stream,
              char *why, size_t size) {
    Runs r = {.kind = kind, .arena = arena, .cases = cases};
    r.list = malloc((size_t)count * kind->run_bytes);
    arena->used = 0;
    while (r.list && r.count < count && add_run(&r))
        ;
    bool ok = r.count ? run_together(&r, stream, why, size)
                      : run_case(kind, arena->h, cases, stream, why, size);
    for (int i = 0; i < r.count; i++)
        kind->close(run_at(&r, i));
    free(r.list);
    return !ok ? 0 : r.count ? r.count : 1;
}
