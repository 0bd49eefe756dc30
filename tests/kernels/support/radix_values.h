/* Keys of all types that radix selection takes, as bits: what they are worth, and rows of them.
 * Shares nothing with the kernels. */
#ifndef KERNELS_SUPPORT_RADIX_VALUES_H
#define KERNELS_SUPPORT_RADIX_VALUES_H

#include "kernels/support/values.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct RadixType {
    const char *name;
    size_t bytes;
    enum { FLOAT, SIGNED, UNSIGNED } kind;
    int exponent_bits;
} RadixType;

/* NULL where the name is no type's; n is its length. */
const RadixType *radix_type(const char *name, size_t n);

/* Negative, 0 or positive as a is less than, equal to or greater than b. NaN is greatest and equals
 * NaN; zeros are equal. */
int radix_compare(const RadixType *type, uint64_t a, uint64_t b);
/* What fills the places without an element. */
uint64_t radix_worst(const RadixType *type, bool smallest);

uint64_t radix_bits_at(const RadixType *type, const void *keys, int64_t i);
void radix_set_bits(const RadixType *type, void *keys, int64_t i, uint64_t bits);

typedef enum RadixValues {
#define X(name, text, doc) RADIX_##name,
#include "kernels/support/radix_values.def"
#undef X
    RADIX_VALUES_COUNT
} RadixValues;

const char *radix_values_name(RadixValues values);
/* n keys from place `first` on. */
void radix_fill(const RadixType *type, void *keys, int64_t first, int64_t n, RadixValues values,
                Random *r);

#endif
