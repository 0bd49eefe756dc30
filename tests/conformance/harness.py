"""Compiles one kernel with tlec and runs its PTX on the emulator, on NumPy arrays.

    run("arith.py", "add", grid=(4,), x=x, y=y, out=out, n=1000, BLOCK=1024, num_warps=4)

Arguments whose name is upper case are constexpr; arrays become pointers (in place: results are read
from the array that was passed), ints i32 and floats fp32 unless wrapped in Typed. All checks of the
emulator are on, so a race, an out-of-bounds access or a read of uninitialised memory fails the test.
"""
import ctypes
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

BUILD = pathlib.Path(os.environ["TLE_BUILD_DIR"])
KERNELS = pathlib.Path(__file__).parent / "kernels"
TLEC = BUILD / "bin" / "tlec"

SIGNATURES = {"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
              "uint32": "u32", "uint64": "u64", "float16": "fp16", "float32": "fp32", "float64": "fp64"}
STRUCT = {"i1": ctypes.c_int8, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
          "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
          "fp32": ctypes.c_float, "fp64": ctypes.c_double}


class Typed:
    """A value with an explicit signature type: Typed(array_of_uint16, "*bf16"), Typed(7, "i64:16")."""

    def __init__(self, value, signature):
        self.value, self.signature = value, signature


class CompileError(Exception):
    pass


def bf16_bits(x):
    """float32 -> bf16 bit patterns, round to nearest even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(x), 0x7FFF, rounded).astype(np.uint16)


def bf16_values(bits):
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)


def signature_of(value):
    if isinstance(value, Typed):
        return value.signature
    if isinstance(value, np.ndarray):
        return "*" + SIGNATURES[value.dtype.name]
    return "fp32" if isinstance(value, float) else "i32"


def is_constant(name, value):
    """Constants have upper-case names or are names of the module (@name)."""
    return name.isupper() or str(value).startswith("@")


def literal(value):
    return repr(value) if isinstance(value, (int, float, bool, str, type(None))) else str(value)


def compile_kernel(source, kernel, args, num_warps=4, target="sm_90a", extra=()):
    """(PTX text, metadata). `source` is a file of kernels/ or Python text with newlines."""
    with tempfile.TemporaryDirectory() as folder:
        path = KERNELS / source
        if "\n" in source:
            path = pathlib.Path(folder) / "kernel.py"
            path.write_text(source, encoding="utf-8")
        sig = ", ".join(f"{n}:{signature_of(v)}" for n, v in args.items() if not is_constant(n, v))
        command = [str(TLEC), str(path), "--kernel", kernel, "--target", target, "--num-warps", str(num_warps), "--sig",
                   sig, "--verify-each", "--source-root", str(path.parent), *extra]
        for name, value in args.items():
            if is_constant(name, value):
                command += ["--const", f"{name}={literal(value)}"]
        parts = []
        for emit in ("ptx", "meta"):
            out = pathlib.Path(folder) / emit
            done = subprocess.run(command + ["--emit", emit, "-o", str(out)], capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompileError(done.stderr or f"tlec ended with {done.returncode}")
            parts.append(out.read_text(encoding="utf-8"))
    return parts[0], json.loads(parts[1])


class _Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("sm_arch", ctypes.c_uint32), ("sm_count", ctypes.c_uint32),
                ("checks", ctypes.c_uint32), ("schedule", ctypes.c_uint32), ("seed", ctypes.c_uint64),
                ("instruction_limit", ctypes.c_uint64), ("max_reports", ctypes.c_uint32),
                ("shared_limit", ctypes.c_uint32), ("cost", ctypes.c_uint32), ("host_threads", ctypes.c_uint32)]


class _Launch(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
                ("cluster", ctypes.c_uint32 * 3), ("dynamic_shared_bytes", ctypes.c_uint32)]


_lib = None


def _library():
    global _lib
    if _lib is None:
        _lib = ctypes.CDLL(str(next(BUILD.glob("lib/libtle_emu.so"))))
        _lib.tle_emu_last_error.restype = ctypes.c_char_p
        _lib.tle_emu_last_error.argtypes = [ctypes.c_void_p]
        _lib.tle_emu_cost_json.restype = ctypes.c_char_p
        _lib.tle_emu_cost_json.argtypes = [ctypes.c_void_p]
        _lib.tle_emu_destroy.argtypes = [ctypes.c_void_p]
    return _lib


class Device:
    def __init__(self, cost=False, schedule=0, seed=0, checks=0):
        self.lib, self.handle = _library(), ctypes.c_void_p()
        options = _Options(struct_size=ctypes.sizeof(_Options), schedule=schedule, seed=seed, cost=int(cost), checks=checks,
                           instruction_limit=200_000_000)
        self.check(self.lib.tle_emu_create(ctypes.byref(options), ctypes.byref(self.handle)))

    def close(self):
        self.lib.tle_emu_destroy(self.handle)

    def check(self, status):
        if status:
            text = self.lib.tle_emu_last_error(self.handle).decode() if self.handle else ""
            raise AssertionError(f"emulator status {status}: {text}")

    def launch(self, ptx, meta, grid, args):
        module, kernel, text = ctypes.c_void_p(), ctypes.c_void_p(), ptx.encode()
        self.check(self.lib.tle_emu_module_load(self.handle, text, ctypes.c_size_t(len(text)), b"test.ptx",
                                                ctypes.byref(module)))
        self.check(self.lib.tle_emu_module_kernel(module, meta["kernel"].encode(), ctypes.byref(kernel)))
        values, arrays = [], []
        for parameter in meta["params"]:
            value = args[parameter["name"]]
            value = value.value if isinstance(value, Typed) else value
            if isinstance(value, np.ndarray):
                pointer = ctypes.c_void_p(value.ctypes.data)
                self.check(self.lib.tle_emu_register(self.handle, pointer, ctypes.c_size_t(value.nbytes), 0))
                arrays.append(pointer)
                values.append(ctypes.c_uint64(value.ctypes.data))
            else:
                values.append(STRUCT[parameter["type"]](value))
        pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.addressof(v) for v in values])
        cluster = meta.get("cluster", [1, 1, 1])
        config = _Launch(struct_size=ctypes.sizeof(_Launch), dynamic_shared_bytes=meta["shared_bytes"])
        config.grid[:] = (list(grid) + [1, 1])[:3]
        config.block[:] = [meta["threads"], 1, 1]
        config.cluster[:] = cluster
        status = self.lib.tle_emu_launch(self.handle, kernel, ctypes.byref(config), pointers)
        try:
            self.check(status)
        finally:
            for pointer in arrays:
                self.lib.tle_emu_unregister(self.handle, pointer)
            self.lib.tle_emu_module_unload(module)


ROUND_ROBIN, RANDOM, ADVERSARIAL = range(3)  # schedules of warps


def run(source, kernel, grid=(1,), num_warps=4, schedule=ROUND_ROBIN, seed=0, hidden=None, **args):
    """`hidden`: arguments of parameters that the compiler adds."""
    ptx, meta = compile_kernel(source, kernel, args, num_warps)
    device = Device(schedule=schedule, seed=seed)
    try:
        device.launch(ptx, meta, grid, {**args, **(hidden or {})})
    finally:
        device.close()


def errors(source, kernel, num_warps=4, **args):
    """The diagnostics of a kernel that must not compile."""
    try:
        compile_kernel(source, kernel, args, num_warps)
    except CompileError as e:
        return str(e)
    raise AssertionError(f"{kernel} compiled")
