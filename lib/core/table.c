/* Dispatch table JSON to arrays. */
#include "core/table.h"

#include <cjson/cJSON.h>
#include <string.h>

int32_t tlei_variant_named(const TleiVariant *variants, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (!strcmp(variants[i].name, name))
            return (int32_t)i;
    return -1;
}

static const cJSON *get(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static tle_status invalid(const char *label, const char *what, TleiError *e) {
    return tlei_fail(e, TLE_STATUS_TABLE_INVALID, "dispatch table %s: %s", label, what);
}

static tle_status no_memory(const char *label, TleiError *e) {
    return tlei_fail(e, TLE_STATUS_OUT_OF_MEMORY, "no memory for dispatch table %s", label);
}

static tle_status check_head(const cJSON *root, const char *label, const char *op, TleiError *e) {
    if (!cJSON_IsObject(root))
        return invalid(label, "not a JSON object", e);
    const cJSON *schema = get(root, "schema");
    if (!cJSON_IsNumber(schema))
        return invalid(label, "'schema' is missing", e);
    if (schema->valuedouble != 1)
        return tlei_fail(e, TLE_STATUS_PACK_VERSION,
                         "dispatch table %s has schema %g, this library reads schema 1", label,
                         schema->valuedouble);
    const char *named = cJSON_GetStringValue(get(root, "op"));
    if (!named || strcmp(named, op))
        return tlei_fail(e, TLE_STATUS_TABLE_INVALID, "dispatch table %s is for '%s', not for '%s'",
                         label, named ? named : "", op);
    if (!cJSON_IsArray(get(root, "rules")))
        return invalid(label, "'rules' is not an array", e);
    return TLE_STATUS_OK;
}

static const char *provenance(TleiPool *pool, const cJSON *root, const char *key) {
    const char *text = cJSON_GetStringValue(get(get(root, "provenance"), key));
    return tlei_pool_strdup(pool, text ? text : "");
}

/* A misspelt 'when' would make a rule that always holds. */
static const char *stray_key(const cJSON *rule) {
    for (const cJSON *item = cJSON_IsObject(rule) ? rule->child : NULL; item; item = item->next)
        if (strcmp(item->string, "when") && strcmp(item->string, "variant"))
            return item->string;
    return NULL;
}

static tle_status read_rows(TleiPool *pool, const cJSON *rules, TleiFactTable facts,
                            const TleiVariant *variants, uint32_t variant_count, TleiTable *out,
                            TleiError *e) {
    out->rows = tlei_pool_alloc(pool, (size_t)cJSON_GetArraySize(rules), sizeof *out->rows);
    if (!out->rows)
        return no_memory(out->label, e);
    for (const cJSON *rule = rules->child; rule; rule = rule->next) {
        const char *name = cJSON_GetStringValue(get(rule, "variant"));
        const char *stray = stray_key(rule);
        if (stray)
            return tlei_fail(e, TLE_STATUS_TABLE_INVALID,
                             "dispatch table %s: a rule has '%s'; it has 'when' and 'variant'",
                             out->label, stray);
        if (!name)
            return invalid(out->label, "a rule has no 'variant'", e);
        TleiTableRow *row = &out->rows[out->row_count++];
        row->variant = tlei_variant_named(variants, variant_count, name);
        row->variant_name = tlei_pool_strdup(pool, name);
        if (!row->variant_name || !tlei_rule_compile(pool, facts, get(rule, "when"), &row->when))
            return no_memory(out->label, e);
    }
    return TLE_STATUS_OK;
}

static tle_status read_table(TleiPool *pool, const cJSON *root, TleiFactTable facts,
                             const TleiVariant *variants, uint32_t variant_count, TleiTable *out,
                             TleiError *e) {
    out->sources = provenance(pool, root, "sources");
    out->compiler = provenance(pool, root, "compiler");
    out->measured = provenance(pool, root, "measured_on");
    if (!out->sources || !out->compiler || !out->measured)
        return no_memory(out->label, e);
    return read_rows(pool, get(root, "rules"), facts, variants, variant_count, out, e);
}

static bool ends_at(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n", *at) && *at)
        at++;
    return at == end;
}

tle_status tlei_table_parse(TleiPool *pool, const char *text, size_t size, const char *label,
                            const char *op, TleiFactTable facts, const TleiVariant *variants,
                            uint32_t variant_count, TleiTable *out, TleiError *e) {
    *out = (TleiTable){.label = tlei_pool_strdup(pool, label)};
    if (!out->label)
        return no_memory(label, e);
    const char *end = text;
    cJSON *root = cJSON_ParseWithLengthOpts(text, size, &end, false);
    if (!root)
        return invalid(label, "not JSON", e);
    tle_status status = ends_at(end, text + size) ? check_head(root, label, op, e)
                                                  : invalid(label, "text after the JSON", e);
    if (!status)
        status = read_table(pool, root, facts, variants, variant_count, out, e);
    cJSON_Delete(root);
    return status;
}
