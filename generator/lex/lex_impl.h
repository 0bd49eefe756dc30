/* The state of the lexer, shared by lex.c (lines, names, operators) and lex_literal.c (numbers,
 * strings, f-strings). */
#ifndef LEX_LEX_IMPL_H
#define LEX_LEX_IMPL_H

#include "base/map.h"
#include "lex/lex.h"

/* Where the lexer is inside f-strings, innermost last. */
typedef enum ModeKind {
    MODE_TEXT,  /* literal text of an f-string */
    MODE_FIELD, /* the expression in braces: ordinary tokens */
    MODE_SPEC,  /* the format spec of a field: literal text */
} ModeKind;

typedef struct Mode {
    ModeKind kind;
    char quote;
    bool triple, raw;
    uint32_t start;    /* of the f-string, for messages */
    uint32_t brackets; /* MODE_FIELD: the depth at which '}' ends it; MODE_TEXT: depth outside */
} Mode;

typedef struct Indent {
    uint32_t column, alternate; /* with tabs as 8 columns and as 1, to find mixes that depend */
} Indent;

typedef struct Lexer {
    Arena *arena;
    Interner *strings;
    const Sources *sources;
    Diag *diag;
    Tokens *out;
    const char *s; /* NUL-terminated copy is not needed: every look is bounded by len */
    uint32_t file, at, len;
    uint32_t brackets;
    bool line_start;
    VEC(Indent) indents;
    VEC(Mode) modes;
    Map keywords;
    StrBuf text; /* scratch for decoded text */
} Lexer;

static inline char lex_peek(const Lexer *lx, uint32_t ahead) {
    return ahead < lx->len - lx->at ? lx->s[lx->at + ahead] : '\0';
}
static inline Span lex_span(const Lexer *lx, uint32_t lo, uint32_t hi) {
    return (Span){lx->file, lo, hi};
}

Token *lex_add(Lexer *lx, TokKind kind, uint32_t lo, uint32_t hi);
/* Length of the identifier that starts at an offset, 0 when none does. */
uint32_t lex_name_len(const Lexer *lx, uint32_t at);

void lex_number(Lexer *lx);
/* At the quote of a string whose prefix began at `start`. */
void lex_string(Lexer *lx, uint32_t start);
/* Reads literal text of an f-string up to the next field or the end. */
void lex_fstring_text(Lexer *lx);
/* At a character inside a field: whether it is one that means something there. */
bool lex_field_char(Lexer *lx);
/* Reports the f-string that is open and leaves it with those around it. */
void lex_abandon_fstring(Lexer *lx, const char *found);

#endif
