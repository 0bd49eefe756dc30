"""What bench/topk_torch.py times: libtle, torch, libraries that export the launcher of support/peer.h, and kernels of
other projects that tlec compiled. Each has name, version, ragged (whether rows may be shorter than the columns) and

    prepare(scores, lengths, k)    makes room for calls of the shape; False where it does not take such calls
    call(scores)                   enqueues one in torch's current stream
    indices()                      [rows, k] int32 of the last call
    variant()                      the kernel that ran, for the record
    ordered                        whether indices ascend and ties go to the smallest index
"""
import contextlib
import ctypes
import json
import os

import torch


def stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def workspace_of(size):
    return torch.zeros(size, dtype=torch.uint8, device="cuda") if size else None


def address(tensor):
    return tensor.data_ptr() if tensor is not None else None


class Params(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dtype", ctypes.c_int32), ("flags", ctypes.c_uint32),
                ("rows", ctypes.c_int64), ("columns", ctypes.c_int64), ("k", ctypes.c_int64),
                ("scores", ctypes.c_void_p), ("row_stride", ctypes.c_int64), ("lengths", ctypes.c_void_p),
                ("row_starts", ctypes.c_void_p), ("indices", ctypes.c_void_p),
                ("index_row_stride", ctypes.c_int64)]


FLOAT32 = (2 << 8) | 32
LAUNCH_DEPENDENT = 1  # of the flags
NO_VARIANT = 15  # a status


@contextlib.contextmanager
def environment(name, value):
    """The variable for a while; as it is with no value."""
    old = os.environ.get(name)
    if value:
        os.environ[name] = value
    try:
        yield
    finally:
        if value and old is None:
            del os.environ[name]
        elif value:
            os.environ[name] = old


class Library:
    """libtle by its C interface, perhaps with one variant forced."""

    def __init__(self, path, flags=0, variant=None):
        self.lib, self.flags = ctypes.CDLL(path), flags
        self.lib.tle_last_error.restype = ctypes.c_char_p
        self.lib.tle_build_info.restype = ctypes.c_char_p
        self.handle, self.workspace, self.workspace_size = ctypes.c_void_p(), None, 0
        with environment("TLE_FORCE_VARIANT", variant):
            self.check(self.lib.tle_create(ctypes.byref(self.handle), None))
        if not variant:
            self.check(self.lib.tle_preload(self.handle, b"topk_select"))

    def check(self, status):
        if status:
            raise RuntimeError(f"status {status}: {self.lib.tle_last_error().decode()}")

    def version(self):
        return self.lib.tle_build_info().decode()

    def params(self, scores, indices, lengths=None):
        rows, columns = scores.shape
        return Params(ctypes.sizeof(Params), FLOAT32, self.flags, rows, columns, indices.shape[1], scores.data_ptr(),
                      scores.stride(0), address(lengths), None, indices.data_ptr(), indices.stride(0))

    def reserve(self, scores, indices, lengths=None):
        """Room for the calls to come; False where no variant takes them, as a forced one may not."""
        p, size = self.params(scores, indices, lengths), ctypes.c_size_t()
        status = self.lib.tle_topk_select_workspace_size(self.handle, ctypes.byref(p), ctypes.byref(size))
        if status == NO_VARIANT:
            return False
        self.check(status)
        self.workspace, self.workspace_size = workspace_of(size.value), size.value
        return True

    def select(self, scores, indices, lengths=None):
        p = self.params(scores, indices, lengths)
        self.check(self.lib.tle_topk_select(self.handle, ctypes.byref(p), ctypes.c_void_p(address(self.workspace)),
                                            ctypes.c_size_t(self.workspace_size), stream()))

    def variant(self, scores, indices, lengths=None):
        p, needed = self.params(scores, indices, lengths), ctypes.c_size_t()
        explain = self.lib.tle_topk_select_explain
        self.check(explain(self.handle, ctypes.byref(p), None, ctypes.c_size_t(), ctypes.byref(needed)))
        text = ctypes.create_string_buffer(needed.value)
        self.check(explain(self.handle, ctypes.byref(p), text, needed, None))
        return text.value.decode().strip().rpartition("chosen: ")[2]


class Ours:
    ordered = ragged = True

    def __init__(self, library, name="libtle", with_lengths=False):
        self.library, self.name, self.with_lengths = library, name, with_lengths
        self.version = library.version()

    def prepare(self, scores, lengths, k):
        full = bool((lengths == scores.shape[1]).all())
        self.lengths = lengths if self.with_lengths or not full else None
        self.out, self.scores = torch.empty(len(scores), k, dtype=torch.int32, device="cuda"), scores
        return self.library.reserve(scores, self.out, self.lengths)

    def call(self, scores):
        self.library.select(scores, self.out, self.lengths)

    def indices(self):
        return self.out

    def variant(self):
        return self.library.variant(self.scores, self.out, self.lengths)


