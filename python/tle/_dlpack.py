"""Reads what __dlpack__ gives: the structs of dlpack.h 1.x (and the unversioned one before it).

A capsule is borrowed, never consumed: it keeps its name, so its own destructor gives the tensor back
when the last reference to it goes. tests/python/test_abi.py compares the structs with
third_party/dlpack/dlpack.h.
"""
import ctypes
from ctypes import POINTER, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
DEVICE_NAMES = {CPU: "cpu", CUDA: "cuda", CUDA_HOST: "pinned host", CUDA_MANAGED: "managed"}
MAX_VERSION = (1, 1)
READ_ONLY, IS_COPIED = 1, 2


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p), ("device", DLDevice), ("ndim", c_int32), ("dtype", DLDataType),
        ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


class DLPackVersion(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32)]


class DLManagedTensorVersioned(ctypes.Structure):
    _fields_ = [
        ("version", DLPackVersion), ("manager_ctx", c_void_p), ("deleter", c_void_p),
        ("flags", c_uint64), ("dl_tensor", DLTensor),
    ]


STRUCTS = (DLDevice, DLDataType, DLTensor, DLManagedTensor, DLPackVersion, DLManagedTensorVersioned)

_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, [ctypes.py_object, ctypes.c_char_p]


def request(tensor, stream):
    """The producer's capsule, versioned where it can. stream is for CUDA memory alone, in DLPack's
    numbering (1 legacy, 2 per thread, else a handle)."""
    words = {} if stream is None else {"stream": stream}
    try:
        return tensor.__dlpack__(max_version=MAX_VERSION, **words)
    except TypeError:  # a producer from before DLPack 1.0
        return tensor.__dlpack__(**words)


def read(capsule):
    """(DLTensor, flags) of a capsule; both live as long as the capsule. ValueError says why not."""
    if _is_valid(capsule, b"dltensor_versioned"):
        managed = DLManagedTensorVersioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        if managed.version.major != MAX_VERSION[0]:
            raise ValueError(f"it is DLPack {managed.version.major}.{managed.version.minor}, "
                             f"and 1.x is understood")
        return managed.dl_tensor, managed.flags
    if _is_valid(capsule, b"dltensor"):
        return DLManagedTensor.from_address(_pointer(capsule, b"dltensor")).dl_tensor, 0
    raise ValueError("__dlpack__ gave no fresh DLPack capsule")
