/* TIR, the tile IR: SSA with structured regions. Ids, not pointers; 0 = none. Types, layouts and
 * attribute values are hash-consed, so equality is id equality.
 *
 * An operation has a kind (ops.def), a span, an execution group, operands, results, regions and
 * attributes. A region has one block; a block has arguments and a doubly linked list of operations
 * ending in a terminator. A module is a list of FUNC operations.
 *
 * Execution groups: every operation belongs to a group of the function's group table; a plain
 * kernel has one, group 0. "Warp", "thread", "barrier" and "scratch" are relative to the group.
 *
 * Only ir/, sema/, pass/ and the builder may change a module. */
#ifndef IR_IR_H
#define IR_IR_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "ir/layout.h"
#include "source/diag.h"

typedef uint32_t IrType, IrAttr, IrOp, IrValue, IrBlock, IrRegion;

enum { IR_MAX_RANK = LAYOUT_MAX_RANK, IR_MAX_TILE = 1 << 20, IR_MAX_DEPTH = 200 };
enum { IR_SPACE_GLOBAL = 1, IR_SPACE_SHARED = 3, IR_SPACE_CLUSTER = 7 };

typedef enum IrElem {
    IR_ELEM_NONE = 0,
#define X(name, text, bits, class) IR_##name,
#include "ir/types.def"
#undef X
    IR_ELEM_COUNT
} IrElem;

typedef enum IrTypeKind { IR_NO_TYPE = 0, IR_SCALAR, IR_PTR, IR_TILE, IR_BUF } IrTypeKind;

typedef struct IrTypeData {
    IrTypeKind kind;
    IrElem elem;     /* SCALAR */
    uint8_t space;   /* PTR */
    uint8_t rank;    /* TILE, BUF */
    IrType of;       /* PTR: pointee; TILE: scalar or pointer; BUF: scalar */
    LayoutId layout; /* TILE: distributed, 0 before layout assignment; BUF: shared, 0 = row-major */
    int64_t shape[IR_MAX_RANK];
} IrTypeData;

typedef enum IrKind {
    IR_OP_NONE = 0,
#define X(name, text, omin, omax, results, regions, traits, verify, attrs, doc) IR_OP_##name,
#include "ir/ops.def"
#undef X
    IR_OP_COUNT
} IrKind;

enum {
#define X(name, doc) IR_TRAIT_BIT_##name,
#include "ir/traits.def"
#undef X
    IR_TRAIT_BIT_COUNT
};
enum {
#define X(name, doc) IR_TRAIT_##name = 1 << IR_TRAIT_BIT_##name,
#include "ir/traits.def"
#undef X
};

typedef enum IrKey {
    IR_KEY_NONE = 0,
#define X(name, text, kind) IR_KEY_##name,
#include "ir/attrs.def"
#undef X
    IR_KEY_COUNT
} IrKey;

/* Values of enumerated attributes (enums.def): IR_CMP_EQ, IR_SEM_RELAXED, ... counted from 0 in
 * each enumeration. */
enum {
#define E(e)             IR_##e##_BEGIN_ = -1,
#define V(e, name, text) IR_##e##_##name,
#include "ir/enums.def"
#undef E
#undef V
};

typedef struct IrGroup {
    uint32_t first_warp, num_warps;
    uint32_t registers;     /* setmaxnreg budget, 0 = none */
    uint32_t first_barrier; /* hardware barrier id of the group's own barrier */
} IrGroup;

typedef struct IrModule IrModule;

/* One row of ops.def. */
typedef struct IrOpInfo {
    const char *mnemonic;
    int min_operands, max_operands, results; /* -1 = any number */
    uint32_t regions, traits;
    const char *attrs, *doc;
} IrOpInfo;

const IrOpInfo *ir_op_info(IrKind kind);
IrKind ir_kind_by_name(const char *mnemonic); /* NONE when unknown */

IrModule *ir_module_new(Arena *a, Interner *strings, Sources *sources);
Arena *ir_arena(const IrModule *m);
Interner *ir_strings(const IrModule *m);
Sources *ir_sources(const IrModule *m);
LayoutTable *ir_layouts(const IrModule *m);
/* Ids of operations and values are below these: sizes of side tables. */
uint32_t ir_op_limit(const IrModule *m);
uint32_t ir_value_limit(const IrModule *m);

/* --- types --- */
IrType ir_scalar(IrModule *m, IrElem elem);
IrType ir_ptr(IrModule *m, IrType pointee, uint8_t space);
IrType ir_tile(IrModule *m, IrType of, unsigned rank, const int64_t *shape, LayoutId layout);
IrType ir_buf(IrModule *m, IrType of, unsigned rank, const int64_t *shape, LayoutId layout);
const IrTypeData *ir_type(const IrModule *m, IrType t);
/* Same shape and layout, other element type; a scalar gives `of` itself. */
IrType ir_type_with_elem(IrModule *m, IrType t, IrType of);
IrType ir_type_with_layout(IrModule *m, IrType t, LayoutId layout);
/* The element: the type itself for scalars and pointers, `of` for tiles. */
IrType ir_elem_type(const IrModule *m, IrType t);
IrElem ir_elem(const IrModule *m, IrType t); /* of a scalar or a tile of scalars, else NONE */
bool ir_is_tile(const IrModule *m, IrType t);
bool ir_is_ptr(const IrModule *m, IrType t);        /* pointer or tile of pointers */
int64_t ir_tile_elems(const IrModule *m, IrType t); /* 1 for scalars */
uint32_t ir_elem_bits(IrElem e);
bool ir_elem_is_float(IrElem e);
void ir_type_print(const IrModule *m, IrType t, StrBuf *out);
/* Bytes of one element in memory (i1 takes one byte; pointers 8). */
uint32_t ir_elem_bytes(const IrModule *m, IrType elem);

