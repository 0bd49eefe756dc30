# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Functions of elements: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: umulhi needs integers, found float32
    tl.umulhi(f, f)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: the condition must be a tensor or a number, found the string 'c'
    tl.where("c", x, x)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'propagate_nan' must be one of 'none', 'all', found the string 'some'
    tl.minimum(x, x, propagate_nan="some")
    # CHECK: :[[@LINE+1]]:5: error[E0303]: abs does not apply to a pointer
    tl.abs(p)
    # CHECK-NOT: error
