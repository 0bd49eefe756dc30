# RUN: %not %tlec --kernel kernel --emit=tir --passes= --sig 'x:*fp32, n:i32' %s 2>&1 | %filecheck %s
import triton
import triton.language as tl


@triton.jit
def helper(a, b=2, *, c: tl.constexpr = 3):
    return a + b + c


@triton.jit
def kernel(x, n):
    # CHECK: sema_call.py:[[@LINE+2]]:5: error[E0306]: 'helper' needs an argument for 'a'
    # CHECK: :7:12: note: the parameter
    helper()
    # CHECK: :[[@LINE+2]]:5: error[E0306]: 'helper' got 3 positional arguments, it takes 2
    # CHECK: :6:1: note: 'helper' is defined here
    helper(n, n, n)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: 'helper' has no parameter 'd'
    helper(n, d=1)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: 'helper' got 'a' both by position and by name
    helper(n, a=1)
    # CHECK: :[[@LINE+1]]:20: error[E0306]: argument 'b' is given twice
    helper(n, b=1, b=2)
    # CHECK-NOT: error
