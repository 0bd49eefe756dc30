/* The pass manager: tables of passes, targets and pipelines, and the loop that runs them. */
#include "pass/pass.h"

#include <string.h>
#include <time.h>

enum { MAX_STEPS = 256, MAX_NAME = 64 };

/* --- tables --- */

static const PassInfo passes[] = {
#define X(id, name, fn, summary) {name, fn, summary},
#include "pass/passes.def"
#undef X
};

enum {
#define X(id, name, fn, summary) PASS_##id,
#include "pass/passes.def"
#undef X
    PASS_COUNT
};

static const PassTarget targets[] = {
#define T(name, family, sm, ptx, shared, vector) {name, #family, sm, ptx, shared, vector},
#include "pass/targets.def"
#undef T
};

static const struct {
    const char *family, *pass;
} pipelines[] = {
#define P(family, pass) {#family, pass},
#include "pass/pipelines.def"
#undef P
};

const PassTarget *pass_target(const char *name) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}

const PassTarget *pass_target_at(uint32_t i) {
    return i < sizeof targets / sizeof *targets ? &targets[i] : NULL;
}

const PassInfo *pass_by_name(const char *name) {
    for (size_t i = 0; i < PASS_COUNT; i++)
        if (!strcmp(passes[i].name, name))
            return &passes[i];
    return NULL;
}

const PassInfo *pass_at(uint32_t i) {
    return i < PASS_COUNT ? &passes[i] : NULL;
}

/* --- which passes to run --- */

typedef struct Plan {
    const PassInfo *steps[MAX_STEPS];
    uint32_t len;
} Plan;

static const PassInfo *find_pass(const char *name, const char *option, Diag *d) {
    const char *names[PASS_COUNT + 1] = {0};
    const PassInfo *p = pass_by_name(name);
    if (p)
        return p;
    for (size_t i = 0; i < PASS_COUNT; i++)
        names[i] = passes[i].name;
    const char *near = diag_nearest(name, names);
    diag_error(d, DIAG_PASS_NAME, (Span){0}, "unknown pass '%s' in %s%s%s%s", name, option,
               near ? ", did you mean '" : "", near ? near : "", near ? "'" : "");
    return NULL;
}

/* Takes the next name off a comma list; false at its end. */
static bool next_name(const char **list, char name[MAX_NAME]) {
    while (**list == ',' || **list == ' ')
        ++*list;
    size_t len = strcspn(*list, ", ");
    size_t kept = len < MAX_NAME ? len : MAX_NAME - 1;
    memcpy(name, *list, kept);
    name[kept] = '\0';
    *list += len;
    return len;
}

static bool add_step(Plan *plan, const PassInfo *p, Diag *d) {
    if (plan->len == MAX_STEPS) {
        diag_error(d, DIAG_PASS_NAME, (Span){0}, "more than %d passes", MAX_STEPS);
        return false;
    }
    plan->steps[plan->len++] = p;
    return true;
}

static bool is_listed(const char *list, const char *pass) {
    char name[MAX_NAME];
    while (list && next_name(&list, name))
        if (!strcmp(name, pass))
            return true;
    return false;
}

static bool check_names(const char *list, const char *option, Diag *d) {
    char name[MAX_NAME];
    while (list && next_name(&list, name))
        if (!find_pass(name, option, d))
            return false;
    return true;
}

static bool plan_steps(Plan *plan, const PassTarget *target, const PassOptions *o, Diag *d) {
    char name[MAX_NAME];
    const char *list = o->passes;
    const char *print = o->print_after && strcmp(o->print_after, "all") ? o->print_after : NULL;
    if (!check_names(list, "--passes", d) || !check_names(print, "--print-after", d) ||
        !check_names(o->stop_after, "--stop-after", d) ||
        !check_names(o->disable, "--disable-pass", d))
        return false;
    while (list && next_name(&list, name))
        if (!is_listed(o->disable, name) && !add_step(plan, pass_by_name(name), d))
            return false;
    for (size_t i = 0; !o->passes && i < sizeof pipelines / sizeof *pipelines; i++) {
        if (strcmp(pipelines[i].family, target->family) || is_listed(o->disable, pipelines[i].pass))
            continue;
        const PassInfo *p = find_pass(pipelines[i].pass, "pipelines.def", d);
        if (!p || !add_step(plan, p, d))
            return false;
    }
    return true;
}

/* --- running --- */

static double milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void dump(const PassContext *c, const PassInfo *p, const PassOptions *o) {
    bool named =
        o->print_after && (!strcmp(o->print_after, "all") || is_listed(o->print_after, p->name));
    if (!o->dump || (!named && !(o->print_changed && c->changed)))
        return;
    StrBuf b;
    strbuf_init(&b, c->scratch);
    ir_print(c->m, &b);
    fprintf(o->dump, "// after %s\n%s\n", p->name, b.text ? b.text : "");
}

static bool run_step(PassContext *c, const PassInfo *p, const PassOptions *o) {
    double start = o->time ? milliseconds() : 0;
    c->changed = false;
    bool ok = p->run(c);
    if (o->time && o->on_time)
        o->on_time(o->user, p->name, milliseconds() - start);
    if (ok)
        dump(c, p, o);
    if (ok && o->verify_each && !ir_verify(c->m, c->diag)) {
        diag_note(c->diag, (Span){0}, "found by the verifier after pass '%s'", p->name);
        ok = false;
    }
    arena_reset(c->scratch);
    return ok;
}

bool pass_run(IrModule *m, const PassTarget *target, const PassOptions *o, Diag *d) {
    Plan plan = {.len = 0};
    if (!plan_steps(&plan, target, o, d))
        return false;
    Arena *scratch = arena_new(NULL, NULL);
    PassContext c = {.m = m, .target = target, .scratch = scratch, .diag = d};
    bool ok = true;
    for (uint32_t i = 0; ok && i < plan.len; i++) {
        ok = run_step(&c, plan.steps[i], o);
        if (o->stop_after && is_listed(o->stop_after, plan.steps[i]->name))
            break;
    }
    arena_free(scratch);
    return ok;
}
