/* Cutting a class's matrix: bands of neighbouring grid values along one span, each cut into
 * intervals along the other, by the cheapest way to get to each end. */
#include "cli/tune_class.h"

#include <math.h>

/* A piece costs one, and a loss decides only between ways of as many pieces. */
static const double by_loss = 0.01;

typedef struct Line {
    double cost[TUNE_GRID + 1]; /* of the first n inner values */
    int from[TUNE_GRID + 1];    /* where the last interval of those begins */
    int member[TUNE_GRID + 1];  /* of that interval */
} Line;

typedef struct Bands {
    double cost[TUNE_GRID + 1]; /* of the first n outer values */
    int from[TUNE_GRID + 1];    /* where the last band of those begins */
} Bands;

static int cell_of(int outer, int o, int inner) {
    return outer ? inner * TUNE_GRID + o : o * TUNE_GRID + inner;
}

/* Adds what the members lose at one inner value of a band. */
static void add_column(const TuneClass *c, int outer, int begin, int end, int inner,
                       double sum[TUNE_MEMBERS]) {
    for (int o = begin; o < end; o++) {
        const double *loss = &c->loss[cell_of(outer, o, inner) * TUNE_MEMBERS];
        for (int m = 0; m <= c->member_count; m++)
            sum[m] += loss[m];
    }
}

/* The member of least cost by the sums of an interval. */
static int cheapest(const TuneClass *c, const double sum[TUNE_MEMBERS], double *cost) {
    int best = 0;
    *cost = INFINITY;
    for (int m = 0; m <= c->member_count; m++) {
        double here = (m != c->behind) + by_loss * sum[m];
        if (here < *cost) {
            best = m;
            *cost = here;
        }
    }
    return best;
}

/* The cheapest intervals of a band [begin, end) of the outer span. */
static Line cut_band(const TuneClass *c, int outer, int begin, int end) {
    Line line = {.cost = {0}};
    for (int to = 1; to <= c->size[!outer]; to++) {
        double sum[TUNE_MEMBERS] = {0}, cost = 0;
        line.cost[to] = INFINITY;
        for (int from = to - 1; from >= 0; from--) {
            add_column(c, outer, begin, end, from, sum);
            int member = cheapest(c, sum, &cost);
            if (isinf(cost))
                break;
            if (line.cost[from] + cost < line.cost[to]) {
                line.cost[to] = line.cost[from] + cost;
                line.from[to] = from;
                line.member[to] = member;
            }
        }
    }
    return line;
}

static Bands cut_along(const TuneClass *c, int outer) {
    Bands bands = {.cost = {0}};
    for (int end = 1; end <= c->size[outer]; end++) {
        bands.cost[end] = INFINITY;
        for (int begin = 0; begin < end; begin++) {
            Line line = cut_band(c, outer, begin, end);
            double cost = bands.cost[begin] + line.cost[c->size[!outer]];
            if (cost < bands.cost[end]) {
                bands.cost[end] = cost;
                bands.from[end] = begin;
            }
        }
    }
    return bands;
}

static int add_intervals(const TuneClass *c, int outer, int begin, int end, const Line *line,
                         int to, TunePiece *pieces) {
    int from = line->from[to];
    int count = from ? add_intervals(c, outer, begin, end, line, from, pieces) : 0;
    if (line->member[to] == c->behind)
        return count;
    TunePiece *piece = &pieces[count];
    piece->begin[outer] = begin;
    piece->end[outer] = end;
    piece->begin[!outer] = from;
    piece->end[!outer] = to;
    piece->member = line->member[to];
    return count + 1;
}

static int add_bands(const TuneClass *c, int outer, const Bands *bands, int end,
                     TunePiece *pieces) {
    int begin = bands->from[end];
    int count = begin ? add_bands(c, outer, bands, begin, pieces) : 0;
    Line line = cut_band(c, outer, begin, end);
    return count + add_intervals(c, outer, begin, end, &line, c->size[!outer], pieces + count);
}

int tune_cut(const TuneClass *c, TunePiece *pieces) {
    Bands bands[2] = {cut_along(c, 0), cut_along(c, 1)};
    int outer = bands[1].cost[c->size[1]] <= bands[0].cost[c->size[0]];
    return add_bands(c, outer, &bands[outer], c->size[outer], pieces);
}
