/* Attributes: hash-consed values in small per-operation lists sorted by key. */
#include "ir/ir_impl.h"

#include <string.h>

static bool attr_equal(const IrAttrData *a, const IrAttrData *b) {
    return a->kind == b->kind && a->i == b->i && !memcmp(&a->f, &b->f, sizeof a->f) &&
           a->len == b->len && (!a->len || !memcmp(a->ints, b->ints, a->len * sizeof *a->ints));
}

static uint64_t attr_hash(const IrAttrData *a) {
    uint64_t words[3] = {(uint64_t)a->kind, (uint64_t)a->i, 0};
    memcpy(&words[2], &a->f, sizeof a->f);
    return hash_bytes(words, sizeof words, hash_bytes(a->ints, a->len * sizeof *a->ints, 0));
}

IrAttr ir_intern_attr(IrModule *m, const IrAttrData *a) {
    uint64_t key = attr_hash(a);
    uint32_t id;
    for (; map_get(&m->attr_map, key, &id); key++)
        if (attr_equal(&m->attrs.data[id], a))
            return id;
    IrAttrData copy = *a;
    if (a->len) {
        int64_t *ints = arena_array(m->arena, int64_t, a->len);
        memcpy(ints, a->ints, a->len * sizeof *ints);
        copy.ints = ints;
    }
    id = m->attrs.len;
    vec_push(m->arena, &m->attrs, copy);
    map_put(&m->attr_map, key, id);
    return id;
}

static uint32_t find(const IrOpData *o, IrKey key) {
    uint32_t i = 0;
    while (i < o->attr_len && o->attrs[i].key < key)
        i++;
    return i;
}

void ir_set_attr(IrModule *m, IrOp op, IrKey key, IrAttr attr) {
    IrOpData *o = ir_op_data(m, op);
    uint32_t at = find(o, key);
    if (at < o->attr_len && o->attrs[at].key == key) {
        o->attrs[at].attr = attr;
        return;
    }
    if (o->attr_len == o->attr_cap)
        o->attrs = vec_grow(m->arena, o->attrs, o->attr_len, &o->attr_cap, 1, sizeof *o->attrs);
    memmove(o->attrs + at + 1, o->attrs + at, (o->attr_len - at) * sizeof *o->attrs);
    o->attrs[at] = (IrAttrSlot){key, attr};
    o->attr_len++;
}

const IrAttrData *ir_attr(const IrModule *m, IrOp op, IrKey key) {
    const IrOpData *o = ir_op_data(m, op);
    uint32_t at = find(o, key);
    return at < o->attr_len && o->attrs[at].key == key ? &m->attrs.data[o->attrs[at].attr] : NULL;
}

bool ir_has(const IrModule *m, IrOp op, IrKey key) {
    return ir_attr(m, op, key);
}

int64_t ir_int(const IrModule *m, IrOp op, IrKey key, int64_t missing) {
    const IrAttrData *a = ir_attr(m, op, key);
    return a ? a->i : missing;
}

double ir_float(const IrModule *m, IrOp op, IrKey key, double missing) {
    const IrAttrData *a = ir_attr(m, op, key);
    return a ? a->f : missing;
}

Str ir_str(const IrModule *m, IrOp op, IrKey key) {
    const IrAttrData *a = ir_attr(m, op, key);
    return a ? (Str)a->i : 0;
}

void ir_set_int(IrModule *m, IrOp op, IrKey key, int64_t value) {
    ir_set_attr(m, op, key, ir_intern_attr(m, &(IrAttrData){.kind = IR_ATTR_INT, .i = value}));
}

void ir_set_float(IrModule *m, IrOp op, IrKey key, double value) {
    ir_set_attr(m, op, key, ir_intern_attr(m, &(IrAttrData){.kind = IR_ATTR_FLOAT, .f = value}));
}

void ir_set_str(IrModule *m, IrOp op, IrKey key, Str value) {
    ir_set_attr(m, op, key, ir_intern_attr(m, &(IrAttrData){.kind = IR_ATTR_STR, .i = value}));
}

void ir_set_ints(IrModule *m, IrOp op, IrKey key, const int64_t *values, uint32_t len) {
    IrAttrData a = {.kind = IR_ATTR_INTS, .len = len, .ints = values};
    ir_set_attr(m, op, key, ir_intern_attr(m, &a));
}

void ir_unset(IrModule *m, IrOp op, IrKey key) {
    IrOpData *o = ir_op_data(m, op);
    uint32_t at = find(o, key);
    if (at == o->attr_len || o->attrs[at].key != key)
        return;
    o->attr_len--;
    memmove(o->attrs + at, o->attrs + at + 1, (o->attr_len - at) * sizeof *o->attrs);
}

void ir_copy_attrs(IrModule *m, IrOp from, IrOp to) {
    for (uint32_t i = 0; i < ir_op_data(m, from)->attr_len; i++) {
        IrAttrSlot s = ir_op_data(m, from)->attrs[i];
        ir_set_attr(m, to, s.key, s.attr);
    }
}

bool ir_same_attrs(const IrModule *m, IrOp a, IrOp b) {
    const IrOpData *x = ir_op_data(m, a), *y = ir_op_data(m, b);
    if (x->attr_len != y->attr_len)
        return false;
    for (uint32_t i = 0; i < x->attr_len; i++)
        if (x->attrs[i].key != y->attrs[i].key || x->attrs[i].attr != y->attrs[i].attr)
            return false;
    return true;
}

uint64_t ir_hash_attrs(const IrModule *m, IrOp op) {
    const IrOpData *o = ir_op_data(m, op);
    uint64_t h = 0;
    for (uint32_t i = 0; i < o->attr_len; i++)
        h = (h ^ ((uint64_t)o->attrs[i].key << 32 | o->attrs[i].attr)) *
            UINT64_C(0x9e3779b97f4a7c15);
    return h;
}
