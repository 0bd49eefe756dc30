"""tle.topk_select on the emulator: results by NumPy and DLPack, and what is refused."""
import array
import os
import pickle
import threading

import numpy as np
import pytest

import reference
import tle
from dlpack_producer import ArrayApiProducer, Producer
from tle import _dlpack


def scores(rows=3, columns=1000, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)


def refused(status, words, *args, **kwargs):
    with pytest.raises(tle.Error) as caught:
        tle.topk_select(*args, **kwargs)
    assert caught.value.status == status
    assert words in str(caught.value)


@pytest.mark.parametrize("k", [1, 5, 512, 1500])
def test_equals_a_sort(emu, k):
    x = scores(seed=k)
    x[0, ::7] = np.nan
    x[1] = np.round(x[1])
    got = tle.topk_select(x, k, handle=emu)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, reference.topk_select(x, k))


def test_lengths_and_starts(emu):
    x = scores(6)
    lengths = np.array([1000, 0, -3, 17, 5000, 400], np.int32)
    starts = np.array([0, 5, 0, 990, 1, 2000], np.int32)
    got = tle.topk_select(x, 20, lengths=lengths, row_starts=starts, handle=emu)
    np.testing.assert_array_equal(got, reference.topk_select(x, 20, lengths, starts))


def test_one_dimension(emu):
    x = scores(1)[0]
    np.testing.assert_array_equal(tle.topk_select(x, 9, handle=emu), reference.topk_select(x[None], 9)[0])


def test_strided_rows_and_out(emu):
    wide = scores(4, 700)
    x = wide[:, 13:600]
    out = np.full((4, 64), -7, np.int32)
    assert tle.topk_select(x, 20, out=out[:, 3:23], handle=emu).base is out
    np.testing.assert_array_equal(out[:, 3:23], reference.topk_select(x, 20))
    assert (out[:, :3] == -7).all() and (out[:, 23:] == -7).all()


def values_at(x, indices, starts=None):
    """The scores that relative indices name; -inf for -1."""
    got = np.full(indices.shape, -np.inf, np.float32)
    for r, row in enumerate(indices):
        start = 0 if starts is None else starts[r]
        got[r, row >= 0] = x[r, start + row[row >= 0]]
    return got


def test_sorted_values(emu):
    x = np.round(scores(3, 800), 1)
    x[0, ::9] = np.nan
    got = tle.topk_select(x, 1000, sorted=True, values=True, handle=emu)
    key = np.where(np.isnan(x), -np.inf, -x.astype(np.float64))
    want = np.full((3, 1000), -1, np.int32)
    want[:, :800] = np.argsort(key, axis=1, kind="stable")
    np.testing.assert_array_equal(got.indices, want)
    assert got.values.dtype == np.float32 and got.raw_indices is None
    np.testing.assert_array_equal(got.values, values_at(x, want))


def test_half_precision(emu):
    x = scores(3, 1000).astype(np.float16)
    x[0, ::9] = np.nan
    got = tle.topk_select(x, 100, values=True, handle=emu)
    want = reference.topk_select(x, 100)
    np.testing.assert_array_equal(got.indices, want)
    assert got.values.dtype == np.float16
    np.testing.assert_array_equal(got.values, values_at(x, want).astype(np.float16))


def test_bfloat16_bits(emu):
    """NumPy has no such type: its upper half of a float32 in uint16."""
    bits = (scores(3, 1000).view(np.uint32) >> 16).astype(np.uint16)
    x = (bits.astype(np.uint32) << 16).view(np.float32)
    got = tle.topk_select(bits, 100, dtype="bfloat16", values=True, handle=emu)
    want = reference.topk_select(x, 100)
    np.testing.assert_array_equal(got.indices, want)
    assert got.values.dtype == np.uint16
    np.testing.assert_array_equal((got.values.astype(np.uint32) << 16).view(np.float32), values_at(x, want))
    np.testing.assert_array_equal(tle.topk_select(bits, 100, dtype=tle.DType.BFLOAT16, handle=emu), want)
    bad = tle.Status.INVALID_ARGUMENT
    refused(bad, "scores is float32, whose size is not that of bfloat16", x, 4, dtype="bfloat16", handle=emu)
    refused(bad, "dtype is 'half'; it must be", x, 4, dtype="half", handle=emu)
    refused(bad, "dtype is 0x110, which is no tle_dtype", bits, 4, handle=emu)


