/* Dispatch: from the facts of a call to a variant.
 *
 * A forced variant wins if it is legal. Otherwise the first table row whose condition holds and
 * whose variant is there, enabled and legal; failing all rows, the first legal variant by name.
 * Legality is the kernel's own rule, so a table can never make a call wrong. */
#include "core/op.h"

#include <string.h>

static bool usable(const TleiOp *op, int32_t variant, const TleiFact *facts) {
    if (variant < 0 || op->variants[variant].disabled || op->variants[variant].too_large ||
        atomic_load_explicit(&op->variants[variant].unlaunchable, memory_order_relaxed))
        return false;
    return tlei_rule_holds(&op->variants[variant].legal, op->def->facts, facts);
}

/* Why a variant cannot be chosen; false when it can. */
static bool refusal(const TleiOp *op, uint32_t i, const TleiFact *facts, TleiText *out) {
    const TleiVariant *v = &op->variants[i];
    if (v->disabled) {
        tlei_text_add(out, "disabled by TLE_DISABLE_VARIANTS");
        return true;
    }
    if (v->too_large) {
        tlei_text_add(out, "it needs %u bytes of shared memory, more than the device has",
                      v->shared_bytes);
        return true;
    }
    if (atomic_load_explicit(&v->unlaunchable, memory_order_relaxed)) {
        tlei_text_add(out, "the device cannot run a cluster of %u CTAs of it",
                      v->cluster[0] * v->cluster[1] * v->cluster[2]);
        return true;
    }
    if (v->legal.problem) {
        tlei_text_add(out, "%s", v->legal.problem);
        return true;
    }
    const TleiCond *cond = tlei_rule_failing(&v->legal, op->def->facts, facts);
    if (cond)
        tlei_cond_explain(cond, op->def->facts, facts, out);
    return cond != NULL;
}

/* The first row that holds and can be followed, or NULL. */
static const TleiTableRow *row_of_tables(const TleiOp *op, const TleiFact *facts,
                                         const TleiTable **from) {
    for (uint32_t t = 0; t < op->table_count; t++) {
        *from = &op->tables[t];
        for (uint32_t r = 0; r < (*from)->row_count; r++) {
            const TleiTableRow *row = &(*from)->rows[r];
            if (tlei_rule_holds(&row->when, op->def->facts, facts) &&
                usable(op, row->variant, facts))
                return row;
        }
    }
    return NULL;
}

static int32_t from_tables(const TleiOp *op, const TleiFact *facts) {
    const TleiTable *table = NULL;
    const TleiTableRow *row = row_of_tables(op, facts, &table);
    return row ? row->variant : -1;
}

static int32_t first_legal(const TleiOp *op, const TleiFact *facts) {
    for (uint32_t i = 0; i < op->variant_count; i++)
        if (usable(op, (int32_t)i, facts))
            return (int32_t)i;
    return -1;
}

static tle_status refuse_forced(const TleiOp *op, const TleiFact *facts, TleiError *e) {
    char text[256] = "the library holds none of that name for this architecture";
    TleiText reason;
    if (op->forced >= 0) {
        tlei_text_init(&reason, text, sizeof text);
        refusal(op, (uint32_t)op->forced, facts, &reason);
    }
    return tlei_fail(e, TLE_STATUS_NO_VARIANT, "%s: TLE_FORCE_VARIANT names '%s': %s",
                     op->def->name, op->forced_name, text);
}

static tle_status refuse_all(const TleiOp *op, const TleiFact *facts, TleiError *e) {
    char text[800];
    TleiText reasons;
    tlei_text_init(&reasons, text, sizeof text);
    for (uint32_t i = 0; i < op->variant_count; i++) {
        tlei_text_add(&reasons, "%s%s: ", i ? "; " : "", op->variants[i].name);
        refusal(op, i, facts, &reasons);
    }
    return tlei_fail(e, TLE_STATUS_NO_VARIANT, "%s: none of %u variants is legal: %s",
                     op->def->name, op->variant_count, text);
}

tle_status tlei_choose(const TleiOp *op, const TleiFact *facts, uint32_t *variant, TleiError *e) {
    if (op->absent)
        return tlei_fail(e, op->absent, "%s", op->absent_text);
    if (op->forced_name) {
        if (!usable(op, op->forced, facts))
            return refuse_forced(op, facts, e);
        *variant = (uint32_t)op->forced;
        return TLE_STATUS_OK;
    }
    int32_t chosen = from_tables(op, facts);
    if (chosen < 0)
        chosen = first_legal(op, facts);
    if (chosen < 0)
        return refuse_all(op, facts, e);
    *variant = (uint32_t)chosen;
    return TLE_STATUS_OK;
}

