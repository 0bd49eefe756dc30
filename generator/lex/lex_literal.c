/* Lexer: numbers, strings and f-strings. */
#include "lex/lex_impl.h"
#include "source/utf8.h"

#include <stdlib.h>
#include <string.h>

static uint32_t digit_value(char c) {
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z' ? (uint32_t)(lower - 'a' + 10) : 99;
}

/* Digits with single underscores between them; false when there are none or one is misplaced. */
static bool skip_digits(Lexer *lx, uint32_t base, bool may_begin_with_underscore) {
    bool ok = false, need_digit = false;
    if (may_begin_with_underscore && lex_peek(lx, 0) == '_')
        lx->at++;
    for (; lx->at < lx->len; lx->at++) {
        char c = lx->s[lx->at];
        if (digit_value(c) < base) {
            ok = true;
            need_digit = false;
        } else if (c == '_' && ok && !need_digit) {
            need_digit = true;
        } else {
            break;
        }
    }
    return ok && !need_digit;
}

static void set_int(Lexer *lx, Token *t, uint32_t lo, uint32_t base) {
    uint64_t value = 0;
    for (uint32_t i = lo; i < lx->at; i++) {
        if (lx->s[i] == '_')
            continue;
        uint32_t digit = digit_value(lx->s[i]);
        if (value > (UINT64_MAX - digit) / base) {
            t->flags |= TOK_FLAG_TOO_LARGE;
            value = UINT64_MAX;
            break;
        }
        value = value * base + digit;
    }
    t->value.i = value;
}

static double float_value(Lexer *lx, uint32_t lo) {
    lx->text.len = 0;
    for (uint32_t i = lo; i < lx->at; i++)
        if (lx->s[i] != '_')
            strbuf_addc(&lx->text, lx->s[i]);
    return strtod(lx->text.text, NULL);
}

/* Python lets a keyword touch the number before it: `1if x else 2`. */
static bool keyword_may_touch(const Lexer *lx, uint32_t len) {
    static const char *const words[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == len && !memcmp(lx->s + lx->at, words[i], len))
            return true;
    return false;
}

static void bad_number(Lexer *lx, uint32_t lo, const char *why) {
    lx->at += lex_name_len(lx, lx->at);
    while (lx->at < lx->len && digit_value(lx->s[lx->at]) < 10)
        lx->at++;
    diag_error(lx->diag, DIAG_LEX_NUMBER, lex_span(lx, lo, lx->at), "malformed number '%.*s': %s",
               (int)(lx->at - lo < 80 ? lx->at - lo : 80), lx->s + lo, why);
    lex_add(lx, TOK_ERROR, lo, lx->at);
}

/* False when a name touches the number just read; that is reported. */
static bool check_end(Lexer *lx, uint32_t lo) {
    uint32_t name = lex_name_len(lx, lx->at);
    if (!name || keyword_may_touch(lx, name))
        return true;
    bad_number(lx, lo, "expected an operator or a space after the digits");
    return false;
}

static void prefixed_int(Lexer *lx, uint32_t lo, uint32_t base) {
    lx->at += 2;
    if (!skip_digits(lx, base, true)) {
        bad_number(lx, lo, "expected digits of the base after the prefix");
        return;
    }
    if (lx->at < lx->len && digit_value(lx->s[lx->at]) < 10)
        bad_number(lx, lo, "a digit is too large for the base");
    else if (check_end(lx, lo))
        set_int(lx, lex_add(lx, TOK_INT, lo, lx->at), lo + 2, base);
}

/* The part of a number after its whole digits; true when it makes the number a float. */
static bool skip_fraction(Lexer *lx, bool *ok) {
    bool is_float = false;
    if (lex_peek(lx, 0) == '.') {
        is_float = true;
        lx->at++;
        if (digit_value(lex_peek(lx, 0)) < 10)
            *ok = *ok && skip_digits(lx, 10, false);
    }
    char e = lex_peek(lx, 0), sign = lex_peek(lx, 1);
    uint32_t skip = sign == '+' || sign == '-' ? 2 : 1;
    if ((e == 'e' || e == 'E') && digit_value(lex_peek(lx, skip)) < 10) {
        is_float = true;
        lx->at += skip;
        *ok = *ok && skip_digits(lx, 10, false);
    }
    return is_float;
}

