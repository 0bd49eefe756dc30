# RUN: %tlec --kernel kernel --sig 'p:*fp32, n:i32, m:i32' --const 'MODE="add", K=64' --emit=tir --passes= %s | %filecheck %s
# Runtime and compile-time `if`, early return, the conditional expression, boolean operators.
import triton
import triton.language as tl


@triton.jit
def one_side_returns(n, m):
    if n > 3:
        return m
    if n > 1:
        n += m
    return n * 2


@triton.jit
def some_paths_return(n, m):
    if n > 3:
        if m > 2:
            return n
        n += 5
    return n * 2


@triton.jit
def typed_by_branch(x, MODE: tl.constexpr):
    if MODE == "add":
        r = x + 1
    elif MODE == "pair":
        r = (x, x)
    else:
        r = None
    return r


# CHECK: func @kernel(%p.[[P:[0-9]+]]: ptr<f32, 1>, %n.[[N:[0-9]+]]: i32, %m.[[M:[0-9]+]]: i32)
@triton.jit
def kernel(p, n, m, MODE: tl.constexpr, K: tl.constexpr):
    # Values that differ become results; a number becomes a constant above the `if`.
    # CHECK: [[C0:%[0-9]+]] = icmp {{.*}} [cmp = slt] : i1
    # CHECK: [[ONE:%[0-9]+]] = const 1 : i32
    # CHECK: %x.[[X:[0-9]+]], %found.[[F:[0-9]+]] = if [[C0]] : i32, i1
    # CHECK-NEXT: %[[T:[0-9]+]] = const 2 : i32
    # CHECK-NEXT: %x.[[TX:[0-9]+]] = mul %n.[[N]], %[[T]]
    # CHECK-NEXT: yield %x.[[TX]],
    # CHECK-NEXT: } {
    # CHECK-NEXT: yield [[ONE]],
    x = 1
    found = False
    same = 7
    if n < m:
        x = n * 2
        found = True
        same = 7
        only_here = x
    # `same` stays a constant: tl.arange takes it.
    # CHECK: arange [start = 0, end = 8]
    lanes = tl.arange(0, same + 1)
    tl.store(p + lanes, x, mask=lanes < found.to(tl.int32))

    # The rest of the function goes into the branch that does not return.
    # CHECK: %a.{{[0-9]+}} = if {{.*}} : i32
    # CHECK-NEXT: yield %m.[[M]]
    # CHECK-NEXT: } {
    # CHECK: %n.[[N2:[0-9]+]] = if {{.*}} : i32
    # CHECK: %[[TWICE:[0-9]+]] = mul %n.[[N2]]
    # CHECK-NEXT: yield %[[TWICE]]
    a = one_side_returns(n, m)

    # A branch that returns on some of its paths: a flag guards the rest.
    # CHECK: %n.[[N3:[0-9]+]], %returned.[[D:[0-9]+]] = if {{.*}} : i32, i1
    # CHECK: %n.[[N4:[0-9]+]], %returned.[[E:[0-9]+]] = if {{.*}} : i32, i1
    # CHECK: poison : i32
    # CHECK: const 1 : i1
    # CHECK: const 0 : i1
    # CHECK: yield %n.[[N4]], %returned.[[E]]
    # CHECK: %b.{{[0-9]+}} = if %returned.[[D]] : i32
    # CHECK-NEXT: yield %n.[[N]]
    # CHECK: mul %n.[[N3]]
    b = some_paths_return(n, m)

    # Only the taken branch of a compile-time `if` is visited, so its types may differ.
    # CHECK-NOT: if
    # CHECK: add %{{n.[0-9]+}}, {{.*}} : i32
    c = typed_by_branch(n, MODE)

    # Both sides plain values: a select. A load stays guarded.
    # CHECK: %d.{{[0-9]+}} = select
    # CHECK: %e.{{[0-9]+}} = if
    # CHECK-NEXT: load
    d = a if n > 0 else b
    e = tl.load(p) if n > 5 else 0.0

    # CHECK: [[L:%[0-9]+]] = icmp %n.[[N]], {{.*}} [cmp = sgt]
    # CHECK: [[Q:%[0-9]+]] = icmp %m.[[M]], {{.*}} [cmp = sgt]
    # CHECK: [[BOTH:%[0-9]+]] = and [[L]], [[Q]] : i1
    # CHECK: if [[BOTH]]
    # CHECK-NEXT: yield
    # CHECK-NEXT: } {
    # CHECK: store
    # CHECK: yield
    # CHECK-NEXT: }
    # CHECK-NEXT: return
    if K == 64 and n > 0 and m > 0:
        return
    tl.store(p, c + d + e)
    if K != 64:
        raise ValueError("never reached")
