"""Control flow: every scalar function of kernels/flow.py against itself run by Python, and the flow of
tiles and of loads that only some paths may reach."""
import inspect
import sys
import types

import numpy as np
import pytest

from harness import KERNELS, run

SOURCE = (KERNELS / "flow.py").read_text(encoding="utf-8")


def as_python():
    """The module with triton replaced by Python's own meaning."""
    language = types.ModuleType("triton.language")
    language.constexpr, language.range, language.static_range = int, range, range
    package = types.ModuleType("triton")
    package.jit, package.language = (lambda f: f), language
    saved = {name: sys.modules.get(name) for name in ("triton", "triton.language")}
    sys.modules.update({"triton": package, "triton.language": language})
    names = {}
    try:
        exec(compile(SOURCE, "flow.py", "exec"), names)
    finally:
        for name, module in saved.items():
            sys.modules.pop(name)
            if module:
                sys.modules[name] = module
    return names


FUNCTIONS = {name: f for name, f in as_python().items()
             if inspect.isfunction(f) and list(inspect.signature(f).parameters)[:2] == ["a", "b"]}
PAIRS = np.array([(a, b) for a in range(-4, 7) for b in range(0, 8)], np.int32)
WRAPPER = """

@triton.jit
def kernel(a_ptr, b_ptr, out):
    pid = tl.program_id(0)
    r = NAME(tl.load(a_ptr + pid), tl.load(b_ptr + pid))
"""


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "returns_pair"])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_function(name, num_warps):
    a, b = (np.ascontiguousarray(PAIRS[:, k]) for k in (0, 1))
    out = np.full(len(a), -77, np.int32)
    source = SOURCE + WRAPPER.replace("NAME", name) + "    tl.store(out + pid, r)\n"
    run(source, "kernel", grid=(len(a),), num_warps=num_warps, a_ptr=a, b_ptr=b, out=out)
    want = np.array([FUNCTIONS[name](int(x), int(y)) for x, y in PAIRS], np.int64).astype(np.int32)
    np.testing.assert_array_equal(out, want)


def test_pair():
    a, b = (np.ascontiguousarray(PAIRS[:, k]) for k in (0, 1))
    out = np.zeros((len(a), 2), np.int32)
    source = SOURCE + WRAPPER.replace("NAME", "returns_pair")
    source += "    tl.store(out + 2 * pid, r[0])\n    tl.store(out + 2 * pid + 1, r[1])\n"
    run(source, "kernel", grid=(len(a),), a_ptr=a, b_ptr=b, out=out)
    np.testing.assert_array_equal(out, [FUNCTIONS["returns_pair"](x, y) for x, y in PAIRS.tolist()])


N = 192


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("num_warps", [1, 4, 8])
def test_tiles_are_carried(n, num_warps):
    x = np.random.default_rng(2).normal(0, 1, (6, N)).astype(np.float32)
    out = np.zeros((3, N), np.float32)
    run("flow_tiles.py", "accumulate", num_warps=num_warps, x_ptr=x, out=out, n=n, N=N)
    total, high, turns = np.zeros(N, np.float32), np.full(N, -np.inf, np.float32), 0
    for k in range(n):
        total, high = total + x[k], np.maximum(high, x[k])
        if x[k, 0] > 0:
            total, turns = total * np.float32(0.5), turns + 1
    np.testing.assert_array_equal(out, [total, high, np.full(N, turns)])


@pytest.mark.parametrize("k", [-1, 0, 3])
def test_only_the_taken_path_touches_memory(k):
    x, out = np.arange(4).astype(np.int32), np.full(6, -7, np.int32)
    run("flow_tiles.py", "guarded", x_ptr=x, out=out, k=k)
    inside = 0 <= k
    np.testing.assert_array_equal(out, [x[k] if inside else -1, x[k] if inside else 50, 9 if inside else -7,
                                        sum(x[k:]) if inside else 0, 1 if inside else 2, k])


@pytest.mark.parametrize("n", [0, 3, 7])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_tiles_in_while(n, num_warps):
    out = np.zeros((2, 96), np.int32)
    run("flow_tiles.py", "doubling", num_warps=num_warps, out=out, n=n, N=96)
    x, steps = np.arange(96), 0
    while x.max() < n * 100:
        x, steps = x * 2 + 1, steps + 1
    np.testing.assert_array_equal(out, [x, np.full(96, steps)])


@pytest.mark.parametrize("start,stop,step", [(0, 10, 3), (5, 5, 1), (7, 2, 1), (-3, 4, 2), (0, 1, 5)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_bounds_at_run_time(start, stop, step, dtype):
    bounds, out = np.array([start, stop, step], dtype), np.full(16, -1, np.int64)
    run("flow_tiles.py", "trips", bounds_ptr=bounds, out=out)
    want = list(range(start, stop, step))
    np.testing.assert_array_equal(out, want + [-1] * (16 - len(want)))
