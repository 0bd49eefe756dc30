/* Parser: atoms (names, literals, brackets) and what follows them (calls, attributes, subscripts),
 * comprehensions and parameter lists. */
#include "parse/parse_impl.h"

static AstId add_from(Parser *p, uint32_t first, AstNode n) {
    n.span = parse_span_from(p, first);
    return parse_add(p, n);
}

static AstId parse_int(Parser *p) {
    uint32_t first = p->at++;
    const Token *t = &p->tokens.list.data[first];
    if (t->flags & TOK_FLAG_TOO_LARGE || t->value.i > INT64_MAX) {
        parse_unmodelled(p, parse_span_from(p, first), "an integer that does not fit int64");
        return parse_placeholder(p, parse_span_from(p, first));
    }
    AstNode n = {.kind = AST_INT};
    n.value.i = (int64_t)t->value.i;
    return add_from(p, first, n);
}

static AstId parse_float(Parser *p) {
    uint32_t first = p->at++;
    AstNode n = {.kind = AST_FLOAT};
    n.value.f = p->tokens.list.data[first].value.f;
    return add_from(p, first, n);
}

static AstId parse_constant(Parser *p, AstKind kind, int64_t value) {
    uint32_t first = p->at++;
    AstNode n = {.kind = kind};
    n.value.i = value;
    return add_from(p, first, n);
}

static AstId parse_text(Parser *p, Str text, uint32_t first) {
    return add_from(p, first, (AstNode){.kind = AST_STRING, .name = text});
}

static void parse_fstring_parts(Parser *p);

/* field: '{' value ['='] ['!' NAME] [':' spec] '}'. The node keeps conversion and spec as text. */
static void parse_field(Parser *p) {
    uint32_t open = p->at++;
    AstId value = parse_value(p);
    parse_accept(p, TOK_ASSIGN);
    uint32_t lo = parse_token(p)->lo;
    if (parse_accept(p, TOK_BANG))
        parse_name(p, "a conversion 'r', 's' or 'a' after '!'");
    uint32_t mark = p->stack.len;
    if (parse_accept(p, TOK_COLON))
        parse_fstring_parts(p);
    p->stack.len = mark;
    uint32_t hi = parse_token(p)->lo;
    parse_expect_close(p, TOK_RBRACE, open);
    const char *text = source_text(p->t->sources, p->file, NULL);
    Str spec = p->failed ? 0 : str_intern(p->t->strings, text + lo, hi - lo);
    parse_push(p, add_from(p, open, (AstNode){.kind = AST_FORMAT_VALUE, .a = value, .name = spec}));
}

static void parse_fstring_parts(Parser *p) {
    if (parse_enter(p))
        for (;;) {
            if (parse_kind(p) == TOK_LBRACE) {
                parse_field(p);
            } else if (parse_kind(p) == TOK_FSTRING_MIDDLE) {
                uint32_t first = p->at++;
                parse_push(p, parse_text(p, p->tokens.list.data[first].value.text, first));
            } else {
                break;
            }
        }
    parse_leave(p);
}

static void parse_fstring(Parser *p) {
    p->at++;
    parse_fstring_parts(p);
    if (!parse_accept(p, TOK_FSTRING_END))
        parse_expected(p, "the end of the f-string");
}

static AstId join_strings(Parser *p, uint32_t first) {
    StrBuf b;
    strbuf_init(&b, p->t->arena);
    for (uint32_t i = first; i < p->at; i++) {
        Str s = p->tokens.list.data[i].value.text;
        strbuf_add(&b, str_text(p->t->strings, s), str_len(p->t->strings, s));
    }
    return parse_text(p, str_intern(p->t->strings, b.text, b.len), first);
}

