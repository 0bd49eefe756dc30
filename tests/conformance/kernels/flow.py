"""Control flow on scalars. Every function here also runs as Python, which is its reference, so
quotients and remainders are taken of values that are not negative."""
import triton
import triton.language as tl


@triton.jit
def if_else(a, b):
    r = a
    if a > b:
        r = a - b
    else:
        r = b - a
    return r


@triton.jit
def if_alone(a, b):
    r = 7
    if a > 2:
        r = b
        a += 1
    return r * 3 + a


@triton.jit
def elif_chain(a, b):
    if a < 0:
        r = 1
    elif a == 0:
        r = 2
    elif a < b:
        r = 3
    elif a == b:
        r = 4
    else:
        r = 5
    return r


@triton.jit
def nested(a, b):
    r = 0
    if a > 0:
        if b > 0:
            r = a * b
        else:
            r = a
            if a > 3:
                r += 100
    elif b > 5:
        r = -b
    return r


@triton.jit
def several_values(a, b):
    lo = a
    hi = b
    if lo > hi:
        lo, hi = hi, lo
    mid = lo
    if hi > lo + 1:
        mid = lo + 1
        hi -= 1
    return lo * 100 + mid * 10 + hi


@triton.jit
def early_return(a, b):
    if a == b:
        return 0
    if a > b:
        c = a * 2
        return c - b
    b += 1
    return b


@triton.jit
def nested_return(a, b):
    if a > 0:
        if b > 0:
            return 1
        a += 1
        if a > 4:
            return 2 + a
    r = a * 2
    if b == 3:
        return r - 1
    return r


@triton.jit
def return_after_loop(a, b):
    total = 0
    for i in range(b):
        total += i
    if total > 20:
        return total
    for i in range(a):
        total += 2
    return -total


@triton.jit
def returns_pair(a, b):
    if a > b:
        return a, b + 1
    return b, a


@triton.jit
def unpacks(a, b):
    hi, lo = returns_pair(a, b)
    (x, y), z = returns_pair(lo, hi), 5
    pair = returns_pair(b, a)
    return hi * 1000 + lo * 100 + x * 10 + y + z + pair[0] - pair[1]


@triton.jit
def gcd(a, b):
    a = abs(a)
    b = abs(b)
    while b != 0:
        a, b = b, a % b
    return a


@triton.jit
def collatz(a, b):
    n = abs(a) + 1
    steps = 0
    while n != 1 and steps < 30:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@triton.jit
def while_or(a, b):
    steps = 0
    while (a > 0 or b > 0) and not steps == 9:
        a -= 1
        b -= 2
        steps += 1
    return steps * 100 + a


@triton.jit
def while_in_while(a, b):
    total = 0
    i = 0
    while i < a:
        j = i
        while j < b:
            total += j
            j += 2
        i += 1
    return total


@triton.jit
def count_up(a, b):
    total = 0
    for i in range(a, b):
        total = total * 2 + i
    return total


@triton.jit
def count_down(a, b):
    total = 0
    for i in range(b, a, -1):
        total = total * 3 + i
    for i in range(10, a, -4):
        total += i
    return total


@triton.jit
def strides(a, b):
    total = 0
    for i in range(a, 20, 3):
        total += i
    for i in tl.range(0, b + 1, abs(a) + 1):
        total -= i
    return total


@triton.jit
def no_trips(a, b):
    total = 5
    last = 1
    for i in range(0):
        total += 1
    for i in range(3, 3):
        last = i
    for i in range(5, 2):
        total += 10
    for i in range(2, 5, -1):
        total += 100
    for i in range(b, b):
        total += 1000
    while a != a:
        total = 0
    return total + last


@triton.jit
def fibonacci(a, b):
    x = 0
    y = 1
    for _ in range(b):
        x, y = y, x + y
    return x


@triton.jit
def loop_in_loop(a, b):
    total = 0
    for i in range(b):
        row = 0
        for j in range(i, b):
            if (i + j) % 3 == 1:
                row += j
            elif i == j:
                row -= 1
        total += row * i
    return total


