import triton
import triton.language as tl
from lib.scale import scaled


@triton.jit
def near(x, n):
    i = tl.arange(0, 128)
    tl.store(x + i, scaled(tl.load(x + i, mask=i < n)), mask=i < n)
