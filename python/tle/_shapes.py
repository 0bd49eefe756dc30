"""Parameters of calls that are only asked about: shapes without memory.

Adding an operator adds one function and one row of OPS.
"""
import ctypes

from . import _abi, _arrays


_APART = 1 << 60  # addresses so far apart that nothing overlaps


def _dtype(name):
    return _arrays.dtype_number(name) if isinstance(name, str) else name


def topk_select(rows, columns, k, *, dtype="float32", align=256, lengths=False, row_starts=False,
                row_stride=None, index_row_stride=None, form=False, sorted=False):
    """align is the power of two that divides the address of the scores; lengths and row_starts say
    whether the call passes them, form whether it wants anything but ascending indices."""
    rows, columns, k, align = _abi.number(rows), _abi.number(columns), _abi.number(k), _abi.number(align)
    params = _abi.TopkSelectParams(
        ctypes.sizeof(_abi.TopkSelectParams), _dtype(dtype), 0, rows, columns, k, align,
        columns if row_stride is None else _abi.number(row_stride), 2 * _APART if lengths else None,
        3 * _APART if row_starts else None, 4 * _APART, k if index_row_stride is None else _abi.number(index_row_stride),
        bool(sorted))
    if form:
        params.values, params.value_row_stride = 5 * _APART, max(k, 0)
    return params


def radix_select(rows, columns, k, *, dtype="float32", align=256, lengths=False, largest=True, sorted=False,
                 payload_bytes=0, row_stride=None, values=False):
    """align is the power of two that divides the address of the keys; lengths and values say whether the
    call passes them; payload_bytes is the size of an element that goes along, or 0."""
    rows, columns, k, align = _abi.number(rows), _abi.number(columns), _abi.number(k), _abi.number(align)
    payload_bytes = _abi.number(payload_bytes, 32)
    params = _abi.RadixSelectParams(
        ctypes.sizeof(_abi.RadixSelectParams), _dtype(dtype), 0, rows, columns, k, align,
        columns if row_stride is None else _abi.number(row_stride), 2 * _APART if lengths else None,
        _abi.SelectOrder.LARGEST if largest else _abi.SelectOrder.SMALLEST, bool(sorted), payload_bytes,
        indices=3 * _APART, index_row_stride=k, value_row_stride=k, payload_row_stride=columns,
        payload_out_row_stride=k)
    if values:
        params.values = 4 * _APART
    if payload_bytes:
        params.payload, params.payload_out = 5 * _APART, 6 * _APART
    return params


OPS = {"topk_select": topk_select, "radix_select": radix_select}