/* ---- explain ---- */

static void explain_facts(const TleiOp *op, const TleiFact *facts, TleiText *out) {
    tlei_text_add(out, "%s for %s:", op->def->name, op->arch);
    for (uint32_t i = 0; i < op->def->facts.count; i++) {
        const TleiFactDef *def = &op->def->facts.defs[i];
        if (def->kind == TLEI_FACT_TEXT)
            tlei_text_add(out, " %s=%s", def->name, facts[i].text);
        else
            tlei_text_add(out, " %s=%lld", def->name, (long long)facts[i].number);
    }
    tlei_text_add(out, "\n");
}

static void explain_row(const TleiOp *op, const TleiTableRow *row, const TleiFact *facts,
                        TleiText *out) {
    if (row->when.problem) {
        tlei_text_add(out, "skipped: %s\n", row->when.problem);
        return;
    }
    const TleiCond *cond = tlei_rule_failing(&row->when, op->def->facts, facts);
    if (cond) {
        tlei_cond_explain(cond, op->def->facts, facts, out);
    } else if (row->variant < 0) {
        tlei_text_add(out, "skipped: the library holds no such variant");
    } else if (!refusal(op, (uint32_t)row->variant, facts, out)) {
        tlei_text_add(out, "holds");
    }
    tlei_text_add(out, "\n");
}

static void explain_table(const TleiOp *op, const TleiTable *table, const TleiFact *facts,
                          TleiText *out) {
    tlei_text_add(out, "table %s", table->label);
    if (*table->measured)
        tlei_text_add(out, ", measured on %s", table->measured);
    if (*table->compiler)
        tlei_text_add(out, ", compiler %s", table->compiler);
    tlei_text_add(out, "\n");
    for (uint32_t r = 0; r < table->row_count; r++) {
        const TleiTableRow *row = &table->rows[r];
        tlei_text_add(out, "  rule %u -> %s: ", r + 1, row->variant_name);
        explain_row(op, row, facts, out);
    }
}

/* Provenance is shown, never enforced. */
static void explain_origin(const TleiOp *op, uint32_t variant, TleiText *out) {
    const char *source = op->variants[variant].source_sha256;
    for (uint32_t t = 0; t < op->table_count; t++) {
        const TleiTable *table = &op->tables[t];
        if (*table->sources && !strstr(table->sources, source))
            tlei_text_add(out,
                          "note: table %s was measured with sources %.12s%s, the variant was "
                          "built from %.12s\n",
                          table->label, table->sources, strchr(table->sources, ' ') ? " ..." : "",
                          source);
    }
}

static void explain_variants(const TleiOp *op, const TleiFact *facts, TleiText *out) {
    tlei_text_add(out, "variants\n");
    for (uint32_t i = 0; i < op->variant_count; i++) {
        tlei_text_add(out, "  %s: ", op->variants[i].name);
        if (!refusal(op, i, facts, out))
            tlei_text_add(out, "legal");
        tlei_text_add(out, "\n");
    }
}

void tlei_explain(const TleiOp *op, const TleiFact *facts, TleiText *out) {
    if (op->absent) {
        tlei_text_add(out, "refused: %s\n", op->absent_text);
        return;
    }
    explain_facts(op, facts, out);
    for (uint32_t t = 0; t < op->table_count; t++)
        explain_table(op, &op->tables[t], facts, out);
    explain_variants(op, facts, out);
    uint32_t variant = 0;
    TleiError e;
    if (tlei_choose(op, facts, &variant, &e)) {
        tlei_text_add(out, "refused: %s\n", e.text);
        return;
    }
    explain_origin(op, variant, out);
    const TleiTable *table = NULL;
    const TleiTableRow *row = row_of_tables(op, facts, &table);
    if (op->forced_name)
        tlei_text_add(out, "forced by TLE_FORCE_VARIANT\n");
    else if (row)
        tlei_text_add(out, "by rule %u of table %s\n", (unsigned)(row - table->rows) + 1,
                      table->label);
    else
        tlei_text_add(out, "no rule holds: the first legal variant by name\n");
    tlei_text_add(out, "chosen: %s\n", op->variants[variant].name);
}
