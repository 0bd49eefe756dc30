/* TIR as text; docs/tir.md has the grammar. Deterministic: values are numbered in order of
 * appearance within their function, layouts and files are numbered in order of appearance in the
 * module and defined at the top, attributes come in the order of attrs.def.
 *
 * The body is printed first, to find out which layouts and files it uses. */
#include "ir/ir_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Printer {
    const IrModule *m;
    StrBuf *out;
    Arena *scratch;
    unsigned flags;
    uint32_t *numbers; /* per value, 0 = not numbered yet */
    uint32_t next_number;
    Map layout_alias, file_alias; /* id -> alias number */
    VEC(uint32_t) layouts, files; /* in order of appearance */
} Printer;

/* --- leaves --- */

static bool is_identifier(const char *s, size_t len) {
    if (!len || isdigit((unsigned char)s[0]))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return false;
    return true;
}

static void print_value(Printer *p, IrValue v) {
    if (!p->numbers[v])
        p->numbers[v] = ++p->next_number;
    Str name = ir_value_name(p->m, v);
    const char *text = str_text(p->m->strings, name);
    strbuf_addc(p->out, '%');
    if (name && is_identifier(text, str_len(p->m->strings, name)))
        strbuf_addf(p->out, "%s.", text);
    strbuf_addf(p->out, "%u", p->numbers[v] - 1);
}

static uint32_t layout_alias(Printer *p, LayoutId id) {
    uint32_t n;
    if (map_get(&p->layout_alias, id, &n))
        return n;
    n = p->layouts.len;
    vec_push(p->scratch, &p->layouts, id);
    map_put(&p->layout_alias, id, n);
    return n;
}

static uint32_t file_alias(Printer *p, uint32_t id) {
    uint32_t n;
    if (map_get(&p->file_alias, id, &n))
        return n;
    n = p->files.len;
    vec_push(p->scratch, &p->files, id);
    map_put(&p->file_alias, id, n);
    return n;
}

static void print_type(Printer *p, IrType t) {
    const IrTypeData *d = ir_type(p->m, t);
    if (!d->layout) {
        ir_type_print(p->m, t, p->out);
        return;
    }
    strbuf_addz(p->out, d->kind == IR_TILE ? "tile<" : "buf<");
    for (unsigned i = 0; i < d->rank; i++)
        strbuf_addf(p->out, "%lldx", (long long)d->shape[i]);
    print_type(p, d->of);
    strbuf_addf(p->out, ", #l%u>", layout_alias(p, d->layout));
}

static void print_string(StrBuf *out, const char *s, size_t len) {
    strbuf_addc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            strbuf_addf(out, "\\%c", c);
        else if (c < ' ' || c >= 0x7f)
            strbuf_addf(out, "\\x%02x", c);
        else
            strbuf_addc(out, (char)c);
    }
    strbuf_addc(out, '"');
}

/* The shortest decimal that reads back as the same value of the element type. */
static void print_float(StrBuf *out, IrElem elem, double value) {
    char text[40];
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value)) {
        if (bits == UINT64_C(0x7ff8000000000000))
            strbuf_addz(out, "nan");
        else
            strbuf_addf(out, "nan(0x%llx)", (unsigned long long)bits);
        return;
    }
    if (isinf(value)) {
        strbuf_addz(out, value < 0 ? "-inf" : "inf");
        return;
    }
    int digits = 1;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < 17 && ir_round_float(elem, strtod(text, NULL)) != value);
    strbuf_addz(out, text);
    if (!strpbrk(text, ".e"))
        strbuf_addz(out, ".0");
}

/* --- attributes --- */

static void print_ints(StrBuf *out, const IrAttrData *a) {
    strbuf_addc(out, '[');
    for (uint32_t i = 0; i < a->len; i++)
        strbuf_addf(out, "%s%lld", i ? ", " : "", (long long)a->ints[i]);
    strbuf_addc(out, ']');
}

