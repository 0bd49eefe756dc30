/* Parser: compound statements. A header that holds host syntax which the tree cannot express makes
 * the statement opaque; what its blocks hold is kept in either case. */
#include "parse/parse_impl.h"

#include <stdio.h>
#include <string.h>

static AstId add_from(Parser *p, uint32_t first, AstNode n) {
    n.span = parse_span_from(p, first);
    return parse_add(p, n);
}

/* Whether the header just parsed cannot be expressed; clears the mark for the statements below. */
static bool take_unmodelled(Parser *p) {
    bool was = p->unmodelled;
    p->unmodelled = false;
    return was;
}

/* What follows the header is a statement of its own, so nothing is skipped. */
static void missing_block(Parser *p, uint32_t header) {
    char what[64];
    Span at = parse_token_span(p, header);
    const char *text = source_text(p->t->sources, p->file, NULL);
    snprintf(what, sizeof what, "an indented block after '%.*s'", (int)(at.hi - at.lo),
             text + at.lo);
    parse_expected(p, what);
    p->failed = false;
}

/* Pushes the statements of an indented block or of the rest of the line, after the ':'. */
static void parse_statements(Parser *p, uint32_t header) {
    if (parse_kind(p) != TOK_NEWLINE) {
        parse_simple_line(p);
        return;
    }
    if (p->failed)
        return;
    p->at++;
    if (parse_kind(p) != TOK_INDENT) {
        missing_block(p, header);
        return;
    }
    p->at++;
    while (!p->failed && parse_kind(p) != TOK_DEDENT && parse_kind(p) != TOK_END)
        parse_statement(p);
    parse_accept(p, TOK_DEDENT);
}

/* ':' block. `context` ends the sentence "expected ':' ...". */
static AstList parse_block(Parser *p, uint32_t header, const char *context) {
    uint32_t mark = p->stack.len;
    parse_expect(p, TOK_COLON, context);
    if (parse_enter(p))
        parse_statements(p, header);
    parse_leave(p);
    return parse_take(p, mark);
}

/* The span of a compound statement ends with its last statement, not with the line end after it. */
static AstId add_block(Parser *p, uint32_t first, AstNode n) {
    n.span = parse_token_span(p, first);
    for (uint32_t i = p->at; i-- > first;) {
        TokKind kind = p->tokens.list.data[i].kind;
        if (kind == TOK_NEWLINE || kind == TOK_INDENT || kind == TOK_DEDENT)
            continue;
        n.span.hi = p->tokens.list.data[i].hi;
        break;
    }
    return parse_add(p, n);
}

static AstList join_lists(Parser *p, AstList a, AstList b) {
    uint32_t mark = p->stack.len;
    for (uint32_t i = 0; i < a.len; i++)
        parse_push(p, ast_item(p->t, a, i));
    for (uint32_t i = 0; i < b.len; i++)
        parse_push(p, ast_item(p->t, b, i));
    return parse_take(p, mark);
}

/* A statement with blocks, or its opaque form when the header cannot be expressed. */
static AstId finish_block(Parser *p, uint32_t first, AstNode n, bool opaque, AstList blocks) {
    if (!opaque)
        return add_block(p, first, n);
    Span s = parse_token_span(p, first);
    const char *text = source_text(p->t->sources, p->file, NULL);
    Str name = str_intern(p->t->strings, text + s.lo, s.hi - s.lo);
    return add_block(p, first, (AstNode){.kind = AST_OPAQUE_STMT, .name = name, .list = blocks});
}

static AstList parse_else(Parser *p) {
    uint32_t header = p->at;
    return parse_accept(p, TOK_ELSE) ? parse_block(p, header, "after 'else'") : (AstList){0, 0};
}

typedef struct Branch {
    uint32_t first;
    AstId condition;
    AstList body;
    bool opaque;
} Branch;

