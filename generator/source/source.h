/* Source files and spans. A span is a byte range of one file; line and column are computed only
 * when something is printed. File 0 means "no place". */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/arena.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct Span {
    uint32_t file, lo, hi;
} Span;

typedef struct Sources Sources;

Sources *sources_new(Arena *a);
/* Adds text under a display name (a path relative to where tlec was asked to be relative to).
 * The text must outlive the Sources. Returns the file id (>= 1). */
uint32_t sources_add(Sources *s, const char *name, const char *text, size_t len);
/* How outputs name the file at `path`: without `root` in front, which may be NULL, and without
 * "./", so that they do not depend on where the tree lies. */
const char *source_display_name(const char *root, const char *path);
const char *source_name(const Sources *s, uint32_t file);
const char *source_text(const Sources *s, uint32_t file, size_t *len_out);
/* 1-based line and byte column of an offset. */
void source_place(const Sources *s, uint32_t file, uint32_t offset, uint32_t *line, uint32_t *col);
Span span_join(Span a, Span b);

#endif
