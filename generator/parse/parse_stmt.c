/* Parser: simple statements, the statement loop and recovery. */
#include "parse/parse_impl.h"

#include <string.h>

static AstId add_from(Parser *p, uint32_t first, AstNode n) {
    n.span = parse_span_from(p, first);
    return parse_add(p, n);
}

static Str text_of(const Parser *p, uint32_t token) {
    Span s = parse_token_span(p, token);
    const char *text = source_text(p->t->sources, p->file, NULL);
    return str_intern(p->t->strings, text + s.lo, s.hi - s.lo);
}

AstId parse_opaque(Parser *p, uint32_t first, AstList body) {
    return add_from(p, first,
                    (AstNode){.kind = AST_OPAQUE_STMT, .name = text_of(p, first), .list = body});
}

static TokKind closing_of(TokKind open) {
    if (open == TOK_LPAREN)
        return TOK_RPAREN;
    return open == TOK_LBRACKET ? TOK_RBRACKET : TOK_RBRACE;
}

void parse_skip_one(Parser *p) {
    uint32_t base = p->open.len;
    do {
        TokKind kind = parse_kind(p);
        bool opens = kind == TOK_LPAREN || kind == TOK_LBRACKET || kind == TOK_LBRACE;
        bool closes = kind == TOK_RPAREN || kind == TOK_RBRACKET || kind == TOK_RBRACE;
        bool stuck = kind == TOK_ERROR || kind == TOK_NEWLINE || (closes && p->open.len == base);
        if (stuck && p->open.len > base) {
            uint32_t open = p->open.data[p->open.len - 1];
            parse_expect_close(p, closing_of(p->tokens.list.data[open].kind), open);
        } else if (stuck) {
            parse_expected(p, "an opening bracket before it");
        } else if (opens) {
            vec_push(p->t->arena, &p->open, p->at++);
        } else if (closes) {
            uint32_t open = vec_pop(&p->open);
            parse_expect_close(p, closing_of(p->tokens.list.data[open].kind), open);
        } else {
            p->at++;
        }
    } while (p->open.len > base && !p->failed);
    p->open.len = base;
}

void parse_skip_to(Parser *p, TokKind kind) {
    uint32_t lambdas = 0; /* each has a colon of its own */
    for (;;) {
        TokKind now = parse_kind(p);
        if (now == TOK_NEWLINE || (now == kind && !lambdas))
            return;
        if (now == TOK_LAMBDA)
            lambdas++;
        else if (now == TOK_COLON && lambdas)
            lambdas--;
        parse_skip_one(p);
    }
}

static void bad_target(Parser *p, AstId id, const char *wanted) {
    if (p->failed || p->unmodelled)
        return;
    p->failed = true;
    diag_error(p->d, DIAG_PARSE_EXPECTED, ast_node(p->t, id)->span,
               "cannot assign to this expression; expected %s", wanted);
}

/* Targets of `x += v` and `x: T`. */
static void check_single_target(Parser *p, AstId id) {
    AstKind kind = ast_node(p->t, id)->kind;
    if (kind != AST_NAME && kind != AST_ATTRIBUTE && kind != AST_SUBSCRIPT)
        bad_target(p, id, "a name, attribute or subscript");
}

void parse_check_target(Parser *p, AstId id) {
    const AstNode *n = ast_node(p->t, id);
    switch ((int)n->kind) {
    case AST_NONE:
    case AST_NAME:
    case AST_ATTRIBUTE:
    case AST_SUBSCRIPT:
        return;
    case AST_STARRED:
        parse_check_target(p, n->a);
        return;
    case AST_TUPLE:
    case AST_LIST:
        for (uint32_t i = 0; i < n->list.len; i++)
            parse_check_target(p, ast_item(p->t, n->list, i));
        return;
    default:
        bad_target(p, id, "a name, attribute, subscript or tuple of these");
    }
}

static AstOp augmented_op(TokKind kind) {
    static const struct {
        TokKind kind;
        AstOp op;
    } ops[] = {
        {TOK_ADD_ASSIGN, AST_OP_ADD},           {TOK_SUB_ASSIGN, AST_OP_SUB},
        {TOK_MUL_ASSIGN, AST_OP_MUL},           {TOK_DIV_ASSIGN, AST_OP_DIV},
        {TOK_FLOORDIV_ASSIGN, AST_OP_FLOORDIV}, {TOK_MOD_ASSIGN, AST_OP_MOD},
        {TOK_POW_ASSIGN, AST_OP_POW},           {TOK_MATMUL_ASSIGN, AST_OP_MATMUL},
        {TOK_SHL_ASSIGN, AST_OP_SHL},           {TOK_SHR_ASSIGN, AST_OP_SHR},
        {TOK_AND_ASSIGN, AST_OP_BITAND},        {TOK_OR_ASSIGN, AST_OP_BITOR},
        {TOK_XOR_ASSIGN, AST_OP_BITXOR},
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].kind == kind)
            return ops[i].op;
    return AST_OP_NONE;
}

