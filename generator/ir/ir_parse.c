/* Reads TIR text; docs/tir.md has the grammar, and each function repeats its rule. A value must be
 * defined above its uses, in the same region or one around it; a name is free again when its region
 * has ended. */
#include "ir/ir_parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct Name {
    Str text;
    uint32_t lo, hi;
} Name;

typedef VEC(Name) Names;
typedef VEC(IrValue) Values;
typedef VEC(IrType) Types;

/* --- tokens --- */

static Span span_from(const IrParser *p, uint32_t start) {
    return (Span){p->file, start, p->lex.hi > start ? p->lex.hi : start};
}

bool ir_parse_fail(IrParser *p, const char *format, ...) {
    char message[256];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_error(p->diag, DIAG_IR_SYNTAX, span_from(p, p->lex.start), "%s", message);
    return false;
}

bool ir_parse_is(const IrParser *p, char punct) {
    return p->lex.tok == IR_TOK_PUNCT && p->lex.text[p->lex.lo] == punct;
}

bool ir_parse_word_is(const IrParser *p, const char *word) {
    size_t len = strlen(word);
    return p->lex.tok == IR_TOK_IDENT && p->lex.hi - p->lex.lo == len &&
           !memcmp(p->lex.text + p->lex.lo, word, len);
}

bool ir_parse_accept(IrParser *p, char punct) {
    if (!ir_parse_is(p, punct))
        return false;
    ir_lex_next(&p->lex);
    return true;
}

bool ir_parse_expect(IrParser *p, char punct) {
    return ir_parse_accept(p, punct) ? true : ir_parse_fail(p, "expected '%c'", punct);
}

bool ir_parse_expect_word(IrParser *p, const char *word) {
    if (!ir_parse_word_is(p, word))
        return ir_parse_fail(p, "expected '%s'", word);
    ir_lex_next(&p->lex);
    return true;
}

Str ir_parse_token(IrParser *p) {
    return str_intern(p->m->strings, p->lex.text + p->lex.lo, p->lex.hi - p->lex.lo);
}

bool ir_parse_int(IrParser *p, int64_t low, int64_t high, int64_t *out) {
    if (!ir_lex_int(&p->lex, out) || *out < low || *out > high)
        return ir_parse_fail(p, "expected an integer in %lld .. %lld", (long long)low,
                             (long long)high);
    ir_lex_next(&p->lex);
    return true;
}

