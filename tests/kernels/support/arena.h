/* Memory of test cases: on the host and on the device. A case that runs alone allocates every array
 * apart, so that an emulator sees where it ends. Many that run together take theirs from an arena,
 * which goes to the device and back in one copy each; what lies between the arrays is guarded. */
#ifndef KERNELS_SUPPORT_ARENA_H
#define KERNELS_SUPPORT_ARENA_H

#include "tle/tle.h"

#include <stdbool.h>
#include <stddef.h>

enum { ARENA_GUARD = 0x5a }; /* every byte that no case may write */

typedef struct Arena {
    tle_handle h;
    char *host, *back, *device; /* back: what the device was found to hold afterwards */
    size_t size, used;
} Arena;

/* False without memory; close it all the same. */
bool arena_open(Arena *a, tle_handle h, size_t size);
void arena_close(Arena *a);
/* Copies everything that was taken, and returns when it is there. */
bool arena_send(Arena *a);
bool arena_fetch(Arena *a);

/* One array. `got` is where its contents are after the calls. */
typedef struct CaseBuffer {
    char *host, *got;
    void *device;
    size_t bytes;
} CaseBuffer;

/* Zeros on the host; from the arena, or allocated where that is NULL. False where there is no room.
 */
bool buffer_open(CaseBuffer *b, tle_handle h, Arena *a, size_t bytes);
void buffer_close(CaseBuffer *b, tle_handle h, const Arena *a);
/* To the device and back, of buffers that were allocated. */
bool buffer_send(const CaseBuffer *b, tle_handle h);
bool buffer_fetch(const CaseBuffer *b, tle_handle h);

/* After outputs were compared: forgets what was sent in their place. Then, whether everything else
 * is as it was sent. */
void buffer_accept(const CaseBuffer *output);
bool arena_untouched(const Arena *a);

#endif
