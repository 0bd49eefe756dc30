# RUN: %tlec %s --kernel twice --sig 'x:*fp32:32' --num-warps 1 --no-line-info --target=sm_80 | %filecheck %s --check-prefixes=ANY,SM80
# RUN: %tlec %s --kernel twice --sig 'x:*fp32:32' --num-warps 1 --no-line-info --target=sm_89 | %filecheck %s --check-prefixes=ANY,SM89
# RUN: %tlec %s --kernel twice --sig 'x:*fp32:32' --num-warps 1 --no-line-info --target=sm_100a | %filecheck %s --check-prefix=SM100
# RUN: %tlec %s --kernel twice --sig 'x:*fp32:32' --num-warps 1 --no-line-info --target=sm_120a | %filecheck %s --check-prefixes=ANY,SM120
# Each target has the oldest PTX that knows it, and accesses as wide as it has them.
import triton
import triton.language as tl


# SM80: .version 8.6
# SM80: .target sm_80{{$}}
# SM89: .version 8.6
# SM89: .target sm_89{{$}}
# SM100: .version 8.8
# SM100: .target sm_100a
# SM120: .version 8.7
# SM120: .target sm_120a
# ANY-COUNT-2: ld.global.v4.b32
# SM100: ld.global.v8.b32
@triton.jit
def twice(x):
    i = tl.arange(0, 256)
    tl.store(x + i, tl.load(x + i) * 2)
