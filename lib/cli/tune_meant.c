/* Which variants are candidates at a point: of those that are legal there the ones that are meant
 * for it, and all where none of them is.
 *
 * A body for unaligned rows is legal for aligned ones too, and may look a little faster there on
 * the values that are timed; its sibling for such rows is the better choice on others. */
#include "cli/tune.h"

#include <math.h>

bool tune_is_in(TuneKind kind, int64_t lo, int64_t hi, int64_t value) {
    return kind == TUNE_ALIGN ? lo <= 1 || value % lo == 0 : value >= lo && value <= hi;
}

bool tune_is_legal(const TuneSet *set, int variant, const int64_t *fact) {
    const TuneVariant *v = &set->variants[variant];
    for (int f = 0; f < set->facts.count; f++)
        if (!tune_is_in(set->facts.list[f].kind, v->lo[f], v->hi[f], fact[f]))
            return false;
    return true;
}

bool tune_is_meant(const TuneSet *set, int variant, const int64_t *fact) {
    const TuneVariant *v = &set->variants[variant];
    for (int f = 0; f < set->facts.count; f++)
        if (v->meant >> f & 1 && (fact[f] < v->meant_lo[f] || fact[f] > v->meant_hi[f]))
            return false;
    return true;
}

bool tune_is_candidate(const TuneSet *set, bool some_meant, int variant, const int64_t *fact) {
    return tune_is_legal(set, variant, fact) && (!some_meant || tune_is_meant(set, variant, fact));
}

bool tune_has_meant(const TuneSet *set, const int64_t *fact) {
    for (int v = 0; v < set->variant_count; v++)
        if (tune_is_candidate(set, true, v, fact))
            return true;
    return false;
}

void tune_keep_candidates(TuneSet *set) {
    for (int p = 0; p < set->point_count; p++) {
        const int64_t *fact = set->points[p].fact;
        bool some_meant = tune_has_meant(set, fact);
        for (int v = 0; v < set->variant_count; v++)
            if (!tune_is_candidate(set, some_meant, v, fact))
                set->hot[tune_at(set, p, v)] = set->cold[tune_at(set, p, v)] = NAN;
    }
}
