/* Global memory as a cluster sees it that runs ahead of its turn: memory as it was when the
 * clusters started, with the cluster's own writes over it. What it read and wrote is recorded byte
 * by byte, so that it shows later whether those before it would have made a difference.
 *
 * Memory that overlaps or shares pages is one span, and so are the views' copies: an address and
 * its place in the copy are a constant apart. Nothing of memory changes while views are in use. */
#ifndef EMU_VIEW_H
#define EMU_VIEW_H

#include "vm.h"

#define VIEW_PAGE  4096u
#define VIEW_WORDS (VIEW_PAGE / 64)

typedef struct Span {
    uint64_t base, size; /* whole pages */
    uint32_t first, end; /* regions */
    bool writable;
} Span;

typedef struct SpanTable {
    RegionTable *regions;
    Span *at; /* by base */
    uint32_t count;
} SpanTable;

/* A page of memory that a cluster used. */
typedef struct ViewPage {
    uint64_t address;
    const uint8_t *bytes; /* NULL: nothing written */
    uint64_t read[VIEW_WORDS], written[VIEW_WORDS];
} ViewPage;

/* Bytes of a region that have become initialised, or have ceased to be. */
typedef struct ViewInit {
    uint64_t *bits;
    uint64_t set[VIEW_WORDS], clear[VIEW_WORDS];
} ViewInit;

typedef struct ViewLog {
    VEC(ViewPage *) pages;
    VEC(ViewInit *) inits;
} ViewLog;

SpanTable *view_spans(RegionTable *regions, Arena *a);
View *view_new(const SpanTable *spans, Arena *a);
void view_free(View *v);
/* Where the bytes are, NULL if the view has no room for them. `stays`: the place is used later. */
uint8_t *view_use(View *v, uint64_t address, uint32_t bytes, AccessKind kind, bool stays);
/* Where a byte is, without using it. */
const uint8_t *view_peek(const View *v, uint64_t address);
/* The address whose place this is. */
uint64_t view_address(const View *v, const uint8_t *place);
/* Bits of the region's initialised bytes, of which those of the range can be used. */
uint64_t *view_init(View *v, const Region *r, uint64_t offset, uint64_t bytes);
/* What the cluster has done goes to the log, and the view is fresh again. */
void view_take(View *v, Arena *a, ViewLog *log);
void view_apply(const ViewLog *log);

#endif
