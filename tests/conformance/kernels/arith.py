"""Operators, element by element."""
import triton
import triton.language as tl


@triton.jit
def integers(x_ptr, y_ptr, s_ptr, out, flags, N: tl.constexpr):
    """Sixteen results of the operands' type, six comparisons."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    s = tl.load(s_ptr + i)
    tl.store(out + i, x + y)
    tl.store(out + N + i, x - y)
    tl.store(out + 2 * N + i, x * y)
    tl.store(out + 3 * N + i, x // y)
    tl.store(out + 4 * N + i, x % y)
    tl.store(out + 5 * N + i, x & y)
    tl.store(out + 6 * N + i, x | y)
    tl.store(out + 7 * N + i, x ^ y)
    tl.store(out + 8 * N + i, x << s)
    tl.store(out + 9 * N + i, x >> s)
    tl.store(out + 10 * N + i, -x)
    tl.store(out + 11 * N + i, ~x)
    tl.store(out + 12 * N + i, tl.abs(x))
    tl.store(out + 13 * N + i, tl.minimum(x, y))
    tl.store(out + 14 * N + i, tl.maximum(x, y))
    tl.store(out + 15 * N + i, tl.where(x < y, x, y + 1))
    tl.store(flags + i, x == y)
    tl.store(flags + N + i, x != y)
    tl.store(flags + 2 * N + i, x < y)
    tl.store(flags + 3 * N + i, x <= y)
    tl.store(flags + 4 * N + i, x > y)
    tl.store(flags + 5 * N + i, x >= y)


@triton.jit
def constants(x_ptr, out, N: tl.constexpr):
    """A number takes the type of the tensor it meets."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out + i, x + 3)
    tl.store(out + N + i, 100 - x)
    tl.store(out + 2 * N + i, 5 * x)
    tl.store(out + 3 * N + i, x // 7)
    tl.store(out + 4 * N + i, x % 7)
    tl.store(out + 5 * N + i, x >> 3)
    tl.store(out + 6 * N + i, x << 2)
    tl.store(out + 7 * N + i, x // 8)
    tl.store(out + 8 * N + i, x % 16)
    tl.store(out + 9 * N + i, x & 0x55)
    tl.store(out + 10 * N + i, x * 8)
    tl.store(out + 11 * N + i, tl.cdiv(x, 4))


@triton.jit
def floats(x_ptr, y_ptr, out, flags, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out + i, x + y)
    tl.store(out + N + i, x - y)
    tl.store(out + 2 * N + i, x * y)
    tl.store(out + 3 * N + i, -x)
    tl.store(out + 4 * N + i, tl.abs(x))
    tl.store(out + 5 * N + i, tl.minimum(x, y))
    tl.store(out + 6 * N + i, tl.maximum(x, y))
    tl.store(out + 7 * N + i, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 8 * N + i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 9 * N + i, tl.where(x < y, x, y))
    tl.store(out + 10 * N + i, x + 0.5)
    tl.store(out + 11 * N + i, 2 * x)
    tl.store(flags + i, x == y)
    tl.store(flags + N + i, x != y)
    tl.store(flags + 2 * N + i, x < y)
    tl.store(flags + 3 * N + i, x <= y)
    tl.store(flags + 4 * N + i, x > y)
    tl.store(flags + 5 * N + i, x >= y)


@triton.jit
def divisions(x_ptr, y_ptr, out, N: tl.constexpr):
    """Divisions of floats; out is fp32 for halves, the operands' type otherwise."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out + i, x / y)
    tl.store(out + N + i, x % y)
    tl.store(out + 2 * N + i, x / 3)
    tl.store(out + 3 * N + i, 1.0 / x)


@triton.jit
def mixed(a_ptr, b_ptr, out_sum, out_product, flags, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(a_ptr + i)
    b = tl.load(b_ptr + i)
    tl.store(out_sum + i, a + b)
    tl.store(out_product + i, a * b)
    tl.store(flags + i, a < b)


@triton.jit
def augmented(x_ptr, out, k, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    x += k
    x *= 3
    x -= 2
    x //= 2
    x ^= 0x1234
    x |= 1
    x &= 0xFFFF
    x <<= 3
    x >>= 1
    x %= 1000
    tl.store(out + i, x)


@triton.jit
def signed_constants(x_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out + i, x // -7)
    tl.store(out + N + i, x % -7)
    tl.store(out + 2 * N + i, x // -8)
    tl.store(out + 3 * N + i, x % -16)
    tl.store(out + 4 * N + i, x // 1)
    tl.store(out + 5 * N + i, x % 1)
    tl.store(out + 6 * N + i, 100 // (x | 1))
    tl.store(out + 7 * N + i, x * -1)
    tl.store(out + 8 * N + i, x * -4)


@triton.jit
def identities(x_ptr, out, N: tl.constexpr):
    """What a simplifier is tempted by."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out + i, x + 0)
    tl.store(out + N + i, x - 0)
    tl.store(out + 2 * N + i, 0 - x)
    tl.store(out + 3 * N + i, x * 0)
    tl.store(out + 4 * N + i, x * 1)
    tl.store(out + 5 * N + i, x - x)
    tl.store(out + 6 * N + i, -(-x))
    tl.store(out + 7 * N + i, x * 2)
    tl.store(out + 8 * N + i, (x + 3) - 3)
    tl.store(out + 9 * N + i, (x * 3) * 5)
    tl.store(out + 10 * N + i, tl.minimum(x, x) + tl.maximum(x, 0) - tl.maximum(x, 0))
    tl.store(out + 11 * N + i, tl.where(x == x, x, 7))
    tl.store(out + 12 * N + i, tl.where(x != x, 8, tl.where(x > x, 9, x)))
    tl.store(out + 13 * N + i, tl.where(i >= 0, x, 3) + tl.where(i < 0, x, 0))
    tl.store(out + 14 * N + i, (x + x) - x)


@triton.jit
def bit_identities(x_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out + i, (x ^ x) | (x & x))
    tl.store(out + N + i, (x & 0) + (x | 0) + (x ^ 0))
    tl.store(out + 2 * N + i, (x << 0) + (x >> 0))
    tl.store(out + 3 * N + i, (x << 3) >> 3)
    tl.store(out + 4 * N + i, (x >> 3) << 3)
    tl.store(out + 5 * N + i, ~~x)
    tl.store(out + 6 * N + i, (x & 12) & 6)
    tl.store(out + 7 * N + i, (x % 8) // 4 + (x // 4) * 4)
    tl.store(out + 8 * N + i, (i * 6 + 3) // 3 + (i * 4 + 2) % 4)
    tl.store(out + 9 * N + i, x.to(tl.int8).to(x.dtype) + x.to(tl.uint8).to(x.dtype))
    tl.store(out + 10 * N + i, x.to(tl.int64).to(x.dtype) + x.to(tl.int1).to(x.dtype))
