/* Types, layouts and attributes of TIR text. */
#include "ir/ir_parse.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INTS = 64, MAX_PTR_DEPTH = 4 };

/* --- types --- */

/* shape = { digits "x" }: the scanner would take `128x64xf32` apart elsewhere, so this reads
 * characters, from just past the current token. */
static bool parse_shape(IrParser *p, unsigned *rank, int64_t *shape) {
    const char *text = p->lex.text;
    uint32_t pos = p->lex.pos;
    int64_t total = 1;
    for (*rank = 0; pos < p->lex.len && text[pos] >= '0' && text[pos] <= '9'; ++*rank) {
        int64_t dim = 0;
        for (; pos < p->lex.len && text[pos] >= '0' && text[pos] <= '9'; pos++)
            if ((dim = dim * 10 + (text[pos] - '0')) > IR_MAX_TILE)
                return ir_parse_fail(p, "dimension above the limit of %d", IR_MAX_TILE);
        if (*rank == IR_MAX_RANK)
            return ir_parse_fail(p, "more than %d dimensions", IR_MAX_RANK);
        if (dim < 1 || (total *= dim) > IR_MAX_TILE)
            return ir_parse_fail(p, "number of elements is not in 1 .. %d", IR_MAX_TILE);
        if (pos == p->lex.len || text[pos++] != 'x')
            return ir_parse_fail(p, "expected 'x' after each dimension of the shape");
        shape[*rank] = dim;
    }
    p->lex.pos = pos;
    ir_lex_next(&p->lex);
    return *rank ? true : ir_parse_fail(p, "expected a shape such as 128x64");
}

static bool parse_type_at(IrParser *p, unsigned depth, IrType *out);

/* ptr = "ptr" "<" type "," space ">" */
static bool parse_ptr(IrParser *p, unsigned depth, IrType *out) {
    IrType of;
    int64_t space;
    if (depth == MAX_PTR_DEPTH)
        return ir_parse_fail(p, "pointers nest deeper than %d", MAX_PTR_DEPTH);
    if (!ir_parse_expect(p, '<') || !parse_type_at(p, depth + 1, &of) || !ir_parse_expect(p, ',') ||
        !ir_parse_int(p, 0, UINT8_MAX, &space) || !ir_parse_expect(p, '>'))
        return false;
    *out = ir_ptr(p->m, of, (uint8_t)space);
    return true;
}

/* shaped = ("tile" | "buf") "<" shape type [ "," alias ] ">" */
static bool parse_shaped(IrParser *p, unsigned depth, bool tile, IrType *out) {
    unsigned rank;
    int64_t shape[IR_MAX_RANK];
    IrType of;
    uint32_t layout = 0;
    if (depth)
        return ir_parse_fail(p, "tiles and buffers do not nest");
    if (!ir_parse_is(p, '<'))
        return ir_parse_expect(p, '<');
    if (!parse_shape(p, &rank, shape) || !parse_type_at(p, depth + 1, &of))
        return false;
    if (ir_parse_accept(p, ',')) {
        if (p->lex.tok != IR_TOK_ALIAS || !map_get(&p->layouts, ir_parse_token(p), &layout))
            return ir_parse_fail(p, "expected a layout defined above, such as #l0");
        ir_lex_next(&p->lex);
    }
    *out = tile ? ir_tile(p->m, of, rank, shape, layout) : ir_buf(p->m, of, rank, shape, layout);
    return ir_parse_expect(p, '>');
}

/* type = element | ptr | shaped */
static bool parse_type_at(IrParser *p, unsigned depth, IrType *out) {
    IrLexer *l = &p->lex;
    if (l->tok != IR_TOK_IDENT)
        return ir_parse_fail(p, "expected a type");
    IrElem elem = ir_elem_by_name(l->text + l->lo, l->hi - l->lo);
    bool tile = ir_parse_word_is(p, "tile"), buf = ir_parse_word_is(p, "buf");
    if (elem == IR_ELEM_NONE && !tile && !buf && !ir_parse_word_is(p, "ptr"))
        return ir_parse_fail(p, "unknown type '%s'", str_text(p->m->strings, ir_parse_token(p)));
    ir_lex_next(l);
    if (tile || buf)
        return parse_shaped(p, depth, tile, out);
    if (elem == IR_ELEM_NONE)
        return parse_ptr(p, depth, out);
    *out = ir_scalar(p->m, elem);
    return true;
}

