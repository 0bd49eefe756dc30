#!/usr/bin/env python3
"""Times tle_radix_select beside torch.topk and torch.sort on one GPU, in one run.

    bench/radix_torch.py --library libtle.so --out results.json [--peer LIBRARY]...
        [--rows 1,64,...] [--lengths 4096,...] [--k 64,2048,...] [--dtypes fp32,bf16,...] [--forms sorted,smallest,...]
        [--payload] [--resume] [--budget SECONDS]

All give keys and indices. A form is `select` (libtle by index, torch.topk with sorted=False), `sorted`, `smallest` or
`smallest-sorted`; k of 0 means whole rows, which libtle and torch.sort sort. torch.sort, which is timed whole and
stable, counts as competitor for the sorted forms. --payload adds libtle with a payload of 8 bytes beside a torch.topk
and a gather. A peer exports the launcher of bench/support/peer.h, which selects the largest fp32 keys in any order, and
is timed where that is asked for; it is told from torch by its name alone. Every result is compared with a stable sort before its calls are timed and again after the last replay;
torch.topk and peers, whose ties may be any, by their keys. --resume and --budget: as of topk_torch.py. How calls are timed: timing.py. The file has the schema of
bench/results/.
"""
import argparse
import os
import pathlib
import sys
import time

import torch

import correctness
import implementations
import timing
from topk_torch import READ_BANDWIDTH, Budget, Record, numbers, rounded, times_text

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
POOL_BYTES = 1 << 30
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16, "fp64": torch.float64,
          "i32": torch.int32, "i64": torch.int64}
GATHERED = "torch.topk, gather"  # with a payload, so no competitor where there is none
FORMS = ("select", "sorted", "smallest", "smallest-sorted")
MAX_SORTED_K = 8192


class Shape:
    def __init__(self, rows, columns, k, dtype, form):
        self.rows, self.columns, self.k, self.dtype = rows, columns, k or columns, dtype
        self.sorted, self.largest = "sorted" in form, "smallest" not in form

    def label(self):
        label = {"rows": self.rows, "len": self.columns, "k": self.k}
        return {**label, **({"sorted": 1} if self.sorted else {}), **({} if self.largest else {"smallest": 1})}


class Reference:
    """By a stable sort, so that of equal keys the smallest index wins. No NaN in these keys."""

    def __init__(self, keys, shape):
        values, indices = torch.sort(keys, dim=1, descending=shape.largest, stable=True)
        self.best, order = values[:, :shape.k].clone(), indices[:, :shape.k]
        self.indices = (order if shape.sorted else order.sort(dim=1).values).int()
        self.values = keys.gather(1, self.indices.long())


class Ours:
    """libtle, perhaps with a payload: a number of 8 bytes for each key."""

    def __init__(self, tle, with_payload=False):
        self.tle, self.with_payload, self.version = tle, with_payload, tle.build_info()
        self.name = "libtle, payload" if with_payload else "libtle"

    def prepare(self, keys, shape):
        self.shape, size = shape, (shape.rows, shape.k)
        self.out = torch.empty(size, dtype=torch.int32, device="cuda")
        self.values = torch.empty(size, dtype=keys.dtype, device="cuda")
        self.payload = self.payload_out = None
        if self.with_payload:
            self.payload = torch.arange(keys.numel(), dtype=torch.int64, device="cuda").view(keys.shape)
            self.payload_out = torch.empty(size, dtype=torch.int64, device="cuda")
        return shape.k <= MAX_SORTED_K or not shape.sorted

    def call(self, keys):
        self.tle.radix_select(keys, self.shape.k, largest=self.shape.largest, sorted=self.shape.sorted, out=self.out,
                              values=self.values, payload=self.payload, payload_out=self.payload_out)

    def right(self, want):
        same = torch.equal(self.out, want.indices) and torch.equal(self.values, want.values)
        if not self.with_payload:
            return same
        first = torch.arange(self.shape.rows, device="cuda")[:, None] * self.shape.columns
        return same and torch.equal(self.payload_out, want.indices + first)

    def wipe(self):
        self.out.fill_(-7)

    def variant(self):
        s = self.shape
        return self.tle.default_handle("cuda").explain(
            "radix_select", rows=s.rows, columns=s.columns, k=s.k, dtype=str(DTYPES[s.dtype]).split(".")[1],
            largest=s.largest, sorted=s.sorted, payload_bytes=8 if self.with_payload else 0,
        ).strip().rpartition("chosen: ")[2]


