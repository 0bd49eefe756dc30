"""Operators against NumPy, and result types against Triton's documented promotion rules."""
import numpy as np
import pytest

from harness import Typed, bf16_bits, bf16_values, compile_kernel, run
from numpy_language import kind, promoted

N = 128
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
rng = np.random.default_rng(7)


def int_values(dtype, n=N):
    info = np.iinfo(dtype)
    edges = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3], dtype=dtype)
    small = rng.integers(max(info.min, -100), 100, n // 4, dtype=dtype)
    wide = rng.integers(info.min, info.max, n - n // 4 - len(edges), dtype=dtype, endpoint=True)
    return rng.permutation(np.concatenate([edges, small, wide]))


def truncating(x, y):
    """Quotient and remainder as C has them, exactly, in Python integers."""
    q = [abs(int(a)) // abs(int(b)) * (1 if (int(a) < 0) == (int(b) < 0) else -1) for a, b in zip(x, y)]
    r = [int(a) - b * int(c) for a, b, c in zip(x, q, y)]
    return q, r


def wrap(values, dtype):
    bits = np.dtype(dtype).itemsize * 8
    unsigned = np.array([int(v) & ((1 << bits) - 1) for v in values], dtype=f"uint{bits}")
    return unsigned.view(dtype)


def shifted(x, s, bits, left):
    """Amounts of the width and beyond shift everything out."""
    if left:
        return [int(a) << int(b) if b < bits else 0 for a, b in zip(x, s)]
    return [int(a) >> int(b) for a, b in zip(x, s)]


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("num_warps", [1, 4])
def test_integers(dtype, num_warps):
    bits = np.dtype(dtype).itemsize * 8
    x, y = int_values(dtype), int_values(dtype)
    y[y == 0] = 5
    y[(x == np.iinfo(dtype).min) & (y == wrap([-1], dtype)[0])] = 3  # overflows, so undefined
    y[::9] = x[::9]
    y[y == 0] = 7
    s = rng.integers(0, bits + 4, N).astype(dtype)
    out, flags = np.zeros((16, N), dtype), np.zeros((6, N), np.int8)
    run("arith.py", "integers", num_warps=num_warps, x_ptr=x, y_ptr=y, s_ptr=s, out=out, flags=flags, N=N)
    X, Y = [int(v) for v in x], [int(v) for v in y]
    q, r = truncating(x, y)
    expected = [[a + b for a, b in zip(X, Y)], [a - b for a, b in zip(X, Y)], [a * b for a, b in zip(X, Y)], q, r,
                [a & b for a, b in zip(X, Y)], [a | b for a, b in zip(X, Y)], [a ^ b for a, b in zip(X, Y)],
                shifted(x, s, bits, True), shifted(x, s, bits, False), [-a for a in X], [~a for a in X],
                [abs(a) for a in X], [min(a, b) for a, b in zip(X, Y)], [max(a, b) for a, b in zip(X, Y)],
                [a if a < b else b + 1 for a, b in zip(X, Y)]]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], wrap(want, dtype), err_msg=f"result {row}")
    for row, want in enumerate([x == y, x != y, x < y, x <= y, x > y, x >= y]):
        np.testing.assert_array_equal(flags[row], want, err_msg=f"comparison {row}")


@pytest.mark.parametrize("dtype", INTS)
def test_integer_constants(dtype):
    x = int_values(dtype)
    out = np.zeros((12, N), dtype)
    run("arith.py", "constants", x_ptr=x, out=out, N=N)
    X = [int(v) for v in x]
    by7, by8, by16 = ([c] * N for c in (7, 8, 16))
    wide = wrap([a + 3 for a in X], dtype)  # cdiv(x, 4) is (x + 3) // 4 in the type of x
    expected = [[a + 3 for a in X], [100 - a for a in X], [5 * a for a in X], truncating(x, by7)[0],
                truncating(x, by7)[1], [a >> 3 for a in X], [a << 2 for a in X], truncating(x, by8)[0],
                truncating(x, by16)[1], [a & 0x55 for a in X], [a * 8 for a in X], truncating(wide, [4] * N)[0]]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], wrap(want, dtype), err_msg=f"result {row}")


@pytest.mark.parametrize("dtype", INTS[:4])
def test_signed_constants(dtype):
    x = int_values(dtype)
    x[x == np.iinfo(dtype).min] += 1  # its quotient by -1 is undefined
    out = np.zeros((9, N), dtype)
    run("arith.py", "signed_constants", x_ptr=x, out=out, N=N)
    of = {c: truncating(x, [c] * N) for c in (-7, -8, -16)}
    odd = truncating([100] * N, x | 1)[0]
    expected = [of[-7][0], of[-7][1], of[-8][0], of[-16][1], x, [0] * N, odd, [-int(a) for a in x], [-4 * int(a) for a in x]]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], wrap(want, dtype), err_msg=f"result {row}")


