/* generator/parse: precedence, statements, host code, recovery.
 *
 * The expected shapes of expressions were written out by CPython's `ast` module. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parse/parse.h"

#include <stdio.h>
#include <string.h>

typedef struct Parsed {
    Arena *arena;
    Ast *t;
    Diag *d;
    bool ok;
} Parsed;

static Parsed parse(const char *text) {
    Parsed r = {.arena = arena_new(NULL, NULL)};
    Sources *sources = sources_new(r.arena);
    uint32_t file = sources_add(sources, "test.py", text, strlen(text));
    r.d = diag_new(r.arena, sources);
    r.t = ast_new(r.arena, interner_new(r.arena), sources);
    r.ok = parse_file(r.t, file, r.d);
    return r;
}

static void done(Parsed *r) {
    arena_free(r->arena);
}

static const AstNode *first_statement(const Parsed *r) {
    return ast_node(r->t, ast_item(r->t, ast_node(r->t, r->t->root)->list, 0));
}

static void put(const Ast *t, AstId id, StrBuf *out);

static void put_parts(const Ast *t, const char *head, const AstId *parts, uint32_t count,
                      StrBuf *out) {
    strbuf_addf(out, "(%s", head);
    for (uint32_t i = 0; i < count; i++) {
        strbuf_addc(out, ' ');
        put(t, parts[i], out);
    }
    strbuf_addc(out, ')');
}

static void put_list(const Ast *t, const char *head, AstList l, StrBuf *out) {
    put_parts(t, head, t->lists.data + l.at, l.len, out);
}

static void put_dict(const Ast *t, const AstNode *n, StrBuf *out) {
    strbuf_addz(out, "(dict");
    for (uint32_t i = 0; i < n->list.len; i++) {
        strbuf_addc(out, ' ');
        put(t, ast_item(t, n->list, i), out);
        strbuf_addc(out, '=');
        put(t, ast_item(t, n->list2, i), out);
    }
    strbuf_addc(out, ')');
}

/* A head, one child, and two lists after it. */
static void put_call(const Ast *t, const AstNode *n, StrBuf *out) {
    AstId all[32] = {n->a};
    uint32_t count = 1;
    for (uint32_t i = 0; i < n->list.len; i++)
        all[count++] = ast_item(t, n->list, i);
    for (uint32_t i = 0; i < n->list2.len; i++)
        all[count++] = ast_item(t, n->list2, i);
    put_parts(t, "call", all, count, out);
}

static void put_lambda(const Ast *t, const AstNode *n, StrBuf *out) {
    AstId all[32];
    uint32_t count = 0;
    for (; count < n->list.len; count++)
        all[count] = ast_item(t, n->list, count);
    all[count++] = n->a;
    put_parts(t, "lambda", all, count, out);
}

static void put_leaf(const Ast *t, const AstNode *n, StrBuf *out) {
    switch ((int)n->kind) {
    case AST_NONE:
        strbuf_addc(out, '_');
        break;
    case AST_INT:
        strbuf_addf(out, "%lld", (long long)n->value.i);
        break;
    case AST_FLOAT:
        strbuf_addf(out, "%.1f", n->value.f);
        break;
    case AST_BOOL:
        strbuf_addz(out, n->value.i ? "True" : "False");
        break;
    case AST_NONE_LITERAL:
        strbuf_addz(out, "None");
        break;
    case AST_ELLIPSIS:
        strbuf_addz(out, "...");
        break;
    default:
        strbuf_addz(out, str_text(t->strings, n->name));
        break;
    }
}

static void put(const Ast *t, AstId id, StrBuf *out) {
    const AstNode *n = ast_node(t, id);
    const char *name = str_text(t->strings, n->name);
    const AstId parts[] = {n->a, n->b, n->c};
    switch ((int)n->kind) {
    case AST_UNARY:
        put_parts(t, ast_op_text(n->op), parts, 1, out);
        break;
    case AST_BINARY:
    case AST_BOOLEAN:
    case AST_COMPARE:
        put_parts(t, ast_op_text(n->op), parts, 2, out);
        break;
    case AST_TERNARY:
        put_parts(t, "if", parts, 3, out);
        break;
    case AST_SLICE:
        put_parts(t, ":", parts, 3, out);
        break;
    case AST_ATTRIBUTE:
        put_parts(t, ".", parts, 1, out);
        out->len--;
        strbuf_addf(out, " %s)", name);
        break;
    case AST_SUBSCRIPT:
        put_parts(t, "[]", parts, 2, out);
        break;
    case AST_STARRED:
        put_parts(t, "*", parts, 1, out);
        break;
    case AST_KEYWORD:
        strbuf_addf(out, "%s=", n->name ? name : "**");
        put(t, n->a, out);
        break;
    case AST_CALL:
        put_call(t, n, out);
        break;
    case AST_LAMBDA:
        put_lambda(t, n, out);
        break;
    case AST_DICT:
        put_dict(t, n, out);
        break;
    case AST_TUPLE:
        put_list(t, "tuple", n->list, out);
        break;
    case AST_LIST:
        put_list(t, "list", n->list, out);
        break;
    case AST_SET:
        put_list(t, "set", n->list, out);
        break;
    default:
        put_leaf(t, n, out);
        break;
    }
}

