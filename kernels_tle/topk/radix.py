"""Top-k selection of any row, one CTA per row: radix select over an order-preserving 32-bit key, 11, 11 and 10
bits from the top, each digit counted in a 2048-bin histogram in shared memory, stopping as soon as the whole
bin is wanted; one more read of the row writes the answer. common.py says in which order.

Source of the method: radix select over histograms as in "Parallel Top-K Algorithms on GPU" (SC'23).
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.common import alloc_found, clear, counts_of, finish, open_row, pick_bin, put, tile_keys, write_all

BINS = tl.constexpr(2048)


@triton.jit
def find_threshold(hist, found, row, first, tiles, start, end, want, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """(threshold, ties): every key above threshold is wanted, and so many of those equal to it."""
    need = want
    prefix = tl.full((), 0, tl.uint32)
    shift = tl.full((), 21, tl.uint32)
    width = tl.full((), 11, tl.uint32)
    lowest = prefix
    whole = False
    searching = True
    while searching:
        clear(hist, BINS)
        last = ((1 << width) - 1).to(tl.uint32)
        for t in range(tiles):
            key = tile_keys(row, first + t * BLOCK, start, end, BLOCK, GROUP)
            digit = key >> shift
            counted = (key != 0) & ((digit >> width) == prefix)
            place = tle.gpu.local_ptr(hist, ((~digit & last).to(tl.int32),))
            tl.atomic_add(place, 1, mask=counted, sem="relaxed", scope="cta")
        bin, above, count = pick_bin(counts_of(hist, BINS), found, need)
        need -= above
        prefix = (prefix << width) | (last - bin.to(tl.uint32))
        lowest = prefix << shift
        whole = need == count
        searching = (shift > 0) & (not whole)
        # 11 bits from 21, 11 bits from 10, 10 bits from 0
        width = tl.where(shift == 21, 11, 10).to(tl.uint32)
        shift = tl.where(shift == 21, 10, 0).to(tl.uint32)
    return lowest - tl.where(whole, 1, 0).to(tl.uint32), tl.where(whole, 0, need)


@triton.jit
def write_selected(out, row, first, tiles, start, end, threshold, ties, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                   LIST: tl.constexpr):
    """Writes the positions of the selected keys in ascending order."""
    larger_before = 0
    equal_before = 0
    for t in range(tiles):
        base = first + t * BLOCK
        key = tile_keys(row, base, start, end, BLOCK, GROUP)
        larger = key > threshold
        equal = key == threshold
        # Both counts fit 16 bits, so one scan serves them.
        before, total = tle.cumsum(larger.to(tl.int32) + (equal.to(tl.int32) << 16))
        equal_rank = equal_before + (before >> 16)
        selected = larger | (equal & (equal_rank < ties))
        place = larger_before + (before & 0xFFFF) + tl.minimum(equal_rank, ties)
        put(out, place, base - start + tl.arange(0, BLOCK), selected, LIST)
        larger_before += total & 0xFFFF
        equal_before += total >> 16


@triton.jit
def select_radix(out, row, start, end, want, BLOCK: tl.constexpr, GROUP: tl.constexpr, LIST: tl.constexpr):
    if end - start <= want:
        write_all(out, end - start, want, 1024, LIST)
        return
    first = (start // GROUP) * GROUP
    tiles = (end - first - 1) // BLOCK + 1
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    threshold, ties = find_threshold(hist, found, row, first, tiles, start, end, want, BLOCK, GROUP)
    write_selected(out, row, first, tiles, start, end, threshold, ties, BLOCK, GROUP, LIST)


@triton.jit
def topk_radix(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
               K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
               LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
               offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program. K = 0: k is a run-time value."""
    tl.static_assert(BLOCK <= 32768, "two counts of a tile share one 32-bit word")
    program = tl.program_id(0)
    row, start, end, want, out = open_row(program, scores, lengths, row_starts, indices, row_stride, index_stride,
                                          columns, k, flags, next_n, K, LIST)
    select_radix(out, row, start, end, want, BLOCK, GROUP, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, program, next_n, indices, index_stride, flags, rest, LIST, 1024)