static bool leading_zero(const Lexer *lx, uint32_t lo) {
    if (lx->s[lo] != '0')
        return false;
    for (uint32_t i = lo; i < lx->at; i++)
        if (lx->s[i] != '0' && lx->s[i] != '_')
            return true;
    return false;
}

static void decimal(Lexer *lx, uint32_t lo) {
    bool ok = lex_peek(lx, 0) == '.' || skip_digits(lx, 10, false);
    bool is_float = skip_fraction(lx, &ok);
    uint32_t end = lx->at;
    bool imaginary = (lex_peek(lx, 0) | 0x20) == 'j';
    if (imaginary)
        lx->at++;
    if (!ok)
        bad_number(lx, lo, "an underscore must stand between digits");
    else if (!is_float && !imaginary && leading_zero(lx, lo))
        bad_number(lx, lo, "a decimal integer cannot begin with 0; octal is written 0o17");
    else if (!check_end(lx, lo))
        return;
    else if (imaginary)
        lex_add(lx, TOK_IMAGINARY, lo, lx->at);
    else if (is_float)
        lex_add(lx, TOK_FLOAT, lo, end)->value.f = float_value(lx, lo);
    else
        set_int(lx, lex_add(lx, TOK_INT, lo, end), lo, 10);
}

void lex_number(Lexer *lx) {
    uint32_t lo = lx->at;
    char prefix = lex_peek(lx, 0) == '0' ? (char)(lex_peek(lx, 1) | 0x20) : '\0';
    if (prefix == 'x')
        prefixed_int(lx, lo, 16);
    else if (prefix == 'o')
        prefixed_int(lx, lo, 8);
    else if (prefix == 'b')
        prefixed_int(lx, lo, 2);
    else
        decimal(lx, lo);
}

static void add_character(Lexer *lx, uint32_t c) {
    char utf8[4];
    strbuf_add(&lx->text, utf8, utf8_encode(c, utf8));
}

/* \xhh, \uhhhh, \Uhhhhhhhh: exactly `count` hexadecimal digits after the letter. */
static void hex_escape(Lexer *lx, uint32_t count) {
    uint32_t value = 0, lo = lx->at, i = 0;
    for (; i < count && digit_value(lex_peek(lx, 2 + i)) < 16; i++)
        value = value << 4 | digit_value(lex_peek(lx, 2 + i));
    lx->at += 2 + i;
    if (i < count)
        diag_error(lx->diag, DIAG_LEX_STRING, lex_span(lx, lo, lx->at),
                   "malformed escape: expected %u hexadecimal digits, found %u", count, i);
    else if (value > 0x10ffff)
        diag_error(lx->diag, DIAG_LEX_STRING, lex_span(lx, lo, lx->at),
                   "malformed escape: no character has the number 0x%x", value);
    else
        add_character(lx, value);
}

static void octal_escape(Lexer *lx) {
    uint32_t value = 0, i = 0;
    for (; i < 3 && digit_value(lex_peek(lx, 1 + i)) < 8; i++)
        value = value * 8 + digit_value(lex_peek(lx, 1 + i));
    lx->at += 1 + i;
    add_character(lx, value);
}

/* \N{name}: host code only ever prints it, so the escape is kept as written. */
static void named_escape(Lexer *lx) {
    uint32_t lo = lx->at;
    lx->at += 2;
    if (lex_peek(lx, 0) == '{') {
        uint32_t end = lx->at;
        while (end < lx->len && lx->s[end] != '}' && lx->s[end] != '\n' && lx->s[end] != '"')
            end++;
        lx->at = end < lx->len && lx->s[end] == '}' ? end + 1 : lx->at;
    }
    strbuf_add(&lx->text, lx->s + lo, lx->at - lo);
}

/* At a backslash that is not the last byte. An unknown escape stands for itself. */
static void escape(Lexer *lx, bool bytes) {
    static const char letters[] = "abfnrtv\\'\"";
    static const char values[] = "\a\b\f\n\r\t\v\\'\"";
    char c = lex_peek(lx, 1);
    const char *known = c ? strchr(letters, c) : NULL;
    if (known) {
        strbuf_addc(&lx->text, values[known - letters]);
        lx->at += 2;
    } else if (c == '\n' || c == '\r') {
        lx->at += c == '\r' && lex_peek(lx, 2) == '\n' ? 3 : 2;
    } else if (digit_value(c) < 8) {
        octal_escape(lx);
    } else if (c == 'x') {
        hex_escape(lx, 2);
    } else if (!bytes && (c == 'u' || c == 'U')) {
        hex_escape(lx, c == 'u' ? 4 : 8);
    } else if (!bytes && c == 'N') {
        named_escape(lx);
    } else {
        strbuf_addc(&lx->text, '\\');
        lx->at++;
    }
}

