"""Two- and three-dimensional tiles: subscripts, broadcasting, changes of shape."""
import triton
import triton.language as tl


@triton.jit
def plane(p, M: tl.constexpr, N: tl.constexpr):
    """Pointers to an M x N row-major matrix."""
    return p + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def broadcasts(x_ptr, row_ptr, col_ptr, out, M: tl.constexpr, N: tl.constexpr):
    x = tl.load(plane(x_ptr, M, N))
    row = tl.load(row_ptr + tl.arange(0, N))
    col = tl.load(col_ptr + tl.arange(0, M))
    o = plane(out, M, N)
    tl.store(o, x + row[None, :])
    tl.store(o + M * N, x * col[:, None])
    tl.store(o + 2 * M * N, row + col[:, None])
    tl.store(o + 3 * M * N, tl.broadcast_to(row[None, :], (M, N)))
    tl.store(o + 4 * M * N, tl.broadcast_to(tl.expand_dims(col, 1), M, N))
    tl.store(o + 5 * M * N, tl.where(row[None, :] > col[:, None], x, 0))
    a, b = tl.broadcast(row[None, :], col[:, None])
    tl.store(o + 6 * M * N, a - b)
    tl.store(o + 7 * M * N, tl.expand_dims(row, 0) + tl.zeros((M, N), x.dtype))
    tl.store(o + 8 * M * N, tl.full([M, N], 7, x.dtype) + tl.zeros_like(x))
    tl.store(o + 9 * M * N, x + 1)


@triton.jit
def reshapes(x_ptr, swapped, flat, other, back, M: tl.constexpr, N: tl.constexpr, P: tl.constexpr, Q: tl.constexpr):
    x = tl.load(plane(x_ptr, M, N))
    tl.store(plane(swapped, N, M), tl.trans(x))
    tl.store(flat + tl.arange(0, M * N), tl.reshape(x, (M * N,)))
    tl.store(flat + M * N + tl.arange(0, M * N), tl.ravel(x) + 1)
    tl.store(plane(other, P, Q), tl.reshape(x, P, Q))
    tl.store(plane(other + M * N, P, Q), x.view(P, -1))
    tl.store(plane(back, M, N), tl.reshape(tl.trans(tl.trans(x)), [P, Q]).reshape(M, N))
    tl.store(plane(back + M * N, M, N), tl.reshape(tl.trans(x), (M, N)))
    tl.store(plane(back + 2 * M * N, M, N), x.permute(1, 0).trans())


@triton.jit
def cube(x_ptr, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + a * (B * C) + b * C + c)
    tl.store(out + a * (B * C) + b * C + c, x + a * 100)
    moved = tl.permute(x, (2, 0, 1))
    tl.store(out + A * B * C + tl.arange(0, A * B * C), tl.reshape(moved, (A * B * C,)))
    last = tl.trans(x)
    tl.store(out + 2 * A * B * C + tl.arange(0, A * B * C), tl.ravel(last))
    tl.store(out + 3 * A * B * C + tl.arange(0, A * B * C), x.reshape(A * B * C))
    lifted = tl.arange(0, C)[None, None, :] + tl.expand_dims(tl.arange(0, B), (0, 2))
    tl.store(out + 4 * A * B * C + a * (B * C) + b * C + c, lifted + x * 0)


@triton.jit
def masked(x_ptr, out, m, n, stride, M: tl.constexpr, N: tl.constexpr):
    """A corner of a matrix whose rows are `stride` apart."""
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    inside = (i < m) & (j < n)
    x = tl.load(x_ptr + i * stride + j, mask=inside, other=-5)
    tl.store(out + i * N + j, x)
    tl.store(out + M * N + i * N + j, x * 2, mask=inside)
    by_row = tl.load(x_ptr + i * stride + j, mask=(i < m) & (j < N), other=-6)
    tl.store(out + 2 * M * N + i * N + j, by_row)
    wide = tl.load(x_ptr + j, mask=i < m, other=3)
    tl.store(out + 3 * M * N + i * N + j, wide)


@triton.jit
def odd_line(x_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out + i, x * 2 + i)
    tl.store(out + N + (N - 1 - i), x)
    tl.store(out + 2 * N + i, tl.load(x_ptr + (i * 7) % N))


@triton.jit
def ranges(out):
    tl.store(out + tl.arange(0, 16), tl.arange(5, 21))
    tl.store(out + 16 + tl.arange(0, 12), tl.arange(-6, 6))
    tl.store(out + 28 + tl.arange(0, 1), tl.arange(3, 4))
