# RUN: %tlec %s --kernel loop --sig 'x:*fp32:16, out:*fp32, n:i32' --num-warps 1 --no-line-info --emit=llvm | %filecheck %s --check-prefix=LOOP
# RUN: %tlec %s --kernel branch --sig 'x:*i32, out:*i32, n:i32' --num-warps 1 --no-line-info --emit=llvm | %filecheck %s --check-prefix=BRANCH
# RUN: %tlec %s --kernel collatz --sig 'x:*i32, out:*i32' --num-warps 1 --no-line-info --emit=llvm | %filecheck %s --check-prefix=WHILE
import triton
import triton.language as tl


# Tested at the bottom against a limit that cannot wrap near the largest integer.
# LOOP: define ptx_kernel void @loop
# LOOP: icmp slt i32 0, %n
# LOOP: for:
# LOOP: %i = phi i32 [ 0, {{.*}} ]
# LOOP: phi float
# LOOP: call float @llvm.nvvm.ex2.approx
# LOOP: fadd contract float
# LOOP: %limit = sub nsw i32 %n, 32
# LOOP: icmp slt i32 %i, %limit
# LOOP: next:
# LOOP: add nsw i32 %i, 32
@triton.jit
def loop(x, out, n):
    acc = tl.zeros([32], tl.float32)
    for i in range(0, n, 32):
        acc += tl.exp(tl.load(x + i + tl.arange(0, 32)))
    tl.store(out + tl.arange(0, 32), acc)


# BRANCH: define ptx_kernel void @branch
# BRANCH: br i1 %{{.*}}, label %then, label %else
# BRANCH: then:
# BRANCH: else:
# BRANCH: join:
# BRANCH-NEXT: phi i32
@triton.jit
def branch(x, out, n):
    if n > 3:
        v = tl.load(x)
    else:
        v = tl.load(x + 1) + n
    tl.store(out, v)


# WHILE: define ptx_kernel void @collatz
# WHILE: while:
# WHILE: phi i32
# WHILE: br i1 %{{.*}}, label %do, label %end
# WHILE: do:
# WHILE: br label %while
@triton.jit
def collatz(x, out):
    v = tl.load(x)
    steps = 0
    while v > 1:
        v = tl.where(v % 2 == 0, v // 2, 3 * v + 1)
        steps += 1
    tl.store(out, steps)