bool ir_parse_type(IrParser *p, IrType *out) {
    return parse_type_at(p, 0, out);
}

/* --- layouts --- */

/* ints = "[" [ int { "," int } ] "]" with values in low .. high, at most `max` */
static bool parse_ints(IrParser *p, int64_t low, int64_t high, uint32_t max, int64_t *out,
                       uint32_t *len) {
    *len = 0;
    if (!ir_parse_expect(p, '['))
        return false;
    while (!ir_parse_is(p, ']')) {
        if (*len == max)
            return ir_parse_fail(p, "more than %u numbers in a list", max);
        if ((*len && !ir_parse_expect(p, ',')) || !ir_parse_int(p, low, high, &out[*len]))
            return false;
        ++*len;
    }
    ir_lex_next(&p->lex);
    return true;
}

static bool parse_dims(IrParser *p, const char *word, unsigned rank, int64_t *out) {
    uint32_t len;
    if (!ir_parse_expect_word(p, word) || !ir_parse_expect(p, '=') ||
        !parse_ints(p, 1, UINT16_MAX + 1, IR_MAX_RANK, out, &len))
        return false;
    return !rank || len == rank ? true : ir_parse_fail(p, "expected %u numbers in %s", rank, word);
}

/* bases = word "=" "[" [ ints { "," ints } ] "]" */
static bool parse_bases(IrParser *p, const char *word, Layout *l, LayoutIn in, unsigned *total) {
    if (!ir_parse_expect_word(p, word) || !ir_parse_expect(p, '=') || !ir_parse_expect(p, '['))
        return false;
    while (!ir_parse_is(p, ']')) {
        int64_t coord[IR_MAX_RANK];
        uint32_t len;
        if (*total == LAYOUT_MAX_BITS)
            return ir_parse_fail(p, "more than %d bases in a layout", LAYOUT_MAX_BITS);
        if ((l->bits[in] && !ir_parse_expect(p, ',')) ||
            !parse_ints(p, 0, UINT16_MAX, IR_MAX_RANK, coord, &len))
            return false;
        if (len != l->rank)
            return ir_parse_fail(p, "basis has %u coordinates, expected %u", len, l->rank);
        for (unsigned d = 0; d < l->rank; d++)
            l->basis[*total][d] = (uint16_t)coord[d];
        l->bits[in]++;
        ++*total;
    }
    ir_lex_next(&p->lex);
    return true;
}

static bool parse_block(IrParser *p, Layout *l) {
    int64_t block[IR_MAX_RANK], repeat[IR_MAX_RANK];
    uint32_t len;
    if (!ir_parse_expect_word(p, "block") || !ir_parse_expect(p, '=') ||
        !parse_ints(p, 1, 1 << 16, IR_MAX_RANK, block, &len))
        return false;
    l->rank = (uint8_t)len;
    if (!len)
        return ir_parse_fail(p, "layout of rank 0");
    if (!parse_dims(p, "repeat", l->rank, repeat))
        return false;
    for (unsigned d = 0; d < l->rank; d++) {
        if (block[d] & (block[d] - 1) || repeat[d] > UINT16_MAX)
            return ir_parse_fail(p, "block %lld is no power of two or repeat is above %d",
                                 (long long)block[d], UINT16_MAX);
        while (1 << l->block_log2[d] < block[d])
            l->block_log2[d]++;
        l->repeat[d] = (uint16_t)repeat[d];
    }
    return true;
}

/* layout = "layout" "<" block repeat reg lane warp cta ">" | "shared" "<" block repeat offset ">"
 */
