/* Operators on tensors, with Triton's typing rules; constants go to sema_const.c. */
#include "sema/sema_const.h"
#include "sema/sema_promote.h"
#include <string.h>

static bool operand_ok(Sema *s, SVal x, bool pointers, const char *what, Span at) {
    if (x.kind == SV_ERROR)
        return false;
    if (x.kind != SV_TENSOR && !sv_is_number(x)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "%s does not apply to %s", what, sv_describe(s, x));
        return false;
    }
    if (x.kind == SV_TENSOR && dt_is_ptr(x.dtype) && !pointers) {
        sema_error(s, DIAG_SEMA_TYPE, at, "%s does not apply to a pointer (%s)", what,
                   sv_describe(s, x));
        return false;
    }
    return true;
}

static bool negative_meets_unsigned(Sema *s, SVal x, DType t, const char *what, Span at) {
    if (x.kind != SV_INT || x.num.i >= 0 || !dt_is_unsigned(t))
        return false;
    sema_error(s, DIAG_SEMA_RANGE, at, "%s of %s and %s: a negative constant has no unsigned value",
               what, dt_name(s, t), sv_describe(s, x));
    return true;
}

static SVal to_common(Sema *s, SVal x, DType t, Span at) {
    return sv_is_number(x) ? number_to_tensor(s, x, t, at) : sema_cast(s, x, t, false, at);
}

/* A number that a plain assignment gave a type (not literal) meets tensors like a tensor. */
static void give_strong_type(Sema *s, SVal *x, SVal other, Span at) {
    if (other.kind == SV_TENSOR && sv_is_number(*x) && !x->literal)
        *x = sema_tensor(s, *x, dt(D_NONE), at);
}

bool sema_pair(Sema *s, SVal *a, SVal *b, bool division, bool pointers, const char *what, Span at) {
    if (!operand_ok(s, *a, pointers, what, at) || !operand_ok(s, *b, pointers, what, at))
        return false;
    give_strong_type(s, a, *b, at);
    give_strong_type(s, b, *a, at);
    DType ta = value_dtype(*a), tb = value_dtype(*b);
    if (dt_is_ptr(ta) || dt_is_ptr(tb)) {
        if (!dt_equal(ta, tb)) {
            sema_error(s, DIAG_SEMA_TYPE, at, "%s of %s and %s: the pointer types differ", what,
                       sv_describe(s, *a), sv_describe(s, *b));
            return false;
        }
        return sema_broadcast_pair(s, a, b, at);
    }
    if (division && dt_is_int(ta) && dt_is_int(tb) && !sv_is_number(*a) && !sv_is_number(*b) &&
        dt_is_signed(ta) != dt_is_signed(tb)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "%s of %s and %s: the signs differ, cast one of them",
                   what, dt_name(s, ta), dt_name(s, tb));
        return false;
    }
    DType t = promote(ta, sv_is_number(*a), tb, sv_is_number(*b), division);
    if (negative_meets_unsigned(s, *a, t, what, at) || negative_meets_unsigned(s, *b, t, what, at))
        return false;
    *a = to_common(s, *a, t, at);
    *b = to_common(s, *b, t, at);
    if (a->kind == SV_ERROR || b->kind == SV_ERROR)
        return false;
    return sema_broadcast_pair(s, a, b, at);
}

static SVal add_pointer(Sema *s, SVal ptr, SVal offset, bool negate, Span at) {
    offset = sema_tensor(s, offset, dt(D_NONE), at);
    if (offset.kind == SV_ERROR)
        return offset;
    if (!dt_is_int(offset.dtype))
        return sema_error(s, DIAG_SEMA_TYPE, at, "a pointer offset must be an integer, found %s",
                          sv_describe(s, offset));
    /* 32-bit unsigned offsets must not turn negative; everything narrower is widened by its sign.
     */
    bool wide =
        dt_bits(offset.dtype) == 64 || (dt_bits(offset.dtype) == 32 && !dt_is_signed(offset.dtype));
    offset = sema_cast(s, offset, dt(wide ? D_INT64 : D_INT32), false, at);
    if (negate)
        offset = sema_unary(s, AST_OP_NEG, offset, at);
    if (!sema_broadcast_pair(s, &ptr, &offset, at))
        return sv_error();
    return sv_tensor(s, ir_build2(&s->b, IR_OP_ADDPTR, ptr.v, offset.v), ptr.dtype);
}

