/* Lexer: lines, indentation, names and operators. Literals are in lex_literal.c. */
#include "lex/lex_impl.h"
#include "source/utf8.h"

#include <string.h>

static const char *const tok_texts[] = {
#define SPECIAL(name, text)  text,
#define KEYWORD(name, text)  text,
#define OPERATOR(name, text) text,
#include "lex/tok.def"
#undef SPECIAL
#undef KEYWORD
#undef OPERATOR
};

const char *tok_text(TokKind kind) {
    return tok_texts[kind];
}

bool tok_is_keyword(TokKind kind) {
    return kind >= TOK_FALSE && kind <= TOK_YIELD;
}

Token *lex_add(Lexer *lx, TokKind kind, uint32_t lo, uint32_t hi) {
    vec_push(lx->arena, &lx->out->list, ((Token){.kind = kind, .lo = lo, .hi = hi}));
    return &lx->out->list.data[lx->out->list.len - 1];
}

static bool is_ascii_letter(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(unsigned char c) {
    return c >= '0' && c <= '9';
}

/* Characters beyond ASCII are letters but for spaces, punctuation and symbols, which editors and
 * word processors put into code by accident. */
static bool is_name_char(uint32_t c) {
    static const uint32_t not_letters[][2] = {
        {0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb6},     {0xb8, 0xb9},     {0xbb, 0xbf},
        {0xd7, 0xd7},     {0xf7, 0xf7},     {0x2000, 0x203e}, {0x2041, 0x2053}, {0x2055, 0x206f},
        {0x20a0, 0x20cf}, {0x2190, 0x2bff}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0xe000, 0xf8ff},
        {0xfeff, 0xfeff}, {0xff01, 0xff0f}, {0xff1a, 0xff20}, {0xfff0, 0xffff}, {0x1f000, 0x1faff},
    };
    for (size_t i = 0; i < sizeof not_letters / sizeof *not_letters; i++)
        if (c >= not_letters[i][0] && c <= not_letters[i][1])
            return false;
    return c != UTF8_INVALID;
}

uint32_t lex_name_len(const Lexer *lx, uint32_t at) {
    uint32_t i = at, bytes = 1;
    for (; i < lx->len; i += bytes) {
        unsigned char c = (unsigned char)lx->s[i];
        bytes = 1;
        if (is_ascii_letter(c) || (i > at && is_digit(c)))
            continue;
        if (c < 0x80 || !is_name_char(utf8_decode(lx->s + i, lx->len - i, &bytes)))
            break;
    }
    return i - at;
}

/* Length of the line end at an offset: 0, 1, or 2 for CR LF. */
static uint32_t newline_len(const Lexer *lx, uint32_t at) {
    if (at >= lx->len)
        return 0;
    if (lx->s[at] == '\r')
        return at + 1 < lx->len && lx->s[at + 1] == '\n' ? 2 : 1;
    return lx->s[at] == '\n';
}

/* Keeps the text of `# @hint: text`. */
static void note_hint(Lexer *lx, uint32_t lo, uint32_t hi) {
    static const char word[] = "@hint:";
    uint32_t len = sizeof word - 1;
    lo++;
    while (lo < hi && lx->s[lo] == ' ')
        lo++;
    if (hi - lo < len || memcmp(lx->s + lo, word, len) != 0)
        return;
    for (lo += len; lo < hi && lx->s[lo] == ' ';)
        lo++;
    while (hi > lo && (lx->s[hi - 1] == ' ' || lx->s[hi - 1] == '\t'))
        hi--;
    LineHint h = {.text = str_intern(lx->strings, lx->s + lo, hi - lo)};
    uint32_t col;
    source_place(lx->sources, lx->file, lo, &h.line, &col);
    vec_push(lx->arena, &lx->out->hints, h);
}

static void skip_comment(Lexer *lx) {
    uint32_t lo = lx->at;
    while (lx->at < lx->len && !newline_len(lx, lx->at))
        lx->at++;
    note_hint(lx, lo, lx->at);
}

static bool at_backslash_newline(const Lexer *lx) {
    return lex_peek(lx, 0) == '\\' && newline_len(lx, lx->at + 1);
}

static void skip_spaces(Lexer *lx) {
    for (;;) {
        char c = lex_peek(lx, 0);
        if (lx->at < lx->len && (c == ' ' || c == '\t' || c == '\f'))
            lx->at++;
        else if (at_backslash_newline(lx))
            lx->at += 1 + newline_len(lx, lx->at + 1);
        else
            return;
    }
}