bool ir_parse_layout(IrParser *p, LayoutId *out) {
    static const char *const words[] = {"reg", "lane", "warp", "cta"};
    _Static_assert(sizeof words / sizeof *words == LAYOUT_IN_COUNT, "ORDER LayoutIn");
    Layout l = {.kind = ir_parse_word_is(p, "shared") ? LAYOUT_SHARED : LAYOUT_DISTRIBUTED};
    unsigned total = 0;
    if (l.kind == LAYOUT_DISTRIBUTED && !ir_parse_word_is(p, "layout"))
        return ir_parse_fail(p, "expected 'layout', 'shared' or 'file'");
    ir_lex_next(&p->lex);
    if (!ir_parse_expect(p, '<') || !parse_block(p, &l))
        return false;
    if (l.kind == LAYOUT_SHARED) {
        if (!parse_bases(p, "offset", &l, LAYOUT_REG, &total))
            return false;
    } else {
        for (unsigned i = 0; i < LAYOUT_IN_COUNT; i++)
            if (!parse_bases(p, words[i], &l, (LayoutIn)i, &total))
                return false;
    }
    const char *why = NULL;
    if (!layout_valid(&l, &why))
        return ir_parse_fail(p, "invalid layout: %s", why);
    if (!ir_parse_expect(p, '>'))
        return false;
    *out = layout_intern(p->m->layouts, &l);
    return true;
}

/* --- attributes --- */

static bool parse_enum(IrParser *p, IrKey key, int64_t *out) {
    for (*out = 0; p->lex.tok == IR_TOK_IDENT && ir_enum_text(key, *out); ++*out) {
        if (ir_parse_word_is(p, ir_enum_text(key, *out))) {
            ir_lex_next(&p->lex);
            return true;
        }
    }
    return ir_parse_fail(p, "'%s' is no value of attribute '%s'",
                         str_text(p->m->strings, ir_parse_token(p)), ir_key_name(key));
}

static bool parse_bool(IrParser *p, int64_t *out) {
    *out = ir_parse_word_is(p, "true");
    if (!*out && !ir_parse_word_is(p, "false"))
        return ir_parse_fail(p, "expected true or false");
    ir_lex_next(&p->lex);
    return true;
}

static bool parse_attr_value(IrParser *p, IrKey key, IrAttr *out) {
    IrAttrData a = {.kind = IR_ATTR_INT};
    int64_t ints[MAX_INTS];
    uint32_t id = 0;
    bool ok = false;
    switch (ir_key_kind(key)) {
    case IR_KEY_INT:
        ok = ir_parse_int(p, INT64_MIN, INT64_MAX, &a.i);
        break;
    case IR_KEY_BOOL:
        ok = parse_bool(p, &a.i);
        break;
    case IR_KEY_FLOAT:
        a.kind = IR_ATTR_FLOAT;
        ok = ir_parse_float(p, &a.f);
        break;
    case IR_KEY_STR:
        a.kind = IR_ATTR_STR;
        ok = ir_parse_string(p, &id);
        a.i = id;
        break;
    case IR_KEY_TYPE:
        a.kind = IR_ATTR_TYPE;
        ok = ir_parse_type(p, &id);
        a.i = id;
        break;
    case IR_KEY_INTS:
        a.kind = IR_ATTR_INTS;
        a.ints = ints;
        ok = parse_ints(p, INT64_MIN, INT64_MAX, MAX_INTS, ints, &a.len);
        break;
    case IR_KEY_ENUM:
        ok = parse_enum(p, key, &a.i);
        break;
    }
    if (ok)
        *out = ir_intern_attr(p->m, &a);
    return ok;
}

/* attrs = [ "[" key "=" value { "," key "=" value } "]" ] */
bool ir_parse_attrs(IrParser *p, IrAttrSlots *out) {
    uint64_t seen = 0;
    if (!ir_parse_accept(p, '['))
        return true;
    do {
        const char *name = str_text(p->m->strings, ir_parse_token(p));
        IrAttrSlot s = {.key = p->lex.tok == IR_TOK_IDENT ? ir_key_by_name(name) : IR_KEY_NONE};
        if (s.key == IR_KEY_NONE)
            return ir_parse_fail(p, "unknown attribute '%s'", name);
        if (seen >> s.key & 1)
            return ir_parse_fail(p, "attribute '%s' is given twice", name);
        seen |= UINT64_C(1) << s.key;
        ir_lex_next(&p->lex);
        if (!ir_parse_expect(p, '=') || !parse_attr_value(p, s.key, &s.attr))
            return false;
        vec_push(p->scratch, out, s);
    } while (ir_parse_accept(p, ','));
    return ir_parse_expect(p, ']');
}
