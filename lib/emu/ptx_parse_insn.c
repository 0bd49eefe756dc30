/* Bodies of PTX functions: scopes, labels, statements and their operands. */
#include "ptx.h"
#include <string.h>

static void parse_operand(PtxParser *p, Operand *o);

/* ---- operands ----------------------------------------------------------------------------- */

static void parse_elements(PtxParser *p, Operand *o, char close) {
    VEC(Operand) elems = {0};
    if (!ptx_at(p, close))
        do {
            Operand e = {0};
            parse_operand(p, &e);
            vec_push(p->context->arena, &elems, e);
        } while (ptx_accept(p, ','));
    ptx_expect(p, close);
    o->elems = elems.data;
    o->elem_count = elems.len;
}

/* [base {+ offset} {, more}] */
static void parse_memory(PtxParser *p, Operand *o) {
    o->kind = OPND_MEM;
    o->base = arena_new_of(p->context->arena, Operand);
    parse_operand(p, o->base);
    if (o->base->kind == OPND_SYMBOL) {
        o->value = o->base->value;
        o->base->value = 0;
    }
    if (ptx_at(p, '+') || ptx_at(p, '-')) {
        bool negative = ptx_at(p, '-');
        uint64_t v;
        if (!negative)
            ptx_next(p);
        v = ptx_const_expr(p);
        o->value += (int64_t)v;
    }
    if (ptx_accept(p, ','))
        parse_elements(p, o, ']');
    else
        ptx_expect(p, ']');
}

static void parse_special(PtxParser *p, Operand *o, Str name) {
    o->kind = OPND_SPECIAL;
    o->name = name;
    if (p->token.kind == TOK_DIRECTIVE && p->token.len == 1 && strchr("xyzw", *p->token.text)) {
        o->element = (uint8_t)(*p->token.text == 'w' ? 3 : *p->token.text - 'x');
        ptx_next(p);
    }
}

/* %r1.b3210 */
static void parse_select(PtxParser *p, Operand *o) {
    const char *text = p->token.text;
    if (p->token.kind != TOK_DIRECTIVE || p->token.len < 2 || p->token.len >= sizeof o->select ||
        (*text != 'b' && *text != 'h') || text[1] < '0' || text[1] > '9')
        return;
    memcpy(o->select, text, p->token.len);
    ptx_next(p);
}

static void parse_named(PtxParser *p, Operand *o) {
    Str name = ptx_ident(p);
    const char *text = ptx_name(p->context, name);
    if (!strcmp(text, "_")) {
        o->kind = OPND_SINK;
    } else if (ptx_lookup(p, name, o)) {
        if (o->kind == OPND_REG)
            parse_select(p, o);
        if (o->kind == OPND_SYMBOL && (ptx_at(p, '+') || ptx_at(p, '-'))) {
            if (ptx_at(p, '+'))
                ptx_next(p);
            o->value = (int64_t)ptx_const_expr(p);
        }
    } else if (text[0] == '%') {
        parse_special(p, o, name);
    } else if (!strcmp(text, "WARP_SZ")) {
        o->kind = OPND_INT;
        o->value = 32;
    } else {
        o->kind = OPND_NAME;
        o->name = name;
        o->scope = p->scope;
    }
}

static void parse_float(PtxParser *p, Operand *o, bool negative) {
    bool single = p->token.kind == TOK_FLOAT32;
    o->kind = single ? OPND_FLOAT32 : OPND_FLOAT64;
    o->value = (int64_t)p->token.value;
    if (negative)
        o->value = (int64_t)(p->token.value ^ (single ? 0x80000000u : (uint64_t)1 << 63));
    ptx_next(p);
}

static void parse_number(PtxParser *p, Operand *o) {
    if (ptx_at(p, '-')) {
        PtxLexer ahead = p->lexer;
        PtxToken t = ptx_lex_next(&ahead);
        if (t.kind == TOK_FLOAT32 || t.kind == TOK_FLOAT64) {
            ptx_next(p);
            parse_float(p, o, true);
            return;
        }
        if (t.kind == TOK_IDENT && *t.text == '%') { /* of vmad */
            ptx_next(p);
            parse_operand(p, o);
            o->negated = true;
            return;
        }
    }
    o->kind = OPND_INT;
    o->value = (int64_t)ptx_const_expr(p);
}

