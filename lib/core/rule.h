/* Rules: conjunctions of conditions over what the host knows about a call.
 *
 * An operator lists its facts once (name and kind); rules in metadata (`legal`) and in dispatch
 * tables (`when`) are JSON over those names and are compiled to arrays when a handle is made.
 *   name: [lo, hi]   a number in an inclusive range
 *   name: n          an alignment that is a multiple of n
 *   name: "text"     equality
 * A rule that names an unknown fact or has another form is not an error of the library: it keeps a
 * `problem`, never holds, and `explain` shows it. */
#ifndef CORE_RULE_H
#define CORE_RULE_H

#include "core/pool.h"
#include "core/text.h"
#include <stdbool.h>
#include <stdint.h>

struct cJSON;

typedef enum TleiFactKind { TLEI_FACT_NUMBER, TLEI_FACT_ALIGN, TLEI_FACT_TEXT } TleiFactKind;

typedef struct TleiFactDef {
    const char *name;
    TleiFactKind kind;
} TleiFactDef;

typedef union TleiFact {
    int64_t number; /* of an alignment: the largest power of two that divides, or more */
    const char *text;
} TleiFact;

typedef struct TleiFactTable {
    const TleiFactDef *defs;
    uint32_t count;
} TleiFactTable;

typedef struct TleiCond {
    uint32_t fact;
    int64_t lo, hi; /* alignment: lo */
    const char *text;
} TleiCond;

typedef struct TleiRule {
    const TleiCond *conds;
    uint32_t count;
    const char *problem; /* NULL: sound */
} TleiRule;

/* Compiles a JSON object; NULL is the empty rule. False only when memory is exhausted. */
bool tlei_rule_compile(TleiPool *pool, TleiFactTable table, const struct cJSON *json,
                       TleiRule *out);

/* The first condition that does not hold, or NULL when the rule holds. A rule with a problem must
 * not be asked. */
const TleiCond *tlei_rule_failing(const TleiRule *rule, TleiFactTable table, const TleiFact *facts);
static inline bool tlei_rule_holds(const TleiRule *rule, TleiFactTable table,
                                   const TleiFact *facts) {
    return !rule->problem && !tlei_rule_failing(rule, table, facts);
}

/* "k = 600 is not in [1, 512]". */
void tlei_cond_explain(const TleiCond *cond, TleiFactTable table, const TleiFact *facts,
                       TleiText *out);

#endif
