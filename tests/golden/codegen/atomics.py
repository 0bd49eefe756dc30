# RUN: %tlec %s --kernel kinds --sig 'x:*i32:16, p:*i32, f:*fp32, l:*i64' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=KINDS
# RUN: %tlec %s --kernel counter --sig 'x:*i32:16, out:*i32, n:*i32' --const B=32 --num-warps 1 --no-line-info | %filecheck %s --check-prefix=COUNT
# RUN: %tlec %s --kernel largest --sig 'x:*i32:16, out:*i32' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=LARGEST
# RUN: %tlec %s --kernel ticket --sig 'n:*i32, out:*i32' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=TICKET
# RUN: %tlec %s --kernel swap --sig 'p:*i64, out:*i64' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=SWAP
import triton
import triton.language as tl


# KINDS-LABEL: .entry kinds(
# KINDS: red.relaxed.gpu.global.add.u32
# KINDS: red.release.gpu.global.and.b32
# KINDS: atom.acquire.cta.global.or.b32
# KINDS: red.relaxed.gpu.global.xor.b32
# KINDS: red.relaxed.sys.global.max.s32
# KINDS: red.relaxed.gpu.global.add.f32
# KINDS: atom.relaxed.gpu.global.exch.b64
@triton.jit
def kinds(x, p, f, l):
    i = tl.load(x + tl.arange(0, 32))
    tl.atomic_add(p + i, 2, sem="relaxed")
    tl.atomic_and(p + i, 3, sem="release")
    tl.atomic_or(p + i, 4, sem="acquire", scope="cta")
    tl.atomic_xor(p + i, 5, sem="relaxed")
    tl.atomic_max(p + i, 6, sem="relaxed", scope="sys")
    tl.atomic_add(f + i, 1.5, sem="relaxed")
    tl.atomic_xchg(l + i, 7, sem="relaxed")


# Lanes that share an address: one ballot, one atomic by lane 0, old + rank for each lane.
# COUNT-LABEL: .entry counter(
# COUNT: vote.sync.ballot.b32
# COUNT: popc.b32
# COUNT-COUNT-1: atom.relaxed.gpu.global.add.u32
# COUNT: shfl.sync.idx.b32
# COUNT: st.global.b32
@triton.jit
def counter(x, out, n, B: tl.constexpr):
    a = tl.load(x + tl.arange(0, B))
    zero = tl.zeros([B], tl.int32)
    at = tl.atomic_add(n + zero, 1, mask=a > 0, sem="relaxed")
    tl.store(out + at, a, mask=a > 0)


# LARGEST-LABEL: .entry largest(
# LARGEST: redux.sync.max.s32
# LARGEST-COUNT-1: red.relaxed.gpu.global.max.s32
# LARGEST-NOT: red.
@triton.jit
def largest(x, out):
    a = tl.load(x + tl.arange(0, 512))
    tl.atomic_max(out + tl.zeros([512], tl.int32), a, sem="relaxed")


# A scalar's old value reaches all warps through shared memory.
# TICKET-LABEL: .entry ticket(
# TICKET: @[[P:%p[0-9]+]] atom.relaxed.gpu.global.add.u32
# TICKET: st.shared.b32
# TICKET: bar.sync 0;
# TICKET: ld.shared.b32
@triton.jit
def ticket(n, out):
    k = tl.atomic_add(n, 1, sem="relaxed")
    tl.store(out + tl.arange(0, 128), k)


# SWAP-LABEL: .entry swap(
# SWAP: atom.acq_rel.gpu.global.cas.b64
@triton.jit
def swap(p, out):
    old = tl.atomic_cas(p, tl.load(out), tl.load(out + 1))
    tl.store(out, old)
