# RUN: %not %tlec --kernel kernel --emit=tir --passes= --sig 'x:*fp32, n:i32' %s 2>&1 | %filecheck %s
import triton
import triton.language as tl


@triton.jit
def helper(x, K: tl.constexpr):
    return x + K


@triton.jit
def kernel(x, n):
    # CHECK: sema_const.py:[[@LINE+2]]:5: error[E0305]: parameter 'K' of 'helper' must be a compile-time constant, found int32
    # CHECK: :7:15: note: declared constexpr here
    helper(n, n)
    # CHECK: :[[@LINE+1]]:23: error[E0305]: a tl.constexpr variable needs a compile-time constant, found int32
    k: tl.constexpr = n + 1
    # CHECK: :[[@LINE+1]]:14: error[E0305]: a bound of the range must be a compile-time integer, found int32
    for i in tl.static_range(n):
        pass
    # CHECK: :[[@LINE+1]]:11: error[E0305]: an f-string needs compile-time constants, found int32
    f"n = {n}"
    # CHECK-NOT: error
