/* What the readers of a grid file share: the first error, and fields of JSON objects. `where` names
 * the object in sentences. */
#ifndef DRIVER_GRID_READER_H
#define DRIVER_GRID_READER_H

#include "base/arena.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

typedef struct GridReader {
    Arena *arena;
    const char *why; /* the first error */
} GridReader;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void grid_fail(GridReader *r, const char *format, ...);

/* `keys` is a space-separated list with a space at both ends. */
bool grid_keys(GridReader *r, const cJSON *object, const char *where, const char *keys);
const char *grid_text(GridReader *r, const cJSON *object, const char *where, const char *key);
bool grid_bool(GridReader *r, const cJSON *object, const char *where, const char *key);
/* NULL after any error. */
const cJSON *grid_array(GridReader *r, const cJSON *object, const char *where, const char *key);
bool grid_is_whole(const cJSON *x);

#endif
