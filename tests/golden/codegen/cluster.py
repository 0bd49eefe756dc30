# RUN: %tlec %s --kernel rotate --sig 'x:*i32:16, out:*i32:16' --const 'B=512' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=ROTATE
# RUN: %tlec %s --kernel gather --sig 'x:*i32:16, out:*i32:16' --const 'B=128' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=GATHER
# RUN: %tlec %s --kernel deal --sig 'x:*i32:16, out:*i32:16' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=DEAL
# RUN: %tlec %s --kernel halves --sig 'out:*i32' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=HALVES
# RUN: %tlec %s --kernel grid --sig 'x:*i32, out:*i32' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=GRID
# RUN: %tlec %s --kernel grid --sig 'x:*i32, out:*i32' --emit meta | %filecheck %s --check-prefix=META
# RUN: %tlec %s --kernel gather --sig 'x:*i32, out:*i32' --const 'B=128' --emit meta | %filecheck %s --check-prefix=CLUSTER
# META: "cluster":[1,1,1],"cooperative":true,"non_portable_cluster":false,{{.*}}"workspace":{"per_call":16,"per_row":0,"zeroed":16}
# META-SAME: {"name":"grid_barrier","type":"*i32"
# CLUSTER: "cluster":[16,1,1],"cooperative":false,"non_portable_cluster":true
import triton
import triton.experimental.tle.language as tle
import triton.language as tl

MESH8 = tle.device_mesh({"block_cluster": 8})
MESH16 = tle.device_mesh({"block_cluster": 16})
GRID = tle.device_mesh({"block": 4})


# One mapa for the buffer, whole vectors through it. The peer must run before the store; after it the
# source's own barrier stands. The cluster's size is said, so that ptxas knows that there is one.
# ROTATE-LABEL: .entry rotate(
# ROTATE: .explicitcluster
# ROTATE-NEXT: .reqnctapercluster 8, 1, 1
# ROTATE: barrier.cluster.arrive.relaxed.aligned
# ROTATE-COUNT-1: mapa.shared::cluster.u32
# ROTATE: barrier.cluster.wait.aligned
# ROTATE-NEXT: st.shared::cluster.v4.b32
# ROTATE-NEXT: barrier.cluster.arrive.aligned
# ROTATE-NEXT: barrier.cluster.wait.aligned
# ROTATE-NOT: bar.sync
# ROTATE: ld.shared.v4.b32
# ROTATE-NOT: barrier.cluster
# ROTATE: ret
@triton.jit
def rotate(x, out, B: tl.constexpr):
    rank = tle.shard_id(MESH8, 0)
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    buf = tle.gpu.alloc([B], tl.int32, nv_mma_shared_layout=False)
    there = tle.remote(buf, (rank + 1) % 8, scope=MESH8)
    tl.store(tle.gpu.local_ptr(there, (i,)), tl.load(x + pid * B + i))
    tle.distributed_barrier(MESH8)
    tl.store(out + pid * B + i, tl.load(tle.gpu.local_ptr(buf, (i,))))


# A sum without result is a red, of scope cluster at least; masked remote loads are predicated. The
# branch is one CTA's own, so the exit barrier is outside.
# GATHER-LABEL: .entry gather(
# GATHER: barrier.cluster.wait.aligned
# GATHER: red.relaxed.cluster.shared::cluster.add.u32
# GATHER: barrier.cluster.wait.aligned
# GATHER: bra
# GATHER: ld.shared::cluster.b32
# GATHER: $L__
# GATHER-NEXT: barrier.cluster.arrive.aligned
# GATHER-NEXT: barrier.cluster.wait.aligned
# GATHER-NEXT: ret
@triton.jit
def gather(x, out, B: tl.constexpr):
    rank = tle.shard_id(MESH16, 0)
    i = tl.arange(0, B)
    buf = tle.gpu.alloc([B], tl.int32, nv_mma_shared_layout=False)
    p = tle.gpu.local_ptr(buf, (i,))
    tl.store(p, 0)
    tle.distributed_barrier(MESH16)
    tl.atomic_add(tle.remote(p, 0, scope=MESH16), tl.load(x + tl.program_id(0) * B + i), sem="relaxed", scope="cta")
    tle.distributed_barrier(MESH16)
    if rank == 1:
        tl.store(out + i, tl.load(tle.remote(p, 0), mask=i < 20, other=-1))


# Each CTA deals its tile out to all: whole vectors that count their bytes where they go. The barrier is
# there before the first of them, none is needed after the last.
# DEAL-LABEL: .entry deal(
# DEAL: mbarrier.init.shared::cta.b64 [%r{{[0-9]+}}], 1; fence.mbarrier_init.release.cluster;
# DEAL: mbarrier.arrive.expect_tx.shared::cta.b64 _,
# DEAL: barrier.cluster.wait.aligned
# DEAL: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32
# DEAL: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64
# DEAL-NOT: barrier.cluster
# DEAL: ret
@triton.jit
def deal(x, out):
    rank = tle.shard_id(MESH8, 0)
    buf = tle.gpu.alloc([8 * 128], tl.int32, nv_mma_shared_layout=False)
    came = tle.mbarrier()
    tle.mbarrier_expect(came, 0, 8 * 128 * 4)
    i = tl.arange(0, 128)[None, :]
    v = tl.load(x + tl.program_id(0) * 128 + tl.broadcast_to(i, (8, 128)))
    tle.store_async(tle.gpu.local_ptr(buf, (rank * 128 + i,)), tl.arange(0, 8)[:, None], v, came, 0)
    tle.mbarrier_wait(came, 0, 0)
    every = tl.arange(0, 8 * 128)
    tl.store(out + tl.program_id(0) * 8 * 128 + every, tl.load(tle.gpu.local_ptr(buf, (every,))))


# Members 4 .. 7 meet at a word in CTA 4: three increments of 1 and one of 2^31 - 3.
# HALVES-LABEL: .entry halves(
# HALVES: barrier.cluster.wait.aligned
# HALVES: bar.sync
# HALVES: mapa.shared::cluster.u32 {{.*}}, 4;
# HALVES: selp.b32 {{.*}}, 2147483645, 1
# HALVES: atom.release.cluster.shared::cluster.add.u32
# HALVES: ld.acquire.cluster.shared::cluster.b32
# HALVES: bar.sync
@triton.jit
def halves(out):
    rank = tle.shard_id(MESH8, 0)
    tle.distributed_barrier(MESH8[4:8])
    tl.store(out + tl.program_id(0), rank)


# GRID-LABEL: .entry grid(
# GRID: bar.sync
# GRID: atom.release.gpu.global.add.u32
# GRID: ld.acquire.gpu.global.b32
# GRID: bar.sync
# GRID: ret
@triton.jit
def grid(x, out):
    pid = tl.program_id(0)
    tl.store(x + pid, pid)
    tle.distributed_barrier(GRID)
    tl.store(out + pid, tl.load(x + (pid + 1) % tl.num_programs(0)))
