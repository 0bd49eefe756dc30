/* Reading of --sig and --const, and of the same texts in grid files. */
#ifndef DRIVER_SIGNATURE_H
#define DRIVER_SIGNATURE_H

#include "sema/sema.h"

typedef struct ParamList {
    SemaParam *at;
    uint32_t len;
} ParamList;

typedef struct ConstList {
    SemaConst *at;
    uint32_t len;
} ConstList;

/* "x:*f32:16, n:i32" and "K=2048, NAME='a,b'". Both f32 and fp32 are accepted; the result has the
 * latter. Constants are added to those that `out` holds. NULL, or a sentence that says what is
 * wrong. */
const char *signature_params(Arena *a, const char *text, ParamList *out);
const char *signature_consts(Arena *a, const char *text, ConstList *out);
/* The part after the name: "*fp32:16". */
const char *signature_type(Arena *a, const char *text, SemaParam *out);

typedef struct TypeSize {
    uint32_t bytes;
    bool is_pointer;
} TypeSize;

/* Size of a parameter of a type that signature_type accepted. */
TypeSize signature_size(const char *type);

#endif
