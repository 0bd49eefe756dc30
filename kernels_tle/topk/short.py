"""Top-k selection of a row that fits one tile: the keys stay in registers, so it is read once. common.py says
in which order.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.common import (alloc_found, bin_shift, clear, counts_of, finish, low_and_high, open_row, pick_bin, put,
                         tile_keys, write_all)

BINS = tl.constexpr(2048)


@triton.jit
def threshold_of_tile(key, hist, found, want, EXACT: tl.constexpr):
    """(threshold, ties): every key above threshold is wanted, and so many of those equal to it. The tile has
    at least want keys that are not 0; hist is clear before.

    Bins are 2^shift keys wide and cover just the range that is left, so one round settles most tiles
    whatever their distribution, and three any. Not EXACT: the whole last bin counts as wanted once
    that is at most an eighth too much.
    """
    low, high = tl.reduce((tl.where(key == 0, 0xFFFFFFFF, key), key), 0, low_and_high)
    need = want
    whole = False
    searching = True
    while searching:
        shift = bin_shift(low, high, 11)
        inside = (key >= low) & (key <= high)
        place = tle.gpu.local_ptr(hist, (((high - key) >> shift).to(tl.int32),))
        tl.atomic_add(place, 1, mask=inside, sem="relaxed", scope="cta")
        bin, above, count = pick_bin(counts_of(hist, BINS), found, need)
        need -= above
        high -= bin.to(tl.uint32) << shift
        low = high - tl.minimum(high - low, (1 << shift) - 1)
        whole = need == count
        searching = (shift > 0) & (not whole)
        if not EXACT:
            searching = (shift > 0) & (count - need > want // 8)
            whole = True
        if searching:
            clear(hist, BINS)
            tl.debug_barrier()  # here rather than before the first round's counting
    return low - tl.where(whole, 1, 0).to(tl.uint32), tl.where(whole, 0, need)


@triton.jit
def write_tile(out, key, index, threshold, ties, LIST: tl.constexpr):
    """Writes the indices of a tile's selected keys in the tile's order."""
    larger = key > threshold
    equal = key == threshold
    before, total = tle.cumsum(larger.to(tl.int32) + (equal.to(tl.int32) << 16))
    equal_rank = before >> 16
    selected = larger | (equal & (equal_rank < ties))
    put(out, (before & 0xFFFF) + tl.minimum(equal_rank, ties), index, selected, LIST)


@triton.jit
def select_short(out, row, start, end, want, BLOCK: tl.constexpr, GROUP: tl.constexpr, LIST: tl.constexpr):
    if end - start <= want:
        write_all(out, end - start, want, 1024, LIST)
        return
    first = (start // GROUP) * GROUP
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    clear(hist, BINS)
    key = tile_keys(row, first, start, end, BLOCK, GROUP)
    threshold, ties = threshold_of_tile(key, hist, found, want, True)
    write_tile(out, key, first - start + tl.arange(0, BLOCK), threshold, ties, LIST)


@triton.jit
def topk_short(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
               K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
               LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
               offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program, columns <= BLOCK - GROUP + 1."""
    tl.static_assert(BLOCK <= 32768, "two counts of a tile share one 32-bit word")
    program = tl.program_id(0)
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_short(out, row, start, end, want, BLOCK, GROUP, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 512)
