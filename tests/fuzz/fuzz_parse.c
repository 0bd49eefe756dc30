/* libFuzzer target: any bytes through the lexer, the parser, the tree printer and the diagnostics.
 * Besides not crashing, it checks that a parse without errors reports success and that every span
 * lies within the file. */
#include "parse/parse.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
    if (!holds)
        abort();
}

static void print_all(const Ast *t, const Diag *d, Arena *a) {
    StrBuf text;
    strbuf_init(&text, a);
    ast_print(t, t->root, &text);
    FILE *sink = fopen("/dev/null", "w");
    if (!sink)
        return;
    diag_print(d, sink, true);
    diag_print_json(d, sink);
    fclose(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *a = arena_new(NULL, NULL);
    Sources *sources = sources_new(a);
    /* An exact copy on the heap, so that a read past the end is seen. */
    char *copy = malloc(size ? size : 1);
    if (!a || !copy)
        abort();
    for (size_t i = 0; i < size; i++)
        copy[i] = (char)data[i];
    uint32_t file = sources_add(sources, "input.py", copy, size);
    Diag *d = diag_new(a, sources);
    Ast *t = ast_new(a, interner_new(a), sources);
    bool ok = parse_file(t, file, d);
    check(ok == (diag_errors(d) == 0));
    for (uint32_t i = 1; i < t->nodes.len; i++) {
        Span s = ast_node(t, i)->span;
        check(s.lo <= s.hi && s.hi <= size);
    }
    print_all(t, d, a);
    free(copy);
    arena_free(a);
    return 0;
}
