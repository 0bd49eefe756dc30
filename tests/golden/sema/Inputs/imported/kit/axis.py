"""Helpers that another file imports."""
import numpy as np
import triton
from triton import language as tl

from kit.sizes import SCALE as FACTOR

OFFSET = 5
TABLE = np.zeros(3)


@triton.jit
def program(axis: int, extra=OFFSET) -> tl.tensor:
    return tl.program_id(axis).to(tl.int64) * FACTOR + extra
