/* Module level of PTX: version, target, files, functions with their parameters and directives. */
#include "ptx.h"
#include <string.h>

static const struct {
    const char *text;
    uint8_t len, bytes;
    char cls;
} type_table[TY_COUNT] = {
    {"", 0, 0, '-'},
#define X(id, text, bytes, cls) {text, sizeof text - 1, bytes, #cls[0]},
#include "types.def"
#undef X
};

static const char *const mod_table[MOD_COUNT] = {
    "",
#define X(id, text) text,
#include "mods.def"
#undef X
};

uint32_t ptx_type_bytes(PtxType t) {
    return type_table[t].bytes;
}

char ptx_type_class(PtxType t) {
    return type_table[t].cls;
}

const char *ptx_type_text(PtxType t) {
    return type_table[t].text;
}

const char *ptx_mod_text(PtxMod m) {
    return mod_table[m];
}

PtxType ptx_type_named(const char *text, size_t len) {
    for (int i = 1; i < TY_COUNT; i++)
        if (type_table[i].len == len && !memcmp(type_table[i].text, text, len))
            return (PtxType)i;
    return TY_NONE;
}

const char *ptx_name(const PtxContext *c, Str s) {
    return str_text(c->names, s);
}

/* ---- token helpers ------------------------------------------------------------------------ */

void ptx_next(PtxParser *p) {
    p->token = ptx_lex_next(&p->lexer);
}

bool ptx_at(const PtxParser *p, char punct) {
    return p->token.kind == TOK_PUNCT && p->token.punct == punct;
}

bool ptx_accept(PtxParser *p, char punct) {
    if (!ptx_at(p, punct))
        return false;
    ptx_next(p);
    return true;
}

static const char *found(const PtxParser *p, char *room, size_t size) {
    const PtxToken *t = &p->token;
    size_t len = t->kind == TOK_PUNCT ? 1 : (size_t)(p->lexer.at - t->text);
    if (t->kind == TOK_END)
        return "the end";
    if (len >= size)
        len = size - 1;
    memcpy(room, t->text, len);
    room[len] = '\0';
    return room;
}

void ptx_expect(PtxParser *p, char punct) {
    char room[64];
    if (!ptx_accept(p, punct))
        ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "expected '%c', found '%s'", punct,
                 found(p, room, sizeof room));
}

bool ptx_at_directive(const PtxParser *p, const char *word) {
    return p->token.kind == TOK_DIRECTIVE && strlen(word) == p->token.len &&
           !memcmp(word, p->token.text, p->token.len);
}

bool ptx_accept_directive(PtxParser *p, const char *word) {
    if (!ptx_at_directive(p, word))
        return false;
    ptx_next(p);
    return true;
}

Str ptx_ident(PtxParser *p) {
    char room[64];
    if (p->token.kind != TOK_IDENT)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "expected a name, found '%s'",
                 found(p, room, sizeof room));
    Str s = str_intern(p->context->names, p->token.text, p->token.len);
    ptx_next(p);
    return s;
}

static uint64_t primary(PtxParser *p) {
    char room[64];
    uint64_t v;
    if (ptx_accept(p, '-'))
        return (uint64_t)0 - primary(p);
    if (ptx_accept(p, '+'))
        return primary(p);
    if (ptx_accept(p, '~'))
        return ~primary(p);
    if (ptx_accept(p, '!'))
        return !primary(p);
    if (ptx_accept(p, '(')) {
        if (p->token.kind == TOK_DIRECTIVE) { /* a cast: (.s64) */
            ptx_next(p);
            ptx_expect(p, ')');
            return primary(p);
        }
        v = ptx_const_expr(p);
        ptx_expect(p, ')');
        return v;
    }
    if (p->token.kind != TOK_INT)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "expected a constant, found '%s'",
                 found(p, room, sizeof room));
    v = p->token.value;
    ptx_next(p);
    return v;
}

static int precedence(const PtxParser *p) {
    static const char levels[][4] = {"|", "^", "&", "LR", "+-", "*/%"};
    if (p->token.kind == TOK_PUNCT)
        for (int i = 0; i < 6; i++)
            if (strchr(levels[i], p->token.punct))
                return i + 1;
    return 0;
}

static uint64_t apply(PtxParser *p, char op, uint64_t a, uint64_t b) {
    switch (op) {
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '&':
        return a & b;
    case 'L':
        return a << (b & 63);
    case 'R':
        return a >> (b & 63);
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        if (b == 0)
            ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "constant division by zero");
        return op == '/' ? a / b : a % b;
    }
}

static uint64_t binary(PtxParser *p, int min_level) {
    uint64_t v = primary(p);
    int level;
    while ((level = precedence(p)) >= min_level && level > 0) {
        char op = p->token.punct;
        ptx_next(p);
        v = apply(p, op, v, binary(p, level + 1));
    }
    return v;
}

uint64_t ptx_const_expr(PtxParser *p) {
    return binary(p, 1);
}