bool ir_parse_u32(IrParser *p, uint32_t *out) {
    int64_t value;
    if (!ir_parse_int(p, 0, UINT32_MAX, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

bool ir_parse_string(IrParser *p, Str *out) {
    StrBuf bytes;
    strbuf_init(&bytes, p->scratch);
    if (p->lex.tok != IR_TOK_STRING || !ir_lex_string(&p->lex, &bytes))
        return ir_parse_fail(p, "expected a string");
    *out = str_intern(p->m->strings, bytes.text ? bytes.text : "", bytes.len);
    ir_lex_next(&p->lex);
    return true;
}

/* "nan" [ "(" "0x" hex ")" ], the payload giving all 64 bits */
static bool parse_nan(IrParser *p, double *out) {
    uint64_t bits = UINT64_C(0x7ff8000000000000);
    ir_lex_next(&p->lex);
    if (ir_parse_accept(p, '(')) {
        const char *word = str_text(p->m->strings, ir_parse_token(p));
        if (strcmp(word, "0"))
            return ir_parse_fail(p, "expected 0x and the bits of the nan");
        ir_lex_next(&p->lex);
        word = str_text(p->m->strings, ir_parse_token(p));
        if (p->lex.tok != IR_TOK_IDENT || word[0] != 'x' || !isxdigit((unsigned char)word[1]))
            return ir_parse_fail(p, "expected 0x and the bits of the nan");
        bits = strtoull(word + 1, NULL, 16);
        ir_lex_next(&p->lex);
        if (!ir_parse_expect(p, ')'))
            return false;
    }
    memcpy(out, &bits, sizeof bits);
    return *out != *out ? true : ir_parse_fail(p, "these are not the bits of a nan");
}

bool ir_parse_float(IrParser *p, double *out) {
    if (ir_parse_word_is(p, "nan"))
        return parse_nan(p, out);
    if (p->lex.tok != IR_TOK_NUMBER && !ir_parse_word_is(p, "inf"))
        return ir_parse_fail(p, "expected a number");
    *out = strtod(str_text(p->m->strings, ir_parse_token(p)), NULL);
    ir_lex_next(&p->lex);
    return true;
}

/* --- values --- */

/* The hint in `hint.number` or in a wholly alphabetic name. */
static Str hint_of(IrParser *p, Str name) {
    const char *text = str_text(p->m->strings, name), *dot = strrchr(text, '.');
    size_t len = dot ? (size_t)(dot - text) : strlen(text);
    if (!len || isdigit((unsigned char)text[0]) || memchr(text, '.', len))
        return 0;
    return str_intern(p->m->strings, text, len);
}

static bool define(IrParser *p, Name name, IrValue v) {
    if (map_find(&p->values, name.text, 0)) {
        diag_error(p->diag, DIAG_IR_SYNTAX, (Span){p->file, name.lo, name.hi},
                   "value %%%s is defined twice", str_text(p->m->strings, name.text));
        return false;
    }
    map_put(&p->values, name.text, v);
    vec_push(p->scratch, &p->visible, name.text);
    ir_set_value_name(p->m, v, hint_of(p, name.text));
    return true;
}

/* Takes a value's name; the current token is one. */
static Name take_name(IrParser *p) {
    Name n = {ir_parse_token(p), p->lex.start, p->lex.hi};
    ir_lex_next(&p->lex);
    return n;
}

/* names = value { "," value } "=" */
static bool parse_names(IrParser *p, Names *out) {
    if (p->lex.tok != IR_TOK_VALUE)
        return true;
    do {
        if (p->lex.tok != IR_TOK_VALUE)
            return ir_parse_fail(p, "expected a value");
        Name n = take_name(p);
        vec_push(p->scratch, out, n);
    } while (ir_parse_accept(p, ','));
    return ir_parse_expect(p, '=');
}

/* operands = [ value { "," value } ], from the line of the mnemonic on: a value on the next line is
 * the next operation's result */
static bool parse_operands(IrParser *p, Values *out) {
    if (p->lex.tok != IR_TOK_VALUE || p->lex.new_line)
        return true;
    do {
        if (p->lex.tok != IR_TOK_VALUE)
            return ir_parse_fail(p, "expected a value");
        IrValue v = map_find(&p->values, ir_parse_token(p), 0);
        if (!v)
            return ir_parse_fail(p, "value %%%s is not defined above",
                                 str_text(p->m->strings, ir_parse_token(p)));
        vec_push(p->scratch, out, v);
        ir_lex_next(&p->lex);
    } while (ir_parse_accept(p, ','));
    return true;
}

/* types = [ ":" type { "," type } ] */
static bool parse_types(IrParser *p, Types *out) {
    if (!ir_parse_accept(p, ':'))
        return true;
    do {
        IrType t;
        if (!ir_parse_type(p, &t))
            return false;
        vec_push(p->scratch, out, t);
    } while (ir_parse_accept(p, ','));
    return true;
}

/* --- operations --- */

/* span = [ "@" file ":" lo ":" hi ] */
static bool parse_span(IrParser *p, Span *out) {
    if (!ir_parse_accept(p, '@'))
        return true;
    if (p->lex.tok != IR_TOK_IDENT || !map_get(&p->files, ir_parse_token(p), &out->file))
        return ir_parse_fail(p, "expected a file defined above, such as f0");
    ir_lex_next(&p->lex);
    return ir_parse_expect(p, ':') && ir_parse_u32(p, &out->lo) && ir_parse_expect(p, ':') &&
           ir_parse_u32(p, &out->hi);
}

/* group = [ "group" "(" number ")" ] */
static bool parse_group(IrParser *p, uint32_t *out) {
    if (!ir_parse_word_is(p, "group"))
        return true;
    ir_lex_next(&p->lex);
    return ir_parse_expect(p, '(') && ir_parse_u32(p, out) && ir_parse_expect(p, ')');
}

typedef struct Literal {
    bool given, is_float;
    int64_t i;
    double f;
} Literal;

/* literal = integer | float, of a const; its type follows, so both readings are kept */
static bool parse_literal(IrParser *p, Literal *out) {
    out->is_float = !ir_lex_int(&p->lex, &out->i);
    out->given =
        p->lex.tok == IR_TOK_NUMBER || ir_parse_word_is(p, "inf") || ir_parse_word_is(p, "nan");
    return !out->given || ir_parse_float(p, &out->f);
}

static bool set_literal(IrParser *p, IrOp op, const Literal *l) {
    IrModule *m = p->m;
    if (!l->given || ir_result_count(m, op) != 1)
        return true; /* for the verifier to reject */
    IrElem elem = ir_elem(m, ir_value_type(m, ir_result(m, op, 0)));
    if (ir_elem_is_float(elem)) {
        ir_set_float(m, op, IR_KEY_FLOAT_VALUE, ir_round_float(elem, l->f));
        return true;
    }
    if (l->is_float)
        return ir_parse_fail(p, "the constant before is no 64-bit integer, but its type is");
    ir_set_int(m, op, IR_KEY_INT_VALUE, l->i);
    return true;
}

static bool parse_op(IrParser *p, IrBlock block);

/* args = [ "(" value ":" type [ "divisible" number ] { "," ... } ")" ]; facts only with `func` */
static bool parse_args(IrParser *p, IrBlock block, IrOp func) {
    if (!ir_parse_accept(p, '('))
        return true;
    while (!ir_parse_is(p, ')')) {
        uint32_t i = ir_arg_count(p->m, block), fact;
        if (i && !ir_parse_expect(p, ','))
            return false;
        if (p->lex.tok != IR_TOK_VALUE)
            return ir_parse_fail(p, "expected a value");
        Name name = take_name(p);
        IrType t;
        if (!ir_parse_expect(p, ':') || !ir_parse_type(p, &t) ||
            !define(p, name, ir_add_arg(p->m, block, t)))
            return false;
        if (func && ir_parse_word_is(p, "divisible")) {
            ir_lex_next(&p->lex);
            if (!ir_parse_u32(p, &fact))
                return false;
            ir_set_param_fact(p->m, func, i, fact);
        }
    }
    ir_lex_next(&p->lex);
    return true;
}

/* Forgets the names defined since `outer` of them were visible. */
static void leave_scope(IrParser *p, uint32_t outer) {
    while (p->visible.len > outer)
        map_put(&p->values, vec_pop(&p->visible), 0);
}

/* region = args "{" { op } "}" */
static bool parse_region(IrParser *p, IrBlock block) {
    uint32_t outer = p->visible.len;
    if (!parse_args(p, block, 0))
        return false;
    if (p->depth == IR_MAX_DEPTH)
        return ir_parse_fail(p, "regions nest deeper than %d", IR_MAX_DEPTH);
    if (!ir_parse_expect(p, '{'))
        return false;
    p->depth++;
    while (!ir_parse_is(p, '}'))
        if (!parse_op(p, block))
            return false;
    p->depth--;
    leave_scope(p, outer);
    ir_lex_next(&p->lex);
    return true;
}

static bool parse_kind(IrParser *p, IrKind *out) {
    const char *name = str_text(p->m->strings, ir_parse_token(p));
    *out = p->lex.tok == IR_TOK_IDENT ? ir_kind_by_name(name) : IR_OP_NONE;
    if (p->lex.tok != IR_TOK_IDENT)
        return ir_parse_fail(p, "expected an operation or '}'");
    if (*out == IR_OP_NONE)
        return ir_parse_fail(p, "unknown operation '%s'", name);
    if (*out == IR_OP_FUNC)
        return ir_parse_fail(p, "functions do not nest");
    ir_lex_next(&p->lex);
    return true;
}

/* Nothing separates operations: a value behind one that takes and gives none starts the next. */
static bool takes_operands(IrKind kind) {
    return ir_op_info(kind)->max_operands != 0 || ir_op_info(kind)->results != 0;
}

/* op = names mnemonic ( literal | operands ) attrs types group span { region } */
static bool parse_op(IrParser *p, IrBlock block) {
    IrModule *m = p->m;
    IrBuilder b = {.m = m, .block = block, .span = {p->file, p->lex.start, p->lex.start}};
    Names names = {0};
    Values operands = {0};
    IrAttrSlots attrs = {0};
    Types types = {0};
    Literal literal = {0};
    IrKind kind;
    if (!parse_names(p, &names) || !parse_kind(p, &kind) ||
        (kind == IR_OP_CONST && !parse_literal(p, &literal)) ||
        (takes_operands(kind) && !parse_operands(p, &operands)) || !ir_parse_attrs(p, &attrs) ||
        !parse_types(p, &types) || !parse_group(p, &b.group))
        return false;
    if (names.len != types.len)
        return ir_parse_fail(p, "%u values are defined, but %u types given", names.len, types.len);
    b.span.hi = p->lex.before;
    if (!parse_span(p, &b.span))
        return false;
    IrOp op = ir_build(&b, kind, operands.data, operands.len, types.data, types.len);
    for (uint32_t i = 0; i < attrs.len; i++)
        ir_set_attr(m, op, attrs.data[i].key, attrs.data[i].attr);
    if (!set_literal(p, op, &literal))
        return false;
    for (uint32_t i = 0; i < ir_region_count(m, op); i++)
        if (!parse_region(p, ir_region_block(m, op, i)))
            return false;
    for (uint32_t i = 0; i < names.len; i++)
        if (!define(p, names.data[i], ir_result(m, op, i)))
            return false;
    return true;
}

/* --- functions --- */

/* groups = [ "groups" "(" "warps" first count "registers" n "barrier" n { "," ... } ")" ] */
static bool parse_groups(IrParser *p, IrOp func) {
    if (!ir_parse_word_is(p, "groups"))
        return true;
    ir_lex_next(&p->lex);
    if (!ir_parse_expect(p, '('))
        return false;
    bool first = true;
    do {
        IrGroup g;
        if (!ir_parse_expect_word(p, "warps") || !ir_parse_u32(p, &g.first_warp) ||
            !ir_parse_u32(p, &g.num_warps) || !ir_parse_expect_word(p, "registers") ||
            !ir_parse_u32(p, &g.registers) || !ir_parse_expect_word(p, "barrier") ||
            !ir_parse_u32(p, &g.first_barrier))
            return false;
        if (first)
            *ir_group_at(p->m, func, 0) = g;
        else
            ir_add_group(p->m, func, g);
        first = false;
    } while (ir_parse_accept(p, ','));
    return ir_parse_expect(p, ')');
}

/* name = "@" ( identifier | string ) */
static bool parse_name(IrParser *p, Str *out) {
    if (!ir_parse_expect(p, '@'))
        return false;
    if (p->lex.tok == IR_TOK_STRING)
        return ir_parse_string(p, out);
    if (p->lex.tok != IR_TOK_IDENT)
        return ir_parse_fail(p, "expected the name of a function");
    *out = ir_parse_token(p);
    ir_lex_next(&p->lex);
    return true;
}

/* func = "func" name args attrs groups span region */
static bool parse_func(IrParser *p) {
    IrModule *m = p->m;
    Span span = {p->file, p->lex.start, p->lex.start};
    Str name;
    IrAttrSlots attrs = {0};
    leave_scope(p, 0);
    if (!ir_parse_expect_word(p, "func") || !parse_name(p, &name))
        return false;
    span.hi = p->lex.before;
    IrOp func = ir_new_func(m, name, span, NULL, 0, 0);
    ir_unset(m, func, IR_KEY_NUM_WARPS);
    if (!parse_args(p, ir_region_block(m, func, 0), func) || !ir_parse_attrs(p, &attrs))
        return false;
    for (uint32_t i = 0; i < attrs.len; i++)
        ir_set_attr(m, func, attrs.data[i].key, attrs.data[i].attr);
    ir_group_at(m, func, 0)->num_warps = (uint32_t)ir_int(m, func, IR_KEY_NUM_WARPS, 0);
    if (!parse_groups(p, func) || !parse_span(p, &span))
        return false;
    ir_op_data(m, func)->span = span;
    return parse_region(p, ir_region_block(m, func, 0));
}

/* --- module --- */

/* A file that was registered before this text under that name keeps its id, so line numbers work
 * where the source is at hand. */
static uint32_t find_file(IrParser *p, const char *name) {
    for (uint32_t id = 1; id < p->file; id++)
        if (!strcmp(source_name(p->m->sources, id), name))
            return id;
    return sources_add(p->m->sources, name, "", 0);
}

/* alias = "#" name "=" ( "file" string | layout ) */
static bool parse_alias(IrParser *p) {
    Str alias = ir_parse_token(p), name;
    LayoutId layout;
    if (map_get(&p->layouts, alias, NULL) || map_get(&p->files, alias, NULL))
        return ir_parse_fail(p, "#%s is defined twice", str_text(p->m->strings, alias));
    ir_lex_next(&p->lex);
    if (!ir_parse_expect(p, '='))
        return false;
    if (!ir_parse_word_is(p, "file")) {
        if (!ir_parse_layout(p, &layout))
            return false;
        map_put(&p->layouts, alias, layout);
        return true;
    }
    ir_lex_next(&p->lex);
    if (!ir_parse_string(p, &name))
        return false;
    map_put(&p->files, alias, find_file(p, str_text(p->m->strings, name)));
    return true;
}

/* module = { alias } { func } */
static bool parse_module(IrParser *p) {
    while (p->lex.tok == IR_TOK_ALIAS)
        if (!parse_alias(p))
            return false;
    while (p->lex.tok != IR_TOK_END)
        if (!parse_func(p))
            return false;
    return true;
}

bool ir_parse(IrModule *m, uint32_t file, Diag *d) {
    IrParser p = {.m = m, .file = file, .diag = d, .scratch = arena_new(NULL, NULL)};
    size_t len;
    const char *text = source_text(m->sources, file, &len);
    vec_push(m->arena, &m->text_files, file);
    map_init(&p.values, p.scratch);
    map_init(&p.layouts, p.scratch);
    map_init(&p.files, p.scratch);
    bool ok = true;
    if (len >= UINT32_MAX) {
        diag_error(d, DIAG_IR_SYNTAX, (Span){file, 0, 0}, "text longer than 4 GiB");
        ok = false;
    } else {
        ir_lex_start(&p.lex, text, (uint32_t)len);
        ok = parse_module(&p);
    }
    arena_free(p.scratch);
    return ok;
}
