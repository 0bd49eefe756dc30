/* From timings to rules.
 *
 * Points that differ in spans alone (rows, columns) are a class: a matrix of cells over two grids.
 * In each class:
 *   1. the smallest set of variants is found of which one is within the tolerance at every cell;
 *   2. the matrix is cut into bands of neighbouring grid values along one span, and each band into
 *      intervals along the other, so that one variant of the set is within the tolerance at all
 *      cells of an interval; of all such cuts along either span, one with the fewest intervals.
 * An interval is a rule. It holds from the grid value before it, exclusive, up to its last, and up
 * to the largest possible value at the end of the grid: between two grid values the choice is that
 * of the upper one, where what a body can hold ends too. The last rule of a class has no limits of
 * spans: it stands for all intervals of its variant. Classes are in the order in which rules
 * must be asked; neighbouring sizes with the same rules share them. */
#include "cli/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Class {
    const TuneSet *set;
    const int64_t *fact;  /* of one of its points: those that are no spans are the class's */
    int span[TUNE_SPANS]; /* which facts are spans */
    int size[TUNE_SPANS]; /* of the grids */
    int64_t grid[TUNE_SPANS][TUNE_GRID];
    int cells[TUNE_GRID * TUNE_GRID]; /* point of a cell, or -1 */
    int members[TUNE_MEMBERS], member_count;
    uint64_t allowed[TUNE_GRID * TUNE_GRID]; /* all ones where nothing was measured */
    double loss[TUNE_GRID * TUNE_GRID * TUNE_MEMBERS];
} Class;

/* ---- times ---- */

size_t tune_at(const TuneSet *set, int point, int variant) {
    return (size_t)point * (size_t)set->variant_count + (size_t)variant;
}

double tune_score(const TuneSet *set, int point, int variant) {
    double product =
        set->hot[tune_at(set, point, variant)] * set->cold[tune_at(set, point, variant)];
    return product > 0 ? sqrt(product) : INFINITY;
}

static double best_score(const TuneSet *set, int point) {
    double best = INFINITY;
    for (int v = 0; v < set->variant_count; v++)
        best = fmin(best, tune_score(set, point, v));
    return best;
}

/* ---- classes ---- */

static bool same_class(const TuneFacts *facts, const int64_t *a, const int64_t *b) {
    for (int f = 0; f < facts->count; f++)
        if (facts->list[f].kind != TUNE_SPAN && a[f] != b[f])
            return false;
    return true;
}

static bool made_for(const TuneSet *set, int f, int64_t value) {
    for (int v = 0; v < set->variant_count; v++)
        if (set->variants[v].lo[f] == value && set->variants[v].hi[f] == value)
            return true;
    return false;
}

/* Order of the rules of two classes by one fact. */
static int compare_fact(const TuneSet *set, int f, int64_t a, int64_t b) {
    int upward = (a > b) - (a < b);
    TuneKind kind = set->facts.list[f].kind;
    if (kind == TUNE_SPAN)
        return 0;
    if (kind == TUNE_SIZE) {
        int exact = (int)made_for(set, f, b) - (int)made_for(set, f, a);
        return exact ? exact : upward;
    }
    return kind == TUNE_ALIGN ? -upward : upward;
}

/* Sizes decide last, so that those which may share rules stand side by side. */
static int compare_classes(const TuneSet *set, const int64_t *a, const int64_t *b) {
    for (int sizes = 0; sizes < 2; sizes++) {
        for (int f = 0; f < set->facts.count; f++) {
            bool is_size = set->facts.list[f].kind == TUNE_SIZE;
            int order = is_size == (sizes == 1) ? compare_fact(set, f, a[f], b[f]) : 0;
            if (order)
                return order;
        }
    }
    return 0;
}