/* ---- functions ---------------------------------------------------------------------------- */

static void parse_params(PtxParser *p, bool results) {
    PtxFunction *f = p->function;
    Arena *a = p->context->arena;
    while (!ptx_accept(p, ')')) {
        uint32_t var;
        if (ptx_accept_directive(p, "reg"))
            ptx_fail(p->context, TLE_EMU_NOT_SUPPORTED, p->token.line,
                     "not supported: .reg function parameters at line %u", p->token.line);
        if (!ptx_accept_directive(p, "param"))
            ptx_expect(p, '.');
        var = ptx_parse_var(p, SPACE_PARAM, false, true);
        if (results)
            vec_push(a, &f->results, var);
        else
            vec_push(a, &f->params, var);
        if (!ptx_at(p, ')'))
            ptx_expect(p, ',');
    }
}

static void parse_dims(PtxParser *p, uint32_t dims[3]) {
    dims[0] = dims[1] = dims[2] = 1;
    for (int i = 0; i < 3; i++) {
        dims[i] = (uint32_t)ptx_const_expr(p);
        if (!ptx_accept(p, ','))
            return;
    }
}

static bool parse_tuning(PtxParser *p) {
    PtxFunction *f = p->function;
    uint32_t dims[3];
    if (ptx_accept_directive(p, "maxntid")) {
        parse_dims(p, dims);
        f->max_threads = dims[0] * dims[1] * dims[2];
        f->has_max_threads = true;
    } else if (ptx_accept_directive(p, "reqntid")) {
        parse_dims(p, f->required_block);
        f->max_threads = f->required_block[0] * f->required_block[1] * f->required_block[2];
        f->has_max_threads = true;
    } else if (ptx_accept_directive(p, "reqnctapercluster")) {
        parse_dims(p, f->required_cluster);
    } else if (ptx_accept_directive(p, "minnctapersm")) {
        f->min_ctas = (uint32_t)ptx_const_expr(p);
    } else if (ptx_accept_directive(p, "maxnreg")) {
        f->max_registers = (uint32_t)ptx_const_expr(p);
    } else if (ptx_accept_directive(p, "maxnctapersm") ||
               ptx_accept_directive(p, "maxclusterrank")) {
        ptx_const_expr(p);
    } else if (ptx_accept_directive(p, "explicitcluster") ||
               ptx_accept_directive(p, "blocksareclusters") ||
               ptx_accept_directive(p, "noreturn")) {
        return true;
    } else if (ptx_accept_directive(p, "pragma")) {
        while (p->token.kind == TOK_STRING || ptx_at(p, ','))
            ptx_next(p);
        ptx_accept(p, ';');
    } else if (ptx_accept_directive(p, "abi_preserve") ||
               ptx_accept_directive(p, "abi_preserve_control")) {
        ptx_const_expr(p);
    } else {
        return false;
    }
    return true;
}

static PtxFunction *function_named(PtxParser *p, Str name) {
    PtxModule *m = p->module;
    uint32_t id = map_find(&m->function_ids, name, 0);
    if (id)
        return m->functions.data[id - 1];
    PtxFunction *f = arena_new_of(p->context->arena, PtxFunction);
    f->name = name;
    vec_push(p->context->arena, &m->functions, f);
    map_put(&m->function_ids, name, m->functions.len);
    return f;
}

static void begin_function(PtxParser *p, PtxFunction *f) {
    f->params.len = f->results.len = f->locals.len = 0;
    f->scope_parent.len = 0;
    vec_push(p->context->arena, &f->scope_parent, 0u);
    p->function = f;
    p->scope = 0;
    map_init(&p->symbols, p->context->arena);
    map_init(&p->groups, p->context->arena);
    p->reg_groups.len = 0;
    p->loc = (PtxLoc){0, 0};
}

static void parse_function(PtxParser *p, bool entry) {
    PtxFunction scratch = {0}, *f;
    Arena *a = p->context->arena;
    uint32_t line = p->token.line;
    bool has_results = !entry && ptx_at(p, '(');
    vec_push(a, &scratch.scope_parent, 0u);
    begin_function(p, &scratch);
    if (has_results) {
        ptx_next(p);
        parse_params(p, true);
    }
    f = function_named(p, ptx_ident(p));
    if (f->has_body)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, line, "function '%s' is defined twice",
                 ptx_name(p->context, f->name));
    f->is_entry = entry;
    f->line = line;
    f->params.len = f->results.len = f->locals.len = f->scope_parent.len = 0;
    vec_push(a, &f->scope_parent, 0u);
    for (uint32_t i = 0; i < scratch.results.len; i++)
        vec_push(a, &f->results, scratch.results.data[i]);
    p->function = f;
    if (ptx_accept(p, '('))
        parse_params(p, false);
    while (parse_tuning(p)) {
    }
    if (ptx_accept(p, '{')) {
        f->has_body = true;
        ptx_parse_body(p);
    } else {
        ptx_expect(p, ';');
    }
    p->function = NULL;
}

