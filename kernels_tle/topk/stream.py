"""Top-k selection that reads a long row once: a sample gives a low mark, everything from the mark upwards goes
to a list in shared memory, the list is selected from. Where the list comes out shorter than k or overflows,
the way of radix.py follows. common.py says in which order.

Source of the method: sampling as in Floyd and Rivest, "Expected time bounds for selection" (CACM 1975), with
the estimate never trusted: the list is counted.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.common import alloc_found, clear, finish, load_groups, open_row, ordered_key, tile_keys, write_all
from topk.radix import find_threshold, write_selected
from topk.short import threshold_of_tile, write_tile

BINS = tl.constexpr(2048)


@triton.jit
def sample_mark(hist, found, row, first, start, end, aim, SAMPLE: tl.constexpr, GROUP: tl.constexpr):
    """A score that about aim elements of the row are not below, from SAMPLE elements spread over it in
    runs of 4."""
    offset = tl.arange(0, SAMPLE)
    step = (end - first) // (SAMPLE // 4)
    column = ((offset // 4) * step // 4) * 4 + offset % 4
    in_group = (column // GROUP) <= ((end - first - 1) // GROUP)
    x = tl.load(row + first + column, mask=in_group, other=0.0)
    valid = (column < end - first) & (column >= start - first)
    key = tl.where(valid, ordered_key(x), 0)
    rank = tl.maximum((aim.to(tl.float32) * SAMPLE / (end - start).to(tl.float32)).to(tl.int32), 1)
    clear(hist, BINS)
    below, ties = threshold_of_tile(key, hist, found, tl.minimum(rank, SAMPLE // 2), False)
    key = below + 1
    bits = tl.where((key >> 31) != 0, key ^ 0x80000000, ~key)
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def keep_from_mark(value, index, row, first, tiles, start, end, mark, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                   CAP: tl.constexpr):
    """Appends every element not below mark to the list, in order; returns how many there are, or some
    number over CAP when they do not fit. mark is above -inf. The list has room for a tile more than
    CAP. Up to GROUP - 1 elements on either side of the row may be listed too, with indices outside.
    """
    kept = 0
    t = 0
    x = load_groups(row, first, end, float("-inf"), BLOCK, GROUP).to(tl.float32)
    while (t < tiles) & (kept <= CAP):
        base = first + t * BLOCK
        following = load_groups(row, base + BLOCK, end, float("-inf"), BLOCK, GROUP).to(tl.float32)
        hit = not (x < mark)
        before, total = tle.cumsum(hit.to(tl.int32))
        place = kept + before
        tl.store(tle.gpu.local_ptr(value, (place,)), x, mask=hit)
        tl.store(tle.gpu.local_ptr(index, (place,)), base - start + tl.arange(0, BLOCK), mask=hit)
        kept += total
        t += 1
        x = following
    return kept


@triton.jit
def listed_keys(value, index, kept, count, CAP: tl.constexpr):
    """(keys, indices) of the list; key 0 past its end and for indices outside the row."""
    place = tl.arange(0, CAP)
    listed = place < kept
    i = tl.load(tle.gpu.local_ptr(index, (place,)), mask=listed, other=-1)
    x = tl.load(tle.gpu.local_ptr(value, (place,)), mask=listed, other=0.0)
    return tl.where((i >= 0) & (i < count), ordered_key(x), 0), i


@triton.jit
def select_stream(out, row, start, end, want, BLOCK: tl.constexpr, GROUP: tl.constexpr, SAMPLE: tl.constexpr,
                  CAP: tl.constexpr, LIST: tl.constexpr):
    if end - start <= want:
        write_all(out, end - start, want, 1024, LIST)
        return
    first = (start // GROUP) * GROUP
    tiles = (end - first - 1) // BLOCK + 1
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    value = tle.gpu.alloc([CAP + BLOCK], tl.float32, nv_mma_shared_layout=False)
    index = tle.gpu.alloc([CAP + BLOCK], tl.int32, nv_mma_shared_layout=False)
    if end - first <= CAP:
        key = tile_keys(row, first, start, end, CAP, GROUP)
        i = first - start + tl.arange(0, CAP)
    else:
        mark = sample_mark(hist, found, row, first, start, end, want * 2, SAMPLE, GROUP)
        kept = 0
        if mark > float("-inf"):
            kept = keep_from_mark(value, index, row, first, tiles, start, end, mark, BLOCK, GROUP, CAP)
        if (kept < want + 2 * (GROUP - 1)) | (kept > CAP):
            # The way that is seldom gone takes smaller tiles: less code, as fast. Not the sample's size, though,
            # with which it would share values, and so a layout that suits one of them only.
            HALF: tl.constexpr = BLOCK if SAMPLE == BLOCK // 2 else BLOCK // 2
            tiles = (end - first - 1) // HALF + 1
            threshold, ties = find_threshold(hist, found, row, first, tiles, start, end, want, HALF, GROUP)
            write_selected(out, row, first, tiles, start, end, threshold, ties, HALF, GROUP, LIST)
            return
        key, i = listed_keys(value, index, kept, end - start, CAP)
    clear(hist, BINS)
    threshold, ties = threshold_of_tile(key, hist, found, want, True)
    write_tile(out, key, i, threshold, ties, LIST)


@triton.jit
def topk_stream(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr, SAMPLE: tl.constexpr,
                CAP: tl.constexpr,
                LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
                offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program, k <= CAP / 2. Rows up to CAP stay in registers."""
    tl.static_assert(BLOCK <= 32768 and CAP <= 32768, "two counts of a tile share one 32-bit word")
    program = tl.program_id(0)
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_stream(out, row, start, end, want, BLOCK, GROUP, SAMPLE, CAP, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 1024)
