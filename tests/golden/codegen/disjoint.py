# RUN: %tlec %s --kernel kernel --sig 'x_ptr:*i32, out:*i32' --const N=64 --num-warps 16 --emit llvm-opt | %filecheck %s
# Addresses of partial results are sums: as `or disjoint` they would hold only under the condition of
# their block, which LLVM's later passes forget.
import triton
import triton.language as tl


# CHECK-LABEL: define {{.*}}@kernel(
# CHECK-NOT: or disjoint
# CHECK: store i32
# CHECK-NOT: or disjoint
# CHECK: ret void
@triton.jit
def kernel(x_ptr, out, N: tl.constexpr):
    j = tl.arange(0, N)
    x = tl.load(x_ptr + j)[None, :]
    a = tl.sum(x + tl.arange(0, 2)[:, None], axis=0)
    b = tl.sum(x * tl.arange(0, 4)[:, None], axis=0)
    tl.store(out + j, a + b)
