"""Scans and histograms against NumPy."""
import numpy as np
import pytest

from harness import Typed, bf16_bits, bf16_values, run

rng = np.random.default_rng(19)
LINES = [(1, 1), (32, 1), (64, 1), (24, 4), (192, 4), (1024, 4), (160, 8), (1024, 32), (2048, 8), (33, 1), (1000, 4),
         (4096, 16), (8192, 8)]


def check_line(x, plain, result, num_warps, tolerance=0):
    n = len(plain)
    out, total = np.zeros((5, n), result), np.zeros(2, result)
    run("scan.py", "line", num_warps=num_warps, x_ptr=x, out=out, total_ptr=total, N=n)
    wide = plain.astype(np.float64 if plain.dtype.kind == "f" else result)
    forward, backward = wide.cumsum(), wide[::-1].cumsum()[::-1]
    for k, want in enumerate([forward, backward, forward - wide, backward - wide, forward]):
        np.testing.assert_allclose(out[k], want.astype(result), rtol=0, atol=tolerance, err_msg=f"result {k}")
    np.testing.assert_allclose(total, np.array([wide.sum()] * 2).astype(result), rtol=0, atol=tolerance)


@pytest.mark.parametrize("n,num_warps", LINES)
def test_line_shapes(n, num_warps):
    x = rng.integers(-1000, 1000, n).astype(np.int32)
    check_line(x, x, np.int32, num_warps)


@pytest.mark.parametrize("dtype,result", [("int8", "int32"), ("uint8", "uint32"), ("int16", "int32"), ("uint16", "uint32"),
                                          ("uint32", "uint32"), ("int64", "int64"), ("float32", "float32"),
                                          ("float64", "float64"), ("float16", "float16")])
@pytest.mark.parametrize("n,num_warps", [(256, 4), (96, 1)])
def test_line_types(dtype, result, n, num_warps):
    low = 0 if dtype[0] == "u" else -100
    x = (rng.integers(0, 4, n) if dtype == "float16" else rng.integers(low, 100, n)).astype(dtype)
    check_line(x, x, result, num_warps)


def test_line_of_fractions():
    x = rng.normal(0, 1, 512).astype(np.float32)
    check_line(x, x, np.float32, 4, 1e-4)


def test_line_bf16():
    x = bf16_bits(rng.integers(-20, 20, 128))
    check_line(Typed(x, "*bf16"), bf16_values(x), np.float32, 4)


@pytest.mark.parametrize("dtype", ["int32", "float32", "int64"])
@pytest.mark.parametrize("n,num_warps", [(32, 1), (192, 4)])
def test_products(dtype, n, num_warps):
    x = rng.choice([-1, 1, 1, 1], n).astype(dtype)
    x[rng.integers(0, n, 10)] *= 2
    out = np.zeros((2, n), dtype)
    run("scan.py", "products", num_warps=num_warps, x_ptr=x, out=out, N=n)
    np.testing.assert_array_equal(out, [x.cumprod(dtype=dtype), x[::-1].cumprod(dtype=dtype)[::-1]])


@pytest.mark.parametrize("rows,warps", [(8, 4), (4, 16), (1, 1), (3, 2)])
def test_flags(rows, warps):
    x = rng.integers(-1, 2, (rows, warps, 32)).astype(np.int32)
    out = np.zeros((3, rows, warps, 32), np.int32)
    run("scan.py", "flags", num_warps=warps, x_ptr=x, out=out, R=rows, W=warps)
    hit = (x > 0).astype(np.int32)
    along, row = hit.cumsum(2), hit.sum(2)
    np.testing.assert_array_equal(out[0], along - hit + (row.cumsum(0) - row)[:, :, None])
    np.testing.assert_array_equal(out[1], along)
    np.testing.assert_array_equal(out[2], hit[:, :, ::-1].cumsum(2)[:, :, ::-1] * 1000 + row.sum(0)[:, None])


