/* Environment variables. */
#include "core/env.h"
#include <tle/tle.h>

#include <stdlib.h>

static const struct {
    const char *name, *meaning;
} variables[] = {
#define X(name, values, meaning) {"TLE_" #name, meaning " (" values ")"},
#include "core/env.def"
#undef X
};

const char *tlei_env(TleiEnv variable) {
    const char *value = secure_getenv(variables[variable].name);
    return value && *value ? value : NULL;
}

const char *tlei_env_name(TleiEnv variable) {
    return variables[variable].name;
}

int32_t tle_environment(int32_t i, const char **name, const char **value, const char **meaning) {
    if (i < 0 || i >= (int32_t)TLEI_ENV_COUNT)
        return 0;
    if (name)
        *name = variables[i].name;
    if (value)
        *value = tlei_env((TleiEnv)i);
    if (meaning)
        *meaning = variables[i].meaning;
    return 1;
}
