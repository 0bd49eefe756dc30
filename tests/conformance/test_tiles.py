"""Tiles of two and three dimensions, powers of two and others, against NumPy."""
import numpy as np
import pytest

from harness import run

rng = np.random.default_rng(5)
SHAPES = [(16, 16, 1), (64, 32, 4), (24, 8, 4), (3, 64, 2), (192, 6, 8), (160, 4, 4), (1, 128, 4), (5, 7, 1),
          (96, 3, 32), (2, 576, 8)]


@pytest.mark.parametrize("m,n,num_warps", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_broadcasts(m, n, num_warps, dtype):
    x, row, col = (rng.integers(-50, 50, s).astype(dtype) for s in ((m, n), n, m))
    out = np.zeros((10, m, n), dtype)
    run("tiles.py", "broadcasts", num_warps=num_warps, x_ptr=x, row_ptr=row, col_ptr=col, out=out, M=m, N=n)
    c = col[:, None]
    full = np.zeros((m, n), dtype)
    expected = [x + row, x * c, row + c, row + full, c + full, np.where(row > c, x, 0), row - c, row + full, full + 7,
                x + 1]
    for k, want in enumerate(expected):
        np.testing.assert_array_equal(out[k], want.astype(dtype), err_msg=f"result {k}")


RESHAPES = [(16, 16, 32, 8, 1), (64, 32, 16, 128, 4), (24, 8, 8, 24, 4), (3, 64, 6, 32, 2), (192, 6, 12, 96, 8),
            (160, 4, 20, 32, 4), (5, 6, 3, 10, 1), (2, 576, 64, 18, 8), (128, 1, 1, 128, 4)]


@pytest.mark.parametrize("m,n,p,q,num_warps", RESHAPES)
@pytest.mark.parametrize("dtype", ["int32", "float16"])
def test_reshapes(m, n, p, q, num_warps, dtype):
    x = rng.permutation(m * n).reshape(m, n).astype(dtype)
    swapped, flat = np.zeros((n, m), dtype), np.zeros((2, m * n), dtype)
    other, back = np.zeros((2, p, q), dtype), np.zeros((3, m, n), dtype)
    run("tiles.py", "reshapes", num_warps=num_warps, x_ptr=x, swapped=swapped, flat=flat, other=other, back=back, M=m,
        N=n, P=p, Q=q)
    np.testing.assert_array_equal(swapped, x.T)
    np.testing.assert_array_equal(flat, [x.ravel(), x.ravel() + dtype_one(dtype)])
    np.testing.assert_array_equal(other, [x.reshape(p, q)] * 2)
    np.testing.assert_array_equal(back, [x, x.T.reshape(m, n), x])


def dtype_one(dtype):
    return np.array(1, dtype)


@pytest.mark.parametrize("a,b,c,num_warps", [(4, 8, 16, 4), (3, 5, 8, 1), (2, 6, 24, 8), (8, 1, 4, 2), (1, 3, 32, 4)])
def test_three_dimensions(a, b, c, num_warps):
    x = rng.integers(0, 1000, (a, b, c)).astype(np.int32)
    out = np.zeros((5, a * b * c), np.int32)
    run("tiles.py", "cube", num_warps=num_warps, x_ptr=x, out=out, A=a, B=b, C=c)
    np.testing.assert_array_equal(out[0].reshape(a, b, c), x + np.arange(a)[:, None, None] * 100)
    np.testing.assert_array_equal(out[1], x.transpose(2, 0, 1).ravel())
    np.testing.assert_array_equal(out[2], x.transpose(0, 2, 1).ravel())
    np.testing.assert_array_equal(out[3], x.ravel())
    lifted = np.broadcast_to(np.arange(c)[None, None, :] + np.arange(b)[None, :, None], (a, b, c))
    np.testing.assert_array_equal(out[4].reshape(a, b, c), lifted)


@pytest.mark.parametrize("M,N,m,n,stride,num_warps", [(16, 32, 11, 29, 37, 4), (24, 8, 23, 8, 8, 1), (3, 64, 2, 1, 70, 2),
                                                       (16, 16, 0, 16, 16, 4), (32, 48, 32, 47, 48, 8)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16"])
def test_masked(M, N, m, n, stride, num_warps, dtype):
    memory = rng.integers(0, 50, max(m * stride, 1) + N).astype(dtype)
    out = np.full((4, M, N), 77, dtype)
    run("tiles.py", "masked", num_warps=num_warps, x_ptr=memory, out=out, m=m, n=n, stride=stride, M=M, N=N)
    i, j = np.ogrid[:M, :N]
    inside = (i < m) & (j < n)
    x = np.where(inside, memory[np.where(inside, i * stride + j, 0)], -5)
    np.testing.assert_array_equal(out[0], x)
    np.testing.assert_array_equal(out[1], np.where(inside, x * 2, 77))
    rows = (i < m) & (j < N)
    np.testing.assert_array_equal(out[2], np.where(rows, memory[np.where(rows, i * stride + j, 0)], -6))
    np.testing.assert_array_equal(out[3], np.where(i < m, memory[j], 3))


@pytest.mark.parametrize("n,num_warps", [(192, 4), (160, 1), (24, 1), (576, 8), (96, 32), (1, 1), (3, 4), (1000, 4)])
def test_odd_lengths(n, num_warps):
    x = rng.integers(-1000, 1000, n).astype(np.int32)
    out = np.zeros((3, n), np.int32)
    run("tiles.py", "odd_line", num_warps=num_warps, x_ptr=x, out=out, N=n)
    i = np.arange(n)
    np.testing.assert_array_equal(out, [x * 2 + i, x[::-1], x[(i * 7) % n]])


def test_ranges():
    out = np.zeros(29, np.int32)
    run("tiles.py", "ranges", out=out)
    np.testing.assert_array_equal(out, [*range(5, 21), *range(-6, 6), 3])
