"""tle.radix_select on the emulator: results by NumPy and DLPack, and what is refused."""
import numpy as np
import pytest

import reference
import tle
from dlpack_producer import ArrayApiProducer, Producer

TYPES = ["float32", "float16", "float64", "int32", "uint32", "int64", "uint64"]


def keys(dtype="float32", rows=3, columns=700, seed=0):
    """Every bit pattern may come, so NaNs and infinities of floats and the limits of integers do."""
    return np.random.default_rng(seed).integers(0, 256, (rows, columns * np.dtype(dtype).itemsize),
                                                np.uint8).view(dtype)


def equal(got, want):
    """Bit for bit."""
    assert got.dtype == want.dtype and got.shape == want.shape
    unsigned = f"u{got.dtype.itemsize}"
    np.testing.assert_array_equal(np.ascontiguousarray(got).view(unsigned),
                                  np.ascontiguousarray(want).view(unsigned))


def check(got, want):
    for one, other in zip(got, want):
        assert (one is None) == (other is None)
        if one is not None:
            equal(one, other)


def refused(status, words, *args, **kwargs):
    with pytest.raises(tle.Error) as caught:
        tle.radix_select(*args, **kwargs)
    assert caught.value.status == status
    assert words in str(caught.value)


@pytest.mark.parametrize("sorted", [False, True])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
def test_equals_a_sort(emu, dtype, largest, sorted):
    x = keys(dtype)
    lengths = np.array([700, 20, -4], np.int32)
    got = tle.radix_select(x, 64, lengths=lengths, largest=largest, sorted=sorted, values=True, handle=emu)
    check(got, reference.radix_select(x, 64, lengths, largest, sorted))


def test_dependent(emu):
    """The emulator reports what such a call touches before it has waited."""
    x = np.random.default_rng(9).standard_normal((3, 9000)).astype(np.float32)
    check(tle.radix_select(x, 64, values=True, dependent=True, handle=emu), reference.radix_select(x, 64))
    x = x[:, :3000].astype(np.float16)
    got = tle.radix_select(x, 50, values=True, sorted=True, dependent=True, handle=emu)
    check(got, reference.radix_select(x, 50, sorted=True))


def test_indices_alone(emu):
    x = keys()
    got = tle.radix_select(x, 900, handle=emu)
    equal(got, reference.radix_select(x, 900)[0])
    equal(tle.radix_select(x[1], 9, sorted=True, handle=emu), reference.radix_select(x[1:2], 9, sorted=True)[0][0])


@pytest.mark.parametrize("dtype", ["int32", "float32", "uint64", "complex64"])
def test_payload(emu, dtype):
    x, payload = keys("int64"), keys(dtype, seed=3)
    got = tle.radix_select(x, 50, largest=False, sorted=True, payload=payload, handle=emu)
    assert got.values is None
    want = reference.radix_select(x, 50, None, False, True, payload)
    equal(got.indices, want[0])
    assert got.payload.dtype == payload.dtype and got.payload.tobytes() == want[2].tobytes()


def test_whole_rows_sorted(emu):
    x = keys("uint32", 2, 1000)
    got = tle.radix_select(x, 1000, largest=False, sorted=True, values=True, out=False, handle=emu)
    assert got.indices is None
    np.testing.assert_array_equal(got.values, np.sort(x, axis=1))


def test_strided_rows_and_outputs(emu):
    x, payload = keys("int32", 4)[:, 13:600], keys("uint64", 4, 650)[:, 7:594]
    out = [np.full((4, 64), 7, dtype) for dtype in ("int32", "int32", "uint64")]
    got = tle.radix_select(x, 20, payload=payload, out=out[0][:, 3:23], values=out[1][:, 2:22],
                           payload_out=out[2][:, 1:21], handle=emu)
    want = reference.radix_select(x, 20, payload=payload)
    for name, array, one, first in zip(got._fields, out, want, (3, 2, 1)):
        assert getattr(got, name).base is array
        equal(array[:, first:first + 20], one)
        assert (array[:, :first] == 7).all() and (array[:, first + 20:] == 7).all()


def test_empty_batches(emu):
    assert tle.radix_select(keys(rows=0), 4, handle=emu).shape == (0, 4)
    got = tle.radix_select(keys("int64", 2, 0), 3, largest=False, values=True, handle=emu)
    assert (got.indices == -1).all() and (got.values == np.iinfo(np.int64).max).all()


