/* Operators on compile-time values. */
#ifndef SEMA_SEMA_CONST_H
#define SEMA_SEMA_CONST_H

#include "sema/sema_impl.h"

SVal const_binary(Sema *s, AstOp op, SVal a, SVal b, Span at);
SVal const_unary(Sema *s, AstOp op, SVal x, Span at);
SVal const_compare(Sema *s, AstOp op, SVal a, SVal b, Span at);
bool const_truth(Sema *s, SVal x);
bool const_equal(SVal a, SVal b);
double const_as_double(SVal x);

#endif
