"""`tle run radix` and `tle explain radix`: files of every element type, against a sort by NumPy."""
import numpy as np
import pytest

import reference
from test_cli import save, tle


def keys(dtype, rows=3, columns=500, seed=1):
    bits = np.random.default_rng(seed).integers(0, 256, (rows, columns * np.dtype(dtype).itemsize), np.uint8)
    return bits.view(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32", "uint32", "int64", "uint64"])
def test_values(tmp_path, dtype):
    x, out, values = keys(dtype), tmp_path / "out.npy", tmp_path / "values.npy"
    lengths = np.array([500, 20, -1])
    result = tle("run", "radix", "--keys", save(tmp_path, "x.npy", x), "--k", 40, "--smallest", "--sorted",
                 "--lengths", save(tmp_path, "l.npy", lengths), "--values", values, "--out", out, "--verify",
                 "--device", "emu")
    assert "equals a sort's" in result.stderr and "radix_select__" in result.stderr
    want = reference.radix_select(x, 40, lengths, largest=False, sorted=True)
    np.testing.assert_array_equal(np.load(out), want[0])
    assert np.load(values).dtype == x.dtype and np.load(values).tobytes() == want[1].tobytes()


@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_payload(tmp_path, dtype):
    x, payload, out = keys("int32"), keys(dtype, seed=2), tmp_path / "payload.npy"
    tle("run", "radix", "--keys", save(tmp_path, "x.npy", x), "--k", 40, "--verify", "--device", "emu",
        "--payload", save(tmp_path, "p.npy", payload), "--payload-out", out, "--out", tmp_path / "out.npy")
    want = reference.radix_select(x, 40, payload=payload)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), want[0])
    assert np.load(out).dtype == payload.dtype and np.load(out).tobytes() == want[2].tobytes()


def test_bfloat16(tmp_path):
    x = np.array([3, -1, 4, 1, -5, 9], np.float32)
    path = save(tmp_path, "x.npy", (x.view(np.uint32) >> 16).astype(np.uint16))
    result = tle("run", "radix", "--keys", path, "--dtype", "bf16", "--k", 3, "--sorted", "--device", "emu", "--verify")
    assert result.stdout == "5 2 0\n"
    refused = tle("run", "radix", "--keys", path, "--k", 3, "--device", "emu", status=1)
    assert "or '<u2' with --dtype bf16" in refused.stderr
    refused = tle("run", "radix", "--keys", path, "--dtype", "i32", "--k", 3, "--device", "emu", status=1)
    assert "the keys are '<u2'; those of --dtype i32 are '<i4'" in refused.stderr


@pytest.mark.parametrize("array, words", [
    (np.zeros((3, 499), np.int32), "the shape of the payload is not that of the keys"),
    (np.zeros(500, np.int32), "the shape of the payload is not that of the keys"),
    (np.zeros((3, 500), np.uint8), "the elements are '|u1'; they must have 4 or 8 bytes"),
])
def test_payload_refused(tmp_path, array, words):
    refused = tle("run", "radix", "--keys", save(tmp_path, "x.npy", keys("int32")), "--k", 4, "--payload",
                  save(tmp_path, "p.npy", array), "--payload-out", tmp_path / "out.npy", "--device", "emu", status=1)
    assert words in refused.stderr


def test_explain():
    text = tle("explain", "radix", "--dtype", "bf16", "--rows", 4, "--columns", 5000, "--k", 600, "--smallest",
               "--align", 2, "--payload-bytes", 8).stdout
    assert text.startswith("radix_select for sm_90a: rows=4 columns=5000 k=600 align=2 dtype=bf16 lengths=0 smallest=1 "
                           "sorted=0 payload_bytes=8 ")
    assert text.splitlines()[-1].startswith("chosen: radix_select__bf16__")
    assert "__i64__sorted__" in tle("explain", "radix", "--dtype", "i64", "--columns", 512, "--k", 9,
                                    "--sorted").stdout.splitlines()[-1]
    refused = tle("explain", "radix", "--columns", 9, "--k", 9, "--payload-bytes", 3, status=1).stdout
    assert refused == "refused: payload_bytes is 3; it is 0, 4 or 8\n"


def test_list_and_info():
    assert "radix_select__f32__" in tle("list", "radix_select").stdout
    assert tle("list", "radix").stdout == tle("list", "radix_select").stdout
    assert "radix_select " in tle("info").stdout and "topk_select " in tle("info").stdout
