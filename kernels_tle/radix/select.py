"""Exact selection of the k best of each row, one CTA per row, any type of key: largest or smallest first.

A row of at most CAP elements stays in registers and is read once. A longer one is read once, too: a sample gives
a low mark, everything from the mark upwards goes to a list in shared memory, and the list is selected from. Where
k is too large for that, or the list comes out shorter than k or overflows, the row is read for each digit of the
key, 11 bits from the top, each counted in a 2048-bin histogram, until the elements that may still be chosen fit
the list, or a whole bin is wanted; one more read makes the list, or writes the answer.

The answer comes in ascending order of index, so ties go to the smallest index and the result does not depend on
how threads were scheduled. SORTED: it goes to the list and is sorted there, best first.

Source of the methods: radix select over histograms as in "Parallel Top-K Algorithms on GPU" (SC'23); sampling as in
Floyd and Rivest, "Expected time bounds for selection" (CACM 1975), with the estimate never trusted: the list is
counted.
"""
import triton
import triton.language as tl
import triton.experimental.tle.language as tle
from topk.common import alloc_found, clear, counts_of, load_groups, pick_bin
from radix.common import (BINS, DIGIT, SMALLEST, all_bits, alloc_list, bits_of, chosen_of_tile, from_bits,
                          infinity_key, key_type, list_element, listed_element, not_worse, open_row, ordered_key,
                          outside, threshold_of_tile, tile_keys, value_of_key, worst_value, write_outputs)
from radix.sort import sort_list


@triton.jit
def put(listed, place, key, index, mask, row, outputs, flags, SORTED: tl.constexpr):
    """To the list, to be sorted, or to the outputs."""
    if SORTED:
        list_element(listed, place, key, index, mask)
    else:
        write_outputs(place, index, mask, row, outputs, flags)


