# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Shapes and subscripts: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0304]: shapes [64] and [32] do not broadcast: dimension 0 is 64 and 32
    x + tl.arange(0, 32)
    # CHECK: :[[@LINE+1]]:5: error[E0304]: shapes [64, 1] and [32, 32] do not broadcast: dimension 0 is 64 and 32
    x[:, None] + tl.zeros((32, 32), tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0302]: a tensor subscript takes only ':' and None, found the constant 0
    x[0]
    # CHECK: :[[@LINE+1]]:5: error[E0304]: 2 ':' in the subscript of float32[64]
    x[:, :]
    # CHECK: :[[@LINE+1]]:5: error[E0302]: a tensor subscript takes only ':' and None, found int32
    x[n]
    # CHECK: :[[@LINE+1]]:5: error[E0304]: cannot reshape float32[64] to a shape of 32 elements
    tl.reshape(x, (8, 4))
    # CHECK: :[[@LINE+1]]:5: error[E0304]: cannot reshape float32[64] to a shape of 1 elements
    tl.reshape(x, ())
    # CHECK: :[[@LINE+1]]:5: error[E0304]: cannot broadcast float32[64] to [32]
    tl.broadcast_to(x, (32,))
    # CHECK: :[[@LINE+1]]:5: error[E0304]: cannot broadcast float32[64, 1] to 1 dimensions
    tl.broadcast_to(x[:, None], (64,))
    # CHECK: :[[@LINE+1]]:5: error[E0307]: axis 3 is outside float32[64]
    tl.expand_dims(x, 3)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'dims' must be a permutation of 0 .. 1
    tl.permute(x[:, None], (0, 0))
    # CHECK: :[[@LINE+1]]:5: error[E0304]: the permutation has 1 entries for float32[64, 1]
    tl.permute(x[:, None], (0,))
    # CHECK-NOT: error
