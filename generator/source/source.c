/* Source files: texts and, per file, the table of offsets at which lines start.
 *
 * Lines end as in Python: LF, CR LF or a lone CR. A byte order mark at the start of a file belongs
 * to no column. */
#include "source/source.h"

#include "base/vec.h"

#include <string.h>

typedef struct File {
    const char *name, *text;
    size_t len;
    VEC(uint32_t) line_starts;
} File;

struct Sources {
    Arena *arena;
    VEC(File) files; /* files.data[0] is "no place" */
};

Sources *sources_new(Arena *a) {
    Sources *s = arena_new_of(a, Sources);
    s->arena = a;
    vec_push(a, &s->files, ((File){.name = "", .text = ""}));
    return s;
}

static void find_lines(Arena *a, File *f) {
    bool has_mark = f->len >= 3 && !memcmp(f->text, "\xef\xbb\xbf", 3);
    vec_push(a, &f->line_starts, has_mark ? 3 : 0);
    for (size_t i = 0; i < f->len && i < UINT32_MAX; i++) {
        bool crlf = f->text[i] == '\r' && i + 1 < f->len && f->text[i + 1] == '\n';
        if (f->text[i] == '\n' || (f->text[i] == '\r' && !crlf))
            vec_push(a, &f->line_starts, (uint32_t)i + 1);
    }
}

uint32_t sources_add(Sources *s, const char *name, const char *text, size_t len) {
    File f = {.name = arena_strndup(s->arena, name, strlen(name)), .text = text, .len = len};
    find_lines(s->arena, &f);
    vec_push(s->arena, &s->files, f);
    return s->files.len - 1;
}

const char *source_display_name(const char *root, const char *path) {
    size_t n = root ? strlen(root) : 0;
    while (n && root[n - 1] == '/')
        n--;
    if (n && !strncmp(path, root, n) && path[n] == '/')
        path += n + 1;
    while (!strncmp(path, "./", 2))
        path += 2;
    return path;
}

const char *source_name(const Sources *s, uint32_t file) {
    return s->files.data[file].name;
}

const char *source_text(const Sources *s, uint32_t file, size_t *len_out) {
    if (len_out)
        *len_out = s->files.data[file].len;
    return s->files.data[file].text;
}

void source_place(const Sources *s, uint32_t file, uint32_t offset, uint32_t *line, uint32_t *col) {
    const File *f = &s->files.data[file];
    uint32_t lo = 0, hi = f->line_starts.len;
    while (lo + 1 < hi) { /* the line is in [lo, hi) */
        uint32_t mid = lo + (hi - lo) / 2;
        if (f->line_starts.data[mid] <= offset)
            lo = mid;
        else
            hi = mid;
    }
    uint32_t start = hi ? f->line_starts.data[lo] : 0;
    *line = hi ? lo + 1 : 0;
    *col = !hi ? 0 : offset > start ? offset - start + 1 : 1;
}

Span span_join(Span a, Span b) {
    if (!a.file)
        return b;
    if (!b.file || a.file != b.file)
        return a;
    return (Span){a.file, a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}