static void inconsistent_tabs(Lexer *lx, uint32_t start) {
    diag_error(lx->diag, DIAG_LEX_INDENT, lex_span(lx, start, lx->at),
               "tabs and spaces are mixed so that the indentation depends on the width of a tab");
}

static void close_blocks(Lexer *lx, Indent now, uint32_t start) {
    while (now.column < lx->indents.data[lx->indents.len - 1].column) {
        lx->indents.len--;
        lex_add(lx, TOK_DEDENT, lx->at, lx->at);
    }
    Indent *top = &lx->indents.data[lx->indents.len - 1];
    if (now.column != top->column)
        diag_error(lx->diag, DIAG_LEX_INDENT, lex_span(lx, start, lx->at),
                   "indentation of %u columns matches no enclosing block; expected %u", now.column,
                   top->column);
    else if (now.alternate != top->alternate)
        inconsistent_tabs(lx, start);
}

static void set_indent(Lexer *lx, Indent now, uint32_t start) {
    Indent top = lx->indents.data[lx->indents.len - 1];
    if (now.column > top.column) {
        if (now.alternate <= top.alternate)
            inconsistent_tabs(lx, start);
        vec_push(lx->arena, &lx->indents, now);
        lex_add(lx, TOK_INDENT, start, lx->at);
    } else {
        close_blocks(lx, now, start);
    }
}

/* At the start of a line: skips it when it is blank, else opens and closes blocks. */
static void begin_line(Lexer *lx) {
    Indent now = {0, 0};
    uint32_t start = lx->at;
    for (; lx->at < lx->len; lx->at++) {
        char c = lx->s[lx->at];
        if (c == ' ')
            now = (Indent){now.column + 1, now.alternate + 1};
        else if (c == '\t')
            now = (Indent){(now.column / 8 + 1) * 8, now.alternate + 1};
        else if (c == '\f')
            now = (Indent){0, 0};
        else
            break;
    }
    if (at_backslash_newline(lx)) /* the joined line keeps this indentation */
        skip_spaces(lx);
    if (lex_peek(lx, 0) == '#')
        skip_comment(lx);
    uint32_t newline = newline_len(lx, lx->at);
    if (newline || lx->at >= lx->len) {
        lx->at += newline;
        return;
    }
    lx->line_start = false;
    set_indent(lx, now, start);
}

static TokKind keyword_of(const Lexer *lx, Str s) {
    return (TokKind)map_find(&lx->keywords, s, TOK_NAME);
}

/* Words that no expression contains at the start of one of its lines. */
static bool begins_statement(TokKind kind) {
    switch ((int)kind) {
    case TOK_ASSERT:
    case TOK_BREAK:
    case TOK_CLASS:
    case TOK_CONTINUE:
    case TOK_DEF:
    case TOK_DEL:
    case TOK_GLOBAL:
    case TOK_IMPORT:
    case TOK_NONLOCAL:
    case TOK_PASS:
    case TOK_RAISE:
    case TOK_RETURN:
    case TOK_TRY:
    case TOK_WHILE:
    case TOK_WITH:
        return true;
    default:
        return false;
    }
}

static bool statement_follows(const Lexer *lx, uint32_t at) {
    while (at < lx->len && (lx->s[at] == ' ' || lx->s[at] == '\t'))
        at++;
    uint32_t len = lex_name_len(lx, at);
    return len && begins_statement(keyword_of(lx, str_intern(lx->strings, lx->s + at, len)));
}

/* At a line end that a bracket joins, or that ends a logical line. */
static void end_line(Lexer *lx) {
    uint32_t lo = lx->at;
    lx->at += newline_len(lx, lo);
    if (lx->brackets && !statement_follows(lx, lx->at))
        return;
    if (lx->modes.len)
        lex_abandon_fstring(lx, "a new statement");
    lx->brackets = 0;
    lx->line_start = true;
    lex_add(lx, TOK_NEWLINE, lo, lo);
}

static bool is_string_prefix(const char *s, uint32_t len) {
    static const char *const prefixes[] = {"r", "b", "f", "u", "br", "rb", "fr", "rf"};
    char lower[3] = {0};
    if (len > 2)
        return false;
    for (uint32_t i = 0; i < len; i++)
        lower[i] = (char)(s[i] | 0x20);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strcmp(lower, prefixes[i]))
            return true;
    return false;
}

static void lex_name(Lexer *lx, uint32_t len) {
    uint32_t lo = lx->at;
    lx->at += len;
    char next = lex_peek(lx, 0);
    if ((next == '"' || next == '\'') && is_string_prefix(lx->s + lo, len)) {
        lex_string(lx, lo);
        return;
    }
    Str s = str_intern(lx->strings, lx->s + lo, len);
    lex_add(lx, keyword_of(lx, s), lo, lx->at)->value.text = s;
}

