"""Parameters of calls that are only asked about: shapes without memory.

Adding an operator adds one function and one row of OPS.
"""
import ctypes

from . import _abi


def topk_select(rows, columns, k, *, dtype="float32", align=256, lengths=False, row_starts=False,
                row_stride=None, index_row_stride=None, form=False, sorted=False):
    """align is the power of two that divides the address of the scores; lengths and row_starts say
    whether the call passes them, form whether it wants anything but ascending indices. The addresses
    lie so far apart that nothing overlaps."""
    apart = 1 << 60
    dtype = _abi.DType[dtype.upper()] if isinstance(dtype, str) else dtype
    params = _abi.TopkSelectParams(
        ctypes.sizeof(_abi.TopkSelectParams), dtype, 0, rows, columns, k, align,
        columns if row_stride is None else row_stride, 2 * apart if lengths else None,
        3 * apart if row_starts else None, 4 * apart, k if index_row_stride is None else index_row_stride, sorted)
    if form:
        params.values, params.value_row_stride = 5 * apart, max(k, 0)
    return params


OPS = {"topk_select": topk_select}