/* Adjacent literals are one; with an f-string among them all parts go into one FSTRING. */
static AstId parse_strings(Parser *p) {
    uint32_t first = p->at, mark = p->stack.len;
    bool format = false, bytes = false;
    for (;;) {
        const Token *t = parse_token(p);
        if (parse_kind(p) == TOK_FSTRING_START) {
            format = true;
            parse_fstring(p);
        } else if (parse_kind(p) == TOK_STRING) {
            bytes = bytes || t->flags & TOK_FLAG_BYTES;
            uint32_t at = p->at++;
            parse_push(p, parse_text(p, t->value.text, at));
        } else {
            break;
        }
    }
    AstList parts = parse_take(p, mark);
    if (bytes) {
        parse_unmodelled(p, parse_span_from(p, first), "a bytes literal");
        return parse_placeholder(p, parse_span_from(p, first));
    }
    if (format)
        return add_from(p, first, (AstNode){.kind = AST_FSTRING, .list = parts});
    return parts.len == 1 ? ast_item(p->t, parts, 0) : join_strings(p, first);
}

static bool at_comprehension(const Parser *p) {
    return parse_kind(p) == TOK_FOR || (parse_kind(p) == TOK_ASYNC && parse_peek(p, 1) == TOK_FOR);
}

/* clause: ['async'] 'for' targets 'in' or_test ('if' or_test)* */
static AstId parse_clause(Parser *p) {
    uint32_t first = p->at;
    if (parse_accept(p, TOK_ASYNC))
        parse_unmodelled(p, parse_span_from(p, first), "an asynchronous comprehension");
    parse_expect(p, TOK_FOR, "in a comprehension");
    AstId target = parse_targets(p);
    parse_check_target(p, target);
    parse_expect(p, TOK_IN, "after the target of the comprehension");
    AstId iterable = parse_disjunction(p);
    uint32_t mark = p->stack.len;
    while (parse_accept(p, TOK_IF))
        parse_push(p, parse_disjunction(p));
    AstList conditions = parse_take(p, mark);
    return add_from(p, first,
                    (AstNode){.kind = AST_FOR, .a = target, .b = iterable, .list = conditions});
}

AstId parse_comprehension(Parser *p, AstId element, int64_t kind, uint32_t first) {
    uint32_t mark = p->stack.len, start = p->at;
    while (at_comprehension(p))
        parse_push(p, parse_clause(p));
    if (p->in_jit)
        parse_unmodelled(p, parse_span_from(p, start), "a comprehension");
    AstNode n = {.kind = AST_COMPREHENSION, .a = element, .list = parse_take(p, mark)};
    n.value.i = kind;
    return add_from(p, first, n);
}

static AstId parse_element(Parser *p) {
    uint32_t first = p->at;
    if (!parse_accept(p, TOK_MUL))
        return parse_named(p);
    AstId value = parse_operand(p);
    return add_from(p, first, (AstNode){.kind = AST_STARRED, .a = value});
}

/* Further elements after the first one, up to a bracket that closes. */
static void parse_more_elements(Parser *p) {
    while (parse_accept(p, TOK_COMMA) && parse_begins_expression(parse_kind(p)))
        parse_push(p, parse_element(p));
}

/* '(' [yield | element (comprehension | (',' element)*)] ')' */
static AstId parse_parens(Parser *p) {
    uint32_t open = p->at++, mark = p->stack.len;
    if (parse_accept(p, TOK_RPAREN))
        return add_from(p, open, (AstNode){.kind = AST_TUPLE});
    AstId one = parse_kind(p) == TOK_YIELD ? parse_yield(p) : parse_element(p);
    if (at_comprehension(p)) {
        AstId id = parse_comprehension(p, one, 1, open);
        parse_expect_close(p, TOK_RPAREN, open);
        ast_node(p->t, id)->span = parse_span_from(p, open);
        return id;
    }
    bool is_tuple = parse_kind(p) == TOK_COMMA;
    parse_push(p, one);
    parse_more_elements(p);
    parse_expect_close(p, TOK_RPAREN, open);
    AstList items = parse_take(p, mark);
    return is_tuple ? add_from(p, open, (AstNode){.kind = AST_TUPLE, .list = items}) : one;
}

