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


@triton.jit
def leaves_early(x_ptr, out, n, N: tl.constexpr):
    """Returns from the kernel itself: at once, under nested conditions, after a loop."""
    pid = tl.program_id(0)
    if pid >= n:
        return
    i = tl.arange(0, N)
    x = tl.load(x_ptr + pid * N + i)
    total = tl.sum(x, axis=0)
    if total > 100:
        if total > 1000:
            tl.store(out + pid, -1)
            return
        tl.store(out + pid, -2)
    else:
        for k in range(3):
            total += k
        if total < 0:
            return
        tl.store(out + pid, total)
        return
    tl.store(out + pid + n, total)


@triton.jit
def loop_options(x_ptr, out, n, N: tl.constexpr):
    """Hints on loops change no result, whatever the number of trips."""
    i = tl.arange(0, N)
    a = tl.zeros((N,), tl.int32)
    for k in tl.range(0, n, loop_unroll_factor=4):
        a = a * 3 + tl.load(x_ptr + k * N + i)
    b = tl.zeros((N,), tl.int32)
    for k in tl.range(n, num_stages=3):
        b += tl.load(x_ptr + k * N + i) * k
    c = tl.zeros((N,), tl.int32)
    for k in tl.range(1, n, 2, loop_unroll_factor=2, disable_licm=True, flatten=True):
        c ^= tl.load(x_ptr + k * N + i) + k
    p = x_ptr
    d = tl.zeros((N,), tl.int32)
    for _ in range(n):
        d += tl.load(p + i)
        p += N
    tl.store(out + i, a)
    tl.store(out + N + i, b)
    tl.store(out + 2 * N + i, c)
    tl.store(out + 3 * N + i, d)


@triton.jit
def elementwise_logic(x_ptr, y_ptr, out, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(out + i, x > 3 and y > 3)
    tl.store(out + N + i, x > 3 or y > 3)
    tl.store(out + 2 * N + i, not x > 3)
    tl.store(out + 3 * N + i, 2 < x <= y)
    tl.store(out + 4 * N + i, tl.where(x > 3 and not (y > 3), 5, 6))


@triton.jit
def asserts(x_ptr, out, limit, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.device_assert(x < limit, "too large", mask=i > 0)
    assert limit > 0, "limit must be positive"
    tl.store(out + i, x)
