"""join, split, interleave, cat, extract_tile and insert_tile against NumPy."""
import numpy as np
import pytest

from harness import errors, run

FILE = "joins.py"
TYPES = [np.int8, np.int32, np.float16, np.float32, np.int64]
SHAPES = [(4, 64), (32, 2), (1, 512)]


def pair(dtype, shape):
    rng = np.random.default_rng(1)
    return [rng.integers(-100, 100, shape).astype(dtype) for _ in range(2)]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_join_and_split(dtype, shape):
    x, y = pair(dtype, shape)
    both = np.zeros((*shape, 2), dtype)
    run(FILE, "join_rows", x=x, y=y, out=both, M=shape[0], N=shape[1])
    assert np.array_equal(both, np.stack([x, y], axis=-1))
    first, second = np.zeros_like(x), np.zeros_like(x)
    run(FILE, "split_rows", x=both, first=first, second=second, M=shape[0], N=shape[1])
    assert np.array_equal(first, x) and np.array_equal(second, y)


@pytest.mark.parametrize("shape", SHAPES)
def test_interleave(shape):
    x, y = pair(np.int32, shape)
    out = np.zeros((shape[0], 2 * shape[1]), np.int32)
    run(FILE, "interleave_rows", x=x, y=y, out=out, M=shape[0], N=shape[1])
    assert np.array_equal(out, np.stack([x, y], axis=-1).reshape(shape[0], -1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dim", [0, 1])
def test_cat(shape, dim):
    x, y = pair(np.float32, shape)
    want = np.concatenate([x, y], axis=dim)
    out = np.zeros_like(want)
    run(FILE, "cat_rows", x=x, y=y, out=out, M=shape[0], N=shape[1], DIM=dim)
    assert np.array_equal(out, want)


def test_join_of_scalars():
    out = np.zeros(4, np.int32)
    run(FILE, "join_scalars", out=out)
    assert out.tolist() == [5, 7, 5, 7]


def tile_of(x, tile, index):
    rows, columns = x.shape[0] // tile[0], x.shape[1] // tile[1]
    r, c = index if isinstance(index, tuple) else divmod(index, columns)
    assert r < rows
    return x[r * tile[0]:(r + 1) * tile[0], c * tile[1]:(c + 1) * tile[1]]


@pytest.mark.parametrize("tile", [(16, 16), (64, 8), (4, 64), (32, 1)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_extract_at_a_constant(tile, dtype):
    x = np.arange(64 * 64).reshape(64, 64).astype(dtype)
    for index in {0, 1, (64 // tile[0]) * (64 // tile[1]) - 1, (64 // tile[0] - 1, 0)}:
        if isinstance(index, int) and index >= (64 // tile[0]) * (64 // tile[1]):
            continue
        out = np.zeros(tile, dtype)
        run(FILE, "extract_static", x=x, out=out, M=64, N=64, TM=tile[0], TN=tile[1], INDEX=index)
        assert np.array_equal(out, tile_of(x, tile, index))


@pytest.mark.parametrize("tile", [(8, 8), (32, 4), (1, 16)])
def test_extract_at_a_runtime_index(tile):
    x = np.random.default_rng(2).normal(size=(32, 16)).astype(np.float32)
    count = (32 // tile[0]) * (16 // tile[1])
    out = np.zeros((count, *tile), np.float32)
    run(FILE, "extract_each", x=x, out=out, M=32, N=16, TM=tile[0], TN=tile[1])
    for i in range(count):
        assert np.array_equal(out[i], tile_of(x, tile, i))


def test_extract_at_a_mixed_index():
    x = np.arange(32 * 16, dtype=np.int32).reshape(32, 16)
    for row in range(4):
        out = np.zeros((8, 8), np.int32)
        run(FILE, "extract_mixed", x=x, out=out, row=row, M=32, N=16, TM=8, TN=8)
        assert np.array_equal(out, tile_of(x, (8, 8), (row, 1)))


@pytest.mark.parametrize("index", [0, 5, (1, 2)])
def test_insert_at_a_constant(index):
    x, tile = np.zeros((16, 32), np.int32), np.arange(64, dtype=np.int32).reshape(8, 8) + 1
    out, want = np.zeros_like(x), x.copy()
    tile_of(want, (8, 8), index)[:] = tile
    run(FILE, "insert_static", x=x, tile=tile, out=out, M=16, N=32, TM=8, TN=8, INDEX=index)
    assert np.array_equal(out, want)


def test_insert_at_a_runtime_index():
    x = np.random.default_rng(3).normal(size=(16, 32)).astype(np.float32)
    tile = np.random.default_rng(4).normal(size=(4, 16)).astype(np.float32)
    for index in range(8):
        out, want = np.zeros_like(x), x.copy()
        tile_of(want, (4, 16), index)[:] = tile
        run(FILE, "insert_runtime", x=x, tile=tile, out=out, index=index, M=16, N=32, TM=4, TN=16)
        assert np.array_equal(out, want)


@pytest.mark.parametrize("call, message", [
    ("tle.extract_tile(v, 4, [16])", "tile 4 is outside the 4 tiles"),
    ("tle.extract_tile(v, -1, [16])", "tile -1 is outside the 4 tiles"),
    ("tle.extract_tile(v, (0, 0), [16])", "'index' has 2 numbers"),
    ("tle.extract_tile(v, 0, [24])", "is not a multiple of the tile's, 24"),
    ("tle.extract_tile(v, 0, [8, 8])", "the tile has 2 dimensions"),
    ("tle.extract_tile(v, 0.5, [16])", "'index' must hold integers"),
    ("tle.extract_tile(3, 0, [16])", "'x' must be a tensor"),
    ("tle.insert_tile(v, v.to(tl.float32), 0)", "the tile is float32[64], expected int32"),
    ("tl.split(v)", "split takes a tensor whose last dimension is 2"),
    ("tl.join(v, v.to(tl.float32))", "must have one dtype"),
    ("tl.cat(v, tl.arange(0, 32))", "cat takes two tensors of one shape"),
])
def test_errors(call, message):
    source = ("import triton\nimport triton.language as tl\nimport triton.experimental.tle.language as tle\n\n"
              f"@triton.jit\ndef f(x):\n    v = tl.arange(0, 64)\n    y = {call}\n    tl.store(x, 0)\n")
    assert message in errors(source, "f", x=np.zeros(64, np.int32))
