# RUN: mkdir -p %t/a/k %t/b/k
# RUN: cp %s %t/a/k/f.py
# RUN: cp %s %t/b/k/f.py
# RUN: %tlec %t/a/k/f.py --source-root %t/a --kernel f --sig 'x:*fp32' --num-warps 1 -o %t/a.ptx
# RUN: %tlec %t/b/k/f.py --source-root %t/b --kernel f --sig 'x:*fp32' --num-warps 1 -o %t/b.ptx
# RUN: cmp %t/a.ptx %t/b.ptx
# RUN: %filecheck %s --input-file=%t/a.ptx
import triton
import triton.language as tl


# Source places relative to the root, without `debug` in the target; two copies of the tree give the
# same bytes.
# CHECK: .target sm_90a{{$}}
# CHECK: .loc 1 [[#@LINE+4]]
# CHECK: .file 1 "k/f.py"
@triton.jit
def f(x):
    tl.store(x, tl.load(x) + 1.0)
