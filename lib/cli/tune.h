/* Making dispatch tables of timings (`tle tune`).
 *
 * An operator's calls are points: values of its facts. A set holds the times of its variants at
 * points, wherever they came from, a GPU or a file; tune_rules() makes the rules of them and is a
 * pure function. */
#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TUNE_FACTS = 8, TUNE_SPANS = 2, TUNE_GRID = 32, TUNE_MEMBERS = 64 };

typedef enum TuneKind {
    TUNE_SPAN,  /* a rule holds from one grid value, exclusive, up to another */
    TUNE_EQUAL, /* each value has rules of its own */
    TUNE_ALIGN, /* the same; a rule of a larger alignment comes first */
    TUNE_TEXT,  /* the same; the values are names */
    TUNE_SIZE   /* values that variants are made for come first, then all up to each other value */
} TuneKind;

typedef struct TuneFact {
    const char *name;
    TuneKind kind;
    int64_t most;             /* the largest value that a call can have */
    const char *const *names; /* of a text: its values are indices */
} TuneFact;

typedef struct TuneFacts {
    const TuneFact *list;
    int count; /* at most TUNE_FACTS, TUNE_SPANS of them spans */
} TuneFacts;

typedef struct TuneVariant {
    char *name;
    int64_t lo[TUNE_FACTS], hi[TUNE_FACTS]; /* where it is legal; lo divides an alignment */
    int64_t meant_lo[TUNE_FACTS], meant_hi[TUNE_FACTS];
    uint32_t meant; /* bit f: it is meant for those values of fact f alone */
} TuneVariant;

typedef struct TunePoint {
    int64_t fact[TUNE_FACTS];
} TunePoint;

typedef struct TuneSet {
    TuneFacts facts;
    char *op, *arch, *device, *sources, *compiler;
    TuneVariant *variants;
    TunePoint *points;
    int variant_count, point_count;
    double *hot, *cold; /* [point][variant] in us; NaN: no candidate, or far too slow to measure */
} TuneSet;

typedef struct TuneRule {
    int64_t lo[TUNE_FACTS], hi[TUNE_FACTS];
    uint32_t conditions; /* bit f: the rule looks at fact f */
    int variant;
} TuneRule;

typedef struct TuneRules {
    TuneRule *list;
    int count;
} TuneRules;

typedef enum TuneAnswer { TUNE_TIMED, TUNE_REFUSED, TUNE_FAILED } TuneAnswer;

/* What a walk over the points asks. */
typedef struct TuneTimer {
    void *user;
    /* Times a variant at a point, hot and cold, with few replays or thoroughly. What is slower than
     * `limit` when hot need not be timed cold: us[1] stays. */
    TuneAnswer (*time)(void *user, int point, int variant, bool thorough, double limit,
                       double us[2]);
    /* Before each point, with how many have times by now, and at the end: whether to go on. */
    bool (*more)(void *user, int done);
} TuneTimer;

/* Fills in times at the points that have none yet, of the variants that are candidates there; false
 * where the timer failed or without memory. */
bool tune_walk(TuneSet *set, const TuneTimer *timer);

/* Makes room for the times of all points and variants, all NaN; false without memory. */
bool tune_set_times(TuneSet *set);
void tune_set_free(TuneSet *set);
/* Copies the times of another set at the points and of the variants that both have; false where
 * that is of other kernels or of another device. */
bool tune_set_take(TuneSet *set, const TuneSet *from);
/* Index into hot and cold. */
size_t tune_at(const TuneSet *set, int point, int variant);
/* A variant's geometric mean of hot and cold time at a point; infinite where it has none. */
double tune_score(const TuneSet *set, int point, int variant);

/* Whether a limit lo .. hi of a fact holds for a value; of an alignment lo divides it. */
bool tune_is_in(TuneKind kind, int64_t lo, int64_t hi, int64_t value);
/* Whether a variant is legal for a call, and meant for it. */
bool tune_is_legal(const TuneSet *set, int variant, const int64_t *fact);
bool tune_is_meant(const TuneSet *set, int variant, const int64_t *fact);
/* Whether any is both: the others are no candidates then. */
bool tune_has_meant(const TuneSet *set, const int64_t *fact);
/* Whether a variant is legal, and, where some are meant for the call, one of these. */
bool tune_is_candidate(const TuneSet *set, bool some_meant, int variant, const int64_t *fact);
/* Drops the times of what is no candidate. */
void tune_keep_candidates(TuneSet *set);

/* Of `members` columns of which each of `cells` rows allows some, the fewest that leave no row
 * without one, and among those the set of least loss. allowed and loss are [cell][member]; each
 * cell allows one at least, and what it does not allow has an infinite loss. False without memory.
 */
bool tune_cover(const bool *allowed, const double *loss, int cells, int members, bool *chosen);

/* The rules: at every measured point the first that holds names a variant within `within` (1.03) of
 * the best score. False with a sentence in `why`. */
bool tune_rules(const TuneSet *set, double within, TuneRules *rules, char *why, size_t why_size);
/* The variant that the first rule names whose conditions hold and which is legal, or -1. */
int tune_chosen(const TuneSet *set, const TuneRules *rules, const int64_t *fact);

/* A set as JSON text, and back; the texts are malloc'ed, NULL without memory. */
char *tune_set_print(const TuneSet *set);
bool tune_set_parse(const char *text, const TuneFacts *facts, TuneSet *set, char *why,
                    size_t why_size);
/* A dispatch table (docs/metadata.md). */
char *tune_table_print(const TuneSet *set, const TuneRules *rules);

#endif
