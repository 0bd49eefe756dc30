"""Atomics against NumPy: operations, types, returned values, contention, masks."""
import numpy as np
import pytest

from harness import Typed, bf16_bits, bf16_values, run

rng = np.random.default_rng(23)
INTS = ["int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("N,num_warps", [(64, 1), (128, 4), (96, 4), (16, 4)])
def test_integers(dtype, N, num_warps):
    low = 0 if dtype[0] == "u" else -1000
    n = N - 5
    p, x = rng.integers(low, 1000, (10, N)).astype(dtype), rng.integers(low, 1000, N).astype(dtype)
    p[7, ::2] = x[::2]
    before, old = p.copy(), np.full((10, N), 77, dtype)
    run("atomic.py", "integers", num_warps=num_warps, p=p, x_ptr=x, old=old, n=n, N=N)
    b, m = before, np.arange(N) < n
    one = np.array(1, dtype)
    expected = [b[0] + x, np.maximum(b[1], x), np.minimum(b[2], x), b[3] & x, b[4] | x, b[5] ^ x, x,
                np.where(b[7] == x, x + one, b[7]), np.where(m, b[8] + x, b[8]),
                np.where(m, np.maximum(b[9], np.array(5, dtype)), b[9])]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(p[row], want, err_msg=f"operation {row}")
        came = np.where(m, before[row], 77) if row > 7 else before[row]
        np.testing.assert_array_equal(old[row], came, err_msg=f"old value {row}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("N,num_warps", [(64, 1), (192, 4)])
def test_floats(dtype, N, num_warps):
    p, x = rng.normal(0, 3, (4, N)).astype(dtype), rng.normal(0, 3, N).astype(dtype)
    x[:4], p[:, :4] = [0.0, 1.0, -1.0, np.inf], [-2.0, -1.0, 3.0, 5.0]
    before, old, n = p.copy(), np.full((4, N), 77, dtype), N - 9
    run("atomic.py", "floats", num_warps=num_warps, p=p, x_ptr=x, old=old, n=n, N=N)
    m = np.arange(N) < n
    expected = [before[0] + x, np.maximum(before[1], x), np.where(m, np.minimum(before[2], x), before[2]), x]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(p[row], want, err_msg=f"operation {row}")
        np.testing.assert_array_equal(old[row], np.where(m | (row != 2), before[row], 77), err_msg=f"old value {row}")


def test_half_add():
    N = 64
    p, x = (rng.integers(-50, 50, N).astype(np.float16) for _ in range(2))
    want = p + x
    run("atomic.py", "half_add", p=p, x_ptr=x, N=N)
    np.testing.assert_array_equal(p, want)
    p, x = (bf16_bits(rng.integers(-50, 50, N)) for _ in range(2))
    want = bf16_values(p) + bf16_values(x)
    run("atomic.py", "half_add", p=Typed(p, "*bf16"), x_ptr=Typed(x, "*bf16"), N=N)
    np.testing.assert_array_equal(bf16_values(p), want)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("N,num_warps,programs", [(32, 1, 1), (256, 4, 3), (96, 2, 2), (16, 4, 2)])
def test_one_cell(dtype, N, num_warps, programs):
    low = 0 if dtype[0] == "u" else -100
    x = rng.integers(low, 100, N * programs).astype(dtype)
    p = rng.integers(0, 100, 8).astype(dtype)
    before = p.copy()
    run("atomic.py", "one_cell", grid=(programs,), num_warps=num_warps, p=p, x_ptr=x, N=N)
    odd = x[np.fmod(x, 2) == 1]
    expected = [before[0] + x.sum(), max(before[1], x.max()), min(before[2], x.min()),
                before[3] | np.bitwise_or.reduce(x), before[4] & np.bitwise_and.reduce(odd),
                before[5] ^ np.bitwise_xor.reduce(x), before[6] + (x > 50).sum().astype(dtype),
                before[7] + np.array(2 * N * programs, dtype)]
    np.testing.assert_array_equal(p, expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_cell_of_floats(dtype):
    x, p = rng.integers(-40, 40, 256).astype(dtype), np.zeros(1, dtype)
    source = """
import triton
import triton.language as tl


@triton.jit
def kernel(p, x_ptr, N: tl.constexpr):
    tl.atomic_add(p + tl.zeros((N,), tl.int32), tl.load(x_ptr + tl.arange(0, N)))
"""
    run(source, "kernel", p=p, x_ptr=x, N=256)
    assert p[0] == x.sum()


@pytest.mark.parametrize("kernel", ["append", "reserve"])
@pytest.mark.parametrize("N,num_warps,programs,limit", [(64, 1, 1, 50), (256, 4, 4, 50), (128, 8, 2, 100), (96, 4, 2, 0)])
def test_positions(kernel, N, num_warps, programs, limit):
    x = rng.integers(0, 100, N * programs).astype(np.int32)
    out, count = np.full(N * programs, -1, np.int32), np.zeros(1, np.int32)
    run("atomic.py", kernel, grid=(programs,), num_warps=num_warps, count_ptr=count, x_ptr=x, out=out, limit=limit, N=N)
    kept = np.sort(x[x < limit])
    assert count[0] == len(kept)
    np.testing.assert_array_equal(np.sort(out[:count[0]]), kept)
    assert (out[count[0]:] == -1).all()


@pytest.mark.parametrize("n,num_warps,spread", [(256, 4, 1), (256, 4, 3), (512, 8, 64), (96, 1, 7)])
def test_shared_bins(n, num_warps, spread):
    x, hist = rng.integers(0, spread, 2 * n).astype(np.int32), np.zeros(64, np.int32)
    run("atomic.py", "bins", grid=(2,), num_warps=num_warps, hist=hist, x_ptr=x, N=n)
    np.testing.assert_array_equal(hist, np.bincount(x, minlength=64))


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32"])
def test_scalars(num_warps, dtype):
    p, old = np.array([1, 2, 7, 4, 5, 60], dtype), np.full(8, 77, dtype)
    run("atomic.py", "scalars", num_warps=num_warps, p=p, old=old, k=33)
    np.testing.assert_array_equal(old, [1, 34, 2, 7, 33, 4, 77, 60])
    np.testing.assert_array_equal(p, [39, 33, 33, 33, 5, 33])


@pytest.mark.parametrize("num_warps", [1, 4])
def test_last_program_adds_up(num_warps):
    count, data, out = np.zeros(1, np.int32), np.zeros(8, np.int32), np.zeros(1, np.int32)
    run("atomic.py", "ticket", grid=(8,), num_warps=num_warps, count_ptr=count, data_ptr=data, out=out)
    assert count[0] == 8 and out[0] == sum(range(10, 18))


@pytest.mark.parametrize("m,n,num_warps", [(16, 16, 4), (24, 8, 1), (3, 64, 4)])
def test_rows_of_a_tile(m, n, num_warps):
    x, p = rng.integers(-9, 9, (m, n)).astype(np.int32), np.zeros(n + m, np.int32)
    run("atomic.py", "plane", num_warps=num_warps, p=p, x_ptr=x, M=m, N=n)
    np.testing.assert_array_equal(p, np.concatenate([x.sum(0), np.where(x > 0, x, 0).sum(1)]))
