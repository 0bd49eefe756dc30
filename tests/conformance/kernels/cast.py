"""Conversions between types."""
import triton
import triton.language as tl


@triton.jit
def to_integers(x_ptr, i8, i16, i32, i64, u8, u16, u32, u64, b1, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(i8 + i, x.to(tl.int8))
    tl.store(i16 + i, x.to(tl.int16))
    tl.store(i32 + i, x.to(tl.int32))
    tl.store(i64 + i, x.to(tl.int64))
    tl.store(u8 + i, x.to(tl.uint8))
    tl.store(u16 + i, x.to(tl.uint16))
    tl.store(u32 + i, x.to(tl.uint32))
    tl.store(u64 + i, x.to(tl.uint64))
    tl.store(b1 + i, x.to(tl.int1))


@triton.jit
def to_floats(x_ptr, f16, b16, f32, f64, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(f16 + i, tl.cast(x, tl.float16))
    tl.store(b16 + i, tl.cast(x, tl.bfloat16))
    tl.store(f32 + i, tl.cast(x, tl.float32))
    tl.store(f64 + i, tl.cast(x, tl.float64))


@triton.jit
def stores_cast(x_ptr, i8, i64, u16, f16, f32, N: tl.constexpr):
    """A store converts to the type behind the pointer."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(i8 + i, x)
    tl.store(i64 + i, x)
    tl.store(u16 + i, x)
    tl.store(f16 + i, x)
    tl.store(f32 + i, x)


@triton.jit
def bits_there_and_back(x_ptr, bits, back, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    b = x.to(bits.dtype.element_ty, bitcast=True)
    tl.store(bits + i, b)
    tl.store(back + i, tl.cast(b ^ 1, x_ptr.dtype.element_ty, bitcast=True))


@triton.jit
def fp8(x_ptr, e4, e5, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(e4 + i, x.to(tl.float8e4nv).to(tl.float32))
    tl.store(e5 + i, x.to(tl.float8e5).to(tl.float32))


@triton.jit
def towards_zero(x_ptr, f16, b16, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(f16 + i, x.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(b16 + i, x.to(tl.bfloat16, fp_downcast_rounding="rtz"))


@triton.jit
def pointers(x_ptr, out, N: tl.constexpr):
    """A pointer to another type of the same memory."""
    i = tl.arange(0, N)
    halves = x_ptr.to(tl.pointer_type(tl.int16), bitcast=True)
    tl.store(out + i, tl.load(halves + i))


@triton.jit
def fp8_memory(x_ptr, e4_ptr, e5_ptr, out, N: tl.constexpr):
    """8-bit floats in memory."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(e4_ptr + i, x)
    tl.store(e5_ptr + i, x.to(tl.float8e5))
    tl.debug_barrier()
    tl.store(out + i, tl.load(e4_ptr + (N - 1 - i)).to(tl.float32))
    tl.store(out + N + i, tl.load(e5_ptr + (N - 1 - i)).to(tl.float16))
