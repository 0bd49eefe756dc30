"""topk_select: the indices of the k largest scores of each row."""
import contextlib
import ctypes
import operator
import os

from typing import Any, NamedTuple

from . import _abi, _arrays, _dlpack
from ._abi import DeviceKind, DType, IndexBase, LaunchFlag
from ._handle import cuda_handle, default_handle
from ._library import check, lib, refuse

_SIZE = ctypes.sizeof(_abi.TopkSelectParams)
_NOTHING = contextlib.nullcontext()


class Selection(NamedTuple):
    """What topk_select gives where more than indices is asked for; what is not, is None."""
    indices: Any
    values: Any
    raw_indices: Any


# ---- arguments ----

def _row_stride(view, rows, columns):
    """Elements from row to row; of a single row it means nothing, and arrays may hold anything there."""
    if len(view.shape) < 2 or rows <= 1:
        return columns
    stride = view.strides[0]
    if stride < 0:
        refuse(f"{view.name} has stride {stride} from row to row; it must be 0 or more")
    return stride


def _vectors(count, stream, **arrays):
    return [_arrays.view(name, array, stream).need(DType.INT32, (count,))
            for name, array in arrays.items() if array is not None]


def _pages(page_table, page_size, columns, stream):
    """The view of a page table; its size is refused where the library would read past its rows."""
    if page_size is None:
        refuse("page_table is given without page_size")
    view = _arrays.view("page_table", page_table, stream)
    if len(view.shape) != 2:
        refuse(f"page_table has {len(view.shape)} dimensions; it must have 2")
    view.need(DType.INT32, view.shape)
    needed = -(-columns // page_size) if page_size > 0 else 0
    if view.shape[1] < needed:
        refuse(f"page_table has {view.shape[1]} pages a table; {columns} columns need {needed}")
    return view


def _index_base(name):
    try:
        return IndexBase[name.upper()] if isinstance(name, str) else IndexBase(name)
    except (KeyError, ValueError):
        refuse(f"index_base is {name!r}; it must be 'relative' or 'absolute'")


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


def topk_select(scores, k, *, lengths=None, row_starts=None, out=None, sorted=False, index_base="relative",
                next_n=None, values=None, raw_indices=None, offsets=None, page_table=None, page_size=None,
                row_to_table=None, dependent=False, stream=None, handle=None):
    """Selects the indices of the k largest scores of each row.

    scores is [rows, columns] or [columns], float32, of any library: torch tensors, NumPy arrays on the
    emulator, anything with __dlpack__. lengths and row_starts are [rows], int32. The result is
    [rows, k] or [k], int32, in ascending order, then -1 where a row has fewer than k elements; it is
    out, or else a new array of scores' own kind. NaN is greatest; of equal scores the smallest index
    wins. docs/operators.md has the whole contract.

    sorted orders each row by score downwards. index_base="absolute" adds the row's start. With next_n,
    that many rows share an entry of lengths, which is the last one's. page_table, [tables, pages] of
    pages of page_size, or offsets, [rows], transform the indices; row_to_table, [rows], names each
    row's table. values=True and raw_indices=True, or arrays for them, also ask for the scores and for
    the indices before they are transformed; the result then is a Selection. out=False beside values
    asks for no indices.

    With dependent the kernel may begin before the one in front of it in the stream is done, for which
    it waits before it touches memory: programmatic dependent launch, from sm_90 on.

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
    next_n = operator.index(next_n) if next_n is not None else 0
    requests = -(-rows // next_n) if next_n > 0 else rows
    inputs = [s, *_vectors(requests, number, lengths=lengths),
              *_vectors(rows, number, row_starts=row_starts, offsets=offsets, row_to_table=row_to_table)]
    tables = _pages(page_table, page_size, columns, number) if page_table is not None else None
    if tables:
        inputs.append(tables)
    for view in inputs:
        _check_device(view, handle.device)
    pointers = {view.name: view.pointer for view in inputs}
    params = _abi.TopkSelectParams(_SIZE, s.dtype, LaunchFlag.DEPENDENT if dependent else 0, rows, columns, k, row_stride=_row_stride(s, rows, columns),
                                   index_row_stride=k, sorted=bool(sorted), index_base=_index_base(index_base),
                                   next_n=next_n, value_row_stride=k, raw_index_row_stride=k, **pointers)
    if tables:
        params.page_tables, params.page_size = tables.shape[0], page_size
        params.page_table_stride = _row_stride(tables, *tables.shape)
    # Until they are made, addresses that only say that these outputs are wanted.
    params.values, params.raw_indices = _wanted(values), _wanted(raw_indices)
    workspace_size = _workspace_size(handle, params)  # which refuses wrong numbers before memory is made
    with _making(handle, torch, number):
        outputs = _outputs(handle, s, k, number, out=None if out is False else True if out is None else out,
                           values=values, raw_indices=raw_indices)
        for (name, stride_name), (_, view, stride) in zip(_OUTPUTS.items(), outputs):
            setattr(params, name, view and view.pointer)
            setattr(params, stride_name, stride)
        memory = _arrays.view("workspace", _make(s, (workspace_size,), "uint8", "workspace")) \
            if workspace_size else None
        check(lib().tle_topk_select(handle.pointer, ctypes.byref(params), memory and memory.pointer,
                                    workspace_size, _queue(handle, torch, number)))
    made = Selection(*(output for output, _, _ in outputs))
    return made.indices if made.values is None and made.raw_indices is None else made


_OUTPUTS = {"indices": "index_row_stride", "values": "value_row_stride", "raw_indices": "raw_index_row_stride"}


def _wanted(output):
    return 4 if output is not None and output is not False else None


def _outputs(handle, scores, k, stream, **outputs):
    """(array, view, row stride) of each output, made where it is True; (None, None, k) where it is None or
    False."""
    shape, found = scores.shape[:-1] + (k,), []
    rows = shape[0] if len(shape) == 2 else 1
    for name, output in outputs.items():
        if not _wanted(output):
            found.append((None, None, k))
            continue
        dtype = DType.FLOAT32 if name == "values" else DType.INT32
        if output is True:
            output = _make(scores, shape, dtype.name.lower(), "the result" if name == "out" else name)
        view = _arrays.view(name, output, stream).need(dtype, shape).need_writable()
        _check_device(view, handle.device)
        found.append((output, view, _row_stride(view, rows, k)))
    return found


def _workspace_size(handle, params):
    size = ctypes.c_size_t()
    check(lib().tle_topk_select_workspace_size(handle.pointer, ctypes.byref(params), ctypes.byref(size)))
    return size.value