def bfloat16(rows, columns):
    """float32 values that bf16 holds, and their upper halves."""
    x = np.round(np.random.default_rng(5).standard_normal((rows, columns)) * 16).astype(np.float32)
    return x, (x.view(np.uint32) >> 16).astype(np.uint16)


def test_bfloat16_by_dlpack(emu):
    x, halves = bfloat16(3, 500)
    out, values = np.empty((3, 8), np.int32), np.empty((3, 8), np.uint16)
    given = Producer(halves, dtype=(4, 16))
    tle.radix_select(given, 8, sorted=True, out=Producer(out), values=Producer(values, dtype=(4, 16)), handle=emu)
    want = reference.radix_select(x, 8, sorted=True)
    np.testing.assert_array_equal(out, want[0])
    np.testing.assert_array_equal((values.astype(np.uint32) << 16).view(np.float32), want[1])


def test_dlpack_result_by_array_namespace(emu):
    x = keys("int64")
    got = tle.radix_select(ArrayApiProducer(x), 6, values=True, handle=emu)
    want = reference.radix_select(x, 6)
    np.testing.assert_array_equal(got.indices.array, want[0])
    np.testing.assert_array_equal(got.values.array, want[1])


def test_refusals(emu):
    x, bad = np.ones((3, 700), np.float32), tle.Status.INVALID_ARGUMENT
    refused(bad, "k is 0; the least is 1", x, 0, handle=emu)
    refused(tle.Status.UNSUPPORTED_SHAPE, "k is 8193; the most with sorted is 8192", x, 8193, sorted=True, handle=emu)
    refused(bad, "dtype is 0x8, which is no tle_dtype", x.astype(np.int8), 4, handle=emu)
    refused(bad, "keys has stride 2 in its last dimension", x[:, ::2], 4, handle=emu)
    refused(bad, "keys has 3 dimensions", x[None], 4, handle=emu)
    refused(bad, "lengths is int64; it must be int32", x, 4, lengths=np.ones(3, np.int64), handle=emu)
    refused(bad, "payload is int16; its elements must have 4 or 8 bytes", x, 4, payload=x.astype(np.int16), handle=emu)
    refused(bad, "payload has shape [3, 699]; it must have [3, 700]", x, 4, payload=x[:, 1:], handle=emu)
    refused(bad, "payload_out is given without payload", x, 4, payload_out=True, handle=emu)
    refused(bad, "payload_out is NULL", x, 4, payload=x, payload_out=False, handle=emu)
    refused(bad, "payload_out is int32; it must be float32", x, 4, payload=x, payload_out=np.zeros((3, 4), np.int32),
            handle=emu)
    refused(bad, "values is int32; it must be float32", x, 4, values=np.zeros((3, 4), np.int32), handle=emu)
    refused(bad, "indices, values and payload_out are NULL", x, 4, out=False, handle=emu)
    refused(bad, "out has shape [3, 5]; it must have [3, 4]", x, 4, out=np.empty((3, 5), np.int32), handle=emu)
    refused(bad, "values overlaps keys", x, 4, values=x[:, :4], handle=emu)
    frozen = np.empty((3, 4), np.float32)
    frozen.setflags(write=False)
    refused(bad, "values is read-only", x, 4, values=frozen, handle=emu)
    refused(bad, "keys has elements '<M8[ns]'", x[0, :5].astype("<M8[ns]"), 4, handle=emu)
    refused(bad, "handle is 'emu'; it must be a tle.Handle", x, 4, handle="emu")
    refused(tle.Status.UNSUPPORTED_SHAPE, "k is 9223372036854775807", x, (1 << 64) + 4, handle=emu)
    with pytest.raises(TypeError):
        tle.radix_select(x, 4.5, handle=emu)


def test_questions():
    with tle.Handle("none", arch="sm_90a") as none:
        assert none.supported("radix_select", rows=4, columns=9000, k=100, dtype="bfloat16", payload_bytes=8)
        support = none.supported("radix_select", rows=4, columns=9000, k=9000, sorted=True)
        assert support.status == tle.Status.UNSUPPORTED_SHAPE and "the most with sorted is 8192" in support.reason
        text = none.explain("radix_select", rows=4, columns=9000, k=100, dtype="int64", largest=False, sorted=True,
                            values=True, lengths=True)
        assert " dtype=i64 lengths=1 smallest=1 sorted=1 payload_bytes=0 " in text
        assert "chosen: radix_select__i64__sorted" in text
        assert {v.op for v in none.variants("radix_select")} == {"radix_select"}
