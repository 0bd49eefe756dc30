# RUN: %not %tlec %s --kernel wide --sig 'x:*fp64, out:*fp16' 2>&1 | %filecheck %s
# RUN: %not %tlec %s --kernel wide --sig 'x:*fp64, out:*fp16' --diag-format=json 2>&1 | %filecheck %s --check-prefix=JSON
import triton
import triton.language as tl


# CHECK: unsupported.py:[[#@LINE+6]]:19: error[E0601]: fptrunc: rounding towards zero between these types
# CHECK-NEXT: tl.store(out, tl.load(x).to(tl.float16, fp_downcast_rounding="rtz"))
# CHECK-NEXT: ^~~~~~~~~~~~~~~~~~
# JSON: "code":"E0601",{{.*}}"message":"fptrunc: rounding towards zero between these types"
@triton.jit
def wide(x, out):
    tl.store(out, tl.load(x).to(tl.float16, fp_downcast_rounding="rtz"))