@pytest.mark.parametrize("dtype", INTS)
def test_integer_identities(dtype):
    x, bits = int_values(dtype), np.dtype(dtype).itemsize * 8
    out = np.zeros((15, N), dtype)
    run("arith.py", "identities", x_ptr=x, out=out, N=N)
    X = [int(a) for a in x]
    zero = [0] * N
    expected = [X, X, [-a for a in X], zero, X, zero, X, [2 * a for a in X], X, [15 * a for a in X], X, X, X, X, X]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], wrap(want, dtype), err_msg=f"result {row}")
    out = np.zeros((11, N), dtype)
    run("arith.py", "bit_identities", x_ptr=x, out=out, N=N)
    there = [int(a) >> 3 for a in wrap([a << 3 for a in X], dtype)]
    halves = [r // 4 if r >= 0 else -(-r // 4) for r in truncating(x, [8] * N)[1]]
    byte = [int(a) + int(b) for a, b in zip(x.astype(np.int8), x.astype(np.uint8))]
    expected = [X, [2 * a for a in X], [2 * a for a in X], there, [a >> 3 << 3 for a in X], X, [a & 4 for a in X],
                [h + 4 * q for h, q in zip(halves, truncating(x, [4] * N)[0])],
                [(6 * k + 3) // 3 + (4 * k + 2) % 4 for k in range(N)], byte, [a + (a != 0) for a in X]]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], wrap(want, dtype), err_msg=f"bits {row} of {bits}")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_float_identities(dtype):
    """Signed zeros, infinities, NaN and rounding survive simplification."""
    x = float_values().astype(dtype)
    out = np.full((15, N), 55, dtype)
    run("arith.py", "identities", x_ptr=x, out=out, N=N)
    t = x.dtype.type
    high = np.fmax(x, t(0))
    expected = [x + t(0), x - t(0), t(0) - x, x * t(0), x, x - x, t(0) - (t(0) - x), x * t(2), (x + t(3)) - t(3),
                (x * t(3)) * t(5), (x + high) - high, np.where(x == x, x, 7), np.where(x != x, 8, x), x + t(0), (x + x) - x]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(out[row], want.astype(dtype), err_msg=f"result {row}")
        plain = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(out[row])[plain], np.signbit(want.astype(dtype))[plain],
                                      err_msg=f"sign of result {row}")


FLOATS = ["float16", "bfloat16", "float32", "float64"]


def float_values(n=N):
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 100.0, -3.25])
    return rng.permutation(np.concatenate([special, np.float16(rng.normal(0, 8, n - len(special)))]))


def to_device(values, dtype):
    if dtype == "bfloat16":
        return Typed(bf16_bits(np.float32(values)), "*bf16")
    return values.astype(dtype)


def empty(shape, dtype):
    return Typed(np.zeros(shape, np.uint16), "*bf16") if dtype == "bfloat16" else np.zeros(shape, dtype)


def host(array):
    """Values of a device array in a type NumPy computes with."""
    return bf16_values(array.value) if isinstance(array, Typed) else array


def rounded(values, dtype):
    return bf16_values(bf16_bits(np.float32(values))) if dtype == "bfloat16" else np.asarray(values).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("num_warps", [1, 8])
@pytest.mark.filterwarnings("ignore:.*encountered in")
def test_floats(dtype, num_warps):
    x, y = to_device(float_values(), dtype), to_device(float_values(), dtype)
    out, flags = empty((12, N), dtype), np.zeros((6, N), np.int8)
    run("arith.py", "floats", num_warps=num_warps, x_ptr=x, y_ptr=y, out=out, flags=flags, N=N)
    X, Y, got = host(x), host(y), host(out)
    wide = np.float64 if dtype == "float64" else np.float32
    A, B = X.astype(wide), Y.astype(wide)
    expected = [A + B, A - B, A * B, -A, abs(A), np.fmin(A, B), np.fmax(A, B), np.minimum(A, B), np.maximum(A, B),
                np.where(A < B, A, B), A + wide(0.5), A * wide(2)]
    for row, want in enumerate(expected):
        np.testing.assert_array_equal(got[row], rounded(want, dtype), err_msg=f"result {row}")
    for row, want in enumerate([X == Y, X != Y, X < Y, X <= Y, X > Y, X >= Y]):
        np.testing.assert_array_equal(flags[row], want, err_msg=f"comparison {row}")


@pytest.mark.parametrize("dtype", FLOATS)
def test_divisions(dtype):
    x, y = (to_device(np.float16(rng.uniform(0.5, 90, N) * rng.choice([-1, 1], N)), dtype) for _ in range(2))
    result = "float64" if dtype == "float64" else "float32"
    out = np.zeros((4, N), result)
    run("arith.py", "divisions", x_ptr=x, y_ptr=y, out=out, N=N)
    A, B = host(x).astype(result), host(y).astype(result)
    close = {"rtol": 3e-7 if result == "float32" else 1e-15}  # div.full.f32 is within 2 ulp
    np.testing.assert_allclose(out[0], A / B, **close)
    np.testing.assert_allclose(out[1], np.fmod(A, B), rtol=0, atol=float(np.finfo(result).eps) * 100)
    np.testing.assert_allclose(out[2], A / 3, **close)
    np.testing.assert_allclose(out[3], 1 / A, **close)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders_beside_multiples(dtype):
    """The quotient rounds to a whole number that is too large; infinite divisors leave the dividend."""
    y = rng.uniform(0.1, 50, N).astype(dtype)
    x = np.nextafter((y * rng.integers(1, 5000, N)).astype(dtype), np.array(0, dtype)) * rng.choice([-1, 1], N).astype(dtype)
    y[:3], x[3] = [np.inf, -np.inf, np.inf], 0
    y *= rng.choice([-1, 1], N).astype(dtype)
    out = np.zeros((4, N), dtype)
    with np.errstate(divide="ignore"):
        run("arith.py", "divisions", x_ptr=x, y_ptr=y, out=out, N=N)
    np.testing.assert_array_equal(out[1], np.fmod(x, y))


