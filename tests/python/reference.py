"""topk_select by sorting, for comparison: NaN greatest, ties to the smallest index, ascending, then -1."""
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
