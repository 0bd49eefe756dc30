/* Declarations of PTX: registers (%r<100> declares a hundred), variables with dimensions and
 * initialisers. Registers and function-level variables are entered under their scope. */
#include "ptx.h"
#include <string.h>

#define MAX_REGISTERS (1u << 20)
#define VAR_BIT       0x80000000u

static uint64_t scoped(uint32_t scope, Str name) {
    return (uint64_t)scope << 32 | name;
}

static PtxType expect_type(PtxParser *p) {
    PtxType t = TY_NONE;
    if (p->token.kind == TOK_DIRECTIVE)
        t = ptx_type_named(p->token.text, p->token.len);
    if (t == TY_NONE)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "expected a type, found '%.*s'",
                 (int)p->token.len, p->token.text);
    ptx_next(p);
    return t;
}

static void add_regs(PtxParser *p, PtxType type, uint32_t count) {
    PtxReg r = {type};
    if (count > MAX_REGISTERS || p->function->regs.len + count > MAX_REGISTERS)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "more than %u registers",
                 MAX_REGISTERS);
    for (uint32_t i = 0; i < count; i++)
        vec_push(p->context->arena, &p->function->regs, r);
}

/* .reg type name [<count>] {, name}; */
void ptx_parse_reg(PtxParser *p) {
    PtxType type = expect_type(p);
    do {
        Str name = ptx_ident(p);
        uint32_t first = p->function->regs.len;
        if (ptx_accept(p, '<')) {
            uint64_t count = ptx_const_expr(p);
            PtxRegGroup group = {first, (uint32_t)count};
            if (count > MAX_REGISTERS)
                count = MAX_REGISTERS + 1;
            ptx_expect(p, '>');
            add_regs(p, type, (uint32_t)count);
            vec_push(p->context->arena, &p->reg_groups, group);
            map_put(&p->groups, scoped(p->scope, name), p->reg_groups.len);
        } else {
            add_regs(p, type, 1);
            map_put(&p->symbols, scoped(p->scope, name), first);
        }
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
}

/* name = digits appended to a declared group. */
static bool lookup_group(PtxParser *p, uint32_t scope, Str name, uint32_t *reg) {
    const char *text = ptx_name(p->context, name);
    size_t len = str_len(p->context->names, name), prefix = len;
    uint32_t number = 0, scale = 1;
    while (prefix > 0 && text[prefix - 1] >= '0' && text[prefix - 1] <= '9' && len - prefix < 8) {
        prefix--;
        number += (uint32_t)(text[prefix] - '0') * scale;
        scale *= 10;
        if (text[prefix] == '0' && len - prefix > 1)
            continue; /* a leading zero never names a register */
        Str base = str_intern(p->context->names, text, prefix);
        uint32_t g = map_find(&p->groups, scoped(scope, base), 0);
        if (g && number < p->reg_groups.data[g - 1].count) {
            *reg = p->reg_groups.data[g - 1].first + number;
            return true;
        }
    }
    return false;
}

static bool lookup_global(PtxParser *p, Str name, Operand *out) {
    uint32_t id = map_find(&p->module->globals, name, 0);
    if (!id)
        return false;
    out->kind = OPND_SYMBOL;
    out->var = id;
    if (p->module->vars.data[id].space == SPACE_SHARED) {
        for (uint32_t i = 0; i < p->function->shared.len; i++)
            if (p->function->shared.data[i] == id)
                return true;
        vec_push(p->context->arena, &p->function->shared, id);
    }
    return true;
}

bool ptx_lookup(PtxParser *p, Str name, Operand *out) {
    uint32_t scope = p->scope, value;
    for (;;) {
        if (map_get(&p->symbols, scoped(scope, name), &value)) {
            out->kind = value & VAR_BIT ? OPND_SYMBOL : OPND_REG;
            out->var = out->reg = value & ~VAR_BIT;
            return true;
        }
        if (lookup_group(p, scope, name, &out->reg)) {
            out->kind = OPND_REG;
            return true;
        }
        if (scope == 0)
            return lookup_global(p, name, out);
        scope = p->function->scope_parent.data[scope];
    }
}

/* ---- initialisers ------------------------------------------------------------------------- */

static void parse_init_symbol(PtxParser *p, PtxInit *init) {
    Str name = ptx_ident(p);
    if (!strcmp(ptx_name(p->context, name), "generic") && ptx_accept(p, '(')) {
        init->generic = true;
        name = ptx_ident(p);
        ptx_expect(p, ')');
    }
    init->symbol = true;
    init->name = name;
    if (ptx_at(p, '+') || ptx_at(p, '-'))
        init->value = ptx_const_expr(p);
}

/* float -> bits of the element type */
static uint64_t float_bits(PtxTokenKind kind, uint64_t bits, PtxType type, bool negative) {
    double d;
    float f;
    uint32_t w = (uint32_t)bits;
    memcpy(&d, &bits, sizeof d);
    memcpy(&f, &w, sizeof f);
    if (kind == TOK_FLOAT32)
        d = (double)f;
    if (negative)
        d = -d;
    f = (float)d;
    if (type == TY_F64 || type == TY_B64) {
        memcpy(&bits, &d, sizeof d);
        return bits;
    }
    memcpy(&w, &f, sizeof f);
    return w;
}

static uint64_t parse_init_number(PtxParser *p, PtxType type) {
    bool negative = ptx_at(p, '-');
    PtxTokenKind kind;
    uint64_t bits;
    if (negative) {
        PtxLexer ahead = p->lexer;
        PtxToken t = ptx_lex_next(&ahead);
        if (t.kind != TOK_FLOAT32 && t.kind != TOK_FLOAT64)
            return ptx_const_expr(p);
        ptx_next(p);
    }
    kind = p->token.kind;
    if (kind != TOK_FLOAT32 && kind != TOK_FLOAT64)
        return ptx_const_expr(p);
    bits = float_bits(kind, p->token.value, type, negative);
    ptx_next(p);
    return bits;
}

static void push_init(PtxParser *p, uint32_t var, PtxInit init) {
    vec_push(p->context->arena, &p->module->vars.data[var].inits, init);
}

/* Elements in order; nested braces of any shape just continue the flat sequence. */
static uint64_t parse_init_list(PtxParser *p, uint32_t var, PtxType type, uint64_t offset) {
    uint32_t size = ptx_type_bytes(type);
    do {
        PtxInit init = {.offset = offset, .bytes = size};
        if (ptx_accept(p, '{')) {
            offset = parse_init_list(p, var, type, offset);
            ptx_expect(p, '}');
            continue;
        }
        if (p->token.kind == TOK_IDENT)
            parse_init_symbol(p, &init);
        else
            init.value = parse_init_number(p, type);
        /* mask(symbol) byte forms 0xff(sym) are printed by LLVM for .b8 tables of addresses */
        if (ptx_at(p, '('))
            ptx_fail(p->context, TLE_EMU_NOT_SUPPORTED, p->token.line,
                     "not supported: masked address initialiser at line %u", p->token.line);
        push_init(p, var, init);
        offset += size;
    } while (ptx_accept(p, ','));
    return offset;
}

/* ---- variables ---------------------------------------------------------------------------- */

static uint64_t multiply(PtxParser *p, uint64_t a, uint64_t b) {
    if (b && a > ((uint64_t)1 << 40) / b)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "variable of more than 2^40 bytes");
    return a * b;
}

