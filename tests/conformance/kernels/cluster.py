"""Clusters, sub-meshes and the grid."""
import triton
import triton.language as tl
import triton.experimental.tle as tled
import triton.experimental.tle.language as tle

MESH2 = tled.device_mesh({"block_cluster": 2})
MESH3 = tled.device_mesh({"block_cluster": [("cluster_x", 3)]})
MESH8 = tled.device_mesh({"block_cluster": [("cluster_x", 8)]})
MESH16 = tled.device_mesh({"block_cluster": [("cluster_x", 16)]})
PLANE = tled.device_mesh({"block_cluster": [("cluster_x", 2), ("cluster_y", 4)]})
GRID = tled.device_mesh({"block": 4})


@triton.jit
def ranks(out, mesh: tl.constexpr):
    """Coordinates along every axis, and the ids that the launch gives."""
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    for axis in tl.static_range(len(mesh.shape)):
        tl.store(out + pid * 4 + axis, tle.shard_id(mesh, axis))
    tl.store(out + pid * 4 + 2, tl.num_programs(0))
    tl.store(out + pid * 4 + 3, tl.num_programs(1))


@triton.jit
def rotate(x, out, mesh: tl.constexpr, step, B: tl.constexpr):
    """Every CTA hands its tile to a peer."""
    rank = tle.shard_id(mesh, 0)
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    buf = tle.gpu.alloc([B], x.dtype.element_ty, nv_mma_shared_layout=False)
    there = tle.remote(buf, (rank + step) % mesh.size, scope=mesh)
    tl.store(tle.gpu.local_ptr(there, (i,)), tl.load(x + pid * B + i))
    tle.distributed_barrier(mesh)
    tl.store(out + pid * B + i, tl.load(tle.gpu.local_ptr(buf, (i,))))


@triton.jit
def pull(x, out, mesh: tl.constexpr, B: tl.constexpr):
    """Every CTA reads all others, masked, and its own memory too; the last access is remote."""
    rank = tle.shard_id(mesh, 0)
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    buf = tle.gpu.alloc([B], tl.int32, nv_mma_shared_layout=False)
    tl.store(tle.gpu.local_ptr(buf), tl.load(x + pid * B + i))
    tle.distributed_barrier(mesh)
    total = tl.zeros([B], tl.int32)
    for r in range(mesh.size):
        there = tle.gpu.local_ptr(tle.remote(buf, r), ((i + r) % B,))
        total += tl.load(there, mask=i % (r + 2) != 0, other=1000)
    tl.store(out + pid * B + i, total)
    tl.static_assert(tle.remote(buf, 0).shape == (B,))


