/* The strategies of strategies.def by name. */
#include "codegen/cg.h"

#include "base/str.h"

#include <string.h>

static const char *const names[CG_STRATEGY_COUNT] = {
#define X(id, name, summary) [CG_##id] = name,
#include "codegen/strategies.def"
#undef X
};

static const char *all_names(Arena *a) {
    StrBuf b;

    strbuf_init(&b, a);
    for (uint32_t i = 0; i < CG_STRATEGY_COUNT; i++)
        strbuf_addf(&b, "%s%s", i ? ", " : "", names[i]);
    return b.text;
}

static bool add_named(const char *name, size_t len, uint32_t *set) {
    for (uint32_t i = 0; i < CG_STRATEGY_COUNT; i++)
        if (strlen(names[i]) == len && !strncmp(names[i], name, len)) {
            *set |= 1u << i;
            return true;
        }
    return false;
}

const char *cg_strategies(Arena *a, const char *list, uint32_t *set) {
    *set = 0;
    while (*list) {
        size_t len = strcspn(list, ",");

        if (!add_named(list, len, set))
            return str_format(a, "'%.*s' is no strategy, expected some of %s", (int)len, list,
                              all_names(a));
        list += len + (list[len] == ',');
    }
    return NULL;
}