/* (target '=')+ value, after the first target */
static AstId parse_assign(Parser *p, AstId target, uint32_t first) {
    uint32_t mark = p->stack.len;
    AstId value = target;
    while (parse_accept(p, TOK_ASSIGN)) {
        parse_check_target(p, value);
        parse_push(p, value);
        value = parse_value(p);
    }
    AstList targets = parse_take(p, mark);
    return add_from(p, first, (AstNode){.kind = AST_ASSIGN, .list = targets, .a = value});
}

/* target ':' annotation ['=' value] */
static AstId parse_annotated(Parser *p, AstId target, uint32_t first) {
    p->at++;
    check_single_target(p, target);
    AstId annotation = parse_expression(p);
    AstId value = parse_accept(p, TOK_ASSIGN) ? parse_value(p) : 0;
    return add_from(p, first,
                    (AstNode){.kind = AST_ANN_ASSIGN, .a = target, .b = annotation, .c = value});
}

static AstId parse_augmented(Parser *p, AstId target, uint32_t first) {
    AstOp op = augmented_op(parse_kind(p));
    p->at++;
    check_single_target(p, target);
    AstId value = parse_value(p);
    return add_from(p, first, (AstNode){.kind = AST_AUG_ASSIGN, .op = op, .a = target, .b = value});
}

static AstId parse_expression_statement(Parser *p) {
    uint32_t first = p->at;
    AstId value = parse_value(p);
    if (parse_kind(p) == TOK_ASSIGN)
        return parse_assign(p, value, first);
    if (parse_kind(p) == TOK_COLON)
        return parse_annotated(p, value, first);
    if (augmented_op(parse_kind(p)))
        return parse_augmented(p, value, first);
    return add_from(p, first, (AstNode){.kind = AST_EXPR_STMT, .a = value});
}

static AstId parse_return(Parser *p) {
    uint32_t first = p->at++;
    AstId value = parse_begins_expression(parse_kind(p)) ? parse_tuple(p) : 0;
    return add_from(p, first, (AstNode){.kind = AST_RETURN, .a = value});
}

static AstId parse_assert(Parser *p) {
    uint32_t first = p->at++;
    AstId condition = parse_expression(p);
    AstId message = parse_accept(p, TOK_COMMA) ? parse_expression(p) : 0;
    return add_from(p, first, (AstNode){.kind = AST_ASSERT, .a = condition, .b = message});
}

static AstId parse_raise(Parser *p) {
    uint32_t first = p->at++;
    AstId exception = parse_begins_expression(parse_kind(p)) ? parse_expression(p) : 0;
    uint32_t cause = p->at;
    if (parse_accept(p, TOK_FROM)) {
        parse_expression(p);
        if (p->in_jit)
            parse_unmodelled(p, parse_span_from(p, cause), "'from' in 'raise'");
    }
    return add_from(p, first, (AstNode){.kind = AST_RAISE, .a = exception});
}

/* NAME ('.' NAME)*, as text with the dots; leading dots of a relative import too. */
static Str parse_dotted(Parser *p, bool relative) {
    StrBuf b;
    strbuf_init(&b, p->t->arena);
    strbuf_add(&b, "", 0);
    while (relative && (parse_kind(p) == TOK_DOT || parse_kind(p) == TOK_ELLIPSIS)) {
        strbuf_addz(&b, tok_text(parse_kind(p)));
        p->at++;
    }
    if (relative && b.len && parse_kind(p) == TOK_IMPORT)
        return str_intern(p->t->strings, b.text, b.len);
    do {
        if (parse_accept(p, TOK_DOT))
            strbuf_addc(&b, '.');
        strbuf_addz(&b, str_text(p->t->strings, parse_name(p, "the name of a module")));
    } while (parse_kind(p) == TOK_DOT);
    return str_intern(p->t->strings, b.text, b.len);
}

