#!/usr/bin/env python3
"""Times tle_topk_select beside torch.topk and any number of other libraries on one GPU, in one run.

    bench/topk_torch.py --library libtle.so --out results.json [--peer LIBRARY]... [--foreign NAME=STEM]...
        [--rows 1,2,...] [--lengths 4096,...] [--k 512,...] [--scores randn,narrow,...] [--dependent] [--check]

A peer exports the launcher of bench/support/peer.h. A foreign kernel has the arguments of FlagTree's selectors and was
compiled by tlec into STEM.cubin and STEM.meta. How calls are timed: timing.py. The result of every implementation is
checked before its calls are timed and again after the last replay; of those that promise no order as a set.

libtle is timed without lengths, and once more with the array of full lengths that every peer is given. --dependent
launches it programmatically dependent on the call before it (TLE_LAUNCH_DEPENDENT); then peers should do so, too.

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


def driver_version():
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as f:
            return re.search(r"\s(\d+\.\d+(\.\d+)?)\s", f.readline())[1]
    except (OSError, TypeError):
        return ""


class Record:
    """The file: rewritten after every shape."""

    def __init__(self, path, command, commit):
        self.path, self.rows = path, []
        self.head = {"schema": 1, "device": torch.cuda.get_device_name(), "driver": driver_version(),
                     "cuda": torch.version.cuda, "commit": commit, "command": command}

    def write(self):
        text = json.dumps(self.head)[:-1] + ', "rows": [\n' + ",\n".join(map(json.dumps, self.rows)) + "\n]}\n"
        with open(self.path + ".part", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(self.path + ".part", self.path)


def measure(impl, copies, lengths, keys, want, timer):
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
    return timer.measure(impl.call, copies, check), all(right)


def row_of(impl, kind, scores, k, times, right):
    rows, columns = scores.shape
    row = {"op": "topk_select", "shape": {"rows": rows, "len": columns, "k": k}, "dtype": "fp32", "impl": impl.name,
           "version": impl.version, "variant": impl.variant(), "us_hot": round(times.hot, 2),
           "us_cold": round(times.cold, 2), "floor_us": round(4 * scores.numel() / READ_BANDWIDTH * 1e6, 2),
           "correct": right, "spread": round(times.spread, 3)}
    return row if kind == "randn" else {**row, "values": kind}


def copies_of(pool, kind, rows, columns):
    if pool is None:
        return score_kinds.copies_of(kind, rows, columns, POOL_BYTES, timing.CALLS)
    count = rows * columns
    return [pool[i * count:(i + 1) * count].view(rows, columns) for i in range(min(timing.CALLS, len(pool) // count))]


def at_shape(impls, pool, kind, shape, timer):
    rows, columns, k = shape
    copies = copies_of(pool, kind, rows, columns)
    lengths = torch.full((rows,), columns, dtype=torch.int32, device="cuda")
    keys = score_kinds.ordered(copies[0]) if kind in score_kinds.NAN else copies[0]
    want = correctness.exact(keys, k)
    for impl in impls:
        measured = measure(impl, copies, lengths, keys, want, timer)
        if measured:
            yield row_of(impl, kind, copies[0], k, *measured)


def show(kind, shape, found):
    own = next((row["us_hot"] for row in found if row["impl"] == "libtle"), None)
    text = "  ".join(f"{row['impl']} {row['us_hot']:.2f}/{row['us_cold']:.2f}{'' if row['correct'] else ' WRONG'}"
                     for row in found)
    others = [row["us_hot"] for row in found if row["correct"] and not row["impl"].startswith("libtle")]
    ratio = f"{min(others) / own:5.2f}" if own and others else "    –"
    print(f"{shape[0]:4d} x {shape[1]:8d} k {shape[2]:4d} {kind:13s} {ratio}  {text}", flush=True)


def sweep(a, impls, record):
    timer = timing.Timer()
    shapes = [(r, n, k) for r in a.rows for n in a.lengths for k in a.k if k < n]
    for kind in a.scores:
        room = max(POOL_BYTES // 4, max(r * n for r, n, _ in shapes))
        pool = score_kinds.pool(kind, room) if kind in score_kinds.TIMED else None
        for shape in shapes:
            found = list(at_shape(impls, pool, kind, shape, timer))
            show(kind, shape, found)
            record.rows += found
            record.write()
        del pool


def check_kinds(impls, record):
    record.head["kinds"] = {}
    for impl in impls:
        found = correctness.verdicts(impl)
        record.head["kinds"][impl.name] = found
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
    arg.add_argument("--dependent", action="store_true", help="launch libtle dependent on the call before it")
    arg.add_argument("--check", action="store_true", help="also make the table of kinds")
    arg.add_argument("--commit", default="", help="commit of the library, for the record")
    return arg.parse_args()


def command_of(a):
    """Without the paths of this machine."""
    words = [f"--peer {os.path.basename(path)}" for path in a.peer]
    words += [f"--foreign '{text.split('=', 1)[0]}=...'" for text in a.foreign]
    words += [f"--scores {','.join(a.scores)}"] + ["--dependent"] * a.dependent + ["--check"] * a.check
    return " ".join(["python3 bench/topk_torch.py --library libtle.so --out results.json", *words])


def main():
    a, begin = arguments(), time.time()
    torch.zeros(1, device="cuda")  # makes the context current, for kernels loaded through the driver
    library = implementations.Library(a.library, implementations.LAUNCH_DEPENDENT if a.dependent else 0)
    impls = [implementations.Ours(library), implementations.Ours(library, "libtle, lengths given", True),
             implementations.Torch()]
    impls += [implementations.Peer(os.path.abspath(path)) for path in a.peer]
    impls += [implementations.Foreign(*text.split("=", 1)) for text in a.foreign]
    record = Record(a.out, command_of(a), a.commit)
    sweep(a, impls, record)
    if a.check:
        check_kinds(impls, record)
    print(f"{time.time() - begin:.0f} seconds")
    return 0 if all(row["correct"] for row in record.rows if row["impl"].startswith("libtle")) else 1


if __name__ == "__main__":
    sys.exit(main())