@triton.jit
def histogram(x, out, mesh: tl.constexpr, N: tl.constexpr, BINS: tl.constexpr):
    """Counts of all CTAs of a cluster, by remote atomics into rank 0."""
    rank = tle.shard_id(mesh, 0)
    pid = tl.program_id(0)
    bins = tl.arange(0, BINS)
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    tl.store(tle.gpu.local_ptr(hist), 0)
    tle.distributed_barrier(mesh)
    value = tl.load(x + pid * N + tl.arange(0, N))
    root = tle.remote(hist, 0, scope=mesh)
    tl.atomic_add(tle.gpu.local_ptr(root, (value % BINS,)), 1, mask=value >= 0, sem="relaxed", scope="cta")
    tle.distributed_barrier(mesh)
    if rank == 0:
        tl.store(out + (pid // mesh.size) * BINS + bins, tl.load(tle.gpu.local_ptr(hist)))


@triton.jit
def tickets(out, highest, mesh: tl.constexpr):
    """Old values of remote atomics on scalars: a permutation; and a remote maximum."""
    rank = tle.shard_id(mesh, 0)
    word = tle.gpu.alloc([2], tl.int32, nv_mma_shared_layout=False)
    tl.store(tle.gpu.local_ptr(word), 0)
    tle.distributed_barrier()
    ticket = tl.atomic_add(tle.remote(tle.gpu.local_ptr(word, (0,)), 1, scope=mesh), 1)
    tl.atomic_max(tle.remote(tle.gpu.local_ptr(word, (1,)), 1), rank * 7, sem="relaxed")
    tl.store(out + tl.program_id(0), ticket)
    tle.distributed_barrier(mesh)
    tl.store(highest + tl.program_id(0), tl.load(tle.remote(tle.gpu.local_ptr(word, (1,)), 1)))


@triton.jit
def halves(x, out, mesh: tl.constexpr, B: tl.constexpr):
    """Arrive early, wait late, with work on other memory in between."""
    rank = tle.shard_id(mesh, 0)
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    buf = tle.gpu.alloc([B], tl.int32, nv_mma_shared_layout=False)
    own = tle.gpu.alloc([B], tl.int32, nv_mma_shared_layout=False)
    v = tl.load(x + pid * B + i)
    tl.store(tle.gpu.local_ptr(buf), v)
    tle.distributed_barrier(mesh, barrier_kind="arrive")
    tl.store(tle.gpu.local_ptr(own), v * 3)
    mirrored = tl.load(tle.gpu.local_ptr(own, (B - 1 - i,)))
    tle.distributed_barrier(mesh, barrier_kind="wait")
    peer = tl.load(tle.gpu.local_ptr(tle.remote(buf, rank ^ 1, scope=mesh), (i,)))
    tl.store(out + pid * B + i, peer + mirrored)


@triton.jit
def submeshes(out, rounds, mesh: tl.constexpr):
    """Each row of a plane of CTAs runs a relay of its own, a different number of times."""
    x = tle.shard_id(mesh, 0)
    y = tle.shard_id(mesh, 1)
    box = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    here = tle.gpu.local_ptr(box, (0,))
    rank = x * 4 + y
    tl.store(here, rank)
    tle.distributed_barrier(mesh)
    if x == 0:
        for r in range(rounds):
            v = tl.load(tle.remote(here, (rank + 1) % 4))
            tle.distributed_barrier(mesh[0])
            tl.store(here, v + 1)
            tle.distributed_barrier(mesh[0])
    else:
        v = tl.load(tle.remote(here, 4 + (y + 3) % 4))
        tle.distributed_barrier(mesh[1, :])
        tl.store(here, v * 10)
        tle.distributed_barrier(mesh[1, :])
    tle.distributed_barrier(mesh[:, 1:3])
    tl.store(out + rank, tl.load(here))


@triton.jit
def deal(x, out, mesh: tl.constexpr, P: tl.constexpr):
    """One rank for each pointer: all-to-all by one store, and back by one masked load."""
    rank = tle.shard_id(mesh, 0)
    pid = tl.program_id(0)
    peer = tl.arange(0, mesh.size)[:, None]
    i = tl.arange(0, P)[None, :]
    got = tle.gpu.alloc([mesh.size, P], tl.int32, nv_mma_shared_layout=False)
    mine = tl.load(x + (pid * mesh.size + peer) * P + i)
    flat = tle.gpu.local_ptr(got, (peer * 0 + rank + i * 0, peer * 0 + i))
    tl.store(tle.remote(flat, peer, scope=mesh), mine)
    tle.distributed_barrier(mesh)
    tl.store(out + (pid * mesh.size + peer) * P + i, tl.load(tle.gpu.local_ptr(got)))
    e = tl.arange(0, mesh.size * P)
    owner = e % mesh.size
    back = tle.gpu.local_ptr(got, (rank + e * 0, e // mesh.size))
    back = tl.load(tle.remote(back, owner), mask=e % 3 != 0, other=-1)
    tl.store(out + tl.num_programs(0) * mesh.size * P + pid * mesh.size * P + e, back)


@triton.jit
def early(lengths, out, mesh: tl.constexpr):
    """A cluster that has nothing to do returns as a whole."""
    rank = tle.shard_id(mesh, 0)
    cluster = tl.program_id(0) // mesh.size
    n = tl.load(lengths + cluster)
    if n == 0:
        tl.store(out + tl.program_id(0), -1)
        return
    box = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    here = tle.gpu.local_ptr(box, (0,))
    tl.store(here, rank + n)
    tle.distributed_barrier(mesh)
    tl.store(out + tl.program_id(0), tl.load(tle.remote(here, mesh.size - 1 - rank, scope=mesh)))


@triton.jit
def scratch_reuse(x, out, mesh: tl.constexpr, B: tl.constexpr):
    """Reductions before, between and after remote accesses: their scratch must not hit a peer's buffer."""
    rank = tle.shard_id(mesh, 0)
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + pid * B + i)
    total = tl.sum(v)
    buf = tle.gpu.alloc([B], tl.int32, nv_mma_shared_layout=False)
    tl.store(tle.gpu.local_ptr(tle.remote(buf, (rank + 1) % mesh.size, scope=mesh)), tl.cumsum(v) + total)
    other = tle.gpu.alloc([B], tl.int32, nv_mma_shared_layout=False)
    tl.store(tle.gpu.local_ptr(other), v)
    largest = tl.max(tl.load(tle.gpu.local_ptr(other, (B - 1 - i,))) * (i + 1))
    tle.distributed_barrier(mesh)
    got = tl.load(tle.gpu.local_ptr(buf))
    tl.store(out + pid * B + i, got + largest + tl.sum(got))


@triton.jit
def grid_rounds(x, out, rounds, mesh: tl.constexpr):
    """A relay through global memory over the whole grid."""
    pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)
    n = tl.num_programs(0) * tl.num_programs(1)
    tl.store(x + pid, pid)
    tle.distributed_barrier(mesh)
    for r in range(rounds):
        v = tl.load(x + (pid + 1) % n)
        tle.distributed_barrier(mesh)
        tl.store(x + pid, v + 1)
        tle.distributed_barrier(mesh)
    tl.store(out + pid, tl.load(x + pid))
