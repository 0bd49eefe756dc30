#include "kernels/support/topk_chain.h"

#include "cli/reference_topk.h"
#include "kernels/support/values.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, COLUMNS = 20000 };

/* Elements that each link selects of those of the link before it. */
static const int64_t links[] = {4096, 2048, 2047, 1024, 777, 512, 100, 33, 32, 1};
enum { LINKS = sizeof links / sizeof *links };

typedef struct Link {
    int64_t columns, k;
    const void *scores; /* device */
    void *values, *indices;
    float *host_values, *want_values;
    int32_t *host_indices, *want_indices;
} Link;

struct TopkChain {
    tle_handle h;
    float *scores; /* of the first link */
    void *device_scores;
    Link link[LINKS];
};

static size_t bytes_of(const Link *l) {
    return (size_t)(ROWS * l->k) * 4;
}

static bool expect(const Link *l, const float *scores) {
    ReferenceTopk ref = {.scores = scores,
                         .rows = ROWS,
                         .columns = l->columns,
                         .row_stride = l->columns,
                         .k = l->k,
                         .indices = l->want_indices,
                         .index_row_stride = l->k,
                         .values = l->want_values,
                         .value_row_stride = l->k};
    return reference_topk(&ref);
}

static bool open_link(TopkChain *c, Link *l) {
    size_t bytes = bytes_of(l);
    l->host_values = malloc(bytes);
    l->want_values = malloc(bytes);
    l->host_indices = malloc(bytes);
    l->want_indices = malloc(bytes);
    return l->host_values && l->want_values && l->host_indices && l->want_indices &&
           !tle_alloc(c->h, bytes, &l->values) && !tle_alloc(c->h, bytes, &l->indices);
}

static bool open_all(TopkChain *c, uint64_t seed) {
    size_t bytes = (size_t)ROWS * COLUMNS * sizeof(float);
    Random r = {seed};
    c->scores = malloc(bytes);
    if (!c->scores || tle_alloc(c->h, bytes, &c->device_scores))
        return false;
    fill_values(c->scores, (int64_t)ROWS * COLUMNS, VALUES_NORMAL, &r);
    if (tle_copy(c->h, c->device_scores, c->scores, bytes))
        return false;
    for (int i = 0; i < LINKS; i++) {
        Link *l = &c->link[i];
        l->columns = i ? links[i - 1] : COLUMNS;
        l->k = links[i];
        if (!open_link(c, l))
            return false;
        l->scores = i ? c->link[i - 1].values : c->device_scores;
        if (!expect(l, i ? c->link[i - 1].want_values : c->scores))
            return false;
    }
    return true;
}

TopkChain *topk_chain_open(tle_handle h, uint64_t seed) {
    TopkChain *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->h = h;
    if (open_all(c, seed))
        return c;
    topk_chain_close(c);
    return NULL;
}

void topk_chain_close(TopkChain *c) {
    for (int i = 0; c && i < LINKS; i++) {
        Link *l = &c->link[i];
        free(l->host_values);
        free(l->want_values);
        free(l->host_indices);
        free(l->want_indices);
        tle_free(c->h, l->values);
        tle_free(c->h, l->indices);
    }
    if (c) {
        tle_free(c->h, c->device_scores);
        free(c->scores);
    }
    free(c);
}

bool topk_chain_wipe(TopkChain *c) {
    for (int i = 0; i < LINKS; i++) {
        Link *l = &c->link[i];
        memset(l->host_values, 0x7f,
               bytes_of(l)); /* 3.4e38, which a link that runs early selects */
        if (tle_copy(c->h, l->values, l->host_values, bytes_of(l)) ||
            tle_copy(c->h, l->indices, l->host_values, bytes_of(l)))
            return false;
    }
    return true;
}

bool topk_chain_enqueue(TopkChain *c, tle_stream stream) {
    for (int i = 0; i < LINKS; i++) {
        const Link *l = &c->link[i];
        tle_topk_select_params p = TLE_TOPK_SELECT_PARAMS_INIT;
        p.flags = TLE_LAUNCH_DEPENDENT;
        p.rows = ROWS;
        p.columns = p.row_stride = l->columns;
        p.k = p.index_row_stride = p.value_row_stride = l->k;
        p.scores = l->scores;
        p.indices = l->indices;
        p.values = l->values;
        if (tle_topk_select(c->h, &p, NULL, 0, stream))
            return false;
    }
    return true;
}

bool topk_chain_right(TopkChain *c, char *why, size_t size) {
    for (int i = 0; i < LINKS; i++) {
        Link *l = &c->link[i];
        size_t bytes = bytes_of(l);
        if (tle_copy(c->h, l->host_values, l->values, bytes) ||
            tle_copy(c->h, l->host_indices, l->indices, bytes)) {
            snprintf(why, size, "dependent link %d: %s", i, tle_last_error());
            return false;
        }
        if (memcmp(l->host_indices, l->want_indices, bytes) ||
            memcmp(l->host_values, l->want_values, bytes)) {
            snprintf(why, size, "dependent link %d, k %lld: differs from the reference", i,
                     (long long)l->k);
            return false;
        }
    }
    return true;
}
