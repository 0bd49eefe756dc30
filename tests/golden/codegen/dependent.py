# RUN: %tlec %s --kernel twice --sig 'x:*fp32:16, y:*fp32:16' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=PTX
# RUN: %tlec %s --kernel twice --sig 'x:*fp32:16, y:*fp32:16' --num-warps 4 --emit=tir --passes= | %filecheck %s --check-prefix=TIR
# RUN: %tlec %s --kernel twice --sig 'x:*fp32:16, y:*fp32:16' --num-warps 4 --emit=meta | %filecheck %s --check-prefix=META
# RUN: %tlec %s --kernel only_lets_begin --sig 'x:*fp32' --num-warps 4 --emit=meta | %filecheck %s --check-prefix=NOT
# RUN: %tlec %s --kernel perhaps --sig 'x:*fp32, n:i32' --num-warps 4 --emit=meta | %filecheck %s --check-prefix=NOT
# RUN: %tlec %s --kernel twice --sig 'x:*fp32:16, y:*fp32:16' --num-warps 4 --no-line-info --target=sm_80 | %filecheck %s --check-prefix=OLD
# RUN: %tlec %s --kernel twice --sig 'x:*fp32:16, y:*fp32:16' --num-warps 4 --emit=meta --target=sm_80 | %filecheck %s --check-prefix=NOT
# Launches that overlap. A load of the same place before and after the wait stays two loads, and
# nothing moves over the wait. Before sm_90 there is nothing to wait for.
import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_wait


# PTX-LABEL: .entry twice(
# PTX-NOT: ld.global
# PTX: griddepcontrol.wait;
# PTX: ld.global
# PTX: griddepcontrol.launch_dependents;
# PTX: ld.global
# PTX: griddepcontrol.wait;
# PTX: ld.global
# PTX: st.global
# TIR: dependent
# TIR: grid_wait
# TIR: grid_release
# META: "cooperative":false,"non_portable_cluster":false,"dependent_launch":true
# OLD-NOT: griddepcontrol
# OLD: ret
@triton.jit
def twice(x, y):
    gdc_wait()
    i = tl.arange(0, 128)
    a = tl.load(x + i)
    tl.extra.cuda.gdc_launch_dependents()
    b = tl.load(x + i)
    gdc_wait()
    tl.store(y + i, a + b + tl.load(x + i))


# NOT: "dependent_launch":false
@triton.jit
def only_lets_begin(x):
    tl.store(x, 1.0)
    tl.extra.cuda.gdc_launch_dependents()


# Where some programs may not come by the wait, the library must not launch the kernel early.
@triton.jit
def perhaps(x, n):
    if n > 0:
        gdc_wait()
    tl.store(x, 1.0)
