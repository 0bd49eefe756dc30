# RUN: %not %tlec --kernel kernel --emit=tir --passes= --sig 'x:*fp32, count:i32' %s 2>&1 | %filecheck %s
import triton
import triton.language as tl

LIMIT: tl.constexpr = 3
LOOP = LOOP + 1


@triton.jit
def kernel(x, count):
    # CHECK: :[[@LINE+1]]:9: error[E0301]: 'cuont' is not defined, did you mean 'count'?
    a = cuont + 1
    # CHECK: :[[@LINE+1]]:9: error[E0301]: 'LIMTI' is not defined, did you mean 'LIMIT'?
    b = LIMTI + a
    # CHECK: :[[@LINE+1]]:9: error[E0301]: 'something_else' is not defined{{$}}
    c = something_else
    # CHECK-NOT: error
    d = a + b + c
