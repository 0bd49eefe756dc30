/* Parser: text of one Python file -> AST. Recursive descent, one function per grammar rule.
 * Recovers at statement ends, so several errors are reported. */
#ifndef PARSE_PARSE_H
#define PARSE_PARSE_H

#include "ast/ast.h"

/* Parses file `file` of t->sources into t->root. Returns false when there were errors (all of
 * them in `d`); the tree is then still printable. */
bool parse_file(Ast *t, uint32_t file, Diag *d);

#endif
