"""topk_select: the indices of the k largest scores of each row."""
import contextlib
import ctypes
import operator
import os

from . import _abi, _arrays, _dlpack
from ._abi import DeviceKind, DType
from ._handle import cuda_handle, default_handle
from ._library import check, lib, refuse

_SIZE = ctypes.sizeof(_abi.TopkSelectParams)
_NOTHING = contextlib.nullcontext()


# ---- arguments ----

def _row_stride(view, rows, columns):
    """Elements from row to row; of a single row it means nothing, and arrays may hold anything there."""
    if len(view.shape) < 2 or rows <= 1:
        return columns
    stride = view.strides[0]
    if stride < 0:
        refuse(f"{view.name} has stride {stride} from row to row; it must be 0 or more")
    return stride


def _per_row(rows, stream, **arrays):
    return [_arrays.view(name, array, stream).need(DType.INT32, (rows,))
            for name, array in arrays.items() if array is not None]


def _choose_handle(handle, scores):
    kind, ordinal = scores.device
    if handle is None and kind in (_dlpack.CUDA, _dlpack.CUDA_MANAGED):
        return cuda_handle(ordinal)
    if handle is None:
        if os.environ.get("TLE_DEVICE") != "emu":
            refuse("scores is in host memory; pass handle=tle.Handle('emu') or set TLE_DEVICE=emu to run "
                   "it on the emulator")
        return default_handle("emu")
    return handle


def _check_device(view, device):
    kind, ordinal = view.device
    if device.kind == DeviceKind.CUDA:
        fits = kind in (_dlpack.CUDA, _dlpack.CUDA_MANAGED) and ordinal == device.ordinal
        expected = f"cuda:{device.ordinal}"
    else:
        fits, expected = kind in (_dlpack.CPU, _dlpack.CUDA_HOST), "cpu"
    if not fits:
        refuse(f"{view.name} is on {_arrays.device_text(view.device)}; the handle's device takes {expected}")


# ---- memory that the call makes ----

def _making(handle, torch, stream):
    """Within, memory that torch makes belongs to the stream that it will be used in."""
    if torch is None or stream is None or handle.device.kind != DeviceKind.CUDA:
        return _NOTHING
    return torch.cuda.stream(torch.cuda.ExternalStream(stream, device=handle.device.ordinal))


def _queue(handle, torch, stream):
    """The number of the stream to enqueue in."""
    if handle.device.kind != DeviceKind.CUDA:
        return None
    if stream is None and torch is not None:
        return torch.cuda.current_stream(handle.device.ordinal).cuda_stream
    return stream


def _make(scores, shape, dtype, what):
    if scores.empty is None:
        refuse(f"{what} cannot be made beside scores, whose type has no array namespace; pass out=, on a "
               f"kernel that needs no workspace")
    return scores.empty(shape, dtype)


def topk_select(scores, k, *, lengths=None, row_starts=None, out=None, stream=None, handle=None):
    """Selects the indices of the k largest scores of each row.

    scores is [rows, columns] or [columns], float32, of any library: torch tensors, NumPy arrays on the
    emulator, anything with __dlpack__. lengths and row_starts are [rows], int32. The result is
    [rows, k] or [k], int32, in ascending order, then -1 where a row has fewer than k elements; it is
    out, or else a new array of scores' own kind. NaN is greatest; of equal scores the smallest index
    wins. docs/operators.md has the whole contract.

    On a GPU the work is enqueued in stream, by default torch's current stream for torch tensors and the
    legacy default stream otherwise. Without a handle the default handle of scores' device is used.
    """
    torch = _arrays.torch_of(scores)
    number = _arrays.stream_number(stream)
    s = _arrays.view("scores", scores, number)
    if len(s.shape) not in (1, 2):
        refuse(f"scores has {len(s.shape)} dimensions; it must have 1 or 2")
    s.need_dense()
    rows, columns = s.shape if len(s.shape) == 2 else (1, s.shape[0])
    k = max(-1, min(operator.index(k), 2**63 - 1))
    handle = _choose_handle(handle, s)
    inputs = [s, *_per_row(rows, number, lengths=lengths, row_starts=row_starts)]
    for view in inputs:
        _check_device(view, handle.device)
    pointers = {view.name: view.pointer for view in inputs}
    params = _abi.TopkSelectParams(_SIZE, s.dtype, 0, rows, columns, k, row_stride=_row_stride(s, rows, columns),
                                   index_row_stride=k, **pointers)
    workspace_size = _workspace_size(handle, params)  # which refuses wrong numbers before memory is made
    with _making(handle, torch, number):
        if out is None:
            out = _make(s, s.shape[:-1] + (k,), "int32", "the result")
        o = _arrays.view("out", out, number).need(DType.INT32, s.shape[:-1] + (k,)).need_writable()
        _check_device(o, handle.device)
        params.indices, params.index_row_stride = o.pointer, _row_stride(o, rows, k)
        memory = _arrays.view("workspace", _make(s, (workspace_size,), "uint8", "workspace")) \
            if workspace_size else None
        check(lib().tle_topk_select(handle.pointer, ctypes.byref(params), memory and memory.pointer,
                                    workspace_size, _queue(handle, torch, number)))
    return out


def _workspace_size(handle, params):
    size = ctypes.c_size_t()
    check(lib().tle_topk_select_workspace_size(handle.pointer, ctypes.byref(params), ctypes.byref(size)))
    return size.value