static AstId parse_list(Parser *p) {
    uint32_t open = p->at++, mark = p->stack.len;
    AstId id = 0;
    if (parse_begins_expression(parse_kind(p)))
        parse_push(p, parse_element(p));
    if (p->stack.len > mark && at_comprehension(p))
        id = parse_comprehension(p, p->stack.data[mark], 0, open);
    else if (p->stack.len > mark)
        parse_more_elements(p);
    parse_expect_close(p, TOK_RBRACKET, open);
    AstList items = parse_take(p, mark);
    if (!id)
        return add_from(p, open, (AstNode){.kind = AST_LIST, .list = items});
    ast_node(p->t, id)->span = parse_span_from(p, open);
    return id;
}

/* item: '**' operand | element [':' expression]. Pushes key and value; true for a pair. */
static bool parse_item(Parser *p) {
    uint32_t first = p->at;
    if (parse_accept(p, TOK_POW)) {
        parse_push(p, 0);
        parse_push(p, parse_operand(p));
        if (p->in_jit)
            parse_unmodelled(p, parse_span_from(p, first), "'**' in a dictionary");
        return true;
    }
    parse_push(p, parse_element(p));
    if (!parse_accept(p, TOK_COLON))
        return false;
    parse_push(p, parse_expression(p));
    return true;
}

/* Splits the key, value pairs on the stack into the two lists of a DICT. */
static AstId make_dict(Parser *p, uint32_t mark, uint32_t first) {
    uint32_t half = (p->stack.len - mark) / 2, end = p->stack.len;
    for (uint32_t i = 0; i < half; i++)
        parse_push(p, p->stack.data[mark + 2 * i]);
    AstList keys = parse_take(p, end);
    for (uint32_t i = 0; i < half; i++)
        parse_push(p, p->stack.data[mark + 2 * i + 1]);
    AstList values = parse_take(p, end);
    p->stack.len = mark;
    return add_from(p, first, (AstNode){.kind = AST_DICT, .list = keys, .list2 = values});
}

static void parse_dict_rest(Parser *p) {
    while (parse_accept(p, TOK_COMMA) && parse_kind(p) != TOK_RBRACE)
        if (!parse_item(p))
            parse_expected(p, "':' after the key of the dictionary");
}

static AstId parse_braces(Parser *p) {
    uint32_t open = p->at++, mark = p->stack.len;
    bool is_dict = parse_kind(p) == TOK_RBRACE || parse_item(p);
    AstId id = 0;
    if (at_comprehension(p)) {
        AstId element = is_dict ? make_dict(p, mark, open + 1) : p->stack.data[mark];
        p->stack.len = mark;
        id = parse_comprehension(p, element, is_dict ? 3 : 2, open);
    } else if (is_dict) {
        parse_dict_rest(p);
    } else {
        parse_more_elements(p);
    }
    parse_expect_close(p, TOK_RBRACE, open);
    if (id)
        ast_node(p->t, id)->span = parse_span_from(p, open);
    else if (is_dict)
        id = make_dict(p, mark, open);
    else
        id = add_from(p, open, (AstNode){.kind = AST_SET, .list = parse_take(p, mark)});
    return id;
}

/* argument: '*' expression | '**' expression | NAME '=' expression | named [comprehension] */
static AstId parse_argument(Parser *p, bool *is_keyword) {
    uint32_t first = p->at;
    *is_keyword = false;
    if (parse_accept(p, TOK_MUL))
        return add_from(p, first, (AstNode){.kind = AST_STARRED, .a = parse_expression(p)});
    bool unpack = parse_kind(p) == TOK_POW;
    bool named = parse_kind(p) == TOK_NAME && parse_peek(p, 1) == TOK_ASSIGN;
    if (unpack || named) {
        *is_keyword = true;
        Str name = named ? parse_token(p)->value.text : 0;
        p->at += named ? 2 : 1;
        AstId value = parse_expression(p);
        return add_from(p, first, (AstNode){.kind = AST_KEYWORD, .name = name, .a = value});
    }
    AstId value = parse_named(p);
    return at_comprehension(p) ? parse_comprehension(p, value, 1, first) : value;
}

