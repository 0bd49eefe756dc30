#include "gpu/many.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t arena_bytes = (size_t)32 << 20;

bool many_add(Many *m, const void *c) {
    if (m->count == m->room) {
        size_t room = m->room ? 2 * m->room : 256;
        char *longer = realloc(m->cases, room * m->kind->case_bytes);
        if (!longer)
            return false;
        m->cases = longer;
        m->room = room;
    }
    memcpy(m->cases + m->count++ * m->kind->case_bytes, c, m->kind->case_bytes);
    return true;
}

void many_keep(Many *m, size_t part, size_t parts) {
    size_t bytes = m->kind->case_bytes, kept = 0;
    for (size_t i = part; i < m->count; i += parts)
        memmove(m->cases + kept++ * bytes, m->cases + i * bytes, bytes);
    m->count = kept;
}

/* What the threads share, and how it went. */
typedef struct Work {
    const Many *m;
    pthread_mutex_t lock;
    size_t next, piece;
    bool ok;
    char *why;
    size_t why_size;
} Work;

/* The next piece of the list; 0 at its end, or after a failure. */
static size_t take(Work *w, size_t *first) {
    pthread_mutex_lock(&w->lock);
    size_t left = w->ok ? w->m->count - w->next : 0, count = left < w->piece ? left : w->piece;
    *first = w->next;
    w->next += count;
    pthread_mutex_unlock(&w->lock);
    return count;
}

static void fail(Work *w, const char *why) {
    pthread_mutex_lock(&w->lock);
    if (w->ok)
        snprintf(w->why, w->why_size, "%s", why);
    w->ok = false;
    pthread_mutex_unlock(&w->lock);
}

/* A thread. Its stream was made by the one that made the context current. */
typedef struct Worker {
    Work *work;
    pthread_t thread;
    void *stream;
} Worker;

static bool run_piece(Work *w, Arena *arena, void *stream, size_t first, size_t count) {
    const CaseKind *kind = w->m->kind;
    char why[1200] = "";
    while (count) {
        const void *cases = w->m->cases + first * kind->case_bytes;
        size_t done = (size_t)run_cases(kind, arena, cases, (int)count, stream, why, sizeof why);
        if (!done) {
            fail(w, why);
            return false;
        }
        first += done;
        count -= done;
    }
    return true;
}

static void *work(void *worker) {
    Worker *me = worker;
    Work *w = me->work;
    Arena arena;
    size_t first = 0, count = 0;
    if (!arena_open(&arena, w->m->h, arena_bytes))
        fail(w, "no memory for a thread's cases");
    while ((count = take(w, &first)) && run_piece(w, &arena, me->stream, first, count))
        ;
    arena_close(&arena);
    return NULL;
}

static void run_workers(Work *w, Worker *workers, int wanted) {
    const Driver *d = w->m->driver;
    int started = 0;
    for (int i = 0; i < wanted; i++) {
        workers[i] = (Worker){.work = w};
        if (d && d->stream_create(&workers[i].stream, 1))
            fail(w, "a stream cannot be made");
    }
    while (started < wanted &&
           !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
        started++;
    if (!started)
        fail(w, "no thread can be started");
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < wanted; i++)
        if (workers[i].stream)
            d->stream_destroy(workers[i].stream);
}

bool many_run(Many *m, char *why, size_t size) {
    enum { MOST = 64 };
    Worker workers[MOST];
    int wanted = m->threads < MOST ? m->threads : MOST;
    Work w = {.m = m, .ok = true, .why = why, .why_size = size};
    size_t share = m->count / (size_t)(8 * wanted);
    w.piece = share < 1 ? 1 : share < 256 ? share : 256;
    pthread_mutex_init(&w.lock, NULL);
    run_workers(&w, workers, wanted);
    pthread_mutex_destroy(&w.lock);
    free(m->cases);
    m->cases = NULL;
    m->count = m->room = 0;
    return w.ok;
}
