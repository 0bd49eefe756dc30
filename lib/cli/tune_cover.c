/* The smallest set of variants that is good enough everywhere: set cover, exactly, by branching
 * over what the row with the fewest choices allows. Tables have few variants that matter, so this
 * ends at once; a bound on the steps keeps the greedy cover where it would not. */
#include "cli/tune.h"

#include <math.h>

enum { STEPS = 200000 };

typedef struct Search {
    const uint64_t *allowed;
    const double *loss;
    int cells, members, steps;
    uint64_t best;
    int best_size;
    double best_loss;
} Search;

static double loss_of(const Search *s, uint64_t chosen) {
    double total = 0;
    for (int c = 0; c < s->cells; c++) {
        double least = INFINITY;
        for (int m = 0; m < s->members; m++)
            if (chosen >> m & 1)
                least = fmin(least, s->loss[c * s->members + m]);
        total += least;
    }
    return total;
}

/* The row that the chosen leave out and that allows the fewest, or -1. */
static int hardest(const Search *s, uint64_t chosen) {
    int found = -1, fewest = TUNE_MEMBERS + 1;
    for (int c = 0; c < s->cells; c++) {
        int choices = __builtin_popcountll(s->allowed[c]);
        if (!(s->allowed[c] & chosen) && choices < fewest) {
            found = c;
            fewest = choices;
        }
    }
    return found;
}

static void keep_if_better(Search *s, uint64_t chosen, int size) {
    double loss = loss_of(s, chosen);
    if (size < s->best_size || loss < s->best_loss) {
        s->best = chosen;
        s->best_size = size;
        s->best_loss = loss;
    }
}

static void extend(Search *s, uint64_t chosen, int size) {
    if (s->steps++ > STEPS)
        return;
    int cell = hardest(s, chosen);
    if (cell < 0) {
        keep_if_better(s, chosen, size);
        return;
    }
    if (size == s->best_size)
        return;
    for (int m = 0; m < s->members; m++)
        if (s->allowed[cell] >> m & 1)
            extend(s, chosen | UINT64_C(1) << m, size + 1);
}

static uint64_t greedy(const Search *s) {
    uint64_t chosen = 0;
    while (hardest(s, chosen) >= 0) {
        int best = 0, most = 0;
        for (int m = 0; m < s->members; m++) {
            int gained = 0;
            for (int c = 0; c < s->cells; c++)
                gained += !(s->allowed[c] & chosen) && s->allowed[c] >> m & 1;
            if (gained > most) {
                best = m;
                most = gained;
            }
        }
        chosen |= UINT64_C(1) << best;
    }
    return chosen;
}

uint64_t tune_cover(const uint64_t *allowed, const double *loss, int cells, int members) {
    Search s = {.allowed = allowed, .loss = loss, .cells = cells, .members = members};
    s.best = greedy(&s);
    s.best_size = __builtin_popcountll(s.best);
    s.best_loss = loss_of(&s, s.best);
    extend(&s, 0, 0);
    return s.best;
}
