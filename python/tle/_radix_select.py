"""radix_select: the k largest or smallest keys of each row, with their payload."""
import ctypes

from typing import Any, NamedTuple

from . import _abi, _arrays, _calls
from ._abi import DType, LaunchFlag, SelectOrder
from ._library import refuse

_SIZE = ctypes.sizeof(_abi.RadixSelectParams)


class RadixSelection(NamedTuple):
    """What radix_select gives where more than indices is asked for; what is not, is None."""
    indices: Any
    values: Any
    payload: Any


def _payload(array, shape, stream):
    view = _arrays.view("payload", array, stream)
    if view.dtype & 255 not in (32, 64):
        refuse(f"payload is {_arrays.dtype_name(view.dtype)}; its elements must have 4 or 8 bytes")
    return view.need(view.dtype, shape)


def radix_select(keys, k, *, lengths=None, largest=True, sorted=False, payload=None, out=None, values=None,
                 payload_out=None, dependent=False, dtype=None, stream=None, handle=None):
    """Selects the k largest or smallest keys of each row.

    keys is [rows, columns] or [columns], of float32, float16, bfloat16, float64, int32, uint32, int64 or
    uint64, of any library: torch tensors, NumPy arrays on the emulator, anything with __dlpack__. lengths is [rows], int32. The
    result is the indices of the chosen keys, [rows, k] or [k], int32, in ascending order, or with sorted by key, the
    best first; then -1 where a row has fewer than k elements. NaN is greatest; of equal keys the smallest index
    wins. docs/operators.md has the whole contract.

    values=True, or an array for them, also asks for the keys themselves. payload, of keys' shape and of elements of 4
    or 8 bytes, goes along with the keys; payload_out may be an array for what is chosen of it. With either the result
    is a RadixSelection. out is an array for the indices; out=False asks for none.

    dependent and dtype are as those of topk_select.

    On a GPU the work is enqueued in stream, by default torch's current stream for torch tensors and the legacy
    default stream otherwise. Without a handle the default handle of keys' device is used.
    """
    torch = _arrays.torch_of(keys)
    number = _arrays.stream_number(stream)
    x = _arrays.view("keys", keys, number)
    rows, columns = _calls.matrix(x)
    k = _abi.number(k)
    handle = _calls.choose_handle(handle, x)
    if payload is None and payload_out is not None:
        refuse("payload_out is given without payload")
    inputs = [x, *_calls.vectors(rows, number, lengths=lengths)]
    carried = _payload(payload, x.shape, number) if payload is not None else None
    if carried:
        inputs.append(carried)
    for view in inputs:
        _calls.check_device(view, handle.device)
    params = _abi.RadixSelectParams(_SIZE, _arrays.element_type(x, dtype), LaunchFlag.DEPENDENT if dependent else 0,
                                    rows, columns, k, index_row_stride=k, value_row_stride=k, payload_out_row_stride=k,
                                    sorted=bool(sorted),
                                    key_row_stride=_calls.row_stride(x, rows, columns),
                                    order=SelectOrder.LARGEST if largest else SelectOrder.SMALLEST,
                                    **{view.name: view.pointer for view in inputs})
    if carried:
        params.payload_bytes = (carried.dtype & 255) // 8
        params.payload_row_stride = _calls.row_stride(carried, rows, columns)
    size = _calls.workspace_size("radix_select", handle, params)
    made = []
    with _calls.making(handle, torch, number):
        for name, field, stride, kind, output in (
                ("out", "indices", "index_row_stride", DType.INT32, True if out is None else out),
                ("values", "values", "value_row_stride", x.dtype, values),
                ("payload_out", "payload_out", "payload_out_row_stride", carried and carried.dtype,
                 carried and (True if payload_out is None else payload_out))):
            array, view, apart = _calls.result(handle, x, k, number, name, output, kind)
            setattr(params, field, view and view.pointer)
            setattr(params, stride, apart)
            made.append(array)
        _calls.call("radix_select", handle, params, x, size, _calls.queue(handle, torch, number))
    selection = RadixSelection(*made)
    return selection.indices if selection.values is None and selection.payload is None else selection
