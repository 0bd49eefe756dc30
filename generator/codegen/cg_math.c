/* Division, roots, exponentials, logarithms, sine and cosine, without any device library.
 *
 * Half types are computed in f32 and rounded once. f64 has the IEEE operations only: the hardware
 * has no approximations for it, and kernels for inference have no use for more.
 * Errors (f32): exp 2 ulp near 0, then |x| * 2^-23 relative as ex2.approx(x * log2 e) has; log and
 * log2 those of lg2.approx; sin and cos 2 ulp for |x| <= 2^17 (three-part reduction by pi / 2), and
 * beyond that an error that grows with |x| * 2^-40. */
#include "codegen/cg_impl.h"
#include <math.h>

typedef V MathFn(Cg *c, V x);

static V real(Cg *c, double x) {
    return LLVMConstReal(c->f32, x);
}

static V call1(Cg *c, const char *name, V x) {
    return cg_intrinsic(c, name, NULL, 0, &x, 1);
}

static V mul(Cg *c, V x, V y) {
    return LLVMBuildFMul(c->b, x, y, "");
}

static V fma3(Cg *c, V x, V y, V z) {
    V args[3] = {x, y, z};

    return cg_intrinsic(c, "llvm.fma", &c->f32, 1, args, 3);
}

/* Applies a function of f32 to an element of any float type but f64. */
static V through_f32(Cg *c, IrOp op, V x, MathFn *fn) {
    LLVMTypeRef t = LLVMTypeOf(x);

    if (t == c->f32)
        return fn(c, x);
    if (t != c->f16 && t != c->bf16) {
        cg_unsupported(c, op, "only for fp32, fp16 and bf16");
        return x;
    }
    return LLVMBuildFPTrunc(c->b, fn(c, LLVMBuildFPExt(c->b, x, c->f32, "")), t, "");
}

/* --- division --- */

V cg_fdiv_rn(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = LLVMTypeOf(x[0]);

    (void)op;
    if (t == c->f32 || t == c->f64)
        return LLVMBuildFDiv(c->b, x[0], x[1], "");
    V a = LLVMBuildFPExt(c->b, x[0], c->f32, ""), b = LLVMBuildFPExt(c->b, x[1], c->f32, "");
    return LLVMBuildFPTrunc(c->b, LLVMBuildFDiv(c->b, a, b, ""), t, "");
}

V cg_fdiv(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = LLVMTypeOf(x[0]);

    if (t != c->f32)
        return cg_fdiv_rn(c, op, x);
    return cg_intrinsic(c, "llvm.nvvm.div.full", NULL, 0, x, 2);
}

/* C's fmod by repeated exact subtraction would loop. One step of x - trunc(x / y) * y with a fused
 * product, and one y back where rounding made the quotient a whole number too large, is exact while
 * the quotient is below 2^24. */
static V remainder_of(Cg *c, IrOp op, V x, V y) {
    LLVMTypeRef t = LLVMTypeOf(x);
    V inf = LLVMConstReal(t, HUGE_VAL), zero = LLVMConstNull(t), operands[2] = {x, y};
    V quotient = cg_fdiv_rn(c, op, operands);
    V args[3] = {LLVMBuildFNeg(c->b, cg_intrinsic(c, "llvm.trunc", &t, 1, &quotient, 1), ""), y, x};
    V rest = cg_intrinsic(c, "llvm.fma", &t, 1, args, 3);
    V size_x = cg_intrinsic(c, "llvm.fabs", &t, 1, &x, 1);
    V size_y = cg_intrinsic(c, "llvm.fabs", &t, 1, &y, 1);
    V signed_y[2] = {size_y, x}, signs[2] = {rest, x};
    V back = LLVMBuildFAdd(c->b, rest, cg_intrinsic(c, "llvm.copysign", &t, 1, signed_y, 2), "");
    V same = cg_intrinsic(c, "llvm.copysign", &t, 1, signs, 2);
    V over = LLVMBuildAnd(c->b, LLVMBuildFCmp(c->b, LLVMRealONE, rest, same, ""),
                          LLVMBuildFCmp(c->b, LLVMRealONE, rest, zero, ""), "");
    V whole = LLVMBuildAnd(c->b, LLVMBuildFCmp(c->b, LLVMRealOEQ, size_y, inf, ""),
                           LLVMBuildFCmp(c->b, LLVMRealOLT, size_x, inf, ""), "");

    rest = LLVMBuildSelect(c->b, over, back, rest, "");
    return LLVMBuildSelect(c->b, whole, x, rest, "");
}

V cg_frem(Cg *c, IrOp op, const V *x) {
    LLVMTypeRef t = LLVMTypeOf(x[0]);

    if (t != c->f16 && t != c->bf16)
        return remainder_of(c, op, x[0], x[1]);
    V a = LLVMBuildFPExt(c->b, x[0], c->f32, ""), b = LLVMBuildFPExt(c->b, x[1], c->f32, "");
    return LLVMBuildFPTrunc(c->b, remainder_of(c, op, a, b), t, "");
}

/* --- roots --- */

