"""Scans and histograms."""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def line(x_ptr, out, total_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out + i, tl.cumsum(x))
    tl.store(out + N + i, tl.cumsum(x, axis=0, reverse=True))
    before, total = tle.cumsum(x)
    tl.store(out + 2 * N + i, before)
    tl.store(total_ptr, total)
    after, total = tle.cumsum(x, axis=0, reverse=True)
    tl.store(out + 3 * N + i, after)
    tl.store(total_ptr + 1, total)
    tl.store(out + 4 * N + i, x.cumsum(0))


@triton.jit
def products(x_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out + i, tl.cumprod(x, 0))
    tl.store(out + N + i, tl.cumprod(x, 0, reverse=True))


@triton.jit
def axes(x_ptr, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out + at, tl.cumsum(x, axis=0))
    tl.store(out + M * N + at, tl.cumsum(x, axis=1))
    tl.store(out + 2 * M * N + at, tl.cumsum(x, axis=0, reverse=True))
    tl.store(out + 3 * M * N + at, tl.cumsum(x, axis=-1, reverse=True))
    tl.store(out + 4 * M * N + at, tl.cumsum(tl.cumsum(x, 0), 1))
    before, total = tle.cumsum(x, axis=1)
    tl.store(out + 5 * M * N + at, before + total[:, None])
    above, total = tle.cumsum(x, axis=0)
    tl.store(out + 6 * M * N + at, above - total[None, :])


@triton.jit
def flags(x_ptr, out, R: tl.constexpr, W: tl.constexpr):
    """Where a mask holds, counted: one element of a row in each lane."""
    at = (tl.arange(0, R)[:, None, None] * W + tl.arange(0, W)[None, :, None]) * 32 + tl.arange(0, 32)[None, None, :]
    hit = (tl.load(x_ptr + at) > 0).to(tl.int32)
    before, row = tle.cumsum(hit, axis=2)
    above, column = tle.cumsum(row, axis=0)
    tl.store(out + at, before + above[:, :, None])
    tl.store(out + R * W * 32 + at, tl.cumsum(hit, axis=2))
    tl.store(out + 2 * R * W * 32 + at, tl.cumsum(hit, axis=2, reverse=True) * 1000 + column[None, :, None])


@triton.jit
def highest(a, b):
    return tl.maximum(a, b)


@triton.jit
def compose(scale_a, shift_a, scale_b, shift_b):
    """x -> scale * x + shift, first a and then b: associative but not commutative."""
    return scale_a * scale_b, shift_a * scale_b + shift_b


@triton.jit
def user(x_ptr, y_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out + i, tl.associative_scan(x, 0, highest))
    scale, shift = tl.associative_scan((x, y), 0, compose)
    tl.store(out + N + i, scale)
    tl.store(out + 2 * N + i, shift)
    scale, shift = tl.associative_scan((x, y), axis=0, combine_fn=compose, reverse=True)
    tl.store(out + 3 * N + i, scale)
    tl.store(out + 4 * N + i, shift)


@triton.jit
def compact(x_ptr, out, count_ptr, limit, N: tl.constexpr):
    """Keeps the elements below the limit, in order."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    keep = x < limit
    position, total = tle.cumsum(keep.to(tl.int32))
    tl.store(out + position, x, mask=keep)
    tl.store(count_ptr, total)


@triton.jit
def in_loop(x_ptr, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    base = 0
    for row in range(n):
        before, total = tle.cumsum(tl.load(x_ptr + row * N + i))
        tl.store(out + row * N + i, before + base)
        base += total
    tl.store(out + n * N, base)


@triton.jit
def histograms(x_ptr, plain, masked, n, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    b = tl.arange(0, BINS)
    tl.store(plain + b, tl.histogram(x, BINS))
    tl.store(masked + b, tl.histogram(x, BINS, mask=i < n))
