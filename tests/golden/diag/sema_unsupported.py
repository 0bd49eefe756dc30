# RUN: %not %tlec --kernel kernel --emit=tir --passes= --sig 'x:*fp32, n:i32' %s 2>&1 | %filecheck %s
# Host objects and host syntax inside a kernel; the note says where the object comes from.
import numpy as np
import triton

WIDTHS = {1, 2}


class Config:
    pass


def host(n):
    return n


@triton.jit
def again(n):
    # CHECK: sema_unsupported.py:[[@LINE+1]]:12: error[E0302]: 'again' calls itself: jit functions are inlined
    return again(n)


@triton.jit
def kernel(x, n):
    again(n)
    # CHECK: :[[@LINE+3]]:5: error[E0302]: 'np' is a host module and cannot be used in a kernel
    # CHECK: sema_unsupported.py:3:8: note: defined here
    # CHECK-NEXT: import numpy as np
    np.zeros(3)
    # CHECK: :[[@LINE+1]]:5: error[E0302]: 'Config' is a host class and cannot be used in a kernel
    Config()
    # CHECK: :[[@LINE+1]]:5: error[E0302]: 'host' is a host function (no @triton.jit) and cannot be used
    host(n)
    # CHECK: sema_unsupported.py:6:10: error[E0302]: a set is not supported in a kernel here
    # CHECK: :[[@LINE+1]]:5: note: needed because 'WIDTHS' is used here
    WIDTHS
    # CHECK: :[[@LINE+1]]:5: error[E0302]: tensors are values: an element cannot be assigned
    x[0] = 1.0
    # CHECK: :[[@LINE+1]]:5: error[E0302]: with is not supported inside a kernel
    with n:
        y = 1
    # CHECK: :[[@LINE+1]]:5: error[E0302]: a nested def is not supported inside a kernel
    def inner():
        pass
    # CHECK: :[[@LINE+1]]:9: error[E0302]: a lambda is not supported in a kernel here
    z = lambda: 1
    # CHECK-NOT: error
    z + y
