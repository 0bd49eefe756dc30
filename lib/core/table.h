/* Dispatch tables (docs/metadata.md): which variant is preferred for what. Parsed once per handle;
 * asking one is a walk over an array. */
#ifndef CORE_TABLE_H
#define CORE_TABLE_H

#include "core/variant.h"

typedef struct TleiTableRow {
    TleiRule when;
    const char *variant_name;
    int32_t variant; /* index, or -1 when there is none of that name */
} TleiTableRow;

typedef struct TleiTable {
    const char *label;                         /* where it came from */
    const char *sources, *compiler, *measured; /* provenance, "" where unsaid */
    TleiTableRow *rows;
    uint32_t row_count;
} TleiTable;

/* Finds a variant by name, or -1. Variants are sorted by name. */
int32_t tlei_variant_named(const TleiVariant *variants, uint32_t count, const char *name);

/* TABLE_INVALID when the text is no table of this operator and schema; single rows that cannot be
 * used are kept for explain. label is copied. */
tle_status tlei_table_parse(TleiPool *pool, const char *text, size_t size, const char *label,
                            const char *op, TleiFactTable facts, const TleiVariant *variants,
                            uint32_t variant_count, TleiTable *out, TleiError *e);

#endif
