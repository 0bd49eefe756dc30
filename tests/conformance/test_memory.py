"""Loads and stores against NumPy: masks, scalars, offsets, booleans, alignment, hints, facts."""
import numpy as np
import pytest

from harness import Typed, run

rng = np.random.default_rng(13)
DTYPES = ["int8", "uint8", "int16", "float16", "int32", "float32", "int64", "float64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("N,n,num_warps", [(64, 37, 1), (192, 150, 4), (256, 256, 8)])
def test_masks(dtype, N, n, num_warps):
    x = rng.integers(1, 100, N).astype(dtype)
    out = np.full((8, N), 55, dtype)
    run("memory.py", "masks", num_warps=num_warps, x_ptr=x, out=out, n=n, N=N)
    i = np.arange(N)
    m = i < n
    back = np.where(i[::-1] < n, x[::-1], 9)
    expected = [np.where(m, x, 3), np.where(m, x, 55), np.where(m, x, x[1]), np.where(i % 3 == 1, x, 0),
                np.where(i >= 2, back, 55), x, np.full(N, 4), np.full(N, 55)]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], want, err_msg=f"result {row}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_warps", [1, 32])
def test_scalars(dtype, num_warps):
    x = rng.integers(1, 100, 16).astype(dtype)
    out = np.full(12, 55, dtype)
    run("memory.py", "scalars", num_warps=num_warps, x_ptr=x, out=out, n=5)
    np.testing.assert_array_equal(out, np.array([x[0], x[5] + x.dtype.type(1), 7, 11, 55, x[3], x[1], *[x[0]] * 4, 1], dtype))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("stride", [1, 3, 8])
def test_offsets(dtype, stride):
    N = 64
    x = rng.integers(0, 100, N * stride).astype(dtype)
    out = np.zeros((8, N), dtype)
    run("memory.py", "offsets", x_ptr=x, out=out, stride=stride, start=70, N=N)
    want = x[::stride]
    for row in range(8):
        np.testing.assert_array_equal(out[row], want[::-1] if row == 1 else want, err_msg=f"result {row}")


@pytest.mark.parametrize("bits", [8, 16])
def test_narrow_offsets(bits):
    N = 256
    x = rng.integers(0, 1000, 256).astype(np.int32)
    signed = np.arange(-128, 128).astype(f"int{bits}")
    unsigned = np.arange(256)[::-1].astype(f"uint{bits}")
    out = np.zeros((2, N), np.int32)
    run("memory.py", "narrow_offsets", x_ptr=x, signed_ptr=signed, unsigned_ptr=unsigned, out=out, N=N)
    np.testing.assert_array_equal(out, [x, x[::-1]])


@pytest.mark.parametrize("num_warps", [1, 4])
def test_booleans(num_warps):
    N = 64
    f = rng.integers(0, 2, N).astype(bool)
    out = np.zeros((5, N), bool)
    run("memory.py", "booleans", num_warps=num_warps, flag_ptr=f, out=out, N=N)
    i = np.arange(N)
    expected = [~f, f & (i > 3), np.where(i < 5, f, True), i != 0, np.where(f, i > 7, i < 7)]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], want, err_msg=f"result {row}")
    assert set(np.unique(out.view(np.uint8))) <= {0, 1}


def test_any_nonzero_byte_is_true():
    f = np.arange(64).astype(np.uint8)
    out = np.zeros((5, 64), bool)
    run("memory.py", "booleans", flag_ptr=Typed(f, "*i1"), out=out, N=64)
    np.testing.assert_array_equal(out[0], f == 0)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_hints(dtype, num_warps):
    N = 256
    x = rng.integers(0, 100, N).astype(dtype)
    out = np.zeros((8, N), dtype)
    run("memory.py", "hints", num_warps=num_warps, x_ptr=x, out=out, n=200, N=N)
    np.testing.assert_array_equal(out[0], np.where(np.arange(N) < 200, x, 0))
    for row in range(1, 8):
        np.testing.assert_array_equal(out[row], x, err_msg=f"result {row}")


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("aligned", [False, True])
def test_alignment(dtype, shift, aligned):
    """Pointers without a promise may start anywhere; promised ones are wide."""
    n, N = 1000, 256
    memory, target = rng.integers(0, 100, n + 8).astype(dtype), np.zeros(n + 8, dtype)
    x, out = memory[shift:shift + n], target[shift:shift + n]
    if aligned:
        if shift or memory.ctypes.data % 16 or target.ctypes.data % 16:
            pytest.skip("not aligned")
        x, out = (Typed(a, f"*{s}:16") for a, s in ((x, code(dtype)), (out, code(dtype))))
    run("memory.py", "copy_line", grid=(4,), x_ptr=x, out=out, n=n, N=N)
    np.testing.assert_array_equal(target[shift:shift + n], memory[shift:shift + n])
    assert not target[:shift].any() and not target[shift + n:].any()


def code(dtype):
    return {"int8": "i8", "float16": "fp16", "float32": "fp32", "int64": "i64"}[dtype]


@pytest.mark.parametrize("num_warps", [1, 4])
def test_facts(num_warps):
    N, n, stride = 128, 3, 160
    memory = rng.normal(0, 1, n * stride + 4).astype(np.float32)
    x = memory[(-memory.ctypes.data // 4) % 4:][:n * stride]  # a 16-byte boundary
    out = np.zeros((n + 1, N), np.float32)
    run("memory.py", "facts", num_warps=num_warps, x_ptr=x, out=out, n=n, stride=stride, N=N)
    np.testing.assert_array_equal(out[:n], x.reshape(n, stride)[:, :N])
    np.testing.assert_array_equal(out[n], x[np.arange(N) // 4])


def test_stores_and_loads_keep_their_order():
    x = rng.integers(0, 10, 128).astype(np.int32)
    want = x.copy()
    run("memory.py", "aliases", x_ptr=x, n=5, N=128)
    for k in range(5):
        want = want * 2 + k
    np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize("a,b", [("float32", "int32"), ("int8", "float64")])
def test_element_types(a, b):
    x, out = np.arange(16).astype(a), np.zeros(16, b)
    run("memory.py", "kinds", x_ptr=x, out=out)
    np.testing.assert_array_equal(out, np.arange(16))
