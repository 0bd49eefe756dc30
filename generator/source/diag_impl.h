/* The body of Diag, shared by diag.c (collects) and diag_print.c (renders). */
#ifndef SOURCE_DIAG_IMPL_H
#define SOURCE_DIAG_IMPL_H

#include "base/vec.h"
#include "source/diag.h"

typedef struct Note {
    Span at;
    const char *text;
} Note;

typedef struct Message {
    bool is_error;
    DiagCode code;
    Span at;
    const char *text;
    VEC(Note) notes;
} Message;

struct Diag {
    Arena *arena;
    const Sources *sources;
    VEC(Message) messages; /* in the order of emission */
    uint32_t errors, warnings;
    bool has_current; /* the last message given was kept and may take notes */
};

#endif
