/* Classes of points: their grids, their cells, and which variants are near enough in each. */
#include "cli/tune_class.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool tune_same_class(const TuneFacts *facts, const int64_t *a, const int64_t *b) {
    for (int f = 0; f < facts->count; f++)
        if (facts->list[f].kind != TUNE_SPAN && a[f] != b[f])
            return false;
    return true;
}

double tune_best_score(const TuneSet *set, int point) {
    double best = INFINITY;
    for (int v = 0; v < set->variant_count; v++)
        best = fmin(best, tune_score(set, point, v));
    return best;
}

/* Inserts a value into an ascending grid; false when it is full. */
static bool add_to_grid(int64_t *grid, int *size, int64_t value) {
    int at = 0;
    while (at < *size && grid[at] < value)
        at++;
    if (at < *size && grid[at] == value)
        return true;
    if (*size == TUNE_GRID)
        return false;
    memmove(&grid[at + 1], &grid[at], (size_t)(*size - at) * sizeof *grid);
    grid[at] = value;
    ++*size;
    return true;
}

static int place(const TuneClass *c, int axis, int64_t value) {
    int at = 0;
    while (c->grid[axis][at] != value)
        at++;
    return at;
}

/* Of the points that have times: a walk that ended early leaves a coarse grid. */
static bool make_grids(TuneClass *c, char *why, size_t why_size) {
    const TuneSet *set = c->set;
    for (int p = 0; p < set->point_count; p++) {
        const int64_t *fact = set->points[p].fact;
        if (!tune_same_class(&set->facts, fact, c->fact) || isinf(tune_best_score(set, p)))
            continue;
        for (int s = 0; s < TUNE_SPANS; s++) {
            if (!add_to_grid(c->grid[s], &c->size[s], fact[c->span[s]])) {
                snprintf(why, why_size, "there are more than %d values of %s", TUNE_GRID,
                         set->facts.list[c->span[s]].name);
                return false;
            }
        }
    }
    return true;
}

static void find_cells(TuneClass *c) {
    const TuneSet *set = c->set;
    for (int i = 0; i < TUNE_CELLS; i++)
        c->cells[i] = -1;
    for (int p = 0; p < set->point_count; p++) {
        const int64_t *fact = set->points[p].fact;
        if (tune_same_class(&set->facts, fact, c->fact) && isfinite(tune_best_score(set, p)))
            c->cells[place(c, 0, fact[c->span[0]]) * TUNE_GRID + place(c, 1, fact[c->span[1]])] = p;
    }
}

static bool is_timed(const TuneClass *c, int variant) {
    for (int i = 0; i < TUNE_CELLS; i++)
        if (c->cells[i] >= 0 && isfinite(tune_score(c->set, c->cells[i], variant)))
            return true;
    return false;
}

bool tune_class_fill(TuneClass *c, const TuneSet *set, const int64_t *fact, const bool *cover,
                     char *why, size_t why_size) {
    int spans = 0;
    memset(c, 0, sizeof *c);
    c->set = set;
    c->fact = fact;
    for (int f = 0; f < set->facts.count; f++)
        if (set->facts.list[f].kind == TUNE_SPAN && spans < TUNE_SPANS)
            c->span[spans++] = f;
    if (!make_grids(c, why, why_size))
        return false;
    find_cells(c);
    for (int v = 0; v < set->variant_count; v++) {
        if (!cover[v] || !is_timed(c, v))
            continue;
        if (c->member_count == TUNE_MEMBERS - 1) {
            snprintf(why, why_size, "more than %d variants are needed in one class",
                     TUNE_MEMBERS - 1);
            return false;
        }
        c->members[c->member_count++] = v;
    }
    c->behind = c->member_count;
    return true;
}

/* Time of a member at a cell by the best there; 1 where nothing was measured. */
static double ratio_of(const TuneClass *c, int cell, int member, const TuneRules *behind) {
    int p = c->cells[cell], v = -1;
    if (member == c->behind && !behind)
        return INFINITY;
    if (p < 0)
        return 1;
    v = member < c->behind ? c->members[member]
                           : tune_chosen(c->set, behind, c->set->points[p].fact);
    return v < 0 ? INFINITY : tune_score(c->set, p, v) / tune_best_score(c->set, p);
}

void tune_class_weigh(TuneClass *c, double within, const TuneRules *behind) {
    for (int i = 0; i < TUNE_CELLS; i++) {
        for (int m = 0; m <= c->member_count; m++) {
            double ratio = ratio_of(c, i, m, behind);
            c->loss[i * TUNE_MEMBERS + m] = ratio <= within ? log(ratio) : INFINITY;
        }
    }
}
