#include "gpu/topk_dependent.h"

#include "gpu/graph.h"
#include "kernels/support/topk_chain.h"
#include <stdio.h>

enum { RUNS = 20 };

static bool failed(char *why, size_t size, const char *what) {
    snprintf(why, size, "%s: %s", what, tle_last_error());
    return false;
}

static bool in_stream(const Driver *d, TopkChain *c, void *stream, char *why, size_t size) {
    for (int n = 0; n < RUNS; n++) {
        if (!topk_chain_wipe(c) || !topk_chain_enqueue(c, stream) || d->stream_synchronize(stream))
            return failed(why, size, "dependent chain");
        if (!topk_chain_right(c, why, size))
            return false;
    }
    return true;
}

static bool enqueue(void *chain, void *stream) {
    return topk_chain_enqueue(chain, stream);
}

/* The captured edges between the kernels are programmatic ones. Two replays follow each other
 * without a wait, so that a replay's first kernel meets the last of the one before. */
static bool in_graph(const Driver *d, TopkChain *c, void *stream, char *why, size_t size) {
    Graph g;
    bool ok = graph_capture(&g, d, stream, enqueue, c);
    if (!ok)
        failed(why, size, "capture of a dependent chain");
    for (int n = 0; n < RUNS && ok; n++)
        ok = topk_chain_wipe(c) && graph_replay(&g) && graph_replay(&g) &&
             !d->stream_synchronize(stream) && topk_chain_right(c, why, size);
    graph_close(&g);
    return ok;
}

bool check_dependent(const Driver *d, tle_handle h, char *why, size_t size) {
    TopkChain *c = topk_chain_open(h, 5);
    void *stream = NULL;
    bool ok = c && !tle_preload(h, "topk_select") && !d->stream_create(&stream, 1);
    if (!ok)
        failed(why, size, "dependent chain");
    ok = ok && in_stream(d, c, stream, why, size) && in_graph(d, c, stream, why, size);
    if (stream)
        d->stream_destroy(stream);
    topk_chain_close(c);
    return ok;
}
