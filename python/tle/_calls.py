"""What the functions of all operators do alike: arguments, the handle, memory and the call."""
import contextlib
import ctypes
import os

from . import _arrays, _dlpack
from ._abi import DeviceKind, DType
from ._handle import Handle, cuda_handle, default_handle
from ._library import check, lib, refuse

_NOTHING = contextlib.nullcontext()


# ---- arguments ----

def matrix(view):
    """(rows, columns) of an array of one or two dimensions."""
    if len(view.shape) not in (1, 2):
        refuse(f"{view.name} has {len(view.shape)} dimensions; it must have 1 or 2")
    view.need_dense()
    return view.shape if len(view.shape) == 2 else (1, view.shape[0])


def row_stride(view, rows, columns):
    """Elements from row to row; of a single row it means nothing, and arrays may hold anything there."""
    if len(view.shape) < 2 or rows <= 1:
        return columns
    stride = view.strides[0]
    if stride < 0:
        refuse(f"{view.name} has stride {stride} from row to row; it must be 0 or more")
    return stride


def vectors(count, stream, **arrays):
    return [_arrays.view(name, array, stream).need(DType.INT32, (count,))
            for name, array in arrays.items() if array is not None]


def choose_handle(handle, first):
    kind, ordinal = first.device
    if handle is None and kind in (_dlpack.CUDA, _dlpack.CUDA_MANAGED):
        return cuda_handle(ordinal)
    if handle is None:
        if os.environ.get("TLE_DEVICE") != "emu":
            refuse(f"{first.name} is in host memory; pass handle=tle.Handle('emu') or set TLE_DEVICE=emu to run "
                   f"it on the emulator")
        return default_handle("emu")
    if not isinstance(handle, Handle):
        refuse(f"handle is {handle!r}; it must be a tle.Handle")
    return handle


def check_device(view, device):
    kind, ordinal = view.device
    if device.kind == DeviceKind.CUDA:
        fits = kind in (_dlpack.CUDA, _dlpack.CUDA_MANAGED) and ordinal == device.ordinal
        expected = f"cuda:{device.ordinal}"
    else:
        fits, expected = kind in (_dlpack.CPU, _dlpack.CUDA_HOST), "cpu"
    if not fits:
        refuse(f"{view.name} is on {_arrays.device_text(view.device)}; the handle's device takes {expected}")


# ---- memory that the call makes ----

def making(handle, torch, stream):
    """Within, memory that torch makes belongs to the stream that it will be used in."""
    if torch is None or stream is None or handle.device.kind != DeviceKind.CUDA:
        return _NOTHING
    return torch.cuda.stream(torch.cuda.ExternalStream(stream, device=handle.device.ordinal))


def queue(handle, torch, stream):
    """The number of the stream to enqueue in."""
    if handle.device.kind != DeviceKind.CUDA:
        return None
    if stream is None and torch is not None:
        return torch.cuda.current_stream(handle.device.ordinal).cuda_stream
    return stream


def make(like, shape, dtype, what):
    """Another array of the kind of `like`."""
    if like.empty is None:
        refuse(f"{what} cannot be made beside {like.name}, whose type has no array namespace; pass out=, on a "
               f"kernel that needs no workspace")
    return like.empty(shape, dtype)


def wanted(output):
    """An address that only says whether an output is asked for."""
    return 8 if output is not None and output is not False else None


def result(handle, like, k, stream, name, output, dtype):
    """(array, view, row stride) of an output [rows, k]: made where it is True, (None, None, k) where it is
    None or False."""
    if not wanted(output):
        return None, None, k
    shape = like.shape[:-1] + (k,)
    if output is True:
        output = make(like, shape, _arrays.dtype_name(dtype), "the result" if name == "out" else name)
    view = _arrays.view(name, output, stream).need(dtype, shape).need_writable()
    check_device(view, handle.device)
    return output, view, row_stride(view, shape[0] if len(shape) == 2 else 1, k)


# ---- the call ----

def workspace_size(op, handle, params):
    """Which also refuses wrong numbers before memory is made."""
    size = ctypes.c_size_t()
    ask = getattr(lib(), f"tle_{op}_workspace_size")
    check(ask(handle.pointer, ctypes.byref(params), ctypes.byref(size)))
    return size.value


def call(op, handle, params, like, size, stream):
    """Enqueues tle_<op> in a stream's number, with workspace of the kind of `like`."""
    memory = _arrays.view("workspace", make(like, (size,), "uint8", "workspace")) if size else None
    run = getattr(lib(), f"tle_{op}")
    check(run(handle.pointer, ctypes.byref(params), memory and memory.pointer, size, stream))
