/* generator/lex and generator/source: tokens, literals, places, and the rendering of diagnostics.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lex/lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lexed {
    Arena *arena;
    Interner *strings;
    Diag *d;
    Tokens tokens;
} Lexed;

static Lexed lex(const char *text) {
    Lexed r = {.arena = arena_new(NULL, NULL)};
    Sources *sources = sources_new(r.arena);
    uint32_t file = sources_add(sources, "test.py", text, strlen(text));
    r.strings = interner_new(r.arena);
    r.d = diag_new(r.arena, sources);
    lex_file(r.arena, r.strings, sources, file, r.d, &r.tokens);
    return r;
}

static void done(Lexed *r) {
    arena_free(r->arena);
}

static const char *letter(TokKind kind) {
    switch ((int)kind) {
    case TOK_NEWLINE:
        return ";";
    case TOK_INDENT:
        return ">";
    case TOK_DEDENT:
        return "<";
    case TOK_NAME:
        return "n";
    case TOK_INT:
        return "i";
    case TOK_FLOAT:
        return "f";
    case TOK_STRING:
        return "s";
    case TOK_FSTRING_START:
        return "F";
    case TOK_FSTRING_MIDDLE:
        return "t";
    case TOK_FSTRING_END:
        return "E";
    case TOK_ERROR:
        return "?";
    case TOK_END:
        return "";
    default:
        return tok_text(kind);
    }
}

/* The kinds of all tokens: the text of keywords and operators, a letter for the others. */
static void assert_tokens(const char *text, const char *expected) {
    Lexed r = lex(text);
    StrBuf out;
    strbuf_init(&out, r.arena);
    for (uint32_t i = 0; i < r.tokens.list.len; i++) {
        const char *s = letter(r.tokens.list.data[i].kind);
        strbuf_addf(&out, i && *s ? " %s" : "%s", s);
    }
    assert_string_equal(out.text, expected);
    done(&r);
}

static void test_lines(void **state) {
    (void)state;
    assert_tokens("", "");
    assert_tokens("\xef\xbb\xbf"
                  "a\r\nb\rc",
                  "n ; n ; n ;");
    assert_tokens("if a:\n  b\n\n  # x\n c\n", "if n : ; > n ; < n ;");
    assert_tokens("if a:\n\tb\n        c\nd", "if n : ; > n ; n ; < n ;");
    assert_tokens("a = (1,\n\n  2) \\\n + 3 # c", "n = ( i , i ) + i ;");
    assert_tokens("if a:\n  if b:\n    c\nd", "if n : ; > if n : ; > n ; < < n ;");
    assert_tokens("f(a,\nreturn b\n", "n ( n , ; return n ;");
    assert_tokens("f(a,\nreturned)\n", "n ( n , n ) ;");
}

static void test_operators(void **state) {
    (void)state;
    assert_tokens("a**=b//=c<<=d>>=e...f", "n **= n //= n <<= n >>= n ... n ;");
    assert_tokens("a:=b->c!=d<=e==f@g@=h", "n := n -> n != n <= n == n @ n @= n ;");
    assert_tokens("x[1:2]if y else{z}", "n [ i : i ] if n else { n } ;");
    assert_tokens("match case _ type", "n n n n ;");
}

static void test_fstrings(void **state) {
    (void)state;
    assert_tokens("f'a{b}c'", "F t { n } t E ;");
    assert_tokens("f'{{x}}'", "F t E ;");
    assert_tokens("f'{a!r:>{w}.2}'", "F { n ! n : t { n } t } E ;");
    assert_tokens("f'{a != b}{c[1:2]}{d:=5}'", "F { n != n } { n [ i : i ] } { n : t } E ;");
    assert_tokens("f'{a['b']}' 'c'", "F { n [ s ] } E s ;");
    assert_tokens("rf'''{\na}\n\"'''", "F { n } t E ;");
    assert_tokens("f'{f\"{a}\"}'", "F { F { n } E } E ;");
}

static void assert_int(const char *text, uint64_t value) {
    Lexed r = lex(text);
    assert_int_equal(r.tokens.list.data[0].kind, TOK_INT);
    assert_true(r.tokens.list.data[0].value.i == value);
    assert_int_equal(diag_errors(r.d), 0);
    done(&r);
}

static void assert_float(const char *text, double value) {
    Lexed r = lex(text);
    assert_int_equal(r.tokens.list.data[0].kind, TOK_FLOAT);
    assert_true(r.tokens.list.data[0].value.f >= value && r.tokens.list.data[0].value.f <= value);
    done(&r);
}

static void test_numbers(void **state) {
    (void)state;
    assert_int("0", 0);
    assert_int("1_000", 1000);
    assert_int("0xFf_ff", 65535);
    assert_int("0o17", 15);
    assert_int("0B101", 5);
    assert_int("00", 0);
    assert_int("18446744073709551615", UINT64_MAX);
    assert_int("1if x else y", 1);
    assert_float("1.5", 1.5);
    assert_float(".5e1", 5.0);
    assert_float("1_0.0_1", 10.01);
    assert_float("1E-3", 0.001);
    assert_float("2.", 2.0);
    static const char *const bad[] = {"1__0", "1_", "0x", "0b2", "017", "1abc", "1e", "0o8"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Lexed r = lex(bad[i]);
        assert_int_equal(r.tokens.list.data[0].kind, TOK_ERROR);
        assert_int_equal(diag_errors(r.d), 1);
        done(&r);
    }
    Lexed r = lex("18446744073709551616");
    assert_int_equal(r.tokens.list.data[0].flags, TOK_FLAG_TOO_LARGE);
    done(&r);
}

