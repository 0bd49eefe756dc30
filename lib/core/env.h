/* The environment: one table, env.def. */
#ifndef CORE_ENV_H
#define CORE_ENV_H

typedef enum TleiEnv {
#define X(name, values, meaning) TLEI_ENV_##name,
#include "core/env.def"
#undef X
    TLEI_ENV_COUNT
} TleiEnv;

/* The value, or NULL where unset or empty. */
const char *tlei_env(TleiEnv variable);
const char *tlei_env_name(TleiEnv variable);

#endif
