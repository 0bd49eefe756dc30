"""Control flow around tiles and memory."""
import triton
import triton.language as tl


@triton.jit
def accumulate(x_ptr, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.float32)
    high = tl.full((N,), float("-inf"), tl.float32)
    turns = 0
    for k in range(n):
        x = tl.load(x_ptr + k * N + i)
        total += x
        high = tl.maximum(high, x)
        if tl.load(x_ptr + k * N) > 0:
            total *= 0.5
            turns += 1
    tl.store(out + i, total)
    tl.store(out + N + i, high)
    tl.store(out + 2 * N + i, turns.to(tl.float32))


@triton.jit
def guarded(x_ptr, out, k):
    """Loads before the array are reached on no path that runs."""
    far = x_ptr + k * 1000000
    tl.store(out, tl.load(x_ptr + k) if k >= 0 else -1)
    r = 50
    if k >= 0:
        r = tl.load(x_ptr + k)
        tl.store(out + 2, 9)
    tl.store(out + 1, r)
    total = 0
    if not k < 0:
        for j in range(k, 4):
            total += tl.load(x_ptr + j)
    tl.store(out + 3, total)
    if k < 0:
        tl.store(out + 4, 2)
    else:
        tl.store(out + 4, 1)
        if k > 100:
            tl.store(far, 1)
    tl.store(out + 5, k)


@triton.jit
def doubling(out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    x = i
    steps = 0
    while tl.max(x, axis=0) < n * 100:
        x = x * 2 + 1
        steps += 1
    tl.store(out + i, x)
    tl.store(out + N + i, steps)


@triton.jit
def trips(bounds_ptr, out):
    start = tl.load(bounds_ptr)
    stop = tl.load(bounds_ptr + 1)
    step = tl.load(bounds_ptr + 2)
    for i in range(start, stop, step):
        tl.store(out, i)
        out += 1
