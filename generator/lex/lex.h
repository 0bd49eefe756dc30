/* Lexer: the text of one Python 3 file -> all its tokens at once.
 *
 * Blank lines, comments and line joins leave no tokens; indentation becomes INDENT and DEDENT.
 * There is always a NEWLINE before DEDENTs and END, and END is last. What cannot be read is
 * reported once and becomes a TOK_ERROR token, about which a parser need not speak again.
 *
 * An f-string is FSTRING_START, then FSTRING_MIDDLE texts and fields ('{' tokens [BANG NAME]
 * [COLON, the parts of the format spec] '}'), then FSTRING_END. Soft keywords are names.
 *
 * Brackets join lines. A bracket that is never closed ends where a line begins with a word that
 * can only begin a statement, so one forgotten ')' does not swallow the rest of the file. */
#ifndef LEX_LEX_H
#define LEX_LEX_H

#include "base/vec.h"
#include "source/diag.h"

typedef enum TokKind {
#define SPECIAL(name, text)  TOK_##name,
#define KEYWORD(name, text)  TOK_##name,
#define OPERATOR(name, text) TOK_##name,
#include "lex/tok.def"
#undef SPECIAL
#undef KEYWORD
#undef OPERATOR
    TOK_KIND_COUNT
} TokKind;

typedef enum TokFlag {
    TOK_FLAG_TOO_LARGE = 1, /* INT that does not fit 64 bits; value is UINT64_MAX */
    TOK_FLAG_BYTES = 2,     /* STRING with prefix b */
} TokFlag;

typedef struct Token {
    TokKind kind;
    uint32_t lo, hi; /* bytes of the file */
    uint32_t flags;
    union {
        Str text;   /* NAME and keywords: as written; STRING, FSTRING_MIDDLE: decoded */
        uint64_t i; /* INT */
        double f;   /* FLOAT */
    } value;
} Token;

/* The text of a comment `# @hint: text` on a line (1-based). */
typedef struct LineHint {
    uint32_t line;
    Str text;
} LineHint;

typedef struct Tokens {
    VEC(Token) list;
    VEC(LineHint) hints; /* by ascending line */
} Tokens;

void lex_file(Arena *a, Interner *strings, const Sources *sources, uint32_t file, Diag *d,
              Tokens *out);

bool tok_is_keyword(TokKind kind);
/* The text of a keyword or an operator, a description of the others. */
const char *tok_text(TokKind kind);

#endif
