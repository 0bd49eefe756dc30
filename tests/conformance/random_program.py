"""Random kernels over tiles of one M x N shape: matrices, rows, columns and scalars, with branches, loops,
reductions, scans, changes of shape, gathers, and buffers in shared memory.

Every program is valid under any implementation: no overflow is undefined, float sums (whose order is
free) and products (which may be fused) do not occur, indices stay inside.
"""
import random

from numpy_language import kind, promoted

SHAPES = [(16, 8), (24, 8), (3, 32), (32, 32), (12, 16), (64, 4), (5, 6), (1, 64), (48, 20), (128, 16), (160, 3), (2, 2)]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint32"]
HEAD = '''import triton
import triton.language as tl
import triton.experimental.tle.language as tle


@triton.jit
def later_larger(a, b):
    return tl.where(b >= a, b, a)


@triton.jit
def affine(s, t, u, v):
    """x -> s * x + t, then x -> u * x + v."""
    return s * u, t * u + v


@triton.jit
def furthest(a, at_a, b, at_b):
    take = (a > b) | ((a == b) & (at_a > at_b))
    return tl.where(take, a, b), tl.where(take, at_a, at_b)


@triton.jit
def decide(a, b):
    if a > b:
        if b % 2 == 0:
            return a - b
        a += 7
    elif a == 3:
        return b
    for k in range(3):
        b += k * a
    return b


@triton.jit
def kernel(m_ptr, r_ptr, f_ptr, n, out, out_f, g_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    at = i[:, None] * N + j[None, :]
    bi = tl.broadcast_to(i[:, None], (M, N))
    bj = tl.broadcast_to(j[None, :], (M, N))
'''


