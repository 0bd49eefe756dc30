/* Promotion helpers shared by operators and builtins. */
#ifndef SEMA_SEMA_PROMOTE_H
#define SEMA_SEMA_PROMOTE_H

#include "sema/sema_impl.h"

/* Common type of two operands; `*_number` marks Python numbers, `division` is / or %. */
DType promote(DType a, bool a_number, DType b, bool b_number, bool division);
DType promote_integers(DType a, DType b);
/* The type a Python number has by itself. */
DType number_dtype(SVal x);
DType value_dtype(SVal x); /* of a number or a tensor */
SVal number_to_tensor(Sema *s, SVal x, DType t, Span at);
SVal sema_expand_dims(Sema *s, SVal x, int64_t axis, Span at);
/* Brings two operands to one dtype and shape. Pointers are refused unless `pointers`. */
bool sema_pair(Sema *s, SVal *a, SVal *b, bool division, bool pointers, const char *what, Span at);

#endif
