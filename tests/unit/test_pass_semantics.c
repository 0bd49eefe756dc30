/* The generic passes keep the meaning of programs: random kernels are interpreted before and after,
 * and must leave the same trace of stores.
 *
 * The interpreter is an independent reading of docs/tir.md: it shares no code with the passes'
 * constant folding. Tiles have four elements. A load gives a number that depends on its address
 * only, so loads and stores do not interact. All NaNs are one NaN, since their bits are the
 * device's. Division by zero, and what else is undefined, gives 0. */
#include "pass/pass.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 4, MAX_TRACE = 1 << 14, MAX_STEPS = 1 << 17, PROGRAMS = 4000, DEPTH = 3 };

/* --- interpreter --- */

typedef struct Val {
    uint64_t lane[LANES]; /* bits, zero-extended from the element's width */
} Val;

typedef struct Interp {
    const IrModule *m;
    Val *values;
    uint64_t *trace;
    uint32_t trace_len, steps;
} Interp;

static uint32_t width(IrElem e) {
    return e == IR_ELEM_NONE ? 64 : ir_elem_bits(e);
}

static uint64_t cut(IrElem e, uint64_t x) {
    return width(e) == 64 ? x : x & ((UINT64_C(1) << width(e)) - 1);
}

static int64_t sign(IrElem e, uint64_t x) {
    uint32_t shift = 64 - width(e);
    return (int64_t)(x << shift) >> shift;
}

static double to_double(IrElem e, uint64_t bits) {
    float f;
    double d;
    uint32_t narrow = (uint32_t)bits;
    memcpy(&f, &narrow, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return e == IR_F32 ? (double)f : d;
}

static uint64_t of_float(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return isnan(f) ? 0x7fffffff : bits;
}

static uint64_t of_double(IrElem e, double d) {
    uint64_t bits;
    if (e == IR_F32)
        return of_float((float)d);
    memcpy(&bits, &d, sizeof bits);
    return isnan(d) ? UINT64_C(0x7ff8000000000000) : bits;
}

static double least(double a, double b) {
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static uint64_t float_op(IrKind kind, IrElem e, const uint64_t *in) {
    double a = to_double(e, in[0]), b = to_double(e, in[1]), c = to_double(e, in[2]);
    float x = (float)a, y = (float)b, z = (float)c;
    bool narrow = e == IR_F32;
    switch (kind) {
    case IR_OP_FADD:
        return narrow ? of_float(x + y) : of_double(e, a + b);
    case IR_OP_FSUB:
        return narrow ? of_float(x - y) : of_double(e, a - b);
    case IR_OP_FMUL:
        return narrow ? of_float(x * y) : of_double(e, a * b);
    case IR_OP_FDIV_RN:
        return narrow ? of_float(x / y) : of_double(e, a / b);
    case IR_OP_SQRT_RN:
        return narrow ? of_float(sqrtf(x)) : of_double(e, sqrt(a));
    case IR_OP_FMA:
        return narrow ? of_float(fmaf(x, y, z)) : of_double(e, fma(a, b, c));
    case IR_OP_FMIN:
        return of_double(e, least(a, b));
    case IR_OP_FMAX:
        return of_double(e, -least(-a, -b));
    case IR_OP_FNEG:
        return of_double(e, -a);
    case IR_OP_FABS:
        return of_double(e, fabs(a));
    case IR_OP_FLOOR:
        return of_double(e, floor(a));
    default:
        return of_double(e, ceil(a));
    }
}

/* Schoolbook, a bit of x at a time: the sum so far is halved, which drops one low bit. */
static uint64_t high_half(uint32_t bits, uint64_t x, uint64_t y) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < bits; i++) {
        uint64_t add = x >> i & 1 ? y : 0;
        sum = (sum >> 1) + (add >> 1) + (sum & add & 1);
    }
    return sum;
}

