"""Atomics on global memory."""
import triton
import triton.language as tl


@triton.jit
def integers(p, x_ptr, old, n, N: tl.constexpr):
    """Every operation, each on cells of its own, one lane a cell."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    m = i < n
    tl.store(old + i, tl.atomic_add(p + i, x))
    tl.store(old + N + i, tl.atomic_max(p + N + i, x, sem="relaxed"))
    tl.store(old + 2 * N + i, tl.atomic_min(p + 2 * N + i, x, sem="acquire", scope="gpu"))
    tl.store(old + 3 * N + i, tl.atomic_and(p + 3 * N + i, x, sem="release", scope="sys"))
    tl.store(old + 4 * N + i, tl.atomic_or(p + 4 * N + i, x, sem="acq_rel", scope="cta"))
    tl.store(old + 5 * N + i, tl.atomic_xor(p + 5 * N + i, x))
    tl.store(old + 6 * N + i, tl.atomic_xchg(p + 6 * N + i, x))
    tl.store(old + 7 * N + i, tl.atomic_cas(p + 7 * N + i, x, x + 1))
    tl.store(old + 8 * N + i, tl.atomic_add(p + 8 * N + i, x, mask=m), mask=m)
    tl.store(old + 9 * N + i, tl.atomic_max(p + 9 * N + i, 5, m), mask=m)


@triton.jit
def floats(p, x_ptr, old, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    m = i < n
    tl.store(old + i, tl.atomic_add(p + i, x))
    tl.store(old + N + i, tl.atomic_max(p + N + i, x))
    tl.store(old + 2 * N + i, tl.atomic_min(p + 2 * N + i, x, mask=m), mask=m)
    tl.store(old + 3 * N + i, tl.atomic_xchg(p + 3 * N + i, x))


@triton.jit
def half_add(p, x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(p + i, tl.load(x_ptr + i), sem="relaxed")


@triton.jit
def one_cell(p, x_ptr, N: tl.constexpr):
    """All lanes of all programs meet in one cell."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    zero = tl.zeros((N,), tl.int32)
    tl.atomic_add(p + zero, x)
    tl.atomic_max(p + 1 + zero, x)
    tl.atomic_min(p + 2 + zero, x)
    tl.atomic_or(p + 3 + zero, x)
    tl.atomic_and(p + 4 + zero, x, mask=x % 2 == 1)
    tl.atomic_xor(p + 5 + zero, x)
    tl.atomic_add(p + 6 + zero, 1, mask=x > 50)
    tl.atomic_add(p + 7 + zero, tl.zeros((N,), p.dtype.element_ty) + 2)


@triton.jit
def append(count_ptr, x_ptr, out, limit, N: tl.constexpr):
    """The value that comes back is the lane's own position."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    keep = x < limit
    at = tl.atomic_add(count_ptr + tl.zeros((N,), tl.int32), 1, mask=keep, sem="relaxed")
    tl.store(out + at, x, mask=keep)


@triton.jit
def reserve(count_ptr, x_ptr, out, limit, N: tl.constexpr):
    """One scalar atomic a program reserves room for all of its elements."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i)
    keep = x < limit
    rank = tl.cumsum(keep.to(tl.int32), 0) - 1
    base = tl.atomic_add(count_ptr, tl.sum(keep.to(tl.int32)))
    tl.store(out + base + rank, x, mask=keep)


@triton.jit
def bins(hist, x_ptr, N: tl.constexpr):
    """Some lanes share a cell, others do not."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.atomic_add(hist + tl.load(x_ptr + i), 1, sem="relaxed", scope="gpu")


@triton.jit
def scalars(p, old, k):
    tl.store(old, tl.atomic_add(p, k))
    tl.store(old + 1, tl.atomic_add(p, 5))
    tl.store(old + 2, tl.atomic_max(p + 1, k))
    tl.store(old + 3, tl.atomic_cas(p + 2, 7, k))
    tl.store(old + 4, tl.atomic_cas(p + 2, 7, 100))
    tl.store(old + 5, tl.atomic_xchg(p + 3, k))
    tl.store(old + 6, tl.atomic_add(p + 4, k, mask=k > 1000), mask=k > 1000)
    tl.store(old + 7, tl.atomic_min(p + 5, k, mask=k > 0))


@triton.jit
def ticket(count_ptr, data_ptr, out):
    """The last program to arrive adds up what the others left."""
    pid = tl.program_id(0)
    n = tl.num_programs(0)
    tl.store(data_ptr + pid, pid + 10)
    if tl.atomic_add(count_ptr, 1, sem="acq_rel") == n - 1:
        total = 0
        for k in range(n):
            total += tl.load(data_ptr + k, cache_modifier=".cg")
        tl.store(out, total)


@triton.jit
def plane(p, x_ptr, M: tl.constexpr, N: tl.constexpr):
    """Rows of a tile added up in memory."""
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i * N + j)
    tl.atomic_add(p + i * 0 + j, x)
    tl.atomic_add(p + N + i + j * 0, x, mask=x > 0)