class Program:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.m, self.n = self.r.choice(SHAPES)
        self.warps = self.r.choice([1, 2, 4, 8, 16, 32])
        self.count = 0
        self.lines = []
        self.indent = 1
        self.live = [("m0", "mat", "int32"), ("r0", "row", "int16"), ("f0", "mat", "float32"), ("c0", "col", "int32"),
                     ("s0", "scalar", "int32")]

    def emit(self, text):
        self.lines.append("    " * self.indent + text)

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def pick(self, form, dtypes=None):
        found = [v for v in self.live if v[1] == form and (dtypes is None or v[2] in dtypes)]
        return self.r.choice(found) if found else None

    def keep(self, text, form, dtype):
        name = self.name()
        self.emit(f"{name} = {text}")
        self.live.append((name, form, dtype))
        return name

    # --- expressions: (text, dtype) of a form ---

    def operand(self, form):
        """A variable of the form, or one that broadcasts to it."""
        r = self.r.random()
        if form == "mat" and r < 0.2:
            return self.shaped("row", "[None, :]")
        if form == "mat" and r < 0.4:
            return self.shaped("col", "[:, None]")
        if form != "scalar" and r < 0.5:
            return self.shaped("scalar", "")
        return self.shaped(form, "")

    def shaped(self, form, suffix):
        name, _, dtype = self.pick(form)
        return name + suffix, dtype

    def integer(self, form):
        name, _, dtype = self.pick(form, INTS)
        return name, dtype

    def arithmetic(self, form):
        a, ta = self.shaped(form, "")
        b, tb = self.operand(form)
        t = promoted(ta, tb)
        if kind(t) == 2:
            op = self.r.choice(["{} + {}", "{} - {}", "tl.minimum({}, {})", "tl.maximum({}, {})", "tl.where({0} < {1}, {0}, {1})"])
            return "(" + op.format(a, b) + ")", t
        op = self.r.choice(["{} + {}", "{} - {}", "{} * {}", "{} & {}", "{} | {}", "{} ^ {}", "tl.minimum({}, {})",
                            "tl.maximum({}, {})", "tl.where({0} < {1}, {0}, {1})", "tl.where({0} == {1}, {1}, {0})"])
        return "(" + op.format(a, b) + ")", t

    def with_constant(self, form):
        a, t = self.integer(form)
        k = self.r.randrange(1, 100)
        op = self.r.choice(["{} + {}", "{} - {}", "{} * {}", "{} // {}", "{} % {}", "{} & {}", "{} >> 3", "{} << 2"])
        return "(" + op.format(a, k) + ")", t

    def converted(self, form):
        a, _ = self.integer(form)
        t = self.r.choice(INTS + ["float32"])
        return f"{a}.to(tl.{t})", t

    def value(self, form):
        return self.r.choice([self.arithmetic, self.arithmetic, self.with_constant, self.converted])(form)

    # --- statements ---

    def fresh(self):
        form = self.r.choice(["mat", "mat", "row", "col", "scalar"])
        text, t = self.value(form)
        self.keep(text, form, t)

    def fold(self):
        form, axis, to = self.r.choice([("mat", 0, "row"), ("mat", 1, "col"), ("row", 0, "scalar"), ("col", 0, "scalar")])
        a, t = self.integer(form)
        what = self.r.choice(["sum", "max", "min", "argmax", "argmin"])
        wide = t if t in ("int32", "int64", "uint32") else "uint32" if what == "sum" and t[0] == "u" else "int32"
        self.keep(f"tl.{what}({a}, {axis})", to, "int32" if what[:3] == "arg" else wide)

    def scan(self):
        form = self.r.choice(["mat", "row", "col"])
        axis = self.r.choice([0, 1]) if form == "mat" else 0
        a, t = self.integer(form)
        wide = t if t in ("int32", "int64", "uint32") else "uint32" if t[0] == "u" else "int32"
        reverse = self.r.choice(["", ", reverse=True"])
        if self.r.random() < 0.5:
            self.keep(f"tl.cumsum({a}, axis={axis}{reverse})", form, wide)
            return
        before, total = self.name(), self.name()
        self.emit(f"{before}, {total} = tle.cumsum({a}, axis={axis}{reverse})")
        self.live += [(before, form, wide), (total, {"mat": ["row", "col"][axis]}.get(form, "scalar"), wide)]

    def move(self):
        a, _, t = self.pick("mat")
        text = self.r.choice([f"tl.trans(tl.reshape({a}, (N, M)))", f"tl.reshape(tl.trans({a}), (M, N))",
                              f"tl.reshape(tl.reshape({a}, (M * N,)), (M, N))"])
        self.keep(text, "mat", t)

    def gather(self):
        a, _ = self.integer("mat")
        k = self.m * self.n
        self.keep(f"tl.load(m_ptr + (({a}.to(tl.int32) % {k}) + {k}) % {k})", "mat", "int32")

    def shared(self):
        a, _, t = self.pick("mat")
        b = self.name()
        k, c = self.r.randrange(1, 9), self.r.randrange(0, 5)
        self.emit(f"{b} = tle.gpu.alloc([M, N], tl.{t})")
        self.emit(f"tl.store(tle.gpu.local_ptr({b}), {a})")
        self.keep(f"tl.load(tle.gpu.local_ptr({b}, ((bi * {k} + {c}) % M, (bj + bi) % N)))", "mat", t)
        if self.r.random() < 0.5:
            self.emit(f"tl.store(tle.gpu.local_ptr({b}, (M - 1 - bi, bj)), {a})")
            self.keep(f"tl.load(tle.gpu.local_ptr({b}, (bi, N - 1 - bj)))", "mat", t)

    def counts(self):
        a, _ = self.integer("mat")
        b = self.name()
        self.emit(f"{b} = tle.gpu.alloc([N], tl.int32)")
        self.emit(f"tl.store(tle.gpu.local_ptr({b}, (j,)), j)")
        mask = self.r.choice(["", ", mask=bi > 1"])
        self.emit(f"tl.atomic_add(tle.gpu.local_ptr({b}, (({a}.to(tl.int32) % N + N) % N,)), {self.r.choice(['1', 'bi'])}{mask})")
        self.keep(f"tl.load(tle.gpu.local_ptr({b}, (N - 1 - j,)))", "row", "int32")

    def masked(self):
        a, _ = self.integer("mat")
        b, _ = self.integer("mat")
        k = self.r.randrange(0, 50)
        if self.r.random() < 0.5:
            self.keep(f"tl.load(m_ptr + at, mask={a} > {k}, other={k})", "mat", "int32")
        else:
            self.keep(f"tl.load(f_ptr + at, mask=({a} > {k}) | ({b} < {k}), other={k}.25)", "mat", "float32")

    def user_scan(self):
        a, _ = self.integer("mat")
        b, _ = self.integer("mat")
        axis, reverse = self.r.choice([0, 1]), self.r.choice(["", ", reverse=True"])
        if self.r.random() < 0.5:
            self.keep(f"tl.associative_scan({a}.to(tl.int32), {axis}, later_larger{reverse})", "mat", "int32")
            return
        x, y = self.name(), self.name()
        self.emit(f"{x}, {y} = tl.associative_scan(({a}.to(tl.int64), {b}.to(tl.int64)), {axis}, affine{reverse})")
        self.live += [(x, "mat", "int64"), (y, "mat", "int64")]

    def user_reduce(self):
        a, t = self.integer("mat")
        axis = self.r.choice([0, 1])
        x, y = self.name(), self.name()
        self.emit(f"{x}, {y} = tl.reduce(({a}, {'bi' if axis == 0 else 'bj'}), {axis}, furthest)")
        self.live += [(x, ["row", "col"][axis], t), (y, ["row", "col"][axis], "int32")]

    def bins(self):
        a, _ = self.integer("row")
        self.keep(f"tl.histogram({a}.to(tl.int32) & 31, N)", "row", "int32")

    def call(self):
        a, _ = self.integer("scalar")
        b, _ = self.integer("scalar")
        self.keep(f"decide({a}.to(tl.int32), {b}.to(tl.int32))", "scalar", "int32")

    def cube(self):
        a, t = self.integer("mat")
        wide = t if t in ("int32", "int64", "uint32") else "uint32" if t[0] == "u" else "int32"
        k = self.r.choice([2, 3, 4])
        stack = f"({a}[None, :, :] + tl.arange(0, {k})[:, None, None].to(tl.{t}))"
        self.keep(self.r.choice([f"tl.sum({stack}, 0)", f"tl.sum(tl.cumsum({stack}, 0), 0)",
                                 f"tl.sum(tl.reshape({stack}, (M, {k}, N)), 1)",
                                 f"tl.max(tl.permute({stack}, (1, 0, 2)), 1).to(tl.{wide})"]), "mat", wide)

    def through_memory(self):
        a, _ = self.integer("mat")
        self.emit("tl.debug_barrier()")
        self.emit(f"tl.store(g_ptr + at, {a}.to(tl.int64))")
        self.emit("tl.debug_barrier()")
        self.keep(f"tl.load(g_ptr + bi * N + (bj + {self.r.randrange(0, 9)}) % N)", "mat", "int64")

    def down(self, depth):
        """A while loop of at most seven turns."""
        a, _ = self.integer("scalar")
        k = self.name()
        self.emit(f"{k} = {a}.to(tl.int32) & 7")
        self.emit(f"while {k} > 0:")
        self.block(2, depth)
        self.emit(f"    {k} -= {self.r.choice([1, 2, 3])}")

    def change(self):
        """Gives a variable of an outer block another value of its type."""
        name, form, t = self.r.choice(self.outer)
        text, found = self.value(form)
        if t == "float32" or found != "float32":  # floats may not fit integers
            self.emit(f"{name} = {text}.to(tl.{t})")

    def block(self, size, depth):
        saved, self.outer = list(self.live), list(self.live)
        self.indent += 1
        for _ in range(size):
            self.statement(depth)
            self.outer = saved
        self.change()
        self.emit("pass")
        self.indent -= 1
        self.live = saved

    def branch(self, depth):
        a, _ = self.integer("scalar")
        self.emit(f"if {a} % 3 == {self.r.randrange(0, 3)}:")
        self.block(2, depth)
        if self.r.random() < 0.6:
            self.emit("else:")
            self.block(2, depth)

    def loop(self, depth):
        k = self.name()
        bounds = self.r.choice(["range(n)", "range(2, 5)", "range(3, 0, -1)", "tl.static_range(2)", "range(n, 7, 2)"])
        self.emit(f"for {k} in {bounds}:")
        self.block(3, depth)

    def statement(self, depth):
        choices = [self.fresh] * 4 + [self.fold] * 2 + [self.scan] * 2 + [self.move, self.gather, self.shared, self.counts,
                                                                              self.masked, self.user_scan,
                                                                              self.user_reduce, self.bins, self.call,
                                                                              self.cube, self.through_memory]
        if depth < 2:
            choices += [lambda: self.branch(depth + 1)] * 2 + [lambda: self.loop(depth + 1)] * 2
            choices.append(lambda: self.down(depth + 1))
        self.r.choice(choices)()

    def text(self, size=14):
        self.outer = list(self.live)
        self.emit("m0 = tl.load(m_ptr + at)")
        self.emit("f0 = tl.load(f_ptr + at)")
        self.emit("r0 = tl.load(r_ptr + j)")
        self.emit("c0 = i * 3 - 7")
        self.emit("s0 = n + 0")
        for _ in range(size):
            self.statement(0)
        base = "0"
        for name, form, t in self.live:
            where = {"mat": "at", "row": "j", "col": "i", "scalar": "0"}[form]
            size = {"mat": "M * N", "row": "N", "col": "M", "scalar": "1"}[form]
            self.emit(f"tl.store({'out_f' if t == 'float32' else 'out'} + ({base}) + {where}, {name})")
            base = f"{base} + {size}"
        self.extent = eval(base, {"M": self.m, "N": self.n})
        return HEAD + "\n".join(self.lines) + "\n"