static void count_bracket(Lexer *lx, TokKind kind) {
    if (kind == TOK_LPAREN || kind == TOK_LBRACKET || kind == TOK_LBRACE)
        lx->brackets++;
    bool closes = kind == TOK_RPAREN || kind == TOK_RBRACKET || kind == TOK_RBRACE;
    if (closes && lx->brackets)
        lx->brackets--;
}

static bool lex_operator(Lexer *lx) {
    for (TokKind kind = TOK_POW_ASSIGN; kind < TOK_BANG; kind++) {
        uint32_t len = (uint32_t)strlen(tok_texts[kind]);
        if (len > lx->len - lx->at || memcmp(lx->s + lx->at, tok_texts[kind], len) != 0)
            continue;
        lex_add(lx, kind, lx->at, lx->at + len);
        lx->at += len;
        count_bracket(lx, kind);
        return true;
    }
    return false;
}

static void bad_character(Lexer *lx) {
    uint32_t bytes, lo = lx->at;
    uint32_t c = utf8_decode(lx->s + lo, lx->len - lo, &bytes);
    Span at = lex_span(lx, lo, lo + bytes);
    if (c == UTF8_INVALID)
        diag_error(lx->diag, DIAG_LEX_CHAR, at, "byte 0x%02x is not valid UTF-8",
                   (unsigned)(unsigned char)lx->s[lo]);
    else if (c == '\\')
        diag_error(lx->diag, DIAG_LEX_CHAR, at,
                   "expected the end of the line after a backslash that joins lines");
    else if (c > 0x20 && c != 0x7f)
        diag_error(lx->diag, DIAG_LEX_CHAR, at, "character '%.*s' (U+%04X) cannot start a token",
                   (int)bytes, lx->s + lo, c);
    else
        diag_error(lx->diag, DIAG_LEX_CHAR, at, "character U+%04X cannot start a token", c);
    lx->at += bytes;
    lex_add(lx, TOK_ERROR, lo, lx->at);
}

static void lex_token(Lexer *lx) {
    unsigned char c = (unsigned char)lx->s[lx->at];
    uint32_t name = lex_name_len(lx, lx->at);
    if (c == '#')
        skip_comment(lx);
    else if (newline_len(lx, lx->at))
        end_line(lx);
    else if (name)
        lex_name(lx, name);
    else if (is_digit(c) || (c == '.' && is_digit((unsigned char)lex_peek(lx, 1))))
        lex_number(lx);
    else if (c == '"' || c == '\'')
        lex_string(lx, lx->at);
    else if (!lex_operator(lx))
        bad_character(lx);
}

static void lex_all(Lexer *lx) {
    while (lx->at < lx->len) {
        Mode *mode = lx->modes.len ? &lx->modes.data[lx->modes.len - 1] : NULL;
        if (mode && mode->kind != MODE_FIELD) {
            lex_fstring_text(lx);
        } else if (lx->line_start) {
            begin_line(lx);
        } else {
            skip_spaces(lx);
            if (lx->at < lx->len && !(mode && lex_field_char(lx)))
                lex_token(lx);
        }
    }
}

static void finish(Lexer *lx) {
    if (lx->modes.len)
        lex_abandon_fstring(lx, "the end of the file");
    if (!lx->line_start)
        lex_add(lx, TOK_NEWLINE, lx->len, lx->len);
    for (; lx->indents.len > 1; lx->indents.len--)
        lex_add(lx, TOK_DEDENT, lx->len, lx->len);
    lex_add(lx, TOK_END, lx->len, lx->len);
}

void lex_file(Arena *a, Interner *strings, const Sources *sources, uint32_t file, Diag *d,
              Tokens *out) {
    size_t len;
    Lexer lx = {.arena = a, .strings = strings, .sources = sources, .diag = d, .out = out};
    lx.s = source_text(sources, file, &len);
    lx.file = file;
    lx.len = (uint32_t)len;
    lx.at = len >= 3 && !memcmp(lx.s, "\xef\xbb\xbf", 3) ? 3 : 0;
    lx.line_start = true;
    vec_push(a, &lx.indents, ((Indent){0, 0}));
    map_init(&lx.keywords, a);
    for (TokKind kind = TOK_FALSE; kind <= TOK_YIELD; kind++)
        map_put(&lx.keywords, str_internz(strings, tok_texts[kind]), kind);
    strbuf_init(&lx.text, a);
    lex_all(&lx);
    finish(&lx);
}
