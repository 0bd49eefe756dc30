"""Top-k selection as TensorRT-LLM's one-CTA kernel goes about it (topKPerRowJob): a histogram of the 11 high bits of
the scores in half precision, which spreads scores of models better than those of fp32 do; the row read again for what
lies in the threshold's bin or above, which is finished in shared memory; and digits of 11, 11 and 10 bits of the
fp32 key where that is too much. For comparison: other bodies read less.

Unlike there the answer is in order, as common.py says, and never depends on how threads were scheduled.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.common import alloc_found, clear, counts_of, load_groups, open_row, pick_bin, write_all
from topk.radix import find_threshold, write_selected
from topk.short import threshold_of_tile, write_tile
from topk.stream import keep_from_mark, listed_keys

BINS = tl.constexpr(2048)
HALF_INFINITY = tl.constexpr(0x7C00)


@triton.jit
def half_digit(x):
    """11 bits that grow with x: those of x cut to half precision, so that greater scores have no smaller digit."""
    half = x.to(tl.float16, fp_downcast_rounding="rtz").to(tl.uint16, bitcast=True).to(tl.uint32)
    half = tl.where(x == 0.0, 0, half)
    key = half ^ tl.where((half & 0x8000) != 0, 0xFFFF, 0x8000)
    return tl.where(x != x, 0xFFFF, key) >> 5


@triton.jit
def least_of_digit(digit):
    """The smallest fp32 score of a digit's bin; NaN where the bin has none but NaN, -inf or less where it holds
    -inf."""
    key = digit << 5
    positive = (key & 0x7FFF).to(tl.uint16).to(tl.float16, bitcast=True).to(tl.float32)
    # Negative scores are cut towards zero: the bin ends before the next half of greater magnitude.
    next = ((~key & 0x7FFF) + 1).to(tl.uint16)
    end = next.to(tl.float16, bitcast=True).to(tl.float32).to(tl.uint32, bitcast=True)
    negative = ((end - 1) | 0x80000000).to(tl.float32, bitcast=True)
    negative = tl.where(next > HALF_INFINITY, float("-inf"), negative)
    return tl.where((key & 0x8000) != 0, positive, negative)


@triton.jit
def half_mark(hist, found, row, first, tiles, start, end, want, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """(the smallest score of the bin that holds the threshold, how many scores are not smaller)"""
    clear(hist, BINS)
    offset = tl.arange(0, BLOCK)
    for t in range(tiles):
        base = first + t * BLOCK
        x = load_groups(row, base, end, 0.0, BLOCK, GROUP).to(tl.float32)
        valid = (offset < end - base) & (offset >= start - base)
        place = tle.gpu.local_ptr(hist, ((BINS - 1 - half_digit(x)).to(tl.int32),))
        tl.atomic_add(place, 1, mask=valid, sem="relaxed", scope="cta")
    bin, above, count = pick_bin(counts_of(hist, BINS), found, want)
    return least_of_digit((BINS - 1 - bin).to(tl.uint32)), above + count


@triton.jit
def select_halves(out, row, start, end, want, BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    if end - start <= want:
        write_all(out, end - start, want, 1024, 0)
        return
    first = (start // GROUP) * GROUP
    tiles = (end - first - 1) // BLOCK + 1
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    mark, count = half_mark(hist, found, row, first, tiles, start, end, want, BLOCK, GROUP)
    if (count > CAP - 2 * GROUP) | (not (mark > float("-inf"))):
        threshold, ties = find_threshold(hist, found, row, first, tiles, start, end, want, BLOCK, GROUP)
        write_selected(out, row, first, tiles, start, end, threshold, ties, BLOCK, GROUP, 0)
        return
    value = tle.gpu.alloc([CAP + BLOCK], tl.float32, nv_mma_shared_layout=False)
    index = tle.gpu.alloc([CAP + BLOCK], tl.int32, nv_mma_shared_layout=False)
    kept = keep_from_mark(value, index, row, first, tiles, start, end, mark, BLOCK, GROUP, CAP)
    key, i = listed_keys(value, index, kept, end - start, CAP)
    clear(hist, BINS)
    threshold, ties = threshold_of_tile(key, hist, found, want, True)
    write_tile(out, key, i, threshold, ties, 0)


@triton.jit
def topk_halves(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags, K: tl.constexpr,
                BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    """One row per program, k <= CAP / 2."""
    row, start, end, want, out = open_row(tl.program_id(0), scores, lengths, row_starts, indices, row_stride,
                                          index_stride, columns, k, flags, 1, K, 0)
    select_halves(out, row, start, end, want, BLOCK, GROUP, CAP)
