"""Views of shared buffers."""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def slots(x, out, STAGES: tl.constexpr, N: tl.constexpr):
    ring = tle.gpu.alloc([STAGES, N], dtype=tl.float32, nv_mma_shared_layout=False)
    i = tl.arange(0, N)
    for stage in range(STAGES):
        tl.store(tle.gpu.local_ptr(ring.slot(stage), (i,)), tl.load(x + stage * N + i))
    for stage in tl.static_range(STAGES):
        back: tl.constexpr = STAGES - 1 - stage
        tl.store(out + stage * N + i, ring.slot(back).load())


@triton.jit
def slot_turns(x, out, rounds, N: tl.constexpr):
    ring = tle.gpu.alloc([2, N], dtype=tl.int32, nv_mma_shared_layout=False)
    i = tl.arange(0, N)
    tl.store(tle.gpu.local_ptr(ring.slot(0), (i,)), tl.load(x + i))
    for r in range(rounds):
        old = ring.slot(r % 2)
        new = ring.slot((r + 1) % 2)
        value = tl.load(tle.gpu.local_ptr(old, ((i + 1) % N,)))
        tl.store(tle.gpu.local_ptr(new, (i,)), value + 1)
    tl.store(out + i, ring.slot(rounds % 2).load())


@triton.jit
def reshaped(x, out, M: tl.constexpr, N: tl.constexpr):
    flat = tle.gpu.alloc([M * N], dtype=tl.float32, nv_mma_shared_layout=False)
    i = tl.arange(0, M * N)
    tl.store(tle.gpu.local_ptr(flat, (i,)), tl.load(x + i))
    square = flat.reshape([M, N])
    rows = tl.broadcast_to(tl.arange(0, N)[:, None], (N, M))
    columns = tl.broadcast_to(tl.arange(0, M)[None, :], (N, M))
    tl.store(out + rows * M + columns, tl.load(tle.gpu.local_ptr(square, (columns, rows))))


@triton.jit
def parts(x, rows, columns, M: tl.constexpr, N: tl.constexpr):
    buffer = tle.gpu.alloc([M, N], dtype=tl.int32, nv_mma_shared_layout=False)
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    buffer.store(tl.load(x + p))
    lower = buffer.subslice(M // 2, M // 2, dim=0)
    tl.store(rows + tl.arange(0, M // 2)[:, None] * N + tl.arange(0, N)[None, :], lower.load())
    right = buffer.subslice(N // 4, N // 2)
    inner = right.subslice(1, M // 2, dim=0)
    q = tl.arange(0, M // 2)[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :]
    tl.store(columns + q, inner.load())
    right.store(tl.zeros([M, N // 2], tl.int32))
    tl.store(x + p, buffer.load())


@triton.jit
def aliased(x, out, N: tl.constexpr):
    words = tle.gpu.alloc([2 * N], dtype=tl.int32, nv_mma_shared_layout=False)
    halves = tle.gpu.alloc([2 * N], dtype=tl.uint16, alias=words, alias_offset_bytes=4 * N)
    i = tl.arange(0, N)
    tl.store(tle.gpu.local_ptr(words, (N + i,)), tl.load(x + i))
    j = tl.arange(0, 2 * N)
    tl.store(out + j, tl.load(tle.gpu.local_ptr(halves, (j,))))


@triton.jit
def copy_with_other(x, out, n, N: tl.constexpr):
    buffer = tle.gpu.alloc([N], dtype=tl.float32, nv_mma_shared_layout=False)
    i = tl.arange(0, N)
    tle.gpu.copy(x + i, buffer, [N], mask=i < n, other=float("-inf"))
    tl.store(out + i, buffer.load())