# --- types ---

TL = {"int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
      "uint32": "u32", "uint64": "u64", "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}


def unsigned(t):
    return t.startswith("u") or t == "int1"


def checks(lines, body, a, b, names):
    lines.append(f"    tl.static_assert(({body}).dtype == tl.{names}, '{a} and {b}: {body}')")


def test_result_types():
    """Every pair of types under every operator, in one kernel of static assertions."""
    params = ", ".join(f"p_{t}" for t in TL)
    lines = ["import triton", "import triton.language as tl", "", "", "@triton.jit", f"def kernel({params}):"]
    lines += [f"    {t} = tl.load(p_{t} + tl.arange(0, 8))" for t in TL]
    for a in TL:
        for b in TL:
            both_int = kind(a) < 2 and kind(b) < 2
            t = promoted(a, b)
            for op in "+-*":
                checks(lines, f"{a} {op} {b}", a, b, t)
            checks(lines, f"{a} < {b}", a, b, "int1")
            checks(lines, f"tl.where(int1, {a}, {b})", a, b, t)
            if both_int:
                for op in ("&", "|", "^", "<<", ">>"):
                    checks(lines, f"{a} {op} {b}", a, b, t)
            if not both_int or unsigned(a) == unsigned(b):
                checks(lines, f"{a} / {b}", a, b, "float32" if both_int else promoted(a, b, True))
                checks(lines, f"{a} % {b}", a, b, t if both_int else promoted(a, b, True))
            if both_int and unsigned(a) == unsigned(b):
                checks(lines, f"{a} // {b}", a, b, t)
    for t in TL:  # numbers: of the same or a lower kind they adopt the tensor's type
        for number in ("True", "1", "1.5"):
            k = {"True": 0, "1": 1, "1.5": 2}[number]
            default = {"True": "int1", "1": "int32", "1.5": "float32"}[number]
            want = t if k <= kind(t) else promoted(t, default) if k != kind(t) else t
            checks(lines, f"{t} + {number}", t, number, want)
            checks(lines, f"{number} * {t}", t, number, want)
    args = {f"p_{t}": Typed(None, "*" + s) for t, s in TL.items()}
    compile_kernel("\n".join(lines) + "\n", "kernel", args)


PAIRS = [("int8", "uint8"), ("int8", "int16"), ("uint8", "int32"), ("int16", "uint64"), ("int32", "uint32"),
         ("int32", "float16"), ("int64", "float32"), ("uint32", "int64"), ("float16", "float32"),
         ("float32", "float64"), ("int8", "float64")]


@pytest.mark.parametrize("a,b", PAIRS)
def test_mixed_values(a, b):
    t = promoted(a, b)
    low = 0 if "u" in a + b else -90
    x, y = rng.integers(low, 100, N).astype(a), rng.integers(low, 100, N).astype(b)
    total, product, flags = np.zeros(N, t), np.zeros(N, t), np.zeros(N, np.int8)
    run("arith.py", "mixed", a_ptr=x, b_ptr=y, out_sum=total, out_product=product, flags=flags, N=N)
    np.testing.assert_array_equal(total, x.astype(t) + y.astype(t))
    np.testing.assert_array_equal(product, x.astype(t) * y.astype(t))
    np.testing.assert_array_equal(flags, x.astype(t) < y.astype(t))


def test_unsigned_comparison_of_signs():
    """A signed operand of equal width becomes unsigned, so -1 is the largest value."""
    x, y = np.full(N, -1, np.int32), np.full(N, 5, np.uint32)
    total, product, flags = np.zeros(N, np.uint32), np.zeros(N, np.uint32), np.zeros(N, np.int8)
    run("arith.py", "mixed", a_ptr=x, b_ptr=y, out_sum=total, out_product=product, flags=flags, N=N)
    assert (total == 4).all() and (product == 2**32 - 5).all() and not flags.any()


def test_augmented_assignment():
    x = rng.integers(0, 10000, N).astype(np.int32)
    out = np.zeros(N, np.int32)
    run("arith.py", "augmented", x_ptr=x, out=out, k=11, N=N)
    want = [((((((((a + 11) * 3 - 2) // 2) ^ 0x1234) | 1) & 0xFFFF) << 3) >> 1) % 1000 for a in x.tolist()]
    np.testing.assert_array_equal(out, want)
