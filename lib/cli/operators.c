/* Commands that are the operators': run, explain and check. */
#include "cli/cli.h"

#include <stdio.h>

static const struct {
    int (*run)(const Options *o);
    int (*explain)(const Options *o, tle_handle handle);
    void (*check)(tle_handle handle, bool quick, int *count, int *bad);
} operators[OPERATOR_COUNT] = {
#define X(name, run, explain) {run_##name, explain_##name, check_##name},
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

int command_check(const Options *o) {
    tle_handle handle = NULL;
    int bad = 0, count = 0, failed = open_handle(o, &handle);
    if (failed)
        return failed;
    for (int i = 0; i < OPERATOR_COUNT; i++)
        operators[i].check(handle, o->value[OPT_quick] != NULL, &count, &bad);
    tle_destroy(handle);
    printf("%d of %d cases failed\n", bad, count);
    return bad ? EXIT_FAILED : 0;
}