def test_ml_dtypes(emu):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = scores(2, 500).astype(ml_dtypes.bfloat16)
    got = tle.topk_select(x, 50, values=True, handle=emu)
    want = reference.topk_select(x.astype(np.float32), 50)
    np.testing.assert_array_equal(got.indices, want)
    assert got.values.dtype == x.dtype
    np.testing.assert_array_equal(got.values.astype(np.float32), values_at(x.astype(np.float32), want))


@pytest.mark.parametrize("k", [4097, 8191, 8192])
def test_large_k(emu, k):
    x = scores(1, 9000, seed=k)
    np.testing.assert_array_equal(tle.topk_select(x, k, dependent=True, handle=emu), reference.topk_select(x, k))


def test_values_alone(emu):
    x, out = scores(2), np.full((2, 40), 7, np.float32)
    got = tle.topk_select(x, 30, out=False, values=out[:, :30], handle=emu)
    assert got.indices is None and got.values.base is out
    np.testing.assert_array_equal(out[:, :30], values_at(x, reference.topk_select(x, 30)))
    assert (out[:, 30:] == 7).all()


def test_absolute_and_offsets(emu):
    x, starts, offsets = scores(3), np.array([0, 990, 7], np.int32), np.array([100, -5, 1 << 20], np.int32)
    plain = reference.topk_select(x, 50, row_starts=starts)
    absolute = np.where(plain < 0, -1, plain + starts[:, None])
    got = tle.topk_select(x, 50, row_starts=starts, index_base="absolute", handle=emu)
    np.testing.assert_array_equal(got, absolute)
    got = tle.topk_select(x, 50, row_starts=starts, index_base=tle.IndexBase.ABSOLUTE, offsets=offsets,
                          raw_indices=True, handle=emu)
    np.testing.assert_array_equal(got.raw_indices, absolute)
    np.testing.assert_array_equal(got.indices, np.where(plain < 0, -1, absolute + offsets[:, None]))


