# RUN: %tlec %s --kernel kernel --sig 'x_ptr:*i32, out:*i32' --const 'N=64, M=1' --num-warps 4 --emit llvm-opt | %filecheck %s
# Addresses of partial results are sums: as `or disjoint` they would hold only under the condition of
# their block, which LLVM's later passes forget.
import triton
import triton.language as tl


# CHECK-LABEL: define {{.*}}@kernel(
# CHECK-NOT: or disjoint
# CHECK: ret void
@triton.jit
def kernel(x_ptr, out, M: tl.constexpr, N: tl.constexpr):
    j = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + j)
    a = tl.sum(tl.reshape(x[None, :, :] + tl.arange(0, 2)[:, None, None], (M, 2, N)), 1)
    b = tl.max(tl.permute(a[None, :, :] + tl.arange(0, 2)[:, None, None], (1, 0, 2)), 1)
    c = tl.max(tl.permute(x[None, :, :] + tl.arange(0, 4)[:, None, None], (1, 0, 2)), 1)
    tl.store(out + j, a)
    tl.store(out + N + j, b)
    tl.store(out + 2 * N + j, c)
