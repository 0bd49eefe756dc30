# RUN: %tlec %s --kernel masked --sig 'x:*fp32:16, out:*fp32:16, n:i32:4' --const B=1024 --num-warps 4 --no-line-info | %filecheck %s --check-prefix=VECTOR
# RUN: %tlec %s --kernel masked --sig 'x:*fp32, out:*fp32, n:i32' --const B=128 --num-warps 4 --no-line-info | %filecheck %s --check-prefix=SCALAR
# RUN: %tlec %s --kernel plain --sig 'x:*fp16:16, out:*fp16:16' --const B=1024 --num-warps 4 --no-line-info | %filecheck %s --check-prefix=PLAIN
# RUN: %tlec %s --kernel qualified --sig 'x:*i32:16, out:*i32:16' --const B=512 --num-warps 4 --no-line-info | %filecheck %s --check-prefix=QUALIFIED
# RUN: %tlec %s --kernel one --sig 'x:*i32, out:*i32' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=ONE
# RUN: %tlec %s --kernel small --sig 'x:*i32, out:*i32' --num-warps 4 --no-line-info | %filecheck %s --check-prefix=SMALL
# RUN: %tlec %s --kernel booleans --sig 'x:*i1, out:*i1' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=BOOL
import triton
import triton.language as tl


# Masked accesses are single predicated instructions as wide as the facts allow; `other` is in the
# registers before the load.
# VECTOR-LABEL: .entry masked(
# VECTOR: .ptr .global .align 16
# VECTOR: .reqntid 128
# VECTOR: mov.b32 %r{{[0-9]+}}, 1065353216;
# VECTOR: @%p{{[0-9]+}} ld.global.v4.b32 {%r{{[0-9]+}},%r{{[0-9]+}},%r{{[0-9]+}},%r{{[0-9]+}}}, [%rd{{[0-9]+}}];
# VECTOR: @%p{{[0-9]+}} st.global.v4.b32
# SCALAR-LABEL: .entry masked(
# SCALAR: .ptr .global .align 4
# SCALAR: @%p1 ld.global.b32 %r{{[0-9]+}}, [%rd{{[0-9]+}}];
# SCALAR-NOT: ld.global
# SCALAR: @%p1 st.global.b32
# SCALAR-NOT: st.global
@triton.jit
def masked(x, out, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < n
    tl.store(out + offs, tl.load(x + offs, mask=mask, other=1.0), mask=mask)


# Unmasked vectors stay whole; halves travel in whole words.
# PLAIN-LABEL: .entry plain(
# PLAIN: ld.global.v4.b32
# PLAIN: st.global.v4.b32
@triton.jit
def plain(x, out, B: tl.constexpr):
    offs = tl.arange(0, B)
    tl.store(out + offs, tl.load(x + offs))


# QUALIFIED-LABEL: .entry qualified(
# QUALIFIED: ld.global.cg.v4.b32
# QUALIFIED: ld.global.L1::evict_first.v4.b32
# QUALIFIED: ld.global.L1::no_allocate.v4.b32
# QUALIFIED: ld.volatile.global.v4.b32
# QUALIFIED: st.global.cs.v4.b32
@triton.jit
def qualified(x, out, B: tl.constexpr):
    offs = tl.arange(0, B)
    a = tl.load(x + offs, cache_modifier=".cg")
    b = tl.load(x + offs, eviction_policy="evict_first")
    c = tl.load(x + offs, eviction_policy="no_allocate")
    d = tl.load(x + offs, volatile=True)
    tl.store(out + offs, a + b + c + d, cache_modifier=".cs")


# A scalar is stored by one thread.
# ONE-LABEL: .entry one(
# ONE: mov.u32 [[TID:%r[0-9]+]], %tid.x;
# ONE: setp.eq.b32 [[P:%p[0-9]+]], [[TID]], 0;
# ONE: @[[P]] st.global.b32
@triton.jit
def one(x, out):
    tl.store(out, tl.load(x) + 1)


# A tile of fewer elements than threads is stored by the threads that own it: the other three warps
# hold copies.
# SMALL-LABEL: .entry small(
# SMALL: and.b32 [[WARP:%r[0-9]+]], %r{{[0-9]+}}, 96;
# SMALL: setp.eq.b32 [[P:%p[0-9]+]], [[WARP]], 0;
# SMALL: @[[P]] st.global.b32
# SMALL-NOT: st.global
@triton.jit
def small(x, out):
    offs = tl.arange(0, 32)
    tl.store(out + offs, tl.load(x + offs) + 1)


# Booleans take a byte in memory and a predicate in registers.
# BOOL-LABEL: .entry booleans(
# BOOL: ld.global.b8
# BOOL: setp.ne
# BOOL: selp.b16
# BOOL: st.global.b8
@triton.jit
def booleans(x, out):
    offs = tl.arange(0, 32)
    a = tl.load(x + offs).to(tl.int1)
    b = tl.load(x + 32 + offs).to(tl.int1)
    tl.store(out + offs, a & b)
