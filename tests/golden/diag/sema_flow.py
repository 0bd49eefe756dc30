# RUN: %not %tlec --kernel kernel --emit=tir --passes= --sig 'x:*fp32, n:i32' %s 2>&1 | %filecheck %s
import triton


@triton.jit
def kernel(x, n):
    if n > 0:
        y = 1
    # CHECK: sema_flow.py:[[@LINE+5]]:10: error[E0308]: 'y' is not assigned where the condition does not hold
    # CHECK-NEXT: {{^}}        n += y
    # CHECK-NEXT: {{^}}             ^
    # CHECK: :7:8: note: this statement decides it
    # CHECK-NOT: error
    n += y