@triton.jit
def unrolled(a, b):
    total = 0
    for i in tl.static_range(5):
        if i % 2 == 0:
            total += a * i
        else:
            total -= b
    for i in tl.static_range(6, 0, -2):
        total = total * 2 + i
    for i in tl.static_range(0):
        total = 0
    return total + i


@triton.jit
def break_and_continue(a, b):
    total = 0
    for i in tl.static_range(8):
        if i == 1:
            continue
        if i == 5:
            break
        total = total * 3 + i + a
    return total


@triton.jit
def over_tuple(a, b):
    total = 0
    for k in (1, 10, 100):
        total += k * a
    for x in (a, b, 3):
        total += x
    return total


@triton.jit
def ternaries(a, b):
    x = a if a > b else b
    y = 1 if a == 0 else 2 if b == 0 else 3
    z = (a if b > 0 else -a) + (5 if True else a)
    return x * 100 + y * 10 + z


@triton.jit
def booleans(a, b):
    r = 0
    if a > 0 and b > 0:
        r += 1
    if a > 0 or b > 0:
        r += 10
    if not (a > 0) and not b > 0:
        r += 100
    if (a > 1 and b < 3) or (a < -1 and b > 3) or a == b:
        r += 1000
    both = a > 2 and b > 2
    if both:
        r += 10000
    return r


@triton.jit
def chains(a, b):
    r = 0
    if 0 < a < b:
        r += 1
    if a <= b <= 5 != a:
        r += 10
    if -3 <= a == b:
        r += 100
    inside = 1 <= b < 4
    if inside:
        r += 1000
    return r


@triton.jit
def augmented(a, b):
    x = a
    x += b
    x *= 3
    x -= 1
    x <<= 2
    x >>= 1
    x ^= 5
    x |= 8
    x &= 0xFFF
    x //= 2
    x %= 50
    return x


@triton.jit
def with_defaults(x, y=4, z: tl.constexpr = 2, *, w=1):
    return x * 1000 + y * 100 + z * 10 + w


@triton.jit
def defaults(a, b):
    r = with_defaults(a)
    r += with_defaults(a, b)
    r += with_defaults(y=a, x=b)
    r += with_defaults(a, z=7, w=b)
    return r


@triton.jit
def twice(x, f: tl.constexpr):
    return f(f(x, 1), 2)


@triton.jit
def takes_functions(a, b):
    return twice(a, if_else) + twice(b, gcd)


@triton.jit
def is_even(n):
    return n % 2 == 0


@triton.jit
def weigh(n, EVEN: tl.constexpr, ODD: tl.constexpr):
    r = ODD
    if is_even(n):
        r = EVEN
    return r


@triton.jit
def calls_calls(a, b):
    r = weigh(abs(a), 10, 3)
    if weigh(abs(b), 1, 0) == 1:
        r += weigh(abs(a + b), EVEN=1000, ODD=100)
    return r


@triton.jit
def static_branches(a, b, MODE: tl.constexpr = 2, NAME: tl.constexpr = "fast"):
    if MODE == 1:
        r = a.no_such_attribute
    elif MODE == 2 and NAME == "fast":
        r = a + b
    else:
        r = None
    if NAME != "fast":
        r = "text"
    if MODE is None:
        r = 0
    assert MODE == 2, "the default"
    return r


@triton.jit
def shadows(a, b):
    x = a
    if a > 0:
        x = b
        for i in range(3):
            x += i
            if x > 4:
                x -= b
    else:
        for i in range(2):
            if b > i:
                x -= 1
            else:
                x += a
    return x


@triton.jit
def carried_through(a, b):
    """Values that some paths change and others pass on."""
    p = a
    q = b
    r = 1
    k = 0
    while k < 4:
        if p > q:
            p -= r
        else:
            if q % 2 != 0:
                q = q + r
                r += 1
            else:
                p = p + 2
        k += 1
    return p * 100 + q * 10 + r


@triton.jit
def power(a, b):
    result = 1
    base = abs(a) + 1
    exponent = b
    while exponent > 0:
        if exponent & 1 != 0:
            result *= base
        base *= base
        exponent >>= 1
    return result & 0xFFFFFF


@triton.jit
def extremes(a, b):
    return max(a, b) * 100 + min(a, b, 2) + max(3, a) + min(5, 4)
