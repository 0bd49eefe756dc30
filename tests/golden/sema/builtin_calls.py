# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Names, arguments and parameters: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: tl.arange needs an argument for 'end'
    tl.arange(0)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: tl.arange takes 2 positional arguments, found 3
    tl.arange(0, 64, 2)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: tl.arange has no parameter 'step'
    tl.arange(0, 64, step=2)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: tl.arange got 'start' twice
    tl.arange(0, end=64, start=1)
    # CHECK: :[[@LINE+1]]:5: error[E0302]: tl has no supported 'aranje'; did you mean 'arange'?
    tl.aranje(0, 4)
    # CHECK: :[[@LINE+1]]:5: error[E0302]: tle has no supported 'alloc'
    tle.alloc([4], tl.int32)
    # CHECK: :[[@LINE+1]]:5: error[E0302]: a function has no supported 'axis'
    tl.max.axis
    # CHECK: :[[@LINE+1]]:5: error[E0302]: float32[64] has no supported 'summ'; did you mean 'sum'?
    x.summ()
    # CHECK: :[[@LINE+1]]:5: error[E0302]: float32[64] has no supported 'shap'; did you mean 'shape'?
    x.shap
    # CHECK-NOT: error
