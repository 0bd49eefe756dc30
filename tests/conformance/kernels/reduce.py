"""Reductions along an axis or over everything."""
import triton
import triton.language as tl


@triton.jit
def line(x_ptr, total, high, low, at_high, at_low, N: tl.constexpr):
    """One dimension: a scalar each."""
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(total, tl.sum(x))
    tl.store(total + 1, tl.sum(x, axis=0))
    tl.store(total + 2, x.sum(0))
    tl.store(total + 3 + tl.arange(0, 1), tl.sum(x, axis=0, keep_dims=True))
    tl.store(high, tl.max(x))
    tl.store(high + 1, tl.max(x, axis=0))
    tl.store(low, tl.min(x))
    tl.store(low + 1, x.min(axis=0))
    tl.store(at_high, tl.argmax(x, 0))
    tl.store(at_low, tl.argmin(x, axis=0))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(high + 2, value)
    tl.store(at_high + 1, index)
    value, index = tl.min(x, 0, return_indices=True)
    tl.store(low + 2, value)
    tl.store(at_low + 1, index)


@triton.jit
def axes(x_ptr, rows, cols, whole, M: tl.constexpr, N: tl.constexpr):
    """Two dimensions: eight results a row, eight a column."""
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(rows + i, tl.sum(x, axis=1))
    tl.store(rows + M + i, tl.max(x, axis=1))
    tl.store(rows + 2 * M + i, tl.min(x, axis=-1))
    tl.store(rows + 3 * M + i, tl.argmax(x, axis=1))
    tl.store(rows + 4 * M + i, tl.argmin(x, axis=1))
    tl.store(rows + 5 * M + i[:, None], tl.sum(x, axis=1, keep_dims=True))
    tl.store(cols + j, tl.sum(x, axis=0))
    tl.store(cols + N + j, tl.max(x, axis=0))
    tl.store(cols + 2 * N + j, tl.min(x, axis=-2))
    tl.store(cols + 3 * N + j, tl.argmax(x, axis=0))
    tl.store(cols + 4 * N + j, tl.argmin(x, axis=0))
    tl.store(cols + 5 * N + j[None, :], tl.max(x, axis=0, keep_dims=True))
    tl.store(whole, tl.sum(x))
    tl.store(whole + 1, tl.max(x))
    tl.store(whole + 2, tl.min(x))
    tl.store(whole + 3, tl.sum(tl.sum(x, axis=1), axis=0))
    tl.store(whole + 4 + i[:, None] * 0 + j[None, :] * 0, tl.max(x, keep_dims=True))
    centred = x - tl.min(x, axis=1)[:, None]
    tl.store(rows + 6 * M + i, tl.sum(centred, axis=1))
    spread = x - tl.max(x, axis=0, keep_dims=True)
    tl.store(cols + 6 * N + j, tl.sum(spread, axis=0))


@triton.jit
def middle(x_ptr, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)
    b = tl.arange(0, B)
    c = tl.arange(0, C)
    x = tl.load(x_ptr + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    tl.store(out + a[:, None] * C + c[None, :], tl.sum(x, axis=1))
    out += A * C
    tl.store(out + b[:, None] * C + c[None, :], tl.max(x, axis=0))
    out += B * C
    tl.store(out + a[:, None] * B + b[None, :], tl.min(x, axis=2))
    out += A * B
    tl.store(out, tl.sum(x))


@triton.jit
def bitwise(x_ptr, out, M: tl.constexpr, N: tl.constexpr):
    j = tl.arange(0, N)
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + j[None, :])
    tl.store(out + j, tl.reduce_or(x, axis=0))
    tl.store(out + N + j, tl.xor_sum(x, axis=0))
    tl.store(out + 2 * N + j, tl.reduce_or(x))
    tl.store(out + 3 * N + j, tl.xor_sum(x))


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def nearest(distance_a, index_a, distance_b, index_b):
    """The smaller distance, the larger index on a tie."""
    take_a = (distance_a < distance_b) | ((distance_a == distance_b) & (index_a > index_b))
    return tl.where(take_a, distance_a, distance_b), tl.where(take_a, index_a, index_b)