class Torch:
    version = torch.__version__

    def variant(self):
        return ""

    def wipe(self):
        self.values.fill_(-7)


class TopK(Torch):
    def __init__(self, with_payload=False):
        self.with_payload = with_payload
        self.name = GATHERED if with_payload else "torch.topk"

    def prepare(self, keys, shape):
        self.shape, size = shape, (shape.rows, shape.k)
        self.values = torch.empty(size, dtype=keys.dtype, device="cuda")
        self.out = torch.empty(size, dtype=torch.int64, device="cuda")
        if self.with_payload:
            self.payload = torch.arange(keys.numel(), dtype=torch.int64, device="cuda").view(keys.shape)
            self.payload_out = torch.empty(size, dtype=torch.int64, device="cuda")
        return True

    def call(self, keys):
        torch.topk(keys, self.shape.k, dim=1, largest=self.shape.largest, sorted=self.shape.sorted,
                   out=(self.values, self.out))
        if self.with_payload:
            torch.gather(self.payload, 1, self.out, out=self.payload_out)

    def right(self, want):
        values = self.values if self.shape.sorted else \
            self.values.sort(dim=1, descending=self.shape.largest).values
        return torch.equal(values, want.best)


class Sort(Torch):
    name = "torch.sort"

    def prepare(self, keys, shape):
        self.shape = shape
        self.values, self.out = torch.empty_like(keys), torch.empty_like(keys, dtype=torch.int64)
        return shape.sorted

    def call(self, keys):
        torch.sort(keys, dim=1, descending=self.shape.largest, stable=True,
                   out=(self.values, self.out))

    def right(self, want):
        return torch.equal(self.values[:, :self.shape.k], want.best) and \
            torch.equal(self.out[:, :self.shape.k].int(), want.indices)


class Peer:
    """A library with the launcher of support/peer.h."""

    def __init__(self, path):
        self.peer = implementations.Peer(path)
        self.name, self.version = self.peer.name, self.peer.version

    def prepare(self, keys, shape):
        self.keys = keys
        lengths = torch.full((shape.rows,), shape.columns, dtype=torch.int32, device="cuda")
        taken = shape.dtype == "fp32" and shape.largest and not shape.sorted and shape.k < shape.columns
        return taken and self.peer.prepare(keys, lengths, shape.k)

    def call(self, keys):
        self.peer.call(keys)

    def right(self, want):
        return correctness.is_set(self.keys, self.peer.indices(), want.best)

    def wipe(self):
        self.peer.indices().fill_(-7)

    def variant(self):
        return ""


def fill(dtype, count):
    """Keys of the type, at random."""
    torch.manual_seed(count)
    if dtype.is_floating_point:
        return torch.randn(count, device="cuda").to(dtype)
    limits = torch.iinfo(dtype)
    return torch.randint(limits.min, limits.max, (count,), dtype=dtype, device="cuda")


def measure(impl, copies, shape, want, timer):
    """Times, and whether all results were right; None where the implementation does not take the shape."""
    keys, right = copies[0], []
    if not impl.prepare(keys, shape):
        return None

    def check():
        right.append(impl.right(want))
        impl.wipe()
        torch.cuda.synchronize()

    impl.call(keys)
    torch.cuda.synchronize()
    check()
    return timer.measure(impl.call, copies, check), all(right)


def row_of(impl, shape, keys, times, right):
    floor = keys.numel() * keys.element_size() / READ_BANDWIDTH * 1e6
    return {"op": "radix_select", "shape": shape.label(), "dtype": shape.dtype, "impl": impl.name,
            "version": impl.version, "variant": impl.variant(), "us_hot": round(times.hot, 2),
            "us_cold": rounded(times.cold), "floor_us": round(floor, 2), "correct": right,
            "spread": round(times.spread, 3)}


