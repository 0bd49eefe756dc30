/* The syntax tree of the Python subset that kernels are written in. Nodes are ids into one array;
 * 0 = none. A node has a kind, a span, and up to four children by role (see ast.def); lists of
 * children are AstLists. Whole files parse: host code that is outside the subset becomes
 * AST_OPAQUE_STMT nodes (so `import torch`, classes, decorators and test code do not matter);
 * inside @triton.jit functions the same syntax is a diagnostic.
 *
 * The statements in the blocks of an opaque statement (try, async, match, ...) are in its list, so
 * a walk over the tree finds every function of the file. Operands of a comparison chain are shared
 * by two nodes; otherwise the nodes are a tree. No path is longer than the parser's depth limit,
 * so recursion over the tree is safe. */
#ifndef AST_AST_H
#define AST_AST_H

#include "base/vec.h"
#include "source/diag.h"

typedef uint32_t AstId;

typedef enum AstKind {
    AST_NONE = 0,
#define X(name, roles, doc) AST_##name,
#include "ast/ast.def"
#undef X
    AST_KIND_COUNT
} AstKind;

typedef enum AstOp { /* binary, unary, compare and boolean operators, as written */
                     AST_OP_NONE = 0,
#define X(name, text) AST_OP_##name,
#include "ast/op.def"
#undef X
                     AST_OP_COUNT
} AstOp;

typedef struct AstList {
    uint32_t at, len; /* into Ast.lists */
} AstList;

typedef struct AstNode {
    AstKind kind;
    AstOp op;
    Span span;
    Str name; /* identifier, attribute, keyword, string value, operator-free text */
    AstId a, b, c, d;
    AstList list, list2;
    union {
        int64_t i; /* INT (value); BOOL 0/1 */
        double f;  /* FLOAT */
    } value;
} AstNode;

/* The text of a comment `# @hint: text` on a line of the file. */
typedef struct AstHint {
    uint32_t line;
    Str text;
} AstHint;

typedef struct Ast {
    Arena *arena;
    Interner *strings;
    Sources *sources;
    VEC(AstNode) nodes; /* nodes.data[0] is the none node */
    VEC(AstId) lists;
    AstId root;         /* MODULE */
    VEC(AstHint) hints; /* by ascending line */
} Ast;

Ast *ast_new(Arena *a, Interner *strings, Sources *sources);
AstId ast_add(Ast *t, AstKind kind, Span span);
AstList ast_list(Ast *t, const AstId *items, uint32_t len);

static inline AstNode *ast_node(const Ast *t, AstId id) {
    return &t->nodes.data[id];
}
static inline AstId ast_item(const Ast *t, AstList l, uint32_t i) {
    return t->lists.data[l.at + i];
}
/* The hint on a line, 0 when there is none. */
Str ast_hint(const Ast *t, uint32_t line);
const char *ast_kind_name(AstKind kind);
const char *ast_op_text(AstOp op);
/* One node a line, indented, with spans as line:col. Deterministic. */
void ast_print(const Ast *t, AstId id, StrBuf *out);

#endif
