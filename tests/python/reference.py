"""The operators by sorting, for comparison: NaN greatest, ties to the smallest index, then -1."""
import numpy as np


def topk_select(scores, k, lengths=None, row_starts=None):
    rows, columns = scores.shape
    out = np.full((rows, k), -1, np.int32)
    for r in range(rows):
        start = max(int(row_starts[r]), 0) if row_starts is not None else 0
        length = int(lengths[r]) if lengths is not None else columns
        row = scores[r, start:start + max(0, min(length, columns - start))].astype(np.float64)
        key = np.where(np.isnan(row), -np.inf, -row)
        rank = np.lexsort((np.arange(len(row)), key, ~np.isnan(row)))
        best = np.sort(rank[:k])
        out[r, :len(best)] = best
    return out


def ranks(row, largest):
    """The places of a row's keys, best first: NaN greatest, ties by place."""
    if row.dtype.kind == "f":
        row = np.where(np.isnan(row), np.nan, row).astype(np.float64)
        key = np.where(np.isnan(row), 0, -row if largest else row)
        return np.lexsort((key, ~np.isnan(row) if largest else np.isnan(row)))
    return np.argsort(~row if largest else row, kind="stable")


def radix_select(keys, k, lengths=None, largest=True, sorted=False, payload=None):
    """(indices, values, payload) with -1, the worst key and 0 where a row has fewer than k."""
    rows, columns = keys.shape
    limits = np.finfo(keys.dtype) if keys.dtype.kind == "f" else np.iinfo(keys.dtype)
    worst = (-np.inf if largest else np.inf) if keys.dtype.kind == "f" else limits.min if largest else limits.max
    out = np.full((rows, k), -1, np.int32), np.full((rows, k), worst, keys.dtype), \
        None if payload is None else np.zeros((rows, k), payload.dtype)
    for r in range(rows):
        length = columns if lengths is None else max(0, min(int(lengths[r]), columns))
        best = ranks(keys[r, :length], largest)[:k]
        best = best if sorted else np.sort(best)
        for to, what in zip(out, (np.arange(columns), keys[r], None if payload is None else payload[r])):
            if to is not None:
                to[r, :len(best)] = what[best]
    return out