@triton.jit
def write_row(listed, row, end, want, flip, outputs, flags, SORTED: tl.constexpr, BLOCK: tl.constexpr,
              GROUP: tl.constexpr):
    """A row with no more than want elements selects them all."""
    offset = tl.arange(0, BLOCK)
    if SORTED:
        for t in range((end + BLOCK - 1) // BLOCK):
            key, valid = tile_keys(row, t * BLOCK, end, flip, BLOCK, GROUP)
            list_element(listed, t * BLOCK + offset, key, t * BLOCK + offset, valid)
    else:
        for t in range((want - 1) // BLOCK + 1):
            place = t * BLOCK + offset
            write_outputs(place, tl.where(offset < end - t * BLOCK, place, -1), offset < want - t * BLOCK, row,
                          outputs, flags)


@triton.jit
def write_answer(answer, want, row, outputs, flags, BLOCK: tl.constexpr):
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        index = tl.load(tle.gpu.local_ptr(answer, (place,)), mask=place < want, other=-1)
        write_outputs(place, index, place < want, row, outputs, flags)


@triton.jit
def write_sorted(listed, end, want, row, outputs, flags, CAP: tl.constexpr, BLOCK: tl.constexpr):
    count = tl.minimum(end, want)
    sort_list(listed, alloc_list(CAP, row.dtype.element_ty), count)
    for base in range(0, want, BLOCK):
        place = base + tl.arange(0, BLOCK)
        key, index = listed_element(listed, place, place < count)
        write_outputs(place, tl.where(place < count, index, -1), place < want, row, outputs, flags)


# --- rows that do not fit the registers --------------------------------------------------------------


@triton.jit
def find_digits(hist, found, row, end, want, flip, BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    """(threshold, ties, lowest, narrowed). narrowed: fewer than CAP - GROUP keys are at least lowest, want of
    them or more, and the threshold is not known yet."""
    T: tl.constexpr = row.dtype.element_ty
    KEY: tl.constexpr = key_type(T)
    infinity = infinity_key(T)
    need = want
    prefix = tl.full((), 0, KEY)
    lowest = prefix
    shift = tl.full((), T.primitive_bitwidth - DIGIT, tl.int32)
    width = tl.full((), DIGIT, tl.int32)
    whole = False
    narrowed = False
    searching = True
    while searching:
        clear(hist, BINS)
        last = (1 << width) - 1
        for t in range((end - 1) // BLOCK + 1):
            key, valid = tile_keys(row, t * BLOCK, end, flip, BLOCK, GROUP)
            digit = key >> shift.to(KEY)
            counted = valid & ((digit >> width.to(KEY)) == prefix)
            place = tle.gpu.local_ptr(hist, (last - (digit.to(tl.int32) & last),))
            tl.atomic_add(place, 1, mask=counted, sem="relaxed", scope="cta")
        bin, above, count = pick_bin(counts_of(hist, BINS), found, need)
        need -= above
        prefix = (prefix << width.to(KEY)) | (last - bin).to(KEY)
        lowest = prefix << shift.to(KEY)
        whole = need == count
        narrowed = (want - need + count <= CAP - GROUP) & (shift > 0) & (not whole)
        narrowed = narrowed & ((flip != 0) | (lowest <= infinity))
        searching = (shift > 0) & (not whole) & (not narrowed)
        width = tl.minimum(shift, DIGIT)
        shift -= width
    return lowest - tl.where(whole, 1, 0).to(KEY), tl.where(whole, 0, need), lowest, narrowed


@triton.jit
def sample_mark(hist, found, row, end, want, flip, GROUP: tl.constexpr, CAP: tl.constexpr, SAMPLE: tl.constexpr):
    """A key that more than want elements of the row are probably not below, yet no more than CAP; 0 when a
    sample tells too little. From SAMPLE elements spread over the row in runs of RUN; the row is longer than CAP."""
    RUN: tl.constexpr = GROUP if GROUP > 4 else 4
    tl.static_assert(SAMPLE <= CAP)
    offset = tl.arange(0, SAMPLE)
    column = ((offset // RUN) * (end // (SAMPLE // RUN)) // RUN) * RUN + offset % RUN
    # Of a long row more, so that the sample has two dozen of them: their number is then known to a fifth.
    aim = tl.maximum(want * 2, tl.maximum(CAP // 4, tl.minimum(end // (SAMPLE // 24), CAP // 2)))
    rank = (aim.to(tl.float32) * SAMPLE / end.to(tl.float32)).to(tl.int32)
    mark = tl.full((), 0, key_type(row.dtype.element_ty))
    if (want <= CAP // 4) & (rank >= 16):
        clear(hist, BINS)
        key = ordered_key(tl.load(row + column), flip)
        below, ties = threshold_of_tile(key, offset < SAMPLE, hist, found, tl.minimum(rank, SAMPLE // 2), False)
        mark = below + 1
        mark = tl.where((flip != 0) | (mark <= infinity_key(row.dtype.element_ty)), mark, 0)
    return mark


@triton.jit
def list_ordered(listed, row, end, lowest, SMALLEST_FIRST: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr,
                 CAP: tl.constexpr):
    T: tl.constexpr = row.dtype.element_ty
    mark = value_of_key(lowest, T, SMALLEST_FIRST)
    none = outside(T, SMALLEST_FIRST)
    kept = 0
    t = 0
    tiles = (end - 1) // BLOCK + 1
    x = load_groups(row, 0, end, none, BLOCK, GROUP)
    while (t < tiles) & (kept <= CAP):
        base = t * BLOCK
        following = load_groups(row, base + BLOCK, end, none, BLOCK, GROUP)
        hit = not_worse(x, mark, SMALLEST_FIRST)
        before, total = tle.cumsum(hit.to(tl.int32))
        if kept + total <= CAP:
            list_element(listed, kept + before, bits_of(x), base + tl.arange(0, BLOCK), hit)
        kept += total
        t += 1
        x = following
    return kept


@triton.jit
def list_from(listed, row, end, lowest, flip, BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr):
    """Lists the bits of the elements whose keys are at least lowest, in order; returns how many there are, or
    some number over CAP when they do not fit. Up to GROUP - 1 elements behind the row may be among them."""
    if flip != 0:
        kept = list_ordered(listed, row, end, lowest, True, BLOCK, GROUP, CAP)
    else:
        kept = list_ordered(listed, row, end, lowest, False, BLOCK, GROUP, CAP)
    return kept


@triton.jit
def listed_keys(listed, kept, end, flip, T: tl.constexpr, CAP: tl.constexpr):
    """(keys, which are elements of the row, indices)"""
    place = tl.arange(0, CAP)
    bits, index = listed_element(listed, place, place < kept)
    return ordered_key(from_bits(bits, T), flip), (place < kept) & (index < end), index


@triton.jit
def write_chosen(listed, row, end, threshold, ties, flip, outputs, flags, SORTED: tl.constexpr,
                 BLOCK: tl.constexpr, GROUP: tl.constexpr):
    """Puts out the chosen elements of the row, read once more."""
    larger_before = 0
    equal_before = 0
    for t in range((end - 1) // BLOCK + 1):
        key, valid = tile_keys(row, t * BLOCK, end, flip, BLOCK, GROUP)
        chosen, place, larger, equal = chosen_of_tile(key, valid, threshold, ties, equal_before)
        put(listed, larger_before + place, key, t * BLOCK + tl.arange(0, BLOCK), chosen, row, outputs, flags,
            SORTED)
        larger_before += larger
        equal_before += equal


# --- the kernel --------------------------------------------------------------------------------------


@triton.jit
def select_row(listed, row, end, want, outputs, flags, SORTED: tl.constexpr, SHORT: tl.constexpr,
               BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr, SAMPLE: tl.constexpr, MORE: tl.constexpr):
    T: tl.constexpr = row.dtype.element_ty
    flip = tl.where((flags & SMALLEST) != 0, all_bits(T), 0)
    if end <= want:
        write_row(listed, row, end, want, flip, outputs, flags, SORTED, 1024, GROUP)
        return
    hist = tle.gpu.alloc([BINS], tl.int32, nv_mma_shared_layout=False)
    found = alloc_found()
    if SHORT:
        clear(hist, BINS)
        key, valid = tile_keys(row, 0, end, flip, CAP, GROUP)
        index = tl.arange(0, CAP)
    else:
        if end <= CAP:
            key, valid = tile_keys(row, 0, end, flip, CAP, GROUP)
            index = tl.arange(0, CAP)
        else:
            kept = 0
            threshold, ties = tl.full((), 0, key_type(T)), 0
            if MORE > 0 and end > 64 * SAMPLE:
                lowest = sample_mark(hist, found, row, end, want, flip, GROUP, CAP, MORE)
            else:
                lowest = sample_mark(hist, found, row, end, want, flip, GROUP, CAP, SAMPLE)
            marked = lowest > 0
            narrowed = marked
            listing = True
            while listing:
                if not marked:
                    threshold, ties, lowest, narrowed = find_digits(hist, found, row, end, want, flip, BLOCK, GROUP,
                                                                    CAP)
                if narrowed:
                    kept = list_from(listed, row, end, lowest, flip, BLOCK, GROUP, CAP)
                listing = marked & ((kept < want + (GROUP - 1)) | (kept > CAP))
                marked = False
            if not narrowed:
                write_chosen(listed, row, end, threshold, ties, flip, outputs, flags, SORTED, BLOCK // 2, GROUP)
                return
            key, valid, index = listed_keys(listed, kept, end, flip, T, CAP)
        clear(hist, BINS)
    threshold, ties = threshold_of_tile(key, valid, hist, found, want, True)
    chosen, place, larger, equal = chosen_of_tile(key, valid, threshold, ties, 0)
    if SORTED:
        list_element(listed, place, key, index, chosen)
    else:
        # Through shared memory, so that neighbours write side by side, and in few instructions.
        answer = tle.gpu.alloc([CAP], tl.int32, nv_mma_shared_layout=False)
        tl.store(tle.gpu.local_ptr(answer, (place,)), index, mask=chosen)
        write_answer(answer, want, row, outputs, flags, 1024)


@triton.jit
def radix_select(keys, payload, lengths, indices, values, payload_out, key_stride, payload_stride, index_stride,
                 value_stride, payload_out_stride, columns, k, flags, SORTED: tl.constexpr, SHORT: tl.constexpr,
                 BLOCK: tl.constexpr, GROUP: tl.constexpr, CAP: tl.constexpr, SAMPLE: tl.constexpr = 0,
                 MORE: tl.constexpr = 0):
    """One row per program. SORTED: k <= CAP. SHORT: columns <= CAP. Others: SAMPLE elements tell the mark, MORE, if not 0,
    of long rows."""
    tl.static_assert(BLOCK <= 32768 and CAP <= 32768, "two counts of a tile share one 32-bit word")
    row, end, outputs = open_row(tl.program_id(0).to(tl.int64), keys, payload, lengths, indices, values, payload_out,
                                 key_stride, payload_stride, index_stride, value_stride, payload_out_stride, columns,
                                 flags)
    listed = ()
    if SORTED or not SHORT:
        listed = alloc_list(CAP, row.dtype.element_ty)
    select_row(listed, row, end, k, outputs, flags, SORTED, SHORT, BLOCK, GROUP, CAP, SAMPLE, MORE)
    if SORTED:
        write_sorted(listed, end, k, row, outputs, flags, CAP, 1024)
