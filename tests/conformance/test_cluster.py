"""Clusters and grid barriers against NumPy. The emulator checks accesses to CTAs that have ended, and
races across the CTAs of a cluster."""
import numpy as np
import pytest

from harness import compile_kernel, run

rng = np.random.default_rng(31)


class Name:
    """@name: what the module calls so."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return "@" + self.name


SIZES = {"MESH2": 2, "MESH3": 3, "MESH8": 8, "MESH16": 16}
MESHES = list(SIZES)


def relay(n, rounds):
    v = np.arange(n)
    for _ in range(rounds):
        v = np.roll(v, -1) + 1
    return v


@pytest.mark.parametrize("mesh", MESHES)
def test_ranks(mesh):
    n = SIZES[mesh]
    out = np.zeros((3 * n, 4), np.int32)
    run("cluster.py", "ranks", grid=(3 * n,), num_warps=1, out=out, mesh=Name(mesh))
    np.testing.assert_array_equal(out[:, 0], np.tile(np.arange(n), 3))
    np.testing.assert_array_equal(out[:, 2:], [[3 * n, 1]] * (3 * n))


def test_ranks_of_a_plane():
    out = np.zeros((8, 4), np.int32)
    _, meta = compile_kernel("cluster.py", "ranks", {"out": out, "mesh": Name("PLANE")})
    assert meta["cluster"] == [2, 4, 1]
    run("cluster.py", "ranks", grid=(2, 4), num_warps=1, out=out, mesh=Name("PLANE"))
    np.testing.assert_array_equal(out[:, 0] * 4 + out[:, 1], np.arange(8))
    np.testing.assert_array_equal(out[:, 2:], [[2, 4]] * 8)


@pytest.mark.parametrize("mesh,B,num_warps,dtype", [("MESH2", 128, 4, "int32"), ("MESH3", 64, 1, "int8"),
                                                    ("MESH8", 1024, 8, "float32"), ("MESH16", 256, 2, "int64")])
@pytest.mark.parametrize("step", [0, 1, 5])
def test_rotate(mesh, B, num_warps, dtype, step):
    n = SIZES[mesh]
    x = rng.integers(0, 100, (2, n, B)).astype(dtype)
    out = np.zeros_like(x)
    run("cluster.py", "rotate", grid=(2 * n,), num_warps=num_warps, x=x, out=out, mesh=Name(mesh), step=step, B=B)
    np.testing.assert_array_equal(out, np.roll(x, step, axis=1))


@pytest.mark.parametrize("mesh,B,num_warps", [("MESH2", 256, 4), ("MESH3", 32, 1), ("MESH8", 128, 8)])
def test_pull(mesh, B, num_warps):
    n = SIZES[mesh]
    x = rng.integers(-50, 50, (2, n, B)).astype(np.int32)
    out = np.zeros_like(x)
    run("cluster.py", "pull", grid=(2 * n,), num_warps=num_warps, x=x, out=out, mesh=Name(mesh), B=B)
    i, want = np.arange(B), np.zeros((2, B), np.int64)
    for r in range(n):
        want += np.where(i % (r + 2) != 0, x[:, r, (i + r) % B], 1000)
    np.testing.assert_array_equal(out, np.broadcast_to(want[:, None], out.shape))


@pytest.mark.parametrize("mesh,N,num_warps", [("MESH2", 512, 4), ("MESH3", 64, 2), ("MESH8", 256, 8), ("MESH16", 64, 1)])
def test_histogram(mesh, N, num_warps):
    n, bins = SIZES[mesh], 64
    x = rng.integers(-20, 200, (2, n * N)).astype(np.int32)
    out = np.zeros((2, bins), np.int32)
    run("cluster.py", "histogram", grid=(2 * n,), num_warps=num_warps, x=x, out=out, mesh=Name(mesh), N=N, BINS=bins)
    for c in range(2):
        np.testing.assert_array_equal(out[c], np.bincount(x[c][x[c] >= 0] % bins, minlength=bins))


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("num_warps", [1, 4])
def test_tickets(mesh, num_warps):
    n = SIZES[mesh]
    out, highest = np.zeros((3, n), np.int32), np.zeros((3, n), np.int32)
    run("cluster.py", "tickets", grid=(3 * n,), num_warps=num_warps, out=out, highest=highest, mesh=Name(mesh))
    np.testing.assert_array_equal(np.sort(out, axis=1), [np.arange(n)] * 3)
    np.testing.assert_array_equal(highest, np.full((3, n), 7 * (n - 1)))


@pytest.mark.parametrize("mesh,B,num_warps", [("MESH2", 64, 1), ("MESH8", 256, 4)])
def test_halves(mesh, B, num_warps):
    n = SIZES[mesh]
    x = rng.integers(-50, 50, (n, B)).astype(np.int32)
    out = np.zeros_like(x)
    run("cluster.py", "halves", grid=(n,), num_warps=num_warps, x=x, out=out, mesh=Name(mesh), B=B)
    np.testing.assert_array_equal(out, x[np.arange(n) ^ 1] + 3 * x[:, ::-1])


@pytest.mark.parametrize("rounds", [0, 1, 5])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_submeshes(rounds, num_warps):
    out = np.zeros(8, np.int32)
    run("cluster.py", "submeshes", grid=(2, 4), num_warps=num_warps, out=out, rounds=rounds, mesh=Name("PLANE"))
    np.testing.assert_array_equal(out[:4], relay(4, rounds))
    np.testing.assert_array_equal(out[4:], np.roll(np.arange(4, 8), 1) * 10)


@pytest.mark.parametrize("mesh,P,num_warps", [("MESH2", 64, 1), ("MESH3", 32, 4), ("MESH8", 128, 8), ("MESH16", 16, 2)])
def test_deal(mesh, P, num_warps):
    n = SIZES[mesh]
    x = rng.integers(0, 1000, (2, n, n, P)).astype(np.int32)  # cluster, CTA, peer
    out = np.zeros((2, 2, n, n, P), np.int32)
    run("cluster.py", "deal", grid=(2 * n,), num_warps=num_warps, x=x, out=out, mesh=Name(mesh), P=P)
    np.testing.assert_array_equal(out[0], x.swapaxes(1, 2))
    e = np.arange(n * P)
    # What this CTA had sent, taken back from where it lies.
    want = np.where(e % 3 != 0, x[:, :, e % n, e // n], -1)
    np.testing.assert_array_equal(out[1].reshape(2, n, n * P), want)


@pytest.mark.parametrize("mesh", ["MESH2", "MESH8"])
def test_early(mesh):
    n = SIZES[mesh]
    lengths, out = np.array([0, 5, 0, 9], np.int32), np.zeros((4, n), np.int32)
    run("cluster.py", "early", grid=(4 * n,), num_warps=2, lengths=lengths, out=out, mesh=Name(mesh))
    mirrored = np.arange(n)[::-1]
    np.testing.assert_array_equal(out, [np.full(n, -1), mirrored + 5, np.full(n, -1), mirrored + 9])


@pytest.mark.parametrize("mesh,B,num_warps", [("MESH2", 256, 8), ("MESH3", 128, 4), ("MESH8", 64, 2)])
def test_scratch_reuse(mesh, B, num_warps):
    n = SIZES[mesh]
    x = rng.integers(-50, 50, (n, B)).astype(np.int32)
    out = np.zeros_like(x)
    run("cluster.py", "scratch_reuse", grid=(n,), num_warps=num_warps, x=x, out=out, mesh=Name(mesh), B=B)
    got = np.roll(np.cumsum(x, axis=1) + x.sum(axis=1, keepdims=True), 1, axis=0)
    largest = (x[:, ::-1] * np.arange(1, B + 1)).max(axis=1, keepdims=True)
    np.testing.assert_array_equal(out, got + largest + got.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("grid", [(1,), (2,), (7,), (5, 3)])
@pytest.mark.parametrize("rounds", [0, 3])
def test_grid(grid, rounds):
    n = int(np.prod(grid))
    x, out, word = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(4, np.int32)
    _, meta = compile_kernel("cluster.py", "grid_rounds", {"x": x, "out": out, "rounds": rounds, "mesh": Name("GRID")})
    assert meta["cooperative"] and meta["workspace"] == {"per_call": 16, "per_row": 0, "zeroed": 16}
    run("cluster.py", "grid_rounds", grid=grid, num_warps=2, x=x, out=out, rounds=rounds, mesh=Name("GRID"),
        hidden={"grid_barrier": word})
    np.testing.assert_array_equal(out, relay(n, rounds))
    assert word[0] & 0x7FFFFFFF == 0, "every barrier leaves the low bits as it found them"
