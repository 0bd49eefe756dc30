"""Sorting and what moves elements along an axis."""
import triton
import triton.language as tl


@triton.jit
def sort_rows(x, out, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr, DESCENDING: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.sort(tl.load(x + p), dim=DIM, descending=DESCENDING))


@triton.jit
def sort_line(x, out, N: tl.constexpr):
    p = tl.arange(0, N)
    tl.store(out + p, tl.load(x + p).sort())


@triton.jit
def topk_rows(x, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    best = tl.topk(tl.load(x + p), K, dim=1)
    tl.store(out + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], best)


@triton.jit
def topk_columns(x, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    best = tl.topk(tl.load(x + p), K, 0)
    tl.store(out + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :], best)


@triton.jit
def flip_rows(x, out, M: tl.constexpr, N: tl.constexpr, DIM: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + p, tl.flip(tl.load(x + p), DIM))


@triton.jit
def gather_rows(x, index, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    p = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    q = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(out + q, tl.gather(tl.load(x + p), tl.load(index + q), axis=1))


@triton.jit
def gather_line(x, index, out, N: tl.constexpr, K: tl.constexpr):
    q = tl.arange(0, K)
    tl.store(out + q, tl.load(x + tl.arange(0, N)).gather(tl.load(index + q), 0))
