"""Top-k selection as TensorRT-LLM's one-CTA kernel goes about it (topKPerRowJob): a histogram of the 11 high bits of
the scores in half precision, which spreads scores of models better than those of fp32 do; the row read again for what
lies in the threshold's bin or above. The few scores of that bin are ranked among each other; where they are many,
digits of 11, 11 and 10 bits of the fp32 key settle it. For comparison: other bodies read less.

Unlike there the answer is in order, as common.py says, and never depends on how threads were scheduled. It is put
together in shared memory, so that neighbouring lanes write it.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.common import (alloc_found, clear, counts_of, load_groups, open_row, ordered_key, pick_bin, quick_key,
                         write_all)
from topk.radix import find_threshold, write_selected
from topk.short import threshold_of_tile, write_tile
from topk.stream import keep_from_mark

BINS = tl.constexpr(2048)
FEW = tl.constexpr(64)
HALF_INFINITY = tl.constexpr(0x7C00)


@triton.jit
def half_digit(x):
    """11 bits that grow with x: those of x cut to half precision, so that greater scores have no smaller digit."""
    # -0.0 becomes 0.0, and any NaN the one that is positive and larger than all.
    half = (x + 0.0).to(tl.float16, fp_downcast_rounding="rtz").to(tl.int16, bitcast=True).to(tl.int32)
    key = half ^ ((half >> 31) | 0x8000)
    return ((key >> 5) & 0x7FF).to(tl.uint32)


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
def keys_of_digit(digit):
    """(least, greatest) ordered key in a digit's bin."""
    next = tl.where(digit == BINS - 1, 0xFFFFFFFF, ordered_key(least_of_digit(digit + 1)) - 1)
    return ordered_key(least_of_digit(digit)), next


@triton.jit
def count_digits(hist, x):
    place = tle.gpu.local_ptr(hist, ((BINS - 1 - half_digit(x)).to(tl.int32),))
    tl.atomic_add(place, 1, sem="relaxed", scope="cta")


@triton.jit
def count_some_digits(hist, x, valid):
    place = tle.gpu.local_ptr(hist, ((BINS - 1 - half_digit(x)).to(tl.int32),))
    tl.atomic_add(place, 1, mask=valid, sem="relaxed", scope="cta")


