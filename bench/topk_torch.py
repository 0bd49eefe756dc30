#!/usr/bin/env python3
"""Times tle_topk_select beside torch.topk and any number of other libraries on one GPU, in one run.

    bench/topk_torch.py --library libtle.so --out results.json [--peer LIBRARY]... [--foreign NAME=STEM]...
        [--rows 1,2,...] [--lengths 4096,...] [--k 512,...] [--scores randn,narrow,...] [--hot-k 512,...]
        [--forced NAME=VARIANT]... [--dependent] [--odd] [--check] [--resume] [--budget SECONDS]

A peer exports the launcher of bench/support/peer.h. A foreign kernel has the arguments of FlagTree's selectors and was
compiled by tlec into STEM.cubin and STEM.meta. How calls are timed: timing.py. The result of every implementation is
checked before its calls are timed and again after the last replay; of those that promise no order as a set.

libtle is timed without lengths, and once more with the array of full lengths that every peer is given. --forced times
one of its variants by the name `libtle, NAME` wherever that is legal. --dependent adds `libtle, launched dependent`, each
call programmatically dependent on the one before it (TLE_LAUNCH_DEPENDENT); then peers should do so, too. --odd adds
what odd rows cost libtle beside normal ones, at a few shapes. Of the sizes of --hot-k no cold times are taken.

The file is written after every shape. --resume leaves out what it has already, --budget begins no shape after so many
seconds; several short runs are as good as a long one, since all implementations of a shape are timed together.

--check ends the run with a table of which kinds of scores each gets right (correctness.py). A library that crashes
there ends the run; what was measured until then is in the file. The file has the schema of bench/results/.
"""
import argparse
import json
import os
import re
import sys
import time

import torch

import correctness
import implementations
import scores as score_kinds
import timing

POOL_BYTES = 1 << 30
READ_BANDWIDTH = 4.40e12  # bytes/s that a read-only kernel reaches on an H200
ROWS = "1,2,4,8,16,32,64,128,256"
LENGTHS = "4096,8192,16384,32768,65536,131072,262144,524288,1048576"
ODD_SHAPES = [(1, 131072, 2048), (64, 131072, 2048), (256, 131072, 2048), (256, 4096, 2048), (64, 16384, 2048),
              (8, 1048576, 2048)]


def driver_version():
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as f:
            return re.search(r"\s(\d+\.\d+(\.\d+)?)\s", f.readline())[1]
    except (OSError, TypeError):
        return ""


