"""Reductions against NumPy: every axis, warps, odd extents, types, ties, users' functions."""
import numpy as np
import pytest

from harness import Typed, bf16_bits, bf16_values, compile_kernel, run

rng = np.random.default_rng(17)
SUMS = {"int8": "int32", "uint8": "uint32", "int16": "int32", "uint16": "uint32", "int32": "int32", "uint32": "uint32",
        "int64": "int64", "uint64": "uint64", "float16": "float16", "float32": "float32", "float64": "float64"}


def check_line(x, plain, total_type, n, num_warps, tolerance):
    total, high, low = np.zeros(4, total_type), np.zeros(3, plain.dtype), np.zeros(3, plain.dtype)
    at_high, at_low = np.zeros(2, np.int32), np.zeros(2, np.int32)
    run("reduce.py", "line", num_warps=num_warps, x_ptr=x, total=total, high=high, low=low, at_high=at_high,
        at_low=at_low, N=n)
    exact = plain.astype(np.float64).sum() if plain.dtype.kind == "f" else plain.sum(dtype=total_type)
    np.testing.assert_allclose(total, [exact] * 4, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(high, [plain.max()] * 3)
    np.testing.assert_array_equal(low, [plain.min()] * 3)
    np.testing.assert_array_equal(at_high, [plain.argmax()] * 2)
    np.testing.assert_array_equal(at_low, [plain.argmin()] * 2)


@pytest.mark.parametrize("dtype", SUMS)
@pytest.mark.parametrize("n,num_warps", [(128, 4), (96, 2)])
def test_line_types(dtype, n, num_warps):
    x = rng.integers(0 if dtype[0] == "u" else -100, 100, n).astype(dtype)
    check_line(x, x, SUMS[dtype], n, num_warps, 0 if dtype[0] in "ui" else 2e-2 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("n,num_warps", [(1, 1), (2, 1), (32, 1), (16, 4), (192, 4), (1024, 4), (160, 8), (1024, 32),
                                         (2048, 8), (33, 1), (576, 16), (4096, 32), (1000, 4), (8192, 8)])
def test_line_shapes(n, num_warps):
    x = rng.normal(0, 10, n).astype(np.float32)
    check_line(x, x, np.float32, n, num_warps, 1e-4)


def test_line_bf16():
    """Sums and extrema of bfloat16 are taken in float32."""
    values = bf16_values(bf16_bits(rng.normal(0, 4, 256)))
    total, high, low = (np.zeros(4, np.float32) for _ in range(3))
    at_high, at_low = np.zeros(2, np.int32), np.zeros(2, np.int32)
    run("reduce.py", "line", x_ptr=Typed(bf16_bits(values), "*bf16"), total=total, high=high, low=low, at_high=at_high,
        at_low=at_low, N=256)
    np.testing.assert_allclose(total, values.astype(np.float64).sum(), rtol=1e-5)
    assert (high[:3] == values.max()).all() and (low[:3] == values.min()).all()
    assert (at_high == values.argmax()).all() and (at_low == values.argmin()).all()


@pytest.mark.parametrize("m,n,num_warps", [(16, 16, 1), (32, 64, 4), (24, 8, 4), (3, 64, 2), (192, 4, 8), (4, 160, 4),
                                           (64, 64, 32), (1, 128, 4), (128, 1, 4), (5, 6, 1), (2, 96, 16)])
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_axes(m, n, num_warps, dtype):
    x = rng.integers(-100, 100, (m, n)).astype(dtype)
    rows, cols, whole = np.zeros((7, m), dtype), np.zeros((7, n), dtype), np.zeros(5, dtype)
    run("reduce.py", "axes", num_warps=num_warps, x_ptr=x, rows=rows, cols=cols, whole=whole, M=m, N=n)
    expected = [x.sum(1), x.max(1), x.min(1), x.argmax(1), x.argmin(1), x.sum(1), (x - x.min(1)[:, None]).sum(1)]
    for k, want in enumerate(expected):
        np.testing.assert_array_equal(rows[k], want, err_msg=f"row result {k}")
    expected = [x.sum(0), x.max(0), x.min(0), x.argmax(0), x.argmin(0), x.max(0), (x - x.max(0)).sum(0)]
    for k, want in enumerate(expected):
        np.testing.assert_array_equal(cols[k], want, err_msg=f"column result {k}")
    np.testing.assert_array_equal(whole, [x.sum(), x.max(), x.min(), x.sum(), x.max()])


@pytest.mark.parametrize("a,b,c,num_warps", [(4, 8, 16, 4), (3, 5, 8, 1), (2, 6, 24, 8), (8, 1, 4, 2)])
def test_three_dimensions(a, b, c, num_warps):
    x = rng.integers(-1000, 1000, (a, b, c)).astype(np.int32)
    out = np.zeros(a * c + b * c + a * b + 1, np.int32)
    run("reduce.py", "middle", num_warps=num_warps, x_ptr=x, out=out, A=a, B=b, C=c)
    want = [x.sum(1).ravel(), x.max(0).ravel(), x.min(2).ravel(), [x.sum()]]
    np.testing.assert_array_equal(out, np.concatenate(want))


@pytest.mark.parametrize("n,num_warps", [(64, 4), (32, 2), (128, 8)])
def test_partials_of_small_tiles(n, num_warps):
    """Addresses of partial results hold only in the block of the threads that have one."""
    x = rng.integers(-1000, 1000, n).astype(np.int32)
    out = np.zeros((3, n), np.int32)
    run("reduce.py", "partials", num_warps=num_warps, x_ptr=x, out=out, M=1, N=n)
    np.testing.assert_array_equal(out, [2 * x + 1, 2 * x + 2, x + 3])


@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint64"])
@pytest.mark.parametrize("m,n,num_warps", [(16, 8, 1), (24, 12, 4)])
def test_bitwise(dtype, m, n, num_warps):
    x = (1 << rng.integers(0, 7, (m, n))).astype(dtype) * rng.integers(0, 2, (m, n)).astype(dtype)
    out = np.zeros((4, n), dtype)
    run("reduce.py", "bitwise", num_warps=num_warps, x_ptr=x, out=out, M=m, N=n)
    union, parity = np.bitwise_or.reduce, np.bitwise_xor.reduce
    np.testing.assert_array_equal(out, [union(x), parity(x), [union(x.ravel())] * n, [parity(x.ravel())] * n])


@pytest.mark.parametrize("m,n,num_warps", [(8, 32, 1), (4, 192, 4), (16, 128, 8), (3, 24, 2), (2, 512, 32)])
def test_user_functions(m, n, num_warps):
    x = (rng.integers(1, 16, (m, n)) / 8).astype(np.float32)
    out, index = np.zeros((7, m), np.float32), np.zeros(m, np.int32)
    run("reduce.py", "user", num_warps=num_warps, x_ptr=x, out=out, index=index, M=m, N=n)
    wide = x.astype(np.float64)
    product = wide.prod(1)
    in_range = (product > 1e-30) & (product < 1e30)
    np.testing.assert_allclose(out[0][in_range], product[in_range], rtol=1e-4)
    np.testing.assert_array_equal(out[6], out[0])
    distance = abs(x - 1)
    np.testing.assert_array_equal(out[1], distance.min(1))
    last = n - 1 - (distance[:, ::-1] == distance.min(1)[:, None]).argmax(1)
    np.testing.assert_array_equal(index, last)
    np.testing.assert_array_equal(out[2], [n] * m)
    np.testing.assert_allclose(out[3], wide.mean(1), rtol=1e-5)
    np.testing.assert_allclose(out[4], wide.var(1) * n, rtol=1e-4)
    np.testing.assert_array_equal(out[5], x.max(1))


@pytest.mark.parametrize("num_warps", [1, 4])
def test_ties_go_left(num_warps):
    x = rng.integers(0, 3, 256).astype(np.int32)
    out = np.zeros(2, np.int32)
    run("reduce.py", "right_ties", num_warps=num_warps, x_ptr=x, out=out, N=256)
    np.testing.assert_array_equal(out, [x.argmax(), x.argmin()])


@pytest.mark.parametrize("num_warps", [1, 4, 8])
def test_dependent_reductions(num_warps):
    x = rng.normal(0, 3, (7, 192)).astype(np.float32)
    out = np.zeros(2, np.float32)
    run("reduce.py", "in_loop", num_warps=num_warps, x_ptr=x, out=out, n=7, N=192)
    assert out[0] == x.max()
    np.testing.assert_allclose(out[1], np.exp(x.astype(np.float64) - x.max()).sum(), rtol=1e-5)


TYPES = """
import triton
import triton.language as tl


@triton.jit
def kernel(i1, i8, i16, i32, i64, u8, u16, u32, u64, fp16, bf16, fp32):
"""
EXPECTED = {"i1": ("uint32", "int32"), "i8": ("int32", "int32"), "i16": ("int32", "int32"), "i32": ("int32", "int32"),
            "i64": ("int64", "int64"), "u8": ("uint32", "int32"), "u16": ("uint32", "int32"),
            "u32": ("uint32", "uint32"), "u64": ("uint64", "uint64"), "fp16": ("float16", "float32"),
            "bf16": ("float32", "float32"), "fp32": ("float32", "float32")}


def test_result_types():
    """Narrow integers sum in 32 bits, bfloat16 in float32; extrema of anything narrow widen."""
    lines = TYPES.strip("\n").split("\n")
    for name, (total, extremum) in EXPECTED.items():
        load = f"tl.load({name} + tl.arange(0, 32))"
        for body, want in (("tl.sum(x)", total), ("tl.cumsum(x)", total), ("tl.max(x)", extremum),
                           ("tl.min(x, 0)", extremum), ("tl.argmax(x, 0)", "int32"), ("tl.sum(x, dtype=tl.int64)", "int64")):
            lines.append(f"    tl.static_assert({body.replace('(x', '(' + load, 1)}.dtype == tl.{want}, '{body} of {name}')")
    compile_kernel("\n".join(lines) + "\n", "kernel", {n: Typed(None, "*" + n) for n in EXPECTED})


@pytest.mark.parametrize("n,num_warps", [(64, 1), (192, 4), (7, 2)])
def test_variants(n, num_warps):
    x = rng.integers(-2**30, 2**30, n).astype(np.int32)
    x[:6] = [9, 4, 3, 100, -100, 2]
    out = np.zeros(14, np.int64)
    run("reduce.py", "variants", num_warps=num_warps, x_ptr=x, out=out, N=n)
    many, wide = int((x > 3).sum()), x.astype(np.int64)
    want = [many, many, wide.sum(), x.astype(np.int8).sum(dtype=np.int32), 1, 9, 4, 5, 2 * n,
            np.bitwise_xor.reduce(np.arange(n)), x.min(), x.max(), (x > 3).cumsum().sum(), wide.cumsum().sum()]
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("num_warps", [1, 4])
def test_nan(num_warps):
    """Extrema pass over NaN, unless asked to keep it."""
    x = rng.normal(0, 1, 192).astype(np.float32)
    x[[3, 100, 191]] = np.nan
    out = np.zeros(4, np.float32)
    run("reduce.py", "with_nan", num_warps=num_warps, x_ptr=x, out=out, N=192)
    np.testing.assert_array_equal(out, np.float32([np.nanmax(x), np.nanmin(x), np.nan, np.nan]))
