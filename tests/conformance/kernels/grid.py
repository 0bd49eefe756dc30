"""Programs of a grid."""
import triton
import triton.language as tl


@triton.jit
def identity(out):
    x = tl.program_id(0)
    y = tl.program_id(1)
    z = tl.program_id(axis=2)
    w = tl.num_programs(0)
    h = tl.num_programs(axis=1)
    d = tl.num_programs(2)
    at = (z * h + y) * w + x
    out += at * 6
    tl.store(out, x)
    tl.store(out + 1, y)
    tl.store(out + 2, z)
    tl.store(out + 3, w)
    tl.store(out + 4, h)
    tl.store(out + 5, d)


@triton.jit
def strided(x_ptr, out, n, N: tl.constexpr):
    """Each program takes every num_programs-th block."""
    for block in range(tl.program_id(0), tl.cdiv(n, N), tl.num_programs(0)):
        i = block * N + tl.arange(0, N)
        m = i < n
        tl.store(out + i, tl.load(x_ptr + i, mask=m, other=0.0) * 2, mask=m)


@triton.jit
def arguments(out, i8: tl.int8, i16, i32, i64, u32, u64, f32, f64, flag, NAME: tl.constexpr, KIND: tl.constexpr = 3):
    tl.store(out, i8)
    tl.store(out + 1, i16)
    tl.store(out + 2, i32)
    tl.store(out + 3, i64)
    tl.store(out + 4, u32)
    tl.store(out + 5, u64)
    tl.store(out + 6, (f32 * 4).to(tl.int64))
    tl.store(out + 7, (f64 * 4).to(tl.int64))
    tl.store(out + 8, flag)
    tl.store(out + 9, 1 if NAME == "yes" else 0)
    tl.store(out + 10, KIND)
