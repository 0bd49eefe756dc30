/* Which variants are timed at which points, and in which order, so that a walk which ends early
 * leaves times to make rules of.
 *
 * Points come coarse first: those at every fourth value of the grids of their class, then at every
 * second, then all. At a point the variants are looked at with few replays, those that are expected
 * to be fast first, so that the others can be given up early; where several are near the best,
 * these are timed thoroughly after that. A variant is left out where it was far behind at all of
 * the nearest points at which it was looked at; being left out counts for nothing later, so that a
 * mistake does not spread. What is no candidate (tune_meant.c) is not looked at. */
#include "cli/tune.h"

#include <math.h>
#include <stdlib.h>

enum { NEIGHBOURS = 3 };
static const double far_behind = 1.5; /* at neighbours: is not looked at */
static const double hopeless = 1.3;   /* when hot: is not timed cold */
static const double near_best = 1.1;  /* is timed thoroughly */
static const double farthest = 3;     /* of a neighbour, in powers of two */

typedef struct Near {
    double distance;
    int point;
} Near;

typedef struct Guess {
    double behind;
    int variant;
} Guess;

typedef struct Walk {
    TuneSet *set;
    const TuneTimer *timer;
    float *behind; /* [point][variant]: time by the best there; 0 where not looked at */
    int *order;    /* of the points */
    int *level;
    int64_t *values; /* for sorting */
    Near *near;      /* the points around the one in question that have times, nearest first */
    int near_count;
    Guess *guesses; /* of the variants at the point in question, the fastest first */
} Walk;

static size_t at(const Walk *w, int p, int v) {
    return tune_at(w->set, p, v);
}

static const int64_t *fact_of(const Walk *w, int p) {
    return w->set->points[p].fact;
}

/* ---- the order ---- */

