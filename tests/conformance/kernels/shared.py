"""Shared memory: buffers, pointers into them, copies, hazards, reuse. No kernel says debug_barrier
where the compiler must see the need itself."""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def views(x_ptr, out, N: tl.constexpr):
    """The same buffer as a whole, by tensor index, by scalar index, by pointer arithmetic."""
    i = tl.arange(0, N)
    buffer = tle.gpu.alloc([N], x_ptr.dtype.element_ty)
    tl.store(tle.gpu.local_ptr(buffer), tl.load(x_ptr + i))
    tl.store(out + i, tl.load(tle.gpu.local_ptr(buffer)))
    tl.store(out + N + i, tl.load(tle.gpu.local_ptr(buffer, (N - 1 - i,))))
    tl.store(out + 2 * N + i, tl.load(tle.gpu.local_ptr(buffer, (3,))))
    first = tle.gpu.local_ptr(buffer, (0,))
    tl.store(out + 3 * N + i, tl.load(first + i))
    tl.store(out + 4 * N + i, tl.load(first + (i * 5) % N))
    tl.store(first + 1, tl.load(first + 2))
    tl.store(out + 5 * N + i, buffer.load())
    tl.store(out + 6 * N + i, tl.load(first + i, mask=i >= 4, other=9))
    tl.store(first + i, i, mask=i < 2)
    tl.store(out + 7 * N + i, tl.load(first + i))


@triton.jit
def planes(x_ptr, out, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    buffer = tle.gpu.alloc([M, N], x_ptr.dtype.element_ty, scope=tle.gpu.smem)
    tle.gpu.copy(x_ptr + i * N + j, buffer, [M, N])
    rows = tl.broadcast_to(i, (M, N))
    cols = tl.broadcast_to(j, (M, N))
    tl.store(out + i * N + j, tl.load(tle.gpu.local_ptr(buffer)))
    tl.store(out + M * N + i * N + j, tl.load(tle.gpu.local_ptr(buffer, (M - 1 - rows, N - 1 - cols))))
    back_i = tl.broadcast_to(tl.arange(0, M)[None, :], (N, M))
    back_j = tl.broadcast_to(tl.arange(0, N)[:, None], (N, M))
    swapped = tl.load(tle.gpu.local_ptr(buffer, (back_i, back_j)))
    tl.store(out + 2 * M * N + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], swapped)
    tl.store(tle.gpu.local_ptr(buffer, (1, 2)), 99)
    tl.store(tle.gpu.local_ptr(buffer, (M - 1, 0)), tl.load(tle.gpu.local_ptr(buffer, (0, 1))))
    tle.gpu.copy(buffer, out + 3 * M * N + i * N + j, [M, N])


