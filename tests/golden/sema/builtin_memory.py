# RUN: %not %tlec --kernel kernel --sig 'p:*fp32, q:*i32, h:*fp16, n:i32, f:fp32' --const K=4 --emit=tir --passes= %s 2>&1 | %filecheck %s
# Loads, stores and atomics: each wrong use is reported, and the next statement goes on.
import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def kernel(p, q, h, n, f, K: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(p + i)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: load needs a pointer or a tensor of pointers, found float32[64]
    tl.load(x)
    # CHECK: :[[@LINE+1]]:5: error[E0306]: 'other' has no meaning without 'mask'
    tl.load(p + i, other=0)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'mask' must be a tensor of int1, found the string 'all'
    tl.load(p + i, mask="all")
    # CHECK: :[[@LINE+1]]:5: error[E0304]: shapes [64] and [32] do not broadcast: dimension 0 is 64 and 32
    tl.load(p + i, mask=tl.arange(0, 32) < 4)
    # CHECK: :[[@LINE+1]]:5: error[E0304]: cannot broadcast float32[64, 1] to [64]
    tl.load(p + i, mask=i < 4, other=x[:, None])
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'cache_modifier' must be one of '.ca', '.cg', '.cs', '.cv', '.wb', '.wt', found the string '.xx'
    tl.load(p + i, cache_modifier=".xx")
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'eviction_policy' must be one of 'evict_normal', 'evict_first', 'evict_last', 'no_allocate', found the string 'evict_never'
    tl.load(p + i, eviction_policy="evict_never")
    # CHECK: :[[@LINE+1]]:5: error[E0302]: load: the argument 'boundary_check' is not supported
    tl.load(p + i, boundary_check=(0,))
    # CHECK: :[[@LINE+1]]:5: error[E0304]: cannot store float32[64] through pointer<float32>
    tl.store(p, x)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'value' must be a tensor or a number, found the string 'text'
    tl.store(p + i, "text")
    # CHECK: :[[@LINE+1]]:5: error[E0303]: store needs a pointer or a tensor of pointers, found float32[64]
    tl.store(x, x)
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'cache_modifier' must be one of '.ca', '.cg', '.cs', '.cv', '.wb', '.wt', found the string '.zz'
    tl.store(p + i, x, cache_modifier=".zz")
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'sem' must be one of 'relaxed', 'acquire', 'release', 'acq_rel', found the string 'strong'
    tl.atomic_add(h, 1, sem="strong")
    # CHECK: :[[@LINE+1]]:5: error[E0307]: 'scope' must be one of 'cta', 'cluster', 'gpu', 'sys', found the string 'world'
    tl.atomic_add(h, 1, scope="world")
    # CHECK: :[[@LINE+1]]:5: error[E0303]: atomic_and on float32 is not supported
    tl.atomic_and(p, 1)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: atomic_max on float16 is not supported
    tl.atomic_max(h, 1.0)
    # CHECK: :[[@LINE+1]]:5: error[E0303]: 'val' must be a tensor or a number, found the string '1'
    tl.atomic_add(p, "1")
    # CHECK: :[[@LINE+1]]:5: error[E0303]: atomic_xchg on float16 is not supported
    tl.atomic_xchg(h, 1.0)
    # CHECK-NOT: error
