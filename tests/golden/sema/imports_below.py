# RUN: %tlec --kernel kernel --import-root %S/Inputs/imported --sig 'p:*i32' --emit=tir --passes= %s | %filecheck %s
# RUN: sed 's/import box[.]lid/import box/' %s > %t.py
# RUN: %not %tlec --kernel kernel --import-root %S/Inputs/imported --sig 'p:*i32' --emit=tir --passes= %t.py 2>&1 | %filecheck %s --check-prefix=BARE
# A module has those below it once a file imports them.
import triton
import triton.language as tl
import box.lid


# CHECK-LABEL: func @kernel
@triton.jit
def kernel(p):
    # CHECK: const 5
    tl.store(p, box.SIDE)
    # CHECK: const 7
    # BARE: error[E0301]: the module 'box' does not define 'lid'
    tl.store(p, box.lid.SIZE)
