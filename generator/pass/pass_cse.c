/* Common subexpression elimination: a pure operation that equals one above it in the same or an
 * enclosing block gives way to it.
 *
 *   %1 = add %x, %y : i32          %1 = add %x, %y : i32
 *   %2 = add %y, %x : i32    =>    use %1, %1
 *   use %1, %2
 *
 * Equal: kind, group, operands (either order where they commute), result types, attributes, and
 * regions up to the names of values. Loads are never merged. Linear but for hash collisions. */
#include "pass/pass.h"

typedef struct Entry {
    uint64_t hash;
    IrOp op;
    uint32_t shadowed; /* previous entry of that hash, plus 1 */
} Entry;

typedef struct Cse {
    IrModule *m;
    Map by_hash;        /* hash -> newest entry, plus 1; 0 = none any more */
    Map same;           /* values of a region that stand for each other, while comparing */
    VEC(Entry) entries; /* those in scope, innermost last */
    Arena *scratch;
    bool changed;
} Cse;

/* --- hashing; regions only count their operations' kinds --- */

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 29);
}

static uint64_t hash_op(const IrModule *m, IrOp op) {
    uint64_t h = mix(ir_kind(m, op), ir_group(m, op));
    bool commutes = ir_trait(m, op, IR_TRAIT_COMMUTES);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ir_operand_count(m, op); i++) {
        IrValue v = ir_operand(m, op, i);
        h = commutes ? h : mix(h, v);
        sum += mix(7, v);
    }
    h = mix(h, sum);
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        h = mix(h, ir_value_type(m, ir_result(m, op, i)));
    h = mix(h, ir_hash_attrs(m, op));
    for (uint32_t i = 0; i < ir_region_count(m, op); i++)
        for (IrOp x = ir_first(m, ir_region_block(m, op, i)); x; x = ir_next(m, x))
            h = mix(h, ir_kind(m, x));
    return h;
}

/* --- equality --- */

static bool same_value(const Cse *c, IrValue a, IrValue b) {
    return a == b || map_find(&c->same, a, 0) == b;
}

static bool same_operands(const Cse *c, IrOp a, IrOp b) {
    const IrModule *m = c->m;
    uint32_t n = ir_operand_count(m, a);
    if (n != ir_operand_count(m, b))
        return false;
    uint32_t i = 0;
    while (i < n && same_value(c, ir_operand(m, a, i), ir_operand(m, b, i)))
        i++;
    return i == n || (n == 2 && ir_trait(m, a, IR_TRAIT_COMMUTES) &&
                      same_value(c, ir_operand(m, a, 0), ir_operand(m, b, 1)) &&
                      same_value(c, ir_operand(m, a, 1), ir_operand(m, b, 0)));
}

/* Pairs up values that are defined at the same place of two regions. */
static bool pair(Cse *c, IrValue a, IrValue b) {
    map_put(&c->same, a, b);
    return ir_value_type(c->m, a) == ir_value_type(c->m, b);
}

static bool same_op(Cse *c, IrOp a, IrOp b);

static bool same_block(Cse *c, IrBlock a, IrBlock b) {
    IrModule *m = c->m;
    if (ir_arg_count(m, a) != ir_arg_count(m, b))
        return false;
    for (uint32_t i = 0; i < ir_arg_count(m, a); i++)
        if (!pair(c, ir_arg(m, a, i), ir_arg(m, b, i)))
            return false;
    IrOp x = ir_first(m, a), y = ir_first(m, b);
    for (; x && y; x = ir_next(m, x), y = ir_next(m, y)) {
        if (!same_op(c, x, y))
            return false;
        for (uint32_t i = 0; i < ir_result_count(m, x); i++)
            pair(c, ir_result(m, x, i), ir_result(m, y, i));
    }
    return !x && !y;
}

static bool same_op(Cse *c, IrOp a, IrOp b) {
    const IrModule *m = c->m;
    if (ir_kind(m, a) != ir_kind(m, b) || ir_group(m, a) != ir_group(m, b) ||
        ir_result_count(m, a) != ir_result_count(m, b) || !same_operands(c, a, b))
        return false;
    for (uint32_t i = 0; i < ir_result_count(m, a); i++)
        if (ir_value_type(m, ir_result(m, a, i)) != ir_value_type(m, ir_result(m, b, i)))
            return false;
    if (!ir_same_attrs(m, a, b))
        return false;
    for (uint32_t i = 0; i < ir_region_count(m, a); i++)
        if (!same_block(c, ir_region_block(m, a, i), ir_region_block(m, b, i)))
            return false;
    return true;
}

/* --- the walk --- */

static IrOp find_equal(Cse *c, IrOp op, uint64_t hash) {
    for (uint32_t at = map_find(&c->by_hash, hash, 0); at; at = c->entries.data[at - 1].shadowed) {
        IrOp other = c->entries.data[at - 1].op;
        map_clear(&c->same);
        if (same_op(c, other, op))
            return other;
    }
    return 0;
}

static void cse_block(Cse *c, IrBlock b);

static void cse_op(Cse *c, IrOp op) {
    IrModule *m = c->m;
    for (uint32_t i = 0; i < ir_region_count(m, op); i++)
        cse_block(c, ir_region_block(m, op, i));
    if (!ir_trait(m, op, IR_TRAIT_PURE))
        return;
    uint64_t hash = hash_op(m, op);
    IrOp equal = find_equal(c, op, hash);
    if (!equal) {
        vec_push(c->scratch, &c->entries, ((Entry){hash, op, map_find(&c->by_hash, hash, 0)}));
        map_put(&c->by_hash, hash, c->entries.len);
        return;
    }
    for (uint32_t i = 0; i < ir_result_count(m, op); i++)
        ir_replace(m, ir_result(m, op, i), ir_result(m, equal, i));
    ir_erase(m, op);
    c->changed = true;
}

static void cse_block(Cse *c, IrBlock b) {
    uint32_t outer = c->entries.len;
    for (IrOp op = ir_first(c->m, b), next; op; op = next) {
        next = ir_next(c->m, op);
        cse_op(c, op);
    }
    while (c->entries.len > outer) {
        Entry e = vec_pop(&c->entries);
        map_put(&c->by_hash, e.hash, e.shadowed);
    }
}

bool pass_cse(PassContext *p) {
    Cse c = {.m = p->m, .scratch = p->scratch};
    map_init(&c.by_hash, p->scratch);
    map_init(&c.same, p->scratch);
    for (uint32_t i = 0; i < ir_func_count(p->m); i++)
        cse_block(&c, ir_region_block(p->m, ir_func(p->m, i), 0));
    p->changed = c.changed;
    return true;
}
