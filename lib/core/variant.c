/* Metadata JSON to TleiVariant. */
#include "core/variant.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    TleiPool *pool;
    const char *name; /* of the variant, for messages */
    const cJSON *root;
    TleiError *e;
} Reader;

static const cJSON *get(const cJSON *object, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

static tle_status bad_key(const Reader *r, const char *key, const char *expected) {
    return tlei_fail(r->e, TLE_STATUS_PACK_CORRUPT, "metadata of %s: '%s' is not %s", r->name, key,
                     expected);
}

static tle_status no_memory(const Reader *r) {
    return tlei_fail(r->e, TLE_STATUS_OUT_OF_MEMORY, "no memory for the metadata of %s", r->name);
}

static bool in_range(const cJSON *item, double lo, double hi) {
    return cJSON_IsNumber(item) && item->valuedouble >= lo && item->valuedouble <= hi &&
           item->valuedouble == (double)(int64_t)item->valuedouble;
}

static tle_status read_u32(const Reader *r, const char *key, uint32_t lo, uint32_t hi,
                           uint32_t *out) {
    const cJSON *item = get(r->root, key);
    if (!in_range(item, lo, hi))
        return bad_key(r, key, "an integer in its range");
    *out = (uint32_t)item->valuedouble;
    return TLE_STATUS_OK;
}

/* A number that only some builds know. */
static int32_t read_optional(const Reader *r, const char *key) {
    const cJSON *item = get(r->root, key);
    return in_range(item, 0, INT32_MAX) ? (int32_t)item->valuedouble : -1;
}

static tle_status read_text(const Reader *r, const char *key, const char **out) {
    const char *text = cJSON_GetStringValue(get(r->root, key));
    if (!text)
        return bad_key(r, key, "a string");
    *out = tlei_pool_strdup(r->pool, text);
    return *out ? TLE_STATUS_OK : no_memory(r);
}

static tle_status read_cluster(const Reader *r, uint32_t out[3]) {
    const cJSON *item = get(r->root, "cluster");
    if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 3)
        return bad_key(r, "cluster", "three integers");
    for (int i = 0; i < 3; i++) {
        const cJSON *size = cJSON_GetArrayItem(item, i);
        if (!in_range(size, 1, 16))
            return bad_key(r, "cluster", "three integers of 1 to 16");
        out[i] = (uint32_t)size->valuedouble;
    }
    return TLE_STATUS_OK;
}

/* {"per_call": n, "per_row": n, "zeroed": n}; absent: none. */
static tle_status read_workspace(const Reader *r, TleiVariant *v) {
    const cJSON *item = get(r->root, "workspace");
    if (!item)
        return TLE_STATUS_OK;
    const cJSON *call = get(item, "per_call"), *row = get(item, "per_row");
    const cJSON *zeroed = get(item, "zeroed");
    if (!in_range(call, 0, INT32_MAX) || !in_range(row, 0, INT32_MAX) ||
        (zeroed && !in_range(zeroed, 0, call->valuedouble)))
        return bad_key(r, "workspace", "an object with per_call, per_row and perhaps zeroed");
    v->workspace_zeroed = zeroed ? (uint32_t)zeroed->valuedouble : 0;
    v->workspace_per_call = (uint64_t)call->valuedouble;
    v->workspace_per_row = (uint64_t)row->valuedouble;
    return TLE_STATUS_OK;
}

/* Bits of a metadata type: a pointer or an integer; 0 for what no operator passes. */
static uint32_t bits_of(const char *type) {
    if (type[0] == '*' || !strcmp(type, "i64") || !strcmp(type, "u64"))
        return 64;
    return !strcmp(type, "i32") || !strcmp(type, "u32") ? 32 : 0;
}

static tle_status set_problem(const Reader *r, TleiVariant *v, const char *param,
                              const char *type) {
    char text[256];
    snprintf(text, sizeof text, "kernel parameter '%s' of type %s is none that the operator passes",
             param, type);
    v->problem = tlei_pool_strdup(r->pool, text);
    return v->problem ? TLE_STATUS_OK : no_memory(r);
}

