"""Exact top-k selection, one CTA per row, fp32 scores: three bodies with one result.

topk_select   any row. Radix select over an order-preserving 32-bit key: 11, 11 and 10 bits from the
              top, each digit counted in a 2048-bin histogram in shared memory, stopping as soon as
              the whole bin is wanted; one more read of the row writes the answer.
topk_short    a row that fits one tile stays in registers: one read.
topk_stream   a long row is read once: a sample gives a low mark, everything from the mark upwards
              goes to a list in shared memory, the list is selected from. Where the list comes out
              shorter than k or overflows, topk_select's way follows.

Every body writes the answer in ascending order of index, so ties go to the smallest index and the
result does not depend on how threads were scheduled, nor on the body.
Order: NaN of any sign is greatest and all NaNs tie; -0 equals +0.

Each body has two forms. LIST = 0 writes the indices. LIST > 0, the most that k may be, selects into a
list in shared memory, whatever the outputs are; finish makes them from it.

Source of the methods: radix select over histograms as in "Parallel Top-K Algorithms on GPU" (SC'23);
sampling as in Floyd and Rivest, "Expected time bounds for selection" (CACM 1975), with the estimate
never trusted: the list is counted.
"""
import triton
import triton.language as tl
from triton.language.extra import libdevice
import triton.experimental.tle.language as tle

BINS = tl.constexpr(2048)

# Bits of flags: which of the arrays the call passes, and SORTED and ABSOLUTE of its options.
LENGTHS = tl.constexpr(1)
ROW_STARTS = tl.constexpr(2)
INDICES = tl.constexpr(4)
VALUES = tl.constexpr(8)
RAW = tl.constexpr(16)
SORTED = tl.constexpr(32)
ABSOLUTE = tl.constexpr(64)
PAGES = tl.constexpr(128)
ROW_TO_TABLE = tl.constexpr(256)
OFFSETS = tl.constexpr(512)


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
def clear(hist):
    tl.store(tle.gpu.local_ptr(hist, (tl.arange(0, BINS),)), tl.zeros((BINS,), tl.int32))


@triton.jit
def alloc_found():
    """Three words that one thread writes and all read; apart, so that no barrier comes between."""
    return (tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False),
            tle.gpu.alloc([1], tl.int32, nv_mma_shared_layout=False))


@triton.jit
def pick_bin(hist, found, need):
    """The bin that holds the need-th largest, how many lie in bins before it, how many in it. Bins go
    from the largest keys down."""
    bins = tl.arange(0, BINS)
    count = tl.load(tle.gpu.local_ptr(hist, (bins,)))
    above, total = tle.cumsum(count)
    # Exactly one bin is hit; its thread tells the others.
    hit = (above < need) & (above + count >= need)
    for i in tl.static_range(3):
        tl.store(tle.gpu.local_ptr(found[i], (tl.zeros((BINS,), tl.int32),)), (bins, above, count)[i], mask=hit)
    return (tl.load(tle.gpu.local_ptr(found[0], (0,))), tl.load(tle.gpu.local_ptr(found[1], (0,))),
            tl.load(tle.gpu.local_ptr(found[2], (0,))))


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
        clear(hist)
        last = ((1 << width) - 1).to(tl.uint32)
        for t in range(tiles):
            key = tile_keys(row, first + t * BLOCK, start, end, BLOCK, GROUP)
            digit = key >> shift
            counted = (key != 0) & ((digit >> width) == prefix)
            place = tle.gpu.local_ptr(hist, ((~digit & last).to(tl.int32),))
            tl.atomic_add(place, 1, mask=counted, sem="relaxed", scope="cta")
        bin, above, count = pick_bin(hist, found, need)
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
def put(out, place, index, mask, LIST: tl.constexpr):
    """Writes to the list if there is one, else to memory."""
    if LIST:
        tl.store(tle.gpu.local_ptr(out, (place,)), index, mask=mask)
    else:
        tl.store(out + place, index, mask=mask)


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
def write_all(out, count, want, BLOCK: tl.constexpr, LIST: tl.constexpr):
    """A row with no more than want elements selects them all; -1 fills the rest."""
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        put(out, place, tl.where(place < count, place, -1), place < want, LIST)


