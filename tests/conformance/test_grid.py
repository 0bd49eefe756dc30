"""Grids and kernel arguments."""
import numpy as np
import pytest

from harness import Typed, run


@pytest.mark.parametrize("grid", [(1,), (5,), (3, 2), (2, 3, 4), (1, 1, 7)])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_program_ids(grid, num_warps):
    w, h, d = (list(grid) + [1, 1])[:3]
    out = np.full((d, h, w, 6), -1, np.int32)
    run("grid.py", "identity", grid=grid, num_warps=num_warps, out=out)
    z, y, x = np.indices((d, h, w))
    full = np.ones_like(x)
    np.testing.assert_array_equal(out, np.stack([x, y, z, full * w, full * h, full * d], axis=-1))


@pytest.mark.parametrize("programs", [1, 3, 20])
def test_strided(programs):
    x = np.random.default_rng(1).normal(0, 1, 1000).astype(np.float32)
    out = np.zeros_like(x)
    run("grid.py", "strided", grid=(programs,), x_ptr=x, out=out, n=len(x), N=96)
    np.testing.assert_array_equal(out, x * 2)


def test_arguments_of_every_type():
    out = np.zeros(11, np.int64)
    run("grid.py", "arguments", out=out, i8=Typed(-5, "i8"), i16=Typed(-300, "i16"), i32=-70000,
        i64=Typed(-2**40, "i64"), u32=Typed(2**32 - 1, "u32"), u64=Typed(2**62, "u64"), f32=1.25, f64=Typed(-2.5, "fp64"),
        flag=Typed(True, "i1"), NAME="yes")
    np.testing.assert_array_equal(out, [-5, -300, -70000, -2**40, 2**32 - 1, 2**62, 5, -10, 1, 1, 3])
    run("grid.py", "arguments", out=out, i8=Typed(5, "i8"), i16=Typed(300, "i16"), i32=7, i64=Typed(48, "i64:16"),
        u32=Typed(1, "u32"), u64=Typed(0, "u64"), f32=-1.0, f64=Typed(0.25, "fp64"), flag=Typed(False, "i1"), NAME="no",
        KIND=-9)
    np.testing.assert_array_equal(out, [5, 300, 7, 48, 1, 0, -4, 1, 0, 0, -9])
