/* Inside the builtins: handlers, and the helpers several of them share. */
#ifndef SEMA_SEMA_BUILTIN_H
#define SEMA_SEMA_BUILTIN_H

#include "sema/sema_impl.h"

/* Arguments come in parameter order, defaults filled in, none of them erroneous. */
typedef SVal BuiltinFn(Sema *s, const SVal *a, Span at);

#define X(ns, name, fn, params, doc) BuiltinFn fn;
#include "sema/builtin.def"
#undef X

const char *const *methods_named(Sema *s);

/* Compile-time arguments; each reports what it found under the parameter's name. */
bool arg_int(Sema *s, SVal x, const char *name, Span at, int64_t *out);
bool arg_bool(Sema *s, SVal x, const char *name, Span at, bool *out);
bool arg_dtype(Sema *s, SVal x, const char *name, Span at, DType *out);
bool arg_shape(Sema *s, SVal x, const char *name, Span at, uint32_t *rank_out, int64_t *shape_out);
/* A tensor (numbers become scalars). */
bool arg_tensor(Sema *s, SVal *x, const char *name, Span at);
/* An axis of a tensor, negative counted from the end. */
bool arg_axis(Sema *s, SVal x, SVal tensor, Span at, uint32_t *out);
/* One of a table of names; "" and None give `missing`. */
bool arg_choice(Sema *s, SVal x, const char *name, const char *const *choices, int missing, Span at,
                int *out);

/* 0 .. extent - 1 along one axis, in a shape. */
SVal sema_coordinates(Sema *s, uint32_t rank, const int64_t *shape, uint32_t axis, Span at);
/* src at `index` along the axis; shapes and types are checked. */
SVal sema_gather(Sema *s, SVal x, SVal index, uint32_t axis, Span at);
/* torch.finfo(t).max and the like; ns is "torch.finfo.<type>". */
bool sema_type_limit(Sema *s, const char *ns, const char *name, SVal *out);

/* Shared buffers. One with gaps (a part along an inner dimension) has `len` set; it begins at
 * shape[rank + d] in dimension d of the buffer that `v` is. */
SVal sema_shared_buffer(Sema *s, DType t, uint32_t rank, const int64_t *shape, Span at);
SVal sema_full_view(Sema *s, SVal buffer, Span at);
int64_t sema_buffer_bytes(SVal buffer);
/* From byte `start`, plus `index` (None, or an integer scalar) times the bytes of the view. */
SVal sema_buffer_view(Sema *s, SVal buffer, DType t, uint32_t rank, const int64_t *shape,
                      int64_t start, SVal index, Span at);
SVal sema_transpose(Sema *s, SVal x, const SVal *dims, Span at);
SVal sema_reshape(Sema *s, SVal x, uint32_t rank, const int64_t *shape, Span at);
/* max or min of two numbers or tensors. */
SVal sema_extremum(Sema *s, bool max, SVal x, SVal y, bool propagate_nan, Span at);
SVal sema_load(Sema *s, SVal pointer, SVal mask, SVal other, Span at);
SVal sema_store(Sema *s, SVal pointer, SVal value, SVal mask, Span at);
/* Shared pointers -> the same places in the CTA of that rank. */
SVal sema_remote_pointer(Sema *s, SVal pointer, SVal rank);
SVal sema_unsupported_argument(Sema *s, const char *function, const char *parameter, Span at);

#endif
