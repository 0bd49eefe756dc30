/* Inside of tune_rules(): classes of points, and cutting them into pieces of one variant. */
#ifndef CLI_TUNE_CLASS_H
#define CLI_TUNE_CLASS_H

#include "cli/tune.h"

enum { TUNE_CELLS = TUNE_GRID * TUNE_GRID };

/* The points that differ in spans alone: a matrix of cells over the grids of two spans. What the
 * rules behind the class choose is a member of its own, the one of number `behind`. */
typedef struct TuneClass {
    const TuneSet *set;
    const int64_t *fact;  /* of one of its points: those that are no spans are the class's */
    int span[TUNE_SPANS]; /* which facts are spans */
    int size[TUNE_SPANS]; /* of the grids */
    int64_t grid[TUNE_SPANS][TUNE_GRID];
    int cells[TUNE_CELLS];            /* point of a cell, or -1 */
    bool seen[TUNE_SPANS][TUNE_GRID]; /* whether anything was measured at a grid value */
    int members[TUNE_MEMBERS], member_count, behind;
    /* [cell][member]: the logarithm of its time by the best there; 0 where nothing was measured,
     * infinite where it is not near enough. */
    double loss[TUNE_CELLS * TUNE_MEMBERS];
} TuneClass;

typedef struct TunePiece {
    int begin[TUNE_SPANS], end[TUNE_SPANS]; /* of the grids */
    int member;
} TunePiece;

bool tune_same_class(const TuneFacts *facts, const int64_t *a, const int64_t *b);
/* Whether two points differ in spans and sizes alone: such calls may share bodies. */
bool tune_same_family(const TuneFacts *facts, const int64_t *a, const int64_t *b);
/* Whether variants are made for one value of a fact. */
bool tune_made_for(const TuneSet *set, int fact, int64_t value);
double tune_best_score(const TuneSet *set, int point);
/* Of the points like `fact`, of variants of the cover alone. */
bool tune_class_fill(TuneClass *c, const TuneSet *set, const int64_t *fact, const bool *cover,
                     char *why, size_t why_size);
/* Fills in the losses; the rules behind may be NULL. */
void tune_class_weigh(TuneClass *c, double within, const TuneRules *behind);

/* Cuts the matrix into as few pieces of one member as bands along either span allow, not counting
 * those that are left to the rules behind, which are not among the pieces; of as few, those that
 * lose least. Returns how many. */
int tune_cut(const TuneClass *c, TunePiece *pieces);

#endif
