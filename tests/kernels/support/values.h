/* Rows of test scores, reproducible from a seed. */
#ifndef KERNELS_SUPPORT_VALUES_H
#define KERNELS_SUPPORT_VALUES_H

#include "cli/element.h"

typedef enum ValueKind {
#define X(name, text, doc) VALUES_##name,
#include "kernels/support/values.def"
#undef X
    VALUES_COUNT
} ValueKind;

typedef struct Random {
    uint64_t state;
} Random;

uint64_t random_bits(Random *r);
/* 0 .. n - 1, n > 0 */
uint64_t random_below(Random *r, uint64_t n);
double random_unit(Random *r);

const char *value_kind_name(ValueKind kind);
void fill_values(float *row, int64_t n, ValueKind kind, Random *r);
/* The same as elements of a type; kinds about bit patterns are about those of the type. */
void fill_elements(ElementType type, void *row, int64_t n, ValueKind kind, Random *r);

#endif
