/* Compilation and evaluation of rules. */
#include "core/rule.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

/* Doubles carry integers exactly up to here. */
#define MAX_EXACT 9007199254740992.0

static bool integer_of(const cJSON *json, int64_t *out) {
    if (!cJSON_IsNumber(json) || !(json->valuedouble >= -MAX_EXACT) ||
        json->valuedouble > MAX_EXACT)
        return false;
    *out = (int64_t)json->valuedouble;
    return (double)*out == json->valuedouble;
}

static bool compile_cond(const TleiFactDef *def, const cJSON *json, TleiCond *cond) {
    switch (def->kind) {
    case TLEI_FACT_NUMBER:
        return cJSON_IsArray(json) && cJSON_GetArraySize(json) == 2 &&
               integer_of(cJSON_GetArrayItem(json, 0), &cond->lo) &&
               integer_of(cJSON_GetArrayItem(json, 1), &cond->hi);
    case TLEI_FACT_ALIGN:
        return integer_of(json, &cond->lo) && cond->lo > 0 && !(cond->lo & (cond->lo - 1));
    case TLEI_FACT_TEXT:
        cond->text = cJSON_GetStringValue(json);
        return cond->text != NULL;
    }
    return false;
}

static const char *expected_form(TleiFactKind kind) {
    switch (kind) {
    case TLEI_FACT_NUMBER:
        return "a range [lo, hi] of integers";
    case TLEI_FACT_ALIGN:
        return "a power of two";
    case TLEI_FACT_TEXT:
        return "a string";
    }
    return "";
}

static uint32_t fact_named(TleiFactTable table, const char *name) {
    uint32_t i = 0;
    while (i < table.count && strcmp(table.defs[i].name, name))
        i++;
    return i;
}

static bool set_problem(TleiPool *pool, TleiRule *out, const char *name, const char *detail) {
    char text[256];
    snprintf(text, sizeof text, "the rule's '%s' is not %s", name, detail);
    out->problem = tlei_pool_strdup(pool, text);
    return out->problem != NULL;
}

bool tlei_rule_compile(TleiPool *pool, TleiFactTable table, const cJSON *json, TleiRule *out) {
    *out = (TleiRule){0};
    if (!json)
        return true;
    if (!cJSON_IsObject(json))
        return set_problem(pool, out, "JSON", "an object");
    TleiCond *conds = tlei_pool_alloc(pool, (size_t)cJSON_GetArraySize(json), sizeof *conds);
    if (!conds)
        return false;
    out->conds = conds;
    for (const cJSON *item = json->child; item; item = item->next) {
        TleiCond *cond = &conds[out->count];
        cond->fact = fact_named(table, item->string);
        if (cond->fact == table.count)
            return set_problem(pool, out, item->string, "a fact that the operator knows");
        const TleiFactDef *def = &table.defs[cond->fact];
        if (!compile_cond(def, item, cond))
            return set_problem(pool, out, def->name, expected_form(def->kind));
        if (cond->text && !(cond->text = tlei_pool_strdup(pool, cond->text)))
            return false;
        out->count++;
    }
    return true;
}

static bool cond_holds(const TleiCond *cond, TleiFactKind kind, TleiFact fact) {
    switch (kind) {
    case TLEI_FACT_NUMBER:
        return fact.number >= cond->lo && fact.number <= cond->hi;
    case TLEI_FACT_ALIGN:
        return fact.number % cond->lo == 0;
    case TLEI_FACT_TEXT:
        return !strcmp(fact.text, cond->text);
    }
    return false;
}

const TleiCond *tlei_rule_failing(const TleiRule *rule, TleiFactTable table,
                                  const TleiFact *facts) {
    for (uint32_t i = 0; i < rule->count; i++) {
        const TleiCond *cond = &rule->conds[i];
        if (!cond_holds(cond, table.defs[cond->fact].kind, facts[cond->fact]))
            return cond;
    }
    return NULL;
}

void tlei_cond_explain(const TleiCond *cond, TleiFactTable table, const TleiFact *facts,
                       TleiText *out) {
    const TleiFactDef *def = &table.defs[cond->fact];
    TleiFact fact = facts[cond->fact];
    switch (def->kind) {
    case TLEI_FACT_NUMBER:
        tlei_text_add(out, "%s = %lld is not in [%lld, %lld]", def->name, (long long)fact.number,
                      (long long)cond->lo, (long long)cond->hi);
        return;
    case TLEI_FACT_ALIGN:
        tlei_text_add(out, "%s = %lld is not a multiple of %lld", def->name, (long long)fact.number,
                      (long long)cond->lo);
        return;
    case TLEI_FACT_TEXT:
        tlei_text_add(out, "%s = \"%s\" is not \"%s\"", def->name, fact.text, cond->text);
        return;
    }
}
