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

bool tune_same_family(const TuneFacts *facts, const int64_t *a, const int64_t *b) {
    for (int f = 0; f < facts->count; f++) {
        TuneKind kind = facts->list[f].kind;
        if (kind != TUNE_SPAN && kind != TUNE_SIZE && a[f] != b[f])
            return false;
    }
    return true;
}

bool tune_made_for(const TuneSet *set, int fact, int64_t value) {
    for (int v = 0; v < set->variant_count; v++)
        if (set->variants[v].lo[fact] == value && set->variants[v].hi[fact] == value)
            return true;
    return false;
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

static bool is_of_own_size(const TuneClass *c) {
    for (int f = 0; f < c->set->facts.count; f++)
        if (c->set->facts.list[f].kind == TUNE_SIZE && tune_made_for(c->set, f, c->fact[f]))
            return true;
    return false;
}

/* Of the points that have times: a walk that ended early leaves a coarse grid. A size that variants
 * are made for has the grid of its family. */
static bool make_grids(TuneClass *c, char *why, size_t why_size) {
    const TuneSet *set = c->set;
    bool own = is_of_own_size(c);
    for (int p = 0; p < set->point_count; p++) {
        const int64_t *fact = set->points[p].fact;
        bool wanted = own ? tune_same_family(&set->facts, fact, c->fact)
                          : tune_same_class(&set->facts, fact, c->fact);
        if (!wanted || isinf(tune_best_score(set, p)))
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
        if (!tune_same_class(&set->facts, fact, c->fact) || isinf(tune_best_score(set, p)))
            continue;
        int i = place(c, 0, fact[c->span[0]]), j = place(c, 1, fact[c->span[1]]);
        c->cells[i * TUNE_GRID + j] = p;
        c->seen[0][i] = c->seen[1][j] = true;
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

/* Whether a member is not meant for calls like a cell's, and another is, which is legal there. */
static bool is_out_of_place(const TuneClass *c, int cell, int member) {
    int64_t fact[TUNE_FACTS];
    memcpy(fact, c->fact, sizeof fact);
    fact[c->span[0]] = c->grid[0][cell / TUNE_GRID];
    fact[c->span[1]] = c->grid[1][cell % TUNE_GRID];
    if (tune_is_meant(c->set, c->members[member], fact))
        return false;
    for (int m = 0; m < c->member_count; m++)
        if (tune_is_candidate(c->set, true, c->members[m], fact))
            return true;
    return false;
}

/* Time of a member at a cell by the best there; 1 where nothing was measured, but at grid values
 * where nothing was measured at all only for the rules behind, if there are any, and not for what
 * is out of place. */
static double ratio_of(const TuneClass *c, int cell, int member, const TuneRules *behind) {
    int p = c->cells[cell], v = -1;
    if (member == c->behind && !behind)
        return INFINITY;
    bool blank = !c->seen[0][cell / TUNE_GRID] || !c->seen[1][cell % TUNE_GRID];
    if (p < 0 && member == c->behind)
        return 1;
    if (p < 0)
        return (blank && behind) || is_out_of_place(c, cell, member) ? INFINITY : 1;
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
