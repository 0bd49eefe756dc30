"""One view of any array: where its memory is, of what type and shape.

Taken, in this order: torch.Tensor by data_ptr (torch is never imported here, only found), host arrays
by __array_interface__ (NumPy; works for read-only arrays too), anything else by DLPack.
"""
import sys

from . import _dlpack
from ._abi import DType
from ._library import refuse

# DLPack's type codes, and the kinds of __array_interface__ that are the same types.
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6, "c": 5}
_NAMES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_torch_dtypes = {}  # by torch's own objects; filled when a tensor is first seen
_TORCH_DTYPES = {
    "float32": 0x220, "float16": 0x210, "bfloat16": 0x410, "float64": 0x240, "int32": 0x020,
    "int64": 0x040, "int16": 0x010, "int8": 0x008, "uint8": 0x108, "uint16": 0x110, "uint32": 0x120,
    "uint64": 0x140, "complex64": 0x540, "bool": 0x608,
}



def dtype_name(dtype):
    return "bool" if dtype == 0x608 else f"{_NAMES.get(dtype >> 8, f'type {dtype >> 8} of bits ')}{dtype & 255}"


def dtype_number(dtype):
    """Of a tle.DType, its number or its name."""
    try:
        return DType[dtype.upper()] if isinstance(dtype, str) else DType(dtype)
    except (KeyError, ValueError):
        return refuse(f"dtype is {dtype!r}; it must be a tle.DType or its name")


def element_type(view, dtype):
    """What the elements are: of the view's own type, or of `dtype` where their library has none for them and
    they come as other elements of that size."""
    if dtype is None:
        return view.dtype
    wanted = dtype_number(dtype)
    if wanted & 255 != view.dtype & 255:
        refuse(f"{view.name} is {dtype_name(view.dtype)}, whose size is not that of {dtype_name(wanted)}")
    return wanted


class View:
    """pointer, shape, strides (in elements), dtype (code << 8 | bits), device (DLPack's pair).

    keep is what must stay alive while the memory is in use; empty(shape, name) makes another array of
    the same kind on the same device, or is None where that is not known how.
    """
    __slots__ = ("name", "pointer", "shape", "strides", "dtype", "device", "writable", "keep", "empty")

    def __init__(self, name, pointer, shape, strides, dtype, device, writable, keep, empty):
        self.name, self.pointer, self.shape, self.strides = name, pointer, shape, strides
        self.dtype, self.device, self.writable = dtype, device, writable
        self.keep, self.empty = keep, empty

    def need(self, dtype, shape):
        """Refuses another type or shape, and rows whose elements do not lie side by side."""
        if self.dtype != dtype:
            refuse(f"{self.name} is {dtype_name(self.dtype)}; it must be {dtype_name(dtype)}")
        if self.shape != shape:
            refuse(f"{self.name} has shape {list(self.shape)}; it must have {list(shape)}")
        self.need_dense()
        return self

    def need_dense(self):
        if self.strides and self.strides[-1] != 1 and self.shape[-1] > 1:
            refuse(f"{self.name} has stride {self.strides[-1]} in its last dimension; it must be 1")

    def need_writable(self):
        if not self.writable:
            refuse(f"{self.name} is read-only")
        return self


def device_text(device):
    kind, ordinal = device
    name = _dlpack.DEVICE_NAMES.get(kind, f"DLPack device {kind}")
    return name if kind == _dlpack.CPU else f"{name}:{ordinal}"


def torch_of(array):
    """The torch module if array is one of its tensors; torch is not imported for the question."""
    torch = sys.modules.get("torch")
    tensor = getattr(torch, "Tensor", None)
    return torch if tensor is not None and isinstance(array, tensor) else None


def dense_strides(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


# ---- torch ----

def _view_torch(name, tensor, torch):
    if tensor.layout is not torch.strided:
        refuse(f"{name} is a {tensor.layout} tensor; it must be strided")
    if not _torch_dtypes:
        _torch_dtypes.update((getattr(torch, n), number) for n, number in _TORCH_DTYPES.items()
                             if hasattr(torch, n))  # wide unsigned ones came with 2.3
    dtype = _torch_dtypes.get(tensor.dtype)
    if dtype is None:
        refuse(f"{name} is {tensor.dtype}, which the library does not know")
    place = tensor.device
    if place.type == "cuda":
        device = _dlpack.CUDA, place.index
    elif place.type == "cpu":
        device = _dlpack.CPU, 0
    else:
        refuse(f"{name} is on {place}; it must be on cuda or cpu")

    def empty(shape, dtype_name):
        return torch.empty(shape, dtype=getattr(torch, dtype_name), device=place)
    return View(name, tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), dtype, device, True,
                tensor, empty)


