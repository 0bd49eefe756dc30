/* From timings to rules.
 *
 * Points that differ in spans (rows, columns) and sizes (k) alone are a family. Of each, the
 * smallest set of variants is found of which one is within the tolerance at every point. Points
 * that differ in spans alone (rows, columns) are a class: a matrix of cells over two grids, which
 * is cut into pieces, each a rule for one variant of the set.
 *
 * A piece holds from the grid value before it, exclusive, up to its last, and up to the largest
 * possible value at the end of the grid: between two grid values the choice is that of the upper
 * one, where what a body can hold ends too. Rules of sizes lie over each other: those of a size
 * that variants are made for, then those of all sizes up to the smallest measured, and so on. They
 * are made from the last to the first, so that a class has rules only where those behind it are not
 * near enough, and one of a size that variants are made for only where it was measured. The last
 * class of a family ends with a rule without limits of spans, which stands for all pieces of its
 * variant and for calls at which another rule's variant is not legal. What a variant is meant for
 * ends its rules between two grid values and beyond the grid, too. */
#include "cli/tune.h"

#include "cli/tune_class.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- times ---- */

size_t tune_at(const TuneSet *set, int point, int variant) {
    return (size_t)point * (size_t)set->variant_count + (size_t)variant;
}

double tune_score(const TuneSet *set, int point, int variant) {
    double product =
        set->hot[tune_at(set, point, variant)] * set->cold[tune_at(set, point, variant)];
    return product > 0 ? sqrt(product) : INFINITY;
}

/* ---- which variants ---- */

/* Cells are the points of a type and members all variants. */
static bool cover_points(const TuneSet *set, const int *points, int count, double within,
                         bool *cover) {
    size_t members = (size_t)set->variant_count, size = (size_t)count * members;
    bool *allowed = (bool *)calloc(size + 1, sizeof *allowed);
    double *loss = (double *)malloc((size + 1) * sizeof *loss);
    bool ok = allowed && loss;
    for (size_t i = 0; ok && i < size; i++) {
        int p = points[i / members];
        double ratio = tune_score(set, p, (int)(i % members)) / tune_best_score(set, p);
        allowed[i] = ratio <= within;
        loss[i] = allowed[i] ? log(ratio) : INFINITY;
    }
    ok = ok && tune_cover(allowed, loss, count, set->variant_count, cover);
    free(allowed);
    free(loss);
    return ok;
}

/* The smallest set that is good enough at all points of a family. */
static bool cover_family(const TuneSet *set, const int64_t *fact, double within, bool *cover) {
    int count = 0;
    int *points = (int *)malloc(((size_t)set->point_count + 1) * sizeof *points);
    for (int p = 0; points && p < set->point_count; p++)
        if (tune_same_family(&set->facts, set->points[p].fact, fact) &&
            isfinite(tune_best_score(set, p)))
            points[count++] = p;
    bool ok = points && cover_points(set, points, count, within, cover);
    free(points);
    return ok;
}

/* ---- the order of classes ---- */

/* Order of the rules of two classes by one fact. */
static int compare_fact(const TuneSet *set, int f, int64_t a, int64_t b) {
    int upward = (a > b) - (a < b);
    TuneKind kind = set->facts.list[f].kind;
    if (kind == TUNE_SPAN)
        return 0;
    if (kind == TUNE_SIZE) {
        int exact = (int)tune_made_for(set, f, b) - (int)tune_made_for(set, f, a);
        return exact ? exact : upward;
    }
    return kind == TUNE_ALIGN ? -upward : upward;
}

/* Families are kept together, so that the rules of one lie over each other. */
static int compare_classes(const TuneSet *set, const int64_t *a, const int64_t *b) {
    static const TuneKind kinds[] = {TUNE_TEXT, TUNE_EQUAL, TUNE_ALIGN, TUNE_SIZE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (int f = 0; f < set->facts.count; f++) {
            bool now = set->facts.list[f].kind == kinds[i];
            int order = now ? compare_fact(set, f, a[f], b[f]) : 0;
            if (order)
                return order;
        }
    }
    return 0;
}

