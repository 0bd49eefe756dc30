# RUN: %not %tlec --kernel kernel --emit=tir --passes= --sig 'x:*fp32, n:i32' --const 'K=3' %s 2>&1 | %filecheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n, K: tl.constexpr):
    # CHECK: sema_assert.py:[[@LINE+1]]:12: error[E0309]: K must be even, not 3
    assert K % 2 == 0, f"K must be even, not {K}"
    # CHECK: :[[@LINE+1]]:12: error[E0309]: this assertion does not hold
    assert K == 4
    # CHECK: :[[@LINE+1]]:5: error[E0309]: {{.*}}K is odd
    tl.static_assert(K == 4, "K is odd")
    assert K == 3, "never said"
    assert n > 0, "checked by the kernel"
    if K == 3:
        # CHECK: :[[@LINE+1]]:9: error[E0309]: K = 3
        raise NotImplementedError(f"K = {K}")
    # CHECK-NOT: error