/* TIR operations of a binary operator on signed integers, unsigned integers and floats. */
typedef struct OpKinds {
    IrKind s, u, f;
} OpKinds;

static OpKinds op_kinds(AstOp op) {
    switch ((int)op) {
    case AST_OP_ADD:
        return (OpKinds){IR_OP_ADD, IR_OP_ADD, IR_OP_FADD};
    case AST_OP_SUB:
        return (OpKinds){IR_OP_SUB, IR_OP_SUB, IR_OP_FSUB};
    case AST_OP_MUL:
        return (OpKinds){IR_OP_MUL, IR_OP_MUL, IR_OP_FMUL};
    case AST_OP_DIV:
        return (OpKinds){IR_OP_NONE, IR_OP_NONE, IR_OP_FDIV};
    case AST_OP_FLOORDIV:
        return (OpKinds){IR_OP_SDIV, IR_OP_UDIV, IR_OP_NONE};
    case AST_OP_MOD:
        return (OpKinds){IR_OP_SREM, IR_OP_UREM, IR_OP_FREM};
    case AST_OP_SHL:
        return (OpKinds){IR_OP_SHL, IR_OP_SHL, IR_OP_NONE};
    case AST_OP_SHR:
        return (OpKinds){IR_OP_ASHR, IR_OP_LSHR, IR_OP_NONE};
    case AST_OP_BITAND:
        return (OpKinds){IR_OP_AND, IR_OP_AND, IR_OP_NONE};
    case AST_OP_BITOR:
        return (OpKinds){IR_OP_OR, IR_OP_OR, IR_OP_NONE};
    case AST_OP_BITXOR:
        return (OpKinds){IR_OP_XOR, IR_OP_XOR, IR_OP_NONE};
    default:
        return (OpKinds){IR_OP_NONE, IR_OP_NONE, IR_OP_NONE};
    }
}

static SVal true_divide(Sema *s, SVal a, SVal b, Span at) {
    if (!sema_pair(s, &a, &b, true, false, "operator /", at))
        return sv_error();
    if (dt_is_int(a.dtype)) {
        a = sema_cast(s, a, dt(D_FP32), false, at);
        b = sema_cast(s, b, dt(D_FP32), false, at);
    }
    return sv_tensor(s, ir_build2(&s->b, IR_OP_FDIV, a.v, b.v), a.dtype);
}

static SVal tensor_binary(Sema *s, AstOp op, SVal a, SVal b, Span at) {
    StrBuf what;
    strbuf_init(&what, s->arena);
    strbuf_addf(&what, "operator %s", ast_op_text(op));
    bool division = op == AST_OP_FLOORDIV || op == AST_OP_MOD;
    if (!sema_pair(s, &a, &b, division, false, what.text, at))
        return sv_error();
    OpKinds k = op_kinds(op);
    IrKind kind = dt_is_float(a.dtype) ? k.f : dt_is_signed(a.dtype) ? k.s : k.u;
    if (kind == IR_OP_NONE)
        return sema_error(s, DIAG_SEMA_TYPE, at, "%s does not apply to %s", what.text,
                          sv_describe(s, a));
    return sv_tensor(s, ir_build2(&s->b, kind, a.v, b.v), a.dtype);
}

static bool both_const(SVal a, SVal b) {
    return a.kind != SV_TENSOR && b.kind != SV_TENSOR;
}

