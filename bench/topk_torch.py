#!/usr/bin/env python3
"""Times tle_topk_select beside torch.topk on one GPU, in one run.

Both are captured into CUDA graphs of LAUNCHES calls; a replay is timed with events, the figure is the
median over REPLAYS replays divided by LAUNCHES. Hot: every call reads the same scores. Cold: calls go
round a ring of copies that together exceed the L2 cache several times, so each call finds its row
evicted. Every result is compared with a reference before it is timed.

--foreign NAME=FOLDER/STEM adds a kernel of another project with the arguments of FlagTree's selectors,
compiled by tlec into STEM.cubin and STEM.meta; its result is compared as a set, since its order is not
defined.

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
        p, needed = self.params(scores, indices), ctypes.c_size_t()
        self.check(self.lib.tle_topk_select_explain(self.handle, ctypes.byref(p), None, 0, ctypes.byref(needed)))
        text = ctypes.create_string_buffer(needed.value)
        self.check(self.lib.tle_topk_select_explain(self.handle, ctypes.byref(p), text, needed, None))
        return text.value.decode().strip().rpartition("chosen: ")[2]


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


class Foreign:
    """A kernel (x, out, starts, ends, stride_xm, stride_xn, stride_outm, stride_outn, seq_len)."""

    DYNAMIC_SHARED, CLUSTER_DIMENSION = 8, 4  # CUfunction_attribute, CUlaunchAttributeID

    def __init__(self, stem):
        with open(stem + ".meta", encoding="utf-8") as f:
            self.meta = json.load(f)
        self.driver, self.function, module = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
        with open(stem + ".cubin", "rb") as f:
            self.check(self.driver.cuModuleLoadData(ctypes.byref(module), f.read()))
        self.check(self.driver.cuModuleGetFunction(ctypes.byref(self.function), module, self.meta["kernel"].encode()))
        self.check(self.driver.cuFuncSetAttribute(self.function, self.DYNAMIC_SHARED, self.meta["shared_bytes"]))

    @staticmethod
    def check(code):
        if code:
            raise RuntimeError(f"driver error {code}")

    def prepare(self, scores, indices):
        rows, columns = scores.shape
        self.starts = torch.zeros(rows, dtype=torch.int32, device="cuda")
        self.ends = torch.full((rows,), columns, dtype=torch.int32, device="cuda")
        self.indices = indices

    def select(self, scores):
        pointers = [scores.data_ptr(), self.indices.data_ptr(), self.starts.data_ptr(), self.ends.data_ptr()]
        numbers = [scores.stride(0), 1, self.indices.stride(0), 1, scores.shape[1]]
        values = [ctypes.c_uint64(p) for p in pointers] + [ctypes.c_int32(n) for n in numbers]
        addresses = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        cluster = self.meta["cluster"][0]
        attribute = LaunchAttribute(id=self.CLUSTER_DIMENSION)
        attribute.value[:3] = [cluster, 1, 1]
        config = LaunchConfig(shared=self.meta["shared_bytes"], stream=torch.cuda.current_stream().cuda_stream,
                              attributes=ctypes.pointer(attribute), count=1)
        config.grid[:] = [scores.shape[0] * cluster, 1, 1]
        config.block[:] = [self.meta["threads"], 1, 1]
        self.check(self.driver.cuLaunchKernelEx(ctypes.byref(config), self.function, addresses, None))


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


def measure(lib, foreign, rows, columns, k):
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
    ops = {"libtle": ours, "torch.topk": torchs}
    for name, kernel in foreign.items():
        own = torch.full_like(indices, -1)
        kernel.prepare(scores, own)
        kernel.select(scores)
        torch.cuda.synchronize()
        correct[name] = bool((own.sort(dim=1).values == want).all())
        ops[name] = kernel.select
    floor = rows * columns * 4 / READ_BANDWIDTH * 1e6
    for impl, op in ops.items():
        hot, cold, spread = hot_and_cold(op, scores)
        yield {"op": "topk_select", "shape": {"rows": rows, "len": columns, "k": k}, "dtype": "fp32", "impl": impl,
               "version": torch.__version__ if impl == "torch.topk" else lib.lib.tle_build_info().decode(),
               "variant": lib.variant(scores, indices) if impl == "libtle" else "",
               "us_hot": round(hot, 2), "us_cold": round(cold, 2), "floor_us": round(floor, 2),
               "correct": correct[impl], "spread": round(spread, 3)}


def main():
    arg = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arg.add_argument("--library", required=True, help="path of libtle.so")
    arg.add_argument("--out", required=True, help="JSON file to write")
    arg.add_argument("--k", type=int, default=2048)
    arg.add_argument("--foreign", action="append", default=[], metavar="NAME=STEM", help="a kernel compiled by tlec")
    arg.add_argument("--commit", default="", help="commit of the library, for the record")
    a = arg.parse_args()
    torch.zeros(1, device="cuda")  # makes the context current, for kernels loaded through the driver
    lib, rows = Library(a.library), []
    foreign = {name: Foreign(stem) for name, stem in (f.split("=", 1) for f in a.foreign)}
    for shape in SHAPES:
        for row in measure(lib, foreign, *shape, a.k):
            rows.append(row)
            print(f"{shape[0]:4d} x {shape[1]:8d}  {row['impl']:26s} {row['us_hot']:9.2f} hot {row['us_cold']:9.2f} cold "
                  f"{'right' if row['correct'] else 'WRONG'}  {row['variant']}", flush=True)
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                            capture_output=True, text=True, check=False).stdout.strip().split("\n")[0]
    command = " ".join(["python3 bench/topk_torch.py --library libtle.so --out results.json --k %d" % a.k,
                        *(f"--foreign '{f.split('=', 1)[0]}=...'" for f in a.foreign)])
    with open(a.out, "w", encoding="utf-8") as f:
        head = {"schema": 1, "device": torch.cuda.get_device_name(), "driver": driver, "cuda": torch.version.cuda,
                "commit": a.commit, "command": command}
        text = json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]}\n"
        f.write(text)
    return 0 if all(r["correct"] for r in rows if r["impl"] == "libtle") else 1


if __name__ == "__main__":
    sys.exit(main())