/* Moves the keywords among the arguments behind the others, both in order. */
static uint32_t gather_keywords(Parser *p, uint32_t mark) {
    uint32_t end = p->stack.len, kept = mark;
    for (uint32_t i = mark; i < end; i++)
        if (ast_node(p->t, p->stack.data[i])->kind == AST_KEYWORD)
            parse_push(p, p->stack.data[i]);
    uint32_t count = p->stack.len - end;
    for (uint32_t i = mark; i < end; i++)
        if (ast_node(p->t, p->stack.data[i])->kind != AST_KEYWORD)
            p->stack.data[kept++] = p->stack.data[i];
    for (uint32_t i = 0; i < count; i++)
        p->stack.data[kept + i] = p->stack.data[end + i];
    p->stack.len = end;
    return kept;
}

void parse_arguments(Parser *p, uint32_t open, AstList *positional, AstList *keywords) {
    uint32_t mark = p->stack.len;
    bool seen_keyword = false;
    while (!p->failed && parse_kind(p) != TOK_RPAREN) {
        uint32_t first = p->at;
        bool is_keyword;
        AstId id = parse_argument(p, &is_keyword);
        bool starred = ast_node(p->t, id)->kind == AST_STARRED;
        if (seen_keyword && !is_keyword && !starred && !p->failed) {
            p->at = first;
            parse_expected(p, "name=value after a keyword argument");
        }
        seen_keyword = seen_keyword || is_keyword;
        parse_push(p, id);
        if (!parse_accept(p, TOK_COMMA))
            break;
    }
    parse_expect_close(p, TOK_RPAREN, open);
    uint32_t kept = gather_keywords(p, mark);
    *keywords = parse_take(p, kept);
    *positional = parse_take(p, mark);
}

static AstId parse_call(Parser *p, AstId callee, uint32_t first) {
    uint32_t open = p->at++;
    AstNode n = {.kind = AST_CALL, .a = callee};
    parse_arguments(p, open, &n.list, &n.list2);
    return add_from(p, first, n);
}

static bool ends_bound(TokKind kind) {
    return kind == TOK_COLON || kind == TOK_COMMA || kind == TOK_RBRACKET || kind == TOK_NEWLINE;
}

/* slice: [expression] ':' [expression] [':' [expression]] | element */
static AstId parse_slice(Parser *p) {
    uint32_t first = p->at;
    AstId lower = parse_kind(p) == TOK_COLON ? 0 : parse_element(p);
    if (!parse_accept(p, TOK_COLON))
        return lower;
    AstId upper = ends_bound(parse_kind(p)) ? 0 : parse_expression(p), step = 0;
    if (parse_accept(p, TOK_COLON) && !ends_bound(parse_kind(p)))
        step = parse_expression(p);
    return add_from(p, first, (AstNode){.kind = AST_SLICE, .a = lower, .b = upper, .c = step});
}

/* The index between brackets: one slice, or a TUPLE of several. */
static AstId parse_index(Parser *p) {
    uint32_t first = p->at, mark = p->stack.len;
    AstId one = parse_slice(p);
    bool starred = ast_node(p->t, one)->kind == AST_STARRED;
    if (parse_kind(p) != TOK_COMMA && !starred)
        return one;
    parse_push(p, one);
    while (parse_accept(p, TOK_COMMA) && parse_kind(p) != TOK_RBRACKET)
        parse_push(p, parse_slice(p));
    AstList items = parse_take(p, mark);
    return add_from(p, first, (AstNode){.kind = AST_TUPLE, .list = items});
}

