/* Tables of the IR, all made from ops.def, attrs.def, enums.def, types.def and traits.def. */
#include "ir/ir_impl.h"

#include <string.h>

/* The traits column of ops.def names traits without prefix. */
enum {
#define X(name, doc) name = IR_TRAIT_##name,
#include "ir/traits.def"
#undef X
};

static const IrOpInfo op_infos[IR_OP_COUNT] = {
    [IR_OP_NONE] = {.mnemonic = "none", .attrs = "", .doc = ""},
#define X(name, text, omin, omax, nres, nreg, flags, verify, keys, help)                           \
    [IR_OP_##name] = {.mnemonic = text,                                                            \
                      .min_operands = omin,                                                        \
                      .max_operands = omax,                                                        \
                      .results = nres,                                                             \
                      .regions = nreg,                                                             \
                      .traits = flags,                                                             \
                      .attrs = keys,                                                               \
                      .doc = help},
#include "ir/ops.def"
#undef X
};

const IrOpInfo *ir_op_info(IrKind kind) {
    return &op_infos[kind];
}

const char *ir_mnemonic(IrKind kind) {
    return op_infos[kind].mnemonic;
}

IrKind ir_kind_by_name(const char *mnemonic) {
    for (int k = IR_OP_NONE + 1; k < IR_OP_COUNT; k++)
        if (!strcmp(op_infos[k].mnemonic, mnemonic))
            return (IrKind)k;
    return IR_OP_NONE;
}

/* --- attribute keys --- */

/* An enumerated key's kind is its enum; the table tells the two apart by IR_ENUM_OF_. */
enum {
#define E(e) IR_ENUM_##e,
#define V(e, name, text)
#include "ir/enums.def"
#undef E
#undef V
};

typedef struct KeyInfo {
    const char *name;
    uint8_t kind, enumeration;
} KeyInfo;

#define KIND_INT   IR_KEY_INT, 0
#define KIND_BOOL  IR_KEY_BOOL, 0
#define KIND_FLOAT IR_KEY_FLOAT, 0
#define KIND_STR   IR_KEY_STR, 0
#define KIND_TYPE  IR_KEY_TYPE, 0
#define KIND_INTS  IR_KEY_INTS, 0
#define KIND_CMP   IR_KEY_ENUM, IR_ENUM_CMP
#define KIND_CACHE IR_KEY_ENUM, IR_ENUM_CACHE
#define KIND_EVICT IR_KEY_ENUM, IR_ENUM_EVICT
#define KIND_SEM   IR_KEY_ENUM, IR_ENUM_SEM
#define KIND_SCOPE IR_KEY_ENUM, IR_ENUM_SCOPE
#define KIND_RMW   IR_KEY_ENUM, IR_ENUM_RMW
#define KIND_ROUND IR_KEY_ENUM, IR_ENUM_ROUND

static const KeyInfo key_infos[IR_KEY_COUNT] = {
    [IR_KEY_NONE] = {"none", IR_KEY_INT, 0},
#define X(key, text, kind) [IR_KEY_##key] = {text, KIND_##kind},
#include "ir/attrs.def"
#undef X
};

_Static_assert(IR_KEY_COUNT <= 64, "attribute masks have 64 bits");

static const struct {
    uint8_t enumeration;
    int8_t value;
    const char *text;
} enum_texts[] = {
#define E(e)
#define V(e, name, text) {IR_ENUM_##e, IR_##e##_##name, text},
#include "ir/enums.def"
#undef E
#undef V
};

IrKeyKind ir_key_kind(IrKey key) {
    return (IrKeyKind)key_infos[key].kind;
}

const char *ir_key_name(IrKey key) {
    return key_infos[key].name;
}

IrKey ir_key_by_name(const char *name) {
    for (int k = IR_KEY_NONE + 1; k < IR_KEY_COUNT; k++)
        if (!strcmp(key_infos[k].name, name))
            return (IrKey)k;
    return IR_KEY_NONE;
}

const char *ir_enum_text(IrKey key, int64_t value) {
    for (size_t i = 0; i < sizeof enum_texts / sizeof *enum_texts; i++)
        if (enum_texts[i].enumeration == key_infos[key].enumeration && enum_texts[i].value == value)
            return enum_texts[i].text;
    return NULL;
}

static IrKey key_of_word(const char *word, size_t len) {
    for (int k = IR_KEY_NONE + 1; k < IR_KEY_COUNT; k++)
        if (strlen(key_infos[k].name) == len && !memcmp(key_infos[k].name, word, len))
            return (IrKey)k;
    return IR_KEY_NONE;
}

void ir_attr_masks(IrKind kind, uint64_t *allowed, uint64_t *required) {
    *allowed = *required = 0;
    const char *p = op_infos[kind].attrs;
    while (*p) {
        size_t len = strcspn(p, "!, ");
        uint64_t bit = UINT64_C(1) << key_of_word(p, len);
        *allowed |= bit;
        if (p[len] == '!')
            *required |= bit;
        p += len;
        p += strspn(p, "!, ");
    }
}

/* --- element types --- */

enum { INT_CLASS = 0, FLOAT_CLASS = 1 };

static const struct {
    const char *name;
    uint8_t bits, is_float;
} elem_infos[IR_ELEM_COUNT] = {
    [IR_ELEM_NONE] = {"none", 0, INT_CLASS},
#define X(name, text, bits, class) [IR_##name] = {text, bits, class##_CLASS},
#include "ir/types.def"
#undef X
};

const char *ir_elem_name(IrElem e) {
    return elem_infos[e].name;
}

uint32_t ir_elem_bits(IrElem e) {
    return elem_infos[e].bits;
}

bool ir_elem_is_float(IrElem e) {
    return elem_infos[e].is_float;
}

IrElem ir_elem_by_name(const char *name, size_t len) {
    for (int e = IR_ELEM_NONE + 1; e < IR_ELEM_COUNT; e++)
        if (strlen(elem_infos[e].name) == len && !memcmp(elem_infos[e].name, name, len))
            return (IrElem)e;
    return IR_ELEM_NONE;
}