class Record:
    """The file: rewritten after every shape, and taken up again to resume."""

    def __init__(self, path, command, commit, resume=False):
        self.path, self.rows, self.done = path, [], set()
        self.head = {"schema": 1, "device": torch.cuda.get_device_name(), "driver": driver_version(),
                     "cuda": torch.version.cuda, "commit": commit, "command": command}
        if resume and os.path.exists(path):
            self.take_up()

    def take_up(self):
        with open(self.path, encoding="utf-8") as f:
            old = json.load(f)
        for name in ("device", "driver", "cuda", "commit"):
            if old[name] != self.head[name]:
                sys.exit(f"{self.path}: cannot be resumed, its {name} is {old[name]!r} and not {self.head[name]!r}")
        self.rows = old["rows"]
        commands = old["command"].split("; ")
        self.head["command"] = "; ".join(commands + [self.head["command"]] * (self.head["command"] not in commands))
        self.done = {(row.get("values", "randn"), tuple(row["shape"].items()), row["dtype"]) for row in self.rows}
        if "kinds" in old:
            self.head["kinds"] = old["kinds"]

    def has(self, kind, shape, dtype="fp32"):
        """Whether the file had it when it was taken up."""
        return (kind, tuple(shape.items()), dtype) in self.done

    def write(self):
        text = json.dumps(self.head)[:-1] + ', "rows": [\n' + ",\n".join(map(json.dumps, self.rows)) + "\n]}\n"
        with open(self.path + ".part", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(self.path + ".part", self.path)


def measure(impl, copies, lengths, keys, want, timer, with_cold=True):
    """Times, and whether all results were right; None where the implementation does not take the shape. The keys are in
    the order of the scores."""
    scores, right = copies[0], []
    if not impl.prepare(scores, lengths, want.values.shape[1]):
        return None

    def check():
        right.append(correctness.is_right(impl, keys, want))
        impl.indices().fill_(-7)
        torch.cuda.synchronize()

    impl.call(scores)
    torch.cuda.synchronize()
    check()
    return timer.measure(impl.call, copies, check, with_cold), all(right)


def label(shape):
    return dict(zip(("rows", "len", "k"), shape))


def rounded(time):
    return None if time is None else round(time, 2)


def row_of(impl, kind, scores, k, times, right):
    rows, columns = scores.shape
    row = {"op": "topk_select", "shape": label((rows, columns, k)), "dtype": "fp32", "impl": impl.name,
           "version": impl.version, "variant": impl.variant(), "us_hot": round(times.hot, 2),
           "us_cold": rounded(times.cold), "floor_us": round(4 * scores.numel() / READ_BANDWIDTH * 1e6, 2),
           "correct": right, "spread": round(times.spread, 3)}
    return row if kind == "randn" else {**row, "values": kind}


def copies_of(pool, kind, rows, columns):
    if pool is None:
        return score_kinds.copies_of(kind, rows, columns, POOL_BYTES, timing.CALLS)
    count = rows * columns
    return [pool[i * count:(i + 1) * count].view(rows, columns) for i in range(min(timing.CALLS, len(pool) // count))]


def at_shape(impls, pool, kind, shape, timer, with_cold=True):
    rows, columns, k = shape
    copies = copies_of(pool, kind, rows, columns)
    lengths = torch.full((rows,), columns, dtype=torch.int32, device="cuda")
    keys = score_kinds.ordered(copies[0]) if kind in score_kinds.NAN else copies[0]
    want = correctness.exact(keys, k)
    for impl in impls:
        measured = measure(impl, copies, lengths, keys, want, timer, with_cold)
        if measured:
            yield row_of(impl, kind, copies[0], k, *measured)


def times_text(row):
    cold = "" if row["us_cold"] is None else f"/{row['us_cold']:.2f}"
    return f"{row['impl']} {row['us_hot']:.2f}{cold}{'' if row['correct'] else ' WRONG'}"


def show(kind, shape, found):
    own = next((row["us_hot"] for row in found if row["impl"] == "libtle"), None)
    others = [row["us_hot"] for row in found if row["correct"] and not row["impl"].startswith("libtle")]
    ratio = f"{min(others) / own:5.2f}" if own and others else "    –"
    text = "  ".join(map(times_text, found))
    print(f"{shape[0]:4d} x {shape[1]:8d} k {shape[2]:4d} {kind:13s} {ratio}  {text}", flush=True)


def plan(a, impls):
    """{kind: [(shape, implementations)]}"""
    found = {kind: [((r, n, k), impls) for k in a.k for r in a.rows for n in a.lengths if k < n] for kind in a.scores}
    for kind in ["randn", *score_kinds.ODD] if a.odd else []:
        here = found.setdefault(kind, [])
        taken = {shape for shape, _ in here}
        here += [(shape, impls[:1]) for shape in ODD_SHAPES if shape not in taken]
    return found


class Budget:
    """Seconds that a sweep may take."""

    def __init__(self, seconds):
        self.end = time.time() + seconds if seconds else None

    def used_up(self):
        return self.end is not None and time.time() > self.end


def sweep(a, impls, record):
    """False where the budget ended it."""
    timer, budget = timing.Timer(), Budget(a.budget)
    for kind, points in plan(a, impls).items():
        left = [point for point in points if not record.has(kind, label(point[0]))]
        room = max([POOL_BYTES // 4, *(shape[0] * shape[1] for shape, _ in left)])
        pool = score_kinds.pool(kind, room) if left and kind in score_kinds.TIMED else None
        for shape, own in left:
            if budget.used_up():
                print("the budget is used up; --resume goes on", flush=True)
                return False
            found = list(at_shape(own, pool, kind, shape, timer, shape[2] not in a.hot_k))
            show(kind, shape, found)
            record.rows += found
            record.write()
        del pool
    return True


def check_kinds(impls, record):
    kinds = record.head.setdefault("kinds", {})
    for impl in impls:
        if impl.name in kinds:
            continue
        kinds[impl.name] = found = correctness.verdicts(impl)
        record.write()
        odd = ", ".join(f"{kind} {verdict}" for kind, verdict in found.items() if verdict != "right")
        print(f"{impl.name}: {odd or 'right on every kind'}", flush=True)


def numbers(text):
    return [int(word) for word in text.split(",")]


def arguments():
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--library", required=True, help="path of libtle.so")
    arg.add_argument("--out", required=True, help="JSON file to write")
    arg.add_argument("--peer", action="append", default=[], metavar="LIBRARY", help="a library with the launcher")
    arg.add_argument("--foreign", action="append", default=[], metavar="NAME=STEM", help="a kernel compiled by tlec")
    arg.add_argument("--rows", type=numbers, default=ROWS)
    arg.add_argument("--lengths", type=numbers, default=LENGTHS)
    arg.add_argument("--k", type=numbers, default="512,1024,2048")
    arg.add_argument("--scores", type=lambda text: text.split(","), default="randn",
                     help="kinds, of " + ", ".join(score_kinds.KINDS))
    arg.add_argument("--hot-k", type=numbers, default=[], help="sizes of which no cold times are taken")
    arg.add_argument("--forced", action="append", default=[], metavar="NAME=VARIANT", help="also time a variant of libtle")
    arg.add_argument("--dependent", action="store_true", help="also launch libtle dependent on the call before it")
    arg.add_argument("--odd", action="store_true", help="also what odd rows cost libtle")
    arg.add_argument("--check", action="store_true", help="also make the table of kinds")
    arg.add_argument("--resume", action="store_true", help="go on with the file of --out")
    arg.add_argument("--budget", type=float, metavar="SECONDS", help="begin no shape after so long")
    arg.add_argument("--commit", default="", help="commit of the library, for the record")
    return arg.parse_args()


def lists_of(a):
    """The options that are lists, where they are not the usual ones."""
    usual = {"rows": ROWS, "lengths": LENGTHS, "k": "512,1024,2048", "scores": "randn", "hot_k": ""}
    for name, text in usual.items():
        own = ",".join(map(str, getattr(a, name)))
        if sorted(own.split(",")) != sorted(text.split(",")):
            yield f"--{name.replace('_', '-')} '{own}'" if " " in own else f"--{name.replace('_', '-')} {own}"


def command_of(a):
    """Without the paths of this machine."""
    words = [f"--peer {os.path.basename(path)}" for path in a.peer]
    words += [f"--foreign '{text.split('=', 1)[0]}=...'" for text in a.foreign]
    words += [f"--forced '{text}'" for text in a.forced] + list(lists_of(a))
    words += [f"--{name}" for name in ("dependent", "odd", "check") if getattr(a, name)]
    return " ".join(["python3 bench/topk_torch.py --library libtle.so --out results.json", *words])


def implementations_of(a):
    """libtle first."""
    library = implementations.Library(a.library)
    impls = [implementations.Ours(library), implementations.Ours(library, "libtle, lengths given", True)]
    if a.dependent:
        dependent = implementations.Library(a.library, implementations.LAUNCH_DEPENDENT)
        impls.append(implementations.Ours(dependent, "libtle, launched dependent"))
    for name, variant in (text.split("=", 1) for text in a.forced):
        impls.append(implementations.Ours(implementations.Library(a.library, variant=variant), f"libtle, {name}"))
    impls += [implementations.Torch(), *(implementations.Peer(os.path.abspath(path)) for path in a.peer)]
    return impls + [implementations.Foreign(*text.split("=", 1)) for text in a.foreign]


def main():
    a, begin = arguments(), time.time()
    torch.zeros(1, device="cuda")  # makes the context current, for kernels loaded through the driver
    impls = implementations_of(a)
    record = Record(a.out, command_of(a), a.commit, a.resume)
    whole = sweep(a, impls, record)
    if a.check:
        check_kinds(impls, record)
    print(f"{time.time() - begin:.0f} seconds")
    right = all(row["correct"] for row in record.rows if row["impl"].startswith("libtle"))
    return 1 if not right else 0 if whole else 3


if __name__ == "__main__":
    sys.exit(main())
