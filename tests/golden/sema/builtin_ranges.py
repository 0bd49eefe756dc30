# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Bounds of ranges: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: the step of a range must not be 0
    range(0, 8, 0)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: a bound of the range must be an integer scalar, found float32
    range(f)
    # CHECK: :[[@LINE+1]]:5: error[E0302]: tl.range: the argument 'warp_specialize' is not supported
    tl.range(0, 8, warp_specialize=True)
    # CHECK-NOT: error