static void print_attr(Printer *p, IrOp op, IrKey key, const IrAttrData *a) {
    const char *text;
    switch (ir_key_kind(key)) {
    case IR_KEY_INT:
        strbuf_addf(p->out, "%lld", (long long)a->i);
        return;
    case IR_KEY_BOOL:
        strbuf_addz(p->out, a->i ? "true" : "false");
        return;
    case IR_KEY_FLOAT:
        print_float(p->out,
                    ir_result_count(p->m, op)
                        ? ir_elem(p->m, ir_value_type(p->m, ir_result(p->m, op, 0)))
                        : IR_F64,
                    a->f);
        return;
    case IR_KEY_STR:
        print_string(p->out, str_text(p->m->strings, (Str)a->i), str_len(p->m->strings, (Str)a->i));
        return;
    case IR_KEY_TYPE:
        print_type(p, (IrType)a->i);
        return;
    case IR_KEY_INTS:
        print_ints(p->out, a);
        return;
    case IR_KEY_ENUM:
        text = ir_enum_text(key, a->i);
        strbuf_addz(p->out, text ? text : "invalid");
        return;
    }
}

/* Attributes that the syntax shows elsewhere. */
static bool shown_apart(IrKind kind, IrKey key) {
    return (kind == IR_OP_FUNC && key == IR_KEY_NAME) ||
           (kind == IR_OP_CONST && (key == IR_KEY_INT_VALUE || key == IR_KEY_FLOAT_VALUE));
}

static void print_attrs(Printer *p, IrOp op) {
    const IrOpData *o = ir_op_data(p->m, op);
    const char *separator = " [";
    for (uint32_t i = 0; i < o->attr_len; i++) {
        IrKey key = o->attrs[i].key;
        if (shown_apart(o->kind, key))
            continue;
        strbuf_addf(p->out, "%s%s = ", separator, ir_key_name(key));
        print_attr(p, op, key, &p->m->attrs.data[o->attrs[i].attr]);
        separator = ", ";
    }
    if (*separator == ',')
        strbuf_addc(p->out, ']');
}

static void print_literal(Printer *p, IrOp op) {
    static const IrKey keys[] = {IR_KEY_INT_VALUE, IR_KEY_FLOAT_VALUE};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const IrAttrData *a = ir_attr(p->m, op, keys[i]);
        if (!a)
            continue;
        strbuf_addc(p->out, ' ');
        print_attr(p, op, keys[i], a);
        return;
    }
}

/* --- operations --- */

static bool is_text_file(const IrModule *m, uint32_t file) {
    for (uint32_t i = 0; i < m->text_files.len; i++)
        if (m->text_files.data[i] == file)
            return true;
    return false;
}

static void print_span(Printer *p, Span at) {
    if (at.file && !(p->flags & IR_PRINT_NO_SPANS) && !is_text_file(p->m, at.file))
        strbuf_addf(p->out, " @f%u:%u:%u", file_alias(p, at.file), at.lo, at.hi);
}

static void print_args(Printer *p, IrBlock b, IrOp func) {
    for (uint32_t i = 0; i < ir_arg_count(p->m, b); i++) {
        IrValue v = ir_arg(p->m, b, i);
        strbuf_addz(p->out, i ? ", " : "(");
        print_value(p, v);
        strbuf_addz(p->out, ": ");
        print_type(p, ir_value_type(p->m, v));
        if (func && ir_param_fact(p->m, func, i) != 1)
            strbuf_addf(p->out, " divisible %u", ir_param_fact(p->m, func, i));
    }
    if (ir_arg_count(p->m, b))
        strbuf_addc(p->out, ')');
    else if (func)
        strbuf_addz(p->out, "()");
}

static void print_operation(Printer *p, IrOp op, unsigned depth);

static void print_block(Printer *p, IrBlock b, unsigned depth) {
    strbuf_addz(p->out, " {\n");
    for (IrOp op = ir_first(p->m, b); op; op = ir_next(p->m, op))
        print_operation(p, op, depth + 1);
    strbuf_addf(p->out, "%*s}", (int)(2 * depth), "");
}

static void print_groups(Printer *p, IrOp func) {
    uint32_t n = ir_group_count(p->m, func);
    const IrGroup *first = ir_group_at(p->m, func, 0);
    if (n == 1 && !first->first_warp && !first->registers && !first->first_barrier &&
        first->num_warps == ir_int(p->m, func, IR_KEY_NUM_WARPS, 0))
        return;
    strbuf_addz(p->out, " groups(");
    for (uint32_t i = 0; i < n; i++) {
        const IrGroup *g = ir_group_at(p->m, func, i);
        strbuf_addf(p->out, "%swarps %u %u registers %u barrier %u", i ? ", " : "", g->first_warp,
                    g->num_warps, g->registers, g->first_barrier);
    }
    strbuf_addc(p->out, ')');
}

