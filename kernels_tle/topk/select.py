"""Exact top-k selection, one CTA per row, fp32 scores.

Radix select over an order-preserving 32-bit key: 11, 11 and 10 bits from the top, each digit counted
in a 2048-bin histogram in shared memory, stopping as soon as the whole bin is wanted. One more read
of the row writes the answer in ascending order of index, so ties go to the smallest index and the
result does not depend on how threads were scheduled.

Order: NaN of any sign is greatest and all NaNs tie; -0 equals +0.

Source of the method: radix select over histograms as in "Parallel Top-K Algorithms on GPU"
(SC'23, section on radix-based selection), with a fixed digit split and a stable write-out.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle

BINS = tl.constexpr(2048)


@triton.jit
def ordered_key(x):
    """uint32 that orders like the score; at least 0x007fffff (-inf), so 0 is below every score."""
    bits = x.to(tl.uint32, bitcast=True)
    bits = tl.where(x == 0.0, 0, bits)
    key = tl.where((bits >> 31) != 0, ~bits, bits | 0x80000000)
    return tl.where(x != x, 0xFFFFFFFF, key)


@triton.jit
def tile_keys(row, base, start, end, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Keys of columns base .. base + BLOCK - 1, 0 outside start .. end - 1.

    Loads are masked by whole groups of GROUP columns, which the launch guarantees to lie inside the
    row; positions are relative to base, so columns up to 2^31 - 1 do not overflow.
    """
    offset = tl.arange(0, BLOCK)
    in_group = (offset // GROUP) <= ((end - base - 1) // GROUP)
    x = tl.load(row + base + offset, mask=in_group, other=0.0)
    valid = (offset < end - base) & (offset >= start - base)
    return tl.where(valid, ordered_key(x), 0)


@triton.jit
def count_digits(hist, row, first, tiles, start, end, prefix, SHIFT: tl.constexpr, BITS: tl.constexpr,
                 BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Histogram of the digit at SHIFT over the keys whose higher bits equal prefix."""
    tl.store(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)), tl.zeros((BINS,), tl.int32))
    for t in range(tiles):
        key = tile_keys(row, first + t * BLOCK, start, end, BLOCK, GROUP)
        counted = key != 0
        if SHIFT + BITS < 32:
            counted = (key >> (SHIFT + BITS)) == prefix
        digit = ((key >> SHIFT) & ((1 << BITS) - 1)).to(tl.int32)
        tl.atomic_add(tle.gpu.local_ptr(hist, (digit,)), 1, mask=counted, sem="relaxed", scope="cta")


@triton.jit
def find_digit(hist, need):
    """The digit whose bin holds the need-th largest key, the keys above that bin, the keys in it."""
    digit = (BINS - 1) - tl.arange(0, BINS)
    count = tl.load(tle.gpu.local_ptr(hist, (digit,)))
    above, total = tle.cumsum(count)
    hit = (above < need) & (above + count >= need)
    return tl.sum(tl.where(hit, digit, 0)), tl.sum(tl.where(hit, above, 0)), tl.sum(tl.where(hit, count, 0))


@triton.jit
def find_threshold(hist, row, first, tiles, start, end, want, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """(threshold, ties): every key above threshold is wanted, and so many of those equal to it."""
    count_digits(hist, row, first, tiles, start, end, 0, 21, 11, BLOCK, GROUP)
    digit, above, count = find_digit(hist, want)
    need = want - above
    prefix = digit.to(tl.uint32)
    if need == count:
        return (prefix << 21) - 1, 0
    count_digits(hist, row, first, tiles, start, end, prefix, 10, 11, BLOCK, GROUP)
    digit, above, count = find_digit(hist, need)
    need -= above
    prefix = (prefix << 11) | digit.to(tl.uint32)
    if need == count:
        return (prefix << 10) - 1, 0
    count_digits(hist, row, first, tiles, start, end, prefix, 0, 10, BLOCK, GROUP)
    digit, above, count = find_digit(hist, need)
    return (prefix << 10) | digit.to(tl.uint32), need - above


@triton.jit
def write_selected(out, row, first, tiles, start, end, threshold, ties, BLOCK: tl.constexpr, GROUP: tl.constexpr):
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
        tl.store(out + place, base - start + tl.arange(0, BLOCK), mask=selected)
        larger_before += total & 0xFFFF
        equal_before += total >> 16


@triton.jit
def write_all(out, count, want, BLOCK: tl.constexpr):
    """A row with no more than want elements selects them all; -1 fills the rest."""
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        tl.store(out + place, tl.where(place < count, place, -1), mask=place < want)


@triton.jit
def topk_select(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """One row per program. flags: 1 = lengths given, 2 = row_starts given. K = 0: k is a run-time value."""
    tl.static_assert(BLOCK <= 32768, "two counts of a tile share one 32-bit word")
    row_id = tl.program_id(0).to(tl.int64)
    start = 0
    length = columns
    if (flags & 2) != 0:
        start = tl.load(row_starts + row_id)
    if (flags & 1) != 0:
        length = tl.load(lengths + row_id)
    start = tl.minimum(tl.maximum(start, 0), columns)
    count = tl.minimum(tl.maximum(length, 0), columns - start)
    end = start + count
    want = K if K > 0 else k
    out = indices + row_id * index_stride
    if count <= want:
        write_all(out, count, want, 1024)
        return
    row = scores + row_id * row_stride
    first = (start // GROUP) * GROUP
    tiles = (end - first - 1) // BLOCK + 1
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    threshold, ties = find_threshold(hist, row, first, tiles, start, end, want, BLOCK, GROUP)
    write_selected(out, row, first, tiles, start, end, threshold, ties, BLOCK, GROUP)
