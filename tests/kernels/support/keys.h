/* Rows of test keys of any element type, made of the values of scores. */
#ifndef KERNELS_SUPPORT_KEYS_H
#define KERNELS_SUPPORT_KEYS_H

#include "kernels/support/values.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes n keys of a tle_dtype: floats are rounded to it, integers are the floats scaled so that
 * they spread over the type's range, and VALUES_BITS are random bits of any type. False without
 * memory. */
bool fill_keys(void *row, int32_t dtype, int64_t n, ValueKind kind, Random *r);

#endif
