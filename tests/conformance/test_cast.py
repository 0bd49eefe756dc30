"""Conversions against NumPy: every pair of types, edges whose result is defined, bit patterns."""
import numpy as np
import pytest

from harness import Typed, bf16_bits, bf16_values, run

N = 128
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
rng = np.random.default_rng(11)


def integer_outputs():
    short = {"i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
             "u32": "uint32", "u64": "uint64", "b1": "bool"}
    return {name: np.zeros(N, dtype) for name, dtype in short.items()}


def float_outputs():
    return {"f16": np.zeros(N, np.float16), "b16": Typed(np.zeros(N, np.uint16), "*bf16"),
            "f32": np.zeros(N, np.float32), "f64": np.zeros(N, np.float64)}


def edges(dtype):
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, N, dtype=dtype, endpoint=True)
    x[:6] = [info.min, info.max, 0, 1, info.max - 1, info.max // 2]
    return x


@pytest.mark.parametrize("dtype", INTS)
def test_integer_to_integer(dtype):
    """Wraps when narrowed, keeps the value by the source's sign when widened."""
    x, out = edges(dtype), integer_outputs()
    run("cast.py", "to_integers", x_ptr=x, N=N, **out)
    for name, got in out.items():
        np.testing.assert_array_equal(got, x != 0 if name == "b1" else x.astype(got.dtype), err_msg=name)


def check_floats(x, out, values):
    np.testing.assert_array_equal(out["f16"], values.astype(np.float16), err_msg="f16")
    np.testing.assert_array_equal(bf16_values(out["b16"].value), bf16_values(bf16_bits(np.float32(values))),
                                  err_msg="b16")
    np.testing.assert_array_equal(out["f32"], x.astype(np.float32), err_msg="f32")
    np.testing.assert_array_equal(out["f64"], x.astype(np.float64), err_msg="f64")


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_integer_to_float(dtype):
    """fp32 and fp64 over the whole range; the halves where one rounding is all there is."""
    x, out = edges(dtype), float_outputs()
    run("cast.py", "to_floats", x_ptr=x, N=N, **out)
    np.testing.assert_array_equal(out["f32"], x.astype(np.float32))
    np.testing.assert_array_equal(out["f64"], x.astype(np.float64))
    x, out = (x % np.array(1000).astype(dtype)) if dtype not in ("int8", "uint8") else x, float_outputs()
    run("cast.py", "to_floats", x_ptr=x, N=N, **out)
    check_floats(x, out, x.astype(np.float32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_float_to_integer(dtype):
    """Towards zero, for values that every type holds."""
    values = np.float16(rng.uniform(0, 127, N))
    values[:6] = [0, 0.5, 0.999, 1, 126.9, 1.5]
    x = Typed(bf16_bits(np.float32(values)), "*bf16") if dtype == "bfloat16" else values.astype(dtype)
    plain = bf16_values(x.value) if dtype == "bfloat16" else x
    out = integer_outputs()
    run("cast.py", "to_integers", x_ptr=x, N=N, **out)
    for name, got in out.items():
        want = plain != 0 if name == "b1" else np.trunc(plain).astype(got.dtype)
        np.testing.assert_array_equal(got, want, err_msg=name)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_negative_and_wide_float_to_integer(dtype):
    x, out = rng.uniform(-100, 0, N).astype(dtype), integer_outputs()
    x[:4] = [-0.0, -0.99, -1.0, -99.5]
    run("cast.py", "to_integers", x_ptr=x, N=N, **out)
    for name in ("i8", "i16", "i32", "i64"):
        np.testing.assert_array_equal(out[name], np.trunc(x).astype(out[name].dtype), err_msg=name)
    x, out = np.full(N, 2.0**40, dtype) + np.arange(N) * dtype_step(dtype), integer_outputs()
    x = x.astype(dtype)
    run("cast.py", "to_integers", x_ptr=x, N=N, **out)
    np.testing.assert_array_equal(out["i64"], x.astype(np.int64))
    np.testing.assert_array_equal(out["u64"], x.astype(np.uint64))
    assert out["b1"].all()


def dtype_step(dtype):
    return 2.0**17 if dtype == "float32" else 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_float_to_float(dtype):
    """To nearest even; too large is infinite, NaN stays NaN, subnormals count."""
    wide = np.float32(rng.normal(0, 1, N) * 2.0 ** rng.integers(-30, 17, N))
    wide[:10] = [0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519, 65520, 1 + 2.0**-11, 1 + 3 * 2.0**-11]
    wide[10:14] = [2.0**-24, 2.0**-25, 1.5 * 2.0**-25, -(2.0**-24)]
    wide[14:18] = [1 + 2.0**-8, 1 + 3 * 2.0**-8, 3.38e38, 1e-40]
    if dtype == "bfloat16":
        x = Typed(bf16_bits(wide), "*bf16")
        plain = bf16_values(x.value)
    else:
        x = plain = wide.astype(dtype)
    out = float_outputs()
    run("cast.py", "to_floats", x_ptr=x, N=N, **out)
    check_floats(plain, out, plain.astype(np.float32))
    signs = np.signbit(plain) == np.signbit(out["f64"])
    assert (signs | np.isnan(plain)).all()


def test_float64_rounds_once():
    x = np.float64([1 + 2.0**-24 + 2.0**-50, 1 + 2.0**-24, 1e300, -1e300, 1e-46, 1 + 2.0**-11 + 2.0**-40] * 22)[:N]
    out = float_outputs()
    run("cast.py", "to_floats", x_ptr=x, N=N, **out)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(out["f32"], x.astype(np.float32))
        np.testing.assert_array_equal(out["f16"], x.astype(np.float16))


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint8", "float64"])
def test_stores_cast(dtype):
    x = rng.integers(0, 100, N).astype(dtype)
    out = {"i8": np.zeros(N, np.int8), "i64": np.zeros(N, np.int64), "u16": np.zeros(N, np.uint16),
           "f16": np.zeros(N, np.float16), "f32": np.zeros(N, np.float32)}
    run("cast.py", "stores_cast", x_ptr=x, N=N, **out)
    for name, got in out.items():
        np.testing.assert_array_equal(got, x.astype(got.dtype), err_msg=name)


@pytest.mark.parametrize("a,b", [("float32", "int32"), ("float32", "uint32"), ("uint32", "float32"),
                                 ("float16", "int16"), ("int16", "float16"), ("float64", "int64"), ("uint64", "float64"),
                                 ("int8", "uint8")])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_bitcast(a, b, num_warps):
    """Every bit pattern, NaNs included, comes back as it went."""
    word = f"uint{np.dtype(a).itemsize * 8}"
    x = rng.integers(0, np.iinfo(word).max, N, dtype=word, endpoint=True)
    bits, back = np.zeros(N, b), np.zeros(N, a)
    if "float" in b:  # ^ applies to integers
        a, b, x, bits, back = b, a, x, back, bits
        bits, back = np.zeros(N, b), np.zeros(N, a)
    run("cast.py", "bits_there_and_back", num_warps=num_warps, x_ptr=x.view(a), bits=bits, back=back, N=N)
    np.testing.assert_array_equal(bits.view(word), x)
    np.testing.assert_array_equal(back.view(word), x ^ np.array(1, word))


def test_bitcast_of_bf16():
    x = rng.integers(0, 65536, N).astype(np.uint16)
    bits, back = np.zeros(N, np.int16), Typed(np.zeros(N, np.uint16), "*bf16")
    run("cast.py", "bits_there_and_back", x_ptr=Typed(x, "*bf16"), bits=bits, back=back, N=N)
    np.testing.assert_array_equal(bits.view(np.uint16), x)
    np.testing.assert_array_equal(back.value, x ^ 1)


def quantised(x, mantissa, smallest, largest):
    """Nearest value with `mantissa` fraction bits, exponents from `smallest`, clamped to `largest`."""
    x = np.float64(x)
    _, e = np.frexp(np.where(x == 0, 1, x))
    step = 2.0 ** (np.maximum(e - 1, smallest) - mantissa)
    return np.clip(np.rint(x / step) * step, -largest, largest)


def test_fp8():
    x = np.float32(rng.normal(0, 1, N) * 2.0 ** rng.integers(-12, 18, N))
    x[:6] = [0, 448, 464, 480, 1e6, -1e6]
    e4, e5 = np.zeros(N, np.float32), np.zeros(N, np.float32)
    run("cast.py", "fp8", x_ptr=x, e4=e4, e5=e5, N=N)
    np.testing.assert_array_equal(e4, quantised(x, 3, -6, 448.0))
    np.testing.assert_array_equal(e5, quantised(x, 2, -14, 57344.0))


def test_rounding_towards_zero():
    x = np.float32(rng.normal(0, 100, N))
    f16, b16 = np.zeros(N, np.float16), Typed(np.zeros(N, np.uint16), "*bf16")
    run("cast.py", "towards_zero", x_ptr=x, f16=f16, b16=b16, N=N)
    np.testing.assert_array_equal(b16.value, (x.view(np.uint32) >> 16).astype(np.uint16))
    nearest = x.astype(np.float16)
    away = np.abs(nearest.astype(np.float32)) > np.abs(x)
    np.testing.assert_array_equal(f16, np.where(away, np.nextafter(nearest, np.float16(0)), nearest))


def test_pointer_to_another_type():
    x = rng.integers(-2**31, 2**31, N // 2).astype(np.int32)
    out = np.zeros(N, np.int16)
    run("cast.py", "pointers", x_ptr=x, out=out, N=N)
    np.testing.assert_array_equal(out, x.view(np.int16))


@pytest.mark.parametrize("num_warps", [1, 4])
def test_fp8_in_memory(num_warps):
    x = np.float32(rng.normal(0, 10, N))
    e4, e5, out = np.zeros(N, np.uint8), np.zeros(N, np.uint8), np.zeros((2, N), np.float32)
    run("cast.py", "fp8_memory", num_warps=num_warps, x_ptr=x, e4_ptr=Typed(e4, "*fp8e4nv"), e5_ptr=Typed(e5, "*fp8e5"),
        out=out, N=N)
    np.testing.assert_array_equal(out, [quantised(x, 3, -6, 448.0)[::-1], quantised(x, 2, -14, 57344.0)[::-1]])
    assert (e4 >> 7 == np.signbit(x)).all() and (e5 >> 7 == np.signbit(x)).all()
