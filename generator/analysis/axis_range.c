/* Bounds of integer values. Needed where signed division differs from shifting: -1 / 4 is 0, so the
 * runs of x / 4 are equal only where x cannot be negative. */
#include "analysis/axis_range.h"

#include <stdint.h>

enum { MAX_DEPTH = 12 };

static Range of_width(uint32_t bits) {
    if (bits <= 1)
        return (Range){0, 1};
    int64_t hi = bits >= 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
    return (Range){-hi - 1, hi};
}

static Range range_at(const IrModule *m, IrValue v, int depth);

static Range operand_range(const IrModule *m, IrOp op, uint32_t i, int depth) {
    return range_at(m, ir_operand(m, op, i), depth + 1);
}

/* Sums and products count only when they cannot wrap. */
static Range checked(Range full, bool overflow, int64_t lo, int64_t hi) {
    return overflow || lo < full.lo || hi > full.hi ? full : (Range){lo, hi};
}

static Range range_add(Range full, Range a, Range b) {
    int64_t lo, hi;
    bool over = __builtin_add_overflow(a.lo, b.lo, &lo);
    over |= __builtin_add_overflow(a.hi, b.hi, &hi);
    return checked(full, over, lo, hi);
}

static Range range_sub(Range full, Range a, Range b) {
    int64_t lo, hi;
    bool over = __builtin_sub_overflow(a.lo, b.hi, &lo);
    over |= __builtin_sub_overflow(a.hi, b.lo, &hi);
    return checked(full, over, lo, hi);
}

static Range range_mul(Range full, Range a, Range b) {
    int64_t lo, hi;
    if (a.lo < 0 || b.lo < 0)
        return full;
    bool over = __builtin_mul_overflow(a.lo, b.lo, &lo);
    over |= __builtin_mul_overflow(a.hi, b.hi, &hi);
    return checked(full, over, lo, hi);
}

static Range range_div(Range full, Range a, Range b) {
    return a.lo >= 0 && b.lo > 0 ? (Range){a.lo / b.hi, a.hi / b.lo} : full;
}

static Range range_rem(Range full, Range a, Range b) {
    if (b.lo <= 0 || a.lo < 0)
        return full;
    return (Range){0, a.hi < b.hi - 1 ? a.hi : b.hi - 1};
}

static Range range_and(Range full, Range a, Range b) {
    if (a.lo < 0 && b.lo < 0)
        return full;
    int64_t hi = a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : a.hi < b.hi ? a.hi : b.hi;
    return (Range){0, hi};
}

static Range range_shr(Range full, Range a, Range b) {
    if (a.lo < 0 || b.lo != b.hi || b.lo < 0 || b.lo > 63)
        return full;
    return (Range){a.lo >> b.lo, a.hi >> b.lo};
}

static Range range_min(Range a, Range b) {
    return (Range){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static Range range_max(Range a, Range b) {
    return (Range){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static Range range_join(Range a, Range b) {
    return (Range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static Range range_binary(const IrModule *m, IrOp op, Range full, int depth) {
    Range a = operand_range(m, op, 0, depth), b = operand_range(m, op, 1, depth);
    switch ((int)ir_kind(m, op)) {
    case IR_OP_ADD:
        return range_add(full, a, b);
    case IR_OP_SUB:
        return range_sub(full, a, b);
    case IR_OP_MUL:
        return range_mul(full, a, b);
    case IR_OP_SDIV:
    case IR_OP_UDIV:
        return range_div(full, a, b);
    case IR_OP_SREM:
    case IR_OP_UREM:
        return range_rem(full, a, b);
    case IR_OP_AND:
        return range_and(full, a, b);
    case IR_OP_LSHR:
    case IR_OP_ASHR:
        return range_shr(full, a, b);
    case IR_OP_SMIN:
        return range_min(a, b);
    case IR_OP_SMAX:
        return range_max(a, b);
    default:
        return full;
    }
}

/* The induction variable of a loop lies in [lower, upper). */
static Range range_of_arg(const IrModule *m, IrValue v, Range full, int depth) {
    IrOp owner = ir_block_op(m, ir_value_block(m, v));
    if (!owner || ir_kind(m, owner) != IR_OP_FOR || ir_value_index(m, v) != 0)
        return full;
    Range lower = operand_range(m, owner, 0, depth), upper = operand_range(m, owner, 1, depth);
    return (Range){lower.lo, upper.hi > full.lo ? upper.hi - 1 : upper.hi};
}

static Range range_of_op(const IrModule *m, IrOp op, Range full, int depth) {
    int64_t value;
    switch ((int)ir_kind(m, op)) {
    case IR_OP_CONST:
        return ir_const_int(m, ir_result(m, op, 0), &value) ? (Range){value, value} : full;
    case IR_OP_ARANGE:
        return (Range){ir_int(m, op, IR_KEY_START, 0), ir_int(m, op, IR_KEY_END, 0) - 1};
    case IR_OP_PROGRAM_ID:
        return (Range){0, INT32_MAX - 1};
    case IR_OP_NUM_PROGRAMS:
        return (Range){1, INT32_MAX};
    case IR_OP_POPC:
    case IR_OP_CLZ:
        return (Range){0, 64};
    case IR_OP_SPLAT:
    case IR_OP_BROADCAST:
    case IR_OP_EXPAND_DIMS:
    case IR_OP_RESHAPE:
    case IR_OP_TRANS:
    case IR_OP_EXCHANGE:
    case IR_OP_CONVERT_LAYOUT:
    case IR_OP_FACT:
        return operand_range(m, op, 0, depth);
    case IR_OP_SEXT: {
        Range r = operand_range(m, op, 0, depth);
        uint32_t from = ir_elem_bits(ir_elem(m, ir_value_type(m, ir_operand(m, op, 0))));
        return from == 1 ? (Range){-1, 0} : r;
    }
    case IR_OP_ZEXT: {
        Range r = operand_range(m, op, 0, depth);
        uint32_t from = ir_elem_bits(ir_elem(m, ir_value_type(m, ir_operand(m, op, 0))));
        return r.lo >= 0 ? r : (Range){0, from >= 63 ? INT64_MAX : (INT64_C(1) << from) - 1};
    }
    case IR_OP_SELECT:
        return range_join(operand_range(m, op, 1, depth), operand_range(m, op, 2, depth));
    default:
        return ir_operand_count(m, op) == 2 ? range_binary(m, op, full, depth) : full;
    }
}

static Range range_at(const IrModule *m, IrValue v, int depth) {
    IrElem elem = ir_elem(m, ir_value_type(m, v));
    Range full = of_width(elem == IR_ELEM_NONE ? 64 : ir_elem_bits(elem));
    if (depth > MAX_DEPTH || elem == IR_ELEM_NONE || ir_elem_is_float(elem))
        return full;
    IrOp op = ir_value_op(m, v);
    Range r = op ? range_of_op(m, op, full, depth) : range_of_arg(m, v, full, depth);
    return r.lo < full.lo || r.hi > full.hi ? full : r;
}

Range range_of(const IrModule *m, IrValue v) {
    return range_at(m, v, 0);
}
