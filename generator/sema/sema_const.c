/* Operators on compile-time numbers: Python's semantics within 64-bit integers. */
#include "sema/sema_const.h"
#include <math.h>
#include <string.h>

static SVal overflow(Sema *s, Span at) {
    return sema_error(s, DIAG_SEMA_RANGE, at, "the constant result does not fit 64 bits");
}

static SVal by_zero(Sema *s, Span at) {
    return sema_error(s, DIAG_SEMA_RANGE, at, "division of a constant by zero");
}

static int64_t floor_div(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

static SVal int_pow(Sema *s, int64_t a, int64_t n, Span at) {
    int64_t r = 1;
    if (n < 0)
        return sv_float(pow((double)a, (double)n));
    for (; n > 0; n--)
        if (__builtin_mul_overflow(r, a, &r))
            return overflow(s, at);
    return sv_int(r);
}

static SVal int_shift(Sema *s, AstOp op, int64_t a, int64_t n, Span at) {
    if (n < 0)
        return sema_error(s, DIAG_SEMA_RANGE, at, "negative shift count %lld", (long long)n);
    if (op == AST_OP_SHR)
        return sv_int(n > 63 ? (a < 0 ? -1 : 0) : a >> n);
    if (a == 0)
        return sv_int(0);
    if (n > 62 || a > (INT64_MAX >> n) || a < (INT64_MIN >> n))
        return overflow(s, at);
    return sv_int((int64_t)((uint64_t)a << n));
}

static SVal int_binary(Sema *s, AstOp op, int64_t a, int64_t b, Span at) {
    int64_t r = 0;
    switch ((int)op) {
    case AST_OP_ADD:
        return __builtin_add_overflow(a, b, &r) ? overflow(s, at) : sv_int(r);
    case AST_OP_SUB:
        return __builtin_sub_overflow(a, b, &r) ? overflow(s, at) : sv_int(r);
    case AST_OP_MUL:
        return __builtin_mul_overflow(a, b, &r) ? overflow(s, at) : sv_int(r);
    case AST_OP_DIV:
        return b ? sv_float((double)a / (double)b) : by_zero(s, at);
    case AST_OP_FLOORDIV:
    case AST_OP_MOD:
        if (!b)
            return by_zero(s, at);
        if (a == INT64_MIN && b == -1)
            return overflow(s, at);
        r = floor_div(a, b);
        return sv_int(op == AST_OP_FLOORDIV ? r : a - r * b);
    case AST_OP_POW:
        return int_pow(s, a, b, at);
    case AST_OP_SHL:
    case AST_OP_SHR:
        return int_shift(s, op, a, b, at);
    case AST_OP_BITAND:
        return sv_int(a & b);
    case AST_OP_BITOR:
        return sv_int(a | b);
    case AST_OP_BITXOR:
        return sv_int(a ^ b);
    default:
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "operator %s on constants is not supported",
                          ast_op_text(op));
    }
}

double const_as_double(SVal x) {
    return x.kind == SV_FLOAT ? x.num.f : (double)x.num.i;
}

static SVal float_binary(Sema *s, AstOp op, double a, double b, Span at) {
    double r;
    switch ((int)op) {
    case AST_OP_ADD:
        return sv_float(a + b);
    case AST_OP_SUB:
        return sv_float(a - b);
    case AST_OP_MUL:
        return sv_float(a * b);
    case AST_OP_DIV:
        return b == 0.0 ? by_zero(s, at) : sv_float(a / b);
    case AST_OP_FLOORDIV:
        return b == 0.0 ? by_zero(s, at) : sv_float(floor(a / b));
    case AST_OP_MOD:
        if (b == 0.0)
            return by_zero(s, at);
        r = fmod(a, b);
        return sv_float(r != 0.0 && (r < 0.0) != (b < 0.0) ? r + b : r);
    case AST_OP_POW:
        return sv_float(pow(a, b));
    default:
        return sema_error(s, DIAG_SEMA_TYPE, at, "operator %s does not apply to a float",
                          ast_op_text(op));
    }
}

static SVal tuple_binary(Sema *s, AstOp op, SVal a, SVal b, Span at) {
    if (op != AST_OP_ADD || a.kind != SV_TUPLE || b.kind != SV_TUPLE)
        return sema_error(s, DIAG_SEMA_TYPE, at, "operator %s does not apply to %s and %s",
                          ast_op_text(op), sv_describe(s, a), sv_describe(s, b));
    SVal r = sv_tuple(s, NULL, 0);
    r.len = a.len + b.len;
    r.items = arena_array(s->arena, SVal, r.len ? r.len : 1);
    if (a.len)
        memcpy(r.items, a.items, a.len * sizeof *a.items);
    if (b.len)
        memcpy(r.items + a.len, b.items, b.len * sizeof *b.items);
    return r;
}

static SVal string_add(Sema *s, SVal a, SVal b) {
    StrBuf t;
    strbuf_init(&t, s->arena);
    strbuf_addz(&t, str_text(s->strings, a.str));
    strbuf_addz(&t, str_text(s->strings, b.str));
    return sv_str(str_intern(s->strings, t.text, t.len));
}