@triton.jit
def masked_copies(x_ptr, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    buffer = tle.gpu.alloc([N], x_ptr.dtype.element_ty)
    tle.gpu.copy(x_ptr + i, buffer, [N], mask=i < n)
    tle.gpu.copy(buffer, out + i, [N])
    tle.gpu.copy(buffer, out + N + i, [N], mask=i >= n - 3)
    filled = tle.gpu.alloc([N], x_ptr.dtype.element_ty, init_value=6)
    tl.store(tle.gpu.local_ptr(filled, (i,)), 5, mask=i < n)
    tl.store(out + 2 * N + i, filled.load())
    filled.store(tl.load(x_ptr + i, mask=i < n, other=1))
    tl.store(out + 3 * N + i, tl.load(tle.gpu.local_ptr(filled)))


@triton.jit
def hazards(x_ptr, out, n, N: tl.constexpr):
    """Each iteration reads what other threads wrote before and writes what others read."""
    i = tl.arange(0, N)
    buffer = tle.gpu.alloc([N], tl.int32)
    tl.store(tle.gpu.local_ptr(buffer, (i,)), tl.load(x_ptr + i))
    for k in range(n):
        turned = tl.load(tle.gpu.local_ptr(buffer, ((i + 1 + k) % N,)))
        tl.store(tle.gpu.local_ptr(buffer, (i,)), turned + k)
        tl.store(tle.gpu.local_ptr(buffer, (N - 1 - i,)), tl.load(tle.gpu.local_ptr(buffer, (i,))) * 3)
    tl.store(out + i, tl.load(tle.gpu.local_ptr(buffer, ((i * 7) % N,))))


@triton.jit
def branches(x_ptr, out, n, N: tl.constexpr):
    """Writes on one path only, reads after it and in a while loop."""
    i = tl.arange(0, N)
    buffer = tle.gpu.alloc([N], tl.int32)
    tl.store(tle.gpu.local_ptr(buffer, (i,)), tl.load(x_ptr + i))
    if n > 2:
        tl.store(tle.gpu.local_ptr(buffer, (N - 1 - i,)), i)
    else:
        tl.store(tle.gpu.local_ptr(buffer, ((i + 5) % N,)), i * 2)
    total = tl.load(tle.gpu.local_ptr(buffer, ((i + 9) % N,)))
    k = n
    while k > 0:
        tl.store(tle.gpu.local_ptr(buffer, ((i + k) % N,)), total)
        if k % 2 == 0:
            total += tl.load(tle.gpu.local_ptr(buffer, ((i * 3) % N,)))
        k -= 1
    tl.store(out + i, total)


@triton.jit
def scalar_cells(x_ptr, out, n, N: tl.constexpr):
    """Scalars kept in shared memory between steps of the whole group."""
    i = tl.arange(0, N)
    cells = tle.gpu.alloc([4], tl.int32)
    best = tle.gpu.local_ptr(cells, (0,))
    count = tle.gpu.local_ptr(cells, (1,))
    tl.store(best, -1000)
    tl.store(count, 0)
    for k in range(n):
        high = tl.max(tl.load(x_ptr + k * N + i), axis=0)
        if high > tl.load(best):
            tl.store(best, high)
            tl.store(count, tl.load(count) + 1)
    tl.store(out, tl.load(best))
    tl.store(out + 1, tl.load(count))


@triton.jit
def through_buffer(x, N: tl.constexpr):
    """Reverses a tile through a buffer of its own."""
    i = tl.arange(0, N)
    buffer = tle.gpu.alloc([N], x.dtype)
    tl.store(tle.gpu.local_ptr(buffer, (i,)), x)
    return tl.load(tle.gpu.local_ptr(buffer, (N - 1 - i,)))


@triton.jit
def reuse(x_ptr, out, N: tl.constexpr):
    """Buffers that live one after another, one that lives across them, and scratch of reductions."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    kept = tle.gpu.alloc([N], tl.int32)
    tl.store(tle.gpu.local_ptr(kept, (i,)), x)
    for k in tl.static_range(6):
        x = through_buffer(x + k, N)
        x += tl.sum(x, axis=0)
    wide = through_buffer(x.to(tl.int64), N)
    total, all_of_it = tle.cumsum(x)
    narrow = through_buffer(x.to(tl.int16), N)
    tl.store(out + i, x)
    tl.store(out + N + i, wide.to(tl.int32))
    tl.store(out + 2 * N + i, total)
    tl.store(out + 3 * N + i, narrow.to(tl.int32))
    tl.store(out + 4 * N + i, tl.load(tle.gpu.local_ptr(kept, (N - 1 - i,))))


@triton.jit
def atomics(x_ptr, out, old, N: tl.constexpr, BINS: tl.constexpr):
    """Counting, extrema, reservations and exchange in shared memory."""
    i = tl.arange(0, N)
    b = tl.arange(0, BINS)
    x = tl.load(x_ptr + i)
    hist = tle.gpu.alloc([BINS], tl.int32)
    tl.store(tle.gpu.local_ptr(hist, (b,)), tl.zeros((BINS,), tl.int32))
    tl.atomic_add(tle.gpu.local_ptr(hist, (x,)), 1, sem="relaxed", scope="cta")
    tl.atomic_add(tle.gpu.local_ptr(hist, (x,)), 100, mask=x % 2 == 0, sem="relaxed", scope="cta")
    tl.store(out + b, tl.load(tle.gpu.local_ptr(hist, (b,))))
    cells = tle.gpu.alloc([8], tl.int32)
    tl.store(tle.gpu.local_ptr(cells), tl.zeros((8,), tl.int32))
    count = tle.gpu.local_ptr(cells, (0,))
    zero = i * 0
    place = tl.atomic_add(count + zero, 1, mask=x > 3, sem="relaxed", scope="cta")
    tl.store(old + place, x, mask=x > 3)
    tl.atomic_max(tle.gpu.local_ptr(cells, (zero + 1,)), x)
    tl.atomic_or(tle.gpu.local_ptr(cells, (zero + 2,)), x)
    tl.atomic_add(count + 3, 7)
    tl.atomic_xchg(count + 4, 8)
    tl.atomic_cas(count + 5, 0, 9)
    tl.atomic_cas(count + 5, 0, 10)
    tl.atomic_min(tle.gpu.local_ptr(cells, (zero + 6,)), -x)
    tl.atomic_xor(tle.gpu.local_ptr(cells, (zero + 7,)), x)
    c = tl.arange(0, 8)
    tl.store(out + BINS + c, tl.load(tle.gpu.local_ptr(cells, (c,))))


@triton.jit
def add_to(buffer, index, value):
    """A buffer as an argument."""
    p = tle.gpu.local_ptr(buffer, (index,))
    tl.store(p, tl.load(p) + value)


@triton.jit
def types(x_ptr, out, flags, N: tl.constexpr):
    i = tl.arange(0, N)
    buffer = tle.gpu.alloc([N], x_ptr.dtype.element_ty)
    other = tle.gpu.alloc([N], tl.int1)
    tl.static_assert(buffer.dtype == x_ptr.dtype.element_ty)
    tl.static_assert(buffer.shape[0] == N)
    x = tl.load(x_ptr + i)
    tl.store(tle.gpu.local_ptr(buffer, (i,)), x)
    tl.store(tle.gpu.local_ptr(other, (i,)), x > 5)
    add_to(buffer, N - 1 - i, 1)
    tl.store(out + i, tl.load(tle.gpu.local_ptr(buffer, ((i + 3) % N,))))
    tl.store(flags + i, tl.load(tle.gpu.local_ptr(other, ((i + 3) % N,))))


@triton.jit
def barriers(x_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x_ptr + i))
    tl.debug_barrier()
    tl.store(out + N + i, tl.load(out + (N - 1 - i)))
    tl.debug_barrier()
    tl.debug_barrier()


@triton.jit
def make_buffer(x, N: tl.constexpr):
    buffer = tle.gpu.alloc([N], x.dtype)
    tl.store(tle.gpu.local_ptr(buffer), x)
    return buffer, tle.gpu.local_ptr(buffer, (1,))


@triton.jit
def returned(x_ptr, out, n, N: tl.constexpr):
    """Buffers and pointers that come out of functions, and pointers carried through loops."""
    i = tl.arange(0, N)
    buffer, second = make_buffer(tl.load(x_ptr + i), N)
    other, _ = make_buffer(tl.load(x_ptr + (N - 1 - i)), N)
    tl.store(out, tl.load(second))
    total = 0
    p = second
    for k in range(n):
        total += tl.load(p) * (k + 1)
        p += 2
    tl.store(out + 1, total)
    tl.store(out + 2 + i, tl.load(tle.gpu.local_ptr(buffer, (N - 1 - i,))) - tl.load(tle.gpu.local_ptr(other)))
    chosen = second
    if n > 3:
        chosen = tle.gpu.local_ptr(other, (0,))
    tl.store(out + 2 + N, tl.load(chosen))


@triton.jit
def ping_pong(x_ptr, out, n, N: tl.constexpr):
    """Two rows of one buffer by turns."""
    i = tl.arange(0, N)
    rows = tle.gpu.alloc([2, N], tl.int32)
    tl.store(tle.gpu.local_ptr(rows, (i * 0, i)), tl.load(x_ptr + i))
    for k in range(n):
        here = k % 2
        x = tl.load(tle.gpu.local_ptr(rows, (i * 0 + here, (i + 1) % N)))
        y = tl.load(tle.gpu.local_ptr(rows, (i * 0 + here, (i * 5 + k) % N)))
        tl.store(tle.gpu.local_ptr(rows, (i * 0 + (1 - here), i)), x * 3 + y)
    tl.store(out + i, tl.load(tle.gpu.local_ptr(rows, (i * 0 + n % 2, i))))
