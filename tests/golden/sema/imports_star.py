# RUN: %not %tlec --kernel kernel --import-root %S/Inputs/imported --sig 'p:*i32' --emit=tir %s 2>&1 | %filecheck %s
# RUN: %tlec --kernel kernel --sig 'p:*i32' --emit=tir --passes= %s | %filecheck %s --check-prefix=HOST
# '*' of a file under the import root could hide what stands above it, so it is refused; of a host module it is host code.
import triton
import triton.language as tl

SIDE = 3
# CHECK: imports_star.py:[[#@LINE+1]]:17: error[E0302]: names of 'box' cannot be imported by '*': import them one by one
from box import *


@triton.jit
def kernel(p):
    # HOST: const 3
    tl.store(p, SIDE)
