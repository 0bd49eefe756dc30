"""Loads and stores through pointers to global memory."""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def masks(x_ptr, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    m = i < n
    tl.store(out + i, tl.load(x_ptr + i, mask=m, other=3))
    tl.store(out + N + i, tl.load(x_ptr + i, mask=m), mask=m)
    tl.store(out + 2 * N + i, tl.load(x_ptr + i, mask=m, other=tl.load(x_ptr + 1)))
    tl.store(out + 3 * N + i, tl.load(x_ptr + i, mask=(i % 3) == 1, other=0))
    tl.store(out + 4 * N + i, tl.load(x_ptr + (N - 1 - i), mask=(N - 1 - i) < n, other=9), mask=i >= 2)
    tl.store(out + 5 * N + i, tl.load(x_ptr + i, mask=True))
    tl.store(out + 6 * N + i, tl.load(x_ptr + i, mask=n > N, other=4))
    tl.store(out + 7 * N + i, 1, mask=False)


@triton.jit
def scalars(x_ptr, out, n):
    first = tl.load(x_ptr)
    tl.store(out, first)
    tl.store(out + 1, tl.load(x_ptr + n) + 1)
    tl.store(out + 2, tl.load(x_ptr + 1000000, mask=n < 0, other=7))
    tl.store(out + 3, 11, mask=n > 0)
    tl.store(out + 4, 12, mask=n < 0)
    p = x_ptr + 2
    p += 1
    tl.store(out + 5, tl.load(p))
    p -= 2
    tl.store(out + 6, tl.load(p))
    tl.store(out + 7 + tl.arange(0, 4), first)
    tl.store(out + 11, p != x_ptr)


@triton.jit
def offsets(x_ptr, out, stride, start, N: tl.constexpr):
    """All the ways to reach the same elements."""
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x_ptr + i * stride))
    tl.store(out + N + i, tl.load(x_ptr + (N - 1) * stride - i * stride))
    tl.store(out + 2 * N + i, tl.load(x_ptr + start - (start - i * stride)))
    big = tl.cast(1, tl.int64) << 40
    tl.store(out + 3 * N + i, tl.load((x_ptr - big) + (big + i * stride)))
    half = (i * stride).to(tl.uint32) + 0x80000000
    tl.store(out + 4 * N + i, tl.load((x_ptr - 0x80000000) + half))
    tl.store(out + 5 * N + i, tl.load(x_ptr + (i * stride).to(tl.int64)))
    tl.store(out + 6 * N + i, tl.load(i * stride + x_ptr))
    rows = x_ptr + i * stride
    rows += start
    rows -= start
    tl.store(out + 7 * N + i, tl.load(rows))


@triton.jit
def narrow_offsets(x_ptr, signed_ptr, unsigned_ptr, out, N: tl.constexpr):
    """Narrow offsets widen by their sign."""
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x_ptr + 128 + tl.load(signed_ptr + i)))
    tl.store(out + N + i, tl.load(x_ptr + tl.load(unsigned_ptr + i)))


@triton.jit
def booleans(flag_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    f = tl.load(flag_ptr + i)
    tl.static_assert(f.dtype == tl.int1)
    tl.store(out + i, not f)
    tl.store(out + N + i, f & (i > 3))
    tl.store(out + 2 * N + i, tl.load(flag_ptr + i, mask=i < 5, other=True))
    tl.store(out + 3 * N + i, i)
    tl.store(out + 4 * N + i, tl.where(f, i > 7, i < 7))


@triton.jit
def hints(x_ptr, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    m = i < n
    tl.store(out + i, tl.load(x_ptr + i, mask=m, other=0, cache_modifier=".ca"), mask=m)
    tl.store(out + N + i, tl.load(x_ptr + i, cache_modifier=".cg"), cache_modifier=".cg")
    tl.store(out + 2 * N + i, tl.load(x_ptr + i, cache_modifier=".cv"), cache_modifier=".cs")
    tl.store(out + 3 * N + i, tl.load(x_ptr + i, eviction_policy="evict_first"), eviction_policy="evict_last")
    tl.store(out + 4 * N + i, tl.load(x_ptr + i, eviction_policy="evict_last"), eviction_policy="evict_first")
    tl.store(out + 5 * N + i, tl.load(x_ptr + i, volatile=True), cache_modifier=".wt")
    tl.store(out + 6 * N + i, tle.load(x_ptr + i, is_async=True), cache_modifier=".wb")
    tl.store(out + 7 * N + i, tl.load(x_ptr + i, cache_modifier="", eviction_policy="evict_normal"))


@triton.jit
def copy_line(x_ptr, out, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    m = i < n
    tl.store(out + i, tl.load(x_ptr + i, mask=m), mask=m)


@triton.jit
def facts(x_ptr, out, n, stride, N: tl.constexpr):
    """Promises that hold change no result."""
    tl.assume(stride % 16 == 0)
    tl.assume(n > 0)
    stride = tl.multiple_of(stride, 16)
    x_ptr = tl.multiple_of(x_ptr, 16)
    i = tl.max_contiguous(tl.multiple_of(tl.arange(0, N), N), N)
    for row in range(n):
        tl.store(out + row * N + i, tl.load(x_ptr + row * stride + i))
    group = tl.max_constancy(tl.arange(0, N) // 4, 4)
    tl.store(out + n * N + i, tl.load(x_ptr + group))


@triton.jit
def aliases(x_ptr, n, N: tl.constexpr):
    """Loads see earlier stores of the same program to the same elements."""
    i = tl.arange(0, N)
    for k in range(n):
        x = tl.load(x_ptr + i)
        tl.store(x_ptr + i, x * 2 + k)


@triton.jit
def kinds(x_ptr, out):
    i = tl.arange(0, 16)
    tl.static_assert(x_ptr.dtype.is_ptr())
    tl.static_assert(not x_ptr.dtype.element_ty.is_ptr())
    tl.static_assert(x_ptr.dtype.element_ty == tl.load(x_ptr).dtype)
    tl.store(out + i, tl.load(x_ptr + i).to(out.dtype.element_ty))
