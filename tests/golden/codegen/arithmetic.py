# RUN: %tlec %s --kernel floats --sig 'x:*fp32:16, out:*fp32:16' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=FLOAT
# RUN: %tlec %s --kernel ints --sig 'x:*i32:16, out:*i32:16' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=INT
# RUN: %tlec %s --kernel casts --sig 'x:*fp32:16, h:*fp16:16, b:*bf16:16, e:*fp8e4nv:16, i:*i32:16' --num-warps 1 --no-line-info | %filecheck %s --check-prefix=CAST
import triton
import triton.language as tl


# Products fuse with sums; no function is called.
# FLOAT-LABEL: .entry floats(
# FLOAT-DAG: fma.rn.f32
# FLOAT-DAG: div.full.f32
# FLOAT-DAG: ex2.approx.f32
# FLOAT-DAG: lg2.approx.f32
# FLOAT-DAG: sqrt.approx.f32
# FLOAT-DAG: rsqrt.approx.f32
# FLOAT-DAG: min.f32
# FLOAT-NOT: call
# FLOAT: ret
@triton.jit
def floats(x, out):
    o = tl.arange(0, 32)
    a = tl.load(x + o)
    b = tl.load(x + 32 + o)
    c = a * b + 1.0
    d = tl.exp(a) / (tl.log(b) + tl.sqrt(c)) + tl.math.rsqrt(b)
    tl.store(out + o, tl.minimum(d + tl.sin(a) * tl.cos(b), c))


# Shifts by any amount are PTX's own.
# INT-LABEL: .entry ints(
# INT: shl.b32
# INT-NOT: setp
# INT: shr.u32
# INT: max.s32
@triton.jit
def ints(x, out):
    o = tl.arange(0, 32)
    a = tl.load(x + o)
    b = tl.load(x + 32 + o)
    c = (a << b) + (a.to(tl.uint32, bitcast=True) >> b.to(tl.uint32, bitcast=True)).to(tl.int32)
    tl.store(out + o, tl.maximum(c, b))


# CAST-LABEL: .entry casts(
# CAST-DAG: cvt.rn.f16.f32
# CAST-DAG: cvt.rn.bf16.f32
# CAST-DAG: cvt.rn.satfinite.e4m3x2.f32
# CAST-DAG: cvt.rzi.s32.f32
# CAST: ret
@triton.jit
def casts(x, h, b, e, i):
    o = tl.arange(0, 32)
    a = tl.load(x + o)
    tl.store(h + o, a.to(tl.float16))
    tl.store(b + o, a.to(tl.bfloat16))
    tl.store(e + o, a.to(tl.float8e4nv))
    tl.store(i + o, a.to(tl.int32))
