# RUN: %tlec --kernel kernel --sig 'p:*fp32, n:i32, m:i64, u:u32' --const 'K=16' --emit=tir --passes= %s | %filecheck %s
# Loops at run time and unrolled ones.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


# CHECK: func @kernel(%p.[[P:[0-9]+]]: ptr<f32, 1>, %n.[[N:[0-9]+]]: i32, %m.[[M:[0-9]+]]: i64, %u.[[U:[0-9]+]]: i32)
@triton.jit
def kernel(p, n, m, u, K: tl.constexpr):
    # Numbers that the body reassigns are carried as tensors of their default type.
    # CHECK: [[Z:%[0-9]+]] = const 0 : i32
    # CHECK-NEXT: [[S:%[0-9]+]] = const 1 : i32
    # CHECK-NEXT: [[A0:%[0-9]+]] = const 0.0 : f32
    # CHECK-NEXT: [[C0:%[0-9]+]] = const 0 : i32
    # CHECK-NEXT: %acc.{{[0-9]+}}, %count.{{[0-9]+}} = for [[Z]], %n.[[N]], [[S]], [[A0]], [[C0]] : f32, i32
    # CHECK-SAME: (%i.{{[0-9]+}}: i32, %acc.[[A:[0-9]+]]: f32, %count.[[C:[0-9]+]]: i32)
    # CHECK: yield %acc.{{[0-9]+}}, %count.{{[0-9]+}}
    acc = 0.0
    count = 0
    for i in range(n):
        acc += 1.5
        count += i

    # A negative step counts up and computes the variable: start - (counter - stop).
    # CHECK: [[STOP:%[0-9]+]] = const 0 : i32
    # CHECK-NEXT: [[STEP:%[0-9]+]] = const 2 : i32
    # CHECK-NEXT: for [[STOP]], %n.[[N]], [[STEP]], {{.*}} (%[[J:[0-9]+]]: i32,
    # CHECK-NEXT: [[D:%[0-9]+]] = sub %n.[[N]], %[[J]] : i32
    # CHECK-NEXT: %j.{{[0-9]+}} = add [[D]], [[STOP]] : i32
    for j in range(n, 0, -2):
        count ^= j

    # Bounds promote; unsigned ones count in 64 bits, since the comparison is signed.
    # CHECK: sext {{.*}} : i64
    # CHECK: for {{.*}} (%i.{{[0-9]+}}: i64,
    for i in range(n, m):
        count += 1
    # CHECK: [[WIDE:%[0-9]+]] = zext %u.[[U]] : i64
    # CHECK: for {{%[0-9]+}}, [[WIDE]], {{.*}} (%[[V:[0-9]+]]: i64,
    # CHECK-NEXT: %v.{{[0-9]+}} = trunc %[[V]] : i32
    for v in range(u):
        count += 2

    # CHECK: for {{.*}} [num_stages = 3, unroll = 2, flatten = true, no_licm = true]
    for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2, flatten=True, disable_licm=True):
        count += 3

    # The condition is evaluated in each iteration.
    # CHECK: %left.{{[0-9]+}}, %count.{{[0-9]+}} = while %n.[[N]], %count.{{[0-9]+}} : i32, i32
    # CHECK-SAME: (%left.[[WL:[0-9]+]]: i32, %count.[[WC:[0-9]+]]: i32)
    # CHECK: condition %{{[0-9]+}}, %left.[[WL]], %count.[[WC]]
    # CHECK-NEXT: } (%left.{{[0-9]+}}: i32, %count.{{[0-9]+}}: i32) {
    left = n
    while left > 0:
        left -= 1
        count += left
    while K == 15:
        count += 100

    # Unrolled: the variable is a constant; break and continue fold. i = 3 is skipped, 1 leaves.
    # CHECK-NOT: for
    # CHECK: const 4 : i32
    # CHECK: const 2 : i32
    # CHECK-NOT: const 1 : i32
    # CHECK: const 10 : i32
    # CHECK: const 20 : i32
    for i in tl.static_range(4, -1, -1):
        if i == 3:
            continue
        if i == 1:
            break
        count += i
    for t in (10, 20):
        count |= t

    # Tuples are carried item by item; what a dead branch assigns stays a constant, and so does a
    # constexpr variable of the body.
    # CHECK: %pair.{{[0-9]+}}, %pair.{{[0-9]+}} = for {{.*}} : i32, f32
    # CHECK: arange [start = 0, end = 16]
    pair = (count, acc)
    size: tl.constexpr = K
    for i in range(n):
        half: tl.constexpr = K // 2
        if K == 15:
            K = 3
            size = 4
        lanes = tl.arange(0, K)
        a, b = pair
        pair = (a + i, b + size)
        tl.store(p + lanes, b, mask=lanes < half)
    tl.store(p, pair[0] + pair[1])
