# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Buffers in shared memory: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    b = tle.gpu.alloc([64], tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0304]: a shared buffer needs at least one dimension and a scalar dtype
    tle.gpu.alloc([], tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0305]: 'shape' must be a compile-time integer, found int32
    tle.gpu.alloc([n], tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0302]: 'scope' must be tle.gpu.smem, found the string 'tmem'
    tle.gpu.alloc([4], tl.float32, scope="tmem")
    # CHECK: :[[@LINE+1]]:5: error[E0302]: tle.gpu.alloc: the argument 'layout' is not supported
    tle.gpu.alloc([4], tl.float32, layout=1)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'buffer' must be a buffer made by tle.gpu.alloc, found float32[64]
    tle.gpu.local_ptr(x)
    # CHECK: :[[@LINE+1]]:5: error[E0304]: 'indices' must be a tuple of 1, one per dimension of a shared buffer of float32[64], found a tuple of 2
    tle.gpu.local_ptr(b, (i, i))
    # CHECK: :[[@LINE+1]]:5: error[E0304]: 'indices' must be a tuple of 1, one per dimension of a shared buffer of float32[64], found int32[64]
    tle.gpu.local_ptr(b, i)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: index 0 must be an integer, found float32[64]
    tle.gpu.local_ptr(b, (x,))
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'src' must be a buffer made by tle.gpu.alloc, found pointer<float32>
    tle.gpu.copy(p, q, [64])
    # CHECK: :[[@LINE+1]]:5: error[E0303]: copy between pointer<int32>[64] and a shared buffer of float32[64]: the element types differ
    tle.gpu.copy(q + i, b, [64])
    # CHECK: :[[@LINE+1]]:5: error[E0302]: tle.gpu.copy: the argument 'barrier' is not supported
    tle.gpu.copy(p + i, b, [64], barrier=1)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator + does not apply to a shared buffer of float32[64] and the constant 1
    b + 1
    # CHECK: :[[@LINE+1]]:5: error[E0302]: a shared buffer of float32[64] cannot be subscripted
    b[0]
    # CHECK-NOT: error
