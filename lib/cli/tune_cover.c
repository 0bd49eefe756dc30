/* The smallest set of variants that is good enough everywhere: set cover by branching over what the
 * cell with the fewest choices allows. Cells that leave no choice come first, and few variants
 * matter beside those, so that this ends at once; a bound on the work keeps the best found so far
 * where it would not. */
#include "cli/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const long most_work = 100000000; /* cells looked at */

typedef struct Search {
    const bool *allowed; /* [cell][member] */
    const double *loss;
    int cells, members;
    long work;
    int *choices; /* of each cell */
    int *covered; /* how many of the chosen each cell allows */
    bool *chosen, *best;
    int size, best_size;
    double best_loss;
} Search;

static double loss_of_chosen(const Search *s) {
    double total = 0;
    for (int c = 0; c < s->cells; c++) {
        double least = INFINITY;
        for (int m = 0; m < s->members; m++)
            if (s->chosen[m])
                least = fmin(least, s->loss[c * s->members + m]);
        total += least;
    }
    return total;
}

/* The cell that allows none of the chosen and the fewest of all, or -1. */
static int hardest(Search *s) {
    int found = -1;
    for (int c = 0; c < s->cells; c++)
        if (!s->covered[c] && (found < 0 || s->choices[c] < s->choices[found]))
            found = c;
    s->work += s->cells;
    return found;
}

static void choose(Search *s, int member, bool in) {
    s->chosen[member] = in;
    s->size += in ? 1 : -1;
    for (int c = 0; c < s->cells; c++)
        if (s->allowed[c * s->members + member])
            s->covered[c] += in ? 1 : -1;
}

static void keep_if_better(Search *s) {
    double loss = loss_of_chosen(s);
    if (s->size < s->best_size || (s->size == s->best_size && loss < s->best_loss)) {
        memcpy(s->best, s->chosen, (size_t)s->members * sizeof *s->best);
        s->best_size = s->size;
        s->best_loss = loss;
    }
}

static void extend(Search *s) {
    int cell = hardest(s);
    if (cell < 0)
        keep_if_better(s);
    if (cell < 0 || s->size == s->best_size)
        return;
    for (int m = 0; m < s->members && s->work < most_work; m++) {
        if (!s->allowed[cell * s->members + m])
            continue;
        choose(s, m, true);
        extend(s);
        choose(s, m, false);
    }
}

static int gain(const Search *s, int member) {
    int gained = 0;
    for (int c = 0; c < s->cells; c++)
        gained += !s->covered[c] && s->allowed[c * s->members + member];
    return gained;
}

static bool is_needed(const Search *s, int member) {
    for (int c = 0; c < s->cells; c++)
        if (s->covered[c] == 1 && s->allowed[c * s->members + member])
            return true;
    return false;
}

/* A first set: always what most cells want, without what became superfluous. */
static void choose_greedily(Search *s) {
    while (hardest(s) >= 0) {
        int best = 0, most = 0;
        for (int m = 0; m < s->members; m++) {
            int gained = gain(s, m);
            if (gained > most) {
                best = m;
                most = gained;
            }
        }
        choose(s, best, true);
    }
    for (int m = 0; m < s->members; m++)
        if (s->chosen[m] && !is_needed(s, m))
            choose(s, m, false);
}

static void search(Search *s) {
    for (int c = 0; c < s->cells; c++)
        for (int m = 0; m < s->members; m++)
            s->choices[c] += s->allowed[c * s->members + m];
    choose_greedily(s);
    s->best_size = s->size + 1;
    keep_if_better(s);
    for (int m = 0; m < s->members; m++)
        if (s->chosen[m])
            choose(s, m, false);
    extend(s);
}

bool tune_cover(const bool *allowed, const double *loss, int cells, int members, bool *chosen) {
    Search s = {.allowed = allowed, .loss = loss, .cells = cells, .members = members};
    s.choices = (int *)calloc(2 * (size_t)cells + 1, sizeof *s.choices);
    s.chosen = (bool *)calloc((size_t)members + 1, sizeof *s.chosen);
    s.covered = s.choices ? s.choices + cells : NULL;
    s.best = chosen;
    bool ok = s.choices && s.chosen;
    if (ok)
        search(&s);
    free(s.choices);
    free(s.chosen);
    return ok;
}
