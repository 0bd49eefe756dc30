/* Elements of scores in host memory: what a 16-bit pattern is worth, and the nearest pattern of a
 * float. */
#ifndef CLI_ELEMENT_H
#define CLI_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ElementType { ELEMENT_FP32, ELEMENT_FP16, ELEMENT_BF16, ELEMENT_COUNT } ElementType;

size_t element_bytes(ElementType type);
const char *element_name(ElementType type); /* "fp32" */
int32_t element_dtype(ElementType type);    /* tle_dtype */
/* False for a tle_dtype that scores cannot have. */
bool element_of_dtype(int32_t dtype, ElementType *out);

/* Element i of an array; exact. */
float element_get(ElementType type, const void *array, int64_t i);
/* The nearest element, ties to even; a NaN keeps its sign. */
void element_put(ElementType type, void *array, int64_t i, float x);

#endif
