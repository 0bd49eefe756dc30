import triton
import triton.language as tl


@triton.jit
def alone(x, n):
    i = tl.arange(0, 128)
    tl.store(x + i, 0.0, mask=i < n)
