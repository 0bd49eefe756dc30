# RUN: %not %tlec --kernel kernel --emit=tir --passes= --sig 'x:*fp32, n:i32' %s 2>&1 | %filecheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    # CHECK: sema_type.py:[[@LINE+1]]:5: error[E0303]: cannot unpack a tuple of 3 into 2 names
    a, b = 1, 2, 3
    # CHECK: :[[@LINE+1]]:14: error[E0303]: a for loop runs over a range or a tuple, found int32
    for i in n:
        pass
    # CHECK: :[[@LINE+1]]:5: error[E0303]: int32 cannot be called
    n(3)
    # CHECK: :[[@LINE+1]]:13: error[E0303]: * needs a tuple, found int32
    tl.cdiv(*n)
    # CHECK: :[[@LINE+1]]:14: error[E0303]: a bound of the range must be an integer scalar, found the constant 1.5
    for i in range(1.5):
        pass
    # CHECK-NOT: error
    a + b + i
