/* Parser: tokens, errors, nodes, and the entry point. */
#include "parse/parse_impl.h"

#include <stdio.h>
#include <string.h>

enum { FOUND_MAX = 64, FOUND_BYTES = 40 };

const Token *parse_token(const Parser *p) {
    return &p->tokens.list.data[p->at];
}

TokKind parse_peek(const Parser *p, uint32_t ahead) {
    if (p->failed)
        return TOK_NEWLINE;
    uint32_t left = p->tokens.list.len - p->at;
    return ahead < left ? p->tokens.list.data[p->at + ahead].kind : TOK_END;
}

Span parse_token_span(const Parser *p, uint32_t token) {
    const Token *t = &p->tokens.list.data[token];
    return (Span){p->file, t->lo, t->hi};
}

Span parse_span_from(const Parser *p, uint32_t first) {
    Span s = parse_token_span(p, first);
    if (p->at > first)
        s.hi = p->tokens.list.data[p->at - 1].hi;
    return s;
}

bool parse_accept(Parser *p, TokKind kind) {
    if (parse_kind(p) != kind)
        return false;
    if (!p->failed)
        p->at++;
    return true;
}

/* How a message names the current token: 'text' where the text is short and says it best. */
static const char *found(const Parser *p, char buffer[FOUND_MAX]) {
    const Token *t = parse_token(p);
    uint32_t len = t->hi - t->lo;
    bool has_text = t->kind >= TOK_NAME && t->kind != TOK_FSTRING_START &&
                    t->kind != TOK_FSTRING_MIDDLE && t->kind != TOK_FSTRING_END;
    if (t->kind == TOK_INDENT)
        return "a deeper indented line";
    if (!has_text || !len || len > FOUND_BYTES)
        return tok_text(t->kind);
    const char *text = source_text(p->t->sources, p->file, NULL) + t->lo;
    if (memchr(text, '\n', len))
        return tok_text(t->kind);
    snprintf(buffer, FOUND_MAX, t->kind == TOK_STRING ? "the string %.*s" : "'%.*s'", (int)len,
             text);
    return buffer;
}

/* Marks the statement as failed; false when the fault has been reported already. */
static bool fail(Parser *p) {
    if (p->failed)
        return false;
    bool unread = parse_token(p)->kind == TOK_ERROR;
    p->failed = true;
    return !unread;
}

void parse_expected(Parser *p, const char *what) {
    char buffer[FOUND_MAX];
    const char *instead = found(p, buffer);
    if (fail(p))
        diag_error(p->d, DIAG_PARSE_EXPECTED, parse_token_span(p, p->at), "expected %s, found %s",
                   what, instead);
}

bool parse_expect(Parser *p, TokKind kind, const char *context) {
    if (parse_accept(p, kind))
        return true;
    char what[128];
    const char *quote = kind == TOK_NEWLINE ? "" : "'";
    snprintf(what, sizeof what, "%s%s%s %s", quote, tok_text(kind), quote, context);
    parse_expected(p, what);
    return false;
}

void parse_expect_close(Parser *p, TokKind kind, uint32_t open) {
    if (p->failed || parse_accept(p, kind))
        return;
    char context[32];
    bool unread = parse_token(p)->kind == TOK_ERROR;
    TokKind opening = p->tokens.list.data[open].kind;
    snprintf(context, sizeof context, "to close '%s'", tok_text(opening));
    parse_expect(p, kind, context);
    if (!unread)
        diag_note(p->d, parse_token_span(p, open), "'%s' opened here", tok_text(opening));
}

Str parse_name(Parser *p, const char *what) {
    if (parse_kind(p) != TOK_NAME) {
        parse_expected(p, what);
        return 0;
    }
    return p->tokens.list.data[p->at++].value.text;
}

void parse_unmodelled(Parser *p, Span at, const char *what) {
    p->unmodelled = true;
    if (p->in_jit && !p->failed)
        diag_error(p->d, DIAG_PARSE_UNSUPPORTED, at, "%s is not supported in a jit function", what);
}