static void print_func(Printer *p, IrOp func) {
    Str name = ir_str(p->m, func, IR_KEY_NAME);
    const char *text = str_text(p->m->strings, name);
    size_t len = str_len(p->m->strings, name);
    p->next_number = 0;
    strbuf_addz(p->out, "func @");
    if (is_identifier(text, len))
        strbuf_addz(p->out, text);
    else
        print_string(p->out, text, len);
    print_args(p, ir_region_block(p->m, func, 0), func);
    print_attrs(p, func);
    print_groups(p, func);
    print_span(p, ir_span(p->m, func));
    print_block(p, ir_region_block(p->m, func, 0), 0);
    strbuf_addc(p->out, '\n');
}

static void print_results(Printer *p, IrOp op) {
    uint32_t n = ir_result_count(p->m, op);
    for (uint32_t i = 0; i < n; i++) {
        strbuf_addz(p->out, i ? ", " : "");
        print_value(p, ir_result(p->m, op, i));
    }
    if (n)
        strbuf_addz(p->out, " = ");
}

static void print_operation(Printer *p, IrOp op, unsigned depth) {
    const IrModule *m = p->m;
    strbuf_addf(p->out, "%*s", (int)(2 * depth), "");
    print_results(p, op);
    strbuf_addz(p->out, ir_mnemonic(ir_kind(m, op)));
    if (ir_kind(m, op) == IR_OP_CONST)
        print_literal(p, op);
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++) {
        strbuf_addz(p->out, i ? ", " : " ");
        print_value(p, ir_operand(m, op, i));
    }
    print_attrs(p, op);
    for (uint32_t i = 0; i < ir_result_count(m, op); i++) {
        strbuf_addz(p->out, i ? ", " : " : ");
        print_type(p, ir_value_type(m, ir_result(m, op, i)));
    }
    if (ir_group(m, op))
        strbuf_addf(p->out, " group(%u)", ir_group(m, op));
    print_span(p, ir_span(m, op));
    for (uint32_t i = 0; i < ir_region_count(m, op); i++) {
        IrBlock b = ir_region_block(m, op, i);
        if (ir_arg_count(m, b))
            strbuf_addc(p->out, ' ');
        print_args(p, b, 0);
        print_block(p, b, depth);
    }
    strbuf_addc(p->out, '\n');
}

/* --- whole --- */

static void start(Printer *p, const IrModule *m, StrBuf *out, unsigned flags) {
    *p = (Printer){.m = m, .out = out, .flags = flags};
    p->scratch = arena_new(NULL, NULL);
    p->numbers = arena_array(p->scratch, uint32_t, m->values.len);
    map_init(&p->layout_alias, p->scratch);
    map_init(&p->file_alias, p->scratch);
}

void ir_print_with(const IrModule *m, StrBuf *out, unsigned flags) {
    Printer p;
    StrBuf body;
    start(&p, m, &body, flags);
    strbuf_init(&body, p.scratch);
    for (uint32_t i = 0; i < ir_func_count(m); i++) {
        strbuf_addz(&body, i ? "\n" : "");
        print_func(&p, ir_func(m, i));
    }
    for (uint32_t i = 0; i < p.files.len; i++) {
        const char *name = source_name(m->sources, p.files.data[i]);
        strbuf_addf(out, "#f%u = file ", i);
        print_string(out, name, strlen(name));
        strbuf_addc(out, '\n');
    }
    for (uint32_t i = 0; i < p.layouts.len; i++) {
        strbuf_addf(out, "#l%u = ", i);
        layout_print(layout_get(m->layouts, p.layouts.data[i]), out);
        strbuf_addc(out, '\n');
    }
    if (p.files.len || p.layouts.len)
        strbuf_addc(out, '\n');
    strbuf_add(out, body.text ? body.text : "", body.len);
    arena_free(p.scratch);
}

void ir_print(const IrModule *m, StrBuf *out) {
    ir_print_with(m, out, 0);
}

void ir_print_op(const IrModule *m, IrOp op, StrBuf *out) {
    Printer p;
    start(&p, m, out, IR_PRINT_NO_SPANS);
    if (ir_kind(m, op) == IR_OP_FUNC)
        print_func(&p, op);
    else
        print_operation(&p, op, 0);
    arena_free(p.scratch);
}
