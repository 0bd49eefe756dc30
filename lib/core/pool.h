/* Memory of one handle: many small zeroed objects, freed together. Unlike the compiler's arena it
 * answers NULL when memory is exhausted, since a library may not end its host. Not thread-safe. */
#ifndef CORE_POOL_H
#define CORE_POOL_H

#include <stddef.h>

typedef struct TleiPool {
    struct TleiPoolBlock *blocks;
    size_t bytes; /* handed out */
} TleiPool;

void *tlei_pool_alloc(TleiPool *p, size_t count, size_t size);
char *tlei_pool_strdup(TleiPool *p, const char *text);
void tlei_pool_free(TleiPool *p);

#endif
