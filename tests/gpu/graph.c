#include "gpu/graph.h"

bool graph_capture(Graph *g, const Driver *d, void *stream,
                   bool (*enqueue)(void *batch, void *stream), void *batch) {
    *g = (Graph){.driver = d, .stream = stream};
    return !d->begin_capture(stream, 1) && enqueue(batch, stream) &&
           !d->end_capture(stream, &g->graph) && !d->instantiate(&g->exec, g->graph, 0);
}

bool graph_replay(const Graph *g) {
    return !g->driver->graph_launch(g->exec, g->stream);
}

void graph_close(Graph *g) {
    if (g->exec)
        g->driver->exec_destroy(g->exec);
    if (g->graph)
        g->driver->graph_destroy(g->graph);
}