static tle_status bind_param(const Reader *r, const cJSON *item, TleiArgTable args,
                             TleiVariant *v) {
    const char *name = cJSON_GetStringValue(get(item, "name"));
    const char *type = cJSON_GetStringValue(get(item, "type"));
    if (!name || !type)
        return bad_key(r, "params", "an array of objects with name and type");
    /* The word of a barrier of the grid lies at the start of the workspace. */
    const char *wanted = strcmp(name, "grid_barrier") ? name : "workspace";
    uint32_t i = 0;
    while (i < args.count && strcmp(args.defs[i].name, wanted))
        i++;
    if (i == args.count || bits_of(type) < args.defs[i].bits)
        return set_problem(r, v, name, type);
    if (wanted != name)
        v->workspace_arg = (uint8_t)i;
    v->params[v->param_count++] = (uint8_t)i;
    return TLE_STATUS_OK;
}

static tle_status read_params(const Reader *r, TleiArgTable args, TleiVariant *v) {
    const cJSON *params = get(r->root, "params");
    if (!cJSON_IsArray(params) || cJSON_GetArraySize(params) > TLEI_MAX_PARAMS)
        return bad_key(r, "params", "an array of at most 32 objects");
    tle_status status = TLE_STATUS_OK;
    for (const cJSON *item = params->child; item && !status; item = item->next)
        status = bind_param(r, item, args, v);
    return status;
}

static tle_status read_launch(const Reader *r, TleiVariant *v) {
    tle_status status = read_u32(r, "threads", 1, 1024, &v->threads);
    if (!status)
        status = read_u32(r, "shared_bytes", 0, 1u << 20, &v->shared_bytes);
    if (!status)
        status = read_cluster(r, v->cluster);
    if (!status)
        status = read_workspace(r, v);
    if (!status && !cJSON_IsBool(get(r->root, "cooperative")))
        status = bad_key(r, "cooperative", "true or false");
    v->cooperative = cJSON_IsTrue(get(r->root, "cooperative"));
    v->dependent_launch = cJSON_IsTrue(get(r->root, "dependent_launch"));
    v->registers = read_optional(r, "registers");
    v->spill_bytes = read_optional(r, "spill_bytes");
    return status;
}

static tle_status read_identity(const Reader *r, const TleiPack *pack, TleiVariant *v) {
    uint32_t schema = 0;
    tle_status status = read_u32(r, "schema", 0, UINT32_MAX, &schema);
    if (!status && schema != 1)
        return tlei_fail(r->e, TLE_STATUS_PACK_VERSION,
                         "metadata of %s has schema %u, this library reads schema 1", r->name,
                         schema);
    const char *name = cJSON_GetStringValue(get(r->root, "name"));
    const char *op = cJSON_GetStringValue(get(r->root, "op"));
    if (!status && (!name || strcmp(name, r->name)))
        return bad_key(r, "name", "the name in the pack's index");
    if (!status && (!op || strcmp(op, tlei_pack_op(pack))))
        return bad_key(r, "op", "the pack's operator");
    if (!status)
        status = read_text(r, "kernel", &v->kernel);
    return status ? status : read_text(r, "source_sha256", &v->source_sha256);
}

static tle_status read_all(const Reader *r, const TleiPack *pack, TleiFactTable facts,
                           TleiArgTable args, TleiVariant *v) {
    tle_status status = read_identity(r, pack, v);
    if (!status)
        status = read_launch(r, v);
    if (!status)
        status = read_params(r, args, v);
    if (!status && !tlei_rule_compile(r->pool, facts, get(r->root, "legal"), &v->legal))
        status = no_memory(r);
    return status;
}

tle_status tlei_variant_read(TleiPool *pool, const TleiPack *pack, uint32_t i, TleiFactTable facts,
                             TleiArgTable args, TleiVariant *out, TleiError *e) {
    char *text = NULL;
    size_t size = 0;
    tle_status status = tlei_pack_load(pack, tlei_pack_entry(pack, i).meta, &text, &size, e);
    if (status)
        return status;
    cJSON *root = cJSON_ParseWithLength(text, size);
    free(text);
    Reader r = {pool, tlei_pack_name(pack, i), root, e};
    out->name = r.name;
    out->entry = i;
    status = root ? read_all(&r, pack, facts, args, out)
                  : tlei_fail(e, TLE_STATUS_PACK_CORRUPT, "metadata of %s is not JSON", r.name);
    cJSON_Delete(root);
    return status;
}