static Branch parse_branch(Parser *p) {
    Branch b = {.first = p->at++};
    b.condition = parse_named(p);
    b.opaque = take_unmodelled(p);
    b.body = parse_block(p, b.first, "after the condition");
    return b;
}

/* if: 'if' named block ('elif' named block)* ['else' block]. Built from the end, each elif being
 * the else of the branch before it. */
static AstId parse_if(Parser *p) {
    VEC(Branch) branches = {0};
    do
        vec_push(p->t->arena, &branches, parse_branch(p));
    while (parse_kind(p) == TOK_ELIF);
    AstList otherwise = parse_else(p);
    AstId id = 0;
    for (uint32_t i = branches.len; i-- > 0;) {
        Branch b = branches.data[i];
        AstNode n = {.kind = AST_IF, .a = b.condition, .list = b.body, .list2 = otherwise};
        AstList all = b.opaque ? join_lists(p, b.body, otherwise) : otherwise;
        id = finish_block(p, b.first, n, b.opaque, all);
        otherwise = ast_list(p->t, &id, 1);
    }
    return id;
}

static AstId parse_while(Parser *p) {
    uint32_t first = p->at++;
    AstNode n = {.kind = AST_WHILE, .a = parse_named(p)};
    bool opaque = take_unmodelled(p);
    n.list = parse_block(p, first, "after the condition");
    n.list2 = parse_else(p);
    return finish_block(p, first, n, opaque, join_lists(p, n.list, n.list2));
}

/* for: 'for' targets 'in' tuple block ['else' block] */
static AstId parse_for(Parser *p) {
    uint32_t first = p->at++;
    AstNode n = {.kind = AST_FOR, .a = parse_targets(p)};
    parse_check_target(p, n.a);
    parse_expect(p, TOK_IN, "after the loop variable");
    n.b = parse_tuple(p);
    bool opaque = take_unmodelled(p);
    n.list = parse_block(p, first, "after the iterable");
    n.list2 = parse_else(p);
    return finish_block(p, first, n, opaque, join_lists(p, n.list, n.list2));
}

/* item: expression ['as' target] */
static AstId parse_with_item(Parser *p) {
    uint32_t first = p->at;
    AstId value = parse_named(p);
    if (!parse_accept(p, TOK_AS))
        return value;
    uint32_t mark = p->stack.len;
    AstId target = parse_operand(p);
    parse_check_target(p, target);
    parse_push(p, target);
    AstList targets = parse_take(p, mark);
    return add_from(p, first, (AstNode){.kind = AST_ASSIGN, .list = targets, .a = value});
}

/* Whether the '(' here encloses all items of the `with`: it holds an `as`, and ':' follows it. */
static bool with_in_parens(const Parser *p) {
    uint32_t depth = 0;
    bool has_as = false;
    for (uint32_t i = 0;; i++) {
        TokKind kind = parse_peek(p, i);
        if (kind == TOK_NEWLINE || kind == TOK_END)
            return false;
        depth += kind == TOK_LPAREN || kind == TOK_LBRACKET || kind == TOK_LBRACE;
        has_as = has_as || (kind == TOK_AS && depth == 1);
        bool closes = kind == TOK_RPAREN || kind == TOK_RBRACKET || kind == TOK_RBRACE;
        if (closes && --depth == 0)
            return has_as && parse_peek(p, i + 1) == TOK_COLON;
    }
}

static void parse_with_items(Parser *p) {
    uint32_t open = p->at;
    bool parens = parse_kind(p) == TOK_LPAREN && with_in_parens(p);
    if (parens)
        p->at++;
    do
        parse_push(p, parse_with_item(p));
    while (parse_accept(p, TOK_COMMA) && !(parens && parse_kind(p) == TOK_RPAREN));
    if (parens)
        parse_expect_close(p, TOK_RPAREN, open);
}

static AstId parse_with(Parser *p) {
    uint32_t first = p->at++, mark = p->stack.len;
    parse_with_items(p);
    AstNode n = {.kind = AST_WITH, .list = parse_take(p, mark)};
    bool opaque = take_unmodelled(p);
    n.list2 = parse_block(p, first, "after the items of 'with'");
    return finish_block(p, first, n, opaque, n.list2);
}

