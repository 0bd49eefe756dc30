/* The verifier: what holds for every operation. The rules of single operations are in
 * ir_verify_*.c, found through the table.
 *
 * A value is visible from its definition to the end of its block. The walk keeps the set of visible
 * values, so dominance costs one look-up per operand. */
#include "ir/ir_verify.h"

#include <stdarg.h>

typedef void VerifyFn(IrVerifier *v, IrOp op);

static VerifyFn *const verifiers[IR_OP_COUNT] = {
#define X(name, text, omin, omax, nres, nreg, flags, verify, keys, help)                           \
    [IR_OP_##name] = ir_verify_##verify,
#include "ir/ops.def"
#undef X
};

/* --- for all files of the verifier --- */

void ir_bad(IrVerifier *v, IrOp op, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diag_error(v->diag, DIAG_IR_VERIFY, ir_span(v->m, op), "'%s': %s",
               ir_mnemonic(ir_kind(v->m, op)), message);
    v->ok = false;
}

const char *ir_type_text(IrVerifier *v, IrType t) {
    StrBuf b;
    strbuf_init(&b, v->scratch);
    ir_type_print(v->m, t, &b);
    return b.text;
}

IrType ir_operand_type(const IrVerifier *v, IrOp op, uint32_t i) {
    return ir_value_type(v->m, ir_operand(v->m, op, i));
}

IrType ir_result_type(const IrVerifier *v, IrOp op, uint32_t i) {
    return ir_value_type(v->m, ir_result(v->m, op, i));
}

static bool want(IrVerifier *v, IrOp op, const char *what, uint32_t i, IrType found, IrType type) {
    if (found == type)
        return true;
    ir_bad(v, op, "%s %u is %s, expected %s", what, i, ir_type_text(v, found),
           ir_type_text(v, type));
    return false;
}

bool ir_want_operand(IrVerifier *v, IrOp op, uint32_t i, IrType type) {
    return want(v, op, "operand", i, ir_operand_type(v, op, i), type);
}

bool ir_want_result(IrVerifier *v, IrOp op, uint32_t i, IrType type) {
    return want(v, op, "result", i, ir_result_type(v, op, i), type);
}

/* Types are hash-consed in the module; asking for one that a verifier expects may add it, which
 * changes nothing that anybody can see. */
static IrModule *types_of(IrVerifier *v) {
    return (IrModule *)(uintptr_t)v->m;
}

IrType ir_i1_like(IrVerifier *v, IrType t) {
    return ir_type_with_elem(types_of(v), t, ir_scalar(types_of(v), IR_I1));
}

bool ir_want_passed(IrVerifier *v, IrOp op, uint32_t region, uint32_t skip, const IrType *types,
                    uint32_t len) {
    IrOp end = ir_last(v->m, ir_region_block(v->m, op, region));
    if (ir_operand_count(v->m, end) != len + skip) {
        ir_bad(v, end, "%u values are passed on, expected %u of '%s'",
               ir_operand_count(v->m, end) - skip, len, ir_mnemonic(ir_kind(v->m, op)));
        return false;
    }
    for (uint32_t i = 0; i < len; i++)
        if (!ir_want_operand(v, end, i + skip, types[i]))
            return false;
    return true;
}

bool ir_want_args(IrVerifier *v, IrOp op, uint32_t region, const IrType *types, uint32_t len) {
    IrBlock b = ir_region_block(v->m, op, region);
    if (ir_arg_count(v->m, b) != len) {
        ir_bad(v, op, "region %u has %u arguments, expected %u", region, ir_arg_count(v->m, b),
               len);
        return false;
    }
    for (uint32_t i = 0; i < len; i++)
        if (!want(v, op, "region argument", i, ir_value_type(v->m, ir_arg(v->m, b, i)), types[i]))
            return false;
    return true;
}

IrType *ir_types_of_operands(IrVerifier *v, IrOp op, uint32_t from, uint32_t *len) {
    *len = ir_operand_count(v->m, op) - from;
    IrType *types = arena_array(v->scratch, IrType, *len + 1);
    for (uint32_t i = 0; i < *len; i++)
        types[i] = ir_operand_type(v, op, from + i);
    return types;
}

IrType *ir_types_of_results(IrVerifier *v, IrOp op, uint32_t *len) {
    *len = ir_result_count(v->m, op);
    IrType *types = arena_array(v->scratch, IrType, *len + 1);
    for (uint32_t i = 0; i < *len; i++)
        types[i] = ir_result_type(v, op, i);
    return types;
}

/* --- types --- */

static const char *why_bad_layout(const IrModule *m, const IrTypeData *d) {
    const char *why = "does not reach every element";
    if (d->layout > layout_count(m->layouts))
        return "layout does not exist";
    const Layout *l = layout_get(m->layouts, d->layout);
    if (l->kind != (d->kind == IR_TILE ? LAYOUT_DISTRIBUTED : LAYOUT_SHARED))
        return "layout is of the other kind";
    if (l->rank != d->rank)
        return "layout has another rank";
    if (!layout_valid(l, &why))
        return why;
    for (unsigned i = 0; i < d->rank; i++)
        if (layout_extent(l, i) != d->shape[i])
            return "layout has another extent";
    return NULL;
}

static const char *why_bad_shape(const IrTypeData *d) {
    int64_t n = 1;
    if (d->rank < 1 || d->rank > IR_MAX_RANK)
        return "rank out of range";
    for (unsigned i = 0; i < d->rank; i++)
        if (d->shape[i] < 1 || d->shape[i] > IR_MAX_TILE || (n *= d->shape[i]) > IR_MAX_TILE)
            return "number of elements out of range";
    return NULL;
}

static const char *why_bad_type(const IrModule *m, IrType t) {
    const IrTypeData *d = ir_type(m, t);
    IrTypeKind of = ir_type(m, d->of)->kind;
    const char *why;
    switch (d->kind) {
    case IR_NO_TYPE:
        return "no type";
    case IR_SCALAR:
        return d->elem == IR_ELEM_NONE || d->elem >= IR_ELEM_COUNT ? "no element type" : NULL;
    case IR_PTR:
        if (d->space != IR_SPACE_GLOBAL && d->space != IR_SPACE_SHARED &&
            d->space != IR_SPACE_CLUSTER)
            return "pointer to an unknown memory space";
        return of == IR_SCALAR || of == IR_PTR ? why_bad_type(m, d->of) : "pointer to no scalar";
    case IR_TILE:
    case IR_BUF:
        why = why_bad_shape(d);
        if (why)
            return why;
        if (of != IR_SCALAR && (of != IR_PTR || d->kind == IR_BUF))
            return "element is no scalar";
        why = why_bad_type(m, d->of);
        return why || !d->layout ? why : why_bad_layout(m, d);
    }
    return "unknown kind of type";
}

static bool check_type(IrVerifier *v, IrOp op, IrType t) {
    if (!v->type_state[t]) {
        const char *why = why_bad_type(v->m, t);
        v->type_state[t] = why ? 2 : 1;
        if (why)
            ir_bad(v, op, "type %s: %s", ir_type_text(v, t), why);
    }
    v->ok &= v->type_state[t] == 1;
    return v->type_state[t] == 1;
}

/* --- one operation --- */

static bool check_count(IrVerifier *v, IrOp op, const char *what, uint32_t found, int low,
                        int high) {
    if (low >= 0 && found < (uint32_t)low) {
        ir_bad(v, op, "%u %s, expected at least %d", found, what, low);
        return false;
    }
    if (high >= 0 && found > (uint32_t)high) {
        ir_bad(v, op, "%u %s, expected at most %d", found, what, high);
        return false;
    }
    return true;
}

static bool check_attr(IrVerifier *v, IrOp op, IrAttrSlot s) {
    static const IrAttrKind kinds[] = {
        [IR_KEY_INT] = IR_ATTR_INT,  [IR_KEY_BOOL] = IR_ATTR_INT,  [IR_KEY_FLOAT] = IR_ATTR_FLOAT,
        [IR_KEY_STR] = IR_ATTR_STR,  [IR_KEY_TYPE] = IR_ATTR_TYPE, [IR_KEY_INTS] = IR_ATTR_INTS,
        [IR_KEY_ENUM] = IR_ATTR_INT,
    };
    const IrAttrData *a = &v->m->attrs.data[s.attr];
    IrKeyKind kind = ir_key_kind(s.key);
    if (a->kind == kinds[kind] && (kind != IR_KEY_ENUM || ir_enum_text(s.key, a->i)) &&
        (kind != IR_KEY_BOOL || a->i == 0 || a->i == 1))
        return true;
    ir_bad(v, op, "attribute '%s' has a value of the wrong kind", ir_key_name(s.key));
    return false;
}

static bool check_attrs(IrVerifier *v, IrOp op) {
    const IrOpData *o = ir_op_data(v->m, op);
    uint64_t allowed, required, found = 0;
    if (!o->attr_len && !*ir_op_info(o->kind)->attrs)
        return true;
    ir_attr_masks(o->kind, &allowed, &required);
    for (uint32_t i = 0; i < o->attr_len; i++) {
        IrAttrSlot s = o->attrs[i];
        if (!(allowed >> s.key & 1)) {
            ir_bad(v, op, "attribute '%s' is not allowed here", ir_key_name(s.key));
            return false;
        }
        if (!check_attr(v, op, s))
            return false;
        found |= UINT64_C(1) << s.key;
    }
    for (int key = 0; key < IR_KEY_COUNT; key++) {
        if ((required & ~found) >> key & 1) {
            ir_bad(v, op, "attribute '%s' is missing", ir_key_name((IrKey)key));
            return false;
        }
    }
    return true;
}

static bool check_operands(IrVerifier *v, IrOp op) {
    for (uint32_t i = 0; i < ir_operand_count(v->m, op); i++) {
        IrValue x = ir_operand(v->m, op, i);
        if (!x || !v->visible[x]) {
            ir_bad(v, op, "operand %u is not defined above in this or an enclosing region", i);
            return false;
        }
    }
    return true;
}

static bool check_counts(IrVerifier *v, IrOp op) {
    const IrOpInfo *info = ir_op_info(ir_kind(v->m, op));
    return check_count(v, op, "operands", ir_operand_count(v->m, op), info->min_operands,
                       info->max_operands) &&
           check_count(v, op, "results", ir_result_count(v->m, op), info->results, info->results) &&
           check_count(v, op, "regions", ir_region_count(v->m, op), (int)info->regions,
                       (int)info->regions);
}

/* Every tile of an elementwise operation has the same shape and layout. */
static bool check_elementwise(IrVerifier *v, IrOp op) {
    uint32_t operands = ir_operand_count(v->m, op), results = ir_result_count(v->m, op);
    const IrTypeData *first = NULL;
    for (uint32_t i = 0; i < operands + results; i++) {
        IrType t = i < operands ? ir_operand_type(v, op, i) : ir_result_type(v, op, i - operands);
        const IrTypeData *d = ir_type(v->m, t);
        if (d->kind == IR_BUF) {
            ir_bad(v, op, "a buffer is no element");
            return false;
        }
        if (d->kind != IR_TILE)
            continue;
        bool same = !first || (d->rank == first->rank && d->layout == first->layout);
        for (unsigned k = 0; same && first && k < d->rank; k++)
            same = d->shape[k] == first->shape[k];
        if (!same) {
            ir_bad(v, op, "tiles of different shape or layout: %s does not fit those before",
                   ir_type_text(v, t));
            return false;
        }
        first = d;
    }
    return true;
}

/* Layouts are assigned to all tiles of an operation or to none, and fit the group. Only a
 * conversion may stand between: coalesce puts accesses with a layout into code without. */
static bool check_layouts(IrVerifier *v, IrOp op) {
    uint32_t operands = ir_operand_count(v->m, op), results = ir_result_count(v->m, op);
    uint32_t with = 0, without = 0;
    const IrGroup *g = ir_group_at(v->m, v->func, ir_group(v->m, op));
    for (uint32_t i = 0; i < operands + results; i++) {
        IrType t = i < operands ? ir_operand_type(v, op, i) : ir_result_type(v, op, i - operands);
        const IrTypeData *d = ir_type(v->m, t);
        if (d->kind != IR_TILE)
            continue;
        *(d->layout ? &with : &without) += 1;
        if (!d->layout || i < operands)
            continue;
        const Layout *l = layout_get(v->m->layouts, d->layout);
        if (l->bits[LAYOUT_LANE] != 5 || UINT32_C(1) << l->bits[LAYOUT_WARP] != g->num_warps) {
            ir_bad(v, op, "layout of 2^%u lanes and 2^%u warps in a group of 32 lanes and %u warps",
                   l->bits[LAYOUT_LANE], l->bits[LAYOUT_WARP], g->num_warps);
            return false;
        }
    }
    /* layout assignment asks for a layout of an operand that has none yet */
    if (!with || !without || ir_kind(v->m, op) == IR_OP_CONVERT_LAYOUT)
        return true;
    ir_bad(v, op, "some tiles have a layout and some have none");
    return false;
}

static void define(IrVerifier *v, IrValue x) {
    v->visible[x] = true;
    vec_push(v->scratch, &v->defined, x);
}

static void verify_block(IrVerifier *v, IrOp op, IrBlock b);

static void verify_op(IrVerifier *v, IrOp op) {
    const IrModule *m = v->m;
    bool ok = check_counts(v, op) && check_attrs(v, op) && check_operands(v, op);
    if (ok && ir_group(m, op) >= ir_group_count(m, v->func)) {
        ir_bad(v, op, "group %u, but the function has %u", ir_group(m, op),
               ir_group_count(m, v->func));
        ok = false;
    }
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        ok = check_type(v, op, ir_result_type(v, op, i)) && ok;
    bool was_ok = v->ok;
    v->ok = true;
    for (uint32_t i = 0; i < ir_region_count(m, op); i++)
        verify_block(v, op, ir_region_block(m, op, i));
    ok = ok && v->ok;
    v->ok &= was_ok;
    if (ok && (!ir_trait(m, op, IR_TRAIT_ELEMENTWISE) || check_elementwise(v, op)) &&
        check_layouts(v, op))
        verifiers[ir_kind(m, op)](v, op);
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        define(v, ir_result(m, op, i));
}

/* --- blocks --- */

static IrKind terminator_of(const IrModule *m, IrOp owner, IrBlock b) {
    if (ir_kind(m, owner) == IR_OP_FUNC)
        return IR_OP_RETURN;
    bool head = ir_kind(m, owner) == IR_OP_WHILE && b == ir_region_block(m, owner, 0);
    return head ? IR_OP_CONDITION : IR_OP_YIELD;
}

static void check_terminators(IrVerifier *v, IrOp owner, IrBlock b) {
    IrKind end = terminator_of(v->m, owner, b);
    IrOp last = ir_last(v->m, b);
    for (IrOp op = ir_first(v->m, b); op; op = ir_next(v->m, op))
        if (op != last && ir_trait(v->m, op, IR_TRAIT_TERMINATOR))
            ir_bad(v, op, "operations follow it in its block");
    if (!last)
        ir_bad(v, owner, "a region is empty, expected '%s' at its end", ir_mnemonic(end));
    else if (ir_kind(v->m, last) != end)
        ir_bad(v, last, "ends a region of '%s', expected '%s'", ir_mnemonic(ir_kind(v->m, owner)),
               ir_mnemonic(end));
}

static void verify_block(IrVerifier *v, IrOp owner, IrBlock b) {
    uint32_t outer = v->defined.len;
    if (++v->depth > IR_MAX_DEPTH)
        ir_bad(v, owner, "regions nest deeper than %d", IR_MAX_DEPTH);
    else {
        check_terminators(v, owner, b);
        for (uint32_t i = 0; i < ir_arg_count(v->m, b); i++) {
            check_type(v, owner, ir_value_type(v->m, ir_arg(v->m, b, i)));
            define(v, ir_arg(v->m, b, i));
        }
        for (IrOp op = ir_first(v->m, b); op; op = ir_next(v->m, op))
            verify_op(v, op);
    }
    v->depth--;
    while (v->defined.len > outer)
        v->visible[vec_pop(&v->defined)] = false;
}

static void check_names(IrVerifier *v) {
    Map seen;
    map_init(&seen, v->scratch);
    for (uint32_t i = 0; i < ir_func_count(v->m); i++) {
        IrOp func = ir_func(v->m, i);
        Str name = ir_str(v->m, func, IR_KEY_NAME);
        if (map_get(&seen, name, NULL))
            ir_bad(v, func, "a second function named '%s'", str_text(v->m->strings, name));
        map_put(&seen, name, i);
    }
}

bool ir_verify(const IrModule *m, Diag *d) {
    IrVerifier v = {.m = m, .diag = d, .scratch = arena_new(NULL, NULL), .ok = true};
    v.visible = arena_array(v.scratch, bool, m->values.len);
    v.type_state = arena_array(v.scratch, uint8_t, m->types.len);
    for (uint32_t i = 0; i < ir_func_count(m); i++) {
        v.func = ir_func(m, i);
        verify_op(&v, v.func);
    }
    check_names(&v);
    arena_free(v.scratch);
    return v.ok;
}
