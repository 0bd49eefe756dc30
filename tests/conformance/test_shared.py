"""Shared memory against NumPy. The emulator's checks for races and uninitialised reads are on, so a
missing barrier or two live buffers in one place fail here."""
import numpy as np
import pytest

from harness import Typed, bf16_bits, bf16_values, run

rng = np.random.default_rng(29)


@pytest.mark.parametrize("dtype", ["int8", "int16", "float16", "int32", "float32", "int64"])
@pytest.mark.parametrize("N,num_warps", [(64, 1), (192, 4), (256, 8), (16, 4)])
def test_views(dtype, N, num_warps):
    x = rng.integers(0, 100, N).astype(dtype)
    out = np.zeros((8, N), dtype)
    run("shared.py", "views", num_warps=num_warps, x_ptr=x, out=out, N=N)
    i = np.arange(N)
    changed = x.copy()
    changed[1] = x[2]
    expected = [x, x[::-1], np.full(N, x[3]), x, x[(i * 5) % N], changed, np.where(i >= 4, changed, 9),
                np.where(i < 2, i, changed)]
    for k, want in enumerate(expected):
        np.testing.assert_array_equal(out[k], want.astype(dtype), err_msg=f"result {k}")


@pytest.mark.parametrize("m,n,num_warps", [(16, 16, 1), (32, 64, 4), (24, 8, 4), (3, 64, 2), (192, 4, 8), (5, 7, 1)])
@pytest.mark.parametrize("dtype", ["int32", "float16"])
def test_planes(m, n, num_warps, dtype):
    x = rng.integers(0, 90, (m, n)).astype(dtype)
    out = np.zeros((4, m * n), dtype)
    run("shared.py", "planes", num_warps=num_warps, x_ptr=x, out=out, M=m, N=n)
    np.testing.assert_array_equal(out[0], x.ravel())
    np.testing.assert_array_equal(out[1], x[::-1, ::-1].ravel())
    np.testing.assert_array_equal(out[2], x.T.ravel())
    x[1, 2] = 99
    x[m - 1, 0] = x[0, 1]
    np.testing.assert_array_equal(out[3], x.ravel())


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
@pytest.mark.parametrize("N,n,num_warps", [(64, 40, 1), (256, 200, 4), (96, 96, 8)])
def test_masked_copies(dtype, N, n, num_warps):
    x = rng.integers(1, 90, N).astype(dtype)
    out = np.full((4, N), 77, dtype)
    run("shared.py", "masked_copies", num_warps=num_warps, x_ptr=x, out=out, n=n, N=N)
    i = np.arange(N)
    zeroed = np.where(i < n, x, 0)
    np.testing.assert_array_equal(out, [zeroed, np.where(i >= n - 3, zeroed, 77), np.where(i < n, 5, 6),
                                        np.where(i < n, x, 1)])


@pytest.mark.parametrize("N,num_warps", [(32, 1), (64, 4), (256, 8), (192, 4), (1024, 32)])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_hazards(N, num_warps, n):
    x = rng.integers(0, 50, N).astype(np.int32)
    out = np.zeros(N, np.int32)
    run("shared.py", "hazards", num_warps=num_warps, x_ptr=x, out=out, n=n, N=N)
    i, b = np.arange(N), x.copy()
    for k in range(n):
        b = b[(i + 1 + k) % N] + k
        b = (b * 3)[::-1]
    np.testing.assert_array_equal(out, b[(i * 7) % N])


@pytest.mark.parametrize("N,num_warps", [(64, 1), (256, 4), (160, 8)])
@pytest.mark.parametrize("n", [0, 2, 3, 5])
def test_branches(N, num_warps, n):
    x = rng.integers(0, 50, N).astype(np.int32)
    out = np.zeros(N, np.int32)
    run("shared.py", "branches", num_warps=num_warps, x_ptr=x, out=out, n=n, N=N)
    i, b = np.arange(N), x.copy()
    if n > 2:
        b[N - 1 - i] = i
    else:
        b[(i + 5) % N] = i * 2
    total = b[(i + 9) % N]
    for k in range(n, 0, -1):
        b[(i + k) % N] = total
        if k % 2 == 0:
            total = total + b[(i * 3) % N]
    np.testing.assert_array_equal(out, total)