SVal const_binary(Sema *s, AstOp op, SVal a, SVal b, Span at) {
    if (a.kind == SV_STR && b.kind == SV_STR && op == AST_OP_ADD)
        return string_add(s, a, b);
    if (a.kind == SV_TUPLE || b.kind == SV_TUPLE || !sv_is_number(a) || !sv_is_number(b))
        return tuple_binary(s, op, a, b, at);
    if (a.kind == SV_FLOAT || b.kind == SV_FLOAT)
        return float_binary(s, op, const_as_double(a), const_as_double(b), at);
    bool bools = a.kind == SV_BOOL && b.kind == SV_BOOL;
    SVal r = int_binary(s, op, a.num.i, b.num.i, at);
    if (bools && r.kind == SV_INT &&
        (op == AST_OP_BITAND || op == AST_OP_BITOR || op == AST_OP_BITXOR))
        r.kind = SV_BOOL;
    return r;
}

SVal const_unary(Sema *s, AstOp op, SVal x, Span at) {
    if (op == AST_OP_NOT)
        return sv_bool(!const_truth(s, x));
    if (!sv_is_number(x))
        return sema_error(s, DIAG_SEMA_TYPE, at, "operator %s does not apply to %s",
                          ast_op_text(op), sv_describe(s, x));
    if (x.kind == SV_FLOAT) {
        if (op == AST_OP_INVERT)
            return sema_error(s, DIAG_SEMA_TYPE, at, "operator ~ does not apply to a float");
        return sv_float(op == AST_OP_NEG ? -x.num.f : x.num.f);
    }
    if (op == AST_OP_INVERT)
        return sv_int(~x.num.i);
    if (op == AST_OP_NEG)
        return x.num.i == INT64_MIN ? overflow(s, at) : sv_int(-x.num.i);
    return sv_int(x.num.i);
}

bool const_truth(Sema *s, SVal x) {
    switch (x.kind) {
    case SV_NONE:
        return false;
    case SV_FLOAT:
        return x.num.f != 0.0;
    case SV_BOOL:
    case SV_INT:
        return x.num.i != 0;
    case SV_STR:
        return str_len(s->strings, x.str) > 0;
    case SV_TUPLE:
        return x.len > 0;
    default:
        return true;
    }
}

bool const_equal(SVal a, SVal b) {
    if (sv_is_number(a) && sv_is_number(b)) {
        if (a.kind == SV_FLOAT || b.kind == SV_FLOAT)
            return const_as_double(a) == const_as_double(b);
        return a.num.i == b.num.i;
    }
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case SV_STR:
        return a.str == b.str;
    case SV_DTYPE:
        return dt_equal(a.dtype, b.dtype) && a.rank == b.rank &&
               (!a.rank || !memcmp(a.shape, b.shape, a.rank * sizeof *a.shape));
    case SV_TUPLE:
        if (a.len != b.len)
            return false;
        for (uint32_t i = 0; i < a.len; i++)
            if (!const_equal(a.items[i], b.items[i]))
                return false;
        return true;
    case SV_MESH:
        return a.mesh == b.mesh;
    case SV_FUNCTION:
        return a.ast == b.ast;
    case SV_BUILTIN:
        return a.builtin == b.builtin;
    case SV_NAMESPACE:
        return a.str == b.str;
    default:
        return a.kind == SV_NONE || (a.v != 0 && a.v == b.v);
    }
}

static bool contains(SVal x, SVal list) {
    for (uint32_t i = 0; list.kind == SV_TUPLE && i < list.len; i++)
        if (const_equal(x, list.items[i]))
            return true;
    return false;
}

static SVal order(Sema *s, AstOp op, SVal a, SVal b, Span at) {
    int c;
    if (sv_is_number(a) && sv_is_number(b) && a.kind != SV_FLOAT && b.kind != SV_FLOAT) {
        c = (a.num.i > b.num.i) - (a.num.i < b.num.i);
    } else if (sv_is_number(a) && sv_is_number(b)) {
        double x = const_as_double(a), y = const_as_double(b);
        if (isnan(x) || isnan(y))
            return sv_bool(false);
        c = (x > y) - (x < y);
    } else if (a.kind == SV_STR && b.kind == SV_STR) {
        c = strcmp(str_text(s->strings, a.str), str_text(s->strings, b.str));
    } else {
        return sema_error(s, DIAG_SEMA_TYPE, at, "operator %s does not apply to %s and %s",
                          ast_op_text(op), sv_describe(s, a), sv_describe(s, b));
    }
    return sv_bool(op == AST_OP_LT   ? c < 0
                   : op == AST_OP_LE ? c <= 0
                   : op == AST_OP_GT ? c > 0
                                     : c >= 0);
}

SVal const_compare(Sema *s, AstOp op, SVal a, SVal b, Span at) {
    switch ((int)op) {
    case AST_OP_EQ:
    case AST_OP_IS:
        return sv_bool(const_equal(a, b));
    case AST_OP_NE:
    case AST_OP_IS_NOT:
        return sv_bool(!const_equal(a, b));
    case AST_OP_IN:
    case AST_OP_NOT_IN:
        if (b.kind != SV_TUPLE)
            return sema_error(s, DIAG_SEMA_TYPE, at, "'in' needs a tuple or list, found %s",
                              sv_describe(s, b));
        return sv_bool(contains(a, b) == (op == AST_OP_IN));
    default:
        return order(s, op, a, b, at);
    }
}