static void parse_operand(PtxParser *p, Operand *o) {
    PtxTokenKind kind = p->token.kind;
    if (ptx_accept(p, '!')) {
        parse_operand(p, o);
        o->negated = !o->negated;
        return;
    }
    if (ptx_accept(p, '[')) {
        parse_memory(p, o);
    } else if (ptx_accept(p, '{')) {
        o->kind = OPND_VECTOR;
        parse_elements(p, o, '}');
    } else if (kind == TOK_IDENT) {
        parse_named(p, o);
    } else if (kind == TOK_FLOAT32 || kind == TOK_FLOAT64) {
        parse_float(p, o, false);
    } else {
        parse_number(p, o);
    }
    if (ptx_accept(p, '|')) {
        o->pair = arena_new_of(p->context->arena, Operand);
        parse_operand(p, o->pair);
    }
}

/* Call lists: (a, b) as one vector operand. An integer in parentheses is no list. */
static void parse_argument(PtxParser *p, Operand *o, bool is_call) {
    if (is_call && ptx_accept(p, '(')) {
        o->kind = OPND_VECTOR;
        parse_elements(p, o, ')');
        return;
    }
    parse_operand(p, o);
}

/* ---- qualifiers --------------------------------------------------------------------------- */

static PtxMod mod_named(const char *text, size_t len) {
    for (int i = 1; i < MOD_COUNT; i++)
        if (strlen(ptx_mod_text((PtxMod)i)) == len && !memcmp(ptx_mod_text((PtxMod)i), text, len))
            return (PtxMod)i;
    return MOD_NONE;
}

/* m64n8k16, m8n8: false if it is none. */
static bool parse_shape(const char *text, size_t len, uint16_t shape[3]) {
    static const char letters[] = "mnk";
    size_t at = 0;
    uint16_t parts[3] = {0};
    for (uint32_t i = 0; i < 3 && at < len; i++) {
        size_t digits = at + 1;
        if (text[at] != letters[i])
            return false;
        for (at++; at < len && at < digits + 3 && text[at] >= '0' && text[at] <= '9'; at++)
            parts[i] = (uint16_t)(parts[i] * 10 + (text[at] - '0'));
        if (at == digits)
            return false;
    }
    memcpy(shape, parts, sizeof parts);
    return at == len && parts[1];
}

static void add_qualifier(PtxParser *p, PtxStatement *s) {
    PtxType t = ptx_type_named(p->token.text, p->token.len);
    PtxMod m;
    if (t != TY_NONE) {
        if (s->type_count < PTX_MAX_TYPES)
            s->types[s->type_count++] = (uint8_t)t;
        return;
    }
    m = mod_named(p->token.text, p->token.len);
    if (m == MOD_NONE && parse_shape(p->token.text, p->token.len, s->shape))
        return;
    if (m == MOD_NONE)
        s->order_count = 0xff; /* unknown: decoding reports it with the whole spelling */
    else if (s->order_count < 12) {
        s->mods[m / 64] |= (uint64_t)1 << (m % 64);
        s->order[s->order_count++] = m;
    }
}

static void parse_opcode(PtxParser *p, PtxStatement *s) {
    char room[160];
    size_t n;
    s->line = p->token.line;
    s->opcode = ptx_ident(p);
    n = str_len(p->context->names, s->opcode);
    if (n >= sizeof room)
        n = sizeof room - 1;
    memcpy(room, ptx_name(p->context, s->opcode), n);
    while (p->token.kind == TOK_DIRECTIVE) {
        add_qualifier(p, s);
        if (n + p->token.len + 1 < sizeof room) {
            room[n++] = '.';
            memcpy(room + n, p->token.text, p->token.len);
            n += p->token.len;
        }
        ptx_next(p);
    }
    s->spelling = str_intern(p->context->names, room, n);
}

/* ---- statements --------------------------------------------------------------------------- */

static void parse_guard(PtxParser *p, PtxStatement *s) {
    Operand o = {0};
    bool negated = ptx_accept(p, '!');
    uint32_t line = p->token.line;
    if (!ptx_lookup(p, ptx_ident(p), &o) || o.kind != OPND_REG ||
        p->function->regs.data[o.reg].type != TY_PRED)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, line, "guard is not a predicate register");
    s->guarded = true;
    s->guard_negated = negated;
    s->guard = o.reg;
}

