/* The state of the parser, shared by its files: parse.c (tokens, errors, nodes), parse_expr.c and
 * parse_atom.c (expressions), parse_stmt.c (simple statements), parse_block.c (compound ones).
 *
 * Failure: the first thing that cannot be parsed in a statement is reported and sets `failed`.
 * From then on the current token reads as NEWLINE, so every rule ends by itself; the statement
 * loop clears the flag at the end of the line. Rules therefore need no error paths.
 *
 * Host code: a rule that meets syntax which the tree cannot express calls parse_unmodelled. In a
 * jit function that is an error; elsewhere it makes the statement opaque. */
#ifndef PARSE_PARSE_IMPL_H
#define PARSE_PARSE_IMPL_H

#include "lex/lex.h"
#include "parse/parse.h"

enum {
    MAX_NESTING = 200,         /* of brackets, blocks and prefix operators, as in CPython */
    MAX_TREE_DEPTH = 1000,     /* of the tree; long chains such as a+b+... count */
    MAX_CHAIN_NODES = 1 << 16, /* of a comparison chain, whose operands are shared */
};

/* Of the tree below a node, shared operands counted each time. */
typedef struct NodeSize {
    uint32_t depth, nodes;
} NodeSize;

typedef struct Parser {
    Ast *t;
    Diag *d;
    Tokens tokens;
    uint32_t file, at;
    VEC(AstId) stack;      /* children gathered for the lists being parsed */
    VEC(NodeSize) sizes;   /* by node */
    VEC(uint32_t) open;    /* tokens of the brackets open while tokens are skipped */
    VEC(Str) triton_names; /* names that imports bind to triton or a part of it */
    uint32_t nesting;
    bool foreign_jit; /* `jit` was imported from somewhere else */
    bool failed;
    bool unmodelled; /* the statement holds host syntax that the tree cannot express */
    bool in_jit;
} Parser;

/* Tokens */
static inline TokKind parse_kind(const Parser *p) {
    return p->failed ? TOK_NEWLINE : p->tokens.list.data[p->at].kind;
}
const Token *parse_token(const Parser *p);
/* The kind of a later token, TOK_END past the end. */
TokKind parse_peek(const Parser *p, uint32_t ahead);
bool parse_accept(Parser *p, TokKind kind);
/* `context` continues the sentence: "expected ':' after the condition". */
bool parse_expect(Parser *p, TokKind kind, const char *context);
/* The bracket that closes the one at token `open`. */
void parse_expect_close(Parser *p, TokKind kind, uint32_t open);
/* A NAME; 0 after an error. */
Str parse_name(Parser *p, const char *what);
Span parse_token_span(const Parser *p, uint32_t token);
/* From the first byte of token `first` to the last byte consumed. */
Span parse_span_from(const Parser *p, uint32_t first);

/* Errors */
/* "expected <what>, found <the current token>"; fails. */
void parse_expected(Parser *p, const char *what);
void parse_unmodelled(Parser *p, Span at, const char *what);
/* Counts one level of nesting; false (and failed) past the limit. Paired with parse_leave. */
bool parse_enter(Parser *p);
void parse_leave(Parser *p);

/* Nodes */
AstId parse_add(Parser *p, AstNode node);
static inline void parse_push(Parser *p, AstId id) {
    vec_push(p->t->arena, &p->stack, id);
}
/* The list of everything pushed since the stack had length `mark`; pops it. */
AstList parse_take(Parser *p, uint32_t mark);
/* Stands for syntax that was reported or makes its statement opaque. */
AstId parse_placeholder(Parser *p, Span at);

/* Expressions */
AstId parse_expression(Parser *p);
/* `or` and all that binds tighter: no conditional expression, no lambda. */
AstId parse_disjunction(Parser *p);
/* With `:=`. */
AstId parse_named(Parser *p);
/* a, b, *c: a TUPLE when there is a comma. */
AstId parse_tuple(Parser *p);
/* parse_tuple or `yield`. */
AstId parse_value(Parser *p);
/* Targets of for and comprehensions: up to `in`. */
AstId parse_targets(Parser *p);
/* Operators from `|` down: a target, or an operand of a comparison. */
AstId parse_operand(Parser *p);
AstId parse_atom(Parser *p);
AstId parse_yield(Parser *p);
/* At `for` or `async`: the clauses after an element; kind as in ast.def. */
AstId parse_comprehension(Parser *p, AstId element, int64_t kind, uint32_t first);
/* After '(': the arguments up to and with ')'. */
void parse_arguments(Parser *p, uint32_t open, AstList *positional, AstList *keywords);
/* Parameters of def (annotated) or lambda up to `end`, which stays. */
AstList parse_parameters(Parser *p, TokKind end, bool annotated);
bool parse_begins_expression(TokKind kind);

/* Statements */
/* One line of simple statements or one compound statement; pushes what it yields. */
void parse_statement(Parser *p);
/* simple (';' simple)* [';'] NEWLINE */
void parse_simple_line(Parser *p);
/* Parses a compound statement when one begins here. */
bool parse_compound(Parser *p, AstId *id_out);
/* After a failure: goes to the next line; a block that hangs on the failed one is still parsed, for
 * its errors. */
void parse_recover(Parser *p);
/* Reports what is not a target of an assignment. */
void parse_check_target(Parser *p, AstId id);
AstId parse_opaque(Parser *p, uint32_t first, AstList body);
/* Whether a decorator makes its function a jit function: `jit` of triton, called or not. */
bool parse_is_jit(const Parser *p, AstId decorator);
/* Skips one token, or a whole bracket. */
void parse_skip_one(Parser *p);
/* Goes to a token of the kind outside brackets, at most to the end of the line. */
void parse_skip_to(Parser *p, TokKind kind);

#endif
