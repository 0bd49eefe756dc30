/* Scanner of TIR text. Every access is bounded by the text's length. */
#include "ir/ir_lex.h"

#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

static char at(const IrLexer *l, uint32_t i) {
    return i < l->len ? l->text[i] : '\0';
}

void ir_lex_start(IrLexer *l, const char *text, uint32_t len) {
    *l = (IrLexer){.text = text, .len = len};
    ir_lex_next(l);
}

static void skip_blank(IrLexer *l) {
    for (; l->pos < l->len; l->pos++) {
        char c = at(l, l->pos);
        if (c == '/' && at(l, l->pos + 1) == '/')
            while (l->pos + 1 < l->len && at(l, l->pos + 1) != '\n')
                l->pos++;
        else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            return;
        else
            l->new_line |= c == '\n';
    }
}

static void skip_word(IrLexer *l) {
    while (l->pos < l->len && is_word(l->text[l->pos]))
        l->pos++;
}

static void skip_digits(IrLexer *l) {
    while (is_digit(at(l, l->pos)))
        l->pos++;
}

static IrTok number(IrLexer *l) {
    l->pos += at(l, l->pos) == '-';
    if (!is_digit(at(l, l->pos))) {
        skip_word(l);
        bool infinite = l->pos - l->lo == 4 && !memcmp(l->text + l->lo, "-inf", 4);
        return infinite ? IR_TOK_NUMBER : IR_TOK_BAD;
    }
    skip_digits(l);
    if (at(l, l->pos) == '.') {
        l->pos++;
        skip_digits(l);
    }
    if (at(l, l->pos) == 'e') {
        l->pos++;
        l->pos += at(l, l->pos) == '-' || at(l, l->pos) == '+';
        skip_digits(l);
    }
    return IR_TOK_NUMBER;
}

static IrTok string(IrLexer *l) {
    for (l->pos++; l->pos < l->len && l->text[l->pos] != '"' && l->text[l->pos] != '\n'; l->pos++)
        if (l->text[l->pos] == '\\' && l->pos + 1 < l->len)
            l->pos++;
    if (at(l, l->pos) != '"')
        return IR_TOK_BAD;
    l->pos++;
    return IR_TOK_STRING;
}

static IrTok scan(IrLexer *l) {
    char c = at(l, l->pos);
    if (l->pos >= l->len)
        return IR_TOK_END;
    if (c == '%' || c == '#') {
        l->lo = ++l->pos;
        skip_word(l);
        return l->pos == l->lo ? IR_TOK_BAD : c == '%' ? IR_TOK_VALUE : IR_TOK_ALIAS;
    }
    if (c == '-' || is_digit(c))
        return number(l);
    if (c == '"')
        return string(l);
    if (is_word(c)) {
        skip_word(l);
        return IR_TOK_IDENT;
    }
    l->pos++;
    return c && strchr("(){}[]<>,:=@", c) ? IR_TOK_PUNCT : IR_TOK_BAD;
}

void ir_lex_next(IrLexer *l) {
    l->before = l->pos;
    l->new_line = false;
    skip_blank(l);
    l->start = l->lo = l->pos;
    l->tok = scan(l);
    l->hi = l->pos;
}

static int hex_digit(char c) {
    return is_digit(c)            ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool ir_lex_string(const IrLexer *l, StrBuf *out) {
    for (uint32_t i = l->lo + 1; i + 1 < l->hi; i++) {
        char c = l->text[i];
        if (c != '\\') {
            strbuf_addc(out, c);
            continue;
        }
        c = l->text[++i];
        if (c == 'x') {
            int high = hex_digit(at(l, i + 1)), low = hex_digit(at(l, i + 2));
            if (high < 0 || low < 0)
                return false;
            strbuf_addc(out, (char)(high << 4 | low));
            i += 2;
        } else if (c == '"' || c == '\\') {
            strbuf_addc(out, c);
        } else {
            return false;
        }
    }
    return true;
}

bool ir_lex_int(const IrLexer *l, int64_t *out) {
    if (l->tok != IR_TOK_NUMBER)
        return false;
    uint32_t i = l->lo;
    bool negative = l->text[i] == '-';
    i += negative;
    uint64_t value = 0, limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;
    for (; i < l->hi; i++) {
        if (!is_digit(l->text[i]))
            return false;
        uint64_t digit = (uint64_t)(l->text[i] - '0');
        if (value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}
