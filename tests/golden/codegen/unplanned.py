# RUN: %not %tlec %s --kernel f --sig 'x:*fp32, out:*fp32' --passes=canon 2>&1 | %filecheck %s --check-prefix=LAYOUT
# RUN: %not %tlec %s --kernel f --sig 'x:*fp32, out:*fp32' --disable-pass=shared-plan 2>&1 | %filecheck %s --check-prefix=SCRATCH
# RUN: %not %tlec %s --kernel f --sig 'x:*fp32, out:*fp32' --disable-pass=layout 2>&1 | %filecheck %s --check-prefix=LAYOUT
import triton
import triton.language as tl


# Pipelines that leave out what code generation needs are diagnosed, not miscompiled.
# LAYOUT: error[E0601]: arange: a tile without a layout (was the layout pass run?)
# SCRATCH: error[E0601]: reduce: no scratch was planned (was the shared-plan pass run?)
@triton.jit
def f(x, out):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, 1024)), axis=0))