static uint64_t int_op(IrKind kind, IrElem e, uint64_t x, uint64_t y) {
    int64_t a = sign(e, x), b = sign(e, y);
    uint32_t bits = width(e);
    bool least_by_minus = b == -1;
    switch (kind) {
    case IR_OP_ADD:
        return x + y;
    case IR_OP_SUB:
        return x - y;
    case IR_OP_MUL:
        return x * y;
    case IR_OP_SDIV:
        return !y ? 0 : least_by_minus ? 0 - x : (uint64_t)(a / b);
    case IR_OP_UDIV:
        return y ? x / y : 0;
    case IR_OP_SREM:
        return !y || least_by_minus ? 0 : (uint64_t)(a % b);
    case IR_OP_UREM:
        return y ? x % y : 0;
    case IR_OP_AND:
        return x & y;
    case IR_OP_OR:
        return x | y;
    case IR_OP_XOR:
        return x ^ y;
    case IR_OP_SHL:
        return y >= bits ? 0 : x << y;
    case IR_OP_LSHR:
        return y >= bits ? 0 : x >> y;
    case IR_OP_ASHR:
        return (uint64_t)(a >> (y >= bits ? 63 : y));
    case IR_OP_SMIN:
        return a < b ? x : y;
    case IR_OP_SMAX:
        return a > b ? x : y;
    case IR_OP_UMIN:
        return x < y ? x : y;
    case IR_OP_UMAX:
        return x > y ? x : y;
    case IR_OP_POPC:
        return (uint64_t)__builtin_popcountll(x);
    case IR_OP_CLZ:
        return x ? (uint64_t)__builtin_clzll(x) - (64 - bits) : bits;
    case IR_OP_UMULHI:
        return high_half(bits, x, y);
    default:
        return 0;
    }
}

static bool int_compare(int64_t cmp, IrElem e, uint64_t x, uint64_t y) {
    int64_t a = sign(e, x), b = sign(e, y);
    const bool truths[] = {x == y, x != y, a<b, a <= b, a> b, a >= b, x<y, x <= y, x> y, x >= y};
    return truths[cmp - IR_CMP_EQ];
}

static bool float_compare(int64_t cmp, double a, double b) {
    bool less = isless(a, b), more = isgreater(a, b), equal = a == b;
    bool none = !less && !more && !equal;
    const bool truths[] = {equal,         less || more, less,         less || equal, more,
                           more || equal, !none,        none,         !equal,        equal || none,
                           less || none,  !more,        more || none, !less};
    return truths[cmp - IR_CMP_OEQ];
}

static uint64_t float_to_int(IrElem to, bool is_signed, double x) {
    double t = trunc(x), high = ldexp(1, (int)width(to) - is_signed);
    if (isnan(x) || t >= high || t < (is_signed ? -high : 0))
        return 0;
    return is_signed ? (uint64_t)(int64_t)t : (uint64_t)t;
}

static uint64_t cast(IrKind kind, IrElem from, IrElem to, uint64_t x) {
    switch (kind) {
    case IR_OP_SEXT:
        return (uint64_t)sign(from, x);
    case IR_OP_FPEXT:
    case IR_OP_FPTRUNC:
        return of_double(to, to_double(from, x));
    case IR_OP_FPTOSI:
    case IR_OP_FPTOUI:
        return float_to_int(to, kind == IR_OP_FPTOSI, to_double(from, x));
    case IR_OP_SITOFP:
        return to == IR_F32 ? of_float((float)sign(from, x)) : of_double(to, (double)sign(from, x));
    case IR_OP_UITOFP:
        return to == IR_F32 ? of_float((float)x) : of_double(to, (double)x);
    default: /* trunc, zext, bitcast */
        return x;
    }
}

static Val get(const Interp *p, IrOp op, uint32_t i) {
    return p->values[ir_operand(p->m, op, i)];
}

