/* Shared inside sema/: the value model, and who provides what.
 *
 * Every Python value that flows through a jit function is an SVal. Compile-time values (ints,
 * floats, bools, strings, None, dtypes, tuples, functions, namespaces) stay on the host side;
 * tensors (rank 0 = scalars) carry a TIR value and a language type with signedness, which TIR does
 * not have. A compile-time number turns into a tensor only when it meets one or when it is carried
 * through runtime control flow. After an error an SVal of kind SV_ERROR flows silently. */
#ifndef SEMA_SEMA_IMPL_H
#define SEMA_SEMA_IMPL_H

#include "sema/sema.h"

typedef enum DBase {
    D_NONE = 0, /* void */
#define X(name, tl, sig, elem, class) D_##name,
#include "sema/dtype.def"
#undef X
    D_COUNT
} DBase;

/* A scalar dtype (depth 0), or a pointer: depth levels of pointer to base; `space` is the outermost
 * pointer's address space, inner pointers are global. */
typedef struct DType {
    uint8_t base; /* DBase */
    uint8_t depth;
    uint8_t space;
} DType;

typedef enum SKind {
    SV_ERROR = 0,
    SV_NONE,  /* None */
    SV_BOOL,  /* i */
    SV_INT,   /* i */
    SV_FLOAT, /* f */
    SV_STR,   /* str */
    SV_DTYPE, /* dtype; also pointer types */
    SV_TUPLE, /* items, len; lists too */
    SV_SLICE, /* only the full slice `:` (items NULL) or constexpr lower/upper/step in items[3] */
    SV_ELLIPSIS,
    SV_TENSOR,    /* dtype, rank, shape, v */
    SV_BUFFER,    /* dtype, rank, shape, v: a shared buffer (tle.gpu.alloc); items[0], where there
                     are items: the rank of the CTA of the cluster that it is meant in */
    SV_FUNCTION,  /* ast: a jit function of this file */
    SV_BUILTIN,   /* builtin: index into the builtin table */
    SV_NAMESPACE, /* str: canonical dotted prefix: "tl", "tl.math", "tle", "tle.gpu", "triton",
                     "python" */
    SV_METHOD,    /* builtin + items[0] = the bound object */
    SV_MESH,      /* mesh: a device mesh */
    SV_DICT,      /* items: len pairs of key and value, all static */
    SV_RANGE      /* result of range()/tl.range()/tl.static_range(): items, see SRangeItem */
} SKind;

typedef struct SMesh SMesh; /* sema_mesh.h */
typedef struct SVal SVal;
struct SVal {
    SKind kind;
    DType dtype;
    uint8_t rank;
    /* A number written in the source, a constexpr, or computed from such: adopts a tensor's type.
     * One that a plain assignment named is not literal: it keeps the default type it got there. */
    bool literal;
    uint32_t len;
    uint32_t builtin;
    AstId ast;
    Str str;
    IrValue v;
    union {
        int64_t i;
        double f;
    } num;
    SVal *items;
    const int64_t *shape; /* tensors and buffers; on the arena */
    const SMesh *mesh;
};

typedef enum SRangeKind { S_RANGE_RUNTIME, S_RANGE_STATIC } SRangeKind;
/* SV_RANGE: num.i = SRangeKind; items indexed by SRangeItem, absent attributes are SV_NONE. Bounds
 * are integers (constants or scalar tensors; constants when STATIC), a constant step is not 0. */
typedef enum SRangeItem {
    S_RANGE_START,
    S_RANGE_STOP,
    S_RANGE_STEP,
    S_RANGE_NUM_STAGES,
    S_RANGE_UNROLL,
    S_RANGE_FLATTEN,
    S_RANGE_NO_LICM,
    S_RANGE_REORDER,
    S_RANGE_ITEMS
} SRangeItem;

typedef struct Sema {
    Arena *arena;
    Ast *ast;
    Interner *strings;
    Diag *diag;
    IrModule *m;
    IrBuilder b;
    const SemaRequest *request;
    struct SemaScope *scope; /* sema_flow.c / sema.c */
    struct SemaFrame *frame; /* the function being inlined */
    uint32_t call_depth;
} Sema;