static void test_expressions(void **state) {
    (void)state;
    static const struct {
        const char *text, *shape;
    } cases[] = {
        {"a + b * c", "(+ a (* b c))"},
        {"a * b + c", "(+ (* a b) c)"},
        {"a - b - c", "(- (- a b) c)"},
        {"a // b % c @ d", "(@ (% (// a b) c) d)"},
        {"-a ** -b", "(- (** a (- b)))"},
        {"2 ** 3 ** 4", "(** 2 (** 3 4))"},
        {"not a == b", "(not (== a b))"},
        {"not a in b and c", "(and (not (in a b)) c)"},
        {"a or b and not c or d", "(or (or a (and b (not c))) d)"},
        {"a | b ^ c & d << e + f", "(| a (^ b (& c (<< d (+ e f)))))"},
        {"a << b >> c", "(>> (<< a b) c)"},
        {"~a + -b", "(+ (~ a) (- b))"},
        {"a < b < c", "(and (< a b) (< b c))"},
        {"a < b == c != d", "(and (and (< a b) (== b c)) (!= c d))"},
        {"a is not b", "(is not a b)"},
        {"a not in b", "(not in a b)"},
        {"a & b == c", "(== (& a b) c)"},
        {"(a & b) == c", "(== (& a b) c)"},
        {"a if b else c if d else e", "(if b a (if d c e))"},
        {"a + 1 if b < 2 else c", "(if (< b 2) (+ a 1) c)"},
        {"(a if b else c) + d", "(+ (if b a c) d)"},
        {"lambda x, y: x + y if x else y", "(lambda x y (if x (+ x y) y))"},
        {"a.b.c", "(. (. a b) c)"},
        {"a.b(c)(d)[e].f", "(. ([] (call (call (. a b) c) d) e) f)"},
        {"a[b, c]", "([] a (tuple b c))"},
        {"a[:]", "([] a (: _ _ _))"},
        {"a[:, None]", "([] a (tuple (: _ _ _) None))"},
        {"a[b:c, ..., d:e:f, ::g]", "([] a (tuple (: b c _) ... (: d e f) (: _ _ g)))"},
        {"a[(b, c)]", "([] a (tuple b c))"},
        {"a[b,]", "([] a (tuple b))"},
        {"f()", "(call f)"},
        {"f(a, b, c=d, e=f)", "(call f a b c=d e=f)"},
        {"f(*a, b=c, **d)", "(call f (* a) b=c **=d)"},
        {"f(a, *b)", "(call f a (* b))"},
        {"(a, b), c", "(tuple (tuple a b) c)"},
        {"()", "(tuple)"},
        {"(a,)", "(tuple a)"},
        {"a,", "(tuple a)"},
        {"[a, *b]", "(list a (* b))"},
        {"[]", "(list)"},
        {"{}", "(dict)"},
        {"{a: b, c: d}", "(dict a=b c=d)"},
        {"{a, b}", "(set a b)"},
        {"x == y or z >= w and not v", "(or (== x y) (and (>= z w) (not v)))"},
        {"-a.b", "(- (. a b))"},
        {"-a[0]", "(- ([] a 0))"},
        {"-f(a)", "(- (call f a))"},
        {"1_000 + 0xFF + 0o17 + 0b101", "(+ (+ (+ 1000 255) 15) 5)"},
        {"1.5 + .5 + 1e3 + 2.", "(+ (+ (+ 1.5 0.5) 1000.0) 2.0)"},
        {"True and False or None", "(or (and True False) None)"},
        {"a @ b", "(@ a b)"},
        {"a<b if c>d else e<=f", "(if (> c d) (< a b) (<= e f))"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Parsed r = parse(cases[i].text);
        assert_true(r.ok);
        StrBuf out;
        strbuf_init(&out, r.arena);
        put(r.t, first_statement(&r)->a, &out);
        assert_string_equal(out.text, cases[i].shape);
        done(&r);
    }
}

static void test_chain_shares_its_operand(void **state) {
    (void)state;
    Parsed r = parse("a < f() < c");
    const AstNode *both = ast_node(r.t, first_statement(&r)->a);
    assert_int_equal(ast_node(r.t, both->a)->b, ast_node(r.t, both->b)->a);
    done(&r);
}

static void test_least_int(void **state) {
    (void)state;
    Parsed r = parse("-9223372036854775808");
    const AstNode *n = ast_node(r.t, first_statement(&r)->a);
    assert_int_equal(n->kind, AST_INT);
    assert_true(n->value.i == INT64_MIN);
    done(&r);
}

/* The kinds of the statements of a module. */
static void assert_kinds(const char *text, const AstKind *kinds, uint32_t count) {
    Parsed r = parse(text);
    assert_true(r.ok);
    AstList body = ast_node(r.t, r.t->root)->list;
    assert_int_equal(body.len, count);
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(ast_kind_name(ast_node(r.t, ast_item(r.t, body, i))->kind),
                            ast_kind_name(kinds[i]));
    done(&r);
}

static void test_statements(void **state) {
    (void)state;
    static const AstKind simple[] = {AST_ASSIGN,    AST_ANN_ASSIGN, AST_AUG_ASSIGN,
                                     AST_EXPR_STMT, AST_PASS,       AST_ASSERT,
                                     AST_RAISE,     AST_GLOBAL,     AST_IMPORT_FROM};
    assert_kinds("a = b = 1; x: int; y **= 2\nf(); pass\nassert a, 'b'\nraise X from y\n"
                 "global g, h\nfrom ..m import (a as b, c,)\n",
                 simple, 9);
    static const AstKind compound[] = {AST_IF,   AST_FOR,   AST_WHILE,   AST_WITH,
                                       AST_WITH, AST_CLASS, AST_FUNCTION};
    assert_kinds("if a: b\nelif c:\n  d\nelse: e\n"
                 "for a, *b in c, d: pass\nelse:\n pass\n"
                 "while 1:\n\n  # comment\n  break\n"
                 "with (a as b, c,): pass\nwith (a), b: pass\n"
                 "class A(B, k=v): x = 1; y = 2\n"
                 "@d\ndef f(a, /, b: int = 1, *, c, **k) -> d: pass\n",
                 compound, 7);
}

static void test_host_code_is_opaque(void **state) {
    (void)state;
    static const AstKind kinds[] = {AST_OPAQUE_STMT, AST_OPAQUE_STMT, AST_OPAQUE_STMT,
                                    AST_OPAQUE_STMT, AST_OPAQUE_STMT, AST_OPAQUE_STMT,
                                    AST_OPAQUE_STMT, AST_ASSIGN,      AST_EXPR_STMT};
    assert_kinds("try:\n  a\nexcept* (B, C) as d:\n  e\nelse: f\nfinally: g\n"
                 "async def f(x: {1: 2}) -> a[b:c]:\n  await x\n"
                 "match (x):\n  case {1: y} if (lambda: 1)(): pass\n  case _: z\n"
                 "del a, b[c:d]\ntype X[T] = int\nx = (y := 3)\n"
                 "if (n := f()) > 1:\n  pass\nelse: pass\n"
                 "match = case = type = 1\nmatch(case)[type]\n",
                 kinds, 9);
}

static uint32_t count_functions(const Ast *t, AstId id, const char *name) {
    const AstNode *n = ast_node(t, id);
    uint32_t sum = n->kind == AST_FUNCTION && !strcmp(str_text(t->strings, n->name), name);
    for (uint32_t i = 0; i < n->list.len; i++)
        sum += count_functions(t, ast_item(t, n->list, i), name);
    for (uint32_t i = 0; i < n->list2.len; i++)
        sum += count_functions(t, ast_item(t, n->list2, i), name);
    return sum;
}

static void test_functions_in_host_blocks_are_found(void **state) {
    (void)state;
    Parsed r = parse("try:\n  @triton.jit\n  def k(): pass\nexcept E:\n  def k(): pass\n"
                     "async def a():\n  with b:\n    def k(): yield 1\n"
                     "match x:\n  case 1:\n    def k(): pass\n"
                     "while (y := 1):\n  def k(a=(yield)): pass\nelse:\n  def k(): pass\n");
    assert_true(r.ok);
    assert_int_equal(count_functions(r.t, r.t->root, "k"), 6);
    done(&r);
}

static void test_hints(void **state) {
    (void)state;
    Parsed r = parse("a = 1  # @hint: shared_memory \n# other\nb = (2,  #@hint:x y\n 3)\n");
    assert_string_equal(str_text(r.t->strings, ast_hint(r.t, 1)), "shared_memory");
    assert_int_equal(ast_hint(r.t, 2), 0);
    assert_string_equal(str_text(r.t->strings, ast_hint(r.t, 3)), "x y");
    assert_int_equal(ast_hint(r.t, 4), 0);
    done(&r);
}

static void assert_errors(const char *text, uint32_t errors) {
    Parsed r = parse(text);
    if (diag_errors(r.d) != errors)
        diag_print(r.d, stderr, false);
    assert_int_equal(diag_errors(r.d), errors);
    assert_int_equal(r.ok, errors == 0);
    StrBuf out;
    strbuf_init(&out, r.arena);
    ast_print(r.t, r.t->root, &out); /* a tree with errors can be printed */
    done(&r);
}

static void test_recovery(void **state) {
    (void)state;
    assert_errors("x = = 1\ny = 2\nz = )\n", 2);
    assert_errors("if x\n  y = \n  z = 1\nw w\n", 3);
    assert_errors("def f(a, b:\n  return 1\ndef g(): pass\nx = (1,\ndef h(): pass\n", 2);
    assert_errors("if x:\ny = 1\n", 1);
    assert_errors("  x = 1\ny = 2\n", 1);
    assert_errors("f(a=1, b)\n1 = x\n(a, b) += 1\n(a, b): int\n", 4);
    assert_errors("x = f'{a'\ny = '\nz = 0b2\n", 3);
    assert_errors("@d\nx = 1\ny y\n", 2);
}

static void test_unsupported_only_in_jit(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "try:\n    pass\n  finally: pass",
        "del x",
        "x = yield",
        "await x",
        "x = (y := 1)",
        "x = [i for i in y]",
        "x = b'a'",
        "x = 1j",
        "x = 0x10000000000000000",
        "async with a: pass",
        "match x:\n    case 1: pass",
        "type X = int",
        "x = {**a}",
        "def g(a, /): pass",
        "raise x from y",
    };
    static const char *const jits[] = {"triton.jit", "jit", "triton.jit(do_not_specialize=[1])",
                                       "a\n@triton.jit\n@b"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[256];
        snprintf(text, sizeof text, "@%s\ndef f():\n  %s\n", jits[i % 4], bodies[i]);
        assert_errors(text, 1);
        snprintf(text, sizeof text, "@triton.autotune\ndef f():\n  %s\n", bodies[i]);
        assert_errors(text, 0);
    }
}