/* ('@' named NEWLINE)+. They run on the host, so host syntax is allowed in them. */
static AstId parse_decorators(Parser *p, bool *jit) {
    uint32_t first = p->at, mark = p->stack.len;
    bool outer = p->in_jit;
    p->in_jit = false;
    while (parse_accept(p, TOK_MATMUL)) {
        AstId id = parse_named(p);
        *jit = *jit || parse_is_jit(p, id);
        parse_push(p, id);
        parse_expect(p, TOK_NEWLINE, "after the decorator");
    }
    p->in_jit = outer;
    AstList all = parse_take(p, mark);
    if (parse_kind(p) != TOK_DEF && parse_kind(p) != TOK_CLASS && parse_kind(p) != TOK_ASYNC)
        parse_expected(p, "'def' or 'class' after the decorators");
    return add_block(p, first, (AstNode){.kind = AST_DECORATORS, .list = all});
}

/* Type parameters `[T: bound, *Ts]` of a generic function or class: skipped. */
static void skip_type_parameters(Parser *p) {
    if (parse_kind(p) != TOK_LBRACKET)
        return;
    if (p->in_jit)
        parse_unmodelled(p, parse_token_span(p, p->at), "a type parameter list");
    parse_skip_one(p);
}

/* def: 'def' NAME '(' parameters ')' ['->' expression] block */
static AstId parse_def(Parser *p, uint32_t first, AstId decorators, bool jit) {
    uint32_t header = p->at++;
    bool outer = p->in_jit;
    p->in_jit = outer || jit;
    AstNode n = {.kind = AST_FUNCTION, .b = decorators};
    n.name = parse_name(p, "the name of the function after 'def'");
    skip_type_parameters(p);
    uint32_t open = p->at;
    parse_expect(p, TOK_LPAREN, "after the name of the function");
    n.list = parse_parameters(p, TOK_RPAREN, true);
    parse_expect_close(p, TOK_RPAREN, open);
    n.a = parse_accept(p, TOK_ARROW) ? parse_expression(p) : 0;
    take_unmodelled(p); /* a host function stays one; placeholders stand in its header */
    n.list2 = parse_block(p, header, "after the parameters");
    n.value.i = p->in_jit;
    p->in_jit = outer;
    return add_block(p, first, n);
}

/* class: 'class' NAME ['(' arguments ')'] block */
static AstId parse_class(Parser *p, uint32_t first, AstId decorators) {
    uint32_t header = p->at++;
    AstNode n = {.kind = AST_CLASS, .b = decorators};
    AstList keywords = {0, 0};
    n.name = parse_name(p, "the name of the class");
    skip_type_parameters(p);
    uint32_t open = p->at;
    if (parse_accept(p, TOK_LPAREN))
        parse_arguments(p, open, &n.list, &keywords);
    take_unmodelled(p);
    n.list2 = parse_block(p, header, "after the name of the class");
    return add_block(p, first, n);
}

/* A header that is skipped up to its ':', and its block, whose statements are pushed. */
static void parse_skipped_block(Parser *p) {
    uint32_t header = p->at++;
    parse_skip_to(p, TOK_COLON);
    AstList body = parse_block(p, header, "after the head of the statement");
    for (uint32_t i = 0; i < body.len; i++)
        parse_push(p, ast_item(p->t, body, i));
}

static AstId finish_skipped(Parser *p, uint32_t first, uint32_t mark) {
    return finish_block(p, first, (AstNode){.kind = AST_OPAQUE_STMT}, true, parse_take(p, mark));
}

static bool continues_try(TokKind kind) {
    return kind == TOK_EXCEPT || kind == TOK_ELSE || kind == TOK_FINALLY;
}