SVal sema_binary(Sema *s, AstOp op, SVal a, SVal b, Span at) {
    if (a.kind == SV_ERROR || b.kind == SV_ERROR)
        return sv_error();
    s->b.span = at;
    if (both_const(a, b))
        return const_binary(s, op, a, b, at);
    bool pa = a.kind == SV_TENSOR && dt_is_ptr(a.dtype),
         pb = b.kind == SV_TENSOR && dt_is_ptr(b.dtype);
    if (pa != pb && (op == AST_OP_ADD || (op == AST_OP_SUB && pa)))
        return add_pointer(s, pa ? a : b, pa ? b : a, op == AST_OP_SUB, at);
    if (op == AST_OP_DIV)
        return true_divide(s, a, b, at);
    return tensor_binary(s, op, a, b, at);
}

static SVal splat_like(Sema *s, SVal number, SVal like, Span at) {
    SVal x = number_to_tensor(s, number, like.dtype, at);
    return sema_broadcast(s, x, like.rank, like.shape, at);
}

SVal sema_unary(Sema *s, AstOp op, SVal x, Span at) {
    if (x.kind == SV_ERROR)
        return x;
    s->b.span = at;
    if (x.kind != SV_TENSOR)
        return const_unary(s, op, x, at);
    if (op == AST_OP_NOT) {
        x = sema_cast(s, x, dt(D_INT1), false, at);
        return sv_tensor(s, ir_build2(&s->b, IR_OP_XOR, x.v, splat_like(s, sv_int(1), x, at).v),
                         x.dtype);
    }
    if (dt_is_ptr(x.dtype) || (op == AST_OP_INVERT && !dt_is_int(x.dtype)))
        return sema_error(s, DIAG_SEMA_TYPE, at, "operator %s does not apply to %s",
                          ast_op_text(op), sv_describe(s, x));
    if (op == AST_OP_POS)
        return x;
    if (op == AST_OP_INVERT) {
        IrValue ones = ir_build_int(&s->b, sv_ir_type(s, x.dtype, x.rank, x.shape), -1);
        return sv_tensor(s, ir_build2(&s->b, IR_OP_XOR, x.v, ones), x.dtype);
    }
    SVal zero = splat_like(s, dt_is_float(x.dtype) ? sv_float(0.0) : sv_int(0), x, at);
    return sv_tensor(
        s, ir_build2(&s->b, dt_is_float(x.dtype) ? IR_OP_FSUB : IR_OP_SUB, zero.v, x.v), x.dtype);
}

static int compare_code(AstOp op, DType t) {
    static const struct {
        AstOp op;
        int s, u, f;
    } codes[] = {{AST_OP_EQ, IR_CMP_EQ, IR_CMP_EQ, IR_CMP_OEQ},
                 {AST_OP_NE, IR_CMP_NE, IR_CMP_NE, IR_CMP_UNE},
                 {AST_OP_LT, IR_CMP_SLT, IR_CMP_ULT, IR_CMP_OLT},
                 {AST_OP_LE, IR_CMP_SLE, IR_CMP_ULE, IR_CMP_OLE},
                 {AST_OP_GT, IR_CMP_SGT, IR_CMP_UGT, IR_CMP_OGT},
                 {AST_OP_GE, IR_CMP_SGE, IR_CMP_UGE, IR_CMP_OGE}};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].op == op)
            return dt_is_float(t) ? codes[i].f : dt_is_signed(t) ? codes[i].s : codes[i].u;
    return -1;
}

SVal sema_compare(Sema *s, AstOp op, SVal a, SVal b, Span at) {
    if (a.kind == SV_ERROR || b.kind == SV_ERROR)
        return sv_error();
    s->b.span = at;
    if (op == AST_OP_IS || op == AST_OP_IS_NOT) /* a tensor is never None */
        return sv_bool(const_equal(a, b) == (op == AST_OP_IS));
    if (a.kind != SV_TENSOR && b.kind != SV_TENSOR)
        return const_compare(s, op, a, b, at);
    if (a.kind == SV_NONE || b.kind == SV_NONE)
        return sv_bool(op == AST_OP_NE);
    StrBuf what;
    strbuf_init(&what, s->arena);
    strbuf_addf(&what, "operator %s", ast_op_text(op));
    if (!sema_pair(s, &a, &b, false, true, what.text, at))
        return sv_error();
    int code = compare_code(op, a.dtype);
    if (code < 0)
        return sema_error(s, DIAG_SEMA_UNSUPPORTED, at, "%s on tensors is not supported",
                          what.text);
    IrKind kind = dt_is_float(a.dtype) ? IR_OP_FCMP : IR_OP_ICMP;
    return sv_tensor(s, ir_build_cmp(&s->b, kind, code, a.v, b.v), dt(D_INT1));
}

