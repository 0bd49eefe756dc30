# RUN: %tlec %s --kernel f --sig 'x:*i32:16, out:*i32:16' --num-warps 32 --const B=8192 --no-line-info | %filecheck %s --check-prefix=ALL
# RUN: %tlec %s --kernel f --sig 'x:*i32:16, out:*i32:16' --num-warps 32 --const B=8192 --no-line-info --disable-strategy=packed-scan | %filecheck %s --check-prefix=APART
# RUN: %tlec %s --kernel f --sig 'x:*i32:16, out:*i32:16' --num-warps 32 --const B=8192 --no-line-info --disable-strategy=sum-scan | %filecheck %s --check-prefix=GENERAL
# RUN: %tlec %s --kernel g --sig 'x:*i32, out:*i32' --num-warps 1 --const B=32 --no-line-info | %filecheck %s --check-prefix=BALLOT
# RUN: %tlec %s --kernel g --sig 'x:*i32, out:*i32' --num-warps 1 --const B=32 --no-line-info --disable-strategy=ballot-scan | %filecheck %s --check-prefix=NOBALLOT
# RUN: %tlec %s --kernel h --sig 'x:*i32:16, out:*i32' --num-warps 1 --const B=32 --no-line-info | %filecheck %s --check-prefix=REDUX
# RUN: %tlec %s --kernel h --sig 'x:*i32:16, out:*i32' --num-warps 1 --const B=32 --no-line-info --disable-strategy=redux | %filecheck %s --check-prefix=NOREDUX
import triton
import triton.language as tl


# Strategies can be left out one at a time: two blocks of a tile then go through the lanes one by one,
# ALL-LABEL: .entry f(
# ALL-COUNT-5: shfl.sync.up.b32
# ALL-NOT: shfl.sync.up
# ALL: redux.sync.add
# APART-LABEL: .entry f(
# APART-COUNT-10: shfl.sync.up.b32
# APART-NOT: shfl.sync.up
# or as for any other operation.
# GENERAL-LABEL: .entry f(
# GENERAL-NOT: shfl.sync.up
# GENERAL-NOT: redux
# GENERAL: shfl.sync.bfly
# GENERAL: ret
@triton.jit
def f(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.cumsum((tl.load(x + i) > 0).to(tl.int32), axis=0))


# BALLOT-LABEL: .entry g(
# BALLOT: vote.sync.ballot
# NOBALLOT-LABEL: .entry g(
# NOBALLOT-NOT: ballot
# NOBALLOT: shfl.sync.up
@triton.jit
def g(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.cumsum((tl.load(x + i) > 0).to(tl.int32), axis=0))


# REDUX-LABEL: .entry h(
# REDUX: redux.sync.add
# NOREDUX-LABEL: .entry h(
# NOREDUX-NOT: redux
# NOREDUX-COUNT-5: shfl.sync.bfly
@triton.jit
def h(x, out, B: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, B)), axis=0))
