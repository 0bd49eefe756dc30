# RUN: %tlec --kernel kernel --import-root %S/Inputs/imported --sig 'p:*i64' --emit=tir --passes= %s | %filecheck %s
# RUN: %not %tlec --kernel kernel --sig 'p:*i64' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=NOROOT
# RUN: %not %tlec --kernel missing --import-root %S/Inputs/imported --sig 'p:*i64' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=MISSING
# RUN: %not %tlec --kernel host --import-root %S/Inputs/imported --sig 'p:*i64' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=HOST
# RUN: %not %tlec --kernel called --import-root %S/Inputs/imported --sig 'p:*i64' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=CALLED
# RUN: %not %tlec --kernel broken --import-root %S/Inputs/imported --sig 'p:*i64' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=BROKEN
# RUN: %not %tlec --kernel torch_host --sig 'p:*i64' --emit=tir --passes= %s 2>&1 | %filecheck %s --check-prefix=TORCH
# Functions and constants of imported files; limits of types; what stands in branches at module level.
import torch
import triton
import triton.language as tl
from triton.language.standard import _log2
from kit import axis as ax, broken as bad
from kit.sizes import SCALE, largest

OFFSET = 100
LEAST = tl.constexpr(torch.finfo(torch.float16).min)
MOST = torch.iinfo(torch.int8).max

try:
    import missing_module as extra
    import triton.experimental.tle.language as tle
except ImportError:
    extra = tle = None


# CHECK-LABEL: func @kernel
@triton.jit
def kernel(p):
    # Names and defaults of the imported function are those of its own file.
    # CHECK: %[[X:.*]] = program_id [axis = 1]
    # CHECK: %[[Y:.*]] = sext %[[X]] : i64
    # CHECK: %[[THREE:.*]] = const 3 : i64
    # CHECK: %[[Z:.*]] = mul %[[Y]], %[[THREE]]
    # CHECK: %[[FIVE:.*]] = const 5 : i64
    # CHECK: %[[S:.*]] = add %[[Z]], %[[FIVE]]
    # CHECK: store %p.0, %[[S]]
    tl.store(p, ax.program(1))
    # CHECK: const 32767
    tl.store(p, largest(tl.int16))
    # CHECK: const 103
    tl.store(p, OFFSET + SCALE)
    # CHECK: const 127
    tl.store(p, MOST)
    tl.static_assert(LEAST == -65504.0)
    tl.static_assert(torch.finfo(torch.bfloat16).max == 3.3895313892515355e38)
    tl.static_assert(torch.finfo(tl.float32).eps == 2.0 ** -23)
    tl.static_assert(torch.iinfo(torch.int64).min == -9223372036854775807 - 1)
    tl.static_assert(torch.iinfo(torch.uint8).bits == 8)
    tl.static_assert(_log2(64) == 6)
    tl.static_assert(triton.next_power_of_2(100) == 128 and triton.next_power_of_2(1) == 1)
    # CHECK: shared_alloc
    tle.gpu.alloc([4], tl.int32)


# NOROOT: imports.py:[[#]]:17: error[E0302]: 'ax' is imported from the host module 'kit' and cannot be used in a kernel


@triton.jit
def missing(p):
    # MISSING: :[[#@LINE+1]]:17: error[E0301]: the module 'kit.axis' does not define 'nothing'
    tl.store(p, ax.nothing(1))


@triton.jit
def host(p):
    # HOST: kit/axis.py:9:9: error[E0302]: 'np' is a host module
    # HOST: :[[#@LINE+1]]:17: note: needed because 'TABLE' is used here
    tl.store(p, ax.TABLE)


@triton.jit
def called(p):
    # CALLED: :[[#@LINE+1]]:17: error[E0303]: the module kit.axis cannot be called
    tl.store(p, ax(1))


@triton.jit
def broken(p):
    # What a file that does not parse defines is not asked.
    # BROKEN: kit/broken.py:5:9: error[E0201]
    # BROKEN-NOT: error
    tl.store(p, bad.f(1))


@triton.jit
def torch_host(p):
    # TORCH: :[[#@LINE+1]]:17: error[E0302]: 'torch.randn' is host code and cannot be used in a kernel
    tl.store(p, torch.randn(4))
