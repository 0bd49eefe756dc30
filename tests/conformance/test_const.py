"""Compile-time values: each expression is evaluated by Python, and asserted inside a kernel."""
import numpy as np
import pytest

from harness import compile_kernel, errors, run

HEAD = """
import triton
import triton.language as tl

A = tl.constexpr(7)
B = tl.constexpr(-3)
F: tl.constexpr = 2.5
NAMES = ("fast", "slow")
SIZE = 16 * 4
DTYPES = [tl.float16, tl.float32]


@triton.jit
def kernel(out, K: tl.constexpr = 12, T: tl.constexpr = tl.int32, FLAG: tl.constexpr = False):
"""
VALUES = {"A": 7, "B": -3, "F": 2.5, "NAMES": ("fast", "slow"), "SIZE": 64, "K": 12, "FLAG": False}
EXPRESSIONS = """
A + B
A - B
A * B
A / B
A // B
B // A
A % B
B % A
-A // 2
-A % 2
A ** 3
A ** -1
2 ** 62
-2 ** 2
(-2) ** 3
A << 5
B >> 1
A & 6
A | 8
A ^ B
~A
+B
not A
not (A and FLAG)
A and B
FLAG or K
FLAG and K
K or FLAG
A > B
A == 7.0
A != B
B < A <= 7
B < A < 7
A in (1, 7)
A not in (1, 7)
"fast" in NAMES
NAMES[0]
NAMES[-1] + "er"
NAMES[1] == "slow"
len(NAMES)
F * A
F // 1
F % 2
-F // 1
-F % 1
F ** 2
1 / 3
7 / 2
10 ** 15 + 1
0x7FFFFFFFFFFFFFFF
-0x7FFFFFFFFFFFFFFF - 1
1_000_000
0b1011
0o17
1e3
1.5e-3
float("inf") > 1e300
float(3)
int(3.9)
int(-3.9)
int(True)
bool(0)
abs(B)
abs(-2.5)
min(A, B, 2)
max(A, B, 2)
min(1.5, 2)
max((1, 5, 3))
A if FLAG else B
K if A > 3 else 0
(1, 2) + (3,)
(1, 2) == (1, 2)
(1, 2) == (1, 3)
(1, 2, 3)[1]
(1, 2, 3)[-1]
(1, 2, 3)[1:]
len((1, 2, 3)[:2])
f"k{K}_{A + 1}_{NAMES[0]}"
f"{A}" == "7"
"a" "b"
True + True
True & False
True | False
SIZE // A * A
None is None
A is None
(A, B)[FLAG]
SIZE & -SIZE
(SIZE + A - 1) // A * A
""".strip().split("\n")


def is_text_or_tuple(value):
    return isinstance(value, (str, tuple))


def test_expressions():
    """One kernel asserts them all, types of numbers included: 7 / 7 is a float."""
    lines = [HEAD.rstrip("\n")]
    for e in EXPRESSIONS:
        value = eval(e, {}, dict(VALUES))
        lines.append(f"    tl.static_assert(({e}) == ({value!r}), {e + ' is not ' + repr(value)!r})")
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            lines.append(f"    tl.static_assert(f'{{({e})}}' == {str(value)!r}, {e + ' prints otherwise'!r})"
                         if isinstance(value, int) and '"' not in e and "'" not in e else "    pass")
    compile_kernel("\n".join(lines) + "\n", "kernel", {"out": np.zeros(1, np.int32)})


FAILING = [("A == 8", "static assertion failed"), ("F < 2", "static assertion failed"),
           ("NAMES[0] == 'slow'", "static assertion failed"), ("A // 0 == 0", "zero"), ("A % 0 == 0", "zero"),
           ("1 / 0 == 0", "zero"), ("2 ** 64 > 0", "64 bits"), ("0x7FFFFFFFFFFFFFFF + 1 > 0", "64 bits"),
           ("NAMES[2] == ''", "outside"), ("A << -1", "negative shift"), ("A < 'x'", "does not apply"),
           ("tl.program_id(0) == 0", "compile-time")]


@pytest.mark.parametrize("text,message", FAILING)
def test_failing(text, message):
    report = errors(HEAD + f"    tl.static_assert({text}, 'no')\n", "kernel", out=np.zeros(1, np.int32))
    assert message in report and text.split()[0] in report


def test_constants_become_values():
    source = HEAD + """
    i = tl.arange(0, SIZE // 8)
    scaled = i * A + B
    tl.store(out + i, scaled)
    tl.store(out + 8 + i, (i * F).to(T))
    tl.store(out + 16, K if FLAG else -K)
    tl.store(out + 17, len(f"{K}"))
    wide = tl.full((4,), 2 ** 40, tl.int64)
    tl.store(out + 18 + tl.arange(0, 4), (wide >> 38).to(tl.int32))
    tl.static_assert(scaled.dtype == T and scaled.shape[0] == 8 and len(scaled.shape) == 1)
    tl.static_assert((i * F).dtype == DTYPES[1] and T.is_int() and not T.is_floating())
    tl.static_assert(tl.float16.primitive_bitwidth == 16 and scaled.type.scalar == tl.int32)
"""
    out = np.zeros(22, np.int32)
    run(source, "kernel", out=out)
    i = np.arange(8)
    np.testing.assert_array_equal(out, np.concatenate([i * 7 - 3, (i * 2.5).astype(int), [-12, 2], [4] * 4]))


def test_constants_of_the_command_line():
    source = """
import triton
import triton.language as tl


@triton.jit
def kernel(out, I: tl.constexpr, F: tl.constexpr, B: tl.constexpr, S: tl.constexpr, N: tl.constexpr, T: tl.constexpr):
    tl.static_assert(N is None and S == "a b" and B)
    tl.store(out, I + T[1])
    tl.store(out + 1, F)
    tl.store(out + 2, len(T))
"""
    out = np.zeros(3, np.float32)
    run(source, "kernel", out=out, I=-4, F=0.125, B=True, S="a b", N=None, T=(1, 10, 100))
    np.testing.assert_array_equal(out, [6, 0.125, 3])