def test_pages_and_next_n(emu):
    x, lengths = scores(6), np.array([0, 40, 900], np.int32)
    pages = np.random.default_rng(1).integers(0, 5000, (4, 17)).astype(np.int32)
    each = np.repeat(lengths, 2) - 1 + np.tile([0, 1], 3)
    plain = reference.topk_select(x, 64, each)
    got = tle.topk_select(x, 64, lengths=lengths, next_n=2, page_table=pages[:, :16], page_size=64, handle=emu)
    for r, row in enumerate(plain):
        want = pages[r // 2, row // 64] * 64 + row % 64
        np.testing.assert_array_equal(got[r], np.where(row < 0, -1, want))
    tables = np.array([3, 0, 4, -1, 2, 2], np.int32)
    got = tle.topk_select(x, 64, page_table=pages, page_size=64, row_to_table=tables, handle=emu)
    assert (got[2:4] == -1).all()
    row = reference.topk_select(x, 64)[0]
    np.testing.assert_array_equal(got[0], pages[3, row // 64] * 64 + row % 64)


def test_forms_refused(emu):
    x, bad = scores(), tle.Status.INVALID_ARGUMENT
    table = np.zeros((3, 16), np.int32)
    refused(bad, "index_base is 'middle'; it must be", x, 4, index_base="middle", handle=emu)
    refused(bad, "page_table is given without page_size", x, 4, page_table=table, handle=emu)
    refused(bad, "page_size is 48", x, 4, page_table=np.zeros((3, 30), np.int32), page_size=48,
            handle=emu)
    refused(bad, "page_table has 16 pages a table; 1000 columns need 32", x, 4, page_table=table, page_size=32,
            handle=emu)
    refused(bad, "page_size is 9223372036854775807", x, 4, page_table=table, page_size=(1 << 64) + 64, handle=emu)
    refused(tle.Status.UNSUPPORTED_SHAPE, "next_n is 9223372036854775807", x, 4, next_n=(1 << 64) + 1, handle=emu)
    refused(bad, "page_table has 1 dimensions", x, 4, page_table=table[0], page_size=64, handle=emu)
    refused(bad, "page_tables is 2; the least is 3", x, 4, page_table=table[:2], page_size=64, handle=emu)
    refused(bad, "next_n is -1", x, 4, next_n=-1, handle=emu)
    refused(bad, "indices is NULL", x, 4, out=False, handle=emu)
    refused(bad, "offsets has shape [2]; it must have [3]", x, 4, offsets=np.zeros(2, np.int32), handle=emu)
    refused(bad, "values is int32; it must be float32", x, 4, values=np.zeros((3, 4), np.int32), handle=emu)


def test_one_row_repeated(emu):
    x = np.broadcast_to(scores(1)[0], (3, 1000))
    np.testing.assert_array_equal(tle.topk_select(x, 8, handle=emu), reference.topk_select(x, 8))


def test_read_only_input_and_empty_batch(emu):
    x = scores(2)
    x.setflags(write=False)
    np.testing.assert_array_equal(tle.topk_select(x, 4, handle=emu), reference.topk_select(x, 4))
    assert tle.topk_select(scores(0), 4, handle=emu).shape == (0, 4)
    np.testing.assert_array_equal(tle.topk_select(scores(2, 0), 2, handle=emu), np.full((2, 2), -1))


def test_environment_names_the_emulator(monkeypatch):
    monkeypatch.setenv("TLE_DEVICE", "emu")
    x = scores(1)
    np.testing.assert_array_equal(tle.topk_select(x, 3), reference.topk_select(x, 3))
    assert tle.default_handle() is tle.default_handle("emu")
    monkeypatch.delenv("TLE_DEVICE")
    refused(tle.Status.INVALID_ARGUMENT, "scores is in host memory", x, 3)


# ---- DLPack ----

@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("strides", [True, False])
def test_dlpack(emu, versioned, strides):
    x, out = scores(), np.empty((3, 6), np.int32)
    lengths = np.array([10, 1000, 3], np.int32)
    given, result = Producer(x, versioned, strides=strides), Producer(out, versioned, strides=strides)
    got = tle.topk_select(given, 6, lengths=Producer(lengths, versioned), out=result, handle=emu)
    assert got is result
    np.testing.assert_array_equal(out, reference.topk_select(x, 6, lengths))
    assert given.calls == [{"max_version": (1, 1)}] if versioned else [{}]


def test_dlpack_result_by_array_namespace(emu):
    x = scores()
    got = tle.topk_select(ArrayApiProducer(x), 6, handle=emu)
    np.testing.assert_array_equal(got.array, reference.topk_select(x, 6))


def test_dlpack_refusals(emu):
    x, out = scores(), np.empty((3, 6), np.int32)
    bad = tle.Status.INVALID_ARGUMENT
    refused(bad, "no array namespace", Producer(x), 6, handle=emu)
    refused(bad, "out is read-only", x, 6, out=Producer(out, flags=_dlpack.READ_ONLY), handle=emu)
    refused(bad, "out is read-only", x, 6, out=Producer(out, flags=_dlpack.IS_COPIED), handle=emu)
    refused(bad, "it is DLPack 2.0", Producer(x, version=(2, 0)), 6, out=out, handle=emu)
    refused(bad, "vectors of 4", Producer(x, lanes=4), 6, out=out, handle=emu)
    refused(bad, "scores is on cuda:1; the handle's device takes cpu", Producer(x, device=(2, 1)), 6,
            out=out, handle=emu)
    refused(bad, "scores is on DLPack device 8:0", Producer(x, device=(8, 0)), 6, out=out, handle=emu)


@pytest.mark.parametrize("stream,asked", [(None, 1), (0, 1), (2, 2), (77, 77)])
def test_dlpack_stream(emu, stream, asked):
    """GPU memory is asked for in the stream it will be used in; 0 is not allowed there, 1 says the same."""
    given = Producer(scores(), device=(2, 0))
    refused(tle.Status.INVALID_ARGUMENT, "scores is on cuda:0", given, 6, stream=stream, handle=emu)
    assert given.calls == [{"max_version": (1, 1), "stream": asked}]


# ---- refusals ----

def test_refusals(emu):
    x = scores()
    bad = tle.Status.INVALID_ARGUMENT
    refused(bad, "k is 0; the least is 1", x, 0, handle=emu)
    refused(bad, "k is -5; the least is 1", x, -5, handle=emu)
    refused(tle.Status.UNSUPPORTED_SHAPE, "the most is 8192", x, 10**30, handle=emu)
    refused(tle.Status.UNSUPPORTED_DTYPE, "scores are TLE_DTYPE_FLOAT32", x.astype(np.float64), 4, handle=emu)
    refused(bad, "has stride 2 in its last dimension", x[:, ::2], 4, handle=emu)
    refused(bad, "stride -1000 from row to row", x[::-1], 4, handle=emu)
    refused(bad, "3 dimensions", x[None], 4, handle=emu)
    refused(bad, "scores is list", x.tolist(), 4, handle=emu)
    refused(bad, "elements '>f4'", x.astype(">f4"), 4, handle=emu)
    refused(bad, "lengths is int64; it must be int32", x, 4, lengths=np.ones(3, np.int64), handle=emu)
    refused(bad, "lengths has shape [2]; it must have [3]", x, 4, lengths=np.ones(2, np.int32), handle=emu)
    refused(bad, "row_starts has stride 2", x, 4, row_starts=np.ones(6, np.int32)[::2], handle=emu)
    refused(bad, "out has shape [3, 5]; it must have [3, 4]", x, 4, out=np.empty((3, 5), np.int32), handle=emu)
    refused(bad, "out is float32", x, 4, out=np.empty((3, 4), np.float32), handle=emu)
    frozen = np.empty((3, 4), np.int32)
    frozen.setflags(write=False)
    refused(bad, "out is read-only", x, 4, out=frozen, handle=emu)
    refused(bad, "indices overlaps scores", x, 4, out=x.view(np.int32)[:, :4], handle=emu)
    refused(bad, "stream is str", x, 4, stream="main", handle=emu)
    with pytest.raises(TypeError):
        tle.topk_select(x, 4.5, handle=emu)
    with pytest.raises(tle.Error):
        tle.topk_select(array.array("f", [1, 2]), 1, handle=emu)


def test_error_is_one_class_with_status():
    error = tle.Error(tle.Status.NO_VARIANT, "a sentence", 7)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.status, str(copy), copy.native) == (tle.Status.NO_VARIANT, "a sentence", 7)
    assert tle.Error(999, "from a newer library").status == 999


def test_streams_by_protocol():
    class Protocol:
        def __cuda_stream__(self):
            return 0, 42

    class Torch:
        cuda_stream = 43

    class Cupy:
        ptr = 44
    from tle._arrays import stream_number
    assert [stream_number(s) for s in (None, 5, Protocol(), Torch(), Cupy())] == [None, 5, 42, 43, 44]


# ---- threads and processes ----

def test_threads_share_a_handle(emu):
    x = scores(2, 3000)
    expected = reference.topk_select(x, 50)
    errors = []

    def work():
        for _ in range(3):
            if not np.array_equal(tle.topk_select(x, 50, handle=emu), expected):
                errors.append("wrong")
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors


def test_default_handles_are_one_per_device():
    made = []
    threads = [threading.Thread(target=lambda: made.append(tle.default_handle("emu"))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(made) == 8 and len(set(map(id, made))) == 1


def test_a_forked_child_makes_its_own():
    parent = tle.default_handle("emu").pointer
    child = os.fork()
    if child == 0:
        x = scores(1)
        own = tle.default_handle("emu")
        right = np.array_equal(tle.topk_select(x, 5, handle=own), reference.topk_select(x, 5))
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert tle.default_handle("emu").pointer == parent
