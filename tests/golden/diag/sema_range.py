# RUN: %not %tlec --kernel kernel --emit=tir --passes= --sig 'x:*fp32, n:i32' %s 2>&1 | %filecheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    # CHECK: sema_range.py:[[@LINE+1]]:14: error[E0307]: the step of a range must not be 0
    for i in range(0, n, 0):
        pass
    # CHECK: :[[@LINE+1]]:14: error[E0307]: this loop unrolls into 1000000 iterations, the limit is 16384
    for i in tl.static_range(1000000):
        pass
    # CHECK: :[[@LINE+1]]:5: error[E0307]: division of a constant by zero
    1 // 0
    # CHECK-NOT: error