static uint64_t memory_at(uint64_t address) {
    return (address ^ address >> 7) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

static uint64_t element(const Interp *p, IrOp op, const uint64_t *in, uint32_t lane) {
    const IrModule *m = p->m;
    IrKind kind = ir_kind(m, op);
    IrType type = ir_value_type(m, ir_result(m, op, 0));
    IrElem to = ir_elem(m, type);
    IrElem from = ir_operand_count(m, op) ? ir_elem(m, ir_value_type(m, ir_operand(m, op, 0))) : to;
    uint32_t n = ir_operand_count(m, op);
    switch (kind) {
    case IR_OP_CONST:
        return ir_elem_is_float(to) ? of_double(to, ir_float(m, op, IR_KEY_FLOAT_VALUE, 0))
                                    : (uint64_t)ir_int(m, op, IR_KEY_INT_VALUE, 0);
    case IR_OP_POISON:
        return 0;
    case IR_OP_ARANGE:
        return (uint64_t)ir_int(m, op, IR_KEY_START, 0) + lane;
    case IR_OP_PROGRAM_ID:
        return 11;
    case IR_OP_ICMP:
        return int_compare(ir_int(m, op, IR_KEY_CMP, 0), from, in[0], in[1]);
    case IR_OP_FCMP:
        return float_compare(ir_int(m, op, IR_KEY_CMP, 0), to_double(from, in[0]),
                             to_double(from, in[1]));
    case IR_OP_SELECT:
        return in[0] ? in[1] : in[2];
    case IR_OP_ADDPTR:
        return in[0] +
               4 * (uint64_t)sign(ir_elem(m, ir_value_type(m, ir_operand(m, op, 1))), in[1]);
    case IR_OP_LOAD:
        return n < 2 || in[1] ? memory_at(in[0]) : n == 3 ? in[2] : 0;
    default:
        break;
    }
    if (kind >= IR_OP_TRUNC && kind <= IR_OP_BITCAST)
        return cast(kind, from, to, in[0]);
    return ir_elem_is_float(to) ? float_op(kind, to, in) : int_op(kind, to, in[0], in[1]);
}

static void run_block(Interp *p, IrBlock b);

static IrOp end_of(const Interp *p, IrOp op, uint32_t region) {
    return ir_last(p->m, ir_region_block(p->m, op, region));
}

/* Moves operands of `from`, from `first` on, into the arguments of b, from `skip` on. */
static void pass_on(Interp *p, IrOp from, uint32_t first, IrBlock b, uint32_t skip) {
    Val moved[16];
    uint32_t n = ir_arg_count(p->m, b) - skip;
    for (uint32_t i = 0; i < n; i++)
        moved[i] = get(p, from, first + i);
    for (uint32_t i = 0; i < n; i++)
        p->values[ir_arg(p->m, b, skip + i)] = moved[i];
}

static void give_results(Interp *p, IrOp op, IrOp from, uint32_t first) {
    for (uint32_t i = 0; i < ir_result_count(p->m, op); i++)
        p->values[ir_result(p->m, op, i)] = get(p, from, first + i);
}

static void run_for(Interp *p, IrOp op) {
    IrBlock body = ir_region_block(p->m, op, 0);
    IrOp end = end_of(p, op, 0), latest = op;
    IrElem e = ir_elem(p->m, ir_value_type(p->m, ir_arg(p->m, body, 0)));
    uint64_t i = get(p, op, 0).lane[0], upper = get(p, op, 1).lane[0], step = get(p, op, 2).lane[0];
    pass_on(p, op, 3, body, 1);
    for (; sign(e, i) < sign(e, upper) && p->steps < MAX_STEPS; i = cut(e, i + step)) {
        p->values[ir_arg(p->m, body, 0)].lane[0] = i;
        run_block(p, body);
        latest = end;
        if (sign(e, cut(e, i + step)) < sign(e, upper))
            pass_on(p, end, 0, body, 1);
    }
    give_results(p, op, latest, latest == op ? 3 : 0);
}

static void run_while(Interp *p, IrOp op) {
    IrBlock head = ir_region_block(p->m, op, 0), body = ir_region_block(p->m, op, 1);
    IrOp test = end_of(p, op, 0);
    pass_on(p, op, 0, head, 0);
    for (run_block(p, head); get(p, test, 0).lane[0] && p->steps < MAX_STEPS; run_block(p, head)) {
        pass_on(p, test, 1, body, 0);
        run_block(p, body);
        pass_on(p, end_of(p, op, 1), 0, head, 0);
    }
    give_results(p, op, test, 1);
}

static void run_reduce(Interp *p, IrOp op) {
    IrBlock body = ir_region_block(p->m, op, 0);
    Val tile = get(p, op, 0), total = {{tile.lane[0]}};
    for (uint32_t i = 1; i < LANES; i++) {
        p->values[ir_arg(p->m, body, 0)] = total;
        p->values[ir_arg(p->m, body, 1)] = (Val){{tile.lane[i]}};
        run_block(p, body);
        total = get(p, end_of(p, op, 0), 0);
    }
    p->values[ir_result(p->m, op, 0)] = total;
}

static void record(Interp *p, uint64_t x) {
    if (p->trace_len < MAX_TRACE)
        p->trace[p->trace_len++] = x;
}

/* Elements that store the same value to the same place one after the other are seen once. */
static void run_store(Interp *p, IrOp op) {
    bool tile = ir_is_tile(p->m, ir_value_type(p->m, ir_operand(p->m, op, 0)));
    uint64_t last[2] = {0};
    bool any = false;
    for (uint32_t i = 0; i < (tile ? LANES : 1); i++) {
        uint64_t at = get(p, op, 0).lane[i], value = get(p, op, 1).lane[i];
        if (ir_operand_count(p->m, op) == 3 && !get(p, op, 2).lane[i])
            continue;
        if (any && at == last[0] && value == last[1])
            continue;
        record(p, at);
        record(p, value);
        last[0] = at;
        last[1] = value;
        any = true;
    }
}

static void run_elements(Interp *p, IrOp op) {
    const IrModule *m = p->m;
    IrType t = ir_value_type(m, ir_result(m, op, 0));
    Val out = {{0}};
    for (uint32_t lane = 0; lane < (ir_is_tile(m, t) ? LANES : 1); lane++) {
        uint64_t in[3] = {0};
        for (uint32_t i = 0; i < ir_operand_count(m, op); i++) {
            bool tile = ir_is_tile(m, ir_value_type(m, ir_operand(m, op, i)));
            in[i] = get(p, op, i).lane[tile ? lane : 0];
        }
        out.lane[lane] =
            ir_kind(m, op) == IR_OP_SPLAT ? in[0] : cut(ir_elem(m, t), element(p, op, in, lane));
    }
    p->values[ir_result(m, op, 0)] = out;
}

static void run_op(Interp *p, IrOp op) {
    p->steps++;
    switch (ir_kind(p->m, op)) {
    case IR_OP_IF: {
        uint32_t region = get(p, op, 0).lane[0] ? 0 : 1;
        run_block(p, ir_region_block(p->m, op, region));
        give_results(p, op, end_of(p, op, region), 0);
        return;
    }
    case IR_OP_FOR:
        run_for(p, op);
        return;
    case IR_OP_WHILE:
        run_while(p, op);
        return;
    case IR_OP_REDUCE:
        run_reduce(p, op);
        return;
    case IR_OP_STORE:
        run_store(p, op);
        return;
    case IR_OP_RETURN:
    case IR_OP_YIELD:
    case IR_OP_CONDITION:
        return;
    default:
        run_elements(p, op);
        return;
    }
}

static void run_block(Interp *p, IrBlock b) {
    for (IrOp op = ir_first(p->m, b); op; op = ir_next(p->m, op))
        run_op(p, op);
}

/* --- random programs --- */

enum { T_I1, T_I8, T_I32, T_I64, T_F32, T_F64, T_PTR, T_COUNT, POOL = 6 };

typedef struct Gen {
    IrBuilder b;
    uint64_t seed;
    IrType type[2 * T_COUNT]; /* scalars, then tiles */
    IrValue pool[2 * T_COUNT][POOL];
    uint32_t len[2 * T_COUNT];
} Gen;

static uint32_t pick(Gen *g, uint32_t n) {
    g->seed = g->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(g->seed >> 33) % n;
}

static void keep(Gen *g, uint32_t type, IrValue v) {
    uint32_t at = g->len[type] < POOL ? g->len[type]++ : pick(g, POOL);
    g->pool[type][at] = v;
}

static bool is_float_type(uint32_t type) {
    return type % T_COUNT == T_F32 || type % T_COUNT == T_F64;
}

static IrValue random_const(Gen *g, uint32_t type) {
    static const int64_t ints[] = {0, 1,  -1, 2,   3,    4,         7,
                                   8, 31, 32, 127, -128, INT32_MAX, INT32_MIN};
    static const double floats[] = {0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 0.1, 1e30, 1e-40, 16777217.0};
    if (is_float_type(type))
        return ir_build_float(&g->b, g->type[type],
                              pick(g, 12)  ? floats[pick(g, 10)]
                              : pick(g, 2) ? INFINITY
                                           : NAN);
    return ir_build_int(&g->b, g->type[type], ints[pick(g, 14)]);
}

static IrValue random_value(Gen *g, uint32_t type) {
    uint32_t kind = type % T_COUNT;
    if (kind != T_PTR && (!g->len[type] || !pick(g, 5)))
        return random_const(g, type);
    if (type >= T_COUNT && (!g->len[type] || !pick(g, 5)))
        return ir_build_splat(&g->b, g->type[type], random_value(g, kind));
    return g->pool[type][pick(g, g->len[type])];
}

static IrValue random_cast(Gen *g, uint32_t to) {
    uint32_t tile = to / T_COUNT * T_COUNT, kind = to % T_COUNT, from = pick(g, T_PTR);
    IrElem a = ir_elem(g->b.m, g->type[from]), b = ir_elem(g->b.m, g->type[kind]);
    bool fa = is_float_type(from), fb = is_float_type(kind);
    IrKind cast_kind;
    if (from == kind)
        return random_value(g, to);
    if (fa && fb)
        cast_kind = ir_elem_bits(a) < ir_elem_bits(b) ? IR_OP_FPEXT : IR_OP_FPTRUNC;
    else if (fa)
        cast_kind = ir_elem_bits(a) == ir_elem_bits(b) && pick(g, 2) ? IR_OP_BITCAST
                    : pick(g, 2)                                     ? IR_OP_FPTOSI
                                                                     : IR_OP_FPTOUI;
    else if (fb)
        cast_kind = pick(g, 2) ? IR_OP_SITOFP : IR_OP_UITOFP;
    else
        cast_kind = ir_elem_bits(a) > ir_elem_bits(b) ? IR_OP_TRUNC
                    : pick(g, 2)                      ? IR_OP_SEXT
                                                      : IR_OP_ZEXT;
    return ir_build1(&g->b, cast_kind, g->type[to], random_value(g, from + tile));
}

static IrValue random_truth(Gen *g, uint32_t type) {
    uint32_t of = pick(g, T_PTR), tile = type / T_COUNT * T_COUNT;
    bool floats = is_float_type(of);
    int cmp = floats ? IR_CMP_OEQ + (int)pick(g, 14) : IR_CMP_EQ + (int)pick(g, 10);
    IrValue x = random_value(g, of + tile), y = random_value(g, of + tile);
    return ir_build_cmp(&g->b, floats ? IR_OP_FCMP : IR_OP_ICMP, cmp, x, y);
}

static IrValue random_float(Gen *g, uint32_t type) {
    static const IrKind kinds[] = {IR_OP_FADD, IR_OP_FSUB, IR_OP_FMUL,    IR_OP_FDIV_RN,
                                   IR_OP_FMIN, IR_OP_FMAX, IR_OP_SQRT_RN, IR_OP_FNEG,
                                   IR_OP_FABS, IR_OP_FMA,  IR_OP_FLOOR,   IR_OP_CEIL};
    IrKind kind = kinds[pick(g, 12)];
    uint32_t n = (uint32_t)ir_op_info(kind)->min_operands;
    IrValue in[3];
    for (uint32_t i = 0; i < n; i++)
        in[i] = random_value(g, type);
    return ir_result(g->b.m, ir_build(&g->b, kind, in, n, &g->type[type], 1), 0);
}

static IrValue random_int(Gen *g, uint32_t type) {
    IrKind kind = (IrKind)(IR_OP_ADD + pick(g, IR_OP_CLZ - IR_OP_ADD + 1));
    IrValue in[2] = {random_value(g, type), random_value(g, type)};
    uint32_t n = (uint32_t)ir_op_info(kind)->min_operands;
    return ir_result(g->b.m, ir_build(&g->b, kind, in, n, &g->type[type], 1), 0);
}

static IrValue random_load(Gen *g, uint32_t tile) {
    IrValue in[3] = {random_value(g, T_PTR + tile), random_value(g, T_I1 + tile),
                     random_value(g, T_I32 + tile)};
    uint32_t n = pick(g, 2) ? 3 : 1;
    return ir_result(g->b.m, ir_build(&g->b, IR_OP_LOAD, in, n, &g->type[T_I32 + tile], 1), 0);
}

static IrValue random_reduce(Gen *g) {
    IrValue tile = random_value(g, T_I32 + T_COUNT);
    IrOp op = ir_build(&g->b, IR_OP_REDUCE, &tile, 1, &g->type[T_I32], 1);
    IrBuilder inner = g->b;
    IrBlock body = ir_region_block(g->b.m, op, 0);
    ir_set_int(g->b.m, op, IR_KEY_AXIS, 0);
    ir_at_end(&inner, body);
    IrValue x = ir_add_arg(g->b.m, body, g->type[T_I32]);
    IrValue y = ir_add_arg(g->b.m, body, g->type[T_I32]);
    IrValue sum = ir_build2(&inner, IR_OP_ADD, x, y);
    ir_build(&inner, IR_OP_YIELD, &sum, 1, NULL, 0);
    return ir_result(g->b.m, op, 0);
}

static IrValue random_simple(Gen *g, uint32_t type) {
    uint32_t tile = type / T_COUNT * T_COUNT, kind = type % T_COUNT;
    if (kind == T_PTR)
        return ir_build2(&g->b, IR_OP_ADDPTR, random_value(g, type),
                         random_value(g, (pick(g, 2) ? T_I32 : T_I64) + tile));
    if (!pick(g, 6))
        return random_cast(g, type);
    if (!pick(g, 6)) {
        IrValue c = random_value(g, pick(g, 2) ? T_I1 : T_I1 + tile);
        IrValue x = random_value(g, type), y = random_value(g, type);
        return ir_build_select(&g->b, c, x, y);
    }
    if (kind == T_I1 && pick(g, 3))
        return random_truth(g, type);
    if (kind == T_I32 && !pick(g, 8))
        return tile || pick(g, 2) ? random_load(g, tile) : random_reduce(g);
    return is_float_type(type) ? random_float(g, type) : random_int(g, type);
}

/* Stores a value through a pointer cast to point to its type. */
static void store_value(Gen *g, uint32_t type, IrValue v) {
    uint32_t tile = type / T_COUNT * T_COUNT, of = type % T_COUNT;
    IrType elem = ir_ptr(g->b.m, g->type[of], IR_SPACE_GLOBAL);
    IrType to = ir_type_with_elem(g->b.m, g->type[T_PTR + tile], elem);
    IrValue p = random_value(g, T_PTR + tile);
    IrValue in[3] = {of == T_I32 ? p : ir_build1(&g->b, IR_OP_BITCAST, to, p), v,
                     random_value(g, T_I1 + tile)};
    ir_build(&g->b, IR_OP_STORE, in, pick(g, 4) ? 2 : 3, NULL, 0);
}

static void random_store(Gen *g) {
    uint32_t type = pick(g, 2) * T_COUNT + pick(g, T_PTR);
    store_value(g, type, random_value(g, type));
}

static void random_block(Gen *g, uint32_t depth);

/* Fills a region: random operations, then a terminator that passes on values of these types. */
static void fill(Gen *g, IrBlock b, uint32_t depth, const uint32_t *types, uint32_t n,
                 const IrValue *args, uint32_t index_type, IrValue *passed) {
    Gen saved = *g;
    ir_at_end(&g->b, b);
    for (uint32_t i = 0; i < n && args; i++)
        keep(g, types[i], args[i]);
    if (index_type < T_COUNT)
        keep(g, index_type, ir_arg(g->b.m, b, 0));
    random_block(g, depth + 1);
    for (uint32_t i = 0; i < n; i++)
        passed[i] = random_value(g, types[i]);
    saved.seed = g->seed;
    saved.b.m = g->b.m;
    IrBuilder here = g->b;
    *g = saved;
    if (index_type <= T_COUNT)
        ir_build(&here, IR_OP_YIELD, passed, n, NULL, 0);
}

static uint32_t random_types(Gen *g, uint32_t *types) {
    uint32_t n = pick(g, 4);
    for (uint32_t i = 0; i < n; i++)
        types[i] = pick(g, 2) * T_COUNT + pick(g, T_PTR);
    return n;
}

static void random_if(Gen *g, uint32_t depth) {
    uint32_t types[4], n = random_types(g, types);
    IrValue cond = random_value(g, T_I1), passed[4];
    IrOp op = ir_build(&g->b, IR_OP_IF, &cond, 1, NULL, 0);
    for (uint32_t i = 0; i < n; i++)
        ir_add_result(g->b.m, op, g->type[types[i]]);
    for (uint32_t r = 0; r < 2; r++)
        fill(g, ir_region_block(g->b.m, op, r), depth, types, n, NULL, T_COUNT, passed);
    for (uint32_t i = 0; i < n; i++)
        keep(g, types[i], ir_result(g->b.m, op, i));
}

static IrValue small_bound(Gen *g) {
    if (pick(g, 2))
        return ir_build_int(&g->b, g->type[T_I32], (int64_t)pick(g, 9) - 2);
    IrValue x = random_value(g, T_I32);
    return ir_build2(&g->b, IR_OP_AND, x, ir_build_int(&g->b, g->type[T_I32], 7));
}

static void random_for(Gen *g, uint32_t depth) {
    uint32_t types[4], n = random_types(g, types);
    IrValue in[7] = {small_bound(g), small_bound(g),
                     ir_build_int(&g->b, g->type[T_I32], 1 + pick(g, 3))};
    IrValue args[4], passed[4];
    for (uint32_t i = 0; i < n; i++)
        in[3 + i] = random_value(g, types[i]);
    IrOp op = ir_build(&g->b, IR_OP_FOR, in, 3 + n, NULL, 0);
    IrBlock body = ir_region_block(g->b.m, op, 0);
    ir_add_arg(g->b.m, body, g->type[T_I32]);
    for (uint32_t i = 0; i < n; i++) {
        ir_add_result(g->b.m, op, g->type[types[i]]);
        args[i] = ir_add_arg(g->b.m, body, g->type[types[i]]);
    }
    if (pick(g, 2))
        ir_set_int(g->b.m, op, IR_KEY_UNROLL, (int64_t)pick(g, 6) - 1);
    fill(g, body, depth, types, n, args, T_I32, passed);
    for (uint32_t i = 0; i < n; i++)
        keep(g, types[i], ir_result(g->b.m, op, i));
}

/* while i < bound, counting i; other values are carried along */
static void random_while(Gen *g, uint32_t depth) {
    IrModule *m = g->b.m;
    uint32_t types[5] = {T_I32}, n = 1 + random_types(g, types + 1);
    IrValue in[5] = {small_bound(g)}, heads[5], bodies[5], passed[5], bound = small_bound(g);
    for (uint32_t i = 1; i < n; i++)
        in[i] = random_value(g, types[i]);
    IrOp op = ir_build(&g->b, IR_OP_WHILE, in, n, NULL, 0);
    for (uint32_t i = 0; i < n; i++) {
        heads[i] = ir_add_arg(m, ir_region_block(m, op, 0), g->type[types[i]]);
        bodies[i] = ir_add_arg(m, ir_region_block(m, op, 1), g->type[types[i]]);
        ir_add_result(m, op, g->type[types[i]]);
    }
    IrBuilder b = g->b;
    ir_at_end(&b, ir_region_block(m, op, 0));
    IrValue test[6] = {ir_build_cmp(&b, IR_OP_ICMP, IR_CMP_SLT, heads[0], bound)};
    memcpy(test + 1, heads, sizeof heads);
    ir_build(&b, IR_OP_CONDITION, test, n + 1, NULL, 0);
    fill(g, ir_region_block(m, op, 1), depth, types, n, bodies, T_COUNT + 1, passed);
    ir_at_end(&b, ir_region_block(m, op, 1));
    passed[0] = ir_build2(&b, IR_OP_ADD, bodies[0], ir_build_int(&b, g->type[T_I32], 1));
    ir_build(&b, IR_OP_YIELD, passed, n, NULL, 0);
    for (uint32_t i = 0; i < n; i++)
        keep(g, types[i], ir_result(m, op, i));
}

static void random_block(Gen *g, uint32_t depth) {
    uint32_t n = 2 + pick(g, depth ? 8 : 24);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t what = pick(g, 14), type = pick(g, 2 * T_COUNT);
        if (what < 2)
            random_store(g);
        else if (what == 2 && depth < DEPTH)
            random_if(g, depth);
        else if (what == 3 && depth < DEPTH)
            random_for(g, depth);
        else if (what == 4 && depth < DEPTH)
            random_while(g, depth);
        else
            keep(g, type, random_simple(g, type));
    }
}