@pytest.mark.parametrize("num_warps", [1, 4])
def test_scalar_cells(num_warps):
    x = rng.integers(-100, 100, (9, 128)).astype(np.int32)
    out = np.zeros(2, np.int32)
    run("shared.py", "scalar_cells", num_warps=num_warps, x_ptr=x, out=out, n=9, N=128)
    highs, best, count = x.max(1), -1000, 0
    for h in highs:
        if h > best:
            best, count = h, count + 1
    np.testing.assert_array_equal(out, [best, count])


@pytest.mark.parametrize("N,num_warps", [(64, 1), (256, 4), (512, 16), (192, 4)])
def test_reuse(N, num_warps):
    x = rng.integers(0, 3, N).astype(np.int32)
    first, out = x.copy(), np.zeros((5, N), np.int32)
    run("shared.py", "reuse", num_warps=num_warps, x_ptr=x, out=out, N=N)
    with np.errstate(over="ignore"):
        for k in range(6):
            x = (x + np.int32(k))[::-1]
            x = x + x.sum(dtype=np.int32)
        before = x.cumsum(dtype=np.int32) - x
    np.testing.assert_array_equal(out, [x, x[::-1], before, x[::-1].astype(np.int16), first[::-1]])


@pytest.mark.parametrize("N,num_warps", [(64, 1), (256, 4), (96, 4), (1024, 32)])
def test_atomics(N, num_warps):
    bins = 16
    x = rng.integers(0, bins, N).astype(np.int32)
    out, old = np.zeros(bins + 8, np.int32), np.full(N, -1, np.int32)
    run("shared.py", "atomics", num_warps=num_warps, x_ptr=x, out=out, old=old, N=N, BINS=bins)
    count = np.bincount(x, minlength=bins)
    np.testing.assert_array_equal(out[:bins], count + np.where(np.arange(bins) % 2 == 0, 100 * count, 0))
    kept = np.sort(x[x > 3])
    np.testing.assert_array_equal(out[bins:], [len(kept), x.max(), np.bitwise_or.reduce(x), 7, 8, 9, -x.max(),
                                               np.bitwise_xor.reduce(x)])
    np.testing.assert_array_equal(np.sort(old[:len(kept)]), kept)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "float64", "int64"])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_types(dtype, num_warps):
    N = 128
    x = rng.integers(0, 10, N).astype(dtype)
    out, flags = np.zeros(N, dtype), np.zeros(N, bool)
    run("shared.py", "types", num_warps=num_warps, x_ptr=x, out=out, flags=flags, N=N)
    np.testing.assert_array_equal(out, np.roll(x, -3) + np.array(1, dtype))
    np.testing.assert_array_equal(flags, np.roll(x > 5, -3))


def test_bf16():
    x, out, flags = bf16_bits(rng.integers(0, 10, 64)), np.zeros(64, np.uint16), np.zeros(64, bool)
    run("shared.py", "types", x_ptr=Typed(x, "*bf16"), out=Typed(out, "*bf16"), flags=flags, N=64)
    np.testing.assert_array_equal(bf16_values(out), np.roll(bf16_values(x), -3) + 1)


@pytest.mark.parametrize("num_warps", [1, 4, 8])
def test_barriers(num_warps):
    x, out = np.arange(256).astype(np.int32), np.zeros((2, 256), np.int32)
    run("shared.py", "barriers", num_warps=num_warps, x_ptr=x, out=out, N=256)
    np.testing.assert_array_equal(out, [x, x[::-1]])


@pytest.mark.parametrize("n", [0, 4])
@pytest.mark.parametrize("N,num_warps", [(32, 1), (192, 4)])
def test_returned(n, N, num_warps):
    x = rng.integers(0, 99, N).astype(np.int32)
    out = np.full(N + 3, 7, np.int32)
    run("shared.py", "returned", num_warps=num_warps, x_ptr=x, out=out, n=n, N=N)
    total = sum(int(x[1 + 2 * k]) * (k + 1) for k in range(n))
    np.testing.assert_array_equal(out, [x[1], total, *[0] * N, x[N - 1] if n > 3 else x[1]])


@pytest.mark.parametrize("n", [0, 1, 6])
@pytest.mark.parametrize("N,num_warps", [(32, 1), (96, 4), (512, 16)])
def test_ping_pong(n, N, num_warps):
    x = rng.integers(0, 99, N).astype(np.int32)
    out, i, b = np.zeros(N, np.int32), np.arange(N), x.copy()
    run("shared.py", "ping_pong", num_warps=num_warps, x_ptr=x, out=out, n=n, N=N)
    for k in range(n):
        b = b[(i + 1) % N] * 3 + b[(i * 5 + k) % N]
    np.testing.assert_array_equal(out, b)
