import triton
import triton.language as tl

SCALE: tl.constexpr = 3


@triton.jit
def largest(dtype: tl.constexpr):
    if dtype.value.is_floating():
        return float("inf")
    return 2 ** (dtype.int_bitwidth - 1) - 1