/* At a backslash of a raw string: it and the character after it stay. */
static void raw_escape(Lexer *lx) {
    strbuf_add(&lx->text, lx->s + lx->at, 1);
    lx->at++;
    char c = lex_peek(lx, 0);
    if (lx->at < lx->len && (c == '\\' || c == '"' || c == '\'' || c == '\n' || c == '\r')) {
        strbuf_addc(&lx->text, c);
        lx->at++;
    }
}

static bool at_end_quote(const Lexer *lx, char quote, bool triple) {
    return lex_peek(lx, 0) == quote &&
           (!triple || (lex_peek(lx, 1) == quote && lex_peek(lx, 2) == quote));
}

/* One character or escape of literal text; CR LF becomes LF. */
static void text_character(Lexer *lx, bool raw, bool bytes) {
    char c = lex_peek(lx, 0);
    if (c == '\\' && lx->at + 1 < lx->len) {
        if (raw)
            raw_escape(lx);
        else
            escape(lx, bytes);
        return;
    }
    lx->at++;
    if (c == '\r') {
        c = '\n';
        lx->at += lex_peek(lx, 0) == '\n';
    }
    strbuf_addc(&lx->text, c);
}

/* Leaves the innermost f-string with all its fields. */
static Mode leave_fstring(Lexer *lx) {
    Mode m;
    do
        m = vec_pop(&lx->modes);
    while (m.kind != MODE_TEXT);
    lx->brackets = m.brackets;
    return m;
}

/* A string in a field of an f-string is most likely the quote that was to end the f-string, so the
 * outermost one is reported, and left. */
static void unterminated(Lexer *lx, Mode m, const char *found) {
    while (lx->modes.len)
        m = leave_fstring(lx);
    uint32_t hi = m.start;
    while (hi < lx->at && lx->s[hi] != '\n' && lx->s[hi] != '\r')
        hi++;
    const char quotes[] = {m.quote, m.triple ? m.quote : '\0', m.quote, '\0'};
    diag_error(lx->diag, DIAG_LEX_STRING, lex_span(lx, m.start, hi),
               "a string that begins here does not end: expected %s, found %s", quotes, found);
    lex_add(lx, TOK_ERROR, m.start, lx->at);
}

static void plain_string(Lexer *lx, Mode m, bool bytes) {
    lx->text.len = 0;
    strbuf_add(&lx->text, "", 0);
    while (lx->at < lx->len && !at_end_quote(lx, m.quote, m.triple)) {
        char c = lex_peek(lx, 0);
        if (!m.triple && (c == '\n' || c == '\r')) {
            unterminated(lx, m, "the end of the line");
            return;
        }
        text_character(lx, m.raw, bytes);
    }
    if (lx->at >= lx->len) {
        unterminated(lx, m, "the end of the file");
        return;
    }
    lx->at += m.triple ? 3 : 1;
    Token *t = lex_add(lx, TOK_STRING, m.start, lx->at);
    t->value.text = str_intern(lx->strings, lx->text.text, lx->text.len);
    t->flags = bytes ? TOK_FLAG_BYTES : 0;
}

void lex_string(Lexer *lx, uint32_t start) {
    Mode m = {.kind = MODE_TEXT, .start = start, .brackets = lx->brackets};
    bool bytes = false, format = false;
    for (uint32_t i = start; i < lx->at; i++) {
        char c = (char)(lx->s[i] | 0x20);
        m.raw = m.raw || c == 'r';
        bytes = bytes || c == 'b';
        format = format || c == 'f';
    }
    m.quote = lex_peek(lx, 0);
    m.triple = lex_peek(lx, 1) == m.quote && lex_peek(lx, 2) == m.quote;
    lx->at += m.triple ? 3 : 1;
    if (!format) {
        plain_string(lx, m, bytes);
        return;
    }
    lex_add(lx, TOK_FSTRING_START, start, lx->at);
    vec_push(lx->arena, &lx->modes, m);
}

