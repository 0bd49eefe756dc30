# REQUIRES: ptxas
# RUN: %tlec %s --kernel f --sig 'x:*fp32' --emit=cubin --ptxas %ptxas -o %t.a.cubin
# RUN: %tlec %s --kernel f --sig 'x:*fp32' --emit=cubin --ptxas %ptxas -o %t.b.cubin
# RUN: cmp %t.a.cubin %t.b.cubin
# RUN: %tlec %s --kernel f --sig 'x:*fp32' --emit=meta --ptxas %ptxas | %filecheck %s
# RUN: %not %tlec %s --kernel f --sig 'x:*fp32' --emit=cubin --ptxas %t/none 2>&1 | %filecheck %s --check-prefix=NONE
# RUN: sed 's/add.s32/addd.s32/' %S/Inputs/asm.tir > %t.tir
# RUN: %not %tlec %t.tir --emit=cubin --ptxas %ptxas 2>&1 | %filecheck %s --check-prefix=BAD
import triton
import triton.language as tl


# CHECK: "registers":{{[1-9][0-9]*}},"spill_bytes":0,"cubin_bytes":{{[1-9][0-9]*}}}
# NONE: error[E0701]: ptxas ended with status 127: {{.*}}none cannot be run: No such file or directory
# BAD: error[E0701]: ptxas ended with status {{[0-9]+}}: {{.*}}Not a name of any known instruction: 'addd'
@triton.jit
def f(x):
    tl.store(x, tl.load(x) + 1.0)
