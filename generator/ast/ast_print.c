/* The tree as text: one node a line, children indented under their parent and led by the role they
 * have in ast.def.
 *
 *     AUG_ASSIGN + 3:5-3:11
 *       a NAME "x" 3:5-3:6
 *       b INT 1 3:10-3:11
 */
#include "ast/ast.h"

#include <inttypes.h>

static void put_quoted(StrBuf *out, const char *text, size_t len) {
    strbuf_addc(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            strbuf_addf(out, "\\%c", (int)c);
        else if (c < 0x20 || c == 0x7f)
            strbuf_addf(out, "\\x%02x", (unsigned)c);
        else
            strbuf_addc(out, (char)c);
    }
    strbuf_addc(out, '"');
}

static bool has_flag(AstKind kind) {
    return kind == AST_PARAM || kind == AST_COMPREHENSION;
}

static void put_value(const Ast *t, const AstNode *n, StrBuf *out) {
    if (n->name || n->kind == AST_STRING || n->kind == AST_KEYWORD || n->kind == AST_PARAM) {
        strbuf_addc(out, ' ');
        put_quoted(out, str_text(t->strings, n->name), str_len(t->strings, n->name));
    }
    if (n->op)
        strbuf_addf(out, " %s", ast_op_text(n->op));
    if (n->kind == AST_INT || (has_flag(n->kind) && n->value.i))
        strbuf_addf(out, " %" PRId64, n->value.i);
    else if (n->kind == AST_FLOAT)
        strbuf_addf(out, " %.17g", n->value.f);
    else if (n->kind == AST_BOOL)
        strbuf_addz(out, n->value.i ? " True" : " False");
}

static void put_span(const Ast *t, Span s, StrBuf *out) {
    uint32_t line, col, end_line, end_col;
    source_place(t->sources, s.file, s.lo, &line, &col);
    source_place(t->sources, s.file, s.hi, &end_line, &end_col);
    strbuf_addf(out, " %u:%u-%u:%u\n", line, col, end_line, end_col);
}

static void put_node(const Ast *t, AstId id, const char *role, uint32_t depth, StrBuf *out);

static void put_list(const Ast *t, AstList l, const char *role, uint32_t depth, StrBuf *out) {
    for (uint32_t i = 0; i < l.len; i++)
        put_node(t, ast_item(t, l, i), role, depth, out);
}

static void put_node(const Ast *t, AstId id, const char *role, uint32_t depth, StrBuf *out) {
    const AstNode *n = ast_node(t, id);
    strbuf_addf(out, "%*s%s%s", (int)depth * 2, "", role, ast_kind_name(n->kind));
    if (!id) {
        strbuf_addc(out, '\n');
        return;
    }
    put_value(t, n, out);
    put_span(t, n->span, out);
    const AstId children[] = {n->a, n->b, n->c, n->d};
    static const char *const roles[] = {"a ", "b ", "c ", "d "};
    for (uint32_t i = 0; i < 4; i++)
        if (children[i])
            put_node(t, children[i], roles[i], depth + 1, out);
    put_list(t, n->list, "list ", depth + 1, out);
    put_list(t, n->list2, "list2 ", depth + 1, out);
}

void ast_print(const Ast *t, AstId id, StrBuf *out) {
    put_node(t, id, "", 0, out);
}
