"""Functions of one, two and three operands."""
import triton
import triton.language as tl


@triton.jit
def unary(x_ptr, p_ptr, out, N: tl.constexpr):
    """x is any value, p is positive."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    p = tl.load(p_ptr + i)
    tl.store(out + i, tl.exp(x))
    tl.store(out + N + i, tl.exp2(x))
    tl.store(out + 2 * N + i, tl.log(p))
    tl.store(out + 3 * N + i, tl.log2(p))
    tl.store(out + 4 * N + i, tl.sqrt(p))
    tl.store(out + 5 * N + i, tl.rsqrt(p))
    tl.store(out + 6 * N + i, tl.floor(x))
    tl.store(out + 7 * N + i, tl.ceil(x))
    tl.store(out + 8 * N + i, tl.abs(x))


@triton.jit
def double(x_ptr, p_ptr, out, N: tl.constexpr):
    """What exists in double precision."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    p = tl.load(p_ptr + i)
    tl.store(out + i, tl.sqrt(p))
    tl.store(out + N + i, tl.sqrt_rn(p))
    tl.store(out + 2 * N + i, tl.floor(x))
    tl.store(out + 3 * N + i, tl.ceil(x))
    tl.store(out + 4 * N + i, tl.abs(x))
    tl.store(out + 5 * N + i, tl.fma(x, x, p))


@triton.jit
def single(x_ptr, p_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    p = tl.load(p_ptr + i)
    tl.store(out + i, tl.sin(x))
    tl.store(out + N + i, tl.cos(x))
    tl.store(out + 2 * N + i, tl.sqrt_rn(p))
    tl.store(out + 3 * N + i, tl.sigmoid(x))
    tl.store(out + 4 * N + i, x.sigmoid())
    tl.store(out + 5 * N + i, tl.math.exp(x))


@triton.jit
def several(x_ptr, y_ptr, z_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    z = tl.load(z_ptr + i)
    tl.store(out + i, tl.fma(x, y, z))
    tl.store(out + N + i, tl.clamp(x, -1.0, 1.0))
    tl.store(out + 2 * N + i, tl.clamp(x, tl.minimum(y, z), tl.maximum(y, z)))
    tl.store(out + 3 * N + i, tl.div_rn(x, y))
    tl.store(out + 4 * N + i, tl.fdiv(x, y))
    tl.store(out + 5 * N + i, tl.fdiv(x, y, ieee_rounding=True))
    tl.store(out + 6 * N + i, tl.add(x, y))
    tl.store(out + 7 * N + i, tl.sub(x, y))
    tl.store(out + 8 * N + i, tl.mul(x, y))
    tl.store(out + 9 * N + i, min(x, y, z))
    tl.store(out + 10 * N + i, max(x, y))


@triton.jit
def high_product(x_ptr, y_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.umulhi(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def selections(x_ptr, y_ptr, out, k, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out + i, tl.where(x > y, x, 0))
    tl.store(out + N + i, tl.where(x > y, 1, -1))
    tl.store(out + 2 * N + i, tl.where(k > 3, x, y))
    tl.store(out + 3 * N + i, tl.where(x != x, 0.0, x))
    tl.store(out + 4 * N + i, tl.where((x > 0) & (y > 0) | (i == 3), x, y))
    tl.store(out + 5 * N + i, tl.where(not (x > 0), x, y))
