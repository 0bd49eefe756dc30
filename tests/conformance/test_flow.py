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


@pytest.mark.parametrize("num_warps", [1, 4])
def test_returns_of_the_kernel(num_warps):
    x = np.zeros((5, 64), np.int32)
    x[:, 0], x[:, 40] = [5, 50, 500, -900, 7], [1, 60, 900, 2, 7]
    out = np.full(8, 77, np.int32)
    run("flow_tiles.py", "leaves_early", grid=(5,), num_warps=num_warps, x_ptr=x, out=out, n=4, N=64)
    np.testing.assert_array_equal(out, [9, -2, -1, 77, 77, 110, 77, 77])


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 9])
def test_hints_on_loops(n):
    x = np.random.default_rng(n).integers(-99, 99, (max(n, 1), 128)).astype(np.int32)
    out = np.zeros((4, 128), np.int32)
    run("flow_tiles.py", "loop_options", x_ptr=x, out=out, n=n, N=128)
    a, c = np.zeros(128, np.int32), np.zeros(128, np.int32)
    for k in range(n):
        a = a * 3 + x[k]
        c = c ^ (x[k] + k) if k % 2 else c
    b = sum((x[k] * k for k in range(n)), np.zeros(128, np.int32))
    np.testing.assert_array_equal(out, [a, b, c, x[:n].sum(0)])


def test_logic_by_element():
    x, y = (np.random.default_rng(s).integers(0, 8, 96).astype(np.int32) for s in (1, 2))
    out = np.zeros((5, 96), np.int32)
    run("flow_tiles.py", "elementwise_logic", x_ptr=x, y_ptr=y, out=out, N=96)
    expected = [(x > 3) & (y > 3), (x > 3) | (y > 3), ~(x > 3), (2 < x) & (x <= y), np.where((x > 3) & ~(y > 3), 5, 6)]
    np.testing.assert_array_equal(out, expected)


def test_asserts_at_run_time():
    x, out = np.arange(64).astype(np.int32), np.zeros(64, np.int32)
    x[0] = 1000  # masked off
    run("flow_tiles.py", "asserts", x_ptr=x, out=out, limit=64, N=64)
    np.testing.assert_array_equal(out, x)
    for limit in (63, 0):
        with pytest.raises(AssertionError, match="trap"):
            run("flow_tiles.py", "asserts", x_ptr=x, out=out, limit=limit, N=64)