@pytest.mark.parametrize("m,n,num_warps", [(16, 16, 1), (32, 64, 4), (24, 8, 4), (3, 64, 2), (192, 4, 8), (4, 160, 4),
                                           (64, 32, 32), (1, 128, 4), (5, 6, 1)])
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_axes(m, n, num_warps, dtype):
    x = rng.integers(-50, 50, (m, n)).astype(dtype)
    out = np.zeros((7, m, n), dtype)
    run("scan.py", "axes", num_warps=num_warps, x_ptr=x, out=out, M=m, N=n)
    down, along = x.cumsum(0, dtype=dtype), x.cumsum(1, dtype=dtype)
    expected = [down, along, x[::-1].cumsum(0, dtype=dtype)[::-1], x[:, ::-1].cumsum(1, dtype=dtype)[:, ::-1],
                down.cumsum(1, dtype=dtype), along - x + x.sum(1, dtype=dtype)[:, None], down - x - x.sum(0, dtype=dtype)]
    for k, want in enumerate(expected):
        np.testing.assert_array_equal(out[k], want, err_msg=f"result {k}")


@pytest.mark.parametrize("n,num_warps", [(32, 1), (192, 4), (512, 8), (24, 2), (1024, 32)])
def test_user_functions(n, num_warps):
    x = rng.choice([0.5, 1, 2, -1], n).astype(np.float32)
    y = rng.normal(0, 1, n).astype(np.float32)
    out = np.zeros((5, n), np.float32)
    run("scan.py", "user", num_warps=num_warps, x_ptr=x, y_ptr=y, out=out, N=n)
    np.testing.assert_array_equal(out[0], np.maximum.accumulate(x))
    for row, reverse in ((1, False), (3, True)):
        a, b = (x[::-1], y[::-1]) if reverse else (x, y)
        scale, shift, want = np.float64(1), np.float64(0), np.zeros((3, n))
        size = np.float64(0)
        for k in range(n):
            scale, shift = scale * a[k], shift * a[k] + b[k]
            size = size * abs(a[k]) + abs(b[k])  # what rounding errors are relative to
            want[:, k] = scale, shift, size
        if reverse:
            want = want[:, ::-1]
        np.testing.assert_array_equal(out[row], want[0].astype(np.float32))
        assert (abs(out[row + 1] - want[1]) <= 1e-5 * want[2]).all()


@pytest.mark.parametrize("n,num_warps", [(64, 1), (768, 4), (1024, 16)])
@pytest.mark.parametrize("limit", [-1, 50, 101])
def test_compaction(n, num_warps, limit):
    x = rng.integers(0, 100, n).astype(np.int32)
    out, count = np.full(n, -1, np.int32), np.zeros(1, np.int32)
    run("scan.py", "compact", num_warps=num_warps, x_ptr=x, out=out, count_ptr=count, limit=limit, N=n)
    kept = x[x < limit]
    assert count[0] == len(kept)
    np.testing.assert_array_equal(out, np.concatenate([kept, np.full(n - len(kept), -1)]))


@pytest.mark.parametrize("num_warps", [1, 8])
def test_running_base(num_warps):
    x = rng.integers(0, 100, (6, 256)).astype(np.int32)
    out = np.zeros(6 * 256 + 1, np.int32)
    run("scan.py", "in_loop", num_warps=num_warps, x_ptr=x, out=out, n=6, N=256)
    np.testing.assert_array_equal(out, np.concatenate([[0], x.ravel().cumsum()]))


@pytest.mark.parametrize("n,bins,num_warps", [(64, 16, 1), (1024, 256, 4), (192, 48, 8), (512, 2048, 4), (1000, 10, 4),
                                              (256, 1, 4), (2048, 128, 32)])
@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_histogram(n, bins, num_warps, dtype):
    x = rng.integers(0, min(bins, 256), n).astype(dtype)
    plain, masked = np.zeros(bins, np.int32), np.zeros(bins, np.int32)
    run("scan.py", "histograms", num_warps=num_warps, x_ptr=x, plain=plain, masked=masked, n=n - 7, N=n, BINS=bins)
    np.testing.assert_array_equal(plain, np.bincount(x, minlength=bins))
    np.testing.assert_array_equal(masked, np.bincount(x[:n - 7], minlength=bins))


def test_histogram_leaves_out_what_has_no_bin():
    x = np.arange(-16, 48).astype(np.int32)
    plain, masked = np.zeros(32, np.int32), np.zeros(32, np.int32)
    run("scan.py", "histograms", x_ptr=x, plain=plain, masked=masked, n=20, N=64, BINS=32)
    np.testing.assert_array_equal(plain, np.ones(32))
    np.testing.assert_array_equal(masked, np.arange(32) < 4)