@triton.jit
def row_window(lengths, row_starts, columns, flags, next_n, LIST: tl.constexpr):
    """(start, end) of this program's row."""
    row_id = tl.program_id(0).to(tl.int64)
    start = 0
    length = columns
    if (flags & ROW_STARTS) != 0:
        start = tl.load(row_starts + row_id)
    if (flags & LENGTHS) != 0:
        if LIST:
            row = tl.program_id(0)
            length = tl.maximum(tl.load(lengths + row // next_n), 0) - (next_n - 1 - row % next_n)
        else:
            length = tl.load(lengths + row_id)
    start = tl.minimum(tl.maximum(start, 0), columns)
    return start, start + tl.minimum(tl.maximum(length, 0), columns - start)


# --- the fused forms ---------------------------------------------------------------------------------


@triton.jit
def write_outputs(place, index, mask, row, start, row_id, request, indices, index_stride, flags, rest):
    """Writes what the call asks for about the elements `index` of the row, of which -1 is none."""
    values, value_stride, raw, raw_stride, offsets, table, table_stride, tables, page_shift, row_to_table = rest
    chosen = mask & (index >= 0)
    if (flags & VALUES) != 0:
        value = tl.load(row + start + index, mask=chosen, other=float("-inf"))
        tl.store(values + row_id * value_stride + place, value, mask=mask)
    if (flags & ABSOLUTE) != 0:
        index = tl.where(chosen, index + start, -1)
    if (flags & RAW) != 0:
        tl.store(raw + row_id * raw_stride + place, index, mask=mask)
    if (flags & PAGES) != 0:
        number = request
        if (flags & ROW_TO_TABLE) != 0:
            number = tl.load(row_to_table + row_id)
        paged = chosen & (number >= 0) & (number < tables)
        page = tl.load(table + number.to(tl.int64) * table_stride + (index >> page_shift), mask=paged, other=0)
        index = tl.where(paged, (page << page_shift) + (index & ((1 << page_shift) - 1)), -1)
    if (flags & OFFSETS) != 0:
        index = tl.where(chosen, index + tl.load(offsets + row_id), -1)
    if (flags & INDICES) != 0:
        tl.store(indices + row_id * index_stride + place, index, mask=mask)


@triton.jit
def sort_list(listed, want, row, start, LIST: tl.constexpr):
    """Sorts the list by key descending, then index ascending; -1 has key 0, so it comes last. A bitonic
    network in shared memory, as a loop over its stages: few instructions, and only as many stages as want
    asks for."""
    pairs = tle.gpu.alloc([LIST], tl.uint64, nv_mma_shared_layout=False)
    size = 1 << (32 - libdevice.clz(tl.maximum(want, 2) - 1))
    for base in range(0, size, 512):
        place = base + tl.arange(0, 512)
        index = tl.load(tle.gpu.local_ptr(listed, (place,)), mask=place < want, other=-1)
        x = tl.load(row + start + index, mask=index >= 0, other=0.0)
        key = tl.where(index >= 0, ordered_key(x), 0).to(tl.uint64)
        pair = (key << 32) | (~index).to(tl.uint32, bitcast=True).to(tl.uint64)
        tl.store(tle.gpu.local_ptr(pairs, (place,)), pair, mask=place < size)
    width = 2
    while width <= size:
        distance = width // 2
        while distance > 0:
            number = tl.arange(0, LIST // 2)
            left = ((number & ~(distance - 1)) << 1) | (number & (distance - 1))
            here = number < size // 2
            a = tl.load(tle.gpu.local_ptr(pairs, (left,)), mask=here)
            b = tl.load(tle.gpu.local_ptr(pairs, (left + distance,)), mask=here)
            turn = here & ((a < b) != ((left & width) != 0))
            tl.store(tle.gpu.local_ptr(pairs, (left,)), b, mask=turn)
            tl.store(tle.gpu.local_ptr(pairs, (left + distance,)), a, mask=turn)
            distance = distance // 2
        width = width * 2
    for base in range(0, want, 512):
        place = base + tl.arange(0, 512)
        pair = tl.load(tle.gpu.local_ptr(pairs, (place,)), mask=place < want, other=0)
        index = ~pair.to(tl.uint32).to(tl.int32, bitcast=True)
        tl.store(tle.gpu.local_ptr(listed, (place,)), index, mask=place < want)


@triton.jit
def finish(listed, want, row, start, row_id, request, indices, index_stride, flags, rest, LIST: tl.constexpr,
           BLOCK: tl.constexpr):
    """From the list of a row's chosen elements, in ascending order and then -1, to the outputs."""
    if (flags & SORTED) != 0:
        sort_list(listed, want, row, start, LIST)
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        index = tl.load(tle.gpu.local_ptr(listed, (place,)), mask=place < want, other=-1)
        write_outputs(place, index, place < want, row, start, row_id, request, indices, index_stride, flags,
                      rest)


# --- any row -----------------------------------------------------------------------------------------


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
def topk_select(scores, lengths, row_starts, indices, row_stride, index_stride, columns, k, flags,
                K: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                LIST: tl.constexpr = 0, next_n=1, values=None, value_stride=0, raw_indices=None, raw_stride=0,
                offsets=None, page_table=None, table_stride=0, page_tables=0, page_shift=0, row_to_table=None):
    """One row per program. K = 0: k is a run-time value."""
    tl.static_assert(BLOCK <= 32768, "two counts of a tile share one 32-bit word")
    row_id = tl.program_id(0).to(tl.int64)
    start, end = row_window(lengths, row_starts, columns, flags, next_n, LIST)
    want = k if K == 0 else K
    row = scores + row_id * row_stride
    out = tle.gpu.alloc([LIST], tl.int32, nv_mma_shared_layout=False) if LIST else indices + row_id * index_stride
    select_radix(out, row, start, end, want, BLOCK, GROUP, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, row_id, tl.program_id(0) // next_n, indices, index_stride, flags, rest,
               LIST, 1024)


# --- a tile of keys in registers ---------------------------------------------------------------------


@triton.jit
def low_and_high(a_low, a_high, b_low, b_high):
    return tl.minimum(a_low, b_low), tl.maximum(a_high, b_high)


@triton.jit
def threshold_of_tile(key, hist, found, want, EXACT: tl.constexpr):
    """(threshold, ties) as find_threshold's, for a tile with at least want keys that are not 0. hist is
    clear before.

    Bins are 2^shift keys wide and cover just the range that is left, so one round settles most tiles
    whatever their distribution, and three any. Not EXACT: the whole last bin counts as wanted once
    that is at most an eighth too much.
    """
    low, high = tl.reduce((tl.where(key == 0, 0xFFFFFFFF, key), key), 0, low_and_high)
    need = want
    whole = False
    searching = True
    while searching:
        shift = tl.maximum(21 - libdevice.clz((high - low).to(tl.int32, bitcast=True)), 0).to(tl.uint32)
        inside = (key >= low) & (key <= high)
        place = tle.gpu.local_ptr(hist, (((high - key) >> shift).to(tl.int32),))
        tl.atomic_add(place, 1, mask=inside, sem="relaxed", scope="cta")
        bin, above, count = pick_bin(hist, found, need)
        need -= above
        high -= bin.to(tl.uint32) << shift
        low = high - tl.minimum(high - low, (1 << shift) - 1)
        whole = need == count
        searching = (shift > 0) & (not whole)
        if not EXACT:
            searching = (shift > 0) & (count - need > want // 8)
            whole = True
        if searching:
            clear(hist)
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
    clear(hist)
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
    row_id = tl.program_id(0).to(tl.int64)
    start, end = row_window(lengths, row_starts, columns, flags, next_n, LIST)
    want = k if K == 0 else K
    row = scores + row_id * row_stride
    out = tle.gpu.alloc([LIST], tl.int32, nv_mma_shared_layout=False) if LIST else indices + row_id * index_stride
    select_short(out, row, start, end, want, BLOCK, GROUP, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, row_id, tl.program_id(0) // next_n, indices, index_stride, flags, rest,
               LIST, 512)


# --- one read of a long row --------------------------------------------------------------------------


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
    clear(hist)
    below, ties = threshold_of_tile(key, hist, found, tl.minimum(rank, SAMPLE // 2), False)
    key = below + 1
    bits = tl.where((key >> 31) != 0, key ^ 0x80000000, ~key)
    return bits.to(tl.float32, bitcast=True)


@triton.jit
def tile_scores(row, base, end, BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Scores of columns base .. base + BLOCK - 1 in whole groups, -inf in groups past the end;
    base may lie past the end."""
    offset = tl.arange(0, BLOCK)
    in_group = (offset // GROUP) < ((tl.minimum(end - base, BLOCK) + (GROUP - 1)) // GROUP)
    return tl.load(row + base + offset, mask=in_group, other=float("-inf"))


@triton.jit
def keep_from_mark(value, index, row, first, tiles, start, end, mark, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                   CAP: tl.constexpr):
    """Appends every element not below mark to the list, in order; returns how many there are, or some
    number over CAP when they do not fit. mark is above -inf. The list has room for a tile more than
    CAP. Up to GROUP - 1 elements on either side of the row may be listed too, with indices outside.
    """
    kept = 0
    t = 0
    x = tile_scores(row, first, end, BLOCK, GROUP)
    while (t < tiles) & (kept <= CAP):
        base = first + t * BLOCK
        following = tile_scores(row, base + BLOCK, end, BLOCK, GROUP)
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
    clear(hist)
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
    row_id = tl.program_id(0).to(tl.int64)
    start, end = row_window(lengths, row_starts, columns, flags, next_n, LIST)
    want = k if K == 0 else K
    row = scores + row_id * row_stride
    out = tle.gpu.alloc([LIST], tl.int32, nv_mma_shared_layout=False) if LIST else indices + row_id * index_stride
    select_stream(out, row, start, end, want, BLOCK, GROUP, SAMPLE, CAP, LIST)
    if LIST:
        rest = (values, value_stride, raw_indices, raw_stride, offsets, page_table, table_stride, page_tables,
                page_shift, row_to_table)
        finish(out, want, row, start, row_id, tl.program_id(0) // next_n, indices, index_stride, flags, rest,
               LIST, 1024)
