"""A part of the language in NumPy: kernels that use it run as Python, one program at a time.

    load_kernels("text of a kernel file")["kernel"](Pointer(array), Tensor(np.int32(3)))

It is the reference of the random programs, so it shares nothing with the compiler. Quotients and
remainders take divisors that are positive constants; shifts amounts below the width.
"""
import types

import numpy as np

DTYPES = ["int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
          "float32", "float64"]


def width(t):
    return int("".join(c for c in t if c.isdigit()))


def kind(t):
    return 0 if t == "int1" else 1 if "int" in t else 2


def promoted(a, b, division=False):
    """Kind, then width, then half precision before bfloat16, then unsigned before signed; with two exceptions
    that hold in practice: bfloat16 stays only among itself, and halves divide in float32."""
    if kind(a) != kind(b):
        t = a if kind(a) > kind(b) else b
        if t == "bfloat16":
            return "float32"
    elif {a, b} == {"float16", "bfloat16"}:
        t = "float16"
    elif width(a) != width(b):
        t = a if width(a) > width(b) else b
    else:
        t = a if a.startswith("u") else b
    return "float32" if division and t in ("float16", "bfloat16") else t


def numpy_type(t):
    return np.dtype("bool" if t == "int1" else t)


def number_type(x):
    if isinstance(x, bool):
        return "int1"
    if isinstance(x, int):
        return "int32" if -2**31 <= x < 2**31 else "int64"
    return "float32"


class Tensor:
    """An array and the name of its dtype."""

    def __init__(self, array, dtype=None):
        self.a = np.asarray(array)
        self.dtype = dtype or ("int1" if self.a.dtype == bool else self.a.dtype.name)
        self.shape = self.a.shape

    def to(self, dtype):
        if dtype == "int1":
            return Tensor(self.a != 0)
        return Tensor(self.a.astype(numpy_type(dtype)), dtype)

    def __getitem__(self, index):
        return Tensor(self.a[index], self.dtype)

    def __bool__(self):
        return bool(self.a)

    def __index__(self):
        return int(self.a)

    def sum(self, axis):
        return sum_(self, axis)


def pair(x, y):
    """Both operands in their common type."""
    a, b = isinstance(x, Tensor), isinstance(y, Tensor)
    if a and b:
        t = promoted(x.dtype, y.dtype)
    else:
        tensor, number = (x, y) if a else (y, x)
        t = tensor.dtype if kind(number_type(number)) <= kind(tensor.dtype) else promoted(tensor.dtype, number_type(number))
    as_type = [v.a.astype(numpy_type(t)) if isinstance(v, Tensor) else np.array(v, numpy_type(t)) for v in (x, y)]
    return as_type[0], as_type[1], t


def operator(function, swapped=False, result=None):
    def apply(x, y):
        if isinstance(y, Pointer):
            return NotImplemented
        a, b, t = pair(y, x) if swapped else pair(x, y)
        with np.errstate(over="ignore"):
            return Tensor(function(a, b).astype(numpy_type(result or t)), result or t)
    return apply


def quotient(a, b):
    q = a // b
    return q + ((a < 0) & (q * b != a)).astype(a.dtype)


OPERATORS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "floordiv": quotient,
             "mod": lambda a, b: a - quotient(a, b) * b, "and": np.bitwise_and, "or": np.bitwise_or,
             "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift}
for _name, _function in OPERATORS.items():
    setattr(Tensor, f"__{_name}__", operator(_function))
    setattr(Tensor, f"__r{_name}__", operator(_function, swapped=True))
for _name, _function in {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
                         "ne": np.not_equal}.items():
    setattr(Tensor, f"__{_name}__", operator(_function, result="int1"))


class Pointer:
    """Elements of a flat array."""

    def __init__(self, array, at=0):
        self.array, self.at = array.reshape(-1), np.asarray(at, np.int64)

    def __add__(self, offset):
        return Pointer(self.array, self.at + (offset.a.astype(np.int64) if isinstance(offset, Tensor) else offset))

    __radd__ = __add__


def mask_of(pointer, mask):
    shape = pointer.at.shape if mask is None else np.broadcast_shapes(pointer.at.shape, mask.shape)
    return np.broadcast_to(True if mask is None else mask.a, shape), np.broadcast_to(pointer.at, shape)


def load(pointer, mask=None, other=0):
    inside, at = mask_of(pointer, mask)
    value = other.a if isinstance(other, Tensor) else other
    got = np.where(inside, pointer.array[np.where(inside, at, 0)], np.asarray(value).astype(pointer.array.dtype))
    return Tensor(got.astype(pointer.array.dtype))


def store(pointer, value, mask=None):
    inside, at = mask_of(pointer, mask)
    value = value.a if isinstance(value, Tensor) else np.asarray(value)
    pointer.array[at[inside]] = np.broadcast_to(value.astype(pointer.array.dtype), at.shape)[inside]


def atomic_add(pointer, value, mask=None):
    inside, at = mask_of(pointer, mask)
    value = value.a if isinstance(value, Tensor) else np.asarray(value)
    np.add.at(pointer.array, at[inside], np.broadcast_to(value.astype(pointer.array.dtype), at.shape)[inside])


