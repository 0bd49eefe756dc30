/* Commands that are the operators': run, explain and check. */
#include "cli/cli.h"

#include <stdio.h>

static const struct {
    const char *name;
    int (*run)(const Options *o);
    int (*explain)(const Options *o, tle_handle handle);
    void (*check)(tle_handle handle, bool quick, int *count, int *bad);
} operators[OPERATOR_COUNT] = {
#define X(name, run, explain) {#name "_select", run_##name, explain_##name, check_##name},
#include "cli/operators.def"
#undef X
};

int command_run(const Options *o) {
    return operators[o->op].run(o);
}

int command_explain(const Options *o) {
    tle_handle handle = NULL;
    int failed = open_for_questions(o, &handle);
    if (!failed)
        failed = operators[o->op].explain(o, handle);
    tle_destroy(handle);
    return failed;
}

static int stop_at_one(const tle_variant_info *info, void *user) {
    (void)info;
    *(bool *)user = true;
    return 1;
}

/* Builds may leave out the kernels of operators (TLE_OPS). */
static bool has_kernels(tle_handle handle, int op) {
    bool found = false;
    return !tle_variants(handle, operators[op].name, stop_at_one, &found) && found;
}

/* Checks the operators that there are kernels of. Without any, all are tried, which says why. */
static void check_all(tle_handle handle, bool quick, int *count, int *bad) {
    bool any = false;
    for (int i = 0; i < OPERATOR_COUNT; i++)
        any = any || has_kernels(handle, i);
    for (int i = 0; i < OPERATOR_COUNT; i++) {
        if (!any || has_kernels(handle, i))
            operators[i].check(handle, quick, count, bad);
        else
            printf("none   %s: there are no kernels of it\n", operators[i].name);
    }
}

int command_check(const Options *o) {
    tle_handle handle = NULL;
    int bad = 0, count = 0, failed = open_handle(o, &handle);
    if (failed)
        return failed;
    check_all(handle, o->value[OPT_quick] != NULL, &count, &bad);
    tle_destroy(handle);
    printf("%d of %d cases failed\n", bad, count);
    return bad ? EXIT_FAILED : 0;
}