void lex_abandon_fstring(Lexer *lx, const char *found) {
    unterminated(lx, lx->modes.data[0], found);
}

static void add_middle(Lexer *lx, uint32_t lo) {
    if (lx->at > lo)
        lex_add(lx, TOK_FSTRING_MIDDLE, lo, lx->at)->value.text =
            str_intern(lx->strings, lx->text.text, lx->text.len);
}

static void begin_field(Lexer *lx, Mode m) {
    lex_add(lx, TOK_LBRACE, lx->at, lx->at + 1);
    lx->at++;
    m.kind = MODE_FIELD;
    m.brackets = ++lx->brackets;
    vec_push(lx->arena, &lx->modes, m);
}

/* At the '}' of the field that is the innermost mode. */
static void end_field(Lexer *lx) {
    lex_add(lx, TOK_RBRACE, lx->at, lx->at + 1);
    lx->at++;
    lx->modes.len--;
    lx->brackets--;
}

static void end_text(Lexer *lx, Mode m) {
    uint32_t quotes = m.triple ? 3 : 1;
    lex_add(lx, TOK_FSTRING_END, lx->at, lx->at + quotes);
    lx->at += quotes;
    leave_fstring(lx);
}

/* A brace in literal text. Doubled ones stand for themselves; returns false at the others. */
static bool doubled_brace(Lexer *lx, Mode m) {
    char c = lex_peek(lx, 0);
    if (m.kind != MODE_TEXT || lex_peek(lx, 1) != c)
        return false;
    strbuf_addc(&lx->text, c);
    lx->at += 2;
    return true;
}

static void lone_brace(Lexer *lx) {
    diag_error(lx->diag, DIAG_LEX_STRING, lex_span(lx, lx->at, lx->at + 1),
               "a '}' that closes no field of the f-string; expected '}}'");
    lx->at++;
}

void lex_fstring_text(Lexer *lx) {
    Mode m = lx->modes.data[lx->modes.len - 1];
    uint32_t lo = lx->at;
    lx->text.len = 0;
    strbuf_add(&lx->text, "", 0);
    while (lx->at < lx->len) {
        char c = lex_peek(lx, 0);
        bool brace = c == '{' || c == '}';
        if (brace && doubled_brace(lx, m))
            continue;
        if (c == '}' && m.kind == MODE_TEXT) {
            lone_brace(lx);
            continue;
        }
        bool line_end = !m.triple && (c == '\n' || c == '\r');
        if (brace || line_end || at_end_quote(lx, m.quote, m.triple))
            break;
        if (c == '\\' && (lex_peek(lx, 1) == '{' || lex_peek(lx, 1) == '}')) {
            strbuf_addc(&lx->text, c); /* no escape: the brace keeps its meaning */
            lx->at++;
        } else {
            text_character(lx, m.raw, false);
        }
    }
    add_middle(lx, lo);
    char c = lex_peek(lx, 0);
    if (lx->at >= lx->len) {
        lex_abandon_fstring(lx, "the end of the file");
    } else if (c == '{') {
        begin_field(lx, m);
    } else if (c == '}') {
        lx->modes.len--; /* the spec; then its field */
        end_field(lx);
    } else if (m.kind == MODE_TEXT && c == m.quote) {
        end_text(lx, m);
    } else {
        lex_abandon_fstring(lx, c == m.quote ? "the end of the string in a field"
                                             : "the end of the line");
    }
}

bool lex_field_char(Lexer *lx) {
    Mode m = lx->modes.data[lx->modes.len - 1];
    char c = lex_peek(lx, 0);
    if (lx->brackets != m.brackets)
        return false;
    if (c == '}') {
        end_field(lx);
    } else if (c == ':') {
        lex_add(lx, TOK_COLON, lx->at, lx->at + 1);
        lx->at++;
        m.kind = MODE_SPEC;
        vec_push(lx->arena, &lx->modes, m);
    } else if (c == '!' && lex_peek(lx, 1) != '=') {
        lex_add(lx, TOK_BANG, lx->at, lx->at + 1);
        lx->at++;
    } else {
        return false;
    }
    return true;
}
