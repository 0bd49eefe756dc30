/* Scoring by hashed n-grams. A window's counts are kept up to date as it slides: the n-grams that
 * enter are added and those that leave are taken away. */
#include "indexer_scores.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* FNV-1a over the folded characters: which feature an n-gram counts for, and with which sign. */
static uint32_t gram_hash(const char *text) {
    uint32_t hash = 2166136261u;
    for (int i = 0; i < INDEXER_GRAM; i++) {
        hash = (hash ^ (uint32_t)tolower((unsigned char)text[i])) * 16777619u;
    }
    return hash ^ (hash >> 15);
}

static void count_gram(int16_t *features, const char *text, int step) {
    uint32_t hash = gram_hash(text);
    int16_t *feature = &features[hash % INDEXER_DIMS];
    *feature = (int16_t)(*feature + (hash >> 31 ? -step : step));
}

static void count_grams(int16_t *features, const char *text, size_t length, int step) {
    for (size_t i = 0; i + INDEXER_GRAM <= length; i++) {
        count_gram(features, text + i, step);
    }
}

static int32_t dot(const int16_t *a, const int16_t *b) {
    int32_t sum = 0;
    for (int i = 0; i < INDEXER_DIMS; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static const char *skip_word(const char *text) {
    while (*text && *text != ' ') {
        text++;
    }
    return text;
}

static const char *skip_spaces(const char *text) {
    while (*text == ' ') {
        text++;
    }
    return text;
}

/* The end of the run of words that starts here, or NULL where too few are left. */
static const char *phrase_end(const char *text) {
    for (int word = 0; word < INDEXER_PHRASE_WORDS; word++) {
        text = skip_spaces(text);
        if (!*text) {
            return NULL;
        }
        text = skip_word(text);
    }
    return text;
}

int indexer_init(Indexer *indexer, const char *query) {
    memset(indexer, 0, sizeof *indexer);
    const char *begin = skip_spaces(query);
    const char *end = phrase_end(begin);
    while (end && indexer->head_count < INDEXER_MAX_HEADS) {
        IndexerHead *head = &indexer->heads[indexer->head_count];
        size_t letters = (size_t)(end - begin);
        count_grams(head->query, begin, letters, 1);
        int32_t square = dot(head->query, head->query);
        if (square > 0) {
            head->weight = (float)letters / (float)strlen(query) / sqrtf((float)square);
            indexer->head_count++;
        }
        begin = skip_spaces(skip_word(begin));
        end = phrase_end(begin);
    }
    return indexer->head_count > 0 ? 0 : -1;
}

size_t indexer_window_start(size_t length, int64_t count, int64_t i) {
    uint64_t room = length - INDEXER_WINDOW;
    return (size_t)(room * (uint64_t)i / (uint64_t)(count > 1 ? count - 1 : 1));
}

static float score_window(const Indexer *indexer, const int16_t *key) {
    int32_t square = dot(key, key);
    float sum = 0.0f;
    for (int h = 0; h < indexer->head_count; h++) {
        int32_t product = dot(indexer->heads[h].query, key);
        sum += indexer->heads[h].weight * (float)(product > 0 ? product : 0);
    }
    return square > 0 ? sum / sqrtf((float)square) : 0.0f;
}

void indexer_score(const Indexer *indexer, const char *text, size_t length, int64_t count,
                   float *scores) {
    enum { LAST = INDEXER_WINDOW - INDEXER_GRAM }; /* the last n-gram inside a window */
    int16_t key[INDEXER_DIMS] = {0};
    count_grams(key, text, INDEXER_WINDOW, 1);
    size_t start = 0;
    for (int64_t i = 0; i < count; i++) {
        for (size_t next = indexer_window_start(length, count, i); start < next; start++) {
            count_gram(key, text + start, -1);
            count_gram(key, text + start + LAST + 1, 1);
        }
        scores[i] = score_window(indexer, key);
    }
}