/* The first point of the class whose rules come right before those of `next`, or of the last class;
 * -1 where there is none. */
static int class_before(const TuneSet *set, int next) {
    int found = -1;
    for (int p = 0; p < set->point_count; p++) {
        const int64_t *fact = set->points[p].fact;
        bool before = next < 0 || compare_classes(set, fact, set->points[next].fact) < 0;
        if (before && (found < 0 || compare_classes(set, fact, set->points[found].fact) > 0))
            found = p;
    }
    return found;
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

static bool is_of_family(const TuneClass *c, int p) {
    return tune_same_family(&c->set->facts, c->set->points[p].fact, c->fact);
}

/* The least size above the class's that other rules are for, or the largest at all. */
static int64_t next_size(const TuneClass *c, int f) {
    int64_t next = INT64_MAX;
    for (int p = 0; p < c->set->point_count; p++) {
        int64_t size = c->set->points[p].fact[f];
        if (is_of_family(c, p) && size > c->fact[f] && size < next &&
            !tune_made_for(c->set, f, size))
            next = size;
    }
    return next;
}

/* The largest size that rules of the class hold for: its own if variants are made for that; else
 * where the next body ends if no other size was measured before that. */
static int64_t largest_size(const TuneClass *c, int f) {
    const TuneSet *set = c->set;
    int64_t value = c->fact[f], next = next_size(c, f), end = set->facts.list[f].most;
    if (tune_made_for(set, f, value))
        return value;
    if (next == INT64_MAX)
        return end;
    for (int v = 0; v < set->variant_count; v++)
        if (set->variants[v].lo[f] < set->variants[v].hi[f] && set->variants[v].hi[f] >= value &&
            set->variants[v].hi[f] < end)
            end = set->variants[v].hi[f];
    return end < next ? end : value;
}

/* The least alignment of calls that the class's differ from in numbers alone. */
static int64_t least_alignment(const TuneClass *c, int f) {
    int64_t least = c->fact[f];
    for (int p = 0; p < c->set->point_count; p++) {
        const int64_t *fact = c->set->points[p].fact;
        bool same = true;
        for (int g = 0; g < c->set->facts.count; g++) {
            TuneKind kind = c->set->facts.list[g].kind;
            same = same && ((kind != TUNE_TEXT && kind != TUNE_EQUAL) || fact[g] == c->fact[g]);
        }
        least = same && fact[f] < least ? fact[f] : least;
    }
    return least;
}

/* The conditions that all rules of a class have. */
static TuneRule class_rule(const TuneClass *c) {
    TuneRule rule = {.variant = -1};
    for (int f = 0; f < c->set->facts.count; f++) {
        const TuneFact *fact = &c->set->facts.list[f];
        bool wanted = fact->kind != TUNE_SPAN && has_other_values(c->set, f);
        rule.lo[f] = rule.hi[f] = c->fact[f];
        if (fact->kind == TUNE_SIZE) {
            rule.hi[f] = largest_size(c, f);
            rule.lo[f] = tune_made_for(c->set, f, c->fact[f]) ? c->fact[f] : 0;
            wanted = rule.lo[f] || rule.hi[f] < fact->most;
        }
        if (fact->kind == TUNE_ALIGN && c->fact[f] == least_alignment(c, f))
            wanted = false;
        rule.conditions |= (uint32_t)wanted << f;
    }
    return rule;
}

/* Whether no other class of the family has rules behind those of this one. */
static bool is_last(const TuneClass *c) {
    for (int p = 0; p < c->set->point_count; p++)
        if (is_of_family(c, p) && compare_classes(c->set, c->set->points[p].fact, c->fact) > 0)
            return false;
    return true;
}

/* Grid values [begin, end) of a span as a condition; none where they are all. */
static void limit(const TuneClass *c, int axis, int begin, int end, TuneRule *rule) {
    int f = c->span[axis];
    bool last = end == c->size[axis];
    rule->lo[f] = begin ? c->grid[axis][begin - 1] + 1 : 0;
    rule->hi[f] = last ? c->set->facts.list[f].most : c->grid[axis][end - 1];
    if (begin || !last)
        rule->conditions |= UINT32_C(1) << f;
}

/* Leaves values of a fact that a variant is not meant for to the rules behind, unless it was taken
 * for one of the measured ones from `first` to `last` all the same. */
static void keep_to_meant(const TuneSet *set, int f, int64_t first, int64_t last, TuneRule *rule) {
    const TuneVariant *v = &set->variants[rule->variant];
    if (!(v->meant >> f & 1) || v->meant_lo[f] > first || v->meant_hi[f] < last)
        return;
    if (v->meant_lo[f] > rule->lo[f])
        rule->lo[f] = v->meant_lo[f];
    if (v->meant_hi[f] < rule->hi[f])
        rule->hi[f] = v->meant_hi[f];
    rule->conditions |= UINT32_C(1) << f;
}

/* Whether a variant is legal and meant for all rows and columns, and sizes up to the class's. */
static bool is_wide(const TuneClass *c, int variant) {
    const TuneVariant *v = &c->set->variants[variant];
    for (int f = 0; f < c->set->facts.count; f++) {
        const TuneFact *fact = &c->set->facts.list[f];
        bool ranged = fact->kind == TUNE_SPAN || fact->kind == TUNE_SIZE;
        if (ranged && v->meant >> f & 1)
            return false;
        if (fact->kind == TUNE_SPAN && v->hi[f] < fact->most)
            return false;
        if (fact->kind == TUNE_SIZE && (v->lo[f] > 1 || v->hi[f] < c->fact[f]))
            return false;
    }
    return true;
}

/* What a variant loses over the class, or over the family; a point where it has no time counts as
 * much. Infinite where it has none at all. */
static double loss_over(const TuneClass *c, bool family, int variant) {
    const double missing = 10;
    double sum = 0;
    bool measured = false;
    for (int p = 0; p < c->set->point_count; p++) {
        const int64_t *fact = c->set->points[p].fact;
        double best = tune_best_score(c->set, p), score = tune_score(c->set, p, variant);
        if (isinf(best) ||
            !(family ? is_of_family(c, p) : tune_same_class(&c->set->facts, fact, c->fact)))
            continue;
        measured = measured || isfinite(score);
        sum += isfinite(score) ? log(score / best) : missing;
    }
    return measured ? sum : INFINITY;
}

static int rules_naming(const TuneRules *rules, int variant) {
    int count = 0;
    for (int r = 0; r < rules->count; r++)
        count += rules->list[r].variant == variant;
    return count;
}

/* What is legal everywhere and named most often, failing that what loses least; -1 where there is
 * nothing. */
static int widest_of(const TuneClass *c, const TuneRules *rules, bool family) {
    int best = -1, most = 0;
    double least = INFINITY;
    for (int v = 0; v < c->set->variant_count; v++) {
        int named = rules_naming(rules, v);
        double loss = is_wide(c, v) ? loss_over(c, family, v) : INFINITY;
        if (isfinite(loss) && (named > most || (named == most && loss < least))) {
            best = v;
            most = named;
            least = loss;
        }
    }
    return best;
}

/* Of the class, or else of the family; -1 where the rules need nothing behind them. */
static int rest_of(const TuneClass *c, const TuneRules *rules) {
    bool wanted = false;
    for (int r = 0; r < rules->count; r++)
        wanted = wanted || !is_wide(c, rules->list[r].variant);
    int best = widest_of(c, rules, false);
    if (best < 0)
        best = widest_of(c, rules, true);
    return best >= 0 && (wanted || rules_naming(rules, best)) ? best : -1;
}

/* One variant gets a last rule that holds throughout the class, in place of its intervals. It is
 * also what runs where another rule's variant is not legal: beyond the grid, or between its
 * values. */
static bool add_rest(const TuneClass *c, TuneRules *rules) {
    TuneRule rest = class_rule(c);
    int kept = 0;
    rest.variant = rest_of(c, rules);
    if (rest.variant < 0)
        return true;
    for (int r = 0; r < rules->count; r++)
        if (rules->list[r].variant != rest.variant)
            rules->list[kept++] = rules->list[r];
    rules->count = kept;
    return add_rule(rules, &rest);
}

static TuneRule piece_rule(const TuneClass *c, const TunePiece *piece) {
    TuneRule rule = class_rule(c);
    rule.variant = c->members[piece->member];
    for (int s = 0; s < TUNE_SPANS; s++) {
        const int64_t *grid = c->grid[s];
        limit(c, s, piece->begin[s], piece->end[s], &rule);
        keep_to_meant(c->set, c->span[s], grid[piece->begin[s]], grid[piece->end[s] - 1], &rule);
    }
    for (int f = 0; f < c->set->facts.count; f++)
        if (c->set->facts.list[f].kind == TUNE_SIZE)
            keep_to_meant(c->set, f, c->fact[f], c->fact[f], &rule);
    return rule;
}

/* The rules of one class, in a list of their own. */
static bool add_class(const TuneClass *c, TunePiece *pieces, TuneRules *rules) {
    int count = tune_cut(c, pieces);
    for (int i = 0; i < count; i++) {
        TuneRule rule = piece_rule(c, &pieces[i]);
        if (!add_rule(rules, &rule))
            return false;
    }
    return !is_last(c) || add_rest(c, rules);
}

/* Puts rules in front of others. */
static bool put_before(TuneRules *rules, const TuneRules *more) {
    TuneRules all = {0};
    bool ok = true;
    for (int r = 0; ok && r < more->count + rules->count; r++)
        ok = add_rule(&all, r < more->count ? &more->list[r] : &rules->list[r - more->count]);
    free(rules->list);
    *rules = all;
    return ok;
}

typedef struct Work {
    TuneClass c;
    TunePiece pieces[TUNE_CELLS];
} Work;

static bool rules_of_class(Work *w, const TuneSet *set, int point, const bool *cover, double within,
                           TuneRules *rules, char *why, size_t why_size) {
    TuneRules more = {0};
    if (!tune_class_fill(&w->c, set, set->points[point].fact, cover, why, why_size))
        return false;
    tune_class_weigh(&w->c, within, is_last(&w->c) ? NULL : rules);
    bool ok =
        !w->c.member_count || (add_class(&w->c, w->pieces, &more) && put_before(rules, &more));
    free(more.list);
    return ok;
}

/* The classes from the last to the first. */
static bool rules_of_all(Work *w, const TuneSet *set, bool *cover, double within, TuneRules *rules,
                         char *why, size_t why_size) {
    int last = -1;
    for (int p = class_before(set, -1); p >= 0; last = p, p = class_before(set, p)) {
        const int64_t *fact = set->points[p].fact;
        bool other = last < 0 || !tune_same_family(&set->facts, fact, set->points[last].fact);
        if (other && !cover_family(set, fact, within, cover))
            return false;
        if (!rules_of_class(w, set, p, cover, within, rules, why, why_size))
            return false;
    }
    return true;
}

bool tune_rules(const TuneSet *set, double within, TuneRules *rules, char *why, size_t why_size) {
    Work *w = (Work *)malloc(sizeof *w);
    bool *cover = (bool *)calloc((size_t)set->variant_count + 1, sizeof *cover);
    *rules = (TuneRules){0};
    snprintf(why, why_size, "no memory");
    bool ok = w && cover && rules_of_all(w, set, cover, within, rules, why, why_size);
    free(cover);
    free(w);
    if (ok)
        return true;
    free(rules->list);
    *rules = (TuneRules){0};
    return false;
}

static bool holds(const TuneFacts *facts, const TuneRule *rule, const int64_t *fact) {
    for (int f = 0; f < facts->count; f++) {
        if (rule->conditions >> f & 1 &&
            !tune_is_in(facts->list[f].kind, rule->lo[f], rule->hi[f], fact[f]))
            return false;
    }
    return true;
}

int tune_chosen(const TuneSet *set, const TuneRules *rules, const int64_t *fact) {
    for (int r = 0; r < rules->count; r++)
        if (holds(&set->facts, &rules->list[r], fact) &&
            tune_is_legal(set, rules->list[r].variant, fact))
            return rules->list[r].variant;
    return -1;
}
