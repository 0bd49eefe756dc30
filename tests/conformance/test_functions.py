"""Functions of elements against NumPy, within the errors that PTX states for its approximations."""
from fractions import Fraction

import numpy as np
import pytest

from harness import errors, run

ONE = """
import triton
import triton.language as tl


@triton.jit
def kernel(p):
    i = tl.arange(0, 8)
    tl.store(p + i, tl.NAME(tl.load(p + i)))
"""

N = 256
rng = np.random.default_rng(3)


def error(got, want):
    """The largest relative error where the reference is finite and not zero; elsewhere they agree."""
    want = np.asarray(want, np.float64)
    plain = np.isfinite(want) & (want != 0)
    np.testing.assert_array_equal(got[~plain], want[~plain].astype(got.dtype))
    return np.max(np.abs(got[plain] - want[plain]) / np.abs(want[plain]), initial=0.0)


def test_unary():
    """exp and exp2 by ex2.approx, whose argument is rounded: an error that grows with |x|."""
    x = rng.uniform(-20, 20, N).astype(np.float32)
    x[:4] = [0, -0.5, 0.5, 19.999]
    p = np.exp(rng.uniform(-60, 60, N)).astype(np.float32)
    p[:2] = [1, 4]
    out = np.zeros((9, N), np.float32)
    run("functions.py", "unary", x_ptr=x, p_ptr=p, out=out, N=N)
    X, P = x.astype(np.float64), p.astype(np.float64)
    ulp = 2.0**-23
    wanted = [(np.exp(X), (2 + abs(X).max()) * ulp), (np.exp2(X), 2 * ulp), (np.sqrt(P), 2 * ulp),
              (1 / np.sqrt(P), 2 * ulp)]
    for row, (want, bound) in zip((0, 1, 4, 5), wanted):
        assert error(out[row], want) <= bound, f"function {row}"
    np.testing.assert_allclose(out[2], np.log(P), rtol=2 * ulp, atol=2.0**-22)
    np.testing.assert_allclose(out[3], np.log2(P), rtol=2 * ulp, atol=2.0**-22)
    for row, want in enumerate([np.floor(x), np.ceil(x), np.abs(x)]):
        np.testing.assert_array_equal(out[6 + row], want)


def test_double_precision():
    x, p = rng.uniform(-20, 20, N), np.exp(rng.uniform(-60, 60, N))
    out = np.zeros((6, N))
    run("functions.py", "double", x_ptr=x, p_ptr=p, out=out, N=N)
    exact = [float(Fraction(a) * Fraction(a) + Fraction(b)) for a, b in zip(x, p)]
    for row, want in enumerate([np.sqrt(p), np.sqrt(p), np.floor(x), np.ceil(x), abs(x), exact]):
        np.testing.assert_array_equal(out[row], want)


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "sin", "cos", "rsqrt"])
def test_no_approximation_in_double_precision(name):
    assert f"{name} needs float32, found float64" in errors(ONE.replace("NAME", name), "kernel", p=np.zeros(8))


def test_unary_edges():
    x = np.float32([np.inf, -np.inf, np.nan, 0, 200, -200, 88.0, -86] * (N // 8))
    p = np.float32([np.inf, 0, np.nan, 1, 2, 0.25, 3e38, 2e-38] * (N // 8))
    out = np.zeros((9, N), np.float32)
    run("functions.py", "unary", x_ptr=x, p_ptr=p, out=out, N=N)
    with np.errstate(all="ignore"):
        want = [np.exp(x), np.exp2(x), np.log(p), np.log2(p), np.sqrt(p), 1 / np.sqrt(p)]
    for row, w in enumerate(want):
        np.testing.assert_allclose(out[row], w, rtol=8e-6, atol=1e-37, err_msg=f"function {row}")


def test_single_precision():
    x, p = np.float32(rng.uniform(-30, 30, N)), np.float32(rng.uniform(0, 100, N))
    out = np.zeros((6, N), np.float32)
    run("functions.py", "single", x_ptr=x, p_ptr=p, out=out, N=N)
    X = x.astype(np.float64)
    np.testing.assert_allclose(out[0], np.sin(X), rtol=0, atol=4e-7)
    np.testing.assert_allclose(out[1], np.cos(X), rtol=0, atol=4e-7)
    np.testing.assert_array_equal(out[2], np.sqrt(p))
    np.testing.assert_allclose(out[3], 1 / (1 + np.exp(-X)), rtol=8e-6)
    np.testing.assert_array_equal(out[4], out[3])
    np.testing.assert_allclose(out[5], np.exp(X), rtol=8e-6)


def test_several():
    x, y, z = (np.float32(rng.normal(0, 2, N)) for _ in range(3))
    out = np.zeros((11, N), np.float32)
    run("functions.py", "several", x_ptr=x, y_ptr=y, z_ptr=z, out=out, N=N)
    exact = (x.astype(np.longdouble) * y + z).astype(np.float32)
    np.testing.assert_array_equal(out[0], exact)
    np.testing.assert_array_equal(out[1], np.clip(x, -1, 1))
    np.testing.assert_array_equal(out[2], np.clip(x, np.minimum(y, z), np.maximum(y, z)))
    np.testing.assert_array_equal(out[3], x / y)
    np.testing.assert_allclose(out[4], x / y, rtol=3e-7)
    np.testing.assert_array_equal(out[5], x / y)
    for row, want in enumerate([x + y, x - y, x * y, np.minimum(np.minimum(x, y), z), np.maximum(x, y)]):
        np.testing.assert_array_equal(out[6 + row], want)


@pytest.mark.parametrize("dtype", ["uint32", "int32", "uint64"])
def test_high_product(dtype):
    bits = np.dtype(dtype).itemsize * 8
    x, y = (rng.integers(0, 2**bits - 1, N, dtype=f"uint{bits}") for _ in range(2))
    out = np.zeros(N, dtype)
    run("functions.py", "high_product", x_ptr=x.view(dtype), y_ptr=y.view(dtype), out=out, N=N)
    np.testing.assert_array_equal(out.view(f"uint{bits}"),
                                  np.array([int(a) * int(b) >> bits for a, b in zip(x, y)], f"uint{bits}"))


@pytest.mark.parametrize("k", [3, 4])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_selections(k, dtype):
    x, y = (rng.normal(0, 2, N).astype(dtype) for _ in range(2))
    x[::7] = np.nan
    y[::5] = np.nan
    out = np.zeros((6, N), dtype)
    run("functions.py", "selections", x_ptr=x, y_ptr=y, out=out, k=k, N=N)
    i = np.arange(N)
    expected = [np.where(x > y, x, 0), np.where(x > y, 1, -1), x if k > 3 else y, np.where(np.isnan(x), 0, x),
                np.where((x > 0) & (y > 0) | (i == 3), x, y), np.where(~(x > 0), x, y)]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], want.astype(dtype), err_msg=f"result {row}")
