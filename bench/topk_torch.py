#!/usr/bin/env python3
"""Times tle_topk_select beside torch.topk on one GPU, in one run.

Both are captured into CUDA graphs of LAUNCHES calls; a replay is timed with events, the figure is the
median over REPLAYS replays divided by LAUNCHES. Hot: every call reads the same scores. Cold: calls go
round a ring of copies that together exceed the L2 cache several times, so each call finds its row
evicted. Every result is compared with a reference before it is timed.

Writes bench/results-style JSON (see docs/metadata.md) to --out.
"""
import argparse
import ctypes
import json
import statistics
import subprocess
import sys

import torch

LAUNCHES, REPLAYS, WARMUPS = 16, 30, 3
RING_BYTES = 256 << 20
READ_BANDWIDTH = 4.40e12  # bytes/s that a read-only kernel reaches on an H200

SHAPES = [(1, 4096), (1, 16384), (1, 65536), (1, 131072), (1, 262144), (1, 1048576),
          (8, 131072), (64, 4096), (64, 131072), (256, 4096), (256, 16384), (256, 131072)]


class Params(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dtype", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("rows", ctypes.c_int64), ("columns", ctypes.c_int64), ("k", ctypes.c_int64),
                ("scores", ctypes.c_void_p), ("row_stride", ctypes.c_int64), ("lengths", ctypes.c_void_p),
                ("row_starts", ctypes.c_void_p), ("indices", ctypes.c_void_p),
                ("index_row_stride", ctypes.c_int64)]


FLOAT32 = (2 << 8) | 32


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.tle_last_error.restype = ctypes.c_char_p
        self.lib.tle_build_info.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.check(self.lib.tle_create(ctypes.byref(self.handle), None))
        self.check(self.lib.tle_preload(self.handle, b"topk_select"))

    def check(self, status):
        if status:
            raise RuntimeError(f"status {status}: {self.lib.tle_last_error().decode()}")

    def params(self, scores, indices):
        rows, columns = scores.shape
        return Params(ctypes.sizeof(Params), FLOAT32, 0, rows, columns, indices.shape[1], scores.data_ptr(),
                      scores.stride(0), None, None, indices.data_ptr(), indices.stride(0))

    def select(self, scores, indices):
        p = self.params(scores, indices)
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.check(self.lib.tle_topk_select(self.handle, ctypes.byref(p), None, 0, stream))

    def variant(self, scores, indices):
        p, text = self.params(scores, indices), ctypes.create_string_buffer(8192)
        self.check(self.lib.tle_topk_select_explain(self.handle, ctypes.byref(p), text, len(text), None))
        words = [w.strip(".,:;()") for w in text.value.decode().split()]
        return next((w for w in words if w.startswith("topk_select__")), "")


def reference(scores, k):
    """Stable sort by value descending: ties go to the smallest index. No NaN in these inputs."""
    order = torch.sort(scores, dim=1, descending=True, stable=True).indices[:, :k]
    return order.sort(dim=1).values.int()


def time_graph(calls):
    """Median microseconds per call and the relative spread (p90 - p10) / median."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for call in calls:
            call()
    times = []
    for i in range(REPLAYS + WARMUPS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if i >= WARMUPS:
            times.append(begin.elapsed_time(end) * 1e3 / len(calls))
    times.sort()
    median = statistics.median(times)
    return median, (times[int(0.9 * len(times))] - times[int(0.1 * len(times))]) / median


def hot_and_cold(op, scores):
    copies = min(64, max(LAUNCHES, RING_BYTES // (scores.numel() * 4)))
    hot, spread = time_graph([lambda: op(scores)] * LAUNCHES)
    if scores.numel() * 4 >= RING_BYTES:
        return hot, hot, spread
    ring = [scores.clone() for _ in range(copies)]
    filler = None
    if copies * scores.numel() * 4 < RING_BYTES:  # too little data to overflow L2: wipe it between calls
        filler = torch.empty(RING_BYTES // 4, dtype=torch.float32, device=scores.device)
        with_wipe, _ = time_graph([f for s in ring[:LAUNCHES] for f in (filler.zero_, lambda s=s: op(s))])
        wipe, _ = time_graph([filler.zero_] * LAUNCHES)
        return hot, 2 * with_wipe - wipe, spread
    cold, _ = time_graph([lambda s=s: op(s) for s in ring])
    return hot, cold, spread


def measure(lib, rows, columns, k):
    torch.manual_seed(rows * 7919 + columns)
    scores = torch.randn(rows, columns, device="cuda")
    indices = torch.empty(rows, k, dtype=torch.int32, device="cuda")
    keep = torch.empty(0)

    def ours(s):
        lib.select(s, indices)

    def torchs(s):
        nonlocal keep
        keep = torch.topk(s, k, dim=1, sorted=False).indices

    want = reference(scores, k)
    ours(scores)
    torchs(scores)
    torch.cuda.synchronize()
    correct = {"libtle": bool((indices == want).all()),
               "torch.topk": bool((keep.sort(dim=1).values.int() == want).all())}
    floor = rows * columns * 4 / READ_BANDWIDTH * 1e6
    for impl, op in (("libtle", ours), ("torch.topk", torchs)):
        hot, cold, spread = hot_and_cold(op, scores)
        yield {"op": "topk_select", "shape": {"rows": rows, "len": columns, "k": k}, "dtype": "fp32", "impl": impl,
               "version": lib.lib.tle_build_info().decode() if impl == "libtle" else torch.__version__,
               "variant": lib.variant(scores, indices) if impl == "libtle" else "",
               "us_hot": round(hot, 2), "us_cold": round(cold, 2), "floor_us": round(floor, 2),
               "correct": correct[impl], "spread": round(spread, 3)}


def main():
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--library", required=True, help="path of libtle.so")
    arg.add_argument("--out", required=True, help="JSON file to write")
    arg.add_argument("--k", type=int, default=2048)
    arg.add_argument("--commit", default="", help="commit of the library, for the record")
    a = arg.parse_args()
    lib, rows = Library(a.library), []
    for shape in SHAPES:
        for row in measure(lib, *shape, a.k):
            rows.append(row)
            print(f"{shape[0]:4d} x {shape[1]:8d}  {row['impl']:10s} {row['us_hot']:9.2f} hot {row['us_cold']:9.2f} cold "
                  f"{'right' if row['correct'] else 'WRONG'}  {row['variant']}", flush=True)
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False).stdout.strip().split("\n")[0]
    command = "python3 bench/topk_torch.py --library libtle.so --out results.json --k %d" % a.k
    with open(a.out, "w", encoding="utf-8") as f:
        head = {"schema": 1, "device": torch.cuda.get_device_name(), "driver": driver, "cuda": torch.version.cuda,
                "commit": a.commit, "command": command}
        text = json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]}\n"
        f.write(text)
    return 0 if all(r["correct"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