static AstId parse_try(Parser *p) {
    uint32_t first = p->at, mark = p->stack.len;
    parse_unmodelled(p, parse_token_span(p, first), "'try'");
    take_unmodelled(p);
    do
        parse_skipped_block(p);
    while (continues_try(parse_kind(p)));
    return finish_skipped(p, first, mark);
}

/* async: 'async' ('def' | 'with' | 'for') */
static AstId parse_async(Parser *p, uint32_t first) {
    uint32_t mark = p->stack.len;
    parse_unmodelled(p, parse_token_span(p, p->at), "'async'");
    take_unmodelled(p);
    TokKind what = parse_peek(p, 1);
    p->at++;
    if (what != TOK_DEF && what != TOK_WITH && what != TOK_FOR)
        parse_expected(p, "'def', 'with' or 'for' after 'async'");
    else
        parse_skipped_block(p);
    if (what == TOK_FOR && parse_kind(p) == TOK_ELSE)
        parse_skipped_block(p);
    return finish_skipped(p, first, mark);
}

static bool at_word(const Parser *p, const char *word) {
    return parse_kind(p) == TOK_NAME &&
           !strcmp(str_text(p->t->strings, parse_token(p)->value.text), word);
}

/* `match` begins a statement when its line ends with a ':' before an indented `case`. */
static bool at_match(const Parser *p) {
    if (!at_word(p, "match"))
        return false;
    for (uint32_t i = 1;; i++) {
        TokKind kind = parse_peek(p, i);
        if (kind == TOK_SEMICOLON || kind == TOK_END)
            return false;
        if (kind == TOK_NEWLINE)
            return parse_peek(p, i - 1) == TOK_COLON && parse_peek(p, i + 1) == TOK_INDENT;
    }
}

/* match: 'match' subject ':' NEWLINE INDENT ('case' pattern ':' block)+ DEDENT */
static AstId parse_match(Parser *p) {
    uint32_t first = p->at++, mark = p->stack.len;
    parse_unmodelled(p, parse_token_span(p, first), "'match'");
    take_unmodelled(p);
    parse_skip_to(p, TOK_COLON);
    parse_expect(p, TOK_COLON, "after the subject of 'match'");
    if (!parse_accept(p, TOK_NEWLINE) || !parse_accept(p, TOK_INDENT))
        parse_expected(p, "the end of the line after the subject of 'match'");
    while (at_word(p, "case"))
        parse_skipped_block(p);
    if (!parse_accept(p, TOK_DEDENT))
        parse_expected(p, "'case' in the block of 'match'");
    return finish_skipped(p, first, mark);
}

static AstId parse_decorated(Parser *p) {
    uint32_t first = p->at;
    bool jit = false;
    AstId decorators = parse_decorators(p, &jit);
    take_unmodelled(p);
    if (parse_kind(p) == TOK_DEF)
        return parse_def(p, first, decorators, jit);
    if (parse_kind(p) == TOK_CLASS)
        return parse_class(p, first, decorators);
    return p->failed ? 0 : parse_async(p, first);
}

bool parse_compound(Parser *p, AstId *id_out) {
    p->unmodelled = false;
    switch ((int)parse_kind(p)) {
    case TOK_IF:
        *id_out = parse_if(p);
        return true;
    case TOK_WHILE:
        *id_out = parse_while(p);
        return true;
    case TOK_FOR:
        *id_out = parse_for(p);
        return true;
    case TOK_WITH:
        *id_out = parse_with(p);
        return true;
    case TOK_DEF:
        *id_out = parse_def(p, p->at, 0, false);
        return true;
    case TOK_CLASS:
        *id_out = parse_class(p, p->at, 0);
        return true;
    case TOK_MATMUL:
        *id_out = parse_decorated(p);
        return true;
    case TOK_TRY:
        *id_out = parse_try(p);
        return true;
    case TOK_ASYNC:
        *id_out = parse_async(p, p->at);
        return true;
    default:
        break;
    }
    if (!at_match(p))
        return false;
    *id_out = parse_match(p);
    return true;
}
