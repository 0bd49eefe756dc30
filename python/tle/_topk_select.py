"""topk_select: the indices of the k largest scores of each row."""
import ctypes

from typing import Any, NamedTuple

from . import _abi, _arrays, _calls
from ._abi import DType, IndexBase, LaunchFlag
from ._library import refuse

_SIZE = ctypes.sizeof(_abi.TopkSelectParams)


class Selection(NamedTuple):
    """What topk_select gives where more than indices is asked for; what is not, is None."""
    indices: Any
    values: Any
    raw_indices: Any


# ---- arguments ----

def _pages(page_table, page_size, columns, stream):
    """The view of a page table; its size is refused where the library would read past its rows."""
    if page_size is None:
        refuse("page_table is given without page_size")
    view = _arrays.view("page_table", page_table, stream)
    if len(view.shape) != 2:
        refuse(f"page_table has {len(view.shape)} dimensions; it must have 2")
    view.need(DType.INT32, view.shape)
    page_size = _abi.number(page_size)
    needed = -(-columns // page_size) if page_size > 0 else 0
    if view.shape[1] < needed:
        refuse(f"page_table has {view.shape[1]} pages a table; {columns} columns need {needed}")
    return view


def _index_base(name):
    try:
        return IndexBase[name.upper()] if isinstance(name, str) else IndexBase(name)
    except (KeyError, ValueError):
        refuse(f"index_base is {name!r}; it must be 'relative' or 'absolute'")


def topk_select(scores, k, *, lengths=None, row_starts=None, out=None, sorted=False, index_base="relative",
                next_n=None, values=None, raw_indices=None, offsets=None, page_table=None, page_size=None,
                row_to_table=None, dependent=False, dtype=None, stream=None, handle=None):
    """Selects the indices of the k largest scores of each row.

    scores is [rows, columns] or [columns], float32, float16 or bfloat16, of any library: torch tensors,
    NumPy arrays on the emulator, anything with __dlpack__. lengths and row_starts are [rows], int32. The result is
    [rows, k] or [k], int32, in ascending order, then -1 where a row has fewer than k elements; it is
    out, or else a new array of scores' own kind. NaN is greatest; of equal scores the smallest index
    wins. docs/operators.md has the whole contract.

    sorted orders each row by score downwards. index_base="absolute" adds the row's start. With next_n,
    that many rows share an entry of lengths, which is the last one's. page_table, [tables, pages] of
    pages of page_size, or offsets, [rows], transform the indices; row_to_table, [rows], names each
    row's table. values=True and raw_indices=True, or arrays for them, also ask for the scores and for
    the indices before they are transformed; the result then is a Selection. out=False beside values
    asks for no indices.

    dtype="bfloat16" says that scores, of another type of 16 bits such as NumPy's uint16, hold those.

    With dependent the kernel may begin before the one in front of it in the stream is done, for which
    it waits before it touches memory: programmatic dependent launch, from sm_90 on.

    On a GPU the work is enqueued in stream, by default torch's current stream for torch tensors and the
    legacy default stream otherwise. Without a handle the default handle of scores' device is used.
    """
    torch = _arrays.torch_of(scores)
    number = _arrays.stream_number(stream)
    s = _arrays.view("scores", scores, number)
    rows, columns = _calls.matrix(s)
    k = _abi.number(k)
    handle = _calls.choose_handle(handle, s)
    next_n = _abi.number(next_n) if next_n is not None else 0
    requests = -(-rows // next_n) if next_n > 0 else rows
    inputs = [s, *_calls.vectors(requests, number, lengths=lengths),
              *_calls.vectors(rows, number, row_starts=row_starts, offsets=offsets, row_to_table=row_to_table)]
    tables = _pages(page_table, page_size, columns, number) if page_table is not None else None
    if tables:
        inputs.append(tables)
    for view in inputs:
        _calls.check_device(view, handle.device)
    pointers = {view.name: view.pointer for view in inputs}
    params = _abi.TopkSelectParams(_SIZE, _arrays.element_type(s, dtype), LaunchFlag.DEPENDENT if dependent else 0,
                                   rows, columns, k, row_stride=_calls.row_stride(s, rows, columns),
                                   index_row_stride=k, sorted=bool(sorted), index_base=_index_base(index_base),
                                   next_n=next_n, value_row_stride=k, raw_index_row_stride=k, **pointers)
    if tables:
        params.page_tables, params.page_size = tables.shape[0], _abi.number(page_size)
        params.page_table_stride = _calls.row_stride(tables, *tables.shape)
    # Until they are made, addresses that only say that these outputs are wanted.
    params.values, params.raw_indices = _calls.wanted(values), _calls.wanted(raw_indices)
    size = _calls.workspace_size("topk_select", handle, params)
    made = []
    with _calls.making(handle, torch, number):
        for name, field, stride, kind, output in (
                ("out", "indices", "index_row_stride", DType.INT32, True if out is None else out),
                ("values", "values", "value_row_stride", s.dtype, values),
                ("raw_indices", "raw_indices", "raw_index_row_stride", DType.INT32, raw_indices)):
            array, view, apart = _calls.result(handle, s, k, number, name, output, kind)
            setattr(params, field, view and view.pointer)
            setattr(params, stride, apart)
            made.append(array)
        _calls.call("topk_select", handle, params, s, size, _calls.queue(handle, torch, number))
    selection = Selection(*made)
    return selection.indices if selection.values is None and selection.raw_indices is None else selection
