"""Random kernels against NumPy, under every schedule of the warps.

TLE_RANDOM_FIRST and TLE_RANDOM_COUNT choose the seeds; `Program(seed).text()` is the program of one.
"""
import os

import numpy as np
import pytest

from harness import run
from numpy_language import Pointer, Tensor, load_kernels
from random_program import Program

SEEDS = range(int(os.environ.get("TLE_RANDOM_FIRST", 0)), int(os.environ.get("TLE_RANDOM_COUNT", 40)))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_program(seed):
    program = Program(seed)
    text = program.text()
    rng = np.random.default_rng(seed)
    m, n = program.m, program.n
    inputs = {"m_ptr": rng.integers(-2**31, 2**31, (m, n)).astype(np.int32) >> rng.integers(0, 31, (m, n)).astype(np.int32),
              "r_ptr": rng.integers(-300, 300, n).astype(np.int16),
              "f_ptr": rng.integers(-1000, 1000, (m, n)).astype(np.float32) / np.float32(8)}
    got = np.zeros(program.extent, np.int64), np.zeros(program.extent, np.float32)
    want = np.zeros(program.extent, np.int64), np.zeros(program.extent, np.float32)
    scratch = np.zeros(m * n, np.int64)
    trips = seed % 4
    load_kernels(text)["kernel"](*(Pointer(a) for a in inputs.values()), Tensor(np.int32(trips)), *map(Pointer, (*want, scratch)), m, n)
    run(text, "kernel", num_warps=program.warps, schedule=seed % 3, seed=seed, **inputs, n=trips, out=got[0], out_f=got[1],
        g_ptr=scratch, M=m, N=n)
    np.testing.assert_array_equal(got[0], want[0])
    np.testing.assert_array_equal(got[1], want[1])