@triton.jit
def count_row(hist, row, first, tiles, start, end, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Two tiles at a time where they lie in the row: more loads in flight, and no masks."""
    t = 0
    while t < tiles:
        base = first + t * BLOCK
        if (base >= start) & (end - base >= 2 * BLOCK):
            count_digits(hist, tl.load(row + base + tl.arange(0, 2 * BLOCK)).to(tl.float32))
            t += 1
        elif (base >= start) & (end - base >= BLOCK):
            count_digits(hist, tl.load(row + base + tl.arange(0, BLOCK)).to(tl.float32))
        else:
            i = base + tl.arange(0, BLOCK)
            x = load_groups(row, base, end, 0.0, BLOCK, GROUP).to(tl.float32)
            count_some_digits(hist, x, (i >= start) & (i < end))
        t += 1


@triton.jit
def half_bin(hist, found, want):
    """(the digit whose bin holds the threshold, how many scores lie in bins above, how many in it)"""
    bin, above, inside = pick_bin(counts_of(hist, BINS), found, want)
    return (BINS - 1 - bin).to(tl.uint32), above, inside


@triton.jit
def rank_few(few, found, count, need, MOST: tl.constexpr):
    """(threshold, ties) of the need-th largest of the listed keys, at most MOST, each compared with all."""
    i = tl.arange(0, MOST)
    key = tl.load(tle.gpu.local_ptr(few, (i,)), mask=i < count, other=0)
    own = tl.load(tle.gpu.local_ptr(few, (i[:, None],)), mask=i[:, None] < count, other=0)
    ranks = tl.zeros((MOST,), tl.int32)
    for part in tl.static_range(MOST // 32):
        j = part * 32 + tl.arange(0, 32)[None, :]
        other = tl.load(tle.gpu.local_ptr(few, (j,)), mask=j < count, other=0)
        ahead = ((other == own) & (j < i[:, None])).to(tl.int32)
        ranks += tl.sum(tl.where(other > own, 0x10001, ahead), axis=1)
    # Below, how many come before one, of equal keys the first; above, how many are larger.
    hit = (ranks & 0xFFFF) == need - 1
    zero = tl.zeros((MOST,), tl.int32)
    tl.store(tle.gpu.local_ptr(found[0], (zero,)), key.to(tl.int32, bitcast=True), mask=hit)
    tl.store(tle.gpu.local_ptr(found[1], (zero,)), need - (ranks >> 16), mask=hit)
    return (tl.load(tle.gpu.local_ptr(found[0], (0,))).to(tl.uint32, bitcast=True),
            tl.load(tle.gpu.local_ptr(found[1], (0,))))


@triton.jit
def threshold_in_bin(key, digit, above, inside, hist, listed, few, found, want):
    """(threshold, ties): every key above threshold is wanted, and so many of those equal to it."""
    threshold = tl.full((), 0, tl.uint32)
    ties = 0
    if inside <= FEW:
        low, high = keys_of_digit(digit)
        chosen = (key >= low) & (key <= high)
        word = tle.gpu.local_ptr(listed, (tl.zeros(key.shape, tl.int32),))
        place = tl.atomic_add(word, 1, mask=chosen, sem="relaxed", scope="cta")
        tl.store(tle.gpu.local_ptr(few, (place,), apart=True), key, mask=chosen)
        if inside <= FEW // 2:
            threshold, ties = rank_few(few, found, inside, want - above, FEW // 2)
        else:
            threshold, ties = rank_few(few, found, inside, want - above, FEW)
    else:
        clear(hist, BINS)
        threshold, ties = threshold_of_tile(key, hist, found, want, True)
    return threshold, ties


@triton.jit
def listed_keys(value, index, kept, count, CAP: tl.constexpr):
    """(keys, indices) of the list; key 0 past its end and for indices outside the row."""
    place = tl.arange(0, CAP)
    i = tl.load(tle.gpu.local_ptr(index, (place,)), mask=place < kept, other=-1)
    x = tl.load(tle.gpu.local_ptr(value, (place,)), mask=place < kept, other=0.0)
    return tl.where((i >= 0) & (i < count), quick_key(x), 0), i


@triton.jit
def copy_chosen(out, chosen, want, MOST: tl.constexpr):
    """By neighbouring lanes: what a tile's threads choose lies apart."""
    place = tl.arange(0, MOST)
    index = tl.load(tle.gpu.local_ptr(chosen, (place,)), mask=place < want, other=-1)
    tl.store(out + place, index, mask=place < want)


@triton.jit
def select_halves(out, row, start, end, want, BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    tl.static_assert(BLOCK == CAP, "a row of one tile takes the place of the list")
    if end - start <= want:
        write_all(out, end - start, want, 1024, 0)
        return
    first = (start // GROUP) * GROUP
    tiles = (end - first - 1) // BLOCK + 1
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    listed = tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False)
    few = tle.gpu.alloc([FEW], tl.uint32, nv_mma_shared_layout=False)
    found = alloc_found()
    chosen = tle.gpu.alloc([CAP // 2], tl.int32, nv_mma_shared_layout=False)
    tl.store(tle.gpu.local_ptr(listed, (0,)), 0)
    clear(hist, BINS)
    if tiles == 1:
        x = load_groups(row, first, end, 0.0, BLOCK, GROUP).to(tl.float32)
        i = first + tl.arange(0, BLOCK)
        valid = (i >= start) & (i < end)
        if (first >= start) & (end - first >= BLOCK):
            count_digits(hist, x)
        else:
            count_some_digits(hist, x, valid)
        digit, above, inside = half_bin(hist, found, want)
        key = tl.where(valid, quick_key(x), 0)
        i -= start
    else:
        count_row(hist, row, first, tiles, start, end, BLOCK, GROUP)
        digit, above, inside = half_bin(hist, found, want)
        mark = least_of_digit(digit)
        if (above + inside > CAP - 2 * GROUP) | (not (mark > float("-inf"))):
            threshold, ties = find_threshold(hist, found, row, first, tiles, start, end, want, BLOCK, GROUP)
            write_selected(out, row, first, tiles, start, end, threshold, ties, BLOCK, GROUP, 0)
            return
        value = tle.gpu.alloc([CAP + BLOCK], tl.float32, nv_mma_shared_layout=False)
        index = tle.gpu.alloc([CAP + BLOCK], tl.int32, nv_mma_shared_layout=False)
        kept = keep_from_mark(value, index, row, first, tiles, start, end, mark, BLOCK, GROUP, CAP)
        key, i = listed_keys(value, index, kept, end - start, CAP)
    threshold, ties = threshold_in_bin(key, digit, above, inside, hist, listed, few, found, want)
    write_tile(chosen, key, i, threshold, ties, 1)
    copy_chosen(out, chosen, want, CAP // 2)


@triton.jit
def topk_halves(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags, K: tl.constexpr,
                BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    """One row per program, k <= CAP / 2."""
    row, start, end, want, out = open_row(tl.program_id(0), scores, lengths, row_starts, indices, row_stride,
                                          index_stride, columns, k, flags, 1, K, 0)
    select_halves(out, row, start, end, want, BLOCK, GROUP, CAP)