@triton.jit
def merge(count_a, mean_a, square_a, count_b, mean_b, square_b):
    """Count, mean and sum of squared deviations of two samples together."""
    count = count_a + count_b
    delta = mean_b - mean_a
    part = tl.where(count == 0.0, 0.0, count_b / count)
    return count, mean_a + delta * part, square_a + square_b + delta * delta * count_a * part


@triton.jit
def branching(a, b):
    r = b
    if a > b:
        r = a
    return r


@triton.jit
def user(x_ptr, out, index, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(out + i, tl.reduce(x, 1, multiply))
    distance, where = tl.reduce((tl.abs(x - 1.0), tl.broadcast_to(j[None, :], (M, N))), 1, nearest)
    tl.store(out + M + i, distance)
    tl.store(index + i, where)
    count, mean, square = tl.reduce((tl.full((M, N), 1.0, tl.float32), x, tl.zeros((M, N), tl.float32)), axis=1,
                                    combine_fn=merge)
    tl.store(out + 2 * M + i, count)
    tl.store(out + 3 * M + i, mean)
    tl.store(out + 4 * M + i, square)
    tl.store(out + 5 * M + i, tl.reduce(x, 1, branching))
    tl.store(out + 6 * M + i[:, None], tl.reduce(x, 1, multiply, keep_dims=True))


@triton.jit
def right_ties(x_ptr, out, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out, tl.argmax(x, 0))
    tl.store(out + 1, tl.argmin(x, 0, tie_break_left=True))


@triton.jit
def in_loop(x_ptr, out, n, N: tl.constexpr):
    """Reductions that depend on one another across iterations."""
    i = tl.arange(0, N)
    best = float("-inf")
    scale = 0.0
    for row in range(n):
        x = tl.load(x_ptr + row * N + i)
        high = tl.maximum(best, tl.max(x, axis=0))
        scale = scale * tl.exp(best - high) + tl.sum(tl.exp(x - high), axis=0)
        best = high
    tl.store(out, best)
    tl.store(out + 1, scale)


@triton.jit
def variants(x_ptr, out, N: tl.constexpr):
    """Counts of masks, other accumulators, scalars, tiles of one element."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out, tl.sum(x > 3))
    tl.store(out + 1, tl.sum((x > 3).to(tl.int32)))
    tl.store(out + 2, tl.sum(x, dtype=tl.int64))
    tl.store(out + 3, tl.sum(x.to(tl.int8), 0))
    tl.store(out + 4, tl.max((x > 3).to(tl.int8), 0))
    tl.store(out + 5, tl.sum(tl.load(x_ptr)))
    tl.store(out + 6, tl.max(tl.load(x_ptr + 1)))
    tl.store(out + 7, tl.sum(tl.arange(5, 6)))
    tl.store(out + 8, tl.sum(tl.full((N,), 2, tl.int32)))
    tl.store(out + 9, tl.xor_sum(i, 0))
    tl.store(out + 10, tl.reduce(x, 0, tl.minimum))
    at = tl.argmax(x, 0, tie_break_left=False)
    tl.store(out + 11, tl.max(tl.where(i == at, x, -1000000), 0))
    tl.store(out + 12, tl.sum(tl.cumsum((x > 3).to(tl.int8), 0)))
    tl.store(out + 13, tl.sum(tl.cumsum(x, 0, dtype=tl.int64)))


@triton.jit
def with_nan(x_ptr, out, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out, tl.max(x, 0))
    tl.store(out + 1, tl.min(x, 0))
    tl.store(out + 2, tl.sum(x, 0))
    tl.store(out + 3, tl.reduce(x, 0, propagating))


@triton.jit
def propagating(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def partials(x_ptr, out, M: tl.constexpr, N: tl.constexpr):
    j = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + j)
    a = tl.sum(tl.reshape(x[None, :, :] + tl.arange(0, 2)[:, None, None], (M, 2, N)), 1)
    b = tl.max(tl.permute(a[None, :, :] + tl.arange(0, 2)[:, None, None], (1, 0, 2)), 1)
    c = tl.max(tl.permute(x[None, :, :] + tl.arange(0, 4)[:, None, None], (1, 0, 2)), 1)
    tl.store(out + j, a)
    tl.store(out + N + j, b)
    tl.store(out + 2 * N + j, c)