# ---- arrays in host memory ----

def _empty_numpy(shape, dtype_name):
    import numpy
    return numpy.empty(shape, dtype_name)


def _interface_dtype(name, typestr, array):
    if typestr[1:] == "V2" and getattr(getattr(array, "dtype", None), "name", None) == "bfloat16":
        return 0x410, 2  # of the package ml_dtypes
    order, kind, size = typestr[0], typestr[1], int(typestr[2:]) if typestr[2:].isdecimal() else 0
    native = "<" if sys.byteorder == "little" else ">"
    if kind not in _CODES or not size or (order not in ("|", native) and size > 1):
        refuse(f"{name} has elements '{typestr}', which the library does not know")
    return _CODES[kind] << 8 | size * 8, size


def _view_interface(name, array, interface):
    dtype, size = _interface_dtype(name, interface["typestr"], array)
    shape = tuple(interface["shape"])
    bytes_apart = interface.get("strides")
    strides = dense_strides(shape)
    if bytes_apart is not None:
        if any(s % size and extent > 1 for s, extent in zip(bytes_apart, shape)):
            refuse(f"{name} has strides of {list(bytes_apart)} bytes; they must be multiples of {size}")
        strides = tuple(s // size for s in bytes_apart)
    if interface.get("data") is None:
        refuse(f"{name} offers no address of its memory")
    pointer, read_only = interface["data"]
    return View(name, pointer, shape, strides, dtype, (_dlpack.CPU, 0), not read_only, array, _empty_numpy)


# ---- DLPack ----

def _empty_like(array):
    """By the array API standard, where the array has it."""
    if not hasattr(array, "__array_namespace__"):
        return None

    def empty(shape, dtype_name):
        space = array.__array_namespace__()
        return space.empty(shape, dtype=getattr(space, dtype_name), device=array.device)
    return empty


def _view_dlpack(name, array, stream):
    device = array.__dlpack_device__()
    on_gpu = int(device[0]) in (_dlpack.CUDA, _dlpack.CUDA_MANAGED)
    try:
        capsule = _dlpack.request(array, (stream or 1) if on_gpu else None)
        tensor, flags = _dlpack.read(capsule)
    except (BufferError, ValueError) as error:
        refuse(f"{name} cannot be taken by DLPack: {error}")
    if tensor.dtype.lanes != 1:
        refuse(f"{name} has vectors of {tensor.dtype.lanes} as elements; it must have single numbers")
    shape = tuple(tensor.shape[:tensor.ndim])
    strides = tuple(tensor.strides[:tensor.ndim]) if tensor.strides else dense_strides(shape)
    place = tensor.device.device_type, tensor.device.device_id
    writable = not flags & (_dlpack.READ_ONLY | _dlpack.IS_COPIED)
    return View(name, (tensor.data or 0) + tensor.byte_offset, shape, strides,
                tensor.dtype.code << 8 | tensor.dtype.bits, place, writable, (array, capsule),
                _empty_like(array))


def view(name, array, stream=None):
    """A View of any array; stream is the one its memory will be used in, where one was asked for."""
    torch = torch_of(array)
    if torch is not None:
        return _view_torch(name, array, torch)
    interface = getattr(array, "__array_interface__", None)
    if isinstance(interface, dict):
        return _view_interface(name, array, interface)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return _view_dlpack(name, array, stream)
    return refuse(f"{name} is {type(array).__name__}; it must be a torch tensor, a NumPy array, or any "
                  f"array with __dlpack__")


# ---- streams ----

def stream_number(stream):
    """None or a stream's number, from an int, torch.cuda.Stream, cupy.cuda.Stream or any object with
    __cuda_stream__."""
    if stream is None or isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    for attribute in ("cuda_stream", "ptr"):
        number = getattr(stream, attribute, None)
        if isinstance(number, int):
            return number
    return refuse(f"stream is {type(stream).__name__}; it must be an int or a stream of CUDA's")
