"""slot, subslice, reshape and aliases of shared buffers against NumPy."""
import numpy as np
import pytest

from harness import errors, run

FILE = "views.py"


@pytest.mark.parametrize("stages, n", [(2, 128), (3, 64), (4, 1)])
def test_slots(stages, n):
    x = np.random.default_rng(1).normal(size=(stages, n)).astype(np.float32)
    out = np.zeros_like(x)
    run(FILE, "slots", x=x, out=out, STAGES=stages, N=n)
    assert np.array_equal(out, x[::-1])


def test_slots_in_turns():
    x = np.arange(256, dtype=np.int32) * 10
    out = np.zeros_like(x)
    run(FILE, "slot_turns", x=x, out=out, rounds=5, N=256)
    assert np.array_equal(out, np.roll(x, -5) + 5)


def test_reshape():
    x = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)
    out = np.zeros((8, 16), np.float32)
    run(FILE, "reshaped", x=x, out=out, M=16, N=8)
    assert np.array_equal(out, x.T)


def test_subslices():
    x = np.arange(16 * 32, dtype=np.int32).reshape(16, 32)
    before = x.copy()
    rows, columns = np.zeros((8, 32), np.int32), np.zeros((8, 16), np.int32)
    run(FILE, "parts", x=x, rows=rows, columns=columns, M=16, N=32)
    assert np.array_equal(rows, before[8:])
    assert np.array_equal(columns, before[1:9, 8:24])
    before[:, 8:24] = 0
    assert np.array_equal(x, before)


def test_alias():
    x = np.random.default_rng(2).integers(0, 1 << 31, 64).astype(np.int32)
    out = np.zeros(128, np.uint16)
    run(FILE, "aliased", x=x, out=out, N=64)
    assert np.array_equal(out, x.view(np.uint16))


def test_copy_fills_masked_off_elements():
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    run(FILE, "copy_with_other", x=x, out=out, n=40, N=64)
    assert np.array_equal(out, np.where(np.arange(64) < 40, x, -np.inf).astype(np.float32))


@pytest.mark.parametrize("call, message", [
    ("b.slot(4)", "slot 4 is outside the 4 of"),
    ("b.slot(-1)", "slot -1 is outside the 4 of"),
    ("b.slot(0).slot(0)", "slot drops a dimension"),
    ("b.slot(tl.arange(0, 4))", "'stage' must be an integer scalar"),
    ("b.subslice(8, 16)", "8 to 24 is outside dimension 1"),
    ("b.subslice(0, 4).reshape([16])", "reshape needs memory without gaps"),
    ("b.reshape([3, 5])", "cannot reshape"),
    ("tle.gpu.alloc([8], tl.int32, alias=b, alias_offset_bytes=2)", "'alias_offset_bytes' must be a multiple of 4, found 2"),
    ("tle.gpu.alloc([64], tl.int32, alias=b, alias_offset_bytes=4)", "256 bytes from byte 4 do not fit the 256 bytes"),
    ("tle.gpu.alloc([8], tl.int32, alias=b, init_value=0)", "an alias takes no 'init_value'"),
    ("tle.gpu.alloc([8], tl.int32, alias=x)", "'alias' must be a buffer"),
])
def test_errors(call, message):
    source = ("import triton\nimport triton.language as tl\nimport triton.experimental.tle.language as tle\n\n"
              f"@triton.jit\ndef f(x):\n    b = tle.gpu.alloc([4, 16], tl.int32)\n    y = {call}\n    tl.store(x, 0)\n")
    assert message in errors(source, "f", x=np.zeros(64, np.int32))