/* --- attributes --- */
typedef enum IrAttrKind {
    IR_ATTR_INT,
    IR_ATTR_FLOAT,
    IR_ATTR_STR,
    IR_ATTR_TYPE,
    IR_ATTR_INTS
} IrAttrKind;
typedef struct IrAttrData {
    IrAttrKind kind; /* BOOL and enums are INT */
    int64_t i;       /* INT, STR (a Str), TYPE (an IrType) */
    double f;
    uint32_t len; /* INTS */
    const int64_t *ints;
} IrAttrData;
bool ir_has(const IrModule *m, IrOp op, IrKey key);
int64_t ir_int(const IrModule *m, IrOp op, IrKey key, int64_t missing); /* also BOOL and enums */
double ir_float(const IrModule *m, IrOp op, IrKey key, double missing);
Str ir_str(const IrModule *m, IrOp op, IrKey key);
const IrAttrData *ir_attr(const IrModule *m, IrOp op, IrKey key); /* NULL when absent */
void ir_set_int(IrModule *m, IrOp op, IrKey key, int64_t value);
void ir_set_float(IrModule *m, IrOp op, IrKey key, double value);
void ir_set_str(IrModule *m, IrOp op, IrKey key, Str value);
void ir_set_ints(IrModule *m, IrOp op, IrKey key, const int64_t *values, uint32_t len);
void ir_unset(IrModule *m, IrOp op, IrKey key);
void ir_copy_attrs(IrModule *m, IrOp from, IrOp to);
bool ir_same_attrs(const IrModule *m, IrOp a, IrOp b);
uint64_t ir_hash_attrs(const IrModule *m, IrOp op); /* equal attributes have equal hashes */

/* --- reading operations --- */
/* NONE for an erased operation: ids are never used again, so work lists may hold stale ones. */
IrKind ir_kind(const IrModule *m, IrOp op);
Span ir_span(const IrModule *m, IrOp op);
uint32_t ir_group(const IrModule *m, IrOp op);
uint32_t ir_operand_count(const IrModule *m, IrOp op);
IrValue ir_operand(const IrModule *m, IrOp op, uint32_t i);
uint32_t ir_result_count(const IrModule *m, IrOp op);
IrValue ir_result(const IrModule *m, IrOp op, uint32_t i);
uint32_t ir_region_count(const IrModule *m, IrOp op);
IrBlock ir_region_block(const IrModule *m, IrOp op, uint32_t i); /* the block of region i */
IrBlock ir_parent(const IrModule *m, IrOp op);
IrOp ir_parent_op(const IrModule *m, IrOp op);  /* the operation whose region holds op; 0 at top */
IrOp ir_block_op(const IrModule *m, IrBlock b); /* the operation that owns the block */
IrOp ir_first(const IrModule *m, IrBlock b);
IrOp ir_last(const IrModule *m, IrBlock b); /* the terminator of a finished block */
IrOp ir_next(const IrModule *m, IrOp op);
IrOp ir_prev(const IrModule *m, IrOp op);
uint32_t ir_arg_count(const IrModule *m, IrBlock b);
IrValue ir_arg(const IrModule *m, IrBlock b, uint32_t i);
bool ir_trait(const IrModule *m, IrOp op, uint32_t traits); /* has any of them */
const char *ir_mnemonic(IrKind kind);

IrType ir_value_type(const IrModule *m, IrValue v);
IrOp ir_value_op(const IrModule *m, IrValue v);        /* 0 for block arguments */
IrBlock ir_value_block(const IrModule *m, IrValue v);  /* of a block argument, else 0 */
uint32_t ir_value_index(const IrModule *m, IrValue v); /* result or argument number */
Str ir_value_name(const IrModule *m, IrValue v);       /* hint from the source, may be 0 */
void ir_set_value_name(IrModule *m, IrValue v, Str name);
void ir_set_value_type(IrModule *m, IrValue v, IrType t);
/* Scalar or splat integer constant, sign-extended from its width; true of type i1 is 1. */
bool ir_const_int(const IrModule *m, IrValue v, int64_t *out);
bool ir_const_float(const IrModule *m, IrValue v, double *out);

