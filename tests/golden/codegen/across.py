# RUN: %tlec %s --kernel total --sig 'x:*i32:16, out:*i32' --const B=4096 --num-warps 32 --no-line-info | %filecheck %s --check-prefix=SUM
# RUN: %tlec %s --kernel total --sig 'x:*i32:16, out:*i32' --const B=4096 --num-warps 8 --no-line-info | %filecheck %s --check-prefix=SUM
# RUN: %tlec %s --kernel total --sig 'x:*fp32:16, out:*fp32' --const B=128 --num-warps 1 --no-line-info | %filecheck %s --check-prefix=FLOAT
# RUN: %tlec %s --kernel rows --sig 'x:*fp32:16, out:*fp32' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=ROWS
# RUN: %tlec %s --kernel any_of --sig 'x:*i32:16, out:*i32' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=VOTE
# RUN: %tlec %s --kernel count --sig 'x:*i32, out:*i32' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=COUNT
# RUN: %tlec %s --kernel prefix --sig 'x:*i32:16, out:*i32:16' --num-warps 32 --no-line-info | %filecheck %s --check-prefix=SCAN
# RUN: %tlec %s --kernel flags --sig 'x:*i32, out:*i32' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=FLAGS
# RUN: %tlec %s --kernel bins --sig 'x:*i32:16, out:*i32' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=HIST
import triton
import triton.language as tl


# Integers: one redux for a warp, one partial per warp, one barrier, one redux over the partials, also
# where there are fewer of them than lanes.
# SUM-LABEL: .entry total(
# SUM: redux.sync.add.s32
# SUM: st.shared.b32
# SUM: bar.sync 0;
# SUM: ld.shared.b32
# SUM: redux.sync.add.s32
# SUM-NOT: shfl
# Floats: five shuffles in one warp, no shared memory.
# FLOAT-LABEL: .entry total(
# FLOAT-NOT: shared
# FLOAT-COUNT-5: shfl.sync.bfly.b32
# FLOAT-NOT: shfl
@triton.jit
def total(x, out, B: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, B)), axis=0))


# Rows of 64 lie within a warp: no barrier.
# ROWS-LABEL: .entry rows(
# ROWS-NOT: bar.sync
# ROWS: shfl.sync.bfly.b32
# ROWS-NOT: bar.sync
# ROWS: ret
@triton.jit
def rows(x, out):
    r = tl.arange(0, 32)
    c = tl.arange(0, 64)
    a = tl.load(x + r[:, None] * 64 + c[None, :])
    tl.store(out + r, tl.max(a, axis=1))


# VOTE-LABEL: .entry any_of(
# VOTE: vote.sync.any.pred
# VOTE-NOT: shfl
@triton.jit
def any_of(x, out):
    hit = tl.load(x + tl.arange(0, 128)) == 7
    tl.store(out, tl.reduce_or(hit, axis=0).to(tl.int32))


# A count over the lanes of a warp: a ballot.
# COUNT-LABEL: .entry count(
# COUNT: vote.sync.ballot.b32
# COUNT-NOT: redux
# COUNT: popc.b32
@triton.jit
def count(x, out):
    tl.store(out, tl.sum((tl.load(x + tl.arange(0, 32)) > 0).to(tl.int32)))


# A sum over 32-bit integers: five steps in the warp, one barrier, one redux over the totals of the
# warps before.
# SCAN-LABEL: .entry prefix(
# SCAN: shfl.sync.up.b32 t|p, %r{{[0-9]+}}, 1,{{.*}}shfl.sync.up.b32 t|p, %r{{[0-9]+}}, 16,
# SCAN: bar.sync 0;
# SCAN-NOT: bar.sync
# SCAN: redux.sync.add
@triton.jit
def prefix(x, out):
    offs = tl.arange(0, 4096)
    tl.store(out + offs, tl.cumsum(tl.load(x + offs), axis=0))


# What is 0 or 1, one element in each lane: a ballot for each row, and no shuffle. The layout is chosen for it.
# FLAGS-LABEL: .entry flags(
# FLAGS-NOT: shfl
# FLAGS-NOT: bar.sync
# FLAGS-COUNT-4: vote.sync.ballot.b32
# FLAGS-NOT: shfl
# FLAGS-NOT: bar.sync
# FLAGS: ret
@triton.jit
def flags(x, out):
    offs = (tl.arange(0, 4)[:, None, None] * 4 + tl.arange(0, 4)[None, :, None]) * 32 + tl.arange(0, 32)[None, None, :]
    tl.store(out + offs, tl.cumsum((tl.load(x + offs) > 0).to(tl.int32), axis=2))


# HIST-LABEL: .entry bins(
# HIST: st.shared.b32
# HIST: bar.sync 0;
# HIST: @%p{{[0-9]+}} red.relaxed.cta.shared.add.u32
# HIST: bar.sync 0;
# HIST: ld.shared
@triton.jit
def bins(x, out):
    h = tl.histogram(tl.load(x + tl.arange(0, 1024)), 128)
    tl.store(out + tl.arange(0, 128), h)