static void assert_jit(const char *head, bool is_jit) {
    char text[256];
    snprintf(text, sizeof text, "%s\ndef f(): del x\n", head);
    assert_errors(text, is_jit);
}

static void test_whose_jit(void **state) {
    (void)state;
    assert_jit("@triton.jit", true);
    assert_jit("@triton.runtime.jit", true);
    assert_jit("import triton as tt\n@tt.jit", true);
    assert_jit("from triton.experimental import gluon as g\n@g.jit", true);
    assert_jit("from triton import jit\n@jit", true);
    assert_jit("from ..runtime.jit import jit\n@jit", true);
    assert_jit("@numba.jit", false);
    assert_jit("from numba import jit\n@jit", false);
    assert_jit("import tritonish\n@tritonish.jit", false);
    assert_jit("@f(triton.jit)", false);
}

/* A file cut off at any byte is parsed without a crash, and a whole one without an error. */
static void test_truncation(void **state) {
    (void)state;
    static const char text[] =
        "\xef\xbb\xbfimport a.b as c\r\n@triton.jit\r\n"
        "def f(x: tl.constexpr = 0x1F, *y, **z):\n"
        "\t'''doc\n\t'''\n\tif x[:, None] < 1.5e3 <= y: return f\"{x!r:>{w}}\" 'a\\x41'\n"
        "\tfor i in range(3):\n\t\tx += (1 if y else -2) \\\n\t\t + {1: [2, *z]}[3:4, ...]\n"
        "match x:\n  case 1: pass\nwith (a as b): x = lambda: 1\n";
    for (size_t len = 0; len < sizeof text; len++) {
        char part[sizeof text];
        memcpy(part, text, len);
        part[len < sizeof text - 1 ? len : sizeof text - 1] = '\0';
        Parsed r = parse(part);
        if (len == sizeof text - 1)
            assert_true(r.ok);
        done(&r);
    }
}

static void assert_too_deep(const char *unit) {
    char text[20000];
    size_t len = 2, step = strlen(unit);
    memcpy(text, "x=", len);
    for (; len + step < sizeof text - 1; len += step)
        memcpy(text + len, unit, step);
    text[len] = '\0';
    Parsed r = parse(text);
    assert_false(r.ok);
    done(&r);
}

static void test_depth_is_limited(void **state) {
    (void)state;
    static const char *const units[] = {"(",   "[",  "{1:", "-",           "not ",
                                        "1+",  "a.", "f(",  "lambda:",     "2**",
                                        "f'{", "a<", "x[",  "1 if 1 else "};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        assert_too_deep(units[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_chain_shares_its_operand),
        cmocka_unit_test(test_least_int),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_host_code_is_opaque),
        cmocka_unit_test(test_functions_in_host_blocks_are_found),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_unsupported_only_in_jit),
        cmocka_unit_test(test_whose_jit),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_depth_is_limited),
    };
    return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
