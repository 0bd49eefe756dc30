# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Operand types: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator ~ does not apply to float32
    ~f
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator << does not apply to float32
    f << 2
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator * does not apply to a pointer (pointer<float32>)
    p * 2
    # CHECK: :[[@LINE+1]]:5: error[E0303]: a pointer offset must be an integer, found float32
    p + f
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator + does not apply to a pointer (pointer<float32>)
    p + q
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator - does not apply to a pointer (pointer<float32>)
    p - q
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator < of pointer<float32> and pointer<int32>: the pointer types differ
    p < q
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator + does not apply to the string '1'
    n + "1"
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator & does not apply to float32[64]
    x & 1
    # CHECK: :[[@LINE+1]]:5: error[E0303]: operator // of int32 and uint32: the signs differ, cast one of them
    n // n.to(tl.uint32)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: operator + of uint32 and the constant -1: a negative constant has no unsigned value
    n.to(tl.uint32) + -1
    # CHECK: :[[@LINE+1]]:5: error[E0307]: the constant 1000 does not fit int8
    n.to(tl.int8) + 1000
    # CHECK: :[[@LINE+1]]:5: error[E0303]: cannot bitcast float32 of 32 bits to int64 of 64 bits
    x.to(tl.int64, bitcast=True)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'fp_downcast_rounding' must be one of 'rtne', 'rtz', found the string 'up'
    x.to(tl.float16, fp_downcast_rounding="up")
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'dtype' must be a dtype, found pointer<float32>
    x.to(p)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: cannot cast pointer<float32> to float32
    p.to(tl.float32)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: exp needs float32, found int32
    tl.exp(n)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: exp needs float32, found pointer<float16>
    tl.exp(h)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: fma needs floats, found int32
    tl.fma(n, n, n)
    # CHECK-NOT: error
