# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Reductions, scans and histograms: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def not_a_number(x):
    return x


@triton.jit
def one_of_two(a, b, c, d):
    return a


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'combine_fn' must be a jit function, found the constant 3
    tl.reduce(x, 0, 3)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: 'not_a_number' got 2 positional arguments, it takes 1
    tl.reduce(x, 0, not_a_number)
    # CHECK: :[[@LINE+1]]:5: error[E0304]: input 1 is float32[64, 1], input 0 is float32[64]
    tl.reduce((x, x[:, None]), 0, one_of_two)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: the combine function must return 2 values, found float32
    tl.reduce((x, x), 0, one_of_two)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: axis 1 is outside float32[64]
    tl.associative_scan(x, 1, one_of_two)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: histogram needs a 1-D tensor of integers up to 32 bits, found float32[64]
    tl.histogram(x, 16)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'num_bins' must be 1 to 1048576, found 0
    tl.histogram(i, 0)
    # CHECK: :[[@LINE+1]]:5: error[E0305]: 'num_bins' must be a compile-time integer, found int32
    tl.histogram(i, n)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: a bitwise reduction needs integers, found float32[64]
    tl.reduce_or(x)
    # CHECK: :[[@LINE+1]]:5: error[E0304]: a scalar has no positions to return
    tl.argmax(f, 0)
    # CHECK-NOT: error