static AstId parse_alias(Parser *p, bool dotted) {
    uint32_t first = p->at;
    AstNode n = {.kind = AST_ALIAS};
    n.name = dotted ? parse_dotted(p, false) : parse_name(p, "a name to import");
    if (parse_accept(p, TOK_AS)) {
        uint32_t at = p->at;
        Str name = parse_name(p, "a name after 'as'");
        n.a = add_from(p, at, (AstNode){.kind = AST_NAME, .name = name});
    }
    return add_from(p, first, n);
}

static bool is_triton(const Parser *p, Str module) {
    static const char word[] = "triton";
    const char *text = str_text(p->t->strings, module);
    size_t len = sizeof word - 1;
    return !strncmp(text, word, len) && (text[len] == '.' || !text[len]);
}

/* Remembers what the names of an import mean for the decorator `jit`. `from_module` is 0 for a
 * plain import. A relative import may well be of triton itself. */
static void note_imports(Parser *p, Str from_module, AstList names) {
    bool relative = str_text(p->t->strings, from_module)[0] == '.';
    for (uint32_t i = 0; i < names.len; i++) {
        const AstNode *n = ast_node(p->t, ast_item(p->t, names, i));
        Str bound = n->a ? ast_node(p->t, n->a)->name : n->name;
        if (is_triton(p, from_module ? from_module : n->name))
            vec_push(p->t->arena, &p->triton_names, bound);
        else if (!relative && !strcmp(str_text(p->t->strings, bound), "jit"))
            p->foreign_jit = true;
    }
}

static bool names_triton(const Parser *p, Str name) {
    for (uint32_t i = 0; i < p->triton_names.len; i++)
        if (p->triton_names.data[i] == name)
            return true;
    return is_triton(p, name);
}

bool parse_is_jit(const Parser *p, AstId decorator) {
    const AstNode *n = ast_node(p->t, decorator);
    if (n->kind == AST_CALL)
        n = ast_node(p->t, n->a);
    if (strcmp(str_text(p->t->strings, n->name), "jit") != 0)
        return false;
    if (n->kind == AST_NAME)
        return !p->foreign_jit;
    if (n->kind != AST_ATTRIBUTE)
        return false;
    while (n->kind == AST_ATTRIBUTE)
        n = ast_node(p->t, n->a);
    return n->kind == AST_NAME && names_triton(p, n->name);
}

static AstId parse_import(Parser *p) {
    uint32_t first = p->at++, mark = p->stack.len;
    do
        parse_push(p, parse_alias(p, true));
    while (parse_accept(p, TOK_COMMA));
    AstList names = parse_take(p, mark);
    note_imports(p, 0, names);
    return add_from(p, first, (AstNode){.kind = AST_IMPORT, .list = names});
}

static void parse_imported_names(Parser *p) {
    uint32_t open = p->at;
    if (parse_accept(p, TOK_MUL)) {
        Str star = str_internz(p->t->strings, "*");
        parse_push(p, add_from(p, open, (AstNode){.kind = AST_ALIAS, .name = star}));
        return;
    }
    bool parens = parse_accept(p, TOK_LPAREN);
    do
        parse_push(p, parse_alias(p, false));
    while (parse_accept(p, TOK_COMMA) && !(parens && parse_kind(p) == TOK_RPAREN));
    if (parens)
        parse_expect_close(p, TOK_RPAREN, open);
}

static AstId parse_import_from(Parser *p) {
    uint32_t first = p->at++, mark = p->stack.len;
    Str module = parse_dotted(p, true);
    parse_expect(p, TOK_IMPORT, "after the name of the module");
    parse_imported_names(p);
    AstList names = parse_take(p, mark);
    note_imports(p, module, names);
    return add_from(p, first, (AstNode){.kind = AST_IMPORT_FROM, .name = module, .list = names});
}

static AstId parse_global(Parser *p) {
    uint32_t first = p->at++;
    do
        parse_name(p, "the name of a variable");
    while (parse_accept(p, TOK_COMMA));
    return add_from(p, first, (AstNode){.kind = AST_GLOBAL});
}

static AstId parse_word(Parser *p, AstKind kind) {
    uint32_t first = p->at++;
    return add_from(p, first, (AstNode){.kind = kind});
}

/* `del x` and `type X = T`: the rest of the statement is skipped. */
static AstId parse_skipped(Parser *p, const char *what) {
    uint32_t first = p->at;
    parse_unmodelled(p, parse_token_span(p, first), what);
    parse_skip_to(p, TOK_SEMICOLON);
    return parse_opaque(p, first, (AstList){0, 0});
}