static AstId parse_subscript(Parser *p, AstId object, uint32_t first) {
    uint32_t open = p->at++;
    AstId index = parse_index(p);
    parse_expect_close(p, TOK_RBRACKET, open);
    return add_from(p, first, (AstNode){.kind = AST_SUBSCRIPT, .a = object, .b = index});
}

static AstId parse_attribute(Parser *p, AstId object, uint32_t first) {
    p->at++;
    Str name = parse_name(p, "the name of an attribute after '.'");
    return add_from(p, first, (AstNode){.kind = AST_ATTRIBUTE, .a = object, .name = name});
}

static AstId parse_primary(Parser *p) {
    uint32_t first = p->at;
    switch ((int)parse_kind(p)) {
    case TOK_NAME:
        return add_from(
            p, first, (AstNode){.kind = AST_NAME, .name = p->tokens.list.data[p->at++].value.text});
    case TOK_INT:
        return parse_int(p);
    case TOK_FLOAT:
        return parse_float(p);
    case TOK_IMAGINARY:
        p->at++;
        parse_unmodelled(p, parse_span_from(p, first), "an imaginary number");
        return parse_placeholder(p, parse_span_from(p, first));
    case TOK_STRING:
    case TOK_FSTRING_START:
        return parse_strings(p);
    case TOK_TRUE:
        return parse_constant(p, AST_BOOL, 1);
    case TOK_FALSE:
        return parse_constant(p, AST_BOOL, 0);
    case TOK_NONE:
        return parse_constant(p, AST_NONE_LITERAL, 0);
    case TOK_ELLIPSIS:
        return parse_constant(p, AST_ELLIPSIS, 0);
    case TOK_LPAREN:
        return parse_parens(p);
    case TOK_LBRACKET:
        return parse_list(p);
    case TOK_LBRACE:
        return parse_braces(p);
    default:
        parse_expected(p, "an expression");
        return 0;
    }
}

/* atom: primary ('(' arguments ')' | '[' index ']' | '.' NAME)* */
AstId parse_atom(Parser *p) {
    uint32_t first = p->at;
    AstId id = parse_primary(p);
    for (;;) {
        if (parse_kind(p) == TOK_LPAREN)
            id = parse_call(p, id, first);
        else if (parse_kind(p) == TOK_LBRACKET)
            id = parse_subscript(p, id, first);
        else if (parse_kind(p) == TOK_DOT)
            id = parse_attribute(p, id, first);
        else
            return id;
    }
}

/* parameter: ['*' | '**'] NAME [':' annotation] ['=' default] | '*' | '/' */
static AstId parse_parameter(Parser *p, bool annotated) {
    uint32_t first = p->at;
    AstNode n = {.kind = AST_PARAM};
    if (parse_accept(p, TOK_DIV)) {
        n.value.i = 3;
        if (p->in_jit)
            parse_unmodelled(p, parse_span_from(p, first), "the positional-only marker '/'");
        return add_from(p, first, n);
    }
    if (parse_accept(p, TOK_MUL))
        n.value.i = 1;
    else if (parse_accept(p, TOK_POW))
        n.value.i = 2;
    if (n.value.i != 1 || (parse_kind(p) != TOK_COMMA && parse_kind(p) != TOK_NEWLINE))
        n.name = parse_name(p, "the name of a parameter");
    if (annotated && parse_accept(p, TOK_COLON))
        n.a = parse_element(p); /* `*args: *Ts` has a starred one */
    if (parse_accept(p, TOK_ASSIGN))
        n.b = parse_expression(p);
    return add_from(p, first, n);
}

AstList parse_parameters(Parser *p, TokKind end, bool annotated) {
    uint32_t mark = p->stack.len;
    while (!p->failed && parse_kind(p) != end) {
        parse_push(p, parse_parameter(p, annotated));
        if (!parse_accept(p, TOK_COMMA))
            break;
    }
    return parse_take(p, mark);
}