static void random_program(Gen *g, IrModule *m, uint64_t seed) {
    static const IrElem elems[] = {IR_I1, IR_I8, IR_I32, IR_I64, IR_F32, IR_F64};
    int64_t shape[1] = {LANES};
    *g = (Gen){.b = {.m = m}, .seed = seed * 7919 + 1};
    for (uint32_t i = 0; i < T_COUNT; i++) {
        g->type[i] =
            i == T_PTR ? ir_ptr(m, g->type[T_I32], IR_SPACE_GLOBAL) : ir_scalar(m, elems[i]);
        g->type[T_COUNT + i] = ir_tile(m, g->type[i], 1, shape, 0);
    }
    IrOp func = ir_new_func(m, str_internz(ir_strings(m), "k"), (Span){0}, g->type, T_COUNT, 1);
    IrBlock body = ir_region_block(m, func, 0);
    ir_at_end(&g->b, body);
    for (uint32_t i = 0; i < T_COUNT; i++)
        keep(g, i, ir_arg(m, body, i));
    IrOp pid = ir_build(&g->b, IR_OP_PROGRAM_ID, NULL, 0, &g->type[T_I32], 1);
    ir_set_int(m, pid, IR_KEY_AXIS, 0);
    keep(g, T_I32, ir_result(m, pid, 0));
    IrOp range = ir_build(&g->b, IR_OP_ARANGE, NULL, 0, &g->type[T_COUNT + T_I32], 1);
    ir_set_int(m, range, IR_KEY_START, 0);
    ir_set_int(m, range, IR_KEY_END, LANES);
    keep(g, T_COUNT + T_I32, ir_result(m, range, 0));
    random_block(g, 0);
    for (uint32_t type = 0; type < 2 * T_COUNT; type++) /* what is left is seen, too */
        for (uint32_t i = 0; type % T_COUNT != T_PTR && i < g->len[type]; i++)
            store_value(g, type, g->pool[type][i]);
    ir_build(&g->b, IR_OP_RETURN, NULL, 0, NULL, 0);
}