/* The first point of the class that comes after `last` in the order of rules, or -1. */
static int next_class(const TuneSet *set, int last) {
    int found = -1;
    for (int p = 0; p < set->point_count; p++) {
        const int64_t *fact = set->points[p].fact;
        bool after = last < 0 || compare_classes(set, fact, set->points[last].fact) > 0;
        if (after && (found < 0 || compare_classes(set, fact, set->points[found].fact) < 0))
            found = p;
    }
    return found;
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

static int place(const Class *c, int axis, int64_t value) {
    int at = 0;
    while (c->grid[axis][at] != value)
        at++;
    return at;
}

static int cell_of(int i, int j) {
    return i * TUNE_GRID + j;
}

static bool make_grids(Class *c, char *why, size_t why_size) {
    const TuneSet *set = c->set;
    int spans = 0;
    for (int f = 0; f < set->facts.count; f++)
        if (set->facts.list[f].kind == TUNE_SPAN && spans < TUNE_SPANS)
            c->span[spans++] = f;
    for (int p = 0; p < set->point_count; p++) {
        const int64_t *fact = set->points[p].fact;
        for (int s = 0; s < TUNE_SPANS && same_class(&set->facts, fact, c->fact); s++) {
            if (!add_to_grid(c->grid[s], &c->size[s], fact[c->span[s]])) {
                snprintf(why, why_size, "there are more than %d values of %s", TUNE_GRID,
                         set->facts.list[c->span[s]].name);
                return false;
            }
        }
    }
    for (int i = 0; i < TUNE_GRID * TUNE_GRID; i++)
        c->cells[i] = -1;
    for (int p = 0; p < set->point_count; p++) {
        const int64_t *fact = set->points[p].fact;
        if (same_class(&set->facts, fact, c->fact) && isfinite(best_score(set, p)))
            c->cells[cell_of(place(c, 0, fact[c->span[0]]), place(c, 1, fact[c->span[1]]))] = p;
    }
    return true;
}

/* How near a variant comes to the best of a cell, anywhere in the class: 1 where it is the best. */
static double nearest(const Class *c, const double *best, int variant) {
    double ratio = INFINITY;
    for (int i = 0; i < TUNE_GRID * TUNE_GRID; i++)
        if (c->cells[i] >= 0)
            ratio = fmin(ratio, tune_score(c->set, c->cells[i], variant) / best[i]);
    return ratio;
}

/* Variants that are within the tolerance somewhere in the class, of very many the nearest. */
static bool find_members(Class *c, double within, char *why, size_t why_size) {
    double ratios[TUNE_MEMBERS], best[TUNE_GRID * TUNE_GRID];
    for (int i = 0; i < TUNE_GRID * TUNE_GRID; i++)
        best[i] = c->cells[i] < 0 ? INFINITY : best_score(c->set, c->cells[i]);
    for (int v = 0; v < c->set->variant_count; v++) {
        double ratio = nearest(c, best, v);
        if (!(ratio <= within))
            continue;
        if (c->member_count == TUNE_MEMBERS) {
            int last = 0;
            for (int m = 1; m < TUNE_MEMBERS; m++)
                last = ratios[m] >= ratios[last] ? m : last;
            if (ratio <= 1 && ratios[last] <= 1) {
                snprintf(why, why_size, "more than %d variants are the best somewhere in one class",
                         TUNE_MEMBERS);
                return false;
            }
            if (ratio >= ratios[last])
                continue;
            c->member_count--;
            for (int m = last; m < c->member_count; m++) {
                c->members[m] = c->members[m + 1];
                ratios[m] = ratios[m + 1];
            }
        }
        ratios[c->member_count] = ratio;
        c->members[c->member_count++] = v;
    }
    return true;
}

/* What each cell allows and what a member loses there: the logarithm of its distance to the best.
 */
static void weigh(Class *c, double within) {
    for (int i = 0; i < TUNE_GRID * TUNE_GRID; i++) {
        int p = c->cells[i];
        c->allowed[i] = p < 0 ? ~UINT64_C(0) : 0;
        for (int m = 0; m < c->member_count && p >= 0; m++) {
            double ratio = tune_score(c->set, p, c->members[m]) / best_score(c->set, p);
            if (ratio <= within)
                c->allowed[i] |= UINT64_C(1) << m;
            c->loss[i * TUNE_MEMBERS + m] = log(ratio);
        }
    }
}

/* Leaves only the smallest set of members allowed. */
static void reduce_to_cover(Class *c) {
    uint64_t rows[TUNE_GRID * TUNE_GRID];
    double *loss = (double *)calloc((size_t)TUNE_GRID * TUNE_GRID * TUNE_MEMBERS, sizeof *loss);
    int count = 0;
    for (int i = 0; loss && i < TUNE_GRID * TUNE_GRID; i++) {
        if (c->cells[i] < 0)
            continue;
        for (int m = 0; m < c->member_count; m++)
            loss[count * c->member_count + m] =
                c->allowed[i] >> m & 1 ? c->loss[i * TUNE_MEMBERS + m] : INFINITY;
        rows[count++] = c->allowed[i];
    }
    uint64_t cover = loss ? tune_cover(rows, loss, count, c->member_count) : ~UINT64_C(0);
    for (int i = 0; i < TUNE_GRID * TUNE_GRID; i++)
        c->allowed[i] &= c->cells[i] < 0 ? ~UINT64_C(0) : cover;
    free(loss);
}

/* ---- cutting ---- */

typedef struct Cut {
    int outer;               /* the span that is cut into bands */
    int band[TUNE_GRID + 1]; /* begin of the best last band of the first n grid values */
    int cost[TUNE_GRID + 1]; /* intervals that those need */
} Cut;

/* What all cells of one inner value allow in a band [begin, end) of the outer span. */
static uint64_t band_allows(const Class *c, int outer, int begin, int end, int inner) {
    uint64_t mask = ~UINT64_C(0);
    for (int o = begin; o < end; o++)
        mask &= c->allowed[outer ? cell_of(inner, o) : cell_of(o, inner)];
    return mask;
}

/* End of the longest interval from `first` in a band, and what it allows; `first` where a single
 * inner value has nothing in common. */
static int interval_end(const Class *c, int outer, int begin, int end, int first, uint64_t *mask) {
    int inner = first;
    *mask = ~UINT64_C(0);
    while (inner < c->size[!outer]) {
        uint64_t more = *mask & band_allows(c, outer, begin, end, inner);
        if (!more)
            break;
        *mask = more;
        inner++;
    }
    return inner;
}

/* Intervals that a band needs, or a number too large where it cannot be cut. */
static int band_cost(const Class *c, int outer, int begin, int end) {
    int cost = 0;
    uint64_t mask = 0;
    for (int at = 0; at < c->size[!outer]; cost++) {
        int next = interval_end(c, outer, begin, end, at, &mask);
        if (next == at)
            return TUNE_GRID * TUNE_GRID;
        at = next;
    }
    return cost;
}

static Cut cut_along(const Class *c, int outer) {
    Cut cut = {.outer = outer};
    for (int end = 1; end <= c->size[outer]; end++) {
        cut.cost[end] = INT32_MAX;
        for (int begin = 0; begin < end; begin++) {
            int cost = cut.cost[begin] + band_cost(c, outer, begin, end);
            if (cost < cut.cost[end]) {
                cut.cost[end] = cost;
                cut.band[end] = begin;
            }
        }
    }
    return cut;
}

/* ---- rules ---- */

static bool add_rule(TuneRules *rules, const TuneRule *rule) {
    size_t bytes = ((size_t)rules->count + 1) * sizeof *rules->list;
    TuneRule *list = (TuneRule *)realloc(rules->list, bytes);
    if (!list)
        return false;
    rules->list = list;
    rules->list[rules->count++] = *rule;
    return true;
}

static bool has_other_values(const TuneSet *set, int f) {
    for (int p = 1; p < set->point_count; p++)
        if (set->points[p].fact[f] != set->points[0].fact[f])
            return true;
    return false;
}

/* Whether a point is of the class but for spans, sizes and alignments, which rules order. */
static bool is_sibling(const Class *c, int p) {
    for (int f = 0; f < c->set->facts.count; f++) {
        TuneKind kind = c->set->facts.list[f].kind;
        bool given = kind == TUNE_EQUAL || kind == TUNE_TEXT;
        if (given && c->set->points[p].fact[f] != c->fact[f])
            return false;
    }
    return true;
}

/* The values that a size stands for: itself if variants are made for it, else those above the size
 * before it. */
static void size_range(const Class *c, int f, int64_t *lo, int64_t *hi) {
    const TuneSet *set = c->set;
    int64_t value = c->fact[f];
    bool last = true;
    *lo = *hi = value;
    if (made_for(set, f, value))
        return;
    *lo = 0;
    for (int p = 0; p < set->point_count; p++) {
        int64_t other = set->points[p].fact[f];
        if (!is_sibling(c, p) || made_for(set, f, other))
            continue;
        if (other < value && other >= *lo)
            *lo = other + 1;
        last = last && other <= value;
    }
    if (last)
        *hi = set->facts.list[f].most;
}

static int64_t least_value(const Class *c, int f) {
    int64_t least = c->fact[f];
    for (int p = 0; p < c->set->point_count; p++)
        if (is_sibling(c, p) && c->set->points[p].fact[f] < least)
            least = c->set->points[p].fact[f];
    return least;
}

/* The conditions that all rules of a class have. */
static TuneRule class_rule(const Class *c) {
    TuneRule rule = {.variant = -1};
    for (int f = 0; f < c->set->facts.count; f++) {
        const TuneFact *fact = &c->set->facts.list[f];
        bool wanted = fact->kind != TUNE_SPAN && has_other_values(c->set, f);
        rule.lo[f] = rule.hi[f] = c->fact[f];
        if (fact->kind == TUNE_SIZE)
            size_range(c, f, &rule.lo[f], &rule.hi[f]);
        if (fact->kind == TUNE_ALIGN && c->fact[f] == least_value(c, f))
            wanted = false;
        rule.conditions |= (uint32_t)wanted << f;
    }
    return rule;
}

/* Grid values [begin, end) of a span as a condition; none where they are all. */
static void limit(const Class *c, int axis, int begin, int end, TuneRule *rule) {
    int f = c->span[axis];
    bool last = end == c->size[axis];
    rule->lo[f] = begin ? c->grid[axis][begin - 1] + 1 : 0;
    rule->hi[f] = last ? c->set->facts.list[f].most : c->grid[axis][end - 1];
    if (begin || !last)
        rule->conditions |= UINT32_C(1) << f;
}

static double loss_in(const Class *c, int outer, const int band[2], const int inner[2],
                      int member) {
    double sum = 0;
    for (int o = band[0]; o < band[1]; o++) {
        for (int i = inner[0]; i < inner[1]; i++) {
            int cell = outer ? cell_of(i, o) : cell_of(o, i);
            if (c->cells[cell] >= 0)
                sum += c->loss[cell * TUNE_MEMBERS + member];
        }
    }
    return sum;
}

static int best_member(const Class *c, int outer, const int band[2], const int inner[2],
                       uint64_t mask) {
    int best = -1;
    double least = INFINITY;
    for (int m = 0; m < c->member_count; m++) {
        double loss = mask >> m & 1 ? loss_in(c, outer, band, inner, m) : INFINITY;
        if (loss < least) {
            best = m;
            least = loss;
        }
    }
    return best;
}

static bool add_band(const Class *c, int outer, const int band[2], TuneRules *rules) {
    uint64_t mask = 0;
    for (int at = 0, next; at < c->size[!outer]; at = next) {
        next = interval_end(c, outer, band[0], band[1], at, &mask);
        int inner[2] = {at, next};
        TuneRule rule = class_rule(c);
        limit(c, outer, band[0], band[1], &rule);
        limit(c, !outer, at, next, &rule);
        rule.variant = c->members[best_member(c, outer, band, inner, mask)];
        if (!add_rule(rules, &rule))
            return false;
    }
    return true;
}

static bool add_bands(const Class *c, const Cut *cut, int end, TuneRules *rules) {
    int band[2] = {cut->band[end], end};
    return (!band[0] || add_bands(c, cut, band[0], rules)) && add_band(c, cut->outer, band, rules);
}

static bool is_wide(const Class *c, int variant) {
    const TuneVariant *v = &c->set->variants[variant];
    for (int s = 0; s < TUNE_SPANS; s++)
        if (v->hi[c->span[s]] < c->set->facts.list[c->span[s]].most)
            return false;
    return true;
}

/* What a variant loses over the class, a cell where it has no time counting as much; infinite where
 * it has none at all. */
static double loss_in_class(const Class *c, int variant) {
    const double missing = 10;
    double sum = 0;
    bool measured = false;
    for (int i = 0; i < TUNE_GRID * TUNE_GRID; i++) {
        if (c->cells[i] < 0)
            continue;
        double score = tune_score(c->set, c->cells[i], variant);
        measured = measured || isfinite(score);
        sum += isfinite(score) ? log(score / best_score(c->set, c->cells[i])) : missing;
    }
    return measured ? sum : INFINITY;
}

static int rules_naming(const TuneRules *rules, int first, int variant) {
    int count = 0;
    for (int r = first; r < rules->count; r++)
        count += rules->list[r].variant == variant;
    return count;
}

/* What is legal everywhere and named most often, failing that what loses least; -1 where the rules
 * need nothing behind them, or there is nothing. */
static int rest_of(const Class *c, const TuneRules *rules, int first) {
    bool wanted = false;
    int best = -1, most = 0;
    double least = INFINITY;
    for (int r = first; r < rules->count; r++)
        wanted = wanted || !is_wide(c, rules->list[r].variant);
    for (int v = 0; v < c->set->variant_count; v++) {
        int named = rules_naming(rules, first, v);
        double loss = is_wide(c, v) ? loss_in_class(c, v) : INFINITY;
        if (!isfinite(loss) || (!named && !wanted))
            continue;
        if (named > most || (named == most && loss < least)) {
            best = v;
            most = named;
            least = loss;
        }
    }
    return best;
}

/* One variant gets a last rule that holds throughout the class, in place of its intervals. It is
 * also what runs where another rule's variant is not legal: beyond the grid, or between its
 * values. */
static bool add_rest(const Class *c, TuneRules *rules, int first) {
    TuneRule rest = class_rule(c);
    int kept = first;
    rest.variant = rest_of(c, rules, first);
    if (rest.variant < 0)
        return true;
    for (int r = first; r < rules->count; r++)
        if (rules->list[r].variant != rest.variant)
            rules->list[kept++] = rules->list[r];
    rules->count = kept;
    return add_rule(rules, &rest);
}

static bool rules_of_class(Class *c, double within, TuneRules *rules, char *why, size_t why_size) {
    int first = rules->count;
    if (!make_grids(c, why, why_size) || !find_members(c, within, why, why_size))
        return false;
    if (!c->member_count)
        return true;
    weigh(c, within);
    reduce_to_cover(c);
    Cut cuts[2] = {cut_along(c, 0), cut_along(c, 1)};
    const Cut *cut = &cuts[cuts[1].cost[c->size[1]] <= cuts[0].cost[c->size[0]]];
    if (!add_bands(c, cut, c->size[cut->outer], rules) || !add_rest(c, rules, first)) {
        snprintf(why, why_size, "no memory");
        return false;
    }
    return true;
}

/* ---- sharing ---- */

/* Whether two rules differ in nothing but adjoining ranges of sizes. */
static bool may_join(const TuneSet *set, const TuneRule *a, const TuneRule *b) {
    if (a->variant != b->variant || a->conditions != b->conditions)
        return false;
    for (int f = 0; f < set->facts.count; f++) {
        bool looked_at = a->conditions >> f & 1;
        bool is_size = set->facts.list[f].kind == TUNE_SIZE;
        if (looked_at && is_size && a->hi[f] + 1 != b->lo[f])
            return false;
        if (looked_at && !is_size && (a->lo[f] != b->lo[f] || a->hi[f] != b->hi[f]))
            return false;
    }
    return true;
}

/* Rules [last, count) of a class join rules [before, last) of the one before it, if all do. */
static bool join(const TuneSet *set, TuneRules *rules, int before, int last) {
    if (rules->count - last != last - before)
        return false;
    for (int r = 0; r < last - before; r++)
        if (!may_join(set, &rules->list[before + r], &rules->list[last + r]))
            return false;
    for (int r = 0; r < last - before; r++)
        for (int f = 0; f < set->facts.count; f++)
            if (set->facts.list[f].kind == TUNE_SIZE)
                rules->list[before + r].hi[f] = rules->list[last + r].hi[f];
    rules->count = last;
    return true;
}

bool tune_rules(const TuneSet *set, double within, TuneRules *rules, char *why, size_t why_size) {
    Class *c = (Class *)malloc(sizeof *c);
    bool ok = c != NULL;
    int before = 0, last = 0;
    *rules = (TuneRules){0};
    snprintf(why, why_size, "no memory");
    for (int p = next_class(set, -1); ok && p >= 0; p = next_class(set, p)) {
        memset(c, 0, sizeof *c);
        c->set = set;
        c->fact = set->points[p].fact;
        last = rules->count;
        ok = rules_of_class(c, within, rules, why, why_size);
        if (ok && !join(set, rules, before, last))
            before = last;
    }
    free(c);
    if (ok)
        return true;
    free(rules->list);
    *rules = (TuneRules){0};
    return false;
}

static bool holds(const TuneFacts *facts, const TuneRule *rule, const int64_t *fact) {
    for (int f = 0; f < facts->count; f++) {
        if (!(rule->conditions >> f & 1))
            continue;
        bool in = facts->list[f].kind == TUNE_ALIGN
                      ? fact[f] % rule->lo[f] == 0
                      : fact[f] >= rule->lo[f] && fact[f] <= rule->hi[f];
        if (!in)
            return false;
    }
    return true;
}

int tune_chosen(const TuneFacts *facts, const TuneRules *rules, const int64_t *fact) {
    for (int r = 0; r < rules->count; r++)
        if (holds(facts, &rules->list[r], fact))
            return rules->list[r].variant;
    return -1;
}
