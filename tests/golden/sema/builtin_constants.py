# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Compile-time arguments: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0305]: 'end' must be a compile-time integer, found int32
    tl.arange(0, n)
    # CHECK: :[[@LINE+1]]:5: error[E0305]: 'shape' must be a compile-time integer, found int32
    tl.zeros((n,), tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: dimension 1 of 'shape' is 0; a tile has 1 to 1048576 elements
    tl.zeros((4, 0), tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: dimension 1 of 'shape' is 2048; a tile has 1 to 1048576 elements
    tl.zeros((1024, 2048), tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0304]: 'shape' must be a tuple of at most 5 compile-time integers, found a tuple of 6
    tl.zeros((2, 2, 2, 2, 2, 2), tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'dtype' must be a dtype, found the constant 3
    tl.zeros((4,), 3)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'dtype' must be a dtype, found the type float32[64]
    tl.zeros((4,), x.type)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'value' must be a scalar, found float32[64]
    tl.full((4,), x, tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: the constant 300 does not fit int8
    tl.full((4,), 300, tl.int8)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: the constant -1 does not fit uint32
    tl.full((4,), -1, tl.uint32)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: arange(8, 8) must hold 1 to 1048576 values of int32
    tl.arange(8, 8)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: arange(0, 2097152) must hold 1 to 1048576 values of int32
    tl.arange(0, 2097152)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'axis' must be 0, 1 or 2, found 3
    tl.program_id(3)
    # CHECK: :[[@LINE+1]]:5: error[E0305]: 'axis' must be a compile-time integer, found int32
    tl.program_id(n)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: axis 1 is outside float32[64]
    tl.sum(x, axis=1)
    # CHECK: :[[@LINE+1]]:5: error[E0305]: 'axis' must be a compile-time integer, found int32
    tl.sum(x, axis=n)
    # CHECK: :[[@LINE+1]]:5: error[E0305]: 'keep_dims' must be a compile-time bool, found int32
    tl.sum(x, keep_dims=n)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: axis -2 is outside float32[64]
    tl.max(x, axis=-2)
    # CHECK: :[[@LINE+1]]:5: error[E0305]: a bound of the range must be a compile-time integer, found int32
    tl.static_range(n)
    # CHECK-NOT: error
