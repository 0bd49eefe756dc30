/* Types: hash-consed, so equal types have equal ids. */
#include "ir/ir_impl.h"

#include <assert.h>
#include <string.h>

enum { TYPE_WORDS = 6 + IR_MAX_RANK };

static bool type_equal(const IrTypeData *a, const IrTypeData *b) {
    return a->kind == b->kind && a->elem == b->elem && a->space == b->space && a->rank == b->rank &&
           a->of == b->of && a->layout == b->layout && !memcmp(a->shape, b->shape, sizeof a->shape);
}

static uint64_t type_hash(const IrTypeData *t) {
    int64_t words[TYPE_WORDS] = {t->kind, t->elem, t->space, t->rank, t->of, t->layout};
    memcpy(words + 6, t->shape, sizeof t->shape);
    return hash_bytes(words, sizeof words, 0);
}

static IrType intern(IrModule *m, const IrTypeData *t) {
    uint64_t key = type_hash(t);
    uint32_t id;
    for (; map_get(&m->type_map, key, &id); key++)
        if (type_equal(&m->types.data[id], t))
            return id;
    id = m->types.len;
    vec_push(m->arena, &m->types, *t);
    map_put(&m->type_map, key, id);
    return id;
}

IrType ir_scalar(IrModule *m, IrElem elem) {
    return intern(m, &(IrTypeData){.kind = IR_SCALAR, .elem = elem});
}

IrType ir_ptr(IrModule *m, IrType pointee, uint8_t space) {
    return intern(m, &(IrTypeData){.kind = IR_PTR, .of = pointee, .space = space});
}

static IrType shaped(IrModule *m, IrTypeKind kind, IrType of, unsigned rank, const int64_t *shape,
                     LayoutId layout) {
    assert(rank >= 1 && rank <= IR_MAX_RANK);
    IrTypeData t = {.kind = kind, .of = of, .rank = (uint8_t)rank, .layout = layout};
    memcpy(t.shape, shape, rank * sizeof *shape);
    return intern(m, &t);
}

IrType ir_tile(IrModule *m, IrType of, unsigned rank, const int64_t *shape, LayoutId layout) {
    return shaped(m, IR_TILE, of, rank, shape, layout);
}

IrType ir_buf(IrModule *m, IrType of, unsigned rank, const int64_t *shape, LayoutId layout) {
    return shaped(m, IR_BUF, of, rank, shape, layout);
}

const IrTypeData *ir_type(const IrModule *m, IrType t) {
    return &m->types.data[t];
}

IrType ir_type_with_elem(IrModule *m, IrType t, IrType of) {
    IrTypeData d = *ir_type(m, t);
    if (d.kind != IR_TILE && d.kind != IR_BUF)
        return of;
    d.of = of;
    return intern(m, &d);
}

IrType ir_type_with_layout(IrModule *m, IrType t, LayoutId layout) {
    IrTypeData d = *ir_type(m, t);
    if (d.kind != IR_TILE && d.kind != IR_BUF)
        return t;
    d.layout = layout;
    return intern(m, &d);
}

IrType ir_elem_type(const IrModule *m, IrType t) {
    const IrTypeData *d = ir_type(m, t);
    return d->kind == IR_TILE || d->kind == IR_BUF ? d->of : t;
}

IrElem ir_elem(const IrModule *m, IrType t) {
    const IrTypeData *d = ir_type(m, t);
    return d->kind == IR_TILE ? ir_type(m, d->of)->elem : d->elem;
}

bool ir_is_tile(const IrModule *m, IrType t) {
    return ir_type(m, t)->kind == IR_TILE;
}

bool ir_is_ptr(const IrModule *m, IrType t) {
    const IrTypeData *d = ir_type(m, t);
    return d->kind == IR_PTR || (d->kind == IR_TILE && ir_type(m, d->of)->kind == IR_PTR);
}

int64_t ir_tile_elems(const IrModule *m, IrType t) {
    const IrTypeData *d = ir_type(m, t);
    int64_t n = 1;
    for (unsigned i = 0; i < d->rank; i++)
        n *= d->shape[i];
    return n;
}

uint32_t ir_elem_bytes(const IrModule *m, IrType elem) {
    const IrTypeData *d = ir_type(m, elem);
    return d->kind == IR_PTR ? 8 : (ir_elem_bits(d->elem) + 7) / 8;
}

void ir_type_print(const IrModule *m, IrType t, StrBuf *out) {
    const IrTypeData *d = ir_type(m, t);
    switch (d->kind) {
    case IR_NO_TYPE:
        strbuf_addz(out, "none");
        return;
    case IR_SCALAR:
        strbuf_addz(out, ir_elem_name(d->elem));
        return;
    case IR_PTR:
        strbuf_addz(out, "ptr<");
        ir_type_print(m, d->of, out);
        strbuf_addf(out, ", %u>", d->space);
        return;
    case IR_TILE:
    case IR_BUF:
        strbuf_addz(out, d->kind == IR_TILE ? "tile<" : "buf<");
        for (unsigned i = 0; i < d->rank; i++)
            strbuf_addf(out, "%lldx", (long long)d->shape[i]);
        ir_type_print(m, d->of, out);
        if (d->layout)
            strbuf_addf(out, ", #%u", d->layout);
        strbuf_addc(out, '>');
        return;
    }
}
