/* Tokens of PTX. A directive or qualifier keeps its "::" parts in one token, so ".shared::cta" and
 * ".L1::evict_last" are single words; identifiers may hold '$', '%' and '_' anywhere. */
#include "ptx.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ptx_fail(PtxContext *c, tle_emu_status status, uint32_t line, const char *format, ...) {
    va_list args;
    int used;
    if (line)
        used = snprintf(c->error, c->error_size, "%s:%u: ", c->module_name, line);
    else
        used = snprintf(c->error, c->error_size, "%s: ", c->module_name);
    if (used < 0 || (size_t)used >= c->error_size)
        used = 0;
    va_start(args, format);
    vsnprintf(c->error + used, c->error_size - (size_t)used, format, args);
    va_end(args);
    c->status = status;
    longjmp(*c->escape, 1);
}

void ptx_lex_init(PtxLexer *lex, PtxContext *c, const char *text, size_t length) {
    lex->context = c;
    lex->at = text;
    lex->end = text + length;
    lex->line = 1;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '$' || c == '%';
}

static char peek(const PtxLexer *lex, size_t ahead) {
    return (size_t)(lex->end - lex->at) > ahead ? lex->at[ahead] : '\0';
}

static void skip_block_comment(PtxLexer *lex) {
    uint32_t start = lex->line;
    lex->at += 2;
    while (lex->at < lex->end && !(peek(lex, 0) == '*' && peek(lex, 1) == '/')) {
        if (*lex->at == '\n')
            lex->line++;
        lex->at++;
    }
    if (lex->at >= lex->end)
        ptx_fail(lex->context, TLE_EMU_BAD_PTX, start, "comment is not closed");
    lex->at += 2;
}

static void skip_blank(PtxLexer *lex) {
    while (lex->at < lex->end) {
        char c = *lex->at;
        if (c == '\n') {
            lex->line++;
            lex->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
            lex->at++;
        } else if (c == '/' && peek(lex, 1) == '/') {
            while (lex->at < lex->end && *lex->at != '\n')
                lex->at++;
        } else if (c == '/' && peek(lex, 1) == '*') {
            skip_block_comment(lex);
        } else {
            return;
        }
    }
}

static int hex_digit(char c) {
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Reads digits of `base`; at least one must be there. */
static uint64_t digits(PtxLexer *lex, int base, uint32_t max_count) {
    uint64_t v = 0;
    uint32_t n = 0;
    while (lex->at < lex->end && n < max_count) {
        int d = hex_digit(*lex->at);
        if (d < 0 || d >= base)
            break;
        v = v * (uint64_t)base + (uint64_t)d;
        lex->at++;
        n++;
    }
    if (n == 0)
        ptx_fail(lex->context, TLE_EMU_BAD_PTX, lex->line, "number without digits");
    return v;
}

static PtxTokenKind decimal(PtxLexer *lex, uint64_t *value) {
    char text[64];
    size_t n = 0;
    const char *at = lex->at;
    while (at < lex->end && n + 1 < sizeof text &&
           (is_digit(*at) || *at == '.' || *at == 'e' || *at == 'E' ||
            ((*at == '-' || *at == '+') && n && (text[n - 1] == 'e' || text[n - 1] == 'E'))))
        text[n++] = *at++;
    text[n] = '\0';
    if (!strpbrk(text, ".eE")) {
        *value = digits(lex, 10, 20);
        return TOK_INT;
    }
    double d = strtod(text, NULL);
    memcpy(value, &d, sizeof d);
    lex->at = at;
    return TOK_FLOAT64;
}

static void lex_number(PtxLexer *lex, PtxToken *t) {
    char second = peek(lex, 1);
    t->kind = TOK_INT;
    if (*lex->at != '0' || is_digit(second) || !is_word(second)) {
        if (*lex->at == '0' && is_digit(second))
            t->value = digits(lex, 8, 23);
        else
            t->kind = decimal(lex, &t->value);
    } else {
        lex->at += 2;
        switch (second) {
        case 'x':
        case 'X':
            t->value = digits(lex, 16, 16);
            break;
        case 'b':
        case 'B':
            t->value = digits(lex, 2, 64);
            break;
        case 'f':
        case 'F':
            t->kind = TOK_FLOAT32;
            t->value = digits(lex, 16, 8);
            break;
        case 'd':
        case 'D':
            t->kind = TOK_FLOAT64;
            t->value = digits(lex, 16, 16);
            break;
        default:
            lex->at -= 1;
            t->value = 0;
        }
    }
    if (t->kind == TOK_INT && peek(lex, 0) == 'U')
        lex->at++;
    if (is_word(peek(lex, 0)))
        ptx_fail(lex->context, TLE_EMU_BAD_PTX, lex->line, "malformed number");
}

static void lex_string(PtxLexer *lex, PtxToken *t) {
    t->kind = TOK_STRING;
    t->text = ++lex->at;
    while (lex->at < lex->end && *lex->at != '"' && *lex->at != '\n')
        lex->at += *lex->at == '\\' && lex->at + 1 < lex->end ? 2 : 1;
    if (lex->at >= lex->end || *lex->at != '"')
        ptx_fail(lex->context, TLE_EMU_BAD_PTX, lex->line, "string is not closed");
    t->len = (uint32_t)(lex->at - t->text);
    lex->at++;
}

static void lex_word(PtxLexer *lex, PtxToken *t, bool directive) {
    t->kind = directive ? TOK_DIRECTIVE : TOK_IDENT;
    lex->at += directive;
    t->text = lex->at;
    while (lex->at < lex->end &&
           (is_word(*lex->at) || (directive && *lex->at == ':' && peek(lex, 1) == ':'))) {
        lex->at += *lex->at == ':' ? 2 : 1;
    }
    t->len = (uint32_t)(lex->at - t->text);
}

/* A word after the dot; digits count if a letter follows them, as in .2d and .16x64b. */
static bool starts_qualifier(const PtxLexer *lex) {
    size_t at = 1;
    while (is_digit(peek(lex, at)))
        at++;
    return is_word(peek(lex, at));
}

PtxToken ptx_lex_next(PtxLexer *lex) {
    PtxToken t = {.kind = TOK_END};
    skip_blank(lex);
    t.line = lex->line;
    t.text = lex->at;
    if (lex->at >= lex->end)
        return t;
    char c = *lex->at;
    if (is_digit(c)) {
        lex_number(lex, &t);
    } else if (c == '.' && starts_qualifier(lex)) {
        lex_word(lex, &t, true);
    } else if (is_word(c)) {
        lex_word(lex, &t, false);
    } else if (c == '"') {
        lex_string(lex, &t);
    } else {
        t.kind = TOK_PUNCT;
        t.punct = c;
        if ((c == '<' || c == '>') && peek(lex, 1) == c) {
            t.punct = c == '<' ? 'L' : 'R';
            lex->at++;
        }
        lex->at++;
    }
    return t;
}
