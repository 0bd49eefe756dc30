/* The syntax tree: building nodes and lists, names of kinds and operators. */
#include "ast/ast.h"

#include <string.h>

static const char *const kind_names[] = {
    "NONE",
#define X(name, roles, doc) #name,
#include "ast/ast.def"
#undef X
};

static const char *const op_texts[] = {
    "",
#define X(name, text) text,
#include "ast/op.def"
#undef X
};

const char *ast_kind_name(AstKind kind) {
    return kind_names[kind];
}

const char *ast_op_text(AstOp op) {
    return op_texts[op];
}

Ast *ast_new(Arena *a, Interner *strings, Sources *sources) {
    Ast *t = arena_new_of(a, Ast);
    t->arena = a;
    t->strings = strings;
    t->sources = sources;
    vec_push(a, &t->nodes, ((AstNode){.kind = AST_NONE}));
    return t;
}

AstId ast_add(Ast *t, AstKind kind, Span span) {
    vec_push(t->arena, &t->nodes, ((AstNode){.kind = kind, .span = span}));
    return t->nodes.len - 1;
}

AstList ast_list(Ast *t, const AstId *items, uint32_t len) {
    AstList l = {t->lists.len, len};
    vec_reserve(t->arena, &t->lists, t->lists.len + len);
    if (len)
        memcpy(t->lists.data + l.at, items, len * sizeof *items);
    t->lists.len += len;
    return l;
}

Str ast_hint(const Ast *t, uint32_t line) {
    uint32_t lo = 0, hi = t->hints.len;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (t->hints.data[mid].line < line)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < t->hints.len && t->hints.data[lo].line == line ? t->hints.data[lo].text : 0;
}
