/* libFuzzer target: any text as a dispatch table. What is accepted is walked. */
#include "core/table.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const TleiFactDef defs[] = {
        {"k", TLEI_FACT_NUMBER}, {"align", TLEI_FACT_ALIGN}, {"dtype", TLEI_FACT_TEXT}};
    static const TleiFactTable facts = {defs, 3};
    static const TleiVariant variants[] = {{.name = "a"}, {.name = "b"}};
    const TleiFact values[] = {{.number = 7}, {.number = 16}, {.text = "fp32"}};
    TleiPool pool = {0};
    TleiTable table;
    TleiError e;
    if (!tlei_table_parse(&pool, (const char *)data, size, "fuzz", "topk_select", facts, variants,
                          2, &table, &e))
        for (uint32_t i = 0; i < table.row_count; i++)
            if (tlei_rule_holds(&table.rows[i].when, facts, values) && table.rows[i].variant > 1)
                abort();
    tlei_pool_free(&pool);
    return 0;
}