static void assert_text(const char *literal, const char *value) {
    Lexed r = lex(literal);
    assert_int_equal(r.tokens.list.data[0].kind, TOK_STRING);
    assert_string_equal(str_text(r.strings, r.tokens.list.data[0].value.text), value);
    done(&r);
}

static void test_strings(void **state) {
    (void)state;
    assert_text("'a\\n\\x41\\101\\u00e9\\'\\q'", "a\nAA\xc3\xa9'\\q");
    assert_text("r'a\\n\\''", "a\\n\\'");
    assert_text("\"\"\"a\r\nb\"c\"\"\"", "a\nb\"c");
    assert_text("'a\\\nb'", "ab");
    assert_text("u'\\N{DASH}'", "\\N{DASH}");
    assert_text("\"\\U0001F600\"", "\xf0\x9f\x98\x80");
    assert_text("Rb'\\x41'", "\\x41");
}

/* What is printed for the errors of a text. */
static void assert_printed(const char *text, bool json, const char *expected) {
    Lexed r = lex(text);
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);
    if (json)
        diag_print_json(r.d, f);
    else
        diag_print(r.d, f, false);
    fclose(f);
    assert_string_equal(out, expected);
    free(out);
    done(&r);
}

static void test_rendering(void **state) {
    (void)state;
    assert_printed("a = 1\n\tx = $\n", false,
                   "test.py:2:6: error[E0101]: character '$' (U+0024) cannot start a token\n"
                   "        x = $\n"
                   "            ^\n");
    /* Wide characters take two columns, a combining accent none. */
    assert_printed("'\xe4\xbd\xa0\xe5\xa5\xbd' + e\xcc\x81 + 1abc\n", false,
                   "test.py:1:18: error[E0104]: malformed number '1abc': expected an operator or a "
                   "space after the digits\n"
                   "    '\xe4\xbd\xa0\xe5\xa5\xbd' + e\xcc\x81 + 1abc\n"
                   "                 ^~~~\n");
    assert_printed("x = '''a\nb", false,
                   "test.py:1:5: error[E0102]: a string that begins here does not end: expected "
                   "''', found the end of the file\n"
                   "    x = '''a\n"
                   "        ^~~~\n");
    assert_printed("x = 0x\n", true,
                   "{\"diagnostics\":[\n"
                   "{\"severity\":\"error\",\"code\":\"E0104\",\"path\":\"test.py\",\"line\":1,"
                   "\"column\":5,\"end_line\":1,\"end_column\":7,\"message\":\"malformed number "
                   "'0x': expected digits of the base after the prefix\",\"notes\":[]}\n"
                   "],\"errors\":1,\"warnings\":0,\"not_shown\":0}\n");
}

static void test_limit_and_repeats(void **state) {
    (void)state;
    Arena *a = arena_new(NULL, NULL);
    Sources *s = sources_new(a);
    uint32_t file = sources_add(s, "t.py", "0123456789012345678901234567890", 30);
    Diag *d = diag_new(a, s);
    for (uint32_t i = 0; i < 23; i++) {
        diag_error(d, DIAG_SEMA_NAME, (Span){file, i, i + 1}, "e%u", i);
        diag_note(d, (Span){0, 0, 0}, "n%u", i);
        diag_error(d, DIAG_SEMA_NAME, (Span){file, i, i + 1}, "again");
        diag_note(d, (Span){0, 0, 0}, "lost");
    }
    assert_true(diag_errors(d) > DIAG_LIMIT);
    diag_warning(d, DIAG_SEMA_TYPE, (Span){0, 0, 0}, "w");
    assert_int_equal(diag_warnings(d), 1);
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);
    diag_print(d, f, false);
    fclose(f);
    assert_non_null(strstr(out, "t.py:1:20: error[E0301]: e19\n"));
    assert_non_null(strstr(out, "note: n19\n"));
    assert_null(strstr(out, "e20"));
    assert_null(strstr(out, "lost"));
    assert_null(strstr(out, "again"));
    assert_non_null(strstr(out, "\nwarning[E0303]: w\n"));
    assert_non_null(strstr(out, "more errors not shown\n"));
    free(out);
    arena_free(a);
}

static void test_nearest(void **state) {
    (void)state;
    static const char *const names[] = {"atomic_add", "arange", "load", "store", NULL};
    assert_string_equal(diag_nearest("laod", names), "load");
    assert_string_equal(diag_nearest("atomic_ad", names), "atomic_add");
    assert_string_equal(diag_nearest("arrange", names), "arange");
    assert_null(diag_nearest("xyz", names));
    assert_null(diag_nearest("", names));
}

static void test_places(void **state) {
    (void)state;
    Arena *a = arena_new(NULL, NULL);
    Sources *s = sources_new(a);
    const char *text = "\xef\xbb\xbf"
                       "ab\r\nc\rd\n";
    uint32_t file = sources_add(s, "t", text, strlen(text));
    static const uint32_t expected[][3] = {{0, 1, 1}, {3, 1, 1},  {4, 1, 2}, {7, 2, 1},
                                           {9, 3, 1}, {10, 3, 2}, {11, 4, 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        uint32_t line, col;
        source_place(s, file, expected[i][0], &line, &col);
        assert_int_equal(line, expected[i][1]);
        assert_int_equal(col, expected[i][2]);
    }
    Span joined = span_join((Span){file, 4, 5}, (Span){file, 1, 2});
    assert_int_equal(joined.lo, 1);
    assert_int_equal(joined.hi, 5);
    assert_int_equal(span_join((Span){0, 0, 0}, joined).hi, 5);
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),    cmocka_unit_test(test_operators),
        cmocka_unit_test(test_fstrings), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),  cmocka_unit_test(test_rendering),
        cmocka_unit_test(test_nearest),  cmocka_unit_test(test_limit_and_repeats),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests_name("lex", tests, NULL, NULL);
}
