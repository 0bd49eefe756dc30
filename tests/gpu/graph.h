/* A captured graph of whatever a check enqueues. */
#ifndef GPU_GRAPH_H
#define GPU_GRAPH_H

#include "cli/driver.h"
#include <stdbool.h>

typedef struct Graph {
    const Driver *driver;
    void *stream, *graph, *exec;
} Graph;

/* Captures on `stream` what `enqueue` puts into it. False after a failure; close it all the same.
 */
bool graph_capture(Graph *g, const Driver *d, void *stream,
                   bool (*enqueue)(void *batch, void *stream), void *batch);
/* Enqueues a replay. */
bool graph_replay(const Graph *g);
void graph_close(Graph *g);

#endif