/* --- the comparison --- */

static uint32_t trace_of(Arena *a, const IrModule *m, uint64_t **trace, uint32_t *steps) {
    Interp p = {.m = m};
    IrBlock body = ir_region_block(m, ir_func(m, 0), 0);
    p.values = arena_array(a, Val, ir_value_limit(m));
    p.trace = arena_array(a, uint64_t, MAX_TRACE);
    const uint64_t args[T_COUNT] = {
        1, 0x85, 0xfffffff3, 0x123456789, 0x40490fdb, UINT64_C(0x4005bf0a8b145769), 0x10000};
    for (uint32_t i = 0; i < T_COUNT; i++)
        p.values[ir_arg(m, body, i)].lane[0] = args[i];
    run_block(&p, body);
    *trace = p.trace;
    *steps = p.steps;
    return p.trace_len;
}

static void dump_and_fail(Arena *a, const IrModule *m, uint64_t seed, const char *what) {
    StrBuf b;
    strbuf_init(&b, a);
    ir_print(m, &b);
    fail_msg("program %llu: %s\n%s", (unsigned long long)seed, what, b.text);
}

static void check_program(uint64_t seed, const char *passes) {
    Arena *a = arena_new(NULL, NULL);
    Sources *sources = sources_new(a);
    Diag *d = diag_new(a, sources);
    IrModule *m = ir_module_new(a, interner_new(a), sources);
    PassOptions o = {.passes = passes, .verify_each = true};
    Gen *g = arena_new_of(a, Gen);
    uint64_t *before, *after;
    uint32_t steps, fewer;
    random_program(g, m, seed);
    if (!ir_verify(m, d))
        dump_and_fail(a, m, seed, "the random program is not valid");
    uint32_t len = trace_of(a, m, &before, &steps);
    if (steps < MAX_STEPS) { /* otherwise it was cut short */
        StrBuf text;
        strbuf_init(&text, a);
        ir_print(m, &text);
        if (!pass_run(m, pass_target("sm_90a"), &o, d)) {
            diag_print(d, stderr, false);
            dump_and_fail(a, m, seed, "the passes fail");
        }
        uint32_t now = trace_of(a, m, &after, &fewer);
        if (now != len || memcmp(before, after, len * sizeof *before) != 0) {
            print_message("%s\n", text.text);
            dump_and_fail(a, m, seed, "the passes change what it stores");
        }
    }
    arena_free(a);
}

static void test_each_pass(void **state) {
    static const char *const passes[] = {"canon", "cse", "dce", "licm", "unroll"};
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++)
        check_program(seed, passes[seed % 5]);
}

static void test_pipeline(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++)
        check_program(seed, "canon,cse,licm,unroll,canon,cse,dce,canon");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pass),
        cmocka_unit_test(test_pipeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