/* Uses, in no particular order: for (IrUse u = ir_first_use(m, v); u; u = ir_next_use(m, u)). */
typedef uint32_t IrUse;
IrUse ir_first_use(const IrModule *m, IrValue v);
IrUse ir_next_use(const IrModule *m, IrUse u);
IrOp ir_use_op(const IrModule *m, IrUse u);
uint32_t ir_use_index(const IrModule *m, IrUse u); /* operand number */
bool ir_unused(const IrModule *m, IrValue v);

/* --- functions and groups --- */
uint32_t ir_func_count(const IrModule *m);
IrOp ir_func(const IrModule *m, uint32_t i);
IrOp ir_func_of(const IrModule *m, IrOp op);
uint32_t ir_group_count(const IrModule *m, IrOp func);
IrGroup *ir_group_at(const IrModule *m, IrOp func, uint32_t group);
uint32_t ir_add_group(IrModule *m, IrOp func, IrGroup group);
/* Facts about parameter i: divisibility of its value (bytes for pointers), 1 = nothing known. */
void ir_set_param_fact(IrModule *m, IrOp func, uint32_t i, uint32_t divisible);
uint32_t ir_param_fact(const IrModule *m, IrOp func, uint32_t i);

/* --- changing --- */
typedef struct IrBuilder {
    IrModule *m;
    IrBlock block;
    IrOp before; /* insert before this operation; 0 = at the end of block */
    Span span;
    uint32_t group;
} IrBuilder;

IrOp ir_new_func(IrModule *m, Str name, Span span, const IrType *params, uint32_t len,
                 uint32_t num_warps);
/* General form: creates an operation with result types and fresh regions (one block each, no args)
 * and inserts it at the builder's point. */
IrOp ir_build(IrBuilder *b, IrKind kind, const IrValue *operands, uint32_t n_operands,
              const IrType *results, uint32_t n_results);
IrValue ir_add_arg(IrModule *m, IrBlock b, IrType t);
void ir_at_end(IrBuilder *b, IrBlock block);
void ir_at_op(IrBuilder *b, IrOp before);
void ir_after_op(IrBuilder *b, IrOp op);
void ir_add_result(IrModule *m, IrOp op, IrType t);
void ir_add_operand(IrModule *m, IrOp op, IrValue v);
void ir_set_operand(IrModule *m, IrOp op, uint32_t i, IrValue v);
void ir_remove_operand(IrModule *m, IrOp op, uint32_t i);
void ir_remove_arg(IrModule *m, IrBlock b, uint32_t i);  /* the argument must be unused */
void ir_remove_result(IrModule *m, IrOp op, uint32_t i); /* the result must be unused */
void ir_set_group(IrModule *m, IrOp op, uint32_t group);
void ir_replace(IrModule *m, IrValue old, IrValue by); /* all uses */
void ir_erase(IrModule *m, IrOp op); /* results must be unused; regions go with it */
void ir_move_before(IrModule *m, IrOp op, IrOp before);
/* Moves every operation of `from` but its terminator before `at`. */
void ir_inline_block(IrModule *m, IrBlock from, IrOp at);
/* Deep copy inserted at the builder's point; `map` (IrValue -> IrValue) gives replacements for
 * outside values and block arguments, and receives the copies' results. */
IrOp ir_clone(IrBuilder *b, IrOp op, Map *map);

/* The value as a constant of the element type holds it: wrapped to the width and sign-extended; i1
 * gives 0 or 1. */
int64_t ir_wrap_int(IrElem elem, int64_t value);
/* Rounds to nearest even into the element type; NaN stays NaN. */
double ir_round_float(IrElem elem, double value);

/* Short forms; result types follow from the operands. Elementwise results take operand 0's type. */
IrValue ir_build_int(IrBuilder *b, IrType type, int64_t value); /* scalar or splat tile */
IrValue ir_build_float(IrBuilder *b, IrType type, double value);
IrValue ir_build1(IrBuilder *b, IrKind kind, IrType result, IrValue x);
IrValue ir_build2(IrBuilder *b, IrKind kind, IrValue x, IrValue y);
IrValue ir_build_cmp(IrBuilder *b, IrKind kind, int cmp, IrValue x, IrValue y);
IrValue ir_build_select(IrBuilder *b, IrValue cond, IrValue x, IrValue y);
IrValue ir_build_splat(IrBuilder *b, IrType tile, IrValue scalar);

/* --- text --- */
enum { IR_PRINT_NO_SPANS = 1 };
void ir_print(const IrModule *m, StrBuf *out);
void ir_print_with(const IrModule *m, StrBuf *out, unsigned flags);
void ir_print_op(const IrModule *m, IrOp op, StrBuf *out);
/* Reads what ir_print writes. Print -> parse -> print is byte-identical. False after diagnostics.
 */
bool ir_parse(IrModule *m, uint32_t file, Diag *d);
/* Checks every invariant; false after diagnostics at the operations' spans. */
bool ir_verify(const IrModule *m, Diag *d);

/* Walks operations in order, outer before inner. The visitor may erase the operation it is given
 * and insert before it. */
typedef void IrVisit(IrModule *m, IrOp op, void *user);
void ir_walk(IrModule *m, IrOp root, IrVisit *visit, void *user);

#endif
