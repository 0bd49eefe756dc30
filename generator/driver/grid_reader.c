/* Fields of a grid file, see grid_reader.h. */
#include "driver/grid_reader.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

void grid_fail(GridReader *r, const char *format, ...) {
    StrBuf b;
    va_list args;

    if (r->why)
        return;
    strbuf_init(&b, r->arena);
    va_start(args, format);
    strbuf_vaddf(&b, format, args);
    va_end(args);
    r->why = b.text;
}

bool grid_keys(GridReader *r, const cJSON *object, const char *where, const char *keys) {
    if (!cJSON_IsObject(object)) {
        grid_fail(r, "%s is no object", where);
        return false;
    }
    for (const cJSON *x = object->child; x; x = x->next) {
        if (!strstr(keys, str_format(r->arena, " %s ", x->string)))
            grid_fail(r, "%s has the unknown key '%s', expected one of%s", where, x->string, keys);
        for (const cJSON *y = x->next; y; y = y->next)
            if (!strcmp(x->string, y->string))
                grid_fail(r, "%s has the key '%s' twice", where, x->string);
    }
    return !r->why;
}

const char *grid_text(GridReader *r, const cJSON *object, const char *where, const char *key) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsString(x) || !x->valuestring[0]) {
        grid_fail(r, "%s.%s is missing or no text", where, key);
        return "";
    }
    return arena_strndup(r->arena, x->valuestring, strlen(x->valuestring));
}

bool grid_bool(GridReader *r, const cJSON *object, const char *where, const char *key) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

    if (x && !cJSON_IsBool(x))
        grid_fail(r, "%s.%s is neither true nor false", where, key);
    return x && cJSON_IsTrue(x);
}

const cJSON *grid_array(GridReader *r, const cJSON *object, const char *where, const char *key) {
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(object, key);

    if (!cJSON_IsArray(x) || !x->child)
        grid_fail(r, "%s.%s is missing, empty or no array", where, key);
    return r->why ? NULL : x;
}

bool grid_is_whole(const cJSON *x) {
    return cJSON_IsNumber(x) && isfinite(x->valuedouble) && floor(x->valuedouble) == x->valuedouble;
}
