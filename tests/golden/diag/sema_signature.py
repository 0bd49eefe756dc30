# RUN: %not %tlec --emit=tir --passes= --kernel kernle --sig x:*fp32 %s 2>&1 | %filecheck --check-prefix=KERNEL %s
# RUN: %not %tlec --emit=tir --passes= --kernel kernel --sig 'x:*fp32, K:i32, cuont:i32' %s 2>&1 | %filecheck --check-prefix=PARAMS %s
# RUN: %not %tlec --emit=tir --passes= --kernel kernel --sig 'x:*fp32:3, count:i32' --const 'K=x, count=3, T=(' %s 2>&1 | %filecheck --check-prefix=CONSTS %s
# RUN: %not %tlec --emit=tir --passes= --kernel returns --sig x:i32 %s 2>&1 | %filecheck --check-prefix=RETURNS %s
# RUN: %tlec --emit=tir --passes= --kernel kernel --sig 'x:*fp32:16' --const 'count=3, K=tl.float32' %s | %filecheck --check-prefix=GOOD %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, count, K: tl.constexpr, T: tl.constexpr = None):
    tl.store(x, count)


@triton.jit
def returns(x):
    return x


# KERNEL: error[E0310]: there is no @triton.jit function 'kernle' here, did you mean 'kernel'?
# PARAMS: :11:22: error[E0310]: parameter 'K' is tl.constexpr: give its value as a constant
# PARAMS: :10:1: error[E0310]: 'kernel' has no parameter 'cuont', did you mean 'count'?
# PARAMS: :11:15: error[E0310]: parameter 'count' is in neither the signature nor the constants
# CONSTS: <const K>:1:1: error[E0301]: 'x' is not defined
# CONSTS: :11:15: error[E0310]: parameter 'count' is given twice
# CONSTS: <const T>:1:{{[0-9]+}}: error
# CONSTS: :11:12: error[E0310]: parameter 'x': divisibility 3 is not a power of two
# RETURNS: error[E0303]: a kernel returns nothing, but this one returns int32
# GOOD: func @kernel(%x.0: ptr<f32, 1> divisible 16) [num_warps = 4]
# GOOD: const 3.0 : f32