static V sqrt_f32(Cg *c, V x) {
    return call1(c, "llvm.nvvm.sqrt.approx.f", x);
}

static V rsqrt_f32(Cg *c, V x) {
    return call1(c, "llvm.nvvm.rsqrt.approx.f", x);
}

static V sqrt_rn_f32(Cg *c, V x) {
    return call1(c, "llvm.nvvm.sqrt.rn.f", x);
}

V cg_sqrt_rn(Cg *c, IrOp op, const V *x) {
    if (LLVMTypeOf(x[0]) == c->f64)
        return call1(c, "llvm.nvvm.sqrt.rn.d", x[0]);
    return through_f32(c, op, x[0], sqrt_rn_f32);
}

V cg_sqrt(Cg *c, IrOp op, const V *x) {
    if (LLVMTypeOf(x[0]) == c->f64)
        return cg_sqrt_rn(c, op, x);
    return through_f32(c, op, x[0], sqrt_f32);
}

V cg_rsqrt(Cg *c, IrOp op, const V *x) {
    return through_f32(c, op, x[0], rsqrt_f32);
}

/* --- exponentials and logarithms --- */

static V exp2_f32(Cg *c, V x) {
    return cg_intrinsic(c, "llvm.nvvm.ex2.approx", &c->f32, 1, &x, 1);
}

static V exp_f32(Cg *c, V x) {
    return exp2_f32(c, mul(c, x, real(c, 1.4426950408889634)));
}

static V log2_f32(Cg *c, V x) {
    return call1(c, "llvm.nvvm.lg2.approx.f", x);
}

static V log_f32(Cg *c, V x) {
    return mul(c, log2_f32(c, x), real(c, 0.6931471805599453));
}

V cg_exp2(Cg *c, IrOp op, const V *x) {
    return through_f32(c, op, x[0], exp2_f32);
}

V cg_exp(Cg *c, IrOp op, const V *x) {
    return through_f32(c, op, x[0], exp_f32);
}

V cg_log2(Cg *c, IrOp op, const V *x) {
    return through_f32(c, op, x[0], log2_f32);
}

V cg_log(Cg *c, IrOp op, const V *x) {
    return through_f32(c, op, x[0], log_f32);
}

/* --- sine and cosine --- */

/* x = quadrant * pi / 2 + *rest, |*rest| <= pi / 4. */
static V reduce_quadrant(Cg *c, V x, V *rest) {
    static const double half_pi[] = {1.57079601287841796875, 3.1391647326017846353352069854736e-07,
                                     5.3903025299577647655e-15};
    V scaled = mul(c, x, real(c, 0.63661977236758134));
    V q = cg_intrinsic(c, "llvm.rint", &c->f32, 1, &scaled, 1);
    V minus = LLVMBuildFNeg(c->b, q, "");

    *rest = x;
    for (int i = 0; i < 3; i++)
        *rest = fma3(c, minus, real(c, half_pi[i]), *rest);
    return call1(c, "llvm.nvvm.f2i.rz", q);
}

/* Minimax polynomials on [-pi / 4, pi / 4]. */
static V sin_poly(Cg *c, V r, V r2) {
    V p = fma3(c, r2, real(c, -1.9515295891e-4), real(c, 8.3321608736e-3));

    p = fma3(c, p, r2, real(c, -1.6666654611e-1));
    return fma3(c, mul(c, p, r2), r, r);
}

static V cos_poly(Cg *c, V r2) {
    V p = fma3(c, r2, real(c, 2.443315711809948e-5), real(c, -1.388731625493765e-3));

    p = fma3(c, p, r2, real(c, 4.166664568298827e-2));
    V half = fma3(c, r2, real(c, -0.5), real(c, 1.0));
    return fma3(c, mul(c, r2, r2), p, half);
}

/* sin(x) for quarter = 0, cos(x) for quarter = 1. */
static V sine(Cg *c, V x, uint32_t quarter) {
    V r;
    V q = LLVMBuildAdd(c->b, reduce_quadrant(c, x, &r), cg_i32(c, quarter), "");
    V r2 = mul(c, r, r);
    V odd = LLVMBuildTrunc(c->b, q, c->i1, "");
    V y = LLVMBuildSelect(c->b, odd, cos_poly(c, r2), sin_poly(c, r, r2), "");
    V sign = LLVMBuildAnd(c->b, LLVMBuildLShr(c->b, q, cg_i32(c, 1), ""), cg_i32(c, 1), "");
    V flip = LLVMBuildICmp(c->b, LLVMIntNE, sign, cg_i32(c, 0), "");

    return LLVMBuildSelect(c->b, flip, LLVMBuildFNeg(c->b, y, ""), y, "");
}

static V sin_f32(Cg *c, V x) {
    return sine(c, x, 0);
}

static V cos_f32(Cg *c, V x) {
    return sine(c, x, 1);
}

V cg_sin(Cg *c, IrOp op, const V *x) {
    return through_f32(c, op, x[0], sin_f32);
}

V cg_cos(Cg *c, IrOp op, const V *x) {
    return through_f32(c, op, x[0], cos_f32);
}