static bool same_class(const Walk *w, int p, int q) {
    for (int f = 0; f < w->set->facts.count; f++)
        if (w->set->facts.list[f].kind != TUNE_SPAN && fact_of(w, p)[f] != fact_of(w, q)[f])
            return false;
    return true;
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Raises the level of points of p's class whose value of a span is not of a coarse grid. */
static void level_span(Walk *w, int p, int f) {
    int count = 0, distinct = 0;
    for (int q = p; q < w->set->point_count; q++)
        if (same_class(w, p, q))
            w->values[count++] = fact_of(w, q)[f];
    qsort(w->values, (size_t)count, sizeof *w->values, ascending);
    for (int i = 0; i < count; i++)
        if (!i || w->values[i] != w->values[distinct - 1])
            w->values[distinct++] = w->values[i];
    for (int q = p; q < w->set->point_count; q++) {
        int i = 0;
        if (!same_class(w, p, q))
            continue;
        while (w->values[i] != fact_of(w, q)[f])
            i++;
        int level = i % 4 == 0 || i == distinct - 1 ? 0 : i % 2 == 0 ? 1 : 2;
        w->level[q] = level > w->level[q] ? level : w->level[q];
    }
}

static void make_order(Walk *w) {
    int next = 0;
    for (int p = 0; p < w->set->point_count; p++) {
        bool first = true;
        for (int q = 0; q < p && first; q++)
            first = !same_class(w, p, q);
        for (int f = 0; f < w->set->facts.count && first; f++)
            if (w->set->facts.list[f].kind == TUNE_SPAN)
                level_span(w, p, f);
    }
    for (int level = 0; level < 3; level++)
        for (int p = 0; p < w->set->point_count; p++)
            if (w->level[p] == level)
                w->order[next++] = p;
}

/* ---- what neighbours say ---- */

/* Powers of two between two points, those of sizes twice, as bodies depend more on them; infinite
 * where they differ in more than numbers. */
static double distance(const Walk *w, int p, int q) {
    double sum = 0;
    for (int f = 0; f < w->set->facts.count; f++) {
        TuneKind kind = w->set->facts.list[f].kind;
        double a = (double)fact_of(w, p)[f], b = (double)fact_of(w, q)[f];
        if (a == b)
            continue;
        if (kind != TUNE_SPAN && kind != TUNE_SIZE)
            return INFINITY;
        sum += (kind == TUNE_SIZE ? 2 : 1) * fabs(log2(fmax(a, 1) / fmax(b, 1)));
    }
    return sum;
}

static int nearer(const void *a, const void *b) {
    const Near *x = (const Near *)a, *y = (const Near *)b;
    if (x->distance != y->distance)
        return x->distance > y->distance ? 1 : -1;
    return (x->point > y->point) - (x->point < y->point);
}

static bool has_times(const Walk *w, int p) {
    for (int v = 0; v < w->set->variant_count; v++)
        if (w->behind[at(w, p, v)] > 0)
            return true;
    return false;
}

static void find_near(Walk *w, int p) {
    w->near_count = 0;
    for (int q = 0; q < w->set->point_count; q++) {
        double d = distance(w, p, q);
        if (d <= farthest && has_times(w, q))
            w->near[w->near_count++] = (Near){d, q};
    }
    qsort(w->near, (size_t)w->near_count, sizeof *w->near, nearer);
}

/* How far a variant is behind at the best of the nearest points where it was looked at; 1 where too
 * few are near enough. */
static double expected(const Walk *w, int v) {
    double least = INFINITY;
    int found = 0;
    for (int i = 0; i < w->near_count && found < NEIGHBOURS; i++) {
        double behind = (double)w->behind[at(w, w->near[i].point, v)];
        if (behind > 0) {
            least = fmin(least, behind);
            found++;
        }
    }
    return found == NEIGHBOURS ? least : 1;
}

static int faster(const void *a, const void *b) {
    const Guess *x = (const Guess *)a, *y = (const Guess *)b;
    if (x->behind != y->behind)
        return x->behind > y->behind ? 1 : -1;
    return x->variant - y->variant;
}

static void guess(Walk *w, int p) {
    find_near(w, p);
    for (int v = 0; v < w->set->variant_count; v++)
        w->guesses[v] = (Guess){expected(w, v), v};
    qsort(w->guesses, (size_t)w->set->variant_count, sizeof *w->guesses, faster);
}

/* ---- one point ---- */

static double best_hot(const Walk *w, int p) {
    double best = INFINITY;
    for (int v = 0; v < w->set->variant_count; v++)
        best = fmin(best, isnan(w->set->hot[at(w, p, v)]) ? INFINITY : w->set->hot[at(w, p, v)]);
    return best;
}

static void keep(const Walk *w, int p, int v, const double us[2]) {
    bool whole = us[0] > 0 && us[1] > 0;
    w->behind[at(w, p, v)] = us[0] > 0 ? (float)us[0] : 0; /* by the best once that is known */
    w->set->hot[at(w, p, v)] = whole ? us[0] : NAN;
    w->set->cold[at(w, p, v)] = whole ? us[1] : NAN;
}

static bool look(Walk *w, int p) {
    bool some_meant = tune_has_meant(w->set, fact_of(w, p));
    guess(w, p);
    for (int i = 0; i < w->set->variant_count && w->guesses[i].behind <= far_behind; i++) {
        double us[2] = {NAN, NAN};
        int v = w->guesses[i].variant;
        if (!tune_is_candidate(w->set, some_meant, v, fact_of(w, p)))
            continue;
        TuneAnswer answer =
            w->timer->time(w->timer->user, p, v, false, hopeless * best_hot(w, p), us);
        if (answer == TUNE_FAILED)
            return false;
        if (answer == TUNE_TIMED)
            keep(w, p, v, us);
    }
    double best = best_hot(w, p);
    for (int v = 0; v < w->set->variant_count; v++)
        w->behind[at(w, p, v)] /= (float)best;
    return true;
}

static double best_score(const TuneSet *set, int p) {
    double best = INFINITY;
    for (int v = 0; v < set->variant_count; v++)
        best = fmin(best, tune_score(set, p, v));
    return best;
}

static int count_within(const Walk *w, int p, double limit) {
    int count = 0;
    for (int v = 0; v < w->set->variant_count; v++)
        count += tune_score(w->set, p, v) <= limit;
    return count;
}

/* One alone needs no comparison. */
static bool time_near_best(Walk *w, int p) {
    double limit = near_best * best_score(w->set, p);
    if (count_within(w, p, limit) < 2)
        return true;
    for (int v = 0; v < w->set->variant_count; v++) {
        double us[2] = {NAN, NAN};
        if (tune_score(w->set, p, v) > limit)
            continue;
        TuneAnswer answer = w->timer->time(w->timer->user, p, v, true, INFINITY, us);
        if (answer == TUNE_FAILED)
            return false;
        if (answer == TUNE_TIMED && us[0] > 0 && us[1] > 0) {
            w->set->hot[at(w, p, v)] = us[0];
            w->set->cold[at(w, p, v)] = us[1];
        }
    }
    return true;
}

/* Takes over what was timed before. */
static bool was_timed(Walk *w, int p) {
    double best = best_hot(w, p);
    for (int v = 0; v < w->set->variant_count && isfinite(best); v++) {
        double hot = w->set->hot[at(w, p, v)];
        w->behind[at(w, p, v)] = isnan(hot) ? 0 : (float)(hot / best);
    }
    return isfinite(best);
}

static bool walk(Walk *w) {
    int done = 0;
    for (int p = 0; p < w->set->point_count; p++)
        done += was_timed(w, p);
    for (int i = 0; i < w->set->point_count; i++) {
        int p = w->order[i];
        if (isfinite(best_score(w->set, p)))
            continue;
        if (!w->timer->more(w->timer->user, done))
            return true;
        if (!look(w, p) || !time_near_best(w, p))
            return false;
        done++;
    }
    w->timer->more(w->timer->user, done);
    return true;
}

bool tune_walk(TuneSet *set, const TuneTimer *timer) {
    size_t points = (size_t)set->point_count + 1;
    Walk w = {.set = set, .timer = timer};
    w.behind = (float *)calloc(points * (size_t)(set->variant_count + 1), sizeof *w.behind);
    w.order = (int *)calloc(points, sizeof *w.order);
    w.level = (int *)calloc(points, sizeof *w.level);
    w.values = (int64_t *)calloc(points, sizeof *w.values);
    w.near = (Near *)calloc(points, sizeof *w.near);
    w.guesses = (Guess *)calloc((size_t)set->variant_count + 1, sizeof *w.guesses);
    bool ok = w.behind && w.order && w.level && w.values && w.near && w.guesses;
    if (ok) {
        make_order(&w);
        ok = walk(&w);
    }
    free(w.behind);
    free(w.order);
    free(w.level);
    free(w.values);
    free(w.near);
    free(w.guesses);
    return ok;
}