def widened(x):
    if kind(x.dtype) == 1 and width(x.dtype) < 32 or x.dtype == "int1":
        return x.to("uint32" if x.dtype[0] == "u" or x.dtype == "int1" else "int32")
    return x


def sum_(x, axis):
    x = widened(x)
    return Tensor(x.a.sum(axis, dtype=x.a.dtype), x.dtype)


def extremum(function):
    def apply(x, axis):
        x = x.to("int32") if kind(x.dtype) < 2 and width(x.dtype) < 32 else x
        return Tensor(function(x.a, axis), x.dtype)
    return apply


def cumsum(x, axis=0, reverse=False):
    x = widened(x)
    a = np.flip(x.a, axis) if reverse else x.a
    a = a.cumsum(axis, dtype=a.dtype)
    return Tensor(np.flip(a, axis) if reverse else a, x.dtype)


def exclusive_cumsum(x, axis=0, reverse=False):
    x = widened(x)
    return cumsum(x, axis, reverse) - x, sum_(x, axis)


def where(condition, x, y):
    a, b, t = pair(x, y)
    return Tensor(np.where(condition.a, a, b).astype(numpy_type(t)), t)


def selected(function):
    def apply(x, y):
        a, b, t = pair(x, y)
        return Tensor(function(a, b), t)
    return apply


def combined(inputs, axis, combine, reverse):
    """Tuples of slices: the combination of everything up to each position."""
    several = isinstance(inputs, tuple)
    arrays = inputs if several else (inputs,)
    order = range(arrays[0].shape[axis])
    state, out = None, []
    for k in reversed(order) if reverse else order:
        item = tuple(Tensor(np.take(x.a, k, axis), x.dtype) for x in arrays)
        if state is None:
            state = item
        else:
            got = combine(*state, *item)
            state = tuple(v.to(x.dtype) for v, x in zip(got if several else (got,), arrays))
        out.append(state)
    return out[::-1] if reverse else out


def reduce_(inputs, axis, combine):
    last = combined(inputs, axis, combine, False)[-1]
    return last if isinstance(inputs, tuple) else last[0]


def associative_scan(inputs, axis, combine, reverse=False):
    steps = combined(inputs, axis, combine, reverse)
    out = tuple(Tensor(np.stack([s[i].a for s in steps], axis), steps[0][i].dtype) for i in range(len(steps[0])))
    return out if isinstance(inputs, tuple) else out[0]


def histogram(x, bins):
    counted = x.a[(x.a >= 0) & (x.a < bins)]
    return Tensor(np.bincount(counted, minlength=bins).astype(np.int32))


class Buffer:
    def __init__(self, shape, dtype):
        self.array, self.shape = np.zeros(shape, numpy_type(dtype)), tuple(shape)


def local_ptr(buffer, indices=None):
    if indices is None:
        return Pointer(buffer.array, np.arange(buffer.array.size).reshape(buffer.shape))
    at = np.ravel_multi_index([np.asarray(getattr(i, "a", i)).astype(np.int64) for i in indices], buffer.shape)
    return Pointer(buffer.array, at)


def modules():
    language, extension, gpu, package = (types.ModuleType(n) for n in ("tl", "tle", "gpu", "triton"))
    for name in DTYPES:
        setattr(language, name, name)
    index = {"argmax": np.argmax, "argmin": np.argmin}
    language.__dict__.update(
        constexpr=int, range=range, static_range=range, load=load, store=store, atomic_add=atomic_add, where=where,
        cumsum=cumsum, sum=sum_, max=extremum(np.max), min=extremum(np.min), minimum=selected(np.fmin),
        maximum=selected(np.fmax), arange=lambda lo, hi: Tensor(np.arange(lo, hi, dtype=np.int32)),
        zeros=lambda shape, t: Tensor(np.zeros(shape, numpy_type(t)), t), full=lambda shape, v, t: Tensor(
            np.full(shape, v, numpy_type(t)), t), reshape=lambda x, shape: Tensor(x.a.reshape(shape), x.dtype),
        trans=lambda x: Tensor(x.a.T, x.dtype), expand_dims=lambda x, k: Tensor(np.expand_dims(x.a, k), x.dtype),
        broadcast_to=lambda x, shape: Tensor(np.broadcast_to(x.a, shape), x.dtype),
        debug_barrier=lambda: None, reduce=reduce_, associative_scan=associative_scan, histogram=histogram,
        permute=lambda x, order: Tensor(x.a.transpose(order), x.dtype), program_id=lambda axis: Tensor(np.int32(0)),
        **{name: lambda x, axis, f=f: Tensor(f(x.a, axis).astype(np.int32)) for name, f in index.items()})
    extension.cumsum, extension.gpu = exclusive_cumsum, gpu
    gpu.alloc, gpu.local_ptr = Buffer, local_ptr
    package.jit, package.language = (lambda f: f), language
    return package, language, extension


def load_kernels(text):
    """The functions of a kernel file, with its imports replaced."""
    package, language, extension = modules()
    lines = [line for line in text.split("\n") if not line.startswith(("import ", "from "))]
    names = {"triton": package, "tl": language, "tle": extension}
    exec(compile("\n".join(lines), "kernel", "exec"), names)
    return names
