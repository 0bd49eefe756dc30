/* How a module is stored: plain arrays indexed by ids, shared by the files of ir/ only.
 *
 * Slot 0 of every array is unused, so id 0 is "none". Erased operations keep their slot with kind
 * IR_OP_NONE. The operands of an operation are consecutive slots of `uses`; each slot is also a
 * link of the doubly linked list of its value's uses. */
#ifndef IR_IR_IMPL_H
#define IR_IR_IMPL_H

#include "ir/ir.h"

typedef struct IrAttrSlot {
    IrKey key;
    IrAttr attr;
} IrAttrSlot;

typedef struct IrOpData {
    IrKind kind;
    uint32_t group;
    Span span;
    IrBlock parent;
    IrOp prev, next;
    IrUse operands; /* first slot */
    uint32_t operand_len, operand_cap;
    IrValue *results;
    uint32_t result_len, result_cap;
    IrBlock *regions;
    uint32_t region_len;
    uint32_t attr_len, attr_cap;
    IrAttrSlot *attrs; /* sorted by key */
    uint32_t func;     /* FUNC: index into `func_data` */
} IrOpData;

typedef struct IrValueData {
    IrType type;
    Str name;
    IrOp op;       /* of a result */
    IrBlock block; /* of an argument */
    uint32_t index;
    IrUse first_use;
} IrValueData;

typedef struct IrUseData {
    IrValue value;
    IrOp op;
    uint32_t index;
    IrUse prev, next;
} IrUseData;

typedef struct IrBlockData {
    IrOp owner, first, last;
    IrValue *args;
    uint32_t arg_len, arg_cap;
} IrBlockData;

typedef struct IrFuncData {
    VEC(IrGroup) groups;
    VEC(uint32_t) facts; /* divisibility per parameter; missing entries are 1 */
} IrFuncData;

struct IrModule {
    Arena *arena;
    Interner *strings;
    Sources *sources;
    LayoutTable *layouts;
    VEC(IrTypeData) types;
    Map type_map;
    VEC(IrAttrData) attrs;
    Map attr_map;
    VEC(IrOpData) ops;
    VEC(IrValueData) values;
    VEC(IrUseData) uses;
    VEC(IrBlockData) blocks;
    VEC(IrOp) funcs;
    VEC(IrFuncData) func_data;
    VEC(uint32_t) text_files; /* files that ir_parse read: spans in them are not printed */
};

/* --- tables (ir_info.c) --- */
typedef enum IrKeyKind {
    IR_KEY_INT = 1,
    IR_KEY_BOOL,
    IR_KEY_FLOAT,
    IR_KEY_STR,
    IR_KEY_TYPE,
    IR_KEY_INTS,
    IR_KEY_ENUM
} IrKeyKind;

IrKeyKind ir_key_kind(IrKey key);
const char *ir_key_name(IrKey key);
IrKey ir_key_by_name(const char *name);
/* Texts of an enumerated attribute; NULL past the end. */
const char *ir_enum_text(IrKey key, int64_t value);
const char *ir_elem_name(IrElem e);
IrElem ir_elem_by_name(const char *name, size_t len);
/* Bits (1 << key) of the attributes an operation may and must have. */
void ir_attr_masks(IrKind kind, uint64_t *allowed, uint64_t *required);

/* --- storage (ir.c) --- */
IrOpData *ir_op_data(const IrModule *m, IrOp op);
IrValueData *ir_value_data(const IrModule *m, IrValue v);
IrBlockData *ir_block_data(const IrModule *m, IrBlock b);
IrValue ir_new_value(IrModule *m, IrType t);
IrBlock ir_new_block(IrModule *m, IrOp owner);
void ir_link_op(IrModule *m, IrOp op, IrBlock block, IrOp before);
void ir_unlink_op(IrModule *m, IrOp op);
/* Makes room for `want` operands, moving the slots when there is no room in place. */
void ir_reserve_operands(IrModule *m, IrOp op, uint32_t want);
void ir_link_use(IrModule *m, IrUse u, IrValue v);
void ir_unlink_use(IrModule *m, IrUse u);
void ir_set_attr(IrModule *m, IrOp op, IrKey key, IrAttr attr);
IrAttr ir_intern_attr(IrModule *m, const IrAttrData *a);
IrFuncData *ir_func_data(const IrModule *m, IrOp func);

#endif
