/* Rows of a grid that stand for several variants: one for each combination of choices of the axes
 * that the row names. A choice adds to the row's name, constants, signature and the rest. */
#ifndef DRIVER_GRID_AXES_H
#define DRIVER_GRID_AXES_H

#include "base/vec.h"
#include "driver/grid_reader.h"

typedef struct GridRow {
    cJSON *json; /* without axes; the caller deletes it */
    const char *where;
} GridRow;

typedef VEC(GridRow) GridRows;

/* Checks the choices of all axes that `owner` (the grid, a kernel) defines. */
void grid_check_axes(GridReader *r, const cJSON *owner, const char *where);
/* Adds what `row` stands for. A kernel's axis hides the grid's of that name. */
void grid_expand(GridReader *r, const cJSON *grid, const cJSON *kernel, const cJSON *row,
                 const char *where, GridRows *out);

#endif