static void parse_statement(PtxParser *p) {
    PtxStatement s = {.loc = p->loc, .scope = p->scope};
    VEC(Operand) ops = {0};
    bool is_call;
    if (ptx_accept(p, '@'))
        parse_guard(p, &s);
    parse_opcode(p, &s);
    is_call = !strcmp(ptx_name(p->context, s.opcode), "call");
    if (!ptx_at(p, ';'))
        do {
            Operand o = {0};
            parse_argument(p, &o, is_call);
            vec_push(p->context->arena, &ops, o);
        } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
    if (ops.len > PTX_MAX_OPERANDS)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, s.line, "%u operands are too many", ops.len);
    s.operands = ops.data;
    s.operand_count = ops.len;
    vec_push(p->context->arena, &p->function->statements, s);
}

/* .loc file line column {, function_name label+offset, inlined_at file line column} */
static void parse_loc(PtxParser *p) {
    uint32_t line = p->token.line;
    p->loc.file = (uint32_t)ptx_const_expr(p);
    p->loc.line = (uint32_t)ptx_const_expr(p);
    while (p->token.line == line && p->token.kind != TOK_END)
        ptx_next(p);
}

static void parse_label(PtxParser *p, Str name) {
    PtxLabel label = {.name = name, .scope = p->scope};
    label.statement = p->function->statements.len;
    if (ptx_accept_directive(p, "branchtargets")) {
        label.is_table = true;
        do {
            Str target = ptx_ident(p);
            vec_push(p->context->arena, &label.targets, target);
        } while (ptx_accept(p, ','));
        ptx_expect(p, ';');
    } else if (ptx_accept_directive(p, "callprototype") || ptx_accept_directive(p, "calltargets")) {
        while (!ptx_at(p, ';') && p->token.kind != TOK_END)
            ptx_next(p);
        ptx_expect(p, ';');
    }
    vec_push(p->context->arena, &p->function->labels, label);
}

static void parse_local_variables(PtxParser *p, PtxSpace space) {
    do {
        uint32_t id = ptx_parse_var(p, space, false, false);
        if (space == SPACE_LOCAL || space == SPACE_PARAM)
            vec_push(p->context->arena, &p->function->locals, id);
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
}

static bool parse_body_directive(PtxParser *p) {
    if (p->token.kind != TOK_DIRECTIVE)
        return false;
    if (ptx_accept_directive(p, "reg"))
        ptx_parse_reg(p);
    else if (ptx_accept_directive(p, "loc"))
        parse_loc(p);
    else if (ptx_accept_directive(p, "local"))
        parse_local_variables(p, SPACE_LOCAL);
    else if (ptx_accept_directive(p, "param"))
        parse_local_variables(p, SPACE_PARAM);
    else if (ptx_accept_directive(p, "shared"))
        parse_local_variables(p, SPACE_SHARED);
    else if (ptx_accept_directive(p, "global"))
        parse_local_variables(p, SPACE_GLOBAL);
    else if (ptx_accept_directive(p, "const"))
        parse_local_variables(p, SPACE_CONST);
    else if (ptx_accept_directive(p, "pragma")) {
        while (p->token.kind == TOK_STRING || ptx_at(p, ','))
            ptx_next(p);
        ptx_expect(p, ';');
    } else
        ptx_fail(p->context, TLE_EMU_NOT_SUPPORTED, p->token.line,
                 "not supported: .%.*s at line %u", (int)p->token.len, p->token.text,
                 p->token.line);
    return true;
}

static void enter_scope(PtxParser *p) {
    vec_push(p->context->arena, &p->function->scope_parent, p->scope);
    p->scope = p->function->scope_parent.len - 1;
}

/* A name followed by ':' is a label; anything else starts a statement. */
static bool parse_if_label(PtxParser *p) {
    PtxLexer saved = p->lexer;
    PtxToken token = p->token;
    Str name;
    if (token.kind != TOK_IDENT)
        return false;
    name = ptx_ident(p);
    if (ptx_accept(p, ':')) {
        parse_label(p, name);
        return true;
    }
    p->lexer = saved;
    p->token = token;
    return false;
}

void ptx_parse_body(PtxParser *p) {
    uint32_t depth = 0;
    for (;;) {
        if (p->token.kind == TOK_END)
            ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "function is not closed");
        if (ptx_accept(p, '{')) {
            depth++;
            enter_scope(p);
        } else if (ptx_accept(p, '}')) {
            if (depth-- == 0)
                return;
            p->scope = p->function->scope_parent.data[p->scope];
        } else if (ptx_accept(p, ';')) {
            continue;
        } else if (!parse_body_directive(p) && !parse_if_label(p)) {
            parse_statement(p);
        }
    }
}
