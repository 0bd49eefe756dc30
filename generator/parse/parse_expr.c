/* Parser: expressions from the lambda down to the power operator. Binary operators are climbed by
 * precedence from one table; the rules above them have a function each. */
#include "parse/parse_impl.h"

typedef struct BinaryOp {
    TokKind kind;
    AstOp op;
    uint32_t level; /* higher binds tighter */
} BinaryOp;

static const BinaryOp binary_ops[] = {
    {TOK_PIPE, AST_OP_BITOR, 1}, {TOK_CARET, AST_OP_BITXOR, 2},
    {TOK_AMP, AST_OP_BITAND, 3}, {TOK_SHL, AST_OP_SHL, 4},
    {TOK_SHR, AST_OP_SHR, 4},    {TOK_ADD, AST_OP_ADD, 5},
    {TOK_SUB, AST_OP_SUB, 5},    {TOK_MUL, AST_OP_MUL, 6},
    {TOK_DIV, AST_OP_DIV, 6},    {TOK_FLOORDIV, AST_OP_FLOORDIV, 6},
    {TOK_MOD, AST_OP_MOD, 6},    {TOK_MATMUL, AST_OP_MATMUL, 6},
};

static const BinaryOp *binary_op(TokKind kind) {
    for (size_t i = 0; i < sizeof binary_ops / sizeof *binary_ops; i++)
        if (binary_ops[i].kind == kind)
            return &binary_ops[i];
    return NULL;
}

static Span span_of(const Parser *p, AstId id) {
    return ast_node(p->t, id)->span;
}

static AstId two_operands(Parser *p, AstKind kind, AstOp op, AstId a, AstId b) {
    Span span = span_join(span_of(p, a), span_of(p, b));
    return parse_add(p, (AstNode){.kind = kind, .op = op, .span = span, .a = a, .b = b});
}

static AstId parse_power(Parser *p);

static AstOp unary_op(TokKind kind) {
    if (kind == TOK_SUB)
        return AST_OP_NEG;
    if (kind == TOK_ADD)
        return AST_OP_POS;
    return kind == TOK_TILDE ? AST_OP_INVERT : AST_OP_NONE;
}

/* The least int64 has no positive counterpart, so its sign is part of the literal. */
static bool at_least_int(const Parser *p) {
    if (parse_kind(p) != TOK_SUB || parse_peek(p, 1) != TOK_INT)
        return false;
    return parse_token(p)[1].value.i == (uint64_t)INT64_MAX + 1 && parse_peek(p, 2) != TOK_POW;
}

/* unary: ('-' | '+' | '~') unary | power */
static AstId parse_unary(Parser *p) {
    uint32_t first = p->at;
    AstOp op = unary_op(parse_kind(p));
    if (!op)
        return parse_power(p);
    if (at_least_int(p)) {
        p->at += 2;
        AstNode n = {.kind = AST_INT, .span = parse_span_from(p, first)};
        n.value.i = INT64_MIN;
        return parse_add(p, n);
    }
    p->at++;
    AstId operand = 0;
    if (parse_enter(p))
        operand = parse_unary(p);
    parse_leave(p);
    Span span = parse_span_from(p, first);
    return parse_add(p, (AstNode){.kind = AST_UNARY, .op = op, .span = span, .a = operand});
}

/* power: ['await'] atom ['**' unary] */
static AstId parse_power(Parser *p) {
    uint32_t first = p->at;
    bool awaited = parse_accept(p, TOK_AWAIT);
    AstId left = parse_atom(p);
    if (awaited) {
        parse_unmodelled(p, parse_span_from(p, first), "'await'");
        left = parse_placeholder(p, parse_span_from(p, first));
    }
    if (!parse_accept(p, TOK_POW))
        return left;
    AstId right = 0;
    if (parse_enter(p))
        right = parse_unary(p);
    parse_leave(p);
    return two_operands(p, AST_BINARY, AST_OP_POW, left, right);
}

static AstId parse_binary(Parser *p, uint32_t level) {
    AstId left = parse_unary(p);
    for (;;) {
        const BinaryOp *op = binary_op(parse_kind(p));
        if (!op || op->level < level)
            return left;
        p->at++;
        AstId right = parse_binary(p, op->level + 1);
        left = two_operands(p, AST_BINARY, op->op, left, right);
    }
}

AstId parse_operand(Parser *p) {
    return parse_binary(p, 1);
}

