# RUN: %tlec %s --kernel fours --sig 'x:*i32:16, out:*i32:16' --const 'N=128' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=REGISTERS
# RUN: %tlec %s --kernel halves --sig 'x:*i32:16, out:*i32:16' --const 'N=32' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=LANES
# RUN: %tlec %s --kernel halves --sig 'x:*i32:16, out:*i32:16' --const 'N=128' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=WARPS
# RUN: %tlec %s --kernel tile --sig 'x:*fp32:16, out:*fp32:16' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=TILE
# Exchanges are renamings within a thread, shuffles within a warp, and go through scratch between warps.
import triton
import triton.experimental.tle.language as tle
import triton.language as tl


# REGISTERS-LABEL: .entry fours(
# REGISTERS: ld.global.v4.b32
# REGISTERS-NOT: shfl
# REGISTERS-NOT: shared
# REGISTERS: st.global.v4.b32
# REGISTERS: ret
@triton.jit
def fours(x, out, N: tl.constexpr):
    p = tl.arange(0, N)[:, None] * 4 + tl.arange(0, 4)[None, :]
    tl.store(out + p, tl.flip(tl.load(x + p), 1))


# LANES-LABEL: .entry halves(
# LANES: shfl.sync.bfly.b32
# LANES-NOT: bar.sync
# LANES: ret
# WARPS-LABEL: .entry halves(
# WARPS: st.shared.b32
# WARPS: bar.sync
# WARPS: ld.shared.b32
# WARPS: ret
@triton.jit
def halves(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    value = tl.reshape(tl.load(x + i), [2, N // 2])
    tl.store(out + i, tl.reshape(tl.flip(value, 0), [N]))


# An aligned part of a tile costs no communication.
# TILE-LABEL: .entry tile(
# TILE-NOT: shfl
# TILE-NOT: shared
# TILE: st.global
# TILE: ret
@triton.jit
def tile(x, out):
    p = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    part = tle.extract_tile(tl.load(x + p), (1, 0), [32, 64])
    tl.store(out + tl.arange(0, 32)[:, None] * 64 + tl.arange(0, 64)[None, :], part)