/* --- sema_value.c: makers and questions (builtins engineer) --- */
SVal sv_error(void);
SVal sv_none(void);
SVal sv_bool(bool x);
SVal sv_int(int64_t x);
SVal sv_float(double x);
SVal sv_str(Str s);
SVal sv_dtype(DType t);
SVal sv_tuple(Sema *s, const SVal *items, uint32_t len);
/* Wraps a TIR value; the shape comes from its type. */
SVal sv_tensor(Sema *s, IrValue v, DType dtype);
bool sv_is_const(SVal x);  /* compile-time: NONE BOOL INT FLOAT STR DTYPE, TUPLE of such */
bool sv_is_number(SVal x); /* BOOL INT FLOAT */
DType dt(DBase base);
DType dt_ptr(DType pointee, uint8_t space);
bool dt_equal(DType a, DType b);
bool dt_is_ptr(DType t);
bool dt_is_float(DType t);
bool dt_is_int(DType t);      /* integers and int1 */
bool dt_is_unsigned(DType t); /* uint* */
bool dt_is_signed(DType t);
uint32_t dt_bits(DType t); /* pointers 64 */
DType dt_pointee(DType t);
const char *dt_name(Sema *s, DType t);                /* "float32", "pointer<float32>" */
bool dt_from_signature(const char *text, DType *out); /* "*fp32" */
IrType dt_ir(Sema *s, DType t);                       /* scalar TIR type */
IrType sv_ir_type(Sema *s, DType t, uint32_t rank, const int64_t *shape);
/* For messages: "int32", "float32[128, 64]", "the constant 3", "a tuple of 2", ... */
const char *sv_describe(Sema *s, SVal x);
/* Of the text of a namespace: what it is called in a file. */
const char *sema_namespace_name(const char *text);

/* --- sema_ops.c: operators (builtins engineer) --- */
SVal sema_binary(Sema *s, AstOp op, SVal a, SVal b, Span at);
SVal sema_unary(Sema *s, AstOp op, SVal a, Span at);
SVal sema_compare(Sema *s, AstOp op, SVal a, SVal b, Span at); /* also is, is not, in */
/* Number or tensor -> tensor. Numbers take `want` when it is not D_NONE, else Triton's default:
 * bool int1, int32 (int64 / uint64 when it does not fit), float32. */
SVal sema_tensor(Sema *s, SVal x, DType want, Span at);
SVal sema_cast(Sema *s, SVal x, DType to, bool bitcast, Span at);
SVal sema_broadcast(Sema *s, SVal x, uint32_t rank, const int64_t *shape, Span at);
bool sema_broadcast_pair(Sema *s, SVal *a, SVal *b, Span at);
/* A condition: constant -> *known; scalar tensor -> i1 IrValue. False after a diagnostic. */
bool sema_condition(Sema *s, SVal x, Span at, bool *known_out, bool *value_out, IrValue *cond_out);
/* `x if c else y` on a runtime condition, both sides values: unifies types, select. */
SVal sema_select(Sema *s, SVal cond, SVal x, SVal y, Span at);
/* Brings two values that meet at a control-flow join to one type: numbers become tensors, dtypes
 * promote only from literal numbers. Differing tensors are a diagnostic naming `name`. */
bool sema_unify(Sema *s, SVal *a, SVal *b, Str name, Span at);
SVal sema_subscript(Sema *s, SVal object, SVal index, Span at); /* x[:, None], tuple[i], shape[i] */

/* --- sema_builtin*.c: functions, methods, attributes (builtins engineer) --- */
/* Resolves a name in a namespace: "tl" + "load" -> SV_BUILTIN, "tl" + "float32" -> SV_DTYPE,
 * "tl" + "math" -> SV_NAMESPACE. Unknown names are diagnosed with the nearest known one. */
SVal sema_namespace_get(Sema *s, Str ns, Str name, Span at);
/* A name of an imported file, by the namespace that sema_find_import gave; false when `ns` is no
 * such namespace. */
bool sema_imported_get(Sema *s, Str ns, Str name, Span at, SVal *out);
/* `import triton.language as tl`: the canonical namespace of a dotted module name, or SV_ERROR when
 * it is not one of ours (host modules are fine until they are used inside a kernel). */
SVal sema_import(Sema *s, Str module);
/* Attributes of values: .dtype .shape .T .type .to .sum ...: SV_METHOD for methods. */
SVal sema_attribute(Sema *s, SVal object, Str name, Span at);
/* Python builtins that jit code may call: range, min, max, float, int, bool, len, abs, tuple, ...
 */
bool sema_python_builtin(Sema *s, Str name, SVal *out);
typedef struct SArgs {
    const SVal *pos;
    uint32_t n_pos;
    const Str *key;
    const SVal *val;
    uint32_t n_key;
    const Span *pos_span; /* may be NULL */
} SArgs;
SVal sema_call_builtin(Sema *s, uint32_t builtin, const SVal *self, const SArgs *args, Span at);

/* --- sema_expr.c, sema_call.c, sema_stmt.c, sema_flow.c, sema.c (core engineer) --- */
SVal sema_eval(Sema *s, AstId expr);
SVal sema_call_function(Sema *s, AstId function, const SArgs *args, Span at);

/* Notes to the latest error: the inlined calls around it, and the specialisation. */
void sema_context_notes(Sema *s);

/* Error helper: diag_error + sema_context_notes + SV_ERROR. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
SVal sema_error(Sema *s, DiagCode code, Span at, const char *format, ...);

#endif