/* ---- module ------------------------------------------------------------------------------- */

static void parse_version(PtxParser *p) {
    if (p->token.kind == TOK_FLOAT64) {
        double d;
        memcpy(&d, &p->token.value, sizeof d);
        if (!(d >= 1 && d < 100))
            ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line,
                     "PTX version %g, expected 1.0 to 99.9", d);
        p->module->version = (uint32_t)(d * 10 + 0.5);
    }
    ptx_next(p);
}

static void parse_target(PtxParser *p) {
    do {
        Str s = ptx_ident(p);
        const char *text = ptx_name(p->context, s);
        if (!strncmp(text, "sm_", 3))
            for (text += 3; *text >= '0' && *text <= '9'; text++)
                p->module->arch = p->module->arch * 10 + (uint32_t)(*text - '0');
    } while (ptx_accept(p, ','));
}

/* .file 1 "name" [, time, size] */
static void parse_file(PtxParser *p) {
    Arena *a = p->context->arena;
    PtxModule *m = p->module;
    uint32_t number = (uint32_t)ptx_const_expr(p);
    if (number > 65535 || p->token.kind != TOK_STRING)
        ptx_fail(p->context, TLE_EMU_BAD_PTX, p->token.line, "malformed .file");
    while (m->files.len <= number)
        vec_push(a, &m->files, (Str)0);
    m->files.data[number] = str_intern(p->context->names, p->token.text, p->token.len);
    ptx_next(p);
    while (ptx_accept(p, ','))
        ptx_const_expr(p);
}

/* .section name { … }: debug data, skipped whole. */
static void skip_section(PtxParser *p) {
    ptx_next(p);
    ptx_expect(p, '{');
    while (!ptx_at(p, '}') && p->token.kind != TOK_END)
        ptx_next(p);
    ptx_expect(p, '}');
}

static void parse_module_variable(PtxParser *p, PtxSpace space, bool is_extern) {
    do {
        ptx_parse_var(p, space, is_extern, false);
    } while (ptx_accept(p, ','));
    ptx_expect(p, ';');
}

static void parse_declaration(PtxParser *p) {
    bool is_extern = false;
    uint32_t line = p->token.line;
    for (;;) {
        if (ptx_accept_directive(p, "extern"))
            is_extern = true;
        else if (!ptx_accept_directive(p, "visible") && !ptx_accept_directive(p, "weak") &&
                 !ptx_accept_directive(p, "common"))
            break;
    }
    if (ptx_accept_directive(p, "entry"))
        parse_function(p, true);
    else if (ptx_accept_directive(p, "func")) {
        if (ptx_accept_directive(p, "attribute"))
            ptx_fail(p->context, TLE_EMU_NOT_SUPPORTED, line, "not supported: .attribute");
        parse_function(p, false);
    } else if (ptx_accept_directive(p, "global"))
        parse_module_variable(p, SPACE_GLOBAL, is_extern);
    else if (ptx_accept_directive(p, "const"))
        parse_module_variable(p, SPACE_CONST, is_extern);
    else if (ptx_accept_directive(p, "shared"))
        parse_module_variable(p, SPACE_SHARED, is_extern);
    else {
        char room[64];
        ptx_fail(p->context, TLE_EMU_BAD_PTX, line, "expected a declaration, found '%s'",
                 found(p, room, sizeof room));
    }
}

PtxModule *ptx_parse(PtxContext *c, const char *text, size_t length) {
    PtxParser *p = arena_new_of(c->arena, PtxParser);
    PtxVar none = {0};
    p->context = c;
    p->module = arena_new_of(c->arena, PtxModule);
    p->module->context = c;
    map_init(&p->module->globals, c->arena);
    map_init(&p->module->function_ids, c->arena);
    vec_push(c->arena, &p->module->vars, none); /* id 0 is no variable */
    ptx_lex_init(&p->lexer, c, text, length);
    ptx_next(p);
    while (p->token.kind != TOK_END) {
        if (ptx_accept_directive(p, "version"))
            parse_version(p);
        else if (ptx_accept_directive(p, "target"))
            parse_target(p);
        else if (ptx_accept_directive(p, "address_size")) {
            if (ptx_const_expr(p) != 64)
                ptx_fail(c, TLE_EMU_NOT_SUPPORTED, p->token.line,
                         "not supported: .address_size other than 64");
        } else if (ptx_accept_directive(p, "file"))
            parse_file(p);
        else if (ptx_accept_directive(p, "section"))
            skip_section(p);
        else if (ptx_accept_directive(p, "pragma")) {
            ptx_next(p);
            ptx_expect(p, ';');
        } else if (!ptx_accept(p, ';'))
            parse_declaration(p);
    }
    if (p->module->version == 0)
        ptx_fail(c, TLE_EMU_BAD_PTX, 0, "no .version: this is not PTX");
    return p->module;
}
