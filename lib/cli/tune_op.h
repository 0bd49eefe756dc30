/* Operators that `tle tune` can time, and timing them on a GPU. */
#ifndef CLI_TUNE_OP_H
#define CLI_TUNE_OP_H

#include "cli/tune.h"

#include <tle/tle.h>

/* A call at a point, with its device memory. */
typedef struct TuneCall {
    const int64_t *fact;
    char *input, *output, *workspace;
    size_t workspace_size;
} TuneCall;

typedef struct TuneOp {
    const char *name; /* in the library */
    TuneFacts facts;
    const int64_t *const *grid; /* the values of each fact, ascending, ended by TUNE_END */
    /* Whether a point is of the grid; `quick` thins it out. */
    bool (*wanted)(const int64_t *fact, bool quick);
    /* Inputs of the same kind are of one pool, which is filled by repeating a block. */
    int (*input_kind)(const int64_t *fact);
    void (*fill)(int kind, void *block, size_t bytes);
    size_t (*input_bytes)(const int64_t *fact);
    size_t (*output_bytes)(const int64_t *fact);
    tle_status (*workspace)(tle_handle handle, const TuneCall *call, size_t *size);
    tle_status (*run)(tle_handle handle, const TuneCall *call, tle_stream stream);
} TuneOp;

enum { TUNE_END = -1, TUNE_KINDS = 8 };

#define X(name, run, explain) extern const TuneOp tune_##name;
#include "cli/operators.def"
#undef X

/* Of that place in operators.def. */
const TuneOp *tune_op(uint32_t number);

/* For the grids of operators. */
bool tune_is_among(const int64_t *list, int64_t value); /* the list is ended by TUNE_END */
/* Normal values of a float type, any bits of an integer type; always the same. */
void tune_fill(int32_t dtype, void *block, size_t bytes);

/* Adds the points of an operator's grid that the device's handle supports; false without memory. */
bool tune_add_points(const TuneOp *op, tle_handle handle, bool quick, TuneSet *set);

typedef struct TuneLimits {
    double seconds;                               /* begin no point after so many */
    bool (*save)(const TuneSet *set, void *user); /* from time to time; may be NULL */
    void *user;
} TuneLimits;

/* Fills in the times of the variants at the points that have none, on the GPU that the options
 * name. Returns 0 or an exit status after a message. */
int tune_measure(const TuneOp *op, const tle_handle_options *options, const TuneLimits *limits,
                 TuneSet *set);

#endif