/* A comparison operator, consumed; AST_OP_NONE when there is none. */
static AstOp comparison_op(Parser *p) {
    static const struct {
        TokKind kind;
        AstOp op;
    } ops[] = {{TOK_LT, AST_OP_LT}, {TOK_LE, AST_OP_LE}, {TOK_GT, AST_OP_GT}, {TOK_GE, AST_OP_GE},
               {TOK_EQ, AST_OP_EQ}, {TOK_NE, AST_OP_NE}, {TOK_IN, AST_OP_IN}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (parse_accept(p, ops[i].kind))
            return ops[i].op;
    if (parse_accept(p, TOK_IS))
        return parse_accept(p, TOK_NOT) ? AST_OP_IS_NOT : AST_OP_IS;
    if (parse_kind(p) == TOK_NOT && parse_peek(p, 1) == TOK_IN) {
        p->at += 2;
        return AST_OP_NOT_IN;
    }
    return AST_OP_NONE;
}

/* comparison: operand (op operand)*; a < b < c is (a < b) and (b < c) with b shared. */
static AstId parse_comparison(Parser *p) {
    AstId left = parse_operand(p), all = 0;
    for (;;) {
        AstOp op = comparison_op(p);
        if (!op)
            return all ? all : left;
        AstId right = parse_operand(p);
        AstId one = two_operands(p, AST_COMPARE, op, left, right);
        all = all ? two_operands(p, AST_BOOLEAN, AST_OP_AND, all, one) : one;
        left = right;
    }
}

static AstId parse_not(Parser *p) {
    uint32_t first = p->at;
    if (parse_kind(p) != TOK_NOT)
        return parse_comparison(p);
    p->at++;
    AstId operand = 0;
    if (parse_enter(p))
        operand = parse_not(p);
    parse_leave(p);
    Span span = parse_span_from(p, first);
    return parse_add(p, (AstNode){.kind = AST_UNARY, .op = AST_OP_NOT, .span = span, .a = operand});
}

static AstId parse_and(Parser *p) {
    AstId left = parse_not(p);
    while (parse_accept(p, TOK_AND))
        left = two_operands(p, AST_BOOLEAN, AST_OP_AND, left, parse_not(p));
    return left;
}

AstId parse_disjunction(Parser *p) {
    AstId left = parse_and(p);
    while (parse_accept(p, TOK_OR))
        left = two_operands(p, AST_BOOLEAN, AST_OP_OR, left, parse_and(p));
    return left;
}

/* lambda: 'lambda' [parameters] ':' expression */
static AstId parse_lambda(Parser *p) {
    uint32_t first = p->at++;
    AstList parameters = parse_parameters(p, TOK_COLON, false);
    parse_expect(p, TOK_COLON, "after the parameters of 'lambda'");
    AstId body = parse_expression(p);
    Span span = parse_span_from(p, first);
    return parse_add(p, (AstNode){.kind = AST_LAMBDA, .span = span, .list = parameters, .a = body});
}

static AstId parse_ternary(Parser *p) {
    uint32_t first = p->at;
    AstId then = parse_disjunction(p);
    if (!parse_accept(p, TOK_IF))
        return then;
    AstId condition = parse_disjunction(p);
    parse_expect(p, TOK_ELSE, "after the condition of the conditional expression");
    AstId otherwise = parse_expression(p);
    return parse_add(p, (AstNode){.kind = AST_TERNARY,
                                  .span = parse_span_from(p, first),
                                  .a = condition,
                                  .b = then,
                                  .c = otherwise});
}

/* expression: lambda | or_test ['if' or_test 'else' expression] */
AstId parse_expression(Parser *p) {
    AstId id = 0;
    if (parse_enter(p))
        id = parse_kind(p) == TOK_LAMBDA ? parse_lambda(p) : parse_ternary(p);
    parse_leave(p);
    return id;
}

AstId parse_named(Parser *p) {
    uint32_t first = p->at;
    bool named = parse_kind(p) == TOK_NAME && parse_peek(p, 1) == TOK_WALRUS;
    if (!named)
        return parse_expression(p);
    p->at += 2;
    parse_expression(p);
    parse_unmodelled(p, parse_span_from(p, first), "an assignment expression ':='");
    return parse_placeholder(p, parse_span_from(p, first));
}

/* yield: 'yield' ['from' expression | tuple] */
AstId parse_yield(Parser *p) {
    uint32_t first = p->at++;
    if (parse_accept(p, TOK_FROM))
        parse_expression(p);
    else if (parse_begins_expression(parse_kind(p)))
        parse_tuple(p);
    parse_unmodelled(p, parse_span_from(p, first), "'yield'");
    return parse_placeholder(p, parse_span_from(p, first));
}

static AstId parse_starred(Parser *p, AstId (*rule)(Parser *)) {
    uint32_t first = p->at;
    if (!parse_accept(p, TOK_MUL))
        return rule(p);
    AstId value = parse_operand(p);
    return parse_add(p,
                     (AstNode){.kind = AST_STARRED, .span = parse_span_from(p, first), .a = value});
}

/* element (',' element)* [','] */
static AstId parse_elements(Parser *p, AstId (*rule)(Parser *)) {
    uint32_t first = p->at, mark = p->stack.len;
    AstId one = parse_starred(p, rule);
    if (parse_kind(p) != TOK_COMMA)
        return one;
    parse_push(p, one);
    while (parse_accept(p, TOK_COMMA) && parse_begins_expression(parse_kind(p)))
        parse_push(p, parse_starred(p, rule));
    Span span = parse_span_from(p, first);
    return parse_add(p, (AstNode){.kind = AST_TUPLE, .span = span, .list = parse_take(p, mark)});
}

AstId parse_tuple(Parser *p) {
    return parse_elements(p, parse_named);
}

AstId parse_targets(Parser *p) {
    return parse_elements(p, parse_operand);
}

AstId parse_value(Parser *p) {
    return parse_kind(p) == TOK_YIELD ? parse_yield(p) : parse_tuple(p);
}

bool parse_begins_expression(TokKind kind) {
    switch ((int)kind) {
    case TOK_NAME:
    case TOK_INT:
    case TOK_FLOAT:
    case TOK_IMAGINARY:
    case TOK_STRING:
    case TOK_FSTRING_START:
    case TOK_FALSE:
    case TOK_NONE:
    case TOK_TRUE:
    case TOK_AWAIT:
    case TOK_LAMBDA:
    case TOK_NOT:
    case TOK_ELLIPSIS:
    case TOK_ADD:
    case TOK_SUB:
    case TOK_MUL:
    case TOK_TILDE:
    case TOK_LPAREN:
    case TOK_LBRACKET:
    case TOK_LBRACE:
    case TOK_ERROR:
        return true;
    default:
        return false;
    }
}
