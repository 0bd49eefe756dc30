"""sort, topk, flip and gather against NumPy, in layouts that keep an axis in registers, lanes and warps."""
import numpy as np
import pytest

from harness import errors, run

FILE = "sorting.py"
TYPES = [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32, np.float64]


def values(rng, dtype, shape):
    if np.issubdtype(dtype, np.floating):
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_rows(dtype, descending):
    x = values(np.random.default_rng(1), dtype, (4, 128))
    out = np.zeros_like(x)
    run(FILE, "sort_rows", x=x, out=out, M=4, N=128, DIM=1, DESCENDING=descending)
    want = np.sort(x, axis=1)
    assert np.array_equal(out, want[:, ::-1] if descending else want)


@pytest.mark.parametrize("shape", [(1, 2), (16, 1), (64, 4), (2, 512), (32, 32)])
@pytest.mark.parametrize("warps", [1, 4])
def test_sort_columns(shape, warps):
    x = values(np.random.default_rng(2), np.int32, shape)
    out = np.zeros_like(x)
    run(FILE, "sort_rows", num_warps=warps, x=x, out=out, M=shape[0], N=shape[1], DIM=0, DESCENDING=False)
    assert np.array_equal(out, np.sort(x, axis=0))


@pytest.mark.parametrize("n", [1, 2, 32, 1024, 4096])
def test_sort_line_with_equal_values(n):
    x = np.random.default_rng(3).integers(-3, 3, n).astype(np.float32)
    out = np.zeros_like(x)
    run(FILE, "sort_line", num_warps=8, x=x, out=out, N=n)
    assert np.array_equal(out, np.sort(x))


def test_sort_keeps_the_values_when_there_are_nans():
    x = np.random.default_rng(4).normal(size=256).astype(np.float32)
    x[[3, 77, 200]] = np.nan
    out = np.zeros_like(x)
    run(FILE, "sort_line", x=x, out=out, N=256)
    assert np.isnan(out).sum() == 3
    assert np.array_equal(np.sort(out[~np.isnan(out)]), np.sort(x[~np.isnan(x)]))


def test_sort_of_infinities():
    x = np.array([np.inf, -np.inf, 0.0, 1.0, -1.0, np.inf, -np.inf, 2.0], np.float32)
    out = np.zeros_like(x)
    run(FILE, "sort_line", num_warps=1, x=x, out=out, N=8)
    assert np.array_equal(out, np.sort(x))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float16, np.float32])
@pytest.mark.parametrize("k", [1, 4, 64])
def test_topk_rows(dtype, k):
    x = values(np.random.default_rng(5), dtype, (8, 64))
    out = np.zeros((8, k), dtype)
    run(FILE, "topk_rows", x=x, out=out, M=8, N=64, K=k)
    assert np.array_equal(out, np.sort(x, axis=1)[:, ::-1][:, :k])


@pytest.mark.parametrize("n, k, warps", [(1024, 16, 4), (512, 256, 8), (128, 2, 1)])
def test_topk_one_row(n, k, warps):
    x = values(np.random.default_rng(6), np.uint64, (1, n))
    out = np.zeros((1, k), np.uint64)
    run(FILE, "topk_rows", num_warps=warps, x=x, out=out, M=1, N=n, K=k)
    assert np.array_equal(out, np.sort(x, axis=1)[:, ::-1][:, :k])


def test_topk_columns():
    x = values(np.random.default_rng(7), np.int32, (64, 8))
    out = np.zeros((4, 8), np.int32)
    run(FILE, "topk_columns", x=x, out=out, M=64, N=8, K=4)
    assert np.array_equal(out, np.sort(x, axis=0)[::-1][:4])


@pytest.mark.parametrize("shape", [(8, 64), (4, 1), (2, 256)])
@pytest.mark.parametrize("dim", [0, 1])
def test_flip(shape, dim):
    x = values(np.random.default_rng(8), np.int16, shape)
    out = np.zeros_like(x)
    run(FILE, "flip_rows", x=x, out=out, M=shape[0], N=shape[1], DIM=dim)
    assert np.array_equal(out, np.flip(x, dim))


def test_flip_of_an_extent_that_is_no_power_of_two():
    source = """
import triton
import triton.language as tl

@triton.jit
def flip(x, out, N: tl.constexpr):
    p = tl.arange(0, N)
    tl.store(out + p, tl.flip(tl.load(x + p)))
"""
    x = np.arange(96, dtype=np.int32)
    out = np.zeros_like(x)
    run(source, "flip", x=x, out=out, N=96)
    assert np.array_equal(out, x[::-1])


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.int32, np.float64])
def test_gather(dtype):
    rng = np.random.default_rng(9)
    x = values(rng, dtype, (8, 32))
    index = rng.integers(0, 32, (8, 64)).astype(np.int32)
    out = np.zeros((8, 64), dtype)
    run(FILE, "gather_rows", x=x, index=index, out=out, M=8, N=32, K=64)
    assert np.array_equal(out, np.take_along_axis(x, index, axis=1))


def test_gather_line_with_wide_indices():
    rng = np.random.default_rng(10)
    x, index = values(rng, np.float32, 64), rng.integers(0, 64, 256)
    out = np.zeros(256, np.float32)
    run(FILE, "gather_line", x=x, index=index, out=out, N=64, K=256)
    assert np.array_equal(out, x[index])


@pytest.mark.parametrize("call, message", [
    ("tl.sort(tl.arange(0, 96))", "a power of two along the dimension"),
    ("tl.sort(tl.arange(0, 64), dim=1)", "axis 1 is outside int32[64]"),
    ("tl.topk(tl.arange(0, 64), 3)", "'k' must be a power of two from 1 to 64, found 3"),
    ("tl.topk(tl.arange(0, 64), 128)", "'k' must be a power of two from 1 to 64, found 128"),
    ("tl.sort(tl.program_id(0))", "a scalar cannot be sorted"),
    ("tl.sort(tl.arange(0, 4) < 2)", "int1[4] cannot be sorted"),
    ("tl.gather(tl.arange(0, 64), tl.zeros([8, 8], tl.int32), 0)", "'index' must have the shape of 'src' but for axis 0"),
    ("tl.gather(tl.arange(0, 64), tl.zeros([8], tl.float32), 0)", "'index' must hold integers"),
])
def test_errors(call, message):
    source = f"import triton\nimport triton.language as tl\n\n@triton.jit\ndef f(x):\n    y = {call}\n    tl.store(x + y, y)\n"
    assert message in errors(source, "f", x=np.zeros(64, np.int32))
