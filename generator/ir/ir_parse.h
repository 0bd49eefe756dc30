/* Shared by the files of the TIR parser. Functions return false after one diagnostic; the parser
 * stops at the first error. Safe on any input: everything that is interned has been checked. */
#ifndef IR_IR_PARSE_H
#define IR_IR_PARSE_H

#include "ir/ir_impl.h"
#include "ir/ir_lex.h"

typedef struct IrParser {
    IrModule *m;
    IrLexer lex;
    uint32_t file;
    Diag *diag;
    Arena *scratch;
    Map values;         /* Str -> visible IrValue; 0 once its region has ended */
    VEC(Str) visible;   /* their names, innermost region last */
    Map layouts, files; /* Str of an alias -> id */
    unsigned depth;
} IrParser;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
/* Reports at the current token; false, so that callers can return it. */
bool ir_parse_fail(IrParser *p, const char *format, ...);
bool ir_parse_is(const IrParser *p, char punct);
bool ir_parse_word_is(const IrParser *p, const char *word);
bool ir_parse_accept(IrParser *p, char punct);
bool ir_parse_expect(IrParser *p, char punct);
bool ir_parse_expect_word(IrParser *p, const char *word);
Str ir_parse_token(IrParser *p); /* text of the current token */
bool ir_parse_int(IrParser *p, int64_t low, int64_t high, int64_t *out);
bool ir_parse_u32(IrParser *p, uint32_t *out);
bool ir_parse_string(IrParser *p, Str *out);
/* number, inf, -inf, nan, nan(0x<bits>) */
bool ir_parse_float(IrParser *p, double *out);

bool ir_parse_type(IrParser *p, IrType *out);
bool ir_parse_layout(IrParser *p, LayoutId *out);

typedef VEC(IrAttrSlot) IrAttrSlots;
/* An optional list in brackets. */
bool ir_parse_attrs(IrParser *p, IrAttrSlots *out);

#endif
