"""Compares the meaning of TIR with Python's, on random control flow over 32-bit integers.

usage: control_flow.py TLEC SCRATCH FIRST LAST

Each seed gives a kernel file. Python runs it with a stand-in for triton; tlec turns it into TIR,
which a small interpreter runs. Both must store the same number for every argument pair.
"""
import random
import re
import subprocess
import sys
import types

ARGUMENTS = ((0, 0), (1, 5), (9, 3), (-4, 12), (100, 7), (1000, -50))

# --- random programs ---


class Writer:
    """Writes one function body; vs are the names that have a value on every path."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.names = 0

    def fresh(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def expr(self, vs, depth=0):
        pick = self.rng.random()
        if depth > 2 or pick < 0.35:
            return self.rng.choice(vs) if self.rng.random() < 0.7 else str(self.rng.randint(0, 9))
        a, b = self.expr(vs, depth + 1), self.expr(vs, depth + 1)
        if pick < 0.8:
            return f"({a} {self.rng.choice('+-*&|^')} {b})"
        if pick < 0.9:
            return f"({a} if {self.cond(vs, depth + 1)} else {b})"
        return f"(-{a})"

    def cond(self, vs, depth=0):
        pick = self.rng.random()
        if depth < 2 and pick < 0.15:
            word = self.rng.choice(["and", "or"])
            return f"({self.cond(vs, depth + 1)} {word} {self.cond(vs, depth + 1)})"
        if depth < 2 and pick < 0.2:
            return f"(not {self.cond(vs, depth + 1)})"
        a, b = self.expr(vs, depth + 1), self.expr(vs, depth + 1)
        if pick < 0.3:
            return f"({a} < {b} <= {self.expr(vs, depth + 1)})"
        return f"({a} {self.rng.choice(['<', '<=', '>', '>=', '==', '!='])} {b})"

    def add(self, indent, text):
        self.lines.append("    " * indent + text)

    def block(self, vs, indent, depth, in_loop):
        vs = list(vs)
        for _ in range(self.rng.randint(1, 4)):
            if not self.statement(vs, indent, depth, in_loop):
                return

    def statement(self, vs, indent, depth, in_loop):
        """False when nothing may follow."""
        pick = self.rng.random()
        if pick < 0.5 or depth >= 4:
            self.assignment(vs, indent)
        elif pick < 0.72:
            self.branches(vs, indent, depth, in_loop)
        elif pick < 0.82:
            self.runtime_loop(vs, indent, depth)
        elif pick < 0.9:
            self.unrolled_loop(vs, indent, depth, in_loop)
        elif pick < 0.97 and not in_loop and depth > 0:
            self.add(indent, f"return {self.expr(vs)} & 4095")
            return False
        else:
            self.add(indent, f"x = g({self.expr(vs)}, {self.expr(vs)}) & 1023")
        return True

    def assignment(self, vs, indent):
        pick, name = self.rng.random(), self.rng.choice("xyz")
        if pick < 0.6:
            self.add(indent, f"{name} = {self.expr(vs)} & 1023")
        elif pick < 0.8:
            self.add(indent, f"{name} {self.rng.choice(['+=', '-=', '^='])} {self.expr(vs)} & 255")
        elif pick < 0.9:
            name = self.fresh("t")
            self.add(indent, f"{name} = {self.expr(vs)}")
            vs.append(name)
        else:
            items = f"{self.expr(vs)} & 511, ({self.expr(vs)} & 63, {self.expr(vs)} & 511)"
            self.add(indent, f"x, (y, z) = {items}")

    def branches(self, vs, indent, depth, in_loop):
        self.add(indent, f"if {self.cond(vs)}:")
        self.block(vs, indent + 1, depth + 1, in_loop)
        if self.rng.random() < 0.3:
            self.add(indent, f"elif {self.cond(vs)}:")
            self.block(vs, indent + 1, depth + 1, in_loop)
        if self.rng.random() < 0.5:
            self.add(indent, "else:")
            self.block(vs, indent + 1, depth + 1, in_loop)

    def runtime_loop(self, vs, indent, depth):
        name = self.fresh("i")
        if self.rng.random() < 0.4:
            self.add(indent, f"{name} = {self.expr(vs)} & 7")
            self.add(indent, f"while {name} > 0 and {self.cond(vs)}:")
            self.add(indent + 1, f"{name} -= {self.rng.randint(1, 2)}")
        else:
            bounds = self.rng.choice([
                f"{self.expr(vs)} & 3",
                f"1, {self.expr(vs)} & 7, 2",
                f"{self.expr(vs)} & 7, {self.rng.randint(-2, 2)}, -{self.rng.randint(1, 3)}",
            ])
            self.add(indent, f"for {name} in range({bounds}):")
        self.block(vs + [name], indent + 1, depth + 1, True)

    def unrolled_loop(self, vs, indent, depth, in_loop):
        name = self.fresh("s")
        self.add(indent, f"for {name} in tl.static_range({self.rng.randint(0, 3)}):")
        self.block(vs + [name], indent + 1, depth + 1, in_loop)
        if self.lines[-1].startswith("    " * (indent + 1) + "return"):
            return
        if self.rng.random() < 0.6:
            self.add(indent + 1, f"if {name} == {self.rng.randint(0, 2)}:")
            self.add(indent + 2, self.rng.choice(["break", "continue"]))
        self.block(vs + [name], indent + 1, depth + 1, in_loop)


def program(seed):
    rng = random.Random(seed)
    writer = Writer(rng)
    for _ in range(2):
        writer.block(["a", "b", "x", "y", "z"], 1, 0, False)
    return "\n".join([
        "import triton", "import triton.language as tl", "", "",
        "@triton.jit", "def g(a, b):", "    if a > b:", f"        if b > {rng.randint(0, 9)}:",
        "            return a - b", "        a += 3", "    return a + b", "", "",
        "@triton.jit", "def h(a, b):", "    x = a", "    y = b", "    z = 7", *writer.lines,
        "    return x + y * 3 + z * 5", "", "",
        "@triton.jit", "def kernel(p, a, b):", "    tl.store(p, h(a, b))", "",
    ])


def wrap(value, bits=32):
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


def run_python(source, a, b):
    stored = []
    triton, tl = types.ModuleType("triton"), types.ModuleType("triton.language")
    triton.jit, triton.language = (lambda f: f), tl
    tl.static_range, tl.store = range, lambda p, value: stored.append(value)
    sys.modules["triton"], sys.modules["triton.language"] = triton, tl
    names = {}
    exec(compile(source, "kernel", "exec"), names)
    names["kernel"](None, a, b)
    return wrap(stored[0])


# --- TIR ---

BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
}
COMPARE = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "slt": lambda a, b: a < b,
    "sle": lambda a, b: a <= b, "sgt": lambda a, b: a > b, "sge": lambda a, b: a >= b,
}
POISON = object()


def values(text):
    return re.findall(r"%[\w.]+", text)


class Region:
    def __init__(self, arguments, operations):
        self.arguments, self.operations = arguments, operations


class Operation:
    def __init__(self, text, regions):
        match = re.match(r"(?:(%[\w., %]+) = )?(\w+)(.*)$", text)
        self.results = values(match[1] or "")
        self.name, self.rest, self.regions = match[2], match[3], regions
        self.operands = values(self.rest)
        self.bits = {"i1": 1, "i64": 64}.get(self.rest.rsplit(" ", 1)[-1], 32)


def block_arguments(head):
    match = re.search(r"\((%[^()]*)\) ?$", head)
    return values(match[1]) if match else [], head[:match.start()] if match else head


def read_region(lines, arguments):
    """Operations up to the closing brace, which stays."""
    operations = []
    while not lines[0].startswith("}"):
        text = lines.pop(0)
        if not text.endswith("{"):
            operations.append(Operation(text, []))
            continue
        inner, head = block_arguments(text[:-1])
        regions = [read_region(lines, inner)]
        while lines[0].endswith("{"):
            inner, _ = block_arguments(lines.pop(0)[:-1])
            regions.append(read_region(lines, inner))
        lines.pop(0)
        operations.append(Operation(head, regions))
    return Region(arguments, operations)


def read_function(text):
    lines = [re.sub(r" @f\d+:\d+:\d+", "", line).strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    head = lines.pop(0)
    return read_region(lines, values(head[:head.index("[")]))


class Machine:
    def __init__(self):
        self.env, self.stored = {}, []

    def enter(self, region, arguments):
        self.env.update(zip(region.arguments, arguments))
        return self.run(region)

    def run(self, region):
        """The operands of the terminator."""
        for op in region.operations:
            operands = [self.env[name] for name in op.operands]
            if op.name in ("yield", "condition", "return"):
                return operands
            self.env.update(zip(op.results, self.step(op, operands)))
        return []

    def step(self, op, x):
        if op.regions:
            return getattr(self, "run_" + op.name)(op, x)
        if op.name == "const":
            return [int(op.rest.split(":")[0])]
        if op.name == "poison":
            return [POISON]
        if op.name == "select":
            return [x[1] if x[0] else x[2]]
        assert POISON not in x, op.rest
        if op.name == "store":
            self.stored.append(x[1])
            return []
        if op.name == "icmp":
            return [int(COMPARE[re.search(r"cmp = (\w+)", op.rest)[1]](*x))]
        if op.name in BINARY:
            return [wrap(BINARY[op.name](*x), op.bits)]
        assert op.name in ("sext", "trunc", "zext"), op.name
        return [wrap(x[0], op.bits)]

    def run_if(self, op, x):
        return self.run(op.regions[0 if x[0] else 1])

    def run_for(self, op, x):
        counter, end, step, carried = x[0], x[1], x[2], x[3:]
        while counter < end:
            carried = self.enter(op.regions[0], [counter, *carried])
            counter += step
        return carried

    def run_while(self, op, carried):
        while True:
            go, *carried = self.enter(op.regions[0], carried)
            if not go:
                return carried
            carried = self.enter(op.regions[1], carried)


def run_tir(function, a, b):
    machine = Machine()
    machine.enter(function, ["p", a, b])
    return machine.stored[0]


def main():
    tlec, scratch, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    path = scratch + ".kernel.py"
    for seed in range(first, last):
        source = program(seed)
        with open(path, "w", encoding="utf-8") as out:
            out.write(source)
        command = [tlec, "--kernel", "kernel", "--sig", "p:*i32, a:i32, b:i32", "--emit=tir",
                   "--passes=", path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"seed {seed}: tlec failed\n{done.stderr}")
        function = read_function(done.stdout)
        for a, b in ARGUMENTS:
            want, got = run_python(source, a, b), run_tir(function, a, b)
            if want != got:
                sys.exit(f"seed {seed}, a = {a}, b = {b}: Python gives {want}, TIR gives {got}")
    print(f"{last - first} programs agree with Python")


if __name__ == "__main__":
    main()