static void parse_qualifiers(PtxParser *p, PtxVar *v) {
    uint32_t vector = 1;
    for (;;) {
        if (ptx_accept_directive(p, "align")) {
            v->align = (uint32_t)ptx_const_expr(p);
        } else if (ptx_accept_directive(p, "ptr")) {
            /* .ptr .global .align n: a promise about the pointer's target, not about the slot */
            while (ptx_accept_directive(p, "global") || ptx_accept_directive(p, "shared") ||
                   ptx_accept_directive(p, "const") || ptx_accept_directive(p, "local")) {
            }
            if (ptx_accept_directive(p, "align"))
                ptx_const_expr(p);
        } else if (ptx_accept_directive(p, "v2")) {
            vector = 2;
        } else if (ptx_accept_directive(p, "v4")) {
            vector = 4;
        } else if (ptx_accept_directive(p, "attribute")) {
            while (!ptx_at(p, ')') && p->token.kind != TOK_END)
                ptx_next(p);
            ptx_expect(p, ')');
        } else if (v->type == TY_NONE && p->token.kind == TOK_DIRECTIVE) {
            v->type = expect_type(p);
        } else {
            break;
        }
    }
    if (v->type == TY_NONE)
        expect_type(p);
    v->bytes = (uint64_t)ptx_type_bytes(v->type) * vector;
    if (v->align == 0)
        v->align = (uint32_t)v->bytes;
    if (v->align & (v->align - 1))
        ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "alignment %u is no power of two",
                 v->align);
}

static void enter_var(PtxParser *p, uint32_t id, PtxSpace space) {
    Str name = p->module->vars.data[id].name;
    Arena *a = p->context->arena;
    if (!p->function) {
        map_put(&p->module->globals, name, id);
        return;
    }
    map_put(&p->symbols, scoped(p->scope, name), id | VAR_BIT);
    if (space == SPACE_SHARED)
        vec_push(a, &p->function->shared, id);
}

static void parse_dimensions(PtxParser *p, uint32_t id) {
    while (ptx_accept(p, '[')) {
        PtxVar *v = &p->module->vars.data[id];
        if (ptx_accept(p, ']')) {
            v->bytes = 0; /* set by the initialiser, or dynamic */
            continue;
        }
        uint64_t n = ptx_const_expr(p);
        p->module->vars.data[id].bytes = multiply(p, v->bytes, n);
        ptx_expect(p, ']');
    }
}

uint32_t ptx_parse_var(PtxParser *p, PtxSpace space, bool is_extern, bool is_parameter) {
    PtxVar v = {.space = space, .is_extern = is_extern, .line = p->token.line};
    uint32_t id = p->module->vars.len;
    parse_qualifiers(p, &v);
    v.name = ptx_ident(p);
    if (ptx_at(p, '<'))
        ptx_fail(p->context, TLE_EMU_NOT_SUPPORTED, p->token.line,
                 "not supported: counted variable names at line %u", p->token.line);
    vec_push(p->context->arena, &p->module->vars, v);
    parse_dimensions(p, id);
    enter_var(p, id, space);
    if (!is_parameter && ptx_accept(p, '=')) {
        uint64_t end = parse_init_list(p, id, v.type, 0);
        PtxVar *final = &p->module->vars.data[id];
        if (final->bytes == 0)
            final->bytes = end;
        if (end > final->bytes)
            ptx_fail(p->context, TLE_EMU_BAD_PTX, v.line, "initialiser of '%s' is too long",
                     ptx_name(p->context, v.name));
    }
    return id;
}