class Torch:
    name, version, ordered, ragged = "torch.topk", torch.__version__, False, False

    def prepare(self, scores, _lengths, k):
        shape = (len(scores), k)
        self.values = torch.empty(shape, device="cuda")
        self.out, self.k = torch.empty(shape, dtype=torch.int64, device="cuda"), k
        return k <= scores.shape[1]

    def call(self, scores):
        torch.topk(scores, self.k, dim=1, sorted=False, out=(self.values, self.out))

    def indices(self):
        return self.out

    def variant(self):
        return ""


class Peer:
    """A library with the launcher of support/peer.h."""

    ordered = False
    UNSUPPORTED = -1

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.tle_peer_name.restype = self.lib.tle_peer_version.restype = ctypes.c_char_p
        self.name, self.version = self.lib.tle_peer_name().decode(), self.lib.tle_peer_version().decode()
        self.ragged = bool(self.lib.tle_peer_ragged())

    def prepare(self, scores, lengths, k):
        rows, columns = scores.shape
        size, self.k, self.lengths = ctypes.c_size_t(), k, lengths
        sizes = [ctypes.c_int64(number) for number in (rows, columns, k)]
        code = self.lib.tle_peer_workspace_size(*sizes, ctypes.byref(size))
        if code == self.UNSUPPORTED:
            return False
        self.out = torch.empty(rows, k, dtype=torch.int32, device="cuda")
        self.workspace, self.workspace_size = workspace_of(size.value), size.value
        return self.launch(scores) != self.UNSUPPORTED

    def launch(self, scores):
        rows, columns = scores.shape
        code = self.lib.tle_peer_topk(
            ctypes.c_void_p(scores.data_ptr()), ctypes.c_int64(rows), ctypes.c_int64(columns),
            ctypes.c_int64(scores.stride(0)), ctypes.c_void_p(self.lengths.data_ptr()), ctypes.c_int64(self.k),
            ctypes.c_void_p(self.out.data_ptr()), ctypes.c_void_p(address(self.workspace)),
            ctypes.c_size_t(self.workspace_size), stream())
        if code not in (0, self.UNSUPPORTED):
            raise RuntimeError(f"{self.name}: CUDA error {code}")
        return code

    def call(self, scores):
        if self.launch(scores):
            raise RuntimeError(f"{self.name}: refuses what it took before")

    def indices(self):
        return self.out

    def variant(self):
        return ""


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


class Foreign:
    """A kernel (x, out, starts, ends, stride_xm, stride_xn, stride_outm, stride_outn, seq_len) in STEM.cubin."""

    DYNAMIC_SHARED, CLUSTER_DIMENSION = 8, 4  # CUfunction_attribute, CUlaunchAttributeID
    version, ordered, ragged = "compiled by tlec", False, True

    def __init__(self, name, stem):
        self.name = name
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

    def takes(self, k):
        return self.meta["const"].get("TOPK", k) == k

    def prepare(self, scores, lengths, k):
        self.starts, self.ends = torch.zeros_like(lengths), lengths
        self.out = torch.full((len(scores), k), -1, dtype=torch.int32, device="cuda")
        return self.takes(k)

    def call(self, scores):
        pointers = [scores.data_ptr(), self.out.data_ptr(), self.starts.data_ptr(), self.ends.data_ptr()]
        numbers = [scores.stride(0), 1, self.out.stride(0), 1, scores.shape[1]]
        values = [ctypes.c_uint64(p) for p in pointers] + [ctypes.c_int32(n) for n in numbers]
        addresses = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        cluster = self.meta["cluster"][0]
        attribute = LaunchAttribute(id=self.CLUSTER_DIMENSION)
        attribute.value[:3] = [cluster, 1, 1]
        config = LaunchConfig(shared=self.meta["shared_bytes"], stream=stream(),
                              attributes=ctypes.pointer(attribute), count=1)
        config.grid[:] = [scores.shape[0] * cluster, 1, 1]
        config.block[:] = [self.meta["threads"], 1, 1]
        self.check(self.driver.cuLaunchKernelEx(ctypes.byref(config), self.function, addresses, None))

    def indices(self):
        return self.out

    def variant(self):
        return self.meta["name"]
