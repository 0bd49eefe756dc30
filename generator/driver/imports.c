/* Finding imported files, see imports.h. Imports count wherever they stand in a file: more files
 * than a compilation reads do no harm, one too few would leave a stale result. */
#include "driver/imports.h"

#include "base/file.h"
#include "base/sha256.h"
#include "parse/parse.h"
#include "sema/sema.h"

#include <stdlib.h>
#include <string.h>

typedef struct Finder {
    Arena *arena;
    const char *root;
    SourceSet set;
} Finder;

static bool has_file(const Finder *f, const char *path) {
    for (uint32_t i = 0; i < f->set.files.len; i++)
        if (!strcmp(f->set.files.data[i].path, path))
            return true;
    return false;
}

static void add_module(Finder *f, const char *dotted) {
    const char *path = sema_import_path(f->arena, f->root, dotted);
    SourceText file = {.path = path};

    if (!path || has_file(f, path))
        return;
    file.text = file_read(f->arena, path, &file.len);
    if (file.text)
        vec_push(f->arena, &f->set.files, file);
}

/* `a.b.c` may read a.py, a/b.py and a/b/c.py. */
static void add_modules(Finder *f, const char *dotted) {
    for (const char *dot = strchr(dotted, '.'); dot; dot = strchr(dot + 1, '.'))
        add_module(f, arena_strndup(f->arena, dotted, (size_t)(dot - dotted)));
    add_module(f, dotted);
}

static void add_imports(Finder *f, const Ast *t, const AstNode *n) {
    for (uint32_t i = 0; i < n->list.len; i++) {
        const char *name = str_text(t->strings, ast_node(t, ast_item(t, n->list, i))->name);

        if (n->kind == AST_IMPORT_FROM)
            name = str_format(f->arena, "%s.%s", str_text(t->strings, n->name), name);
        add_modules(f, name);
    }
    if (n->kind == AST_IMPORT_FROM) /* for `from a import *` too */
        add_modules(f, str_text(t->strings, n->name));
}

static void scan(Finder *f, SourceText file) {
    Sources *sources = sources_new(f->arena);
    Ast *t = ast_new(f->arena, interner_new(f->arena), sources);

    parse_file(t, sources_add(sources, file.path, file.text, file.len),
               diag_new(f->arena, sources));
    for (AstId id = 1; id < t->nodes.len; id++) {
        const AstNode *n = ast_node(t, id);

        if (n->kind == AST_IMPORT || n->kind == AST_IMPORT_FROM)
            add_imports(f, t, n);
    }
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const SourceText *)a)->path, ((const SourceText *)b)->path);
}

SourceSet imports_find(Arena *a, const char *path, const char *text, size_t len,
                       const char *import_root) {
    Finder f = {.arena = a, .root = import_root};

    vec_push(a, &f.set.files, ((SourceText){path, text, len}));
    for (uint32_t i = 0; import_root && i < f.set.files.len; i++)
        scan(&f, f.set.files.data[i]);
    qsort(f.set.files.data + 1, f.set.files.len - 1, sizeof(SourceText), by_path);
    return f.set;
}

void imports_hash(const SourceSet *set, char hex[65]) {
    Sha256 h;

    sha256_init(&h);
    for (uint32_t i = 0; i < set->files.len; i++)
        sha256_add(&h, set->files.data[i].text, set->files.data[i].len);
    sha256_end_hex(&h, hex);
}
