/* Tokens of TIR text, for ir_parse*.c. Comments run from // to the end of the line. */
#ifndef IR_IR_LEX_H
#define IR_IR_LEX_H

#include "ir/ir.h"

typedef enum IrTok {
    IR_TOK_END,
    IR_TOK_PUNCT,  /* one of ( ) { } [ ] < > , : = @ */
    IR_TOK_IDENT,  /* letters, digits, _ and . */
    IR_TOK_NUMBER, /* decimal integer or float, maybe signed; also -inf */
    IR_TOK_STRING, /* with its quotes */
    IR_TOK_VALUE,  /* %name, without the % */
    IR_TOK_ALIAS,  /* #name, without the # */
    IR_TOK_BAD
} IrTok;

typedef struct IrLexer {
    const char *text;
    uint32_t len, pos; /* pos is just past the current token */
    IrTok tok;
    uint32_t lo, hi; /* the current token's text */
    uint32_t start;  /* where it starts, sigil included */
    uint32_t before; /* where the previous token ended */
    bool new_line;   /* a line ended between the two */
} IrLexer;

void ir_lex_start(IrLexer *l, const char *text, uint32_t len);
void ir_lex_next(IrLexer *l);
/* The bytes a string token stands for; false on a bad escape. */
bool ir_lex_string(const IrLexer *l, StrBuf *out);
bool ir_lex_int(const IrLexer *l, int64_t *out); /* false: not an integer, or out of range */

#endif