def at_shape(impls, pool, shape, timer):
    count = shape.rows * shape.columns
    copies = [pool[i * count:(i + 1) * count].view(shape.rows, shape.columns)
              for i in range(min(timing.CALLS, len(pool) // count))]
    want = Reference(copies[0], shape)
    for impl in impls:
        measured = measure(impl, copies, shape, want, timer)
        if measured:
            yield row_of(impl, shape, copies[0], *measured)


def show(shape, found):
    own = next((row["us_hot"] for row in found if row["impl"] == "libtle"), None)
    others = [row["us_hot"] for row in found
              if row["correct"] and not row["impl"].startswith("libtle") and row["impl"] != GATHERED]
    ratio = f"{min(others) / own:5.2f}" if own and others else "    –"
    form = ("" if shape.largest else "smallest ") + ("sorted" if shape.sorted else "")
    text = "  ".join(map(times_text, found))
    print(f"{shape.rows:4d} x {shape.columns:8d} k {shape.k:5d} {shape.dtype} {form:15s} {ratio}  {text}", flush=True)


def shapes_of(a, dtype):
    return [Shape(r, n, k, dtype, form) for r in a.rows for n in a.lengths for k in a.k for form in a.forms
            if k <= n and (k or ("sorted" in form and n <= MAX_SORTED_K))]


def sweep(a, impls, record):
    """False where the budget ended it."""
    timer, budget = timing.Timer(), Budget(a.budget)
    for dtype in a.dtypes:
        size = torch.empty((), dtype=DTYPES[dtype]).element_size()
        left = [shape for shape in shapes_of(a, dtype) if not record.has("randn", shape.label(), dtype)]
        room = max([POOL_BYTES // size, *(shape.rows * shape.columns for shape in left)])
        pool = fill(DTYPES[dtype], room) if left else None
        for shape in left:
            if budget.used_up():
                print("the budget is used up; --resume goes on", flush=True)
                return False
            found = list(at_shape(impls, pool, shape, timer))
            show(shape, found)
            record.rows += found
            record.write()
        del pool
    return True


def known(names):
    def words(text):
        chosen = text.split(",")
        for word in chosen:
            if word not in names:
                raise argparse.ArgumentTypeError(f"'{word}' is none of {', '.join(names)}")
        return chosen
    return words


def arguments():
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--library", required=True, help="path of libtle.so")
    arg.add_argument("--out", required=True, help="JSON file to write")
    arg.add_argument("--peer", action="append", default=[], metavar="LIBRARY", help="a library with the launcher")
    arg.add_argument("--rows", type=numbers, default="1,8,64,256")
    arg.add_argument("--lengths", type=numbers, default="128,4096,8192,32768,131072,1048576")
    arg.add_argument("--k", type=numbers, default="0,8,64,2048", help="0: whole rows")
    arg.add_argument("--dtypes", type=known(DTYPES), default="fp32")
    arg.add_argument("--forms", type=known(FORMS), default="select,sorted")
    arg.add_argument("--payload", action="store_true", help="also with a payload")
    arg.add_argument("--resume", action="store_true", help="go on with the file of --out")
    arg.add_argument("--budget", type=float, metavar="SECONDS", help="begin no shape after so long")
    arg.add_argument("--commit", default="", help="commit of the library, for the record")
    return arg.parse_args()


def command_of(a):
    """Without the paths of this machine."""
    lists = [f"--{name} {','.join(map(str, getattr(a, name)))}" for name in ("rows", "lengths", "k", "dtypes", "forms")]
    peers = [f"--peer {os.path.basename(path)}" for path in a.peer]
    return " ".join(["python3 bench/radix_torch.py --library libtle.so --out results.json", *peers, *lists,
                     *["--payload"] * a.payload])


def main():
    a, begin = arguments(), time.time()
    os.environ["TLE_LIBRARY"] = os.path.abspath(a.library)
    import tle  # opens the library that was just named
    tle.default_handle("cuda").preload("radix_select")
    impls = [Ours(tle), TopK(), Sort()]
    if a.payload:
        impls += [Ours(tle, True), TopK(True)]
    impls += [Peer(os.path.abspath(path)) for path in a.peer]
    record = Record(a.out, command_of(a), a.commit, a.resume)
    whole = sweep(a, impls, record)
    print(f"{time.time() - begin:.0f} seconds")
    right = all(row["correct"] for row in record.rows if row["impl"].startswith("libtle"))
    return 1 if not right else 0 if whole else 3


if __name__ == "__main__":
    sys.exit(main())
