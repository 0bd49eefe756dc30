"""Joining tensors and taking them apart."""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def join_rows(x, y, out, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    both = tl.join(tl.load(x + p), tl.load(y + p))
    tl.store(out + (p * 2)[:, :, None] + tl.arange(0, 2)[None, None, :], both)


@triton.jit
def split_rows(x, first, second, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.split(tl.load(x + (p * 2)[:, :, None] + tl.arange(0, 2)[None, None, :]))
    tl.store(first + p, a)
    tl.store(second + p, b)


@triton.jit
def interleave_rows(x, y, out, M: tl.constexpr, N: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    q = tl.arange(0, M)[:, None] * 2 * N + tl.arange(0, 2 * N)[None, :]
    tl.store(out + q, tl.interleave(tl.load(x + p), tl.load(y + p)))


@triton.jit
def cat_rows(x, y, out, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    both = tl.cat(tl.load(x + p), tl.load(y + p), can_reorder=True, dim=DIM)
    columns: tl.constexpr = both.shape[1]
    q = tl.arange(0, both.shape[0])[:, None] * columns + tl.arange(0, columns)[None, :]
    tl.store(out + q, both)


@triton.jit
def join_scalars(out):
    pair = tl.join(tl.program_id(0) + 5, 7)
    tl.store(out + tl.arange(0, 2), pair)
    a, b = pair.split()
    tl.store(out + 2, a)
    tl.store(out + 3, b)


@triton.jit
def extract_static(x, out, M: tl.constexpr, N: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, INDEX: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tile = tle.extract_tile(tl.load(x + p), INDEX, [TM, TN])
    tl.store(out + tl.arange(0, TM)[:, None] * TN + tl.arange(0, TN)[None, :], tile)


@triton.jit
def extract_each(x, out, M: tl.constexpr, N: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    value = tl.load(x + p)
    q = tl.arange(0, TM)[:, None] * TN + tl.arange(0, TN)[None, :]
    for i in range((M // TM) * (N // TN)):
        tl.store(out + i * TM * TN + q, tle.extract_tile(value, i, (TM, TN)))


@triton.jit
def extract_mixed(x, out, row, M: tl.constexpr, N: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tile = tle.extract_tile(tl.load(x + p), (row, 1), (TM, TN))
    tl.store(out + tl.arange(0, TM)[:, None] * TN + tl.arange(0, TN)[None, :], tile)


@triton.jit
def insert_static(x, tile, out, M: tl.constexpr, N: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr, INDEX: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    t = tl.load(tile + tl.arange(0, TM)[:, None] * TN + tl.arange(0, TN)[None, :])
    tl.store(out + p, tle.insert_tile(tl.load(x + p), t, INDEX))


@triton.jit
def insert_runtime(x, tile, out, index, M: tl.constexpr, N: tl.constexpr, TM: tl.constexpr, TN: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    t = tl.load(tile + tl.arange(0, TM)[:, None] * TN + tl.arange(0, TN)[None, :])
    tl.store(out + p, tle.insert_tile(tl.load(x + p), t, index))
