/* Scores in the form of a sparse-attention indexer: for each window of a text,
 *
 *     score = sum over heads h of w[h] * relu(q[h] . k[window]) / (|q[h]| |k[window]|)
 *
 * k[window] counts the window's hashed character n-grams; head h looks for one phrase of the query,
 * q[h] being that phrase's counts and w[h] its share of the query's letters. Counts and dot
 * products are integers, so that a row of scores is the same on every machine. */
#ifndef DEMO_INDEXER_SCORES_H
#define DEMO_INDEXER_SCORES_H

#include <stddef.h>
#include <stdint.h>

enum {
    INDEXER_DIMS = 256,  /* features of a window */
    INDEXER_GRAM = 5,    /* characters of an n-gram */
    INDEXER_WINDOW = 96, /* characters of a window */
    INDEXER_MAX_HEADS = 32,
    INDEXER_PHRASE_WORDS = 3
};

typedef struct IndexerHead {
    int16_t query[INDEXER_DIMS];
    float weight; /* w[h] / |q[h]| */
} IndexerHead;

typedef struct Indexer {
    IndexerHead heads[INDEXER_MAX_HEADS];
    int head_count;
} Indexer;

/* Makes one head for each run of three words of the query. Returns 0, or -1 when there is none. */
int indexer_init(Indexer *indexer, const char *query);

/* Where window i of `count` starts: the windows are spread evenly over the text, sharing starts
 * where the text is shorter than their number. */
size_t indexer_window_start(size_t length, int64_t count, int64_t i);

/* Writes the scores of `count` windows of a text of more than INDEXER_WINDOW characters. */
void indexer_score(const Indexer *indexer, const char *text, size_t length, int64_t count,
                   float *scores);

#endif