static void too_deep(Parser *p, Span at, const char *what, unsigned limit) {
    if (fail(p))
        diag_error(p->d, DIAG_PARSE_DEPTH, at, "%s, more than the limit of %u", what, limit);
}

bool parse_enter(Parser *p) {
    p->nesting++;
    if (p->nesting <= MAX_NESTING)
        return !p->failed;
    too_deep(p, parse_token_span(p, p->at), "nesting is too deep", MAX_NESTING);
    return false;
}

void parse_leave(Parser *p) {
    p->nesting--;
}

static void measure(const Parser *p, AstId id, NodeSize *sum) {
    NodeSize child = p->sizes.data[id];
    if (child.depth >= sum->depth)
        sum->depth = child.depth + 1;
    sum->nodes = child.nodes > UINT32_MAX - sum->nodes ? UINT32_MAX : sum->nodes + child.nodes;
}

static void measure_list(const Parser *p, AstList l, NodeSize *sum) {
    for (uint32_t i = 0; i < l.len; i++)
        measure(p, ast_item(p->t, l, i), sum);
}

static bool is_chain(const Parser *p, const AstNode *n) {
    if (n->kind != AST_BOOLEAN || n->op != AST_OP_AND)
        return false;
    const AstNode *b = ast_node(p->t, n->b);
    return b->kind == AST_COMPARE;
}

AstId parse_add(Parser *p, AstNode node) {
    NodeSize size = {1, 1};
    const AstId children[] = {node.a, node.b, node.c, node.d};
    for (int i = 0; i < 4; i++)
        measure(p, children[i], &size);
    measure_list(p, node.list, &size);
    measure_list(p, node.list2, &size);
    if (size.depth > MAX_TREE_DEPTH)
        too_deep(p, node.span, "the syntax tree is too deep here", MAX_TREE_DEPTH);
    if (is_chain(p, &node) && size.nodes > MAX_CHAIN_NODES)
        too_deep(p, node.span, "this comparison has too many parts", MAX_CHAIN_NODES);
    AstId id = ast_add(p->t, node.kind, node.span);
    *ast_node(p->t, id) = node;
    vec_push(p->t->arena, &p->sizes, size);
    return id;
}

AstList parse_take(Parser *p, uint32_t mark) {
    AstList l = ast_list(p->t, p->stack.data + mark, p->stack.len - mark);
    p->stack.len = mark;
    return l;
}

AstId parse_placeholder(Parser *p, Span at) {
    return parse_add(p, (AstNode){.kind = AST_ELLIPSIS, .span = at});
}

static void keep_hints(Parser *p) {
    for (uint32_t i = 0; i < p->tokens.hints.len; i++) {
        LineHint h = p->tokens.hints.data[i];
        vec_push(p->t->arena, &p->t->hints, ((AstHint){h.line, h.text}));
    }
}

static AstId parse_module(Parser *p, uint32_t len) {
    while (parse_kind(p) != TOK_END)
        parse_statement(p);
    Span all = {p->file, 0, len};
    AstList body = parse_take(p, 0);
    return parse_add(p, (AstNode){.kind = AST_MODULE, .span = all, .list = body});
}

bool parse_file(Ast *t, uint32_t file, Diag *d) {
    uint32_t errors = diag_errors(d);
    size_t len;
    source_text(t->sources, file, &len);
    Parser p = {.t = t, .d = d, .file = file};
    vec_reserve(t->arena, &p.sizes, t->nodes.len);
    p.sizes.len = t->nodes.len; /* nodes that are there already are no part of this tree */
    p.sizes.data[0] = (NodeSize){0, 0};
    if (len > INT32_MAX) {
        diag_error(d, DIAG_PARSE_DEPTH, (Span){file, 0, 0},
                   "the file has %zu bytes, more than the limit of %d", len, INT32_MAX);
        t->root = parse_add(&p, (AstNode){.kind = AST_MODULE, .span = {file, 0, 0}});
        return false;
    }
    t->hints.len = 0;
    lex_file(t->arena, t->strings, t->sources, file, d, &p.tokens);
    keep_hints(&p);
    t->root = parse_module(&p, (uint32_t)len);
    return diag_errors(d) == errors;
}
