# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, n:i32' --const K=2048 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Each erroneous statement is reported and the next one goes on.
import triton
import triton.language as tl


@triton.jit
def returns_in_loop(n):
    for i in range(n):
        if i > 3:
            # CHECK: flow_errors.py:[[@LINE+1]]:13: error[E0308]: return inside a runtime loop is not supported
            return i
            # CHECK: flow_errors.py:{{[0-9]+}}:5: note: in the call of 'returns_in_loop' here
            # CHECK-NEXT: {{^}}    returns_in_loop(n)
            # CHECK: note: in specialisation of 'kernel' with p: *fp32 n: i32 K=2048
    return n


@triton.jit
def sometimes(n):
    if n > 3:
        # CHECK: :[[@LINE+1]]:9: error[E0303]: the returned value is int32 where the condition holds, but None
        return n
    n += 1


@triton.jit
def half_or(n):
    if n > 3:
        # CHECK: :[[@LINE+1]]:9: error[E0303]: the returned value is the constant 0.5 where the condition holds, but int32
        return 0.5
    return n


@triton.jit
def kernel(p, n, K: tl.constexpr):
    returns_in_loop(n)
    sometimes(n)
    half_or(n)
    cut = n
    real = n.to(tl.float32)
    if n > 3:
        cut = 1.5
        real = 2
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'cut' is the constant 1.5 where the condition holds, but int32
    cut + real
    # CHECK: :[[@LINE+1]]:5: error[E0303]: the value is int32 where the condition holds, but the constant 2.5
    n if n > 3 else 2.5
    if n > 3:
        only = 1
        kind = n.to(tl.int64)
        what = tl.float32
    else:
        kind = n
        what = tl.float16
    # CHECK: :[[@LINE+1]]:5: error[E0308]: 'only' is not assigned where the condition does not hold
    only + 1
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'kind' is int64 where the condition holds, but int32
    kind + 1
    # CHECK: :[[@LINE+1]]:10: error[E0303]: 'what' is the dtype float32 where the condition holds
    n.to(what)
    wide = 0
    # CHECK: :[[@LINE+1]]:14: error[E0303]: loop-carried variable 'wide' is int32 before the loop but int64
    for i in range(n):
        wide += n.to(tl.int64)
        inner = i
    # CHECK: :[[@LINE+1]]:5: error[E0308]: 'i' is the variable of a runtime loop and has no value after it
    i + 1
    # CHECK: :[[@LINE+1]]:5: error[E0308]: 'inner' is assigned inside a runtime loop only
    inner + 1
    mode = "a"
    # CHECK: :[[@LINE+1]]:5: error[E0308]: 'mode' (the string 'a') is used and then reassigned in this runtime loop
    for i in range(n):
        if mode == "a":
            mode = "b"
    for i in range(n):
        # CHECK: :[[@LINE+1]]:9: error[E0308]: break is supported in unrolled loops
        break
    for i in tl.static_range(4):
        if n > i:
            # CHECK: :[[@LINE+1]]:13: error[E0308]: continue is supported in unrolled loops
            continue
    # CHECK: :[[@LINE+1]]:11: error[E0308]: this loop never ends
    while True:
        pass
    # CHECK: :[[@LINE+1]]:5: error[E0308]: the else branch of a loop is not supported
    for i in tl.static_range(1):
        pass
    else:
        pass
    # CHECK: :[[@LINE+1]]:8: error[E0303]: a condition must be a scalar, found int1[8]
    if tl.arange(0, 8) > 3:
        n = 1
    # CHECK-NOT: error