static bool at_type_alias(const Parser *p) {
    static const char word[] = "type";
    const Token *t = parse_token(p);
    return parse_kind(p) == TOK_NAME && parse_peek(p, 1) == TOK_NAME &&
           t->value.text == str_intern(p->t->strings, word, sizeof word - 1);
}

static AstId parse_simple(Parser *p) {
    switch ((int)parse_kind(p)) {
    case TOK_RETURN:
        return parse_return(p);
    case TOK_ASSERT:
        return parse_assert(p);
    case TOK_RAISE:
        return parse_raise(p);
    case TOK_IMPORT:
        return parse_import(p);
    case TOK_FROM:
        return parse_import_from(p);
    case TOK_GLOBAL:
    case TOK_NONLOCAL:
        return parse_global(p);
    case TOK_PASS:
        return parse_word(p, AST_PASS);
    case TOK_BREAK:
        return parse_word(p, AST_BREAK);
    case TOK_CONTINUE:
        return parse_word(p, AST_CONTINUE);
    case TOK_DEL:
        return parse_skipped(p, "'del'");
    default:
        break;
    }
    if (at_type_alias(p))
        return parse_skipped(p, "a type alias");
    if (!parse_begins_expression(parse_kind(p)) && parse_kind(p) != TOK_YIELD) {
        parse_expected(p, "a statement");
        return 0;
    }
    return parse_expression_statement(p);
}

/* Parses one simple statement and pushes it, unless it failed. */
static void parse_one_simple(Parser *p) {
    uint32_t first = p->at, mark = p->stack.len;
    p->unmodelled = false;
    AstId id = parse_simple(p);
    bool more = parse_kind(p) == TOK_SEMICOLON || parse_kind(p) == TOK_NEWLINE;
    if (!more)
        parse_expected(p, "the end of the statement");
    p->stack.len = mark;
    if (p->failed)
        return;
    parse_push(p, p->unmodelled ? parse_opaque(p, first, (AstList){0, 0}) : id);
    p->unmodelled = false;
}

void parse_simple_line(Parser *p) {
    do
        parse_one_simple(p);
    while (parse_accept(p, TOK_SEMICOLON) && parse_kind(p) != TOK_NEWLINE);
    if (p->failed)
        parse_recover(p);
    else
        parse_expect(p, TOK_NEWLINE, "after the statement");
}

/* At an INDENT: skips its whole block. */
static void skip_block(Parser *p) {
    uint32_t depth = 0;
    do {
        TokKind kind = parse_kind(p);
        depth += kind == TOK_INDENT;
        depth -= kind == TOK_DEDENT;
        p->at++;
    } while (depth && parse_kind(p) != TOK_END);
}

static void parse_stray_block(Parser *p) {
    uint32_t mark = p->stack.len;
    p->nesting++;
    p->at++;
    while (parse_kind(p) != TOK_DEDENT && parse_kind(p) != TOK_END)
        parse_statement(p);
    parse_accept(p, TOK_DEDENT);
    p->nesting--;
    p->stack.len = mark;
}

void parse_recover(Parser *p) {
    p->failed = false;
    p->unmodelled = false;
    while (parse_kind(p) < TOK_NEWLINE || parse_kind(p) > TOK_DEDENT)
        if (parse_kind(p) == TOK_END)
            return;
        else
            p->at++;
    parse_accept(p, TOK_NEWLINE);
    if (parse_kind(p) == TOK_INDENT && p->nesting < MAX_NESTING)
        parse_stray_block(p);
    else if (parse_kind(p) == TOK_INDENT)
        skip_block(p);
}

void parse_statement(Parser *p) {
    uint32_t mark = p->stack.len;
    AstId id = 0;
    if (parse_kind(p) == TOK_INDENT) {
        diag_error(p->d, DIAG_PARSE_EXPECTED, parse_token_span(p, p->at),
                   "expected a statement at the indentation of the block, found a deeper one");
        parse_recover(p);
    } else if (parse_accept(p, TOK_DEDENT) || parse_accept(p, TOK_NEWLINE)) {
        return; /* left over where a block was not closed */
    } else if (!parse_compound(p, &id)) {
        parse_simple_line(p);
    } else if (p->failed) {
        p->stack.len = mark;
        parse_recover(p);
    } else {
        parse_push(p, id);
    }
}
