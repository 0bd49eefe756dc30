# RUN: %not %tlec %s --kernel wide --sig 'x:*fp64, out:*fp64' 2>&1 | %filecheck %s
# RUN: %not %tlec %s --kernel wide --sig 'x:*fp64, out:*fp64' --diag-format=json 2>&1 | %filecheck %s --check-prefix=JSON
import triton
import triton.language as tl


# CHECK: unsupported.py:[[#@LINE+6]]:19: error[E0601]: exp: only for fp32, fp16 and bf16
# CHECK-NEXT: tl.store(out, tl.exp(tl.load(x)))
# CHECK-NEXT: ^~~~~~~~~~~~~~~~~~
# JSON: "code":"E0601",{{.*}}"message":"exp: only for fp32, fp16 and bf16"
@triton.jit
def wide(x, out):
    tl.store(out, tl.exp(tl.load(x)))
