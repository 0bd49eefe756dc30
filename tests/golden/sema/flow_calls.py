# RUN: %tlec --kernel kernel --sig 'p:*fp32:16, n:i32' --const 'T=fp16, K=3, SHIFT=-2, SCALE=1.5, NAME="x", SHAPE=(4, 8)' --emit=tir --passes= %s | %filecheck %s
# Inlining, parameters of helpers and kernels, module-level names, f-strings, strong and weak numbers.
import os

import triton
import triton.language as tl
from triton import language as lang
from triton.language import float32 as F32

BLOCK: tl.constexpr = 64
HALF = tl.constexpr(BLOCK // 2)
NEG, (POS, UNUSED) = -1, (1, 2)
PAIR = (3, 4.5)
WIDTHS = {"not": "a constant"}
HOME = os.environ.get("HOME")


class Host:
    def method(self):
        return HOME


if WIDTHS:

    @triton.jit
    def under_if(x):
        return x * BLOCK


@triton.jit
def defaults(x, scale=2, *, shift: tl.constexpr = PAIR[0]):
    return x * scale + shift


@triton.jit
def variadic(first, *rest):
    total = first
    for r in rest:
        total += r
    return total, len(rest)


@triton.jit(do_not_specialize=["x"])
def apply(f, x, T: tl.constexpr):
    return f(x).to(T)


# CHECK: func @kernel(%p.[[P:[0-9]+]]: ptr<f32, 1> divisible 16, %n.[[N:[0-9]+]]: i32) [num_warps = 4]
@triton.jit
def kernel(p, n, T: tl.constexpr, K: tl.constexpr, SHIFT: tl.constexpr, SCALE: tl.constexpr,
           NAME: tl.constexpr, SHAPE: tl.constexpr, EXTRA: tl.constexpr = None):
    # CHECK: const 2 : i32
    # CHECK: const 3 : i32
    # CHECK: const 7 : i32
    # CHECK: const -2 : i32
    a = defaults(n)
    a = defaults(a, shift=SHIFT, scale=7)
    # CHECK: add %{{.*}}, %n.[[N]] : i32
    # CHECK: const 2 : i32
    b, extra = variadic(*(a, n), K)
    b += extra
    # CHECK: const 64 : i32
    # CHECK: mul
    # CHECK: sitofp %{{[0-9]+}} : f16
    c = apply(under_if, b, T)
    tl.static_assert(HALF == 32 and NEG + PAIR[1] == 3.5)
    assert f"{NAME}{K}-{SCALE} {T} {EXTRA}" == "x3-1.5 float16 None", "f-strings fold"
    # CHECK: const 1.0 : f32
    # CHECK: tile<4x8xf32>
    ones = lang.full(SHAPE, 1.0, F32)
    # A literal adopts the tensor's type; a number that was assigned has a type of its own.
    # CHECK: const 1.5 : f16
    # CHECK: fmul {{.*}} : f16
    # CHECK: const 1.5 : f32
    # CHECK: fpext {{.*}} : f32
    # CHECK: fmul {{.*}} : f32
    weak = c * SCALE
    scale = 1.5
    strong = c * scale
    # A helper without a return gives None.
    # CHECK: store
    tl.store(p, weak + strong + tl.sum(tl.sum(ones, 1), 0))
