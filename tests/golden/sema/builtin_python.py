# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Python's own functions, assertions: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: len() of float32[64]
    len(x)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: int() of the string 'a'
    int("a")
    # CHECK: :[[@LINE+1]]:5: error[E0303]: cannot cast pointer<float32> to float32
    float(p)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: min needs at least one value
    min()
    # CHECK: :[[@LINE+1]]:5: error[E0305]: static_assert needs a compile-time condition, found int1
    tl.static_assert(n > 3)
    # CHECK: :[[@LINE+1]]:5: error[E0309]: static assertion failed: K is three
    tl.static_assert(K == 3, "K is three")
    # CHECK: :[[@LINE+1]]:5: error[E0309]: the assumption is false at compile time
    tl.assume(K == 3)
    # CHECK: :[[@LINE+1]]:5: error[E0309]: static assertion failed: the assertion does not hold
    tl.static_assert(False)
    # CHECK-NOT: error