bool sema_condition(Sema *s, SVal x, Span at, bool *known_out, bool *value_out, IrValue *cond_out) {
    *known_out = false;
    *value_out = false;
    *cond_out = 0;
    if (x.kind == SV_ERROR)
        return false;
    if (x.kind != SV_TENSOR) {
        *known_out = true;
        *value_out = const_truth(s, x);
        return true;
    }
    if (x.rank || dt_is_ptr(x.dtype)) {
        sema_error(s, DIAG_SEMA_TYPE, at, "a condition must be a scalar, found %s",
                   sv_describe(s, x));
        return false;
    }
    *cond_out = sema_cast(s, x, dt(D_INT1), false, at).v;
    return true;
}

SVal sema_select(Sema *s, SVal cond, SVal x, SVal y, Span at) {
    if (cond.kind == SV_ERROR)
        return cond;
    if (cond.kind != SV_TENSOR && !sv_is_number(cond))
        return sema_error(s, DIAG_SEMA_TYPE, at,
                          "the condition must be a tensor or a number, found %s",
                          sv_describe(s, cond));
    if (x.kind != SV_TENSOR && y.kind != SV_TENSOR) { /* two numbers: they get types of their own */
        DType t = sv_is_number(x) && sv_is_number(y)
                      ? promote(number_dtype(x), true, number_dtype(y), true, false)
                      : dt(D_NONE);
        x = sema_tensor(s, x, t, at);
        y = sema_tensor(s, y, t, at);
    }
    if (!sema_pair(s, &x, &y, false, true, "where", at))
        return sv_error();
    cond = sema_cast(s, cond, dt(D_INT1), false, at);
    if (cond.kind == SV_ERROR)
        return cond;
    if (cond.rank) {
        if (!sema_broadcast_pair(s, &cond, &x, at) || !sema_broadcast_pair(s, &x, &y, at))
            return sv_error();
        cond = sema_broadcast(s, cond, x.rank, x.shape, at);
    }
    s->b.span = at;
    return sv_tensor(s, ir_build_select(&s->b, cond.v, x.v, y.v), x.dtype);
}

static bool same_type(SVal a, SVal b) {
    return a.kind == SV_TENSOR && b.kind == SV_TENSOR && dt_equal(a.dtype, b.dtype) &&
           a.rank == b.rank && (!a.rank || !memcmp(a.shape, b.shape, a.rank * sizeof *a.shape));
}

bool sema_unify(Sema *s, SVal *a, SVal *b, Str name, Span at) {
    if (a->kind == SV_ERROR || b->kind == SV_ERROR)
        return false;
    if (sv_is_number(*a) && sv_is_number(*b)) {
        DType t = promote(number_dtype(*a), true, number_dtype(*b), true, false);
        *a = number_to_tensor(s, *a, t, at);
        *b = number_to_tensor(s, *b, t, at);
    } else if (sv_is_number(*a) && b->kind == SV_TENSOR && !b->rank) {
        *a = number_to_tensor(s, *a, b->dtype, at);
    } else if (sv_is_number(*b) && a->kind == SV_TENSOR && !a->rank) {
        *b = number_to_tensor(s, *b, a->dtype, at);
    }
    if (same_type(*a, *b))
        return true;
    if (a->kind != SV_ERROR && b->kind != SV_ERROR)
        sema_error(s, DIAG_SEMA_TYPE, at, "'%s' is %s on one path and %s on the other",
                   str_text(s->strings, name), sv_describe(s, *a), sv_describe(s, *b));
    return false;
}
